/** Ranks in one process, without MPI: what a program means on several ranks. */
import { functionOf, integerOf } from '../core/errors/check-arguments.js'
import { isAdException } from '../core/errors/error.js'
import { badInput, raise } from '../core/errors/explain.js'
import type { NDArray, TypedArray } from '../core/graph/ndarray.js'
import { type Collective, described, overRanks } from './collective.js'
import { atOnce, type Communicator, within } from './communicator.js'
import { disagree, ENDED, fault } from './faults.js'

/** A rank that waits for what the others send. */
interface Waiting {
  readonly collective: Collective | 'barrier'
  readonly x: NDArray
  readonly length: number
}
/** Ends a run that needs what other ranks have not sent yet. */
class Paused extends Error {}

type Outcome<A> = { readonly waits: Waiting } | { readonly value: A } | { readonly thrown: unknown }
/** Runs one rank with what it has received so far, up to the first collective behind that. */
const attempt = <A>(rank: number, size: number, received: readonly TypedArray[], f: (rank: number) => A): Outcome<A> => {
  let next = 0
  let waits: Waiting | undefined
  const reach = (w: () => Waiting): TypedArray => {
    if (waits === undefined && next < received.length) return received[next++]!
    waits ??= w()
    throw new Paused(`rank ${rank} waits`)
  }
  const empty: NDArray = { shape: [0], dtype: 'f64', data: new Float64Array(0) }
  const run: Communicator['run'] = (collective, x, y) =>
    y.data.set(reach(() => ({ collective, x: { ...x, data: x.data.slice() }, length: y.data.length })) as never)
  const comm: Communicator = {
    rank,
    size,
    library: undefined,
    threadLevel: undefined,
    run,
    ...atOnce(run),
    barrier: () => void reach(() => ({ collective: 'barrier', x: empty, length: 0 })),
  }
  try {
    const value = within(comm, () => f(rank))
    return waits === undefined ? { value } : { waits }
  } catch (thrown) {
    return waits === undefined ? { thrown } : { waits }
  }
}
const doing = (o: Outcome<unknown>): string =>
  'waits' in o ? (o.waits.collective === 'barrier' ? 'barrier' : described(o.waits.collective, o.waits.x)) : ENDED
const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** Raises unless there is a number of ranks, and what they run. */
export const ranksFor = (size: number, f: unknown, where: string): void => {
  functionOf(f as () => unknown, 'the second argument', where)
  if (integerOf(size, 'the number of ranks', where) < 1) badInput(where, `the number of ranks is ${size}.`, 'give a whole number from 1.')
}
/**
 * What f returns on each of n ranks, computed in this process without MPI: within f, `world` and the collectives are those of one rank.
 *
 * f runs from its beginning once for each collective that it takes part in, with what it has received until then, so it must do the same every time, and must not wait for promises:
 * `simulateRanksAsync` is for those that do.
 * Errors  Device where the ranks do not agree on their collectives, or one of them throws: the error names it.
 * @example simulateRanks(3, (rank) => evaluate(allReduce([rank, 1])).toArray())   // [[3, 3], [3, 3], [3, 3]]
 */
export const simulateRanks = <A>(size: number, f: (rank: number) => A): readonly A[] => {
  ranksFor(size, f, 'simulateRanks')
  const received: TypedArray[][] = Array.from({ length: size }, () => [])
  for (let step = 1; ; step++) {
    const outcomes = received.map((log, rank) => attempt(rank, size, log, f))
    const failed = outcomes.findIndex((o) => 'thrown' in o)
    if (failed >= 0) failure(outcomes[failed] as { readonly thrown: unknown }, failed, size, step)
    if (outcomes.every((o) => 'value' in o)) return outcomes.map((o) => (o as { readonly value: A }).value)
    const all = outcomes.map(doing)
    if (new Set(all).size > 1) disagree(step, all)
    const waiting = outcomes.map((o) => (o as { readonly waits: Waiting }).waits)
    const ys = waiting.map(({ x, length }) => new (x.data.constructor as new (n: number) => TypedArray)(length))
    const { collective } = waiting[0]!
    if (collective !== 'barrier')
      overRanks(
        collective,
        waiting.map((w) => w.x.data),
        ys,
      )
    for (const [rank, y] of ys.entries()) received[rank]!.push(y)
  }
}
const failure = ({ thrown }: { readonly thrown: unknown }, rank: number, size: number, step: number): never => {
  if (size === 1) throw thrown
  const error = fault(
    `rank ${rank} of ${size} failed before collective ${step}: ${reasonOf(thrown)}`,
    isAdException(thrown) ? 'see the error of that rank.' : 'an exception of one rank ends the others.',
  )
  try {
    return raise(error)
  } catch (e) {
    throw Object.assign(e as Error, { cause: thrown })
  }
}
