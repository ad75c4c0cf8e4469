/** The ranks of this program. */
import { type Communicator, communicator, type ThreadLevel } from './communicator.js'
import { openRanks } from './native/session.js'

/** The communicator of what runs now. */
export const current = (): Communicator => communicator(openRanks)

/** Who this process is among those that run the program. */
export interface World {
  /** This process's number, from 0. */
  readonly rank: number
  /** How many processes there are. */
  readonly size: number
  /** The MPI library, as it says itself; undefined for one rank that needs none. */
  readonly library: string | undefined
  /** The level of threads that the library grants. */
  readonly threadLevel: ThreadLevel | undefined
  /** Returns when every rank has called it. */
  readonly barrier: () => void
}
/**
 * The ranks of this program: `mpirun -n 4 node train.js` makes four, `node train.js` one.
 *
 * The MPI library is opened at the first use of a property or of a collective, and closed at the end of the process.
 * Errors  Unsupported under `mpirun` if there is no library or no package koffi.
 * @example world.size   // 1
 */
export const world: World = {
  get rank() {
    return current().rank
  },
  get size() {
    return current().size
  },
  get library() {
    return current().library
  },
  get threadLevel() {
    return current().threadLevel
  },
  barrier: () => current().barrier(),
}
