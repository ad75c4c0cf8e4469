/** A picture of draws: for each element the density of each chain, and its draws in their order. */

import { greatestOf } from '../../core/errors/extremes.js'
import { integer, type OptionsOf, readOptions } from '../../core/errors/options.js'
import { namedElements, type Rows } from './diagnostics.js'

const COLOURS = ['#4c78a8', '#f58518', '#54a24b', '#e45756', '#72b7b2', '#b279a2', '#9d755d', '#eeca3b']
/** Where frames begin, how wide and high they are, and how far apart. */
const LEFT = 70
const WIDTH = 250
const GAP = 30
const HEIGHT = 80
const TOP = 24
/** The most points of a line. */
const POINTS = 400

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
const place = (x: number): string => x.toFixed(1)
const line = (points: readonly (readonly [number, number])[], colour: string): string =>
  `<polyline fill="none" stroke="${colour}" stroke-width="1" points="${points.map(([x, y]) => `${place(x)},${place(y)}`).join(' ')}"/>`

/** A density by a normal kernel, of the width of Silverman's rule. */
const densityOf = (x: Float64Array, at: readonly number[]): readonly number[] => {
  const n = x.length
  const mean = x.reduce((s, v) => s + v, 0) / n
  const sd = Math.sqrt(x.reduce((s, v) => s + (v - mean) ** 2, 0) / Math.max(1, n - 1))
  const width = sd === 0 ? 1 : 0.9 * sd * n ** -0.2
  return at.map((t) => x.reduce((s, v) => s + Math.exp(-0.5 * ((t - v) / width) ** 2), 0) / (n * width))
}
const row = (name: string, rows: Rows, top: number): string => {
  const finite = rows.flatMap((r) => Array.from(r)).filter((v) => Number.isFinite(v))
  const low = finite.reduce((a, v) => Math.min(a, v), Number.POSITIVE_INFINITY)
  const high = finite.reduce((a, v) => Math.max(a, v), Number.NEGATIVE_INFINITY)
  const title = `<text x="${LEFT - 8}" y="${top + HEIGHT / 2}" text-anchor="end">${escaped(name)}</text>`
  if (finite.length === 0) return `${title}<text x="${LEFT}" y="${top + HEIGHT / 2}">no finite draws</text>`
  const range = high > low ? high - low : 1
  const frames = [0, 1].map(
    (k) => `<rect x="${LEFT + k * (WIDTH + GAP)}" y="${top}" width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#ddd"/>`,
  )
  const label = (x: number, y: number, v: number, anchor: string) =>
    `<text x="${place(x)}" y="${place(y)}" text-anchor="${anchor}" fill="#888" font-size="9">${escaped(String(Number(v.toPrecision(3))))}</text>`
  const at = Array.from({ length: 80 }, (_, i) => low + (range * i) / 79)
  const densities = rows.map((r) =>
    densityOf(
      r.filter((v) => Number.isFinite(v)),
      at,
    ),
  )
  const most = greatestOf(densities.flat())
  const lines = rows.flatMap((r, c) => {
    const colour = COLOURS[c % COLOURS.length]!
    const every = Math.max(1, Math.ceil(r.length / POINTS))
    const trace = Array.from(r, (v, i) => [i, v] as const).filter(([i, v]) => i % every === 0 && Number.isFinite(v))
    return [
      line(
        densities[c]!.map((d, i) => [LEFT + (WIDTH * i) / 79, top + HEIGHT * (1 - (0.95 * d) / most)] as const),
        colour,
      ),
      line(
        trace.map(
          ([i, v]) => [LEFT + WIDTH + GAP + (WIDTH * i) / Math.max(1, r.length - 1), top + HEIGHT * (1 - (v - low) / range)] as const,
        ),
        colour,
      ),
    ]
  })
  const ends = [label(LEFT, top + HEIGHT + 10, low, 'start'), label(LEFT + WIDTH, top + HEIGHT + 10, low + range, 'end')]
  return [title, ...frames, ...lines, ...ends].join('')
}

export const tracePlotOptions = {
  /** The most elements that are shown: the first 20 unless given. */
  most: integer(20, { from: 1 }),
}
/** Options of `tracePlot`. */
export type TracePlotOptions = OptionsOf<typeof tracePlotOptions>
/**
 * A picture of draws as the text of an SVG: for each element, the density of each chain on the left, and its draws in their order on the right.
 *
 * `draws` is a tree of [chains, draws, ...], as samplers return. Chains that agree lie on each other and look like noise.
 * Errors  ShapeMismatch for a leaf of fewer than two axes.
 * @example tracePlot({ mu: [[1, 2, 3, 4], [2, 1, 4, 3]] }).startsWith('<svg')   // true
 */
export const tracePlot = (draws: unknown, options?: TracePlotOptions): string => {
  const op = 'tracePlot'
  const { most } = readOptions(tracePlotOptions, options, op)
  const shown = namedElements(draws, op).slice(0, most)
  const height = TOP + shown.length * (HEIGHT + 26)
  const width = LEFT + 2 * WIDTH + GAP + 12
  const rows = shown.map(([name, r], i) => row(name, r, TOP + i * (HEIGHT + 26)))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>${rows.join('')}</svg>`
}
