/** Norms of matrices. */
import { flagOf, type Names, optionsOf, shown } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { asExpr, asNode, constant, type Node } from '../../core/graph/expr.js'
import { liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { abs } from '../../core/ops/elementwise.js'
import { matrixAxes } from '../../core/ops/factorisations.js'
import { broadcastNode, reshapeNode } from '../../core/ops/layout-move.js'
import { max, min, sum } from '../../core/ops/reductions.js'
import { anySvd } from '../../core/ops/systems.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { MatrixNormFn, MatrixNormOptions } from '../../core/types/signatures/linalg.js'
import { norm } from '../statistics/reductions.js'

const matrixNormOptions: Names<MatrixNormOptions> = { ord: true, keepdims: true }
const last = { axis: -1 }
/** Norms by their order; of columns (rows) the sums of sizes. */
const orders: Readonly<Record<string, (x: Node) => AnyExpr>> = {
  fro: (x) => norm(asExpr(x), { axis: [-2, -1] }),
  nuc: (x) => sum(asExpr(anySvd(x)[1]), last),
  '2': (x) => max(asExpr(anySvd(x)[1]), last),
  '-2': (x) => min(asExpr(anySvd(x)[1]), last),
  '1': (x) => max(sum(abs(asExpr(x)), { axis: -2 }), last),
  '-1': (x) => min(sum(abs(asExpr(x)), { axis: -2 }), last),
  inf: (x) => max(sum(abs(asExpr(x)), last), last),
  '-inf': (x) => min(sum(abs(asExpr(x)), last), last),
}
const nameOf = (ord: unknown): string =>
  ord === Number.POSITIVE_INFINITY
    ? 'inf'
    : ord === Number.NEGATIVE_INFINITY
      ? '-inf'
      : typeof ord === 'string' || typeof ord === 'number'
        ? String(ord)
        : ''

/**
 * A norm of each matrix, of order `ord`: 'fro' (the default), the root of the sum of squares; 'nuc', the sum of the singular values; 2 and -2, the largest and the smallest
 * of these; 1 and -1, the largest and smallest sum of |x| down a column; 'inf' and '-inf', those along a row. Of vectors it is `norm`.
 *
 * Shapes  [..., m, n] -> [...], or [..., 1, 1] with keepdims; 0 for a matrix without elements.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    that of its parts: 'nuc' u v^T yBar, 2 u_1 v_1^T yBar; ties of a largest share equally.   Source  NumPy matrix_norm.
 * Errors  ShapeMismatch for fewer than two axes; BadInput for another order.
 * @example
 * matrixNorm([[3, 0], [0, 4]])                   // 5
 * matrixNorm([[3, 0], [0, 4]], { ord: 'nuc' })   // 7
 */
export const matrixNorm: MatrixNormFn = typed((x: unknown, options?: MatrixNormOptions): AnyExpr => {
  const n = liftFloat(x, 'matrixNorm')
  const { ord = 'fro', keepdims } = optionsOf(options, matrixNormOptions, 'matrixNorm')
  const kept = flagOf(keepdims, 'keepdims', 'matrixNorm')
  const { lead, rows, columns } = matrixAxes(n.shape, 'matrixNorm')
  const name = nameOf(ord)
  if (!Object.hasOwn(orders, name))
    raise({
      _tag: 'BadInput',
      where: 'matrixNorm',
      reason: `order ${shown(ord)} is not a norm of matrices.`,
      fix: `give 'fro', 'nuc', 1, -1, 2, -2, 'inf' or '-inf'; norm has those of vectors.`,
    })
  const y = rows * columns === 0 ? broadcastNode(constant(0, n.dtype), lead) : asNode(orders[name]!(n))
  return asExpr(kept ? reshapeNode(y, [...lead, 1, 1]) : y)
})
