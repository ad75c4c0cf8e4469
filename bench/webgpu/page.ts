// What runs beside the device, in a page or in Node: one row of the table, every peer verified and then timed in turns.
import { inputsOf } from '../../test/golden/data.js'
import { agreement, golden, toleranceOf } from '../../test/golden/golden.js'
import { callOf, median, round, warmUp } from '../measure.js'
import type { Outputs, Peer, Prepared, WorkloadId } from '../peer.js'
import { backend, codual } from './codual.js'
import { jaxjs } from './jaxjs.js'
import { tfjs } from './tfjs.js'

export interface RowOptions {
  readonly rounds: number
  /** Milliseconds of calls in a round: one call at least. */
  readonly budget: number
  /** Milliseconds that a peer has for its first call and to warm up; and a limit for the rounds of all peers together. */
  readonly limit: number
  /** The peers of this row; all where it is undefined. */
  readonly peers?: readonly string[]
}

/** What became of a peer in a row. */
export type Outcome =
  | {
      readonly kind: 'timed'
      /** Median milliseconds of a call, by round. */
      readonly rounds: readonly number[]
      readonly coldMs: number
      readonly worst: number
    }
  | { readonly kind: 'wrong'; readonly failure: string; readonly worst: number }
  | { readonly kind: 'failed'; readonly message: string }

export type Row = Readonly<Record<string, Outcome>>

const peers: readonly Peer[] = [codual, tfjs, jaxjs]

/** W6 is a hundred products deep, and its f32 inputs are rounded. */
const tolerance = (id: WorkloadId): number => (id === 'W6' ? 1e-4 : toleranceOf(id, 'f32'))

const within = <A>(promise: Promise<A>, until: number): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('not done within the limit')), Math.max(0, until - performance.now()))
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })

interface Entry {
  readonly name: string
  readonly prepared: Prepared
  readonly coldMs: number
  readonly worst: number
  readonly batch: number
  readonly rounds: number[]
  /** Runs once; the results stay in `last`. */
  readonly call: () => Promise<void>
  last: Outputs
}

const judge = (id: WorkloadId, outputs: Outputs): { readonly wrong?: Outcome; readonly worst: number } => {
  const { ok, worst, failures } = agreement(outputs, golden[id], tolerance(id))
  return ok ? { worst } : { worst, wrong: { kind: 'wrong', failure: failures[0]!, worst } }
}

/** Prepares one peer, compares its first call with the golden values, and warms it up. */
const admit = async (peer: Peer, id: WorkloadId, { budget, limit }: RowOptions): Promise<Entry | Outcome> => {
  const prepare = peer.workloads[id]
  if (prepare === undefined) return { kind: 'failed', message: 'no program' }
  const end = performance.now() + limit
  let prepared: Prepared | undefined
  try {
    const inputs = inputsOf(id, 'f32')
    const from = performance.now()
    const { first, made } = await within(
      Promise.resolve(prepare(inputs)).then(async (made) => ({ made, first: await made.run() })),
      end,
    )
    prepared = made
    const coldMs = performance.now() - from
    const { wrong, worst } = judge(id, first)
    if (wrong !== undefined) {
      made.dispose?.()
      return wrong
    }
    const entry: Entry = {
      name: peer.name,
      prepared: made,
      coldMs,
      worst,
      batch: coldMs < limit / 4 ? await within(warmUp(callOf(made), budget), end) : 1,
      rounds: [],
      call: async () => {
        entry.last = await made.run()
      },
      last: first,
    }
    return entry
  } catch (e) {
    prepared?.dispose?.()
    return { kind: 'failed', message: e instanceof Error ? e.message : String(e) }
  }
}

/** One row. Rounds end early, all peers having had as many, when the limit is reached. */
const row = async (id: WorkloadId, options: RowOptions): Promise<Row> => {
  const outcomes: Record<string, Outcome> = {}
  const entries: Entry[] = []
  for (const peer of peers) {
    if (options.peers !== undefined && !options.peers.includes(peer.name)) continue
    const admitted = await admit(peer, id, options)
    if ('prepared' in admitted) entries.push(admitted)
    else outcomes[peer.name] = admitted
  }
  const end = performance.now() + options.limit
  for (let r = 0; r < options.rounds && (r === 0 || performance.now() < end); r++)
    for (let k = 0; k < entries.length; k++) {
      const entry = entries[(k + r) % entries.length]!
      entry.rounds.push(median(await round(entry.call, entry.batch, options.budget)))
    }
  for (const { name, prepared, coldMs, worst, rounds, last } of entries) {
    // A warm call may run other code than the first one did.
    const warm = judge(id, last)
    outcomes[name] = warm.wrong ?? { kind: 'timed', rounds, coldMs, worst: Math.max(worst, warm.worst) }
    prepared.dispose?.()
  }
  return outcomes
}

export interface Bench {
  readonly row: (id: WorkloadId, options: RowOptions) => Promise<Row>
  readonly adapter: () => Promise<string>
}

declare global {
  var codualBench: Bench
}
globalThis.codualBench = { row, adapter: backend.adapter }
