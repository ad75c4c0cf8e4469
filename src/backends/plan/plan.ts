/** A Plan: kernels, steps and memory of one program, as a value that tests and users can read. */
import { aval, itemBytes } from '../../core/aval.js'
import { raise } from '../../core/explain.js'
import { elementwise } from '../../core/ops/elementwise.js'
import type { SliceParams } from '../../core/ops/layout.js'
import type { MapParams } from '../../core/ops/map.js'
import type { AnyPrimitive } from '../../core/primitive.js'
import { sameShape, sizeOf, stridesOf } from '../../core/shape.js'
import { bodyOfProgram, type Draft, type DraftOutput, KernelNames, makeLoop, type Operand, spreadStrides } from './body.js'
import { type Fused, fuse, type Limits, reads, type Unit } from './fuse.js'
import { bytesOf, type Ir, type Value, type View } from './ir.js'
import type { Body, BodyOp, Fold, GemmKernel, Kernel, LoopKernel, OpaqueKernel } from './kernel.js'
import { folds, reshapeStrides } from './lower.js'
import { assignMemory, type Storage } from './memory.js'

/** One kernel call. Operands of a loop: inputs, then outputs; of a gemm: C, A, B; of an opaque kernel: results, then arguments. */
export interface Step {
  /** Index into the plan's kernels. */
  readonly kernel: number
  /** loop: axis lengths. gemm: batch, m, n, k. opaque: none. */
  readonly sizes: readonly number[]
  readonly operands: readonly Operand[]
  /** How many of the operands are written: outputs of a loop are last, of the others first. */
  readonly writes: number
  readonly flops: number
}

export interface Plan {
  readonly kernels: readonly Kernel[]
  /** Canonical text of each kernel: equal text, equal kernel, in every plan of one backend. */
  readonly kernelKeys: readonly string[]
  readonly steps: readonly Step[]
  readonly storages: readonly Storage[]
  /** Storage of each program input (-1: nothing reads it), of each captured tensor, of each output with its byte offset. */
  readonly inputs: readonly number[]
  readonly captured: readonly number[]
  readonly outputs: readonly { readonly storage: number; readonly offset: number }[]
  readonly arenaBytes: number
  readonly peakBytes: number
  readonly peakBuffers: number
  readonly copiedAccumulators: number
}

/** Where a value that owns elements lies: its storage, an element offset, and its element strides. */
interface Place {
  readonly storage: number
  readonly offset: number
  readonly strides: readonly number[]
}

const addOp = elementwise.add as unknown as AnyPrimitive

class Scheduler {
  private readonly fused: Fused
  private readonly values: readonly Value[]
  private readonly places: (Place | undefined)[]
  private readonly bytes: number[] = []
  private readonly kernelIndex = new Map<string, number>()
  readonly kernels: Kernel[] = []
  readonly kernelKeys: string[] = []
  readonly steps: Step[] = []
  private readonly slots: Map<number, number>
  private readonly stepOfUnit: Int32Array
  /** Place in the order of units, for liveness before steps exist. */
  private rank = new Int32Array(0)
  copied = 0

  constructor(
    private readonly ir: Ir,
    limits: Limits,
    private readonly names: KernelNames,
  ) {
    this.fused = fuse(ir, limits)
    this.values = this.fused.values
    this.places = new Array<Place | undefined>(this.values.length)
    this.slots = new Map(ir.consts.map((c, i) => [c.value, i]))
    this.stepOfUnit = new Int32Array(this.fused.units.length)
  }

  private newStorage(bytes: number): number {
    this.bytes.push(bytes)
    return this.bytes.length - 1
  }
  private own(v: Value): Place {
    const p = this.places[v.id]
    if (p !== undefined) return p
    const made: Place = { storage: this.newStorage(bytesOf(v)), offset: 0, strides: stridesOf(v.shape) }
    this.places[v.id] = made
    return made
  }

  /** Units in an order in which each comes after what it reads; ties by build order. */
  private order(): number[] {
    const { units, unitOf } = this.fused
    const values = this.values
    const waits = new Int32Array(units.length)
    const users: number[][] = units.map(() => [])
    units.forEach((u, i) => {
      const from = new Set<number>()
      for (const id of u.values)
        for (const base of this.readsOf(values[id]!)) {
          const p = this.producer(base, unitOf)
          if (p >= 0 && p !== i) from.add(p)
        }
      waits[i] = from.size
      for (const p of from) users[p]!.push(i)
    })
    const first = units.map((u) => Math.min(...u.values.slice(0, 64)))
    const heap = new MinHeap(first)
    units.forEach((_, i) => {
      if (waits[i] === 0) heap.push(i)
    })
    const out: number[] = []
    while (heap.size > 0) {
      const u = heap.pop()
      out.push(u)
      for (const v of users[u]!) if (--waits[v]! === 0) heap.push(v)
    }
    if (out.length !== units.length)
      raise({ _tag: 'InternalLaw', law: 'units have no cycle', detail: `${out.length} of ${units.length} ordered` })
    return out
  }
  /** Values that a unit's value reads, literals' functions included. */
  private readsOf(v: Value): number[] {
    return reads(this.values, v)
  }
  private producer(base: number, unitOf: Int32Array): number {
    const v = this.values[base]!
    return v.kind === 'result' ? unitOf[v.args[0]!]! : unitOf[base]!
  }

  run(): Omit<Plan, 'arenaBytes' | 'peakBytes' | 'peakBuffers' | 'storages'> & { readonly bytes: readonly number[] } {
    const { ir, values } = this
    for (const id of ir.inputs) if (id >= 0) this.own(values[id]!)
    for (const c of ir.captured) this.own(values[c.value]!)
    const order = this.order()
    this.rank = new Int32Array(this.fused.units.length)
    order.forEach((u, i) => {
      this.rank[u] = i
    })
    for (const u of this.fused.units) if (u.kind === 'concat') this.placeParts(values[u.values[0]!]!)
    for (const u of order) {
      this.emit(u, this.fused.units[u]!)
      this.stepOfUnit[u] = this.steps.length - 1
    }
    return {
      kernels: this.kernels,
      kernelKeys: this.kernelKeys,
      steps: this.steps,
      inputs: ir.inputs.map((id) => (id < 0 ? -1 : this.places[id]!.storage)),
      captured: ir.captured.map((c) => this.places[c.value]!.storage),
      outputs: ir.outputs.map((id) => {
        const v = values[id]!
        const p = this.placeOf(id)
        return { storage: p.storage, offset: p.offset * itemBytes[v.dtype] }
      }),
      copiedAccumulators: this.copied,
      bytes: this.bytes,
    }
  }

  /** Where the elements of any value lie: views composed with the place of their base. */
  private placeOf(id: number): Place {
    const v = this.values[id]!
    if (v.view === undefined) {
      if (v.kind === 'const') return { storage: -1 - this.slots.get(id)!, offset: 0, strides: [] }
      return this.own(v)
    }
    const base = this.values[v.view.base]!
    if (base.kind === 'const') return { storage: -1 - this.slots.get(base.id)!, offset: 0, strides: v.view.strides.map(() => 0) }
    const p = this.own(base)
    return { storage: p.storage, offset: p.offset + v.view.offset, strides: v.view.strides }
  }

  // ---- concat -------------------------------------------------------------------------------------------------------

  /** Lets the producers of a concat's parts write into it directly, where that is possible. */
  private placeParts(c: Value): void {
    const whole = this.own(c)
    const axis = (c.params as { readonly axis: number }).axis
    let at = 0
    for (const id of c.args) {
      const v = this.values[id]!
      const offset = whole.offset + at * whole.strides[axis]!
      at += v.shape[axis]!
      const root = this.values[v.view?.base ?? id]!
      if (this.places[root.id] !== undefined || root.constant || !['scalar', 'copy', 'fold', 'gemm'].includes(root.kind)) continue
      if (this.ir.outputs.some((o) => (this.values[o]!.view?.base ?? o) === root.id)) continue
      // The part must be all of its root, in order.
      if (v.size !== root.size || (v.view !== undefined && !(v.view.offset === 0 && contiguous(v.shape, v.view.strides)))) continue
      const accumulates = root.args.length > (root.kind === 'gemm' ? 2 : root.kind === 'fold' ? 1 : 9)
      if (accumulates) continue
      const strides = sameShape(v.shape, root.shape) ? whole.strides : reshapeStrides(v.shape, whole.strides, root.shape)
      if (strides === undefined) continue
      const block = contiguous(root.shape, strides)
      if (!block) {
        const viewed = this.values.some((w) => this.fused.live[w.id] === 1 && w.view?.base === root.id && w.id !== id)
        const readers = this.fused.uses[root.id]!.every((u) => ['scalar', 'copy', 'fold', 'concat'].includes(this.values[u]!.kind))
        if (viewed || !readers || (root.kind === 'gemm' && (root.shape.length !== 2 || strides[1] !== 1))) continue
      }
      this.places[root.id] = { storage: whole.storage, offset, strides: block ? stridesOf(root.shape) : strides }
    }
  }

  private emitConcat(c: Value): void {
    const whole = this.own(c)
    const axis = (c.params as { readonly axis: number }).axis
    let at = 0
    const left: { readonly id: number; readonly offset: number }[] = []
    const seen = new Set<number>()
    for (const id of c.args) {
      const v = this.values[id]!
      const offset = whole.offset + at * whole.strides[axis]!
      at += v.shape[axis]!
      const p = this.placeOf(id)
      const root = v.view?.base ?? id
      if (p.storage === whole.storage && p.offset === offset && !seen.has(root)) seen.add(root)
      else if (v.size > 0) left.push({ id, offset })
    }
    // Parts of one shape are copied by one loop.
    while (left.length > 0) {
      const shape = this.values[left[0]!.id]!.shape
      const group = left.filter((l) => sameShape(this.values[l.id]!.shape, shape)).slice(0, 8)
      for (const g of group) left.splice(left.indexOf(g), 1)
      const inputs = group.map(({ id }) => this.draft(id, shape))
      const outputs = group.map(({ offset }) => ({
        storage: whole.storage,
        offset: offset * itemBytes[c.dtype],
        strides: whole.strides,
        dtype: c.dtype,
      }))
      this.loop(shape, { inputs: group.map(() => c.dtype), ops: [], results: group.map((_, i) => i) }, inputs, outputs)
    }
  }

  // ---- steps --------------------------------------------------------------------------------------------------------

  private kernel(key: string, make: () => Kernel): number {
    let i = this.kernelIndex.get(key)
    if (i === undefined) {
      i = this.kernels.length
      this.kernels.push(make())
      this.kernelKeys.push(key)
      this.kernelIndex.set(key, i)
    }
    return i
  }
  private draft(id: number, shape: readonly number[]): Draft {
    const v = this.values[id]!
    const p = this.placeOf(id)
    return {
      storage: p.storage,
      offset: p.offset * itemBytes[v.dtype],
      strides: spreadStrides({ base: id, offset: 0, strides: p.strides }, v.shape, shape),
      dtype: v.dtype,
    }
  }
  private loop(shape: readonly number[], body: Body, inputs: readonly Draft[], outputs: readonly DraftOutput[]): void {
    const made = makeLoop(shape, body, inputs, outputs)
    const cost = body.ops.reduce((c, o) => c + o.prim.cost, 0) + outputs.filter((o) => o.fold).length
    this.steps.push({
      kernel: this.kernel(this.names.loop(made.kernel), () => made.kernel),
      sizes: made.sizes,
      operands: made.operands,
      writes: outputs.length,
      flops: cost * sizeOf(shape),
    })
  }

  private emit(unit: number, u: Unit): void {
    const v = this.values[u.values[0]!]!
    if (u.kind === 'loop' && v.kind === 'map') this.emitMap(v)
    else if (u.kind === 'loop') this.emitLoop(unit, u)
    else if (u.kind === 'gemm') this.emitGemm(unit, v)
    else if (u.kind === 'concat') this.emitConcat(v)
    else if (u.kind === 'pad') this.emitPad(v)
    else if (u.kind === 'sliceAdd') this.emitSliceAdd(unit, v)
    else this.emitOpaque(unit, v)
  }

  private emitLoop(unit: number, u: Unit): void {
    const inputs: Draft[] = []
    const inputKeys = new Map<string, number>()
    const dtypes: Value['dtype'][] = []
    // References into the body, fixed once the number of inputs is known: inputs are negative.
    const ops: { prim: AnyPrimitive; params: unknown; args: number[]; dtype: Value['dtype'] }[] = []
    const made = new Map<number, number>()
    const load = (id: number): number => {
      const v = this.values[id]!
      const base = this.values[v.view?.base ?? id]!
      const inside = made.get(id)
      if (inside !== undefined) return inside
      if (base.constant && base.kind === 'scalar') {
        let at = made.get(base.id)
        if (at === undefined) {
          at = emit(base)
          made.set(base.id, at)
        }
        return at
      }
      const d = this.draft(id, u.shape)
      const key = `${d.storage},${d.offset},${d.strides.join()}`
      let k = inputKeys.get(key)
      if (k === undefined) {
        k = inputs.length
        inputs.push(d)
        dtypes.push(d.dtype)
        inputKeys.set(key, k)
      }
      return -1 - k
    }
    const emit = (v: Value): number => {
      ops.push({ prim: v.prim!, params: v.params, args: v.args.map(load), dtype: v.dtype })
      return ops.length - 1
    }
    const outputs: DraftOutput[] = []
    const results: number[] = []
    const outputIds = new Set(this.ir.outputs.map((o) => this.values[o]!.view?.base ?? o))
    for (const id of u.values) {
      const v = this.values[id]!
      if (v.kind === 'fold') {
        const axes = (v.params as { readonly axes: readonly number[] }).axes
        const kept = u.shape.map((_, i) => !axes.includes(i))
        const accumulate = v.args.length > 1
        if (accumulate) this.accumulateInto(unit, v, v.args[1]!)
        const p = this.own(v)
        let k = 0
        const strides = kept.map((keep) => (keep ? p.strides[k++]! : 0))
        results.push(load(v.args[0]!))
        outputs.push({
          storage: p.storage,
          offset: p.offset * itemBytes[v.dtype],
          strides,
          dtype: v.dtype,
          fold: { op: folds[v.prim!.name] as Fold, axes: kept.map((x) => !x), accumulate },
        })
        continue
      }
      const at = v.kind === 'copy' ? load(v.args[0]!) : emit(v)
      const outside = outputIds.has(id) || this.fused.uses[id]!.some((x) => this.fused.unitOf[x] !== unit)
      if (v.kind !== 'copy' || !outside) made.set(id, at)
      if (outside) {
        const p = this.own(v)
        results.push(at)
        outputs.push({ storage: p.storage, offset: p.offset * itemBytes[v.dtype], strides: p.strides, dtype: v.dtype })
        made.set(id, at)
      }
    }
    const n = inputs.length
    const fix = (r: number): number => (r < 0 ? -1 - r : n + r)
    const body: Body = { inputs: dtypes, ops: ops.map((o): BodyOp => ({ ...o, args: o.args.map(fix) })), results: results.map(fix) }
    this.loop(u.shape, body, inputs, outputs)
  }

  private emitMap(v: Value): void {
    const { program } = v.params as MapParams
    const body = bodyOfProgram(program)
    const outs = this.resultsOf(v.id)
    this.loop(
      v.shape,
      { inputs: body.inputs, ops: body.ops, results: outs.map((o) => body.results[o.position]!) },
      v.args.map((a) => this.draft(a, v.shape)),
      outs.map(({ value }) => {
        const p = this.own(value)
        return { storage: p.storage, offset: p.offset * itemBytes[value.dtype], strides: p.strides, dtype: value.dtype }
      }),
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
    const a = this.values[acc]!
    const base = this.values[a.view?.base ?? acc]!
    const isOutput = this.ir.outputs.some((o) => (this.values[o]!.view?.base ?? o) === base.id)
    const place = a.kind === 'const' || base.kind === 'const' || base.constant ? undefined : this.placeOf(acc)
    const last = this.fused.uses[base.id]!.every((x) => x === v.id || this.rank[this.fused.unitOf[x]!]! < this.rank[unit]!)
    // A value whose storage holds other values too (a part of a concat, an accumulator's earlier state) is fine as long as those are dead.
    if (
      place !== undefined &&
      last &&
      !isOutput &&
      this.places[v.id] === undefined &&
      contiguous(v.shape, place.strides) &&
      this.storageFree(place.storage, base.id)
    ) {
      this.places[v.id] = { storage: place.storage, offset: place.offset, strides: stridesOf(v.shape) }
      return
    }
    this.copied++
    const p = this.own(v)
    this.loop(
      v.shape,
      { inputs: [v.dtype], ops: [], results: [0] },
      [this.draft(acc, v.shape)],
      [{ storage: p.storage, offset: p.offset * itemBytes[v.dtype], strides: p.strides, dtype: v.dtype }],
    )
  }
  /** No program output lies in this storage except through the value itself. */
  private storageFree(storage: number, base: number): boolean {
    return !this.ir.outputs.some((o) => {
      const root = this.values[o]!.view?.base ?? o
      return root !== base && this.places[root]?.storage === storage
    })
  }

  private emitGemm(unit: number, v: Value): void {
    const accumulate = v.args.length > 2
    if (accumulate) this.accumulateInto(unit, v, v.args[2]!)
    const p = this.own(v)
    const item = itemBytes[v.dtype]
    const rank = v.shape.length
    const [m, n] = [v.shape[rank - 2]!, v.shape[rank - 1]!]
    const batch = v.shape.slice(0, -2)
    const count = sizeOf(batch)
    const operand = (id: number): { readonly o: Operand; readonly shape: readonly number[] } => {
      const w = this.values[id]!
      const q = this.placeOf(id)
      const lead = q.strides.slice(0, -2)
      const run = w.shape.length === rank ? reshapeStrides(batch, lead, [count]) : [0]
      const strides = q.strides.length === 0 ? [0, 0, 0] : [run?.[0] ?? 0, ...q.strides.slice(-2)]
      return { o: { storage: q.storage, offset: q.offset * item, strides: strides.map((s) => s * item) }, shape: w.shape }
    }
    const a = operand(v.args[0]!)
    const b = operand(v.args[1]!)
    const k = a.shape[a.shape.length - 1]!
    const c: Operand = { storage: p.storage, offset: p.offset * item, strides: [m * n, p.strides[rank - 2]!, 1].map((s) => s * item) }
    const kernel: GemmKernel = { kind: 'gemm', dtype: v.dtype as 'f32' | 'f64', accumulate }
    this.steps.push({
      kernel: this.kernel(`gemm${v.dtype}${accumulate}`, () => kernel),
      sizes: [count, m, n, k],
      operands: [c, a.o, b.o],
      writes: 1,
      flops: 2 * count * m * n * k,
    })
  }

  private emitPad(v: Value): void {
    const { at } = v.params as { readonly at: SliceParams }
    const whole = this.own(v)
    const item = itemBytes[v.dtype]
    const out = { storage: whole.storage, offset: whole.offset * item, strides: whole.strides, dtype: v.dtype }
    const copyBody: Body = { inputs: [v.dtype], ops: [], results: [0] }
    this.loop(v.shape, copyBody, [this.draft(v.args[1]!, v.shape)], [out])
    const x = this.values[v.args[0]!]!
    if (x.size === 0) return
    this.loop(x.shape, copyBody, [this.draft(x.id, x.shape)], [this.region(whole, at, v.dtype)])
  }
  /** The part of a place that a slice reads. */
  private region(whole: Place, p: SliceParams, dtype: Value['dtype']): Draft {
    const offset = p.starts.reduce((o, s, i) => o + s * whole.strides[i]!, whole.offset)
    return { storage: whole.storage, offset: offset * itemBytes[dtype], strides: whole.strides.map((s, i) => s * p.strides[i]!), dtype }
  }

  private emitSliceAdd(unit: number, v: Value): void {
    const p = v.params as SliceParams
    this.accumulateInto(unit, v, v.args[0]!)
    const u = this.values[v.args[1]!]!
    if (u.size === 0) return
    const part = this.region(this.own(v), p, v.dtype)
    this.loop(
      u.shape,
      { inputs: [v.dtype, v.dtype], ops: [{ prim: addOp, params: {}, args: [0, 1], dtype: v.dtype }], results: [2] },
      [part, this.draft(u.id, u.shape)],
      [part],
    )
  }

  private emitOpaque(unit: number, v: Value): void {
    const prim = v.prim!
    const inPlace = prim.accumulates
    const results = prim.multi ? this.resultsOf(v.id) : [{ value: v, position: 0 }]
    if (inPlace !== undefined) this.accumulateInto(unit, v, v.args[inPlace]!)
    const avals = v.args.map((a) => aval(this.values[a]!.shape, this.values[a]!.dtype))
    const shaped = prim.shapeRule(avals, v.params)
    const outs = (Array.isArray(shaped) ? shaped : [shaped]) as readonly {
      readonly shape: readonly number[]
      readonly dtype: Value['dtype']
    }[]
    const operand = (id: number): Operand => {
      const q = this.placeOf(id)
      return { storage: q.storage, offset: q.offset * itemBytes[this.values[id]!.dtype], strides: [] }
    }
    const byPosition = new Map(results.map((r) => [r.position, r.value]))
    const targets = outs.map((o, i): Operand => {
      const value = byPosition.get(i)
      // A result that nobody reads still needs room.
      return value === undefined
        ? { storage: this.newStorage(sizeOf(o.shape) * itemBytes[o.dtype]), offset: 0, strides: [] }
        : operand(value.id)
    })
    const kernel: OpaqueKernel = { kind: 'opaque', prim, params: v.params, args: avals, results: outs, inPlace }
    const key = this.names.opaque(prim, v.params, [...avals, ...outs].map((a) => `${a.dtype}${a.shape.join('x')}`).join())
    this.steps.push({
      kernel: this.kernel(key, () => kernel),
      sizes: [],
      operands: [...targets, ...v.args.filter((_, i) => i !== inPlace).map(operand)],
      writes: targets.length,
      flops: outs.reduce((s, o) => s + sizeOf(o.shape) * prim.cost, 0),
    })
  }
}

const contiguous = (shape: readonly number[], strides: readonly number[]): boolean =>
  stridesOf(shape).every((s, i) => s === strides[i] || shape[i] === 1) || sizeOf(shape) === 0

class MinHeap {
  private readonly items: number[] = []
  constructor(private readonly key: readonly number[]) {}
  get size(): number {
    return this.items.length
  }
  push(x: number): void {
    const { items, key } = this
    let i = items.push(x) - 1
    while (i > 0) {
      const p = (i - 1) >> 1
      if (key[items[p]!]! <= key[items[i]!]!) break
      ;[items[p], items[i]] = [items[i]!, items[p]!]
      i = p
    }
  }
  pop(): number {
    const { items, key } = this
    const top = items[0]!
    const last = items.pop()!
    if (items.length > 0) {
      items[0] = last
      let i = 0
      for (;;) {
        const l = 2 * i + 1
        if (l >= items.length) break
        const c = l + 1 < items.length && key[items[l + 1]!]! < key[items[l]!]! ? l + 1 : l
        if (key[items[i]!]! <= key[items[c]!]!) break
        ;[items[c], items[i]] = [items[i]!, items[c]!]
        i = c
      }
    }
    return top
  }
}

/** Plans a program: fuse, order, choose kernels, place values, assign memory. */
export const makePlan = (ir: Ir, limits: Limits, names: KernelNames = new KernelNames()): Plan => {
  const { bytes, ...made } = new Scheduler(ir, limits, names).run()
  const memory = assignMemory(
    made.steps,
    made.kernels,
    bytes,
    [...made.inputs, ...made.captured],
    made.outputs.map((o) => o.storage),
  )
  return { ...made, ...memory }
}
export type { LoopKernel, View }
