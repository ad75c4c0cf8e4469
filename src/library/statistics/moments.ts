/** Averages with weights, ranges, covariance: compositions of sums and products. */

import { flagOf, type Names, numberOf, optionsOf } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift, liftAll, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { sameShape } from '../../core/graph/shape.js'
import { diag } from '../../core/ops/construct.js'
import { matmulNode } from '../../core/ops/contract.js'
import { div, mul, sqrt, sub } from '../../core/ops/elementwise.js'
import { broadcastNode, reshapeNode, swapLast } from '../../core/ops/layout-move.js'
import { axesOf, reduceOptions, reductionOf } from '../../core/ops/reduce.js'
import { max, mean, min, sum } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { ReduceOptions } from '../../core/types/shape.js'
import type { AverageFn, AverageOptions, CovFn, CovOptions } from '../../core/types/signatures/arrays.js'
import type { SumFn } from '../../core/types/signatures/reduce.js'

const averageOptions: Names<AverageOptions> = { ...reduceOptions, weights: true }

/**
 * The mean over axes (all by default) with weights: sum(w x) / sum(w). Weights have x's shape, or are a vector along the one axis.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar = yBar w / sum(w); wBar = yBar (x - y) / sum(w).   Source  NumPy average.
 * Errors  BadInput for an axis out of range; ShapeMismatch for weights that do not fit.
 * @example average([1, 2, 3], { weights: [3, 0, 1] })   // 1.5
 */
export const average: AverageFn = typed((x: unknown, options?: AverageOptions): AnyExpr => {
  const { weights, axis, keepdims } = optionsOf(options, averageOptions, 'average')
  if (weights === undefined) return mean(asExpr(liftFloat(x, 'average')), { axis, keepdims })
  const [n, w] = liftAll([x, weights], 'average', 'float') as [Node, Node]
  const axes = axesOf(n.shape.length, axis, 'average')
  const isVector = w.shape.length === 1 && axes.length === 1 && w.shape[0] === n.shape[axes[0]!]
  if (!sameShape(w.shape, n.shape) && !isVector)
    raise({
      _tag: 'ShapeMismatch',
      op: 'average',
      shapes: [n.shape, w.shape],
      reason: `weights of ${showShape(w.shape)} do not fit x of ${showShape(n.shape)}.`,
      fix: 'give as many weights as elements, or a vector along the one axis.',
    })
  const along = reshapeNode(w, sameShape(w.shape, n.shape) ? n.shape : n.shape.map((d, i) => (i === axes[0] ? d : 1)))
  const wide = asExpr(broadcastNode(along, n.shape))
  const kept = { axis: axes, keepdims: flagOf(keepdims, 'keepdims', 'average') }
  return div(sum(mul(asExpr(n), wide), kept), sum(wide, kept))
})

/**
 * The range over axes (all by default): max - min.
 *
 * Shapes  as `sum`.   Dtype  x's; bool becomes i32, i32 wraps.   Rule  that of max less that of min: ties share equally.
 * Errors  BadInput for an axis out of range or named twice, or when nothing is there to compare.
 * @example ptp([[1, 5], [4, 2]], { axis: 1 })   // [4, 2]
 */
export const ptp: SumFn<'ptp'> = typed((x: unknown, options?: ReduceOptions): AnyExpr => {
  const n = lift(x, 'ptp')
  const given = reductionOf(n, options, 'ptp')
  return sub(max(asExpr(n), given), min(asExpr(n), given))
})

const covOptions: Names<CovOptions> = { ddof: true, rowvar: true, weights: true }
const matrixOf = (x: unknown, rowvar: boolean, op: string): Node => {
  const n = liftFloat(x, op)
  if (n.shape.length > 2 || n.shape.length === 0)
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [n.shape],
      reason: `needs a vector or a matrix, got ${showShape(n.shape)}.`,
      fix: 'vmap over a stack of them.',
    })
  return n.shape.length === 1 ? reshapeNode(n, [1, n.shape[0]!]) : rowvar ? n : swapLast(n)
}
const covariance = (x: unknown, { ddof = 1, rowvar = true, weights }: CovOptions, op: string): AnyExpr => {
  const m = matrixOf(x, rowvar, op)
  const [variables, n] = m.shape as readonly [number, number]
  const degrees = numberOf(ddof, 'ddof', op)
  const product = (a: AnyExpr, b: AnyExpr): AnyExpr => asExpr(matmulNode(asNode(a), swapLast(asNode(b))))
  const shaped = (c: AnyExpr): AnyExpr => (variables === 1 ? asExpr(reshapeNode(asNode(c), [])) : c)
  if (weights === undefined) {
    const centred = sub(asExpr(m), mean(asExpr(m), { axis: 1, keepdims: true }))
    return shaped(div(product(centred, centred), Math.max(0, n - degrees)))
  }
  const [v, w] = liftAll([asExpr(m), weights], op, 'float').map(asExpr) as [AnyExpr, AnyExpr]
  if (!sameShape(asNode(w).shape, [n]))
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [m.shape, asNode(w).shape],
      reason: `weights of ${showShape(asNode(w).shape)} for ${n} observations.`,
      fix: 'give a vector, one for each observation.',
    })
  const total = sum(w)
  const centred = sub(v, div(sum(mul(v, w), { axis: 1, keepdims: true }), total))
  // What is left of the total: as if each observation were measured by its weight (NumPy's aweights).
  const divisor = degrees === 0 ? total : sub(total, div(mul(degrees, sum(mul(w, w))), total))
  return shaped(div(product(mul(centred, w), centred), divisor))
}

/**
 * The covariance matrix of variables in rows (in columns with `rowvar: false`), each column an observation: (x - mean) (x - mean)^T / (n - ddof).
 * ddof is 1 unless given. `weights` are the observations' (NumPy's aweights).
 *
 * Shapes  [v, n] -> [v, v]; [n] -> [], as is a single row.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  that of the product.   Source  NumPy cov.
 * Errors  ShapeMismatch for rank 0, ranks above 2, and weights that do not fit.
 * @example cov([[1, 2, 3], [1, 0, 2]])   // [[1, 0.5], [0.5, 1]]
 */
export const cov: CovFn<CovOptions> = typed((x: unknown, options?: CovOptions): AnyExpr => {
  const given = optionsOf(options, covOptions, 'cov')
  return covariance(x, { ...given, rowvar: given.rowvar === undefined || flagOf(given.rowvar, 'rowvar', 'cov') }, 'cov')
})

const corrcoefOptions: Names<Pick<CovOptions, 'rowvar'>> = { rowvar: true }

/**
 * The correlation matrix of variables in rows (in columns with `rowvar: false`): c_ij / sqrt(c_ii c_jj), c their covariance. NaN for one that is constant.
 *
 * Shapes, dtype, errors  as `cov`.   Rule  that of the quotient.   Source  NumPy corrcoef, not clipped to [-1, 1].
 * @example corrcoef([[1, 2, 3], [1, 0, 2]])   // [[1, 0.5], [0.5, 1]]
 */
export const corrcoef: CovFn<Pick<CovOptions, 'rowvar'>> = typed((x: unknown, options?: Pick<CovOptions, 'rowvar'>): AnyExpr => {
  const given = optionsOf(options, corrcoefOptions, 'corrcoef')
  const c = covariance(x, { rowvar: given.rowvar === undefined || flagOf(given.rowvar, 'rowvar', 'corrcoef') }, 'corrcoef')
  if (asNode(c).shape.length === 0) return div(c, c)
  const deviation = sqrt(diag(c))
  const n = asNode(deviation)
  const column = asExpr(reshapeNode(n, [n.aval.size, 1]))
  return div(div(c, column), deviation)
})
