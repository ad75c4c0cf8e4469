/** Layout: operations whose result elements are copies of argument elements (or a fill). */
import * as t from 'io-ts'
import { type Aval, aval, sameAval } from '../aval.js'
import { raise } from '../explain.js'
import { apply, applyMulti, asExpr, type Node } from '../expr.js'
import { lift, liftAll } from '../lift.js'
import { type Primitive, primitive } from '../primitive.js'
import { broadcastStrides, forEachIndex, normalizeAxis, range, sameShape, showShape, sizeOf, stridesOf } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'

const ints = t.readonlyArray(t.number)
const family = 'layout'

/** Raises BadInput unless the axis exists; counts from the front. */
export const axisOf = (axis: number, rank: number, op: string): number =>
  normalizeAxis(axis, rank) ??
  raise({ _tag: 'BadInput', where: op, reason: `axis ${axis} is out of range for rank ${rank}.`, fix: `axes go from ${-rank} to ${rank - 1}.` })

// ---- broadcastTo -----------------------------------------------------------------------------------------------------

export interface ShapeParams {
  readonly shape: readonly number[]
}
const shapeCodec: t.Type<ShapeParams> = t.type({ shape: ints })

export const broadcastToPrimitive: Primitive<'broadcastTo', ShapeParams, readonly ['float']> = primitive({
  name: 'broadcastTo',
  family,
  args: ['float'],
  class: 'layout',
  codec: shapeCodec,
  shapeRule: ([x], { shape }) => {
    const from = x!.shape
    const off = shape.length - from.length
    if (off < 0 || from.some((d, i) => d !== 1 && d !== shape[i + off]))
      raise({ _tag: 'ShapeMismatch', op: 'broadcastTo', shapes: [from, shape], reason: `${showShape(from)} does not broadcast to ${showShape(shape)}.`, fix: `axes must be 1 or equal, counted from the last.` })
    return aval(shape, x!.dtype)
  },
  meaning: ([x], { shape }, [out]) => {
    forEachIndex(shape, [broadcastStrides(x!.shape, shape)], (o, flat) => {
      out!.data[flat] = x!.data[o[0]!]!
    })
  },
  samples: [
    { args: [{ shape: [] }], params: { shape: [2, 3] } },
    { args: [{ shape: [3, 1] }], params: { shape: [2, 3, 4] } },
    { args: [{ shape: [1, 3] }], params: { shape: [2, 3] } },
    { args: [{ shape: [1] }], params: { shape: [0] } },
    { args: [{ shape: [2] }], params: { shape: [2] } },
  ],
  showParams: ({ shape }) => showShape(shape),
  source: 'NumPy broadcasting rules',
})

/**
 * x repeated along new leading axes and along axes of length 1.
 *
 * Shapes  x: broadcastable to shape -> shape.   Dtype  x's.
 * Rule    dy = broadcast dx; xBar = yBar summed over the repeated axes.   Source  NumPy broadcasting.
 * Errors  ShapeMismatch when x does not broadcast to shape.
 * @example broadcastTo([1, 2], [2, 2])   // [[1, 2], [1, 2]]
 */
export const broadcastTo = (x: unknown, shape: readonly number[]): AnyExpr => asExpr(broadcastNode(lift(x, 'broadcastTo'), shape))
export const broadcastNode = (x: Node, shape: readonly number[]): Node => (sameShape(x.aval.shape, shape) ? x : apply(broadcastToPrimitive, [x], { shape }))

// ---- reshape ---------------------------------------------------------------------------------------------------------

export const reshapePrimitive: Primitive<'reshape', ShapeParams, readonly ['float']> = primitive({
  name: 'reshape',
  family,
  args: ['float'],
  class: 'layout',
  codec: shapeCodec,
  shapeRule: ([x], { shape }) => {
    if (sizeOf(shape) !== x!.size)
      raise({ _tag: 'ShapeMismatch', op: 'reshape', shapes: [x!.shape, shape], reason: `${showShape(x!.shape)} has ${x!.size} elements, ${showShape(shape)} has ${sizeOf(shape)}.`, fix: `one axis may be -1.` })
    return aval(shape, x!.dtype)
  },
  meaning: ([x], _params, [out]) => {
    out!.data.set(x!.data as never)
  },
  samples: [
    { args: [{ shape: [2, 3] }], params: { shape: [3, 2] } },
    { args: [{ shape: [] }], params: { shape: [1, 1] } },
    { args: [{ shape: [0, 3] }], params: { shape: [2, 0] } },
    { args: [{ shape: [4] }], params: { shape: [2, 1, 2] } },
  ],
  showParams: ({ shape }) => showShape(shape),
  source: 'NumPy reshape, order C',
})

/**
 * The same elements in row-major order under another shape; one axis may be -1.
 *
 * Rule    dy = reshape dx; xBar = yBar in x's shape.
 * Errors  ShapeMismatch when the sizes differ.
 * @example reshape([[1, 2], [3, 4]], [4])   // [1, 2, 3, 4]
 */
export const reshape = (x: unknown, shape: readonly number[]): AnyExpr => {
  const n = lift(x, 'reshape')
  const unknown = shape.indexOf(-1)
  if (unknown < 0) return asExpr(reshapeNode(n, shape))
  const rest = shape.reduce((a, d, i) => (i === unknown ? a : a * d), 1)
  const d = rest === 0 ? 0 : n.aval.size / rest
  if (!Number.isInteger(d) || shape.indexOf(-1, unknown + 1) >= 0 || (rest === 0 && n.aval.size !== 0))
    raise({ _tag: 'ShapeMismatch', op: 'reshape', shapes: [n.shape, shape], reason: `${showShape(n.shape)} does not divide into ${showShape(shape)}.`, fix: `at most one axis may be -1, and the others must divide ${n.aval.size}.` })
  return asExpr(reshapeNode(n, shape.map((s, i) => (i === unknown ? d : s))))
}
export const reshapeNode = (x: Node, shape: readonly number[]): Node => (sameShape(x.aval.shape, shape) ? x : apply(reshapePrimitive, [x], { shape: [...shape] }))

// ---- transpose -------------------------------------------------------------------------------------------------------

export interface PermParams {
  readonly perm: readonly number[]
}

export const transposePrimitive: Primitive<'transpose', PermParams, readonly ['float']> = primitive({
  name: 'transpose',
  family,
  args: ['float'],
  class: 'layout',
  codec: t.type({ perm: ints }),
  shapeRule: ([x], { perm }) => {
    const s = x!.shape
    if (perm.length !== s.length || [...perm].sort((a, b) => a - b).some((p, i) => p !== i))
      raise({ _tag: 'BadInput', where: 'transpose', reason: `[${perm.join(', ')}] is not a permutation of the axes of ${showShape(s)}.` })
    return aval(perm.map((p) => s[p]!), x!.dtype)
  },
  meaning: ([x], { perm }, [out]) => {
    const strides = stridesOf(x!.shape)
    forEachIndex(out!.shape, [perm.map((p) => strides[p]!)], (o, flat) => {
      out!.data[flat] = x!.data[o[0]!]!
    })
  },
  samples: [
    { args: [{ shape: [2, 3] }], params: { perm: [1, 0] } },
    { args: [{ shape: [2, 3, 4] }], params: { perm: [2, 0, 1] } },
    { args: [{ shape: [] }], params: { perm: [] } },
    { args: [{ shape: [0, 2] }], params: { perm: [1, 0] } },
  ],
  showParams: ({ perm }) => `[${perm.join(', ')}]`,
  source: 'NumPy transpose',
})

/**
 * Axes permuted; without `axes` the last two are swapped (a matrix transpose, batched).
 *
 * Rule    dy = transpose dx; xBar = yBar with the inverse permutation.
 * Errors  BadInput when axes is not a permutation; ShapeMismatch below rank 2 without axes.
 * @example transpose([[1, 2, 3]])   // [[1], [2], [3]]
 */
export const transpose = (x: unknown, axes?: readonly number[]): AnyExpr => {
  const n = lift(x, 'transpose')
  const rank = n.shape.length
  if (axes === undefined) {
    if (rank < 2) raise({ _tag: 'ShapeMismatch', op: 'transpose', shapes: [n.shape], reason: `needs rank 2 or more, got ${showShape(n.shape)}.`, fix: `expandDims first.` })
    return asExpr(swapLast(n))
  }
  return asExpr(transposeNode(n, axes.map((a) => axisOf(a, rank, 'transpose'))))
}
export const transposeNode = (x: Node, perm: readonly number[]): Node => (perm.every((p, i) => p === i) && perm.length === x.shape.length ? x : apply(transposePrimitive, [x], { perm }))
/** Matrix transpose of the last two axes. */
export const swapLast = (x: Node): Node => {
  const r = x.shape.length
  return apply(transposePrimitive, [x], { perm: [...range(r - 2), r - 1, r - 2] })
}

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
    return Number.isInteger(n) && n >= 0 && p.strides[i] !== 0 && (n === 0 || (p.starts[i]! >= 0 && p.starts[i]! < d && last >= 0 && last < d))
  })
const sliceShape = (op: string, x: Aval, p: SliceParams): Aval => {
  if (!inBounds(x.shape, p))
    raise({ _tag: 'BadInput', where: op, reason: `starts [${p.starts.join(', ')}], sizes [${p.sizes.join(', ')}], strides [${p.strides.join(', ')}] leave ${showShape(x.shape)}.` })
  return aval(p.sizes, x.dtype)
}
const showSlice = (p: SliceParams): string => `${showShape(p.starts)} ${showShape(p.sizes)}${p.strides.every((s) => s === 1) ? '' : ` step ${showShape(p.strides)}`}`
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
 *
 * Shapes  axes beyond starts are kept whole.   Dtype  x's.
 * Rule    xBar = yBar written into zeros at those positions.
 * Errors  BadInput for a stride of 0 or more positions than axes.
 * @example slice([1, 2, 3, 4], [1], [3])   // [2, 3]
 */
export const slice = (x: unknown, starts: readonly number[], ends: readonly number[], strides?: readonly number[]): AnyExpr => {
  const n = lift(x, 'slice')
  const shape = n.shape
  if (starts.length > shape.length || ends.length !== starts.length || (strides !== undefined && strides.length !== starts.length) || strides?.includes(0))
    raise({ _tag: 'BadInput', where: 'slice', reason: `starts [${starts.join(', ')}], ends [${ends.join(', ')}], strides [${strides?.join(', ') ?? ''}] do not fit ${showShape(shape)}.`, fix: `give as many ends (and non-zero strides) as starts, at most one per axis.` })
  const begin: number[] = []
  const sizes: number[] = []
  const steps: number[] = []
  shape.forEach((d, i) => {
    const step = strides?.[i] ?? 1
    const clip = (p: number, low: number, high: number): number => Math.min(Math.max(p < 0 ? p + d : p, low), high)
    const b = i < starts.length ? (step > 0 ? clip(starts[i]!, 0, d) : clip(starts[i]!, -1, d - 1)) : 0
    const e = i < ends.length ? (step > 0 ? clip(ends[i]!, 0, d) : ends[i]! < -d ? -1 : clip(ends[i]!, -1, d - 1)) : d
    const size = Math.max(0, Math.ceil((e - b) / step))
    begin.push(size === 0 ? 0 : b)
    sizes.push(size)
    steps.push(step)
  })
  return asExpr(sliceNode(n, { starts: begin, sizes, strides: steps }))
}
export const sliceNode = (x: Node, p: SliceParams): Node =>
  sameShape(x.shape, p.sizes) && p.strides.every((s) => s === 1) ? x : apply(slicePrimitive, [x], p)

/** A contiguous part of one axis. */
export const sliceAxis = (x: Node, axis: number, start: number, size: number): Node =>
  sliceNode(x, { starts: x.shape.map((_, i) => (i === axis ? start : 0)), sizes: x.shape.map((d, i) => (i === axis ? size : d)), strides: x.shape.map(() => 1) })

// ---- sliceAdd: the adjoint of slice, into an accumulator ---------------------------------------------------------------

export const sliceAddPrimitive: Primitive<'sliceAdd', SliceParams, readonly ['float', 'float']> = primitive({
  name: 'sliceAdd',
  family,
  args: ['float', 'float'],
  codec: sliceCodec,
  shapeRule: ([acc, u], p) => {
    const part = sliceShape('sliceAdd', acc!, p)
    if (!sameAval(part, u!)) raise({ _tag: 'ShapeMismatch', op: 'sliceAdd', shapes: [acc!.shape, u!.shape], reason: `the update is ${showShape(u!.shape)}, the block ${showShape(part.shape)}.` })
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
    if (fill!.shape.length !== 0 || fill!.dtype !== x!.dtype) raise({ _tag: 'ShapeMismatch', op: 'pad', shapes: [x!.shape, fill!.shape], reason: `the fill must be a ${x!.dtype} scalar, got ${fill!.dtype} ${showShape(fill!.shape)}.` })
    const padded = aval(p.shape, x!.dtype)
    if (!inBounds(p.shape, unpadParams(x!.shape, p))) raise({ _tag: 'BadInput', where: 'pad', reason: `${showShape(x!.shape)} at [${p.starts.join(', ')}] leaves ${showShape(p.shape)}.` })
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
const padNode = (x: Node, starts: readonly number[], shape: readonly number[], strides: readonly number[], fill: Node = lift(0, 'pad', x.dtype)): Node =>
  apply(padPrimitive, [x, fill], { starts, shape, strides })

/**
 * x with `widths[i] = [before, after]` entries of `value` added along axis i.
 *
 * Rule    xBar = yBar without the padding; valueBar = the sum of yBar over the padding.
 * Errors  BadInput for negative widths or more widths than axes.
 * @example pad([1, 2], [[1, 0]])   // [0, 1, 2]
 */
export const pad = (x: unknown, widths: readonly (readonly [number, number])[], value: unknown = 0): AnyExpr => {
  const n = lift(x, 'pad')
  if (widths.length > n.shape.length || widths.some(([a, b]) => !(Number.isInteger(a) && Number.isInteger(b) && a >= 0 && b >= 0)))
    raise({ _tag: 'BadInput', where: 'pad', reason: `widths ${JSON.stringify(widths)} do not fit ${showShape(n.shape)}.`, fix: `one [before, after] of non-negative integers per axis.` })
  const at = (i: number) => widths[i] ?? ([0, 0] as const)
  if (widths.every(([a, b]) => a === 0 && b === 0)) return asExpr(n)
  return asExpr(
    padNode(
      n,
      n.shape.map((_, i) => at(i)[0]),
      n.shape.map((d, i) => at(i)[0] + d + at(i)[1]),
      n.shape.map(() => 1),
      lift(value, 'pad', n.dtype),
    ),
  )
}

// ---- concat and split --------------------------------------------------------------------------------------------------

export interface AxisParams {
  readonly axis: number
}
export const axisCodec: t.Type<AxisParams> = t.type({ axis: t.number })

export const concatPrimitive: Primitive<'concat', AxisParams, readonly 'float'[]> = primitive({
  name: 'concat',
  family,
  args: ['float'] as readonly 'float'[],
  variadic: true,
  class: 'layout',
  codec: axisCodec,
  shapeRule: (xs, { axis }) => {
    const [first] = xs
    if (first === undefined) return raise({ _tag: 'BadInput', where: 'concat', reason: 'nothing to concatenate.', fix: 'pass at least one array.' })
    for (const x of xs)
      if (x.shape.length !== first.shape.length || x.dtype !== first.dtype || x.shape.some((d, i) => i !== axis && d !== first.shape[i]))
        raise({ _tag: 'ShapeMismatch', op: 'concat', shapes: xs.map((y) => y.shape), reason: `${showShape(first.shape)} and ${showShape(x.shape)} differ away from axis ${axis}.`, fix: `all other axes must be equal.` })
    return aval(first.shape.map((d, i) => (i === axis ? xs.reduce((n, x) => n + x.shape[axis]!, 0) : d)), first.dtype)
  },
  meaning: (xs, { axis }, [out]) => {
    const strides = stridesOf(out!.shape)
    let at = 0
    for (const x of xs) {
      const offset = at * strides[axis]!
      forEachIndex(x.shape, [strides], (o, flat) => {
        out!.data[offset + o[0]!] = x.data[flat]!
      })
      at += x.shape[axis]!
    }
  },
  samples: [
    { args: [{ shape: [2] }, { shape: [3] }], params: { axis: 0 } },
    { args: [{ shape: [2, 1] }, { shape: [2, 3] }, { shape: [2, 0] }], params: { axis: 1 } },
    { args: [{ shape: [1, 2, 2] }], params: { axis: 0 } },
  ],
  showParams: ({ axis }) => `axis ${axis}`,
  source: 'NumPy concatenate',
})
export const concatNode = (xs: readonly Node[], axis: number): Node => (xs.length === 1 ? xs[0]! : apply(concatPrimitive, xs, { axis }))

/**
 * Arrays joined along an axis (the first by default).
 *
 * Rule    xBar_i = the part of yBar that came from x_i.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays.
 * @example concat([[1, 2], [3]])   // [1, 2, 3]
 */
export const concat = (xs: readonly unknown[], options: { readonly axis?: number } = {}): AnyExpr => {
  const ns = liftAll(xs, 'concat')
  if (ns.length === 0) raise({ _tag: 'BadInput', where: 'concat', reason: 'nothing to concatenate.', fix: 'pass at least one array.' })
  return asExpr(concatNode(ns, axisOf(options.axis ?? 0, ns[0]!.shape.length, 'concat')))
}

export interface SplitParams {
  readonly axis: number
  readonly sizes: readonly number[]
}

export const splitPrimitive: Primitive<'split', SplitParams, readonly ['float']> = primitive({
  name: 'split',
  family,
  args: ['float'],
  multi: true,
  class: 'layout',
  codec: t.type({ axis: t.number, sizes: ints }),
  shapeRule: ([x], { axis, sizes }) => {
    if (sizes.reduce((a, b) => a + b, 0) !== x!.shape[axis])
      raise({ _tag: 'ShapeMismatch', op: 'split', shapes: [x!.shape, sizes], reason: `sizes ${showShape(sizes)} do not add up to ${x!.shape[axis]} (axis ${axis} of ${showShape(x!.shape)}).` })
    return sizes.map((n) => aval(x!.shape.map((d, i) => (i === axis ? n : d)), x!.dtype))
  },
  meaning: ([x], { axis, sizes }, outs) => {
    const strides = stridesOf(x!.shape)
    let at = 0
    sizes.forEach((n, k) => {
      const offset = at * strides[axis]!
      forEachIndex(outs[k]!.shape, [strides], (o, flat) => {
        outs[k]!.data[flat] = x!.data[offset + o[0]!]!
      })
      at += n
    })
  },
  samples: [
    { args: [{ shape: [6] }], params: { axis: 0, sizes: [2, 4] } },
    { args: [{ shape: [2, 5] }], params: { axis: 1, sizes: [1, 0, 4] } },
    { args: [{ shape: [3, 2] }], params: { axis: 0, sizes: [3] } },
  ],
  showParams: ({ axis, sizes }) => `axis ${axis} ${showShape(sizes)}`,
  source: 'NumPy split',
})

/**
 * x cut along an axis (the first by default) into n equal parts, or parts of the given sizes.
 *
 * Rule    xBar = concat of the parts' cotangents: one buffer, no zero fills.
 * Errors  ShapeMismatch when n does not divide the axis or the sizes do not add up to it.
 * @example split([1, 2, 3, 4], 2)   // [[1, 2], [3, 4]]
 */
export const split = (x: unknown, parts: number | readonly number[], options: { readonly axis?: number } = {}): AnyExpr[] => {
  const n = lift(x, 'split')
  const axis = axisOf(options.axis ?? 0, n.shape.length, 'split')
  const d = n.shape[axis]!
  if (typeof parts === 'number' && !(Number.isInteger(parts) && parts > 0 && d % parts === 0))
    raise({ _tag: 'ShapeMismatch', op: 'split', shapes: [n.shape], reason: `${parts} equal parts do not divide axis ${axis} of ${showShape(n.shape)}.`, fix: `give the sizes.` })
  const sizes = typeof parts === 'number' ? new Array<number>(parts).fill(d / parts) : parts
  return splitNode(n, axis, sizes).map(asExpr)
}
export const splitNode = (x: Node, axis: number, sizes: readonly number[]): readonly Node[] => applyMulti(splitPrimitive, [x], { axis, sizes })

// ---- compositions ------------------------------------------------------------------------------------------------------

/**
 * A new axis of length 1 at `axis` of the result.
 * @example expandDims([1, 2], 0)   // [[1, 2]]
 */
export const expandDims = (x: unknown, axis: number): AnyExpr => {
  const n = lift(x, 'expandDims')
  const at = axisOf(axis, n.shape.length + 1, 'expandDims')
  return asExpr(reshapeNode(n, [...n.shape.slice(0, at), 1, ...n.shape.slice(at)]))
}

/**
 * x without its axes of length 1, or without those named.
 * Errors  BadInput when a named axis is not 1.
 * @example squeeze([[1, 2]])   // [1, 2]
 */
export const squeeze = (x: unknown, axis?: number | readonly number[]): AnyExpr => {
  const n = lift(x, 'squeeze')
  const axes = axis === undefined ? n.shape.flatMap((d, i) => (d === 1 ? [i] : [])) : (typeof axis === 'number' ? [axis] : axis).map((a) => axisOf(a, n.shape.length, 'squeeze'))
  for (const a of axes) if (n.shape[a] !== 1) raise({ _tag: 'BadInput', where: 'squeeze', reason: `axis ${a} of ${showShape(n.shape)} is ${n.shape[a]}, not 1.` })
  return asExpr(reshapeNode(n, n.shape.filter((_, i) => !axes.includes(i))))
}

/**
 * Arrays of one shape joined along a new axis (the first by default).
 * @example stack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const stack = (xs: readonly unknown[], options: { readonly axis?: number } = {}): AnyExpr => {
  const ns = liftAll(xs, 'stack')
  if (ns.length === 0) raise({ _tag: 'BadInput', where: 'stack', reason: 'nothing to stack.', fix: 'pass at least one array.' })
  const shape = ns[0]!.shape
  for (const n of ns) if (!sameShape(n.shape, shape)) raise({ _tag: 'ShapeMismatch', op: 'stack', shapes: ns.map((m) => m.shape), reason: `${showShape(shape)} and ${showShape(n.shape)} differ.`, fix: `stack joins arrays of one shape; use concat otherwise.` })
  const axis = axisOf(options.axis ?? 0, shape.length + 1, 'stack')
  return asExpr(concatNode(ns.map((n) => reshapeNode(n, [...shape.slice(0, axis), 1, ...shape.slice(axis)])), axis))
}

/**
 * The slices of x along an axis (the first by default), without that axis.
 * @example unstack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const unstack = (x: unknown, options: { readonly axis?: number } = {}): AnyExpr[] => {
  const n = lift(x, 'unstack')
  const axis = axisOf(options.axis ?? 0, n.shape.length, 'unstack')
  const rest = n.shape.filter((_, i) => i !== axis)
  return splitNode(n, axis, new Array<number>(n.shape[axis]!).fill(1)).map((y) => asExpr(reshapeNode(y, rest)))
}

/**
 * x reversed along the axes (all by default).
 * @example flip([1, 2, 3])   // [3, 2, 1]
 */
export const flip = (x: unknown, axis?: number | readonly number[]): AnyExpr => {
  const n = lift(x, 'flip')
  const axes = axis === undefined ? range(n.shape.length) : (typeof axis === 'number' ? [axis] : axis).map((a) => axisOf(a, n.shape.length, 'flip'))
  return asExpr(sliceNode(n, { starts: n.shape.map((d, i) => (axes.includes(i) ? Math.max(0, d - 1) : 0)), sizes: n.shape, strides: n.shape.map((_, i) => (axes.includes(i) ? -1 : 1)) }))
}

/**
 * x rotated by `shift` places along an axis (the first by default): element i goes to i + shift.
 * @example roll([1, 2, 3], 1)   // [3, 1, 2]
 */
export const roll = (x: unknown, shift: number, options: { readonly axis?: number } = {}): AnyExpr => {
  const n = lift(x, 'roll')
  const axis = axisOf(options.axis ?? 0, n.shape.length, 'roll')
  const d = n.shape[axis]!
  const k = d === 0 ? 0 : ((shift % d) + d) % d
  return k === 0 ? asExpr(n) : asExpr(concatNode([sliceAxis(n, axis, d - k, k), sliceAxis(n, axis, 0, d - k)], axis))
}

/**
 * x repeated as a whole `reps[i]` times along each axis.
 * @example tile([1, 2], [2])   // [1, 2, 1, 2]
 */
export const tile = (x: unknown, reps: readonly number[]): AnyExpr => {
  const n = lift(x, 'tile')
  const rank = Math.max(n.shape.length, reps.length)
  const shape = [...new Array<number>(rank - n.shape.length).fill(1), ...n.shape]
  const r = [...new Array<number>(rank - reps.length).fill(1), ...reps]
  if (r.some((k) => !Number.isInteger(k) || k < 0)) raise({ _tag: 'BadInput', where: 'tile', reason: `reps [${reps.join(', ')}] must be non-negative integers.` })
  const wide = reshapeNode(n, shape.flatMap((d) => [1, d]))
  return asExpr(reshapeNode(broadcastNode(wide, shape.flatMap((d, i) => [r[i]!, d])), shape.map((d, i) => d * r[i]!)))
}

/**
 * Each element of x repeated `times` times along an axis (the first by default).
 * @example repeat([1, 2], 2)   // [1, 1, 2, 2]
 */
export const repeat = (x: unknown, times: number, options: { readonly axis?: number } = {}): AnyExpr => {
  const n = lift(x, 'repeat')
  const axis = axisOf(options.axis ?? 0, n.shape.length, 'repeat')
  if (!Number.isInteger(times) || times < 0) raise({ _tag: 'BadInput', where: 'repeat', reason: `${times} is not a number of repetitions.` })
  const at = (k: number): number[] => [...n.shape.slice(0, axis + 1), k, ...n.shape.slice(axis + 1)]
  return asExpr(reshapeNode(broadcastNode(reshapeNode(n, at(1)), at(times)), n.shape.map((d, i) => (i === axis ? d * times : d))))
}

/** Primitives of this family, by name. */
export const layout = {
  broadcastTo: broadcastToPrimitive,
  reshape: reshapePrimitive,
  transpose: transposePrimitive,
  slice: slicePrimitive,
  sliceAdd: sliceAddPrimitive,
  pad: padPrimitive,
  concat: concatPrimitive,
  split: splitPrimitive,
} as const
