/** Laws of the VectorSpace of trees, on random trees: a module over the numbers, an inner product, and addInto in place. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type Tree = cd.Tensor | cd.NoTangent | readonly Tree[] | { readonly [key: string]: Tree }
const vs = cd.vectorSpace

/** Structure of a tree: what is at each leaf. */
type Def =
  | { readonly shape: readonly number[]; readonly dtype: cd.DType | 'none' }
  | readonly Def[]
  | { readonly of: Readonly<Record<string, Def>> }

const defs: fc.Arbitrary<Def> = fc.letrec<{ def: Def; leaf: Def }>((tie) => ({
  leaf: fc.record({
    shape: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
    dtype: fc.constantFrom<cd.DType | 'none'>('f64', 'f64', 'f32', 'f32', 'i32', 'bool', 'none'),
  }),
  def: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('def'), { minLength: 1, maxLength: 3 }),
    fc.record({
      of: fc.dictionary(fc.constantFrom('a', 'b', 'w', '__proto__', 'length'), tie('def'), {
        minKeys: 1,
        maxKeys: 3,
        noNullPrototype: true,
      }),
    }),
  ),
})).def

/** A tree of that structure; small whole numbers, so that sums and products are exact in both dtypes. */
const treeOf = (def: Def, next: () => number): Tree => {
  if (Array.isArray(def)) return (def as readonly Def[]).map((d) => treeOf(d, next))
  if ('of' in def) return Object.fromEntries(Object.entries(def.of).map(([k, d]) => [k, treeOf(d, next)]))
  const { shape, dtype } = def as { readonly shape: readonly number[]; readonly dtype: cd.DType | 'none' }
  if (dtype === 'none') return cd.NoTangent
  const n = shape.reduce((a, b) => a * b, 1)
  return cd.tensor(
    Float64Array.from({ length: n }, () => (dtype === 'bool' ? Number(next() > 0.5) : Math.floor(next() * 17) - 8)),
    [...shape],
    dtype,
  )
}
const seeded = (seed: number): (() => number) => {
  let s = seed >>> 0
  return () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0
    return s / 2 ** 32
  }
}
/** Three trees of one structure, x, y and z. */
const triples = fc.tuple(defs, fc.integer()).map(([def, seed]) => {
  const next = seeded(seed)
  return [treeOf(def, next), treeOf(def, next), treeOf(def, next)] as const
})
const scalars = fc.integer({ min: -4, max: 4 })

/** Equal in structure, shapes, dtypes and numbers (-0 is 0: -1 times 0 is allowed to be -0). */
const plain = (t: Tree): unknown => {
  if (Array.isArray(t)) return t.map(plain)
  const tag = (t as { readonly _tag?: unknown })._tag
  if (tag === 'NoTangent') return 'NoTangent'
  if (tag === 'Tensor') {
    const { shape, dtype, data } = t as cd.Tensor
    return { shape: [...shape], dtype, data: Array.from(data, (v) => v + 0) }
  }
  return Object.entries(t as Readonly<Record<string, Tree>>)
    .map(([k, v]) => [k, plain(v)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}
const same = (a: Tree, b: Tree): void => expect(plain(a)).toEqual(plain(b))
/** Where a tree has a tangent space: integers keep the first tree's leaf, so laws that swap trees hold on the rest. */
const floats = (t: Tree): Tree =>
  cd.treeMap((x) => ((x as cd.Tensor).dtype === 'f64' || (x as cd.Tensor).dtype === 'f32' ? x : cd.tensor(0)), t) as Tree
const law = (name: string, holds: (x: Tree, y: Tree, z: Tree, a: number, b: number) => void): void =>
  it(name, () => {
    fc.assert(
      fc.property(triples, scalars, scalars, ([x, y, z], a, b) => {
        holds(x, y, z, a, b)
      }),
      { numRuns: 300 },
    )
  })

describe('a group', () => {
  law('associative', (x, y, z) => same(vs.add(vs.add(x, y), z), vs.add(x, vs.add(y, z))))
  law('commutative', (x, y) => same(floats(vs.add(x, y)), floats(vs.add(y, x))))
  law('zero is neutral, and NoTangent beside integers', (x) => same(vs.add(x, vs.zero(x) as Tree), x))
  law('(-1) x is the inverse', (x) => same(floats(vs.add(x, vs.scale(-1, x))), floats(vs.scale(0, x))))
})

describe('a module over the numbers', () => {
  law('1 x = x', (x) => same(vs.scale(1, x), x))
  law('(a b) x = a (b x)', (x, _y, _z, a, b) => same(vs.scale(a * b, x), vs.scale(a, vs.scale(b, x))))
  law('(a + b) x = a x + b x', (x, _y, _z, a, b) => same(vs.scale(a + b, x), vs.add(vs.scale(a, x), vs.scale(b, x))))
  law('a (x + y) = a x + a y', (x, y, _z, a) => same(vs.scale(a, vs.add(x, y)), vs.add(vs.scale(a, x), vs.scale(a, y))))
  law('axpy(a, x, y) = a x + y', (x, y, _z, a) => same(floats(vs.axpy(a, x, y)), floats(vs.add(vs.scale(a, x), y))))
})

describe('an inner product', () => {
  law('symmetric', (x, y) => expect(vs.dot(x, y)).toBe(vs.dot(y, x)))
  law('linear in the first', (x, y, z, a) => expect(vs.dot(vs.axpy(a, x, y), z)).toBe(a * vs.dot(x, z) + vs.dot(y, z) + 0))
  law('positive, and 0 for zero only', (x) => {
    expect(vs.dot(x, x)).toBeGreaterThanOrEqual(0)
    const entries: number[] = []
    cd.treeMap((t) => entries.push(...((t as cd.Tensor).dtype.startsWith('f') ? (t as cd.Tensor).data : [])), x)
    expect(vs.dot(x, x) === 0).toBe(entries.every((v) => v === 0))
  })
  law('norm(x)^2 = dot(x, x)', (x) => expect(vs.norm(x) ** 2).toBeCloseTo(vs.dot(x, x), 8))
  it('norm has no overflow and no underflow', () => {
    expect(vs.norm({ a: cd.tensor([3e200, 4e200]) })).toBeCloseTo(5e200, -190)
    expect(vs.norm([cd.tensor([3e-200]), cd.tensor(4e-200)]) / 5e-200).toBeCloseTo(1, 14)
    expect(vs.norm(cd.tensor([Number.POSITIVE_INFINITY, 1]))).toBe(Number.POSITIVE_INFINITY)
    expect(vs.norm(cd.tensor([Number.NaN, 1]))).toBeNaN()
  })
})

describe('in place', () => {
  law('addInto gives what add gives, in the arrays of the accumulator', (x, y) => {
    const want = vs.add(x, y)
    const arrays: unknown[] = []
    cd.treeMap((t) => arrays.push((t as cd.Tensor).data), x)
    const got = vs.addInto(x, y)
    expect(got).toBe(x)
    same(got, want)
    let i = 0
    cd.treeMap((t) => expect((t as cd.Tensor).data).toBe(arrays[i++]), got)
  })
  law('the others leave their arguments alone', (x, y, _z, a) => {
    const before = [plain(x), plain(y)]
    vs.add(x, y)
    vs.scale(a, x)
    vs.axpy(a, x, y)
    vs.zero(x)
    vs.random(1, x)
    expect([plain(x), plain(y)]).toEqual(before)
  })
  it('f32 is rounded once', () => {
    const x = cd.tensor(Float32Array.of(1, 3))
    expect(vs.axpy(0.1, x, x).data).toEqual(Float32Array.of(1 + 0.1, 3 + 0.1 * 3))
    expect(vs.scale(1 / 3, x).dtype).toBe('f32')
  })
})

describe('random', () => {
  law('has the shapes and dtypes of zero; equal seeds, equal trees', (x) => {
    same(vs.random(7, x) as Tree, vs.random(7, x) as Tree)
    same(vs.scale(0, vs.random(7, x) as Tree), vs.zero(x) as Tree)
  })
  it('is standard normal, from a seed or a generator', () => {
    const x = cd.tensor(new Float64Array(20_000))
    for (const r of [vs.random(3, x), vs.random(seeded(5), x)]) {
      const mean = r.data.reduce((a, b) => a + b, 0) / 20_000
      const variance = r.data.reduce((a, b) => a + (b - mean) ** 2, 0) / 20_000
      const tail = r.data.filter((v) => Math.abs(v) > 1.96).length / 20_000
      // five standard errors: 1 / sqrt(n), sqrt(2 / n), sqrt(0.05 0.95 / n)
      expect(Math.abs(mean)).toBeLessThan(5 * 0.0071)
      expect(Math.abs(variance - 1)).toBeLessThan(5 * 0.01)
      expect(Math.abs(tail - 0.05)).toBeLessThan(5 * 0.0016)
    }
    expect(vs.random(1, x).data).not.toEqual(vs.random(2, x).data)
  })
})

describe('errors name the leaf', () => {
  const x = { a: cd.tensor([1, 2]), b: [cd.tensor(1)] }
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ['another structure', { a: cd.tensor([1, 2]) }, /tree 1 has another structure than tree 0: b is missing/],
    ['another shape', { a: cd.tensor([1]), b: [cd.tensor(1)] }, /add: a: shapes \[2\] and \[1\] differ/],
    [
      'another dtype',
      { a: cd.tensor(Float32Array.of(1, 2)), b: [cd.tensor(1)] },
      /add: a: vectors of one space have one dtype \(f64, f32\)/,
    ],
    ['no tensor', { a: cd.tensor([1, 2]), b: [1] }, /add: b\.0: is not a tensor|another structure/],
  ]
  for (const [name, y, message] of cases) it(name, () => expect(() => vs.add(x, y as never)).toThrow(message))
})

describe('treeMap and treeZip', () => {
  it('take expressions as well as tensors', () => {
    const step = cd.compile(
      cd.fn({ p: { w: cd.f64(2), n: cd.i32() }, g: { w: cd.f64(2) } }, ({ p, g }) =>
        cd.treeZip((a, b) => cd.sub(a as never, cd.mul(0.5, b as never)), p, { w: g.w, n: cd.NoTangent }),
      ),
      cd.reference(),
    )
    const r = step({ p: { w: [1, 2], n: 3 }, g: { w: [2, 2] } }) as unknown as { readonly w: cd.Tensor; readonly n: cd.Tensor }
    expect([r.w.toArray(), r.n.item()]).toEqual([[0, 1], 3])
  })
  it('give each leaf its path', () => {
    const seen: string[] = []
    cd.treeMap((_, path) => seen.push(path), { b: [cd.tensor(1), { c: cd.tensor(2) }], a: cd.tensor(3) })
    expect(seen).toEqual(['a', 'b.0', 'b.1.c'])
  })
})

describe('duplicated', () => {
  it('buffers for the gradient of a function, filled by micro-batches', () => {
    const loss = cd.fn({ params: { w: cd.f64(2), k: cd.i32() }, x: cd.f64('n', 2) }, ({ params, x }) => cd.sum(cd.matmul(x, params.w)))
    const p = cd.duplicated({ w: cd.tensor([1, 2], [2]), k: cd.tensor(3, [], 'i32') })
    expect(p.tangent.w.toArray()).toEqual([0, 0])
    expect(p.tangent.k).toBe(cd.NoTangent)
    const add = cd.compile(cd.grad(loss, { wrt: 'params' }), cd.reference()).into(p.tangent, { accumulate: true })
    add({ params: p.primal, x: [[1, 2]] })
    add({ params: p.primal, x: [[10, 20], [100, 200]] }) // biome-ignore format: one row
    expect(p.tangent.w.toArray()).toEqual([111, 222])
    expect(p.primal.w.toArray()).toEqual([1, 2])
  })
})
