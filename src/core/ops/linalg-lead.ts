/** Systems whose matrices and right sides have leading axes of their own, and inverses. */
import { raise, showShape } from '../errors/explain.js'
import { asNode, type Node } from '../graph/expr.js'
import { broadcastShapes, range, sameShape } from '../graph/shape.js'
import { eye } from './construct.js'
import { matrixAxes, squareAxes } from './factorisations.js'
import { broadcastNode, reshapeNode, swapLast, transposeNode } from './layout-move.js'
import { solveNode } from './systems.js'

/**
 * `solve` of matrices a and right sides b with `rows` rows: b is a vector where it has one axis, else matrices. Leading axes broadcast; where a
 * has none, all right sides are columns of one. Where a stands on the right of x (`left` is false) the rows of b are what is solved for.
 */
export const onSystems = (a: Node, b: Node, op: string, rows: number, solve: (a: Node, b: Node) => Node, left = true): Node => {
  const { lead } = matrixAxes(a.shape, op)
  if (b.shape.length === 1) {
    if (b.shape[0] !== rows) fail(op, a, b, left)
    const y = reshapeNode(b, [rows, 1])
    const x = solve(a, broadcastNode(y, [...lead, rows, 1]))
    return reshapeNode(x, x.shape.slice(0, -1))
  }
  const { lead: own } = matrixAxes(b.shape, op)
  const columns = left ? b : swapLast(b)
  const both = broadcastShapes(lead, own)
  if (columns.shape[own.length] !== rows || both === undefined) return fail(op, a, b, left)
  const x = solveStacks(a, columns, both, solve)
  return left ? x : swapLast(x)
}
const solveStacks = (a: Node, b: Node, both: readonly number[], solve: (a: Node, b: Node) => Node): Node => {
  const [lead, own, [rows, columns]] = [a.shape.slice(0, -2), b.shape.slice(0, -2), b.shape.slice(-2) as [number, number]]
  if (sameShape(lead, own)) return solve(a, b)
  if (lead.length > 0) return solve(broadcastNode(a, [...both, ...a.shape.slice(-2)]), broadcastNode(b, [...both, rows, columns]))
  const d = own.length
  const wide = reshapeNode(transposeNode(b, [d, ...range(d), d + 1]), [rows, own.reduce((x, y) => x * y, columns)])
  const x = solve(a, wide)
  return transposeNode(reshapeNode(x, [x.shape[0]!, ...own, columns]), [...range(d).map((i) => i + 1), 0, d + 1])
}
const fail = (op: string, a: Node, b: Node, left: boolean): never =>
  raise({
    _tag: 'ShapeMismatch',
    op,
    shapes: [a.shape, b.shape],
    reason: `right sides ${showShape(b.shape)} do not belong to matrices ${showShape(a.shape)}${left ? '' : ' on the right'}.`,
    fix: left
      ? 'b is a vector [n] or matrices [..., n, k], with as many rows as a has; leading axes broadcast.'
      : 'b is a vector [n] or matrices [..., k, n], with as many columns as a has; leading axes broadcast.',
  })

/** Identity matrices. */
export const identity = (lead: readonly number[], n: number, dtype: Node['dtype']): Node =>
  broadcastNode(asNode(eye(n, dtype)), [...lead, n, n])
/** The inverse of each matrix. */
export const inverse = (x: Node, op: string): Node => {
  const { lead, n } = squareAxes(x.shape, op)
  return solveNode(x, identity(lead, n, x.dtype))
}
