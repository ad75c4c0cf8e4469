// The benchmark's harness: verifies each peer against the golden values, then times those that agree in turns.
import { inputsOf } from '../test/golden/data.js'
import { agreement, golden, toleranceOf } from '../test/golden/golden.js'
import { spec, type WorkloadDtype, type WorkloadId, workloadIds } from '../test/golden/spec.js'
import { type Call, callOf, ratioOf, round, type Times, timesOf, warmUp } from './measure.js'
import type { Facts, Peer, Prepare, Prepared } from './peer.js'

export interface Options {
  /** Rows to run, by name; all where it is undefined. */
  readonly only: readonly string[] | undefined
  readonly rounds: number
  /** f64: every row in f64, f32 inputs promoted. f32: only the rows that are f32. */
  readonly dtype: WorkloadDtype | undefined
  /** Milliseconds a peer gets in each round. */
  readonly budget: number
}

/** What became of one peer in one row. */
export type Outcome =
  | {
      readonly kind: 'timed'
      readonly times: Times
      readonly primal?: Times
      /** Milliseconds from the inputs to the end of the first call. */
      readonly coldMs: number
      /** The largest error against the golden values. */
      readonly worst: number
      readonly facts?: Facts
      readonly note?: string
    }
  | { readonly kind: 'wrong'; readonly failures: readonly string[]; readonly worst: number; readonly note?: string }
  | { readonly kind: 'failed'; readonly message: string; readonly note?: string }
  | { readonly kind: 'absent'; readonly note?: string }

export interface Row {
  readonly name: string
  readonly of: WorkloadId
  readonly doc: string
  readonly dtype: WorkloadDtype
  readonly outcomes: Readonly<Record<string, Outcome>>
  /** The first peer's time over each other's. */
  readonly ratios: Readonly<Record<string, number>>
}

interface RowPlan {
  readonly name: string
  readonly of: WorkloadId
}

/** The rows that the options ask for: every workload, each followed by the variants that some peer has of it. */
export const rowsOf = (peers: readonly Peer[], { only, dtype }: Options): readonly RowPlan[] => {
  const variants = peers.flatMap((peer) => Object.entries(peer.variants ?? {}).map(([name, { of }]): RowPlan => ({ name, of })))
  const rows = workloadIds.flatMap((id): RowPlan[] => [{ name: id, of: id }, ...variants.filter(({ of }) => of === id)])
  const unknown = (only ?? []).filter((name) => !rows.some((row) => row.name === name))
  if (unknown.length > 0) throw new Error(`no row ${unknown.join(', ')}; there are ${rows.map(({ name }) => name).join(', ')}`)
  return rows.filter(({ name, of }) => (only === undefined || only.includes(name)) && !(dtype === 'f32' && spec[of].dtype === 'f64'))
}

const prepareOf = (peer: Peer, { name, of }: RowPlan): Prepare | undefined =>
  name === of ? peer.workloads[of] : peer.variants?.[name] === undefined ? peer.workloads[of] : peer.variants[name].prepare

interface Entry {
  readonly peer: Peer
  readonly prepared: Prepared
  readonly coldMs: number
  readonly worst: number
  readonly calls: { readonly call: Call; readonly batch: number; readonly samples: (readonly number[])[] }[]
}

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/** Prepares one peer, runs it once and compares; an Entry if it agrees. */
const admit = async (peer: Peer, row: RowPlan, dtype: WorkloadDtype, budget: number): Promise<Entry | Outcome> => {
  const prepare = prepareOf(peer, row)
  const note = peer.notes?.[row.of]
  if (prepare === undefined) return { kind: 'absent', ...(note === undefined ? {} : { note }) }
  if (!peer.dtypes.includes(dtype)) return { kind: 'absent', note: `${peer.name} has no ${dtype}` }
  let prepared: Prepared | undefined
  try {
    const inputs = inputsOf(row.of, dtype)
    const from = performance.now()
    prepared = await prepare(inputs)
    const first = await prepared.run()
    const coldMs = performance.now() - from
    const tolerance = toleranceOf(row.of, dtype)
    const { failures, worst } = agreement(first, golden[row.of], tolerance)
    if (failures.length > 0) {
      prepared.dispose?.()
      return { kind: 'wrong', failures, worst, ...(note === undefined ? {} : { note }) }
    }
    const { primal } = prepared
    const calls = [callOf(prepared), ...(primal === undefined ? [] : [primal.bind(prepared)])]
    const warm: Entry['calls'] = []
    for (const call of calls) warm.push({ call, batch: await warmUp(call, 2 * budget), samples: [] })
    // A warm call may run other code than the first one did.
    const again = agreement(await prepared.run(), golden[row.of], tolerance)
    if (again.ok) return { peer, prepared, coldMs, worst: Math.max(worst, again.worst), calls: warm }
    prepared.dispose?.()
    return { kind: 'wrong', failures: again.failures.map((line) => `warm: ${line}`), worst: again.worst }
  } catch (e) {
    prepared?.dispose?.()
    return { kind: 'failed', message: messageOf(e), ...(note === undefined ? {} : { note }) }
  }
}

const isEntry = (x: Entry | Outcome): x is Entry => 'prepared' in x

const timedOutcome = ({ peer, prepared, coldMs, worst, calls }: Entry, { of }: RowPlan): Outcome => {
  const [gradient, primal] = calls
  const facts = prepared.facts?.()
  const note = peer.notes?.[of]
  return {
    kind: 'timed',
    times: timesOf(gradient!.samples),
    ...(primal === undefined ? {} : { primal: timesOf(primal.samples) }),
    coldMs,
    worst,
    ...(facts === undefined ? {} : { facts }),
    ...(note === undefined ? {} : { note }),
  }
}

/** One row: every peer is verified first; those that agree then take turns, each round starting with another one. */
export const runRow = async (peers: readonly Peer[], row: RowPlan, options: Options): Promise<Row> => {
  const dtype = options.dtype ?? spec[row.of].dtype
  const outcomes: Record<string, Outcome> = {}
  const entries: Entry[] = []
  for (const peer of peers) {
    const admitted = await admit(peer, row, dtype, options.budget)
    if (isEntry(admitted)) entries.push(admitted)
    else outcomes[peer.name] = admitted
  }
  for (let r = 0; r < options.rounds; r++) {
    for (let k = 0; k < entries.length; k++) {
      for (const { call, batch, samples } of entries[(k + r) % entries.length]!.calls)
        samples.push(await round(call, batch, options.budget))
    }
  }
  for (const entry of entries) {
    outcomes[entry.peer.name] = timedOutcome(entry, row)
    entry.prepared.dispose?.()
  }
  const [first, ...others] = peers.map(({ name }) => ({ name, outcome: outcomes[name]! }))
  const ratios: Record<string, number> = {}
  for (const { name, outcome } of others) {
    if (first?.outcome.kind === 'timed' && outcome.kind === 'timed') ratios[name] = ratioOf(first.outcome.times, outcome.times)
  }
  return { name: row.name, of: row.of, doc: spec[row.of].doc, dtype, outcomes, ratios }
}
