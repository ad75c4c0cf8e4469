/** Identity as small numbers: equal primitives, parameters and programs have equal ones, whoever made them. What plan keys are made of. */
import { programsOf } from './expand.js'
import { CONST, capturedTensor, INPUT, type Linear, type Node, OUTPUT } from './expr.js'
import { orderOf } from './order.js'
import { type AnyPrimitive, NO_PARAMS } from './primitive.js'
import type { Program } from './program.js'

/** Numbers as text that reads back to the same bits. */
const numberText = (x: number): string => (Object.is(x, -0) ? '-0' : String(x))

const isPlain = (x: object): boolean => {
  const proto: unknown = Object.getPrototypeOf(x)
  return proto === Object.prototype || proto === null
}

/** Parameters nested deeper than this (or that hold themselves) are equal by identity from there on. */
const DEEP = 64

/**
 * Numbers for what is compared. Parameters are equal by content: numbers by their bits (-0, NaN and the infinities are four values),
 * functions and objects with a class by identity, programs by the structure of their graph in time linear in its size.
 */
export class Identities {
  private readonly values = new Map<unknown, number>()
  private readonly objects = new WeakMap<object, number>()
  private readonly closedPrograms = new WeakMap<Program, number>()
  private readonly openPrograms = new WeakMap<Program, number>()
  private next = 0

  /** How many texts and symbols are held; objects are not. */
  get size(): number {
    return this.values.size
  }
  /** The number of a value: of texts and numbers by content, of anything else by identity. */
  id(x: unknown): number {
    if (typeof x === 'function' || (typeof x === 'object' && x !== null)) {
      let i = this.objects.get(x)
      if (i === undefined) {
        i = this.next++
        this.objects.set(x, i)
      }
      return i
    }
    let i = this.values.get(x)
    if (i === undefined) {
      i = this.next++
      this.values.set(x, i)
    }
    return i
  }
  /** The number of a primitive's parameters; -1 where it has none. With `slots`, those whose programs differ in their literals alone have one. */
  paramsId(prim: AnyPrimitive | null, params: unknown, slots = false): number {
    if (params === NO_PARAMS || params === undefined || params === null) return -1
    if (prim?.programs === undefined) {
      const text = this.text(params, 0)
      return text === '{}' ? -1 : this.id(`params ${text}`)
    }
    const ids = programsOf(prim, params).map((p) => this.programId(p, slots))
    return this.id(`params ${this.text(prim.withPrograms!(params, []), 0)} of ${ids.join()}`)
  }
  /** The number of a closed program. */
  private programId(p: Program, slots: boolean): number {
    const known = slots ? this.openPrograms : this.closedPrograms
    let i = known.get(p)
    if (i === undefined) {
      i = this.id(`program ${this.programText(p, slots)}`)
      known.set(p, i)
    }
    return i
  }

  private text(x: unknown, depth: number): string {
    if (typeof x === 'number') return numberText(x)
    if (typeof x === 'string') return JSON.stringify(x)
    if (typeof x === 'bigint') return `${x}n`
    if (typeof x === 'boolean' || x === undefined || x === null) return String(x)
    if (typeof x !== 'object' || depth > DEEP) return `#${this.id(x)}`
    if (Array.isArray(x)) {
      let text = '['
      for (let i = 0; i < x.length; i++) text += `${i === 0 ? '' : ','}${this.text(x[i], depth + 1)}`
      return `${text}]`
    }
    if (ArrayBuffer.isView(x) && !(x instanceof DataView))
      return `${x.constructor.name}[${Array.from(x as unknown as ArrayLike<number | bigint>, (y) => this.text(y, depth + 1)).join()}]`
    if (!isPlain(x)) return `#${this.id(x)}`
    const keys = Object.keys(x)
    if (keys.length > 1) keys.sort()
    let text = '{'
    for (let i = 0; i < keys.length; i++)
      text += `${i === 0 ? '' : ','}${JSON.stringify(keys[i])}:${this.text((x as Readonly<Record<string, unknown>>)[keys[i]!], depth + 1)}`
    return `${text}}`
  }

  private programText(p: Program, slots: boolean): string {
    const { nodes, index } = orderOf(p.outputs)
    const position = new Map(p.inputs.map((x, i) => [x, i]))
    const of = (n: Node): string => {
      if (n.kind === CONST && slots) return `c${n.dtype}`
      const k = n.kind === INPUT ? position.get(n) : undefined
      return k === undefined ? this.nodeText(n, (a) => index.get(a)) : `i${k}`
    }
    const avals = p.inputs.map((x) => `${x.dtype}${x.shape.join('x')}`).join()
    return `${avals};${nodes.map(of).join(';')};${p.outputs.map((o) => index.get(o)).join()}`
  }
  /** What a node is, over numbers of its arguments. */
  private nodeText(n: Node, number: (a: Node) => number): string {
    if (n.kind === CONST) return `c${n.dtype}${numberText(n.payload as number)}`
    if (n.kind === INPUT) return `x${this.id(capturedTensor(n) ?? n)}`
    const args = n.args.map(number).join()
    return n.kind === OUTPUT ? `o${n.payload as number}(${args})` : `${this.id(n.prim)}:${this.paramsId(n.prim, n.payload)}(${args})`
  }
  /** Numbers of the nodes of an order (but of those `without`, and what is made of them), and of any input: equal expressions over the same inputs have equal ones, whoever built them. */
  nodeIds({ nodes, index }: Linear, without?: Uint8Array): (n: Node) => number {
    const made = new Int32Array(nodes.length).fill(-1)
    const of = (n: Node): number => {
      const k = index.get(n)
      return k < 0 ? this.id(`node ${this.nodeText(n, of)}`) : made[k]!
    }
    for (let i = 0; i < nodes.length; i++) if (without?.[i] !== 1) made[i] = this.id(`node ${this.nodeText(nodes[i]!, of)}`)
    return of
  }
}
