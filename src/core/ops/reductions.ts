/** Reductions over axes: sum, max, min, mean, any, all, count, and where the extremes are. */

import { flagOf, type Names, optionsOf } from '../errors/check-arguments.js'
import { raise } from '../errors/explain.js'
import { castNode } from '../graph/cast.js'
import { apply, asExpr, asNode, constant, type Node } from '../graph/expr.js'
import { lift, liftFloat } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import type { Primitive } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import type { ReduceOptions } from '../types/shape.js'
import type {
  ArgOptions,
  ArgReduceFn,
  CountFn,
  FloatReduceFn,
  FoldOptions,
  ReduceFn,
  SumFn,
  WhereOption,
} from '../types/signatures/reduce.js'
import { add, div, maximum, minimum } from './arithmetic.js'
import { folded, foldOptions, type Join } from './folded.js'
import type { AxisParams } from './layout-join.js'
import { axisOf, broadcastNode, reshapeNode } from './layout-move.js'
import { initialOf, keptCount, keptNode } from './masked.js'
import {
  argmaxPrimitive,
  argminPrimitive,
  axesOf,
  maxPrimitive,
  minPrimitive,
  type ReduceParams,
  reducedNode,
  reducedShape,
  reduceNode,
  reduceOptions,
  reductionOf,
  sumPrimitive,
} from './reduce.js'

const whereOptions: Names<ReduceOptions & WhereOption> = { ...reduceOptions, where: true }

/**
 * Sum over axes (all by default), of the elements where the mask `where` holds, if there is one, and of `initial`.
 *
 * Shapes  x: any -> without the axes, or with length 1 there when keepdims.   Dtype  x's; bool becomes i32, i32 wraps; f32 sums in blocks with f64 totals.
 * Rule    dy = sum dx; xBar = yBar repeated along the axes.
 * Errors  BadInput for an axis out of range or named twice; ShapeMismatch for a mask that does not broadcast to x.
 * @example
 * sum([[1, 2], [3, 4]], { axis: 0 })                              // [4, 6]
 * sum([[1, 2], [3, 4]], { where: [[true, false], [true, true]] }) // 8
 */
export const sum: SumFn<'sum', FoldOptions> = typed(folded(sumPrimitive, 0, add))

const LEAST = { i32: -(2 ** 31), f64: Number.NEGATIVE_INFINITY, f32: Number.NEGATIVE_INFINITY } as const
const MOST = { i32: 2 ** 31 - 1, f64: Number.POSITIVE_INFINITY, f32: Number.POSITIVE_INFINITY } as const
const extreme =
  (prim: Primitive<'max' | 'min', ReduceParams, readonly ['float']>) =>
  (x: unknown, options?: ReduceOptions & FoldOptions): AnyExpr => {
    const op = prim.name
    const given = optionsOf(options, foldOptions, op)
    const n0 = lift(x, op)
    const n = n0.dtype === 'bool' ? castNode(n0, 'i32') : n0
    const identity = op === 'max' ? LEAST : MOST
    const { axis: axes, keepdims } = reductionOf(n, { axis: given.axis, keepdims: given.keepdims }, op)
    const initial = initialOf(given.initial, n0.dtype, op)
    if (given.where !== undefined && initial === undefined)
      raise({
        _tag: 'BadInput',
        where: op,
        reason: `where nothing is kept there is no ${op}.`,
        fix: `give { initial }: a ${op === 'max' ? 'lower' : 'upper'} bound, such as ${n0.dtype === 'bool' ? op !== 'max' : identity[n.dtype as keyof typeof LEAST]}.`,
      })
    const join: Join = op === 'max' ? maximum : minimum
    const kept = keptNode(n, given.where, identity[n.dtype as keyof typeof LEAST], op)
    const y =
      initial !== undefined && axes.some((a) => n.shape[a] === 0)
        ? asExpr(broadcastNode(constant(initial, n.dtype), reducedShape(n, axes, keepdims)))
        : asExpr(reduceNode(prim as Primitive<string, ReduceParams>, kept, axes, keepdims))
    const all = initial === undefined ? y : join(y, initial)
    return asExpr(castNode(asNode(all), n0.dtype))
  }

/**
 * Largest element over axes (all by default), `initial` among them if it is given. A NaN among them is the result. With a mask `where`, of the elements where
 * it holds; then `initial` is needed.
 *
 * Shapes  as `sum`.   Dtype  x's.
 * Rule    yBar is shared equally by the elements that are the largest: the shares sum to yBar. With `initial` as `maximum` of both.
 * Errors  BadInput for an axis out of range or named twice, or when nothing is there to compare; ShapeMismatch for a mask that does not broadcast to x.
 * @example
 * max([[1, 5], [4, 2]], { axis: 1 })                            // [5, 4]
 * max([1, 5, 3], { where: [true, false, true], initial: 0 })    // 3
 */
export const max: ReduceFn<'max', FoldOptions> = typed(extreme(maxPrimitive as never))

/**
 * Smallest element over axes (all by default), `initial` among them if it is given. A NaN among them is the result. With a mask `where`, of the elements
 * where it holds; then `initial` is needed.
 *
 * Shapes  as `sum`.   Dtype  x's.
 * Rule    yBar is shared equally by the elements that are the smallest: the shares sum to yBar. With `initial` as `minimum` of both.
 * Errors  BadInput for an axis out of range or named twice, or when nothing is there to compare; ShapeMismatch for a mask that does not broadcast to x.
 * @example min([[1, 5], [4, 2]], { axis: 1 })   // [1, 2]
 */
export const min: ReduceFn<'min', FoldOptions> = typed(extreme(minPrimitive as never))

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
 * Arithmetic mean over axes (all by default): sum / count; of the elements where the mask `where` holds, if there is one. NaN for an empty axis.
 *
 * Dtype  f32 stays f32; i32 and bool become f64.   Rule  xBar = yBar / count repeated, 0 where the mask does not hold.
 * Errors  as `sum`.
 * @example
 * mean([1, 2, 3])                                    // 2
 * mean([1, 2, 6], { where: [true, true, false] })    // 1.5
 */
export const mean: FloatReduceFn<'mean', WhereOption> = typed((x: unknown, options?: ReduceOptions & WhereOption): AnyExpr => {
  const n = liftFloat(x, 'mean')
  const given = optionsOf(options, whereOptions, 'mean')
  const axes = axesOf(n.shape.length, given.axis, 'mean')
  const keepdims = flagOf(given.keepdims, 'keepdims', 'mean')
  const total = asExpr(reduceNode(sumPrimitive, keptNode(n, given.where, 0, 'mean'), axes, keepdims))
  return div(total, keptCount(n, given.where, axes, keepdims, 'mean'))
})

const truths = (x: unknown, op: string): Node => castNode(castNode(lift(x, op), 'bool'), 'i32')
const quantifier = (op: 'any' | 'all', x: unknown, options: (ReduceOptions & WhereOption) | undefined): AnyExpr => {
  const { axis, keepdims: kept, where: mask } = optionsOf(options, whereOptions, op)
  const n = keptNode(truths(x, op), mask, op === 'all' ? 1 : 0, op)
  const axes = axesOf(n.shape.length, axis, op)
  const keepdims = flagOf(kept, 'keepdims', op)
  if (axes.some((a) => n.shape[a] === 0))
    return asExpr(broadcastNode(constant(op === 'all' ? 1 : 0, 'bool'), reducedShape(n, axes, keepdims)))
  return asExpr(castNode(reduceNode(op === 'any' ? maxPrimitive : minPrimitive, n, axes, keepdims), 'bool'))
}

/**
 * Is any element over the axes (all by default) true, that is, not 0? Of those where the mask `where` holds, if there is one; false for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  bool.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example any([0, 1])   // true
 */
export const any: CountFn<'any', 'bool', WhereOption> = typed(
  (x: unknown, options?: ReduceOptions & WhereOption): AnyExpr => quantifier('any', x, options),
)

/**
 * Are all elements over the axes (all by default) true, that is, not 0? Of those where the mask `where` holds, if there is one; true for an empty axis.
 *
 * Shapes  as `sum`.   Dtype  bool.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example all([0, 1])   // false
 */
export const all: CountFn<'all', 'bool', WhereOption> = typed(
  (x: unknown, options?: ReduceOptions & WhereOption): AnyExpr => quantifier('all', x, options),
)

/**
 * How many elements over the axes (all by default) are true, that is, not 0.
 *
 * Shapes  as `sum`.   Dtype  i32.   Rule  none.   Errors  BadInput for an axis out of range or named twice.
 * @example count([1, 0, 2])   // 2
 */
export const count: CountFn<'count', 'i32'> = typed(
  (x: unknown, options?: ReduceOptions): AnyExpr => asExpr(reducedNode(sumPrimitive, truths(x, 'count'), options, 'count')),
)
