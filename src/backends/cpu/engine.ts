/** WebAssembly of one CPU backend: one memory, one table of kernels, and the driver that calls them. */
import type { Crew } from './kernel.js'
import { moveEntry, repeatRecord, stepEntry } from './records.js'
import { type Limits, Module } from './wasm/encoder.js'
import * as OP from './wasm/opcodes.js'

export const PAGE = 65536
/**
 * The memory begins with 4 MiB, of which the system gives what is touched. When it grows, its buffer is detached; once any buffer was, V8 asks every typed array of the process at every loop whether its own still is there,
 * by which short loops take a quarter longer. Small programs do without.
 */
const FIRST_PAGES = 64

interface Driver {
  readonly run: (steps: number, count: number) => void
  /** A kernel: runs a part of the step table again and again. */
  readonly repeat: () => void
}

export class Engine {
  readonly memory: WebAssembly.Memory
  private readonly table = new WebAssembly.Table({ initial: 64, element: 'anyfunc' })
  /** Slots of the table that were given back, and how many there are with these. */
  private readonly vacant: number[] = []
  slots = 0
  private made: Driver | undefined
  private repeating: number | undefined
  private forking: number | undefined

  /** `madd`: products use the relaxed multiply-add. `maxBytes`: the largest memory. `crew`: threads that share the memory. */
  constructor(
    readonly madd: boolean,
    maxBytes: number,
    readonly crew?: Crew,
  ) {
    this.memory = crew?.memory ?? new WebAssembly.Memory({ initial: Math.max(2, Math.min(FIRST_PAGES, Math.floor(maxBytes / PAGE))) })
  }

  /** A module of a kernel, on this memory. */
  module(): Module {
    const m = new Module(this.madd)
    m.importMemory(this.limits)
    return m
  }
  /** With what limits modules import the memory. */
  get limits(): Limits {
    return this.crew?.limits ?? { min: 1 }
  }
  /** More memory: its new size is known to all threads before they take part again. */
  grow(pages: number): void {
    this.memory.grow(pages)
    this.crew?.grown()
  }
  /** Compiles a module and puts its kernels into the table: their indices. `bytes` are the module's. */
  install(
    module: Module,
    names: readonly string[],
    imports: WebAssembly.ModuleImports = {},
  ): { readonly indices: readonly number[]; readonly bytes: number } {
    const code = module.finish()
    const compiled = new WebAssembly.Module(code)
    const { exports } = new WebAssembly.Instance(compiled, {
      env: { memory: this.memory, table: this.table },
      js: imports,
      Math: Math as unknown as WebAssembly.ModuleImports, // loops import some of its functions
    })
    const indices = names.map((name) => {
      const index = this.put(exports[name] as () => void)
      this.crew?.know(index, compiled, name)
      return index
    })
    return { indices, bytes: code.byteLength }
  }
  /** Compiles a module whose functions are called from JavaScript. */
  exportsOf(module: Module): WebAssembly.Exports {
    return new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory: this.memory } }).exports
  }
  private put(f: (record: number) => void): number {
    if (this.vacant.length === 0 && this.slots >= this.table.length) this.table.grow(this.table.length)
    const index = this.vacant.pop() ?? this.slots++
    this.table.set(index, f)
    return index
  }

  /** Gives a slot back. A module is the engine's to collect when all of its kernels are gone. */
  remove(index: number): void {
    this.table.set(index, null)
    this.crew?.forget(index)
    this.vacant.push(index)
  }

  /** Runs `count` steps of a step table: pairs (kernel, record). */
  run(steps: number, count: number): void {
    this.driver.run(steps, count)
  }
  private get driver(): Driver {
    this.made ??= makeDriver(this.memory, this.table, this.limits)
    return this.made
  }
  /** The kernel of loops over steps, in the table from its first use on. */
  get repeat(): number {
    this.repeating ??= this.put(this.driver.repeat)
    return this.repeating
  }
  /** The kernel of steps that threads share, from its first use on. */
  get fork(): number {
    this.forking ??= this.put(this.crew!.fork(this.table))
    return this.forking
  }
}

/**
 * run(steps, count): for each pair (kernel, record) call_indirect the kernel with its record. repeat(record): runs its steps, and moves its words, as often as it says;
 * then all is as it was.
 */
const makeDriver = (memory: WebAssembly.Memory, table: WebAssembly.Table, limits: Limits): Driver => {
  const m = new Module()
  m.importMemory(limits)
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
  const r = m.kernel('repeat')
  const record = r.param(0)
  const [n, word, left, address, total] = [r.local('i32'), r.local('i32'), r.local('i32'), r.local('i32'), r.local('i32')]
  const field = (k: number) => () => r.get(record).i32Load(4 * k)
  const { at: of } = repeatRecord
  /** Adds to each moving word; `by` leaves on the stack what. */
  const move = (by: () => unknown): void => {
    r.localSet(word, field(of.moves)).localSet(left, field(of.moving))
    r.block((done) => {
      r.op(OP.i32_eqz, left).brIf(done)
      r.loop((again) => {
        r.get(word)
          .i32Load(4 * moveEntry.at.word)
          .set(address)
        r.get(address).op(OP.i32_add, () => r.get(address).i32Load(0), by)
        r.i32Store(0)
        r.op(OP.i32_add, word, 4 * moveEntry.words).set(word)
        r.op(OP.i32_sub, left, 1).localTee(left).brIf(again)
      })
    })
  }
  const step = (): unknown => r.get(word).i32Load(4 * moveEntry.at.by)
  r.localSet(n, field(of.iterations)).localSet(total, n)
  r.block((done) => {
    r.loop((again) => {
      r.block((skip) => {
        r.block((taken) => {
          r.op(OP.i32_eqz, field(of.flag)).brIf(taken)
          r.localSet(address, field(of.flag)).get(address).i32Load8U(0).brIf(taken)
          field(of.ends)().brIf(done)
          r.br(skip)
        })
        r.call(f, field(of.steps), field(of.count))
      })
      move(step)
      r.op(OP.i32_sub, n, 1).localTee(n).brIf(again)
    })
  })
  move(() => r.op(OP.i32_sub, 0, () => r.op(OP.i32_mul, step, () => r.op(OP.i32_sub, total, n))))
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(m.finish()), { env: { memory, table } })
  return exports as unknown as Driver
}
