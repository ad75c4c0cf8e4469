/** What `scaleOf` predicts, as text. */

import { greatestOf } from '../../core/errors/extremes.js'
import { grouped, tableOf } from '../../core/errors/print.js'
import type { Scale, ScaledCollective } from './scale.js'

const UNITS: readonly (readonly [from: number, unit: string])[] = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'us'],
]
/** 1.25 ms. */
const time = (seconds: number): string => {
  if (seconds === 0) return '0'
  const [from, unit] = UNITS.find(([least]) => seconds >= least) ?? [1e-9, 'ns']
  return `${Number((seconds / from).toPrecision(3))} ${unit}`
}
const right = (texts: readonly string[]): readonly string[] => {
  const width = greatestOf(texts.map((t) => t.length))
  return texts.map((t) => t.padStart(width))
}
/** Collectives in order, equal ones in one line. */
const together = (all: readonly ScaledCollective[]): readonly string[] => {
  const groups = new Map<string, { readonly of: ScaledCollective; readonly times: number }>()
  for (const of of all) groups.set(of.collective, { of, times: (groups.get(of.collective)?.times ?? 0) + 1 })
  return [...groups.values()].map(
    ({ of, times }) =>
      `  ${of.collective}${times > 1 ? `, ${grouped(times)} times` : ''}: ${grouped(of.messages)} messages, ${grouped(of.bytesSent)} bytes sent, ${time(of.seconds)}`,
  )
}
export const scaleText = ({ name, link, scaling, by, rows }: Scale): string => {
  const timesOf = (of: (r: Scale['rows'][number]) => number): readonly string[] => right(rows.map((r) => time(of(r))))
  const [step, compute, latency, bandwidth] = [
    timesOf((r) => r.seconds),
    timesOf((r) => r.compute),
    timesOf((r) => r.latency),
    timesOf((r) => r.bandwidth),
  ]
  const table = tableOf(
    ['ranks', 'step', 'compute', 'latency', 'bandwidth', 'efficiency', 'bound by', 'messages', 'bytes sent', 'memory'],
    rows.map((r, i) => [
      r.ranks,
      step[i]!,
      compute[i]!,
      latency[i]!,
      bandwidth[i]!,
      `${Math.round(100 * r.efficiency)}%`.padStart(4),
      r.bound,
      r.messages,
      r.bytesSent,
      r.memory,
    ]),
  )
  const last = rows.reduce((a, b) => (b.ranks > a.ranks ? b : a))
  const exchanges =
    last.ranks === 1
      ? []
      : last.collectives.length === 0
        ? ['no collectives: every rank computes by itself.']
        : [`collectives of a step on ${grouped(last.ranks)} ranks:`, ...together(last.collectives)]
  return [
    `${name}: ${scaling} scaling, compute ${by === 'measured' ? 'as measured here' : 'by rates'}, a link of ${time(link.latency)} and ${grouped(link.bandwidth)} bytes a second.`,
    ...table.map((line) => `  ${line}`),
    ...exchanges,
  ].join('\n')
}
