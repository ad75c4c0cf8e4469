/** Operations along one axis: running sums and products, linear recurrences, order. */

import { flagOf, type Names, optionsOf, shown } from '../errors/check-arguments.js'
import { raise, showShape } from '../errors/explain.js'
import { throughI32 } from '../graph/cast.js'
import { apply, asExpr, type Node } from '../graph/expr.js'
import { lift, liftAll, liftNumber } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import type { Primitive } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import type {
  AlongAxisFn,
  ArgSortFn,
  AxisOptions,
  ChoosingAlongAxisFn,
  FoldOptions,
  LinearRecurrenceFn,
  RunningOptions,
  SortOptions,
  SumFn,
  TopKFn,
  TopKOptions,
} from '../types/signatures/reduce.js'
import { mul } from './arithmetic.js'
import { folded } from './folded.js'
import { axisOf, broadcastNode } from './layout-move.js'
import { sliceAxis } from './layout-slice.js'
import { broadcastAvals } from './lifted.js'
import {
  cummaxPrimitive,
  cumminPrimitive,
  cumprodPrimitive,
  cumsumPrimitive,
  prodPrimitive,
  type RunningParams,
  recurrenceNode,
  runningNode,
  sortNodes,
} from './scans.js'

const scanned =
  (prim: typeof cumsumPrimitive | typeof cumprodPrimitive) =>
  (x: unknown, options?: AxisOptions & RunningOptions): AnyExpr =>
    asExpr(runningNode(prim, liftNumber(x, prim.name), options, prim.name))

/**
 * Running sums y_k = x_0 + ... + x_k along an axis (the last by default); `reverse` runs from the end, `exclusive` leaves x_k out.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32, i32 wraps.
 * Rule    dy = cumsum dx; xBar = cumsum of yBar from the other end.
 * Errors  BadInput for an axis out of range.
 * @example cumsum([1, 2, 3])   // [1, 3, 6]
 */
export const cumsum: AlongAxisFn<'cumsum', RunningOptions> = typed(scanned(cumsumPrimitive))

/**
 * Running products y_k = x_0 ... x_k along an axis (the last by default); `reverse` runs from the end, `exclusive` leaves x_k out.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32, i32 wraps.
 * Rule    dy_k = x_k dy_{k-1} + dx_k y_{k-1}, a linear recurrence: exact where some x are zero.
 * Errors  BadInput for an axis out of range.
 * @example cumprod([1, 2, 3])   // [1, 2, 6]
 */
export const cumprod: AlongAxisFn<'cumprod', RunningOptions> = typed(scanned(cumprodPrimitive))

const runningOptions: Names<AxisOptions & Pick<RunningOptions, 'reverse'>> = { axis: true, reverse: true }
const extreme =
  (prim: Primitive<'cummax' | 'cummin', RunningParams, readonly ['float']>) =>
  (x: unknown, options?: AxisOptions & Pick<RunningOptions, 'reverse'>): AnyExpr => {
    const n = lift(x, prim.name)
    const { axis = -1, reverse } = optionsOf(options, runningOptions, prim.name)
    const params = { axis: axisOf(axis, n.shape.length, prim.name), reverse: flagOf(reverse, 'reverse', prim.name) }
    return asExpr(throughI32(n, (m) => apply(prim, [m], params)))
  }

/**
 * Running maxima y_k = max(x_0, ..., x_k) along an axis (the last by default); `reverse` runs from the end. From the first NaN on all are NaN.
 *
 * Shapes  x's.   Dtype  x's.
 * Rule    each yBar_k is shared equally by those of x_0, ..., x_k that are y_k, as `max` shares it.   Source  NumPy maximum.accumulate.
 * Errors  BadInput for an axis out of range.
 * @example cummax([1, 3, 2, 5])   // [1, 3, 3, 5]
 */
export const cummax: ChoosingAlongAxisFn<'cummax', Pick<RunningOptions, 'reverse'>> = typed(extreme(cummaxPrimitive as never))

/**
 * Running minima y_k = min(x_0, ..., x_k) along an axis (the last by default); `reverse` runs from the end. From the first NaN on all are NaN.
 *
 * Shapes  x's.   Dtype  x's.
 * Rule    each yBar_k is shared equally by those of x_0, ..., x_k that are y_k, as `min` shares it.   Source  NumPy minimum.accumulate.
 * Errors  BadInput for an axis out of range.
 * @example cummin([3, 1, 2, 0])   // [3, 1, 1, 0]
 */
export const cummin: ChoosingAlongAxisFn<'cummin', Pick<RunningOptions, 'reverse'>> = typed(extreme(cumminPrimitive as never))

/**
 * Linear recurrence s_0 = b_0, s_k = a_k s_{k-1} + b_k along an axis (the last by default); `reverse` runs from the end. a_0 is not read.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool become f64.
 * Rule    ds_k = a_k ds_{k-1} + da_k s_{k-1} + db_k; the cotangents run the recurrence from the other end.
 * Errors  ShapeMismatch when a and b do not broadcast; BadInput for an axis out of range.
 * @example linearRecurrence([0, 2, 2], [1, 1, 1])   // [1, 3, 7]
 */
export const linearRecurrence: LinearRecurrenceFn = typed(
  (a: unknown, b: unknown, options?: AxisOptions & Pick<RunningOptions, 'reverse'>): AnyExpr => {
    const { axis = -1, reverse } = optionsOf(options, runningOptions, 'linearRecurrence')
    const pair = liftAll([a, b], 'linearRecurrence', 'float')
    const shape = broadcastAvals(
      pair.map((n) => n.aval),
      'linearRecurrence',
    )
    const [x, y] = pair.map((n) => broadcastNode(n, shape))
    return asExpr(
      recurrenceNode(x!, y!, {
        axis: axisOf(axis, shape.length, 'linearRecurrence'),
        reverse: flagOf(reverse, 'reverse', 'linearRecurrence'),
      }),
    )
  },
)

const sortOptions: Names<AxisOptions & SortOptions> = { axis: true, descending: true }
const sorted = (x: unknown, options: (AxisOptions & SortOptions) | undefined, op: string): readonly [Node, Node] => {
  const n = lift(x, op)
  const { axis = -1, descending } = optionsOf(options, sortOptions, op)
  return sortNodes(n, { axis: axisOf(axis, n.shape.length, op), descending: flagOf(descending, 'descending', op) })
}

/**
 * x in ascending order along an axis (the last by default), equals in their order; a NaN counts as the largest.
 *
 * Shapes  x's.   Dtype  x's.
 * Rule    dy = dx in the same order; xBar = yBar put back. Equals keep their own entries.
 * Errors  BadInput for an axis out of range.
 * @example sort([3, 1, 2])   // [1, 2, 3]
 */
export const sort: ChoosingAlongAxisFn<'sort', SortOptions> = typed(
  (x: unknown, options?: AxisOptions & SortOptions): AnyExpr => asExpr(sorted(x, options, 'sort')[0]),
)

/**
 * The indices that sort x along an axis (the last by default), equals in their order; a NaN counts as the largest.
 *
 * Shapes  x's.   Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range.
 * @example argsort([3, 1, 2])   // [1, 2, 0]
 */
export const argsort: ArgSortFn = typed(
  (x: unknown, options?: AxisOptions & SortOptions): AnyExpr => asExpr(sorted(x, options, 'argsort')[1]),
)

const topkOptions: Names<TopKOptions> = { axis: true, largest: true }

/**
 * The k largest elements along an axis (the last by default), the largest first, and where they are; with `largest: false` the k smallest, the smallest
 * first. A NaN counts as the largest.
 *
 * Shapes  x's with k along the axis.   Dtype  x's, and i32 for the indices.
 * Rule    xBar = valuesBar put back at the indices.
 * Errors  BadInput unless k is a whole number from 0 to the axis' length.
 * @example
 * topk([1, 4, 3], 2).values                       // [4, 3]
 * topk([1, 4, 3], 2, { largest: false }).values   // [1, 3]
 */
export const topk: TopKFn = typed(
  (x: unknown, k: number, options?: TopKOptions): { readonly values: AnyExpr; readonly indices: AnyExpr } => {
    const n = lift(x, 'topk')
    const { axis: given = -1, largest = true } = optionsOf(options, topkOptions, 'topk')
    const axis = axisOf(given, n.shape.length, 'topk')
    const [values, indices] = sortNodes(n, { axis, descending: flagOf(largest, 'largest', 'topk') })
    if (!(Number.isInteger(k) && k >= 0 && k <= values.shape[axis]!))
      raise({
        _tag: 'BadInput',
        where: 'topk',
        reason: `k = ${shown(k)} of ${values.shape[axis]} elements (axis ${axis} of ${showShape(values.shape)}).`,
        fix: `k is from 0 to ${values.shape[axis]}.`,
      })
    return { values: asExpr(sliceAxis(values, axis, 0, k)), indices: asExpr(sliceAxis(indices, axis, 0, k)) }
  },
)

/**
 * Product over axes (all by default), of the elements where the mask `where` holds, if there is one, and of `initial`; 1 for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  x's; bool becomes i32, i32 wraps.
 * Rule    xBar_i = yBar times the product of the others, from products of both sides: exact where some x are zero.
 * Errors  as `sum`.
 * @example prod([2, 3, 4])   // 24
 */
export const prod: SumFn<'prod', FoldOptions> = typed(folded(prodPrimitive, 1, mul))
