/** `.plot`: numbers as lines in the terminal. */
import plot, { type MultiLine, type Point } from 'simple-ascii-chart'
import { isExpr, type Tensor } from '../../src/index.js'
import { fail } from '../failure.js'
import type { Any } from '../function.js'

/** Points along the axis of a function that is plotted. */
const POINTS = 121

/** An array, a tensor or a list, as nested lists of numbers. */
const listOf = (x: unknown, evaluate: (x: unknown) => unknown): unknown => {
  if (ArrayBuffer.isView(x)) return Array.from(x as unknown as ArrayLike<number>)
  return isExpr(x) ? (evaluate(x) as Tensor).toArray() : x
}
const isNumbers = (x: unknown): x is readonly number[] => Array.isArray(x) && x.every((v) => typeof v === 'number')
const number = (x: unknown, evaluate: (x: unknown) => unknown): number => {
  const v = listOf(x, evaluate)
  const [only] = Array.isArray(v) && v.length === 1 ? v : [v]
  return typeof only === 'number' ? only : fail(`.plot: the function gives ${JSON.stringify(v)?.slice(0, 40)}, and no number.`)
}
const finite = (line: Point[]): Point[] => line.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))

/** The lines of `.plot ys`, `.plot xs, ys` and `.plot f, from, to`. */
export const linesOf = (given: readonly unknown[], evaluate: (x: unknown) => unknown): MultiLine => {
  const [first, ...more] = given
  if (typeof first === 'function') {
    const [from, to] = [more[0] ?? -3, more[1] ?? 3]
    if (typeof from !== 'number' || typeof to !== 'number' || !(from < to))
      return fail('.plot f, from, to takes two numbers, the smaller one first.')
    const xs = Array.from({ length: POINTS }, (_, i) => from + ((to - from) * i) / (POINTS - 1))
    return [xs.map((x): Point => [x, number((first as Any)(x), evaluate)])]
  }
  const lists = given.map((x) => listOf(x, evaluate))
  const ys = lists.at(-1)
  const xs = lists.length > 1 ? lists[0] : undefined
  const rows: unknown = isNumbers(ys) ? [ys] : ys
  if (!Array.isArray(rows) || !rows.every(isNumbers) || (xs !== undefined && !isNumbers(xs)) || lists.length > 2)
    return fail('.plot takes numbers: .plot ys; .plot xs, ys; .plot f, from, to.', 'ys is a list, or one list for each line.')
  return rows.map((row: readonly number[]) => row.map((y, i): Point => [(xs as readonly number[] | undefined)?.[i] ?? i, y]))
}

/** Round numbers over a range, about so many. */
const ticks = (low: number, high: number, most: number): number[] => {
  const rough = (high - low) / most || 1
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10)
  const from = Math.ceil(low / step)
  return Array.from({ length: Math.floor(high / step) - from + 1 }, (_, i) => (from + i) * step)
}
const rangeOf = (values: readonly number[]): readonly [low: number, high: number] => [
  values.reduce((a, b) => Math.min(a, b)),
  values.reduce((a, b) => Math.max(a, b)),
]

/** A line between few points, as points on it: the plot has steps between those that it is given. */
const filled = (line: Point[]): Point[] =>
  line.flatMap(([x, y], i): Point[] => {
    const next = line[i + 1]
    const parts = next === undefined ? 1 : Math.max(1, Math.ceil(POINTS / line.length))
    return Array.from(
      { length: parts },
      (_, k): Point => [x + ((next?.[0] ?? x) - x) * (k / parts), y + ((next?.[1] ?? y) - y) * (k / parts)],
    )
  })

const short = (x: number): string => (Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(3))))

/** A plot of at most this width. */
export const plotText = (given: readonly unknown[], evaluate: (x: unknown) => unknown, width: number, colours: boolean): string => {
  const lines = linesOf(given, evaluate).map(finite)
  if (lines.every((line) => line.length === 0)) return fail('.plot: none of the numbers is finite.')
  const [down, up] = [lines.flat().map(([x]) => x), lines.flat().map(([, y]) => y)].map(rangeOf)
  const heights = ticks(...up!, 8)
  const wide = Math.max(...[...heights, ...up!].map((y) => short(y).length))
  const colour = ['ansiCyan', 'ansiYellow', 'ansiGreen', 'ansiMagenta', 'ansiRed', 'ansiBlue'] as const
  return plot(lines.map(filled), {
    width: Math.max(20, Math.min(width - 14, 100)),
    height: 16,
    customXAxisTicks: ticks(...down!, 6),
    customYAxisTicks: heights,
    formatter: (x, { axis }) => (axis === 'y' ? short(x).padStart(wide) : short(x)),
    ...(colours && { color: lines.map((_, i) => colour[i % colour.length]!) }),
  })
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n')
}
