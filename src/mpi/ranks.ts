/** The ranks as a value: what a training loop needs of them, whatever they are. */
import type { NDArray } from '../core/graph/ndarray.js'
import type { FitRanks } from '../train/fit/types.js'
import type { Communicator } from './communicator.js'
import { Group } from './group.js'
import { rowsOf, type ShardFn, shard } from './shard.js'
import { current } from './world.js'

/** One rank of a program, as `fit` of codual/train takes it. */
export interface Ranks extends FitRanks {
  /** `shard`, for functions that `run` calls. */
  readonly shard: ShardFn
  /** Runs f, which takes part in collectives; every rank calls it. */
  readonly run: <A>(f: () => A) => A | Promise<A>
  /** `localRows` of this rank. */
  readonly localRows: <T>(tree: T) => T
  /** What each rank says, in the order of ranks; every rank calls it. */
  readonly gather: (said: string) => readonly string[] | Promise<readonly string[]>
}

const array = (data: Uint8Array | Int32Array): NDArray => ({
  shape: [data.length],
  dtype: data instanceof Int32Array ? 'i32' : 'bool', // bytes, whatever they mean
  data,
})
/** Every rank's text on every rank: their lengths, and if one of them says something, their bytes. */
export const gathered = (ranks: Communicator, said: string): readonly string[] => {
  const bytes = new TextEncoder().encode(said)
  const lengths = new Int32Array(ranks.size)
  const all = { name: 'allGather', ranks: ranks.size } as const
  ranks.run(all, array(Int32Array.of(bytes.length)), array(lengths))
  const most = lengths.reduce((a, b) => Math.max(a, b), 0)
  const texts = new Uint8Array(most * ranks.size)
  if (most > 0) {
    const mine = new Uint8Array(most)
    mine.set(bytes)
    ranks.run(all, array(mine), array(texts))
  }
  return Array.from(lengths, (n, r) => new TextDecoder().decode(texts.subarray(r * most, r * most + n)))
}
/** A rank as a value, where `run` lets it take part in collectives. */
export const ranksAs = (rank: number, size: number, run: Ranks['run']): Ranks => {
  const gather: Ranks['gather'] = (said) => run(() => gathered(current(), said))
  return {
    rank,
    size,
    shard,
    run,
    localRows: (tree) => rowsOf(tree, rank, size),
    gather,
    group: (fit) => new Group({ rank, size, gather }, fit),
  }
}
/**
 * The ranks of this program as a value: `fit(model, data, { ranks: ranks() })` of codual/train trains on all of them.
 *
 * Errors  as `world`: Unsupported under `mpirun` if there is no library or no package koffi.
 * @example ranks().size   // 1
 */
export const ranks = (): Ranks => {
  const { rank, size } = current()
  return ranksAs(rank, size, (f) => f())
}
