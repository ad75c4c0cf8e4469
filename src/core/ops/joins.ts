/** Arrays joined, cut and repeated: concat, split, stack, unstack, tile, repeat. */

import { integersOf, listOf, optionsOf, settled, shown } from '../errors/check-arguments.js'
import { raise, showShape } from '../errors/explain.js'
import { asExpr, type Node } from '../graph/expr.js'
import { lift, liftAll } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { MAX_SIZE, sameShape } from '../graph/shape.js'
import type { AnyExpr } from '../types/expr.js'
import type { ConcatFn, RepeatFn, SplitFn, StackFn, TileFn, UnstackFn } from '../types/signatures/layout.js'
import type { AxisOptions } from '../types/signatures/reduce.js'
import { concatNode, splitNode } from './layout-join.js'
import { axisOf, axisOption, broadcastNode, reshapeNode } from './layout-move.js'

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
export const concat: ConcatFn = typed((xs: readonly unknown[], options?: AxisOptions): AnyExpr => {
  const { axis = 0 } = optionsOf(options, axisOption, 'concat')
  const ns = liftList(xs, 'concat', 'concatenate')
  return asExpr(concatNode(ns, axisOf(axis, ns[0]!.shape.length, 'concat')))
})

/**
 * x cut along an axis (the first by default) into n equal parts, or parts of the given sizes.
 *
 * Rule    xBar = concat of the parts' cotangents: one buffer, no zero fills.
 * Errors  ShapeMismatch when n does not divide the axis or the sizes do not add up to it; BadInput for an axis out of range.
 * @example split(tensor([1, 2, 3, 4]), 2)   // [[1, 2], [3, 4]]
 */
export const split: SplitFn = typed((x: unknown, parts: number | readonly number[], options?: AxisOptions): AnyExpr[] => {
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
})

/**
 * Arrays of one shape joined along a new axis (the first by default).
 *
 * Rule    xBar_i = the i-th slice of yBar.
 * Errors  ShapeMismatch when shapes differ; BadInput for no arrays or an axis out of range.
 * @example stack([[1, 2], [3, 4]])   // [[1, 2], [3, 4]]
 */
export const stack: StackFn = typed((xs: readonly unknown[], options?: AxisOptions): AnyExpr => {
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
})

/**
 * The slices of x along an axis (the first by default), without that axis.
 *
 * Rule    xBar = the slices' cotangents, stacked.
 * Errors  BadInput for an axis out of range.
 * @example unstack(tensor([[1, 2], [3, 4]]))   // [[1, 2], [3, 4]]
 */
export const unstack: UnstackFn = typed((x: unknown, options?: AxisOptions): AnyExpr[] => {
  const { axis: at = 0 } = optionsOf(options, axisOption, 'unstack')
  const n = lift(x, 'unstack')
  const axis = axisOf(at, n.shape.length, 'unstack')
  const rest = n.shape.filter((_, i) => i !== axis)
  return splitNode(n, axis, new Array<number>(n.shape[axis]!).fill(1)).map((y) => asExpr(reshapeNode(y, rest)))
})

/**
 * x repeated as a whole `reps[i]` times along each axis; a number is for the last axis.
 *
 * Rule    xBar = the sum of yBar's copies.
 * Errors  BadInput unless reps are non-negative integers.
 * @example tile(tensor([1, 2]), [2])   // [1, 2, 1, 2]
 */
export const tile: TileFn = typed((x: unknown, reps: number | readonly number[]): AnyExpr => {
  const n = lift(x, 'tile')
  const given = settled(reps, 'reps', 'tile')
  const list = Array.isArray(given) ? integersOf(given, 'reps', 'tile') : [given as number]
  const rank = Math.max(n.shape.length, list.length)
  const shape = [...new Array<number>(rank - n.shape.length).fill(1), ...n.shape]
  const r = [...new Array<number>(rank - list.length).fill(1), ...list]
  if (r.some((k) => !Number.isInteger(k) || k < 0))
    raise({ _tag: 'BadInput', where: 'tile', reason: `reps ${shown(list)} must be non-negative integers.` })
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
})

/**
 * Each element of x repeated `times` times along an axis (the first by default).
 *
 * Rule    xBar = the sum of yBar over each element's copies.
 * Errors  BadInput unless times is a non-negative integer.
 * @example repeat(tensor([1, 2]), 2)   // [1, 1, 2, 2]
 */
export const repeat: RepeatFn = typed((x: unknown, times: number, options?: AxisOptions): AnyExpr => {
  const { axis: along = 0 } = optionsOf(options, axisOption, 'repeat')
  const n = lift(x, 'repeat')
  const axis = axisOf(along, n.shape.length, 'repeat')
  if (!Number.isInteger(times) || times < 0)
    raise({ _tag: 'BadInput', where: 'repeat', reason: `${shown(times)} is not a number of repetitions.` })
  const at = (k: number): number[] => [...n.shape.slice(0, axis + 1), k, ...n.shape.slice(axis + 1)]
  return asExpr(
    reshapeNode(
      broadcastNode(reshapeNode(n, at(1)), at(times)),
      n.shape.map((d, i) => (i === axis ? d * times : d)),
    ),
  )
})
