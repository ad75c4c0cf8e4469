/** Parameters, and what an optimiser keeps beside them, in parts: each rank has one part of each array (ZeRO). */
import { functionOf, shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape } from '../../core/errors/explain.js'
import { type Aval, aval, sameAval, showAval } from '../../core/graph/aval.js'
import { evaluateNodes } from '../../core/graph/evaluate.js'
import { asExpr, asNode, input, isExpr, type Node } from '../../core/graph/expr.js'
import { lift } from '../../core/graph/lift.js'
import { allocate, type NDArray } from '../../core/graph/ndarray.js'
import { liftTree } from '../../core/graph/program.js'
import { isSpec } from '../../core/graph/spec.js'
import { isTensor, Tensor } from '../../core/graph/tensor.js'
import { explainDef, flatten, isLeaf, leafPaths, type TreeDef, unflatten } from '../../core/graph/tree.js'
import { bool, f32, f64, i32 } from '../../index.js'
import { current } from '../world.js'
import { gathered } from './gather.js'
import { isCut, partAval, partLength, partOfArray } from './geometry.js'
import { cutNode, overParts, type Rank } from './over-parts.js'
import type { Joined, Parts } from './types.js'

const where = 'inParts'
/** A tree of whole arrays: the shape and dtype of each leaf. */
interface Whole {
  readonly avals: readonly Aval[]
  readonly def: TreeDef
  readonly paths: readonly string[]
}
const wholeOf = (avals: readonly Aval[], def: TreeDef): Whole => ({ avals, def, paths: leafPaths(def) })
const isLeafHere = (x: unknown): boolean => isSpec(x) || isLeaf(x)
/** What is at a leaf: a declaration, an expression, or an array. */
const arrayAt = (x: unknown): NDArray => (isTensor(x) ? x.intact(where) : evaluateNodes([lift(x as never, where)])[0]!)
const avalAt = (x: unknown, path: string): Aval => {
  if (!isSpec(x)) return isExpr(x) ? asNode(x).aval : isTensor(x) ? aval(x.shape, x.dtype) : lift(x as never, where).aval
  const open = x.shape.find((d) => typeof d === 'string')
  if (open !== undefined) badInput(`${where}: ${path}`, `the axis '${open}' has no size.`, 'declare parameters by sizes.')
  return aval(x.shape as readonly number[], x.dtype)
}
const specs = { f64, f32, i32, bool }
const specOf = ({ shape, dtype }: Aval): unknown => specs[dtype](...shape)

/** The leaves of a tree of parts, held against what it is of. */
const partsIn = (tree: unknown, { avals, def, paths }: Whole, ranks: number, what: string): readonly unknown[] => {
  const got = flatten(tree, where, isLeafHere)
  const wrong = explainDef(def, got.def)
  if (wrong !== undefined) badInput(`${where}: ${what}`, `${wrong}.`, 'give what belongs to the parameters that inParts was given.')
  got.leaves.forEach((x, i) => {
    const [is, want] = [avalAt(x, paths[i]!), partAval(avals[i]!, ranks)]
    if (!sameAval(is, want))
      badShape(
        `${where}: ${[what, paths[i]].filter((s) => s !== '').join(' at ')}`,
        [is.shape, want.shape],
        `it is ${showAval(is)}, and a part of ${showAval(avals[i]!)} on ${ranks} ranks is ${showAval(want)}.`,
        'give the parts that `cut` gives.',
      )
  })
  return got.leaves
}
const cutLeaf = (x: unknown, path: string, at: Rank): unknown => {
  if (isSpec(x)) return specOf(partAval(avalAt(x, path), at.size))
  return isExpr(x) ? asExpr(cutNode(asNode(x), at)) : partOfArray(arrayAt(x), at.rank, at.size)
}
export const cutTree = (tree: unknown, at: Rank = current()): unknown => {
  const { leaves, def } = flatten(tree, where, isLeafHere)
  const paths = leafPaths(def)
  return unflatten(
    def,
    leaves.map((x, i) => cutLeaf(x, paths[i]!, at)),
  )
}
/** The whole array of the parts of all ranks. */
const joinArray = (part: NDArray, whole: Aval): Tensor => {
  const ranks = current()
  if (!isCut(whole)) return new Tensor([...part.shape], part.dtype, part.data.slice())
  const length = partLength(whole.size, ranks.size) * ranks.size
  const all = allocate(whole.dtype, length)
  if (length > 0) ranks.run({ name: 'allGather', ranks: ranks.size }, part, { shape: [length], dtype: whole.dtype, data: all })
  return new Tensor([...whole.shape], whole.dtype, all.slice(0, whole.size) as typeof all)
}
const joinTree = (tree: unknown, whole: Whole): unknown =>
  unflatten(
    whole.def,
    partsIn(tree, whole, current().size, 'parts').map((x, i) => joinArray(arrayAt(x), whole.avals[i]!)),
  )

/** What has `init` and `update`, as the optimisers of codual/optim have. */
interface Updating {
  init(params: never): unknown
  update(gradient: never, state: never, params?: never): { readonly updates: unknown; readonly state: unknown }
}
interface Raw {
  readonly init: (params: unknown) => unknown
  readonly update: (gradient: unknown, state: unknown, params?: unknown) => { readonly updates: unknown; readonly state: unknown }
}
/** Fresh inputs for whole arrays, and the part that stands for each. */
class Inputs {
  readonly parts = new Map<Node, Node>()
  tree({ avals, def }: Pick<Whole, 'avals' | 'def'>, parts?: readonly unknown[]): unknown {
    const inputs = avals.map((a) => input(a))
    for (const [i, x] of parts?.entries() ?? []) this.parts.set(inputs[i]!, lift(x as never, where))
    return unflatten(def, inputs.map(asExpr))
  }
}
/** The avals of a gradient: those of the parameters, where it has some. */
const besideParams = (tree: unknown, of: Whole): Whole => {
  const { def } = flatten(tree, where, isLeafHere)
  const paths = leafPaths(def)
  const avals = paths.map((path) => {
    const at = of.paths.indexOf(path)
    return at >= 0
      ? of.avals[at]!
      : badInput(`${where}: ${path}`, 'the parameters have no such leaf.', 'give what `grad` gives of the parts.')
  })
  return { avals, def, paths }
}
const optimizerIn = (
  given: Raw,
  params: Whole,
): Raw & { readonly cut: (state: unknown) => unknown; readonly join: (state: unknown) => unknown } => {
  let begun: (Whole & { readonly nodes: readonly Node[]; readonly wholes: readonly Node[] }) | undefined
  /** The state at the beginning, as a function of the whole parameters. */
  const beginning = () => {
    if (begun !== undefined) return begun
    const wholes = params.avals.map((a) => input(a))
    const { nodes, def } = liftTree(given.init(unflatten(params.def, wholes.map(asExpr))), where)
    const avals = nodes.map((n) => n.aval)
    begun = { ...wholeOf(avals, def), nodes, wholes }
    return begun
  }
  const run = (nodes: readonly Node[], parts: ReadonlyMap<Node, Node>): readonly Node[] =>
    overParts(nodes, parts, current(), `${where}: the optimizer`)
  return {
    init: (tree) => {
      const leaves = partsIn(tree, params, current().size, 'params')
      const { nodes, wholes, def, avals } = beginning()
      if (leaves.some(isSpec))
        return unflatten(
          def,
          avals.map((a) => specOf(partAval(a, current().size))),
        )
      const made = run(nodes, new Map(wholes.map((x, i) => [x, lift(leaves[i] as never, where)])))
      return unflatten(
        def,
        leaves.some((x) => isExpr(x)) ? made.map(asExpr) : evaluateNodes(made).map((a) => new Tensor(a.shape, a.dtype, a.data)),
      )
    },
    update: (gradient, state, tree) => {
      const { size } = current()
      const inputs = new Inputs()
      const of = besideParams(gradient, params)
      const g = inputs.tree(of, partsIn(gradient, of, size, 'the gradient'))
      const s = inputs.tree(beginning(), partsIn(state, beginning(), size, 'the state'))
      const p = tree === undefined ? undefined : inputs.tree(params, partsIn(tree, params, size, 'params'))
      const next = given.update(g, s, p)
      const [updates, held] = [liftTree(next.updates, where), liftTree(next.state, where)]
      const made = run([...updates.nodes, ...held.nodes], inputs.parts).map(asExpr)
      return {
        updates: unflatten(updates.def, made.slice(0, updates.nodes.length)),
        state: unflatten(held.def, made.slice(updates.nodes.length)),
      }
    },
    cut: (state) => cutTree(state),
    join: (state) => joinTree(state, beginning()),
  }
}

/** What `shard` asks of a placement. */
interface Inside {
  /** The whole parameters as a function of these, with `same` for scalars, which are equal on all ranks. */
  readonly wholes: (parts: unknown, same: (scalars: readonly Node[]) => readonly Node[]) => unknown
}
const insides = new WeakMap<object, Inside>()
/** What is in a placement. */
export const inside = (placement: unknown, asked: string): Inside =>
  (typeof placement === 'object' && placement !== null ? insides.get(placement) : undefined) ??
  badInput(asked, `${shown(placement)} is no placement.`, "give what inParts gave: { parts: { params: inParts(params, 'zero3') } }.")

/** How long whole parameters live: 'zero1' from their first use to the last, 'zero3' in the forward pass, and once more in the reverse pass. */
export type Placing = 'zero1' | 'zero3'
/** Parameters in parts, of which each rank has one, and what an optimiser keeps beside them. */
export interface Placement<P> {
  /** The declaration of this rank's parts. */
  readonly parts: Parts<P>
  /** This rank's parts: tensors of tensors, expressions of expressions, the declaration of a declaration. */
  readonly cut: <T>(whole: T) => Parts<T>
  /** The whole parameters as tensors; every rank calls it. */
  readonly join: <T>(parts: T) => Joined<T>
  /** An optimiser over parts, whose state is in parts. `cut` and `join` are of its state. */
  readonly optimizer: <T extends Updating>(
    optimizer: T,
  ) => T & { readonly cut: <S>(state: S) => Parts<S>; readonly join: <S>(state: S) => Joined<S> }
}
/**
 * Parameters in parts: every rank has a part of each array, and so of an optimiser's state (ZeRO), in place of all of them.
 *
 * An array is flattened, filled up with zeros, and cut into parts of ceil(size / n); scalars are whole. `shard(loss, { data, parts: { params } })` gathers them: with 'zero1' they are
 * whole from their first use to the last one of a step, with 'zero3' they are given up behind the forward pass and gathered once more. Gradients are in parts. An optimiser is traced on the whole
 * shapes, and computes on parts what treats each element by itself, or takes sums of all.
 * Errors  BadInput for an axis without a size, an optimiser that needs whole arrays; ShapeMismatch for what is not a part.
 * Source  Rajbhandari et al. 2020.
 * @example
 * const placed = inParts({ w: tensor([[1, 2, 3]]) }, 'zero1')
 * simulateRanks(2, () => placed.cut({ w: tensor([[1, 2, 3]]) }).w.toArray())   // [[1, 2], [3, 0]]
 */
export const inParts = <P>(params: P, placing: Placing): Placement<P> => {
  if (placing !== 'zero1' && placing !== 'zero3') badInput(where, `the placement is ${shown(placing)}.`, "give 'zero1' or 'zero3'.")
  const { leaves, def } = flatten(params, where, isLeafHere)
  const paths = leafPaths(def)
  const whole = wholeOf(
    leaves.map((x, i) => avalAt(x, paths[i]!)),
    def,
  )
  const placement: Placement<P> = {
    get parts() {
      return unflatten(
        def,
        whole.avals.map((a) => specOf(partAval(a, current().size))),
      ) as Parts<P>
    },
    cut: (tree) => cutTree(tree) as never,
    join: (parts) => joinTree(parts, whole) as never,
    optimizer: (given) => {
      const { init, update } = given
      functionOf(init, 'init of the optimizer', where)
      functionOf(update, 'update of the optimizer', where)
      return optimizerIn(given as unknown as Raw, whole) as never
    },
  }
  insides.set(placement, {
    wholes: (parts, same) => {
      const given = partsIn(parts, whole, current().size, 'parts').map((x) => lift(x as never, where))
      const scalars = same(given.filter((_, i) => !isCut(whole.avals[i]!)))
      let at = 0
      const nodes = given.map((x, i) => (isCut(whole.avals[i]!) ? x : scalars[at++]!))
      return unflatten(def, gathered(nodes, whole.avals, { ranks: current().size, again: placing === 'zero3' }).map(asExpr))
    },
  })
  return placement
}
