/** The memory of one CPU backend: one region of scratch for the running call, over WebAssembly's memory or an ordinary buffer. */
import { raise } from '../../core/errors/explain.js'
import { aligned, FreeList } from '../plan/memory.js'
import { type Engine, PAGE } from './engine.js'

/** The first page stays unused, so that no buffer has address 0. */
const BASE = PAGE

/** Counted where it happens: by the allocator and by the driver. */
export interface CpuStats {
  /** Runs of prepared programs, and kernels that they ran; in a loop that its condition ends, those that it may run. */
  readonly calls: number
  readonly kernelCalls: number
  /** Arrays made for results, and their bytes; `.into` makes none. */
  readonly arrays: number
  readonly arrayBytes: number
  /** Times that the memory grew, and its bytes. */
  readonly growths: number
  readonly memoryBytes: number
  /** Bytes copied from inputs into the memory, and out of it to results. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** Modules of WebAssembly that exist, and slots of the table of their kernels, used and vacant. */
  readonly modules: number
  readonly slots: number
}
const noStats = (): { -readonly [K in keyof CpuStats]: number } => ({
  calls: 0,
  kernelCalls: 0,
  arrays: 0,
  arrayBytes: 0,
  growths: 0,
  memoryBytes: 0,
  bytesIn: 0,
  bytesOut: 0,
  modules: 0,
  slots: 0,
})

/** Leaves no bytes to views of a buffer that was replaced, as WebAssembly does: a view that nobody remakes then keeps nothing alive. */
const detach = (buffer: ArrayBuffer): void => {
  if (typeof structuredClone === 'function') structuredClone(buffer, { transfer: [buffer] })
}

export class Arena {
  /** Where the next (nested) call's region begins. */
  top = BASE
  /** Where the regions of calls begin: behind elements that stay. */
  private floor = BASE
  private readonly places = new FreeList()
  /** Arrays that stay. */
  kept = 0
  /** The program whose image lies at the bottom region now. */
  owner: object | undefined

  readonly stats = noStats()
  private current: ArrayBuffer
  private size: number

  /** Without an engine the memory is an ordinary buffer, for kernels in JavaScript. */
  constructor(
    readonly maxBytes: number,
    readonly engine: Engine | undefined,
  ) {
    this.current = (engine?.memory.buffer as ArrayBuffer | undefined) ?? new ArrayBuffer(2 * PAGE)
    this.size = this.current.byteLength
    this.stats.memoryBytes = this.size
  }

  /** The memory's buffer. Only `reserve` grows the memory, so it is read once after each growth: the engine's own accessor is slow. */
  get buffer(): ArrayBuffer {
    return this.current
  }

  /** Room for elements that stay, at an address; undefined while a program runs, which may not move. */
  keep(bytes: number): number | undefined {
    if (this.top !== this.floor) return undefined
    const offset = this.places.take(bytes)
    const end = BASE + offset + bytes
    if (end > this.floor) {
      try {
        this.reserve(end)
      } catch (e) {
        this.places.give(offset, bytes)
        throw e
      }
      // Some more where there is room, since all programs move with it.
      this.floor = Math.max(end, Math.min(aligned(BASE + 1.5 * (this.floor - BASE)), this.size))
      this.top = this.floor
    }
    this.kept++
    return BASE + offset
  }
  /** Gives such room back. */
  release(address: number, bytes: number): void {
    this.places.give(address - BASE, bytes)
    this.kept--
  }

  /** Makes room up to an address; raises OutOfMemory before anything runs. */
  reserve(end: number): void {
    if (end > this.size) this.grow(end)
  }
  private grow(end: number): void {
    const have = this.size
    if (end > this.maxBytes) raise({ _tag: 'OutOfMemory', backend: 'cpu', neededBytes: end, limitBytes: this.maxBytes })
    const want = Math.min(Math.max(end, Math.floor(1.5 * have)), Math.max(end, this.maxBytes))
    try {
      this.extend(want)
    } catch {
      try {
        this.extend(end)
      } catch {
        raise({ _tag: 'OutOfMemory', backend: 'cpu', neededBytes: end, limitBytes: have })
      }
    }
    this.size = this.current.byteLength
    this.stats.growths++
    this.stats.memoryBytes = this.size
  }
  private extend(bytes: number): void {
    const { current, engine } = this
    if (engine !== undefined) {
      engine.grow(Math.ceil((bytes - current.byteLength) / PAGE))
      this.current = engine.memory.buffer as ArrayBuffer
    } else {
      const larger = new ArrayBuffer(Math.ceil(bytes / PAGE) * PAGE)
      new Uint8Array(larger).set(new Uint8Array(current))
      detach(current)
      this.current = larger
    }
  }

  /** Runs `count` steps of a step table: pairs (kernel, record). With loops among them these are `calls` of kernels. */
  run(steps: number, count: number, calls: number): void {
    this.stats.kernelCalls += calls
    this.engine!.run(steps, count)
  }
}
