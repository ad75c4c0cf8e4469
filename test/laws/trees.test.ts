/** Trees taken apart, folded, compared, and as one vector: of tensors, of plain numbers, and of expressions inside a trace. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

const of = (data: readonly number[], shape: readonly number[], dtype: cd.DType) => cd.tensor([...data], [...shape], dtype)
/** Rank 0, empty axes, axes of size 1, both floats. */
const trees = (['f64', 'f32'] as const).map((d) => ({
  b: [of([7], [], d), of([], [0, 3], d)],
  a: { w: of([1, 2, 3, 4, 5, 6], [2, 3], d), one: of([8], [1, 1], d) },
  none: cd.NoTangent,
}))

describe('treeLeaves, treeReduce, treeFlatten', () => {
  it('an operation is given no path, which it would take for an option', () => {
    const values = { a: cd.tensor([1, -2]), b: [cd.tensor(3)] }
    const numbers = (tree: { readonly a: cd.Expr; readonly b: readonly cd.Expr[] }) =>
      cd.treeLeaves(cd.evaluate(tree)).map((t) => t.toArray())
    expect(numbers(cd.treeMap(cd.neg, values))).toEqual([[-1, 2], -3])
    expect(numbers(cd.treeMap(cd.relu, values))).toEqual([[1, 0], 3])
    const reduce = cd.treeReduce as unknown as (f: unknown, tree: unknown, initial: unknown) => cd.Expr
    expect(cd.evaluate(reduce(cd.add, { a: cd.tensor(1), b: [cd.tensor(3)] }, 0)).item()).toBe(4)
  })
  it.each(trees)('take sorted keys in order, and put leaves back', (tree) => {
    const leaves = cd.treeLeaves(tree)
    expect(leaves.map((x) => x.shape)).toEqual([[1, 1], [2, 3], [], [0, 3]]) // biome-ignore format: one row
    expect(cd.treeReduce((n, x) => n + x.data.length, tree, 0)).toBe(8)
    const paths: string[] = []
    cd.treeReduce((_, __, path) => paths.push(path), tree, 0)
    expect(paths).toEqual(['a.one', 'a.w', 'b.0', 'b.1'])
    const [flat, unflatten] = cd.treeFlatten(tree)
    expect(unflatten(flat)).toEqual(tree)
    expect(unflatten([1, 2, 3, 4])).toEqual({ a: { one: 1, w: 2 }, b: [3, 4], none: cd.NoTangent })
    expect(() => unflatten([1])).toThrow('unflatten: the tree has 4 leaves, not 1.')
    expect(() => unflatten(3 as never)).toThrow(/the leaves must be an array/)
  })
  it('a leaf alone is a tree', () => {
    expect(cd.treeLeaves(3)).toEqual([3])
    expect(cd.treeFlatten([1, 2])[0]).toEqual([[1, 2]])
  })
})

describe('ravel', () => {
  it.each(trees)('tensors: one vector, and back with shapes and dtypes', (tree) => {
    const [vector, unravel] = cd.ravel(tree)
    expect(vector.dtype).toBe(tree.a.w.dtype)
    expect(vector.toArray()).toEqual([8, 1, 2, 3, 4, 5, 6, 7])
    expect(unravel(vector)).toEqual(tree)
    vector.data[0] = 9
    expect(tree.a.one.item()).toBe(8) // nobody else's elements
    expect(unravel([0, 0, 0, 0, 0, 0, 0, 1]).b[0]!.item()).toBe(1)
  })
  it.each(trees)('expressions: inside a trace, on each backend, with the derivative', (tree) => {
    const d = tree.a.w.dtype as 'f64'
    const leaf = d === 'f64' ? cd.f64 : (cd.f32 as unknown as typeof cd.f64)
    const decl = { b: [leaf(), leaf(0, 3)], a: { w: leaf(2, 3), one: leaf(1, 1) }, none: cd.NoTangent } as const
    const t = tree as unknown as cd.Tensors<typeof decl>
    const both = cd.fn({ t: decl }, ({ t }) => {
      const [vector, unravel] = cd.ravel(t)
      return { vector, back: unravel(vector), total: cd.sum(cd.mul(vector, cd.cast(cd.arange(8), d))) }
    })
    for (const backend of [cd.cpu(), cd.reference()]) {
      const r = cd.compile(both, backend)({ t })
      expect([...r.vector.data]).toEqual([8, 1, 2, 3, 4, 5, 6, 7])
      expect(r.back).toEqual(tree)
    }
    const g = cd.grad(cd.fn({ t: decl }, (x) => both(x).total))({ t }).t
    expect([...g.a.w.data, ...g.a.one.data, ...g.b[0].data]).toEqual([1, 2, 3, 4, 5, 6, 0, 7])
  })
  it('an expression and a captured tensor', () => {
    const captured = cd.tensor([3, 4])
    const f = cd.compile((x: cd.AnyExpr) => cd.ravel([x, captured])[0])
    expect(f([1, 2]).toArray()).toEqual([1, 2, 3, 4])
  })
  it('floats promote and come back as they were; integers alone stay', () => {
    const mixed = { a: of([1 / 3], [1], 'f32'), b: of([1 / 3], [1], 'f64') }
    const [vector, unravel] = cd.ravel(mixed)
    expect([vector.dtype, unravel(vector).a.dtype, unravel(vector).b.dtype]).toEqual(['f64', 'f32', 'f64'])
    expect(unravel(vector)).toEqual(mixed)
    expect(cd.ravel([of([1], [], 'i32'), of([2, 3], [2], 'i32')])[0]).toEqual(of([1, 2, 3], [3], 'i32'))
    expect(cd.ravel({ a: 1, b: [[2, 3]] })[0].toArray()).toEqual([1, 2, 3])
    expect(cd.ravel({})[0].shape).toEqual([0])
  })
  it('errors', () => {
    expect(() => cd.ravel({ n: of([1], [], 'i32'), w: of([1], [], 'f32') })).toThrow(/ravel: w: one vector holds floats, or one dtype of integers; n is i32 \(f32, i32\)/)
    expect(() => cd.ravel({ w: cd.tensor([1, 2]) })[1]([1])).toThrow(/unravel: the tree has 2 elements, the vector has shape \[1\]/)
    expect(() => cd.ravel({ w: Symbol('x') } as never)).toThrow(/ravel: w/)
  }) // biome-ignore format: messages
})

describe('treeAllClose', () => {
  const a = { w: cd.tensor([1, 2]), n: cd.NoTangent }
  it.each([
    ['the same', { w: [1, 2], n: cd.NoTangent }, {}, true],
    ['within rtol of b', { w: [1, 2 * (1 + 0.99e-5)], n: cd.NoTangent }, {}, true],
    ['beyond rtol', { w: [1, 2 * (1 + 1.02e-5)], n: cd.NoTangent }, {}, false],
    ['within atol', { w: [1, 2.5], n: cd.NoTangent }, { atol: 0.5, rtol: 0 }, true],
    ['beyond atol', { w: [1, 2.5], n: cd.NoTangent }, { atol: 0.4, rtol: 0 }, false],
    ['NaN', { w: [1, Number.NaN], n: cd.NoTangent }, { atol: 1e9 }, false],
    ['an infinity', { w: [1, Number.POSITIVE_INFINITY], n: cd.NoTangent }, {}, false],
    ['NoTangent for a leaf', { w: cd.NoTangent, n: cd.NoTangent }, {}, false],
  ] as const)('%s', (_, b, options, want) => expect(cd.treeAllClose(a, b, options)).toBe(want))
  it('NaN is near NaN where that is said; infinities are equal; dtypes may differ', () => {
    const odd = [Number.NaN, Number.NEGATIVE_INFINITY]
    expect(cd.treeAllClose(odd, odd)).toBe(false)
    expect(cd.treeAllClose(odd, odd, { equalNan: true })).toBe(true)
    expect(cd.treeAllClose(cd.tensor(Float32Array.of(1 / 3)), [1 / 3])).toBe(true)
    expect(cd.treeAllClose(cd.tensor([], [0]), cd.tensor([], [0]))).toBe(true)
    expect(cd.treeAllClose({}, {})).toBe(true)
  })
  it('errors', () => {
    expect(() => cd.treeAllClose(a, { w: [1] })).toThrow(/tree 1 has another structure than tree 0: n is missing/)
    expect(() => cd.treeAllClose(a, { w: [1], n: cd.NoTangent })).toThrow(/treeAllClose: w: shapes \[2\] and \[1\] differ/)
    expect(() => cd.treeAllClose(1, 1, { rtol: -1 })).toThrow(/rtol must not be negative/)
    expect(() => cd.treeAllClose(1, 1, { tol: 1 } as never)).toThrow(/there is no option tol/)
    expect(() => cd.treeAllClose(cd.zeros([2]), [0, 0])).toThrow(/an expression has no numbers to compare/)
  })
})
