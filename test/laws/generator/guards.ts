/** What keeps drawn programs comparable: arguments inside a domain, and away from kinks and ties, where rounding would decide. */
import { sizeOf } from '../../../src/core/graph/shape.js'
import type { DType } from '../../../src/core/types/dtype.js'
import { CAP, type Draw, dtypeOf, gapOf, isFloatValue, rangeOf, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import type { Template } from './program.js'

/** The value itself where it lies in the domain, or something of it that does. */
export const within = (d: Draw, v: Value, [low, high]: readonly [number, number]): Value => {
  if (d.wild) return v
  const [lo, hi] = rangeOf(v)
  if (lo >= low && hi <= high) return v
  const mid = (low + high) / 2
  const half = (high - low) / 2
  const squashed = d.op(d.of(['tanh', 'sin']), ref(v))
  const out = d.op('add', ref(d.op('mul', ref(squashed), half * 0.95)), mid)
  return out
}
/** Not larger than a few. */
export const tame = (d: Draw, v: Value, limit = 3): Value => (d.wild ? v : within(d, v, [-limit, limit]))

const strides = (shape: readonly number[]): readonly number[] => shape.map((_, i) => sizeOf(shape.slice(i + 1)))
/** The elements along some axes, for each position of the others. */
export const linesOf = (v: Value, axes: readonly number[]): number[][] => {
  const shape = shapeOf(v)
  const s = strides(shape)
  const lines = new Map<number, number[]>()
  v.array.data.forEach((x, flat) => {
    let at = 0
    shape.forEach((n, i) => {
      if (!axes.includes(i)) at = at * n + (Math.floor(flat / s[i]!) % n)
    })
    lines.set(at, [...(lines.get(at) ?? []), x])
  })
  return [...lines.values()]
}
/** Are the numbers of each line apart, or exact? Exact ties put the program on a kink. */
export const apart = (d: Draw, v: Value, axes: readonly number[] = shapeOf(v).map((_, i) => i)): void => {
  if (d.wild && !isFloatValue(v)) return
  const gap = gapOf(dtypeOf(v))
  for (const line of linesOf(v, axes)) {
    const sorted = line.sort((a, b) => a - b)
    for (let i = 1; i < sorted.length; i++) {
      if (sorted[i]! - sorted[i - 1]! >= gap) continue
      if (!v.exact) redraw('close to a tie')
      if (isFloatValue(v)) d.onKink()
    }
  }
}
/** Are the elements away from these numbers? */
export const awayFrom = (d: Draw, v: Value, points: (x: number) => readonly number[]): void => {
  const gap = gapOf(dtypeOf(v))
  for (const x of v.array.data)
    for (const p of points(x)) {
      if (Math.abs(x - p) >= gap) continue
      if (!v.exact) redraw('close to a kink')
      if (isFloatValue(v)) d.onKink()
    }
}
/** Are two values, broadcast, away from each other? */
export const awayFromEachOther = (d: Draw, a: Value, b: Value): void => {
  const difference = d.wild ? undefined : [rangeOf(a), rangeOf(b)]
  if (difference === undefined || a.ref === b.ref) {
    if (a.ref === b.ref && isFloatValue(a)) d.onKink()
    return
  }
  const out = broadcastOf(shapeOf(a), shapeOf(b)) ?? redraw('no common shape')
  const at = (v: Value, flat: number): number => {
    const s = shapeOf(v)
    const ss = strides(s)
    const os = strides(out)
    let i = 0
    s.forEach((n, k) => {
      const axis = out.length - s.length + k
      if (n !== 1) i += (Math.floor(flat / os[axis]!) % out[axis]!) * ss[k]!
    })
    return v.array.data[i]!
  }
  const gap = Math.max(gapOf(dtypeOf(a)), gapOf(dtypeOf(b)))
  for (let i = 0; i < sizeOf(out); i++) {
    if (Math.abs(at(a, i) - at(b, i)) >= gap) continue
    if (!(a.exact && b.exact)) redraw('close to each other')
    if (isFloatValue(a) || isFloatValue(b)) d.onKink()
  }
}

export const broadcastOf = (a: readonly number[], b: readonly number[]): readonly number[] | undefined => {
  const rank = Math.max(a.length, b.length)
  const out: number[] = []
  for (let i = 0; i < rank; i++) {
    const [x, y] = [a[a.length - rank + i] ?? 1, b[b.length - rank + i] ?? 1]
    if (x !== y && x !== 1 && y !== 1) return undefined
    out.push(x === 1 ? y : x)
  }
  return out
}
export const sameShape = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((x, i) => x === b[i])

/** Some value of exactly this shape and dtype: one that there is, one made to fit, a new input, a constant. */
export const like = (d: Draw, shape: readonly number[], dtype: DType = d.dtype): Value => {
  const size = sizeOf(shape)
  if (size > CAP) return redraw('large')
  const fits = (v: Value): boolean => dtypeOf(v) === dtype && sameShape(shapeOf(v), shape)
  if (d.chance(0.6)) {
    const v = d.find(fits)
    if (v !== undefined) return v
  }
  if (d.chance(0.35)) {
    const v = d.find((x) => dtypeOf(x) === dtype && x.array.data.length === size)
    if (v !== undefined) return sameShape(shapeOf(v), shape) ? v : d.op('reshape', ref(v), shape)
  }
  if (d.chance(0.4)) {
    const v = d.find((x) => {
      const b = broadcastOf(shapeOf(x), shape)
      return dtypeOf(x) === dtype && b !== undefined && sameShape(b, shape)
    })
    if (v !== undefined) return sameShape(shapeOf(v), shape) ? v : d.op('broadcastTo', ref(v), shape)
  }
  if (d.canInput() && d.chance(0.7)) return d.input(shape, dtype, dtype === 'i32' ? [-4, 5] : [-2, 2])
  const v = d.find((x) => dtypeOf(x) === dtype && x.array.data.length > 0)
  if (v === undefined || dtype === 'bool') return d.op('full', shape, dtype === 'bool' ? 1 : d.of([0, 1, 2, -1]), dtype)
  const one = dtype === 'i32' ? d.op('sum', ref(v)) : d.op('mean', ref(v))
  return d.op('broadcastTo', ref(one), shape)
}
/** Something that broadcasts with this shape to itself: a literal, a scalar, some of its axes 1. */
export const beside = (d: Draw, shape: readonly number[], dtype: DType = d.dtype): Template => {
  const r = d.next()
  if (r < 0.12) return dtype === 'i32' ? d.of([0, 1, -1, 2, 3]) : d.of([0, 1, -1, 0.5, 2, 0.7])
  const other = d.find((v) => {
    const b = broadcastOf(shapeOf(v), shape)
    return dtypeOf(v) === dtype && b !== undefined && sameShape(b, shape)
  })
  if (other !== undefined && r < 0.6) return ref(other)
  if (r < 0.8) return ref(like(d, shape, dtype))
  const cut = d.int(shape.length + 1)
  return ref(
    like(
      d,
      shape.slice(cut).map((n) => (d.chance(0.35) ? 1 : n)),
      dtype,
    ),
  )
}
/** Positions along an axis of length n: literal, given, or computed. `shape` is theirs. */
export const positions = (d: Draw, n: number, shape: readonly number[]): Template => {
  if (n === 0 && sizeOf(shape) > 0) return redraw('no positions')
  const r = d.next()
  if (r < 0.35) {
    const v = d.find((x) => dtypeOf(x) === 'i32' && sameShape(shapeOf(x), shape) && x.array.data.every((i) => i >= -n && i < n))
    if (v !== undefined) return ref(v)
  }
  if (r < 0.55 && d.canInput()) return ref(d.input(shape, 'i32', [-n, n]))
  const nested = (s: readonly number[]): Template =>
    s.length === 0 ? d.between(-n, n - 1) : Array.from({ length: s[0]! }, () => nested(s.slice(1)))
  if (shape.length === 0 || sizeOf(shape) === 0) {
    if (sizeOf(shape) === 0) return ref(d.op('zeros', shape, 'i32'))
    return nested(shape)
  }
  return ref(d.op('cast', nested(shape), 'i32'))
}
/** An axis of a value, counted from either end. */
export const axisOf = (d: Draw, v: Value): number => {
  if (rankOf(v) === 0) return redraw('no axis')
  const axis = d.int(rankOf(v))
  return d.chance(0.2) ? axis - rankOf(v) : axis
}
export const positive = (v: Value, axis: number): number => (axis < 0 ? axis + rankOf(v) : axis)
