/** What has as many places as data decide: here as many as `size` says, the rest filled. And counts: histograms, bins, values that differ. */

import { flagOf, listOf, type Names, numberOf, optionsOf, shown } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { castNode } from '../../core/graph/cast.js'
import { apply, asExpr, asNode, constant, type Node } from '../../core/graph/expr.js'
import { lift, liftAll, liftFloat, liftNumber } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { range, sameShape } from '../../core/graph/shape.js'
import { cumsum } from '../../core/ops/along-axis.js'
import { and, eq, isnan, lt, ne, not } from '../../core/ops/compare.js'
import { arange } from '../../core/ops/construct.js'
import { add, div, mul, stopGradient, sub, where } from '../../core/ops/elementwise.js'
import { searchsortedPrimitive } from '../../core/ops/indexing-along.js'
import { gatherNode, iotaNode, liftIndices, setAtNode } from '../../core/ops/indexing-gather.js'
import { concatNode } from '../../core/ops/layout-join.js'
import { axisOf, broadcastNode, reshapeNode } from '../../core/ops/layout-move.js'
import { sliceAxis } from '../../core/ops/layout-slice.js'
import { max, min, sum } from '../../core/ops/reductions.js'
import { sortNodes } from '../../core/ops/scans.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  ArgwhereFn,
  BincountFn,
  BooleanMaskFn,
  CompressFn,
  DigitizeFn,
  FilledSize,
  HistogramFn,
  HistogramOptions,
  NonzeroFn,
  UniqueFn,
} from '../../core/types/signatures/arrays.js'
import type { AxisOptions } from '../../core/types/signatures/reduce.js'
import { segmentsOf } from './segment-nodes.js'

const FIRST = { axis: 0, batchDims: 0 }
const flat = (n: Node): Node => reshapeNode(n, [n.aval.size])
const searched = (sorted: AnyExpr, values: AnyExpr, side: 'left' | 'right'): AnyExpr =>
  asExpr(apply(searchsortedPrimitive, [asNode(sorted), asNode(values)], { side, batchDims: 0 }))

const sizeOption: Names<FilledSize> = { size: true, fill: true }
/** The size that is asked for: a shape is known before the data are. */
const sizeGiven = (size: unknown, op: string): number =>
  Number.isInteger(size) && (size as number) >= 0
    ? (size as number)
    : raise({
        _tag: 'BadInput',
        where: op,
        reason:
          size === undefined ? 'how many there are follows from the data, and a shape is known before.' : `${shown(size)} is not a size.`,
        fix: 'give { size }, a whole number: places that are left hold `fill`, what is over is cut off. NumPy needs none.',
      })

/** The places of the first `size` true elements of a vector, in order; 0 behind them. And which of these places are meant. */
const truePlaces = (mask: Node, size: number): { readonly places: Node; readonly valid: AnyExpr } => {
  const n = mask.aval.size
  const number = asExpr(iotaNode([size], 0, 'i32'))
  if (n === 0) return { places: broadcastNode(constant(0, 'i32'), [size]), valid: lt(number, 0) }
  const running = cumsum(asExpr(castNode(mask, 'i32')))
  const slot = where(and(asExpr(mask), lt(running, size + 1)), sub(running, 1), size)
  const all = setAtNode(broadcastNode(constant(0, 'i32'), [size + 1]), asNode(slot), iotaNode([n], 0, 'i32'), FIRST)
  const total = asExpr(reshapeNode(sliceAxis(asNode(running), 0, n - 1, 1), []))
  return { places: sliceAxis(all, 0, 0, size), valid: lt(number, total) }
}
const masked = (x: unknown, op: string): Node => castNode(lift(x, op), 'bool')

const coordinates = (x: unknown, options: FilledSize, op: string): readonly AnyExpr[] => {
  const { size, fill = 0 } = optionsOf(options ?? {}, sizeOption, op)
  const n = masked(x, op)
  if (n.shape.length === 0) raise({ _tag: 'BadInput', where: op, reason: 'a number has no axes.', fix: 'atleast1d(x) has one.' })
  const { places, valid } = truePlaces(flat(n), sizeGiven(size, op))
  if (!Number.isInteger(fill))
    raise({ _tag: 'BadInput', where: op, reason: `fill ${shown(fill)} is not an index.`, fix: 'give a whole number.' })
  return range(n.shape.length).map((axis) =>
    n.aval.size === 0
      ? asExpr(broadcastNode(constant(fill, 'i32'), [size]))
      : where(valid, asExpr(gatherNode(flat(iotaNode(n.shape, axis, 'i32')), places, FIRST)), fill),
  )
}

/**
 * Where x is not 0, in row-major order: for each axis a vector of `size` indices. Places that are left hold `fill` (0 unless given).
 *
 * Dtype  i32.   Rule  none: indices have no tangent.   Source  NumPy nonzero, JAX's size.
 * Errors  BadInput without a size, which NumPy needs not: a shape is known before the data are.
 * @example nonzero([0, 5, 0, 7], { size: 3, fill: -1 })   // [[1, 3, -1]]
 */
export const nonzero: NonzeroFn = typed((x: unknown, options: FilledSize): readonly AnyExpr[] => coordinates(x, options, 'nonzero'))

/**
 * Where x is not 0, in row-major order, a row of indices for each. Rows that are left hold `fill` (0 unless given).
 *
 * Shapes  [size, rank].   Dtype  i32.   Rule  none: indices have no tangent.   Source  NumPy argwhere, JAX's size.
 * Errors  BadInput without a size, which NumPy needs not.
 * @example argwhere([[0, 1], [1, 0]], { size: 2 })   // [[0, 1], [1, 0]]
 */
export const argwhere: ArgwhereFn = typed((x: unknown, options: FilledSize): AnyExpr => {
  const columns = coordinates(x, options, 'argwhere').map((c) => reshapeNode(asNode(c), [asNode(c).aval.size, 1]))
  return asExpr(concatNode(columns, 1))
})

const maskOptions: Names<FilledSize & AxisOptions> = { size: true, fill: true, axis: true }
/** The slices of x at the true places of a mask over the axes from `axis` on. */
const chosen = (n: Node, mask: Node, axis: number, size: number, fill: number, op: string): AnyExpr => {
  const merged = reshapeNode(n, [...n.shape.slice(0, axis), mask.aval.size, ...n.shape.slice(axis + mask.shape.length)])
  const shape = merged.shape.map((d, i) => (i === axis ? size : d))
  const empty = lift(fill, op, n.dtype)
  if (mask.aval.size === 0) return asExpr(broadcastNode(empty, shape))
  const { places, valid } = truePlaces(flat(mask), size)
  const along = reshapeNode(asNode(valid), shape.map((d, i) => (i === axis ? d : 1))) // biome-ignore format: one row
  return where(asExpr(along), asExpr(gatherNode(merged, places, { axis, batchDims: 0 })), asExpr(empty))
}

/**
 * The slices of x where a mask holds, x[mask] in NumPy: `size` of them, the places that are left hold `fill` (0 unless given). The mask is over the
 * axes from `axis` on (the first by default), as many as it has.
 *
 * Shapes  x: [..., m, ...], mask: m -> [..., size, ...].   Dtype  x's.   Rule  xBar = yBar at the slices that were taken.
 * Errors  BadInput without a size, which NumPy needs not; ShapeMismatch for a mask that does not fit.
 * @example booleanMask(tensor([1, 2, 3]), [true, false, true], { size: 3 })   // [1, 3, 0]
 */
export const booleanMask: BooleanMaskFn = typed((x: unknown, mask: unknown, options: FilledSize & AxisOptions): AnyExpr => {
  const { size, fill = 0, axis: given = 0 } = optionsOf(options ?? ({} as never), maskOptions, 'booleanMask')
  const n = lift(x, 'booleanMask')
  const m = masked(mask, 'booleanMask')
  const axis = axisOf(given, n.shape.length, 'booleanMask')
  if (m.shape.length === 0 || !sameShape(m.shape, n.shape.slice(axis, axis + m.shape.length)))
    raise({
      _tag: 'ShapeMismatch',
      op: 'booleanMask',
      shapes: [n.shape, m.shape],
      reason: `a mask of ${showShape(m.shape)} does not fit the axes of ${showShape(n.shape)} from ${axis} on.`,
      fix: 'broadcastTo the mask, or name the axis.',
    })
  return chosen(n, m, axis, sizeGiven(size, 'booleanMask'), numberOf(fill, 'fill', 'booleanMask'), 'booleanMask')
})

/**
 * The slices of x along an axis (the first by default) where a vector of conditions holds: `size` of them, the places that are left hold `fill`. Slices
 * beyond the conditions are none of them.
 *
 * Shapes  x's with `size` along the axis.   Dtype  x's.   Rule  xBar = yBar at the slices that were taken.   Source  NumPy compress.
 * Errors  BadInput without a size, which NumPy needs not; ShapeMismatch for conditions that are no vector or too many.
 * @example compress([true, false, true], tensor([1, 2, 3]), { size: 2 })   // [1, 3]
 */
export const compress: CompressFn = typed((condition: unknown, x: unknown, options: FilledSize & AxisOptions): AnyExpr => {
  const { size, fill = 0, axis: given = 0 } = optionsOf(options ?? ({} as never), maskOptions, 'compress')
  const n = lift(x, 'compress')
  const m = masked(condition, 'compress')
  const axis = axisOf(given, n.shape.length, 'compress')
  const length = m.shape[0]
  if (m.shape.length !== 1 || length! > n.shape[axis]!)
    raise({
      _tag: 'ShapeMismatch',
      op: 'compress',
      shapes: [m.shape, n.shape],
      reason: `conditions of ${showShape(m.shape)} for axis ${axis} of ${showShape(n.shape)}.`,
      fix: 'give a vector, at most one for each slice.',
    })
  return chosen(sliceAxis(n, axis, 0, length!), m, axis, sizeGiven(size, 'compress'), numberOf(fill, 'fill', 'compress'), 'compress')
})

/**
 * The different values of x, ascending, with where each comes first in the flattened x, which of them each element is, and how often it comes. `size` is how
 * many there may be: places that are left hold `fill` (the smallest value unless given), counts there are 0. All NaN are one value, the last.
 *
 * Shapes  values, indices, counts: [size]; inverse: x's.   Dtype  x's; the others i32.   Source  NumPy unique, JAX's size.
 * Rule    of values: xBar = yBar at the first of equals.
 * Errors  BadInput without a size, which NumPy needs not.
 * @example unique([3, 1, 3], { size: 2 })   // { values: [1, 3], indices: [1, 0], inverse: [1, 0, 1], counts: [1, 2] }
 */
export const unique: UniqueFn = typed((x: unknown, options: FilledSize) => {
  const given = optionsOf(options ?? {}, sizeOption, 'unique')
  const size = sizeGiven(given.size, 'unique')
  const n = lift(x, 'unique')
  const count = n.aval.size
  const filled = (value: number, d = n.dtype): Node => broadcastNode(lift(value, 'unique', d), [size])
  const fill = given.fill === undefined ? undefined : numberOf(given.fill, 'fill', 'unique')
  if (count === 0) {
    const none = asExpr(filled(0, 'i32'))
    return { values: asExpr(filled(fill ?? 0)), indices: none, inverse: asExpr(broadcastNode(constant(0, 'i32'), n.shape)), counts: none }
  }
  const [sorted, order] = sortNodes(flat(n), { axis: 0, descending: false })
  const [later, sooner] = [sliceAxis(sorted, 0, 1, count - 1), sliceAxis(sorted, 0, 0, count - 1)].map(asExpr) as [AnyExpr, AnyExpr]
  const differ = and(ne(later, sooner), not(and(isnan(later), isnan(sooner))))
  const isFirst = concatNode([broadcastNode(constant(1, 'bool'), [1]), asNode(differ)], 0)
  const { places, valid } = truePlaces(isFirst, size)
  const rank = sub(cumsum(asExpr(castNode(isFirst, 'i32'))), 1)
  const values = asExpr(gatherNode(sorted, places, FIRST))
  const counts = segmentsOf('sum', broadcastNode(constant(1, 'i32'), [count]), asNode(rank), size)
  return {
    values: fill === undefined ? values : where(valid, values, asExpr(filled(fill))),
    indices: asExpr(gatherNode(order, places, FIRST)),
    inverse: asExpr(reshapeNode(setAtNode(broadcastNode(constant(0, 'i32'), [count]), order, asNode(rank), FIRST), n.shape)),
    counts: asExpr(counts),
  }
})

const histogramOptions: Names<HistogramOptions> = { bins: true, range: true, weights: true, density: true }
/** The edges of bins: those given, or equally wide ones over a range, x's own unless given. */
const edgesOf = (v: AnyExpr, { bins = 10, range: over }: HistogramOptions): AnyExpr => {
  if (typeof bins !== 'number') {
    const e = liftFloat(bins, 'histogram')
    if (e.shape.length !== 1 || e.shape[0]! < 2)
      raise({
        _tag: 'ShapeMismatch',
        op: 'histogram',
        shapes: [e.shape],
        reason: `edges of ${showShape(e.shape)}.`,
        fix: 'give a vector of two at least, ascending; or a number of bins.',
      })
    return asExpr(e)
  }
  if (!(Number.isInteger(bins) && bins > 0))
    raise({
      _tag: 'BadInput',
      where: 'histogram',
      reason: `${shown(bins)} is not a number of bins.`,
      fix: 'give a positive integer, or edges.',
    })
  const bounds = over === undefined ? undefined : listOf(over, 'range', 'histogram')
  if (bounds !== undefined && !(bounds.length === 2 && bounds.every(Number.isFinite) && (bounds[0] as number) <= (bounds[1] as number)))
    raise({ _tag: 'BadInput', where: 'histogram', reason: `${shown(over)} is not a range.`, fix: 'give [low, high], finite.' })
  // Of nothing the range is that from 0 to 1, as in NumPy.
  const known = bounds ?? (asNode(v).aval.size === 0 ? [0, 1] : undefined)
  const [a, b] = known === undefined ? [min(v), max(v)] : known.map((e) => asExpr(constant(e as number, v.dtype)))
  const isPoint = eq(a!, b!)
  const [low, high] = [where(isPoint, sub(a!, 0.5), a!), where(isPoint, add(b!, 0.5), b!)]
  const i = arange(bins + 1, v.dtype) as AnyExpr
  return where(eq(i, bins), high, add(low, mul(i, div(sub(high, low), bins))))
}

/**
 * How many elements lie in each bin, and the edges of these: counts[i] those in [edges[i], edges[i + 1]), the last edge included. `bins` are a number of
 * equally wide ones (10 unless given) over `range` (from the smallest to the largest element unless given), or their edges. What lies outside is not
 * counted. With `weights` each element counts as its own; with `density` the counts are divided by their sum and the bins' widths.
 *
 * Shapes  any -> counts [bins], edges [bins + 1].   Dtype  counts i32, of weights theirs, of densities float; edges float.
 * Rule    of weights: their bins' cotangents. x and the edges have none.   Source  NumPy histogram.
 * Errors  BadInput for a range or a number of bins that is none; ShapeMismatch for weights or edges that do not fit.
 * @example histogram([1, 2, 2, 5], { bins: 2, range: [0, 4] })   // { counts: [1, 2], edges: [0, 2, 4] }
 */
export const histogram: HistogramFn = typed((x: unknown, options?: HistogramOptions) => {
  const given = optionsOf(options, histogramOptions, 'histogram')
  const v = stopGradient(asExpr(flat(liftFloat(x, 'histogram')))) as unknown as AnyExpr
  const own = stopGradient(edgesOf(v, given)) as unknown as AnyExpr
  const [values, edges] = liftAll([v, own], 'histogram').map(asExpr) as [AnyExpr, AnyExpr]
  const bins = asNode(edges).aval.size - 1
  const last = asExpr(reshapeNode(sliceAxis(asNode(edges), 0, bins, 1), []))
  const bin = where(eq(values, last), bins - 1, sub(searched(edges, values, 'right'), 1))
  const size = asNode(values).aval.size
  const weights = given.weights === undefined ? broadcastNode(constant(1, 'i32'), [size]) : liftNumber(given.weights, 'histogram')
  if (weights.aval.size !== size)
    raise({
      _tag: 'ShapeMismatch',
      op: 'histogram',
      shapes: [weights.shape],
      reason: `${weights.aval.size} weights for ${size} elements.`,
      fix: 'give one for each.',
    })
  const counts = asExpr(segmentsOf('sum', flat(weights), castNode(asNode(bin), 'i32'), bins))
  if (!flagOf(given.density, 'density', 'histogram')) return { counts, edges }
  const width = sub(asExpr(sliceAxis(asNode(edges), 0, 1, bins)), asExpr(sliceAxis(asNode(edges), 0, 0, bins)))
  return { counts: div(div(counts, sum(counts)), width), edges }
})

const bincountOptions: Names<{ readonly size: number; readonly weights?: unknown }> = { size: true, weights: true }

/**
 * How often each of 0, 1, ..., size - 1 comes in x; with `weights` the sum of its elements' weights. Other numbers are not counted.
 *
 * Shapes  any -> [size].   Dtype  i32, of weights theirs.   Rule  of weights: weightsBar_i = yBar at x_i.   Source  NumPy bincount.
 * Errors  BadInput without a size, which NumPy needs not; DTypeMismatch for an x that is not i32; ShapeMismatch for weights that do not fit.
 * @example bincount([1, 1, 3], { size: 4 })   // [0, 2, 0, 1]
 */
export const bincount: BincountFn = typed((x: unknown, options: { readonly size: number; readonly weights?: unknown }): AnyExpr => {
  const { size, weights } = optionsOf(options ?? ({} as never), bincountOptions, 'bincount')
  const i = liftIndices(x, 'bincount')
  if (!(Number.isInteger(size) && size >= 0))
    raise({
      _tag: 'BadInput',
      where: 'bincount',
      reason: size === undefined ? 'the largest number is known only when it runs, and a shape before.' : `${shown(size)} is not a size.`,
      fix: 'give { size }, a whole number.',
    })
  const w = weights === undefined ? broadcastNode(constant(1, 'i32'), i.shape) : liftNumber(weights, 'bincount')
  if (!sameShape(w.shape, i.shape))
    raise({
      _tag: 'ShapeMismatch',
      op: 'bincount',
      shapes: [i.shape, w.shape],
      reason: `weights of ${showShape(w.shape)} for numbers of ${showShape(i.shape)}.`,
      fix: 'give one for each.',
    })
  return asExpr(segmentsOf('sum', flat(w), flat(i), size))
})

const digitizeOptions: Names<{ readonly right?: boolean | undefined }> = { right: true }

/**
 * The bin of each element: i where bins[i - 1] <= x < bins[i], with `right` where bins[i - 1] < x <= bins[i]. The bins ascend.
 *
 * Shapes  x's.   Dtype  i32.   Rule  none: indices have no tangent.   Source  NumPy digitize.
 * Errors  ShapeMismatch unless the bins are a vector.
 * @example digitize([0.5, 2, 9], [1, 2, 3])   // [0, 2, 3]
 */
export const digitize: DigitizeFn = typed((x: unknown, bins: unknown, options?: { readonly right?: boolean }): AnyExpr => {
  const { right } = optionsOf(options, digitizeOptions, 'digitize')
  const [values, edges] = liftAll([x, bins], 'digitize', 'order').map(asExpr) as [AnyExpr, AnyExpr]
  return searched(edges, values, flagOf(right, 'right', 'digitize') ? 'left' : 'right')
})
