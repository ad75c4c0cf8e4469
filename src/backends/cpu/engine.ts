/** WebAssembly of one CPU backend: one memory, one table of kernels, and the driver that calls them. */
import { stepEntry } from './records.js'
import { Module, OP } from './wasm/encoder.js'

export const PAGE = 65536

type Driver = (steps: number, count: number) => void

export class Engine {
  readonly memory = new WebAssembly.Memory({ initial: 2 })
  private readonly table = new WebAssembly.Table({ initial: 64, element: 'anyfunc' })
  /** Slots of the table that were given back, and how many there are with these. */
  private readonly vacant: number[] = []
  slots = 0
  private driver: Driver | undefined

  /** Compiles a module and puts its kernels into the table: their indices. `bytes` are the module's. */
  install(
    module: Module,
    names: readonly string[],
    imports: WebAssembly.ModuleImports = {},
  ): { readonly indices: readonly number[]; readonly bytes: number } {
    const code = module.finish()
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), {
      env: { memory: this.memory, table: this.table },
      js: imports,
    })
    const indices = names.map((name) => {
      if (this.vacant.length === 0 && this.slots >= this.table.length) this.table.grow(this.table.length)
      const index = this.vacant.pop() ?? this.slots++
      this.table.set(index, exports[name] as () => void)
      return index
    })
    return { indices, bytes: code.byteLength }
  }

  /** Gives a slot back. A module is the engine's to collect when all of its kernels are gone. */
  remove(index: number): void {
    this.table.set(index, null)
    this.vacant.push(index)
  }

  /** Runs `count` steps of a step table: pairs (kernel, record). */
  run(steps: number, count: number): void {
    this.driver ??= makeDriver(this.memory, this.table)
    this.driver(steps, count)
  }
}

/** run(steps, count): for each pair (kernel, record) call_indirect the kernel with its record. */
const makeDriver = (memory: WebAssembly.Memory, table: WebAssembly.Table): Driver => {
  const m = new Module()
  m.importMemory({ min: 1 })
  m.importTable({ min: 1 })
  const f = m.func('run', ['i32', 'i32'])
  const [at, count] = [f.param(0), f.param(1)]
  f.block((done) => {
    f.op(OP.i32_eqz, count).brIf(done)
    f.loop((again) => {
      f.get(at)
        .i32Load(4 * stepEntry.at.record)
        .get(at)
        .i32Load(4 * stepEntry.at.kernel)
        .callIndirect(['i32'])
      f.op(OP.i32_add, at, 4 * stepEntry.words).set(at)
      f.op(OP.i32_sub, count, 1).localTee(count).brIf(again)
    })
  })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory, table } })
  return exports.run as Driver
}
