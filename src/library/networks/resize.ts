/** `resize`: the conventions of PyTorch, ONNX and TensorFlow, as which positions of x each result is made of and with which weights. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { greatestOf } from '../../core/errors/extremes.js'
import { choice, flag, type Kind, kind, maybe, number, type OptionsOf, type ReadOf, raw } from '../../core/errors/options.js'
import { add, mul, where } from '../../core/ops/arithmetic.js'
import { table } from '../../core/ops/arrays.js'
import { floats, operation } from '../../core/ops/operation.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { ResizeFn } from '../../core/types/signatures/windows.js'
import { overPositions, positionsOf, taken } from './positions.js'

const METHODS = ['nearest', 'nearest-exact', 'linear', 'cubic'] as const
type Method = (typeof METHODS)[number]
const method: Kind<Method> = kind((given = 'linear', _what, where) =>
  METHODS.includes(given as Method)
    ? (given as Method)
    : badInput(
        where,
        `the method is ${shown(given)}.`,
        `give ${METHODS.map((m) => `'${m}'`).join(', ')}; they are the same for every number of axes ('bilinear' is 'linear', 'bicubic' is 'cubic').`,
      ),
)

/** An axis of n positions with m results; each stands for over / under positions, and they read from `from` to `to`, in parts of the first position to the last. */
interface Grid {
  readonly n: number
  readonly m: number
  readonly over: number
  readonly under: number
  readonly from: number
  readonly to: number
}
/** Where result i lies among the positions. Products come before quotients: one that lies on a position is there to the bit. */
type Place = (i: number, grid: Grid) => number
const halfPixel: Place = (i, { over, under }) => ((i + 0.5) * over) / under - 0.5
const places = {
  halfPixel,
  halfPixelSymmetric: (i, g) => halfPixel(i, g) + (g.n - (g.m * g.over) / g.under) / 2,
  pytorchHalfPixel: (i, g) => (g.m === 1 ? 0 : halfPixel(i, g)),
  tfHalfPixelForNn: (i, { over, under }) => ((i + 0.5) * over) / under,
  asymmetric: (i, { over, under }) => (i * over) / under,
  alignCorners: (i, { n, m }) => (m === 1 ? 0 : (i * (n - 1)) / (m - 1)),
  tfCropAndResize: (i, { n, m, from, to }) =>
    m === 1 ? ((from + to) / 2) * (n - 1) : from * (n - 1) + (i * (to - from) * (n - 1)) / (m - 1),
} satisfies Readonly<Record<string, Place>>
type Coordinates = keyof typeof places
const roundings = {
  floor: Math.floor,
  ceil: Math.ceil,
  roundPreferFloor: (x: number) => Math.ceil(x - 0.5),
  roundPreferCeil: (x: number) => Math.floor(x + 0.5),
}
const declared = {
  /** How a result is interpolated from its neighbours: 'linear' unless given. */
  method,
  /** The first and last positions of both grids lie on each other; else their outer edges do. */
  alignCorners: flag(),
  /** When x is made smaller, each result is a mean over more positions, so that no detail is lost. */
  antialias: flag(),
  /** Where results lie among the positions, by ONNX's names; 'halfPixel' unless given, 'asymmetric' for 'nearest'. */
  coordinates: choice(Object.keys(places) as readonly Coordinates[]),
  /** Which position is the nearest, for method 'nearest'; 'floor' unless given. */
  rounding: choice(Object.keys(roundings) as readonly (keyof typeof roundings)[]),
  /** Keys' coefficient a for method 'cubic': -0.75 unless given, -0.5 with antialias. */
  cubic: number(),
  /** Weights of what is inside x alone, with sum 1; else the first and last positions stand for what is outside. With antialias it is so unless given. */
  excludeOutside: maybe,
  /** Results for each position, where it is not the quotient of the sizes: a number, or one for each axis. */
  scale: raw<number | readonly number[]>(),
  /** The part of x that 'tfCropAndResize' reads, for each axis from 0, the first position, to 1, the last. */
  region: raw<readonly (readonly [number, number])[]>(),
  /** The value outside x for 'tfCropAndResize'; 0 unless given. */
  extrapolation: number(0),
}
/** Options of `resize`. */
interface ResizeOptions extends OptionsOf<typeof declared> {}
type Read = ReadOf<typeof declared>

/** Keys' cubic kernel at a distance from 0. */
const cubicAt = (distance: number, a: number): number => {
  const d = Math.abs(distance)
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0
}
type Taps = readonly (readonly [position: number, weight: number])[]
/** How the results along one axis are made. */
interface Axis {
  readonly taps: readonly Taps[]
  /** Which results lie outside x, where such are filled. */
  readonly outside: readonly boolean[]
}
/** What is the same for all results along an axis of n positions. */
const axisOf = (o: Read, n: number, m: number, at: number): Axis => {
  const exact = o.method === 'nearest-exact'
  const coordinates = o.alignCorners ? 'alignCorners' : (o.coordinates ?? (o.method === 'nearest' ? 'asymmetric' : 'halfPixel'))
  const rounding = roundings[exact ? 'roundPreferCeil' : (o.rounding ?? 'floor')]
  const scale = (Array.isArray(o.scale) ? o.scale[at] : o.scale) as number | undefined
  const [over, under] = scale === undefined ? [n, m] : [1, scale]
  const [from, to] = o.region?.[at] ?? [0, 1]
  const list = Array.from({ length: m }, (_, i) => places[coordinates](i, { n, m, over, under, from, to }))
  const inside = (k: number): number => Math.max(0, Math.min(n - 1, k))
  const outside = list.map((x) => coordinates === 'tfCropAndResize' && (x < 0 || x > n - 1))
  if (o.method === 'nearest' || exact) return { taps: list.map((x) => [[inside(rounding(x)), 1] as const]), outside }
  const width = o.antialias ? Math.max(1, over / under) : 1
  const a = o.cubic ?? (o.antialias ? -0.5 : -0.75)
  const without = o.excludeOutside ?? o.antialias
  const linear = o.method === 'linear'
  const weight = (d: number): number => (linear ? Math.max(0, 1 - Math.abs(d)) : cubicAt(d, a))
  const taps = list.map((x): Taps => {
    const reach = (linear ? 1 : 2) * width
    const [first, last] = [Math.floor(x - reach) + 1, Math.ceil(x + reach) - 1]
    const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => [first + k, weight((first + k - x) / width)] as const)
    const kept = without ? all.filter(([k]) => k >= 0 && k < n) : all
    const total = without || width > 1 ? kept.reduce((s, [, w]) => s + w, 0) : 1
    return kept.length === 0 || total === 0 ? [[inside(Math.round(x)), 1]] : kept.map(([k, w]) => [inside(k), w / total] as const)
  })
  return { taps, outside }
}
/** Taps of one number for all results: those that are missing have weight 0. */
const evenTaps = (taps: readonly Taps[]): readonly Taps[] => {
  const longest = greatestOf(taps.map((t) => t.length))
  return taps.map((t) => Array.from({ length: longest }, (_, k) => t[k] ?? ([t[0]![0], 0] as const)))
}

/** Options that go together, and what is given for each axis as a list of that length. */
const checked = (o: Read, axes: number, op: string): void => {
  const nearest = o.method.startsWith('nearest')
  if (o.antialias && (o.alignCorners || o.coordinates === 'alignCorners' || nearest))
    badInput(op, 'antialias is for linear and cubic methods, without alignCorners.')
  if (o.alignCorners && o.coordinates !== undefined && o.coordinates !== 'alignCorners')
    badInput(op, `alignCorners and coordinates '${o.coordinates}' give a result two positions.`, 'give one of them.')
  if (o.method === 'nearest-exact' && (o.alignCorners || o.coordinates !== undefined || o.rounding !== undefined))
    badInput(op, "'nearest-exact' has its own coordinates and rounding.", "give method 'nearest'.")
  if (!nearest && o.rounding !== undefined) badInput(op, `the method '${o.method}' does not round.`, "give method 'nearest'.")
  if (o.method !== 'cubic' && o.cubic !== undefined) badInput(op, `the method '${o.method}' has no coefficient.`, "give method 'cubic'.")
  if (nearest && o.excludeOutside === true) badInput(op, 'nearest positions are inside.', 'leave excludeOutside out.')
  const scales: readonly unknown[] = Array.isArray(o.scale) ? o.scale : o.scale === undefined ? [] : new Array<unknown>(axes).fill(o.scale)
  if (o.scale !== undefined && (scales.length !== axes || !scales.every((s) => Number.isFinite(s) && (s as number) >= 2 ** -16)))
    badInput(op, `scale is ${shown(o.scale)}.`, `give a number from 2 ** -16 up, or ${axes} of them: results for each position.`)
  const region: unknown = o.region
  const isRange = (r: unknown): boolean =>
    Array.isArray(r) && r.length === 2 && r.every((end) => typeof end === 'number' && Math.abs(end) <= 2 ** 24)
  if (
    region !== undefined &&
    (o.coordinates !== 'tfCropAndResize' || !Array.isArray(region) || region.length !== axes || !region.every(isRange))
  )
    badInput(op, `region is ${shown(region)}.`, `give ${axes} of [from, to], with coordinates: 'tfCropAndResize'.`)
}

/**
 * x with another number of positions: the nearest, or between neighbours linearly ('linear', the default) or by cubic polynomials ('cubic'), one axis after the other.
 *
 * 'nearest' reads position floor(i n / m) for result i of m, 'nearest-exact' the one under its centre. With `antialias`, a smaller result has weighted means of all positions that
 * an element covers. As in ONNX and TensorFlow, `coordinates` says where result i lies, `rounding` which position is the nearest, `cubic` is Keys' a, and `excludeOutside` gives
 * positions outside no weight.
 *
 * Shapes  x: [n, c, ...positions], size: a number for all axes, or one for each -> [n, c, ...size].
 * Rule    linear.   Source  PyTorch interpolate; ONNX Resize; Keys 1981 (a = -0.75, -0.5 with antialias).
 * Errors  ShapeMismatch for x of another rank or without positions, BadInput for a size below 1, an unknown method, or options that exclude each other.
 * @example
 * resize(tensor([[[0, 1]]]), 4)   // [[[0, 0.25, 0.75, 1]]]
 * resize(tensor([[[0, 0, 0, 8]]]), 2, { antialias: true })   // [[[0, 3.4286]]]
 * resize(tensor([[[1, 2, 3]]]), 2, { method: 'nearest', coordinates: 'halfPixel', rounding: 'ceil' })   // [[[2, 3]]]
 */
export const resize: ResizeFn<ResizeOptions> = operation('resize', { x: floats, size: raw() }, declared, ({ x, size }, o, op) => {
  checked(o, positionsOf(x, op).length, op)
  const filled = (y: AnyExpr, outside: readonly boolean[], shape: readonly number[]): AnyExpr =>
    outside.includes(true) ? where(table(outside.map(Number), shape, 'bool'), o.extrapolation, y) : y
  return overPositions(x, size, op, (y, axis, n, m, behind) => {
    const { taps: some, outside } = axisOf(o, n, m, axis - 2)
    const taps = evenTaps(some)
    const terms = taps[0]!.map((_, k): AnyExpr => {
      const list = taps.map((t) => t[k]![0])
      const term = taken(y, axis, list, [m])
      const weights = taps.map((t) => t[k]![1])
      return weights.every((w) => w === 1) ? term : mul(term, table(weights, [m, ...behind], x.dtype))
    })
    return filled(
      terms.reduce((a, b) => add(a, b)),
      outside,
      [m, ...behind],
    )
  })
})
