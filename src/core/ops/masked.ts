/** What a reduction leaves out (`where`) and begins with (`initial`), as NumPy's have it. What is left out is replaced before it is folded: it has no cotangent. */

import { shown } from '../errors/check-arguments.js'
import { badInput, badShape, showShape } from '../errors/explain.js'
import { flag } from '../errors/options.js'
import { castNode } from '../graph/cast.js'
import { asExpr, asNode, type Node } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import type { Primitive } from '../graph/primitive.js'
import { broadcastShapes, sameShape } from '../graph/shape.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr, Expr, Plain, PlainBool } from '../types/expr.js'
import { where } from './arithmetic.js'
import { broadcastNode } from './layout/move.js'
import { axes, axisOrFlat, numbers, operation, type Unread, unread } from './operation.js'
import { type ReduceParams, reduceNode, sumPrimitive } from './reduce.js'

/** The mask of a reduction of n, of n's shape. */
const maskOf = (mask: unknown, n: Node, op: string): Node => {
  const m = castNode(lift(mask, op), 'bool')
  if (!sameShape(broadcastShapes(m.shape, n.shape) ?? [], n.shape))
    badShape(
      op,
      [n.shape, m.shape],
      `where is ${showShape(m.shape)}, which does not broadcast to x, ${showShape(n.shape)}.`,
      'give a mask for each element, or one that broadcasts to them.',
    )
  return broadcastNode(m, n.shape)
}
/** n with `value` where the mask does not hold; n itself without a mask. */
export const keptNode = (n: Node, mask: unknown, value: number, op: string): Node =>
  mask === undefined ? n : asNode(where(asExpr(maskOf(mask, n, op)), asExpr(n), value))
/** How many elements of n are folded into each result: a number, or one for each where a mask says which. */
export const keptCount = (n: Node, mask: unknown, axes: readonly number[], keepdims: boolean, op: string): AnyExpr | number =>
  mask === undefined
    ? axes.reduce((k, a) => k * n.shape[a]!, 1)
    : asExpr(reduceNode(sumPrimitive, asNode(where(asExpr(maskOf(mask, n, op)), 1, 0)), axes, keepdims))
/** The number that a reduction begins with, which its dtype holds. */
export const initialOf = (initial: unknown, dtype: DType, op: string): number | undefined => {
  if (initial === undefined) return undefined
  if (typeof initial !== 'number' && typeof initial !== 'boolean') return badInput(op, `initial is ${shown(initial)}.`, 'give a number.')
  const n = Number(initial)
  lift(n, op, dtype)
  return n
}

/** Options of every reduction. */
export const reduceOptions = {
  /** Axes that are folded; all if it is absent or null. */
  axis: axes(),
  /** Do they stay, with length 1? */
  keepdims: flag(),
}
/** Of those with a mask. */
export const whereOptions = {
  ...reduceOptions,
  /** A mask that broadcasts to x: elements where it does not hold are left out. */
  where: unread as Unread<Expr | Plain | PlainBool>,
}
/** Of folds. */
export const foldOptions = {
  ...whereOptions,
  /** The number that the fold begins with. */
  initial: unread as Unread<number | boolean>,
}
/** Of argmax and argmin. */
export const argOptions = {
  /** The axis; the flattened array where it is absent or null. */
  axis: axisOrFlat,
  /** Does it stay, with length 1? */
  keepdims: flag(),
}
/** What a result and the initial number are joined by. */
export type Join = (a: AnyExpr, b: number) => AnyExpr
/** A fold that has an identity, over what is kept, from where it begins. */
export const folded = <F>(prim: Primitive<'sum' | 'prod', ReduceParams, readonly ['float']>, identity: 0 | 1, join: Join): F =>
  operation(prim.name, { x: numbers }, foldOptions, ({ x }, o, op) => {
    const y = asExpr(reduceNode(prim, keptNode(asNode(x), o.where, identity, op), o.axis, o.keepdims))
    const initial = initialOf(o.initial, x.dtype, op)
    return initial === undefined ? y : join(y, initial)
  })
