/** Reductions made of others: variance, std, norm, logsumexp. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { kind, type OptionsOf } from '../../core/errors/options.js'
import { add, div, maximum, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { castTo, keptCountOf, keptOf } from '../../core/ops/arrays.js'
import { eq, isfinite, ne, or } from '../../core/ops/compare.js'
import { reshape } from '../../core/ops/layout/layout.js'
import { whereOptions } from '../../core/ops/masked.js'
import { floats, operation } from '../../core/ops/operation.js'
import { max, mean, min, sum } from '../../core/ops/reductions.js'
import { abs, sqrt, square } from '../../core/ops/unary.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { FloatReduceFn, WhereOption } from '../../core/types/signatures/reduce.js'
import { exp, log, pow } from '../../families/exponentials.js'
import { type Ddof, ddofOptions, foldedShape, ofNothing, over, zeroAtZero } from './folds.js'

/** The variance, and what is made of it. */
const varianceOf = <const N extends string>(name: N, result: (v: AnyExpr) => AnyExpr): FloatReduceFn<N, Ddof & WhereOption> =>
  operation(name, { x: floats }, { ...over, ...ddofOptions, ...whereOptions }, ({ x }, { axis, keepdims, ddof, where: mask }, op) => {
    const centred = sub(x, mean(x, { axis, keepdims: true, where: mask }))
    const total = sum(square(keptOf(centred, mask, 0, op)), { axis, keepdims })
    const count = keptCountOf(x, mask, axis, keepdims, op)
    return result(div(total, typeof count === 'number' ? Math.max(0, count - ddof) : maximum(sub(count, ddof), 0)))
  })
/**
 * Variance over axes (all by default): the sum of (x - mean)^2 over n - ddof; with a mask `where`, of the elements where it holds.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = 2 (x - mean) yBar / (n - ddof).   Source  two passes, as NumPy.
 * Errors  BadInput for an axis out of range or named twice.
 * @example variance([1, 2, 3, 4])   // 1.25
 */
export const variance: FloatReduceFn<'variance', Ddof & WhereOption> = varianceOf('variance', (v) => v)

/**
 * Standard deviation over axes (all by default): the root of `variance`, with its options.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = (x - mean) yBar / ((n - ddof) y); 0 where the deviation is 0, as for `norm`.
 * Errors  BadInput for an axis out of range or named twice.
 * @example std([1, 1, 3, 3])   // 1
 */
export const std: FloatReduceFn<'std', Ddof & WhereOption> = varianceOf('std', (v) => zeroAtZero(v, sqrt))

/** The order as a number: 'inf' and '-inf' are the infinities. */
const order = kind<number, number | 'inf' | '-inf'>((ord = 2, _what, where) => {
  if (ord === 'inf' || ord === '-inf') return ord === 'inf' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  if (typeof ord === 'number' && !Number.isNaN(ord)) return ord
  return badInput(
    where,
    `order ${shown(ord)} is not a norm.`,
    `give a number, 'inf' or '-inf'; of matrices, matrixNorm has 'fro' and 'nuc'.`,
  )
})
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

const normOptions = {
  /** Its order, 2 unless given. */
  ord: order,
}
/** Options of `norm`. */
interface NormOptions extends OptionsOf<typeof normOptions> {}
/**
 * Norm over axes (all by default) of order `ord` (2 by default): the root (sum of |x|^ord)^(1 / ord); 'inf' is the largest |x|, '-inf' the smallest, 0 the number
 * of nonzero elements. Below 1 it is not a norm in the strict sense. For matrices use `matrixNorm`.
 *
 * Shapes  as `sum`; over an empty axis 0, for an order below 0 Infinity.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = sign(x) (|x| / y)^(ord - 1) yBar, for order 2 x yBar / y; 0 where the norm is 0, for an order below 1 where x is 0, for order 0 everywhere. For
 *         'inf' and '-inf' ties share equally.   Source  NumPy vector_norm.
 * Errors  BadInput for an order that is not a number, an axis out of range or named twice.
 * @example
 * norm([3, 4])                  // 5
 * norm([3, 0, -4], { ord: 0 })  // 2
 */
export const norm: FloatReduceFn<'norm', NormOptions> = operation(
  'norm',
  { x: floats },
  { ...over, ...normOptions },
  ({ x }, { ord, axis, keepdims }) => {
    const folds = { axis, keepdims }
    const total = (y: AnyExpr): AnyExpr => sum(y, folds)
    if (ord === 2) return zeroAtZero(total(square(x)), sqrt)
    if (ord === 1) return total(abs(x))
    if (ord === 0) return total(castTo(ne(x, 0), x.dtype))
    if (Number.isFinite(ord)) return rootOfPowers(abs(x), ord, total)
    return ofNothing(x, ord > 0 ? 0 : Number.POSITIVE_INFINITY, folds) ?? (ord > 0 ? max : min)(abs(x), folds)
  },
)

/**
 * log of the sum of exp x over axes (all by default); with a mask `where`, of the elements where it holds. Stable: the largest x is subtracted first.
 *
 * Shapes  as `sum`; -Infinity for an empty axis.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    xBar = softmax(x) yBar; 0 where the result is infinite (all x are -Infinity, or one is Infinity).
 * Errors  BadInput for an axis out of range or named twice.
 * @example logsumexp([1000, 1000])   // 1000.6931471805599
 */
export const logsumexp: FloatReduceFn<'logsumexp', WhereOption> = operation(
  'logsumexp',
  { x: floats },
  whereOptions,
  ({ x: given }, { where: mask, axis, keepdims }, op) => {
    const folds = { axis, keepdims }
    const x = keptOf(given, mask, Number.NEGATIVE_INFINITY, op)
    const none = ofNothing(x, Number.NEGATIVE_INFINITY, folds)
    if (none !== undefined) return none
    const kept = { axis: folds.axis, keepdims: true }
    const top = stopGradient(max(x, kept))
    const finite = isfinite(top)
    // An infinite maximum is the result itself; x - top would be NaN there, so exp then gets 0.
    const total = sum(exp(where(finite, sub(x, top), 0)), kept)
    return reshape(where(finite, add(log(total), top), top), foldedShape(x, folds))
  },
)
