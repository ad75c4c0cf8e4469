/** From the first use of MPI to the end of the process: what opens it, and what happens when a rank fails or ends. */
import { writeSync } from 'node:fs'
import { type AdError, isAdException } from '../../core/errors/error.js'
import { raise } from '../../core/errors/explain.js'
import { alone, atOnce, type Communicator } from '../communicator.js'
import { ENDED } from '../faults.js'
import { Exchange } from './exchange.js'
import { findMpi, launched } from './library.js'
import { NativeRanks } from './ranks.js'
import { RollCall } from './roll-call.js'
import { CommunicationThread } from './thread.js'

/** Seconds that ranks wait for each other, unless CODUAL_MPI_TIMEOUT says another number. */
const TIMEOUT = 600
/** How long a rank that ends all gives the launcher to pass on what it said, in milliseconds: MPICH's may drop what it has not read yet. */
const PASSES_ON = 500
/** How long a rank leaves the report of a fault that all know to a lower one, in milliseconds. */
const LEAVES = 2000

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const timeoutIn = (given: string | undefined): number => {
  if (given === undefined || given === '') return 1000 * TIMEOUT
  const seconds = Number(given)
  if (!(seconds > 0))
    raise({ _tag: 'BadInput', where: 'codual/mpi', reason: `CODUAL_MPI_TIMEOUT is ${given}.`, fix: 'give a number of seconds above 0.' })
  return 1000 * seconds
}

/** The ranks of the launcher that started this process, or one. */
export const openRanks = (): Communicator => {
  const { env } = process
  const names = launched(env)
  if (names === undefined) return alone
  const timeout = timeoutIn(env.CODUAL_MPI_TIMEOUT)
  const library = findMpi(env.CODUAL_MPI_LIBRARY === undefined ? names : [env.CODUAL_MPI_LIBRARY])
  if (typeof library === 'string')
    return raise({
      _tag: 'Unsupported',
      backend: 'mpi',
      what: library,
      fix: 'install the library of the launcher that started this program; CODUAL_MPI_LIBRARY is the path of another.',
    })
  return new Session(new Exchange(library), timeout).ranks
}

class Session {
  readonly ranks: Communicator
  private readonly calls: RollCall
  /** What makes the calls of MPI from the first collective on that overlaps. */
  private thread: CommunicationThread | undefined
  /** What ended the work of the ranks together. */
  private broken: AdError | undefined
  constructor(
    private readonly exchange: Exchange,
    private readonly timeout: number,
  ) {
    const { rank, size, library, threadLevel } = exchange
    this.calls = new RollCall(exchange, timeout)
    const here = new NativeRanks(exchange, this.calls, timeout, (run) => this.checked(run))
    const run: Communicator['run'] = (c, x, y) =>
      this.thread === undefined ? here.run(c, x, y) : this.checked(() => this.thread!.run(c, x, y))
    this.ranks = {
      rank,
      size,
      library: library.name,
      threadLevel,
      run,
      barrier: () => (this.thread === undefined ? here.barrier() : this.checked(() => this.thread!.barrier())),
      // Where MPI takes calls of one thread alone, nothing goes on beside the program.
      ...(threadLevel === 'serialized' || threadLevel === 'multiple' ? this.overlapping() : atOnce(run)),
    }
    process.on('uncaughtExceptionMonitor', (thrown) => this.failed(thrown))
    process.on('exit', (code) => this.ended(code))
  }
  private overlapping(): Pick<Communicator, 'start' | 'finish'> {
    return {
      start: (c, dtype, length, fill) =>
        this.checked(() => {
          this.thread ??= new CommunicationThread(this.exchange, this.calls, this.timeout)
          return this.thread.start(c, dtype, length, fill)
        }),
      finish: (started, read) => this.checked(() => this.thread!.finish(started, read)),
    }
  }
  /** Runs what needs the other ranks; once that has failed it cannot go on. */
  private checked<A>(run: () => A): A {
    if (this.broken !== undefined) raise(this.broken)
    try {
      return run()
    } catch (e) {
      if (isAdException(e)) this.broken = e.error
      throw e
    }
  }
  /** Who knows where the ranks are. */
  private get said(): Pick<RollCall, 'place' | 'lowest'> {
    return this.thread ?? this.calls
  }
  /** An exception that nobody has caught: one rank reports it, and all end. */
  private failed(thrown: unknown): void {
    const shared = this.broken !== undefined && isAdException(thrown) && thrown.error === this.broken
    // All that know of a fault would report the same: the lowest one does, and ends the others.
    if (shared && this.exchange.rank !== this.said.lowest) pause(LEAVES)
    const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
    const who = `codual/mpi: rank ${this.exchange.rank} of ${this.exchange.size}`
    this.endAll(shared ? `${who} reports: ${text}` : `${who} failed after ${this.said.place}: ${text}`, 1)
  }
  private endAll(said: string, code: number): void {
    writeSync(2, `${said}\n`)
    pause(PASSES_ON)
    this.exchange.abort(code)
  }
  /** The end of the process: with the others, or instead of them. */
  private ended(code: number): void {
    if (code !== 0 || this.broken !== undefined) {
      const { rank, size } = this.exchange
      this.endAll(`codual/mpi: rank ${rank} of ${size} has ended with code ${code} after ${this.said.place}.`, code === 0 ? 1 : code)
    }
    try {
      // The others may have much to do that this one has not.
      if (this.thread !== undefined) this.thread.end()
      else {
        this.calls.agree(ENDED, Number.POSITIVE_INFINITY)
        this.calls.close()
      }
    } catch (e) {
      this.broken = isAdException(e) ? e.error : undefined
      this.failed(e)
    }
    this.exchange.finalize()
  }
}
