/**
 * Drawing a program step by step. Every step is traced and evaluated by the meanings as it is drawn, so that a builder knows the values it
 * works on: arguments are put into the domain of an operation, and values at a kink, at a tie or beyond bounds are drawn again.
 */
import { random } from '../../../src/check/index.js'
import { aval, isFloat } from '../../../src/core/graph/aval.js'
import { evaluateNodes } from '../../../src/core/graph/evaluate.js'
import { input as inputNode, isExpr, type Node } from '../../../src/core/graph/expr.js'
import type { NDArray } from '../../../src/core/graph/ndarray.js'
import { sizeOf } from '../../../src/core/graph/shape.js'
import type { DType } from '../../../src/core/types/dtype.js'
import { isAdException } from '../../../src/index.js'
import {
  type Api,
  arrayOf,
  COMPOUND,
  callOf,
  type Input,
  isRef,
  type Lambda,
  type Param,
  type Ref,
  type Step,
  shipped,
  type Template,
} from './program.js'

/** A builder gives up: what it drew so far is forgotten. */
export class Redraw extends Error {}
export const redraw = (why: string): never => {
  throw new Redraw(why)
}

/** A value of the program so far, at the point where it is drawn. */
export interface Value extends Ref {
  readonly node: Node
  readonly array: NDArray
  /** Made exactly, on a coarse grid: ties among such values are ties on every backend. */
  readonly exact: boolean
  /** A step made it: reading it again is sharing. */
  readonly made: boolean
}
export const shapeOf = (v: Value): readonly number[] => v.array.shape
export const rankOf = (v: Value): number => v.array.shape.length
export const dtypeOf = (v: Value): DType => v.array.dtype
export const isFloatValue = (v: Value): boolean => isFloat(v.array.dtype)
export const rangeOf = (v: Value): readonly [number, number] => {
  let [lo, hi] = [Infinity, -Infinity]
  for (const x of v.array.data) {
    if (x < lo) lo = x
    if (x > hi) hi = x
  }
  return [lo, hi]
}
export const ref = (v: Ref): Ref => ({ ref: v.ref })

/** Largest array, largest number, and what is far enough from a kink, in f64 and f32. */
export const CAP = 160
const BOUND = 300
export const gapOf = (d: DType): number => (d === 'f32' ? 2e-3 : 1e-6)

// Operations that give exact results of exact arguments: moves, and arithmetic on a coarse grid.
const EXACT = new Set(
  'neg abs sign relu add sub mul maximum minimum where select stopGradient clamp reshape transpose broadcastTo slice concat stack split unstack pad flip roll tile repeat expandDims squeeze gather take setAt scatterAdd dynamicSlice dynamicUpdateSlice takeAlongAxis sort topk max min sum cumsum diag tril triu zeros ones full zerosLike onesLike eye arange oneHot cast floor ceil round assertShape'.split(
    ' ',
  ),
)
const onGrid = (x: number): boolean => Math.abs(x) <= 64 && Number.isInteger(x * 32)

export interface DrawOptions {
  readonly api?: Api
  readonly wild?: boolean
  readonly dtype?: DType
  readonly maxInputs?: number
}

/** What is shared by a program and the functions inside it. */
interface Shared {
  next: () => number
  ids: number
  readonly inputs: Input[]
  kinked: boolean
  readonly refused: Map<string, number>
}

export class Draw {
  readonly pool: Value[] = []
  steps: Step[] = []
  private readonly known = new Map<Node, NDArray>()
  readonly api: Api
  readonly wild: boolean
  readonly dtype: DType
  private readonly maxInputs: number
  readonly depth: number
  private readonly shared: Shared
  /** Inside `map`: only operations of numbers. */
  readonly scalar: boolean

  constructor(seed: number, options: DrawOptions = {}, parent?: Draw, scalar = false) {
    this.api = options.api ?? shipped
    this.wild = options.wild ?? false
    this.dtype = options.dtype ?? 'f64'
    this.maxInputs = options.maxInputs ?? 5
    this.depth = parent === undefined ? 0 : parent.depth + 1
    this.shared = parent?.shared ?? { next: random(seed), ids: 0, inputs: [], kinked: false, refused: new Map() }
    this.scalar = scalar
    if (parent !== undefined) for (const [n, a] of parent.known) this.known.set(n, a)
  }

  get inputs(): readonly Input[] {
    return this.shared.inputs
  }
  get kinked(): boolean {
    return this.shared.kinked
  }
  /** Why calls were refused while drawing, by operation. */
  get refused(): ReadonlyMap<string, number> {
    return this.shared.refused
  }
  onKink(): void {
    this.shared.kinked = true
  }

  // ---- numbers
  next = (): number => this.shared.next()
  int = (n: number): number => Math.floor(this.next() * n)
  between = (low: number, high: number): number => low + this.int(high - low + 1)
  chance = (p: number): boolean => this.next() < p
  of = <T>(xs: readonly T[]): T => (xs.length === 0 ? redraw('nothing to choose from') : xs[this.int(xs.length)]!)
  /** A number that prints short. */
  number = (low: number, high: number): number => {
    const x = low + (high - low) * this.next()
    return Math.round(x * 1024) / 1024
  }
  length = (): number => this.of([1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 7, 9, ...(this.chance(0.12) ? [0, 17] : [])])
  shape = (rank = this.of([0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5])): readonly number[] => {
    const s = Array.from({ length: rank }, () => (rank > 3 ? this.of([1, 1, 2, 2, 3]) : this.length()))
    return sizeOf(s) <= CAP ? s : this.shape(rank)
  }

  // ---- values
  private freshId = (): number => this.shared.ids++
  add(id: number, node: Node, array: NDArray, exact: boolean, made: boolean): Value {
    const v = { ref: id, node, array, exact, made }
    this.known.set(node, array)
    this.pool.push(v)
    return v
  }
  /** A new argument (or captured tensor) of the program. */
  input(shape: readonly number[], dtype: DType = this.dtype, [low, high]: readonly [number, number] = [-2, 2]): Value {
    const exact = dtype === 'i32' || dtype === 'bool' || this.chance(0.25)
    const values = Array.from({ length: sizeOf(shape) }, () => {
      const x = low + (high - low) * this.next()
      if (dtype === 'i32') return Math.floor(x)
      if (dtype === 'bool') return this.chance(0.5) ? 1 : 0
      // On a grid of halves (ties happen), or of the dtype's own fine numbers.
      const fine = Math.fround(x)
      return exact ? Math.min(Math.max(Math.round(x * 4) / 4, Math.ceil(low * 4) / 4), high) : dtype === 'f32' ? fine : x
    })
    const captured = this.depth === 0 && this.chance(0.15)
    const given: Input = { id: this.freshId(), shape, dtype, values, ...(captured && { captured }) }
    this.shared.inputs.push(given)
    const array = arrayOf(given)
    const node = captured ? (this.call(this.api.tensor, [array.data, shape, dtype]) as { node: Node }).node : inputNode(aval(shape, dtype))
    return this.add(given.id, node, array, exact && array.data.every(onGrid), false)
  }
  private call(f: unknown, xs: readonly unknown[]): unknown {
    return (f as (...ys: readonly unknown[]) => unknown)(...xs)
  }
  /** May another input be made here? Inside a function it would not be its own. */
  canInput = (): boolean => this.depth === 0 && this.shared.inputs.length < this.maxInputs

  /** One of the values that satisfy `good`, rather a late one; undefined where there is none. */
  find(good: (v: Value) => boolean = () => true): Value | undefined {
    const xs = this.pool.filter(good)
    if (xs.length === 0) return undefined
    const r = this.next()
    return xs[Math.min(xs.length - 1, Math.floor(xs.length * (this.chance(0.5) ? r : Math.sqrt(r))))]
  }
  pick(good: (v: Value) => boolean = () => true): Value {
    return this.find(good) ?? redraw('no such value')
  }
  /** A float value that satisfies `good`, or a new input of some shape that does. */
  float(good: (v: Value) => boolean = () => true, shape?: () => readonly number[]): Value {
    const v = this.find((x) => isFloatValue(x) && good(x))
    if (v !== undefined && (shape === undefined || this.chance(0.85) || !this.canInput())) return v
    if (!this.canInput()) return redraw('no such float')
    return this.input((shape ?? (() => this.shape()))())
  }

  /** Emits a step: its results, in the order of their tree. */
  emit(op: string, args: readonly Template[], applied?: readonly Template[]): readonly Value[] {
    const step = { op, args, ...(applied !== undefined && { applied }) }
    const env = new Map<number, unknown>(this.everything().map((v) => [v.ref, v.node]))
    let made: unknown
    try {
      made = callOf(step, env, this.api)
    } catch (e) {
      if (!isAdException(e)) throw e
      this.shared.refused.set(op, (this.shared.refused.get(op) ?? 0) + 1)
      if (process.env.PROGRAMS_REFUSED !== undefined)
        console.error(op, JSON.stringify(args).slice(0, 300), (e as Error).message.slice(0, 300))
      return redraw(`refused: ${(e as Error).message}`)
    }
    const nodes: Node[] = []
    const ids: number[] = []
    const pattern = (x: unknown): Template => {
      if (isExpr(x)) {
        nodes.push(x as Node)
        ids.push(this.freshId())
        return { ref: ids[ids.length - 1]! }
      }
      if (Array.isArray(x)) return x.map(pattern)
      if (x === null) return x
      return Object.fromEntries(Object.entries(x as object).map(([k, y]) => [k, pattern(y)]))
    }
    const outs = pattern(made)
    if (nodes.length === 0) redraw('no results')
    const arrays = evaluateNodes(nodes, this.known)
    if (!this.wild)
      for (const a of arrays) {
        if (a.data.length > 4 * CAP) redraw('large')
        if (isFloat(a.dtype)) for (const x of a.data) if (!(Math.abs(x) <= BOUND)) redraw('beyond bounds')
      }
    const used = this.used([...args, ...(applied ?? [])])
    const exact = EXACT.has(op) && used.every((v) => v === undefined || v.exact)
    this.steps.push({ ...step, outs })
    return nodes.map((n, i) =>
      this.add(ids[i]!, n, arrays[i]!, !isFloat(arrays[i]!.dtype) || (exact && arrays[i]!.data.every(onGrid)), true),
    )
  }
  /** As `emit`, where there is one result. */
  op(name: string, ...args: readonly Template[]): Value {
    return this.emit(name, args)[0]!
  }
  private everything(): readonly Value[] {
    return this.pool
  }
  private used(args: readonly Template[]): readonly (Value | undefined)[] {
    const ids: number[] = []
    const walk = (t: Template): void => {
      if (typeof t !== 'object' || t === null) return
      if (isRef(t)) ids.push(t.ref)
      else if (!('fn' in t)) for (const x of Object.values(t)) walk(x as Template)
    }
    args.forEach(walk)
    return ids.map((id) => this.pool.find((v) => v.ref === id))
  }

  /** Runs a builder; gives back whether it held. Where it gave up, nothing of it stays. */
  attempt(builder: (d: Draw) => void): boolean {
    const [steps, pool, inputs, kinked] = [this.steps.length, this.pool.length, this.shared.inputs.length, this.shared.kinked]
    try {
      builder(this)
      return this.steps.length > steps
    } catch (e) {
      if (!(e instanceof Redraw)) throw e
      this.steps.length = steps
      this.pool.length = pool
      this.shared.inputs.length = inputs
      this.shared.kinked = kinked
      return false
    }
  }

  /**
   * A function of values like these, drawn by `body` at them; it may read what is outside (`open`).
   * `at`: values that the function is drawn at where they are not the arguments' own (one row of them, one element). `as`: how they are its parameters.
   */
  lambda(
    args: readonly Value[],
    body: (d: Draw) => Template,
    o: {
      readonly at?: readonly NDArray[]
      readonly open?: boolean
      readonly scalar?: boolean
      readonly as?: (ids: readonly number[]) => readonly Param[]
    } = {},
  ): Lambda {
    const inner = new Draw(0, { api: this.api, wild: this.wild, dtype: this.dtype, maxInputs: 0 }, this, o.scalar ?? false)
    if (o.open === true)
      for (const v of this.pool) if (!args.some((a) => a.ref === v.ref) && (o.scalar !== true || rankOf(v) === 0)) inner.pool.push(v)
    const ids = args.map((a, i) => {
      const array = o.at?.[i] ?? a.array
      const id = this.freshId()
      inner.add(id, inputNode(aval(array.shape, array.dtype)), array, false, false)
      return id
    })
    const result = body(inner)
    return { params: o.as?.(ids) ?? ids, steps: inner.steps, result }
  }
}

/** Every operation that steps call, functions inside them included. */
export const opsOf = (steps: readonly Step[], count: (op: string) => void): void => {
  const inside = (t: Template): void => {
    if (typeof t !== 'object' || t === null || isRef(t)) return
    const l = (t as { fn?: Lambda; of?: Lambda }).fn ?? (t as { of?: Lambda }).of
    if (l !== undefined && Array.isArray(l.steps)) opsOf(l.steps, count)
    else for (const x of Object.values(t)) inside(x as Template)
  }
  for (const s of steps) {
    for (const op of COMPOUND[s.op]?.uses ?? [s.op]) count(op)
    for (const a of [...s.args, ...(s.applied ?? [])]) inside(a)
  }
}
