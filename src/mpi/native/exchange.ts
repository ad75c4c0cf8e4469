/** Bytes between ranks: MPI's operations that do not block, and the wait for them, with a deadline. */
import { raise } from '../../core/errors/explain.js'
import type { ThreadLevel } from '../communicator.js'
import { fault } from '../faults.js'
import type { Foreign, Handle, MpiLibrary } from './library.js'

/** Memory that MPI reads or writes: it stays where it is until the operation is done. */
export type Bytes = Uint8Array
/** An operation that has begun: the place of MPI's request, and what it was given, which must live until it is done. */
export interface Request {
  readonly words: Uint8Array
  given: readonly unknown[]
}
/** How long a wait looks again at once, and then with pauses between: milliseconds. */
const BUSY = 2
const PAUSE = 0.1
const levels: readonly ThreadLevel[] = ['single', 'funneled', 'serialized', 'multiple']
/** An int of MPI's counts bytes; the room for the parts of an array is a little longer than the array. */
export const MOST = 2 ** 31 - 2 ** 20

/** Numbers that stay where they are: an engine may move a short array that has no buffer of its own. */
export const ints = (n: number): Int32Array => new Int32Array(new ArrayBuffer(4 * Math.max(1, n)), 0, n)
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** MPI's functions over one library, on the communicator of the world. */
export class Exchange {
  readonly rank: number
  readonly size: number
  readonly threadLevel: ThreadLevel
  private readonly functions = new Map<string, Foreign>()
  private readonly flag = ints(1)
  private readonly status = new Uint8Array(new ArrayBuffer(256))
  private readonly free: Request[] = []
  /** Opens MPI; where another thread of the process has done so, `opened` is the level that it was granted. */
  constructor(
    readonly library: MpiLibrary,
    opened?: ThreadLevel,
  ) {
    const out = ints(1)
    if (opened === undefined) this.call('MPI_Init_thread', 'void *, void *, int, void *', null, null, levels.indexOf('serialized'), out)
    this.threadLevel = opened ?? levels[out[0]!] ?? 'single'
    this.call('MPI_Comm_set_errhandler', 'handle, handle', library.world, library.returnErrors)
    this.call('MPI_Comm_rank', 'handle, void *', library.world, out)
    this.rank = out[0]!
    this.call('MPI_Comm_size', 'handle, void *', library.world, out)
    this.size = out[0]!
  }

  private call(name: string, parameters: string, ...given: readonly unknown[]): void {
    let f = this.functions.get(name)
    if (f === undefined) {
      f = this.library.func(name, parameters)
      this.functions.set(name, f)
    }
    const code = f(...given)
    if (code !== 0) raise(fault(`${name} failed with code ${code}.`, 'another rank may be gone, or the connection to it.'))
  }
  private begin(name: string, parameters: string, ...given: readonly unknown[]): Request {
    const request = this.free.pop() ?? { words: new Uint8Array(new ArrayBuffer(16)), given: [] }
    request.given = given
    this.call(name, `${parameters}, void *`, ...given, request.words)
    return request
  }
  private get byte(): Handle {
    return this.library.bytes
  }

  /** Every rank's bytes, in the order of ranks. */
  gather(from: Bytes, into: Bytes): Request {
    const n = from.byteLength
    const of = 'void *, int, handle, void *, int, handle, handle'
    return this.begin('MPI_Iallgather', of, from, n, this.byte, into, n, this.byte, this.library.world)
  }
  /** The same of different lengths; `mine` may be a part of `into` in its own place. */
  gatherParts(mine: Bytes, into: Bytes, counts: Int32Array, starts: Int32Array): Request {
    const of = 'void *, int, handle, void *, void *, void *, handle, handle'
    return this.begin('MPI_Iallgatherv', of, mine, mine.byteLength, this.byte, into, counts, starts, this.byte, this.library.world)
  }
  /** Part r of `from` to rank r; from rank r into part r of `into`. */
  exchange(from: Bytes, sent: Int32Array, starts: Int32Array, into: Bytes, received: Int32Array, places: Int32Array): Request {
    const of = 'void *, void *, void *, handle, void *, void *, void *, handle, handle'
    return this.begin('MPI_Ialltoallv', of, from, sent, starts, this.byte, into, received, places, this.byte, this.library.world)
  }
  broadcast(bytes: Bytes, root: number): Request {
    return this.begin('MPI_Ibcast', 'void *, int, handle, int, handle', bytes, bytes.byteLength, this.byte, root, this.library.world)
  }
  send(bytes: Bytes, to: number, tag: number): Request {
    return this.begin('MPI_Isend', 'void *, int, handle, int, int, handle', bytes, bytes.byteLength, this.byte, to, tag, this.library.world)
  }
  receive(into: Bytes, from: number, tag: number): Request {
    return this.begin('MPI_Irecv', 'void *, int, handle, int, int, handle', into, into.byteLength, this.byte, from, tag, this.library.world)
  }
  cancel({ words }: Request): void {
    this.call('MPI_Cancel', 'void *', words)
    this.call('MPI_Request_free', 'void *', words)
  }
  /** Is it done? Then the request may be another's. */
  done(request: Request): boolean {
    this.flag[0] = 0
    this.call('MPI_Test', 'void *, void *, void *', request.words, this.flag, this.status)
    if (this.flag[0] === 0) return false
    request.given = []
    this.free.push(request)
    return true
  }
  /** Waits for all; false if they are not done at `deadline` (of `performance.now`). `meanwhile` is called now and then while the wait is long. */
  wait(requests: readonly Request[], deadline: number, meanwhile: () => boolean = () => false): boolean {
    const open = [...requests]
    let since: number | undefined
    for (;;) {
      for (let i = open.length - 1; i >= 0; i--) if (this.done(open[i]!)) open.splice(i, 1)
      if (open.length === 0) return true
      const now = performance.now()
      since ??= now
      if (now - since < BUSY) this.library.giveWay()
      else {
        if (meanwhile() || now > deadline) return false
        Atomics.wait(sleeper, 0, 0, PAUSE)
      }
    }
  }
  finalize(): void {
    this.call('MPI_Finalize', 'void')
  }
  /** Ends all ranks. */
  abort(code: number): void {
    this.call('MPI_Abort', 'handle, int', this.library.world, code)
  }
}
/** What collectives need of MPI's functions: an object that counts what they ask for has it too. */
export type Exchanging = Pick<
  Exchange,
  'rank' | 'size' | 'threadLevel' | 'gather' | 'gatherParts' | 'exchange' | 'broadcast' | 'send' | 'receive' | 'cancel' | 'done' | 'wait'
> & { readonly library: Pick<MpiLibrary, 'name'> }
