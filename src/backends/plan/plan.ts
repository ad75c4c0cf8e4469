/** A Plan: kernels, steps and memory of one program, as a value that tests and users can read. */
import { itemBytes } from '../../core/graph/aval.js'
import { KernelNames } from './body.js'
import { type EmitBody, Emitter, Sheet } from './emit.js'
import type { Start } from './f16-storage.js'
import { type Fused, fuse, type Limits } from './fuse.js'
import type { Kernel } from './kernel.js'
import { assignMemory, type Placed, type Storage } from './memory.js'
import { orderUnits } from './order.js'
import { ALL_PASSES } from './passes.js'
import { type Given, Places } from './places.js'
import { type Loop, outerFirst } from './repeat.js'
import type { Step } from './step.js'
import type { Ir } from './value.js'

export interface Plan {
  readonly kernels: readonly Kernel[]
  /** Canonical text of each kernel: equal text, equal kernel, in every plan of one backend. */
  readonly kernelKeys: readonly string[]
  readonly steps: readonly Step[]
  /** Which steps run again and again; one that lies in another stands behind it. */
  readonly loops: readonly Loop[]
  readonly storages: readonly Storage[]
  /** Storage of each program input (-1: nothing reads it), of each captured tensor, of each output with its byte offset. */
  readonly inputs: readonly number[]
  readonly captured: readonly number[]
  readonly outputs: readonly { readonly storage: number; readonly offset: number }[]
  readonly arenaBytes: number
  /** Bytes of the arena of f16. */
  readonly f16Bytes: number
  /** Bytes of the arguments that are read where the caller has them. */
  readonly givenBytes: number
  readonly peakBytes: number
  readonly peakBuffers: number
  readonly copiedAccumulators: number
}

/** Values that were emitted: where they lie, and how more is emitted beside them. */
interface Emitted {
  readonly fused: Fused
  readonly places: Places
  readonly emitter: Emitter
}
/** Emits the steps of values: fuse, order, place, choose kernels. `given`: those of a loop's body, `depth` loops deep. */
const emitted = (ir: Ir, limits: Limits, sheet: Sheet, given?: Given, depth = 0): Emitted => {
  const fused = fuse(ir, limits)
  const { units, values } = fused
  const order = orderUnits(fused)
  const position = new Int32Array(units.length)
  for (let i = 0; i < order.length; i++) position[order[i]!] = i
  const places = new Places(
    ir,
    fused,
    position,
    sheet.buffers,
    limits.itemBytes ?? itemBytes,
    limits.without ?? ALL_PASSES,
    given,
    limits.tile,
    limits.productForm,
  )
  for (const id of ir.inputs) if (id >= 0) places.own(values[id]!)
  for (const c of ir.captured) places.own(values[c.value]!)
  for (let i = 0; i < units.length; i++) if (units[i]!.kind === 'concat') places.placeParts(values[units[i]!.values[0]!]!)
  const step: EmitBody = (body, inside, at) => {
    const { emitter } = emitted(body, limits, sheet, inside, at)
    return (input) => emitter.lastReadOf(input)
  }
  const emitter = new Emitter(fused, places, sheet, step, depth)
  for (let i = 0; i < order.length; i++) emitter.emit(order[i]!)
  if (given !== undefined) emitter.settle(ir.outputs, given.outputs)
  return { fused, places, emitter }
}

/** Plans a program: fuse, order, choose kernels, place values, store as f16 what may be, assign memory. */
export const makePlan = (ir: Ir, limits: Limits, names: KernelNames = new KernelNames()): Plan => {
  const item = limits.itemBytes ?? itemBytes
  const sheet = new Sheet(names)
  const { fused, places, emitter } = emitted(ir, limits, sheet)
  const { values } = fused
  const { kernels, kernelKeys } = sheet
  const inputs = ir.inputs.map((id) => (id < 0 ? -1 : places.own(values[id]!).storage))
  const captured = ir.captured.map((c) => places.own(values[c.value]!).storage)
  const outputs = ir.outputs.map((id) => {
    const p = places.placeOf(id)
    return { storage: p.storage, offset: p.offset * item[values[id]!.dtype] }
  })
  const whole: Placed = { steps: sheet.steps, loops: outerFirst(sheet.loops), buffers: sheet.buffers, inputs, captured, outputs }
  const sizes = ir.outputs.map((id) => values[id]!.size)
  const copy = (from: Start, to: Start, size: number): Step => emitter.copyStep(from, to, size, 'f32')
  const stored = limits.f16 === undefined ? whole : limits.f16(whole, kernels, sizes, copy)
  const placed = limits.given === undefined ? stored : limits.given(stored, kernels)
  const memory = assignMemory(placed, kernels, limits.without ?? ALL_PASSES)
  return {
    ...memory,
    kernels,
    kernelKeys,
    steps: placed.steps,
    loops: placed.loops,
    inputs: placed.inputs,
    captured,
    outputs: placed.outputs,
    copiedAccumulators: sheet.copied,
  }
}
