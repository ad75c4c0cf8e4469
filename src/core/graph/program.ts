/** Programs: closed computations with an input tree and an output tree; and tracing, which makes them from functions. */

import { badInput, badShape } from '../errors/explain.js'
import { type Aval, sameAval, showAval } from './aval.js'
import { capturedTensor, INPUT, type InputInfo, input, isExpr, type Linear, type Node } from './expr.js'
import { lift } from './lift.js'
import { orderOf } from './order.js'
import { substitute } from './rewrite.js'
import { classOf, flatten, isLeaf, leafPaths, MAX_DEPTH, type TreeDef } from './tree.js'

/** A closed computation. `captured` are the hidden inputs: tensors that the function closed over, read at every call. */
export interface Program {
  readonly name: string
  readonly inputs: readonly Node[]
  readonly inputTree: TreeDef
  readonly outputs: readonly Node[]
  readonly outputTree: TreeDef
  readonly captured: readonly Node[]
}

/** What a trace gave: it may depend on expressions of an enclosing trace. */
export type Traced = Omit<Program, 'captured'>

/** The program of a trace, with its captured tensors; or an input, neither its own nor a tensor, on which an output depends. */
export const closed = (p: Traced): Program | Node => {
  const own = new Set(p.inputs)
  const captured: Node[] = []
  const { nodes } = orderOf(p.outputs)
  for (let i = 0; i < nodes.length; i++) {
    const n = nodes[i]!
    if (n.kind !== INPUT || own.has(n)) continue
    if (capturedTensor(n) === undefined) return n
    captured.push(n)
  }
  return { ...p, captured }
}

/** Makes a Program; raises when an output depends on an input that is not its own. */
export const makeProgram = (p: Traced): Program => {
  const program = closed(p)
  if (!isExpr(program)) return program
  const { name } = program.payload as InputInfo
  return badInput(
    p.name,
    `the result depends on an expression${name ? ` (${name})` : ''} that is not an input of ${p.name}: it leaked out of another trace.`,
    'inside a function that is traced use it as it is: the numbers are in the result of the outermost call. Return it from the function that made it, or pass it as an argument; a function that captures one can be called there, not compiled or evaluated.',
  )
}

const LEAF: TreeDef = { _tag: 'Leaf' }
/** A program of inputs and outputs in order. */
export const flatProgram = (name: string, inputs: readonly Node[], outputs: readonly Node[]): Program =>
  makeProgram({
    name,
    inputs,
    inputTree: { _tag: 'Tuple', items: inputs.map(() => LEAF) },
    outputs,
    outputTree: { _tag: 'Tuple', items: outputs.map(() => LEAF) },
  })

/** The output tree of a traced body as nodes; numbers become literals, tensors hidden inputs. */
export const liftTree = (tree: unknown, where: string): { readonly nodes: Node[]; readonly def: TreeDef } => {
  const { leaves, def } = flatten(tree, where)
  return { nodes: leaves.map((l) => lift(l, where)), def }
}

/** The leaves of an argument list, which is a tuple even where it is empty. */
export const leavesOfList = (list: readonly unknown[], where: string): { readonly leaves: unknown[]; readonly def: TreeDef } =>
  flatten(list, where, (x) => x !== list && isLeaf(x), 'argument ', 2)
/** An argument list as nodes. */
export const liftList = (list: readonly unknown[], where: string): { readonly nodes: Node[]; readonly def: TreeDef } => {
  const { leaves, def } = leavesOfList(list, where)
  return { nodes: leaves.map((l) => lift(l, where)), def }
}

/** Fresh inputs for avals, in a tree. */
export const freshInputs = (def: TreeDef, avals: readonly Aval[], name = ''): Node[] => {
  const paths = leafPaths(def)
  return avals.map((a, i) => input(a, paths[i] === '' ? name || 'x' : paths[i]))
}

/** A program's outputs over other arguments. */
export const inline = (p: Program, args: readonly Node[]): Node[] => {
  args.forEach((a, i) => {
    if (!sameAval(a.aval, p.inputs[i]!.aval))
      badShape(p.name, [a.shape, p.inputs[i]!.shape], `argument ${i} is ${showAval(a.aval)}, declared ${showAval(p.inputs[i]!.aval)}`)
  })
  return substitute(p.outputs, new Map(p.inputs.map((x, i) => [x, args[i]!])))
}

const TOO_DEEP = Symbol('too deep')
const holdsExpr = (tree: unknown, depth: number): boolean => {
  if (isExpr(tree)) return true
  if (typeof tree !== 'object' || tree === null || ArrayBuffer.isView(tree)) return false
  if (depth > MAX_DEPTH) throw TOO_DEEP
  if (Array.isArray(tree)) {
    if (tree.length > 0 && typeof tree[0] === 'number') return false
    for (let i = 0; i < tree.length; i++) {
      if (holdsExpr(tree[i], depth + 1)) return true
      if (!(i in tree)) return false // sparse, perhaps of any length
    }
    return false
  }
  const proto = Object.getPrototypeOf(tree)
  if (proto !== Object.prototype && proto !== null) {
    const of = classOf(tree)
    return of !== undefined && holdsExpr(of.toTree(tree as never), depth + 1)
  }
  for (const x of Object.values(tree)) if (holdsExpr(x, depth + 1)) return true
  return false
}
/** Does any leaf of the tree hold an expression? Not of one that cannot be walked to its end: whoever takes it apart says why. */
export const hasExpr = (tree: unknown): boolean => {
  try {
    return holdsExpr(tree, 0)
  } catch {
    return false
  }
}

/** Which of the nodes depend on any of `from`; by position in the linear order. */
export const dependents = (linear: Linear, from: readonly Node[]): Uint8Array => {
  const active = new Uint8Array(linear.nodes.length)
  for (const f of from) {
    const i = linear.index.get(f)
    if (i >= 0) active[i] = 1
  }
  for (let i = 0; i < linear.nodes.length; i++) {
    const { args } = linear.nodes[i]!
    for (let k = 0; k < args.length && active[i] === 0; k++) active[i] = active[linear.index.get(args[k]!)]!
  }
  return active
}
