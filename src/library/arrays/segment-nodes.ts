/** Rows folded by the segment that each belongs to, as nodes. Rows of no segment, whose number is out of range, are left out. */
import { throughI32 } from '../../core/graph/cast.js'
import { asExpr, asNode, constant, type Node } from '../../core/graph/expr.js'
import { ge, lt, or } from '../../core/ops/compare.js'
import { where } from '../../core/ops/elementwise.js'
import { type FoldMode, scatterReduceNode } from '../../core/ops/indexing-fold.js'
import { scatterAddNode } from '../../core/ops/indexing-gather.js'
import { broadcastNode } from '../../core/ops/layout-move.js'
import { sliceAxis } from '../../core/ops/layout-slice.js'
import type { DType } from '../../core/types/dtype.js'

/** The least and the greatest of each dtype. */
const BOUNDS: Readonly<Record<DType, readonly [least: number, most: number]>> = {
  bool: [0, 1],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  f32: [-Infinity, Infinity],
  f64: [-Infinity, Infinity],
}
/** What a segment without rows holds. */
const identity = (mode: FoldMode | 'sum', dtype: DType): number =>
  mode === 'sum' ? 0 : mode === 'mul' ? 1 : BOUNDS[dtype][mode === 'max' ? 0 : 1]

/** x: [n, ...], ids: [n] -> [segments, ...]. */
export const segmentsOf = (mode: FoldMode | 'sum', x: Node, ids: Node, segments: number): Node => {
  const i = asExpr(ids)
  // One segment more takes what belongs to none.
  const places = asNode(where(or(lt(i, 0), ge(i, segments)), segments, i))
  const p = { axis: 0, batchDims: 0 }
  const all = throughI32(x, (n) => {
    const start = broadcastNode(constant(identity(mode, x.dtype), n.dtype), [segments + 1, ...n.shape.slice(1)])
    return mode === 'sum' ? scatterAddNode(start, places, n, p) : scatterReduceNode(start, places, n, { ...p, mode })
  })
  return sliceAxis(all, 0, 0, segments)
}
