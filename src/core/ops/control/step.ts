/** One step of a loop over trees, traced: its carry keeps its tree, shapes and dtypes. */
import { shown } from '../../errors/check-arguments.js'
import { badDtype, badInput, badShape, showShape } from '../../errors/explain.js'
import { type Aval, aval, isFloat, sameAval, showAval } from '../../graph/aval.js'
import { castPrimitive } from '../../graph/cast.js'
import { asExpr, INPUT, input, type Node } from '../../graph/expr.js'
import { lift } from '../../graph/lift.js'
import { orderOf } from '../../graph/order.js'
import { dependents } from '../../graph/program.js'
import { flatten, leafPaths, sameDef, showDef, type TreeDef, unflatten } from '../../graph/tree.js'
import { beside, isWeak } from '../../graph/weak.js'

/** A tree as nodes. Numbers and constants without a dtype take that of what comes back. */
export interface Leaves {
  readonly def: TreeDef
  readonly nodes: readonly Node[]
  readonly paths: readonly string[]
}
export const leavesOf = (tree: unknown, where: string): Leaves => {
  const { leaves, def } = flatten(tree, where)
  return { def, nodes: leaves.map((x) => lift(x, where)), paths: leafPaths(def) }
}
const NOTHING: Leaves = { def: { _tag: 'Tuple', items: [] }, nodes: [], paths: [] }
export const isNothing = (x: unknown): boolean => x === undefined || x === null
export const treeOf = ({ def }: Leaves, nodes: readonly Node[]): unknown => unflatten(def, nodes.map(asExpr))
export const placed = (what: string, path: string): string => (path === '' ? what : `${what} at ${path}`)

/** Are two trees of one structure? Else an error that says where they differ. */
export const sameTree = (op: string, what: string, got: Leaves, want: Leaves): void => {
  if (sameDef(want.def, got.def)) return
  badInput(op, `${what} is ${showDef(got.def)}, it must be ${showDef(want.def)}.`, 'return the same tree, with one array for each *.')
}
/** Is a leaf of the shape and dtype of another? Else an error that names the leaf. */
export const sameLeaf = (op: string, what: string, got: Aval, want: Aval): void => {
  if (sameAval(got, want)) return
  const reason = `${what} is ${showAval(got)}, it must be ${showAval(want)}`
  if (got.dtype !== want.dtype) badDtype(op, [got.dtype, want.dtype], reason, `cast it to ${want.dtype}, or begin with ${got.dtype}.`)
  badShape(op, [got.shape, want.shape], `${reason}.`, `begin with ${showShape(got.shape)}, or return ${showShape(want.shape)}.`)
}

/** What of a body is the same at every step is computed once, outside: what depends on none of its inputs, but on some array. */
export const invariant = (inputs: readonly Node[], outputs: readonly Node[]): ((n: Node) => boolean) => {
  const linear = orderOf(outputs)
  const own = new Set(inputs)
  const depends = dependents(linear, inputs)
  const reads = dependents(
    linear,
    linear.nodes.filter((n) => n.kind === INPUT && !own.has(n)),
  )
  return (n) => {
    const i = linear.index.get(n)
    return depends[i] !== 1 && reads[i] === 1 && n.prim?.class !== 'layout'
  }
}

/** What errors say: the operation, and what its body's result is called. */
export interface Said {
  readonly op: string
  readonly returned: string
}
/** From the carry and the slices of a step to the next carry and what is stacked. */
export type StepFn = (carry: unknown, x: unknown) => unknown
/** One step as f computes it. */
interface Step {
  readonly inputs: readonly Node[]
  readonly carry: readonly Node[]
  readonly ys: Leaves | undefined
  /** The carry, then what is stacked. */
  readonly outputs: readonly Node[]
}
/** Traces f over a carry and slices of these kinds. */
const stepOf = ({ op, returned }: Said, f: StepFn, carry: Leaves, xs: Leaves | undefined): Step => {
  const c = carry.nodes.map((n, i) => input(n.aval, carry.paths[i] || 'carry'))
  const x = (xs ?? NOTHING).nodes.map((n, i) => input(aval(n.shape.slice(1), n.dtype), xs!.paths[i] || 'x'))
  const made = f(treeOf(carry, c), xs === undefined ? undefined : treeOf(xs, x))
  if (!Array.isArray(made) || made.length !== 2) badInput(op, `f returned ${shown(made)}.`, 'return [carry, y]; y may be null.')
  const [next, y] = made as unknown as readonly [unknown, unknown]
  const after = leavesOf(next, `${op}: ${returned}`)
  sameTree(op, returned, after, carry)
  const ys = isNothing(y) ? undefined : leavesOf(y, `${op}: y`)
  return { inputs: [...c, ...x], carry: after.nodes, ys, outputs: [...after.nodes, ...(ys?.nodes ?? [])] }
}
interface Settled {
  readonly carry: Leaves
  readonly xs: Leaves | undefined
  readonly step: Step
}
const asF32 = (tree: Leaves, which: (n: Node, i: number) => boolean): Leaves => ({
  ...tree,
  nodes: tree.nodes.map((n, i) => (which(n, i) ? beside(n, 'f32') : n)),
})
/**
 * Which inputs of a step meet an f32: what operations of floats make one of both. A carry is what comes back for it. What somebody casts to f32 is that alone, and not what it was made of.
 */
const meetsF32 = ({ inputs, carry, outputs }: Step): ((input: Node) => boolean) => {
  const above = new Map<Node, Node>()
  const root = (n: Node): Node => {
    let r = n
    for (let m = above.get(r); m !== undefined; m = above.get(r)) r = m
    for (let m = n; m !== r; ) {
      const next = above.get(m)!
      above.set(m, r)
      m = next
    }
    return r
  }
  const one = (a: Node, b: Node): void => {
    const [x, y] = [root(a), root(b)]
    if (x !== y) above.set(x, y)
  }
  const { nodes } = orderOf(outputs)
  for (const n of nodes) {
    if (n.prim === castPrimitive && n.dtype === 'f32' && n.args[0]!.dtype === 'f64') continue
    for (const x of n.args) if (isFloat(x.dtype) && (isFloat(n.dtype) || n.prim?.multi === true)) one(n, x)
  }
  carry.forEach((n, i) => {
    one(n, inputs[i]!)
  })
  const narrow = new Set([...nodes, ...inputs].filter((n) => n.dtype === 'f32').map(root))
  return (n) => narrow.has(root(n))
}
/**
 * The same, with a carry whose dtypes stay what they are. A carry (and slices) to which nobody gave a dtype, and that meets an f32 in the body, is f32 where f then
 * returns one there.
 */
export const settled = (op: Said, f: StepFn, carry: Leaves, xs: Leaves | undefined): Settled => {
  const step = stepOf(op, f, carry, xs)
  const weak = [...carry.nodes, ...(xs?.nodes ?? [])].map(isWeak)
  if (weak.includes(true)) {
    const meets = meetsF32(step)
    const narrowed = step.inputs.map((n, i) => weak[i]! && meets(n))
    const sliced = narrowed.slice(carry.nodes.length)
    let open = narrowed.slice(0, carry.nodes.length)
    while (open.includes(true) || sliced.includes(true)) {
      const narrow = asF32(carry, (_, i) => open[i]!)
      const slices = xs && asF32(xs, (_, i) => sliced[i]!)
      const trial = stepOf(op, f, narrow, slices)
      const next = trial.carry.map((n, i) => beside(n, narrow.nodes[i]!.dtype))
      const wrong = next.map((n, i) => open[i]! && n.dtype !== 'f32')
      if (!wrong.includes(true)) return fixed(op, { carry: narrow, xs: slices, step: trial })
      open = open.map((o, i) => o && !wrong[i])
    }
  }
  return fixed(op, { carry, xs, step })
}
/** A step whose carry is what it began with. */
const fixed = ({ op, returned }: Said, { carry, xs, step }: Settled): Settled => {
  const next = step.carry.map((n, i) => beside(n, carry.nodes[i]!.dtype))
  next.forEach((n, i) => {
    sameLeaf(op, placed(returned, carry.paths[i]!), n.aval, carry.nodes[i]!.aval)
  })
  if (next.every((n, i) => n === step.carry[i])) return { carry, xs, step }
  return { carry, xs, step: { ...step, carry: next, outputs: [...next, ...(step.ys?.nodes ?? [])] } }
}
