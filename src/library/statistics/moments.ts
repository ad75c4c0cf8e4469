/** Averages with weights, ranges, covariance: compositions of sums and products. */

import { showShape } from '../../core/errors/explain.js'
import { flag, number, type OptionsOf, raw } from '../../core/errors/options.js'
import { sameShape } from '../../core/graph/shape.js'
import { div, mul, sub } from '../../core/ops/arithmetic.js'
import { arrayOf, arraysOf, misfit } from '../../core/ops/arrays.js'
import { diag } from '../../core/ops/construct.js'
import { broadcastTo, reshape, transpose } from '../../core/ops/layout/layout.js'
import { array, floats, operation, type Unread, unread } from '../../core/ops/operation.js'
import { max, mean, min, sum } from '../../core/ops/reductions.js'
import { sqrt } from '../../core/ops/unary.js'
import type { AnyExpr, Expr, NumberArray } from '../../core/types/expr.js'
import type { AverageFn, CovFn } from '../../core/types/signatures/arrays.js'
import type { SumFn } from '../../core/types/signatures/reduce.js'
import { matmul } from '../../families/contract.js'
import { over } from './folds.js'

const averageOptions = { ...over, axis: unread as Unread<number | readonly number[] | null>, weights: raw<Expr | NumberArray>() }
/** Options of `average`. */
interface AverageOptions extends OptionsOf<typeof averageOptions> {}
/**
 * The mean over axes (all by default) with weights: sum(w x) / sum(w). Weights have x's shape, or are a vector along the one axis.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar = yBar w / sum(w); wBar = yBar (x - y) / sum(w).   Source  NumPy average.
 * Errors  BadInput for an axis out of range; ShapeMismatch for weights that do not fit.
 * @example average([1, 2, 3], { weights: [3, 0, 1] })   // 1.5
 */
export const average: AverageFn<AverageOptions> = operation('average', { x: unread }, averageOptions, (args, options, op) => {
  const { weights, keepdims } = options
  const [x, w] = (weights === undefined ? [arrayOf(args.x, op)] : arraysOf([args.x, weights], op, 'float')) as [AnyExpr, AnyExpr?]
  const axis = over.axis.read(options.axis, 'axis', op, x.shape)
  const folds = { axis, keepdims }
  if (w === undefined) return mean(x, folds)
  const isVector = w.shape.length === 1 && axis.length === 1 && w.shape[0] === x.shape[axis[0]!]
  if (!sameShape(w.shape, x.shape) && !isVector)
    misfit(
      op,
      [x, w],
      `weights of ${showShape(w.shape)} do not fit x of ${showShape(x.shape)}.`,
      'give as many weights as elements, or a vector along the one axis.',
    )
  const along = reshape(w, sameShape(w.shape, x.shape) ? x.shape : x.shape.map((d, i) => (i === axis[0] ? d : 1)))
  const wide = broadcastTo(along, x.shape)
  return div(sum(mul(x, wide), folds), sum(wide, folds))
})

/**
 * The range over axes (all by default): max - min.
 *
 * Shapes  as `sum`.   Dtype  x's; bool becomes i32, i32 wraps.   Rule  that of max less that of min: ties share equally.
 * Errors  BadInput for an axis out of range or named twice, or if there is nothing to compare.
 * @example ptp([[1, 5], [4, 2]], { axis: 1 })   // [4, 2]
 */
export const ptp: SumFn<'ptp'> = operation('ptp', { x: array }, over, ({ x }, folds) => sub(max(x, folds), min(x, folds)))

/** Variables in rows. */
const matrixOf = (x: AnyExpr, rowvar: boolean, op: string): AnyExpr => {
  if (x.shape.length > 2 || x.shape.length === 0)
    misfit(op, [x], `needs a vector or a matrix, got ${showShape(x.shape)}.`, 'vmap over a stack of them.')
  return x.shape.length === 1 ? reshape(x, [1, x.shape[0]!]) : rowvar ? x : transpose(x)
}
interface Covariance {
  readonly ddof: number
  readonly rowvar: boolean
  readonly weights?: unknown
}
const covariance = (x: AnyExpr, { ddof, rowvar, weights }: Covariance, op: string): AnyExpr => {
  const m = matrixOf(x, rowvar, op)
  const [variables, n] = m.shape as readonly [number, number]
  const product = (a: AnyExpr, b: AnyExpr): AnyExpr => matmul(a, transpose(b))
  const shaped = (c: AnyExpr): AnyExpr => (variables === 1 ? reshape(c, []) : c)
  if (weights === undefined) {
    const centred = sub(m, mean(m, { axis: 1, keepdims: true }))
    return shaped(div(product(centred, centred), Math.max(0, n - ddof)))
  }
  const [v, w] = arraysOf([m, weights], op, 'float') as [AnyExpr, AnyExpr]
  if (!sameShape(w.shape, [n]))
    misfit(op, [m, w], `weights of ${showShape(w.shape)} for ${n} observations.`, 'give a vector, one for each observation.')
  const total = sum(w)
  const centred = sub(v, div(sum(mul(v, w), { axis: 1, keepdims: true }), total))
  // What is left of the total: as if each observation were measured by its weight (NumPy's aweights).
  const divisor = ddof === 0 ? total : sub(total, div(mul(ddof, sum(mul(w, w))), total))
  return shaped(div(product(mul(centred, w), centred), divisor))
}

const covOptions = {
  /** The divisor is n - ddof. */
  ddof: number(1),
  rowvar: flag(true),
  weights: raw<Expr | readonly number[]>(),
}
/** Options of `cov`. */
interface CovOptions extends OptionsOf<typeof covOptions> {}
/**
 * The covariance matrix of variables in rows (in columns with `rowvar: false`), each column an observation: (x - mean) (x - mean)^T / (n - ddof).
 * ddof is 1 unless given. `weights` are the observations' (NumPy's aweights).
 *
 * Shapes  [v, n] -> [v, v]; [n] -> [], as is a single row.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  that of the product.   Source  NumPy cov.
 * Errors  ShapeMismatch for rank 0, ranks above 2, and weights that do not fit.
 * @example cov([[1, 2, 3], [1, 0, 2]])   // [[1, 0.5], [0.5, 1]]
 */
export const cov: CovFn<CovOptions> = operation('cov', { x: floats }, covOptions, ({ x }, options, op) => covariance(x, options, op))

/**
 * The correlation matrix of variables in rows (in columns with `rowvar: false`): c_ij / sqrt(c_ii c_jj), c their covariance. NaN for a constant variable.
 *
 * Shapes, dtype, errors  as `cov`.   Rule  that of the quotient.   Source  NumPy corrcoef, not clipped to [-1, 1].
 * @example corrcoef([[1, 2, 3], [1, 0, 2]])   // [[1, 0.5], [0.5, 1]]
 */
export const corrcoef: CovFn<Pick<CovOptions, 'rowvar'>> = operation(
  'corrcoef',
  { x: floats },
  { rowvar: covOptions.rowvar },
  ({ x }, { rowvar }, op) => {
    const c = covariance(x, { ddof: 1, rowvar }, op)
    if (c.shape.length === 0) return div(c, c)
    const deviation = sqrt(diag(c))
    return div(div(c, reshape(deviation, [deviation.shape[0]!, 1])), deviation)
  },
)
