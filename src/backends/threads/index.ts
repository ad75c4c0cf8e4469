/** The entry `codual/threads`: programs on all cores of a machine. */
import { readOptions } from '../../core/errors/options.js'
import type { Threads } from '../cpu/kernel.js'
import { MOST } from './control.js'
import { sharingOf } from './cut.js'
import { type ThreadsOptions, threadsOptions } from './options.js'
import { cores, starter } from './system.js'
import { threadsBy } from './threads.js'

export type { Threads } from '../cpu/kernel.js'
export type { ThreadsOptions } from './options.js'

/** A part takes less than a millisecond; a computer that sleeps takes all of its threads along. */
const PATIENCE = 10_000
/** By their number, so that equal options give the same backend. */
const known = new Map<number, Threads>()

/**
 * Threads for `cpu({ threads: threads() })`: large steps (products, convolutions, elementwise loops, reductions) are cut into parts, which the calling thread and the others take
 * one after the other on one shared memory. Results have the same bits for every number of threads. Small steps stay on the calling thread. Threads begin with the first program that
 * has a large step, sleep when there is no work, and keep no process alive. Where there are no threads, `reason` and `explain().threads` say why, and one runs all: in a page that is not
 * isolated from other origins, for instance.
 *
 * Errors  BadInput for a count that is not a whole number from 1 to 30.
 * @example cpu({ threads: threads({ count: 2 }) }).name   // 'cpu'
 */
export const threads = (given?: ThreadsOptions): Threads => {
  const { count = Math.min(cores(), MOST) } = readOptions(threadsOptions, given, 'threads')
  let one = known.get(count)
  if (one === undefined) {
    one = threadsBy(starter(), { sharing: sharingOf(count), patience: PATIENCE })
    known.set(count, one)
  }
  return one
}
