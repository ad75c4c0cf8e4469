/**
 * A thread that talks to MPI while its rank computes. MPI moves data inside of its calls alone, so a sum that is to go on needs somebody who calls. From the first collective that overlaps, this
 * thread makes all calls, in the order in which the rank asks for them; lines of numbers lie in memory that both threads see.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker, workerData } from 'node:worker_threads'
import { type AdError, isAdException } from '../../core/errors/error.js'
import { raise } from '../../core/errors/explain.js'
import { allocate, type NDArray, type TypedArray, viewOf } from '../../core/graph/ndarray.js'
import type { Float } from '../../core/types/dtype.js'
import type { Collective } from '../collective.js'
import { Lines, Started, type ThreadLevel } from '../communicator.js'
import { ENDED, fault } from '../faults.js'
import { Exchange } from './exchange.js'
import { findMpi } from './library.js'
import { countable, NativeRanks } from './ranks.js'
import { RollCall } from './roll-call.js'

/** What the thread is asked to do. `x` and `y` lie in shared memory and may be the same. */
type Asked =
  | { readonly what: 'run'; readonly collective: Collective; readonly x: NDArray; readonly y: NDArray }
  | { readonly what: 'barrier' | 'end' }
/** What it has done, and what is to say of it. */
interface Answer {
  readonly error: AdError | undefined
  readonly place: string
  readonly lowest: number
}
/** What the thread is given. */
interface Given {
  readonly words: Int32Array
  readonly port: MessagePort
  readonly path: string
  readonly level: ThreadLevel
  readonly timeout: number
  readonly step: number
}
/** Places in the words: how much was asked for, and how much was answered. The first answer says that the thread is there. */
const ASKED = 0
const ANSWERED = 1
/** Milliseconds within which a thread must be there. */
const BEGINS = 60_000
/** By which a thread knows that it is one of these. */
const KEY = 'codual/mpi'

/** Waits until a word is more than `seen`; false if it is not in time. */
const passes = (words: Int32Array, at: number, seen: number, timeout = Number.POSITIVE_INFINITY): boolean => {
  for (let now = Atomics.load(words, at); now <= seen; now = Atomics.load(words, at))
    if (Atomics.wait(words, at, now, timeout) === 'timed-out') return false
  return true
}
const advance = (words: Int32Array, at: number): void => {
  Atomics.add(words, at, 1)
  Atomics.notify(words, at)
}
const errorOf = (e: unknown): AdError =>
  isAdException(e) ? e.error : fault(`the thread that talks to MPI failed: ${String(e)}.`, 'leave out overlap: true.')

/** The thread: answers until it is asked to end. */
const serve = ({ words, port, path, level, timeout, step }: Given): void => {
  let [calls, ranks, error]: [RollCall?, NativeRanks?, AdError?] = []
  const answer = (f: () => void): void => {
    try {
      if (error === undefined) f()
    } catch (e) {
      // Once something has failed the ranks are at different places.
      error = errorOf(e)
    }
    const said: Answer = { error, place: calls?.place ?? '', lowest: calls?.lowest ?? 0 }
    port.postMessage(said)
    advance(words, ANSWERED)
  }
  answer(() => {
    const library = findMpi([path])
    if (typeof library === 'string') return raise(fault(library, 'leave out overlap: true.'))
    const exchange = new Exchange(library, level)
    calls = new RollCall(exchange, timeout, step)
    ranks = new NativeRanks(exchange, calls, timeout, (run) => run())
  })
  for (let seen = 0; ; seen++) {
    passes(words, ASKED, seen)
    const asked = receiveMessageOnPort(port)!.message as Asked
    answer(() => {
      if (asked.what === 'run') ranks!.run(asked.collective, asked.x, asked.y)
      else if (asked.what === 'barrier') ranks!.barrier()
      else {
        calls!.agree(ENDED, Number.POSITIVE_INFINITY)
        calls!.close()
      }
    })
    if (asked.what === 'end') return
  }
}

/** An array in memory that threads share. */
const shared = (dtype: NDArray['dtype'], length: number): TypedArray => {
  const { BYTES_PER_ELEMENT } = allocate(dtype, 0)
  return viewOf(dtype, new SharedArrayBuffer(length * BYTES_PER_ELEMENT), 0, length)
}
const sharedCopy = ({ shape, dtype, data }: NDArray): NDArray => {
  const copy = shared(dtype, data.length)
  copy.set(data as never)
  return { shape, dtype, data: copy }
}
interface Begun {
  /** The answer that says that it is done. */
  readonly answer: number
  readonly dtype: Float
  readonly line: TypedArray
}

/** The thread as its rank sees it. */
export class CommunicationThread {
  place: string
  lowest = 0
  private readonly words = new Int32Array(new SharedArrayBuffer(8))
  private readonly port: MessagePort
  private readonly worker: Worker
  /** How many answers were read. */
  private heard = 0
  private asked = 0
  private readonly begun = new Started<Begun>()
  private readonly lines = new Lines(shared)
  constructor(exchange: Exchange, calls: RollCall, timeout: number) {
    this.place = calls.place
    const { port1, port2 } = new MessageChannel()
    this.port = port1
    const given: Given = {
      words: this.words,
      port: port2,
      path: exchange.library.path,
      level: exchange.threadLevel,
      timeout,
      step: calls.step,
    }
    // It listens in the place of this one.
    calls.close()
    // Loaders that the process was started with may wait for this thread, which waits.
    this.worker = new Worker(new URL(import.meta.url), { name: KEY, workerData: { [KEY]: given }, transferList: [port2], execArgv: [] })
    // A thread that sleeps keeps no process alive.
    this.worker.unref()
    if (!passes(this.words, ANSWERED, 0, BEGINS)) raise(fault('the thread that talks to MPI did not begin.', 'leave out overlap: true.'))
    this.hear(1)
  }
  /** Reads answers, up to so many in all. */
  private hear(count: number): void {
    passes(this.words, ANSWERED, count - 1)
    for (; this.heard < count; this.heard++) {
      const { error, place, lowest } = receiveMessageOnPort(this.port)!.message as Answer
      this.place = place
      this.lowest = lowest
      if (error !== undefined) raise(error)
    }
  }
  private ask(asked: Asked): number {
    this.port.postMessage(asked)
    advance(this.words, ASKED)
    // The first answer is that it has begun.
    return ++this.asked + 1
  }
  run(collective: Collective, x: NDArray, y: NDArray): void {
    countable(collective, Math.max(x.data.byteLength, y.data.byteLength))
    const into = shared(y.dtype, y.data.length)
    this.hear(this.ask({ what: 'run', collective, x: sharedCopy(x), y: { ...y, data: into } }))
    y.data.set(into as never)
  }
  start(collective: Collective, dtype: Float, length: number, fill: (line: TypedArray) => void): number {
    const line = this.lines.take(dtype, length)
    countable(collective, line.byteLength)
    fill(line)
    const x: NDArray = { shape: [length], dtype, data: line }
    return this.begun.add({ answer: this.ask({ what: 'run', collective, x, y: x }), dtype, line })
  }
  finish(started: number, read: (line: TypedArray) => void): void {
    const { answer, dtype, line } = this.begun.take(started)
    this.hear(answer)
    read(line)
    this.lines.give(dtype, line)
  }
  barrier(): void {
    this.hear(this.ask({ what: 'barrier' }))
  }
  /** The last that all ranks do together. */
  end(): void {
    this.hear(this.ask({ what: 'end' }))
  }
}

const given = (workerData as Readonly<Record<string, Given>> | null)?.[KEY]
// The file is loaded by the thread for this alone. Where it is bundled with a program, that begins behind it: the thread ends before.
if (given !== undefined) {
  serve(given)
  process.exit()
}
