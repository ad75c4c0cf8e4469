/** What batch rules are made of: the batch axis is in front, and arguments without it join those that have it. */

import type { BatchRule } from '../core/calculus/rule.js'
import { integerOf, listOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { greatestOf } from '../core/errors/extremes.js'
import { applyAny, asExpr, asNode } from '../core/graph/expr.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { broadcastTo, reshape } from '../core/ops/layout/layout.js'
import type { AnyExpr } from '../core/types/expr.js'
import { exprIn } from './given.js'

/** The shape of an expression as numbers: rules run at known shapes. */
export const dims = (x: AnyExpr): readonly number[] => x.shape as readonly number[]

/**
 * Ranks made equal under a batch axis, which stays in front: axes of length 1 after it, up to `rank`, that of the longest unless given.
 * Unbatched arguments stay as they are and broadcast.
 */
export const alignBatch = (
  xs: readonly AnyExpr[],
  batched: readonly boolean[],
  rank: number = greatestOf(xs.map((x, i) => dims(x).length - (batched[i] ? 1 : 0))),
): AnyExpr[] =>
  xs.map((x, i) => {
    const [size, ...rest] = dims(x)
    return batched[i] && rest.length < rank ? reshape(x, [size!, ...new Array<number>(rank - rest.length).fill(1), ...rest]) : x
  })

/**
 * All arguments of a batch rule with the batch axis in front: those without it are repeated, as views.
 *
 * @example batchAll([neg([[1], [2]]), neg([5])], [true, false], 2).map((x) => x.shape)   // [[2, 1], [2, 1]]
 */
export const batchAll = (xs: readonly AnyExpr[], batched: readonly boolean[], size: number): AnyExpr[] => {
  const args = listOf(xs, 'the arguments', 'batchAll') as readonly AnyExpr[]
  const flags = listOf(batched, 'batched', 'batchAll')
  integerOf(size, 'size', 'batchAll')
  if (flags.length !== args.length)
    badInput('batchAll', `${args.length} arguments, ${flags.length} flags.`, 'give xs and batched of the batch rule.')
  return args.map((given, i) => {
    const x = exprIn(given, `argument ${i}`, 'batchAll')
    return flags[i] === true ? x : broadcastTo(x, [size, ...dims(x)])
  })
}

/** Batch rule of any elementwise primitive: the batch axis is in front; arguments of lower rank get axes after it. */
export const elementwiseBatch =
  (primitive: AnyPrimitive): BatchRule =>
  (xs, batched, params) =>
    applyAny(primitive, alignBatch(xs, batched).map(asNode), params).map(asExpr)
