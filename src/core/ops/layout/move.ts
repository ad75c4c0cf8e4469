/** Layout: the same elements under another shape: broadcastTo, reshape, transpose, expandDims, squeeze. */
import { settled, shown } from '../../errors/check-arguments.js'
import { badInput, badShape, showShape } from '../../errors/explain.js'
import { kind, type OptionsFor } from '../../errors/options.js'
import { aval } from '../../graph/aval.js'
import { type Codec, naturals, record } from '../../graph/codec.js'
import { apply, type Node } from '../../graph/expr.js'
import { type Primitive, primitive } from '../../graph/primitive.js'
import { broadcastStrides, forEachIndex, normalizeAxis, range, sameShape, sizeOf, stridesOf } from '../../graph/shape.js'
import type { Shape } from '../../types/shape.js'
import type { SqueezeOptions } from '../../types/signatures/layout.js'

const family = 'layout'

/** Raises BadInput unless the axis exists; counts from the front. */
export const axisOf = (axis: number, rank: number, op: string): number =>
  normalizeAxis(axis, rank) ??
  badInput(
    op,
    `axis ${shown(axis)} is ${Number.isInteger(axis) ? `out of range for rank ${rank}` : 'not a whole number'}.`,
    (axis as unknown) === null
      ? `${op} works along one axis: give it, or ${op}(reshape(x, [-1])) for the flattened array.`
      : rank === 0
        ? `a scalar has no axes.`
        : `axes go from ${-rank} to ${rank - 1}.`,
  )

/** A list of axes, or one, each as `axisOf` has it. */
export const axesIn = (given: number | readonly number[], rank: number, op: string): readonly number[] => {
  const axes = settled(given, 'axes', op)
  return Array.isArray(axes) ? axes.map((a) => axisOf(a, rank, op)) : [axisOf(axes as number, rank, op)]
}

/** As `axesIn`; raises BadInput for an axis named twice. */
export const distinctAxes = (axes: number | readonly number[], rank: number, op: string): readonly number[] => {
  const out = axesIn(axes, rank, op)
  if (out.length > 1 && new Set(out).size !== out.length) badInput(op, `axes ${shown(axes)} name an axis twice.`)
  return out
}
/** Of `squeeze`. */
export const squeezeOptions = {
  /** One or more; all of length 1 where it is absent or null. */
  axis: kind<readonly number[], number | readonly number[] | null>((given, _what, op, shape) =>
    given === undefined || given === null
      ? shape.flatMap((d, i) => (d === 1 ? [i] : []))
      : distinctAxes(given as number | readonly number[], shape.length, op),
  ),
} satisfies OptionsFor<SqueezeOptions<Shape, unknown>>

// ---- broadcastTo -----------------------------------------------------------------------------------------------------

export interface ShapeParams {
  readonly shape: readonly number[]
}
const shapeCodec: Codec<ShapeParams> = record({ shape: naturals })

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
      badShape(
        'broadcastTo',
        [from, shape],
        `${showShape(from)} does not broadcast to ${showShape(shape)}.`,
        `axes must be 1 or equal, counted from the last.`,
      )
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
      badShape(
        'reshape',
        [x!.shape, shape],
        `${showShape(x!.shape)} has ${x!.size} elements, ${showShape(shape)} has ${sizeOf(shape)}.`,
        `one axis may be -1.`,
      )
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
  codec: record({ perm: naturals }),
  shapeRule: ([x], { perm }) => {
    const s = x!.shape
    if (perm.length !== s.length || [...perm].sort((a, b) => a - b).some((p, i) => p !== i))
      badInput('transpose', `[${perm.join(', ')}] is not a permutation of the axes of ${showShape(s)}.`)
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
export const transposeNode = (x: Node, perm: readonly number[]): Node =>
  perm.every((p, i) => p === i) && perm.length === x.shape.length ? x : apply(transposePrimitive, [x], { perm })
/** Matrix transpose of the last two axes. */
export const swapLast = (x: Node): Node => {
  const r = x.shape.length
  return apply(transposePrimitive, [x], { perm: [...range(r - 2), r - 1, r - 2] })
}
