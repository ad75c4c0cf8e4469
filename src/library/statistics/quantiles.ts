/** What order decides: median, quantiles, the same without NaN, and sorting by several keys. */

import { flagOf, listOf, type Names, optionsOf, settled, shown } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { castNode } from '../../core/graph/cast.js'
import { asExpr, asNode, constant, isExpr, type Node } from '../../core/graph/expr.js'
import { lift, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { otherAxes } from '../../core/graph/shape.js'
import { isTensor } from '../../core/graph/tensor.js'
import { beside, declared, isWeak } from '../../core/graph/weak.js'
import { argsort } from '../../core/ops/along-axis.js'
import { eq, isnan, lt, not } from '../../core/ops/compare.js'
import { add, ceil, div, floor, maximum, mul, round, sub, where } from '../../core/ops/elementwise.js'
import { takeAlongNode } from '../../core/ops/indexing-along.js'
import { stack, unstack } from '../../core/ops/joins.js'
import { axisOf, axisOption, broadcastNode, reshapeNode, transposeNode } from '../../core/ops/layout-move.js'
import { sliceAxis } from '../../core/ops/layout-slice.js'
import { axesOf, reduceNode, reduceOptions, sumPrimitive } from '../../core/ops/reduce.js'
import { sortNodes } from '../../core/ops/scans.js'
import { roundHalfEven } from '../../core/ops/special-functions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { ReduceOptions } from '../../core/types/shape.js'
import type { LexsortFn, QuantileFn, QuantileMethod, QuantileOptions } from '../../core/types/signatures/arrays.js'
import type { AxisOptions, FloatReduceFn } from '../../core/types/signatures/reduce.js'

const methods: readonly QuantileMethod[] = ['linear', 'lower', 'higher', 'nearest', 'midpoint']
const quantileOptions: Names<QuantileOptions> = { ...reduceOptions, method: true }

/** The elements over some axes in order, along a last axis. */
interface Lines {
  readonly sorted: Node
  /** How many of them count: a number, or, where NaN are left out, one for each line, [..., 1]. */
  readonly count: AnyExpr | number
  /** The shape of the result. */
  readonly shape: readonly number[]
}
const linesOf = (n: Node, options: ReduceOptions, skipsNan: boolean, op: string): Lines => {
  const axes = axesOf(n.shape.length, options.axis, op)
  const kept = otherAxes(n.shape.length, axes)
  const size = axes.reduce((k, a) => k * n.shape[a]!, 1)
  const lead = kept.map((i) => n.shape[i]!)
  if (size === 0)
    raise({ _tag: 'BadInput', where: op, reason: `an axis of ${showShape(n.shape)} that is ordered is empty.`, fix: 'give it an element.' })
  const flat = reshapeNode(transposeNode(n, [...kept, ...axes]), [...lead, size])
  const [sorted] = sortNodes(flat, { axis: lead.length, descending: false })
  const valid = castNode(asNode(not(isnan(asExpr(flat)))), 'i32')
  const count = skipsNan ? asExpr(castNode(reduceNode(sumPrimitive, valid, [lead.length], true), n.dtype)) : size
  const keepdims = flagOf(options.keepdims, 'keepdims', op)
  return { sorted, count, shape: keepdims ? n.shape.map((d, i) => (axes.includes(i) ? 1 : d)) : lead }
}
/** The element of each line at a place: a number, or one for each line, [..., 1]. */
const elementAt = ({ sorted, shape }: Lines, place: AnyExpr | number): AnyExpr => {
  const last = sorted.shape.length - 1
  const part = typeof place === 'number' ? sliceAxis(sorted, last, place, 1) : takeAlongNode(sorted, castNode(asNode(place), 'i32'), last)
  return asExpr(reshapeNode(part, shape))
}

/** On the line from a to b, from the nearer end, as NumPy has it: at b it is b, and an infinite end is the result nearer to it. */
const onLine = (a: AnyExpr, b: AnyExpr, t: number): AnyExpr => {
  const step = sub(b, a)
  return t < 0.5 ? add(a, mul(step, t)) : sub(b, mul(step, 1 - t))
}
/** A quantile at a place that is known. */
const atKnown = (lines: Lines, place: number, method: QuantileMethod): AnyExpr => {
  const [low, high] = [Math.floor(place), Math.ceil(place)]
  if (method === 'lower' || method === 'higher') return elementAt(lines, method === 'lower' ? low : high)
  if (method === 'nearest') return elementAt(lines, roundHalfEven(place))
  const a = elementAt(lines, low)
  if (low === high) return a
  const b = elementAt(lines, high)
  return method === 'midpoint' ? div(add(a, b), 2) : onLine(a, b, place - low)
}
/** A quantile at places that are computed, [..., 1]. */
const atComputed = (lines: Lines, place: AnyExpr, method: QuantileMethod): AnyExpr => {
  const [low, high] = [floor(place), ceil(place)]
  if (method === 'lower' || method === 'higher') return elementAt(lines, method === 'lower' ? low : high)
  if (method === 'nearest') return elementAt(lines, round(place))
  const [a, b] = [elementAt(lines, low), elementAt(lines, high)]
  const t = asExpr(reshapeNode(asNode(sub(place, low)), lines.shape))
  // On an element itself nothing is added: its neighbour may be infinite. The derivative in the place is there that of the line behind it.
  const step = sub(b, a)
  const line = (): AnyExpr => where(lt(t, 0.5), add(a, mul(step, t)), sub(b, mul(step, sub(1, t))))
  const between = method === 'midpoint' ? div(add(a, b), 2) : line()
  return where(eq(t, 0), method === 'midpoint' ? a : add(a, where(eq(a, b), 0, mul(sub(b, a), t))), between)
}

/** One quantile of the lines; q is a number or a scalar. NaN among what counts is the result. */
const quantileOf = (lines: Lines, q: AnyExpr | number, method: QuantileMethod): AnyExpr => {
  const { sorted, count, shape } = lines
  const last = sorted.shape.length - 1
  const nan = asExpr(constant(Number.NaN, sorted.dtype))
  if (typeof count !== 'number') {
    const place = maximum(mul(q, sub(count, 1)), 0)
    const isEmpty = asExpr(reshapeNode(asNode(eq(count, 0)), shape))
    return where(isEmpty, nan, atComputed(lines, place, method))
  }
  const places = [...sorted.shape.slice(0, last), 1]
  const y =
    typeof q === 'number'
      ? atKnown(lines, q * (count - 1), method)
      : atComputed(lines, asExpr(broadcastNode(asNode(mul(q, count - 1)), places)), method)
  return where(isnan(elementAt(lines, sorted.shape[last]! - 1)), nan, y)
}

/** What q may be: a number or several, or an expression or a tensor of rank 0 or 1; `whole` is what counts as all. */
const quantilesOf = (
  x: unknown,
  q: unknown,
  options: QuantileOptions | undefined,
  op: string,
  whole: 1 | 100,
  skipsNan: boolean,
): AnyExpr => {
  const given = optionsOf(options, quantileOptions, op)
  const { method = 'linear' } = given
  if (!methods.includes(method))
    raise({
      _tag: 'BadInput',
      where: op,
      reason: `there is no method ${shown(method)}.`,
      fix: `methods are ${methods.map((m) => `'${m}'`).join(', ')}.`,
    })
  const array = liftFloat(x, op)
  const lines = linesOf(isWeak(array) ? declared(array, 'f64') : array, given, skipsNan, op)
  const known = (v: unknown): number =>
    typeof v === 'number' && v >= 0 && v <= whole
      ? v / whole
      : raise({
          _tag: 'BadInput',
          where: op,
          reason: `${shown(v)} is not between 0 and ${whole}.`,
          fix: whole === 1 ? 'percentile goes to 100.' : 'quantile goes to 1.',
        })
  if (!isExpr(q) && !isTensor(q)) {
    if (!Array.isArray(settled(q, 'q', op))) return quantileOf(lines, known(q), method)
    const list = listOf(q, 'q', op)
    if (list.length === 0) raise({ _tag: 'BadInput', where: op, reason: 'there is no q.', fix: 'give one at least.' })
    return stack(list.map((v) => quantileOf(lines, known(v), method)))
  }
  const n = castNode(beside(lift(q, op), lines.sorted.dtype), lines.sorted.dtype)
  if (n.shape.length > 1 || n.shape[0] === 0)
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [n.shape],
      reason: `q is ${showShape(n.shape)}, not a number or a vector of some.`,
      fix: 'flatten it.',
    })
  const scaled = whole === 1 ? asExpr(n) : div(asExpr(n), whole)
  return n.shape.length === 0 ? quantileOf(lines, scaled, method) : stack(unstack(scaled).map((v) => quantileOf(lines, v, method)))
}

/**
 * The q-quantile over axes (all by default), 0 <= q <= 1: the element at place q (n - 1) of those in order, by `method` on the line between its two
 * neighbours ('linear', the default), the one below ('lower'), above ('higher'), the nearer one ('nearest'), or their mean ('midpoint'). A NaN among them is the result.
 *
 * Shapes  as `sum`; several q (a list or a vector) are a new first axis.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    the cotangent goes to the one or two elements that the result is made of, of equals to those that `sort` puts there; q that is computed has the slope.
 * Errors  BadInput for a q that is out of range (one that is computed is not checked), another method, an axis out of range, or nothing to order.
 * @example quantile([1, 2, 4, 8], 0.5)   // 3
 */
export const quantile: QuantileFn<'quantile'> = typed(
  (x: unknown, q: unknown, options?: QuantileOptions): AnyExpr => quantilesOf(x, q, options, 'quantile', 1, false),
)

/**
 * The p-th percentile over axes (all by default), 0 <= p <= 100: `quantile` at p / 100.
 *
 * Shapes, dtype, rule, errors  as `quantile`.
 * @example percentile([1, 2, 4, 8], [0, 50])   // [1, 3]
 */
export const percentile: QuantileFn<'percentile'> = typed(
  (x: unknown, p: unknown, options?: QuantileOptions): AnyExpr => quantilesOf(x, p, options, 'percentile', 100, false),
)

/**
 * The quantile of what is not NaN, as `quantile`; NaN where there is nothing else.
 *
 * Shapes, dtype, errors  as `quantile`.   Rule  as `quantile`; a NaN has no cotangent.
 * @example nanquantile([1, NaN, 3], 0.5)   // 2
 */
export const nanquantile: QuantileFn<'nanquantile'> = typed(
  (x: unknown, q: unknown, options?: QuantileOptions): AnyExpr => quantilesOf(x, q, options, 'nanquantile', 1, true),
)

/**
 * The percentile of what is not NaN, as `percentile`; NaN where there is nothing else.
 *
 * Shapes, dtype, errors  as `quantile`.   Rule  as `quantile`; a NaN has no cotangent.
 * @example nanpercentile([1, NaN, 3], 50)   // 2
 */
export const nanpercentile: QuantileFn<'nanpercentile'> = typed(
  (x: unknown, p: unknown, options?: QuantileOptions): AnyExpr => quantilesOf(x, p, options, 'nanpercentile', 100, true),
)

const middle = (x: unknown, options: ReduceOptions | undefined, op: string, skipsNan: boolean): AnyExpr =>
  quantileOf(linesOf(liftFloat(x, op), optionsOf(options, reduceOptions, op), skipsNan, op), 0.5, 'midpoint')

/**
 * The median over axes (all by default): the element in the middle of those in order, or the mean of both there. A NaN among them is the result.
 *
 * Shapes  as `sum`.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    the cotangent goes to the element in the middle, half each to both; of equals to those that `sort` puts there.
 * Errors  BadInput for an axis out of range, or nothing to order.
 * @example median([3, 1, 4, 2])   // 2.5
 */
export const median: FloatReduceFn<'median'> = typed((x: unknown, options?: ReduceOptions): AnyExpr => middle(x, options, 'median', false))

/**
 * The median of what is not NaN, as `median`; NaN where there is nothing else.
 *
 * Shapes, dtype, errors  as `median`.   Rule  as `median`; a NaN has no cotangent.
 * @example nanmedian([3, NaN, 1])   // 2
 */
export const nanmedian: FloatReduceFn<'nanmedian'> = typed(
  (x: unknown, options?: ReduceOptions): AnyExpr => middle(x, options, 'nanmedian', true),
)

/**
 * The indices that sort by several keys along an axis (the last by default): by the last key, equals by the one before it, and so on.
 *
 * Shapes  the keys', which have one shape.   Dtype  i32.   Rule  none: indices have no tangent.   Source  NumPy lexsort.
 * Errors  BadInput for no keys or an axis out of range; ShapeMismatch for keys of other shapes.
 * @example lexsort([[1, 0, 2], [5, 5, 4]])   // [2, 1, 0]
 */
export const lexsort: LexsortFn = typed((keys: readonly unknown[], options?: AxisOptions): AnyExpr => {
  const { axis: given = -1 } = optionsOf(options, axisOption, 'lexsort')
  const ns = listOf(keys, 'keys', 'lexsort').map((k) => lift(k, 'lexsort'))
  if (ns.length === 0) raise({ _tag: 'BadInput', where: 'lexsort', reason: 'there are no keys.', fix: 'give one at least.' })
  const shape = ns[0]!.shape
  const axis = axisOf(given, shape.length, 'lexsort')
  const other = ns.find((n) => n.shape.length !== shape.length || n.shape.some((d, i) => d !== shape[i]))
  if (other !== undefined)
    raise({
      _tag: 'ShapeMismatch',
      op: 'lexsort',
      shapes: ns.map((n) => n.shape),
      reason: `keys of ${showShape(shape)} and ${showShape(other.shape)} differ.`,
      fix: 'give keys of one shape.',
    })
  const first = asNode(argsort(asExpr(ns[0]!), { axis }))
  // Each sort keeps the order of equals, which is that of the keys before.
  return asExpr(
    ns.slice(1).reduce((order, k) => takeAlongNode(order, asNode(argsort(asExpr(takeAlongNode(k, order, axis)), { axis })), axis), first),
  )
})
