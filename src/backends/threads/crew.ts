/** Threads on one memory: when they begin, what they are told, and what happens when one is lost. */
import { raise } from '../../core/errors/explain.js'
import type { Crew } from '../cpu/kernel.js'
import { forkRecord } from '../cpu/records.js'
import { winogradPhases } from '../cpu/wasm/conv-winograd-phases.js'
import { addressOf, type control } from './control.js'
import { cutOf, type Sharing } from './cut.js'
import { type Driver, makeDriver } from './driver.js'
import type { Started, Starter } from './system.js'
import { type Message, type Told, workerText } from './worker.js'

/** Pages of the largest memory: 4 GiB less one page. A shared one has to say so; no memory is taken for it. */
const MOST_PAGES = 65535
/** A shared memory that grows detaches nothing; so many pages spare small programs the messages. */
const FIRST_PAGES = 64
const LIMITS = { min: 1, max: MOST_PAGES, shared: true } as const
/** Jobs that the caller runs alone: all of them. */
const ALWAYS = 0x7fff_ffff

/** How a crew works. */
export interface Working {
  readonly sharing: Sharing
  /** Milliseconds without a part that is done, after which a thread is taken for lost: a part takes less than one. */
  readonly patience: number
  /** For tests: parts in another order, and pauses before them. */
  readonly turn?: number
  readonly delay?: number
}

class ThreadCrew implements Crew {
  readonly memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: MOST_PAGES, shared: true })
  readonly limits = LIMITS
  private readonly words = new Int32Array(this.memory.buffer)
  /** Kernels of the table, and which of them the threads know. */
  private readonly kernels = new Map<number, Told>()
  private readonly told = new Set<number>()
  private gone: number[] = []
  private others: Started[] = []
  /** Threads that were ended, and may still run. */
  private readonly ending = new Set<Started>()
  private driver: { readonly driver: Driver; readonly module: WebAssembly.Module } | undefined
  private waiting = { since: 0, epoch: -1, done: -1 }

  readonly count: number

  constructor(
    private readonly start: Starter,
    private readonly working: Working,
  ) {
    this.count = working.sharing.threads
    this.set('next', ALWAYS)
    this.set('turn', working.turn ?? 0)
    this.set('delay', working.delay ?? 0)
  }
  private get(word: keyof typeof control.at): number {
    return Atomics.load(this.words, addressOf(word) / 4)
  }
  private set(word: keyof typeof control.at, to: number): void {
    Atomics.store(this.words, addressOf(word) / 4, to)
  }

  know(index: number, module: WebAssembly.Module, name: string): void {
    this.kernels.set(index, { index, module, name })
  }
  forget(index: number): void {
    this.kernels.delete(index)
    if (this.told.delete(index)) this.gone.push(index)
  }
  /** An engine may tell a thread of the new size only when it runs JavaScript again. */
  grown(): void {
    if (this.others.length > 0) this.send({ kernels: [], gone: this.gone.splice(0) })
  }
  cut: Crew['cut'] = (kernel, step, installed) => {
    const shared = cutOf(kernel, step, installed, this.working.sharing)
    for (const { index, cut } of shared?.each ?? []) if (cut !== undefined) this.tell(index)
    return shared
  }
  phases: Crew['phases'] = winogradPhases
  fork(table: WebAssembly.Table): Driver['fork'] {
    this.driver = makeDriver(this.memory, table, LIMITS, {
      late: () => this.late(),
      failed: () => this.failed(),
      left: () => this.left(),
    })
    return this.driver.driver.fork
  }

  /** Threads have to know a kernel before they take a part of its step. */
  private tell(index: number): void {
    if (this.told.has(index)) return
    this.told.add(index)
    if (this.others.length > 0) this.send({ kernels: [this.kernels.get(index)!], gone: this.gone.splice(0) })
  }
  begin(): void {
    if (this.driver === undefined || this.others.length > 0 || this.ending.size > 0) return
    const text = workerText(addressOf('failed'), addressOf('done'))
    this.gone = []
    this.set('version', 0)
    this.set('alone', 0)
    const { memory } = this
    const { module: driver } = this.driver
    const kernels = [...this.told].map((index) => this.kernels.get(index)!)
    try {
      for (let thread = 1; thread < this.count; thread++) {
        const one = this.start(text, () => this.ended(one))
        this.others.push(one)
        one.post({ begin: { memory, thread, driver }, kernels, gone: [] } satisfies Message)
      }
      this.announce()
    } catch {
      // A system that gives no more threads: those that there are go on.
      this.announce()
    }
  }
  private send(message: Message): void {
    for (const one of this.others) one.post(message)
    this.announce()
  }
  /** Another message: those that sleep read it, and nobody takes part before it has. */
  private announce(): void {
    this.set('version', this.get('version') + 1)
    this.set('epoch', this.get('epoch') + 1)
    Atomics.notify(this.words, addressOf('epoch') / 4)
  }

  /** A thread is no more: by `dispose`, by an error, or by somebody else. */
  private ended(one: Started): void {
    // If it was not told to end, it took no part, or its part is marked as failed.
    this.others = this.others.filter((x) => x !== one)
    if (this.ending.delete(one) && this.ending.size === 0 && this.resume) this.begin()
  }
  /** Whether threads begin again when the last ones have ended. */
  private resume = false

  /** Ends the others. Until they are gone the caller runs alone. */
  private abandon(resume: boolean): void {
    const { others } = this
    this.others = []
    this.resume = resume
    for (const one of others) this.ending.add(one)
    this.set('next', ALWAYS)
    this.set('busy', 0)
    this.set('failed', 0)
    this.set('alone', ALWAYS)
    for (const one of others) one.end()
  }
  private late(): void {
    const now = performance.now()
    const [epoch, done] = [this.get('epoch'), this.get('done')]
    const { waiting } = this
    const { patience } = this.working
    const other = epoch !== waiting.epoch || done !== waiting.done
    if (other || now - waiting.since > 10 * patience) this.waiting = { since: now, epoch, done }
    else if (now - waiting.since > patience) this.lose('one of the threads does not answer')
  }
  private failed(): void {
    this.lose('one of the threads ended within a step')
  }
  private lose(what: string): void {
    this.waiting = { since: 0, epoch: -1, done: -1 }
    this.abandon(true)
    raise({
      _tag: 'Unsupported',
      backend: 'cpu',
      what: `${what}, and the results of this call are lost`,
      fix: 'call again: the next call runs on this thread alone, until others have begun.',
    })
  }
  /** A part of the caller threw: its step goes no further, and those of others come to their end. */
  private left(): void {
    const taken = Math.min(this.get('next'), new Int32Array(this.memory.buffer)[this.get('job') / 4 + forkRecord.at.parts]!)
    this.set('next', ALWAYS)
    const since = performance.now()
    while (this.get('done') < taken - 1 && performance.now() - since < this.working.patience);
    this.abandon(true)
  }
  helped(): number {
    return this.get('helped')
  }
  dispose(): void {
    this.abandon(false)
  }
}

/** A new crew. */
export const crewOf = (start: Starter, working: Working): Crew => new ThreadCrew(start, working)
