/**
 * Expressions: an immutable DAG of `Input | Const | Apply | Output`. A node is data; interpreters give it meaning.
 * `Node` is the class behind the public face `Expr<S, D>` (types/expr.ts).
 */

import { badInput } from '../errors/explain.js'
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
/** Is anybody told? */
export const isWatched = (): boolean => watcher !== undefined

/** Nodes of a page of a table. Many graphs are small: a typed array, or a larger page, takes longer to make than such a graph to walk. */
const PAGE = 256

/**
 * One node. `data` is an InputInfo, a literal (number), an Apply's parameters, or an Output's position.
 * An Apply with several results has the aval of its first and appears as an argument of Output only.
 */
export class Node {
  declare readonly _tag: 'Expr'
  readonly #id: number = built++
  #results: readonly Node[] | undefined = undefined
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
  /** Of an application of several results its outputs, one for each of these avals: made once, so that a result is one node whoever asks for it. */
  static outputs(node: Node, avals: () => readonly Aval[]): readonly Node[] {
    node.#results ??= avals().map((a, i) => new Node(OUTPUT, a, null, [node], i))
    return node.#results
  }
  /** Pages by number: neither hashing nor a set per node. Here, because it reads the number of every node that a walk meets. */
  static readonly Index: new () => NodeIndex = class implements NodeIndex {
    private readonly pages = new Map<number, number[]>()
    private lastKey = -1
    private last: number[] | undefined
    private turnTo(key: number): number[] | undefined {
      this.lastKey = key
      this.last = this.pages.get(key)
      return this.last
    }
    get(node: Node): number {
      const id = node.#id
      const at = id % PAGE
      const key = (id - at) / PAGE
      const page = key === this.lastKey ? this.last : this.turnTo(key)
      return page === undefined ? -1 : page[at]!
    }
    has(node: Node): boolean {
      return this.get(node) >= 0
    }
    set(node: Node, value: number): void {
      const id = node.#id
      const at = id % PAGE
      const key = (id - at) / PAGE
      let page = key === this.lastKey ? this.last : this.turnTo(key)
      if (page === undefined) {
        page = new Array<number>(PAGE).fill(-1)
        this.pages.set(key, page)
        this.last = page
      }
      page[at] = value
    }
    sort(list: readonly Node[]): Node[] {
      const sorted: Node[] = []
      let [first, last] = [Number.POSITIVE_INFINITY, 0]
      for (let i = 0; i < list.length; i++) {
        const id = list[i]!.#id
        if (id < first) first = id
        if (id > last) last = id
      }
      for (const key of [...this.pages.keys()].sort((a, b) => a - b)) {
        const page = this.pages.get(key)!
        const end = Math.min(PAGE, last + 1 - key * PAGE)
        for (let i = Math.max(0, first - key * PAGE); i < end; i++) if (page[i]! >= 0) page[i] = sorted.push(list[page[i]!]!) - 1
      }
      return sorted
    }
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
    return badInput(
      'JSON.stringify',
      `it was given an expression (${this.inWords()}), which is no data of JSON.`,
      'write toJSON(toProgram(f)(...examples)) for a function, show(x) for a text, or the tensor that evaluate(x) gives.',
    )
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

/** The nodes that an application's results are: itself, or its outputs. */
export const resultsOf = (node: Node): readonly Node[] => (node.prim!.multi ? Node.outputs(node, () => avalsOf(node)) : [node])

/** Applies a primitive with several results: its outputs, in order. */
export const applyMulti = <P>(prim: Primitive<string, P>, args: readonly Node[], params: P): readonly Node[] => {
  const avals = prim.shapeRule(
    args.map((x) => x.aval),
    params,
  ) as readonly Aval[]
  const node = new Node(APPLY, avals[0] ?? NOTHING, prim as AnyPrimitive, args, params)
  if (watcher !== undefined) watcher(node)
  return Node.outputs(node, () => avals)
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
    return node.prim!.multi ? Node.outputs(made, () => resultAvals(node)) : [made]
  }
  const avals = node.prim!.shapeRule(
    args.map((x) => x.aval),
    node.payload,
  )
  if (!node.prim!.multi) return [copyOf(node, avals as Aval, args)]
  const all = avals as readonly Aval[]
  return Node.outputs(copyOf(node, all[0] ?? NOTHING, args), () => all)
}
const copyOf = (node: Node, a: Aval, args: readonly Node[]): Node => {
  const made = new Node(APPLY, a, node.prim, args, node.payload)
  if (watcher !== undefined) watcher(made, node)
  return made
}

/** A table from nodes to small integers. */
export interface NodeIndex {
  /** The integer of a node, -1 where none was set. */
  get(node: Node): number
  has(node: Node): boolean
  set(node: Node, value: number): void
  /** Sets the nodes of a list, each of which has its position there, in the order of their numbers; these are their positions from now on. */
  sort(list: readonly Node[]): Node[]
}
export const NodeIndex = Node.Index

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
