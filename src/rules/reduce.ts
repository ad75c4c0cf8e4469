/** Calculus of reductions. */

import type { Rule } from '../core/calculus/rule.js'
import { asExpr, asNode } from '../core/graph/expr.js'
import type { Primitive } from '../core/graph/primitive.js'
import { thunk, ZeroTangent } from '../core/graph/tangent.js'
import { lt } from '../core/ops/compare.js'
import { onesLike } from '../core/ops/construct.js'
import { div, where } from '../core/ops/elementwise.js'
import type { reduce } from '../core/ops/families.js'
import { broadcastTo, reshape } from '../core/ops/layout/layout.js'
import * as op from '../core/ops/reduce.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims } from './batching.js'
import { linearRule, nonDifferentiable, reapply, rule } from './define.js'

/** A reduction's result (or its cotangent) repeated along the folded axes: x's shape. */
export const expandReduced = (y: AnyExpr, x: AnyExpr, axes: readonly number[]): AnyExpr =>
  broadcastTo(
    reshape(
      y,
      dims(x).map((d, i) => (axes.includes(i) ? 1 : d)),
    ),
    dims(x),
  )
export const shiftAxes = (axes: readonly number[]): readonly number[] => axes.map((a) => a + 1)

export const fold = (primitive: Primitive<string, op.ReduceParams, readonly ['float']>, x: AnyExpr, axes: readonly number[]): AnyExpr =>
  asExpr(op.reduceNode(primitive, asNode(x), axes))
export const total = (x: AnyExpr, axes: readonly number[]): AnyExpr => fold(op.sumPrimitive, x, axes)

/** The elements that attain the extremum share the derivative equally; where it is NaN, all elements do. */
const extremeRule = (
  primitive: Primitive<string, op.ReduceParams, readonly ['float']>,
  worse: (x: AnyExpr, y: AnyExpr) => AnyExpr,
): Rule => {
  const shares = (x: AnyExpr, y: AnyExpr, axes: readonly number[]) => {
    const loses = worse(x, expandReduced(y, x, axes))
    const keep = (t: AnyExpr): AnyExpr => where(loses, 0, t)
    return { keep, count: total(keep(onesLike(x)), axes) }
  }
  return rule(primitive, {
    frule: ([x], [dx], { axes }, { y }) => {
      if (dx._tag !== 'Expr') return [y, ZeroTangent]
      const { keep, count } = shares(x, y, axes)
      return [y, div(total(keep(dx), axes), count)]
    },
    rrule: ([x], { axes }, { y }) => {
      const extremePullback = (yBar: AnyExpr) => {
        const { keep, count } = shares(x, y, axes)
        return [thunk(() => keep(expandReduced(div(yBar, count), x, axes)))] as const
      }
      return [y, extremePullback]
    },
    batch: ([x], _b, { axes }) => fold(primitive, x, shiftAxes(axes)),
  })
}

/** One rule per primitive of the family `reduce`. */
export const reduceRules: { readonly [K in keyof typeof reduce]: Rule } = {
  sum: linearRule(op.sumPrimitive, {
    transpose: (yBar, [x], { axes }) => [thunk(() => expandReduced(yBar, x, axes))],
    batch: ([x], _b, { axes }) => total(x, shiftAxes(axes)),
  }),
  max: extremeRule(op.maxPrimitive, (x, y) => lt(x, y)),
  min: extremeRule(op.minPrimitive, (x, y) => lt(y, x)),
  argmax: nonDifferentiable(op.argmaxPrimitive, ([x], _b, { axis }) => reapply(op.argmaxPrimitive, [x], { axis: axis + 1 })),
  argmin: nonDifferentiable(op.argminPrimitive, ([x], _b, { axis }) => reapply(op.argminPrimitive, [x], { axis: axis + 1 })),
}
