// Sizes that vary: buckets, padding and masks.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import { bucket, padTo } from '../../src/train/index.js'

const { compile, div, fn, f64, bool, grad, mul, sum, tensor, where, cast } = cd

describe('bucket', () => {
  it('is the least size that fits', () => {
    expect([0, 1, 2, 3, 5, 8, 9, 1000].map((n) => bucket(n))).toEqual([1, 1, 2, 4, 8, 8, 16, 1024])
    expect([0, 3, 4, 5, 17].map((n) => bucket(n, [4, 16, 64]))).toEqual([4, 4, 4, 16, 64])
    expect([1, 9, 13, 19].map((n) => bucket(n, { factor: 1.5, least: 8 }))).toEqual([8, 12, 18, 27])
  })
  it('property: it fits, and few are made', () => {
    fc.assert(fc.property(fc.nat(100000), (n) => bucket(n) >= n && (n <= 1 || bucket(n) < 2 * n)))
    expect(new Set(Array.from({ length: 5000 }, (_, n) => bucket(n))).size).toBe(14)
  })
  it('says what is wrong', () => {
    for (const bad of [-1, 1.5, Number.NaN, '3', undefined]) expect(() => bucket(bad as never)).toThrow(/bucket/)
    expect(() => bucket(65, [4, 16, 64])).toThrow(/65 fits into none/)
    expect(() => bucket(3, { factor: 1 })).toThrow(/factor is 1/)
    expect(() => bucket(3, { base: 2 } as never)).toThrow(/base/)
  })
})

describe('padTo', () => {
  it('pads every array of a tree, in its dtype, along an axis', () => {
    const tree = { x: tensor([[1, 2], [3, 4]]), ids: tensor([7, 8], [2], 'i32'), ok: tensor([true, false], [2], 'bool'), list: [5, 6] } // biome-ignore format: rows
    const { data, mask, count } = padTo(tree, 3, { fill: 1 })
    expect(data.x.toArray()).toEqual([[1, 2], [3, 4], [1, 1]]) // biome-ignore format: rows
    expect([data.ids.toArray(), data.ids.dtype, data.ok.toArray(), data.list.toArray()]).toEqual([
      [7, 8, 1],
      'i32',
      [true, false, true],
      [5, 6, 1],
    ])
    expect([mask.toArray(), count]).toEqual([[true, true, false], 2])
    expect(padTo(tensor([[1, 2], [3, 4]]), 3, { axis: 1 }).data.toArray()).toEqual([[1, 2, 0], [3, 4, 0]]) // biome-ignore format: rows
    expect(padTo(tensor([], [0, 2]), 2).data.toArray()).toEqual([[0, 0], [0, 0]]) // biome-ignore format: rows
  })
  it('says what does not fit', () => {
    expect(() => padTo(tensor([1, 2, 3]), 2)).toThrow(/3 entries, more than 2/)
    expect(() => padTo({ a: tensor([1, 2]), b: tensor([1]) }, 4)).toThrow(/b has 1 entries, the first array 2/)
    expect(() => padTo(tensor(1), 4)).toThrow(/no axis 0/)
    expect(() => padTo({}, 4)).toThrow(/no array/)
  })
  it('a masked mean of padded sets, and its gradient, is that of the sets; one plan for each size', () => {
    const masked = fn({ x: f64('n'), mask: bool('n') }, ({ x, mask }) => div(sum(where(mask, mul(x, x), 0)), sum(cast(mask, 'f64'))))
    const backend = makeCpu()
    const value = compile(masked, backend)
    const slope = compile(grad(masked, { wrt: 'x' }), backend)
    const plans = new Set<number>()
    for (let n = 1; n <= 40; n++) {
      const set = tensor(Array.from({ length: n }, (_, i) => Math.sin(n + 3 * i)))
      const { data, mask } = padTo(set, bucket(n))
      plans.add(mask.shape[0])
      const mean = set.data.reduce((s, v) => s + v * v, 0) / n
      expect(value({ x: data, mask }).item()).toBeCloseTo(mean, 12)
      const g = slope({ x: data, mask })
      for (const [i, v] of g.data.entries()) expect(v).toBeCloseTo(i < n ? (2 * set.data[i]!) / n : 0, 12)
    }
    expect([...plans]).toEqual([1, 2, 4, 8, 16, 32, 64])
  })
})
