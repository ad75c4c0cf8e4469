// The benchmark's table for people. A ratio below 1 says that the first peer is the faster one.
import type { Outcome, Row } from './harness.js'
import { ratioOf } from './measure.js'

const milliseconds = (ms: number): string =>
  ms < 0.001
    ? `${(ms * 1e6).toFixed(0)} ns`
    : ms < 1
      ? `${(ms * 1e3).toPrecision(3)} us`
      : ms < 1000
        ? `${ms.toPrecision(3)} ms`
        : `${(ms / 1000).toPrecision(3)} s`

const bytes = (n: number): string =>
  n < 1024 ? `${n} B` : n < 1024 ** 2 ? `${(n / 1024).toPrecision(3)} KiB` : `${(n / 1024 ** 2).toPrecision(3)} MiB`

const shown = <A>(x: A | undefined, show: (x: A) => string): string => (x === undefined ? '-' : show(x))

const timeCell = (outcome: Outcome): string => {
  switch (outcome.kind) {
    case 'timed':
      return `${milliseconds(outcome.times.median)} (${milliseconds(outcome.times.min)})`
    case 'wrong':
      return `WRONG ${outcome.worst.toExponential(1)}`
    case 'failed':
      return 'FAILED'
    case 'absent':
      return '-'
  }
}

interface Column {
  readonly title: string
  readonly width: number
  readonly cell: (row: Row) => string
}

/** The first peer's columns, with its facts, and then each other's time and the ratio to it. */
const columnsOf = (peers: readonly string[]): readonly Column[] => {
  const [first = '', ...others] = peers
  const own =
    <A>(pick: (outcome: Extract<Outcome, { kind: 'timed' }>) => A | undefined, show: (x: A) => string) =>
    (row: Row): string => {
      const outcome = row.outcomes[first]
      return outcome?.kind === 'timed' ? shown(pick(outcome), show) : '-'
    }
  return [
    { title: 'row', width: 9, cell: (row) => row.name },
    { title: 'dtype', width: 5, cell: (row) => row.dtype },
    { title: first, width: 19, cell: (row) => shown(row.outcomes[first], timeCell) },
    {
      title: 'grad/primal',
      width: 11,
      cell: own(
        (o) => (o.primal === undefined ? undefined : ratioOf(o.times, o.primal)),
        (x) => x.toFixed(2),
      ),
    },
    { title: 'kernels', width: 7, cell: own((o) => o.facts?.kernels, String) },
    { title: 'bytes', width: 8, cell: own((o) => o.facts?.bytes, bytes) },
    { title: 'peak', width: 8, cell: own((o) => o.facts?.peakBytes, bytes) },
    { title: 'plan', width: 8, cell: own((o) => o.facts?.planMs, milliseconds) },
    { title: 'cold', width: 8, cell: own((o) => o.coldMs, milliseconds) },
    ...others.flatMap((name): Column[] => [
      { title: name, width: 19, cell: (row) => shown(row.outcomes[name], timeCell) },
      { title: 'ratio', width: 6, cell: (row) => shown(row.ratios[name], (x) => x.toPrecision(3)) },
    ]),
  ]
}

const line = (columns: readonly Column[], cells: readonly string[]): string =>
  columns.map(({ width }, i) => (i === 0 ? cells[i]!.padEnd(width) : cells[i]!.padStart(width))).join('  ')

export const header = (peers: readonly string[]): string => {
  const columns = columnsOf(peers)
  return line(
    columns,
    columns.map(({ title }) => title),
  )
}

export const rowLine = (peers: readonly string[], row: Row): string => {
  const columns = columnsOf(peers)
  return line(
    columns,
    columns.map(({ cell }) => cell(row)),
  )
}

/** What the cells leave out: why a peer is wrong, failed or absent, and what it does differently. */
export const remarks = (rows: readonly Row[]): readonly string[] =>
  rows.flatMap((row) =>
    Object.entries(row.outcomes).flatMap(([name, outcome]) => {
      const said =
        outcome.kind === 'wrong' ? [`wrong: ${outcome.failures[0]}`] : outcome.kind === 'failed' ? [`failed: ${outcome.message}`] : []
      return [...said, ...(outcome.note === undefined ? [] : [outcome.note])].map((text) => `${row.name} ${name}: ${text}`)
    }),
  )
