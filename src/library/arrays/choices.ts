/** Choices among several arrays, and elements put along an axis. */

import { listOf, optionsOf } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { fitted, lift, liftAll, liftInto } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { broadcastShapes, range, sameShape, sizeOf } from '../../core/graph/shape.js'
import { lt } from '../../core/ops/compare.js'
import { add, mul, where } from '../../core/ops/elementwise.js'
import { iotaNode, liftIndices, setAtNode } from '../../core/ops/indexing-gather.js'
import { axisOf, axisOption, broadcastNode, reshapeNode } from '../../core/ops/layout-move.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { PiecewiseFn, PutAlongAxisFn, SelectFirstFn } from '../../core/types/signatures/arrays.js'
import type { AxisOptions } from '../../core/types/signatures/reduce.js'
import { clamp } from './elementwise.js'

/**
 * The element of the first choice whose condition holds, `otherwise` (0 unless given) where none does: NumPy's select. (`select` here is `where`.)
 *
 * Shapes  all broadcast.   Dtype  promoted.   Rule  each choice has the cotangent where it was chosen, 0 elsewhere.   Source  NumPy select.
 * Errors  BadInput unless there are as many choices as conditions, one at least; ShapeMismatch when they do not broadcast.
 * @example selectFirst([[true, false, false], [true, true, false]], [[1, 1, 1], [2, 2, 2]], 9)   // [1, 2, 9]
 */
export const selectFirst: SelectFirstFn = typed((conditions: unknown, choices: unknown, otherwise: unknown = 0): AnyExpr => {
  const [tests, values] = [listOf(conditions, 'conditions', 'selectFirst'), listOf(choices, 'choices', 'selectFirst')]
  if (tests.length !== values.length || tests.length === 0)
    raise({
      _tag: 'BadInput',
      where: 'selectFirst',
      reason: `${tests.length} conditions for ${values.length} choices.`,
      fix: 'give as many, one at least.',
    })
  const lifted = liftAll([...values, otherwise], 'selectFirst')
  return tests.reduceRight<AnyExpr>(
    (rest, c, i) => where(asExpr(lift(c, 'selectFirst')), asExpr(lifted[i]!), rest),
    asExpr(lifted[tests.length]!),
  )
})

/**
 * A function in pieces: at each element of x the function, or the value, of the last condition that holds; of one more than there are conditions where none
 * does, else 0. Every function is computed everywhere; where it is not chosen it has no say, nor in derivatives.
 *
 * Shapes  x's, to which conditions and results broadcast.   Dtype  x's.   Rule  that of the function that was chosen.   Source  NumPy piecewise.
 * Errors  BadInput unless there are as many functions as conditions, or one more; ShapeMismatch for what does not broadcast to x.
 * @example piecewise(tensor([-2, 3]), [[true, false]], [0, (x) => mul(x, x)])   // [0, 9]
 */
export const piecewise: PiecewiseFn = typed((x: unknown, conditions: unknown, functions: unknown): AnyExpr => {
  const n = lift(x, 'piecewise')
  const [tests, pieces] = [listOf(conditions, 'conditions', 'piecewise'), listOf(functions, 'functions', 'piecewise')]
  if (pieces.length !== tests.length && pieces.length !== tests.length + 1)
    raise({
      _tag: 'BadInput',
      where: 'piecewise',
      reason: `${pieces.length} functions for ${tests.length} conditions.`,
      fix: 'give one for each, or one more for the rest.',
    })
  const pieceOf = (piece: unknown): AnyExpr => {
    const y = fitted(n.dtype, lift(typeof piece === 'function' ? piece(asExpr(n)) : piece, 'piecewise', n.dtype), 'piecewise')
    return asExpr(broadcastNode(y, n.shape))
  }
  return tests.reduce<AnyExpr>(
    (rest, c, i) => where(asExpr(broadcastNode(lift(c, 'piecewise'), n.shape)), pieceOf(pieces[i]), rest),
    pieceOf(pieces[tests.length] ?? 0),
  )
})

/**
 * x with one element replaced for each index, along an axis (the last by default): the counterpart of `takeAlongAxis`. Of an index that comes twice the last wins.
 *
 * Shapes  x and indices have one shape but for the axis; values broadcast to the indices' -> x's.   Dtype  x's; indices i32, negative from the end, clamped.
 * Rule    xBar = yBar with zeros there; valuesBar = yBar at the indices, zero for values that lost.   Source  NumPy put_along_axis, which writes in place.
 * Errors  ShapeMismatch when other axes differ or values do not broadcast; DTypeMismatch for indices that are not i32 or float values of integers; BadInput for an axis out of range.
 * @example putAlongAxis(tensor([[1, 2], [3, 4]]), [[1], [0]], 9)   // [[1, 9], [9, 4]]
 */
export const putAlongAxis: PutAlongAxisFn = typed((x: unknown, indices: unknown, values: unknown, options?: AxisOptions): AnyExpr => {
  const { axis: given = -1 } = optionsOf(options, axisOption, 'putAlongAxis')
  const [n, u] = liftInto(x, values, 'putAlongAxis')
  const i = liftIndices(indices, 'putAlongAxis')
  const axis = axisOf(given, n.shape.length, 'putAlongAxis')
  if (i.shape.length !== n.shape.length || i.shape.some((d, k) => k !== axis && d !== n.shape[k]))
    raise({
      _tag: 'ShapeMismatch',
      op: 'putAlongAxis',
      shapes: [n.shape, i.shape],
      reason: `x is ${showShape(n.shape)}, the indices ${showShape(i.shape)}: they may differ along axis ${axis} only.`,
      fix: 'broadcastTo one of them, or use set for whole slices.',
    })
  const d = n.shape[axis]!
  if (i.aval.size === 0) return asExpr(n)
  if (d === 0)
    raise({ _tag: 'BadInput', where: 'putAlongAxis', reason: `axis ${axis} of ${showShape(n.shape)} is empty: no index is in range.` })
  if (!sameShape(broadcastShapes(u.shape, i.shape) ?? [-1], i.shape))
    raise({
      _tag: 'ShapeMismatch',
      op: 'putAlongAxis',
      shapes: [i.shape, u.shape],
      reason: `values of ${showShape(u.shape)} do not broadcast to the indices, which are ${showShape(i.shape)}.`,
      fix: 'axes must be 1 or equal, counted from the last.',
    })
  // Places in the flattened array, in the order of the indices.
  const strides = n.shape.map((_, k) => sizeOf(n.shape.slice(k + 1)))
  const own = clamp(where(lt(asExpr(i), 0), add(asExpr(i), d), asExpr(i)), 0, d - 1)
  const place = range(n.shape.length).reduce<AnyExpr>(
    (p, k) => (k === axis ? p : add(p, mul(asExpr(iotaNode(i.shape, k, 'i32')), strides[k]!))),
    mul(own, strides[axis]!),
  )
  const flat = (y: Node): Node => reshapeNode(y, [y.aval.size])
  const put = broadcastNode(u, i.shape)
  return asExpr(reshapeNode(setAtNode(flat(n), flat(asNode(place)), flat(put), { axis: 0, batchDims: 0 }), n.shape))
})
