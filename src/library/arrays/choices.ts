/** Choices among several arrays, and elements put along an axis. */

import { listOf } from '../../core/errors/check-arguments.js'
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { kind, raw } from '../../core/errors/options.js'
import { stridesOf } from '../../core/graph/shape.js'
import { add, mul, where } from '../../core/ops/arithmetic.js'
import { arrayOf, arraysOf, fittedTo, indicesOf, intoOf, positions, sizeOf } from '../../core/ops/arrays.js'
import { lt } from '../../core/ops/compare.js'
import { broadcastTo, reshape } from '../../core/ops/layout/layout.js'
import { array, axis, operation } from '../../core/ops/operation.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { PiecewiseFn, PutAlongAxisFn, SelectFirstFn } from '../../core/types/signatures/arrays.js'
import { setAt } from '../../families/indexing.js'
import { flatten } from './arrange.js'
import { clamp } from './elementwise.js'
import { valuesFor } from './indexing/parts.js'

const several = kind(listOf)

/**
 * The element of the first choice whose condition holds, or `otherwise` (0 unless given) if none does: NumPy's select. (`select` here is `where`.)
 *
 * Shapes  all broadcast.   Dtype  promoted.   Rule  each choice has the cotangent where it was chosen, 0 elsewhere.   Source  NumPy select.
 * Errors  BadInput unless there are as many choices as conditions, and at least one; ShapeMismatch when they do not broadcast.
 * @example selectFirst([[true, false, false], [true, true, false]], [[1, 1, 1], [2, 2, 2]], 9)   // [1, 2, 9]
 */
export const selectFirst: SelectFirstFn = operation(
  'selectFirst',
  { conditions: several, choices: several, otherwise: raw(0) },
  {},
  ({ conditions, choices, otherwise }, _, op) => {
    const n = conditions.length
    if (n !== choices.length || n === 0) badInput(op, `${n} conditions for ${choices.length} choices.`, 'give as many, and at least one.')
    const values = arraysOf([...choices, otherwise], op)
    return conditions.reduceRight<AnyExpr>((rest, c, i) => where(arrayOf(c, op), values[i]!, rest), values[n]!)
  },
)

/**
 * A piecewise function: at each element of x the function, or the value, of the last condition that holds. If none holds, it is the function after those of
 * the conditions, or 0 without one. Every function is computed everywhere; where it is not chosen it affects neither the result nor a derivative.
 *
 * Shapes  x's, to which conditions and results broadcast.   Dtype  x's.   Rule  that of the function that was chosen.   Source  NumPy piecewise.
 * Errors  BadInput unless there are as many functions as conditions, or one more; ShapeMismatch for what does not broadcast to x.
 * @example piecewise(tensor([-2, 3]), [[true, false]], [0, (x) => mul(x, x)])   // [0, 9]
 */
export const piecewise: PiecewiseFn = operation(
  'piecewise',
  { x: array, conditions: several, functions: several },
  {},
  ({ x, conditions, functions }, _, op) => {
    const n = conditions.length
    if (functions.length !== n && functions.length !== n + 1)
      badInput(op, `${functions.length} functions for ${n} conditions.`, 'give one for each, or one more for the rest.')
    const pieceOf = (f: unknown): AnyExpr =>
      broadcastTo(fittedTo(x.dtype, arrayOf(typeof f === 'function' ? f(x) : f, op, 'any', x.dtype), op), x.shape)
    return conditions.reduce<AnyExpr>(
      (rest, c, i) => where(broadcastTo(arrayOf(c, op), x.shape), pieceOf(functions[i]), rest),
      pieceOf(functions[n] ?? 0),
    )
  },
)

/**
 * x with one element replaced for each index, along an axis (the last by default): the counterpart of `takeAlongAxis`. For a repeated index the last value wins.
 *
 * Shapes  x and indices have the same shape, except along the axis; values broadcast to the indices' -> x's.   Dtype  x's; indices i32, negative from the end, clamped.
 * Rule    xBar = yBar with zeros there; valuesBar = yBar at the indices, zero for overwritten values.   Source  NumPy put_along_axis, which writes in place.
 * Errors  ShapeMismatch when other axes differ or values do not broadcast; DTypeMismatch for indices that are not i32 or float values of integers; BadInput for an axis out of range.
 * @example putAlongAxis(tensor([[1, 2], [3, 4]]), [[1], [0]], 9)   // [[1, 9], [9, 4]]
 */
export const putAlongAxis: PutAlongAxisFn = operation(
  'putAlongAxis',
  { x: array, indices: raw(), values: raw() },
  { axis: axis(-1) },
  (given, { axis: along }, op) => {
    const [x, u] = intoOf(given.x, given.values, op)
    const i = indicesOf(given.indices, op)
    if (i.shape.length !== x.shape.length || i.shape.some((d, k) => k !== along && d !== x.shape[k]))
      badShape(
        op,
        [x.shape, i.shape],
        `x is ${showShape(x.shape)}, the indices ${showShape(i.shape)}: they may differ along axis ${along} only.`,
        'broadcastTo one of them, or use set for whole slices.',
      )
    const d = x.shape[along]!
    if (sizeOf(i) === 0) return x
    if (d === 0) badInput(op, `axis ${along} of ${showShape(x.shape)} is empty: no index is in range.`)
    // Places in the flattened array, in the order of the indices.
    const strides = stridesOf(x.shape)
    const own = clamp(where(lt(i, 0), add(i, d), i), 0, d - 1)
    const place = strides.reduce<AnyExpr>(
      (p, stride, k) => (k === along ? p : add(p, mul(positions(i.shape, k), stride))),
      mul(own, strides[along]!),
    )
    const put = valuesFor(i.shape, u, 'the indices, which are', op)
    return reshape(setAt(flatten(x), flatten(place) as AnyExpr, flatten(put)), x.shape)
  },
)
