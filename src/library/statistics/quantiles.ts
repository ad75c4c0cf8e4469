/** What order decides: median, quantiles, the same without NaN, and sorting by several keys. */

import { listOf, shown } from '../../core/errors/check-arguments.js'
import { badInput, showShape } from '../../core/errors/explain.js'
import { choice, kind, type OptionsOf, raw } from '../../core/errors/options.js'
import { isExpr } from '../../core/graph/expr.js'
import { otherAxes, sameShape } from '../../core/graph/shape.js'
import { isTensor } from '../../core/graph/tensor.js'
import { add, div, maximum, mul, sub, where } from '../../core/ops/arithmetic.js'
import { arrayOf, castTo, declaredAs, isUndeclared, literal, misfit, part, takenBeside } from '../../core/ops/arrays.js'
import { eq, isnan, lt, not } from '../../core/ops/compare.js'
import { stack, unstack } from '../../core/ops/joins.js'
import { broadcastTo, reshape, transpose } from '../../core/ops/layout/layout.js'
import { axisOf } from '../../core/ops/layout/move.js'
import { floats, laterAxis, operation } from '../../core/ops/operation.js'
import { any, count } from '../../core/ops/reductions.js'
import { round } from '../../core/ops/rounding.js'
import { roundHalfEven } from '../../core/ops/special/functions.js'
import { ceil, floor } from '../../core/ops/unary.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { LexsortFn, QuantileFn, QuantileMethod } from '../../core/types/signatures/arrays.js'
import type { FloatReduceFn } from '../../core/types/signatures/reduce.js'
import { argsort, sort, takeAlongAxis, topk } from '../../families/indexing.js'
import { foldedShape, type Over, over } from './folds.js'

/** The elements over some axes, along a last axis. */
interface Lines {
  readonly flat: AnyExpr
  /** Those in order; of quantiles that are numbers, from the lowest place that they need to the highest. */
  readonly sorted: AnyExpr
  /** The place of the first of them. */
  readonly from: number
  /** How many of them count: a number, or, where NaN are left out, one for each line, [..., 1]. */
  readonly counts: AnyExpr | number
  /** The shape of the result. */
  readonly shape: readonly number[]
}
/** `qs`: the quantiles that are asked for, where they are known. */
const linesOf = (x: AnyExpr, folds: Over, skipsNan: boolean, op: string, qs?: readonly number[]): Lines => {
  const kept = otherAxes(x.shape.length, folds.axis)
  const size = folds.axis.reduce((k, a) => k * x.shape[a]!, 1)
  const lead = kept.map((i) => x.shape[i]!)
  if (size === 0) badInput(op, `an axis of ${showShape(x.shape)} that is ordered is empty.`, 'give it an element.')
  const flat = reshape(transpose(x, [...kept, ...folds.axis]), [...lead, size])
  const last = { axis: lead.length }
  const known = !skipsNan && qs !== undefined && qs.length > 0
  const from = known ? Math.floor(qs.reduce((a, b) => Math.min(a, b)) * (size - 1)) : 0
  const to = known ? Math.ceil(qs.reduce((a, b) => Math.max(a, b)) * (size - 1)) + 1 : size
  const sorted = to - from === size ? sort(flat, last) : (topk(flat, to - from, { ...last, largest: false, from }).values as AnyExpr)
  const counts = skipsNan ? castTo(count(not(isnan(flat)), { ...last, keepdims: true }), x.dtype) : size
  return { flat, sorted, from, counts, shape: foldedShape(x, folds) }
}
/** The element of each line at a place: a number, or one for each line, [..., 1]. */
const elementAt = ({ sorted, from, shape }: Lines, place: AnyExpr | number): AnyExpr => {
  const last = sorted.shape.length - 1
  return reshape(
    typeof place === 'number' ? part(sorted, last, place - from, 1) : takeAlongAxis(sorted, castTo(place, 'i32'), { axis: last }),
    shape,
  )
}

/** On the line from a to b, from the nearer end, as NumPy has it: at b it is b, and an infinite end is the result nearer to it. */
const onLine = (a: AnyExpr, b: AnyExpr, t: number): AnyExpr => {
  const step = sub(b, a)
  return t < 0.5 ? add(a, mul(step, t)) : sub(b, mul(step, 1 - t))
}
/** A quantile at a place that is known, or at places that are computed, [..., 1]. */
const atPlace = (lines: Lines, place: AnyExpr | number, method: QuantileMethod): AnyExpr => {
  const known = typeof place === 'number'
  const [low, high] = known ? [Math.floor(place), Math.ceil(place)] : [floor(place), ceil(place)]
  if (method === 'lower' || method === 'higher') return elementAt(lines, method === 'lower' ? low : high)
  if (method === 'nearest') return elementAt(lines, known ? roundHalfEven(place) : round(place))
  const a = elementAt(lines, low)
  if (low === high) return a
  const b = elementAt(lines, high)
  const isMiddle = method === 'midpoint'
  if (known) return isMiddle ? div(add(a, b), 2) : onLine(a, b, place - Math.floor(place))
  const t = reshape(sub(place, low), lines.shape)
  // On an element itself nothing is added: its neighbour may be infinite. The derivative in the place is there that of the line behind it.
  const step = sub(b, a)
  const line = (): AnyExpr => where(lt(t, 0.5), add(a, mul(step, t)), sub(b, mul(step, sub(1, t))))
  const between = isMiddle ? div(add(a, b), 2) : line()
  return where(eq(t, 0), isMiddle ? a : add(a, where(eq(a, b), 0, mul(sub(b, a), t))), between)
}

/** One quantile of the lines; q is a number or a scalar. NaN among what counts is the result. */
const quantileOf = (lines: Lines, q: AnyExpr | number, method: QuantileMethod): AnyExpr => {
  const { flat, sorted, counts, shape } = lines
  const nan = literal(Number.NaN, sorted.dtype)
  if (typeof counts !== 'number') {
    const place = maximum(mul(q, sub(counts, 1)), 0)
    return where(reshape(eq(counts, 0), shape), nan, atPlace(lines, place, method))
  }
  const place = typeof q === 'number' ? q * (counts - 1) : broadcastTo(mul(q, counts - 1), [...sorted.shape.slice(0, -1), 1])
  const y = atPlace(lines, place, method)
  return where(reshape(any(isnan(flat), { axis: flat.shape.length - 1 }), shape), nan, y)
}

const method = choice<QuantileMethod, 'linear'>(['linear', 'lower', 'higher', 'nearest', 'midpoint'], 'linear', 'method')
const quantileOptions = { ...over, method }
/** Options of `quantile` and its kin. */
interface QuantileOptions extends OptionsOf<typeof quantileOptions> {}
/** Quantiles at q: a number or several, or an expression or a tensor of rank 0 or 1; `whole` is what counts as all. */
const quantiles = <const N extends string>(name: N, whole: 1 | 100, skipsNan: boolean): QuantileFn<N, QuantileOptions> =>
  operation(name, { x: floats, q: raw() }, quantileOptions, ({ x, q }, { method: by, ...folds }, op) => {
    const asked = (Array.isArray(q) ? q : [q]).map((v: unknown) => (typeof v === 'number' && v >= 0 && v <= whole ? v / whole : Number.NaN))
    const lines = linesOf(isUndeclared(x) ? declaredAs(x, 'f64') : x, folds, skipsNan, op, asked.some(Number.isNaN) ? undefined : asked)
    const known = (v: unknown): AnyExpr =>
      typeof v === 'number' && v >= 0 && v <= whole
        ? quantileOf(lines, v / whole, by)
        : badInput(op, `${shown(v)} is not between 0 and ${whole}.`, whole === 1 ? 'percentile goes to 100.' : 'quantile goes to 1.')
    if (Array.isArray(q)) return q.length > 0 ? stack(q.map(known)) : badInput(op, 'there is no q.', 'give at least one.')
    if (!isExpr(q) && !isTensor(q)) return known(q)
    const { dtype } = lines.sorted
    const given = castTo(takenBeside(arrayOf(q, op), dtype), dtype)
    if (given.shape.length > 1 || given.shape[0] === 0)
      misfit(op, [given], `q is ${showShape(given.shape)}, not a number or a vector of some.`, 'flatten it.')
    const scaled = whole === 1 ? given : div(given, whole)
    return given.shape.length === 0 ? quantileOf(lines, scaled, by) : stack(unstack(scaled).map((v) => quantileOf(lines, v, by)))
  })

/**
 * The q-quantile over axes (all by default), 0 <= q <= 1: the element at position q (n - 1) in ascending order, by `method` interpolated between its two neighbours
 * ('linear', the default), the one below ('lower'), above ('higher'), the nearer one ('nearest'), or their mean ('midpoint'). NaN if one of them is NaN.
 *
 * Shapes  as `sum`; several q (a list or a vector) are a new first axis.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    the cotangent goes to the one or two elements that make the result, among equal ones to those that `sort` puts there; a computed q has the slope.
 * Errors  BadInput for a q that is out of range (a computed one is not checked), an unknown method, an axis out of range, or an empty axis.
 * @example quantile([1, 2, 4, 8], 0.5)   // 3
 */
export const quantile: QuantileFn<'quantile', QuantileOptions> = quantiles('quantile', 1, false)

/**
 * The p-th percentile over axes (all by default), 0 <= p <= 100: `quantile` at p / 100.
 *
 * Shapes, dtype, rule, errors  as `quantile`.
 * @example percentile([1, 2, 4, 8], [0, 50])   // [1, 3]
 */
export const percentile: QuantileFn<'percentile', QuantileOptions> = quantiles('percentile', 100, false)

/**
 * The quantile of the elements that are not NaN, as `quantile`; NaN if there are none.
 *
 * Shapes, dtype, errors  as `quantile`.   Rule  as `quantile`; a NaN has no cotangent.
 * @example nanquantile([1, NaN, 3], 0.5)   // 2
 */
export const nanquantile: QuantileFn<'nanquantile', QuantileOptions> = quantiles('nanquantile', 1, true)

/**
 * The percentile of the elements that are not NaN, as `percentile`; NaN if there are none.
 *
 * Shapes, dtype, errors  as `quantile`.   Rule  as `quantile`; a NaN has no cotangent.
 * @example nanpercentile([1, NaN, 3], 50)   // 2
 */
export const nanpercentile: QuantileFn<'nanpercentile', QuantileOptions> = quantiles('nanpercentile', 100, true)

const middle = <const N extends string>(name: N, skipsNan: boolean): FloatReduceFn<N> =>
  operation(name, { x: floats }, over, ({ x }, folds, op) => quantileOf(linesOf(x, folds, skipsNan, op, [0.5]), 0.5, 'midpoint'))

/**
 * The median over axes (all by default): the middle element in ascending order, or the mean of the two in the middle. NaN if one of them is NaN.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    the cotangent goes to the middle element, or half to each of two; among equal ones to those that `sort` puts there.
 * Errors  BadInput for an axis out of range or an empty axis.
 * @example median([3, 1, 4, 2])   // 2.5
 */
export const median: FloatReduceFn<'median'> = middle('median', false)

/**
 * The median of the elements that are not NaN, as `median`; NaN if there are none.
 *
 * Shapes, dtype, errors  as `median`.   Rule  as `median`; a NaN has no cotangent.
 * @example nanmedian([3, NaN, 1])   // 2
 */
export const nanmedian: FloatReduceFn<'nanmedian'> = middle('nanmedian', true)

const keyArrays = kind<readonly AnyExpr[], unknown>((given, what, where) => listOf(given, what, where).map((k) => arrayOf(k, where)))
/**
 * The indices that sort by several keys along an axis (the last by default): by the last key, ties by the one before it, and so on.
 *
 * Shapes  the keys', which have one shape.   Dtype  i32.   Rule  none: indices have no tangent.   Source  NumPy lexsort.
 * Errors  BadInput for no keys or an axis out of range; ShapeMismatch for keys of other shapes.
 * @example lexsort([[1, 0, 2], [5, 5, 4]])   // [2, 1, 0]
 */
export const lexsort: LexsortFn = operation('lexsort', { keys: keyArrays }, { axis: laterAxis(-1) }, ({ keys }, { axis: along }, op) => {
  if (keys.length === 0) badInput(op, 'there are no keys.', 'give at least one.')
  const { shape } = keys[0]!
  const axis = axisOf(along, shape.length, op)
  const other = keys.find((k) => !sameShape(k.shape, shape))
  if (other !== undefined)
    misfit(op, keys, `keys of ${showShape(shape)} and ${showShape(other.shape)} differ.`, 'give keys of the same shape.')
  // Each sort keeps the order of equals, which is that of the keys before.
  const sortedBy = (order: AnyExpr, k: AnyExpr): AnyExpr =>
    takeAlongAxis(order, argsort(takeAlongAxis(k, order, { axis }), { axis }), { axis })
  return keys.slice(1).reduce(sortedBy, argsort(keys[0]!, { axis }) as AnyExpr)
})
