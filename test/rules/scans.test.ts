import { describe, expect, it } from 'vitest'
import { untyped } from './untyped.js'
import { errorOf, evaluated, gradientOf, nested } from './values.js'

const { sum, argsort, cumprod, cumsum, linearRecurrence, sort, topk, mul } = untyped

const x = [
  [1.5, -2, 0.25],
  [3, 1, -0.5],
]
const nan = Number.NaN
const inf = Number.POSITIVE_INFINITY
const mixed = [3, nan, -1, inf, 3, -inf]

describe('values', () => {
  it('cumsum and cumprod, from either end, with and without the element', () => {
    expect(nested(cumprod(x))).toEqual([
      [1.5, -3, -0.75],
      [3, 3, -1.5],
    ])
    expect(nested(cumsum(x, { axis: 0 }))).toEqual([
      [1.5, -2, 0.25],
      [4.5, -1, -0.25],
    ])
    expect(nested(cumsum([1, 2, 3], { reverse: true }))).toEqual([6, 5, 3])
    expect(nested(cumsum([1, 2, 3], { exclusive: true }))).toEqual([0, 1, 3])
    expect(nested(cumprod([2, 3, 4], { exclusive: true, reverse: true }))).toEqual([12, 4, 1])
    expect(evaluated(cumsum([true, true]))).toMatchObject({ dtype: 'i32', data: Int32Array.of(1, 2) })
    expect(nested(cumsum([]))).toEqual([])
  })
  it('linearRecurrence does not read a_0', () => {
    expect(nested(linearRecurrence([inf, 2, 3], [1, 1, 1]))).toEqual([1, 3, 10])
    expect(nested(linearRecurrence(2, [1, 1, 1], { reverse: true }))).toEqual([7, 3, 1])
  })
  it('sort, argsort and topk: NaN is the largest, equals keep their order', () => {
    expect(nested(sort(mixed))).toEqual([-inf, -1, 3, 3, inf, nan])
    expect(nested(argsort(mixed))).toEqual([5, 2, 0, 4, 3, 1])
    expect(nested(argsort(mixed, { descending: true }))).toEqual([1, 3, 0, 4, 2, 5])
    const { values, indices } = topk(mixed, 3)
    expect(nested(values)).toEqual([nan, inf, 3])
    expect(nested(indices)).toEqual([1, 3, 0])
    expect(nested(sort(x, { axis: 0 }))).toEqual([
      [1.5, -2, -0.5],
      [3, 1, 0.25],
    ])
    expect(nested(topk(x, 0).values)).toEqual([[], []])
    expect(evaluated(topk(Int32Array.of(1, 3, 2), 2).values)).toMatchObject({ dtype: 'i32', data: Int32Array.of(3, 2) })
  })
})

describe('derivatives where there is a choice', () => {
  it('cumprod is exact with zeros', () => {
    // d/dx of x0 + x0 x1 + x0 x1 x2 at (2, 0, 3): 1 + x1 + x1 x2, x0 + x0 x2, x0 x1.
    expect(gradientOf((a) => cumprod(a), [3], [2, 0, 3])).toEqual([1, 8, 0])
    expect(gradientOf((a) => cumprod(a), [3], [0, 0, 3])).toEqual([1, 0, 0])
    expect(gradientOf((a) => cumprod(a, { exclusive: true }), [3], [2, 0, 3])).toEqual([1, 2, 0])
  })
  it('equals in a sort keep their own entries', () => {
    expect(gradientOf((a) => mul(sort(a), [1, 10, 100]), [3], [2, 2, 1])).toEqual([10, 100, 1])
    expect(gradientOf((a) => topk(a, 2).values, [3], [1, 1, 1])).toEqual([1, 1, 0])
    expect(gradientOf((a) => sum(mul(topk(a, 2).values, [1, 2])), [4], [4, 1, 9, 2])).toEqual([2, 0, 1, 0])
  })
})

describe('errors', () => {
  it('names what is wrong', () => {
    expect(errorOf(() => cumsum(1))).toBe('BadInput')
    expect(errorOf(() => sort([1], { axis: 1 }))).toBe('BadInput')
    expect(errorOf(() => topk([1, 2], 3))).toBe('BadInput')
    expect(errorOf(() => topk([1, 2], 0.5))).toBe('BadInput')
    expect(errorOf(() => linearRecurrence([1, 2], [1, 2, 3]))).toBe('ShapeMismatch')
  })
})
