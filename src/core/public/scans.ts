// Scans and sorting: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as scans from '../ops/scans.js'
import { type Public, typed } from './typed.js'

/**
 * Running sums y_k = x_0 + ... + x_k along an axis (the last by default); `reverse` runs from the end, `exclusive` leaves x_k out.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32.
 * Rule    dy = cumsum dx; xBar = cumsum of yBar from the other end.
 * Errors  BadInput for an axis out of range.
 * @example cumsum([1, 2, 3])   // [1, 3, 6]
 */
export const cumsum: Public['cumsum'] = typed(scans.cumsum)

/**
 * Running products y_k = x_0 ... x_k along an axis (the last by default); `reverse` runs from the end, `exclusive` leaves x_k out.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32.
 * Rule    dy_k = x_k dy_{k-1} + dx_k y_{k-1}, a linear recurrence: exact where some x are zero.
 * Errors  BadInput for an axis out of range.
 * @example cumprod([1, 2, 3])   // [1, 2, 6]
 */
export const cumprod: Public['cumprod'] = typed(scans.cumprod)

/**
 * Linear recurrence s_0 = b_0, s_k = a_k s_{k-1} + b_k along an axis (the last by default); `reverse` runs from the end. a_0 is not read.
 *
 * Shapes  a and b broadcast.   Dtype  promoted float.
 * Rule    ds_k = a_k ds_{k-1} + da_k s_{k-1} + db_k; the cotangents run the recurrence from the other end.
 * Errors  ShapeMismatch when a and b do not broadcast; BadInput for an axis out of range.
 * @example linearRecurrence([0, 2, 2], [1, 1, 1])   // [1, 3, 7]
 */
export const linearRecurrence: Public['linearRecurrence'] = typed(scans.linearRecurrence)

/**
 * x in ascending order along an axis (the last by default), equals in their order; a NaN counts as the largest.
 *
 * Shapes  x's.   Dtype  x's; bool becomes i32.
 * Rule    dy = dx in the same order; xBar = yBar put back. Equals keep their own entries.
 * Errors  BadInput for an axis out of range.
 * @example sort([3, 1, 2])   // [1, 2, 3]
 */
export const sort: Public['sort'] = typed(scans.sort)

/**
 * The indices that sort x along an axis (the last by default), equals in their order; a NaN counts as the largest.
 *
 * Shapes  x's.   Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range.
 * @example argsort([3, 1, 2])   // [1, 2, 0]
 */
export const argsort: Public['argsort'] = typed(scans.argsort)

/**
 * The k largest elements along an axis (the last by default), the largest first, and where they are; a NaN counts as the largest.
 *
 * Shapes  x's with k along the axis.   Dtype  x's, and i32 for the indices.
 * Rule    xBar = valuesBar put back at the indices.
 * Errors  BadInput unless k is a whole number from 0 to the axis' length.
 * @example topk([1, 4, 3], 2).values   // [4, 3]
 */
export const topk: Public['topk'] = typed(scans.topk)
