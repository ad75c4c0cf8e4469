/** Who this process is among the ranks, and what carries out its collectives: MPI, a simulation, or one rank alone. */
import { badInput } from '../core/errors/explain.js'
import type { NDArray } from '../core/graph/ndarray.js'
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
  /** Waits until every rank is here. */
  readonly barrier: () => void
}
/** MPI's levels: calls from one thread; from the main one; from several, one at a time; from several at once. */
export type ThreadLevel = 'single' | 'funneled' | 'serialized' | 'multiple'

/** One rank: what every collective means without others. */
export const alone: Communicator = {
  rank: 0,
  size: 1,
  library: undefined,
  threadLevel: undefined,
  run: (c, x, y) => overRanks(c, [x.data], [y.data]),
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
