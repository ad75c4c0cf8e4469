/** Calculus of reductions. */
import { asExpr, asNode } from '../core/expr.js'
import { broadcastTo, reshape } from '../core/ops/layout.js'
import * as op from '../core/ops/reduce.js'
import type { Rule } from '../core/registry.js'
import { thunk } from '../core/tangent.js'
import type { AnyExpr } from '../core/types/expr.js'
import { linearRule } from './define.js'

const dims = (x: AnyExpr): readonly number[] => x.shape as readonly number[]

/** A reduction's result (or its cotangent) repeated along the folded axes: x's shape. */
export const expandReduced = (y: AnyExpr, x: AnyExpr, axes: readonly number[]): AnyExpr =>
  broadcastTo(reshape(y, dims(x).map((d, i) => (axes.includes(i) ? 1 : d))), dims(x))
export const shiftAxes = (axes: readonly number[]): readonly number[] => axes.map((a) => a + 1)

/** One rule per primitive of core/ops/reduce.ts. */
export const reduceRules: { readonly [K in keyof typeof op.reduce]: Rule } = {
  sum: linearRule(op.sumPrimitive, {
    transpose: (yBar, [x], { axes }) => [thunk(() => expandReduced(yBar, x, axes))],
    batch: ([x], _b, { axes }) => asExpr(op.reduceNode(op.sumPrimitive, asNode(x), shiftAxes(axes))),
  }),
}
