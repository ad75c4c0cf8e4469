/** Arguments drawn from a declaration: which sizes and numbers there are to choose from, whoever chooses (a seed here, fast-check in property.ts). */

import { recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type OptionsOf, object } from '../core/errors/options.js'
import { type Meta, namedAxes } from '../core/functions/function.js'
import { isFloat } from '../core/graph/aval.js'
import { plain } from '../core/graph/expr.js'
import { arrayConstructor, type NDArray } from '../core/graph/ndarray.js'
import { sizeOf } from '../core/graph/shape.js'
import type { Spec } from '../core/graph/spec.js'
import { Tensor } from '../core/graph/tensor.js'
import { leafPaths, unflatten } from '../core/graph/tree.js'

/** From the least to the greatest value, both included. */
export type Range = readonly [low: number, high: number]
export const drawOptions = {
  /** Sizes of named dimensions (default 1 to 3). */
  sizes: object<Readonly<Record<string, Range>>>(),
  /** Values of an input, by its path: `x`, `params.w` (default -2 to 2; 0 to 3 for integers). */
  domain: object<Readonly<Record<string, Range>>>(),
}
/** What arguments are drawn from, in addition to the declaration. */
export type DrawOptions = OptionsOf<typeof drawOptions>

/** Whole numbers k from min to max; a value is k steps, within the range. They shrink towards 0 and print short. */
interface Grid {
  readonly min: number
  readonly max: number
  readonly step: number
  readonly range: Range
}
/** One array to be drawn. */
interface Leaf extends Grid {
  readonly shape: readonly number[]
  readonly dtype: Spec['dtype']
  readonly count: number
}
/** All that is to be chosen: the sizes of the named dimensions, then the leaves at these sizes. */
export interface Choices {
  readonly axes: readonly { readonly name: string; readonly range: Range }[]
  readonly leavesAt: (sizes: readonly number[]) => readonly Leaf[]
}
/** What was drawn. */
export interface Drawn {
  readonly sizes: Readonly<Record<string, number>>
  readonly leaves: readonly NDArray[]
}

const gridOf = (dtype: Spec['dtype'], range: Range): Grid => {
  const [low, high] = range
  if (!isFloat(dtype)) return { min: Math.ceil(low), max: Math.floor(high), step: 1, range }
  const step = 2 ** Math.floor(Math.log2((high - low || Math.abs(low) || 1) / 4096))
  return { min: Math.floor(low / step), max: Math.ceil(high / step), step, range }
}
const usual = (dtype: Spec['dtype']): Range => (dtype === 'bool' ? [0, 1] : dtype === 'i32' ? [0, 3] : [-2, 2])

type Declared = NonNullable<Meta['declared']>
/** The paths of declared inputs: `x`, `params.w`. */
const pathsOf = (declared: Declared): readonly string[] => leafPaths(declared.def).map(plain)

/** Ranges by name; each name is one of these. `dtypeOf`: integers have one of their numbers in it. */
const checkRanges = (
  given: DrawOptions['sizes'],
  what: 'sizes' | 'domain',
  name: string,
  known: readonly string[],
  where: string,
  dtypeOf: (key: string) => Spec['dtype'],
): void => {
  for (const [key, range] of Object.entries(given === undefined ? {} : recordOf(given, what, where))) {
    if (!known.includes(key))
      badInput(
        where,
        `${name} has no ${what === 'sizes' ? 'axis' : 'input'} '${key}'.`,
        known.length === 0 ? `leave ${what} out.` : `name one of ${known.join(', ')}.`,
      )
    const numbers = Array.isArray(range) && range.length === 2 && range.every((x) => Number.isFinite(x)) && range[0] <= range[1]
    const grid = numbers ? gridOf(dtypeOf(key), range) : undefined
    const size = what === 'domain' || (numbers && range[0] >= 0 && range.every((n) => Number.isInteger(n)))
    if (grid === undefined || grid.min > grid.max || !size)
      badInput(
        where,
        `the range of '${key}' is ${shown(range)}.`,
        what === 'sizes' ? 'give [low, high], whole numbers from 0.' : 'give [low, high], with a value between them.',
      )
  }
}

/** What there is to choose for the arguments of a declared function; the options are checked. */
export const choicesOf = (declared: Declared, name: string, options: DrawOptions, where: string): Choices => {
  const paths = pathsOf(declared)
  const { specs } = declared
  const names = [...namedAxes(specs)].sort()
  checkRanges(options.domain, 'domain', name, paths, where, (key) => specs[paths.indexOf(key)]!.dtype)
  checkRanges(options.sizes, 'sizes', name, names, where, () => 'i32')
  return {
    axes: names.map((axis) => ({ name: axis, range: options.sizes?.[axis] ?? [1, 3] })),
    leavesAt: (sizes) =>
      specs.map(({ shape: dims, dtype }, i) => {
        const shape = dims.map((d) => (typeof d === 'number' ? d : sizes[names.indexOf(d)]!))
        return { shape, dtype, count: sizeOf(shape), ...gridOf(dtype, options.domain?.[paths[i]!] ?? usual(dtype)) }
      }),
  }
}
/** The range of each leaf of arguments that are given: `domain` names declared inputs by their paths, arguments of a plain function by their places (`0`, `1.w`). */
export const rangesOf = (
  meta: Meta,
  leaves: readonly { readonly path: string; readonly dtype: Spec['dtype'] }[],
  { domain }: DrawOptions,
  where: string,
): readonly (Range | undefined)[] => {
  const keys = leaves.map(({ path }) => (meta.declared === undefined ? path : plain(path)))
  checkRanges(domain, 'domain', meta.name, keys, where, (key) => leaves[keys.indexOf(key)]!.dtype)
  return keys.map((key) => domain?.[key])
}
/** A leaf with these multiples of its step. */
export const arrayAt = ({ shape, dtype, step, range: [low, high] }: Leaf, ks: readonly number[]): NDArray => ({
  shape,
  dtype,
  data: arrayConstructor(dtype).from(ks.map((k) => Math.min(high, Math.max(low, k * step)))),
})
/** The sizes by name, and the arrays. */
export const drawnOf = ({ axes }: Choices, sizes: readonly number[], leaves: readonly NDArray[]): Drawn => ({
  sizes: Object.fromEntries(axes.map(({ name }, i) => [name, sizes[i]!])),
  leaves,
})
/** The arguments that were drawn, as a call takes them. */
export const argumentsOf = (declared: Declared, { leaves }: Drawn): readonly unknown[] =>
  unflatten(
    declared.def,
    leaves.map((a) => new Tensor(a.shape, a.dtype, a.data)),
  ) as readonly unknown[]

/** One draw, uniform, of numbers in [0, 1) from a seed. */
export const drawFrom = (choices: Choices, next: () => number): Drawn => {
  const whole = (min: number, max: number): number => min + Math.floor((max - min + 1) * next())
  const sizes = choices.axes.map(({ range }) => whole(...range))
  const leaves = choices.leavesAt(sizes).map((leaf) =>
    arrayAt(
      leaf,
      Array.from({ length: leaf.count }, () => whole(leaf.min, leaf.max)),
    ),
  )
  return drawnOf(choices, sizes, leaves)
}
