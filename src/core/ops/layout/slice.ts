/** Layout: parts of an array and their adjoints: slice, sliceAdd (into an accumulator), pad. */
import { badInput, badShape, showShape } from '../../errors/explain.js'
import { type Aval, aval, sameAval } from '../../graph/aval.js'
import { type Codec, ints, record } from '../../graph/codec.js'
import { apply, constant, type Node } from '../../graph/expr.js'
import { copyAll } from '../../graph/ndarray.js'
import { type Primitive, primitive } from '../../graph/primitive.js'
import { forEachIndex, sameShape, stridesOf } from '../../graph/shape.js'
import { reshapeNode } from './move.js'

const family = 'layout'

// ---- slice -----------------------------------------------------------------------------------------------------------

export interface SliceParams {
  readonly starts: readonly number[]
  readonly sizes: readonly number[]
  /** Steps may be negative; `starts` then names the first element read. */
  readonly strides: readonly number[]
}
/** What a slice reads along one axis. */
export interface AxisPart {
  readonly start: number
  readonly size: number
  readonly stride: number
}
/** Python's start:end:step on an axis: negative positions count from the end, positions are clipped, an end left out reads to the end. */
export const partOfAxis = (start: number | undefined, end: number | undefined, step: number, length: number): AxisPart => {
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1]
  const clip = (p: number): number => Math.min(Math.max(p < 0 ? p + length : p, low), high)
  const [first, past] = step > 0 ? [low, high] : [high, low]
  const from = start === undefined ? first : clip(start)
  const size = Math.max(0, Math.ceil(((end === undefined ? past : clip(end)) - from) / step))
  return { start: size === 0 ? 0 : from, size, stride: step }
}

const sliceCodec: Codec<SliceParams> = record({ starts: ints, sizes: ints, strides: ints })
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
    badInput(
      op,
      `starts [${p.starts.join(', ')}], sizes [${p.sizes.join(', ')}], strides [${p.strides.join(', ')}] leave ${showShape(x.shape)}.`,
    )
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
  unbounded: false,
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

/** The k-th diagonals of matrices, above the main one for a positive k. */
export const diagonalNode = (n: Node, k: number): Node => {
  const lead = n.shape.slice(0, -2)
  const [rows, width] = n.shape.slice(-2) as [number, number]
  const length = Math.max(0, Math.min(rows + Math.min(k, 0), width - Math.max(k, 0)))
  return sliceNode(reshapeNode(n, [...lead, rows * width]), {
    starts: [...lead.map(() => 0), length === 0 ? 0 : k >= 0 ? k : -k * width],
    sizes: [...lead, length],
    strides: [...lead.map(() => 1), width + 1],
  })
}

// ---- sliceAdd: the adjoint of slice, into an accumulator ---------------------------------------------------------------

export const sliceAddPrimitive: Primitive<'sliceAdd', SliceParams, readonly ['float', 'float']> = primitive({
  name: 'sliceAdd',
  structure: { kind: 'adds', reader: slicePrimitive },
  unbounded: false,
  family,
  args: ['float', 'float'],
  codec: sliceCodec,
  dtypes: ['number', 'number'],
  shapeRule: ([acc, u], p) => {
    const part = sliceShape('sliceAdd', acc!, p)
    if (!sameAval(part, u!))
      badShape('sliceAdd', [acc!.shape, u!.shape], `the update is ${showShape(u!.shape)}, the block ${showShape(part.shape)}.`)
    return acc!
  },
  meaning: ([acc, u], p, [out]) => {
    copyAll(out!.data, acc!.data)
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
const padCodec: Codec<PadParams> = record({ starts: ints, shape: ints, strides: ints })
/** The slice of the padded array that gives x back. */
export const unpadParams = (x: readonly number[], p: PadParams): SliceParams => ({
  starts: p.starts.map((b, i) => (x[i] === 0 ? 0 : p.strides[i]! > 0 ? b : b - (x[i]! - 1) * p.strides[i]!)),
  sizes: x,
  strides: p.strides,
})

export const padPrimitive: Primitive<'pad', PadParams, readonly ['float', 'float']> = primitive({
  name: 'pad',
  unbounded: false,
  family,
  args: ['float', 'float'],
  class: 'layout',
  codec: padCodec,
  shapeRule: ([x, fill], p) => {
    if (fill!.shape.length !== 0 || fill!.dtype !== x!.dtype)
      badShape('pad', [x!.shape, fill!.shape], `the fill must be a ${x!.dtype} scalar, got ${fill!.dtype} ${showShape(fill!.shape)}.`)
    const padded = aval(p.shape, x!.dtype)
    if (!inBounds(p.shape, unpadParams(x!.shape, p)))
      badInput('pad', `${showShape(x!.shape)} at [${p.starts.join(', ')}] leaves ${showShape(p.shape)}.`)
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
