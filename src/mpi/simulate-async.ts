/** Ranks in one process that wait for promises: they meet where they exchange data. */
import { raise } from '../core/errors/explain.js'
import { disagreement, ENDED } from './faults.js'
import { type Ranks, type RanksOptions, ranksAs } from './ranks.js'
import { ranksFor, simulateRanks } from './simulate.js'

/** A rank that waits for the others, with what it is about to run. */
interface Waiting {
  readonly f: () => unknown
  readonly done: (value: never) => void
  readonly failed: (reason: unknown) => void
}
/** Where ranks meet: what all of them wait to run is run at once. */
class Meeting {
  private waiting = new Map<number, Waiting>()
  private readonly ended = new Set<number>()
  private count = 0
  constructor(private readonly size: number) {}
  readonly at =
    (rank: number): Ranks['run'] =>
    <A>(f: () => A) =>
      new Promise<A>((done, failed) => {
        this.waiting.set(rank, { f, done, failed })
        this.meet()
      })
  /** A rank comes no more. */
  readonly leaves = (rank: number): void => {
    this.ended.add(rank)
    this.meet()
  }
  private meet(): void {
    if (this.waiting.size === 0 || this.waiting.size + this.ended.size < this.size) return
    const { waiting } = this
    this.waiting = new Map()
    this.count++
    try {
      if (this.ended.size > 0)
        raise(
          disagreement(
            this.count,
            Array.from({ length: this.size }, (_, r) => (waiting.has(r) ? 'exchanges data' : ENDED)),
          ),
        )
      const results = simulateRanks(this.size, (rank) => waiting.get(rank)!.f())
      for (const [rank, { done }] of waiting) done(results[rank] as never)
    } catch (reason) {
      for (const { failed } of waiting.values()) failed(reason)
    }
  }
}

/**
 * What f comes to on each of n ranks in this process, without MPI, where f waits for promises: f is given its rank as a value, and `fit` of codual/train takes it.
 *
 * Ranks meet in `run` of that value, and collectives stand inside of it; `world` is that of a rank there alone. What `run` is given runs once for each collective in it.
 * Errors  a rejection of Device where a rank ends while others wait, where they do not agree, or one of them throws in `run`; of a rank's own exception elsewhere.
 * @example await simulateRanksAsync(2, async ({ rank, run }) => run(() => evaluate(allReduce([rank, 1])).toArray()))   // [[1, 2], [1, 2]]
 */
export const simulateRanksAsync = async <A>(
  size: number,
  f: (ranks: Ranks) => PromiseLike<A>,
  options?: RanksOptions,
): Promise<readonly A[]> => {
  ranksFor(size, f, 'simulateRanksAsync')
  const meeting = new Meeting(size)
  const failures: unknown[] = []
  const on = async (rank: number): Promise<A> => {
    try {
      return await f(ranksAs(rank, size, meeting.at(rank), options))
    } catch (reason) {
      failures.push(reason)
      throw reason
    } finally {
      meeting.leaves(rank)
    }
  }
  const all = await Promise.allSettled(Array.from({ length: size }, (_, rank) => on(rank)))
  // The first is the cause of the others.
  if (failures.length > 0) throw failures[0]
  return all.map((r) => (r as PromiseFulfilledResult<A>).value)
}
