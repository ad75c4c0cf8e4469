// The table. A ratio is a peer's time over codual's: above 1 codual is the faster one.
import { median } from '../measure.js'
import type { Outcome, Row } from './page.js'

const peers = ['codual', 'tfjs-webgpu', 'jax-js'] as const
const [own, ...others] = peers

const milliseconds = (ms: number): string => (ms < 10 ? ms.toFixed(2) : ms < 100 ? ms.toFixed(1) : ms.toFixed(0))

const cell = (o: Outcome | undefined): string =>
  o === undefined ? '-' : o.kind === 'timed' ? milliseconds(median(o.rounds)) : o.kind === 'wrong' ? 'WRONG' : 'FAILED'

/** The median over the rounds of the peer's time over codual's in the same round. */
const ratio = (row: Row, peer: string): number | undefined => {
  const [a, b] = [row[own], row[peer]]
  return a?.kind === 'timed' && b?.kind === 'timed' ? median(a.rounds.map((ms, r) => b.rounds[r]! / ms)) : undefined
}
const shown = (x: number | undefined): string => (x === undefined ? '-' : x.toFixed(2))

const widths = [6, 10, 10, ...others.flatMap(() => [12, 8])]
const joined = (cells: readonly string[]): string => cells.map((c, i) => (i === 0 ? c.padEnd(widths[i]!) : c.padStart(widths[i]!))).join('')

export const header = joined(['row', `${own} ms`, 'cold', ...others.flatMap((name) => [name, 'ratio'])])

export const line = (id: string, row: Row): string => {
  const mine = row[own]
  return joined([
    id,
    cell(mine),
    mine?.kind === 'timed' ? milliseconds(mine.coldMs) : '-',
    ...others.flatMap((name) => [cell(row[name]), shown(ratio(row, name))]),
  ])
}

const geometric = (xs: readonly number[]): number => Math.exp(xs.reduce((s, x) => s + Math.log(x), 0) / xs.length)

/** Geometric means of the ratios: to each peer, and to the better one of each row. */
export const summary = (rows: Readonly<Record<string, Row>>): readonly string[] => {
  const known = (xs: readonly (number | undefined)[]): number[] => xs.filter((x) => x !== undefined)
  const of = (name: string): number[] => known(Object.values(rows).map((row) => ratio(row, name)))
  const best = Object.values(rows).flatMap((row) => {
    const ratios = known(others.map((name) => ratio(row, name)))
    return ratios.length === 0 ? [] : [Math.min(...ratios)]
  })
  return [...others.map((name) => [name, of(name)] as const), ['the better of them', best] as const].flatMap(([name, xs]) =>
    xs.length === 0
      ? []
      : [`${name}: geometric mean ${geometric(xs).toFixed(2)}, least ${Math.min(...xs).toFixed(2)}, over ${xs.length} rows`],
  )
}

/** Why a peer has no time in a row. */
export const remarks = (rows: Readonly<Record<string, Row>>): readonly string[] =>
  Object.entries(rows).flatMap(([id, row]) =>
    Object.entries(row).flatMap(([name, o]) =>
      o.kind === 'timed' ? [] : [`${id} ${name}: ${o.kind === 'wrong' ? `wrong: ${o.failure}` : `failed: ${o.message.split('\n')[0]}`}`],
    ),
  )
