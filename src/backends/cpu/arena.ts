/** The memory of one CPU backend: one WebAssembly.Memory, one table of kernels, one region of scratch for the running call. */
import { raise } from '../../core/explain.js'
import { Module, OP } from './wasm/encoder.js'

const PAGE = 65536
/** The first page stays unused, so that no buffer has address 0. */
const BASE = PAGE

export class Arena {
  readonly memory = new WebAssembly.Memory({ initial: 2 })
  readonly table = new WebAssembly.Table({ initial: 64, element: 'anyfunc' })
  private kernels = 0
  /** Where the next (nested) call's region begins. */
  top = BASE
  /** The program whose image lies at the bottom region now. */
  owner: object | undefined
  private driver: ((steps: number, count: number) => void) | undefined

  constructor(readonly maxBytes: number) {}

  get buffer(): ArrayBuffer {
    return this.memory.buffer as ArrayBuffer
  }

  /** Makes room up to an address; raises OutOfMemory before anything runs. */
  reserve(end: number): void {
    const have = this.memory.buffer.byteLength
    if (end <= have) return
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
