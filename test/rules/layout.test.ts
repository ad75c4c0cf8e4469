import { describe, expect, it } from 'vitest'
import { asNode } from '../../src/core/graph/expr.js'
import { untyped } from './untyped.js'
import { errorOf, evaluated, gradientOf, nested, numbersOf } from './values.js'

const {
  concat,
  repeat,
  split,
  stack,
  tile,
  unstack,
  sum,
  mul,
  square,
  expandDims,
  flip,
  pad,
  reshape,
  roll,
  slice,
  squeeze,
  transpose,
  arange,
  assertShape,
  diag,
  eye,
  full,
  linspace,
  ones,
  onesLike,
  tril,
  triu,
  zeros,
  zerosLike,
} = untyped

const y = [
  [0, 1, 2, 3],
  [4, 5, 6, 7],
  [8, 9, 10, 11],
]
const cube = [y, y.map((row) => row.map((v) => v + 12))]
const corner = [
  [0, 1],
  [4, 5],
]
const inf = Number.POSITIVE_INFINITY

// Values by NumPy 2.4.
describe('values', () => {
  it('slice: bounds from the end, clipped, negative strides', () => {
    expect(nested(slice(cube, [1, -2, 3], [2, 3, 0], [1, 1, -2]))).toEqual([
      [
        [19, 17],
        [23, 21],
      ],
    ])
    expect(nested(slice([1, 2, 3], [2], [-inf], [-1]))).toEqual([3, 2, 1])
    expect(nested(slice([1, 2, 3], [9], [-9], [-2]))).toEqual([3, 1])
    expect(nested(slice([1, 2, 3], [-9], [9]))).toEqual([1, 2, 3])
    expect(nested(slice([1, 2, 3], [2], [1]))).toEqual([])
    expect(nested(slice(y, [1], [2]))).toEqual([[4, 5, 6, 7]])
  })
  it('flip, roll, tile, repeat, pad', () => {
    expect(nested(flip(y, { axis: 0 }))).toEqual([y[2], y[1], y[0]])
    expect(nested(flip(corner))).toEqual([
      [5, 4],
      [1, 0],
    ])
    expect(nested(roll(y, 5))).toEqual([
      [7, 8, 9, 10],
      [11, 0, 1, 2],
      [3, 4, 5, 6],
    ])
    expect(nested(roll(y, -1, { axis: 1 }))).toEqual([
      [1, 2, 3, 0],
      [5, 6, 7, 4],
      [9, 10, 11, 8],
    ])
    expect(nested(roll(y, [1, 2], { axis: [0, 1] }))).toEqual([
      [10, 11, 8, 9],
      [2, 3, 0, 1],
      [6, 7, 4, 5],
    ])
    expect(nested(tile(corner, [2, 1, 2]))).toEqual([
      [
        [0, 1, 0, 1],
        [4, 5, 4, 5],
      ],
      [
        [0, 1, 0, 1],
        [4, 5, 4, 5],
      ],
    ])
    expect(nested(tile(corner, 2))).toEqual([
      [0, 1, 0, 1],
      [4, 5, 4, 5],
    ])
    expect(nested(repeat(corner, 2, { axis: 1 }))).toEqual([
      [0, 0, 1, 1],
      [4, 4, 5, 5],
    ])
    expect(
      nested(
        pad(
          corner,
          [
            [1, 0],
            [0, 2],
          ],
          7,
        ),
      ),
    ).toEqual([
      [7, 7, 7, 7],
      [0, 1, 7, 7],
      [4, 5, 7, 7],
    ])
    expect(nested(pad([1], 1))).toEqual([0, 1, 0])
    expect(nested(pad(corner, [0, [0, 1]]))).toEqual([
      [0, 1, 0],
      [4, 5, 0],
    ])
  })
  it('axes of length 1, joining and cutting', () => {
    expect(asNode(expandDims(y, [0, 3])).shape).toEqual([1, 3, 4, 1])
    expect(asNode(expandDims(y, -1)).shape).toEqual([3, 4, 1])
    expect(asNode(squeeze([[[1]], [[2]]])).shape).toEqual([2])
    expect(asNode(squeeze([[[1]], [[2]]], -1)).shape).toEqual([2, 1])
    expect(asNode(squeeze([[[1]], [[2]]], { axis: -1 })).shape).toEqual([2, 1])
    expect(asNode(squeeze([[[1]], [[2]]], {})).shape).toEqual([2])
    expect(errorOf(() => squeeze([[1]], { axes: 0 } as never))).toBe('BadInput')
    expect(errorOf(() => squeeze([[1, 2]], { axis: 1 } as never))).toBe('BadInput')
    expect(nested(concat([y, [[1, 1, 1, 1]]]))).toEqual([...y, [1, 1, 1, 1]])
    expect(
      nested(
        stack(
          [
            [1, 2],
            [3, 4],
          ],
          { axis: -1 },
        ),
      ),
    ).toEqual([
      [1, 3],
      [2, 4],
    ])
    expect(split(y, [1, 3], { axis: 1 }).map(nested)).toEqual([y.map((r) => r.slice(0, 1)), y.map((r) => r.slice(1))])
    expect(unstack(y).map(nested)).toEqual(y)
    expect(nested(reshape(transpose(corner), [-1]))).toEqual([0, 4, 1, 5])
  })
  it('diagonals and triangles', () => {
    expect(nested(diag(y, 1))).toEqual([1, 6, 11])
    expect(nested(diag(y, -1))).toEqual([4, 9])
    expect(nested(diag(y, 4))).toEqual([])
    expect(nested(diag(cube))).toEqual([
      [0, 5, 10],
      [12, 17, 22],
    ])
    expect(nested(diag([1, 2], -1))).toEqual([
      [0, 0, 0],
      [1, 0, 0],
      [0, 2, 0],
    ])
    expect(nested(diag([]))).toEqual([])
    expect(nested(tril(y, 1))).toEqual([
      [0, 1, 0, 0],
      [4, 5, 6, 0],
      [8, 9, 10, 11],
    ])
    expect(nested(triu(y, -1))).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
      [0, 9, 10, 11],
    ])
    expect(nested(tril([[inf, inf]]))).toEqual([[inf, 0]])
  })
  it('constructors', () => {
    expect(numbersOf(linspace(0.1, 0.7, 7)).map((v) => Number(v.toPrecision(15)))).toEqual([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    expect(numbersOf(linspace(0.1, 0.7, 7))[6]).toBe(0.7)
    expect(nested(linspace(2, 5, 1))).toEqual([2])
    expect(nested(linspace(2, 5, 0))).toEqual([])
    expect(nested(arange(3))).toEqual([0, 1, 2])
    expect(evaluated(arange(3, 'i32'))).toMatchObject({ dtype: 'i32' })
    expect(nested(arange(3, 'bool'))).toEqual([false, true, true])
    expect(nested(eye(2))).toEqual([
      [1, 0],
      [0, 1],
    ])
    expect(nested(eye(0))).toEqual([])
    expect(evaluated(full([2], 1.5, 'f32'))).toMatchObject({ dtype: 'f32', data: Float32Array.of(1.5, 1.5) })
    expect([zeros([1]), ones([1], 'i32'), zerosLike([true]), onesLike(Float32Array.of(3))].map(evaluated)).toMatchObject([
      { dtype: 'f64', data: Float64Array.of(0) },
      { dtype: 'i32', data: Int32Array.of(1) },
      { dtype: 'bool', data: Uint8Array.of(0) },
      { dtype: 'f32', data: Float32Array.of(1) },
    ])
    expect(nested(assertShape(corner, ['n', 'n']))).toEqual(corner)
  })
})

describe('derivatives', () => {
  it('parts that nobody used get zeros', () => {
    expect(gradientOf((a) => mul(split(a, 3)[1]!, 2), [6], [1, 2, 3, 4, 5, 6])).toEqual([0, 0, 2, 2, 0, 0])
    expect(
      gradientOf(
        (a) => {
          const [p, , r] = split(a, [1, 2, 1])
          return concat([square(p), mul(r, 3), p])
        },
        [4],
        [5, 6, 7, 8],
      ),
    ).toEqual([11, 0, 0, 3])
  })
  it('slices and pads with negative strides', () => {
    expect(gradientOf((a) => mul(slice(a, [4], [0], [-2]), [1, 10]), [5], [1, 2, 3, 4, 5])).toEqual([0, 0, 10, 0, 1])
    expect(gradientOf((a) => mul(flip(a), [1, 10, 100]), [3], [1, 2, 3])).toEqual([100, 10, 1])
    expect(gradientOf((a) => concat([slice(a, [0], [1]), slice(a, [1], [3])]), [3], [1, 2, 3])).toEqual([1, 1, 1])
  })
  it('the fill of a pad gets the padding alone, whatever is inside', () => {
    expect(gradientOf((v) => mul(pad([1, 1], [[1, 2]], v), [1, 1e300, 7, 2, 3]), [], [5])).toEqual([6])
  })
  it('compositions', () => {
    expect(gradientOf((a) => mul(roll(a, 1), [1, 10, 100]), [3], [1, 2, 3])).toEqual([10, 100, 1])
    expect(gradientOf((a) => tile(a, [2, 2]), [2], [1, 2])).toEqual([4, 4])
    expect(gradientOf((a) => mul(diag(a), corner), [2], [1, 2])).toEqual([0, 5])
    expect(gradientOf((a) => sum(diag(a, 1)), [2, 3], [1, 2, 3, 4, 5, 6])).toEqual([0, 1, 0, 0, 0, 1])
    expect(gradientOf((a) => triu(a), [2, 2], [inf, 1, inf, 1])).toEqual([1, 1, 0, 1])
    expect(gradientOf((a) => full([3], a), [], [1])).toEqual([3])
    const g = gradientOf((a) => linspace(a, 1, 3), [], [0])
    expect(g[0]).toBeCloseTo(1.5, 15)
  })
})

describe('errors', () => {
  it('names what is wrong', () => {
    expect(errorOf(() => slice(y, [0.5], [1]))).toBe('BadInput')
    expect(errorOf(() => slice(y, [0], [1], [0]))).toBe('BadInput')
    expect(errorOf(() => slice([1], [0, 0], [1, 1]))).toBe('BadInput')
    expect(errorOf(() => pad([1], [-1]))).toBe('BadInput')
    expect(errorOf(() => pad([1], [1, 1]))).toBe('BadInput')
    expect(errorOf(() => reshape(y, [5, -1]))).toBe('ShapeMismatch')
    expect(errorOf(() => reshape(y, [-1, -1]))).toBe('ShapeMismatch')
    expect(errorOf(() => transpose([1]))).toBe('ShapeMismatch')
    expect(errorOf(() => transpose(y, [0, 0]))).toBe('BadInput')
    expect(errorOf(() => concat([1, 2]))).toBe('BadInput')
    expect(errorOf(() => concat([y, [[1]]]))).toBe('ShapeMismatch')
    expect(errorOf(() => concat([]))).toBe('BadInput')
    expect(errorOf(() => stack([[1], [1, 2]]))).toBe('ShapeMismatch')
    expect(errorOf(() => split([1, 2, 3], 2))).toBe('ShapeMismatch')
    expect(errorOf(() => split([1, 2, 3], [1, 1]))).toBe('ShapeMismatch')
    expect(errorOf(() => squeeze(y, 0))).toBe('BadInput')
    expect(errorOf(() => expandDims(y, [0, 0]))).toBe('BadInput')
    expect(errorOf(() => flip(y, { axis: [0, -2] }))).toBe('BadInput')
    expect(errorOf(() => roll(y, 0.5))).toBe('BadInput')
    expect(errorOf(() => roll(y, [1, 2]))).toBe('BadInput')
    expect(errorOf(() => tile(y, -1))).toBe('BadInput')
    expect(errorOf(() => repeat(y, 1.5))).toBe('BadInput')
    expect(errorOf(() => diag(1))).toBe('ShapeMismatch')
    expect(errorOf(() => diag(y, 0.5))).toBe('BadInput')
    expect(errorOf(() => tril([1]))).toBe('ShapeMismatch')
    expect(errorOf(() => arange(-1))).toBe('BadInput')
    expect(errorOf(() => linspace(0, 1, 2, 'i32'))).toBe('DTypeMismatch')
    expect(errorOf(() => zeros([-1]))).toBe('BadInput')
    expect(errorOf(() => assertShape(y, ['n', 'n']))).toBe('ShapeMismatch')
    expect(errorOf(() => assertShape(y, [3]))).toBe('ShapeMismatch')
  })
})
