/** Reductions made of others: variance, std, norm, logsumexp. */

import { flagOf, type Names, numberOf, optionsOf, shown } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { castNode } from '../../core/graph/cast.js'
import { asExpr, asNode, constant } from '../../core/graph/expr.js'
import { liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { eq, isfinite, ne, or } from '../../core/ops/compare.js'
import { abs, add, div, exp, log, maximum, pow, sqrt, square, stopGradient, sub, where } from '../../core/ops/elementwise.js'
import { broadcastNode, reshapeNode } from '../../core/ops/layout-move.js'
import { keptCount, keptNode } from '../../core/ops/masked.js'
import { axesOf, maxPrimitive, reducedShape, reduceNode, reduceOptions, sumPrimitive } from '../../core/ops/reduce.js'
import { max, mean, min } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { ReduceOptions } from '../../core/types/shape.js'
import type { Ddof, FloatReduceFn, NormOrder, WhereOption } from '../../core/types/signatures/reduce.js'

/** f at s, and 0 (with derivative 0) where s is 0: for roots, whose derivative there is infinite. */
const zeroAtZero = (s: AnyExpr, f: (s: AnyExpr) => AnyExpr): AnyExpr => {
  const isZero = eq(s, 0)
  return where(isZero, 0, f(where(isZero, 1, s)))
}

const whereOptions: Names<ReduceOptions & WhereOption> = { ...reduceOptions, where: true }
type VarianceOptions = ReduceOptions & Ddof & WhereOption
const varianceOptions: Names<VarianceOptions> = { ...reduceOptions, ddof: true, where: true }
const varianceOf = (x: unknown, options: VarianceOptions | undefined, op: string): AnyExpr => {
  const n = liftFloat(x, op)
  const { axis, keepdims: kept, ddof = 0, where: mask } = optionsOf(options, varianceOptions, op)
  const axes = axesOf(n.shape.length, axis, op)
  const keepdims = flagOf(kept, 'keepdims', op)
  const centred = asNode(sub(asExpr(n), mean(asExpr(n), { axis: axes, keepdims: true, where: mask })))
  const total = reduceNode(sumPrimitive, asNode(square(asExpr(keptNode(centred, mask, 0, op)))), axes, keepdims)
  const count = keptCount(n, mask, axes, keepdims, op)
  const degrees = numberOf(ddof, 'ddof', op)
  return div(asExpr(total), typeof count === 'number' ? Math.max(0, count - degrees) : maximum(sub(count, degrees), 0))
}

/**
 * Variance over axes (all by default): the sum of (x - mean)^2 over n - ddof; of the elements where the mask `where` holds, if there is one.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = 2 (x - mean) yBar / (n - ddof).   Source  two passes, as NumPy.
 * Errors  BadInput for an axis out of range or named twice.
 * @example variance([1, 2, 3, 4])   // 1.25
 */
export const variance: FloatReduceFn<'variance', Ddof & WhereOption> = typed(
  (x: unknown, options?: VarianceOptions): AnyExpr => varianceOf(x, options, 'variance'),
)

/**
 * Standard deviation over axes (all by default): the root of `variance`, with its options.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = (x - mean) yBar / ((n - ddof) y); 0 where the deviation is 0, as for `norm`.
 * Errors  BadInput for an axis out of range or named twice.
 * @example std([1, 1, 3, 3])   // 1
 */
export const std: FloatReduceFn<'std', Ddof & WhereOption> = typed(
  (x: unknown, options?: VarianceOptions): AnyExpr => zeroAtZero(varianceOf(x, options, 'std'), sqrt),
)

const vectorNormOptions: Names<ReduceOptions & NormOrder> = { ...reduceOptions, ord: true }
/** The order as a number: 'inf' and '-inf' are the infinities. */
const orderOf = (ord: unknown): number => {
  if (ord === 'inf' || ord === '-inf') return ord === 'inf' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  if (typeof ord === 'number' && !Number.isNaN(ord)) return ord
  return raise({
    _tag: 'BadInput',
    where: 'norm',
    reason: `order ${shown(ord)} is not a norm.`,
    fix: `give a number, 'inf' or '-inf'; of matrices, matrixNorm has 'fro' and 'nuc'.`,
  })
}
/** (sum of |x|^p)^(1/p) for an order other than 0, 1, 2 and the infinities. A size of 0 has the derivative 0: below order 1 its own is infinite, below 0 it makes the result 0. */
const rootOfPowers = (size: AnyExpr, p: number, total: (y: AnyExpr) => AnyExpr): AnyExpr => {
  if (p > 1) return zeroAtZero(total(pow(size, p)), (s) => pow(s, 1 / p))
  const isZero = eq(size, 0)
  const power = where(isZero, p > 0 ? 0 : Number.POSITIVE_INFINITY, pow(where(isZero, 1, size), p))
  if (p > 0) return zeroAtZero(total(power), (s) => pow(s, 1 / p))
  const s = total(power)
  const isInfinite = eq(s, Number.POSITIVE_INFINITY)
  const isNone = eq(s, 0) // no element, or infinite ones
  const root = pow(where(or(isNone, isInfinite), 1, s), 1 / p)
  return where(isNone, Number.POSITIVE_INFINITY, where(isInfinite, 0, root))
}

/**
 * Norm over axes (all by default) of order `ord` (2 by default): the root (sum of |x|^ord)^(1 / ord); 'inf' is the largest |x|, '-inf' the smallest, 0 how many are
 * not 0. Below 1 it is no norm in the strict sense. Of matrices it is `matrixNorm`.
 *
 * Shapes  as `sum`; over an empty axis 0, of an order below 0 Infinity.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = sign(x) (|x| / y)^(ord - 1) yBar, for order 2 x yBar / y; 0 where the norm is 0, of an order below 1 where x is 0, of order 0 everywhere. At the
 *         largest and the smallest: ties share equally.   Source  NumPy vector_norm.
 * Errors  BadInput for an order that is no number, an axis out of range or named twice.
 * @example
 * norm([3, 4])                  // 5
 * norm([3, 0, -4], { ord: 0 })  // 2
 */
export const norm: FloatReduceFn<'norm', NormOrder> = typed((x: unknown, options?: ReduceOptions & NormOrder): AnyExpr => {
  const n = liftFloat(x, 'norm')
  const { axis, keepdims: kept, ord = 2 } = optionsOf(options, vectorNormOptions, 'norm')
  const axes = axesOf(n.shape.length, axis, 'norm')
  const keepdims = flagOf(kept, 'keepdims', 'norm')
  const order = orderOf(ord)
  const total = (y: AnyExpr): AnyExpr => asExpr(reduceNode(sumPrimitive, asNode(y), axes, keepdims))
  if (order === 2) return zeroAtZero(total(square(asExpr(n))), sqrt)
  if (order === 1) return total(abs(asExpr(n)))
  if (order === 0) return total(asExpr(castNode(asNode(ne(asExpr(n), 0)), n.dtype)))
  if (Number.isFinite(order)) return rootOfPowers(abs(asExpr(n)), order, total)
  if (axes.some((a) => n.shape[a] === 0))
    return asExpr(broadcastNode(constant(order > 0 ? 0 : Number.POSITIVE_INFINITY, n.dtype), reducedShape(n, axes, keepdims)))
  return (order > 0 ? max : min)(abs(asExpr(n)), { axis: axes, keepdims })
})

/**
 * log of the sum of exp x over axes (all by default), of the elements where the mask `where` holds, if there is one. Stable: the largest x is taken out first.
 *
 * Shapes  as `sum`; -Infinity for an empty axis.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = softmax(x) yBar; 0 where the result is infinite (all x are -Infinity, or one is Infinity).
 * Errors  BadInput for an axis out of range or named twice.
 * @example logsumexp([1000, 1000])   // 1000.6931471805599
 */
export const logsumexp: FloatReduceFn<'logsumexp', WhereOption> = typed((x: unknown, options?: ReduceOptions & WhereOption): AnyExpr => {
  const { axis, keepdims, where: mask } = optionsOf(options, whereOptions, 'logsumexp')
  const n = keptNode(liftFloat(x, 'logsumexp'), mask, Number.NEGATIVE_INFINITY, 'logsumexp')
  const axes = axesOf(n.shape.length, axis, 'logsumexp')
  const shape = reducedShape(n, axes, flagOf(keepdims, 'keepdims', 'logsumexp'))
  if (axes.some((a) => n.shape[a] === 0)) return asExpr(broadcastNode(constant(Number.NEGATIVE_INFINITY, n.dtype), shape))
  const top = stopGradient(asExpr(reduceNode(maxPrimitive, n, axes, true)))
  const finite = isfinite(top)
  // An infinite maximum is the result itself; x - top would be NaN there, so exp then gets 0.
  const total = asExpr(reduceNode(sumPrimitive, asNode(exp(where(finite, sub(asExpr(n), top), 0))), axes, true))
  return asExpr(reshapeNode(asNode(where(finite, add(log(total), top), top)), shape))
})
