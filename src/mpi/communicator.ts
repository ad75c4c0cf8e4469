/** Who this process is among the ranks, and what carries out its collectives: MPI, a simulation, or one rank alone. */
import { badInput, raise } from '../core/errors/explain.js'
import { arrayConstructor, type NDArray, type TypedArray } from '../core/graph/ndarray.js'
import type { Float } from '../core/types/dtype.js'
import { type Collective, overRanks } from './collective.js'

/** One rank's side of all collectives. */
export interface Communicator {
  readonly rank: number
  readonly size: number
  /** What carries the data, as it says itself; undefined where nothing does. */
  readonly library: string | undefined
  /** What of MPI's levels of threads the library grants. */
  readonly threadLevel: ThreadLevel | undefined
  /** Takes part in a collective: reads x, writes all of y. */
  readonly run: (c: Collective, x: NDArray, y: NDArray) => void
  /** Begins a collective over a line of numbers, which `fill` writes, and gives the number by which `finish` knows it. */
  readonly start: (c: Collective, dtype: Float, length: number, fill: (line: TypedArray) => void) => number
  /** Waits for what `start` began, and reads what the line is then. */
  readonly finish: (started: number, read: (line: TypedArray) => void) => void
  /** Waits until every rank is here. */
  readonly barrier: () => void
}
/** MPI's levels: calls from one thread; from the main one; from several, one at a time; from several at once. */
export type ThreadLevel = 'single' | 'funneled' | 'serialized' | 'multiple'

/** What has begun and is not finished, by numbers that are used again. */
export class Started<T> {
  private readonly all: (T | undefined)[] = []
  add(one: T): number {
    const free = this.all.indexOf(undefined)
    const at = free < 0 ? this.all.length : free
    this.all[at] = one
    return at
  }
  take(at: number): T {
    const one = this.all[at]
    if (one === undefined) return raise({ _tag: 'InternalLaw', law: 'a collective is finished once', detail: `number ${at}` })
    this.all[at] = undefined
    return one
  }
}
/** Lines of numbers that collectives begin with, which are used again. */
export class Lines {
  /** Of all lines. */
  bytes = 0
  private readonly free = new Map<string, TypedArray[]>()
  constructor(private readonly make: (dtype: Float, length: number) => TypedArray) {}
  private of(dtype: Float, length: number): TypedArray[] {
    const key = `${dtype} ${length}`
    const known = this.free.get(key) ?? []
    this.free.set(key, known)
    return known
  }
  take(dtype: Float, length: number): TypedArray {
    const known = this.of(dtype, length).pop()
    if (known !== undefined) return known
    const made = this.make(dtype, length)
    this.bytes += made.byteLength
    return made
  }
  give(dtype: Float, line: TypedArray): void {
    this.of(dtype, line.length).push(line)
  }
}
/** `start` and `finish` where a collective is carried out as it begins. */
export const atOnce = (
  run: Communicator['run'],
  lines: Lines = new Lines((dtype, length) => new (arrayConstructor(dtype))(length)),
): Pick<Communicator, 'start' | 'finish'> => {
  const started = new Started<NDArray & { readonly dtype: Float }>()
  return {
    start: (c, dtype, length, fill) => {
      const x = new (arrayConstructor(dtype))(length)
      fill(x)
      const y = { shape: [length], dtype, data: lines.take(dtype, length) }
      run(c, { ...y, data: x }, y)
      return started.add(y)
    },
    finish: (at, read) => {
      const { dtype, data } = started.take(at)
      read(data)
      lines.give(dtype, data)
    },
  }
}

const runAlone: Communicator['run'] = (c, x, y) => overRanks(c, [x.data], [y.data])
/** One rank: what every collective means without others. */
export const alone: Communicator = {
  rank: 0,
  size: 1,
  library: undefined,
  threadLevel: undefined,
  run: runAlone,
  ...atOnce(runAlone),
  barrier: () => undefined,
}

let opened: Communicator | undefined
let simulated: Communicator | undefined
/** The communicator of what runs now; that of the process is opened at its first use. */
export const communicator = (open: () => Communicator): Communicator => {
  if (simulated !== undefined) return simulated
  opened ??= open()
  return opened
}
/** Runs f with another communicator. */
export const within = <A>(c: Communicator, f: () => A): A => {
  const before = simulated
  simulated = c
  try {
    return f()
  } finally {
    simulated = before
  }
}

/** Raises where a collective is not one of this many ranks. */
export const fits = (c: Collective, size: number): void => {
  const made = 'ranks' in c ? c.ranks : 'to' in c ? c.to.length : size
  if (made !== size)
    badInput(
      c.name,
      `it is of a program for ${made} ranks, and there ${size === 1 ? 'is 1' : `are ${size}`}.`,
      'trace the function again on these ranks.',
    )
  if ('root' in c && c.root >= size)
    badInput(c.name, `its root is rank ${c.root}, and the last rank is ${size - 1}.`, 'give a rank that is there.')
}
