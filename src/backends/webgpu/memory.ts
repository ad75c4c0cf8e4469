/** The device's memory: one arena for all programs (and one of f16), grown when a larger one comes; buffers to read back through; the pipelines; who may submit. */
import { raise } from '../../core/errors/explain.js'
import { Lru } from '../../core/functions/lru.js'
import type { Opened } from './device.js'

/** Counts of the work sent to the device; tests read them. */
export interface DeviceStats {
  /** Since the backend was made. */
  dispatches: number
  submits: number
  readbacks: number
  bytesWritten: number
  bytesRead: number
  pipelines: number
  /** Buffers that exist now, and their bytes. */
  buffers: number
  bufferBytes: number
}

export const noStats = (): DeviceStats => ({
  dispatches: 0,
  submits: 0,
  readbacks: 0,
  bytesWritten: 0,
  bytesRead: 0,
  pipelines: 0,
  buffers: 0,
  bufferBytes: 0,
})

const STORAGE = 0x0080 | 0x0008 | 0x0004 // STORAGE | COPY_DST | COPY_SRC
const UNIFORM = 0x0040 | 0x0008 // UNIFORM | COPY_DST
const READ = 0x0001 | 0x0008 // MAP_READ | COPY_DST

/** What a pipeline takes beside its shader's text and what that becomes, about. */
const PIPELINE_BYTES = 32_768

/** Gives what the device has written to a function that copies what it wants of it. */
export type Reader = <A>(use: (mapped: ArrayBuffer) => A) => Promise<A>

/** The device with its arena, its staging buffers and its pipelines. */
export class Device {
  readonly gpu: GPUDevice
  /** The arenas: of words, and of f16. */
  private arenas: readonly [GPUBuffer, GPUBuffer | undefined] | undefined
  private staging: GPUBuffer[] = []
  /** Buffers that exist. */
  private readonly live = new Set<GPUBuffer>()
  private last: Promise<unknown> = Promise.resolve()
  /** Submits since the host last waited for the device. */
  private ahead = 0
  /** Pipelines by their shaders; a program that lives holds its own. */
  private readonly pipelines: Lru<string, Promise<GPUComputePipeline>>
  /** Of programs without an arena of f16, and with one. */
  private readonly layouts: readonly GPUBindGroupLayout[]
  /** Of so many arguments that lie where the caller has them. */
  private readonly given: GPUBindGroupLayout[] = []
  private readonly pipelineLayouts = new Map<string, GPUPipelineLayout>()
  /** Why the device is gone; undefined while it works. */
  lost: string | undefined
  /** Grows by one when the arena is replaced: bind groups made before are stale. */
  generation = 0
  /** Who wrote its literals into the arena last. */
  owner: unknown

  constructor(
    readonly opened: Opened,
    readonly stats: DeviceStats,
    private readonly maxBytes: number,
    cacheBytes: number,
  ) {
    this.pipelines = new Lru(cacheBytes, () => undefined)
    const gpu = opened.device
    this.gpu = gpu
    void gpu.lost.then((info) => {
      this.lost = `the device was lost (${info.reason}): ${info.message}`
    })
    this.layouts = [false, true].map((f16) => {
      return gpu.createBindGroupLayout({
        entries: [
          { binding: 0, visibility: 4, buffer: { type: 'storage' } },
          { binding: 1, visibility: 4, buffer: { type: 'uniform', hasDynamicOffset: true } },
          ...(f16 ? [{ binding: 2, visibility: 4, buffer: { type: 'storage' as const } }] : []),
        ],
      })
    })
  }

  /** Raises Device when the device is gone. */
  alive(): void {
    if (this.lost !== undefined)
      raise({
        _tag: 'Device',
        backend: 'webgpu',
        reason: this.lost,
        fix: this.opened.own
          ? 'call again: the device is opened anew. Tensors that were on it are gone.'
          : 'make the backend with another device.',
      })
  }
  /** What went wrong when the device refused: its loss, where that is known a moment later. */
  async failed(e: unknown): Promise<never> {
    await Promise.race([this.gpu.lost, new Promise((resolve) => setTimeout(resolve, 100))])
    this.alive()
    return raise({ _tag: 'Device', backend: 'webgpu', reason: String((e as Error).message ?? e), fix: 'call again; or use cpu().' })
  }
  /** One at a time: from a call's first write to its last submit. */
  exclusive<A>(job: () => Promise<A>): Promise<A> {
    const result = this.last.then(job)
    this.last = result.catch(() => undefined)
    return result
  }
  /** Keeps the host from running far ahead of a device that it reads nothing from. */
  async keepPace(waited: boolean): Promise<void> {
    this.ahead = waited ? 0 : this.ahead + 1
    if (this.ahead < 16) return
    this.ahead = 0
    await this.gpu.queue.onSubmittedWorkDone().catch((e: unknown) => this.failed(e))
  }
  get limitBytes(): number {
    return Math.min(this.maxBytes, this.gpu.limits.maxBufferSize, this.gpu.limits.maxStorageBufferBindingSize)
  }

  buffer(bytes: number, usage: number): GPUBuffer {
    const b = this.gpu.createBuffer({ size: Math.max(16, Math.ceil(bytes / 16) * 16), usage })
    this.stats.buffers++
    this.stats.bufferBytes += b.size
    this.live.add(b)
    return b
  }
  free(b: GPUBuffer): void {
    if (!this.live.delete(b)) return
    this.stats.buffers--
    this.stats.bufferBytes -= b.size
    b.destroy()
  }
  storage(bytes: number): GPUBuffer {
    return this.buffer(bytes, STORAGE)
  }
  uniform(bytes: number): GPUBuffer {
    return this.buffer(bytes, UNIFORM)
  }

  /** How a program's memory is bound. */
  layout(f16: boolean): GPUBindGroupLayout {
    return this.layouts[Number(f16)]!
  }
  /** How so many arguments are bound that lie where the caller has them. */
  givenLayout(count: number): GPUBindGroupLayout {
    this.given[count] ??= this.gpu.createBindGroupLayout({
      entries: Array.from({ length: count }, (_, binding) => ({ binding, visibility: 4, buffer: { type: 'read-only-storage' as const } })),
    })
    return this.given[count]
  }
  private pipelineLayout(f16: boolean, given: number): GPUPipelineLayout {
    const key = `${f16} ${given}`
    const known = this.pipelineLayouts.get(key)
    if (known !== undefined) return known
    const made = this.gpu.createPipelineLayout({ bindGroupLayouts: [this.layout(f16), ...(given > 0 ? [this.givenLayout(given)] : [])] })
    this.pipelineLayouts.set(key, made)
    return made
  }

  /** The arenas, at least this large; that of f16 once a program needs one. */
  reserve(bytes: number, f16Bytes: number): readonly [GPUBuffer, GPUBuffer | undefined] {
    const needed = Math.max(bytes, f16Bytes)
    if (needed > this.limitBytes) raise({ _tag: 'OutOfMemory', backend: 'webgpu', neededBytes: needed, limitBytes: this.limitBytes })
    const [words, f16] = this.arenas ?? []
    const next = [this.grown(words, bytes), f16Bytes > 0 ? this.grown(f16, f16Bytes) : f16] as const
    if (next[0] !== words || next[1] !== f16) {
      this.generation++
      this.owner = undefined
    }
    this.arenas = next
    return next
  }
  /** The arena, or a larger one in its place: by a quarter at least, so that a series of programs makes few. */
  private grown(arena: GPUBuffer | undefined, bytes: number): GPUBuffer {
    if (arena !== undefined && arena.size >= bytes) return arena
    const wanted = Math.min(this.limitBytes, Math.max(bytes, Math.ceil(1.25 * (arena?.size ?? 0)), 1 << 16))
    if (arena !== undefined) this.free(arena)
    const whole = Math.floor(wanted / 16) * 16
    return this.buffer(whole >= bytes ? whole : bytes, STORAGE)
  }

  /** Forgets the arenas: the next call makes others. */
  dropArenas(): void {
    for (const arena of this.arenas ?? []) if (arena !== undefined) this.free(arena)
    this.arenas = undefined
    this.generation++
    this.owner = undefined
  }

  /** A buffer to read back through, at least this large; give it back with `giveStaging`. */
  takeStaging(bytes: number): GPUBuffer {
    let best = -1
    this.staging.forEach((b, i) => {
      if (b.size >= bytes && (best < 0 || b.size < this.staging[best]!.size)) best = i
    })
    if (best >= 0) return this.staging.splice(best, 1)[0]!
    return this.buffer(2 ** Math.ceil(Math.log2(Math.max(256, bytes))), READ)
  }
  /**
   * Maps the first bytes of a staging buffer once the device has written them, and takes it back when `use` has read what it wants: the
   * memory is gone after that. `wanted` of the bytes are elements.
   */
  readStaging(b: GPUBuffer, bytes: number, wanted = bytes): Reader {
    const length = Math.max(16, Math.ceil(bytes / 16) * 16)
    const mapped = b.mapAsync(1, 0, length)
    mapped.catch(() => undefined) // whoever reads sees the rejection
    return async (use) => {
      try {
        await mapped
      } catch (e) {
        this.free(b)
        return this.failed(e)
      }
      this.stats.readbacks++
      this.stats.bytesRead += wanted
      try {
        return use(b.getMappedRange(0, length))
      } finally {
        b.unmap()
        this.giveStaging(b)
      }
    }
  }
  submit(encoder: GPUCommandEncoder): void {
    this.gpu.queue.submit([encoder.finish()])
    this.stats.submits++
  }
  giveStaging(b: GPUBuffer): void {
    this.staging.push(b)
    if (this.staging.length > 8) this.free(this.staging.shift()!)
  }

  /** The pipeline of a shader, in programs with or without an arena of f16, with so many arguments that lie elsewhere; compiled once, however many ask at once. */
  pipeline(wgsl: string, f16: boolean, given: number): Promise<GPUComputePipeline> {
    const key = `${f16 ? 'f16' : ''}${given > 0 ? given : ''}${wgsl}`
    let p = this.pipelines.get(key)
    if (p === undefined) {
      this.stats.pipelines++
      p = this.compiled(wgsl, this.pipelineLayout(f16, given)).catch((e: unknown) => {
        this.pipelines.delete(key)
        throw e
      })
      this.pipelines.add(key, p, PIPELINE_BYTES + 8 * key.length)
    }
    return p
  }

  /** What a shader that does not compile says is read from it: nothing goes to the device's own log. */
  private async compiled(wgsl: string, layout: GPUPipelineLayout): Promise<GPUComputePipeline> {
    this.gpu.pushErrorScope('validation')
    const module = this.gpu.createShaderModule({ code: wgsl })
    const refused = this.gpu.popErrorScope().catch(() => null)
    try {
      const compute = {
        module,
        entryPoint: 'main',
        ...(wgsl.includes('override cd_rounds') && { constants: { cd_rounds: Number(this.opened.rounds) } }),
      }
      return await this.gpu.createComputePipelineAsync({ layout, compute })
    } catch (e) {
      await refused
      const { messages } = await module.getCompilationInfo().catch(() => ({ messages: [] }))
      this.alive()
      const first = messages.find((m) => m.type === 'error')
      const line = wgsl.split('\n')[(first?.lineNum ?? 0) - 1]?.trim()
      const words = first?.message.trim().split('\n')[0] ?? String((e as Error).message ?? e)
      return raise({
        _tag: 'Device',
        backend: 'webgpu',
        reason: `a shader was refused${line === undefined ? '' : ` at line ${first!.lineNum}, \`${line}\``}: ${words}`,
        fix: 'correct your kernel that the line names; if there is none, report it with the shader.',
      })
    }
  }
  clearPipelines(): void {
    this.pipelines.clear()
  }

  destroy(): void {
    for (const b of [...this.live]) this.free(b)
    this.arenas = undefined
    this.staging = []
    this.pipelines.clear()
    this.lost ??= 'it was disposed.'
    if (this.opened.own) this.gpu.destroy()
  }
}
