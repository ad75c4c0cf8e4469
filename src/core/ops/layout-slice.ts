/** Layout: parts of an array and their adjoints: slice, sliceAdd (into an accumulator), pad. */
import * as t from 'io-ts'
import { type Aval, aval, sameAval } from '../aval.js'
import { castNode } from '../cast.js'
import { raise } from '../explain.js'
import { apply, asExpr, constant, type Node } from '../expr.js'
import { listOf, shown } from '../given.js'
import { lift } from '../lift.js'
import { ints } from '../params.js'
import { type Primitive, primitive } from '../primitive.js'
import { forEachIndex, sameShape, showShape, stridesOf } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'

const family = 'layout'

// ---- slice -----------------------------------------------------------------------------------------------------------

export interface SliceParams {
  readonly starts: readonly number[]
  readonly sizes: readonly number[]
  /** Steps may be negative; `starts` then names the first element read. */
  readonly strides: readonly number[]
}
const sliceCodec: t.Type<SliceParams> = t.type({ starts: ints, sizes: ints, strides: ints })
const inBounds = (shape: readonly number[], p: SliceParams): boolean =>
  p.starts.length === shape.length &&
  p.sizes.length === shape.length &&
  p.strides.length === shape.length &&
  shape.every((d, i) => {
    const n = p.sizes[i]!
    const last = p.starts[i]! + (n - 1) * p.strides[i]!
    return (
      Number.isInteger(n) &&
      n >= 0 &&
      Number.isInteger(p.starts[i]) &&
      Number.isInteger(p.strides[i]) &&
      p.strides[i] !== 0 &&
      (n === 0 || (p.starts[i]! >= 0 && p.starts[i]! < d && last >= 0 && last < d))
    )
  })
const sliceShape = (op: string, x: Aval, p: SliceParams): Aval => {
  if (!inBounds(x.shape, p))
    raise({
      _tag: 'BadInput',
      where: op,
      reason: `starts [${p.starts.join(', ')}], sizes [${p.sizes.join(', ')}], strides [${p.strides.join(', ')}] leave ${showShape(x.shape)}.`,
    })
  return aval(p.sizes, x.dtype)
}
const showSlice = (p: SliceParams): string =>
  `${showShape(p.starts)} ${showShape(p.sizes)}${p.strides.every((s) => s === 1) ? '' : ` step ${showShape(p.strides)}`}`
const sliceOffset = (shape: readonly number[], p: SliceParams): { offset: number; strides: number[] } => {
  const s = stridesOf(shape)
  return { offset: p.sizes.includes(0) ? 0 : p.starts.reduce((o, b, i) => o + b * s[i]!, 0), strides: s.map((v, i) => v * p.strides[i]!) }
}

export const slicePrimitive: Primitive<'slice', SliceParams, readonly ['float']> = primitive({
  name: 'slice',
  family,
  args: ['float'],
  class: 'layout',
  codec: sliceCodec,
  shapeRule: ([x], p) => sliceShape('slice', x!, p),
  meaning: ([x], p, [out]) => {
    const { offset, strides } = sliceOffset(x!.shape, p)
    forEachIndex(p.sizes, [strides], (o, flat) => {
      out!.data[flat] = x!.data[offset + o[0]!]!
    })
  },
  samples: [
    { args: [{ shape: [5] }], params: { starts: [1], sizes: [3], strides: [1] } },
    { args: [{ shape: [4, 5] }], params: { starts: [0, 4], sizes: [2, 3], strides: [2, -2] } },
    { args: [{ shape: [3, 2] }], params: { starts: [1, 0], sizes: [0, 2], strides: [1, 1] } },
    { args: [{ shape: [] }], params: { starts: [], sizes: [], strides: [] } },
  ],
  showParams: showSlice,
  source: 'NumPy basic slicing',
})

/**
 * x[starts:ends:strides] along each leading axis, Python's way: negative positions count from the end, positions are clipped.
 * With a negative stride, an end of -Infinity reads down to the first element.
 *
 * Shapes  axes beyond starts are kept whole.   Dtype  x's.
 * Rule    xBar = yBar written into zeros at those positions.
 * Errors  BadInput for a stride of 0 or more positions than axes.
 * @example slice(tensor([1, 2, 3, 4]), [1], [3])   // [2, 3]
 */
export const slice = (x: unknown, starts: readonly number[], ends: readonly number[], strides?: readonly number[]): AnyExpr => {
  const n = lift(x, 'slice')
  const shape = n.shape
  listOf(starts, 'starts', 'slice')
  listOf(ends, 'ends', 'slice')
  if (strides !== undefined) listOf(strides, 'strides', 'slice')
  const isPosition = (p: number): boolean => Number.isInteger(p) || p === Infinity || p === -Infinity
  const isStep = (s: number): boolean => Number.isInteger(s) && s !== 0
  if (
    starts.length > shape.length ||
    ends.length !== starts.length ||
    (strides !== undefined && strides.length !== starts.length) ||
    !starts.every(isPosition) ||
    !ends.every(isPosition) ||
    !(strides ?? []).every(isStep)
  )
    raise({
      _tag: 'BadInput',
      where: 'slice',
      reason: `starts ${shown(starts)}, ends ${shown(ends)}, strides ${shown(strides ?? [])} do not fit ${showShape(shape)}.`,
      fix: `give as many whole ends (and non-zero strides) as starts, at most one per axis.`,
    })
  const begin: number[] = []
  const sizes: number[] = []
  const steps: number[] = []
  shape.forEach((d, i) => {
    const step = strides?.[i] ?? 1
    const clip = (p: number, low: number, high: number): number => Math.min(Math.max(p < 0 ? p + d : p, low), high)
    const b = i < starts.length ? (step > 0 ? clip(starts[i]!, 0, d) : clip(starts[i]!, -1, d - 1)) : 0
    const e = i < ends.length ? (step > 0 ? clip(ends[i]!, 0, d) : clip(ends[i]!, -1, d - 1)) : d
    const size = Math.max(0, Math.ceil((e - b) / step))
    begin.push(size === 0 ? 0 : b)
    sizes.push(size)
    steps.push(step)
  })
  return asExpr(sliceNode(n, { starts: begin, sizes, strides: steps }))
}
/** A slice; the whole is x itself. Axes of which one element is read (or none) have stride 1. */
export const sliceNode = (x: Node, p: SliceParams): Node => {
  const strides = p.strides.map((s, i) => (p.sizes[i]! <= 1 ? 1 : s))
  return sameShape(x.shape, p.sizes) && strides.every((s) => s === 1)
    ? x
    : apply(slicePrimitive, [x], { starts: p.starts, sizes: p.sizes, strides })
}

/** A contiguous part of one axis. */
export const sliceAxis = (x: Node, axis: number, start: number, size: number): Node =>
  sliceNode(x, {
    starts: x.shape.map((_, i) => (i === axis ? start : 0)),
    sizes: x.shape.map((d, i) => (i === axis ? size : d)),
    strides: x.shape.map(() => 1),
  })

// ---- sliceAdd: the adjoint of slice, into an accumulator ---------------------------------------------------------------

export const sliceAddPrimitive: Primitive<'sliceAdd', SliceParams, readonly ['float', 'float']> = primitive({
  name: 'sliceAdd',
  family,
  args: ['float', 'float'],
  codec: sliceCodec,
  dtypes: ['number', 'number'],
  shapeRule: ([acc, u], p) => {
    const part = sliceShape('sliceAdd', acc!, p)
    if (!sameAval(part, u!))
      raise({
        _tag: 'ShapeMismatch',
        op: 'sliceAdd',
        shapes: [acc!.shape, u!.shape],
        reason: `the update is ${showShape(u!.shape)}, the block ${showShape(part.shape)}.`,
      })
    return acc!
  },
  meaning: ([acc, u], p, [out]) => {
    out!.data.set(acc!.data as never)
    const { offset, strides } = sliceOffset(acc!.shape, p)
    forEachIndex(p.sizes, [strides], (o, flat) => {
      out!.data[offset + o[0]!]! += u!.data[flat]!
    })
  },
  samples: [
    { args: [{ shape: [5] }, { shape: [3] }], params: { starts: [1], sizes: [3], strides: [1] } },
    { args: [{ shape: [4, 5] }, { shape: [2, 3] }], params: { starts: [0, 4], sizes: [2, 3], strides: [2, -2] } },
    { args: [{ shape: [2] }, { shape: [0] }], params: { starts: [0], sizes: [0], strides: [1] } },
  ],
  showParams: showSlice,
  source: 'adjoint of slice',
})
/** acc with u added at the positions that the slice reads. */
export const sliceAddNode = (acc: Node, u: Node, p: SliceParams): Node => apply(sliceAddPrimitive, [acc, u], p)

/** u written into zeros: the adjoint of slice. Contiguous blocks become one pad. */
export const unsliceNode = (u: Node, shape: readonly number[], p: SliceParams): Node =>
  padNode(
    u,
    p.starts.map((b, i) => (p.sizes[i] === 0 ? 0 : p.strides[i]! > 0 ? b : b + (p.sizes[i]! - 1) * p.strides[i]!)),
    shape,
    p.strides,
  )

// ---- pad -------------------------------------------------------------------------------------------------------------

export interface PadParams {
  /** Position of x's first written element, after reversal of axes with a negative stride. */
  readonly starts: readonly number[]
  /** Shape of the result. */
  readonly shape: readonly number[]
  /** Distance between neighbours of x in the result; negative reverses the axis. */
  readonly strides: readonly number[]
}
const padCodec: t.Type<PadParams> = t.type({ starts: ints, shape: ints, strides: ints })
/** The slice of the padded array that gives x back. */
export const unpadParams = (x: readonly number[], p: PadParams): SliceParams => ({
  starts: p.starts.map((b, i) => (x[i] === 0 ? 0 : p.strides[i]! > 0 ? b : b - (x[i]! - 1) * p.strides[i]!)),
  sizes: x,
  strides: p.strides,
})

export const padPrimitive: Primitive<'pad', PadParams, readonly ['float', 'float']> = primitive({
  name: 'pad',
  family,
  args: ['float', 'float'],
  class: 'layout',
  codec: padCodec,
  shapeRule: ([x, fill], p) => {
    if (fill!.shape.length !== 0 || fill!.dtype !== x!.dtype)
      raise({
        _tag: 'ShapeMismatch',
        op: 'pad',
        shapes: [x!.shape, fill!.shape],
        reason: `the fill must be a ${x!.dtype} scalar, got ${fill!.dtype} ${showShape(fill!.shape)}.`,
      })
    const padded = aval(p.shape, x!.dtype)
    if (!inBounds(p.shape, unpadParams(x!.shape, p)))
      raise({ _tag: 'BadInput', where: 'pad', reason: `${showShape(x!.shape)} at [${p.starts.join(', ')}] leaves ${showShape(p.shape)}.` })
    return padded
  },
  meaning: ([x, fill], p, [out]) => {
    out!.data.fill(fill!.data[0]!)
    const { offset, strides } = sliceOffset(p.shape, unpadParams(x!.shape, p))
    forEachIndex(x!.shape, [strides], (o, flat) => {
      out!.data[offset + o[0]!] = x!.data[flat]!
    })
  },
  samples: [
    { args: [{ shape: [3] }, { shape: [] }], params: { starts: [1], shape: [6], strides: [1] } },
    { args: [{ shape: [2, 2] }, { shape: [] }], params: { starts: [0, 1], shape: [3, 5], strides: [2, 3] } },
    { args: [{ shape: [3] }, { shape: [] }], params: { starts: [0], shape: [5], strides: [-2] } },
    { args: [{ shape: [0] }, { shape: [] }], params: { starts: [0], shape: [2], strides: [1] } },
    { args: [{ shape: [] }, { shape: [] }], params: { starts: [], shape: [], strides: [] } },
  ],
  showParams: (p) => `${showShape(p.starts)} in ${showShape(p.shape)}`,
  source: 'NumPy pad (constant), XLA Pad with interior padding',
})
export const padNode = (
  x: Node,
  starts: readonly number[],
  shape: readonly number[],
  strides: readonly number[],
  fill: Node = constant(0, x.dtype),
): Node => apply(padPrimitive, [x, fill], { starts, shape, strides })

const isPair = (w: unknown): w is readonly [number, number] =>
  Array.isArray(w) && w.length === 2 && typeof w[0] === 'number' && typeof w[1] === 'number'
const showWidths = (widths: readonly (number | readonly [number, number])[]): string =>
  showShape(widths.map((w) => (typeof w === 'number' ? w : `[${w.join(',')}]`)))

/** What `pad` adds: to both ends of every axis (a number), or per leading axis a number or [before, after]. */
export type PadWidths = number | readonly (number | readonly [number, number])[]

/**
 * x with `widths[i] = [before, after]` entries of `value` added along axis i; a number stands for both ends.
 *
 * Shapes  axes beyond widths are kept; one number alone pads every axis.   Dtype  x's; value is cast to it.
 * Rule    xBar = yBar without the padding; valueBar = the sum of yBar over the padding.
 * Errors  BadInput for negative widths or more widths than axes.
 * @example pad(tensor([1, 2]), [[1, 0]])   // [0, 1, 2]
 */
export const pad = (x: unknown, widths: PadWidths, value: unknown = 0): AnyExpr => {
  const n = lift(x, 'pad')
  const list = typeof widths === 'number' ? n.shape.map(() => widths) : (listOf(widths, 'widths', 'pad') as typeof widths)
  const ends = Array.from(list, (w) => (typeof w === 'number' ? ([w, w] as const) : w))
  const isWidth = (k: unknown): boolean => Number.isInteger(k) && (k as number) >= 0
  if (
    ends.length > n.shape.length ||
    !isWidth(typeof widths === 'number' ? widths : 0) ||
    !ends.every((w) => isPair(w) && w.every(isWidth))
  )
    raise({
      _tag: 'BadInput',
      where: 'pad',
      reason: `widths ${typeof widths !== 'number' && ends.every(isPair) ? showWidths(widths) : shown(widths)} do not fit ${showShape(n.shape)}.`,
      fix: `one [before, after] of non-negative integers per axis.`,
    })
  const at = (i: number) => ends[i] ?? ([0, 0] as const)
  if (ends.every(([a, b]) => a === 0 && b === 0)) return asExpr(n)
  return asExpr(
    padNode(
      n,
      n.shape.map((_, i) => at(i)[0]),
      n.shape.map((d, i) => at(i)[0] + d + at(i)[1]),
      n.shape.map(() => 1),
      castNode(lift(value, 'pad', n.dtype), n.dtype),
    ),
  )
}
