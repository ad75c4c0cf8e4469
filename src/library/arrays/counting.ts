/** What has as many places as data decide: here as many as `size` says, the rest filled. And counts: histograms, bins, values that differ. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { flag, integer, type Kind, list, number, type OptionsOf, type ReadOf, raw, wholeNumber } from '../../core/errors/options.js'
import { range, sameShape } from '../../core/graph/shape.js'
import { add, div, maximum, minimum, mul, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { arrayOf, arraysOf, castTo, literal, part, positions, sizeOf } from '../../core/ops/arrays.js'
import { and, eq, ge, isnan, le, lt, ne, not } from '../../core/ops/compare.js'
import { arange } from '../../core/ops/construct.js'
import { concat, stack } from '../../core/ops/joins.js'
import { broadcastTo, reshape } from '../../core/ops/layout/layout.js'
import { array, axis, axisOrFlat, floats, indices, operation, ordered } from '../../core/ops/operation.js'
import { any, max, min, sum } from '../../core/ops/reductions.js'
import type { AnyExpr, Expr, NumberArray } from '../../core/types/expr.js'
import type {
  ArgwhereFn,
  BincountFn,
  BooleanMaskFn,
  CompressFn,
  DigitizeFn,
  HistogramFn,
  NonzeroFn,
  UniqueFn,
} from '../../core/types/signatures/arrays.js'
import { cumsum, gather, searchsorted, setAt, topk } from '../../families/indexing.js'
import { lexsort } from '../statistics/quantiles.js'
import { flatten, moveaxis } from './arrange.js'
import { segmentSum } from './segments.js'

/** The size that is asked for: a shape is known before the data are. */
const sizeOr = (without: string, fix: string) => wholeNumber({}, (n) => (n === undefined ? without : `${shown(n)} is not a size.`), fix)
const size = sizeOr(
  'how many there are depends on the data, but a shape must be known before the program runs.',
  'give { size }, a whole number: the remaining places hold `fill`, and what is beyond it is dropped. NumPy needs none.',
)
const placesOptions = { size, fill: integer(0) }
interface PlacesOptions extends OptionsOf<typeof placesOptions> {}
const filled = (shape: readonly number[], x: number): AnyExpr => broadcastTo(literal(x, 'i32'), shape)

/** The places of the first `count` true elements of a vector, in order; 0 behind them. And which of these places are meant. */
const truePlaces = (mask: AnyExpr, count: number): { readonly places: AnyExpr; readonly valid: AnyExpr } => {
  const n = sizeOf(mask)
  const number = positions([count], 0)
  if (n === 0) return { places: filled([count], 0), valid: lt(number, 0) }
  const running = cumsum(castTo(mask, 'i32'))
  const slot = where(and(mask, lt(running, count + 1)), sub(running, 1), count)
  const all = setAt(filled([count + 1], 0), slot, positions([n], 0))
  const total = gather(running, -1)
  return { places: part(all, 0, 0, count), valid: lt(number, total) }
}
const masked = (x: unknown, op: string): AnyExpr => castTo(arrayOf(x, op), 'bool')

/** For each axis the indices of what is not 0. */
const coordinates = <F>(name: string, made: (columns: readonly AnyExpr[]) => unknown): F =>
  operation(name, { x: array }, placesOptions, ({ x }, { size: count, fill }, op) => {
    if (x.shape.length === 0) badInput(op, 'a number has no axes.', 'atleast1d(x) has one.')
    const { places, valid } = truePlaces(flatten(masked(x, op)), count)
    return made(
      x.shape.map((_, i) => (sizeOf(x) === 0 ? filled([count], fill) : where(valid, gather(flatten(positions(x.shape, i)), places), fill))),
    )
  })

/**
 * Where x is not 0, in row-major order: for each axis a vector of `size` indices. The remaining places hold `fill` (0 unless given).
 *
 * Dtype  i32.   Rule  none: indices have no tangent.   Source  NumPy nonzero, JAX's size.
 * Errors  BadInput without a size, which NumPy does not need: here a shape is known before the data.
 * @example nonzero([0, 5, 0, 7], { size: 3, fill: -1 })   // [[1, 3, -1]]
 */
export const nonzero: NonzeroFn<PlacesOptions> = coordinates('nonzero', (columns) => columns)

/**
 * Where x is not 0, in row-major order, a row of indices for each. The remaining rows hold `fill` (0 unless given).
 *
 * Shapes  [size, rank].   Dtype  i32.   Rule  none: indices have no tangent.   Source  NumPy argwhere, JAX's size.
 * Errors  BadInput without a size, which NumPy does not need.
 * @example argwhere([[0, 1], [1, 0]], { size: 2 })   // [[0, 1], [1, 0]]
 */
export const argwhere: ArgwhereFn<PlacesOptions> = coordinates('argwhere', (columns) => stack(columns, { axis: 1 }))

const chosenOptions = { size, fill: number(0), axis: axis(0) }
interface ChosenOptions extends OptionsOf<typeof chosenOptions> {}
/** The slices of x at the true places of a mask over the axes from `along` on. */
const chosen = (x: AnyExpr, m: AnyExpr, o: ReadOf<typeof chosenOptions>, op: string): AnyExpr => {
  const merged = reshape(x, [...x.shape.slice(0, o.axis), sizeOf(m), ...x.shape.slice(o.axis + m.shape.length)])
  const shape = merged.shape.map((d, i) => (i === o.axis ? o.size : d))
  const empty = arrayOf(o.fill, op, 'any', x.dtype)
  if (sizeOf(m) === 0) return broadcastTo(empty, shape)
  const { places, valid } = truePlaces(flatten(m), o.size)
  const along = reshape(valid, shape.map((d, i) => (i === o.axis ? d : 1))) // biome-ignore format: one row
  return where(along, gather(merged, places, { axis: o.axis }), empty)
}

/**
 * The slices of x where a mask holds, x[mask] in NumPy: `size` of them, the remaining places hold `fill` (0 unless given). The mask is over the
 * axes from `axis` on (the first by default), as many as it has.
 *
 * Shapes  x: [..., m, ...], mask: m -> [..., size, ...].   Dtype  x's.   Rule  xBar = yBar at the slices that were taken.
 * Errors  BadInput without a size, which NumPy does not need; ShapeMismatch for a mask that does not fit.
 * @example booleanMask(tensor([1, 2, 3]), [true, false, true], { size: 3 })   // [1, 3, 0]
 */
export const booleanMask: BooleanMaskFn<ChosenOptions> = operation(
  'booleanMask',
  { x: array, mask: raw() },
  chosenOptions,
  ({ x, mask }, o, op) => {
    const m = masked(mask, op)
    if (m.shape.length === 0 || !sameShape(m.shape, x.shape.slice(o.axis, o.axis + m.shape.length)))
      badShape(
        op,
        [x.shape, m.shape],
        `a mask of ${showShape(m.shape)} does not fit the axes of ${showShape(x.shape)} from ${o.axis} on.`,
        'broadcastTo the mask, or name the axis.',
      )
    return chosen(x, m, o, op)
  },
)

/**
 * The slices of x along an axis (the first by default) where a vector of conditions holds: `size` of them, the remaining places hold `fill`. Slices
 * beyond the conditions are left out.
 *
 * Shapes  x's with `size` along the axis.   Dtype  x's.   Rule  xBar = yBar at the slices that were taken.   Source  NumPy compress.
 * Errors  BadInput without a size, which NumPy does not need; ShapeMismatch unless the conditions are a vector, no longer than the axis.
 * @example compress([true, false, true], tensor([1, 2, 3]), { size: 2 })   // [1, 3]
 */
export const compress: CompressFn<ChosenOptions> = operation(
  'compress',
  { condition: raw(), x: array },
  chosenOptions,
  ({ condition, x }, o, op) => {
    const m = masked(condition, op)
    const length = m.shape[0]
    if (m.shape.length !== 1 || length! > x.shape[o.axis]!)
      badShape(
        op,
        [m.shape, x.shape],
        `conditions of ${showShape(m.shape)} for axis ${o.axis} of ${showShape(x.shape)}.`,
        'give a vector, at most one for each slice.',
      )
    return chosen(part(x, o.axis, 0, length!), m, o, op)
  },
)

const uniqueOptions = {
  /** How many there may be. */
  size,
  /** The value of the remaining places: the smallest value unless given. */
  fill: number(),
  /** The axis along which whole slices are compared; elements of the flattened x unless given. */
  axis: axisOrFlat,
}
interface UniqueOptions extends OptionsOf<typeof uniqueOptions> {}
/** More elements in a slice would be a sort by as many keys. */
const WIDEST = 4096
/** The different slices along an axis: rows that are sorted by all of their elements. */
const uniqueSlices = (x: AnyExpr, axis: number, places: number, fill: number | undefined, op: string) => {
  const front = moveaxis(x, axis, 0) as AnyExpr
  const [n, ...rest] = front.shape as readonly [number, ...number[]]
  const width = rest.reduce((a, d) => a * d, 1)
  if (width > WIDEST) badInput(op, `slices of ${width} elements.`, `compare slices of at most ${WIDEST}.`)
  const rows = reshape(front, [n, width])
  const filledRow = (value: number): AnyExpr => broadcastTo(arrayOf(value, op, 'any', x.dtype), [places, ...rest])
  const back = (y: AnyExpr): AnyExpr => moveaxis(y, 0, axis) as AnyExpr
  if (n === 0) {
    const none = filled([places], 0)
    return { values: back(filledRow(fill ?? 0)), indices: none, inverse: filled([0], 0), counts: none }
  }
  // Without an element all rows are one.
  const keys = range(width).map((j) => reshape(part(rows, 1, width - 1 - j, 1), [n]))
  const order = width === 0 ? positions([n], 0) : (lexsort(keys) as AnyExpr)
  const sorted = gather(rows, order)
  const [later, sooner] = [part(sorted, 0, 1, n - 1), part(sorted, 0, 0, n - 1)]
  const differ = any(and(ne(later, sooner), not(and(isnan(later), isnan(sooner)))), { axis: 1 })
  const isFirst = concat([broadcastTo(literal(1, 'bool'), [1]), differ])
  const first = truePlaces(isFirst, places)
  const rank = sub(cumsum(castTo(isFirst, 'i32')), 1)
  const own = reshape(gather(sorted, first.places), [places, ...rest])
  const valid = reshape(first.valid, [places, ...rest.map(() => 1)])
  return {
    values: back(fill === undefined ? own : where(valid, own, filledRow(fill))),
    indices: gather(order, first.places),
    inverse: setAt(filled([n], 0), order, rank),
    counts: segmentSum(filled([n], 1), rank, places),
  }
}
/**
 * The distinct values of x in ascending order, with the index of the first occurrence of each in the flattened x, the index of the value of each element, and the
 * counts. `size` is how many there may be: the remaining places hold `fill` (the smallest value unless given), and counts there are 0. All NaN are one value, the
 * last.
 *
 * Shapes  values, indices, counts: [size]; inverse: x's.   Dtype  x's; the others i32.   Source  NumPy unique, JAX's size. With `axis`, slices along it are
 *         compared, by their first elements, then by their second ...: values have `size` of them along the axis, inverse is [n].
 *
 * Rule    of values: xBar = yBar at the first of equal elements.
 * Errors  BadInput without a size, which NumPy does not need.
 * @example unique([3, 1, 3], { size: 2 })   // { values: [1, 3], indices: [1, 0], inverse: [1, 0, 1], counts: [1, 2] }
 */
export const unique: UniqueFn<UniqueOptions> = operation(
  'unique',
  { x: array },
  uniqueOptions,
  ({ x }, { size: places, fill, axis }, op) => {
    if (axis !== undefined) return uniqueSlices(x, axis, places, fill, op)
    const count = sizeOf(x)
    const full = (value: number): AnyExpr => broadcastTo(arrayOf(value, op, 'any', x.dtype), [places])
    if (count === 0) {
      const none = filled([places], 0)
      return { values: full(fill ?? 0), indices: none, inverse: filled(x.shape, 0), counts: none }
    }
    const { values: sorted, indices: order } = topk(flatten(x), count, { largest: false })
    const [later, sooner] = [part(sorted, 0, 1, count - 1), part(sorted, 0, 0, count - 1)]
    const differ = and(ne(later, sooner), not(and(isnan(later), isnan(sooner))))
    const isFirst = concat([broadcastTo(literal(1, 'bool'), [1]), differ])
    const first = truePlaces(isFirst, places)
    const rank = sub(cumsum(castTo(isFirst, 'i32')), 1)
    const values = gather(sorted, first.places)
    return {
      values: fill === undefined ? values : where(first.valid, values, full(fill)),
      indices: gather(order, first.places),
      inverse: reshape(setAt(filled([count], 0), order, rank), x.shape),
      counts: segmentSum(filled([count], 1), rank, places),
    }
  },
)

/** The edges of bins: those given, or equally wide ones over a range, x's own unless given. */
const edgesOf = (v: AnyExpr, bins: unknown, over: readonly unknown[] | undefined, op: string): AnyExpr => {
  if (typeof bins !== 'number') {
    const e = arrayOf(bins, op, 'float')
    return e.shape.length === 1 && e.shape[0]! >= 2
      ? e
      : badShape(op, [e.shape], `edges of ${showShape(e.shape)}.`, 'give an ascending vector of at least two edges, or a number of bins.')
  }
  if (!(Number.isInteger(bins) && bins > 0)) badInput(op, `${shown(bins)} is not a number of bins.`, 'give a positive integer, or edges.')
  if (over !== undefined && !(over.length === 2 && over.every(Number.isFinite) && (over[0] as number) <= (over[1] as number)))
    badInput(op, `${shown(over)} is not a range.`, 'give [low, high], finite.')
  // Of nothing the range is that from 0 to 1, as in NumPy.
  const known = over ?? (sizeOf(v) === 0 ? [0, 1] : undefined)
  const [a, b] = known === undefined ? [min(v), max(v)] : known.map((e) => literal(e as number, v.dtype))
  const isPoint = eq(a!, b!)
  const [low, high] = [where(isPoint, sub(a!, 0.5), a!), where(isPoint, add(b!, 0.5), b!)]
  const i = arange(bins + 1, v.dtype) as AnyExpr
  return where(eq(i, bins), high, add(low, mul(i, div(sub(high, low), bins))))
}

/** The bin of each value among equally wide ones: where division says, or a bin beside, as the edges say; `bins` for what lies outside, and NaN. Source: NumPy. */
const binAmongEqual = (values: AnyExpr, edges: AnyExpr, bins: number): AnyExpr => {
  const [low, high] = [gather(edges, 0), gather(edges, -1)]
  const near = castTo(mul(sub(values, low), div(bins, sub(high, low))), 'i32')
  const i = maximum(minimum(near, bins - 1), 0)
  const sooner = castTo(lt(values, gather(edges, i)), 'i32')
  const later = castTo(and(ge(values, gather(edges, add(i, 1))), lt(i, bins - 1)), 'i32')
  return where(and(ge(values, low), le(values, high)), add(sub(i, sooner), later), bins)
}

const histogramOptions = {
  bins: raw<number | Expr | readonly number[], 10>(10),
  range: list<number>() as Kind<readonly number[] | undefined, readonly [number, number]>,
  weights: raw<Expr | NumberArray>(),
  density: flag(),
}
interface HistogramOptions extends OptionsOf<typeof histogramOptions> {}
/**
 * The number of elements in each bin, and the edges of the bins: counts[i] is for [edges[i], edges[i + 1]), the last edge included. `bins` is a number
 * of bins of equal width (10 unless given) over `range` (from the smallest to the largest element unless given), or their edges. Elements outside are
 * not counted. With `weights` each element counts by its weight; with `density` the counts are divided by their sum and the widths of the bins.
 *
 * Shapes  any -> counts [bins], edges [bins + 1].   Dtype  counts i32, with weights theirs, with density float; edges float.
 * Rule    of weights: their bins' cotangents. x and the edges have none.   Source  NumPy histogram.
 * Errors  BadInput for an invalid range or number of bins; ShapeMismatch for weights or edges that do not fit.
 * @example histogram([1, 2, 2, 5], { bins: 2, range: [0, 4] })   // { counts: [1, 2], edges: [0, 2, 4] }
 */
export const histogram: HistogramFn<HistogramOptions> = operation('histogram', { x: floats }, histogramOptions, ({ x }, o, op) => {
  const v = stopGradient(flatten(x)) as AnyExpr
  const [values, edges] = arraysOf([v, stopGradient(edgesOf(v, o.bins, o.range, op))], op) as [AnyExpr, AnyExpr]
  const bins = sizeOf(edges) - 1
  const bin =
    typeof o.bins === 'number'
      ? binAmongEqual(values, edges, bins)
      : where(eq(values, gather(edges, -1)), bins - 1, sub(searchsorted(edges as never, values, { side: 'right' }), 1))
  const size = sizeOf(values)
  const weights = o.weights === undefined ? filled([size], 1) : arrayOf(o.weights, op, 'number')
  if (sizeOf(weights) !== size) badShape(op, [weights.shape], `${sizeOf(weights)} weights for ${size} elements.`, 'give one for each.')
  const counts = segmentSum(flatten(weights), bin, bins)
  if (!o.density) return { counts, edges }
  const width = sub(part(edges, 0, 1, bins), part(edges, 0, 0, bins))
  return { counts: div(div(counts, sum(counts)), width), edges }
})

const bins = sizeOr(
  'the largest number is known only when the program runs, but a shape must be known before.',
  'give { size }, a whole number.',
)
const bincountOptions = { size: bins, weights: raw<Expr | NumberArray>() }
interface BincountOptions extends OptionsOf<typeof bincountOptions> {}

/**
 * How often each of 0, 1, ..., size - 1 occurs in x; with `weights`, the sum of the weights of its elements. Other numbers are not counted.
 *
 * Shapes  any -> [size].   Dtype  i32, with weights theirs.   Rule  of weights: weightsBar_i = yBar at x_i.   Source  NumPy bincount.
 * Errors  BadInput without a size, which NumPy does not need; DTypeMismatch for an x that is not i32; ShapeMismatch for weights that do not
 *         fit.
 * @example bincount([1, 1, 3], { size: 4 })   // [0, 2, 0, 1]
 */
export const bincount: BincountFn<BincountOptions> = operation('bincount', { x: indices }, bincountOptions, ({ x }, o, op) => {
  const w = o.weights === undefined ? filled(x.shape, 1) : arrayOf(o.weights, op, 'number')
  if (!sameShape(w.shape, x.shape))
    badShape(op, [x.shape, w.shape], `weights of ${showShape(w.shape)} for numbers of ${showShape(x.shape)}.`, 'give one for each.')
  return segmentSum(flatten(w), flatten(x) as AnyExpr, o.size)
})

const digitizeOptions = { right: flag() }
interface DigitizeOptions extends OptionsOf<typeof digitizeOptions> {}
/**
 * The bin of each element: i where bins[i - 1] <= x < bins[i], with `right` where bins[i - 1] < x <= bins[i]. The bins ascend.
 *
 * Shapes  x's.   Dtype  i32.   Rule  none: indices have no tangent.   Source  NumPy digitize.
 * Errors  ShapeMismatch unless the bins are a vector.
 * @example digitize([0.5, 2, 9], [1, 2, 3])   // [0, 2, 3]
 */
export const digitize: DigitizeFn<DigitizeOptions> = operation(
  'digitize',
  { x: ordered, bins: ordered },
  digitizeOptions,
  ({ x, bins }, { right }) => searchsorted(bins as never, x, { side: right ? 'left' : 'right' }),
)
