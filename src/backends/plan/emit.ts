/** From units to steps: each unit's kernel, axis lengths and operands. */
import type { Aval } from '../../core/graph/aval.js'
import { scalarProgramOf } from '../../core/graph/expand.js'
import { type AnyPrimitive, flopsOf } from '../../core/graph/primitive.js'
import { sizeOf } from '../../core/graph/shape.js'
import { add } from '../../core/ops/elementwise.js'
import type { SliceParams } from '../../core/ops/layout/slice.js'
import { bodyOfResults, type Draft, type DraftOutput, type KernelNames, makeLoop } from './body.js'
import type { Around } from './emit-repeat.js'
import type { Start } from './f16-storage.js'
import type { Fused, Unit } from './fuse.js'
import { type Body, foldBy, type GemmKernel, type Kernel, type OpaqueKernel } from './kernel.js'
import { reshapeStrides } from './lower.js'
import type { BufferSpec } from './memory.js'
import type { Given, Place, Places } from './places.js'
import type { Loop, Repeat } from './repeat.js'
import { aligns, type Operand, type Step } from './step.js'
import type { Ir, Value } from './value.js'

const addOp = add.primitive as unknown as AnyPrimitive
/** Parts of a concat that one loop copies. */
const PARTS = 8

/** What is emitted for a whole plan: steps of loops stand among the others. */
export class Sheet {
  readonly kernels: Kernel[] = []
  readonly kernelKeys: string[] = []
  readonly steps: Step[] = []
  readonly loops: Loop[] = []
  readonly buffers: BufferSpec[] = []
  /** Accumulators that something else still read. */
  copied = 0
  private readonly kernelIndex = new Map<string, number>()
  constructor(readonly names: KernelNames) {}

  kernel(key: string, make: () => Kernel): number {
    let i = this.kernelIndex.get(key)
    if (i === undefined) {
      i = this.kernels.push(make()) - 1
      this.kernelKeys.push(key)
      this.kernelIndex.set(key, i)
    }
    return i
  }
}
/** Emits the steps of a loop's body, `depth` loops deep; says which step reads each of its inputs last. */
export type EmitBody = (body: Ir, given: Given, depth: number) => (input: number) => number

const avalOf = ({ shape, dtype, size }: Value): Aval => ({ shape, dtype, size })

/** A value that is copied to a place of this shape. */
export interface Copy {
  readonly id: number
  readonly to: Place
  readonly shape: readonly number[]
}
const copyBody = (dtype: Value['dtype'], count = 1): Body => ({
  inputs: new Array<Value['dtype']>(count).fill(dtype),
  ops: [],
  results: Array.from({ length: count }, (_, i) => i),
})

/** What a loop over `shape` computes, while its values are put in. */
class LoopBody {
  readonly inputs: Draft[] = []
  private readonly dtypes: Value['dtype'][] = []
  private readonly ops: {
    readonly prim: AnyPrimitive
    readonly params: unknown
    readonly args: number[]
    readonly dtype: Value['dtype']
  }[] = []
  /** References to what it computes: an operation's number; of an input, as long as it is not known how many there are, -1 - its number. */
  readonly made = new Map<number, number>()
  readonly results: number[] = []
  constructor(
    private readonly values: readonly Value[],
    private readonly places: Places,
    private readonly shape: readonly number[],
  ) {}

  /** A reference to a value: made before, made here (of literals alone), or an input. */
  load(id: number): number {
    const inside = this.made.get(id)
    if (inside !== undefined) return inside
    const base = this.values[this.values[id]!.base]!
    if (base.constant && base.kind === 'scalar') {
      const known = this.made.get(base.id)
      if (known !== undefined) return known
      const at = this.add(base)
      this.made.set(base.id, at)
      return at
    }
    const { inputs } = this
    const d = this.places.draft(id, this.shape)
    for (let k = 0; k < inputs.length; k++) if (inputs[k]!.storage === d.storage && aligns(inputs[k]!, d)) return -1 - k
    this.dtypes.push(d.dtype)
    return -inputs.push(d)
  }
  /** Adds the operation that a value is. */
  add(v: Value): number {
    const args = new Array<number>(v.args.length)
    for (let k = 0; k < args.length; k++) args[k] = this.load(v.args[k]!)
    return this.ops.push({ prim: v.prim!, params: v.params, args, dtype: v.dtype }) - 1
  }
  /** The body, inputs first. */
  finished(): Body {
    const { dtypes, ops, results } = this
    for (let i = 0; i < ops.length; i++) this.settle(ops[i]!.args)
    this.settle(results)
    return { inputs: dtypes.slice(), ops: ops.slice(), results: results.slice() }
  }
  private settle(references: number[]): void {
    const n = this.inputs.length
    for (let k = 0; k < references.length; k++) {
      const r = references[k]!
      references[k] = r < 0 ? -1 - r : n + r
    }
  }
}

export class Emitter {
  private readonly values: readonly Value[]
  /** The last step of each unit; of one that runs a loop, the loop's first too. */
  private readonly lastStep: Int32Array
  private readonly loopStart = new Map<number, number>()

  constructor(
    private readonly fused: Fused,
    private readonly places: Places,
    private readonly sheet: Sheet,
    private readonly body: EmitBody,
    /** Loops around these values. */
    private readonly depth: number,
  ) {
    this.values = fused.values
    this.lastStep = new Int32Array(fused.units.length).fill(-1)
  }

  /** Adds the steps of a unit. */
  emit(unit: number): void {
    this.emitUnit(unit)
    this.lastStep[unit] = this.sheet.steps.length - 1
  }
  /** The last step that reads a value as it was before these steps; -1 where none does. */
  lastReadOf(id: number): number {
    const { uses, unitOf } = this.fused
    let last = -1
    if (id < 0) return last
    for (let k = 0; k < uses.count(id); k++) {
      const user = this.values[uses.at(id, k)]!
      const unit = unitOf[user.id]!
      // What a loop begins with is read when it begins: the states that follow are its own.
      const begins = user.kind === 'repeat' && user.args.every((a, i) => this.values[a]!.base !== id || i < (user.params as Repeat).carries)
      last = Math.max(last, begins ? this.loopStart.get(unit)! : this.lastStep[unit]!)
    }
    return last
  }
  private emitUnit(unit: number): void {
    const u = this.fused.units[unit]!
    const v = this.values[u.values[0]!]!
    if (u.kind === 'loop' && v.kind === 'program') this.emitProgram(v)
    else if (u.kind === 'loop') this.emitLoop(unit, u)
    else if (u.kind === 'gemm') this.emitGemm(unit, v)
    else if (u.kind === 'concat') this.emitConcat(v)
    else if (u.kind === 'pad') this.emitPad(v)
    else if (u.kind === 'sliceAdd') this.emitSliceAdd(unit, v)
    else if (u.kind === 'repeat') {
      const results = new Map(this.resultsOf(v.id).map((r) => [r.position, r.value]))
      this.loopStart.set(unit, (v.params as Repeat).emit(this.around(), unit, v, results))
    } else this.emitOpaque(unit, v)
  }

  private loop(shape: readonly number[], body: Body, inputs: readonly Draft[], outputs: readonly DraftOutput[]): void {
    this.sheet.steps.push(this.loopStep(shape, body, inputs, outputs))
  }
  /** A step that copies elements to another storage; the caller says where it stands among the others. */
  copyStep(from: Start, to: Start, size: number, dtype: Value['dtype']): Step {
    return this.loopStep([size], copyBody(dtype), [{ ...from, strides: [1], dtype }], [{ ...to, strides: [1], dtype }])
  }
  private loopStep(shape: readonly number[], body: Body, inputs: readonly Draft[], outputs: readonly DraftOutput[]): Step {
    const { without, tile } = this.places
    const made = makeLoop(
      shape,
      body,
      inputs,
      outputs,
      this.places.itemBytes,
      !without.has('collapse'),
      without.has('tiles') ? undefined : tile,
    )
    let cost = 0
    for (let i = 0; i < body.ops.length; i++) cost += body.ops[i]!.prim.cost
    for (let i = 0; i < outputs.length; i++) if (outputs[i]!.fold !== undefined) cost++
    const { names } = this.sheet
    const key = names.loop(made.kernel)
    return {
      kernel: this.sheet.kernel(key, () => names.first(key, made.kernel)),
      sizes: made.sizes,
      reads: made.reads,
      writes: made.writes,
      flops: cost * sizeOf(shape),
    }
  }

  /** A place as what a loop writes. */
  private target(p: Place, dtype: Value['dtype']): Draft {
    return this.places.drafted(p, dtype, p.strides)
  }

  private emitLoop(unit: number, u: Unit): void {
    const { values, places } = this
    const { uses, unitOf } = this.fused
    const body = new LoopBody(values, places, u.shape)
    const outputs: DraftOutput[] = []
    for (let i = 0; i < u.values.length; i++) {
      const v = values[u.values[i]!]!
      if (v.kind === 'fold') {
        outputs.push(this.folded(unit, v, u.shape))
        body.results.push(body.load(v.args[0]!))
        continue
      }
      const at = v.kind === 'copy' ? body.load(v.args[0]!) : body.add(v)
      body.made.set(v.id, at)
      if (!places.returned(v.id) && uses.every(v.id, (x) => unitOf[x] === unit)) continue
      body.results.push(at)
      outputs.push(this.target(places.own(v), v.dtype))
    }
    this.loop(u.shape, body.finished(), body.inputs, outputs)
  }
  /** A fold as what a loop over `shape` writes. */
  private folded(unit: number, v: Value, shape: readonly number[]): DraftOutput {
    const folds = (v.params as { readonly axes: readonly number[] }).axes
    const accumulate = v.args.length > 1
    if (accumulate) this.accumulateInto(unit, v, v.args[1]!)
    const p = this.places.own(v)
    const strides = new Array<number>(shape.length)
    const axes = new Array<boolean>(shape.length)
    let k = 0
    for (let i = 0; i < shape.length; i++) {
      const keep = !folds.includes(i)
      axes[i] = !keep
      strides[i] = keep ? p.strides[k++]! : 0
    }
    return { ...this.places.drafted(p, v.dtype, strides), fold: { op: foldBy(v.prim!)!, axes, accumulate } }
  }

  private emitProgram(v: Value): void {
    const program = scalarProgramOf(v.prim!, v.params)
    const outs = this.resultsOf(v.id)
    this.loop(
      v.shape,
      bodyOfResults(
        program,
        outs.map((o) => o.position),
      ),
      v.args.map((a) => this.places.draft(a, v.shape)),
      outs.map(({ value }) => this.target(this.places.own(value), value.dtype)),
    )
  }
  private resultTable: Map<number, { readonly value: Value; readonly position: number }[]> | undefined
  /** Live results of a value with several, by position. */
  private resultsOf(id: number): readonly { readonly value: Value; readonly position: number }[] {
    if (this.resultTable === undefined) {
      this.resultTable = new Map()
      for (const w of this.values) {
        if (this.fused.live[w.id] === 0 || w.kind !== 'result') continue
        const list = this.resultTable.get(w.args[0]!)
        const entry = { value: w, position: w.position }
        if (list === undefined) this.resultTable.set(w.args[0]!, [entry])
        else list.push(entry)
      }
    }
    return this.resultTable.get(id) ?? []
  }

  /** Makes `v` live in acc's storage when this is acc's last reader; otherwise copies acc first. */
  private accumulateInto(unit: number, v: Value, acc: number): void {
    if (this.places.takeOver(unit, v, acc)) return
    this.sheet.copied++
    this.loop(v.shape, copyBody(v.dtype), [this.places.draft(acc, v.shape)], [this.target(this.places.own(v), v.dtype)])
  }

  private emitGemm(unit: number, v: Value): void {
    const accumulate = v.args.length > 2
    if (accumulate) this.accumulateInto(unit, v, v.args[2]!)
    const p = this.places.own(v)
    const item = this.places.itemBytes[v.dtype]
    const rank = v.shape.length
    const [m, n] = [v.shape[rank - 2]!, v.shape[rank - 1]!]
    const batch = v.shape.slice(0, -2)
    const count = sizeOf(batch)
    const a = this.factor(v.args[0]!, rank, batch, count)
    const b = this.factor(v.args[1]!, rank, batch, count)
    const first = this.values[v.args[0]!]!.shape
    const k = first[first.length - 1]!
    const c = this.places.operand(p, v.dtype, [m * n * item, p.strides[rank - 2]! * item, item])
    const dtype = v.dtype as 'f32' | 'f64'
    const sizes = [count, m, n, k]
    const form = this.places.productForm?.(v.prim!)?.(dtype, sizes, a.strides, b.strides, c.strides)
    const kernel: GemmKernel = { kind: 'gemm', prim: v.prim!, dtype, accumulate, ...(form !== undefined && { form }) }
    this.sheet.steps.push({
      kernel: this.sheet.kernel(`gemm${dtype}${accumulate}${form ?? ''}`, () => kernel),
      sizes,
      reads: [a, b],
      writes: [c],
      flops: 2 * count * m * n * k,
    })
  }

  /** An operand of a product: strides of its run of matrices, of its rows and of its columns. */
  private factor(id: number, rank: number, batch: readonly number[], count: number): Operand {
    const w = this.values[id]!
    const q = this.places.placeOf(id)
    const item = this.places.itemBytes[w.dtype]
    const own = q.strides.length
    const run = batch.length > 0 && w.shape.length === rank ? reshapeStrides(batch, q.strides.slice(0, -2), [count]) : undefined
    const strides = own === 0 ? [0, 0, 0] : [(run?.[0] ?? 0) * item, q.strides[own - 2]! * item, q.strides[own - 1]! * item]
    return this.places.operand(q, w.dtype, strides)
  }

  private emitConcat(c: Value): void {
    const whole = this.places.own(c)
    const axis = (c.params as { readonly axis: number }).axis
    let at = 0
    const left: Copy[] = []
    c.args.forEach((id, k) => {
      const { shape, size } = this.values[id]!
      const offset = whole.offset + at * whole.strides[axis]!
      at += shape[axis]!
      if (!this.places.isPlaced(c.id, k) && size > 0) left.push({ id, to: { ...whole, offset }, shape })
    })
    this.copyAll(left)
  }

  private emitPad(v: Value): void {
    const { at } = v.params as { readonly at: SliceParams }
    const whole = this.places.own(v)
    const out = this.target(whole, v.dtype)
    const copying = copyBody(v.dtype)
    this.loop(v.shape, copying, [this.places.draft(v.args[1]!, v.shape)], [out])
    const x = this.values[v.args[0]!]!
    if (x.size === 0) return
    this.loop(x.shape, copying, [this.places.draft(x.id, x.shape)], [this.places.region(whole, at, v.dtype)])
  }
  private emitSliceAdd(unit: number, v: Value): void {
    const p = v.params as SliceParams
    this.accumulateInto(unit, v, v.args[0]!)
    const u = this.values[v.args[1]!]!
    if (u.size === 0) return
    const part = this.places.region(this.places.own(v), p, v.dtype)
    this.loop(
      u.shape,
      { inputs: [v.dtype, v.dtype], ops: [{ prim: addOp, params: {}, args: [0, 1], dtype: v.dtype }], results: [2] },
      [part, this.places.draft(u.id, u.shape)],
      [part],
    )
  }

  /** What a loop's steps are emitted with. */
  private around(): Around {
    const { values, places, sheet, depth, body } = this
    return { values, places, steps: sheet.steps, loops: sheet.loops, depth, copyAll: (copies) => this.copyAll(copies), body }
  }
  /** Copies of which none writes what another one reads: those of one shape and dtype are made by one loop. */
  private copyAll(copies: readonly Copy[]): void {
    const groups = new Map<string, Copy[]>()
    for (const c of copies) {
      if (sizeOf(c.shape) === 0) continue
      const key = `${this.values[c.id]!.dtype} ${c.shape.join()}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [c])
      else group.push(c)
    }
    for (const group of groups.values())
      for (let i = 0; i < group.length; i += PARTS) {
        const part = group.slice(i, i + PARTS)
        const { id, shape } = part[0]!
        const { dtype } = this.values[id]!
        const inputs = part.map((c) => this.places.draft(c.id, shape))
        const outputs = part.map((c) => this.target(c.to, dtype))
        this.loop(shape, copyBody(dtype, part.length), inputs, outputs)
      }
  }
  /** Copies the results of a step that are not where they belong. None lies where another one goes: a state that is handed on is a value of its own (loops.ts). */
  settle(outputs: readonly number[], wanted: readonly Place[]): void {
    const copies: Copy[] = []
    outputs.forEach((id, i) => {
      const [from, to] = [this.places.placeOf(id), wanted[i]!]
      if (from.storage === to.storage && from.offset === to.offset) return
      // A state that is also a row of all states is one result twice.
      if (copies.some((c) => c.id === id && c.to.storage === to.storage && c.to.offset === to.offset)) return
      copies.push({ id, to, shape: this.values[id]!.shape })
    })
    this.copyAll(copies)
  }

  private emitOpaque(unit: number, v: Value): void {
    const prim = v.prim!
    const inPlace = prim.accumulates
    const results = prim.multi ? this.resultsOf(v.id) : [{ value: v, position: 0 }]
    if (inPlace !== undefined) this.accumulateInto(unit, v, v.args[inPlace]!)
    const avals = v.args.map((a) => avalOf(this.values[a]!))
    const outs = prim.multi ? (prim.shapeRule(avals, v.params) as readonly Aval[]) : [avalOf(v)]
    const operand = (id: number): Operand => {
      return this.places.operand(this.places.placeOf(id), this.values[id]!.dtype, [])
    }
    const byPosition = new Map(results.map((r) => [r.position, r.value]))
    const targets = outs.map((o, i): Operand => {
      const value = byPosition.get(i)
      // A result that nobody reads still needs room.
      return value === undefined ? { storage: this.places.newStorage(sizeOf(o.shape), o.dtype), offset: 0, strides: [] } : operand(value.id)
    })
    const kernel: OpaqueKernel = { kind: 'opaque', prim, params: v.params, args: avals, results: outs, inPlace }
    const key = this.sheet.names.opaque(prim, v.params, [...avals, ...outs].map((a) => `${a.dtype}${a.shape.join('x')}`).join())
    this.sheet.steps.push({
      kernel: this.sheet.kernel(key, () => kernel),
      sizes: [],
      reads: v.args.filter((_, i) => i !== inPlace).map(operand),
      writes: targets,
      flops: flopsOf(prim, avals, outs, v.params),
    })
  }
}
