import { describe, expect, it } from 'vitest'
import { untyped } from './untyped.js'
import { errorOf, evaluated, gradientOf, nested } from './values.js'

const { argmax, argmin, max, mean, min, prod, sum, square, all, any, count, logsumexp, norm, std, variance } = untyped

// Values by NumPy 2.4.
const x = [
  [1.5, -2, 0.25],
  [3, 1, -0.5],
]
const nan = Number.NaN
const inf = Number.POSITIVE_INFINITY

describe('values', () => {
  it('sum, prod, mean, max, min', () => {
    expect(nested(sum(x, { axis: -1 }))).toEqual([-0.25, 3.5])
    expect(nested(prod(x, { axis: 0 }))).toEqual([4.5, -2, -0.125])
    expect(nested(mean(x, { axis: [0], keepdims: true }))).toEqual([[2.25, -0.5, -0.125]])
    expect(nested(max(x, { axis: 1 }))).toEqual([1.5, 3])
    expect(nested(min(x))).toBe(-2)
    expect(nested(prod([]))).toBe(1)
    expect(nested(sum([]))).toBe(0)
    expect(nested(mean([]))).toBe(nan)
  })
  it('variance, std and norm', () => {
    expect(nested(variance(x))).toBeCloseTo(2.467013888888889, 14)
    expect(nested(variance(x, { axis: 0, ddof: 1 }))).toEqual([1.125, 4.5, 0.28125])
    expect(nested(variance([1], { ddof: 1 }))).toBe(nan)
    const s = nested(std(x, { axis: 1, keepdims: true })) as number[][]
    expect(s.flat()[0]).toBeCloseTo(1.448178933081897, 14)
    expect(s.flat()[1]).toBeCloseTo(1.4337208778404378, 14)
    expect(nested(norm(x))).toBeCloseTo(4.0697051490249265, 14)
    expect(nested(norm(x, { ord: 1, axis: 1 }))).toEqual([3.75, 4.5])
    expect(nested(norm(x, { ord: 'inf', axis: 0 }))).toEqual([3, 2, 0.5])
    expect((nested(norm(x, { ord: 3, axis: 1 })) as number[])[1]).toBeCloseTo(3.0411009977867, 12)
    expect(nested(norm([], { ord: 'inf' }))).toBe(0)
    expect(nested(norm([[3, 0, -4], [0, 0, 1e-300]], { ord: 0, axis: 1 }))).toEqual([2, 1]) // biome-ignore format: a matrix
    expect(nested(norm([1, -4], { ord: 0.5 }))).toBe(9)
    expect(nested(norm([2, -2], { ord: -1 }))).toBe(1)
    expect(nested(norm([0, 2], { ord: -1 }))).toBe(0)
    expect(nested(norm([nan, 0], { ord: -1 }))).toBe(nan)
    expect(nested(norm([inf, 2], { ord: -2 }))).toBe(2)
    expect(nested(norm([inf, inf], { ord: -2 }))).toBe(inf)
    expect(nested(norm([[3, -1], [2, 5]], { ord: '-inf', axis: 0 }))).toEqual([2, 1]) // biome-ignore format: a matrix
    for (const ord of [-2, '-inf', -inf]) expect(nested(norm([[], []], { ord, axis: 1, keepdims: true }))).toEqual([[inf], [inf]])
    expect(nested(norm([], { ord: 0 }))).toBe(0)
    expect(nested(norm(-3, { ord: -2 }))).toBe(3)
    expect(nested(norm([nan, 0]))).toBe(nan)
  })
  it('logsumexp, infinite ones too', () => {
    const y = nested(logsumexp(x, { axis: 1 })) as number[]
    expect(y[0]).toBeCloseTo(1.775130262247635, 14)
    expect(y[1]).toBeCloseTo(3.1531782071222882, 14)
    expect(nested(logsumexp([1000, 1000]))).toBeCloseTo(1000.6931471805599, 10)
    expect(
      nested(
        logsumexp(
          [
            [-inf, -inf],
            [0, -inf],
            [inf, 1],
            [nan, 0],
          ],
          { axis: 1 },
        ),
      ),
    ).toEqual([-inf, 0, inf, nan])
    expect(nested(logsumexp([], { keepdims: true }))).toEqual([-inf])
    expect(evaluated(logsumexp(Float32Array.of(1, 2), { keepdims: true }))).toMatchObject({ dtype: 'f32', shape: [1] })
  })
  it('any, all and count', () => {
    expect(
      nested(
        any(
          [
            [0, 2],
            [0, 0],
          ],
          { axis: 1 },
        ),
      ),
    ).toEqual([true, false])
    expect(
      nested(
        all(
          [
            [1, nan],
            [0, 1],
          ],
          { axis: 1 },
        ),
      ),
    ).toEqual([true, false])
    expect([nested(any([])), nested(all([]))]).toEqual([false, true])
    expect(evaluated(count([true, false, true]))).toMatchObject({ dtype: 'i32' })
    expect(
      nested(
        count(
          [
            [1, 0, 3],
            [0, 0, nan],
          ],
          { axis: 1, keepdims: true },
        ),
      ),
    ).toEqual([[2], [1]])
  })
  it('an axis that is null is all of them', () => {
    const all = [sum, prod, mean, max, min, variance, std, norm, logsumexp, argmax, argmin]
    for (const f of all)
      for (const keepdims of [false, true])
        for (const y of [x, 3, [[1], [2]]]) expect(nested(f(y, { axis: null, keepdims }))).toEqual(nested(f(y, { keepdims })))
    expect(nested(sum([[], []], { axis: null }))).toBe(0)
    expect(nested(sum([[1, 2], [3, 4]], { axis: null, keepdims: true }))).toEqual([[10]]) // biome-ignore format: one row
  })
  it('argmax and argmin: the first of equals, the first NaN, along an axis or flattened', () => {
    expect(nested(argmax([1, 3, 3]))).toBe(1)
    expect(nested(argmin([2, 1, 1]))).toBe(1)
    expect(nested(argmax([3, nan, -1, inf, nan]))).toBe(1)
    expect(nested(argmin([3, nan, -1, -inf]))).toBe(1)
    expect(nested(argmax(x))).toBe(3)
    expect(nested(argmin(x, { axis: 0, keepdims: true }))).toEqual([[0, 0, 1]])
    expect(nested(argmax(x, { keepdims: true }))).toEqual([[3]])
  })
  it('a NaN is the largest and the smallest', () => {
    expect(nested(max([1, nan, inf]))).toBe(nan)
    expect(nested(min([nan, 1, -inf]))).toBe(nan)
    expect(nested(max([nan, 1]))).toBe(nan)
  })
  it('dtypes: booleans count, f32 stays, i32 wraps', () => {
    expect(evaluated(sum([true, true]))).toMatchObject({ dtype: 'i32', data: Int32Array.of(2) })
    expect(evaluated(max([true, false]))).toMatchObject({ dtype: 'bool' })
    expect(evaluated(prod(Int32Array.of(65536, 65536, 3)))).toMatchObject({ dtype: 'i32', data: Int32Array.of(0) })
    expect(evaluated(mean(Int32Array.of(1, 2)))).toMatchObject({ dtype: 'f64' })
    for (const f of [mean, std, norm, logsumexp, variance, prod, max]) expect(evaluated(f(Float32Array.of(1, 2))).dtype).toBe('f32')
  })
})

describe('derivatives where there is a choice', () => {
  it('ties of max and min share, and the shares sum to 1', () => {
    expect(gradientOf((a) => max(a), [3], [1, 1, 0])).toEqual([0.5, 0.5, 0])
    expect(gradientOf((a) => min(a, { axis: 1 }), [2, 2], [1, 1, 0, 3])).toEqual([0.5, 0.5, 1, 0])
    expect(gradientOf((a) => max(a), [2], [inf, 0])).toEqual([1, 0])
    expect(gradientOf((a) => max(a), [2], [nan, 0])).toEqual([0.5, 0.5])
  })
  it('prod is exact with zeros', () => {
    expect(gradientOf((a) => prod(a), [3], [2, 0, 3])).toEqual([0, 6, 0])
    expect(gradientOf((a) => prod(a), [3], [0, 0, 3])).toEqual([0, 0, 0])
    expect(gradientOf((a) => prod(a, { axis: 0 }), [2, 2], [0, 5, 7, 3])).toEqual([7, 3, 0, 5])
    expect(gradientOf((a) => prod(a), [2, 2], [0, 5, 7, 3])).toEqual([105, 0, 0, 0])
  })
  it('norm and std have derivative 0 where they are 0', () => {
    expect(gradientOf((a) => norm(a), [2], [0, 0])).toEqual([0, 0])
    expect(gradientOf((a) => norm(a, { ord: 3 }), [2], [0, 0])).toEqual([0, 0])
    expect(gradientOf((a) => norm(a, { ord: 1 }), [2], [0, -2])).toEqual([0, -1])
    expect(gradientOf((a) => norm(a, { ord: 'inf' }), [3], [2, -2, 1])).toEqual([0.5, -0.5, 0])
    expect(gradientOf((a) => std(a), [2], [4, 4])).toEqual([0, 0])
    expect(gradientOf((a) => norm(a, { ord: 0 }), [2], [0, -2])).toEqual([0, 0])
    expect(gradientOf((a) => norm(a, { ord: 0.5 }), [3], [0, 4, -4])).toEqual([0, 2, -2])
    expect(gradientOf((a) => norm(a, { ord: 0.5 }), [2], [0, 0])).toEqual([0, 0])
    expect(gradientOf((a) => norm(a, { ord: -1 }), [2], [2, -2])).toEqual([0.25, -0.25])
    expect(gradientOf((a) => norm(a, { ord: -1 }), [3], [0, 2, inf])).toEqual([0, 0, 0])
    expect(gradientOf((a) => norm(a, { ord: '-inf' }), [3], [2, -2, 5])).toEqual([0.5, -0.5, 0])
    const g = gradientOf((a) => norm(a), [2], [3, 4])
    expect(g[0]).toBeCloseTo(0.6, 15)
    expect(g[1]).toBeCloseTo(0.8, 15)
  })
  it('logsumexp gives softmax, and 0 where it is infinite', () => {
    const g = gradientOf((a) => logsumexp(a), [3], [0, Math.log(3), -inf])
    expect(g[0]).toBeCloseTo(0.25, 15)
    expect(g[1]).toBeCloseTo(0.75, 15)
    expect(g[2]).toBe(0)
    expect(gradientOf((a) => logsumexp(a), [2], [-inf, -inf])).toEqual([0, 0])
    expect(gradientOf((a) => logsumexp(a), [2], [inf, 0])).toEqual([0, 0])
  })
  it('variance: the mean moves too', () => {
    const g = gradientOf((a) => variance(a, { ddof: 1 }), [3], [1, 2, 6])
    ;[-2, -1, 3].forEach((want, i) => {
      expect(g[i]).toBeCloseTo(want, 14)
    })
    // Second derivative of the variance of n numbers: 2 (I - 1/n) / n.
    const h = gradientOf((a) => square(variance(a)), [2], [1, 3])
    expect(h).toEqual([-2, 2])
  })
})

describe('errors', () => {
  it('names what is wrong', () => {
    expect(errorOf(() => sum(x, { axis: 2 }))).toBe('BadInput')
    expect(errorOf(() => sum(x, { axis: [0, -2] }))).toBe('BadInput')
    expect(errorOf(() => max([]))).toBe('BadInput')
    expect(errorOf(() => min([[], []], { axis: 1 }))).toBe('BadInput')
    expect(errorOf(() => argmax([]))).toBe('BadInput')
    expect(errorOf(() => argmin(x, { axis: -3 }))).toBe('BadInput')
    expect(errorOf(() => norm(x, { ord: nan }))).toBe('BadInput')
    expect(errorOf(() => max([[], []], { axis: 0 }))).toBe('none')
  })
})
