/** Numbers over their index as curves in SVG. */
import { greatestOf, leastOf } from '../core/errors/extremes.js'
import { element, type Markup } from './html.js'
import { number } from './numbers.js'

/** Curves by name: the numbers of each, in order. */
export type Series = Readonly<Record<string, ArrayLike<number>>>

const WIDTH = 560
const HEIGHT = 240
const LEFT = 64
const RIGHT = 12
const TOP = 10
const BOTTOM = 26
const COLOURS = ['#3b78c7', '#d8782c', '#3f9b5b', '#b8473f', '#8261b5', '#7d6a5d', '#c65f9e', '#808080'] as const
/** Longer curves are drawn by the least and the greatest of each of so many pieces. */
const PIECES = 400

/** Places of round numbers between two: 1, 2 or 5 times a power of ten apart. */
const ticks = (low: number, high: number): readonly number[] => {
  const raw = (high - low) / 4
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw)!
  const first = Math.ceil(low / step - 1e-9)
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  )
}
const powers = (low: number, high: number): readonly number[] => {
  const [a, b] = [Math.ceil(low - 1e-9), Math.floor(high + 1e-9)]
  const every = Math.max(1, Math.ceil((b - a + 1) / 6))
  return Array.from({ length: Math.max(0, Math.floor((b - a) / every) + 1) }, (_, i) => a + i * every)
}

/** [index, number] of what is drawn; NaN and infinities end a piece of the curve. */
const pointsOf = (ys: ArrayLike<number>): readonly (readonly [number, number])[] => {
  if (ys.length <= 2 * PIECES) return Array.from(ys, (y, i) => [i, y] as const)
  const points: (readonly [number, number])[] = []
  for (let k = 0; k < PIECES; k++) {
    const [from, to] = [Math.floor((k * ys.length) / PIECES), Math.floor(((k + 1) * ys.length) / PIECES)]
    let [least, greatest, none] = [-1, -1, -1]
    for (let i = from; i < to; i++) {
      if (!Number.isFinite(ys[i]!)) none = i
      else {
        if (least < 0 || ys[i]! < ys[least]!) least = i
        if (greatest < 0 || ys[i]! > ys[greatest]!) greatest = i
      }
    }
    for (const i of [...new Set([least, greatest, none])].filter((j) => j >= 0).sort((a, b) => a - b)) points.push([i, ys[i]!])
  }
  return points
}

/** `log` draws powers of ten evenly; what is not above zero is left out then. */
export const plotSVG = (series: Series, log: boolean): Markup => {
  const scaled = (y: number): number => (log ? (y > 0 ? Math.log10(y) : Number.NaN) : y)
  const curves = Object.entries(series).map(([name, ys]) => ({ name, points: pointsOf(ys).map(([i, y]) => [i, scaled(y)] as const) }))
  const finite = curves.flatMap((c) => c.points.map(([, y]) => y).filter(Number.isFinite))
  const [least, greatest] = finite.length === 0 ? [0, 1] : [leastOf(finite), greatestOf(finite)]
  const room = greatest > least ? 0.04 * (greatest - least) : Math.max(1e-12, Math.abs(least)) * 0.5 || 0.5
  const [low, high] = [least - room, greatest + room]
  const last = greatestOf(
    Object.values(series).map((ys) => ys.length - 1),
    1,
  )
  const x = (i: number): string => (LEFT + ((WIDTH - LEFT - RIGHT) * i) / last).toFixed(1)
  const y = (v: number): string => (HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (v - low)) / (high - low)).toFixed(1)
  const line = (attributes: Readonly<Record<string, string | number>>): Markup =>
    element('line', { stroke: 'currentColor', 'stroke-opacity': 0.2, ...attributes })
  const marks = log && high - low > 1 ? powers(low, high) : ticks(low, high)
  const rows = marks.flatMap((v) => [
    line({ x1: LEFT, x2: WIDTH - RIGHT, y1: y(v), y2: y(v) }),
    element('text', { x: LEFT - 6, y: Number(y(v)) + 4, 'text-anchor': 'end' }, number(log ? 10 ** v : v)),
  ])
  const columns = ticks(0, last)
    .filter(Number.isInteger)
    .map((i) => element('text', { x: x(i), y: HEIGHT - 8, 'text-anchor': 'middle' }, number(i)))
  const drawn = curves.flatMap(({ points }, k) => {
    const colour = COLOURS[k % COLOURS.length]!
    let pen = 'M'
    let d = ''
    for (const [i, v] of points) {
      if (Number.isFinite(v)) d += `${pen}${x(i)},${y(v)}`
      pen = Number.isFinite(v) ? 'L' : 'M'
    }
    const alone = points.length === 1 && Number.isFinite(points[0]![1])
    return [
      element('path', { d, fill: 'none', stroke: colour, 'stroke-width': 1.6 }),
      ...(alone ? [element('circle', { cx: x(points[0]![0]), cy: y(points[0]![1]), r: 3, fill: colour })] : []),
    ]
  })
  const legend = curves.map(({ name }, k) =>
    element(
      'text',
      { x: LEFT + 10, y: TOP + 14 * (k + 1), fill: COLOURS[k % COLOURS.length]! },
      name.length > 40 ? `${name.slice(0, 39)}\u2026` : name,
    ),
  )
  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      width: WIDTH,
      height: HEIGHT,
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': `a plot of ${curves.map((c) => c.name).join(', ')}`,
      'font-family': 'system-ui, sans-serif',
      'font-size': 11,
      fill: 'currentColor',
    },
    ...rows,
    line({ x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM, 'stroke-opacity': 0.6 }),
    ...columns,
    ...drawn,
    ...legend,
  )
}
