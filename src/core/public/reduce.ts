// Reductions: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.

import * as reduce from '../ops/reduce.js'
import * as reduceMore from '../ops/reduce-more.js'
import { type Public, typed } from './typed.js'

/**
 * Variance over axes (all by default): the sum of (x - mean)^2 over n - ddof.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = 2 (x - mean) yBar / (n - ddof).   Source  two passes, as NumPy.
 * Errors  BadInput for an axis out of range or named twice.
 * @example variance([1, 2, 3, 4])   // 1.25
 */
export const variance: Public['variance'] = typed(reduceMore.variance)

/**
 * Standard deviation over axes (all by default): the root of `variance`.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = (x - mean) yBar / ((n - ddof) y); 0 where the deviation is 0, as for `norm`.
 * Errors  BadInput for an axis out of range or named twice.
 * @example std([1, 1, 3, 3])   // 1
 */
export const std: Public['std'] = typed(reduceMore.std)

/**
 * Norm over axes (all by default) of order `ord` >= 1 (2 by default): the root of the sum of |x|^ord; 'inf' is the largest |x|.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = x yBar / y for order 2; 0 where the norm is 0. Order 'inf': ties share equally.
 * Errors  BadInput for an order below 1, an axis out of range or named twice.
 * @example norm([3, 4])   // 5
 */
export const norm: Public['norm'] = typed(reduceMore.norm)

/**
 * log of the sum of exp x over axes (all by default), stable: the largest x is taken out first.
 *
 * Shapes  as `sum`; -Infinity for an empty axis.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = softmax(x) yBar; 0 where the result is infinite (all x are -Infinity, or one is Infinity).
 * Errors  BadInput for an axis out of range or named twice.
 * @example logsumexp([1000, 1000])   // 1000.6931471805599
 */
export const logsumexp: Public['logsumexp'] = typed(reduceMore.logsumexp)

/**
 * Is any element over the axes (all by default) true, that is, not 0? false for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  bool.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example any([0, 1])   // true
 */
export const any: Public['any'] = typed(reduceMore.any)

/**
 * Are all elements over the axes (all by default) true, that is, not 0? true for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  bool.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example all([0, 1])   // false
 */
export const all: Public['all'] = typed(reduceMore.all)

/**
 * How many elements over the axes (all by default) are true, that is, not 0.
 *
 * Shapes  as `sum`.   Dtype  i32.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example count([1, 0, 2])   // 2
 */
export const count: Public['count'] = typed(reduceMore.count)

/**
 * Sum over axes (all by default).
 *
 * Shapes  x: any -> without the axes, or with length 1 there when keepdims.   Dtype  x's; bool becomes i32; f32 sums in blocks with f64 totals.
 * Rule    dy = sum dx; xBar = yBar repeated along the axes.
 * Errors  BadInput for an axis out of range or named twice.
 * @example sum([[1, 2], [3, 4]], { axis: 0 })   // [4, 6]
 */
export const sum: Public['sum'] = typed(reduce.sum)

/**
 * Product over axes (all by default); 1 for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  x's; bool becomes i32.
 * Rule    xBar_i = yBar times the product of the others, from products of both sides: exact where some x are zero.
 * Errors  BadInput for an axis out of range or named twice.
 * @example prod([2, 3, 4])   // 24
 */
export const prod: Public['prod'] = typed(reduce.prod)

/**
 * Largest element over axes (all by default). A NaN among them is the result.
 *
 * Shapes  as `sum`.   Dtype  x's.
 * Rule    yBar is shared equally by the elements that are the largest: the shares sum to yBar.
 * Errors  BadInput for an axis out of range or named twice, or when nothing is there to compare.
 * @example max([[1, 5], [4, 2]], { axis: 1 })   // [5, 4]
 */
export const max: Public['max'] = typed(reduce.max)

/**
 * Smallest element over axes (all by default). A NaN among them is the result.
 *
 * Shapes  as `sum`.   Dtype  x's.
 * Rule    yBar is shared equally by the elements that are the smallest: the shares sum to yBar.
 * Errors  BadInput for an axis out of range or named twice, or when nothing is there to compare.
 * @example min([[1, 5], [4, 2]], { axis: 1 })   // [1, 2]
 */
export const min: Public['min'] = typed(reduce.min)

/**
 * Index of the largest element along an axis, or in the flattened array: the first of equals; the first NaN where there is one.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range, or when nothing is there to compare.
 * @example argmax([1, 3, 2])   // 1
 */
export const argmax: Public['argmax'] = typed(reduce.argmax)

/**
 * Index of the smallest element along an axis, or in the flattened array: the first of equals; the first NaN where there is one.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range, or when nothing is there to compare.
 * @example argmin([2, 1, 3])   // 1
 */
export const argmin: Public['argmin'] = typed(reduce.argmin)

/**
 * Arithmetic mean over axes (all by default): sum / count. NaN for an empty axis.
 *
 * Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar = yBar / count repeated.
 * @example mean([1, 2, 3])   // 2
 */
export const mean: Public['mean'] = typed(reduce.mean)
