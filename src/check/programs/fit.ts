/** Arguments: values made before, brought into the shape, the dtype and the domain that a sample wants; or new ones. */
import { isFloat } from '../../core/graph/aval.js'
import { allocate, type NDArray } from '../../core/graph/ndarray.js'
import type { SampleArg } from '../../core/graph/primitive.js'
import { sameShape, sizeOf } from '../../core/graph/shape.js'
import type { DType } from '../../core/types/dtype.js'
import type { Drawing, Value } from './drawing.js'

type Domain = readonly [low: number, high: number]
/** What elements are drawn from where a sample does not say. */
const ANY: Domain = [-2, 2]
/** Larger values are brought back where a sample has no domain. */
const WIDE = 8

const extent = (a: NDArray): Domain => {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const x of a.data) {
    low = Math.min(low, x)
    high = Math.max(high, x)
  }
  return [low, high]
}

/** A value in another shape and dtype: cast, reshaped, broadcast, cut out or summed over an axis. */
const fitted = (d: Drawing, v: Value, shape: readonly number[], dtype: DType): Value | undefined => {
  if (v.aval.dtype !== dtype) {
    const cast = d.one('cast', [v], { dtype })
    return cast && fitted(d, cast, shape, dtype)
  }
  const own = v.aval.shape
  const [n, size] = [v.aval.size, sizeOf(shape)]
  if (sameShape(own, shape)) return v
  if (n === size) return d.one('reshape', [v], { shape })
  const pad = shape.length - own.length
  if (pad >= 0 && own.every((k, i) => k === shape[i + pad] || k === 1)) return d.one('broadcastTo', [v], { shape })
  const axis = own.findIndex((_, i) =>
    sameShape(
      own.filter((_k, j) => j !== i),
      shape,
    ),
  )
  if (axis >= 0 && isFloat(dtype) && d.chance(0.5)) return d.one('sum', [v], { axes: [axis] })
  const cut = (x: Value | undefined, sizes: readonly number[]): Value | undefined =>
    x &&
    d.one('slice', [x], {
      starts: sizes.map((k, i) => d.below(x.aval.shape[i]! - k + 1)),
      sizes,
      strides: sizes.map(() => 1),
    })
  if (pad === 0 && own.every((k, i) => k >= shape[i]!)) return cut(v, shape)
  if (size === 0 || n < size) return undefined
  const part = cut(own.length === 1 ? v : d.one('reshape', [v], { shape: [n] }), [size])
  return part && (shape.length === 1 ? part : d.one('reshape', [part], { shape }))
}

/** A float value in a domain: itself where it lies in it, else middle + half tanh(scaled). */
export const inDomain = (d: Drawing, v: Value, domain: Domain | undefined): Value | undefined => {
  const [low, high] = domain ?? ANY
  const [least, most] = extent(v.array)
  if (v.aval.size === 0 || (domain === undefined ? Math.max(-least, most) <= WIDE : least >= low && most < high)) return v
  const { dtype } = v.aval
  const top = Math.max(Math.abs(least), Math.abs(most))
  const scaled = top <= 2 ? v : d.one('mul', [v, d.literal(Math.fround(2 / top), dtype)])
  const half = Math.fround((high - low) * 0.45)
  const waved = d.one('tanh', [scaled])
  return d.one('add', [d.one('mul', [waved, d.literal(half, dtype)]), d.literal(Math.fround((low + high) / 2), dtype)])
}

/**
 * Integers that an argument may have whatever they are computed from, also in other examples: clamped to its domain. Of one that has values
 * in place of a domain nobody knows which others it takes.
 */
const clamped = (d: Drawing, v: Value | undefined, arg: SampleArg): Value | undefined => {
  const { domain } = arg
  if (v === undefined || isExact(arg) || domain === undefined) return isExact(arg) ? undefined : v
  const [low, high] = [d.literal(Math.ceil(domain[0]), 'i32'), d.literal(Math.ceil(domain[1]) - 1, 'i32')]
  return d.one('minimum', [d.one('maximum', [v, low]), high])
}

/** Are the sample's own numbers meant, or those that it draws itself? */
const isExact = ({ values, draw }: SampleArg): boolean => values !== undefined || draw !== undefined

/** New elements: as the sample draws them, of its values, or from its domain; often of a few numbers alone, so that some are equal. */
const newArray = (d: Drawing, arg: SampleArg, shape: readonly number[], dtype: DType): NDArray => {
  const data = allocate(dtype, sizeOf(shape))
  if (arg.draw !== undefined) {
    data.set(Array.from(arg.draw(d.next, shape)))
    return { shape, dtype, data }
  }
  const [low, high] = arg.domain ?? ANY
  const float = isFloat(dtype)
  // A float stays away from the ends: other examples lie near it.
  const [from, to] = float ? [low + 0.03 * (high - low), high - 0.03 * (high - low)] : [low, high]
  const levels = d.chance(0.2) ? 3 : 0
  for (let i = 0; i < data.length; i++) {
    const given = arg.values?.[i]
    const u = levels === 0 ? d.next() : (d.below(levels) + 0.5) / levels
    const x = from + (to - from) * u
    data[i] = given === undefined ? (float ? x : Math.floor(x)) : Number.isFinite(given) ? given : 0
  }
  return { shape, dtype, data }
}

const fresh = (d: Drawing, arg: SampleArg, shape: readonly number[], dtype: DType): Value => {
  const value = newArray(d, arg, shape, dtype)
  const kind = d.chance(0.12) ? 'captured' : 'input'
  return d.give(value, kind, isExact(arg) ? 'same' : isFloat(dtype) ? 'near' : (arg.domain ?? ANY))
}

/** One argument of a sample, of this shape and dtype; `before`: the arguments that the step has already. */
export const argument = (
  d: Drawing,
  arg: SampleArg,
  shape: readonly number[],
  dtype: DType,
  before: readonly Value[],
  scalarsToo: boolean,
): Value => {
  if (!isFloat(dtype)) {
    const of = d.pool.filter((v) => v.aval.dtype === dtype && v.aval.size > 0)
    const v = of.length > 0 && d.chance(0.6) ? fitted(d, d.of(of), shape, dtype) : undefined
    return (dtype === 'bool' ? v : clamped(d, v, arg)) ?? fresh(d, arg, shape, dtype)
  }
  const exact = isExact(arg)
  const twin = before.find((v) => v.aval.dtype === dtype && sameShape(v.aval.shape, shape))
  const fits = (v: Value | undefined): Value | undefined => v && inDomain(d, v, arg.domain)
  if (!exact && twin !== undefined && d.chance(0.15)) {
    const v = fits(twin)
    if (v !== undefined) return v
  }
  if (!exact && d.chance(0.08)) {
    const [low, high] = arg.domain ?? ANY
    const literal = d.literal(low + (high - low) * d.of([0.25, 0.5, 0.75]), dtype)
    const v = shape.length === 0 || (scalarsToo && d.chance(0.7)) ? literal : d.one('broadcastTo', [literal], { shape })
    if (v !== undefined) return v
  }
  const floats = exact ? [] : d.pool.filter((v) => isFloat(v.aval.dtype) && v.aval.size > 0)
  if (floats.length > 0 && d.chance(0.75)) {
    // The latest values more often than the first ones: programs get deep.
    const from = d.chance(0.5) ? floats.slice(-4) : floats
    const v = fits(fitted(d, d.of(from), shape, dtype))
    if (v !== undefined) return v
  }
  return fresh(d, arg, shape, dtype)
}
