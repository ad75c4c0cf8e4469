/** Running results of an associative function, in a number of rounds that is the logarithm of the length. */
import { flagOf, functionOf, integerOf, type Names, optionsOf } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import type { Node } from '../../core/graph/expr.js'
import { typed } from '../../core/graph/operation.js'
import { beside, isWeak } from '../../core/graph/weak.js'
import { concatNode } from '../../core/ops/layout-join.js'
import { axisOf, reshapeNode } from '../../core/ops/layout-move.js'
import { sliceAxis, sliceNode } from '../../core/ops/layout-slice.js'
import { type Leaves, leavesOf, placed, sameLeaf, sameTree, treeOf } from '../../core/ops/loop-step.js'
import type { AssociativeOptions, AssociativeScanFn } from '../../core/types/signatures/control.js'

const NAME = 'associativeScan'
const RETURNED = 'what op returned'
type Combine = (a: readonly Node[], b: readonly Node[]) => readonly Node[]

/** op over leaves; it must give the tree, shapes and dtypes that it was given. */
const combining = (op: (a: unknown, b: unknown) => unknown, { def, paths }: Leaves): Combine => {
  const tree = (nodes: readonly Node[]): unknown => treeOf({ def, nodes, paths }, nodes)
  return (a, b) => {
    const made = leavesOf(op(tree(a), tree(b)), `${NAME}: ${RETURNED}`)
    sameTree(NAME, RETURNED, made, { def, nodes: a, paths })
    return made.nodes.map((n, i) => {
      const y = beside(n, a[i]!.dtype)
      sameLeaf(NAME, placed(RETURNED, paths[i]!), y.aval, a[i]!.aval)
      return y
    })
  }
}
/** Leaves without a dtype are f32 where op makes an f32 of them. */
const settledFor = (op: (a: unknown, b: unknown) => unknown, xs: Leaves): Leaves => {
  if (!xs.nodes.some(isWeak)) return xs
  const made = leavesOf(op(treeOf(xs, xs.nodes), treeOf(xs, xs.nodes)), `${NAME}: ${RETURNED}`)
  return { ...xs, nodes: xs.nodes.map((n, i) => (isWeak(n) && made.nodes[i]?.dtype === 'f32' ? beside(n, 'f32') : n)) }
}

/** Elements along an axis from `start`, `size` of them, `step` apart. */
const every = (x: Node, axis: number, start: number, size: number, step: number): Node =>
  sliceNode(x, {
    starts: x.shape.map((_, i) => (i === axis ? start : 0)),
    sizes: x.shape.map((d, i) => (i === axis ? size : d)),
    strides: x.shape.map((_, i) => (i === axis ? step : 1)),
  })
/** Elements of two arrays in turn; the first has as many, or one more. */
const inTurn = (evens: Node, odds: Node, axis: number): Node => {
  const n = odds.shape[axis]!
  const apart = (x: Node): Node => reshapeNode(sliceAxis(x, axis, 0, n), [...x.shape.slice(0, axis), n, 1, ...x.shape.slice(axis + 1)])
  const pairs = reshapeNode(
    concatNode([apart(evens), apart(odds)], axis + 1),
    odds.shape.map((d, i) => (i === axis ? 2 * n : d)),
  )
  return evens.shape[axis] === n ? pairs : concatNode([pairs, sliceAxis(evens, axis, n, 1)], axis)
}

/** Running results: of pairs first, which are those of every second element; of the others one step more. */
const running = (xs: readonly Node[], axes: readonly number[], length: number, combine: Combine): readonly Node[] => {
  if (length < 2) return xs
  const half = Math.floor(length / 2)
  const some = (of: readonly Node[], start: number, size: number, step: number): readonly Node[] =>
    of.map((x, i) => every(x, axes[i]!, start, size, step))
  const odds = running(combine(some(xs, 0, half, 2), some(xs, 1, half, 2)), axes, half, combine)
  const more = Math.ceil(length / 2) - 1
  const later = more === 0 ? [] : combine(some(odds, 0, more, 1), some(xs, 2, more, 2))
  const evens = some(xs, 0, 1, 1).map((x, i) => (more === 0 ? x : concatNode([x, later[i]!], axes[i]!)))
  return evens.map((x, i) => inTurn(x, odds[i]!, axes[i]!))
}
const flipped = (x: Node, axis: number): Node =>
  x.shape[axis] === 0
    ? x
    : sliceNode(x, {
        starts: x.shape.map((d, i) => (i === axis ? d - 1 : 0)),
        sizes: x.shape,
        strides: x.shape.map((_, i) => (i === axis ? -1 : 1)),
      })

const associativeOptions: Names<AssociativeOptions> = { axis: true, reverse: true }

/**
 * Running results of an associative function: x_0, op(x_0, x_1), op(op(x_0, x_1), x_2) ..., in about 2 log2(n) rounds of op over many elements at once.
 *
 * `xs` is a tree of arrays of one length along `axis` (the first by default), taken from its end with `reverse`. `op(a, b)` is called with trees that have
 * some of the elements along the axis, and combines them element by element: `add`, `matmul`, or what you compose. It must be associative: elements are
 * combined in another order than one after the other, so results round otherwise than those of scan.
 *
 * Rule    those of what op is made of.
 * Errors  BadInput for another tree, lengths that differ or an axis out of range; ShapeMismatch and DTypeMismatch, with the leaf, where op changes one.
 * @example evaluate(associativeScan((a, b) => mul(a, b), tensor([1, 2, 3, 4])))   // [1, 2, 6, 24]
 */
export const associativeScan: AssociativeScanFn = typed((op: unknown, given: unknown, options?: AssociativeOptions): unknown => {
  const f = functionOf(op, 'op', NAME) as (a: unknown, b: unknown) => unknown
  const { axis = 0, reverse } = optionsOf(options, associativeOptions, NAME)
  const backwards = flagOf(reverse, 'reverse', NAME)
  const xs = settledFor(f, leavesOf(given, `${NAME}: xs`))
  integerOf(axis, 'axis', NAME)
  const axes = xs.nodes.map((n) => axisOf(axis, n.shape.length, NAME))
  const lengths = xs.nodes.map((n, i) => n.shape[axes[i]!]!)
  const other = lengths.findIndex((n) => n !== lengths[0])
  if (other > 0)
    raise({
      _tag: 'BadInput',
      where: NAME,
      reason: `${placed('xs', xs.paths[0]!)} has ${lengths[0]} elements along the axis, ${placed('xs', xs.paths[other]!)} has ${lengths[other]}.`,
      fix: 'give every leaf the same length along the axis.',
    })
  const turned = (nodes: readonly Node[]): readonly Node[] => (backwards ? nodes.map((n, i) => flipped(n, axes[i]!)) : nodes)
  return treeOf(xs, turned(running(turned(xs.nodes), axes, lengths[0] ?? 0, combining(f, xs))))
})
