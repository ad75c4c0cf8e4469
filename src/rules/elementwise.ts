/** Calculus of the elementwise functions: one line of partials each. */

import { GUARDED } from '../core/calculus/hard-zeros.js'
import type { Rule, RuleConfig } from '../core/calculus/rule.js'
import { isFloat } from '../core/graph/aval.js'
import { castPrimitive } from '../core/graph/cast.js'
import { asExpr, asNode, CONST, constant } from '../core/graph/expr.js'
import type { AnyPrimitive, Primitive } from '../core/graph/primitive.js'
import { type Forced, NoTangent, type Tangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { and, eq, gt, isnan, le, lt } from '../core/ops/compare.js'
import * as op from '../core/ops/elementwise.js'
import {
  add,
  copysign,
  cos,
  cosh,
  div,
  mul,
  neg,
  pow,
  sigmoid,
  sign,
  sin,
  sinh,
  square,
  strongMul,
  sub,
  where,
} from '../core/ops/elementwise.js'
import type { elementwise } from '../core/ops/families.js'
import { polygammaPrimitive } from '../core/ops/polygamma.js'
import type { AnyExpr } from '../core/types/expr.js'
import { elementwiseRule, nonDifferentiable, reapply, scalarRule } from './define.js'
import { addTangents, strongBoth } from './product.js'

const zeroLike = (x: AnyExpr): AnyExpr => asExpr(constant(0, x.dtype))
const literal = (x: AnyExpr): number | undefined => (asNode(x).kind === CONST ? (asNode(x).payload as number) : undefined)
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

/** a - b, but 0 where both are the same infinity. */
const difference = (a: AnyExpr, b: AnyExpr): AnyExpr => {
  const d = sub(a, b)
  return where(and(isnan(d), eq(a, b)), 0, d)
}
const TWO_OVER_ROOT_PI = 1.1283791670955126
/** 1 - x^2 without cancellation near 1, and with the factor that is 0 at 1 or -1 first: its derivative holds beside an infinite cotangent. */
const oneMinusSquare = (x: AnyExpr): AnyExpr => {
  const size = where(lt(x, 0), neg(x), x)
  return strongMul(sub(1, size), add(1, size))
}

/** One rule per primitive of the family `elementwise`. */
export const elementwiseRules: { readonly [K in keyof typeof elementwise]: Rule } = {
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
  cbrt: scalarRule(op.cbrt, ({ y }) => [div(1 / 3, square(y))]),
  exp: scalarRule(op.exp, ({ y }) => [y]),
  exp2: scalarRule(op.exp2, ({ y }) => [mul(y, Math.LN2)]),
  expm1: scalarRule(op.expm1, ({ x: [x] }) => [op.exp(x)]),
  log: scalarRule(op.log, ({ x: [x] }) => [div(1, x)]),
  log2: scalarRule(op.log2, ({ x: [x] }) => [div(Math.LOG2E, x)]),
  log10: scalarRule(op.log10, ({ x: [x] }) => [div(Math.LOG10E, x)]),
  log1p: scalarRule(op.log1p, ({ x: [x] }) => [div(1, add(1, x))]),
  sin: scalarRule(op.sin, ({ x: [x] }) => [cos(x)]),
  cos: scalarRule(op.cos, ({ x: [x] }) => [neg(sin(x))]),
  tan: scalarRule(op.tan, ({ y }) => [add(1, square(y))]),
  asin: scalarRule(op.asin, ({ x: [x] }) => [op.rsqrt(oneMinusSquare(x))]),
  acos: scalarRule(op.acos, ({ x: [x] }) => [neg(op.rsqrt(oneMinusSquare(x)))]),
  atan: scalarRule(op.atan, ({ x: [x] }) => [op.reciprocal(add(1, square(x)))]),
  sinh: scalarRule(op.sinh, ({ x: [x] }) => [cosh(x)]),
  cosh: scalarRule(op.cosh, ({ x: [x] }) => [sinh(x)]),
  tanh: scalarRule(op.tanh, ({ y }) => [sub(1, mul(y, y))]),
  asinh: scalarRule(op.asinh, ({ x: [x] }) => [op.rsqrt(add(1, square(x)))]),
  acosh: scalarRule(op.acosh, ({ x: [x] }) => [op.rsqrt(strongMul(sub(x, 1), add(x, 1)))]),
  atanh: scalarRule(op.atanh, ({ x: [x] }) => [op.reciprocal(oneMinusSquare(x))]),
  erf: scalarRule(op.erf, ({ x: [x] }) => [mul(TWO_OVER_ROOT_PI, op.exp(neg(square(x))))]),
  erfc: scalarRule(op.erfc, ({ x: [x] }) => [mul(-TWO_OVER_ROOT_PI, op.exp(neg(square(x))))]),
  lgamma: scalarRule(op.lgamma, ({ x: [x] }) => [op.digamma(x)]),
  polygamma: scalarRule(polygammaPrimitive, ({ x: [x], params }) => [reapply(polygammaPrimitive, [x], { n: params.n + 1 })]),
  sigmoid: scalarRule(op.sigmoid, ({ y }) => [mul(y, sub(1, y))]),
  softplus: scalarRule(op.softplus, ({ x: [x] }) => [sigmoid(x)]),
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
  // strongMul(b, ...): the derivative of x^0 is 0, at 0 too. Where y is 0 it stays 0 as b moves, whatever log a is.
  pow: scalarRule(op.pow, ({ x: [a, b], y }) => {
    const n = literal(b)
    if (n === undefined) return [strongMul(b, pow(a, sub(b, 1))), literal(a) === 0 ? ZeroTangent : where(eq(y, 0), 0, mul(y, op.log(a)))]
    return [n === 0 ? 0 : n === 1 ? 1 : mul(n, pow(a, n - 1)), ZeroTangent]
  }),
  hypot: scalarRule(op.hypot, ({ x: [a, b], y }) => [where(eq(y, 0), 0, div(a, y)), where(eq(y, 0), 0, div(b, y))]),
  atan2: scalarRule(op.atan2, ({ x: [y, x] }) => {
    const r = add(square(x), square(y))
    return [where(eq(r, 0), 0, div(x, r)), where(eq(r, 0), 0, neg(div(y, r)))]
  }),
  logaddexp: scalarRule(op.logaddexp, ({ x: [a, b] }) => [sigmoid(difference(a, b)), sigmoid(difference(b, a))]),
  xlogy: scalarRule(op.xlogy, ({ x: [x, y] }) => [where(and(eq(x, 0), le(y, 0)), 0, op.log(y)), strongMul(x, div(1, y))]),
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
