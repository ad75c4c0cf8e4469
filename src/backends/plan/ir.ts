/** The planner's own form of a program: values numbered, equal ones shared, layout operations turned into views. */
import { aval, itemBytes } from '../../core/aval.js'
import { APPLY, CONST, INPUT, linearize, type Node, OUTPUT, resultAvals } from '../../core/expr.js'
import type { MapParams } from '../../core/ops/map.js'
import { mapPrimitive } from '../../core/ops/map.js'
import { type AnyPrimitive, NO_PARAMS } from '../../core/primitive.js'
import { capturedTensor, type Program } from '../../core/program.js'
import { sameShape, stridesOf } from '../../core/shape.js'
import type { Tensor } from '../../core/tensor.js'
import type { DType } from '../../core/types/dtype.js'
import { bodyOfProgram } from './body.js'
import { lowerings } from './lower.js'

/** How a value's elements lie in the storage of its base: element offset and element strides. */
export interface View {
  readonly base: number
  readonly offset: number
  readonly strides: readonly number[]
}

export type ValueKind =
  | 'input'
  | 'const'
  | 'scalar'
  | 'map'
  | 'fold'
  | 'gemm'
  | 'concat'
  | 'pad'
  | 'sliceAdd'
  | 'opaque'
  | 'result'
  | 'copy'
  | 'view'

/** One value. `args` are value numbers. */
export interface Value {
  readonly id: number
  readonly kind: ValueKind
  readonly shape: readonly number[]
  readonly size: number
  readonly dtype: DType
  readonly prim: AnyPrimitive | null
  readonly params: unknown
  readonly args: readonly number[]
  /** Set for `view`; every other value is contiguous in a storage of its own. */
  readonly view?: View
  /** Literals, and scalar functions of literals alone: cheap to make anywhere. */
  readonly constant: boolean
  /** Which result of its argument a `result` is. */
  readonly position: number
}

export interface Ir {
  readonly values: readonly Value[]
  readonly outputs: readonly number[]
  /** Value of each program input; -1 when nothing reads it. */
  readonly inputs: readonly number[]
  readonly captured: readonly { readonly value: number; readonly tensor: Tensor }[]
  readonly consts: readonly { readonly value: number; readonly number: number }[]
  /** Structure without the numbers in constant slots: what a plan cache compares. */
  readonly key: Int32Array
}

/** Scalar programs up to this size are written out, so that they fuse with their neighbours; larger ones stay one loop. */
const WRITE_OUT = 128

const words = new DataView(new ArrayBuffer(8))

/** Open-addressing table from integer codes to value numbers. */
class CodeTable {
  private slots = new Int32Array(1024).fill(-1)
  private count = 0
  constructor(private readonly codes: (readonly number[] | undefined)[]) {}
  private hash(code: readonly number[]): number {
    let h = 0x811c9dc5
    for (let i = 0; i < code.length; i++) h = Math.imul(h ^ code[i]!, 0x01000193)
    return (h ^ (h >>> 15)) >>> 0
  }
  find(code: readonly number[]): number {
    const mask = this.slots.length - 1
    for (let s = this.hash(code) & mask; ; s = (s + 1) & mask) {
      const id = this.slots[s]!
      if (id < 0) return -1
      const c = this.codes[id]!
      if (c.length !== code.length) continue
      let same = true
      for (let i = 0; i < c.length; i++)
        if (c[i] !== code[i]) {
          same = false
          break
        }
      if (same) return id
    }
  }
  add(code: readonly number[], id: number): void {
    if (2 * ++this.count > this.slots.length) this.grow()
    this.put(code, id)
  }
  private put(code: readonly number[], id: number): void {
    const mask = this.slots.length - 1
    let s = this.hash(code) & mask
    while (this.slots[s]! >= 0) s = (s + 1) & mask
    this.slots[s] = id
  }
  private grow(): void {
    const old = this.slots
    this.slots = new Int32Array(old.length * 4).fill(-1)
    for (const id of old) if (id >= 0) this.put(this.codes[id]!, id)
  }
}

/** Builds values; lowerings (lower.ts) call back into it. */
export class Builder {
  readonly values: Value[] = []
  readonly consts: { value: number; number: number }[] = []
  private readonly codes: (readonly number[] | undefined)[] = []
  private readonly table = new CodeTable(this.codes)
  /** `ids` numbers primitives, parameters and programs; shared by all programs of one backend, so that keys compare. */
  constructor(private readonly ids: Map<unknown, number>) {}
  /** A small number for anything that is equal by identity or as text. */
  id(x: unknown): number {
    let i = this.ids.get(x)
    if (i === undefined) {
      i = this.ids.size
      this.ids.set(x, i)
    }
    return i
  }
  value(id: number): Value {
    return this.values[id]!
  }
  private push(v: Omit<Value, 'id' | 'position'> & { readonly position?: number }, code?: readonly number[]): number {
    const id = this.values.length
    this.values.push({ id, position: 0, ...v })
    this.codes.push(code)
    if (code !== undefined) this.table.add(code, id)
    return id
  }
  input(shape: readonly number[], dtype: DType): number {
    return this.push({ kind: 'input', shape, size: aval(shape, dtype).size, dtype, prim: null, params: null, args: [], constant: false })
  }
  constant(x: number, dtype: DType): number {
    words.setFloat64(0, x)
    const code = [-2, this.id(dtype), words.getInt32(0), words.getInt32(4)]
    const known = this.table.find(code)
    if (known >= 0) return known
    const id = this.push({ kind: 'const', shape: [], size: 1, dtype, prim: null, params: null, args: [], constant: true }, code)
    this.consts.push({ value: id, number: x })
    return id
  }
  private paramsId(prim: AnyPrimitive, params: unknown): number {
    if (params === NO_PARAMS) return -1
    if (prim === mapPrimitive) return this.programId((params as MapParams).program)
    return this.id(JSON.stringify(params, (_k, x) => (typeof x === 'function' || typeof x === 'symbol' ? this.id(x) : x)))
  }
  private readonly programs = new Map<Program, number>()
  /** Equal scalar programs have equal numbers, whoever traced them. */
  private programId(p: Program): number {
    let i = this.programs.get(p)
    if (i === undefined) {
      const b = bodyOfProgram(p)
      const text = `${b.inputs.join()};${b.ops.map((o) => `${this.id(o.prim)}:${this.paramsId(o.prim, o.params)}(${o.args.join()})${o.dtype}`).join(';')};${b.results.join()}`
      i = this.id(`program ${text}`)
      this.programs.set(p, i)
    }
    return i
  }
  /** A value of this kind; an equal one is shared. */
  make(
    kind: ValueKind,
    prim: AnyPrimitive | null,
    params: unknown,
    args: readonly number[],
    shape: readonly number[],
    dtype: DType,
    position = 0,
  ): number {
    const code = [
      this.id(kind),
      prim === null ? -1 : this.id(prim),
      prim === null ? this.id(JSON.stringify(params ?? null)) : this.paramsId(prim, params),
      position,
    ]
    for (const a of args) code.push(a)
    if (prim === null || kind === 'pad' || kind === 'copy') for (const d of shape) code.push(d)
    const known = this.table.find(code)
    if (known >= 0) return known
    const constant = kind === 'scalar' && shape.length === 0 && args.length > 0 && args.every((a) => this.values[a]!.constant)
    return this.push({ kind, shape, size: aval(shape, dtype).size, dtype, prim, params, args, constant, position }, code)
  }
  /** Where a value's elements lie. */
  viewOf(id: number): View {
    const v = this.values[id]!
    return v.view ?? { base: id, offset: 0, strides: stridesOf(v.shape) }
  }
  /** Another arrangement of the elements of `view.base`. */
  makeView(view: View, shape: readonly number[], dtype: DType): number {
    const base = this.values[view.base]!
    if (view.offset === 0 && sameShape(base.shape, shape) && stridesOf(shape).every((s, i) => s === view.strides[i] || shape[i] === 1))
      return view.base
    const code = [-3, view.base, view.offset, ...view.strides, -1, ...shape]
    const known = this.table.find(code)
    if (known >= 0) return known
    return this.push(
      { kind: 'view', shape, size: aval(shape, dtype).size, dtype, prim: null, params: null, args: [view.base], view, constant: false },
      code,
    )
  }
  /** The same elements in a contiguous storage of their own. */
  copy(id: number): number {
    const v = this.values[id]!
    return this.make('copy', null, null, [id], v.shape, v.dtype)
  }
  isContiguous(id: number): boolean {
    const v = this.values[id]!
    if (v.view === undefined) return true
    const s = stridesOf(v.shape)
    return v.size === 0 || s.every((x, i) => x === v.view!.strides[i] || v.shape[i] === 1)
  }
  /** The literal that every element of a value equals; undefined otherwise. */
  splat(id: number): number | undefined {
    const v = this.values[id]!
    const base = v.view === undefined ? v : this.values[v.view.base]!
    if (base.kind !== 'const' || v.view?.strides.some((s, i) => s !== 0 && v.shape[i] !== 1)) return undefined
    return base.id
  }
  numberOf(constant: number): number {
    return this.consts.find((c) => c.value === constant)!.number
  }
  /** Number of a literal, or undefined. */
  literal(id: number): number | undefined {
    const c = this.splat(id)
    if (c === undefined) return undefined
    this.numbers ??= new Map()
    if (this.numbers.size !== this.consts.length)
      for (let i = this.numbers.size; i < this.consts.length; i++) this.numbers.set(this.consts[i]!.value, this.consts[i]!.number)
    return this.numbers.get(c)
  }
  private numbers: Map<number, number> | undefined
  /**
   * Structure of what `roots` need, numbered from the roots, so that it does not depend on the order of building: equal
   * expressions have equal keys. Numbers in constant slots are not part of it. `order` lists the values so numbered.
   */
  key(roots: readonly number[]): { readonly words: number[]; readonly number: Int32Array } {
    const number = new Int32Array(this.values.length).fill(-1)
    const words: number[] = []
    let count = 0
    const stack: number[] = []
    const next: number[] = []
    const push = (id: number): void => {
      stack.push(id)
      next.push(0)
      number[id] = -2
    }
    for (const root of roots) {
      if (number[root] === -1) push(root)
      while (stack.length > 0) {
        const top = stack.length - 1
        const v = this.values[stack[top]!]!
        const k = next[top]!
        if (k < v.args.length) {
          next[top] = k + 1
          if (number[v.args[k]!] === -1) push(v.args[k]!)
          continue
        }
        stack.pop()
        next.pop()
        number[v.id] = count++
        const code = this.codes[v.id]
        if (v.kind === 'const') words.push(-2, this.id(v.dtype))
        else if (code === undefined) words.push(-4, this.id(v.dtype), ...v.shape)
        else if (v.view !== undefined) {
          words.push(-3, number[v.view.base]!)
          for (let i = 2; i < code.length; i++) words.push(code[i]!)
        } else
          for (let i = 0; i < code.length; i++) {
            const a = i - 4
            words.push(a >= 0 && a < v.args.length ? number[v.args[a]!]! : code[i]!)
          }
      }
    }
    return { words, number }
  }
}

/** Bit-preserving rewrites of one scalar operation: x * 1, x / 1, x - 0. */
const simplified = (b: Builder, prim: AnyPrimitive, args: readonly number[], shape: readonly number[]): number | undefined => {
  const whole = (k: number): number | undefined => (sameShape(b.value(args[k]!).shape, shape) ? args[k] : undefined)
  const identity = prim.identity
  if (identity === undefined) return undefined
  for (let k = 0; k < args.length; k++) {
    const e = identity[k]
    if (e === undefined || e === null) continue
    const x = b.literal(args[k]!)
    if (x !== undefined && Object.is(x, e)) return whole(1 - k)
  }
  return undefined
}

/** From nodes to values. */
export const buildIr = (program: Program, ids: Map<unknown, number> = new Map()): Ir => {
  const { nodes, index } = linearize(program.outputs)
  const b = new Builder(ids)
  const at: Int32Array = new Int32Array(nodes.length)
  const results = new Map<number, readonly number[]>()
  const inputOf = new Map<Node, number>()
  const captured: { value: number; tensor: Tensor }[] = []
  const byTensor = new Map<Tensor, number>()
  const inputs = program.inputs.map((x) => {
    if (!index.has(x)) return -1
    const id = b.input(x.shape, x.dtype)
    inputOf.set(x, id)
    return id
  })
  for (const x of program.captured) {
    const tensor = capturedTensor(x)!
    let id = byTensor.get(tensor)
    if (id === undefined) {
      id = b.input(x.shape, x.dtype)
      byTensor.set(tensor, id)
      captured.push({ value: id, tensor })
    }
    inputOf.set(x, id)
  }
  const scalar = (prim: AnyPrimitive, params: unknown, args: readonly number[], shape: readonly number[], dtype: DType): number =>
    prim.alias === true ? args[0]! : (simplified(b, prim, args, shape) ?? b.make('scalar', prim, params, args, shape, dtype))
  const inlineMap = (p: Program, args: readonly number[], shape: readonly number[]): number[] => {
    const inner = linearize(p.outputs)
    const made = new Int32Array(inner.nodes.length)
    const given = new Map(p.inputs.map((x, i) => [x, args[i]!]))
    inner.nodes.forEach((n, i) => {
      if (n.kind === INPUT) made[i] = given.get(n)!
      else if (n.kind === CONST) made[i] = b.constant(n.data as number, n.dtype)
      else {
        const xs = n.args.map((a) => made[inner.index.get(a)]!)
        const s = xs.every((x) => b.value(x).constant) ? [] : shape
        made[i] = scalar(n.prim!, n.data, xs, s, n.dtype)
      }
    })
    return p.outputs.map((o) => {
      const id = made[inner.index.get(o)]!
      const v = b.value(id)
      return sameShape(v.shape, shape)
        ? id
        : b.makeView({ base: b.viewOf(id).base, offset: b.viewOf(id).offset, strides: broadcastOf(b, id, shape) }, shape, v.dtype)
    })
  }
  for (let i = 0; i < nodes.length; i++) {
    const n = nodes[i]!
    if (n.kind === INPUT) at[i] = inputOf.get(n)!
    else if (n.kind === CONST) at[i] = b.constant(n.data as number, n.dtype)
    else if (n.kind === OUTPUT) at[i] = results.get(index.get(n.args[0]!))![n.data as number]!
    else if (n.kind === APPLY) {
      const prim = n.prim!
      const args: number[] = []
      for (const a of n.args) args.push(at[index.get(a)]!)
      const avals = prim.multi ? resultAvals(n) : [n.aval]
      let out: readonly number[]
      if (prim === mapPrimitive) {
        const p = (n.data as MapParams).program
        const shape = avals[0]?.shape ?? []
        if (linearize(p.outputs).nodes.length <= WRITE_OUT) out = inlineMap(p, args, shape)
        else {
          // Literals inside the program are arguments of the loop: other numbers, same kernel.
          const literals = linearize(p.outputs).nodes.flatMap((m) => (m.kind === CONST ? [b.constant(m.data as number, m.dtype)] : []))
          const whole = b.make('map', prim, n.data, [...args, ...literals], shape, avals[0]!.dtype)
          out = avals.map((a, k) => b.make('result', null, null, [whole], a.shape, a.dtype, k))
        }
      } else if (prim.class === 'elementwise') out = [scalar(prim, n.data, args, n.aval.shape, n.aval.dtype)]
      else {
        const lower = lowerings[prim.name as keyof typeof lowerings]
        out =
          lower !== undefined && lower.prim === prim ? lower.lower(b, args, n.data as never, avals) : opaque(b, prim, n.data, args, avals)
      }
      if (prim.multi) results.set(i, out)
      at[i] = out[0]!
    }
  }
  const outputs = program.outputs.map((o) => owned(b, at[index.get(o)]!))
  const { words, number } = b.key(outputs)
  // Slots of literals and captured tensors in the key's order: equal keys, equal slots.
  const used = <T extends { readonly value: number }>(list: readonly T[]): T[] =>
    list.filter((x) => number[x.value]! >= 0).sort((x, y) => number[x.value]! - number[y.value]!)
  const key = Int32Array.from(
    words.concat(
      [-5],
      outputs.map((o) => number[o]!),
      [-6],
      inputs.map((i) => (i < 0 ? -1 : number[i]!)),
    ),
  )
  return {
    values: b.values,
    outputs,
    inputs: inputs.map((i) => (i >= 0 && number[i]! >= 0 ? i : -1)),
    captured: used(captured),
    consts: used(b.consts),
    key,
  }
}

const broadcastOf = (b: Builder, id: number, shape: readonly number[]): number[] => {
  const v = b.value(id)
  const s = b.viewOf(id).strides
  return shape.map((_, i) => {
    const j = i - (shape.length - v.shape.length)
    return j < 0 || v.shape[j] === 1 ? 0 : s[j]!
  })
}

/** The value contiguous in a storage: itself, or a copy of a strided view or of a literal. */
const owned = (b: Builder, id: number): number => (b.isContiguous(id) && !b.value(b.viewOf(id).base).constant ? id : b.copy(id))

const opaque = (
  b: Builder,
  prim: AnyPrimitive,
  params: unknown,
  args: readonly number[],
  avals: readonly { readonly shape: readonly number[]; readonly dtype: DType }[],
): readonly number[] => {
  const whole = b.make(
    'opaque',
    prim,
    params,
    args.map((a) => owned(b, a)),
    avals[0]!.shape,
    avals[0]!.dtype,
  )
  return prim.multi ? avals.map((a, k) => b.make('result', null, null, [whole], a.shape, a.dtype, k)) : [whole]
}
export const bytesOf = (v: Value): number => v.size * itemBytes[v.dtype]
