/** Layout: arrays joined and cut: concat, split, stack, unstack. */
import * as t from 'io-ts'
import { aval } from '../aval.js'
import { raise } from '../explain.js'
import { apply, applyMulti, asExpr, type Node } from '../expr.js'
import { integersOf, listOf, optionsOf } from '../given.js'
import { lift, liftAll } from '../lift.js'
import { natural, naturals } from '../params.js'
import { type Primitive, primitive } from '../primitive.js'
import { forEachIndex, MAX_SIZE, sameShape, showShape, stridesOf } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'
import { type AxisOptions, axisOf, axisOption, reshapeNode } from './layout-move.js'

const family = 'layout'

export interface AxisParams {
  readonly axis: number
}
export const axisCodec: t.Type<AxisParams> = t.type({ axis: natural })

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

/** Arrays in a list, of one dtype; raises BadInput where there are none. */
const liftList = (xs: unknown, op: string, done: string): Node[] => {
  const list = listOf(xs, 'the first argument', op)
  if (list.length === 0) raise({ _tag: 'BadInput', where: op, reason: `nothing to ${done}.`, fix: 'pass at least one array.' })
  return liftAll(Array.from(list), op)
}

/**
 * Arrays joined along an axis (the first by default).
 *
 * Rule    xBar_i = the part of yBar that came from x_i.
 * Errors  ShapeMismatch when other axes differ; BadInput for no arrays or an axis out of range.
 * @example concat([[1, 2], [3]])   // [1, 2, 3]
 */
export const concat = (xs: readonly unknown[], options?: AxisOptions): AnyExpr => {
  const { axis = 0 } = optionsOf(options, axisOption, 'concat')
  const ns = liftList(xs, 'concat', 'concatenate')
  return asExpr(concatNode(ns, axisOf(axis, ns[0]!.shape.length, 'concat')))
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
  codec: t.type({ axis: natural, sizes: naturals }),
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
 * Errors  ShapeMismatch when n does not divide the axis or the sizes do not add up to it; BadInput for an axis out of range.
 * @example split(tensor([1, 2, 3, 4]), 2)   // [[1, 2], [3, 4]]
 */
export const split = (x: unknown, parts: number | readonly number[], options?: AxisOptions): AnyExpr[] => {
  const { axis: at = 0 } = optionsOf(options, axisOption, 'split')
  const n = lift(x, 'split')
  const axis = axisOf(at, n.shape.length, 'split')
  const d = n.shape[axis]!
  if (typeof parts === 'number' && !(Number.isInteger(parts) && parts > 0 && parts <= MAX_SIZE && d % parts === 0))
    raise({
      _tag: 'ShapeMismatch',
      op: 'split',
      shapes: [n.shape],
      reason: `${parts} equal parts do not divide axis ${axis} of ${showShape(n.shape)}.`,
      fix: `give the sizes.`,
    })
  const sizes = typeof parts === 'number' ? new Array<number>(parts).fill(d / parts) : integersOf(parts, 'parts', 'split')
  return splitNode(n, axis, sizes).map(asExpr)
}
export const splitNode = (x: Node, axis: number, sizes: readonly number[]): readonly Node[] =>
  applyMulti(splitPrimitive, [x], { axis, sizes })

/**
 * Arrays of one shape joined along a new axis (the first by default).
 *
 * Rule    xBar_i = the i-th slice of yBar.
 * Errors  ShapeMismatch when shapes differ; BadInput for no arrays or an axis out of range.
 * @example stack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const stack = (xs: readonly unknown[], options?: AxisOptions): AnyExpr => {
  const { axis: at = 0 } = optionsOf(options, axisOption, 'stack')
  const ns = liftList(xs, 'stack', 'stack')
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
  const axis = axisOf(at, shape.length + 1, 'stack')
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
 * @example unstack(tensor([[1, 2], [3, 4]]))   // [[1, 2], [3, 4]]
 */
export const unstack = (x: unknown, options?: AxisOptions): AnyExpr[] => {
  const { axis: at = 0 } = optionsOf(options, axisOption, 'unstack')
  const n = lift(x, 'unstack')
  const axis = axisOf(at, n.shape.length, 'unstack')
  const rest = n.shape.filter((_, i) => i !== axis)
  return splitNode(n, axis, new Array<number>(n.shape[axis]!).fill(1)).map((y) => asExpr(reshapeNode(y, rest)))
}
