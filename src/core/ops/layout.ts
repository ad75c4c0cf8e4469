/** Layout: operations whose result elements are copies of argument elements (or a fill). */
import * as t from 'io-ts'
import { aval } from '../aval.js'
import { raise } from '../explain.js'
import { apply, applyMulti, asExpr, type Node } from '../expr.js'
import { lift, liftAll } from '../lift.js'
import { type Primitive, primitive } from '../primitive.js'
import { broadcastStrides, forEachIndex, normalizeAxis, range, sameShape, showShape, sizeOf, stridesOf } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'
import { padPrimitive, sliceAddPrimitive, sliceAxis, sliceNode, slicePrimitive } from './layout-slice.js'

export * from './layout-slice.js'

const ints = t.readonlyArray(t.number)
const family = 'layout'

/** Raises BadInput unless the axis exists; counts from the front. */
export const axisOf = (axis: number, rank: number, op: string): number =>
  normalizeAxis(axis, rank) ??
  raise({
    _tag: 'BadInput',
    where: op,
    reason: `axis ${axis} is out of range for rank ${rank}.`,
    fix: `axes go from ${-rank} to ${rank - 1}.`,
  })

/** As `axisOf` for a list; raises BadInput for an axis named twice. */
const distinctAxes = (axes: readonly number[], rank: number, op: string): readonly number[] => {
  const out = axes.map((a) => axisOf(a, rank, op))
  if (new Set(out).size !== out.length) raise({ _tag: 'BadInput', where: op, reason: `axes [${axes.join(', ')}] name an axis twice.` })
  return out
}

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
 * Errors  ShapeMismatch when x does not broadcast to shape.
 * @example broadcastTo([1, 2], [2, 2])   // [[1, 2], [1, 2]]
 */
export const broadcastTo = (x: unknown, shape: readonly number[]): AnyExpr => asExpr(broadcastNode(lift(x, 'broadcastTo'), shape))
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
  codec: t.type({ perm: ints }),
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
  return asExpr(
    transposeNode(
      n,
      axes.map((a) => axisOf(a, rank, 'transpose')),
    ),
  )
}
export const transposeNode = (x: Node, perm: readonly number[]): Node =>
  perm.every((p, i) => p === i) && perm.length === x.shape.length ? x : apply(transposePrimitive, [x], { perm })
/** Matrix transpose of the last two axes. */
export const swapLast = (x: Node): Node => {
  const r = x.shape.length
  return apply(transposePrimitive, [x], { perm: [...range(r - 2), r - 1, r - 2] })
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
    if (first === undefined)
      return raise({ _tag: 'BadInput', where: 'concat', reason: 'nothing to concatenate.', fix: 'pass at least one array.' })
    if (!(Number.isInteger(axis) && axis >= 0 && axis < first.shape.length))
      raise({
        _tag: 'BadInput',
        where: 'concat',
        reason: `axis ${axis} is out of range for rank ${first.shape.length}.`,
        fix: `arrays of rank 0 are joined by stack.`,
      })
    for (const x of xs)
      if (x.shape.length !== first.shape.length || x.dtype !== first.dtype || x.shape.some((d, i) => i !== axis && d !== first.shape[i]))
        raise({
          _tag: 'ShapeMismatch',
          op: 'concat',
          shapes: xs.map((y) => y.shape),
          reason: `${showShape(first.shape)} and ${showShape(x.shape)} differ away from axis ${axis}.`,
          fix: `all other axes must be equal.`,
        })
    return aval(
      first.shape.map((d, i) => (i === axis ? xs.reduce((n, x) => n + x.shape[axis]!, 0) : d)),
      first.dtype,
    )
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
      raise({
        _tag: 'ShapeMismatch',
        op: 'split',
        shapes: [x!.shape, sizes],
        reason: `sizes ${showShape(sizes)} do not add up to ${x!.shape[axis]} (axis ${axis} of ${showShape(x!.shape)}).`,
      })
    return sizes.map((n) =>
      aval(
        x!.shape.map((d, i) => (i === axis ? n : d)),
        x!.dtype,
      ),
    )
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
    raise({
      _tag: 'ShapeMismatch',
      op: 'split',
      shapes: [n.shape],
      reason: `${parts} equal parts do not divide axis ${axis} of ${showShape(n.shape)}.`,
      fix: `give the sizes.`,
    })
  const sizes = typeof parts === 'number' ? new Array<number>(parts).fill(d / parts) : parts
  return splitNode(n, axis, sizes).map(asExpr)
}
export const splitNode = (x: Node, axis: number, sizes: readonly number[]): readonly Node[] =>
  applyMulti(splitPrimitive, [x], { axis, sizes })

// ---- compositions ------------------------------------------------------------------------------------------------------

/**
 * New axes of length 1 at the positions `axis` of the result.
 *
 * Rule    xBar = yBar in x's shape.
 * Errors  BadInput for an axis out of range or named twice.
 * @example expandDims([1, 2], 0)   // [[1, 2]]
 */
export const expandDims = (x: unknown, axis: number | readonly number[]): AnyExpr => {
  const n = lift(x, 'expandDims')
  const list = typeof axis === 'number' ? [axis] : axis
  const rank = n.shape.length + list.length
  const at = distinctAxes(list, rank, 'expandDims')
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
  const axes =
    axis === undefined
      ? n.shape.flatMap((d, i) => (d === 1 ? [i] : []))
      : distinctAxes(typeof axis === 'number' ? [axis] : axis, n.shape.length, 'squeeze')
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

/**
 * Arrays of one shape joined along a new axis (the first by default).
 *
 * Rule    xBar_i = the i-th slice of yBar.
 * Errors  ShapeMismatch when shapes differ; BadInput for no arrays.
 * @example stack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const stack = (xs: readonly unknown[], options: { readonly axis?: number } = {}): AnyExpr => {
  const ns = liftAll(xs, 'stack')
  if (ns.length === 0) raise({ _tag: 'BadInput', where: 'stack', reason: 'nothing to stack.', fix: 'pass at least one array.' })
  const shape = ns[0]!.shape
  for (const n of ns)
    if (!sameShape(n.shape, shape))
      raise({
        _tag: 'ShapeMismatch',
        op: 'stack',
        shapes: ns.map((m) => m.shape),
        reason: `${showShape(shape)} and ${showShape(n.shape)} differ.`,
        fix: `stack joins arrays of one shape; use concat otherwise.`,
      })
  const axis = axisOf(options.axis ?? 0, shape.length + 1, 'stack')
  return asExpr(
    concatNode(
      ns.map((n) => reshapeNode(n, [...shape.slice(0, axis), 1, ...shape.slice(axis)])),
      axis,
    ),
  )
}

/**
 * The slices of x along an axis (the first by default), without that axis.
 *
 * Rule    xBar = the slices' cotangents, stacked.
 * Errors  BadInput for an axis out of range.
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
 *
 * Rule    xBar = yBar reversed.
 * Errors  BadInput for an axis out of range or named twice.
 * @example flip([1, 2, 3])   // [3, 2, 1]
 */
export const flip = (x: unknown, options: { readonly axis?: number | readonly number[] } = {}): AnyExpr => {
  const n = lift(x, 'flip')
  const { axis } = options
  const axes = axis === undefined ? range(n.shape.length) : distinctAxes(typeof axis === 'number' ? [axis] : axis, n.shape.length, 'flip')
  const turned = (i: number, d: number): boolean => axes.includes(i) && d > 1
  return asExpr(
    sliceNode(n, {
      starts: n.shape.map((d, i) => (turned(i, d) ? d - 1 : 0)),
      sizes: n.shape,
      strides: n.shape.map((d, i) => (turned(i, d) ? -1 : 1)),
    }),
  )
}

/**
 * x rotated by `shift` places along an axis, or along each of several; without an axis the flattened array is rotated.
 * Element i goes to i + shift, modulo the length.
 *
 * Rule    xBar = yBar rotated by -shift.
 * Errors  BadInput for an axis out of range, a fractional shift, or as many shifts as there are not axes.
 * @example roll([1, 2, 3], 1)   // [3, 1, 2]
 */
export const roll = (
  x: unknown,
  shift: number | readonly number[],
  options: { readonly axis?: number | readonly number[] } = {},
): AnyExpr => {
  const n = lift(x, 'roll')
  const { axis } = options
  const given = typeof shift === 'number' ? [shift] : shift
  const axes = axis === undefined ? [0] : (typeof axis === 'number' ? [axis] : axis).map((a) => axisOf(a, n.shape.length, 'roll'))
  const shifts = given.length === 1 ? axes.map(() => given[0]!) : given
  if (shifts.length !== axes.length || !shifts.every(Number.isInteger))
    raise({
      _tag: 'BadInput',
      where: 'roll',
      reason: `shifts [${given.join(', ')}] do not fit ${axes.length} ${axes.length === 1 ? 'axis' : 'axes'}.`,
      fix: `give one whole number, or one per axis.`,
    })
  const start = axis === undefined ? reshapeNode(n, [n.aval.size]) : n
  const rolled = axes.reduce((y, a, i) => {
    const d = y.shape[a]!
    const k = d === 0 ? 0 : ((shifts[i]! % d) + d) % d
    return k === 0 ? y : concatNode([sliceAxis(y, a, d - k, k), sliceAxis(y, a, 0, d - k)], a)
  }, start)
  return asExpr(reshapeNode(rolled, n.shape))
}

/**
 * x repeated as a whole `reps[i]` times along each axis; a number is for the last axis.
 *
 * Rule    xBar = the sum of yBar's copies.
 * Errors  BadInput unless reps are non-negative integers.
 * @example tile([1, 2], [2])   // [1, 2, 1, 2]
 */
export const tile = (x: unknown, reps: number | readonly number[]): AnyExpr => {
  const n = lift(x, 'tile')
  const list = typeof reps === 'number' ? [reps] : reps
  const rank = Math.max(n.shape.length, list.length)
  const shape = [...new Array<number>(rank - n.shape.length).fill(1), ...n.shape]
  const r = [...new Array<number>(rank - list.length).fill(1), ...list]
  if (r.some((k) => !Number.isInteger(k) || k < 0))
    raise({ _tag: 'BadInput', where: 'tile', reason: `reps [${list.join(', ')}] must be non-negative integers.` })
  const wide = reshapeNode(
    n,
    shape.flatMap((d) => [1, d]),
  )
  return asExpr(
    reshapeNode(
      broadcastNode(
        wide,
        shape.flatMap((d, i) => [r[i]!, d]),
      ),
      shape.map((d, i) => d * r[i]!),
    ),
  )
}

/**
 * Each element of x repeated `times` times along an axis (the first by default).
 *
 * Rule    xBar = the sum of yBar over each element's copies.
 * Errors  BadInput unless times is a non-negative integer.
 * @example repeat([1, 2], 2)   // [1, 1, 2, 2]
 */
export const repeat = (x: unknown, times: number, options: { readonly axis?: number } = {}): AnyExpr => {
  const n = lift(x, 'repeat')
  const axis = axisOf(options.axis ?? 0, n.shape.length, 'repeat')
  if (!Number.isInteger(times) || times < 0)
    raise({ _tag: 'BadInput', where: 'repeat', reason: `${times} is not a number of repetitions.` })
  const at = (k: number): number[] => [...n.shape.slice(0, axis + 1), k, ...n.shape.slice(axis + 1)]
  return asExpr(
    reshapeNode(
      broadcastNode(reshapeNode(n, at(1)), at(times)),
      n.shape.map((d, i) => (i === axis ? d * times : d)),
    ),
  )
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
