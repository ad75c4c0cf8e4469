/** What a model is, as a table: its layers, what they make, how many numbers they have, what they cost. */

import { recordOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { greatestOf } from '../core/errors/extremes.js'
import { reading } from '../core/errors/language.js'
import { type AnyExpr, compile, type DType, type Expr, f32, f64, fn, i32, type Spec, toProgram, treeLeaves } from '../index.js'
import { type AnyLayer, isStateful, layerOf, shapeOf } from './layer.js'

/** A row of `summaryOf`: one layer, or a declared part of a layer of one's own that does not say what runs in it. */
export interface SummaryRow {
  /** Where it is in the model: `0`, `body.1`; empty for the model itself. */
  readonly path: string
  /** The kind of a layer; of a declared part `parameter` or, of several, `parameters`. */
  readonly kind: string
  /** The shape of what it makes; undefined of a declared part. */
  readonly shape: readonly number[] | undefined
  readonly dtype: string | undefined
  /** The number of its trainable parameters. */
  readonly parameters: number
  /** Floating-point operations of one call, as the plan counts them; undefined of a layer whose parts have rows of their own, and of a declared part. */
  readonly flops: number | undefined
}
const size = (s: unknown): number => shapeOf(s).reduce((n, d) => n * d, 1)
const count = (declared: unknown): number =>
  declared === null || declared === undefined ? 0 : treeLeaves(declared as never).reduce<number>((n, s) => n + size(s), 0)
const specOf = (x: { readonly dtype: DType; readonly shape: readonly number[] }): Spec =>
  (({ f64, f32, i32 }) as unknown as Readonly<Record<string, (...shape: readonly number[]) => Spec>>)[x.dtype]!(...x.shape)
/** The path of a part. */
const within = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)
/** What a layer of one's own declares, by name: the kinds of its parts where it names them. Nothing of a layer of the library, of one array, or of layers whose arrays are stacked. */
const declaredParts = (layer: AnyLayer): readonly Omit<SummaryRow, 'flops' | 'shape' | 'dtype'>[] => {
  const { kind, parts, declared, repeated } = layer
  if (repeated !== undefined) return []
  if (parts !== undefined)
    return Object.entries(parts).map(([path, part]) => ({ path, kind: part.kind ?? 'layer', parameters: count(part.declared) }))
  if (kind !== undefined || declared === null || typeof declared !== 'object' || isLeaf(declared)) return []
  return Object.entries(declared)
    .filter(([, part]) => part !== null && part !== undefined)
    .map(([path, part]) => ({ path, kind: isLeaf(part) ? 'parameter' : 'parameters', parameters: count(part) }))
}
const isLeaf = (declared: unknown): boolean => treeLeaves(declared as never)[0] === declared
/** Operations of one layer at this input. */
const flopsOf = (layer: AnyLayer, x: AnyExpr): number => {
  const f = fn({ p: layer.declared ?? null, s: layer.state ?? null, x: specOf(x) } as never, (given: { p: never; s: never; x: never }) => {
    const made = layer.apply(given.p, given.x, { state: given.s } as never)
    return (isStateful(layer) ? (made as readonly [AnyExpr, unknown])[0] : made) as AnyExpr
  })
  const run = compile(f as never)
  try {
    return (run.explain as (...given: readonly unknown[]) => { readonly flops: number })({}).flops
  } finally {
    run.dispose()
  }
}

/**
 * The layers of a model in the order in which they run: the result of each for an input, and how many parameters and operations it has. `summary` shows it as a table.
 *
 * @example summaryOf(sequential(dense(2, 3), tanh), f32(4, 2)).map(({ kind, parameters }) => [kind, parameters]) // [['dense', 9], ['tanh', 0], ['sequential', 9]]
 */
export const summaryOf = (layer: AnyLayer, input: Spec | Expr): readonly SummaryRow[] => {
  layerOf(layer, 'summary')
  const { shape, dtype } = reading('summary: the input', () => {
    const { shape, dtype } = recordOf(input, 'the input', 'summary') as {
      readonly shape: readonly (number | string)[]
      readonly dtype: DType
    }
    return { shape, dtype }
  })
  if (!Array.isArray(shape) || shape.some((d) => typeof d !== 'number'))
    return badInput('summary', 'the input has no sizes.', 'give a declared input with sizes, f32(1, 28, 28), or a tensor.')
  const rows: SummaryRow[] = []
  // A row comes after those of the parts. A layer of one's own may run its parts by itself: they have none then, but for what it declares.
  const hasRowsOfParts = (path: string, l: AnyLayer): boolean =>
    l.parts !== undefined && Object.keys(l.parts).every((name) => rows.some((r) => r.path === within(path, name)))
  const row = (path: string, l: AnyLayer, x: unknown, y: unknown): void => {
    const made = y as AnyExpr
    const flops = hasRowsOfParts(path, l) ? undefined : flopsOf(l, x as AnyExpr)
    if (flops !== undefined && !rows.some((r) => r.path.startsWith(within(path, ''))))
      for (const part of declaredParts(l))
        rows.push({ ...part, path: within(path, part.path), shape: undefined, dtype: undefined, flops: undefined })
    rows.push({
      path,
      kind: l.kind ?? 'layer',
      shape: made.shape,
      dtype: made.dtype,
      parameters: count(l.declared),
      flops,
    })
  }
  const f = fn(
    { p: layer.declared ?? null, s: layer.state ?? null, x: specOf({ shape: shape as number[], dtype }) } as never,
    (given: { p: never; s: never; x: never }) => {
      const made = layer.apply(given.p, given.x, { state: given.s, onLayer: row } as never)
      const y = isStateful(layer) ? (made as readonly [AnyExpr, unknown])[0] : (made as AnyExpr)
      row('', layer, given.x, y)
      return y
    },
  )
  toProgram(f as never)
  return rows
}
/** The operations of all: a layer with a count has those of the layers in it. */
const total = (rows: readonly SummaryRow[]): number => {
  const counted = rows.filter((r) => r.flops !== undefined)
  return counted
    .filter((r) => !counted.some((outer) => outer !== r && r.path.startsWith(within(outer.path, ''))))
    .reduce((n, r) => n + r.flops!, 0)
}
const numbers = (n: number | undefined): string => (n === undefined ? '' : n.toLocaleString('en-US'))
/**
 * A model as a table: its layers, the shapes of their results for an input, and how many parameters and operations each has.
 *
 * Errors  BadInput for an input without sizes; errors of the model itself.
 * @example summary(sequential(dense(2, 3), tanh), f32(4, 2)).split('\n').length // 6
 */
export const summary = (layer: AnyLayer, input: Spec | Expr): string => {
  const rows = summaryOf(layer, input)
  const whole = rows[rows.length - 1]!
  const made = ({ shape, dtype }: SummaryRow): string => (shape === undefined ? '' : `${dtype} [${shape.join(', ')}]`)
  const cells = [
    ['layer', 'kind', 'makes', 'parameters', 'flops'],
    ...rows.slice(0, -1).map((r) => [r.path, r.kind, made(r), numbers(r.parameters), numbers(r.flops)]),
    ['', whole.kind, made(whole), numbers(whole.parameters), numbers(total(rows))],
  ]
  const widths = cells[0]!.map((_, i) => greatestOf(cells.map((line) => line[i]!.length)))
  const line = (texts: readonly string[]): string =>
    texts
      .map((t, i) => (i < 3 ? t.padEnd(widths[i]!) : t.padStart(widths[i]!)))
      .join('  ')
      .trimEnd()
  const rule = widths.map((w) => '-'.repeat(w)).join('  ')
  return [line(cells[0]!), rule, ...cells.slice(1, -1).map(line), rule, line(cells[cells.length - 1]!)].join('\n')
}
