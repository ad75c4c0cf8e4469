/** Arrays arranged anew: axes moved, ranks raised, joins by NumPy's names, turns, blocks. */

import { integerOf, integersOf, listOf, type Names, ofOne, optionsOf, settled, shown } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { reading } from '../../core/errors/language.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift, liftAll } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { range } from '../../core/graph/shape.js'
import { concat } from '../../core/ops/joins.js'
import { flip } from '../../core/ops/layout.js'
import { concatNode, splitNode } from '../../core/ops/layout-join.js'
import { axisOf, axisOption, distinctAxes, reshapeNode, transposeNode } from '../../core/ops/layout-move.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  ArraySplitFn,
  AtLeastFn,
  BlockFn,
  BlockList,
  FlattenFn,
  JoinFn,
  RearrangeFn,
  Rot90Fn,
  SameShapeFn,
} from '../../core/types/signatures/arrays.js'
import type { AxisOptions } from '../../core/types/signatures/reduce.js'

/**
 * Axes at other places: source[i] goes to destination[i], the others keep their order.
 *
 * Dtype  x's.   Rule  xBar = yBar with its axes moved back.   Source  NumPy moveaxis.
 * Errors  BadInput for an axis out of range or named twice, or lists that differ in length.
 * @example moveaxis(zeros([2, 3, 4]), 0, -1).shape   // [3, 4, 2]
 */
export const moveaxis: RearrangeFn<[source: number | readonly number[], destination: number | readonly number[]]> = typed(
  (x: unknown, source: number | readonly number[], destination: number | readonly number[]): AnyExpr => {
    const n = lift(x, 'moveaxis')
    const rank = n.shape.length
    const from = distinctAxes(source, rank, 'moveaxis')
    const to = distinctAxes(destination, rank, 'moveaxis')
    if (from.length !== to.length)
      raise({
        _tag: 'BadInput',
        where: 'moveaxis',
        reason: `${from.length} axes do not go to ${to.length} places.`,
        fix: 'give one place for each axis.',
      })
    const rest = range(rank).filter((a) => !from.includes(a))
    const order = range(rank).map((place) => (to.includes(place) ? from[to.indexOf(place)]! : rest.shift()!))
    return asExpr(transposeNode(n, order))
  },
)

/**
 * Two axes exchanged.
 *
 * Dtype  x's.   Rule  xBar = yBar with the two exchanged.   Source  NumPy swapaxes.
 * Errors  BadInput for an axis out of range.
 * @example swapaxes(zeros([2, 3, 4]), 0, 2).shape   // [4, 3, 2]
 */
export const swapaxes: RearrangeFn<[a: number, b: number]> = typed((x: unknown, a: number, b: number): AnyExpr => {
  const n = lift(x, 'swapaxes')
  const [i, j] = [axisOf(a, n.shape.length, 'swapaxes'), axisOf(b, n.shape.length, 'swapaxes')]
  return asExpr(
    transposeNode(
      n,
      range(n.shape.length).map((k) => (k === i ? j : k === j ? i : k)),
    ),
  )
})

/**
 * The elements of x in row-major order, as a vector: NumPy's ravel. (`ravel` here makes one vector of a whole tree.)
 *
 * Shapes  any -> [size].   Dtype  x's.   Rule  xBar = yBar in x's shape.
 * @example flatten([[1, 2], [3, 4]])   // [1, 2, 3, 4]
 */
export const flatten: FlattenFn = typed(
  ofOne('flatten', (x: unknown): AnyExpr => {
    const n = lift(x, 'flatten')
    return asExpr(reshapeNode(n, [n.aval.size]))
  }),
)

/** x with axes of length 1 until it has `rank` of them, as NumPy's atleast_ functions add them. */
const atLeast = (n: Node, rank: 1 | 2 | 3): Node => {
  const s = n.shape
  if (s.length >= rank) return n
  const ones = new Array<number>(rank).fill(1)
  return reshapeNode(n, s.length === 0 ? ones : s.length === 2 ? [...s, 1] : rank === 2 ? [1, s[0]!] : [1, s[0]!, 1])
}

/**
 * x with one axis at least.
 *
 * Dtype  x's.   Rule  xBar = yBar in x's shape.
 * @example atleast1d(3)   // [3]
 */
export const atleast1d: AtLeastFn<1> = typed(ofOne('atleast1d', (x: unknown): AnyExpr => asExpr(atLeast(lift(x, 'atleast1d'), 1))))

/**
 * x with two axes at least: a vector becomes a row.
 *
 * Dtype  x's.   Rule  xBar = yBar in x's shape.
 * @example atleast2d([1, 2])   // [[1, 2]]
 */
export const atleast2d: AtLeastFn<2> = typed(ofOne('atleast2d', (x: unknown): AnyExpr => asExpr(atLeast(lift(x, 'atleast2d'), 2))))

/**
 * x with three axes at least: a vector of n becomes [1, n, 1], a matrix [m, n, 1].
 *
 * Dtype  x's.   Rule  xBar = yBar in x's shape.
 * @example atleast3d([1, 2]).shape   // [1, 2, 1]
 */
export const atleast3d: AtLeastFn<3> = typed(ofOne('atleast3d', (x: unknown): AnyExpr => asExpr(atLeast(lift(x, 'atleast3d'), 3))))

/** Arrays of one dtype, each made fit, joined along an axis that may depend on the first. */
const joining =
  (op: string, fit: (n: Node) => Node, axis: (first: Node) => number) =>
  (xs: readonly unknown[]): AnyExpr => {
    const list = listOf(xs, 'the first argument', op)
    if (list.length === 0) raise({ _tag: 'BadInput', where: op, reason: 'nothing to join.', fix: 'pass at least one array.' })
    const ns = liftAll(Array.from(list), op).map(fit)
    const at = axis(ns[0]!)
    for (const n of ns)
      if (n.shape.length !== ns[0]!.shape.length || n.shape.some((d, i) => i !== at && d !== ns[0]!.shape[i]))
        raise({
          _tag: 'ShapeMismatch',
          op,
          shapes: ns.map((m) => m.shape),
          reason: `${showShape(ns[0]!.shape)} and ${showShape(n.shape)} differ away from axis ${at}.`,
          fix: 'axes but that one are equally long.',
        })
    return asExpr(concatNode(ns, at))
  }

/**
 * Arrays one below the other: joined along the first axis, vectors as rows.
 *
 * Dtype  promoted.   Rule  xBar_i = the part of yBar that came from x_i.   Source  NumPy vstack.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example vstack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const vstack: JoinFn<2> = typed(joining('vstack', (n) => atLeast(n, 2), () => 0)) // biome-ignore format: one row

/**
 * Arrays side by side: joined along the second axis, vectors along the first.
 *
 * Dtype  promoted.   Rule  xBar_i = the part of yBar that came from x_i.   Source  NumPy hstack.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example hstack([[1, 2], [3]])   // [1, 2, 3]
 */
export const hstack: JoinFn<1> = typed(joining('hstack', (n) => atLeast(n, 1), (first) => (first.shape.length === 1 ? 0 : 1))) // biome-ignore format: one row

/**
 * Arrays behind one another: joined along the third axis, vectors of n as [1, n, 1], matrices as [m, n, 1].
 *
 * Dtype  promoted.   Rule  xBar_i = the part of yBar that came from x_i.   Source  NumPy dstack.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example dstack([[1, 2], [3, 4]])   // [[[1, 3], [2, 4]]]
 */
export const dstack: JoinFn<3> = typed(joining('dstack', (n) => atLeast(n, 3), () => 2)) // biome-ignore format: one row

const asColumn = (n: Node): Node => (n.shape.length < 2 ? reshapeNode(n, [n.aval.size, 1]) : n)

/**
 * Vectors as the columns of a matrix, beside matrices as they are.
 *
 * Dtype  promoted.   Rule  xBar_i = the part of yBar that came from x_i.   Source  NumPy column_stack.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example columnStack([[1, 2], [3, 4]])   // [[1, 3], [2, 4]]
 */
export const columnStack: JoinFn<2> = typed(joining('columnStack', asColumn, () => 1))

/**
 * x cut along an axis (the first by default) into n parts that differ in length by 1 at most, the longer ones first.
 *
 * Dtype  x's.   Rule  xBar = concat of the parts' cotangents.   Source  NumPy array_split.
 * Errors  BadInput unless n is a positive integer, and for an axis out of range.
 * @example arraySplit(arange(5), 2)   // [[0, 1, 2], [3, 4]]
 */
export const arraySplit: ArraySplitFn = typed((x: unknown, parts: number, options?: AxisOptions): AnyExpr[] => {
  const { axis: at = 0 } = optionsOf(options, axisOption, 'arraySplit')
  const n = lift(x, 'arraySplit')
  const axis = axisOf(at, n.shape.length, 'arraySplit')
  const d = n.shape[axis]!
  if (!(Number.isInteger(parts) && parts > 0 && parts <= 1e6))
    raise({
      _tag: 'BadInput',
      where: 'arraySplit',
      reason: `${shown(parts)} is not a number of parts.`,
      fix: 'give a positive integer; split takes sizes.',
    })
  const sizes = range(parts).map((i) => Math.floor(d / parts) + (i < d % parts ? 1 : 0))
  return splitNode(n, axis, sizes).map(asExpr)
})

const flipped = (op: string, x: unknown, axis: number): AnyExpr => {
  const n = lift(x, op)
  return flip(asExpr(n), { axis: axisOf(axis, n.shape.length, op) })
}

/**
 * x with its rows upside down: reversed along the first axis.
 *
 * Rule  xBar = yBar reversed.   Errors  BadInput for a scalar.
 * @example flipud([[1, 2], [3, 4]])   // [[3, 4], [1, 2]]
 */
export const flipud: SameShapeFn = typed(ofOne('flipud', (x: unknown): AnyExpr => flipped('flipud', x, 0)))

/**
 * x with left and right exchanged: reversed along the second axis.
 *
 * Rule  xBar = yBar reversed.   Errors  BadInput below rank 2.
 * @example fliplr([[1, 2], [3, 4]])   // [[2, 1], [4, 3]]
 */
export const fliplr: SameShapeFn = typed(ofOne('fliplr', (x: unknown): AnyExpr => flipped('fliplr', x, 1)))

interface TurnOptions {
  readonly k?: number | undefined
  readonly axes?: readonly [number, number] | undefined
}
const turnOptions: Names<TurnOptions> = { k: true, axes: true }

/**
 * x turned by k quarters (one by default) in the plane of two axes (the first two by default), from the first axis to the second.
 *
 * Dtype  x's.   Rule  xBar = yBar turned back.   Source  NumPy rot90.
 * Errors  BadInput for axes that are not two different ones, and a k that is not whole.
 * @example rot90([[1, 2], [3, 4]])   // [[2, 4], [1, 3]]
 */
export const rot90: Rot90Fn = typed((x: unknown, options?: TurnOptions): AnyExpr => {
  const n = lift(x, 'rot90')
  const { k = 1, axes = [0, 1] as const } = optionsOf(options, turnOptions, 'rot90')
  const at = distinctAxes(integersOf(axes, 'axes', 'rot90'), n.shape.length, 'rot90')
  if (at.length !== 2) raise({ _tag: 'BadInput', where: 'rot90', reason: `${shown(axes)} are not two axes.`, fix: 'give two.' })
  const [a, b] = at as readonly [number, number]
  const quarters = ((integerOf(k, 'k', 'rot90') % 4) + 4) % 4
  const swapped = (y: AnyExpr): AnyExpr => swapaxes(y, a, b)
  const v = asExpr(n)
  if (quarters === 0) return v
  if (quarters === 2) return flip(v, { axis: [a, b] })
  return quarters === 1 ? swapped(flip(v, { axis: b })) : flip(swapped(v), { axis: b })
})

/** More axes than this no list of blocks has. */
const DEEPEST = 16
/** How deep lists are nested. */
const depthOf = (blocks: unknown, left = DEEPEST): number => {
  if (!Array.isArray(blocks)) return 0
  if (left === 0)
    raise({
      _tag: 'BadInput',
      where: 'block',
      reason: `lists of blocks are nested deeper than ${DEEPEST}.`,
      fix: 'give a list for each axis.',
    })
  return 1 + blocks.reduce((deepest: number, b) => Math.max(deepest, depthOf(b, left - 1)), 0)
}

/**
 * Blocks joined: lists of arrays along the last axis, lists of these along the one before it. Blocks are expressions, tensors or numbers.
 *
 * Dtype  promoted.   Rule  each block's cotangent is its part of yBar.   Source  NumPy block.
 * Errors  ShapeMismatch when blocks do not line up; BadInput for an empty list or lists nested to different depths.
 * @example block([[eye(2), zeros([2, 1])], [ones([1, 2]), full([1, 1], 5)]])   // [[1, 0, 0], [0, 1, 0], [1, 1, 5]]
 */
export const block: BlockFn = typed((given: BlockList): AnyExpr => {
  const blocks = settled(given, 'blocks', 'block')
  if (!Array.isArray(blocks)) return asExpr(lift(blocks, 'block'))
  const depth = reading('block', () => depthOf(blocks))
  const join = (list: readonly unknown[], left: number): AnyExpr => {
    if (list.length === 0) raise({ _tag: 'BadInput', where: 'block', reason: 'a list of blocks is empty.', fix: 'leave it out.' })
    const parts = list.map((x) => {
      if (Array.isArray(x) !== left > 1)
        raise({
          _tag: 'BadInput',
          where: 'block',
          reason: 'lists of blocks are nested to different depths.',
          fix: 'give every row a list; plain arrays are tensor(...).',
        })
      return Array.isArray(x) ? join(x, left - 1) : asExpr(lift(x, 'block'))
    })
    const rank = Math.max(depth, ...parts.map((p) => asNode(p).shape.length))
    const wide = parts.map((p) => {
      const n = asNode(p)
      return asExpr(reshapeNode(n, [...new Array<number>(rank - n.shape.length).fill(1), ...n.shape]))
    })
    return concat(wide, { axis: rank - left })
  }
  return join(blocks, depth)
})
