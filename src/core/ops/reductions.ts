/** Reductions over axes: sum, prod, max, min, mean, and where the extremes are. */

import { flagOf, type Names, optionsOf } from '../errors/check-arguments.js'
import { castNode } from '../graph/cast.js'
import { apply, asExpr } from '../graph/expr.js'
import { lift, liftFloat } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import type { Primitive } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import type { ReduceOptions } from '../types/shape.js'
import type { ArgOptions, ArgReduceFn, FloatReduceFn, ReduceFn, SumFn } from '../types/signatures/reduce.js'
import { div } from './arithmetic.js'
import type { AxisParams } from './layout-join.js'
import { axisOf, reshapeNode } from './layout-move.js'
import {
  argmaxPrimitive,
  argminPrimitive,
  axesOf,
  maxPrimitive,
  minPrimitive,
  prodPrimitive,
  type ReduceParams,
  reducedNode,
  reduceNode,
  reduceOptions,
  sumPrimitive,
} from './reduce.js'

/**
 * Sum over axes (all by default).
 *
 * Shapes  x: any -> without the axes, or with length 1 there when keepdims.   Dtype  x's; bool becomes i32; f32 sums in blocks with f64 totals.
 * Rule    dy = sum dx; xBar = yBar repeated along the axes.
 * Errors  BadInput for an axis out of range or named twice.
 * @example sum([[1, 2], [3, 4]], { axis: 0 })   // [4, 6]
 */
export const sum: SumFn<'sum'> = typed((x: unknown, options?: ReduceOptions): AnyExpr => {
  const n0 = lift(x, 'sum')
  const n = n0.dtype === 'bool' ? castNode(n0, 'i32') : n0
  return asExpr(reducedNode(sumPrimitive, n, options, 'sum'))
})

/**
 * Product over axes (all by default); 1 for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  x's; bool becomes i32.
 * Rule    xBar_i = yBar times the product of the others, from products of both sides: exact where some x are zero.
 * Errors  BadInput for an axis out of range or named twice.
 * @example prod([2, 3, 4])   // 24
 */
export const prod: SumFn<'prod'> = typed((x: unknown, options?: ReduceOptions): AnyExpr => {
  const n0 = lift(x, 'prod')
  const n = n0.dtype === 'bool' ? castNode(n0, 'i32') : n0
  return asExpr(reducedNode(prodPrimitive, n, options, 'prod'))
})

const extreme =
  (prim: Primitive<'max' | 'min', ReduceParams, readonly ['float']>) =>
  (x: unknown, options?: ReduceOptions): AnyExpr => {
    const n = lift(x, prim.name)
    return asExpr(castNode(reducedNode(prim, n.dtype === 'bool' ? castNode(n, 'i32') : n, options, prim.name), n.dtype))
  }

/**
 * Largest element over axes (all by default). A NaN among them is the result.
 *
 * Shapes  as `sum`.   Dtype  x's.
 * Rule    yBar is shared equally by the elements that are the largest: the shares sum to yBar.
 * Errors  BadInput for an axis out of range or named twice, or when nothing is there to compare.
 * @example max([[1, 5], [4, 2]], { axis: 1 })   // [5, 4]
 */
export const max: ReduceFn<'max'> = typed(extreme(maxPrimitive as never))

/**
 * Smallest element over axes (all by default). A NaN among them is the result.
 *
 * Shapes  as `sum`.   Dtype  x's.
 * Rule    yBar is shared equally by the elements that are the smallest: the shares sum to yBar.
 * Errors  BadInput for an axis out of range or named twice, or when nothing is there to compare.
 * @example min([[1, 5], [4, 2]], { axis: 1 })   // [1, 2]
 */
export const min: ReduceFn<'min'> = typed(extreme(minPrimitive as never))

const argOptions: Names<ArgOptions> = reduceOptions
const argReduce =
  (prim: Primitive<'argmax' | 'argmin', AxisParams, readonly ['float']>) =>
  (x: unknown, options?: ArgOptions): AnyExpr => {
    const n = lift(x, prim.name)
    const given = optionsOf(options, argOptions, prim.name)
    const keepdims = flagOf(given.keepdims, 'keepdims', prim.name)
    const along = given.axis ?? undefined
    const flat = along === undefined ? reshapeNode(n, [n.aval.size]) : n
    const axis = along === undefined ? 0 : axisOf(along, n.shape.length, prim.name)
    const y = apply(prim, [flat], { axis })
    if (!keepdims) return asExpr(y)
    return asExpr(
      reshapeNode(
        y,
        n.shape.map((d, i) => (along === undefined || i === axis ? 1 : d)),
      ),
    )
  }

/**
 * Index of the largest element along an axis, or in the flattened array: the first of equals; the first NaN where there is one.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range, or when nothing is there to compare.
 * @example argmax([1, 3, 2])   // 1
 */
export const argmax: ArgReduceFn<'argmax'> = typed(argReduce(argmaxPrimitive as never))

/**
 * Index of the smallest element along an axis, or in the flattened array: the first of equals; the first NaN where there is one.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range, or when nothing is there to compare.
 * @example argmin([2, 1, 3])   // 1
 */
export const argmin: ArgReduceFn<'argmin'> = typed(argReduce(argminPrimitive as never))

/**
 * Arithmetic mean over axes (all by default): sum / count. NaN for an empty axis.
 *
 * Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar = yBar / count repeated.
 * @example mean([1, 2, 3])   // 2
 */
export const mean: FloatReduceFn<'mean'> = typed((x: unknown, options?: ReduceOptions): AnyExpr => {
  const n = liftFloat(x, 'mean')
  const { axis, keepdims } = optionsOf(options, reduceOptions, 'mean')
  const axes = axesOf(n.shape.length, axis, 'mean')
  const count = axes.reduce((k, a) => k * n.shape[a]!, 1)
  return div(asExpr(reduceNode(sumPrimitive, n, axes, flagOf(keepdims, 'keepdims', 'mean'))), count)
})
