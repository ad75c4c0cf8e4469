/** Reductions of what is not NaN. What is left out has no cotangent: it is replaced before it is folded. */

import { kind } from '../../core/errors/options.js'
import { isFloat } from '../../core/graph/aval.js'
import { runningOptions } from '../../core/ops/along-axis.js'
import { div, sub, where } from '../../core/ops/arithmetic.js'
import { gt, isnan, not } from '../../core/ops/compare.js'
import { axisOf } from '../../core/ops/layout/move.js'
import { array, axisOptions, floats, numbers, operation } from '../../core/ops/operation.js'
import { noElement } from '../../core/ops/reduce.js'
import { all, argmax, argmin, count, max, min, sum } from '../../core/ops/reductions.js'
import { sqrt, square } from '../../core/ops/unary.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { AlongAxisFn, ArgReduceFn, ReduceFn, RunningOptions, SettledReduceFn, SumFn } from '../../core/types/signatures/reduce.js'
import { cumprod, cumsum, prod } from '../../families/indexing.js'
import { type Ddof, ddofOptions, type Over, over, zeroAtZero } from './folds.js'

/** x with a number in the place of NaN; integers have none. */
const without = (x: AnyExpr, value: number): AnyExpr => (isFloat(x.dtype) ? where(isnan(x), value, x) : x)

/**
 * Sum over axes (all by default) of the elements that are not NaN; 0 if there are none.
 *
 * Shapes, dtype, errors  as `sum`.   Rule  xBar = yBar repeated, 0 at a NaN.
 * @example nansum([1, NaN, 2])   // 3
 */
export const nansum: SumFn<'nansum'> = operation('nansum', { x: array }, over, ({ x }, folds) => sum(without(x, 0), folds))

/**
 * Product over axes (all by default) of the elements that are not NaN; 1 if there are none.
 *
 * Shapes, dtype, errors  as `prod`.   Rule  as `prod`, 0 at a NaN.
 * @example nanprod([2, NaN, 3])   // 6
 */
export const nanprod: SumFn<'nanprod'> = operation('nanprod', { x: array }, over, ({ x }, folds) => prod(without(x, 1), folds))

const running = { ...axisOptions, ...runningOptions }
/**
 * Running sums along an axis (the last by default) of the elements that are not NaN: a NaN adds 0.
 *
 * Shapes, dtype, options, errors  as `cumsum`.   Rule  as `cumsum`, 0 at a NaN.
 * @example nancumsum([1, NaN, 2])   // [1, 1, 3]
 */
export const nancumsum: AlongAxisFn<'nancumsum', RunningOptions> = operation('nancumsum', { x: numbers }, running, ({ x }, options) =>
  cumsum(without(x, 0), options),
)

/**
 * Running products along an axis (the last by default) of the elements that are not NaN: a NaN counts as 1.
 *
 * Shapes, dtype, options, errors  as `cumprod`.   Rule  as `cumprod`, 0 at a NaN.
 * @example nancumprod([2, NaN, 3])   // [2, 2, 6]
 */
export const nancumprod: AlongAxisFn<'nancumprod', RunningOptions> = operation('nancumprod', { x: numbers }, running, ({ x }, options) =>
  cumprod(without(x, 1), options),
)

const extreme = <const N extends string>(name: N, fold: typeof max | typeof min, unit: number): ReduceFn<N> =>
  operation(name, { x: array }, over, ({ x }, folds, op) => {
    // Of no elements there is no maximum, NaN or not: the error says so in the name that was written.
    if (folds.axis.some((a) => x.shape[a] === 0) && x.shape.every((d, i) => d > 0 || folds.axis.includes(i))) noElement(op, x.shape)
    if (!isFloat(x.dtype)) return fold(x, folds)
    const isEmpty = all(isnan(x), folds)
    return where(isEmpty, Number.NaN, fold(without(x, unit), folds))
  })

/**
 * Largest element over axes (all by default) that is not NaN; NaN if there is none.
 *
 * Shapes, dtype, errors  as `max`.   Rule  as `max`: ties share equally; a NaN has none.
 * @example nanmax([1, NaN, 3])   // 3
 */
export const nanmax: ReduceFn<'nanmax'> = extreme('nanmax', max, Number.NEGATIVE_INFINITY)

/**
 * Smallest element over axes (all by default) that is not NaN; NaN if there is none.
 *
 * Shapes, dtype, errors  as `min`.   Rule  as `min`: ties share equally; a NaN has none.
 * @example nanmin([1, NaN, 3])   // 1
 */
export const nanmin: ReduceFn<'nanmin'> = extreme('nanmin', min, Number.POSITIVE_INFINITY)

/** Sum over axes, kept, divided by how many are not NaN. */
const meanOf = (x: AnyExpr, folds: Over): AnyExpr => div(sum(without(x, 0), folds), count(not(isnan(x)), folds))

/**
 * Mean over axes (all by default) of the elements that are not NaN; NaN if there are none.
 *
 * Shapes, dtype, errors  as `mean`.   Rule  xBar = yBar / count, 0 at a NaN.
 * @example nanmean([1, NaN, 3])   // 2
 */
export const nanmean: SettledReduceFn<'nanmean'> = operation('nanmean', { x: floats }, over, ({ x }, folds) => meanOf(x, folds))

/** The variance, and what is made of it. */
const varianceOf = <const N extends string>(name: N, result: (v: AnyExpr) => AnyExpr): SettledReduceFn<N, Ddof> =>
  operation(name, { x: floats }, { ...over, ...ddofOptions }, ({ x }, { ddof, ...folds }) => {
    const valid = not(isnan(x))
    const centred = where(valid, sub(x, meanOf(x, { axis: folds.axis, keepdims: true })), 0)
    const degrees = sub(count(valid, folds), Math.trunc(ddof))
    const total = sum(square(centred), folds)
    return result(where(gt(degrees, 0), div(total, degrees), Number.NaN))
  })

/**
 * Variance over axes (all by default) of the elements that are not NaN: the sum of (x - mean)^2 over count - ddof; NaN unless that is
 * positive.
 *
 * Shapes, dtype, errors  as `variance`; ddof is an integer.   Rule  as `variance`, 0 at a NaN.
 * @example nanvar([1, NaN, 3])   // 1
 */
export const nanvar: SettledReduceFn<'nanvar', Ddof> = varianceOf('nanvar', (v) => v)

/**
 * Standard deviation over axes (all by default) of the elements that are not NaN: the root of `nanvar`.
 *
 * Shapes, dtype, errors  as `nanvar`.   Rule  as `std`: 0 where the deviation is 0, and at a NaN.
 * @example nanstd([1, NaN, 3])   // 1
 */
export const nanstd: SettledReduceFn<'nanstd', Ddof> = varianceOf('nanstd', (v) => zeroAtZero(v, sqrt))

/** An axis, or null for the flattened array. */
const anyAxis = kind<number | null>((given = null, _what, where, shape) =>
  given === null ? null : axisOf(given as number, shape.length, where),
)
const position = <const N extends string>(name: N, find: typeof argmax, unit: number): ArgReduceFn<N> =>
  operation(name, { x: array }, { ...over, axis: anyAxis }, ({ x }, options) => find(without(x, unit), options))

/**
 * Index of the largest element that is not NaN, as `argmax`: the first among equals; 0 if there is none.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.   Errors  as `argmax`.
 * @example nanargmax([1, NaN, 3])   // 2
 */
export const nanargmax: ArgReduceFn<'nanargmax'> = position('nanargmax', argmax, Number.NEGATIVE_INFINITY)

/**
 * Index of the smallest element that is not NaN, as `argmin`: the first among equals; 0 if there is none.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.   Errors  as `argmin`.
 * @example nanargmin([NaN, 1, 3])   // 1
 */
export const nanargmin: ArgReduceFn<'nanargmin'> = position('nanargmin', argmin as typeof argmax, Number.POSITIVE_INFINITY)
