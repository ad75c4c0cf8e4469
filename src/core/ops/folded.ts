/** Folds that have an identity, as operations: over what a mask keeps, from an initial number. */
import { flagOf, type Names, optionsOf } from '../errors/check-arguments.js'
import { asExpr } from '../graph/expr.js'
import { liftNumber } from '../graph/lift.js'
import type { Primitive } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import type { ReduceOptions } from '../types/shape.js'
import type { FoldOptions } from '../types/signatures/reduce.js'
import { initialOf, keptNode } from './masked.js'
import { axesOf, type ReduceParams, reduceNode, reduceOptions } from './reduce.js'

export const foldOptions: Names<ReduceOptions & FoldOptions> = { ...reduceOptions, where: true, initial: true }

/** What a result and the initial number are joined by. */
export type Join = (a: AnyExpr, b: number) => AnyExpr
/** A fold that has an identity, over what is kept, from where it begins. */
export const folded =
  (prim: Primitive<'sum' | 'prod', ReduceParams, readonly ['float']>, identity: 0 | 1, join: Join) =>
  (x: unknown, options?: ReduceOptions & FoldOptions): AnyExpr => {
    const op = prim.name
    const given = optionsOf(options, foldOptions, op)
    const n = liftNumber(x, op)
    const axes = axesOf(n.shape.length, given.axis, op)
    const y = asExpr(reduceNode(prim, keptNode(n, given.where, identity, op), axes, flagOf(given.keepdims, 'keepdims', op)))
    const initial = initialOf(given.initial, n.dtype, op)
    return initial === undefined ? y : join(y, initial)
  }
