/** Calculus of the elementwise functions: one line of partials each. */
import { isFloat } from '../core/aval.js'
import { castPrimitive } from '../core/cast.js'
import { eq, gt } from '../core/ops/compare.js'
import * as op from '../core/ops/elementwise.js'
import { polygammaOf } from '../core/ops/polygamma.js'
import type { AnyPrimitive } from '../core/primitive.js'
import type { Rule } from '../core/registry.js'
import { NoTangent, thunk, ZeroTangent } from '../core/tangent.js'
import type { AnyExpr } from '../core/types/expr.js'
import { elementwiseBatch, nonDifferentiable, reapply, rule, scalarRule } from './define.js'

const { add, cast, cos, cosh, div, exp, log, mul, neg, pow, reciprocal, rsqrt, sigmoid, sign, sin, sinh, square, sub, where } = op

/** num / den where num is not zero, else zero: 0/0 is 0, so that masked cotangents stay zero at a pole. */
const strongDiv = (num: AnyExpr, den: AnyExpr): AnyExpr => where(eq(num, 0), 0, div(num, where(eq(num, 0), 1, den)))
/** a^(n-1) for a literal exponent. */
const lowered = (a: AnyExpr, n: number): AnyExpr | number => (n === 2 ? a : pow(a, n - 1))
/** 1 where a wins, 1/2 at a tie, 0 where b wins. */
const share = (a: AnyExpr, b: AnyExpr, wins: (x: AnyExpr, y: AnyExpr) => AnyExpr): AnyExpr =>
  add(cast(wins(a, b), a.dtype), mul(0.5, cast(eq(a, b), a.dtype)))
const ternaryBatch = elementwiseBatch(op.wherePrimitive as unknown as AnyPrimitive)

/** One rule per primitive of core/ops/elementwise.ts. */
export const elementwiseRules: { readonly [K in keyof typeof op.elementwise]: Rule } = {
  neg: scalarRule(op.neg, () => [-1]),
  abs: scalarRule(op.abs, ({ x: [x] }) => [sign(x)]),
  square: scalarRule(op.square, ({ x: [x] }) => [mul(2, x)]),
  sign: nonDifferentiable(op.sign),
  reciprocal: scalarRule(op.reciprocal, ({ y }) => [neg(square(y))]),
  sqrt: {
    ...rule(op.sqrt.primitive, {
      frule: (_xs, [dx], _p, { y }) => [y, dx._tag === 'Expr' ? strongDiv(dx, mul(2, y)) : ZeroTangent],
      rrule: (_xs, _p, { y }) => [y, (yBar) => [thunk(() => strongDiv(yBar, mul(2, y)))]],
    }),
    batch: elementwiseBatch(op.sqrt.primitive as unknown as AnyPrimitive),
  },
  rsqrt: scalarRule(op.rsqrt, ({ x: [x], y }) => [mul(-0.5, div(y, x))]),
  cbrt: scalarRule(op.cbrt, ({ y }) => [reciprocal(mul(3, square(y)))]),
  exp: scalarRule(op.exp, ({ y }) => [y]),
  exp2: scalarRule(op.exp2, ({ y }) => [mul(Math.LN2, y)]),
  expm1: scalarRule(op.expm1, ({ y }) => [add(y, 1)]),
  log: scalarRule(op.log, ({ x: [x] }) => [reciprocal(x)]),
  log2: scalarRule(op.log2, ({ x: [x] }) => [reciprocal(mul(Math.LN2, x))]),
  log10: scalarRule(op.log10, ({ x: [x] }) => [reciprocal(mul(Math.LN10, x))]),
  log1p: scalarRule(op.log1p, ({ x: [x] }) => [reciprocal(add(1, x))]),
  sin: scalarRule(op.sin, ({ x: [x] }) => [cos(x)]),
  cos: scalarRule(op.cos, ({ x: [x] }) => [neg(sin(x))]),
  tan: scalarRule(op.tan, ({ y }) => [add(1, square(y))]),
  asin: scalarRule(op.asin, ({ x: [x] }) => [rsqrt(sub(1, square(x)))]),
  acos: scalarRule(op.acos, ({ x: [x] }) => [neg(rsqrt(sub(1, square(x))))]),
  atan: scalarRule(op.atan, ({ x: [x] }) => [reciprocal(add(1, square(x)))]),
  sinh: scalarRule(op.sinh, ({ x: [x] }) => [cosh(x)]),
  cosh: scalarRule(op.cosh, ({ x: [x] }) => [sinh(x)]),
  tanh: scalarRule(op.tanh, ({ y }) => [sub(1, square(y))]),
  asinh: scalarRule(op.asinh, ({ x: [x] }) => [rsqrt(add(1, square(x)))]),
  acosh: scalarRule(op.acosh, ({ x: [x] }) => [rsqrt(sub(square(x), 1))]),
  atanh: scalarRule(op.atanh, ({ x: [x] }) => [reciprocal(sub(1, square(x)))]),
  erf: scalarRule(op.erf, ({ x: [x] }) => [mul(2 / Math.sqrt(Math.PI), exp(neg(square(x))))]),
  erfc: scalarRule(op.erfc, ({ x: [x] }) => [mul(-2 / Math.sqrt(Math.PI), exp(neg(square(x))))]),
  floor: nonDifferentiable(op.floor),
  ceil: nonDifferentiable(op.ceil),
  round: nonDifferentiable(op.round),
  lgamma: scalarRule(op.lgamma, ({ x: [x] }) => [op.digamma(x)]),
  polygamma: scalarRule(polygammaOf, ({ x: [x], params: { n } }) => [op.polygamma(n + 1, x)]),
  sigmoid: scalarRule(op.sigmoid, ({ y }) => [mul(y, sub(1, y))]),
  softplus: scalarRule(op.softplus, ({ x: [x] }) => [sigmoid(x)]),
  relu: {
    ...rule(op.relu.primitive, {
      frule: ([x], [dx], _p, { y }) => [y, dx._tag === 'Expr' ? where(gt(x, 0), dx, 0) : ZeroTangent],
      // From the output: relu(x) > 0 exactly where x > 0.
      rrule: (_xs, _p, { y }) => [y, (yBar) => [thunk(() => where(gt(y, 0), yBar, 0))]],
    }),
    batch: elementwiseBatch(op.relu.primitive as unknown as AnyPrimitive),
  },
  stopGradient: nonDifferentiable(op.stopGradient),
  add: scalarRule(op.add, () => [1, 1]),
  sub: scalarRule(op.sub, () => [1, -1]),
  mul: scalarRule(op.mul, ({ x: [a, b] }) => [b, a]),
  div: scalarRule(op.div, ({ x: [, b], y }) => [reciprocal(b), neg(div(y, b))]),
  pow: scalarRule(op.pow, ({ x: [a, b], y }) => {
    const n = op.literalExponent(b)
    if (n !== undefined) return [n === 0 ? 0 : mul(n, lowered(a, n)), mul(y, log(a))]
    // b a^(b-1) is 0 where b is 0; a^b log a is 0 where a is 0 and b is positive.
    return [where(eq(b, 0), 0, mul(b, pow(a, sub(b, 1)))), where(eq(a, 0), 0, mul(y, log(where(eq(a, 0), 1, a))))]
  }),
  atan2: scalarRule(op.atan2, ({ x: [y, x] }) => {
    const r2 = add(square(x), square(y))
    return [div(x, r2), neg(div(y, r2))]
  }),
  hypot: scalarRule(op.hypot, ({ x: [a, b], y }) => [strongDiv(a, y), strongDiv(b, y)]),
  maximum: scalarRule(op.maximum, ({ x: [a, b] }) => [share(a, b, gt), share(b, a, gt)]),
  minimum: scalarRule(op.minimum, ({ x: [a, b] }) => [share(b, a, gt), share(a, b, gt)]),
  mod: scalarRule(op.mod, ({ x: [a, b] }) => [1, neg(op.floor(div(a, b)))]),
  logaddexp: scalarRule(op.logaddexp, ({ x: [a, b] }) => [sigmoid(sub(a, b)), sigmoid(sub(b, a))]),
  copysign: scalarRule(op.copysign, ({ x: [a, b] }) => [mul(op.copysign(1, b), sign(a)), 0]),
  xlogy: scalarRule(op.xlogy, ({ x: [a, b] }) => [log(b), where(eq(a, 0), 0, div(a, b))]),
  where: {
    ...rule(op.wherePrimitive, {
      frule: ([c], [, da, db], _p, { y }) =>
        da._tag !== 'Expr' && db._tag !== 'Expr' ? [y, ZeroTangent] : [y, where(c, da._tag === 'Expr' ? da : 0, db._tag === 'Expr' ? db : zero(y))],
      rrule: ([c], _p, { y }) => [y, (yBar) => [NoTangent, thunk(() => where(c, yBar, 0)), thunk(() => where(c, 0, yBar))]],
    }),
    batch: ternaryBatch,
  },
  cast: {
    ...rule(castPrimitive, {
      frule: (_xs, [dx], params, { y }) => [y, dx._tag === 'Expr' && isFloat(params.dtype) ? reapply(castPrimitive, [dx], params) : isFloat(params.dtype) ? ZeroTangent : NoTangent],
      rrule: ([x], _params, { y }) => [y, (yBar) => [isFloat(x.dtype) ? op.cast(yBar, x.dtype) : ZeroTangent]],
    }),
    batch: elementwiseBatch(castPrimitive as unknown as AnyPrimitive),
  },
}
const zero = (y: AnyExpr): AnyExpr => op.cast(0, y.dtype)
