import { apply, asExpr, type Node } from '../graph/expr.js'
import { liftAll } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { NO_PARAMS } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import type { MatMulAddFn, MatMulFn } from '../types/signatures/contract.js'
import { matmulAddPrimitive, matmulNode } from './contract.js'
import { reshapeNode } from './layout-move.js'

/**
 * Matrix product y = A B; a vector a is a row, a vector b a column, and the axis added for it is dropped again.
 *
 * Shapes  a: [..., m, k], b: [..., k, n] -> [..., m, n]; leading axes broadcast.   Dtype  promoted; bool becomes i32, i32 wraps; f32 sums in f32.
 * Rule    dy = dA B + A dB ;  ABar = yBar B^T, BBar = A^T yBar.   Source  Giles 2008, 2.2.1.
 * Errors  ShapeMismatch when a's last axis differs from b's second last.
 * @example matmul([[1, 2]], [[3], [4]])   // [[11]]
 */
export const matmul: MatMulFn = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = liftAll([a, b], 'matmul', 'number') as [Node, Node]
  const row = x.shape.length === 1
  const column = y.shape.length === 1
  if (!row && !column) return asExpr(matmulNode(x, y))
  const z = matmulNode(row ? reshapeNode(x, [1, x.shape[0]!]) : x, column ? reshapeNode(y, [y.shape[0]!, 1]) : y)
  const s = z.shape
  return asExpr(reshapeNode(z, [...s.slice(0, -2), ...(row ? [] : [s[s.length - 2]!]), ...(column ? [] : [s[s.length - 1]!])]))
})

/**
 * acc + A B: what a cotangent of a matrix product adds to an accumulator, in place when the plan may.
 *
 * Shapes  acc: [..., m, n], a: [..., m, k], b: [..., k, n].   Rule  accBar = yBar, ABar = yBar B^T, BBar = A^T yBar.
 * @example matmulAdd([[1]], [[1, 2]], [[3], [4]])   // [[12]]
 */
export const matmulAdd: MatMulAddFn = typed(
  (acc: unknown, a: unknown, b: unknown): AnyExpr =>
    asExpr(apply(matmulAddPrimitive, liftAll([acc, a, b], 'matmulAdd', 'number'), NO_PARAMS)),
)
