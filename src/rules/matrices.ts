/** What rules of linear algebra are made of: products and parts of stacks of matrices. */
import { asExpr, asNode } from '../core/graph/expr.js'
import type { Primitive } from '../core/graph/primitive.js'
import type { Forced } from '../core/graph/tangent.js'
import { eq } from '../core/ops/compare.js'
import { eye } from '../core/ops/construct.js'
import { matmulNode } from '../core/ops/contract.js'
import { add, mul, where } from '../core/ops/elementwise.js'
import { broadcastTo, expandDims, reshape, transpose } from '../core/ops/layout/layout.js'
import { swapLast } from '../core/ops/layout/move.js'
import { diagonalNode } from '../core/ops/layout/slice.js'
import { type TriangularParams, triangularNode } from '../core/ops/linalg/factorisations.js'
import { iotaNode, triangleOf } from '../core/ops/positions.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batchAll, dims } from './batching.js'
import { reapply } from './define.js'

/** The transpose of each matrix. */
export const t = (x: AnyExpr): AnyExpr => asExpr(swapLast(asNode(x)))
/** Products of matrices from left to right. */
export const product = (first: AnyExpr, ...rest: readonly AnyExpr[]): AnyExpr =>
  rest.reduce((x, y) => asExpr(matmulNode(asNode(x), asNode(y))), first)
/** Matrices with zeros above (or below) their k-th diagonal, and the diagonal of each. */
export const tril = (x: AnyExpr, k = 0): AnyExpr => asExpr(triangleOf('tril', asNode(x), k))
export const triu = (x: AnyExpr, k = 0): AnyExpr => asExpr(triangleOf('triu', asNode(x), k))
export const diag = (x: AnyExpr): AnyExpr => asExpr(diagonalNode(asNode(x), 0))
/** The mean of a matrix and its transpose. */
export const mean = (x: AnyExpr): AnyExpr => mul(add(x, t(x)), 0.5)
/** The symmetric matrix whose lower triangle is x's. */
export const symmetric = (x: AnyExpr): AnyExpr => add(tril(x), t(tril(x, -1)))
/** The lower triangle with half of the diagonal. */
export const phi = (x: AnyExpr): AnyExpr => mul(add(tril(x), tril(x, -1)), 0.5)
/** Each matrix with its columns times the numbers s: [..., n]. */
export const timesColumns = (x: AnyExpr, s: AnyExpr): AnyExpr => mul(x, expandDims(s, -2))
/** Matrices with the vectors x: [..., n] on the diagonal. */
export const onDiagonal = (x: AnyExpr): AnyExpr => {
  const n = dims(x)[dims(x).length - 1]!
  const [rows, columns] = [asExpr(iotaNode([n, 1], 0, 'i32')), asExpr(iotaNode([1, n], 1, 'i32'))]
  return where(eq(rows, columns), expandDims(x, -1), 0)
}
/** Numbers [...] as matrices of one element. */
export const asMatrix = (x: AnyExpr): AnyExpr => expandDims(x, [-2, -1])
/** Identity matrices beside x: [..., n, n]. */
export const identityLike = (x: AnyExpr): AnyExpr => broadcastTo(eye(dims(x)[dims(x).length - 1]!, x.dtype), dims(x))
/** Has it no elements? Then nothing is to be differentiated. */
export const isEmpty = (x: AnyExpr): boolean => dims(x).includes(0)
/** A (co)tangent that is an expression. */
export const forced = (x: Forced | undefined): AnyExpr | undefined => (x?._tag === 'Expr' ? x : undefined)
/** The solution of triangular systems. */
export const solveIn = (a: AnyExpr, b: AnyExpr, params: TriangularParams): AnyExpr => asExpr(triangularNode(asNode(a), asNode(b), params))
/** Batches of systems. One matrix for all right-hand sides makes their columns longer. */
export const batchOfSystems =
  <P>(primitive: Primitive<string, P>) =>
  (xs: readonly AnyExpr[], batched: readonly boolean[], params: P, size: number): AnyExpr => {
    const [a, b] = xs as [AnyExpr, AnyExpr]
    if (batched[0] || dims(a).length !== 2) return reapply(primitive, batchAll(xs, batched, size), params)
    const [, , k] = dims(b) as [number, number, number]
    const rows = transpose(b, [1, 0, 2])
    const y = reapply(primitive, [a, reshape(rows, [dims(rows)[0]!, size * k])], params)
    return transpose(reshape(y, [dims(y)[0]!, size, k]), [1, 0, 2])
  }
