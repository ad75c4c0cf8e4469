/** Calculus of reductions. */

import type { Rule } from '../core/calculus/rule.js'
import { asExpr, asNode } from '../core/graph/expr.js'
import type { Primitive } from '../core/graph/primitive.js'
import { otherAxes, range, sizeOf } from '../core/graph/shape.js'
import { thunk, ZeroTangent } from '../core/graph/tangent.js'
import { cumprod } from '../core/ops/along-axis.js'
import { lt } from '../core/ops/compare.js'
import { onesLike } from '../core/ops/construct.js'
import { div, mul, where } from '../core/ops/elementwise.js'
import type { reduce } from '../core/ops/families.js'
import { broadcastTo, reshape, transpose } from '../core/ops/layout.js'
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

const fold = (primitive: Primitive<string, op.ReduceParams, readonly ['float']>, x: AnyExpr, axes: readonly number[]): AnyExpr =>
  asExpr(op.reduceNode(primitive, asNode(x), axes))
const total = (x: AnyExpr, axes: readonly number[]): AnyExpr => fold(op.sumPrimitive, x, axes)

/** For each element the product of the others along the axes, without a division: what is before it times what is after it. */
const productOfOthers = (x: AnyExpr, axes: readonly number[]): AnyExpr => {
  const along = (y: AnyExpr, axis: number): AnyExpr =>
    mul(cumprod(y, { axis, exclusive: true }), cumprod(y, { axis, exclusive: true, reverse: true }))
  if (axes.length === 1) return along(x, axes[0]!)
  const kept = otherAxes(dims(x).length, axes)
  const perm = [...kept, ...axes]
  const last = transpose(x, perm)
  const lines = reshape(last, [...kept.map((i) => dims(x)[i]!), sizeOf(axes.map((i) => dims(x)[i]!))])
  const others = reshape(along(lines, kept.length), dims(last))
  return transpose(
    others,
    range(perm.length).map((i) => perm.indexOf(i)),
  )
}

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
  prod: rule(op.prodPrimitive, {
    frule: ([x], [dx], { axes }, { y, config }) => [
      y,
      dx._tag === 'Expr' ? total(config.product(dx, productOfOthers(x, axes)), axes) : ZeroTangent,
    ],
    rrule: ([x], { axes }, { y, config }) => {
      const prodPullback = (yBar: AnyExpr) => [thunk(() => config.product(expandReduced(yBar, x, axes), productOfOthers(x, axes)))] as const
      return [y, prodPullback]
    },
    batch: ([x], _b, { axes }) => fold(op.prodPrimitive, x, shiftAxes(axes)),
  }),
  max: extremeRule(op.maxPrimitive, (x, y) => lt(x, y)),
  min: extremeRule(op.minPrimitive, (x, y) => lt(y, x)),
  argmax: nonDifferentiable(op.argmaxPrimitive, ([x], _b, { axis }) => reapply(op.argmaxPrimitive, [x], { axis: axis + 1 })),
  argmin: nonDifferentiable(op.argminPrimitive, ([x], _b, { axis }) => reapply(op.argminPrimitive, [x], { axis: axis + 1 })),
}
