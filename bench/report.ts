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

/** median: of the ratios in each round. least: of the shortest samples, which the load of others hardly changes. */
export type By = 'median' | 'least'

const ratioBy = (by: By, row: Row, first: string, name: string): number | undefined => {
  const [a, b] = [row.outcomes[first], row.outcomes[name]]
  if (a?.kind !== 'timed' || b?.kind !== 'timed') return undefined
  return by === 'median' ? row.ratios[name] : a.times.min / b.times.min
}

/** The ratios alone as a Markdown table: the first peer's time over each other's, in rows of one run. */
export const ratioTable = (peers: readonly string[], rows: readonly Row[], by: By): string => {
  const [first = '', ...others] = peers
  const cell = (row: Row, name: string): string => shown(ratioBy(by, row, first, name), (x) => (x < 10 ? x.toPrecision(2) : x.toFixed(0)))
  const markdown = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    markdown(['', 'work', ...others]),
    `|${'---|'.repeat(others.length + 2)}`,
    ...rows.map((row) => markdown([row.name, `${row.doc}, ${row.dtype}`, ...others.map((name) => cell(row, name))])),
  ].join('\n')
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
