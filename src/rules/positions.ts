/** Calculus of positions: none. */
import type { Rule } from '../core/calculus/rule.js'
import { asExpr } from '../core/graph/expr.js'
import type { positions } from '../core/ops/families.js'
import { broadcastTo } from '../core/ops/layout/layout.js'
import { iotaNode, iotaPrimitive } from '../core/ops/positions.js'
import { nonDifferentiable } from './define.js'

/** One rule per primitive of the family `positions`. */
export const positionRules: { readonly [K in keyof typeof positions]: Rule } = {
  iota: nonDifferentiable(iotaPrimitive, (_xs, _b, p, size) => broadcastTo(asExpr(iotaNode(p.shape, p.axis, p.dtype)), [size, ...p.shape])),
}
