/** A program on one device: its records in a uniform buffer, its pipelines, its place in the arena, and what one call asks. */
import { raise } from '../../core/errors/explain.js'
import type { Program } from '../../core/graph/program.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Plan } from '../plan/plan.js'
import type { Step } from '../plan/step.js'
import type { Ir } from '../plan/value.js'
import { bits, type Dispatch, SCRATCH, type Word } from './dispatch.js'
import type { Lowered } from './lower.js'
import type { Device } from './memory.js'

interface Bound {
  readonly pipeline: GPUComputePipeline
  readonly offset: number
  readonly groups: number
  /** Storages that it reads where the caller has them. */
  readonly given: readonly number[]
}
/** Dispatches of one pass, a primitive that the CPU computes, or an iteration until its mark is 0. */
export type Ready =
  | { readonly kind: 'gpu'; readonly dispatches: readonly Bound[] }
  | { readonly kind: 'cpu'; readonly step: number; readonly at: readonly number[]; readonly kernel: OpaqueKernel }
  | { readonly kind: 'while'; readonly dispatches: readonly Bound[]; readonly mark: number }

/** The memory of a program's calls; that of f16 where it has any. */
interface Arenas {
  readonly words: GPUBuffer
  readonly f16: GPUBuffer | undefined
}

/** Where the parts of a program's memory lie in the arena. */
interface Layout {
  readonly constants: number
  readonly scratch: number
  readonly marks: number
  readonly bytes: number
  /** Bytes of the arena of f16. */
  readonly f16Bytes: number
}

/** A program planned for arguments and results that are stored in one way, free of any device. */
export interface Prepared {
  readonly program: Program
  readonly ir: Ir
  readonly plan: Plan
  /** Its shaders for a device. */
  readonly lower: (device: Device) => Lowered
}

/** Bits of a program's literals, by slot. */
const literalsOf = (ir: Ir): Uint32Array<ArrayBuffer> => Uint32Array.from(ir.consts, (c) => bits(c.number, ir.values[c.value]!.dtype))

/** The storages that a step reads where the caller has them, by their numbers. */
const givenTo = (step: Step | undefined): readonly number[] => {
  const storages: number[] = []
  for (const o of step?.reads ?? []) if (o.given !== undefined) storages[o.given] = o.storage
  return storages
}

export class Resident {
  /** Literals, as the arena holds them. */
  private readonly constants: Uint32Array<ArrayBuffer>
  private group: GPUBindGroup | undefined
  private generation = -1
  private readonly givenGroups = new Map<string, { readonly buffers: readonly GPUBuffer[]; readonly group: GPUBindGroup }>()

  private constructor(
    readonly device: Device,
    readonly of: Prepared,
    readonly lowered: Lowered,
    readonly segments: readonly Ready[],
    private readonly layout: Layout,
    private readonly records: GPUBuffer,
    private readonly recordBytes: number,
  ) {
    this.constants = literalsOf(of.ir)
  }

  /** Compiles the pipelines, in parallel, and writes the records; raises OutOfMemory before anything runs. */
  static async make(device: Device, of: Prepared): Promise<Resident> {
    const { plan, ir } = of
    const lowered = of.lower(device)
    const constants = aligned(plan.arenaBytes, 16)
    const scratch = aligned(constants + 4 * ir.consts.length, 16)
    const marks = aligned(scratch + lowered.scratchBytes, 4)
    const layout = { constants, scratch, marks, bytes: Math.max(16, marks + 4 * lowered.marks), f16Bytes: aligned(plan.f16Bytes, 16) }
    const needed = Math.max(layout.bytes, layout.f16Bytes)
    if (needed > device.limitBytes) raise({ _tag: 'OutOfMemory', backend: 'webgpu', neededBytes: needed, limitBytes: device.limitBytes })
    const literals = literalsOf(ir)
    const align = device.gpu.limits.minUniformBufferOffsetAlignment / 4
    const all = [...new Set(lowered.segments.flatMap((s) => (s.kind === 'cpu' ? [] : s.dispatches.map((d) => d.dispatch))))]
    const givenOf = new Map<Dispatch, readonly number[]>()
    for (const s of lowered.segments)
      if (s.kind !== 'cpu')
        for (const { step, dispatch } of s.dispatches) if (!givenOf.has(dispatch)) givenOf.set(dispatch, givenTo(plan.steps[step]))
    const pipelines = Promise.all(all.map((d) => device.pipeline(d.wgsl, layout.f16Bytes > 0, givenOf.get(d)!.length)))
    let at = 0
    const offsets = new Map<Dispatch, number>()
    for (const d of all) {
      offsets.set(d, at)
      at += aligned(aligned(d.words.length, 4), align)
    }
    // Room behind the last record: the binding has one size, the largest record's, at every offset.
    const recordWords = all.reduce((n, d) => Math.max(n, aligned(d.words.length, 4)), 4)
    const records = new Uint32Array(at + recordWords)
    const place = (w: Word): number => {
      if (typeof w === 'number') return w
      if ('literal' in w) return literals[w.literal]!
      if ('mark' in w) return layout.marks / 4 + w.mark
      if (w.storage === SCRATCH) return (layout.scratch + w.byteOffset) / 4
      if (w.storage < 0) return layout.constants / 4 - 1 - w.storage
      const { offset, f16, given } = plan.storages[w.storage]!
      return ((given ? 0 : offset) + w.byteOffset) / (f16 ? 2 : 4)
    }
    for (const d of all) {
      const from = offsets.get(d)!
      for (const [i, w] of d.words.entries()) records[from + i] = place(w) | 0
    }
    const compiled = await pipelines
    device.alive()
    const buffer = device.uniform(records.byteLength)
    device.gpu.queue.writeBuffer(buffer, 0, records)
    const pipelineOf = new Map(all.map((d, i) => [d, compiled[i]!]))
    const segments = lowered.segments.map(
      (s): Ready =>
        s.kind === 'cpu'
          ? s
          : {
              ...s,
              dispatches: s.dispatches.map(({ dispatch: d }) => ({
                pipeline: pipelineOf.get(d)!,
                offset: 4 * offsets.get(d)!,
                groups: d.groups,
                given: givenOf.get(d)!,
              })),
            },
    )
    return new Resident(device, of, lowered, segments, layout, buffer, 4 * recordWords)
  }

  get bytes(): number {
    return this.layout.bytes + this.layout.f16Bytes
  }

  /** Byte address of an operand in the arena. */
  address(storage: number, offset = 0): number {
    return storage < 0 ? this.layout.constants + 4 * (-1 - storage) : this.of.plan.storages[storage]!.offset + offset
  }

  /** Byte address of a mark. */
  markAt(mark: number): number {
    return this.layout.marks + 4 * mark
  }

  /** The arena that holds a storage. */
  arenaOf(arenas: Arenas, storage: number): GPUBuffer {
    return storage >= 0 && this.of.plan.storages[storage]!.f16 ? arenas.f16! : arenas.words
  }

  /** Bytes that are copied for so many elements of a storage: whole words. */
  bytesOf(storage: number, size: number): number {
    return storage >= 0 && this.of.plan.storages[storage]!.f16 ? aligned(2 * size, 4) : 4 * size
  }

  /** The arena of words, and that of f16 beside it, large enough, with this program's literals in it. */
  settle(poison: boolean): Arenas {
    const { device } = this
    const [arena, all] = device.reserve(this.layout.bytes, this.layout.f16Bytes)
    const f16 = this.layout.f16Bytes > 0 ? all : undefined
    if (this.generation !== device.generation) {
      this.group = device.gpu.createBindGroup({
        layout: device.layout(f16 !== undefined),
        entries: [
          { binding: 0, resource: { buffer: arena } },
          { binding: 1, resource: { buffer: this.records, size: this.recordBytes } },
          ...(f16 === undefined ? [] : [{ binding: 2, resource: { buffer: f16 } }]),
        ],
      })
      this.generation = device.generation
    }
    if (poison) {
      device.gpu.queue.writeBuffer(arena, 0, new Uint32Array(this.layout.bytes / 4).fill(0x7fc00000))
      if (f16 !== undefined) device.gpu.queue.writeBuffer(f16, 0, new Uint16Array(this.layout.f16Bytes / 2).fill(0x7e00))
      device.owner = undefined
    }
    if (device.owner !== this && this.constants.length > 0) device.gpu.queue.writeBuffer(arena, this.layout.constants, this.constants)
    device.owner = this
    return { words: arena, f16 }
  }

  /** Is the storage read where the caller has it? */
  isGiven(storage: number): boolean {
    return storage >= 0 && this.of.plan.storages[storage]!.given
  }

  /** How the arguments of a dispatch that lie where the caller has them are bound: kept until they are others. */
  private givenGroup(storages: readonly number[], given: ReadonlyMap<number, GPUBuffer>): GPUBindGroup {
    const key = storages.join()
    const buffers = storages.map((s) => given.get(s)!)
    const known = this.givenGroups.get(key)
    if (known?.buffers.every((b, i) => b === buffers[i])) return known.group
    const group = this.device.gpu.createBindGroup({
      layout: this.device.givenLayout(storages.length),
      entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
    })
    this.givenGroups.set(key, { buffers, group })
    return group
  }

  /** `given`: the buffers of the storages that are read where the caller has them. */
  encode(encoder: GPUCommandEncoder, dispatches: readonly Bound[], given: ReadonlyMap<number, GPUBuffer>): void {
    if (dispatches.length === 0) return
    const pass = encoder.beginComputePass()
    let last: GPUComputePipeline | undefined
    for (const d of dispatches) {
      if (d.pipeline !== last) pass.setPipeline(d.pipeline)
      last = d.pipeline
      pass.setBindGroup(0, this.group!, [d.offset])
      if (d.given.length > 0) pass.setBindGroup(1, this.givenGroup(d.given, given))
      // Past the limit of one dimension the workgroups lie in a square; shaders count x + y * width.
      const width = d.groups <= 65535 ? d.groups : Math.ceil(Math.sqrt(d.groups))
      pass.dispatchWorkgroups(width, Math.ceil(d.groups / width))
    }
    pass.end()
    this.device.stats.dispatches += dispatches.length
  }

  dispose(): void {
    if (this.device.owner === this) this.device.owner = undefined
    this.device.free(this.records)
    this.group = undefined
    this.givenGroups.clear()
    this.generation = -1
  }
}
