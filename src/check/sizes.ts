/** Samples of other sizes: which axes of a sample may have another one, found from the shape rule, and a choice of sizes that covers them. */

import { leastOf } from '../core/errors/extremes.js'
import { isFloat } from '../core/graph/aval.js'
import type { AnyPrimitive, Sample, SampleArg } from '../core/graph/primitive.js'
import { sameShape, sizeOf } from '../core/graph/shape.js'
import { resultAvalsOf } from './accepted.js'

/** An axis of an argument. */
interface Place {
  readonly arg: number
  readonly axis: number
}
/** A number among the parameters: a member, or an entry of a member that is a list. */
interface Entry {
  readonly key: string
  readonly index?: number
}
/** What has one size: axes, and numbers among the parameters that go with them. */
interface FreeAxis {
  readonly places: readonly Place[]
  readonly entries: readonly Entry[]
  readonly size: number
  /** The sizes that the shape rule takes, by themselves. */
  readonly takes: readonly number[]
}
/** A sample of other sizes, and which these are. */
export interface Resized {
  readonly sample: Sample
  readonly what: string
}

/** Sizes that every axis is tried at; where mistakes hide that no usual size shows. */
export const SIZES: readonly number[] = [1, 2, 3, 7]
/** Arguments and results of a sample of other sizes have together at most so many elements. */
const MOST = 400
/** Axes of one size that may be one: of more only each by itself, or all. */
const TOGETHER = 4

const sizeAt = (s: Sample, p: Place): number => s.args[p.arg]!.shape[p.axis]!
/** An argument of another shape. Values that a sample gives are repeated, from the first on. */
const reshapedArg = (arg: SampleArg, shape: readonly number[]): SampleArg => {
  const { values } = arg
  if (values === undefined) return { ...arg, shape }
  return { ...arg, shape, values: Array.from({ length: sizeOf(shape) }, (_, k) => values[k % values.length] ?? 0) }
}
/** Indices stay below the least size of the arrays that they may be into. */
const inRange = (prim: AnyPrimitive, s: Sample): Sample => {
  const isIndex = (a: SampleArg, i: number): boolean => prim.args[prim.variadic ? 0 : i] === 'int' && a.dtype === 'i32'
  const least = Math.max(1, leastOf(s.args.flatMap((a, i) => (isIndex(a, i) ? [] : a.shape.filter((d) => d > 0)))))
  if (!Number.isFinite(least)) return s
  const args = s.args.map((a, i): SampleArg => {
    if (!isIndex(a, i)) return a
    const { values, domain } = a
    return {
      ...a,
      ...(values !== undefined && { values: values.map((v) => v % least) }),
      ...(domain !== undefined && { domain: [Math.max(domain[0], 1 - least), Math.min(domain[1], least)] as const }),
    }
  })
  return { ...s, args }
}
/** Does it read floats that are given one by one, whose meaning at other sizes nobody knows? */
const isExact = (s: Sample, other: Sample): boolean =>
  s.args.some((a, i) => a.values !== undefined && (a.dtype === undefined || isFloat(a.dtype)) && !sameShape(a.shape, other.args[i]!.shape))
const withEntry = (params: unknown, { key, index }: Entry, size: number): unknown => {
  const own = (params as Record<string, unknown>)[key]
  return { ...(params as object), [key]: index === undefined ? size : (own as readonly number[]).map((x, i) => (i === index ? size : x)) }
}
const withSize = (s: Sample, { places, entries }: Pick<FreeAxis, 'places' | 'entries'>, size: number): Sample => ({
  args: s.args.map((a, i) => {
    const own = places.filter((p) => p.arg === i)
    return own.length === 0
      ? a
      : reshapedArg(
          a,
          a.shape.map((d, j) => (own.some((p) => p.axis === j) ? size : d)),
        )
  }),
  params: entries.reduce((params, e) => withEntry(params, e, size), s.params),
})

/** The numbers among the parameters that are this size. */
const entriesOf = (params: unknown, size: number): readonly Entry[] =>
  typeof params !== 'object' || params === null
    ? []
    : Object.entries(params).flatMap(([key, x]): readonly Entry[] =>
        x === size
          ? [{ key }]
          : Array.isArray(x) && x.every((n) => typeof n === 'number')
            ? x.flatMap((n, index) => (n === size ? [{ key, index }] : []))
            : [],
      )
/** Subsets of a list, small ones first; of a long one each by itself, and all. */
const subsets = <X>(list: readonly X[]): readonly (readonly X[])[] => {
  if (list.length > TOGETHER) return [[], ...list.map((x) => [x]), list]
  return Array.from({ length: 2 ** list.length }, (_, m) => list.filter((__, i) => (m >> i) % 2 === 1)).sort((a, b) => a.length - b.length)
}

/** The axes of a sample that may have another size: the least that changes together so that the shape rule takes every size, or else the most sizes. */
const freeAxes = (prim: AnyPrimitive, s: Sample): readonly FreeAxis[] => {
  const all = s.args.flatMap(({ shape }, arg) => shape.map((_, axis): Place => ({ arg, axis })))
  const found: FreeAxis[] = []
  for (const p of all) {
    if (found.some((f) => f.places.some((q) => q.arg === p.arg && q.axis === p.axis))) continue
    const size = sizeAt(s, p)
    const others = all.filter((q) => q !== p && sizeAt(s, q) === size)
    const entries = entriesOf(s.params, size)
    let best: FreeAxis | undefined
    const tried = (places: readonly Place[], chosen: readonly Entry[]): boolean => {
      const takes = SIZES.filter((n) => n === size || resultAvalsOf(prim, withSize(s, { places, entries: chosen }, n)) !== undefined)
      if (takes.length > (best?.takes.length ?? 1)) best = { places, entries: chosen, size, takes }
      return takes.length === SIZES.length
    }
    // Without the parameters first: a number among them that is the size by chance stays.
    subsets(others).some((more) => tried([p, ...more], [])) ||
      subsets(entries).some((chosen) => chosen.length > 0 && subsets(others).some((more) => tried([p, ...more], chosen)))
    if (best !== undefined) found.push(best)
  }
  return found
}

const shown = (s: Sample): string => s.args.map((a) => `[${a.shape.join(', ')}]`).join(', ')
const elements = (prim: AnyPrimitive, s: Sample): number => {
  const results = resultAvalsOf(prim, s)
  return results === undefined
    ? Number.POSITIVE_INFINITY
    : [...s.args.map((a) => sizeOf(a.shape)), ...results.map((y) => y.size)].reduce((a, b) => a + b, 0)
}

/**
 * The sample at sizes 0, 1, 2, 3 and 7 of each of its free axes. Sizes other than 0 are changed all at once, each axis through all of them in another order; what the
 * shape rule does not take so is tried with one axis changed. `few`: each axis at 0, 1 and 7 alone.
 */
export const resizedSamples = (prim: AnyPrimitive, s: Sample, few = false): readonly Resized[] => {
  const axes = freeAxes(prim, s)
  const made = new Map<string, Resized>()
  const covered = new Set<string>()
  const place = (sizes: readonly number[]): boolean => {
    const sample = axes.reduce((t, a, i) => (sizes[i] === a.size ? t : withSize(t, a, sizes[i]!)), s)
    if (elements(prim, sample) > MOST) return false
    sizes.forEach((n, i) => {
      covered.add(`${i}:${n}`)
    })
    const what = `at shapes ${shown(sample)}, which the shape rule takes`
    const key = `${shown(sample)} ${axes.map((a, i) => (a.entries.length > 0 ? sizes[i] : '')).join()}`
    if (shown(sample) !== shown(s) && !isExact(s, sample)) made.set(key, { sample: inRange(prim, sample), what })
    return true
  }
  const own = axes.map((a) => a.size)
  const alone = (i: number, n: number): boolean => place(own.map((d, j) => (j === i ? n : d)))
  for (const n of SIZES.keys()) if (!few) place(axes.map((a, i) => a.takes[(n + i) % a.takes.length]!))
  axes.forEach((a, i) => {
    for (const n of few ? [1, 7] : SIZES) if (a.takes.includes(n) && !covered.has(`${i}:${n}`)) alone(i, n)
    alone(i, 0)
  })
  return [...made.values()]
}

/** Shapes of indices, of every rank. */
const INDICES: readonly (readonly number[])[] = [[], [2], [2, 2], [1, 2, 2]]
/** Where a part stands in a list. */
const partsAt = (whole: readonly number[], part: readonly number[]): readonly number[] =>
  whole.flatMap((_, at) => (part.length > 0 && part.every((d, k) => whole[at + k] === d) ? [at] : []))

/** The sample with indices of every rank: what else has their shape in its own changes with them. */
export const rankedSamples = (prim: AnyPrimitive, s: Sample): readonly Resized[] =>
  s.args.flatMap((index, i) => {
    const isIndex = prim.args[prim.variadic ? 0 : i] === 'int' && index.dtype === 'i32' && index.shape.length > 0
    if (!isIndex) return []
    return INDICES.flatMap((shape): readonly Resized[] => {
      if (shape.length === index.shape.length) return []
      // Each argument as it is, or with the new shape in the place of the old one.
      const choices = s.args.map((a, j) =>
        j === i
          ? [reshapedArg(a, shape)]
          : [
              a,
              ...partsAt(a.shape, index.shape).map((at) =>
                reshapedArg(a, [...a.shape.slice(0, at), ...shape, ...a.shape.slice(at + index.shape.length)]),
              ),
            ],
      )
      const all = choices.reduce<readonly (readonly SampleArg[])[]>((lists, of) => lists.flatMap((l) => of.map((a) => [...l, a])), [[]])
      const args = all.find((list) => resultAvalsOf(prim, { args: list, params: s.params }) !== undefined)
      if (args === undefined) return []
      const sample = { args, params: s.params }
      return elements(prim, sample) > MOST || isExact(s, sample)
        ? []
        : [{ sample: inRange(prim, sample), what: `with indices of rank ${shape.length}, at shapes ${shown(sample)}` }]
    })
  })
