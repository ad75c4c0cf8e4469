/** The ranks as a value: what a training loop needs of them, whatever they are. */
import { choice, flag, type OptionsOf, readOptions } from '../core/errors/options.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyFn } from '../core/types/fn.js'
import type { FitPlaced, FitRanks, Optimizer } from '../train/fit/types.js'
import type { Communicator } from './communicator.js'
import { Group } from './group.js'
import type { Rank } from './parts/over-parts.js'
import { cutTree, inParts, type Placing } from './parts/placement.js'
import { rowsOf, type ShardFn, type ShardOptions, shard, shardOptions } from './shard.js'
import { current } from './world.js'

/** One rank of a program, as `fit` of codual/train takes it. */
export interface Ranks extends FitRanks {
  /** `shard`, for functions that `run` calls, with `overlap` and `bucketBytes` as they were given here. */
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
export const ranksOptions = {
  /** Are parameters and the optimiser's state whole on every rank? Unless given; 'zero1' and 'zero3' place them in parts, as `inParts` does. */
  parameters: choice(['whole', 'zero1', 'zero3'], 'whole'),
  /** Do sums over ranks go on while the rank computes? As `shard` does with `overlap`. No unless given. */
  overlap: flag(),
  /** Cotangents are summed over ranks in buckets of about so many bytes: 25,000,000 unless given. */
  bucketBytes: shardOptions.bucketBytes,
}
/** Options of `ranks`. */
export type RanksOptions = OptionsOf<typeof ranksOptions>

/** A fit's parameters in parts. */
const placedAs = (params: unknown, optimizer: Optimizer, how: Placing, at: Rank, sharded: ShardFn): FitPlaced => {
  const placement = inParts(params, how)
  const own = placement.optimizer(optimizer)
  return {
    optimizer: own,
    shard: (f, options) => sharded(f as AnyFn, { ...options, parts: { params: placement } } as never),
    cut: (whole) => cutTree(whole, at),
    params: placement.join,
    state: own.join,
  }
}
/** A rank as a value, where `run` lets it take part in collectives. */
export const ranksAs = (rank: number, size: number, run: Ranks['run'], given?: RanksOptions): Ranks => {
  const { parameters, ...more } = readOptions(ranksOptions, given, 'ranks')
  const sharded = ((f: AnyFn, options: ShardOptions) => shard(f, { ...more, ...options } as never)) as ShardFn
  const gather: Ranks['gather'] = (said) => run(() => gathered(current(), said))
  return {
    rank,
    size,
    shard: sharded,
    run,
    localRows: (tree) => rowsOf(tree, rank, size),
    gather,
    ...(parameters !== 'whole' && { placed: (params, optimizer) => placedAs(params, optimizer, parameters, { rank, size }, sharded) }),
    group: (fit) => new Group({ rank, size, gather }, fit),
  }
}
/**
 * The ranks of this program as a value: `fit(model, data, { ranks: ranks() })` of codual/train trains on all of them.
 *
 * With `{ parameters: 'zero1' }` or 'zero3' each rank keeps a part of the parameters and of the optimiser's state alone; with `{ overlap: true }` gradients are summed over ranks while the backward pass goes on.
 * Errors  as `world`: Unsupported under `mpirun` if there is no library or no package koffi.
 * @example ranks().size   // 1
 */
export const ranks = (options?: RanksOptions): Ranks => {
  const { rank, size } = current()
  return ranksAs(rank, size, (f) => f(), options)
}
