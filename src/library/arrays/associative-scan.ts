/** Running results of an associative function, in a number of rounds that is the logarithm of the length. */
import { functionOf } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { flag, integer, kind, type OptionsOf } from '../../core/errors/options.js'
import { isUndeclared, part, sameArray, type Tree, takenBeside, treeIn, treeWith } from '../../core/ops/arrays.js'
import { placed, sameTree } from '../../core/ops/control/step.js'
import { concat } from '../../core/ops/joins.js'
import { flip, reshape, slice } from '../../core/ops/layout/layout.js'
import { axisOf } from '../../core/ops/layout/move.js'
import { operation } from '../../core/ops/operation.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { AssociativeScanFn } from '../../core/types/signatures/control.js'

const RETURNED = 'what op returned'
type Arrays = readonly AnyExpr[]
type Combine = (a: unknown, b: unknown) => unknown

/** f over leaves; it must give the tree, shapes and dtypes that it was given. */
const combining =
  (f: Combine, tree: Tree, op: string) =>
  (a: Arrays, b: Arrays): Arrays => {
    const made = treeIn(f(treeWith(tree, a), treeWith(tree, b)), `${op}: ${RETURNED}`)
    sameTree(op, RETURNED, made, tree)
    return made.leaves.map((x, i) => {
      const y = takenBeside(x, a[i]!.dtype)
      sameArray(op, placed(RETURNED, tree.paths[i]!), y, a[i]!)
      return y
    })
  }
/** Leaves without a dtype are f32 where f makes an f32 of them. */
const settledFor = (f: Combine, tree: Tree, op: string): Arrays => {
  const { leaves } = tree
  if (!leaves.some(isUndeclared)) return leaves
  const made = treeIn(f(treeWith(tree, leaves), treeWith(tree, leaves)), `${op}: ${RETURNED}`)
  return leaves.map((x, i) => (isUndeclared(x) && made.leaves[i]?.dtype === 'f32' ? takenBeside(x, 'f32') : x))
}

/** Elements along an axis from `start`, `size` of them, `step` apart. */
const every = (x: AnyExpr, axis: number, start: number, size: number, step: number): AnyExpr => {
  const along = (here: number, elsewhere: number | null) => x.shape.map((_, i) => (i === axis ? here : elsewhere))
  return slice(x, along(start, null), along(start + (size - 1) * step + 1, null), along(step, 1) as number[])
}
/** Elements of two arrays in turn; the first has as many, or one more. */
const inTurn = (evens: AnyExpr, odds: AnyExpr, axis: number): AnyExpr => {
  const n = odds.shape[axis]!
  const apart = (x: AnyExpr): AnyExpr => reshape(part(x, axis, 0, n), [...x.shape.slice(0, axis), n, 1, ...x.shape.slice(axis + 1)])
  const pairs = reshape(
    concat([apart(evens), apart(odds)], { axis: axis + 1 }),
    odds.shape.map((d, i) => (i === axis ? 2 * n : d)),
  )
  return evens.shape[axis] === n ? pairs : concat([pairs, part(evens, axis, n, 1)], { axis })
}

/** Running results: of pairs first, which are those of every second element; of the others one step more. */
const running = (xs: Arrays, axes: readonly number[], length: number, combine: (a: Arrays, b: Arrays) => Arrays): Arrays => {
  if (length < 2) return xs
  const half = Math.floor(length / 2)
  const some = (of: Arrays, start: number, size: number, step: number): Arrays => of.map((x, i) => every(x, axes[i]!, start, size, step))
  const odds = running(combine(some(xs, 0, half, 2), some(xs, 1, half, 2)), axes, half, combine)
  const more = Math.ceil(length / 2) - 1
  const later = more === 0 ? [] : combine(some(odds, 0, more, 1), some(xs, 2, more, 2))
  const evens = some(xs, 0, 1, 1).map((x, i) => (more === 0 ? x : concat([x, later[i]!], { axis: axes[i]! })))
  return evens.map((x, i) => inTurn(x, odds[i]!, axes[i]!))
}

const associativeOptions = {
  /** The axis along which it goes, the first by default; of every leaf. */
  axis: integer(0),
  /** From the last element to the first. */
  reverse: flag(),
}
/** Options of `associativeScan`. */
interface AssociativeOptions extends OptionsOf<typeof associativeOptions> {}
/**
 * Running results of an associative function: x_0, op(x_0, x_1), op(op(x_0, x_1), x_2) ..., in about 2 log2(n) rounds of op over many elements at once.
 *
 * `xs` is a tree of arrays of one length along `axis` (the first by default), taken from its end with `reverse`. `op(a, b)` is called with trees that have
 * some of the elements along the axis, and combines them element by element: `add`, `matmul`, or what you compose. It must be associative: elements are
 * not combined one after the other, so results are rounded differently from those of `scan`.
 *
 * Rule    that of the operations in op.
 * Errors  BadInput if op changes the tree, for lengths that differ or an axis out of range; ShapeMismatch and DTypeMismatch, naming the leaf, if op
 *         changes a leaf.
 * @example evaluate(associativeScan((a, b) => mul(a, b), tensor([1, 2, 3, 4])))   // [1, 2, 6, 24]
 */
export const associativeScan: AssociativeScanFn<AssociativeOptions> = operation(
  'associativeScan',
  { op: kind((f, what, op) => functionOf(f as Combine, what, op)), xs: kind((given, what, op) => treeIn(given, `${op}: ${what}`)) },
  associativeOptions,
  ({ op: f, xs: tree }, { axis, reverse }, op) => {
    const xs = settledFor(f, tree, op)
    const axes = xs.map((x) => axisOf(axis, x.shape.length, op))
    const lengths = xs.map((x, i) => x.shape[axes[i]!]!)
    const other = lengths.findIndex((n) => n !== lengths[0])
    if (other > 0)
      badInput(
        op,
        `${placed('xs', tree.paths[0]!)} has ${lengths[0]} elements along the axis, ${placed('xs', tree.paths[other]!)} has ${lengths[other]}.`,
        'give every leaf the same length along the axis.',
      )
    const turned = (of: Arrays): Arrays => (reverse ? of.map((x, i) => flip(x, { axis: axes[i]! })) : of)
    return treeWith(tree, turned(running(turned(xs), axes, lengths[0] ?? 0, combining(f, tree, op))))
  },
)
