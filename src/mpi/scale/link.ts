/** What a message costs, alpha + beta bytes, and what an exchange between many ranks costs by that. */
import { numberOf } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { choice, integer, type Needed, needed, number, type OptionsOf, readOptions } from '../../core/errors/options.js'
import type { Counted, Exchanged } from './counted.js'

/** A number that must be given. */
const figure = (fits: (x: number) => boolean, fix: string): Needed<number> =>
  needed((given, what, where) => {
    const x = numberOf(given as number, what, where)
    return fits(x) ? x : badInput(where, `${what} is ${x}.`, fix)
  })
/** One above 0. */
export const rate = (unit: string): Needed<number> => figure((x) => x > 0, `give a number of ${unit} a second, above 0.`)
export const linkOptions = {
  /** Seconds that a message takes however short it is. */
  latency: figure((x) => x >= 0 && Number.isFinite(x), 'give a number of seconds from 0.'),
  /** Bytes that go through in a second, each way. */
  bandwidth: rate('bytes'),
  /** How far a measured time is from these two at most, by it: `measureLink` says so. */
  worst: number(undefined, { from: 0 }),
}
/** A link between ranks: a message of b bytes takes `latency + b / bandwidth` seconds. */
export interface Link extends OptionsOf<typeof linkOptions> {}

/** The options of a link, as one of others. */
export const linkOf = (given: unknown, what: string, where: string): Link => readOptions(linkOptions, given, `${where}: ${what}`)

/**
 * Links with round figures. The bandwidths are the line rates of the standards (IEEE 802.3, InfiniBand EDR), which no program quite reaches; the latencies say of which order they are:
 * of TCP through the system, and of a network card that a program talks to itself. Where you have the ranks, `measureLink` has your own figures.
 *
 * @example links.ethernet10   // { latency: 30e-6, bandwidth: 1.25e9 }
 */
export const links = {
  ethernet10: { latency: 30e-6, bandwidth: 1.25e9 },
  infiniband100: { latency: 1.5e-6, bandwidth: 12.5e9 },
} as const satisfies Readonly<Record<string, Link>>

export const placementOptions = {
  /** How many ranks a machine has: 1 unless given. They share its link to the others. */
  ranksPerNode: integer(1, { from: 1 }),
  /** How many cores these have: one each unless given. What they do at the same time takes longer if there are fewer. */
  cores: integer(undefined, { from: 1 }),
  /** The library by whose algorithms ranks exchange data. */
  library: choice(['Open MPI', 'MPICH'], 'Open MPI'),
}
/** Where the ranks are, and what carries their data. */
export interface Placement extends Readonly<{ ranksPerNode: number; cores: number | undefined; library: 'Open MPI' | 'MPICH' }> {
  readonly link: Link
  readonly inside: Link
}

/** Messages and bytes of one rank that go one after the other, over the link inside of a machine and over that between machines. */
export interface Load {
  readonly inside: readonly [messages: number, bytes: number]
  readonly outside: readonly [messages: number, bytes: number]
}
const doublings = (n: number): number => Math.ceil(Math.log2(n))
/** MPICH's MPIR_CVAR_ALLGATHER_SHORT_MSG_SIZE: shorter ones, of all ranks together, go by recursive doubling or Bruck's algorithm, longer ones in a ring. */
const SHORT = 81_920

/**
 * What an exchange asks of the links. Every rank sends its part to each other one by itself (Open MPI's collectives that do not block, and MPICH's MPI_Ialltoallv): n - 1 messages.
 * MPICH gathers short parts in log2 n rounds, and both broadcast along a tree. Bytes are the same in all of them, but for a broadcast, which sends all of them in each round.
 */
export const loadOf = (e: Exchanged, size: number, { ranksPerNode, library }: Pick<Placement, 'ranksPerNode' | 'library'>): Load => {
  const near = Math.min(ranksPerNode, size)
  const messages = Math.max(e.sends, e.receives)
  const bytes = Math.max(e.bytesSent, e.bytesReceived)
  const [nearRounds, allRounds] = [doublings(near), doublings(size)]
  if (e.call === 'MPI_Ibcast') {
    const whole = e.sends > 0 ? e.bytesSent / e.sends : e.bytesReceived
    return { inside: [nearRounds, nearRounds * whole], outside: [allRounds - nearRounds, (allRounds - nearRounds) * whole] }
  }
  if (e.call === 'MPI_Isend')
    return near === size ? { inside: [messages, bytes], outside: [0, 0] } : { inside: [0, 0], outside: [messages, bytes] }
  const share = size === 1 ? 0 : (near - 1) / (size - 1)
  const gathers = e.call === 'roll call' || e.call === 'MPI_Iallgather' || e.call === 'MPI_Iallgatherv'
  const rounds =
    library === 'MPICH' && gathers && bytes < SHORT ? [nearRounds, allRounds - nearRounds] : [messages * share, messages * (1 - share)]
  return { inside: [rounds[0]!, bytes * share], outside: [rounds[1]!, bytes * (1 - share)] }
}

/** How many ranks share a core. */
export const sharing = (size: number, { ranksPerNode, cores }: Pick<Placement, 'ranksPerNode' | 'cores'>): number => {
  const near = Math.min(ranksPerNode, size)
  return Math.max(1, near / (cores ?? near))
}
/** Seconds of an exchange: of its messages, and of its bytes. Ranks of one machine share its link, and where they share cores they carry their data one after the other. */
export const secondsOf = (e: Exchanged, size: number, placement: Placement): readonly [latency: number, bandwidth: number] => {
  const { link, inside } = placement
  const load = loadOf(e, size, placement)
  const near = Math.min(placement.ranksPerNode, size)
  const shared = sharing(size, placement)
  return [
    shared * load.inside[0] * inside.latency + load.outside[0] * link.latency,
    (shared * load.inside[1]) / inside.bandwidth + (near * load.outside[1]) / link.bandwidth,
  ]
}
/** What a collective exchanges: a message that another rank sends is one of this rank too. */
export const exchangedIn = ({ collective, exchanged, bytes }: Counted): readonly Exchanged[] => {
  const moves = collective !== 'barrier' && collective.name === 'sendRecv' && collective.to.some((to, from) => to >= 0 && to !== from)
  if (!moves || bytes === 0 || exchanged.some((e) => e.call === 'MPI_Isend')) return exchanged
  return [...exchanged, { call: 'MPI_Isend', sends: 0, bytesSent: 0, receives: 1, bytesReceived: bytes }]
}
/** How long a rank waits that computes up to `to` while an exchange goes on which began at `from`; exchanges are carried one after the other. */
export const waitedFor = (all: readonly { readonly from: number; readonly to: number; readonly seconds: number }[]): number => {
  const done = new Float64Array(all.length)
  const ends = all.map((_, i) => i).sort((a, b) => all[a]!.to - all[b]!.to || a - b)
  let [waited, free, next] = [0, 0, 0]
  for (const i of ends) {
    for (; next < all.length && (next <= i || all[next]!.from <= all[i]!.to); next++) {
      free = Math.max(free, all[next]!.from + waited) + all[next]!.seconds
      done[next] = free
    }
    waited = Math.max(waited, done[i]! - all[i]!.to)
  }
  return waited
}
