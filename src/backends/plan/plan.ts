/** A Plan: kernels, steps and memory of one program, as a value that tests and users can read. */
import { itemBytes } from '../../core/graph/aval.js'
import { KernelNames } from './body.js'
import { Emitter } from './emit.js'
import { type Placed, type Start, storeAsF16 } from './f16-storage.js'
import { fuse, type Limits } from './fuse.js'
import type { Kernel } from './kernel.js'
import { assignMemory, type Storage } from './memory.js'
import { orderUnits } from './order.js'
import { ALL_PASSES } from './passes.js'
import { Places } from './places.js'
import type { Step } from './step.js'
import type { Ir } from './value.js'

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
  /** Bytes of the arena of f16. */
  readonly f16Bytes: number
  readonly peakBytes: number
  readonly peakBuffers: number
  readonly copiedAccumulators: number
}

/** Plans a program: fuse, order, choose kernels, place values, store as f16 what may be, assign memory. */
export const makePlan = (ir: Ir, limits: Limits, names: KernelNames = new KernelNames()): Plan => {
  const item = limits.itemBytes ?? itemBytes
  const without = limits.without ?? ALL_PASSES
  const fused = fuse(ir, limits)
  const { units, values } = fused
  const order = orderUnits(fused)
  const position = new Int32Array(units.length)
  order.forEach((u, i) => {
    position[u] = i
  })
  const places = new Places(ir, fused, position, item, without)
  for (const id of ir.inputs) if (id >= 0) places.own(values[id]!)
  for (const c of ir.captured) places.own(values[c.value]!)
  for (const u of units) if (u.kind === 'concat') places.placeParts(values[u.values[0]!]!)
  const emitter = new Emitter(fused, places, names)
  for (const u of order) emitter.emit(u)
  const { kernels, kernelKeys } = emitter
  const inputs = ir.inputs.map((id) => (id < 0 ? -1 : places.own(values[id]!).storage))
  const captured = ir.captured.map((c) => places.own(values[c.value]!).storage)
  const outputs = ir.outputs.map((id) => {
    const p = places.placeOf(id)
    return { storage: p.storage, offset: p.offset * item[values[id]!.dtype] }
  })
  const whole: Placed = { steps: emitter.steps, buffers: places.buffers, inputs, captured, outputs }
  const sizes = ir.outputs.map((id) => values[id]!.size)
  const copy = (from: Start, to: Start, size: number): Step => emitter.copyStep(from, to, size, 'f32')
  const placed = limits.f16 === undefined ? whole : storeAsF16(whole, kernels, limits.f16, sizes, copy)
  const { steps, buffers } = placed
  const memory = assignMemory(
    steps,
    kernels,
    buffers,
    [...placed.inputs, ...captured],
    placed.outputs.map((o) => o.storage),
    without,
  )
  return {
    ...memory,
    kernels,
    kernelKeys,
    steps,
    inputs: placed.inputs,
    captured,
    outputs: placed.outputs,
    copiedAccumulators: emitter.copied,
  }
}
