/** Calculus of the elementary functions: one line of partials each. */

import type { Rule } from '../core/calculus/rule.js'
import { ZeroTangent } from '../core/graph/tangent.js'
import { and, eq, isnan, le, lt } from '../core/ops/compare.js'
import * as op from '../core/ops/elementwise.js'
import { add, cos, cosh, div, mul, neg, pow, sigmoid, sin, sinh, square, strongMul, sub, where } from '../core/ops/elementwise.js'
import type { exponentials, gamma, trigonometric } from '../core/ops/families.js'
import { polygammaPrimitive } from '../core/ops/polygamma.js'
import type { AnyExpr } from '../core/types/expr.js'
import { literal } from './arithmetic.js'
import { reapply, scalarRule } from './define.js'

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

/** Exponentials, logarithms, powers and hyperbolic functions. */
export const exponentialRules: { readonly [K in keyof typeof exponentials]: Rule } = {
  exp: scalarRule(op.exp, ({ y }) => [y]),
  exp2: scalarRule(op.exp2, ({ y }) => [mul(y, Math.LN2)]),
  expm1: scalarRule(op.expm1, ({ x: [x] }) => [op.exp(x)]),
  log: scalarRule(op.log, ({ x: [x] }) => [div(1, x)]),
  log2: scalarRule(op.log2, ({ x: [x] }) => [div(Math.LOG2E, x)]),
  log10: scalarRule(op.log10, ({ x: [x] }) => [div(Math.LOG10E, x)]),
  log1p: scalarRule(op.log1p, ({ x: [x] }) => [div(1, add(1, x))]),
  sigmoid: scalarRule(op.sigmoid, ({ y }) => [mul(y, sub(1, y))]),
  softplus: scalarRule(op.softplus, ({ x: [x] }) => [sigmoid(x)]),
  // strongMul(b, ...): the derivative of x^0 is 0, at 0 too. Where y is 0 it stays 0 as b moves, whatever log a is.
  pow: scalarRule(op.pow, ({ x: [a, b], y }) => {
    const n = literal(b)
    if (n === undefined) return [strongMul(b, pow(a, sub(b, 1))), literal(a) === 0 ? ZeroTangent : where(eq(y, 0), 0, mul(y, op.log(a)))]
    return [n === 0 ? 0 : n === 1 ? 1 : mul(n, pow(a, n - 1)), ZeroTangent]
  }),
  cbrt: scalarRule(op.cbrt, ({ y }) => [div(1 / 3, square(y))]),
  logaddexp: scalarRule(op.logaddexp, ({ x: [a, b] }) => [sigmoid(difference(a, b)), sigmoid(difference(b, a))]),
  xlogy: scalarRule(op.xlogy, ({ x: [x, y] }) => [where(and(eq(x, 0), le(y, 0)), 0, op.log(y)), strongMul(x, div(1, y))]),
  sinh: scalarRule(op.sinh, ({ x: [x] }) => [cosh(x)]),
  cosh: scalarRule(op.cosh, ({ x: [x] }) => [sinh(x)]),
  tanh: scalarRule(op.tanh, ({ y }) => [sub(1, mul(y, y))]),
  asinh: scalarRule(op.asinh, ({ x: [x] }) => [op.rsqrt(add(1, square(x)))]),
  acosh: scalarRule(op.acosh, ({ x: [x] }) => [op.rsqrt(strongMul(sub(x, 1), add(x, 1)))]),
  atanh: scalarRule(op.atanh, ({ x: [x] }) => [op.reciprocal(oneMinusSquare(x))]),
}
/** Circular functions and lengths. */
export const trigonometricRules: { readonly [K in keyof typeof trigonometric]: Rule } = {
  sin: scalarRule(op.sin, ({ x: [x] }) => [cos(x)]),
  cos: scalarRule(op.cos, ({ x: [x] }) => [neg(sin(x))]),
  tan: scalarRule(op.tan, ({ y }) => [add(1, square(y))]),
  asin: scalarRule(op.asin, ({ x: [x] }) => [op.rsqrt(oneMinusSquare(x))]),
  acos: scalarRule(op.acos, ({ x: [x] }) => [neg(op.rsqrt(oneMinusSquare(x)))]),
  atan: scalarRule(op.atan, ({ x: [x] }) => [op.reciprocal(add(1, square(x)))]),
  atan2: scalarRule(op.atan2, ({ x: [y, x] }) => {
    const r = add(square(x), square(y))
    return [where(eq(r, 0), 0, div(x, r)), where(eq(r, 0), 0, neg(div(y, r)))]
  }),
  hypot: scalarRule(op.hypot, ({ x: [a, b], y }) => [where(eq(y, 0), 0, div(a, y)), where(eq(y, 0), 0, div(b, y))]),
}
/** The error function, and what is made of the gamma function. */
export const gammaRules: { readonly [K in keyof typeof gamma]: Rule } = {
  erf: scalarRule(op.erf, ({ x: [x] }) => [mul(TWO_OVER_ROOT_PI, op.exp(neg(square(x))))]),
  erfc: scalarRule(op.erfc, ({ x: [x] }) => [mul(-TWO_OVER_ROOT_PI, op.exp(neg(square(x))))]),
  lgamma: scalarRule(op.lgamma, ({ x: [x] }) => [op.digamma(x)]),
  polygamma: scalarRule(polygammaPrimitive, ({ x: [x], params }) => [reapply(polygammaPrimitive, [x], { n: params.n + 1 })]),
}
