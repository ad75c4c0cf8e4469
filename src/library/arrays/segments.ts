/** Rows folded by the segment that each belongs to: sums, products, extremes, means. */

import { shown } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, constant, type Node } from '../../core/graph/expr.js'
import { lift, liftFloat, liftNumber } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { MAX_SIZE } from '../../core/graph/shape.js'
import { div, maximum } from '../../core/ops/elementwise.js'
import type { FoldMode } from '../../core/ops/indexing-fold.js'
import { liftIndices } from '../../core/ops/indexing-gather.js'
import { broadcastNode, reshapeNode } from '../../core/ops/layout-move.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { SegmentChoiceFn, SegmentFn, SegmentMeanFn } from '../../core/types/signatures/arrays.js'
import { segmentsOf } from './segment-nodes.js'

const checked = (op: string, n: Node, ids: unknown, segments: unknown): { readonly ids: Node; readonly segments: number } => {
  const i = liftIndices(ids, op)
  if (n.shape.length === 0 || i.shape.length !== 1 || i.shape[0] !== n.shape[0])
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [n.shape, i.shape],
      reason: `x is ${showShape(n.shape)}, the segments of its rows ${showShape(i.shape)}.`,
      fix: 'give the number of a segment for each row of the first axis.',
    })
  if (!(Number.isInteger(segments) && (segments as number) >= 0 && (segments as number) < MAX_SIZE))
    raise({
      _tag: 'BadInput',
      where: op,
      reason:
        segments === undefined
          ? 'how many segments there are is known only when it runs, and a shape before.'
          : `${shown(segments)} is not a number of segments.`,
      fix: 'give it as the third argument, a whole number.',
    })
  return { ids: i, segments: segments as number }
}
const folding =
  (op: string, mode: FoldMode | 'sum') =>
  (x: unknown, given: unknown, count: unknown): AnyExpr => {
    const n = mode === 'max' || mode === 'min' ? lift(x, op) : liftNumber(x, op)
    const { ids, segments } = checked(op, n, given, count)
    return asExpr(segmentsOf(mode, n, ids, segments))
  }

/**
 * Sums of the rows of x by segment: y_s is the sum of those with ids_i = s. Rows whose number is none of 0, ..., segments - 1 belong to no segment.
 *
 * Shapes  x: [n, ...], ids: [n] -> [segments, ...]; 0 for a segment without rows.   Dtype  x's; bool becomes i32, i32 wraps; ids i32.
 * Rule    xBar_i = yBar at ids_i.   Source  JAX segment_sum.
 * Errors  ShapeMismatch unless ids has one number for each row; BadInput without the number of segments; DTypeMismatch for ids that are not i32.
 * @example segmentSum(tensor([1, 2, 3]), [0, 2, 0], 3)   // [4, 0, 2]
 */
export const segmentSum: SegmentFn = typed(folding('segmentSum', 'sum'))

/**
 * Products of the rows of x by segment, as `segmentSum`; 1 for a segment without rows.
 *
 * Shapes, dtype, errors  as `segmentSum`.   Rule  xBar_i = yBar times the product of the others: exact where some x are zero.   Source  JAX segment_prod.
 * @example segmentProd(tensor([2, 3, 4]), [0, 0, 1], 2)   // [6, 4]
 */
export const segmentProd: SegmentFn = typed(folding('segmentProd', 'mul'))

/**
 * The largest of the rows of x by segment, element by element; -Infinity (of i32 the smallest number, of bool false) for a segment without rows.
 *
 * Shapes, errors  as `segmentSum`.   Dtype  x's.   Rule  yBar is shared equally by the elements that are the largest, as `max` shares it.   Source  JAX segment_max.
 * @example segmentMax(tensor([1, 5, 3]), [0, 0, 1], 2)   // [5, 3]
 */
export const segmentMax: SegmentChoiceFn = typed(folding('segmentMax', 'max'))

/**
 * The smallest of the rows of x by segment, element by element; Infinity (of i32 the largest number, of bool true) for a segment without rows.
 *
 * Shapes, errors  as `segmentSum`.   Dtype  x's.   Rule  yBar is shared equally by the elements that are the smallest, as `min` shares it.   Source  JAX segment_min.
 * @example segmentMin(tensor([1, 5, 3]), [0, 0, 1], 2)   // [1, 3]
 */
export const segmentMin: SegmentChoiceFn = typed(folding('segmentMin', 'min'))

/**
 * Means of the rows of x by segment; 0 for a segment without rows.
 *
 * Shapes, errors  as `segmentSum`.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar_i = yBar at ids_i, divided by the rows of that segment.
 * @example segmentMean(tensor([1, 5, 3]), [0, 0, 1], 2)   // [3, 3]
 */
export const segmentMean: SegmentMeanFn = typed((x: unknown, given: unknown, count: unknown): AnyExpr => {
  const n = liftFloat(x, 'segmentMean')
  const { ids, segments } = checked('segmentMean', n, given, count)
  const rows = segmentsOf('sum', broadcastNode(constant(1, n.dtype), ids.shape), ids, segments)
  const along = reshapeNode(rows, [segments, ...n.shape.slice(1).map(() => 1)])
  return div(asExpr(segmentsOf('sum', n, ids, segments)), maximum(asExpr(along), 1))
})
