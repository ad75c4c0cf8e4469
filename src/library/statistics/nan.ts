/** Reductions of what is not NaN. What is left out has no cotangent: it is replaced before it is folded. */

import { flagOf, type Names, numberOf, optionsOf } from '../../core/errors/check-arguments.js'
import { isFloat } from '../../core/graph/aval.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift, liftFloat, liftNumber } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { prod } from '../../core/ops/along-axis.js'
import { eq, gt, isnan, not } from '../../core/ops/compare.js'
import { div, sqrt, square, sub, where } from '../../core/ops/elementwise.js'
import { axisOf } from '../../core/ops/layout-move.js'
import { axesOf, noElement, reduceOptions, reductionOf } from '../../core/ops/reduce.js'
import { all, argmax, argmin, count, max, min, sum } from '../../core/ops/reductions.js'
import { cumprodPrimitive, cumsumPrimitive, runningNode } from '../../core/ops/scans.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { ReduceOptions } from '../../core/types/shape.js'
import type {
  AlongAxisFn,
  ArgOptions,
  ArgReduceFn,
  AxisOptions,
  Ddof,
  ReduceFn,
  RunningOptions,
  SettledReduceFn,
  SumFn,
} from '../../core/types/signatures/reduce.js'

/** x with a number in the place of NaN; integers have none. */
const without = (n: Node, value: number): AnyExpr => (isFloat(n.dtype) ? where(isnan(asExpr(n)), value, asExpr(n)) : asExpr(n))

/**
 * Sum over axes (all by default) of what is not NaN; 0 where there is nothing else.
 *
 * Shapes, dtype, errors  as `sum`.   Rule  xBar = yBar repeated, 0 at a NaN.
 * @example nansum([1, NaN, 2])   // 3
 */
export const nansum: SumFn<'nansum'> = typed((x: unknown, options?: ReduceOptions): AnyExpr => {
  const n = lift(x, 'nansum')
  return sum(without(n, 0), reductionOf(n, options, 'nansum'))
})

/**
 * Product over axes (all by default) of what is not NaN; 1 where there is nothing else.
 *
 * Shapes, dtype, errors  as `prod`.   Rule  as `prod`, 0 at a NaN.
 * @example nanprod([2, NaN, 3])   // 6
 */
export const nanprod: SumFn<'nanprod'> = typed((x: unknown, options?: ReduceOptions): AnyExpr => {
  const n = lift(x, 'nanprod')
  return prod(without(n, 1), reductionOf(n, options, 'nanprod'))
})

const running = (
  prim: typeof cumsumPrimitive | typeof cumprodPrimitive,
  x: unknown,
  unit: number,
  options: (AxisOptions & RunningOptions) | undefined,
  op: string,
): AnyExpr => asExpr(runningNode(prim, asNode(without(liftNumber(x, op), unit)), options, op))
/**
 * Running sums along an axis (the last by default) of what is not NaN: a NaN adds 0.
 *
 * Shapes, dtype, options, errors  as `cumsum`.   Rule  as `cumsum`, 0 at a NaN.
 * @example nancumsum([1, NaN, 2])   // [1, 1, 3]
 */
export const nancumsum: AlongAxisFn<'nancumsum', RunningOptions> = typed(
  (x: unknown, options?: AxisOptions & RunningOptions): AnyExpr => running(cumsumPrimitive, x, 0, options, 'nancumsum'),
)

/**
 * Running products along an axis (the last by default) of what is not NaN: a NaN counts as 1.
 *
 * Shapes, dtype, options, errors  as `cumprod`.   Rule  as `cumprod`, 0 at a NaN.
 * @example nancumprod([2, NaN, 3])   // [2, 2, 6]
 */
export const nancumprod: AlongAxisFn<'nancumprod', RunningOptions> = typed(
  (x: unknown, options?: AxisOptions & RunningOptions): AnyExpr => running(cumprodPrimitive, x, 1, options, 'nancumprod'),
)

const extreme =
  (op: 'nanmax' | 'nanmin') =>
  (x: unknown, options?: ReduceOptions): AnyExpr => {
    const n = lift(x, op)
    const given = reductionOf(n, options, op)
    // Of no elements there is no maximum, NaN or not: the error says so in the name that was written.
    if (given.axis.some((a) => n.shape[a] === 0) && n.shape.every((d, i) => d > 0 || given.axis.includes(i))) noElement(op, n.shape)
    const fold = op === 'nanmax' ? max : min
    if (!isFloat(n.dtype)) return fold(asExpr(n), given)
    const isEmpty = all(isnan(asExpr(n)), given)
    return where(isEmpty, Number.NaN, fold(without(n, op === 'nanmax' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY), given))
  }

/**
 * Largest element over axes (all by default) that is not NaN; NaN where there is none.
 *
 * Shapes, dtype, errors  as `max`.   Rule  as `max`: ties share equally; a NaN has nothing.
 * @example nanmax([1, NaN, 3])   // 3
 */
export const nanmax: ReduceFn<'nanmax'> = typed(extreme('nanmax'))

/**
 * Smallest element over axes (all by default) that is not NaN; NaN where there is none.
 *
 * Shapes, dtype, errors  as `min`.   Rule  as `min`: ties share equally; a NaN has nothing.
 * @example nanmin([1, NaN, 3])   // 1
 */
export const nanmin: ReduceFn<'nanmin'> = typed(extreme('nanmin'))

/** Sum over axes, kept, divided by how many are not NaN. */
const meanOf = (n: Node, options: ReduceOptions): AnyExpr => div(sum(without(n, 0), options), count(not(isnan(asExpr(n))), options))

/**
 * Mean over axes (all by default) of what is not NaN; NaN where there is nothing else.
 *
 * Shapes, dtype, errors  as `mean`.   Rule  xBar = yBar / count, 0 at a NaN.
 * @example nanmean([1, NaN, 3])   // 2
 */
export const nanmean: SettledReduceFn<'nanmean'> = typed((x: unknown, options?: ReduceOptions): AnyExpr => {
  const n = liftFloat(x, 'nanmean')
  return meanOf(n, reductionOf(n, options, 'nanmean'))
})

const varianceOptions: Names<ReduceOptions & Ddof> = { ...reduceOptions, ddof: true }
const varianceOf = (x: unknown, options: (ReduceOptions & Ddof) | undefined, op: string): AnyExpr => {
  const { axis, keepdims: kept, ddof = 0 } = optionsOf(options, varianceOptions, op)
  const n = liftFloat(x, op)
  const axes = axesOf(n.shape.length, axis, op)
  const keepdims = flagOf(kept, 'keepdims', op)
  const valid = not(isnan(asExpr(n)))
  const centred = where(valid, sub(asExpr(n), meanOf(n, { axis: axes, keepdims: true })), 0)
  const degrees = sub(count(valid, { axis: axes, keepdims }), Math.trunc(numberOf(ddof, 'ddof', op)))
  const total = sum(square(centred), { axis: axes, keepdims })
  return where(gt(degrees, 0), div(total, degrees), Number.NaN)
}

/**
 * Variance over axes (all by default) of what is not NaN: the sum of (x - mean)^2 over count - ddof; NaN where that is not positive.
 *
 * Shapes, dtype, errors  as `variance`; ddof is whole.   Rule  as `variance`, 0 at a NaN.
 * @example nanvar([1, NaN, 3])   // 1
 */
export const nanvar: SettledReduceFn<'nanvar', Ddof> = typed(
  (x: unknown, options?: ReduceOptions & Ddof): AnyExpr => varianceOf(x, options, 'nanvar'),
)

/**
 * Standard deviation over axes (all by default) of what is not NaN: the root of `nanvar`.
 *
 * Shapes, dtype, errors  as `nanvar`.   Rule  as `std`: 0 where the deviation is 0, and at a NaN.
 * @example nanstd([1, NaN, 3])   // 1
 */
export const nanstd: SettledReduceFn<'nanstd', Ddof> = typed((x: unknown, options?: ReduceOptions & Ddof): AnyExpr => {
  const v = varianceOf(x, options, 'nanstd')
  const isZero = eq(v, 0)
  return where(isZero, 0, sqrt(where(isZero, 1, v)))
})

const argOptions: Names<ArgOptions> = reduceOptions
const position =
  (op: 'nanargmax' | 'nanargmin') =>
  (x: unknown, options?: ArgOptions): AnyExpr => {
    const n = lift(x, op)
    const { axis, keepdims } = optionsOf(options, argOptions, op)
    const given = {
      keepdims: flagOf(keepdims, 'keepdims', op),
      axis: axis === undefined || axis === null ? null : axisOf(axis, n.shape.length, op),
    }
    return op === 'nanargmax' ? argmax(without(n, Number.NEGATIVE_INFINITY), given) : argmin(without(n, Number.POSITIVE_INFINITY), given)
  }

/**
 * Index of the largest element that is not NaN, as `argmax`: the first of equals; 0 where there is none.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.   Errors  as `argmax`.
 * @example nanargmax([1, NaN, 3])   // 2
 */
export const nanargmax: ArgReduceFn<'nanargmax'> = typed(position('nanargmax'))

/**
 * Index of the smallest element that is not NaN, as `argmin`: the first of equals; 0 where there is none.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.   Errors  as `argmin`.
 * @example nanargmin([NaN, 1, 3])   // 1
 */
export const nanargmin: ArgReduceFn<'nanargmin'> = typed(position('nanargmin'))
