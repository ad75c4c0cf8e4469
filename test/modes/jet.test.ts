/** Taylor mode: the derivatives along a curve are those of nested forward mode, at a cost that grows as a polynomial of the order. */

import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { linearize, type Node } from '../../src/core/graph/expr.js'
import type { AnyPrimitive, SampleArg } from '../../src/core/graph/primitive.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { guardedFunction, library, points, series } from '../laws/guarded.js'
import * as j from '../laws/jets.js'
import { randomFunction } from '../laws/programs.js'
import { implemented } from '../rules/mutants/partly.js'

type E = cd.AnyExpr
type F = (...xs: readonly E[]) => E | readonly E[]
const c = cd as unknown as Record<string, (...xs: readonly unknown[]) => E>
const oracle = cd.reference()
const compiled = (f: unknown): ((...xs: readonly unknown[]) => unknown) =>
  (cd.compile as unknown as (f: unknown, b: unknown) => never)(f, oracle)
const jet = cd.jet as unknown as (f: unknown, o?: object) => (x: unknown, s: readonly unknown[]) => readonly [unknown, readonly unknown[]]
const jvp = cd.jvp as unknown as (f: unknown) => (x: unknown, d: unknown) => readonly [unknown, E]
const numbers = (t: unknown): number[] => Array.from((t as cd.Tensor).data)
const isFloat = (t: { readonly dtype: string }): boolean => t.dtype === 'f64' || t.dtype === 'f32'

/** The derivatives of orders 0 to n of t -> f(x + t d_1 + t^2/2 d_2 ...) at 0, by jvp of jvp of ... */
const nested = (f: (t: E) => E, n: number): readonly ((t: E) => E)[] => {
  const list = [f]
  for (let k = 1; k <= n; k++) {
    const before = list[k - 1]!
    list.push((t) => jvp(before)(t, cd.add(cd.mul(t, 0), 1))[1])
  }
  return list
}
const along = (x: E, ds: readonly E[], t: E): E => {
  let sum = x
  let factor: E = t
  ds.forEach((d, i) => {
    sum = cd.add(
      sum,
      cd.mul(
        cd.reshape(
          factor,
          (x.shape as readonly number[]).map(() => 1),
        ) as E,
        d,
      ),
    ) as E
    factor = cd.mul(factor, cd.mul(t, 1 / (i + 2))) as E
  })
  return sum
}
/** Holds the jet of f at its float arguments against nested jvps. */
const compare = (f: F, xs: readonly cd.Tensor[], order: number, seed: number, what: string): number => {
  const next = random(seed)
  const moving = xs.map((x, i) => (isFloat(x) ? i : -1)).filter((i) => i >= 0)
  const at = (vs: readonly E[]): readonly E[] => {
    const ys = f(...xs.map((x, i) => (moving.includes(i) ? vs[moving.indexOf(i)]! : (x as unknown as E))))
    return (Array.isArray(ys) ? ys : [ys as E]).filter((y) => isFloat(y as never))
  }
  const points = moving.map((i) => xs[i]!)
  const ds = Array.from({ length: order }, () =>
    points.map(
      (x) =>
        cd.tensor(
          Float64Array.from(x.data, () => 2 * next() - 1),
          x.shape as number[],
          x.dtype as 'f64',
        ) as unknown as E,
    ),
  )
  const got = compiled((...vs: readonly E[]) => jet((us: readonly E[]) => at(us))(vs, ds)[1] as never)(
    ...points,
  ) as readonly (readonly cd.Tensor[])[]
  let compared = 0
  // A primitive without a float result has nothing to compare.
  if (cd.isTensor(got[0])) return 0
  const count = got[0]!.length
  for (let r = 0; r < count; r++) {
    const g = (t: E): E =>
      at(
        points.map((x, i) =>
          along(
            x as unknown as E,
            ds.map((d) => d[i]!),
            t,
          ),
        ),
      )[r]!
    const list = nested(g, order)
    const close = got[0]![r]!.dtype === 'f32' ? 1e-6 : 1e-9
    for (let k = 1; k <= order; k++) {
      const want = numbers(compiled(list[k]!)(0))
      const have = numbers(got[k - 1]![r])
      expect(have.length).toBe(want.length)
      const scale = Math.max(1, ...want.filter(Number.isFinite).map(Math.abs))
      have.forEach((x, i) => {
        if (!Number.isFinite(want[i])) return
        compared++
        expect(Math.abs(x - want[i]!) / scale, `${what}: result ${r}, order ${k}, element ${i}: ${x}, not ${want[i]}`).toBeLessThan(close)
      })
    }
  }
  return compared
}
const drawn = (a: SampleArg, next: () => number): cd.Tensor => {
  const [low, high] = a.domain ?? [-2, 2]
  const dtype = a.dtype === 'f32' ? 'f64' : (a.dtype ?? 'f64')
  const values =
    a.draw !== undefined
      ? Array.from(a.draw(next, a.shape))
      : (a.values ??
        Array.from({ length: sizeOf(a.shape) }, () =>
          isFloat({ dtype }) ? low + (high - low) * next() : Math.floor(low + (high - low) * next()),
        ))
  return cd.tensor(values as number[], a.shape as number[], dtype as 'f64') as cd.Tensor
}

describe('jet of every primitive is nested forward mode, to order 4', () => {
  for (const [name, rule] of cd.coreRegistry.rules) {
    const prim = rule.primitive
    if (rule.frule === undefined || !prim.args.includes('float')) continue
    it(name, () => {
      const next = random(7)
      for (const sample of prim.samples.slice(0, count(1, 4))) {
        const xs = sample.args.map((a) => drawn(a, next))
        if (
          xs.some((x) => x.data.length > 60) ||
          sample.args.some((a) => a.dtype === 'f32') ||
          !xs.some((x, i) => isFloat(x) && (prim.variadic || prim.args[i] === 'float'))
        )
          continue
        // What has no derivative is held still.
        const given = xs.filter((_, i) => implemented(name, i, 4))
        const f: F = (...us) => {
          let k = 0
          const all = xs.map((x, i) => (implemented(name, i, 4) ? us[k++] : x))
          return cd.applyPrimitive(prim as AnyPrimitive, all as never, sample.params as never) as readonly E[]
        }
        const order = xs.reduce((n, x) => n + x.data.length, 0) > 30 ? 3 : 4
        compare(f, given, order, 3, `${name} ${JSON.stringify(sample.args)}`)
      }
    })
  }
})

describe('jet of programs', () => {
  for (const seed of Array.from({ length: count(3, 12) }, (_, i) => i + 1))
    it(`random program ${seed}`, () => {
      const next = random(seed + 90)
      const draw = (shape: readonly number[]) =>
        cd.tensor(
          Float64Array.from({ length: sizeOf(shape) }, () => 2 * next() - 1),
          shape as number[],
        )
      expect(compare(randomFunction(seed, 8) as never, [draw([2, 3]), draw([3, 2])], 3, seed, `program ${seed}`)).toBeGreaterThan(0)
    })
  const x = cd.tensor([0.3, -0.7, 1.1])
  const w = cd.tensor([0.5, 0.2, -0.4])
  const programs: Readonly<Record<string, F>> = {
    'a loop whose carry begins still': (u, v) => {
      const steps = c.scan!((h: E, e: E) => [c.tanh!(c.add!(c.mul!(h, e), c.sum!(v))), c.mul!(h, h)], 0, u!) as unknown as readonly E[]
      return steps
    },
    'a loop in a loop': (u) => c.fori!(3, (_i: E, h: E) => c.fori!(2, (_k: E, g: E) => c.mul!(c.sin!(g), 1.3), h), u),
    'a branch': (u, v) =>
      c.cond!(
        c.gt!(c.sum!(v), 0),
        (a: E, b: E) => c.mul!(c.exp!(a), b),
        (a: E, b: E) => c.add!(a, b),
        u,
        v,
      ),
    map: (u, v) => c.map!((a: E, b: E) => c.where!(c.gt!(a, b), c.tanh!(c.mul!(a, b)), c.exp!(a)), u, v),
    'a custom rule': (u, v) =>
      c.mul!(
        (c.customRule!((a: E) => c.exp!(a), { frule: (a: E, da: E) => [c.exp!(a), c.mul!(c.exp!(a), da)] }) as unknown as F)(u!) as E,
        v,
      ),
    'powers of powers': (u, v) => c.pow!(c.add!(c.square!(u), 1), c.pow!(2, v)),
    'the same argument twice': (u) => c.atan2!(u, u),
    'a gradient': (u, v) => (c.grad!((a: E) => c.sum!(c.mul!(c.tanh!(c.outer!(a, v)), c.outer!(v, a)))) as unknown as F)(u!),
    'a batch': (u, v) => (c.vmap!((a: E) => c.mul!(c.sin!(a), c.sum!(c.mul!(v, a)))) as unknown as F)(u!),
    'softmax and a loss': (u, v) => c.sum!(c.mul!(c.softmax!(u), c.log!(c.softmax!(c.mul!(u, v))))),
    'products along an axis': (u, v) => [c.cumprod!(c.add!(u, v)), c.prod!(c.mul!(u, v))],
  }
  for (const [name, f] of Object.entries(programs)) it(name, () => expect(compare(f, [x, w], 4, 11, name)).toBeGreaterThan(0))

  it('of an estimator all derivatives go through its rule', () => {
    const f = (a: E, b: E): E =>
      c.mul!(
        (
          c.straightThrough!(
            (e: E) => c.round!(e),
            (e: E) => c.tanh!(e),
          ) as unknown as F
        )(a) as E,
        b,
      )
    const like = (a: E, b: E): E => c.mul!(c.add!(c.tanh!(a), Math.round(1.2) - Math.tanh(1.2)), b)
    const ds = (g: unknown): number[] =>
      jet(g, { order: 4 })(
        [1.2, 0.5],
        [
          [0.3, -1],
          [1, 0.2],
        ],
      )[1].map((d) => (d as cd.Tensor).item())
    ds(f).forEach((d, i) => {
      expect(d).toBeCloseTo(ds(like)[i]!, 10)
    })
  })
  it('a primitive of another author, whose frule alone is known', () => {
    const cube = cd.unary({ name: 'cubeOfMine', scalar: (v) => v! ** 3, source: 'definition' })
    const registry = cd.coreRegistry.with(
      cd.rule(cube.primitive, {
        frule: ([u], [du], _p, { y, config }) => [
          y,
          du._tag === 'Expr' ? cd.scaleTangent(du, cd.mul(3, cd.square(u)) as never, config) : du,
        ],
      }),
    )
    const own = cd.makeCodual(registry, oracle)
    const [, ds] = (own.jet as unknown as typeof jet)((u: E) => cube(u), { order: 5 })(2, [1])
    expect(ds.map((d) => (d as cd.Tensor).item())).toEqual([12, 12, 6, 0, 0].map((v) => expect.closeTo(v, 12)))
  })
  it('is differentiated, batched and compiled', () => {
    const third = (u: E): E => jet((a: E) => cd.exp(cd.mul(2, a)), { order: 3 })(u, [1])[1][2] as E
    const value = (f: unknown, at: unknown): number[] => numbers(compiled(f)(at))
    expect(value(third, 0.4)[0]).toBeCloseTo(8 * Math.exp(0.8), 10)
    expect(value(cd.grad(third as never), 0.4)[0]).toBeCloseTo(16 * Math.exp(0.8), 10)
    const over = value(cd.vmap(third as never), [0.1, 0.4])
    expect(over[1]).toBeCloseTo(8 * Math.exp(0.8), 10)
    expect(numbers((cd.compile(third as never) as unknown as (v: number) => unknown)(0.4))[0]).toBeCloseTo(8 * Math.exp(0.8), 10)
  })
})

describe('hard zeros', () => {
  for (const seed of Array.from({ length: count(6, 30) }, (_, i) => i + 1))
    it(`guarded program ${seed}: what is masked has no say`, () => {
      const next = random(seed + 500)
      const size = 1 + (seed % 9)
      const x = points(seed)
      const v = x.map((row) => row.map(() => 2 * next() - 1))
      const y = j.get(guardedFunction(seed, size)(series)(j.jet([3, 2], (r, k) => [x[r]![k]!, v[r]![k]!, 0, 0])), 0, 0)
      const f = (e: E): E => cd.sum(guardedFunction(seed, size)(library)(e)) as E
      const [, ds] = compiled((e: E) => jet(f, { order: 3 })(e, [cd.tensor(v)]) as never)(x) as readonly [unknown, readonly cd.Tensor[]]
      ds.forEach((d, i) => {
        const want = j.derivative(y, i + 1)
        expect(Math.abs(d.item() - want) / Math.max(1, Math.abs(want)), `order ${i + 1}: ${d.item()}, not ${want}`).toBeLessThan(1e-9)
      })
    })
})

describe('cost', () => {
  /** How many applications the expression of a jet has. */
  const nodes = (f: F, order: number): number => {
    const program = (cd.toProgram as unknown as (f: unknown) => (x: unknown) => { readonly outputs: readonly Node[] })(
      (u: E) => jet(f, { order })(u, [1])[1][order - 1],
    )(0.3)
    return linearize(program.outputs).nodes.filter((n) => n.prim !== null).length
  }
  const chain =
    (g: F): F =>
    (u) =>
      Array.from({ length: 10 }).reduce<E>((y) => g(y) as E, u!)
  for (const [name, g] of [
    ['tanh', (u) => c.tanh!(u)],
    ['exp', (u) => c.exp!(c.mul!(0.1, u!))],
    ['sin', (u) => c.sin!(u)],
    ['log', (u) => c.log!(c.add!(2, u!))],
    ['sqrt', (u) => c.sqrt!(c.add!(1, u!))],
    ['division', (u) => c.div!(u, c.add!(2, u!))],
    ['erf', (u) => c.erf!(u)],
    ['atan', (u) => c.atan!(u)],
  ] as readonly (readonly [string, F])[])
    it(`a chain of 10 ${name}: nodes grow as the square of the order`, () => {
      const counts = [1, 2, 3, 4, 5, 6, 7, 8].map((k) => nodes(chain(g), k))
      // Second differences of a quadratic are constant: those of these counts stay bounded, where a doubling cost would make them grow.
      const second = counts.slice(2).map((n, i) => n - 2 * counts[i + 1]! + counts[i]!)
      expect(Math.max(...second), `${counts}`).toBeLessThanOrEqual(10 * 10)
      expect(counts[7]! / counts[3]!, `${counts}`).toBeLessThan(4)
    })
  it('a loop holds one loop, whatever the order', () => {
    const f: F = (u) => c.fori!(100, (_i: E, h: E) => c.tanh!(h), u)
    expect(nodes(f, 6)).toBeLessThan(200)
  })
})

describe('arguments', () => {
  it('trees, wrt, several arguments and integers', () => {
    const f = cd.fn({ p: { w: cd.f64(2) }, k: cd.i32(2) }, ({ p, k }) => ({ a: cd.mul(cd.exp(p.w), k), k }))
    const [y, ds] = cd.jet(f, { wrt: 'p', order: 2 })({ p: { w: [0, 0] }, k: [1, 2] }, [{ w: [1, 1] }])
    expect(y.a.toArray()).toEqual([1, 2])
    expect(ds.map((d) => d.a.toArray())).toEqual([
      [1, 2],
      [1, 2],
    ])
    expect(ds[0]!.k).toBe(cd.NoTangent)
    const [, es] = cd.jet((a: E, b: E) => cd.mul(a, b))(
      [3, 5],
      [
        [1, 2],
        [1, 0],
      ],
    )
    expect(es.map((d) => (d as unknown as cd.Tensor).item())).toEqual([11, 9])
  })
  it('f32 stays f32', () => {
    const [, [d]] = cd.jet((u: E) => cd.exp(u))(cd.tensor([0.5], 'f32'), [cd.tensor([1], 'f32')]) as unknown as readonly [
      unknown,
      readonly [cd.Tensor],
    ]
    expect(d.dtype).toBe('f32')
  })
  for (const [what, call] of [
    ['an order of 0', () => jet(cd.exp, { order: 0 })],
    ['an option of another name', () => jet(cd.exp, { orders: 2 })],
    ['no derivatives', () => jet(cd.exp)(1, [])],
    ['more derivatives than the order', () => jet(cd.exp, { order: 1 })(1, [1, 2])],
    ['derivatives that are no list', () => jet(cd.exp)(1, 1 as never)],
    ['one argument', () => (jet(cd.exp) as (x: number) => unknown)(1)],
  ] as const)
    it(`${what}: BadInput`, () => expect(call).toThrow(/BadInput/))
})
