/** What goes wrong among ranks, as errors. */
import type { AdError } from '../core/errors/error.js'
import { raise } from '../core/errors/explain.js'

export const fault = (reason: string, fix: string): AdError => ({ _tag: 'Device', backend: 'mpi', reason, fix })

/** Ranks by what they do, those that do the same in one line. */
export const disagreement = (step: number, doing: readonly string[]): AdError => {
  const groups = new Map<string, number[]>()
  for (const [rank, what] of doing.entries()) groups.set(what, [...(groups.get(what) ?? []), rank])
  const lines = [...groups].map(([what, ranks]) => `rank${ranks.length > 1 ? 's' : ''} ${ranks.join(', ')}: ${what}`)
  return fault(
    `the ranks do not agree at collective ${step}: ${lines.join('; ')}.`,
    'every rank must run the same program on arrays of the same shapes, and as often.',
  )
}
export const disagree = (step: number, doing: readonly string[]): never => raise(disagreement(step, doing))
/** What a rank does that has returned. */
export const ENDED = 'has ended'
