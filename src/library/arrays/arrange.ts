/** Arrays arranged anew: axes moved, ranks raised, joins by NumPy's names, turns, blocks. */

import { integersOf, listOf, shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { greatestOf } from '../../core/errors/extremes.js'
import { reading } from '../../core/errors/language.js'
import { integer, kind, type OptionsOf, raw, wholeNumber } from '../../core/errors/options.js'
import { typed } from '../../core/graph/operation.js'
import { range } from '../../core/graph/shape.js'
import { arrayOf, arraysOf, sizeOf } from '../../core/ops/arrays.js'
import { concat, split } from '../../core/ops/joins.js'
import { flip, reshape, transpose } from '../../core/ops/layout/layout.js'
import { axisOf, distinctAxes } from '../../core/ops/layout/move.js'
import { array, axis, operation } from '../../core/ops/operation.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  ArraySplitFn,
  AtLeastFn,
  BlockFn,
  FlattenFn,
  JoinFn,
  MoveAxisFn,
  Rot90Fn,
  SameShapeFn,
  SwapAxesFn,
} from '../../core/types/signatures/arrays.js'

/** Axes that must be given, and one. */
const someAxes = kind<readonly number[]>((given, _what, op, shape) => distinctAxes(given as number | readonly number[], shape.length, op))
const oneAxis = kind<number>((given, _what, op, shape) => axisOf(given as number, shape.length, op))

/**
 * x with axes moved: source[i] goes to destination[i], and the others keep their order.
 *
 * Dtype  x's.   Rule  xBar = yBar with its axes moved back.   Source  NumPy moveaxis.
 * Errors  BadInput for an axis out of range or named twice, or lists that differ in length.
 * @example moveaxis(zeros([2, 3, 4]), 0, -1).shape   // [3, 4, 2]
 */
export const moveaxis: MoveAxisFn = operation(
  'moveaxis',
  { x: array, source: someAxes, destination: someAxes },
  {},
  ({ x, source, destination }, _, op) => {
    if (source.length !== destination.length)
      badInput(op, `${source.length} axes do not go to ${destination.length} places.`, 'give one place for each axis.')
    const axes = range(x.shape.length)
    const rest = axes.filter((a) => !source.includes(a))
    return transpose(
      x,
      axes.map((place) => (destination.includes(place) ? source[destination.indexOf(place)]! : rest.shift()!)),
    )
  },
)

/**
 * Two axes exchanged.
 *
 * Dtype  x's.   Rule  xBar = yBar with the two exchanged.   Source  NumPy swapaxes.
 * Errors  BadInput for an axis out of range.
 * @example swapaxes(zeros([2, 3, 4]), 0, 2).shape   // [4, 3, 2]
 */
export const swapaxes: SwapAxesFn = operation('swapaxes', { x: array, a: oneAxis, b: oneAxis }, {}, ({ x, a, b }) =>
  transpose(
    x,
    x.shape.map((_, i) => (i === a ? b : i === b ? a : i)),
  ),
)

/**
 * The elements of x in row-major order, as a vector: NumPy's ravel. (`ravel` here makes one vector of a whole tree.)
 *
 * Shapes  any -> [size].   Dtype  x's.   Rule  xBar = yBar in x's shape.
 * @example flatten([[1, 2], [3, 4]])   // [1, 2, 3, 4]
 */
export const flatten: FlattenFn = operation('flatten', { x: array }, {}, ({ x }) => reshape(x, [sizeOf(x)]))

/** x with axes of length 1 until it has `rank` of them, as NumPy's atleast_ functions add them. */
const atLeast = (x: AnyExpr, rank: 1 | 2 | 3): AnyExpr => {
  const s = x.shape
  if (s.length >= rank) return x
  const ones = new Array<number>(rank).fill(1)
  return reshape(x, s.length === 0 ? ones : s.length === 2 ? [...s, 1] : rank === 2 ? [1, s[0]!] : [1, s[0]!, 1])
}
const raised = <N extends 1 | 2 | 3>(rank: N): AtLeastFn<N> => operation(`atleast${rank}d`, { x: array }, {}, ({ x }) => atLeast(x, rank))

/**
 * x with at least one axis.
 *
 * Dtype  x's.   Rule  xBar = yBar in x's shape.
 * @example atleast1d(3)   // [3]
 */
export const atleast1d: AtLeastFn<1> = raised(1)

/**
 * x with at least two axes: a vector becomes a row.
 *
 * Dtype  x's.   Rule  xBar = yBar in x's shape.
 * @example atleast2d([1, 2])   // [[1, 2]]
 */
export const atleast2d: AtLeastFn<2> = raised(2)

/**
 * x with at least three axes: a vector of n becomes [1, n, 1], a matrix [m, n, 1].
 *
 * Dtype  x's.   Rule  xBar = yBar in x's shape.
 * @example atleast3d([1, 2]).shape   // [1, 2, 1]
 */
export const atleast3d: AtLeastFn<3> = raised(3)

/** Arrays in a list, each made fit, joined along an axis that may depend on the first. */
const joining = <F>(op: string, fit: (x: AnyExpr) => AnyExpr, along: (first: AnyExpr) => number): F =>
  typed((given: unknown): AnyExpr => {
    const list = listOf(given, 'the first argument', op)
    if (list.length === 0) badInput(op, 'nothing to join.', 'pass at least one array.')
    const xs = arraysOf(list, op).map(fit)
    const first = xs[0]!.shape
    const at = along(xs[0]!)
    for (const { shape } of xs)
      if (shape.length !== first.length || shape.some((d, i) => i !== at && d !== first[i]))
        badShape(
          op,
          xs.map((x) => x.shape),
          `${showShape(first)} and ${showShape(shape)} differ away from axis ${at}.`,
          'axes but that one are equally long.',
        )
    return concat(xs, { axis: at })
  })

/**
 * Arrays one below the other: joined along the first axis, vectors as rows.
 *
 * Dtype  promoted.   Rule  xBar_i = the part of yBar that came from x_i.   Source  NumPy vstack.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example vstack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const vstack: JoinFn<2> = joining('vstack', (x) => atLeast(x, 2), () => 0) // biome-ignore format: one row

/**
 * Arrays side by side: joined along the second axis, vectors along the first.
 *
 * Dtype  promoted.   Rule  xBar_i = the part of yBar that came from x_i.   Source  NumPy hstack.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example hstack([[1, 2], [3]])   // [1, 2, 3]
 */
export const hstack: JoinFn<1> = joining('hstack', (x) => atLeast(x, 1), (first) => (first.shape.length === 1 ? 0 : 1)) // biome-ignore format: one row

/**
 * Arrays behind one another: joined along the third axis, vectors of n as [1, n, 1], matrices as [m, n, 1].
 *
 * Dtype  promoted.   Rule  xBar_i = the part of yBar that came from x_i.   Source  NumPy dstack.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example dstack([[1, 2], [3, 4]])   // [[[1, 3], [2, 4]]]
 */
export const dstack: JoinFn<3> = joining('dstack', (x) => atLeast(x, 3), () => 2) // biome-ignore format: one row

/**
 * Vectors as the columns of a matrix, beside matrices as they are.
 *
 * Dtype  promoted.   Rule  xBar_i = the part of yBar that came from x_i.   Source  NumPy column_stack.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example columnStack([[1, 2], [3, 4]])   // [[1, 3], [2, 4]]
 */
export const columnStack: JoinFn<'columns'> = joining('columnStack', (x) => (x.shape.length < 2 ? reshape(x, [sizeOf(x), 1]) : x), () => 1) // biome-ignore format: one row

const parts = wholeNumber(
  { from: 1, to: 1e6 },
  (n) => `${shown(n)} is not a number of parts.`,
  'give a positive integer; split takes sizes.',
)

/**
 * x cut along an axis (the first by default) into n parts that differ in length by 1 at most, the longer ones first.
 *
 * Dtype  x's.   Rule  xBar = concat of the parts' cotangents.   Source  NumPy array_split.
 * Errors  BadInput unless n is a positive integer, and for an axis out of range.
 * @example arraySplit(arange(5), 2)   // [[0, 1, 2], [3, 4]]
 */
export const arraySplit: ArraySplitFn = operation('arraySplit', { x: array, n: parts }, { axis: axis(0) }, ({ x, n }, o) => {
  const d = x.shape[o.axis]!
  return split(x, range(n).map((i) => Math.floor(d / n) + (i < d % n ? 1 : 0)), o) // biome-ignore format: one row
})

const flipping = (name: string, along: number): SameShapeFn =>
  operation(name, { x: array }, {}, ({ x }, _, op) => flip(x, { axis: axisOf(along, x.shape.length, op) }))

/**
 * x with its rows upside down: reversed along the first axis.
 *
 * Rule  xBar = yBar reversed.   Errors  BadInput for a scalar.
 * @example flipud([[1, 2], [3, 4]])   // [[3, 4], [1, 2]]
 */
export const flipud: SameShapeFn = flipping('flipud', 0)

/**
 * x with left and right exchanged: reversed along the second axis.
 *
 * Rule  xBar = yBar reversed.   Errors  BadInput below rank 2.
 * @example fliplr([[1, 2], [3, 4]])   // [[2, 1], [4, 3]]
 */
export const fliplr: SameShapeFn = flipping('fliplr', 1)

/** Two axes. */
const plane = kind<readonly [number, number]>((given, what, op, shape) => {
  const axes = given === undefined ? [0, 1] : integersOf(given, what, op)
  const at = distinctAxes(axes, shape.length, op)
  if (at.length !== 2) badInput(op, `${shown(axes)} are not two axes.`, 'give two.')
  return at as unknown as readonly [number, number]
})

const rot90Options = { k: integer(1), axes: plane }
interface Rot90Options extends OptionsOf<typeof rot90Options> {}
/**
 * x turned by k quarters (one by default) in the plane of two axes (the first two by default), from the first axis to the second.
 *
 * Dtype  x's.   Rule  xBar = yBar turned back.   Source  NumPy rot90.
 * Errors  BadInput for axes that are not two different ones, and a k that is not whole.
 * @example rot90([[1, 2], [3, 4]])   // [[2, 4], [1, 3]]
 */
export const rot90: Rot90Fn<Rot90Options> = operation('rot90', { x: array }, rot90Options, ({ x }, { k, axes: [a, b] }) => {
  const quarters = ((k % 4) + 4) % 4
  if (quarters === 0) return x
  if (quarters === 2) return flip(x, { axis: [a, b] })
  return quarters === 1 ? swapaxes(flip(x, { axis: b }), a, b) : flip(swapaxes(x, a, b), { axis: b })
})

/** More axes than this no list of blocks has. */
const DEEPEST = 16
/** How deep lists are nested. */
const depthOf = (blocks: unknown, left = DEEPEST): number => {
  if (!Array.isArray(blocks)) return 0
  if (left === 0) badInput('block', `lists of blocks are nested deeper than ${DEEPEST}.`, 'give a list for each axis.')
  return 1 + blocks.reduce((deepest: number, b) => Math.max(deepest, depthOf(b, left - 1)), 0)
}

/**
 * Blocks joined: lists of arrays along the last axis, lists of these along the one before it. Blocks are expressions, tensors or numbers.
 *
 * Dtype  promoted.   Rule  each block's cotangent is its part of yBar.   Source  NumPy block.
 * Errors  ShapeMismatch when blocks do not line up; BadInput for an empty list or lists nested to different depths.
 * @example block([[eye(2), zeros([2, 1])], [ones([1, 2]), full([1, 1], 5)]])   // [[1, 0, 0], [0, 1, 0], [1, 1, 5]]
 */
export const block: BlockFn = operation('block', { blocks: raw() }, {}, ({ blocks }, _, op) => {
  if (!Array.isArray(blocks)) return arrayOf(blocks, op)
  const depth = reading(op, () => depthOf(blocks))
  const join = (all: readonly unknown[], left: number): AnyExpr => {
    if (all.length === 0) badInput(op, 'a list of blocks is empty.', 'leave it out.')
    const parts = all.map((x) => {
      if (Array.isArray(x) !== left > 1)
        badInput(op, 'lists of blocks are nested to different depths.', 'give every row a list; plain arrays are tensor(...).')
      return Array.isArray(x) ? join(x, left - 1) : arrayOf(x, op)
    })
    const rank = greatestOf(
      parts.map((x) => x.shape.length),
      depth,
    )
    return concat(
      parts.map((x) => reshape(x, [...new Array<number>(rank - x.shape.length).fill(1), ...x.shape])),
      { axis: rank - left },
    )
  }
  return join(blocks, depth)
})
