/** Eager duals and coduals against jvp and vjp: the same rules, one node at a time. */
import * as cd from '../../../../src/index.js'
import { type Laws, o } from './law.js'

const { sum, mul, add, sin, exp, cos, sort, take, maximum, map, cast, cumsum, matmul } = o
const split = cd.split as unknown as (x: unknown, parts: unknown) => readonly cd.AnyExpr[]
type At = { readonly x: cd.AnyExpr; readonly y: cd.AnyExpr; readonly i: cd.AnyExpr }

const sinTimes = (u: cd.AnyExpr, v: cd.AnyExpr) =>
  o.customRule((a: cd.AnyExpr, b: cd.AnyExpr) => [mul(sin(a), b), add(a, b)], {
    frule: ([a, b]: readonly cd.AnyExpr[], [da, db]: readonly cd.AnyExpr[]) => [
      [mul(sin(a), b), add(a, b)],
      [add(mul(mul(cos(a), b), da), mul(sin(a), db)), add(da, db)],
    ],
  })(u, v) as readonly cd.AnyExpr[]
/** Rounded at each step, or in mixed mode once. */
const inF32 = ({ x, y }: At) => [cast(mul(cast(x, 'f32'), cast(y, 'f32')), 'f64'), cumsum(mul(y, y))]
/** Functions of x [4], y [4] and i, to lists of floats. */
const functions: readonly ((at: At) => readonly cd.AnyExpr[])[] = [
  ({ x, y }) => [mul(sin(x), add(y, x))],
  ({ x, y }) => [sum(mul(exp(x), 2)), mul(y, sum(cos(mul(x, y))))],
  ({ x, y }) => {
    const [a, b] = split(mul(x, y), [1, 3]) as readonly [cd.AnyExpr, cd.AnyExpr]
    return [sin(a), mul(b, sum(a)), exp(x)]
  },
  ({ x, y, i }) => [mul(take(sort(x), i), take(y, i)), maximum(x, y)],
  ({ x, y }) => map((a: cd.AnyExpr, b: cd.AnyExpr) => [mul(sin(a), b), exp(b)], x, y) as unknown as readonly cd.AnyExpr[],
  inF32,
  ({ x, y }) => {
    const [a, b] = sinTimes(x, mul(x, y)) as readonly [cd.AnyExpr, cd.AnyExpr]
    return [mul(a, b), add(a, y)]
  },
  ({ x, y }) => [matmul(x, mul(y, x)), sin(matmul(y, y))],
]
const [x, y] = [
  [0.3, -0.7, 1.1, 0.4],
  [0.5, -0.2, 0.9, 1.3],
]
const [dx, dy] = [
  [0.4, -1, 0.6, 0.2],
  [-0.3, 0.8, 0.1, -0.5],
]
const given = () => ({ x: cd.tensor(x!), y: cd.tensor(y!), i: cd.tensor([2, 0, 2], [3], 'i32') })
const declared = (f: (at: At) => readonly cd.AnyExpr[]) =>
  cd.fn({ x: cd.f64(4), y: cd.f64(4), i: cd.i32(3) }, f as never) as unknown as Parameters<ReturnType<typeof cd.interpret>>[0]
/** The function over its floats alone. */
const ofFloats = (f: (at: At) => readonly cd.AnyExpr[]) => (u: cd.AnyExpr, v: cd.AnyExpr) =>
  f({ x: u, y: v, i: given().i as unknown as cd.AnyExpr })

export const eager: Laws = {
  'eager duals and jvp': () =>
    functions.map((f) => {
      const at = given()
      const tangents = { x: cd.tensor(dx!), y: cd.tensor(dy!), i: cd.NoTangent }
      const algebra = cd.dualAlgebra(cd.coreRegistry, ({ path }) => cd.Dual(at[path as 'x'], tangents[path as 'x']))
      const duals = cd.interpret(algebra)(declared(f) as never) as unknown as readonly cd.EagerDual[]
      return [
        [duals.map((d) => d.primal), duals.map((d) => d.tangent)],
        o.jvp(ofFloats(f))([x, y], [dx, dy]),
        f === inF32 ? 1e-6 : 1e-9,
      ] as const
    }),
  'eager coduals and vjp': () =>
    functions.map((f) => {
      const at = given()
      const { algebra, back } = cd.reverseAlgebra(cd.coreRegistry, ({ path }) => at[path as 'x'])
      const ys = cd.interpret(algebra)(declared(f) as never) as unknown as readonly cd.EagerCoDual[]
      const bars = ys.map(({ primal }) => {
        const { shape } = primal as unknown as { readonly shape: readonly number[] }
        const size = shape.reduce((n, d) => n * d, 1)
        return cd.tensor(
          Array.from({ length: size }, (_, k) => Math.cos(3 * k + size)),
          shape,
        )
      })
      ys.forEach((codual, k) => {
        codual.add(bars[k]!)
      })
      const got = back()
      const [, want] = o.vjp(ofFloats(f))([x, y], bars) as readonly [unknown, unknown]
      return [[got.get('x'), got.get('y')], want, f === inF32 ? 1e-6 : 1e-9] as const
    }),
  'thunks in thunks': () => {
    const twice = cd.unary({ name: 'twice', scalar: (v) => 2 * v!, source: 'definition' })
    const nested = (f: () => cd.AnyExpr) => cd.thunk(() => cd.thunk(() => cd.thunk(f)))
    const rule = cd.rule(twice.primitive, {
      frule: (_xs, [d], _params, { y: made }) => [made, d._tag === 'Expr' ? nested(() => twice(d) as cd.AnyExpr) : d],
      rrule: (_xs, _params, { y: made }) => [made, (yBar) => [nested(() => twice(yBar) as cd.AnyExpr)]],
    })
    const registry = cd.coreRegistry.with(rule)
    const f = cd.fn({ x: cd.f64(4) }, ({ x: v }) => twice(v))
    const dual = cd.interpret(cd.dualAlgebra(registry, () => cd.Dual(cd.tensor(x!), cd.tensor(dx!))))(f as never) as unknown as cd.EagerDual
    const { algebra, back } = cd.reverseAlgebra(registry, () => cd.tensor(x!))
    const codual = cd.interpret(algebra)(f as never) as unknown as cd.EagerCoDual
    codual.add(cd.tensor(dy!))
    const c = cd.makeCodual(registry, cd.reference()) as unknown as typeof o
    const g = (v: cd.AnyExpr) => twice(v as never)
    const [, pulled] = c.vjp(g)(x, dy) as readonly [unknown, unknown]
    return [
      [[dual.primal, dual.tangent], c.jvp(g)(x, dx)],
      [back().get('x'), pulled],
    ]
  },
}
