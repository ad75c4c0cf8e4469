/** Rows folded by the segment that each belongs to: sums, products, extremes, means. */

import { shown } from '../../core/errors/check-arguments.js'
import { badShape, showShape } from '../../core/errors/explain.js'
import { wholeNumber } from '../../core/errors/options.js'
import { MAX_SIZE } from '../../core/graph/shape.js'
import { div, maximum, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { asNumbers, foldedAt, literal, part } from '../../core/ops/arrays.js'
import { and, ge, lt, or } from '../../core/ops/compare.js'
import type { FoldMode } from '../../core/ops/indexing/fold.js'
import { broadcastTo, reshape } from '../../core/ops/layout/layout.js'
import { type ArrayKind, array, floats, indices, numbers, operation } from '../../core/ops/operation.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { SegmentChoiceFn, SegmentFn, SegmentMeanFn, SegmentSoftmaxFn } from '../../core/types/signatures/arrays.js'
import { exp } from '../../families/exponentials.js'
import { gather, scatterAdd } from '../../families/indexing.js'

type Mode = FoldMode | 'sum'
/** The least and the greatest of each dtype. */
const BOUNDS: Readonly<Record<DType, readonly [least: number, most: number]>> = {
  bool: [0, 1],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  f32: [-Infinity, Infinity],
  f64: [-Infinity, Infinity],
}
/** What a segment without rows holds. */
const identity = (mode: Mode, dtype: DType): number => (mode === 'sum' ? 0 : mode === 'mul' ? 1 : BOUNDS[dtype][mode === 'max' ? 0 : 1])
type Fold = (x: AnyExpr, ids: AnyExpr, segments: number) => AnyExpr
/** x: [n, ...], ids: [n] -> [segments, ...]. */
const by =
  (mode: Mode): Fold =>
  (x, ids, segments) => {
    // One segment more takes what belongs to none.
    const places = where(or(lt(ids, 0), ge(ids, segments)), segments, ids)
    const all = asNumbers(x, (n) => {
      const start = broadcastTo(literal(identity(mode, x.dtype), n.dtype), [segments + 1, ...n.shape.slice(1)])
      return mode === 'sum' ? scatterAdd(start, places, n) : foldedAt(start, places, n, mode)
    })
    return part(all, 0, 0, segments)
  }
const sumBy = by('sum')

const count = wholeNumber(
  { to: MAX_SIZE - 1 },
  (n) =>
    n === undefined
      ? 'how many segments there are is known only when the program runs, but a shape must be known before.'
      : `${shown(n)} is not a number of segments.`,
  'give it as the third argument, a whole number.',
)
const folding = <F>(name: string, rows: ArrayKind, fold: Fold): F =>
  operation(name, { x: rows, ids: indices, segments: count }, {}, ({ x, ids, segments }, _, op) => {
    if (x.shape.length === 0 || ids.shape.length !== 1 || ids.shape[0] !== x.shape[0])
      badShape(
        op,
        [x.shape, ids.shape],
        `x is ${showShape(x.shape)}, the segments of its rows ${showShape(ids.shape)}.`,
        'give the number of a segment for each row of the first axis.',
      )
    return fold(x, ids, segments)
  })

/**
 * Sums of the rows of x by segment: y_s is the sum of those with ids_i = s. Rows with an id outside 0, ..., segments - 1 belong to no segment.
 *
 * Shapes  x: [n, ...], ids: [n] -> [segments, ...]; 0 for a segment without rows.   Dtype  x's; bool becomes i32, i32 wraps; ids i32.
 * Rule    xBar_i = yBar at ids_i.   Source  JAX segment_sum.
 * Errors  ShapeMismatch unless ids has one number for each row; BadInput without the number of segments; DTypeMismatch for ids that are not i32.
 * @example segmentSum(tensor([1, 2, 3]), [0, 2, 0], 3)   // [4, 0, 2]
 */
export const segmentSum: SegmentFn<'segmentSum'> = folding('segmentSum', numbers, sumBy)

/**
 * Products of the rows of x by segment, as `segmentSum`; 1 for a segment without rows.
 *
 * Shapes, dtype, errors  as `segmentSum`.   Rule  xBar_i = yBar times the product of the others: exact where some x are zero.   Source  JAX segment_prod.
 * @example segmentProd(tensor([2, 3, 4]), [0, 0, 1], 2)   // [6, 4]
 */
export const segmentProd: SegmentFn<'segmentProd'> = folding('segmentProd', numbers, by('mul'))

/**
 * The largest of the rows of x by segment, element by element; -Infinity (for i32 the smallest number, for bool false) for a segment without rows.
 *
 * Shapes, errors  as `segmentSum`.   Dtype  x's.   Rule  yBar is shared equally by the elements that are the largest, as `max` shares it.   Source  JAX segment_max.
 * @example segmentMax(tensor([1, 5, 3]), [0, 0, 1], 2)   // [5, 3]
 */
export const segmentMax: SegmentChoiceFn<'segmentMax'> = folding('segmentMax', array, by('max'))

/**
 * The smallest of the rows of x by segment, element by element; Infinity (for i32 the largest number, for bool true) for a segment without rows.
 *
 * Shapes, errors  as `segmentSum`.   Dtype  x's.   Rule  yBar is shared equally by the elements that are the smallest, as `min` shares it.   Source  JAX segment_min.
 * @example segmentMin(tensor([1, 5, 3]), [0, 0, 1], 2)   // [1, 3]
 */
export const segmentMin: SegmentChoiceFn<'segmentMin'> = folding('segmentMin', array, by('min'))

/**
 * Means of the rows of x by segment; 0 for a segment without rows.
 *
 * Shapes, errors  as `segmentSum`.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar_i = yBar at ids_i, divided by the rows of that segment.
 * @example segmentMean(tensor([1, 5, 3]), [0, 0, 1], 2)   // [3, 3]
 */
export const segmentMean: SegmentMeanFn<'segmentMean'> = folding('segmentMean', floats, (x, ids, segments) => {
  const rows = sumBy(broadcastTo(literal(1, x.dtype), ids.shape), ids, segments)
  const along = reshape(rows, [segments, ...x.shape.slice(1).map(() => 1)])
  return div(sumBy(x, ids, segments), maximum(along, 1))
})

/**
 * Softmax of the rows of x in each segment: exp x_i over the sum of the exp x_j with ids_j = ids_i, element by element. Rows that belong to no segment are 0.
 *
 * Shapes, errors  as `segmentSum`, but the result has the shape of x.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar = y (yBar - segment sums of y yBar, at ids).
 * @example segmentSoftmax(tensor([0, 0, 5]), [1, 1, 0], 2)   // [0.5, 0.5, 1]
 */
export const segmentSoftmax: SegmentSoftmaxFn<'segmentSoftmax'> = folding('segmentSoftmax', floats, (x, ids, segments) => {
  const there = and(ge(ids, 0), lt(ids, segments))
  const places = where(there, ids, segments)
  const most = stopGradient(gather(by('max')(x, places, segments + 1), places))
  const weights = exp(sub(x, most))
  const shares = div(weights, gather(sumBy(weights, places, segments + 1), places))
  return where(reshape(there, [...ids.shape, ...x.shape.slice(1).map(() => 1)]), shares, 0)
})
