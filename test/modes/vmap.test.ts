/** vmap is the stack of single calls: over any axes of arguments and results, nested, differentiated, through loops and branches. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Call = (...xs: readonly unknown[]) => unknown
const of = cd as unknown as Readonly<Record<string, Call>>
const api = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => E>>
const { add, mul, sum, sin, exp, matmul, take, where, softmax, sort, cumsum, fori, cond, switchCase, gt, square, cast } = api
const scan = cd.scan as unknown as (...xs: readonly unknown[]) => readonly [E, E]
const transform = (name: 'vmap' | 'grad' | 'jvp', f: unknown, options?: unknown): Call => of[name]!(f, options) as Call

interface Leaf {
  readonly shape: readonly number[]
  readonly dtype: cd.DType
}
type Args = Readonly<Record<string, E>>
interface Case {
  readonly leaves: Readonly<Record<string, Leaf>>
  readonly f: (x: Args) => Readonly<Record<string, E>>
}
const leaf = (dtype: cd.DType, ...shape: readonly number[]): Leaf => ({ shape, dtype })
const cases: Readonly<Record<string, Case>> = {
  'numbers, vectors, matrices': {
    leaves: { s: leaf('f64'), x: leaf('f64', 3), m: leaf('f64', 2, 3) },
    f: ({ s, x, m }) => ({ y: matmul!(m, sin!(x)), z: mul!(s, m), n: sum!(mul!(m, x)) }),
  },
  'in f32': {
    leaves: { x: leaf('f32', 3), m: leaf('f32', 3, 2) },
    f: ({ x, m }) => ({ y: softmax!(matmul!(x, m)), z: cumsum!(m, { axis: 0 }) }),
  },
  'beside integers and booleans': {
    leaves: { k: leaf('i32'), ks: leaf('i32', 2), b: leaf('bool', 3), x: leaf('f64', 3, 2) },
    f: ({ k, ks, b, x }) => ({ y: take!(x, ks), z: where!(b, take!(x, 1, { axis: 1 }), cast!(k, 'f64')), i: add!(ks, k), b: b! }),
  },
  sorted: { leaves: { x: leaf('f64', 2, 4) }, f: ({ x }) => ({ y: sort!(x, { axis: 0 }), z: sort!(x) }) },
  scan: {
    leaves: { c: leaf('f64', 2), x: leaf('f64', 3, 2), w: leaf('f64', 2, 2) },
    f: ({ c, x, w }) => {
      const [y, ys] = scan((h: E, u: E) => [sin!(add!(matmul!(h, w), u)), mul!(h, u)], c, x)
      return { y, ys }
    },
  },
  fori: { leaves: { x: leaf('f64', 2), k: leaf('f64') }, f: ({ x, k }) => ({ y: fori!(3, (_i: E, v: E) => sin!(mul!(k, v)), x) }) },
  cond: {
    leaves: { s: leaf('f64'), x: leaf('f64', 3) },
    f: ({ s, x }) => ({ y: cond!(gt!(s, 0), (v: E) => exp!(v), (v: E) => mul!(s, v), x) }), // biome-ignore format: one row
  },
  switchCase: {
    leaves: { k: leaf('i32'), x: leaf('f64', 3), y: leaf('f64', 3) },
    f: ({ k, x, y }) => ({ y: switchCase!(k, [(a: E, b: E) => add!(a, b), (a: E, b: E) => mul!(a, b), (a: E) => sin!(a)], x, y) }),
  },
}

const size = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
const drawn = ({ shape, dtype }: Leaf, next: () => number): cd.Tensor =>
  cd.tensor(
    Array.from({ length: size(shape) }, () =>
      dtype === 'bool' ? Number(next() < 0.5) : dtype === 'i32' ? Math.floor(3 * next()) : 2 * next() - 1,
    ),
    [...shape],
    dtype,
  ) as unknown as cd.Tensor
/** The example k of an array, by hand: its entries where the index along the axis is k. */
const example = (x: cd.Tensor, axis: number, k: number): cd.Tensor => {
  const shape = x.shape as readonly number[]
  const inner = size(shape.slice(axis + 1))
  const data = x.data.filter((_, i) => Math.floor(i / inner) % shape[axis]! === k)
  return cd.tensor(data as Float64Array, [...shape.slice(0, axis), ...shape.slice(axis + 1)], x.dtype) as unknown as cd.Tensor
}
const same = (got: cd.Tensor, want: cd.Tensor, tolerance: number): void => {
  expect([got.dtype, got.shape]).toEqual([want.dtype, want.shape])
  got.data.forEach((v, i) => {
    if (!(Math.abs(v - want.data[i]!) <= tolerance * Math.max(1, Math.abs(want.data[i]!)))) expect(v).toBe(want.data[i])
  })
}
type Tensors = Readonly<Record<string, cd.Tensor>>
const run = (f: Case['f'], x: Tensors): Tensors => (cd.compile(f as never) as unknown as (x: Tensors) => Tensors)(x)
const tolerance = (x: cd.Tensor): number => (x.dtype === 'f32' ? 1e-6 : 1e-13)

/** A case, how many examples, and a choice for each axis: the place of an axis, as the front or the back counts, or none. */
const drawing = fc.record({
  name: fc.constantFrom(...Object.keys(cases)),
  n: fc.integer({ min: 0, max: 3 }),
  axes: fc.array(fc.record({ at: fc.nat(5), back: fc.boolean(), none: fc.boolean() }), { minLength: 12, maxLength: 12 }),
  seed: fc.integer({ min: 1, max: 1e6 }),
})
type Choice = Readonly<{ at: number; back: boolean; none: boolean }>
const counted = ({ at, back }: Choice, rank: number): number => (at % (rank + 1)) - (back ? rank + 1 : 0)
const fromFront = (axis: number, rank: number): number => (axis < 0 ? axis + rank + 1 : axis)
/** The axes of the leaves of a case, at least one mapped, and arguments of a batch. */
const batchOf = (c: Case, n: number, axes: readonly Choice[], next: () => number, mayShare = true) => {
  const keys = Object.keys(c.leaves)
  const inAxes = Object.fromEntries(
    keys.map((k, i) => [
      k,
      mayShare && i !== axes[11]!.at % keys.length && axes[i]!.none ? null : counted(axes[i]!, c.leaves[k]!.shape.length),
    ]),
  )
  const args = Object.fromEntries(
    keys.map((k) => {
      const { shape, dtype } = c.leaves[k]!
      const axis = inAxes[k]
      const place = axis === null || axis === undefined ? undefined : fromFront(axis, shape.length)
      return [k, drawn({ dtype, shape: place === undefined ? shape : [...shape.slice(0, place), n, ...shape.slice(place)] }, next)]
    }),
  )
  const single = (k: number): Tensors =>
    Object.fromEntries(
      keys.map((key) => {
        const axis = inAxes[key]
        return [
          key,
          axis === null || axis === undefined ? args[key]! : example(args[key]!, fromFront(axis, c.leaves[key]!.shape.length), k),
        ]
      }),
    )
  return { inAxes, args, single }
}
const law = (name: string, holds: (c: Case, n: number, axes: readonly Choice[], next: () => number) => void, numRuns = 60): void =>
  it(name, () => {
    fc.assert(
      fc.property(drawing, ({ name, n, axes, seed }) => {
        holds(cases[name]!, n, axes, random(seed))
      }),
      { numRuns, seed: 20_271_203 },
    )
  })

describe('vmap is the stack of single calls', () => {
  law(
    'over any axes of arguments and results',
    (c, n, axes, next) => {
      const { inAxes, args, single } = batchOf(c, n, axes, next)
      const any = run(c.f, Object.fromEntries(Object.entries(c.leaves).map(([k, l]) => [k, drawn(l, next)])))
      const keys = Object.keys(any)
      const rank = (k: string): number => any[k]!.shape.length
      const outAxes = Object.fromEntries(keys.map((k, i) => [k, counted(axes[5 + i]!, rank(k))]))
      const got = transform('vmap', c.f, { inAxes, outAxes })(args) as Tensors
      for (const k of keys) {
        const place = fromFront(outAxes[k]!, rank(k))
        const shape = any[k]!.shape as readonly number[]
        expect([got[k]!.dtype, got[k]!.shape]).toEqual([any[k]!.dtype, [...shape.slice(0, place), n, ...shape.slice(place)]])
        for (let e = 0; e < n; e++) {
          const want = run(c.f, single(e))
          same(example(got[k]!, place, e), want[k]!, tolerance(want[k]!))
        }
      }
    },
    120,
  )

  law('nested over two axes of each argument', (c, n, axes, next) => {
    // The inner one maps leaves of c; the outer one what the inner takes, which has one axis more.
    const inner = batchOf(c, 2, axes, next, false)
    const wide: Case = {
      leaves: Object.fromEntries(Object.entries(inner.args).map(([k, t]) => [k, leaf(t.dtype, ...(t.shape as readonly number[]))])),
      f: transform('vmap', c.f, { inAxes: inner.inAxes, outAxes: -1 }) as Case['f'],
    }
    const { inAxes, args, single } = batchOf(wide, n, [...axes].reverse(), next, false)
    const got = transform('vmap', wide.f, { inAxes, outAxes: 0 })(args) as Tensors
    for (let e = 0; e < n; e++) {
      const rows = single(e)
      const at = (k: number): Tensors =>
        Object.fromEntries(
          Object.entries(rows).map(([key, t]) => [key, example(t, fromFront(inner.inAxes[key]!, c.leaves[key]!.shape.length), k)]),
        )
      for (let k = 0; k < 2; k++) {
        const want = run(c.f, at(k))
        for (const [key, y] of Object.entries(want)) same(example(example(got[key]!, 0, e), y.shape.length, k), y, tolerance(y))
      }
    }
  })
})

/** One number of everything smooth that a case gives. */
const lossOf =
  (c: Case) =>
  (x: Args): E =>
    Object.values(c.f(x))
      .flatMap((y, i) => (y.dtype === 'f64' || y.dtype === 'f32' ? [sum!(mul!(square!(y), 0.5 + i))] : []))
      .reduce((a, b) => add!(a, b))
const floats = (c: Case): readonly string[] => Object.keys(c.leaves).filter((k) => c.leaves[k]!.dtype[0] === 'f')

describe('vmap and derivatives', () => {
  for (const mode of ['mixed', 'reverse', 'forward'])
    law(
      `the gradient of the sum over examples, and the sum of gradients, ${mode}`,
      (c, n, axes, next) => {
        const { inAxes, args } = batchOf(c, n, axes, next)
        const wrt = floats(c)
        const total = (x: Args): E => sum!(transform('vmap', lossOf(c), { inAxes })(x))
        const whole = transform('grad', total, { wrt, mode })(args) as Tensors
        const outAxes = Object.fromEntries(wrt.map((k) => [k, inAxes[k] ?? 0]))
        const each = transform('vmap', transform('grad', lossOf(c), { wrt, mode }), { inAxes, outAxes })(args) as Tensors
        for (const k of wrt)
          same(
            inAxes[k] === null ? (cd.evaluate(sum!(each[k], { axis: 0 }) as never) as cd.Tensor) : each[k]!,
            whole[k]!,
            1e3 * tolerance(whole[k]!),
          )
      },
      40,
    )
  law('jvp of vmap, and vmap of jvp', (c, n, axes, next) => {
    const wrt = floats(c)
    const { inAxes, args } = batchOf(c, n, axes, next)
    const dxs = Object.fromEntries(wrt.map((k) => [k, drawn({ shape: args[k]!.shape as readonly number[], dtype: args[k]!.dtype }, next)]))
    const f = lossOf(c)
    const [y, dy] = transform('jvp', transform('vmap', f, { inAxes }), { wrt })(args, dxs) as readonly cd.Tensor[]
    const dAxes = Object.fromEntries(wrt.map((k) => [k, inAxes[k]!]))
    const [z, dz] = transform('vmap', transform('jvp', f, { wrt }), { inAxes: [inAxes, dAxes] })(args, dxs) as readonly cd.Tensor[]
    same(z!, y!, tolerance(y!))
    same(dz!, dy!, 1e3 * tolerance(y!))
  })
})

describe('axes', () => {
  const pair = ({ a, b }: { readonly a: E; readonly b: E }) => ({ both: add!(a, b), rest: [b, sum!(b)] })
  const at = { a: cd.tensor([1, 2]), b: cd.tensor([1, 2, 3]) }
  it('null of a result: it is the same for every example, and has no axis', () => {
    const { both, rest } = transform('vmap', pair, { inAxes: { a: 0, b: null }, outAxes: { both: 1, rest: null } })(at) as never as {
      readonly both: cd.Tensor
      readonly rest: readonly cd.Tensor[]
    }
    expect(both.toArray()).toEqual([[2, 3], [3, 4], [4, 5]]) // biome-ignore format: one row
    expect(rest.map((r) => r.toArray())).toEqual([[1, 2, 3], 6])
    const none = transform('vmap', pair, { inAxes: { a: 0, b: null }, outAxes: { both: 1, rest: null } })({ ...at, a: cd.tensor([], [0]) })
    expect([(none as typeof rest & { both: cd.Tensor }).both.shape, (none as { rest: cd.Tensor[] }).rest[1]!.item()]).toEqual([[3, 0], 6])
  })
  it('of a beginning of the tree: one number for all below it', () => {
    const f = (p: { readonly u: readonly E[]; readonly v: E }, x: E) => add!(add!(p.u[0], p.u[1]), mul!(p.v, x))
    const p = { u: [cd.tensor([1, 2, 3]), cd.tensor([10, 20, 30])], v: 100 }
    expect((transform('vmap', f, { inAxes: [{ u: 0, v: null }, null] })(p, 1) as cd.Tensor).toArray()).toEqual([111, 122, 133])
    const q = { u: [cd.tensor([1, 2, 3]), cd.tensor(10)], v: 100 }
    expect((transform('vmap', f, { inAxes: [{ u: [0, null], v: null }, -1] })(q, [1, 2, 3]) as cd.Tensor).toArray()).toEqual([
      111, 212, 313,
    ])
  })
  it('of NoTangent: there is none', () => {
    const f = (p: { readonly w: E; readonly i: unknown }) => p.w
    expect((transform('vmap', f, { inAxes: { w: -1, i: { any: 0 } } })({ w: [[1, 2]], i: cd.NoTangent }) as cd.Tensor).toArray()).toEqual([
      [1],
      [2],
    ])
  })
  it('are read once', () => {
    const inAxes: { a: number | null; b: number | null } = { a: 0, b: null }
    const f = transform('vmap', pair, { inAxes })
    inAxes.b = 0
    expect((f(at) as { readonly both: cd.Tensor }).both.shape).toEqual([2, 3])
    const self: Record<string, unknown> = {}
    self.a = self
    expect(() => transform('vmap', pair, { inAxes: self })).toThrow('inAxes at a.a.a')
  })
  it('one example is a batch of one', () => {
    expect((transform('vmap', (x: E) => sum!(x), { inAxes: 1 })([[1], [2]]) as cd.Tensor).toArray()).toEqual([3])
  })
})

describe('per-example gradients of LeNet', () => {
  const leaves = {
    c1: { k: cd.f32(6, 1, 5, 5), b: cd.f32(6, 1, 1) },
    c2: { k: cd.f32(16, 6, 5, 5), b: cd.f32(16, 1, 1) },
    d1: { w: cd.f32(256, 120), b: cd.f32(120) },
    d2: { w: cd.f32(120, 84), b: cd.f32(84) },
    d3: { w: cd.f32(84, 10), b: cd.f32(10) },
  }
  const loss = cd.fn({ params: leaves, x: cd.f32(1, 28, 28), y: cd.i32() }, ({ params: p, x, y }) => {
    const a1 = cd.maxPool(cd.relu(cd.add(cd.conv(cd.reshape(x, [1, 1, 28, 28]), p.c1.k), p.c1.b)), { window: 2 })
    const a2 = cd.maxPool(cd.relu(cd.add(cd.conv(a1, p.c2.k), p.c2.b)), { window: 2 })
    const h1 = cd.relu(cd.linear(cd.reshape(a2, [256]), p.d1.w, p.d1.b))
    const h2 = cd.relu(cd.linear(h1, p.d2.w, p.d2.b))
    return cd.neg(cd.sum(cd.mul(cd.logSoftmax(cd.linear(h2, p.d3.w, p.d3.b)), cd.oneHot(y, 10))))
  })
  const next = random(5)
  const params = cd.treeMap(
    (s) => drawn({ shape: (s.shape as readonly number[]).slice(), dtype: 'f32' }, () => 0.5 + 0.1 * (next() - 0.5)),
    leaves,
  ) as never
  const x = drawn(leaf('f32', 3, 1, 28, 28), next)
  const y = [7, 0, 3]
  it('are one plan, and those of a loop', () => {
    const backend = makeCpu({})
    const perExample = cd.compile(cd.vmap(cd.grad(loss, { wrt: 'params' }), { inAxes: { params: null, x: 0, y: 0 } }), backend)
    const all = cd.treeLeaves(perExample({ params, x: x as never, y }) as never) as unknown as readonly cd.Tensor[]
    expect(backend.cache().plans).toBe(1)
    expect(all.map((g) => g.shape[0])).toEqual(all.map(() => 3))
    const one = cd.compile(cd.grad(loss, { wrt: 'params' }), backend)
    for (let e = 0; e < 3; e++) {
      const want = cd.treeLeaves(one({ params, x: example(x, 0, e) as never, y: y[e]! }) as never) as unknown as readonly cd.Tensor[]
      want.forEach((w, i) => {
        const scale = Math.max(...Array.from(w.data, Math.abs))
        expect(scale).toBeGreaterThan(0)
        const got = example(all[i]!, 0, e)
        expect(got.shape).toEqual(w.shape)
        expect(Math.max(...Array.from(got.data, (v, k) => Math.abs(v - w.data[k]!)))).toBeLessThanOrEqual(1e-5 * scale)
      })
    }
    expect(backend.cache().plans).toBe(2)
  })
})
