/** Calculus of the special functions: one line of partials each. */

import type { Rule } from '../core/calculus/rule.js'
import { NO_PARAMS, type NoParams, type Primitive } from '../core/graph/primitive.js'
import { type NotImplemented, notImplemented } from '../core/graph/tangent.js'
import { eq, gt, isnan, lt } from '../core/ops/compare.js'
import {
  add,
  digamma,
  div,
  exp,
  lgamma,
  log,
  log1p,
  mul,
  neg,
  pow,
  sign,
  square,
  strongMul,
  sub,
  where,
  xlogy,
} from '../core/ops/elementwise.js'
import type { special } from '../core/ops/families.js'
import { type BesselParams, besselIePrimitive, besselIPrimitive, besselJPrimitive } from '../core/ops/special/bessel.js'
import {
  betaincGradAPrimitive,
  betaincGradBPrimitive,
  gammaincGradAPrimitive,
  zetaGradSPrimitive,
} from '../core/ops/special/shape-gradients.js'
import * as op from '../core/ops/special/special.js'
import type { AnyExpr } from '../core/types/expr.js'
import { reapply, scalarRule } from './define.js'

const HALF_ROOT_PI = 0.886226925452758
const TWO_OVER_ROOT_PI = 1.1283791670955126
const ROOT_TWO_PI = 2.5066282746310007

/** 2 x erfcx(x) - 2 / sqrt(pi), which cancels for large x: there -(1 - 3 / (2 x^2) + 15 / (4 x^4) - ...) / (sqrt(pi) x^2). */
const erfcxSlope = (x: AnyExpr, y: AnyExpr): AnyExpr => {
  const far = gt(x, 50)
  const z = div(0.5, square(where(far, x, 50)))
  let sum: AnyExpr = mul(z, 135135)
  for (const c of [-10395, 945, -105, 15, -3]) sum = mul(z, add(sum, c))
  return where(far, mul(mul(add(sum, 1), z), -TWO_OVER_ROOT_PI), sub(mul(2, mul(where(far, 50, x), y)), TWO_OVER_ROOT_PI))
}
/** The density over the distribution function: by erfcx below 0, where exp(-x^2 / 2 - y) would cancel. */
const hazard = (x: AnyExpr, y: AnyExpr): AnyExpr => {
  const low = lt(x, 0)
  const below = div(2 / ROOT_TWO_PI, op.erfcx(mul(where(low, x, 0), -Math.SQRT1_2)))
  const above = where(low, 0, x)
  return where(low, below, div(exp(sub(mul(square(above), -0.5), where(low, 0, y))), ROOT_TWO_PI))
}
type Bessel = Primitive<string, BesselParams, readonly ['float']>
const ofOrder = (prim: Bessel, x: AnyExpr, n: number): AnyExpr => reapply(prim, [x], { n })
/** (F_{n-1} + F_{n+1}) / 2, or F_1 for n = 0. */
const mean = (prim: Bessel, x: AnyExpr, n: number): AnyExpr =>
  n === 0 ? ofOrder(prim, x, 1) : mul(0.5, add(ofOrder(prim, x, n - 1), ofOrder(prim, x, n + 1)))
/** At x = 0 the power itself, whose derivatives are right there. */
const gammaDensity = (a: AnyExpr, x: AnyExpr): AnyExpr => {
  const origin = eq(x, 0)
  const power = pow(where(origin, x, 1), sub(a, 1))
  const far = sub(sub(xlogy(sub(a, 1), where(origin, 1, x)), x), lgamma(a))
  return where(origin, mul(power, exp(sub(neg(x), lgamma(a)))), exp(far))
}
/** x log(1 + y), 0 where x is 0 and y is no NaN. */
const xlog1py = (x: AnyExpr, y: AnyExpr): AnyExpr => where(isnan(y), y, strongMul(x, log1p(y)))
const betaDensity = (a: AnyExpr, b: AnyExpr, x: AnyExpr): AnyExpr =>
  exp(sub(add(xlogy(sub(a, 1), x), xlog1py(sub(b, 1), neg(x))), op.betaln(a, b)))
/** A product whose second factor may be infinite where the first is 0, of which it is the limit. */
const vanishing = (y: AnyExpr, factor: AnyExpr): AnyExpr => where(eq(y, 0), 0, mul(y, factor))
const slope = (prim: Primitive<string, NoParams, readonly 'float'[]>, ...xs: readonly AnyExpr[]): AnyExpr => reapply(prim, xs, NO_PARAMS)
const SECOND = 'no second derivative with respect to shape parameters is known; that with respect to the last argument too is.'
const second = (name: string): NotImplemented => notImplemented(name, SECOND)

/** One rule per primitive of the family `special`. */
export const specialRules: { readonly [K in keyof typeof special]: Rule } = {
  erfinv: scalarRule(op.erfinv, ({ y }) => [mul(HALF_ROOT_PI, exp(square(y)))]),
  erfcinv: scalarRule(op.erfcinv, ({ y }) => [mul(-HALF_ROOT_PI, exp(square(y)))]),
  erfcx: scalarRule(op.erfcx, ({ x: [x], y }) => [erfcxSlope(x, y)]),
  ndtr: scalarRule(op.ndtr, ({ x: [x] }) => [mul(1 / ROOT_TWO_PI, exp(mul(-0.5, square(x))))]),
  logNdtr: scalarRule(op.logNdtr, ({ x: [x], y }) => [hazard(x, y)]),
  besselJ: scalarRule(besselJPrimitive, ({ x: [x], params: { n } }) => [
    n === 0
      ? neg(ofOrder(besselJPrimitive, x, 1))
      : mul(0.5, sub(ofOrder(besselJPrimitive, x, n - 1), ofOrder(besselJPrimitive, x, n + 1))),
  ]),
  besselI: scalarRule(besselIPrimitive, ({ x: [x], params: { n } }) => [mean(besselIPrimitive, x, n)]),
  besselIe: scalarRule(besselIePrimitive, ({ x: [x], y, params: { n } }) => [sub(mean(besselIePrimitive, x, n), mul(sign(x), y))]),
  beta: scalarRule(op.beta, ({ x: [a, b], y }) => {
    const both = digamma(add(a, b))
    return [mul(y, sub(digamma(a), both)), mul(y, sub(digamma(b), both))]
  }),
  betaln: scalarRule(op.betaln, ({ x: [a, b] }) => {
    const both = digamma(add(a, b))
    return [sub(digamma(a), both), sub(digamma(b), both)]
  }),
  zeta: scalarRule(op.zeta, ({ x: [s, q] }) => [slope(zetaGradSPrimitive, s, q), mul(neg(s), op.zeta(add(s, 1), q))]),
  zetaGradS: scalarRule(zetaGradSPrimitive, ({ x: [s, q] }) => [
    second('zetaGradS'),
    sub(mul(neg(s), slope(zetaGradSPrimitive, add(s, 1), q)), op.zeta(add(s, 1), q)),
  ]),
  gammainc: scalarRule(op.gammainc, ({ x: [a, x], y }) => [slope(gammaincGradAPrimitive, a, x), where(isnan(y), y, gammaDensity(a, x))]),
  gammaincc: scalarRule(op.gammaincc, ({ x: [a, x], y }) => [
    neg(slope(gammaincGradAPrimitive, a, x)),
    where(isnan(y), y, neg(gammaDensity(a, x))),
  ]),
  // The density times log x - digamma(a), written so that it has its limit at a = 0.
  gammaincGradA: scalarRule(gammaincGradAPrimitive, ({ x: [a, x], y }) => {
    const above = add(a, 1)
    const front = exp(sub(sub(xlogy(sub(a, 1), x), x), lgamma(above)))
    return [second('gammaincGradA'), where(isnan(y), y, vanishing(front, add(1, mul(a, sub(log(x), digamma(above))))))]
  }),
  betainc: scalarRule(op.betainc, ({ x: [a, b, x], y }) => [
    slope(betaincGradAPrimitive, a, b, x),
    slope(betaincGradBPrimitive, a, b, x),
    where(isnan(y), y, betaDensity(a, b, x)),
  ]),
  betaincGradA: scalarRule(betaincGradAPrimitive, ({ x: [a, b, x], y }) => {
    const factor = sub(digamma(add(a, b)), sub(digamma(a), log(x)))
    return [second('betaincGradA'), second('betaincGradA'), where(isnan(y), y, vanishing(betaDensity(a, b, x), factor))]
  }),
  betaincGradB: scalarRule(betaincGradBPrimitive, ({ x: [a, b, x], y }) => {
    const factor = sub(digamma(add(a, b)), sub(digamma(b), log1p(neg(x))))
    return [second('betaincGradB'), second('betaincGradB'), where(isnan(y), y, vanishing(betaDensity(a, b, x), factor))]
  }),
}
