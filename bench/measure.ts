// Timing: samples of one warm call, interleaved between peers, and their statistics.
import { leastOf } from '../src/core/errors/extremes.js'
import type { Prepared } from './peer.js'

export interface Times {
  /** Milliseconds of one call, one sample for each call (or batch of short calls), by round. */
  readonly rounds: readonly (readonly number[])[]
  readonly median: number
  readonly min: number
}

const sorted = (xs: readonly number[]): readonly number[] => [...xs].sort((a, b) => a - b)

export const median = (xs: readonly number[]): number => {
  const s = sorted(xs)
  const middle = s.length >> 1
  if (s.length === 0) return Number.NaN
  return s.length % 2 === 1 ? s[middle]! : (s[middle - 1]! + s[middle]!) / 2
}

export const timesOf = (rounds: readonly (readonly number[])[]): Times => {
  const all = rounds.flat()
  return { rounds, median: median(all), min: leastOf(all) }
}

/** The median over the rounds of a's time in a round over b's in the same round: what drifts between rounds cancels. */
export const ratioOf = (a: Times, b: Times): number => median(a.rounds.map((samples, r) => median(samples) / median(b.rounds[r] ?? [])))

export type Call = () => unknown

export const callOf =
  (p: Prepared): Call =>
  () =>
    p.run()

/** Milliseconds of `calls` calls in a row; a call that returns a promise is awaited before the next. */
const timed = async (call: Call, calls: number): Promise<number> => {
  const from = performance.now()
  for (let i = 0; i < calls; i++) {
    const y = call()
    if (y instanceof Promise) await y
  }
  return performance.now() - from
}

/** Calls until `budget` ms are used (one call at least), and says how many calls make a sample of about 1 ms. */
export const warmUp = async (call: Call, budget: number): Promise<number> => {
  let used = await timed(call, 1)
  let batch = 1
  while (used < budget) {
    const ms = await timed(call, batch)
    used += ms
    if (ms < 1 && batch < 1 << 20) batch *= 2
  }
  return batch
}

/** One round: samples of `batch` calls until `budget` ms are used, one at least. */
export const round = async (call: Call, batch: number, budget: number): Promise<readonly number[]> => {
  const samples: number[] = []
  let used = 0
  while (used < budget || samples.length === 0) {
    const ms = await timed(call, batch)
    used += ms
    samples.push(ms / batch)
  }
  return samples
}
