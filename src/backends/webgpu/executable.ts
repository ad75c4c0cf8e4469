/** The calls of a prepared program: inputs in, one submit for each run of steps without the CPU, results out or kept on the device. */

import { badInput, raise } from '../../core/errors/explain.js'
import type { AsyncExecutable, Elements, Explanation } from '../../core/functions/backend.js'
import { onADevice } from '../../core/functions/device-tensor.js'
import { allocate, type NDArray, type TypedArray } from '../../core/graph/ndarray.js'
import type { Program } from '../../core/graph/program.js'
import { sizeOf } from '../../core/graph/shape.js'
import { type Stored, storedKey } from '../plan/f16-storage.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import { movedStep } from '../plan/repeat.js'
import { argumentsOf, type Operand, type Step } from '../plan/step.js'
import { WebGpuArray } from './array.js'
import type { Device, Reader } from './memory.js'
import { type Prepared, type Ready, Resident } from './resident.js'
import { fromDevice, toDevice } from './words.js'

/** What a call has asked of the device, and how its answer is read. */
interface Submitted {
  readonly read: Reader | undefined
  readonly invalid: Promise<GPUError | null>
  readonly memory: Promise<GPUError | null>
}

/** Bytes that a step on the CPU reads back, and those that it writes. */
export const transferOf = (kernel: OpaqueKernel): { readonly bytesRead: number; readonly bytesWritten: number } => ({
  bytesRead: kernel.args.reduce((n, a) => n + 4 * sizeOf(a.shape), 0),
  bytesWritten: kernel.results.reduce((n, r) => n + 4 * sizeOf(r.shape), 0),
})

/** All in 32 bits. */
export const inWords: Stored = { inputs: new Set(), outputs: new Set(), given: new Set() }
const storedAsF16 = (xs: readonly Elements[] | undefined): ReadonlySet<number> => {
  if (xs === undefined || !xs.some((x) => onADevice(x) && x.half === true)) return inWords.inputs
  return new Set(xs.flatMap((x, i) => (onADevice(x) && x.half === true ? [i] : [])))
}

/** Bytes from which on a tensor that is on the device is read where it is: a program of its own is compiled for that. */
const LARGE = 1 << 20
const readThere = (xs: readonly Elements[], { inputs }: Program): ReadonlySet<number> => {
  const there = xs.flatMap((x, i) => (onADevice(x) && x.half !== true && 4 * inputs[i]!.aval.size >= LARGE ? [i] : []))
  return there.length === 0 ? inWords.given : new Set(there)
}

/** Iterations of a loop that only its condition ends, between two readbacks. */
export const TRIPS = 32

/** What an executable is made of. */
export interface Making {
  /** The device that is open now: another one after a loss. */
  readonly open: () => Promise<Device>
  readonly program: Program
  /** Its last inputs, which calls do not give: tensors of compositions that stand in place of primitives. */
  readonly constants: readonly Elements[]
  /** The program's plan for arguments and results that are stored so. */
  readonly planned: (stored: Stored) => Prepared
  readonly poison: boolean
  /** Bytes that it holds in the host's memory, about. */
  readonly bytes: number
  readonly explain: () => Explanation
}

export class WebGpuExecutable implements AsyncExecutable {
  /** By what is stored as f16. */
  private readonly residents = new Map<string, Promise<Resident>>()
  private disposed = false
  readonly explain: () => Explanation

  readonly bytes: number

  private constructor(private readonly of: Making) {
    this.bytes = of.bytes
    this.explain = of.explain
  }

  static async make(of: Making): Promise<WebGpuExecutable> {
    const made = new WebGpuExecutable(of)
    await made.resident(inWords)
    return made
  }

  /** The program on the device that is open now. */
  private async resident(stored: Stored): Promise<Resident> {
    const key = storedKey(stored)
    const device = await this.of.open()
    const known = await this.residents.get(key)?.catch(() => undefined)
    if (known?.device === device) return known
    const made = Resident.make(device, this.of.planned(stored))
    this.residents.set(key, made)
    return made
  }

  async run(given: readonly Elements[], into?: readonly Elements[], accumulate = false): Promise<readonly Elements[]> {
    const { program, constants } = this.of
    const inputs = constants.length === 0 ? given : [...given, ...constants]
    const resident = await this.resident({ inputs: storedAsF16(inputs), outputs: storedAsF16(into), given: readThere(inputs, program) })
    const { device } = resident
    const outs = program.outputs
    const onHost = outs.map((_, i) => into === undefined || !onADevice(into[i]!))
    const { read, invalid, memory } = await device.exclusive(() => this.submit(resident, inputs, into, onHost))
    const [refused, full] = await Promise.all([invalid, memory]).catch((e: unknown) => device.failed(e))
    if (refused !== null || full !== null) await read?.(() => undefined).catch(() => undefined) // takes the staging buffer back
    if (full !== null) {
      device.dropArenas()
      raise({ _tag: 'OutOfMemory', backend: 'webgpu', neededBytes: resident.bytes, limitBytes: device.limitBytes })
    }
    if (refused !== null) {
      device.alive()
      raise({ _tag: 'Device', backend: 'webgpu', reason: refused.message, fix: 'report it with the program.' })
    }
    await device.keepPace(read !== undefined)
    if (read === undefined) return into ?? []
    return read((mapped) => {
      let at = 0
      return outs.map((o, i): Elements => {
        const to = into?.[i]
        if (to !== undefined && !onHost[i]) return to
        const from = fromDevice(mapped, at, o.aval.size, o.dtype)
        at += aligned(4 * o.aval.size, 16)
        if (to === undefined) return from.slice()
        const target = to as TypedArray
        if (!accumulate) target.set(from as never)
        else for (let j = 0; j < from.length; j++) target[j]! += from[j]!
        return target
      })
    })
  }

  /** Writes the inputs, runs every segment, and copies the results out. */
  private async submit(
    r: Resident,
    inputs: readonly Elements[],
    into: readonly Elements[] | undefined,
    onHost: readonly boolean[],
  ): Promise<Submitted> {
    const { program } = this.of
    const { device } = r
    const { plan } = r.of
    const { gpu, stats } = device
    if (this.disposed) badInput(program.name, 'this compiled function was disposed.', 'compile it again.')
    device.alive()
    // All that is on the device is found before anything is asked, so that an error leaves nothing behind.
    const sources = inputs.map((x) => (onADevice(x) ? arrayOf(x, program.name).on(device, program.name) : x))
    const targets = program.outputs.map((_, i) => (onHost[i] ? undefined : arrayOf(into![i]!, 'into').on(device, 'into')))
    const outputBytes = program.outputs.reduce((n, o, i) => (onHost[i] ? n + aligned(4 * o.aval.size, 16) : n), 0)
    gpu.pushErrorScope('out-of-memory')
    gpu.pushErrorScope('validation')
    const popped = (): Pick<Submitted, 'invalid' | 'memory'> => ({
      invalid: gpu.popErrorScope(),
      memory: gpu.popErrorScope(),
    })
    try {
      const arenas = r.settle(this.of.poison)
      let encoder = gpu.createCommandEncoder()
      const given = new Map<number, GPUBuffer>()
      plan.inputs.forEach((s, i) => {
        const { aval, dtype } = program.inputs[i]!
        if (s < 0 || aval.size === 0) return
        const source = sources[i]!
        if (r.isGiven(s)) {
          given.set(s, source as GPUBuffer)
          return
        }
        const [arena, to] = [r.arenaOf(arenas, s), r.address(s)]
        if (ArrayBuffer.isView(source)) {
          gpu.queue.writeBuffer(arena, to, toDevice(source, dtype))
          stats.bytesWritten += 4 * aval.size
        } else encoder.copyBufferToBuffer(source, 0, arena, to, r.bytesOf(s, aval.size))
      })
      for (const s of r.segments) {
        if (s.kind === 'gpu') r.encode(encoder, s.dispatches, given)
        else if (s.kind === 'while') {
          await this.until(r, arenas.words, encoder, s, given)
          encoder = gpu.createCommandEncoder()
        } else {
          await this.onCpu(r, arenas.words, encoder, movedStep(plan.steps[s.step]!, s.at), s.kernel)
          encoder = gpu.createCommandEncoder()
        }
      }
      const out = outputBytes === 0 ? undefined : device.takeStaging(outputBytes)
      let at = 0
      let wanted = 0
      program.outputs.forEach((o, i) => {
        const { storage, offset } = plan.outputs[i]!
        const bytes = 4 * o.aval.size
        const target = targets[i] ?? out
        if (bytes > 0 && target !== undefined)
          encoder.copyBufferToBuffer(
            r.arenaOf(arenas, storage),
            r.address(storage, offset),
            target,
            onHost[i] ? at : 0,
            r.bytesOf(storage, o.aval.size),
          )
        if (!onHost[i]) return
        at += aligned(bytes, 16)
        wanted += bytes
      })
      device.submit(encoder)
      const read = out === undefined ? undefined : device.readStaging(out, outputBytes, wanted)
      return { read: onHost.some((h) => h) ? (read ?? nothingRead) : undefined, ...popped() }
    } catch (e) {
      for (const scope of Object.values(popped())) scope.catch(() => undefined)
      throw e
    }
  }

  /** Iterations, TRIPS in a submit, until none is taken any more: one readback of a word after each submit. Ends the encoder's submit. */
  private async until(
    r: Resident,
    arena: GPUBuffer,
    begun: GPUCommandEncoder,
    s: Ready & { readonly kind: 'while' },
    given: ReadonlyMap<number, GPUBuffer>,
  ): Promise<void> {
    const { device } = r
    // The mark once more: will the next iteration be taken?
    const trips = [...Array.from({ length: TRIPS }, () => s.dispatches).flat(), s.dispatches[0]!]
    for (let encoder = begun, taken = true; taken; encoder = device.gpu.createCommandEncoder()) {
      r.encode(encoder, trips, given)
      const staging = device.takeStaging(4)
      encoder.copyBufferToBuffer(arena, r.markAt(s.mark), staging, 0, 4)
      device.submit(encoder)
      taken = await device.readStaging(staging, 4, 4)((mapped) => new Uint32Array(mapped, 0, 1)[0] !== 0)
    }
  }

  /** A primitive without a kernel: its arguments read back, its meaning run, its results written. Ends the encoder's submit. */
  private async onCpu(r: Resident, arena: GPUBuffer, encoder: GPUCommandEncoder, s: Step, kernel: OpaqueKernel): Promise<void> {
    const { device } = r
    const { gpu, stats } = device
    const at = (o: Operand): number => r.address(o.storage, o.offset)
    const given = argumentsOf(kernel, s)
    const spans = kernel.args.map((a, i) => ({ a, from: at(given[i]!), bytes: 4 * sizeOf(a.shape) }))
    const total = spans.reduce((n, s) => n + aligned(s.bytes, 16), 0)
    const staging = device.takeStaging(total)
    let to = 0
    for (const s of spans) {
      if (s.bytes > 0) encoder.copyBufferToBuffer(arena, s.from, staging, to, s.bytes)
      to += aligned(s.bytes, 16)
    }
    device.submit(encoder)
    const args = await device.readStaging(
      staging,
      total,
      transferOf(kernel).bytesRead,
    )((mapped) => {
      let from = 0
      return spans.map(({ a, bytes }): NDArray => {
        const data = fromDevice(mapped, from, sizeOf(a.shape), a.dtype).slice()
        from += aligned(bytes, 16)
        return { shape: a.shape, dtype: a.dtype, data }
      })
    })
    const outs = kernel.results.map((x): NDArray => ({ shape: x.shape, dtype: x.dtype, data: allocate(x.dtype, sizeOf(x.shape)) }))
    if (kernel.inPlace !== undefined) outs[0]!.data.set(args[kernel.inPlace]!.data as never)
    r.lowered.onCpu(kernel)(
      args.map((a, i) => (i === kernel.inPlace ? outs[0]! : a)),
      kernel.params as never,
      outs,
    )
    outs.forEach((o, i) => {
      if (o.data.length === 0) return
      gpu.queue.writeBuffer(arena, at(s.writes[i]!), toDevice(o.data, o.dtype))
      stats.bytesWritten += 4 * o.data.length
    })
  }

  dispose(): void {
    if (this.disposed) return
    this.disposed = true
    for (const made of this.residents.values())
      void made.then(
        (r) => r.dispose(),
        () => undefined,
      )
  }
}

/** Results without elements: nothing is read. */
const nothingRead: Reader = async (use) => use(new ArrayBuffer(0))

const arrayOf = (x: Elements, where: string): WebGpuArray =>
  x instanceof WebGpuArray
    ? x
    : badInput(where, 'a tensor is on the device of another backend.', 'read it back with onHost, and place it on this one.')
