/** Sparse derivatives are the dense ones; no entry is missing; structure is found, and few products are taken. */
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { randomFunction } from '../laws/programs.js'
import { implemented } from '../rules/mutants/partly.js'

type E = cd.AnyExpr
type F = (...xs: readonly E[]) => E
const c = cd as unknown as Record<string, (...xs: readonly unknown[]) => never>
const oracle = cd.reference()
const compiled = (f: unknown): ((...xs: readonly unknown[]) => unknown) =>
  (cd.compile as unknown as (f: unknown, b: unknown) => never)(f, oracle)
type Call = (...xs: readonly unknown[]) => never
const op = (name: string) => c[name] as unknown as (f: unknown, o?: object) => Call
const numbers = (x: unknown): number[] => Array.from((x as cd.Tensor).data)
const draw = (next: () => number, shape: readonly number[]): cd.Tensor =>
  cd.tensor(
    Float64Array.from({ length: sizeOf(shape) }, () => 4 * next() - 2),
    shape as number[],
  ) as cd.Tensor
interface Matrix {
  readonly rows: number[]
  readonly cols: number[]
  readonly shape: readonly number[]
}
/** The matrix of a sparse result, held against the dense one; entries that are not there are 0 in that. */
const same = (sparse: unknown, dense: readonly number[], what: string): number => {
  const s = sparse as { readonly rows: unknown; readonly cols: unknown; readonly values: unknown; readonly shape: unknown }
  const [rows, cols, values, [m, n]] = [numbers(s.rows), numbers(s.cols), numbers(s.values), numbers(s.shape)]
  expect(dense.length).toBe(m! * n!)
  const rest = [...dense]
  values.forEach((v, k) => {
    const at = rows[k]! * n! + cols[k]!
    expect(v, `${what}: row ${rows[k]}, column ${cols[k]}`).toEqual(expect.closeTo(dense[at]!, 8))
    rest[at] = 0
  })
  const missing = rest.findIndex((v) => v !== 0)
  expect(missing, `${what}: row ${Math.floor(missing / n!)}, column ${missing % n!} is missing`).toBe(-1)
  return values.length
}
/** The blocks of a dense Jacobian of one leaf by one leaf. */
const jacobians = (f: F, x: cd.Tensor, what: string): void => {
  const dense = numbers(compiled(op('jacfwd')(f))(x))
  same(compiled(op('sparseJacobian')(f))(x), dense, what)
  for (const mode of ['forward', 'reverse']) same(compiled(op('sparseJacobian')(f, { mode }))(x), dense, `${what} ${mode}`)
}
const tridiagonal = (x: E): E => c.sum!(c.square!(c.sub!(c.at!(x, '1:'), c.sin!(c.at!(x, ':-1')))))
const rosenbrock = (x: E): E => {
  const [a, b] = [c.at!(x, ':-1'), c.at!(x, '1:')]
  return c.sum!(c.add!(c.mul!(100, c.square!(c.sub!(b, c.square!(a)))), c.square!(c.sub!(1, a))))
}

describe('sparse is dense', () => {
  for (const seed of Array.from({ length: count(4, 16) }, (_, i) => i + 1))
    it(`random program ${seed}`, () => {
      const next = random(seed + 40)
      const [x, y] = [draw(next, [2, 3]), draw(next, [3, 2])]
      const f = randomFunction(seed, 8)
      jacobians((u) => op('grad')((v: E) => f(v, y as never))(u), x, `gradient ${seed}`)
      const h = compiled(op('hessian')((u: E) => f(u, y as never)))(x)
      same(compiled(op('sparseHessian')((u: E) => f(u, y as never)))(x), numbers(h), `Hessian ${seed}`)
    })
  for (const [name, rule] of cd.coreRegistry.rules) {
    const prim = rule.primitive
    if (rule.frule === undefined || rule.batch === undefined || rule.rrule === undefined || prim.args[0] !== 'float') continue
    it(`primitive ${name}`, () => {
      const next = random(5)
      for (const { args, params } of prim.samples.slice(0, count(2, 6))) {
        if (args[0] === undefined || !['f64', undefined].includes(args[0].dtype) || args.some((a) => a.dtype === 'f32')) continue
        const xs = args.map((a) => {
          const [low, high] = a.domain ?? [-2, 2]
          const whole = a.dtype === 'i32' || a.dtype === 'bool'
          const of = (): number => (whole ? Math.floor(low + (high - low) * next()) : low + (high - low) * next())
          return cd.tensor(
            (a.draw === undefined
              ? (a.values ?? Array.from({ length: sizeOf(a.shape) }, of))
              : Array.from(a.draw(next, a.shape))) as number[],
            a.shape as number[],
            (a.dtype ?? 'f64') as 'f64',
          )
        })
        if (args[0].shape.includes(0)) continue
        // By each float argument; what the others hold is captured.
        xs.forEach((x, i) => {
          if (x.dtype !== 'f64' || (prim.args[i] ?? 'float') !== 'float' || x.data.length === 0 || !implemented(name, i)) return
          const f: F = (u) => {
            const ys = cd.applyPrimitive(prim as AnyPrimitive, xs.map((v, j) => (j === i ? u : v)) as never, params as never)
            return c.concat!([...ys.filter((y) => y.dtype === 'f64').map((y) => c.reshape!(y, [-1])), c.zeros!([1])])
          }
          jacobians(f, x as cd.Tensor, `${name}: argument ${i} of ${JSON.stringify(args)}`)
        })
      }
    })
  }
  const x = cd.tensor([0.3, -0.7, 1.1, 0.4]) as cd.Tensor
  const loop: F = (u) => c.fori!(2, (_i: E, h: E) => c.add!(h, c.mul!(0.1, c.roll!(c.sin!(h), 1))), u)
  const programs: Readonly<Record<string, F>> = {
    'a loop of neighbours': loop,
    'an index that is computed from the argument': (u) => c.mul!(c.take!(u, c.argsort!(u)), 2),
    sort: (u) => c.sort!(u),
    'a straight-through estimator': (u) =>
      (
        c.straightThrough!(
          (a: E) => c.round!(a),
          (a: E) => c.tanh!(a),
        ) as F
      )(u!),
    'a custom rule': (u) => (c.customRule!((a: E) => c.exp!(a), { frule: (a: E, da: E) => [c.exp!(a), c.mul!(c.exp!(a), da)] }) as F)(u!),
    map: (u) => c.map!((a: E) => c.where!(c.gt!(a, 0), c.exp!(a), a), u),
    'a dense product': (u) => c.matmul!(c.outer!(u, u), u),
    'one result': (u) => c.prod!(u),
    'nothing that moves': (u) => c.stopGradient!(u),
  }
  for (const [name, f] of Object.entries(programs)) it(name, () => jacobians(f, x, name))
})

describe('patterns', () => {
  const pattern = (f: unknown, x: unknown, o?: object): Matrix & { readonly colours: number } => op('sparsity')(f, o)(x)
  it('elementwise functions are diagonal, neighbours a band', () => {
    expect(pattern((u: E) => c.tanh!(c.mul!(u, c.exp!(u))), [1, 2, 3])).toEqual({
      rows: Int32Array.of(0, 1, 2),
      cols: Int32Array.of(0, 1, 2),
      shape: [3, 3],
      colours: 1,
    })
    expect(Array.from(pattern((u: E) => c.mul!(c.at!(u, '1:'), c.at!(u, ':-1')), [1, 2, 3]).cols)).toEqual([0, 1, 1, 2])
    expect(pattern((u: E) => c.fori!(2, (_i: E, h: E) => c.add!(h, c.roll!(h, 1)), u), new Array(9).fill(1)).rows.length).toBe(27)
  })
  it('gathers and scatters by captured indices', () => {
    const at = cd.tensor([3, 0, 3], 'i32')
    expect(Array.from(pattern((u: E) => c.take!(u, at), [1, 2, 3, 4]).cols)).toEqual([3, 0, 3])
    const p = pattern((u: E) => c.addAt!(c.zeros!([4]), [at], u), [1, 2, 3])
    expect([Array.from(p.rows), Array.from(p.cols)]).toEqual([
      [0, 3, 3],
      [1, 0, 2],
    ])
  })
  it('a tridiagonal Hessian has 3 colours, an arrow 2, a separable function 1', () => {
    const h = (f: unknown, n: number) =>
      op('hessianSparsity')(f)(new Array(n).fill(0.5)) as unknown as { rows: Int32Array; colours: number }
    expect([h(tridiagonal, 50).colours, h(tridiagonal, 50).rows.length]).toEqual([3, 148])
    const arrow = (u: E): E => c.sum!(c.sin!(c.mul!(c.at!(u, '1:'), c.at!(u, ':1'))))
    expect([h(arrow, 50).colours, h(arrow, 50).rows.length]).toEqual([2, 148])
    expect(h((u: E) => c.sum!(c.exp!(u)), 50).colours).toBe(1)
    const x = cd.tensor(Float64Array.from({ length: 20 }, (_, i) => Math.sin(i))) as cd.Tensor
    for (const f of [tridiagonal, arrow, rosenbrock])
      same(compiled(op('sparseHessian')(f))(x), numbers(compiled(op('hessian')(f))(x)), 'Hessian')
  })
  it('few rows of many columns go by rows', () => {
    const f = (u: E): E => c.stack!([c.sum!(u), c.sum!(c.square!(u))])
    expect(pattern(f, new Array(30).fill(1)).colours).toBe(2)
    expect(pattern(f, new Array(30).fill(1), { mode: 'forward' }).colours).toBe(30)
  })
  it('f is not run', () => {
    const p = pattern((u: E) => c.log!(u), [-1, -2])
    expect(p.colours).toBe(1)
  })
  it('what is no sparse matrix raises in time', () => {
    const dense = (u: E): E => c.mul!(u, c.sum!(u))
    expect(() => pattern(dense, new Float64Array(20_000))).toThrow(/not sparse/)
  })
  it('100,000 variables', () => {
    const p = op('hessianSparsity')(rosenbrock)(new Float64Array(100_000)) as unknown as { rows: Int32Array; colours: number }
    expect([p.colours, p.rows.length]).toEqual([3, 299_998])
    const arrow = (u: E): E => c.sum!(c.sin!(c.mul!(c.at!(u, '1:'), c.at!(u, ':1'))))
    expect((op('hessianSparsity')(arrow)(new Float64Array(100_000)) as unknown as { colours: number }).colours).toBe(2)
  })
})

describe('bundle adjustment', () => {
  const [cameras, points, seen] = [4, 12, 30]
  const next = random(3)
  const which = (n: number): cd.Tensor =>
    cd.tensor(
      Int32Array.from({ length: seen }, () => Math.floor(n * next())),
      [seen],
      'i32',
    ) as cd.Tensor
  const [of, at] = [which(cameras), which(points)]
  const target = draw(next, [seen, 2])
  /** Two residuals for each observation: a rotation about one axis, a shift, a projection. */
  const residuals = (p: { readonly cameras: E; readonly points: E }): E => {
    const cam = c.take!(p.cameras, of, { axis: 0 })
    const pt = c.take!(p.points, at, { axis: 0 })
    const col = (x: E, k: number): E => c.at!(x, ':', k)
    const [a, x, y] = [col(cam, 0), col(pt, 0), col(pt, 1)]
    const u = c.add!(c.sub!(c.mul!(c.cos!(a), x), c.mul!(c.sin!(a), y)), col(cam, 1))
    const v = c.add!(c.add!(c.mul!(c.sin!(a), x), c.mul!(c.cos!(a), y)), col(cam, 2))
    const depth = c.add!(5, col(pt, 2))
    return c.sub!(c.stack!([c.div!(u, depth), c.div!(v, depth)], { axis: 1 }), target)
  }
  const x = { cameras: draw(next, [cameras, 3]), points: draw(next, [points, 3]) }
  it('the Jacobian by colours is the dense one: 6 entries in each row, few products', () => {
    const pattern = op('sparsity')(residuals)(x) as unknown as Matrix & { readonly colours: number }
    expect([pattern.shape, pattern.colours < 10]).toEqual([[60, 48], true])
    expect(pattern.rows.length).toBeLessThanOrEqual(60 * 6)
    const blocks = compiled(op('jacfwd')(residuals))(x) as { readonly cameras: cd.Tensor; readonly points: cd.Tensor }
    const dense = Array.from({ length: 60 }, (_, r) => [
      ...blocks.cameras.data.slice(r * 12, r * 12 + 12),
      ...blocks.points.data.slice(r * 36, r * 36 + 36),
    ])
    same(compiled(op('sparseJacobian')(residuals))(x), dense.flat(), 'residuals')
  })
  it('Gauss-Newton products are J^T J dx, and J^T H J dx of another loss', () => {
    const dx = { cameras: draw(next, [cameras, 3]), points: draw(next, [points, 3]) }
    const half = (r: E): E => c.mul!(0.5, c.sum!(c.square!(r)))
    const robust = (r: E): E => c.sum!(c.sqrt!(c.add!(1, c.square!(r))))
    for (const loss of [half, robust]) {
      const got = compiled((p: unknown, d: unknown) => (c.gaussNewtonProduct!(residuals, loss) as Call)(p, d))(x, dx) as Record<
        string,
        cd.Tensor
      >
      const want = compiled((p: unknown, d: unknown) => {
        const [r, dr] = (c.jvp!(residuals) as Call)(p, d) as readonly [E, E]
        return ((c.vjp!(residuals) as Call)(p, (c.hvp!(loss) as Call)(r, dr)) as readonly unknown[])[1] as never
      })(x, dx) as Record<string, cd.Tensor>
      for (const k of ['cameras', 'points']) expect(numbers(got[k])).toEqual(numbers(want[k]).map((v) => expect.closeTo(v, 10)))
    }
  })
})

describe('use', () => {
  it('toDense, compiled or called', () => {
    const h = cd.sparseHessian((u) => cd.prod(u))
    expect(cd.evaluate(cd.toDense(h([2, 3, 4]))).toArray()).toEqual([
      [0, 4, 3],
      [4, 0, 2],
      [3, 2, 0],
    ])
    expect((compiled((u: E) => cd.toDense(h(u)))([2, 3, 4]) as cd.Tensor).toArray()).toEqual([
      [0, 4, 3],
      [4, 0, 2],
      [3, 2, 0],
    ])
    expect(() => compiled(cd.toDense)(h([2, 3, 4]))).toThrow(/BadInput/)
  })
  it('trees, wrt, f32, and derivatives of the entries', () => {
    const f = cd.fn({ a: cd.f32(2), b: cd.f32(3) }, ({ a, b }) => ({ p: cd.mul(a, a), q: cd.sum(b) }))
    const j = cd.sparseJacobian(f, { wrt: ['a', 'b'] })({ a: [1, 2], b: [1, 1, 1] })
    expect([j.rows, j.cols, j.values, j.shape].map((t) => numbers(t))).toEqual([
      [0, 1, 2, 2, 2],
      [0, 1, 2, 3, 4],
      [2, 4, 1, 1, 1],
      [3, 5],
    ])
    expect(j.values.dtype).toBe('f32')
    const g = cd.grad((u: E) => cd.sum(cd.sparseHessian((v) => cd.sum(cd.mul(v, cd.mul(v, v))))(u).values))
    expect(g([1, 2]).toArray()).toEqual([6, 6])
  })
  for (const [what, call] of [
    ['an option of another name', () => op('sparsity')(cd.exp, { modes: 1 })],
    ['a mode that is none', () => op('sparseJacobian')(cd.exp, { mode: 'mixed' })],
    ['one argument', () => (c.gaussNewtonProduct!(cd.exp, cd.sum) as Call)(1)],
    ['something that is no matrix', () => cd.toDense({ rows: 1 } as never)],
  ] as const)
    it(`${what}: BadInput`, () => expect(call).toThrow(/BadInput/))
  it('a Hessian of what is no scalar: NotScalar', () => expect(() => op('sparseHessian')(cd.exp)([1])).toThrow(/NotScalar/))
})
