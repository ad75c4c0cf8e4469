/** The latency and the bandwidth between the ranks of this program, by what exchanges take. */

import { badInput } from '../../core/errors/explain.js'
import { greatestOf } from '../../core/errors/extremes.js'
import { integer, type OptionsOf, readOptions } from '../../core/errors/options.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import type { Collective } from '../collective.js'
import type { Communicator } from '../communicator.js'
import { current } from '../world.js'
import { countedRank } from './counted.js'
import { exchangedIn, type Link, loadOf, placementOptions, sharing } from './link.js'

export const measureLinkOptions = {
  /** How often each exchange is measured: 20 times unless given, and the least counts. */
  rounds: integer(20, { from: 1 }),
  /** The largest array that is sent, in bytes: 4 MiB unless given. */
  largest: integer(2 ** 22, { from: 2 ** 12, to: 2 ** 28 }),
  /** How many cores the ranks have: one each unless given. The link is that of ranks with a core of their own. */
  cores: placementOptions.cores,
  /** As in `scaleOf`. */
  library: placementOptions.library,
}
/** Options of `measureLink`. */
export interface MeasureLinkOptions extends OptionsOf<typeof measureLinkOptions> {}
/** A link as it was measured. */
export interface MeasuredLink extends Link {
  readonly worst: number
}

const array = (bytes: number): NDArray => ({ shape: [bytes], dtype: 'bool', data: new Uint8Array(bytes) })
/** An exchange that is measured: what messages and bytes it has, and its time in seconds. */
export interface Sample {
  readonly messages: number
  readonly bytes: number
  readonly seconds: number
}
/** Latency and seconds of a byte, neither below 0, by least squares of relative errors. */
export const fitted = (samples: readonly Sample[]): readonly [latency: number, byte: number] => {
  let [mm, mb, bb, m, b] = [0, 0, 0, 0, 0]
  for (const { messages, bytes, seconds } of samples) {
    const [x, y] = [messages / seconds, bytes / seconds]
    mm += x * x
    mb += x * y
    bb += y * y
    m += x
    b += y
  }
  const det = mm * bb - mb * mb
  const [latency, byte] = [(m * bb - b * mb) / det, (b * mm - m * mb) / det]
  return latency < 0 ? [0, b / bb] : byte < 0 ? [m / mm, 0] : [latency, byte]
}

/** The least time of an exchange on the slowest rank. */
const timed = (ranks: Communicator, rounds: number, run: () => void): number => {
  let least = Number.POSITIVE_INFINITY
  for (let k = 0; k <= rounds; k++) {
    ranks.barrier()
    const since = performance.now()
    run()
    if (k > 0) least = Math.min(least, performance.now() - since)
  }
  const mine: NDArray = { shape: [1], dtype: 'f64', data: Float64Array.of(least / 1000) }
  const most = { ...mine, data: new Float64Array(1) }
  ranks.run({ name: 'allReduce', op: 'max' }, mine, most)
  return most.data[0]!
}

/**
 * The latency and the bandwidth of the link between the ranks of this program; every rank calls it. Barriers, messages to the next rank and gathered arrays of many sizes are measured, and the two numbers fitted by
 * least squares to the messages and bytes that these consist of. What a call of MPI costs is in the latency.
 *
 * Errors  BadInput on one rank, which has no link.
 * @example simulateRanks(2, () => measureLink({ rounds: 1, largest: 4096 }).bandwidth > 0)   // [true, true]
 */
export const measureLink = (options?: MeasureLinkOptions): MeasuredLink => {
  const read = readOptions(measureLinkOptions, options, 'measureLink')
  const ranks = current()
  const { size } = ranks
  if (size === 1)
    badInput('measureLink', 'there is one rank.', 'start several: mpirun -n 2 node program.js; or give figures, as those of links.')
  const placement = { ranksPerNode: size, cores: read.cores, library: read.library }
  const next: Collective = { name: 'sendRecv', to: Array.from({ length: size }, (_, r) => (r + 1) % size) }
  const all: Collective = { name: 'allGather', ranks: size }
  const sample = (run: (on: Communicator) => void): Sample => {
    const counted = countedRank(size, ranks.rank)
    run(counted.communicator)
    const loads = counted.take().flatMap((c) => exchangedIn(c).map((e) => loadOf(e, size, placement).inside))
    const share = sharing(size, placement)
    const sum = (k: 0 | 1): number => share * loads.reduce((n, load) => n + load[k], 0)
    return { messages: sum(0), bytes: sum(1), seconds: timed(ranks, read.rounds, () => run(ranks)) }
  }
  const samples = [sample((on) => on.barrier())]
  for (let bytes = 2 ** 10; bytes <= read.largest; bytes *= 4) {
    const [x, y, joined] = [array(bytes), array(bytes), array(bytes * size)]
    samples.push(sample((on) => on.run(next, x, y)))
    if (bytes * size <= read.largest) samples.push(sample((on) => on.run(all, x, joined)))
  }
  const [latency, byte] = fitted(samples)
  const off = samples.map(({ messages, bytes, seconds }) => Math.abs((latency * messages + byte * bytes) / seconds - 1))
  return { latency, bandwidth: byte === 0 ? Number.POSITIVE_INFINITY : 1 / byte, worst: greatestOf(off) }
}
