/** Norms of matrices. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { flag, kind, type OptionsOf } from '../../core/errors/options.js'
import { literal } from '../../core/ops/arrays.js'
import { broadcastTo, reshape } from '../../core/ops/layout/layout.js'
import { matrixAxes } from '../../core/ops/linalg/factorisations.js'
import { floats, operation } from '../../core/ops/operation.js'
import { max, min, sum } from '../../core/ops/reductions.js'
import { abs } from '../../core/ops/unary.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { MatrixNormFn, MatrixOrder } from '../../core/types/signatures/linalg.js'
import { svdvals } from '../../families/svd.js'
import { norm } from '../statistics/reductions.js'

const last = { axis: -1 }
/** Norms by their order; of columns (rows) the sums of sizes. */
const orders: Readonly<Record<string, (x: AnyExpr) => AnyExpr>> = {
  fro: (x) => norm(x, { axis: [-2, -1] }),
  nuc: (x) => sum(svdvals(x), last),
  '2': (x) => max(svdvals(x), last),
  '-2': (x) => min(svdvals(x), last),
  '1': (x) => max(sum(abs(x), { axis: -2 }), last),
  '-1': (x) => min(sum(abs(x), { axis: -2 }), last),
  inf: (x) => max(sum(abs(x), last), last),
  '-inf': (x) => min(sum(abs(x), last), last),
}
/** A norm by what it is called: 'inf' and Infinity are one. */
const order = kind<(x: AnyExpr) => AnyExpr, MatrixOrder>((ord = 'fro', _what, where) => {
  const name = typeof ord === 'number' ? String(ord).replace('Infinity', 'inf') : ord
  return typeof name === 'string' && Object.hasOwn(orders, name)
    ? orders[name]!
    : badInput(
        where,
        `order ${shown(ord)} is not a norm of matrices.`,
        `give 'fro', 'nuc', 1, -1, 2, -2, 'inf' or '-inf'; norm has those of vectors.`,
      )
})

const matrixNormOptions = {
  /** 'fro' unless given; 'nuc', 1, -1, 2, -2, 'inf' or '-inf'. */
  ord: order,
  keepdims: flag(),
}
/** Options of `matrixNorm`. */
interface MatrixNormOptions extends OptionsOf<typeof matrixNormOptions> {}
/**
 * A norm of each matrix, of order `ord`: 'fro' (the default), the root of the sum of squares; 'nuc', the sum of the singular values; 2 and -2, the largest and the smallest
 * singular value; 1 and -1, the largest and smallest sum of |x| down a column; 'inf' and '-inf', those along a row. For vectors use `norm`.
 *
 * Shapes  [..., m, n] -> [...], or [..., 1, 1] with keepdims; 0 for a matrix without elements.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    that of its parts: 'nuc' u v^T yBar, 2 u_1 v_1^T yBar; ties of a largest share equally.   Source  NumPy matrix_norm.
 * Errors  ShapeMismatch for fewer than two axes; BadInput for an unknown order.
 * @example
 * matrixNorm([[3, 0], [0, 4]])                   // 5
 * matrixNorm([[3, 0], [0, 4]], { ord: 'nuc' })   // 7
 */
export const matrixNorm: MatrixNormFn<MatrixNormOptions> = operation(
  'matrixNorm',
  { x: floats },
  matrixNormOptions,
  ({ x }, { ord, keepdims }, op) => {
    const { lead, rows, columns } = matrixAxes(x.shape, op)
    const y = rows * columns === 0 ? broadcastTo(literal(0, x.dtype), lead) : ord(x)
    return keepdims ? reshape(y, [...lead, 1, 1]) : y
  },
)
