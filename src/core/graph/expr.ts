/**
 * Expressions: an immutable DAG of `Input | Const | Apply | Output`. A node is data; interpreters give it meaning.
 * `Node` is the class behind the public face `Expr<S, D>` (types/expr.ts).
 */

import { raise } from '../errors/explain.js'
import { brand, ofAnotherCopy, operationsOr, refuseCoercion, refuseNumbers, toEvaluate } from '../errors/language.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import { type Aval, aval, sameAval } from './aval.js'
import type { AnyPrimitive, Primitive } from './primitive.js'
import type { Tensor } from './tensor.js'

export const INPUT = 0
export const CONST = 1
export const APPLY = 2
export const OUTPUT = 3

const NO_ARGS: readonly Node[] = Object.freeze([])

/** What an input is: its name for printing, or the captured Tensor that it reads at every call. */
export interface InputInfo {
  readonly name?: string
  readonly captured?: Tensor
}

/** The tensor that a hidden input reads; undefined for an ordinary input. */
export const capturedTensor = (node: Node): Tensor | undefined => (node.kind === INPUT ? (node.payload as InputInfo).captured : undefined)

/** The path of an input without its argument's number, where that is the first. */
export const plain = (path: string): string => path.replace(/^0(\.|$)/, '')
/** What programs call an input: `w` in the first argument, `x1.w` in the second; nothing where it is the first argument itself. */
export const inputName = (path: string): string => (/^\d/.test(plain(path)) ? `x${path}` : plain(path))

let built = 0
/** How many nodes there have been. */
export const nodesBuilt = (): number => built

/** Told of every application that is built; of the same application over other arguments with the one that it was. */
export type Watcher = (node: Node, was?: Node) => void
let watcher: Watcher | undefined
/** From now on `f` is told; undefined: nobody is. Gives back who was told before. For replays only. */
export const watchApplies = (f: Watcher | undefined): Watcher | undefined => {
  const before = watcher
  watcher = f
  return before
}

/**
 * One node. `data` is an InputInfo, a literal (number), an Apply's parameters, or an Output's position.
 * An Apply with several results has the aval of its first and appears as an argument of Output only.
 */
export class Node {
  declare readonly _tag: 'Expr'
  readonly #id: number = built++
  constructor(
    readonly kind: 0 | 1 | 2 | 3,
    readonly aval: Aval,
    readonly prim: AnyPrimitive | null,
    readonly args: readonly Node[],
    readonly payload: unknown,
  ) {}
  /** Position in build order: arguments have smaller numbers than their users. Never part of any key. */
  get id(): number {
    return this.#id
  }
  /** Made by this copy of codual: nothing else has the private field, neither what JSON gives nor a Proxy, whose traps are not asked. */
  static is(x: unknown): x is Node {
    return typeof x === 'object' && x !== null && #id in x
  }
  get shape(): readonly number[] {
    return this.aval.shape
  }
  get dtype(): DType {
    return this.aval.dtype
  }
  /** What it is, not what it is made of (`show` prints that). */
  private inWords(): string {
    const { kind, payload: data } = this
    const what =
      kind === CONST
        ? Object.is(data, -0)
          ? '-0'
          : String(data)
        : kind === INPUT
          ? inputName((data as InputInfo).name ?? '') || ((data as InputInfo).captured === undefined ? 'input' : 'tensor')
          : (this.prim ?? this.args[0]!.prim)!.name
    return `Expr ${what}: ${this.aval.dtype} [${this.aval.shape.join(', ')}]`
  }
  /** Printed by Node's console and by `String(x)`. */
  toString(): string {
    return `${this.inWords()}${this.kind !== CONST && isClosed(this) ? ' (evaluate(x) gives its numbers)' : ''}`
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
  /** JSON.stringify has no word for shared parts, of which an expression is made. */
  toJSON(): never {
    return raise({
      _tag: 'BadInput',
      where: 'JSON.stringify',
      reason: `it was given an expression (${this.inWords()}), which is no data of JSON.`,
      fix: 'write toJSON(toProgram(f)(...examples)) for a function, show(x) for a text, or the tensor that evaluate(x) gives.',
    })
  }
}
Object.defineProperty(Node.prototype, '_tag', { value: 'Expr', enumerable: false })
brand(Node.prototype, 'expression')
refuseCoercion(Node.prototype, 'an expression', (x) => operationsOr(isClosed(x) ? toEvaluate : undefined))
refuseNumbers(Node.prototype, (x) => isClosed(x))

/** Does an expression depend on no input, so that it can be evaluated? For messages: it looks at all of it. */
export const isClosed = (x: object): boolean =>
  Node.is(x) && linearize([x]).nodes.every((n) => n.kind !== INPUT || capturedTensor(n) !== undefined)

/** The node as the public face. The one cast between the two. */
export const asExpr = (x: Node): AnyExpr => x as unknown as AnyExpr
export const asNode = (x: unknown): Node => x as Node
/** The same of lists: the very list, which may have its order with it (order.ts). */
export const asExprs = (xs: readonly Node[]): readonly AnyExpr[] => xs as unknown as readonly AnyExpr[]
export const asNodes = (xs: readonly AnyExpr[]): readonly Node[] => xs as unknown as readonly Node[]
export const isExpr = Node.is

/** A fresh input: unique by identity. */
export const input = (a: Aval, name?: string): Node => new Node(INPUT, a, null, NO_ARGS, name === undefined ? {} : { name })
/** A literal of rank 0. */
export const constant = (value: number, dtype: DType): Node => new Node(CONST, aval([], dtype), null, NO_ARGS, literal(value, dtype))

const literal = (value: number, dtype: DType): number =>
  dtype === 'f32' ? Math.fround(value) : dtype === 'i32' ? value | 0 : dtype === 'bool' ? (value !== 0 ? 1 : 0) : value

/** Applies a primitive with one result. Arguments are expressions already (see lift.ts). */
export const apply = <P>(prim: Primitive<string, P>, args: readonly Node[], params: P): Node => {
  const avals = args.length === 1 ? [args[0]!.aval] : args.length === 2 ? [args[0]!.aval, args[1]!.aval] : args.map((x) => x.aval)
  const node = new Node(APPLY, prim.shapeRule(avals, params) as Aval, prim as AnyPrimitive, args, params)
  if (watcher !== undefined) watcher(node)
  return node
}

/** The outputs of each application of several results: made once, so that a result is one node whoever asks for it. */
const outputs = new WeakMap<Node, readonly Node[]>()
const withOutputs = (node: Node, avals: readonly Aval[]): readonly Node[] => {
  const made = avals.map((a, i) => new Node(OUTPUT, a, null, [node], i))
  outputs.set(node, made)
  return made
}
/** The nodes that an application's results are: itself, or its outputs. */
export const resultsOf = (node: Node): readonly Node[] =>
  node.prim!.multi ? (outputs.get(node) ?? withOutputs(node, avalsOf(node))) : [node]

/** Applies a primitive with several results: its outputs, in order. */
export const applyMulti = <P>(prim: Primitive<string, P>, args: readonly Node[], params: P): readonly Node[] => {
  const avals = prim.shapeRule(
    args.map((x) => x.aval),
    params,
  ) as readonly Aval[]
  const node = new Node(APPLY, avals[0] ?? NOTHING, prim as AnyPrimitive, args, params)
  if (watcher !== undefined) watcher(node)
  return withOutputs(node, avals)
}
/** The aval of an application without results. */
const NOTHING = aval([0], 'f64')

/** Applies any primitive: a list of results. */
export const applyAny = <P>(prim: Primitive<string, P>, args: readonly Node[], params: P): readonly Node[] =>
  prim.multi ? applyMulti(prim, args, params) : [apply(prim, args, params)]

/** Avals of all results of an Apply. */
export const resultAvals = (node: Node): readonly Aval[] => (node.prim!.multi ? resultsOf(node).map((y) => y.aval) : [node.aval])
const avalsOf = (node: Node): readonly Aval[] =>
  node.prim!.shapeRule(
    node.args.map((x) => x.aval),
    node.payload,
  ) as readonly Aval[]

/** The results of the same application over other arguments; its own where those are its arguments. */
export const reapplied = (node: Node, args: readonly Node[]): readonly Node[] => {
  let same = true
  let alike = true
  for (let i = 0; i < args.length; i++) {
    if (args[i] === node.args[i]) continue
    same = false
    if (!sameAval(args[i]!.aval, node.args[i]!.aval)) alike = false
  }
  if (same) return resultsOf(node)
  // Arguments of the same avals give results of the same avals: no shape rule is asked.
  if (alike) {
    const made = copyOf(node, node.aval, args)
    return node.prim!.multi ? withOutputs(made, resultAvals(node)) : [made]
  }
  const avals = node.prim!.shapeRule(
    args.map((x) => x.aval),
    node.payload,
  )
  if (!node.prim!.multi) return [copyOf(node, avals as Aval, args)]
  const all = avals as readonly Aval[]
  return withOutputs(copyOf(node, all[0] ?? NOTHING, args), all)
}
const copyOf = (node: Node, a: Aval, args: readonly Node[]): Node => {
  const made = new Node(APPLY, a, node.prim, args, node.payload)
  if (watcher !== undefined) watcher(made, node)
  return made
}

/** Up to this length a plain array is made faster than a typed one. */
const SMALL = 512

/** A table from nodes to small integers: an array over the numbers of nodes that were built near each other, a map for the few that were not. */
export class NodeIndex {
  /** Integers plus one of the nodes from this number on; 0 where none was set. */
  private near: number[] | Int32Array = []
  private from = 0
  private count = 0
  private far: Map<number, number> | undefined
  /** The integer of a node, -1 where none was set. */
  get(node: Node): number {
    const k = node.id - this.from
    return k >= 0 && k < this.near.length ? this.near[k]! - 1 : (this.far?.get(node.id) ?? -1)
  }
  has(node: Node): boolean {
    return this.get(node) >= 0
  }
  set(node: Node, value: number): void {
    const { id } = node
    let k = id - this.from
    if (k < 0 || k >= this.near.length) {
      if (!this.reach(id)) {
        this.far ??= new Map()
        this.far.set(id, value)
        return
      }
      k = id - this.from
    }
    if (this.near[k] === 0) this.count++
    this.near[k] = value + 1
  }
  /** Makes the array reach a number, unless most of it would stay empty. */
  private reach(id: number): boolean {
    const { near, from, far } = this
    const [low, high] = near.length === 0 ? [id - 31, id + 1] : [Math.min(id, from), Math.max(id + 1, from + near.length)]
    if (high - low > 64 + 16 * this.count) return false
    // At least twice as long, on the side where it grows.
    const more = Math.max(0, 2 * near.length - (high - low))
    this.from = id < from ? low - more : low
    const size = high - low + more
    const k = near.length === 0 ? 0 : from - this.from
    if (size > SMALL) {
      const longer = new Int32Array(size)
      longer.set(near, k)
      this.near = longer
    } else {
      this.near = new Array<number>(size).fill(0)
      for (let i = 0; i < near.length; i++) this.near[k + i] = near[i]!
    }
    if (far !== undefined)
      for (const [other, value] of far) {
        const k = other - this.from
        if (k < 0 || k >= this.near.length) continue
        this.near[k] = value + 1
        this.count++
        far.delete(other)
      }
    return true
  }
  /** Sets the nodes of a list, each of which has its position there, in the order of their numbers; these are their positions from now on. */
  sort(list: readonly Node[]): Node[] {
    const { near, far } = this
    const sorted: Node[] = []
    const others = far === undefined ? [] : [...far].sort(([a], [b]) => a - b)
    const add = (node: Node): number => sorted.push(node)
    let k = 0
    for (; k < others.length && others[k]![0] < this.from; k++) far!.set(others[k]![0], add(list[others[k]![1]]!) - 1)
    for (let i = 0; i < near.length; i++) if (near[i]! > 0) near[i] = add(list[near[i]! - 1]!)
    for (; k < others.length; k++) far!.set(others[k]![0], add(list[others[k]![1]]!) - 1)
    return sorted
  }
}

/** Nodes reachable from `roots` in the order in which they were built (so arguments come before users), and their positions. */
export interface Linear {
  readonly nodes: readonly Node[]
  readonly index: NodeIndex
}

/** Linearizes a DAG: a worklist, so depth has no limit. Nodes for which `cut` holds are among them, what is below those is not. */
export const linearize = (roots: readonly Node[], cut?: (n: Node) => boolean): Linear => {
  const index = new NodeIndex()
  const found: Node[] = []
  const stack: Node[] = []
  const meet = (node: Node): void => {
    if (index.has(node)) return
    index.set(node, found.push(node) - 1)
    stack.push(node)
  }
  for (const root of roots) {
    if (!Node.is(root)) return ofAnotherCopy(root)
    meet(root)
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (cut?.(node)) continue
      const args = node.args
      for (let i = 0; i < args.length; i++) meet(args[i]!)
    }
  }
  return { nodes: index.sort(found), index }
}
