/** The memory of one CPU backend: one WebAssembly.Memory, one table of kernels, one region of scratch for the running call. */
import { raise } from '../../core/explain.js'
import { Module, OP } from './wasm/encoder.js'

const PAGE = 65536
/** The first page stays unused, so that no buffer has address 0. */
const BASE = PAGE

/** Counted where it happens: by the allocator and by the driver. */
export interface CpuStats {
  /** Runs of prepared programs, and kernels that they ran. */
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
})

export class Arena {
  readonly memory = new WebAssembly.Memory({ initial: 2 })
  readonly table = new WebAssembly.Table({ initial: 64, element: 'anyfunc' })
  private kernels = 0
  /** Where the next (nested) call's region begins. */
  top = BASE
  /** The program whose image lies at the bottom region now. */
  owner: object | undefined
  private driver: ((steps: number, count: number) => void) | undefined

  readonly stats = noStats()
  private current = this.memory.buffer as ArrayBuffer
  private size = this.memory.buffer.byteLength

  constructor(readonly maxBytes: number) {
    this.stats.memoryBytes = this.size
  }

  /** The memory's buffer. Only `reserve` grows the memory, so it is read once after each growth: the engine's own accessor is slow. */
  get buffer(): ArrayBuffer {
    return this.current
  }

  /** Makes room up to an address; raises OutOfMemory before anything runs. */
  reserve(end: number): void {
    if (end > this.size) this.grow(end)
  }
  private grow(end: number): void {
    const have = this.size
    if (end > this.maxBytes) raise({ _tag: 'OutOfMemory', backend: 'cpu', neededBytes: end, limitBytes: this.maxBytes })
    const want = Math.min(Math.max(end, have + (have >> 1)), Math.max(end, this.maxBytes))
    try {
      this.memory.grow(Math.ceil((want - have) / PAGE))
    } catch {
      try {
        this.memory.grow(Math.ceil((end - have) / PAGE))
      } catch {
        raise({ _tag: 'OutOfMemory', backend: 'cpu', neededBytes: end, limitBytes: have })
      }
    }
    this.current = this.memory.buffer as ArrayBuffer
    this.size = this.current.byteLength
    this.stats.growths++
    this.stats.memoryBytes = this.size
  }

  /** Puts kernels into the table: their indices. */
  install(module: Module, names: readonly string[], imports: WebAssembly.ModuleImports = {}): number[] {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), {
      env: { memory: this.memory, table: this.table },
      js: imports,
    })
    return names.map((name) => {
      if (this.kernels >= this.table.length) this.table.grow(this.table.length)
      this.table.set(this.kernels, exports[name] as () => void)
      return this.kernels++
    })
  }

  /** Runs `count` steps of a step table: pairs (kernel, record). */
  run(steps: number, count: number): void {
    this.driver ??= makeDriver(this.memory, this.table)
    this.stats.kernelCalls += count
    this.driver(steps, count)
  }
}

/** run(steps, count): for each pair (kernel, record) call_indirect the kernel with its record. */
const makeDriver = (memory: WebAssembly.Memory, table: WebAssembly.Table): ((steps: number, count: number) => void) => {
  const m = new Module()
  m.importMemory({ min: 1 })
  m.importTable({ min: 1 })
  const f = m.func('run', ['i32', 'i32'])
  const [at, count] = [f.param(0), f.param(1)]
  f.block((done) => {
    f.op(OP.i32_eqz, count).brIf(done)
    f.loop((again) => {
      f.get(at).i32Load(4).get(at).i32Load(0).callIndirect(['i32'])
      f.op(OP.i32_add, at, 8).set(at)
      f.op(OP.i32_sub, count, 1).localTee(count).brIf(again)
    })
  })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory, table } })
  return exports.run as (steps: number, count: number) => void
}
