/** The collectives over MPI. MPI moves bytes; sums and maxima are made here, so that their bits are those of every library and of simulated ranks. */
import { badInput } from '../../core/errors/explain.js'
import { arrayConstructor, type NDArray, type TypedArray, viewOf } from '../../core/graph/ndarray.js'
import { type Collective, combined, described, type ReduceOp } from '../collective.js'
import type { Communicator } from '../communicator.js'
import { type Bytes, type Exchanging, ints, MOST } from './exchange.js'
import type { RollCall } from './roll-call.js'

/** Up to so many bytes in all a rank receives whole arrays and adds them itself: one exchange, not two. */
const WHOLE = 65_536
const DATA = 8

const bytesOf = (x: TypedArray): Bytes => new Uint8Array(x.buffer as ArrayBuffer, x.byteOffset, x.byteLength)

/** Where the parts of an array lie, in bytes. */
interface Cut {
  readonly counts: Int32Array
  readonly starts: Int32Array
}
const listOf = (n: number, at: (i: number) => number): Int32Array => {
  const list = ints(n)
  for (let i = 0; i < n; i++) list[i] = at(i)
  return list
}
/** n elements in as many parts as there are ranks, of nearly one length. */
const cutOf = (n: number, ranks: number, itemBytes: number): Cut => {
  const start = (r: number): number => Math.floor((r * n) / ranks)
  return { starts: listOf(ranks, (r) => start(r) * itemBytes), counts: listOf(ranks, (r) => (start(r + 1) - start(r)) * itemBytes) }
}
/** As many parts of one length. */
const evenly = (length: number, ranks: number): Cut => ({ counts: listOf(ranks, () => length), starts: listOf(ranks, (r) => r * length) })

/** Raises where MPI cannot count the bytes of an array. */
export const countable = (c: Collective, bytes: number): void => {
  if (bytes > MOST) badInput(c.name, `an array of it has ${bytes} bytes.`, `MPI counts up to ${MOST}: use several collectives.`)
}
/** One rank of several. */
export class NativeRanks implements Pick<Communicator, 'rank' | 'size' | 'run' | 'barrier'> {
  private room = new ArrayBuffer(WHOLE)
  constructor(
    private readonly ranks: Exchanging,
    private readonly calls: RollCall,
    private readonly timeout: number,
    private readonly checked: (run: () => void) => void,
  ) {}
  /** Bytes that it has beside the arrays of the program. */
  get bytes(): number {
    return this.room.byteLength + this.calls.bytes
  }
  get rank(): number {
    return this.ranks.rank
  }
  get size(): number {
    return this.ranks.size
  }
  barrier(): void {
    this.checked(() => this.calls.agree('barrier', performance.now() + this.timeout))
  }
  run(c: Collective, x: NDArray, y: NDArray): void {
    countable(c, Math.max(x.data.byteLength, y.data.byteLength))
    this.checked(() => {
      const deadline = performance.now() + this.timeout
      const doing = described(c, x)
      this.calls.agree(doing, deadline)
      // There is nothing to send, and some libraries refuse buffers without a place.
      if (x.data.byteLength > 0) this.moved(c, x, y, deadline)
    })
  }

  private moved(c: Collective, x: NDArray, y: NDArray, deadline: number): void {
    const [from, into] = [bytesOf(x.data), bytesOf(y.data)]
    if (c.name === 'allReduce') this.allReduce(c.op, x, y, deadline)
    else if (c.name === 'reduceTo') {
      this.allReduce('sum', x, y, deadline)
      if (c.root !== this.rank) y.data.fill(0)
    } else if (c.name === 'broadcast') {
      if (c.root === this.rank) into.set(from)
      this.settle([this.ranks.broadcast(into, c.root)], deadline)
    } else if (c.name === 'allGather') this.settle([this.ranks.gather(from, into)], deadline)
    else if (c.name === 'reduceScatter') {
      const sum = this.summed('sum', x, evenly(into.byteLength, this.size), deadline)
      y.data.set(sum as never)
    } else if (c.name === 'allToAll') {
      const { counts, starts } = evenly(from.byteLength / this.size, this.size)
      this.settle([this.ranks.exchange(from, counts, starts, into, counts, starts)], deadline)
    } else if (c.name === 'sendRecv') this.sendRecv(c.to, from, into, deadline)
  }
  private settle(requests: Parameters<Exchanging['wait']>[0], deadline: number): void {
    if (!this.ranks.wait(requests, deadline)) this.calls.unfinished()
  }
  /** Room for so many bytes. */
  private space(bytes: number): ArrayBuffer {
    if (this.room.byteLength < bytes) this.room = new ArrayBuffer(bytes)
    return this.room
  }
  private allReduce(op: ReduceOp, x: NDArray, y: NDArray, deadline: number): void {
    const { byteLength, length } = x.data
    if (byteLength * this.size <= WHOLE) {
      const room = this.space(byteLength * this.size)
      this.settle([this.ranks.gather(bytesOf(x.data), new Uint8Array(room, 0, byteLength * this.size))], deadline)
      y.data.set(combined(op, this.parts(x, room, length)) as never)
      return
    }
    const cut = cutOf(length, this.size, x.data.BYTES_PER_ELEMENT)
    const sum = this.summed(op, x, cut, deadline)
    // The room has this rank's sum at its beginning: it is sent from there.
    this.settle([this.ranks.gatherParts(bytesOf(sum), bytesOf(y.data), cut.counts, cut.starts)], deadline)
  }
  /** Every rank's part for this one, combined. It lies in the room. */
  private summed(op: ReduceOp, x: NDArray, cut: Cut, deadline: number): TypedArray {
    const bytes = cut.counts[this.rank]!
    const room = this.space(bytes * this.size)
    const { counts, starts } = evenly(bytes, this.size)
    const into = new Uint8Array(room, 0, bytes * this.size)
    this.settle([this.ranks.exchange(bytesOf(x.data), cut.counts, cut.starts, into, counts, starts)], deadline)
    return combined(op, this.parts(x, room, bytes / x.data.BYTES_PER_ELEMENT))
  }
  private parts(x: NDArray, room: ArrayBuffer, length: number): readonly TypedArray[] {
    const { BYTES_PER_ELEMENT } = arrayConstructor(x.dtype)
    return Array.from({ length: this.size }, (_, r) => viewOf(x.dtype, room, r * length * BYTES_PER_ELEMENT, length))
  }
  private sendRecv(to: readonly number[], sent: Bytes, into: Bytes, deadline: number): void {
    const [from, receiver] = [to.indexOf(this.rank), to[this.rank]!]
    if (from < 0) into.fill(0)
    const requests = from < 0 ? [] : [this.ranks.receive(into, from, DATA)]
    if (receiver >= 0) requests.push(this.ranks.send(sent, receiver, DATA))
    this.settle(requests, deadline)
  }
}
