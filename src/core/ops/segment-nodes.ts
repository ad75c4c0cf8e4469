/** Rows folded by the segment that each belongs to, as nodes. Rows of no segment, whose number is out of range, are left out. */
import { isFloat } from '../graph/aval.js'
import { asExpr, asNode, constant, type Node } from '../graph/expr.js'
import { ge, lt, or } from './compare.js'
import { where } from './elementwise.js'
import { type FoldMode, scatterReduceNode } from './indexing-fold.js'
import { scatterAddNode } from './indexing-gather.js'
import { broadcastNode } from './layout-move.js'
import { sliceAxis } from './layout-slice.js'

/** What a segment without rows holds. */
const identity = (mode: FoldMode | 'sum', integer: boolean): number =>
  mode === 'sum' ? 0 : mode === 'mul' ? 1 : mode === 'max' ? (integer ? -(2 ** 31) : -Infinity) : integer ? 2 ** 31 - 1 : Infinity

/** x: [n, ...], ids: [n] -> [segments, ...]. */
export const segmentsOf = (mode: FoldMode | 'sum', x: Node, ids: Node, segments: number): Node => {
  const i = asExpr(ids)
  // One segment more takes what belongs to none.
  const places = asNode(where(or(lt(i, 0), ge(i, segments)), segments, i))
  const start = broadcastNode(constant(identity(mode, !isFloat(x.dtype)), x.dtype), [segments + 1, ...x.shape.slice(1)])
  const p = { axis: 0, batchDims: 0 }
  const all = mode === 'sum' ? scatterAddNode(start, places, x, p) : scatterReduceNode(start, places, x, { ...p, mode })
  return sliceAxis(all, 0, 0, segments)
}
