/** Calculus of the elementwise functions: one line of partials each. */
import { isFloat } from '../core/aval.js'
import { castPrimitive } from '../core/cast.js'
import * as op from '../core/ops/elementwise.js'
import type { Rule } from '../core/registry.js'
import { NoTangent, ZeroTangent } from '../core/tangent.js'
import { reapply, rule, scalarRule, elementwiseBatch } from './define.js'
import type { AnyPrimitive } from '../core/primitive.js'

const { cos, div, mul, neg, sin, sub } = op

/** One rule per primitive of core/ops/elementwise.ts. */
export const elementwiseRules: { readonly [K in keyof typeof op.elementwise]: Rule } = {
  neg: scalarRule(op.neg, () => [-1]),
  exp: scalarRule(op.exp, ({ y }) => [y]),
  log: scalarRule(op.log, ({ x: [x] }) => [div(1, x)]),
  sin: scalarRule(op.sin, ({ x: [x] }) => [cos(x)]),
  cos: scalarRule(op.cos, ({ x: [x] }) => [neg(sin(x))]),
  tanh: scalarRule(op.tanh, ({ y }) => [sub(1, mul(y, y))]),
  add: scalarRule(op.add, () => [1, 1]),
  sub: scalarRule(op.sub, () => [1, -1]),
  mul: scalarRule(op.mul, ({ x: [a, b] }) => [b, a]),
  div: scalarRule(op.div, ({ x: [, b], y }) => [div(1, b), neg(div(y, b))]),
  cast: {
    ...rule(castPrimitive, {
      frule: (_xs, [dx], params, { y }) => [y, dx._tag === 'Expr' && isFloat(params.dtype) ? reapply(castPrimitive, [dx], params) : isFloat(params.dtype) ? ZeroTangent : NoTangent],
      rrule: ([x], _params, { y }) => [y, (yBar) => [isFloat(x.dtype) ? op.cast(yBar, x.dtype) : ZeroTangent]],
    }),
    batch: elementwiseBatch(castPrimitive as unknown as AnyPrimitive),
  },
}
