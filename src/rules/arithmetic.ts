/** Calculus of arithmetic, choices and what takes no series: one line of partials each. */

import { GUARDED } from '../core/calculus/hard-zeros.js'
import type { Rule, RuleConfig } from '../core/calculus/rule.js'
import { isFloat } from '../core/graph/aval.js'
import { castPrimitive } from '../core/graph/cast.js'
import { asExpr, asNode, CONST, constant } from '../core/graph/expr.js'
import type { AnyPrimitive, Primitive } from '../core/graph/primitive.js'
import { type Forced, NoTangent, type Tangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { gt, lt } from '../core/ops/compare.js'
import * as op from '../core/ops/elementwise.js'
import { copysign, div, mul, neg, sign, square, sub, where } from '../core/ops/elementwise.js'
import type { arithmetic } from '../core/ops/families.js'
import type { AnyExpr } from '../core/types/expr.js'
import { elementwiseRule, nonDifferentiable, reapply, scalarRule } from './define.js'
import { addTangents, strongBoth } from './product.js'

const zeroLike = (x: AnyExpr): AnyExpr => asExpr(constant(0, x.dtype))
export const literal = (x: AnyExpr): number | undefined => (asNode(x).kind === CONST ? (asNode(x).payload as number) : undefined)
const isExpr = (t: Tangent): t is AnyExpr => t._tag === 'Expr'

/** Selects by masks instead of multiplying with them: a masked cotangent is exactly 0, infinite or not. */
const choose = (c: AnyExpr, a: Forced, b: Forced): Forced =>
  isExpr(a) ? (isExpr(b) ? where(c, a, b) : where(c, a, zeroLike(a))) : isExpr(b) ? where(c, zeroLike(b), b) : ZeroTangent
const half = (t: Forced): Forced => (isExpr(t) ? mul(t, 0.5) : t)
/** What a `where` does not select is a hard zero. */
const guarded = (config: RuleConfig, t: Forced): Forced => (isExpr(t) ? config.hardened(t, GUARDED) : t)

/** maximum and minimum: `wins(a, b)` tells where the first is the result; where neither wins, at ties and NaN, they share. */
const extremum = (o: typeof op.maximum | typeof op.minimum, wins: (a: AnyExpr, b: AnyExpr) => AnyExpr): Rule =>
  elementwiseRule(o.primitive as AnyPrimitive as Primitive<string, object, readonly ['float', 'float']>, {
    frule: ([a, b], [da, db], _params, { y }) => [y, choose(wins(a, b), da, choose(wins(b, a), db, half(addTangents(da, db))))],
    rrule: ([a, b], _params, { y }) => {
      const share = (yBar: AnyExpr, p: AnyExpr, q: AnyExpr) =>
        thunk(() => choose(wins(p, q), yBar, choose(wins(q, p), ZeroTangent, half(yBar))))
      const extremumPullback = (yBar: AnyExpr, active: readonly boolean[]) =>
        [active[0] ? share(yBar, a, b) : ZeroTangent, active[1] ? share(yBar, b, a) : ZeroTangent] as const
      return [y, extremumPullback]
    },
  })

/** One rule per primitive of the family `elementwise` that every program may need. */
export const arithmeticRules: { readonly [K in keyof typeof arithmetic]: Rule } = {
  neg: scalarRule(op.neg, () => [-1]),
  abs: scalarRule(op.abs, ({ x: [x] }) => [sign(x)]),
  square: scalarRule(op.square, ({ x: [x] }) => [mul(x, 2)]),
  sign: nonDifferentiable(op.sign),
  floor: nonDifferentiable(op.floor),
  ceil: nonDifferentiable(op.ceil),
  round: nonDifferentiable(op.round),
  reciprocal: scalarRule(op.reciprocal, ({ y }) => [neg(square(y))]),
  sqrt: scalarRule(op.sqrt, ({ y }) => [div(0.5, y)]),
  rsqrt: scalarRule(op.rsqrt, ({ y }) => [mul(-0.5, mul(y, square(y)))]),
  relu: elementwiseRule(op.relu, {
    frule: (_x, [dx], _params, { y }) => [y, choose(gt(y, 0), dx, ZeroTangent)],
    rrule: (_x, _params, { y }) => {
      const reluPullback = (yBar: AnyExpr) => [thunk(() => choose(gt(y, 0), yBar, ZeroTangent))] as const
      return [y, reluPullback]
    },
  }),
  add: scalarRule(op.add, () => [1, 1]),
  sub: scalarRule(op.sub, () => [1, -1]),
  mul: scalarRule(op.mul, ({ x: [a, b] }) => [b, a]),
  strongMul: elementwiseRule(op.strongMul, {
    frule: ([a, b], [da, db], _params, { y, config }) => [
      y,
      addTangents(
        isExpr(da) ? strongBoth(config, da, b, GUARDED) : ZeroTangent,
        isExpr(db) ? strongBoth(config, db, a, GUARDED) : ZeroTangent,
      ),
    ],
    rrule: ([a, b], _params, { y, config }) => {
      const strongMulPullback = (yBar: AnyExpr) =>
        [thunk(() => strongBoth(config, yBar, b, GUARDED)), thunk(() => strongBoth(config, yBar, a, GUARDED))] as const
      return [y, strongMulPullback]
    },
  }),
  div: scalarRule(op.div, ({ x: [, b], y }) => {
    const c = literal(b)
    return c !== undefined && c !== 0 ? [1 / c, ZeroTangent] : [div(1, b), neg(div(y, b))]
  }),
  // (a - y) / b is floor(a / b) up to rounding.
  mod: scalarRule(op.mod, ({ x: [a, b], y }) => [1, literal(b) !== undefined ? ZeroTangent : neg(op.round(div(sub(a, y), b)))]),
  maximum: extremum(op.maximum, gt),
  minimum: extremum(op.minimum, lt),
  copysign: scalarRule(op.copysign, ({ x: [a, b] }) => [mul(sign(a), copysign(1, b)), ZeroTangent]),
  where: elementwiseRule(op.where.primitive, {
    frule: ([c], [, da, db], _params, { y, config }) => {
      const dy = choose(c, da, db)
      return [y, isExpr(da) && isExpr(db) ? dy : guarded(config, dy)]
    },
    rrule: ([c], _params, { y, config }) => {
      const wherePullback = (yBar: AnyExpr) =>
        [
          NoTangent,
          thunk(() => guarded(config, choose(c, yBar, ZeroTangent))),
          thunk(() => guarded(config, choose(c, ZeroTangent, yBar))),
        ] as const
      return [y, wherePullback]
    },
  }),
  stopGradient: nonDifferentiable(op.stopGradient),
  cast: elementwiseRule(castPrimitive, {
    frule: (_xs, [dx], params, { y }) => [
      y,
      dx._tag === 'Expr' && isFloat(params.dtype) ? reapply(castPrimitive, [dx], params) : isFloat(params.dtype) ? ZeroTangent : NoTangent,
    ],
    rrule: ([x], _params, { y }) => [y, (yBar) => [isFloat(x.dtype) ? op.cast(yBar, x.dtype) : ZeroTangent]],
  }),
}
