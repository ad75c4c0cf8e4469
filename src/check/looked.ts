/** Where a check looked and what it left out, as data beside its verdict and in words. */

import { showShape } from '../core/errors/explain.js'
import { greatestOf, leastOf } from '../core/errors/extremes.js'
import { isFloat } from '../core/graph/aval.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { DType } from '../core/types/dtype.js'
import { type RuleRan, ranInWords, togetherRan } from './ran.js'
import type { Mode, Subject } from './subject.js'

/** The values that one argument of a function or primitive took, over all points. */
export interface Region {
  readonly of: string
  readonly argument: string
  readonly shapes: readonly (readonly number[])[]
  readonly dtypes: readonly DType[]
  /** The least and the greatest finite number; not there where there was none. */
  readonly range?: readonly [low: number, high: number]
}

/** Where a check looked, and what it left out. */
export interface Looked {
  /** The points, by how they were chosen: `as given`, `integers`, `ties` ... */
  readonly points: readonly string[]
  /** Points that were passed over, each with the reason: the function has no value there, say. */
  readonly passedOver: readonly string[]
  /** Shapes, dtypes and numbers of each argument. */
  readonly regions: readonly Region[]
  /** Orders of derivatives. */
  readonly orders: readonly number[]
  readonly modes: readonly Mode[]
  /** What ran the program: the reference always. */
  readonly backends: readonly string[]
  /** What was not looked at, each with the reason. */
  readonly leftOut: readonly string[]
  /** The rules that are not codual's own: which of their facets ran, and whether they declined. */
  readonly rules: readonly RuleRan[]
  /** Primitives of codual for which another rule stands in the registry, or whose name another primitive has. */
  readonly overrides: readonly string[]
}

/** Gathers where a check looks. */
export class Looking {
  private readonly points = new Set<string>()
  private readonly passedOver = new Set<string>()
  private readonly regions = new Map<
    string,
    { of: string; argument: string; shapes: Map<string, readonly number[]>; dtypes: Set<DType>; low: number; high: number }
  >()
  private readonly orders = new Set<number>()
  private readonly modes = new Set<Mode>()
  private readonly backends = new Set<string>(['reference'])
  private readonly leftOut = new Set<string>()
  private readonly overrides = new Set<string>()
  /** The rules that ran: asked when the check is done. */
  rules: () => readonly RuleRan[] = () => []

  /** Derivatives of first order are looked at here. */
  at(of: string, point: string, s: Pick<Subject, 'inputs' | 'values' | 'paths' | 'modes'>): void {
    this.points.add(point)
    this.orders.add(1)
    for (const m of s.modes) this.modes.add(m)
    s.inputs.forEach((x, i) => {
      const argument = s.paths[i]
      if (argument === undefined) return
      this.region(of, argument, { shape: x.shape, dtype: x.dtype, data: s.values[i]!.data })
    })
  }
  private region(of: string, argument: string, { shape, dtype, data }: NDArray): void {
    const key = `${of}\0${argument}`
    let r = this.regions.get(key)
    if (r === undefined) {
      r = { of, argument, shapes: new Map(), dtypes: new Set(), low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY }
      this.regions.set(key, r)
    }
    r.shapes.set(shape.join(), shape)
    r.dtypes.add(dtype)
    for (let i = 0; i < data.length; i++) {
      const x = data[i]!
      if (!Number.isFinite(x)) continue
      if (x < r.low) r.low = x
      if (x > r.high) r.high = x
    }
  }
  passOver(point: string): void {
    this.passedOver.add(point)
  }
  order(n: number): void {
    this.orders.add(n)
  }
  backend(name: string): void {
    this.backends.add(name)
  }
  without(what: string): void {
    this.leftOut.add(what)
  }
  override(name: string): void {
    this.overrides.add(name)
  }
  /** The shaders that no device compiled. */
  withoutShaders(names: Iterable<string>): void {
    const all = [...new Set(names)].sort()
    if (all.length > 0 && !this.backends.has('webgpu')) this.without(`the WebGPU shaders of ${all.join(', ')}: no device was asked for`)
  }
  result(): Looked {
    return {
      points: [...this.points],
      passedOver: [...this.passedOver],
      regions: [...this.regions.values()].map(({ of, argument, shapes, dtypes, low, high }) => ({
        of,
        argument,
        shapes: [...shapes.values()],
        dtypes: [...dtypes],
        ...(low <= high && { range: [low, high] as const }),
      })),
      orders: [...this.orders].sort((a, b) => a - b),
      modes: [...this.modes],
      backends: [...this.backends],
      leftOut: [...this.leftOut],
      rules: this.rules(),
      overrides: [...this.overrides],
    }
  }
}

/** Where several checks looked. */
export const lookedTogether = (all: readonly Looked[]): Looked => {
  const once = <A>(list: (l: Looked) => readonly A[]): readonly A[] => [...new Set(all.flatMap(list))]
  const regions = new Map<string, Region>()
  for (const r of all.flatMap((l) => l.regions)) {
    const key = `${r.of}\0${r.argument}`
    const known = regions.get(key)
    regions.set(key, known === undefined ? r : both(known, r))
  }
  return {
    points: once((l) => l.points),
    passedOver: once((l) => l.passedOver),
    regions: [...regions.values()],
    orders: [...once((l) => l.orders)].sort((a, b) => a - b),
    modes: once((l) => l.modes),
    backends: once((l) => l.backends),
    leftOut: once((l) => l.leftOut),
    rules: togetherRan(all.flatMap((l) => l.rules)),
    overrides: once((l) => l.overrides),
  }
}
const both = (a: Region, b: Region): Region => {
  const shapes = new Map([...a.shapes, ...b.shapes].map((s) => [s.join(), s]))
  const ranges = [a, b].flatMap((r) => (r.range === undefined ? [] : [r.range]))
  return {
    of: a.of,
    argument: a.argument,
    shapes: [...shapes.values()],
    dtypes: [...new Set([...a.dtypes, ...b.dtypes])],
    ...(ranges.length > 0 && { range: [leastOf(ranges.map((r) => r[0])), greatestOf(ranges.map((r) => r[1]))] as const }),
  }
}

/** A list in words: `a, b and c`. */
const listed = (xs: readonly (string | number)[]): string =>
  xs.length < 2 ? xs.join('') : `${xs.slice(0, -1).join(', ')} and ${xs[xs.length - 1]}`
const shown = (x: number): string => String(Number(x.toPrecision(3)))
const few = (list: readonly string[], most: number, sign = ', '): string =>
  list.length <= most ? list.join(sign) : `${list.slice(0, most).join(sign)}${sign}and ${list.length - most} more`
const regionInWords = ({ argument, shapes, dtypes, range }: Region): string =>
  `${argument} ${few(shapes.map(showShape), 4)} ${dtypes.join('/')}${range === undefined ? '' : ` from ${shown(range[0])} to ${shown(range[1])}`}`

/** Where a check looked, in a few lines; nothing where it looked nowhere. */
export const lookedInWords = (l: Looked): readonly string[] => {
  const lines: string[] = []
  if (l.points.length > 0) {
    const primitives = new Set(l.regions.map((r) => r.of)).size
    const own = l.regions.filter((r) => r.dtypes.some(isFloat))
    const where =
      primitives > 1
        ? `${l.regions.length} arguments of ${primitives} primitives`
        : few((own.length > 0 ? own : l.regions).map(regionInWords), 3, '; ')
    lines.push(`looked at ${where}`)
    lines.push(
      `  points: ${few(l.points, 12)}${l.passedOver.length === 0 ? '' : ` (${l.passedOver.length} passed over: ${few(l.passedOver, 3, '; ')})`}`,
    )
    lines.push(`  ${l.orders.length === 1 ? 'order' : 'orders'} ${listed(l.orders)}, ${listed(l.modes)} mode, on ${listed(l.backends)}`)
  }
  if (l.leftOut.length > 0) lines.push(`  left out: ${few(l.leftOut, 3, '; ')}`)
  return [...lines, ...ranInWords(l.rules).map((x) => `  ${x}`), ...(l.overrides.length > 0 ? [`  overrides: ${few(l.overrides, 6)}`] : [])]
}
