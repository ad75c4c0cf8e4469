/** How a step scales: what one rank of many computes, exchanges and holds, without the others. */

import { functionOf, integersOf, listOf } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { leastOf } from '../../core/errors/extremes.js'
import { choice, needed, number, type OptionsOf, or, readOptions } from '../../core/errors/options.js'
import { printedAs } from '../../core/errors/print.js'
import { metaOf } from '../../core/functions/function.js'
import { itemBytes } from '../../core/graph/aval.js'
import { sizeOf } from '../../core/graph/shape.js'
import { flatten } from '../../core/graph/tree.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyFn } from '../../core/types/fn.js'
import { compile, type Explanation } from '../../index.js'
import { within } from '../communicator.js'
import { type Counted, countedRank } from './counted.js'
import { exchangedIn, type Link, linkOf, type Placement, placementOptions, rate, secondsOf, sharing, waitedFor } from './link.js'
import { filled } from './specs.js'
import { scaleText } from './text.js'

export const ratesOptions = { flops: rate('operations'), bytes: rate('bytes') }
/** What one rank computes, and moves between its memory and its kernels, in a second. */
export interface Rates extends OptionsOf<typeof ratesOptions> {}
/** The largest number of ranks: a rank hears from each other one before every collective. */
const MOST = 65_536
export const scaleOptions = {
  /** The link between machines: one of `links`, what `measureLink` gave, or `{ latency, bandwidth }` in seconds and bytes a second. */
  link: needed<Link>((given, what, where) => linkOf(given, what, where)),
  /** The numbers of ranks: 1, 2, 8, 64, 512 and 4,096 unless given. */
  ranks: or<readonly number[], readonly number[]>([1, 2, 8, 64, 512, 4096], (given, what, where) => {
    const all = integersOf(given as readonly number[], what, where)
    const wrong = all.find((n) => n < 1 || n > MOST)
    if (wrong !== undefined || all.length === 0)
      badInput(where, `${what} ${wrong === undefined ? 'is empty' : `has ${wrong}`}.`, `give whole numbers from 1 to ${MOST}.`)
    return all
  }),
  /** The link between ranks of one machine: as `link` unless given. */
  inside: or<Link, undefined>(undefined, (given, what, where) => linkOf(given, what, where)),
  ...placementOptions,
  /** 'weak' (unless given): each rank has as much data whatever their number. 'strong': all have a part of the same data. By it efficiency is told; the arguments decide what there is. */
  scaling: choice(['weak', 'strong'], 'weak'),
  /** What another machine computes and moves in a second: then nothing is measured here. */
  rates: or<Rates, undefined>(undefined, (given, what, where) => readOptions(ratesOptions, given, `${where}: ${what}`)),
  /** Seconds for which the step of each number of ranks is measured: 0.3 unless given; it runs four times at least. */
  measure: number(0.3, { from: 0, to: 3600 }),
}
/** Options of `scaleOf`. */
export interface ScaleOptions extends OptionsOf<typeof scaleOptions> {}

/** A collective of a step: its array, what a rank sends for it (roll call included), and its time. */
export interface ScaledCollective {
  readonly collective: string
  readonly bytes: number
  /** Parts and bytes that this rank sends to others. */
  readonly messages: number
  readonly bytesSent: number
  readonly seconds: number
}
/** A step on so many ranks, as the last of them has it. Times are seconds. */
export interface ScaleRow {
  readonly ranks: number
  /** One step: `compute`, and what of `exchange` the rank waits for, `waited`. */
  readonly seconds: number
  /** What the rank computes, sums of what it received included. */
  readonly compute: number
  /** `latency` and `bandwidth`: what messages take however short they are, and what their bytes take. */
  readonly exchange: number
  /** What of `exchange` the rank waits for: with `overlap` a sum goes on while it computes, up to where the sum is needed. On one machine all of it, since its cores move the data. */
  readonly waited: number
  readonly latency: number
  readonly bandwidth: number
  /** The largest of these three. */
  readonly bound: 'compute' | 'latency' | 'bandwidth'
  /** How fast a rank goes, by how fast one of the fewest ranks in the list goes: 1 if nothing is lost. */
  readonly efficiency: number
  readonly messages: number
  readonly bytesSent: number
  /** Bytes of a rank: the peak of the plan, arguments and results among it, and what it exchanges data in. */
  readonly memory: number
  readonly argumentBytes: number
  readonly resultBytes: number
  readonly flops: number
  readonly collectives: readonly ScaledCollective[]
}
/** What `scaleOf` predicts; it prints as a table. */
export interface Scale {
  readonly name: string
  readonly link: Link
  readonly scaling: 'weak' | 'strong'
  /** How `compute` was found: measured here, or by rates. */
  readonly by: 'measured' | 'rates'
  readonly rows: readonly ScaleRow[]
}

/** A step as one of many ranks has it, whatever the links are. */
interface Seen {
  readonly compute: number
  /** Those of a step, and the milliseconds that it computed. */
  readonly counted: readonly Counted[]
  readonly within: number
  readonly explanation: Explanation
  readonly exchangeBytes: number
  readonly argumentBytes: number
  readonly resultBytes: number
}
/** Bytes of the arrays of a tree; plain numbers are f64. */
const bytesOf = (tree: unknown): number =>
  flatten(tree, 'scaleOf').leaves.reduce<number>((n, leaf) => {
    const { shape, dtype } = (leaf ?? {}) as { readonly shape?: readonly number[]; readonly dtype?: DType }
    if (dtype !== undefined) return n + sizeOf(shape!) * itemBytes[dtype]
    return n + itemBytes.f64 * [leaf].flat(Number.POSITIVE_INFINITY as 1).filter((x) => typeof x === 'number').length
  }, 0)
/** The time of a step whose kernels are bound by operations or by memory. */
const byRates = ({ steps }: Explanation, { flops, bytes }: Rates): number =>
  steps.reduce((t, s) => t + s.times * Math.max(s.flops / flops, s.bytes / bytes), 0)
const LEAST_RUNS = 4

const seenOn = (f: AnyFn, argsOf: () => unknown, size: number, { rates, measure }: Pick<Reading, 'rates' | 'measure'>): Seen => {
  const rank = countedRank(size)
  return within(rank.communicator, () => {
    const args = listOf(argsOf() as readonly unknown[], 'what the second argument returns', 'scaleOf').map((x) => filled(x, 'scaleOf'))
    // Collectives of the arguments are none of a step.
    rank.take()
    const step = compile(f as never) as unknown as {
      (...args: readonly unknown[]): unknown
      readonly explain: (...args: readonly unknown[]) => Explanation
      readonly dispose: () => void
    }
    try {
      const begun = [performance.now(), rank.spent()] as const
      const result = step(...args)
      let took = performance.now() - begun[0] - (rank.spent() - begun[1])
      let counted = rank.take()
      const explanation = step.explain(...args)
      let compute = Number.POSITIVE_INFINITY
      const until = performance.now() + 1000 * measure
      for (let run = 0; rates === undefined && (run < LEAST_RUNS || performance.now() < until); run++) {
        const [since, spent] = [performance.now(), rank.spent()]
        step(...args)
        const ms = performance.now() - since - (rank.spent() - spent)
        const all = rank.take()
        // What runs for the first time is not warm.
        if (run === 0 || ms / 1000 >= compute) continue
        compute = ms / 1000
        ;[counted, took] = [all, ms]
      }
      return {
        compute: rates === undefined ? compute : byRates(explanation, rates),
        counted,
        within: took,
        explanation,
        exchangeBytes: rank.bytes(),
        argumentBytes: bytesOf(args),
        resultBytes: bytesOf(result),
      }
    } finally {
      step.dispose()
    }
  })
}
type Reading = ReturnType<typeof readOptions<typeof scaleOptions>>

const rowOf = (size: number, seen: Seen, placement: Placement): Omit<ScaleRow, 'efficiency'> => {
  let [latency, bandwidth] = [0, 0]
  const collectives = seen.counted.map((c): ScaledCollective => {
    let [seconds, messages, bytesSent] = [0, 0, 0]
    for (const e of exchangedIn(c)) {
      const [a, b] = secondsOf(e, size, placement)
      latency += a
      bandwidth += b
      seconds += a + b
      messages += e.sends
      bytesSent += e.bytesSent
    }
    return { collective: c.what, bytes: c.bytes, messages, bytesSent, seconds }
  })
  const compute = seen.compute * sharing(size, placement)
  const exchange = latency + bandwidth
  const apart = size > placement.ranksPerNode
  const waited = apart
    ? waitedFor(
        seen.counted.map((c, i) => ({
          from: (c.from / seen.within) * compute,
          to: (c.to / seen.within) * compute,
          seconds: collectives[i]!.seconds,
        })),
      )
    : exchange
  const { peakBytes, flops } = seen.explanation
  const { argumentBytes, resultBytes } = seen
  return {
    ranks: size,
    seconds: compute + waited,
    compute,
    exchange,
    waited,
    latency,
    bandwidth,
    bound: compute >= Math.max(latency, bandwidth) ? 'compute' : latency > bandwidth ? 'latency' : 'bandwidth',
    messages: collectives.reduce((n, c) => n + c.messages, 0),
    bytesSent: collectives.reduce((n, c) => n + c.bytesSent, 0),
    memory: peakBytes + seen.exchangeBytes,
    argumentBytes,
    resultBytes,
    flops,
    collectives,
  }
}

/**
 * Predicts the time and the memory of a step on 1 to thousands of ranks, of which none is there: for each number of ranks, f is traced, planned and run here as the last of them.
 *
 * `argsOf` gives the arguments of that rank, as arrays or as specs of their shapes: it is called where `world` is that rank, so `localRows(batch)` is its part of a batch. An exchange takes its messages times the latency plus its
 * bytes by the bandwidth, and where it overlaps, the rank waits for what is left of it where its result is needed; what a rank computes is measured (the least of several runs), with the other ranks taken to hold what this one holds.
 * Errors  BadInput for invalid links and numbers of ranks, and for a compiled function; those of f, such as ShapeMismatch where ranks do not divide an axis.
 * @example scaleOf((x: AnyExpr) => allReduce(x), () => [f32(1000)], { link: links.ethernet10, ranks: [1, 8] }).rows.map((r) => r.bytesSent)   // [0, 29792]
 */
export const scaleOf = <F extends AnyFn>(f: F, argsOf: () => readonly unknown[], options: ScaleOptions): Scale => {
  functionOf(f, 'the first argument', 'scaleOf')
  if (typeof (f as { readonly prepare?: unknown }).prepare === 'function')
    badInput(
      'scaleOf',
      'the first argument is a compiled function, which may have been traced on another number of ranks.',
      'give the function itself.',
    )
  functionOf(argsOf, 'the second argument', 'scaleOf')
  const read = readOptions(scaleOptions, options, 'scaleOf')
  const { ranks, link, inside = link, ranksPerNode, cores, library, scaling, rates } = read
  const placement: Placement = { link, inside, ranksPerNode, cores, library }
  const rows = new Map<number, Omit<ScaleRow, 'efficiency'>>()
  const at = (size: number): Omit<ScaleRow, 'efficiency'> => {
    const row = rows.get(size) ?? rowOf(size, seenOn(f, argsOf, size, read), placement)
    rows.set(size, row)
    return row
  }
  const fewest = at(leastOf(ranks))
  const scale: Scale = {
    name: metaOf(f, 'scaleOf').name,
    link,
    scaling,
    by: rates === undefined ? 'measured' : 'rates',
    rows: ranks.map((n) => ({ ...at(n), efficiency: (fewest.seconds * (scaling === 'strong' ? fewest.ranks / n : 1)) / at(n).seconds })),
  }
  return printedAs(scale, scaleText)
}
