/** Arrays joined, cut and repeated: concat, split, stack, unstack, tile, repeat. */

import { integersOf, listOf, settled, shown } from '../errors/check-arguments.js'
import { badInput, badShape, showShape } from '../errors/explain.js'
import { integer, kind, type OptionsOf } from '../errors/options.js'
import { asExpr, asNode, type Node } from '../graph/expr.js'
import { lift, liftAll } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { MAX_SIZE, sameShape } from '../graph/shape.js'
import { makeTensor } from '../graph/tensor.js'
import type { AnyExpr } from '../types/expr.js'
import type { ConcatFn, RepeatFn, SplitFn, StackFn, TileFn, UnstackFn } from '../types/signatures/layout.js'
import { cumsum } from './along-axis.js'
import { arange } from './construct.js'
import { gatherNode } from './indexing/gather.js'
import { searchsorted } from './indexing/indexing.js'
import { concatNode, splitNode } from './layout/join.js'
import { axisOf, broadcastNode, reshapeNode } from './layout/move.js'
import { picked } from './layout/pad-modes.js'
import { array, axis, laterAxis, operation, unread } from './operation.js'

/** Arrays in a list, of one dtype; raises BadInput where there are none. */
const arraysTo = (done: string) =>
  kind<Node[], unknown>((xs, _what, op) => {
    const list = listOf(xs, 'the first argument', op)
    if (list.length === 0) badInput(op, `nothing to ${done}.`, 'pass at least one array.')
    return liftAll(Array.from(list), op)
  })

/**
 * Arrays joined along an axis (the first by default).
 *
 * Rule    xBar_i = the part of yBar that came from x_i.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays or an axis out of range.
 * @example concat([[1, 2], [3]])   // [1, 2, 3]
 */
export const concat: ConcatFn = operation('concat', { xs: arraysTo('concatenate') }, { axis: laterAxis(0) }, ({ xs }, { axis: at }, op) =>
  asExpr(concatNode(xs, axisOf(at, xs[0]!.shape.length, op))),
)

/**
 * x cut along an axis (the first by default) into n equal parts, or parts of the given sizes.
 *
 * Rule    xBar = concat of the parts' cotangents: one buffer, no zero fills.
 * Errors  ShapeMismatch when n does not divide the axis or the sizes do not add up to it; BadInput for an axis out of range.
 * @example split(tensor([1, 2, 3, 4]), 2)   // [[1, 2], [3, 4]]
 */
export const split: SplitFn = operation('split', { x: array, parts: unread }, { axis: axis(0) }, ({ x, parts }, { axis: at }) => {
  const n = asNode(x)
  const d = n.shape[at]!
  if (typeof parts === 'number' && !(Number.isInteger(parts) && parts > 0 && parts <= MAX_SIZE && d % parts === 0))
    badShape('split', [n.shape], `${parts} equal parts do not divide axis ${at} of ${showShape(n.shape)}.`, `give the sizes.`)
  const sizes = typeof parts === 'number' ? new Array<number>(parts).fill(d / parts) : integersOf(parts, 'parts', 'split')
  return splitNode(n, at, sizes).map(asExpr)
})

/**
 * Arrays of one shape joined along a new axis (the first by default).
 *
 * Rule    xBar_i = the i-th slice of yBar.
 * Errors  ShapeMismatch when shapes differ; BadInput for no arrays or an axis out of range.
 * @example stack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const stack: StackFn = operation('stack', { xs: arraysTo('stack') }, { axis: laterAxis(0) }, ({ xs }, o, op) => {
  const shape = xs[0]!.shape
  for (const n of xs)
    if (!sameShape(n.shape, shape))
      badShape(
        'stack',
        xs.map((m) => m.shape),
        `${showShape(shape)} and ${showShape(n.shape)} differ.`,
        `stack joins arrays of the same shape; use concat otherwise.`,
      )
  const at = axisOf(o.axis, shape.length + 1, op)
  return asExpr(
    concatNode(
      xs.map((n) => reshapeNode(n, [...shape.slice(0, at), 1, ...shape.slice(at)])),
      at,
    ),
  )
})

/**
 * The slices of x along an axis (the first by default), without that axis.
 *
 * Rule    xBar = the slices' cotangents, stacked.
 * Errors  BadInput for an axis out of range.
 * @example unstack(tensor([[1, 2], [3, 4]]))   // [[1, 2], [3, 4]]
 */
export const unstack: UnstackFn = operation('unstack', { x: array }, { axis: axis(0) }, ({ x }, { axis: at }) => {
  const n = asNode(x)
  const rest = n.shape.filter((_, i) => i !== at)
  return splitNode(n, at, new Array<number>(n.shape[at]!).fill(1)).map((y) => asExpr(reshapeNode(y, rest)))
})

/**
 * x repeated as a whole `reps[i]` times along each axis; a number is for the last axis.
 *
 * Rule    xBar = the sum of yBar's copies.
 * Errors  BadInput unless reps are non-negative integers.
 * @example tile(tensor([1, 2]), [2])   // [1, 2, 1, 2]
 */
export const tile: TileFn = typed((x: unknown, reps: number | readonly number[], more: unknown = undefined): AnyExpr => {
  if (more !== undefined) badInput('tile', `${shown(more)} is given after reps.`, 'write a list: tile(x, [2, 3]).')
  const n = lift(x, 'tile')
  const given = settled(reps, 'reps', 'tile')
  const list = Array.isArray(given) ? integersOf(given, 'reps', 'tile') : [given as number]
  const rank = Math.max(n.shape.length, list.length)
  const shape = [...new Array<number>(rank - n.shape.length).fill(1), ...n.shape]
  const r = [...new Array<number>(rank - list.length).fill(1), ...list]
  if (r.some((k) => !Number.isInteger(k) || k < 0)) badInput('tile', `reps ${shown(list)} must be non-negative integers.`)
  const wide = reshapeNode(
    n,
    shape.flatMap((d) => [1, d]),
  )
  return asExpr(
    reshapeNode(
      broadcastNode(
        wide,
        shape.flatMap((d, i) => [r[i]!, d]),
      ),
      shape.map((d, i) => d * r[i]!),
    ),
  )
})

/** x with its i-th slice counts[i] times; of counts that are computed `length` says how many places there are: what is missing is the last slice. */
const repeatedBy = (x: Node, given: unknown, axis: number, length: number | undefined): AnyExpr => {
  const d = x.shape[axis]!
  const known = Array.isArray(given) ? integersOf(given, 'counts', 'repeat') : undefined
  const node = known === undefined ? lift(given, 'repeat') : undefined
  const own = known === undefined ? node!.shape : [known.length]
  if (own.length !== 1 || own[0] !== d || known?.some((k) => k < 0) === true || (node !== undefined && node.dtype !== 'i32'))
    badInput(
      'repeat',
      `counts ${shown(given)} are not one for each of the ${d} slices along axis ${axis}.`,
      'give as many whole numbers, none negative (i32 where they are computed).',
    )
  if (known !== undefined && (length === undefined || length === known.reduce((a, k) => a + k, 0)))
    return asExpr(
      picked(
        x,
        axis,
        known.flatMap((k, i) => new Array<number>(k).fill(i)),
      ),
    )
  if (length === undefined)
    badInput(
      'repeat',
      'the length of the result depends on computed counts, but a shape must be known before the program runs.',
      'give { totalLength }, a whole number; NumPy needs none.',
    )
  const ends = cumsum(known === undefined ? asExpr(node!) : asExpr(makeTensor(known, undefined, 'i32').node))
  const starts = asNode(searchsorted(ends as never, arange(length, 'i32'), { side: 'right' }))
  return asExpr(gatherNode(x, starts, { axis, batchDims: 0 }))
}

const repeatOptions = {
  /** The axis along which it works: the first unless given. */
  axis: axis(0),
  /** The length of the result, if counts are computed. */
  totalLength: integer(undefined, { from: 0 }),
}
/** Options of `repeat`. */
interface RepeatOptions extends OptionsOf<typeof repeatOptions> {}
/**
 * Each element of x repeated `times` times along an axis (the first by default); `times` may be a list, a count for each. Computed counts
 * (i32) need `totalLength`: a shorter result is filled with the last element, a longer one is cut off.
 *
 * Rule    xBar = the sum of yBar over each element's copies.
 * Errors  BadInput unless times is a non-negative integer, or one for each element; and for computed counts without `totalLength`.
 * @example
 * repeat(tensor([1, 2]), 2)        // [1, 1, 2, 2]
 * repeat(tensor([1, 2]), [1, 3])   // [1, 2, 2, 2]
 */
export const repeat: RepeatFn<RepeatOptions> = operation('repeat', { x: array, times: unread }, repeatOptions, ({ x, times: given }, o) => {
  const n = asNode(x)
  if (typeof given === 'object') return repeatedBy(n, settled(given, 'counts', 'repeat'), o.axis, o.totalLength)
  const times = given as number
  if (!Number.isInteger(times) || times < 0) badInput('repeat', `${shown(times)} is not a number of repetitions.`)
  const at = (k: number): number[] => [...n.shape.slice(0, o.axis + 1), k, ...n.shape.slice(o.axis + 1)]
  return asExpr(
    reshapeNode(
      broadcastNode(reshapeNode(n, at(1)), at(times)),
      n.shape.map((d, i) => (i === o.axis ? d * times : d)),
    ),
  )
})
