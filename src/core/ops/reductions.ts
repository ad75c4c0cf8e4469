/** Reductions over axes: sum, max, min, mean, any, all, count, and where the extremes are. */

import { badInput } from '../errors/explain.js'
import { castNode } from '../graph/cast.js'
import { apply, asExpr, asNode, constant } from '../graph/expr.js'
import type { Primitive } from '../graph/primitive.js'
import type { ArgReduceFn, CountFn, FloatReduceFn, FoldOptions, ReduceFn, SumFn, WhereOption } from '../types/signatures/reduce.js'
import { add, div, maximum, minimum } from './arithmetic.js'
import type { AxisParams } from './layout/join.js'
import { broadcastNode, reshapeNode } from './layout/move.js'
import { argOptions, folded, foldOptions, initialOf, type Join, keptCount, keptNode, reduceOptions, whereOptions } from './masked.js'
import { array, floats, operation } from './operation.js'
import {
  argmaxPrimitive,
  argminPrimitive,
  maxPrimitive,
  minPrimitive,
  quantifiedNode,
  type ReduceParams,
  reducedShape,
  reduceNode,
  sumPrimitive,
  truthsNode,
} from './reduce.js'

/**
 * Sum over axes (all by default), plus `initial`; with a mask `where`, of the elements where it holds.
 *
 * Shapes  x: any -> without the axes, or with length 1 there when keepdims.   Dtype  x's; bool becomes i32, i32 wraps; f32 sums in blocks with f64 totals.
 * Rule    dy = sum dx; xBar = yBar repeated along the axes.
 * Errors  BadInput for an axis out of range or named twice; ShapeMismatch for a mask that does not broadcast to x.
 * @example
 * sum([[1, 2], [3, 4]], { axis: 0 })                              // [4, 6]
 * sum([[1, 2], [3, 4]], { where: [[true, false], [true, true]] }) // 8
 */
export const sum: SumFn<'sum', FoldOptions> = folded(sumPrimitive, 0, add)

const LEAST = { i32: -(2 ** 31), f64: Number.NEGATIVE_INFINITY, f32: Number.NEGATIVE_INFINITY } as const
const MOST = { i32: 2 ** 31 - 1, f64: Number.POSITIVE_INFINITY, f32: Number.POSITIVE_INFINITY } as const
const extreme = <F>(prim: Primitive<'max' | 'min', ReduceParams, readonly ['float']>): F =>
  operation(prim.name, { x: array }, foldOptions, ({ x }, { axis: axes, keepdims, initial: from, where: mask }, op) => {
    const n0 = asNode(x)
    const n = n0.dtype === 'bool' ? castNode(n0, 'i32') : n0
    const identity = op === 'max' ? LEAST : MOST
    const initial = initialOf(from, n0.dtype, op)
    if (mask !== undefined && initial === undefined)
      badInput(
        op,
        `if the mask keeps nothing there is no ${op}.`,
        `give { initial }: a ${op === 'max' ? 'lower' : 'upper'} bound, such as ${n0.dtype === 'bool' ? op !== 'max' : identity[n.dtype as keyof typeof LEAST]}.`,
      )
    const join: Join = op === 'max' ? maximum : minimum
    const kept = keptNode(n, mask, identity[n.dtype as keyof typeof LEAST], op)
    const y =
      initial !== undefined && axes.some((a) => n.shape[a] === 0)
        ? asExpr(broadcastNode(constant(initial, n.dtype), reducedShape(n, axes, keepdims)))
        : asExpr(reduceNode(prim as Primitive<string, ReduceParams>, kept, axes, keepdims))
    const all = initial === undefined ? y : join(y, initial)
    return asExpr(castNode(asNode(all), n0.dtype))
  })

/**
 * Largest element over axes (all by default), `initial` included if it is given; NaN if one of them is NaN. With a mask `where`, of the elements where it
 * holds; then `initial` is needed.
 *
 * Shapes  as `sum`.   Dtype  x's.
 * Rule    yBar is shared equally by the elements that are the largest: the shares sum to yBar. With `initial` as `maximum` of both.
 * Errors  BadInput for an axis out of range or named twice, or if there is nothing to compare; ShapeMismatch for a mask that does not broadcast to x.
 * @example
 * max([[1, 5], [4, 2]], { axis: 1 })                            // [5, 4]
 * max([1, 5, 3], { where: [true, false, true], initial: 0 })    // 3
 */
export const max: ReduceFn<'max', FoldOptions> = extreme(maxPrimitive as never)

/**
 * Smallest element over axes (all by default), `initial` included if it is given; NaN if one of them is NaN. With a mask `where`, of the elements where
 * it holds; then `initial` is needed.
 *
 * Shapes  as `sum`.   Dtype  x's.
 * Rule    yBar is shared equally by the elements that are the smallest: the shares sum to yBar. With `initial` as `minimum` of both.
 * Errors  BadInput for an axis out of range or named twice, or if there is nothing to compare; ShapeMismatch for a mask that does not broadcast to x.
 * @example min([[1, 5], [4, 2]], { axis: 1 })   // [1, 2]
 */
export const min: ReduceFn<'min', FoldOptions> = extreme(minPrimitive as never)

const argReduce = <F>(prim: Primitive<'argmax' | 'argmin', AxisParams, readonly ['float']>): F =>
  operation(prim.name, { x: array }, argOptions, ({ x }, { axis, keepdims }) => {
    const n = asNode(x)
    const y = apply(prim, [axis === undefined ? reshapeNode(n, [n.aval.size]) : n], { axis: axis ?? 0 })
    if (!keepdims) return asExpr(y)
    return asExpr(
      reshapeNode(
        y,
        n.shape.map((d, i) => (axis === undefined || i === axis ? 1 : d)),
      ),
    )
  })

/**
 * Index of the largest element along an axis, or in the flattened array: the first among equals; the first NaN if there is one.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range, or if there is nothing to compare.
 * @example argmax([1, 3, 2])   // 1
 */
export const argmax: ArgReduceFn<'argmax'> = argReduce(argmaxPrimitive as never)

/**
 * Index of the smallest element along an axis, or in the flattened array: the first among equals; the first NaN if there is one.
 *
 * Dtype  i32.   Rule  none: indices have no tangent.
 * Errors  BadInput for an axis out of range, or if there is nothing to compare.
 * @example argmin([2, 1, 3])   // 1
 */
export const argmin: ArgReduceFn<'argmin'> = argReduce(argminPrimitive as never)

/**
 * Arithmetic mean over axes (all by default): sum / count; with a mask `where`, of the elements where it holds. NaN for an empty axis.
 *
 * Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar = yBar / count repeated, 0 where the mask does not hold.
 * Errors  as `sum`.
 * @example
 * mean([1, 2, 3])                                    // 2
 * mean([1, 2, 6], { where: [true, true, false] })    // 1.5
 */
export const mean: FloatReduceFn<'mean', WhereOption> = operation('mean', { x: floats }, whereOptions, ({ x }, o, op) => {
  const n = asNode(x)
  const total = asExpr(reduceNode(sumPrimitive, keptNode(n, o.where, 0, op), o.axis, o.keepdims))
  return div(total, keptCount(n, o.where, o.axis, o.keepdims, op))
})

const quantifier = <F>(op: 'any' | 'all'): F =>
  operation(op, { x: array }, whereOptions, ({ x }, { axis, keepdims, where: mask }) =>
    asExpr(quantifiedNode(op, keptNode(truthsNode(asNode(x)), mask, op === 'all' ? 1 : 0, op), axis, keepdims)),
  )

/**
 * Is any element over the axes (all by default) true, that is, not 0? With a mask `where`, of the elements where it holds; false for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  bool.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example any([0, 1])   // true
 */
export const any: CountFn<'any', 'bool', WhereOption> = quantifier('any')

/**
 * Are all elements over the axes (all by default) true, that is, not 0? With a mask `where`, of the elements where it holds; true for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  bool.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example all([0, 1])   // false
 */
export const all: CountFn<'all', 'bool', WhereOption> = quantifier('all')

/**
 * The number of elements over the axes (all by default) that are true, that is, not 0.
 *
 * Shapes  as `sum`.   Dtype  i32.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example count([1, 0, 2])   // 2
 */
export const count: CountFn<'count', 'i32'> = operation('count', { x: array }, reduceOptions, ({ x }, { axis, keepdims }) =>
  asExpr(reduceNode(sumPrimitive, truthsNode(asNode(x)), axis, keepdims)),
)
