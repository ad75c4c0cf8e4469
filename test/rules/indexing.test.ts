import { describe, expect, it } from 'vitest'
import { aval } from '../../src/core/graph/aval.js'
import { asExpr, asNode, constant, input, linearize } from '../../src/core/graph/expr.js'
import { pullback } from '../../src/modes/transform.js'
import { coreRegistry } from '../../src/packs/all.js'
import { untyped } from './untyped.js'
import { errorOf, evaluated, gradientOf, nested } from './values.js'

const {
  argmax,
  sum,
  argsort,
  add,
  cast,
  mul,
  square,
  dynamicSlice,
  dynamicUpdateSlice,
  gather,
  oneHot,
  scatterAdd,
  searchsorted,
  setAt,
  takeAlongAxis,
} = untyped

const y = [
  [0, 1, 2, 3],
  [4, 5, 6, 7],
  [8, 9, 10, 11],
]
const nan = Number.NaN
/** An index that a plan cannot know: the sum of i32. */
const computed = (i: number) => sum(Int32Array.of(i - 1, 1))

describe('values', () => {
  it('gather: any shape of indices, from the end, clamped', () => {
    expect(
      nested(
        gather(
          y,
          [
            [2, -1],
            [0, 1],
          ],
          { axis: 1 },
        ),
      ),
    ).toEqual([
      [
        [2, 3],
        [0, 1],
      ],
      [
        [6, 7],
        [4, 5],
      ],
      [
        [10, 11],
        [8, 9],
      ],
    ])
    expect(nested(gather(y, 1))).toEqual([4, 5, 6, 7])
    expect(nested(gather([1, 2, 3], [5, -5]))).toEqual([3, 1])
    expect(nested(gather([1, 2, 3], []))).toEqual([])
    expect(evaluated(gather(Float32Array.of(1, 2), argmax([1, 2])))).toMatchObject({ dtype: 'f32', shape: [] })
  })
  it('takeAlongAxis puts in the order that argsort says', () => {
    const x = [
      [3, 1, 2],
      [0, 9, -1],
    ]
    expect(nested(takeAlongAxis(x, argsort(x)))).toEqual([
      [1, 2, 3],
      [-1, 0, 9],
    ])
  })
  it('scatterAdd adds duplicates, setAt keeps the last', () => {
    expect(nested(scatterAdd([1, 2, 3], [0, 0], [10, 20]))).toEqual([31, 2, 3])
    expect(nested(setAt([1, 2, 3], [0, 0], [10, 20]))).toEqual([20, 2, 3])
    expect(nested(setAt(y, [-1], 0))).toEqual([y[0], y[1], [0, 0, 0, 0]])
    expect(nested(setAt(y, 1, [1, 2, 3], { axis: 1 }))).toEqual([
      [0, 1, 2, 3],
      [4, 2, 6, 7],
      [8, 3, 10, 11],
    ])
    expect(nested(scatterAdd(Int32Array.of(1, 2), [0], Int32Array.of(5)))).toEqual([6, 2])
  })
  it('dynamicSlice and dynamicUpdateSlice move the window inside', () => {
    expect(nested(dynamicSlice(y, [computed(1), computed(2)], [2, 2]))).toEqual([
      [6, 7],
      [10, 11],
    ])
    expect(nested(dynamicSlice(y, [computed(9), 0], [1, 4]))).toEqual([y[2]])
    expect(nested(dynamicSlice(y, [1, -1], [1, 2]))).toEqual([[6, 7]])
    expect(nested(dynamicSlice(y, [computed(1), -1], [1, 2]))).toEqual([[6, 7]])
    expect(nested(dynamicUpdateSlice([1, 2, 3, 4], [8, 9], [computed(3)]))).toEqual([1, 2, 8, 9])
    expect(nested(dynamicSlice(5, [], []))).toBe(5)
  })
  it('oneHot and searchsorted', () => {
    expect(
      nested(
        oneHot(
          [
            [0, 2],
            [3, -1],
          ],
          3,
        ),
      ),
    ).toEqual([
      [
        [1, 0, 0],
        [0, 0, 1],
      ],
      [
        [0, 0, 0],
        [0, 0, 0],
      ],
    ])
    expect(evaluated(oneHot(1, 2, 'f32'))).toMatchObject({ dtype: 'f32', data: Float32Array.of(0, 1) })
    expect(nested(searchsorted([1, 2, 2, 5], [2, 0, 6, nan]))).toEqual([1, 0, 4, 4])
    expect(nested(searchsorted([1, 2, 2, 5], [2, 0, 6, nan], { side: 'right' }))).toEqual([3, 0, 4, 4])
  })
})

describe('derivatives where there is a choice', () => {
  it('what is read twice gets both cotangents; clamped and negative indices are the elements they read', () => {
    expect(gradientOf((a) => gather(a, [0, 0, -1, 9]), [3], [1, 2, 3])).toEqual([2, 0, 2])
  })
  it('setAt: overwritten elements get 0, and so do values that lost', () => {
    expect(gradientOf((a) => mul(setAt(a, [0, -1], [7, 8]), [1, 10, 100]), [3], [1, 2, 3])).toEqual([0, 10, 0])
    expect(gradientOf((v) => mul(setAt([1, 2, 3], [2, 0, -1], v), [1, 10, 100]), [3], [4, 5, 6])).toEqual([0, 1, 100])
    expect(gradientOf((v) => setAt(y, [1, 1], v, { axis: 1 }), [2], [4, 5])).toEqual([0, 3])
  })
})

describe('accumulation', () => {
  it('gathers of one table add their rows into one accumulator: one fill, no sum of whole tables', () => {
    const table = input(aval([50, 4], 'f64'))
    const loss = asNode(
      sum(
        [
          [1, 2],
          [3, 1],
          [0, 49],
        ]
          .map((rows) => square(gather(asExpr(table), rows)))
          .reduce((a, b) => add(a, b)),
      ),
    )
    const [xBar] = pullback(coreRegistry, [loss], [asExpr(constant(1, 'f64'))], [table]).cotangents
    const nodes = linearize([asNode(xBar)]).nodes.filter((n) => n.shape.length === 2 && n.shape[0] === 50)
    const count = (name: string) => nodes.filter((n) => n.prim?.name === name).length
    expect([count('scatterAdd'), count('broadcastTo'), count('add')]).toEqual([3, 1, 0])
  })
})

describe('errors', () => {
  it('names what is wrong', () => {
    expect(errorOf(() => gather([1, 2], [0.5]))).toBe('DTypeMismatch')
    expect(errorOf(() => gather([1, 2], Float64Array.of(1)))).toBe('DTypeMismatch')
    expect(errorOf(() => gather([1, 2], cast([1], 'f64')))).toBe('DTypeMismatch')
    expect(errorOf(() => gather([], [0]))).toBe('BadInput')
    expect(errorOf(() => gather([1], [0], { axis: 1 }))).toBe('BadInput')
    expect(errorOf(() => takeAlongAxis(y, [[0], [0], [0], [0], [0], [0], [0]]))).toBe('ShapeMismatch')
    expect(errorOf(() => scatterAdd([1, 2], [0], [1, 2]))).toBe('ShapeMismatch')
    expect(errorOf(() => setAt(Int32Array.of(1), [0], Float64Array.of(0.5)))).toBe('DTypeMismatch')
    expect(errorOf(() => dynamicSlice([1, 2], [computed(0)], [3]))).toBe('ShapeMismatch')
    expect(errorOf(() => dynamicSlice([1, 2], [0, 0], [1]))).toBe('ShapeMismatch')
    expect(errorOf(() => dynamicSlice([1, 2], [0], [3]))).toBe('ShapeMismatch')
    expect(errorOf(() => searchsorted([[1]], [1]))).toBe('ShapeMismatch')
    expect(errorOf(() => oneHot([0], -1))).toBe('BadInput')
  })
})
