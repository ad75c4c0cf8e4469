/** Layout of one array: broadcastTo, reshape, transpose, expandDims, squeeze, slice, pad, flip, roll. */

import { listOf, settled, shown } from '../../errors/check-arguments.js'
import { badInput, badShape, showShape } from '../../errors/explain.js'
import { reading } from '../../errors/language.js'
import { kind, type OptionsOf, raw, readOptions } from '../../errors/options.js'
import { shapeGiven } from '../../graph/aval.js'
import { castNode } from '../../graph/cast.js'
import { asExpr, asNode, isExpr, type Node } from '../../graph/expr.js'
import { lift } from '../../graph/lift.js'
import { typed } from '../../graph/operation.js'
import { range, sameShape } from '../../graph/shape.js'
import type { AnyExpr } from '../../types/expr.js'
import type { PadWidths } from '../../types/shape-index.js'
import type {
  BroadcastToFn,
  ExpandDimsFn,
  FlipFn,
  PadFn,
  PadMode,
  ReshapeFn,
  RollFn,
  SliceFn,
  SqueezeFn,
  TransposeFn,
} from '../../types/signatures/layout.js'
import { array, axesInOrder, declares, operation } from '../operation.js'
import { concatNode } from './join.js'
import { axesIn, broadcastNode, distinctAxes, reshapeNode, squeezeOptions, swapLast, transposeNode } from './move.js'
import { padded, padOptions } from './pad-modes.js'
import { padNode, partOfAxis, sliceAxis, sliceNode } from './slice.js'

const flipOptions = {
  /** One or more; all of them where it is absent or null. */
  axis: axesInOrder(),
}
/** Options of `flip`. */
interface FlipOptions extends OptionsOf<typeof flipOptions> {}
/**
 * x reversed along the axes (all by default).
 *
 * Rule    xBar = yBar reversed.
 * Errors  BadInput for an axis out of range or named twice.
 * @example flip([1, 2, 3])   // [3, 2, 1]
 */
export const flip: FlipFn<FlipOptions> = operation('flip', { x: array }, flipOptions, ({ x }, { axis }) => {
  const n = asNode(x)
  const turned = (i: number, d: number): boolean => axis.includes(i) && d > 1
  return asExpr(
    sliceNode(n, {
      starts: n.shape.map((d, i) => (turned(i, d) ? d - 1 : 0)),
      sizes: n.shape,
      strides: n.shape.map((d, i) => (turned(i, d) ? -1 : 1)),
    }),
  )
})

const rollOptions = {
  /** One or more; the flattened array where it is absent or null. */
  axis: kind<readonly number[] | undefined, number | readonly number[] | null>((given, _what, op, shape) =>
    given === undefined || given === null ? undefined : axesIn(given as number, shape.length, op),
  ),
}
/** Options of `roll`. */
interface RollOptions extends OptionsOf<typeof rollOptions> {}
/**
 * x rotated by `shift` places along an axis, or along each of several; without an axis the flattened array is rotated.
 * Element i goes to i + shift, modulo the length.
 *
 * Rule    xBar = yBar rotated by -shift.
 * Errors  BadInput for an axis out of range, a fractional shift, or unless there is a shift for each axis.
 * @example roll(tensor([1, 2, 3]), 1)   // [3, 1, 2]
 */
export const roll: RollFn<RollOptions> = operation(
  'roll',
  { x: array, shift: raw<number | readonly number[]>() },
  rollOptions,
  ({ x, shift }, { axis }) => {
    const n = asNode(x)
    const given = Array.isArray(shift) ? (shift as readonly number[]) : [shift as number]
    const flat = axis === undefined
    const axes = axis ?? [0]
    const shifts = given.length === 1 ? axes.map(() => given[0]!) : given
    if (shifts.length !== axes.length || !shifts.every(Number.isInteger) || given.includes(undefined as never))
      badInput(
        'roll',
        `shifts ${shown(given)} do not fit ${axes.length} ${axes.length === 1 ? 'axis' : 'axes'}.`,
        `give one whole number, or one per axis.`,
      )
    const start = flat ? reshapeNode(n, [n.aval.size]) : n
    const rolled = axes.reduce((y, a, i) => {
      const d = y.shape[a]!
      const k = d === 0 ? 0 : ((shifts[i]! % d) + d) % d
      return k === 0 ? y : concatNode([sliceAxis(y, a, d - k, k), sliceAxis(y, a, 0, d - k)], a)
    }, start)
    return asExpr(reshapeNode(rolled, n.shape))
  },
)

/**
 * x repeated along new leading axes and along axes of length 1.
 *
 * Shapes  x: broadcastable to shape -> shape.   Dtype  x's.
 * Rule    dy = broadcast dx; xBar = yBar summed over the repeated axes.   Source  NumPy broadcasting.
 * Errors  ShapeMismatch when x does not broadcast to shape; BadInput for an invalid shape.
 * @example broadcastTo([1, 2], [2, 2])   // [[1, 2], [1, 2]]
 */
export const broadcastTo: BroadcastToFn = typed(
  (x: unknown, shape: readonly number[]): AnyExpr => asExpr(broadcastNode(lift(x, 'broadcastTo'), shapeGiven(shape, 'broadcastTo'))),
)

/**
 * The same elements in row-major order under another shape; one axis may be -1.
 *
 * Rule    dy = reshape dx; xBar = yBar in x's shape.
 * Errors  ShapeMismatch when the sizes differ; BadInput for an invalid shape.
 * @example reshape([[1, 2], [3, 4]], [4])   // [1, 2, 3, 4]
 */
export const reshape: ReshapeFn = typed((x: unknown, shape: readonly number[]): AnyExpr => {
  const n = lift(x, 'reshape')
  shapeGiven(shape, 'reshape')
  const unknown = shape.indexOf(-1)
  if (unknown < 0) return asExpr(reshapeNode(n, shape))
  const rest = shape.reduce((a, d, i) => (i === unknown ? a : a * d), 1)
  const d = n.aval.size / rest
  if (rest === 0 && n.aval.size === 0)
    badInput(
      'reshape',
      `${showShape(shape)} is ambiguous: any length fits in the place of -1 beside an axis of 0.`,
      'write the length out.',
    )
  if (!Number.isInteger(d) || shape.indexOf(-1, unknown + 1) >= 0 || rest === 0)
    badShape(
      'reshape',
      [n.shape, shape],
      `${showShape(n.shape)} does not divide into ${showShape(shape)}.`,
      `at most one axis may be -1, and the others must divide ${n.aval.size}.`,
    )
  return asExpr(
    reshapeNode(
      n,
      shape.map((s, i) => (i === unknown ? d : s)),
    ),
  )
})

/**
 * Axes permuted; without `axes` the last two are swapped (a matrix transpose, batched).
 *
 * Rule    dy = transpose dx; xBar = yBar with the inverse permutation.
 * Errors  BadInput when axes is not a permutation; ShapeMismatch below rank 2 without axes.
 * @example transpose([[1, 2, 3]])   // [[1], [2], [3]]
 */
export const transpose: TransposeFn = typed((x: unknown, axes?: readonly number[]): AnyExpr => {
  const n = lift(x, 'transpose')
  const rank = n.shape.length
  if (axes === undefined) {
    if (rank < 2) badShape('transpose', [n.shape], `needs rank 2 or more, got ${showShape(n.shape)}.`, `expandDims first.`)
    return asExpr(swapLast(n))
  }
  listOf(axes, 'axes', 'transpose')
  return asExpr(transposeNode(n, axesIn(axes, rank, 'transpose')))
})

/**
 * New axes of length 1 at the positions `axis` of the result.
 *
 * Rule    xBar = yBar in x's shape.
 * Errors  BadInput for an axis out of range or named twice.
 * @example expandDims([1, 2], 0)   // [[1, 2]]
 */
export const expandDims: ExpandDimsFn = typed((x: unknown, given: number | readonly number[]): AnyExpr => {
  const axis = settled(given, 'axis', 'expandDims')
  const n = lift(x, 'expandDims')
  const rank = n.shape.length + (Array.isArray(axis) ? axis.length : 1)
  const at = distinctAxes(axis, rank, 'expandDims')
  const rest = [...n.shape]
  return asExpr(
    reshapeNode(
      n,
      range(rank).map((i) => (at.includes(i) ? 1 : rest.shift()!)),
    ),
  )
})

/**
 * x without its axes of length 1, or without those named: `squeeze(x, 0)`, or `squeeze(x, { axis: 0 })` as other operations have it.
 *
 * Rule    xBar = yBar in x's shape.
 * Errors  BadInput when a named axis is not 1.
 * @example squeeze([[1, 2]])   // [1, 2]
 * @example squeeze([[[1, 2]]], { axis: [0, 1] })   // [1, 2]
 */
export const squeeze: SqueezeFn = typed((x: unknown, given?: unknown): AnyExpr => {
  const n = lift(x, 'squeeze')
  const axes = readOptions(
    squeezeOptions,
    typeof given === 'number' || reading('squeeze: axis', () => Array.isArray(given)) ? { axis: given } : given,
    'squeeze',
    n.shape,
  ).axis
  for (const a of axes) if (n.shape[a] !== 1) badInput('squeeze', `axis ${a} of ${showShape(n.shape)} is ${n.shape[a]}, not 1.`)
  return asExpr(
    reshapeNode(
      n,
      n.shape.filter((_, i) => !axes.includes(i)),
    ),
  )
})

/**
 * x[starts:ends:strides] along each leading axis, Python's way: negative positions count from the end, positions are clipped. An end that
 * is null or left out reads to the end of the axis (with a negative stride down to the first element), a start of null from its beginning.
 *
 * Shapes  axes beyond starts are kept whole.   Dtype  x's.
 * Rule    xBar = yBar written into zeros at those positions.
 * Errors  BadInput for a stride of 0 or more positions than axes.
 * @example slice(tensor([1, 2, 3, 4]), [1], [3])   // [2, 3]
 */
export const slice: SliceFn = typed((x: unknown, starts: Positions, ends?: Positions, strides?: readonly number[]): AnyExpr => {
  const n = lift(x, 'slice')
  const shape = n.shape
  const from = listOf(starts, 'starts', 'slice') as Positions
  const to = ends === undefined ? from.map(() => null) : (listOf(ends, 'ends', 'slice') as Positions)
  const by = strides === undefined ? from.map(() => 1) : (listOf(strides, 'strides', 'slice') as readonly number[])
  const isPosition = (p: number | null): boolean => p === null || Number.isInteger(p) || p === Infinity || p === -Infinity
  const isStep = (s: number): boolean => Number.isInteger(s) && s !== 0
  if (
    from.length > shape.length ||
    to.length !== from.length ||
    by.length !== from.length ||
    !from.every(isPosition) ||
    !to.every(isPosition) ||
    !by.every(isStep)
  )
    badInput(
      'slice',
      `starts ${shown(starts)}, ends ${shown(ends ?? [])}, strides ${shown(strides ?? [])} do not fit ${showShape(shape)}.`,
      `give as many whole ends (and non-zero strides) as starts, at most one per axis; null is the end of the axis.`,
    )
  const parts = shape.map((d, i) => partOfAxis(from[i] ?? undefined, to[i] ?? undefined, by[i] ?? 1, d))
  return asExpr(sliceNode(n, { starts: parts.map((p) => p.start), sizes: parts.map((p) => p.size), strides: parts.map((p) => p.stride) }))
})
type Positions = readonly (number | null)[]

const isPair = (w: unknown): w is readonly [number, number] =>
  Array.isArray(w) && w.length === 2 && typeof w[0] === 'number' && typeof w[1] === 'number'
const showWidths = (widths: readonly (number | readonly [number, number])[]): string =>
  showShape(widths.map((w) => (typeof w === 'number' ? w : `[${w.join(',')}]`)))

/** What stands behind the widths: options, or the value itself. */
const paddingOf = (given: unknown): { readonly mode: PadMode; readonly value: unknown } => {
  const isOptions = (): boolean =>
    typeof given === 'object' && given !== null && !isExpr(given) && ('mode' in given || Object.getPrototypeOf(given) === Object.prototype)
  if (given === undefined || !reading('pad', isOptions)) return { mode: 'constant', value: given ?? 0 }
  const { mode, value } = readOptions(padOptions, given, 'pad')
  if (value !== undefined && mode !== 'constant')
    badInput('pad', `mode ${shown(mode)} has no value: it reads x.`, 'leave the value out, or the mode.')
  return { mode, value: value ?? 0 }
}

/**
 * x with `widths[i] = [before, after]` entries added along axis i; a number stands for both ends. They are `value`, 0 unless given; or by `mode` the nearest element ('edge'), x
 * mirrored at its ends without them ('reflect') or with them ('symmetric'), x again ('wrap'). A negative width removes entries, after all padding.
 *
 * Shapes  axes beyond widths are kept; one number alone pads every axis.   Dtype  x's; value is cast to it.
 * Rule    xBar = yBar without the padding; valueBar = the sum of yBar over the padding. By mode each place's cotangent goes to what it reads.
 * Errors  BadInput for widths that take more than there is, more widths than axes, an unknown mode, and an empty axis that a mode would read.
 * @example
 * pad(tensor([1, 2]), [[1, 0]])                          // [0, 1, 2]
 * pad(tensor([1, 2, 3]), [[2, 1]], { mode: 'reflect' })  // [3, 2, 1, 2, 3, 2]
 * pad(tensor([1, 2, 3]), [[-1, 1]])                      // [2, 3, 0]
 */
export const pad: PadFn = declares(
  { name: 'pad', args: {}, options: padOptions },
  (x: unknown, widths: PadWidths, how?: unknown): AnyExpr => {
    const n = lift(x, 'pad')
    const { mode, value } = paddingOf(how)
    const list =
      typeof widths === 'number' ? n.shape.map(() => widths) : (listOf(settled(widths, 'widths', 'pad'), 'widths', 'pad') as typeof widths)
    const given = Array.from(list, (w) => (typeof w === 'number' ? ([w, w] as const) : w))
    if (
      given.length > n.shape.length ||
      !Number.isInteger(typeof widths === 'number' ? widths : 0) ||
      !given.every((w, i) => isPair(w) && w.every(Number.isInteger) && n.shape[i]! + w[0] + w[1] >= 0)
    )
      badInput(
        'pad',
        `widths ${typeof widths !== 'number' && given.every(isPair) ? showWidths(widths) : shown(widths)} do not fit ${showShape(n.shape)}.`,
        `one [before, after] of integers per axis, [[1, 2]] for a vector; negative ones take at most what is there.`,
      )
    const ends = given.map(([before, after]) => [Math.max(0, before), Math.max(0, after)] as const)
    const cropped = (y: Node): AnyExpr => {
      const starts = n.shape.map((_, i) => Math.max(0, -(given[i]?.[0] ?? 0)))
      const sizes = n.shape.map((d, i) => d + (given[i] ?? [0, 0]).reduce((k, w) => k + w, 0))
      return asExpr(sameShape(sizes, y.shape) ? y : sliceNode(y, { starts, sizes, strides: starts.map(() => 1) }))
    }
    const at = (i: number) => ends[i] ?? ([0, 0] as const)
    if (ends.every(([a, b]) => a === 0 && b === 0)) return cropped(n)
    if (mode !== 'constant') return cropped(padded(n, ends, mode))
    return cropped(
      padNode(
        n,
        n.shape.map((_, i) => at(i)[0]),
        n.shape.map((d, i) => at(i)[0] + d + at(i)[1]),
        n.shape.map(() => 1),
        castNode(lift(value, 'pad', n.dtype), n.dtype),
      ),
    )
  },
)
