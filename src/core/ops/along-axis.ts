/** Operations along one axis: running sums and products, linear recurrences, order. */

import { shown } from '../errors/check-arguments.js'
import { badInput, showShape } from '../errors/explain.js'
import { flag, integer, raw } from '../errors/options.js'
import { throughI32 } from '../graph/cast.js'
import { apply, asExpr, asNode } from '../graph/expr.js'
import type { Primitive } from '../graph/primitive.js'
import type {
  AlongAxisFn,
  ArgSortFn,
  ChoosingAlongAxisFn,
  FoldOptions,
  LinearRecurrenceFn,
  RunningOptions,
  SortOptions,
  SumFn,
  TopKFn,
} from '../types/signatures/reduce.js'
import { mul } from './arithmetic.js'
import { axisOf, broadcastNode } from './layout/move.js'
import { broadcastAvals } from './lifted.js'
import { folded } from './masked.js'
import { array, axisOptions, floats, laterAxis, numbers, operation } from './operation.js'
import {
  cummaxPrimitive,
  cumminPrimitive,
  cumprodPrimitive,
  cumsumPrimitive,
  prodPrimitive,
  type RunningParams,
  recurrenceNode,
  sortNodes,
} from './scans.js'

export const runningOptions = {
  /** Does it run from the end? */
  reverse: flag(),
  /** Is each element excluded from its own total? */
  exclusive: flag(),
}
const scanned = <F>(prim: typeof cumsumPrimitive | typeof cumprodPrimitive): F =>
  operation(prim.name, { x: numbers }, { ...axisOptions, ...runningOptions }, ({ x }, params) => asExpr(apply(prim, [asNode(x)], params)))

/**
 * Running sums y_k = x_0 + ... + x_k along an axis (the last by default); `reverse` runs from the end, `exclusive` leaves x_k out.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32, i32 wraps.
 * Rule    dy = cumsum dx; xBar = cumsum of yBar from the other end.
 * Errors  BadInput for an axis out of range.
 * @example cumsum([1, 2, 3])   // [1, 3, 6]
 */
export const cumsum: AlongAxisFn<'cumsum', RunningOptions> = scanned(cumsumPrimitive)

/**
 * Running products y_k = x_0 ... x_k along an axis (the last by default); `reverse` runs from the end, `exclusive` leaves x_k out.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32, i32 wraps.
 * Rule    dy_k = x_k dy_{k-1} + dx_k y_{k-1}, a linear recurrence: exact where some x are zero.
 * Errors  BadInput for an axis out of range.
 * @example cumprod([1, 2, 3])   // [1, 2, 6]
 */
export const cumprod: AlongAxisFn<'cumprod', RunningOptions> = scanned(cumprodPrimitive)

const extreme = <F>(prim: Primitive<string, RunningParams, readonly ['float']>): F =>
  operation(prim.name, { x: array }, { ...axisOptions, reverse: runningOptions.reverse }, ({ x }, params) =>
    asExpr(throughI32(asNode(x), (n) => apply(prim, [n], params))),
  )

/**
 * Running maxima y_k = max(x_0, ..., x_k) along an axis (the last by default); `reverse` runs from the end. From the first NaN on all are NaN.
 *
 * Shapes  x's.   Dtype  x's.
 * Rule    each yBar_k is shared equally by those of x_0, ..., x_k that are y_k, as `max` shares it.   Source  NumPy maximum.accumulate.
 * Errors  BadInput for an axis out of range.
 * @example cummax([1, 3, 2, 5])   // [1, 3, 3, 5]
 */
export const cummax: ChoosingAlongAxisFn<'cummax', Pick<RunningOptions, 'reverse'>> = extreme(cummaxPrimitive)

/**
 * Running minima y_k = min(x_0, ..., x_k) along an axis (the last by default); `reverse` runs from the end. From the first NaN on all are NaN.
 *
 * Shapes  x's.   Dtype  x's.
 * Rule    each yBar_k is shared equally by those of x_0, ..., x_k that are y_k, as `min` shares it.   Source  NumPy minimum.accumulate.
 * Errors  BadInput for an axis out of range.
 * @example cummin([3, 1, 2, 0])   // [3, 1, 1, 0]
 */
export const cummin: ChoosingAlongAxisFn<'cummin', Pick<RunningOptions, 'reverse'>> = extreme(cumminPrimitive)

/**
 * Linear recurrence s_0 = b_0, s_k = a_k s_{k-1} + b_k along an axis (the last by default); `reverse` runs from the end. a_0 is not read.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool become f64.
 * Rule    ds_k = a_k ds_{k-1} + da_k s_{k-1} + db_k; the cotangents run the recurrence from the other end.
 * Errors  ShapeMismatch when a and b do not broadcast; BadInput for an axis out of range.
 * @example linearRecurrence([0, 2, 2], [1, 1, 1])   // [1, 3, 7]
 */
export const linearRecurrence: LinearRecurrenceFn = operation(
  'linearRecurrence',
  { a: floats, b: floats },
  { axis: laterAxis(-1), reverse: runningOptions.reverse },
  ({ a, b }, o, op) => {
    const shape = broadcastAvals([asNode(a).aval, asNode(b).aval], op)
    const params = { ...o, axis: axisOf(o.axis, shape.length, op) }
    return asExpr(recurrenceNode(broadcastNode(asNode(a), shape), broadcastNode(asNode(b), shape), params))
  },
)

export const sortOptions = {
  /** The largest first? */
  descending: flag(),
}
/** Sorted values, or their indices. */
const sorted = <F>(name: string, result: 0 | 1): F =>
  operation(name, { x: array }, { ...axisOptions, ...sortOptions }, ({ x }, params) => asExpr(sortNodes(asNode(x), params)[result]))

/**
 * x in ascending order along an axis (the last by default), equal elements in their order; NaN counts as the largest.
 *
 * Shapes  x's.   Dtype  x's.
 * Rule    dy = dx in the same order; xBar = yBar put back. Equal elements keep their own entries.
 * Errors  BadInput for an axis out of range.
 * @example sort([3, 1, 2])   // [1, 2, 3]
 */
export const sort: ChoosingAlongAxisFn<'sort', SortOptions> = sorted('sort', 0)

/**
 * The indices that sort x along an axis (the last by default), equal elements in their order; NaN counts as the largest.
 *
 * Shapes  x's.   Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range.
 * @example argsort([3, 1, 2])   // [1, 2, 0]
 */
export const argsort: ArgSortFn = sorted('argsort', 1)

export const topkOptions = {
  /** The largest, unless it is false: the smallest. */
  largest: flag(true),
  /** The number of elements that are skipped first: 0 unless given. */
  from: integer(0, { from: 0, fix: 'give a number of places, from 0.' }),
}
/**
 * The k largest elements along an axis (the last by default), the largest first, and their indices; with `largest: false` the k smallest, the smallest
 * first. `from` skips that many first. NaN counts as the largest. If k is small compared with the axis, the rest is not sorted.
 *
 * Shapes  x's with k along the axis.   Dtype  x's, and i32 for the indices.
 * Rule    xBar = valuesBar put back at the indices.
 * Errors  BadInput unless k is an integer from 0 to the axis' length less `from`.
 * @example
 * topk([1, 4, 3], 2).values                       // [4, 3]
 * topk([1, 4, 3], 2, { largest: false }).values   // [1, 3]
 * topk([9, 1, 5], 1, { from: 1 }).values           // [5]
 */
export const topk: TopKFn = operation(
  'topk',
  { x: array, k: raw<number>() },
  { ...axisOptions, ...topkOptions },
  ({ x, k }, { axis: along, largest, from }, op) => {
    const size = x.shape[along]!
    const most = Math.max(0, size - from)
    if (!(Number.isInteger(k) && k! >= 0 && k! <= most))
      badInput(
        op,
        `k = ${shown(k)} of ${size} elements (axis ${along} of ${showShape(x.shape)})${from > 0 ? ` from ${from} on` : ''}.`,
        `k is from 0 to ${most}.`,
      )
    const [values, indices] = sortNodes(asNode(x), { axis: along, descending: largest, ...(k! < size && { places: [from, from + k!] }) })
    return { values: asExpr(values), indices: asExpr(indices) }
  },
)

/**
 * Product over axes (all by default), times `initial`; with a mask `where`, of the elements where it holds. 1 for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  x's; bool becomes i32, i32 wraps.
 * Rule    xBar_i = yBar times the product of the others, from products of both sides: exact where some x are zero.
 * Errors  as `sum`.
 * @example prod([2, 3, 4])   // 24
 */
export const prod: SumFn<'prod', FoldOptions> = folded(prodPrimitive, 1, mul)
