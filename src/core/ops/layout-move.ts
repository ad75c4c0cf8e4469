/** Layout: the same elements under another shape: broadcastTo, reshape, transpose, expandDims, squeeze. */
import * as t from 'io-ts'
import { aval, shapeGiven } from '../aval.js'
import { raise } from '../explain.js'
import { apply, asExpr, type Node } from '../expr.js'
import { listOf, type Names, shown } from '../given.js'
import { lift } from '../lift.js'
import { naturals } from '../params.js'
import { type Primitive, primitive } from '../primitive.js'
import { broadcastStrides, forEachIndex, normalizeAxis, range, sameShape, showShape, sizeOf, stridesOf } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'

const family = 'layout'

/** Which axis an operation runs along. */
export interface AxisOptions {
  readonly axis?: number
}
/** The options of an operation along one axis (or more). */
export const axisOption: Names<AxisOptions> = { axis: true }
/** Raises BadInput unless the axis exists; counts from the front. */
export const axisOf = (axis: number, rank: number, op: string): number =>
  normalizeAxis(axis, rank) ??
  raise({
    _tag: 'BadInput',
    where: op,
    reason: `axis ${shown(axis)} is ${Number.isInteger(axis) ? `out of range for rank ${rank}` : 'not a whole number'}.`,
    fix: rank === 0 ? `a scalar has no axes.` : `axes go from ${-rank} to ${rank - 1}.`,
  })

/** A list of axes, or one, each as `axisOf` has it. */
export const axesIn = (axes: number | readonly number[], rank: number, op: string): readonly number[] =>
  Array.isArray(axes) ? Array.from(axes as readonly number[], (a) => axisOf(a, rank, op)) : [axisOf(axes as number, rank, op)]

/** As `axesIn`; raises BadInput for an axis named twice. */
export const distinctAxes = (axes: number | readonly number[], rank: number, op: string): readonly number[] => {
  const out = axesIn(axes, rank, op)
  if (new Set(out).size !== out.length) raise({ _tag: 'BadInput', where: op, reason: `axes ${shown(axes)} name an axis twice.` })
  return out
}

// ---- broadcastTo -----------------------------------------------------------------------------------------------------

export interface ShapeParams {
  readonly shape: readonly number[]
}
const shapeCodec: t.Type<ShapeParams> = t.type({ shape: naturals })

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
      raise({
        _tag: 'ShapeMismatch',
        op: 'broadcastTo',
        shapes: [from, shape],
        reason: `${showShape(from)} does not broadcast to ${showShape(shape)}.`,
        fix: `axes must be 1 or equal, counted from the last.`,
      })
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
 * Errors  ShapeMismatch when x does not broadcast to shape; BadInput for what is not a shape.
 * @example broadcastTo([1, 2], [2, 2])   // [[1, 2], [1, 2]]
 */
export const broadcastTo = (x: unknown, shape: readonly number[]): AnyExpr =>
  asExpr(broadcastNode(lift(x, 'broadcastTo'), shapeGiven(shape, 'broadcastTo')))
export const broadcastNode = (x: Node, shape: readonly number[]): Node =>
  sameShape(x.aval.shape, shape) ? x : apply(broadcastToPrimitive, [x], { shape })

// ---- reshape ---------------------------------------------------------------------------------------------------------

export const reshapePrimitive: Primitive<'reshape', ShapeParams, readonly ['float']> = primitive({
  name: 'reshape',
  family,
  args: ['float'],
  class: 'layout',
  codec: shapeCodec,
  shapeRule: ([x], { shape }) => {
    if (sizeOf(shape) !== x!.size)
      raise({
        _tag: 'ShapeMismatch',
        op: 'reshape',
        shapes: [x!.shape, shape],
        reason: `${showShape(x!.shape)} has ${x!.size} elements, ${showShape(shape)} has ${sizeOf(shape)}.`,
        fix: `one axis may be -1.`,
      })
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
 * Errors  ShapeMismatch when the sizes differ; BadInput for what is not a shape.
 * @example reshape([[1, 2], [3, 4]], [4])   // [1, 2, 3, 4]
 */
export const reshape = (x: unknown, shape: readonly number[]): AnyExpr => {
  const n = lift(x, 'reshape')
  shapeGiven(shape, 'reshape')
  const unknown = shape.indexOf(-1)
  if (unknown < 0) return asExpr(reshapeNode(n, shape))
  const rest = shape.reduce((a, d, i) => (i === unknown ? a : a * d), 1)
  const d = n.aval.size / rest
  if (rest === 0 && n.aval.size === 0)
    raise({
      _tag: 'BadInput',
      where: 'reshape',
      reason: `${showShape(shape)} is ambiguous: any length fits in the place of -1 beside an axis of 0.`,
      fix: 'write the length out.',
    })
  if (!Number.isInteger(d) || shape.indexOf(-1, unknown + 1) >= 0 || rest === 0)
    raise({
      _tag: 'ShapeMismatch',
      op: 'reshape',
      shapes: [n.shape, shape],
      reason: `${showShape(n.shape)} does not divide into ${showShape(shape)}.`,
      fix: `at most one axis may be -1, and the others must divide ${n.aval.size}.`,
    })
  return asExpr(
    reshapeNode(
      n,
      shape.map((s, i) => (i === unknown ? d : s)),
    ),
  )
}
export const reshapeNode = (x: Node, shape: readonly number[]): Node =>
  sameShape(x.aval.shape, shape) ? x : apply(reshapePrimitive, [x], { shape: [...shape] })

// ---- transpose -------------------------------------------------------------------------------------------------------

export interface PermParams {
  readonly perm: readonly number[]
}

export const transposePrimitive: Primitive<'transpose', PermParams, readonly ['float']> = primitive({
  name: 'transpose',
  family,
  args: ['float'],
  class: 'layout',
  codec: t.type({ perm: naturals }),
  shapeRule: ([x], { perm }) => {
    const s = x!.shape
    if (perm.length !== s.length || [...perm].sort((a, b) => a - b).some((p, i) => p !== i))
      raise({ _tag: 'BadInput', where: 'transpose', reason: `[${perm.join(', ')}] is not a permutation of the axes of ${showShape(s)}.` })
    return aval(
      perm.map((p) => s[p]!),
      x!.dtype,
    )
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
    if (rank < 2)
      raise({
        _tag: 'ShapeMismatch',
        op: 'transpose',
        shapes: [n.shape],
        reason: `needs rank 2 or more, got ${showShape(n.shape)}.`,
        fix: `expandDims first.`,
      })
    return asExpr(swapLast(n))
  }
  listOf(axes, 'axes', 'transpose')
  return asExpr(transposeNode(n, axesIn(axes, rank, 'transpose')))
}
export const transposeNode = (x: Node, perm: readonly number[]): Node =>
  perm.every((p, i) => p === i) && perm.length === x.shape.length ? x : apply(transposePrimitive, [x], { perm })
/** Matrix transpose of the last two axes. */
export const swapLast = (x: Node): Node => {
  const r = x.shape.length
  return apply(transposePrimitive, [x], { perm: [...range(r - 2), r - 1, r - 2] })
}

/**
 * New axes of length 1 at the positions `axis` of the result.
 *
 * Rule    xBar = yBar in x's shape.
 * Errors  BadInput for an axis out of range or named twice.
 * @example expandDims([1, 2], 0)   // [[1, 2]]
 */
export const expandDims = (x: unknown, axis: number | readonly number[]): AnyExpr => {
  const n = lift(x, 'expandDims')
  const rank = n.shape.length + (Array.isArray(axis) ? axis.length : 1)
  const at = distinctAxes(axis, rank, 'expandDims')
  const rest = [...n.shape]
  return asExpr(
    reshapeNode(
      n,
      range(rank).map((i) => (at.includes(i) ? 1 : rest.shift()!)),
    ),
  )
}

/**
 * x without its axes of length 1, or without those named.
 *
 * Rule    xBar = yBar in x's shape.
 * Errors  BadInput when a named axis is not 1.
 * @example squeeze([[1, 2]])   // [1, 2]
 */
export const squeeze = (x: unknown, axis?: number | readonly number[]): AnyExpr => {
  const n = lift(x, 'squeeze')
  const axes = axis === undefined ? n.shape.flatMap((d, i) => (d === 1 ? [i] : [])) : distinctAxes(axis, n.shape.length, 'squeeze')
  for (const a of axes)
    if (n.shape[a] !== 1)
      raise({ _tag: 'BadInput', where: 'squeeze', reason: `axis ${a} of ${showShape(n.shape)} is ${n.shape[a]}, not 1.` })
  return asExpr(
    reshapeNode(
      n,
      n.shape.filter((_, i) => !axes.includes(i)),
    ),
  )
}
