/** One rank of many, without the others: the code that talks to MPI runs, and what it asks MPI for is counted. The other ranks are taken to hold what this one holds. */
import { arrayConstructor, type TypedArray } from '../../core/graph/ndarray.js'
import { type Collective, described } from '../collective.js'
import { alone, atOnce, type Communicator, Lines } from '../communicator.js'
import type { Bytes, Exchanging, Request } from '../native/exchange.js'
import { NativeRanks } from '../native/ranks.js'
import { CARD, RollCall } from '../native/roll-call.js'

/** What ranks ask MPI for, and what one of them sends to others and receives of them. */
export interface Exchanged {
  /** What it is: the roll call before a collective, or MPI's function for the data. */
  readonly call: 'roll call' | 'MPI_Iallgather' | 'MPI_Iallgatherv' | 'MPI_Ialltoallv' | 'MPI_Ibcast' | 'MPI_Isend'
  /** Parts sent to other ranks, and received of them. */
  readonly sends: number
  readonly receives: number
  readonly bytesSent: number
  readonly bytesReceived: number
}
/** A collective of a step. */
export interface Counted {
  readonly collective: Collective | 'barrier'
  /** In words: `allReduce (sum) of f32[100]`. */
  readonly what: string
  /** Bytes of the array that a rank gives. */
  readonly bytes: number
  readonly exchanged: readonly Exchanged[]
  /** Milliseconds that the rank had computed, since the last `take`, when it began, and when its result was needed. */
  readonly from: number
  to: number
}

const never: Request = { words: new Uint8Array(0), given: [] }
const others = (counts: Int32Array, rank: number): readonly [parts: number, bytes: number] => {
  let [parts, bytes] = [0, 0]
  for (let r = 0; r < counts.length; r++)
    if (r !== rank && counts[r]! > 0) {
      parts++
      bytes += counts[r]!
    }
  return [parts, bytes]
}

/** MPI's functions of one rank. What others would send is what this rank would send them. */
class CountedExchange implements Exchanging {
  readonly threadLevel = 'funneled'
  readonly library = { name: 'none' }
  exchanged: Exchanged[] = []
  /** Milliseconds spent here: that time is MPI's. */
  spent = 0
  constructor(
    readonly rank: number,
    readonly size: number,
  ) {}
  /** Does what would take MPI's time. */
  readonly aside = <A>(f: () => A): A => {
    const since = performance.now()
    try {
      return f()
    } finally {
      this.spent += performance.now() - since
    }
  }
  private note(call: Exchanged['call'], sent: readonly [number, number], received: readonly [number, number]): Request {
    this.exchanged.push({ call, sends: sent[0], bytesSent: sent[1], receives: received[0], bytesReceived: received[1] })
    return never
  }
  gather(from: Bytes, into: Bytes): Request {
    return this.aside(() => {
      const n = from.byteLength
      for (let r = 0; r < this.size; r++) into.set(from, r * n)
      const all = [this.size - 1, (this.size - 1) * n] as const
      // A roll call is the first that a collective asks for.
      return this.note(this.exchanged.length === 0 && n === CARD ? 'roll call' : 'MPI_Iallgather', all, all)
    })
  }
  gatherParts(mine: Bytes, into: Bytes, counts: Int32Array, starts: Int32Array): Request {
    return this.aside(() => {
      into.set(mine, starts[this.rank])
      return this.note('MPI_Iallgatherv', [this.size - 1, (this.size - 1) * mine.byteLength], others(counts, this.rank))
    })
  }
  exchange(from: Bytes, sent: Int32Array, starts: Int32Array, into: Bytes, received: Int32Array, places: Int32Array): Request {
    return this.aside(() => {
      const mine = starts[this.rank]!
      for (let r = 0; r < this.size; r++) into.set(from.subarray(mine, mine + received[r]!), places[r])
      return this.note('MPI_Ialltoallv', others(sent, this.rank), others(received, this.rank))
    })
  }
  broadcast(bytes: Bytes, root: number): Request {
    const all = [this.size - 1, (this.size - 1) * bytes.byteLength] as const
    const one = [1, bytes.byteLength] as const
    return this.note('MPI_Ibcast', root === this.rank ? all : [0, 0], root === this.rank ? [0, 0] : one)
  }
  send(bytes: Bytes, to: number): Request {
    return this.note('MPI_Isend', to === this.rank ? [0, 0] : [1, bytes.byteLength], [0, 0])
  }
  receive(): Request {
    return never
  }
  cancel(): void {}
  done(): boolean {
    return false
  }
  wait(): boolean {
    return true
  }
}

/** What a rank receives of others that hold what it holds, before parts of its own are written. */
const asOthers = (c: Collective, size: number, x: TypedArray, y: TypedArray): void => {
  if (x.length !== y.length) return
  if (c.name === 'allReduce' && c.op === 'sum') for (let i = 0; i < x.length; i++) y[i] = size * x[i]!
  else y.set(x as never)
}

/** A rank that is counted. */
export interface CountedRank {
  readonly communicator: Communicator
  /** The collectives since the last time, in order. */
  readonly take: () => readonly Counted[]
  /** Milliseconds until now that would have been MPI's. */
  readonly spent: () => number
  /** Bytes that it holds beside the arrays of the program, now. */
  readonly bytes: () => number
}
/** The last of so many ranks: of parts that differ in length it has the longest. One rank alone has nobody to talk to. */
export const countedRank = (size: number, rank = size - 1): CountedRank => {
  if (size === 1) return { communicator: alone, take: () => [], spent: () => 0, bytes: () => 0 }
  const mpi = new CountedExchange(rank, size)
  const native = new NativeRanks(mpi, new RollCall(mpi, Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY, (run) => run())
  let counted: Counted[] = []
  let since = performance.now()
  const clock = (): number => performance.now() - since - mpi.spent
  const noted = (collective: Counted['collective'], what: string, bytes: number, run: () => void): void => {
    mpi.exchanged = []
    const from = clock()
    run()
    counted.push({ collective, what, bytes, exchanged: mpi.exchanged, from, to: from })
  }
  const run: Communicator['run'] = (c, x, y) => {
    mpi.aside(() => asOthers(c, size, x.data, y.data))
    noted(c, described(c, x), x.data.byteLength, () => native.run(c, x, y))
  }
  const lines = new Lines((dtype, length) => new (arrayConstructor(dtype))(length))
  const { start, finish } = atOnce(run, lines)
  const open = new Map<number, Counted>()
  return {
    communicator: {
      rank,
      size,
      library: undefined,
      threadLevel: undefined,
      run,
      start: (...given) => {
        const started = start(...given)
        open.set(started, counted.at(-1)!)
        return started
      },
      finish: (started, read) => {
        open.get(started)!.to = clock()
        finish(started, read)
      },
      barrier: () => noted('barrier', 'barrier', 0, () => native.barrier()),
    },
    take: () => {
      const all = counted
      counted = []
      since = performance.now() - mpi.spent
      return all
    },
    spent: () => mpi.spent,
    bytes: () => native.bytes + lines.bytes,
  }
}
