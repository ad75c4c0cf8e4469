/** Calculus of the elementwise functions: one line of partials each. */
import { isFloat } from '../core/aval.js'
import { castPrimitive } from '../core/cast.js'
import { asExpr, asNode, CONST, constant, type Node } from '../core/expr.js'
import { eq, gt, isnan, le, logicalAnd, lt } from '../core/ops/compare.js'
import * as op from '../core/ops/elementwise.js'
import type { AnyPrimitive, ArgKind, Primitive } from '../core/primitive.js'
import type { Rule } from '../core/registry.js'
import { type Forced, NoTangent, type Tangent, thunk, ZeroTangent } from '../core/tangent.js'
import type { AnyExpr } from '../core/types/expr.js'
import { elementwiseBatch, nonDifferentiable, type Partials, reapply, rule, scalarRule } from './define.js'

const { add, cos, copysign, div, mul, neg, pow, sign, sigmoid, sin, sinh, cosh, square, strongMul, sub, where } = op

/** Partials that may be infinite or NaN: a cotangent of 0 stays 0 whatever they are (docs/decisions/strong-zero.md). */
const singular = <N extends string, P, const A extends readonly ArgKind[]>(
  primitive: Primitive<N, P, A> | { readonly primitive: Primitive<N, P, A> },
  partials: (at: {
    readonly x: { readonly [K in keyof A]: AnyExpr } & readonly AnyExpr[]
    readonly y: AnyExpr
    readonly params: P
  }) => Partials<A>,
): Rule => scalarRule(primitive, partials as Parameters<typeof scalarRule<N, P, A>>[1], strongMul)

/** Functions that are infinite or NaN somewhere: a product with what they made may have such a partial. */
const unbounded: ReadonlySet<AnyPrimitive> = new Set<AnyPrimitive>(
  [
    ...[op.reciprocal, op.sqrt, op.rsqrt, op.exp, op.exp2, op.expm1, op.log, op.log2, op.log10, op.log1p, op.asin, op.acos],
    ...[op.sinh, op.cosh, op.acosh, op.atanh, op.lgamma, op.div, op.mod, op.pow, op.xlogy],
  ].map((f): AnyPrimitive => f.primitive as unknown as AnyPrimitive),
).add(op.polygammaPrimitive as unknown as AnyPrimitive)
/** Was x made by one of them, at most `depth` operations ago? */
const mayBeInfinite = (x: Node, depth: number): boolean =>
  x.prim !== null &&
  (unbounded.has(x.prim) ||
    (depth > 0 && (x.prim.class === 'elementwise' || x.prim.class === 'layout') && x.args.some((a) => mayBeInfinite(a, depth - 1))))
/** For products: with a strong zero where a factor of y may be infinite, as in x log x. */
const productOf = (dx: AnyExpr, partial: AnyExpr, y: AnyExpr): AnyExpr =>
  mayBeInfinite(asNode(y), 4) ? strongMul(dx, partial) : mul(dx, partial)

const zeroLike = (x: AnyExpr): AnyExpr => asExpr(constant(0, x.dtype))
const literal = (x: AnyExpr): number | undefined => (asNode(x).kind === CONST ? (asNode(x).data as number) : undefined)
const isExpr = (t: Tangent): t is AnyExpr => t._tag === 'Expr'

/** Selects by masks instead of multiplying with them: a masked cotangent is exactly 0, infinite or not. */
const choose = (c: AnyExpr, a: Forced, b: Forced): Forced =>
  isExpr(a) ? (isExpr(b) ? where(c, a, b) : where(c, a, zeroLike(a))) : isExpr(b) ? where(c, zeroLike(b), b) : ZeroTangent
const half = (t: Forced): Forced => (isExpr(t) ? mul(t, 0.5) : t)
const sumOf = (a: Forced, b: Forced): Forced => (isExpr(a) ? (isExpr(b) ? add(a, b) : a) : b)

/** maximum and minimum: `wins(a, b)` tells where the first is the result; ties share. */
const extremum = (o: typeof op.maximum | typeof op.minimum, wins: (a: AnyExpr, b: AnyExpr) => AnyExpr): Rule => ({
  ...rule(o.primitive as AnyPrimitive as Primitive<string, object, readonly ['float', 'float']>, {
    frule: ([a, b], [da, db], _params, { y }) => [y, choose(wins(a, b), da, choose(eq(a, b), half(sumOf(da, db)), db))],
    rrule: ([a, b], _params, { y }) => {
      const share = (yBar: AnyExpr, p: AnyExpr, q: AnyExpr) =>
        thunk(() => choose(wins(p, q), yBar, choose(eq(p, q), half(yBar), ZeroTangent)))
      const extremumPullback = (yBar: AnyExpr, active: readonly boolean[]) =>
        [active[0] ? share(yBar, a, b) : ZeroTangent, active[1] ? share(yBar, b, a) : ZeroTangent] as const
      return [y, extremumPullback]
    },
  }),
  batch: elementwiseBatch(o.primitive as AnyPrimitive),
})

/** a - b, but 0 where both are the same infinity. */
const difference = (a: AnyExpr, b: AnyExpr): AnyExpr => {
  const d = sub(a, b)
  return where(logicalAnd(isnan(d), eq(a, b)), 0, d)
}
const TWO_OVER_ROOT_PI = 1.1283791670955126
/** 1 - x^2 without cancellation near 1. */
const oneMinusSquare = (x: AnyExpr): AnyExpr => mul(sub(1, x), add(1, x))

/** One rule per primitive of core/ops/elementwise.ts. */
export const elementwiseRules: { readonly [K in keyof typeof op.elementwise]: Rule } = {
  neg: scalarRule(op.neg, () => [-1]),
  abs: scalarRule(op.abs, ({ x: [x] }) => [sign(x)]),
  square: scalarRule(op.square, ({ x: [x] }) => [mul(x, 2)], productOf),
  sign: nonDifferentiable(op.sign),
  floor: nonDifferentiable(op.floor),
  ceil: nonDifferentiable(op.ceil),
  round: nonDifferentiable(op.round),
  reciprocal: singular(op.reciprocal, ({ y }) => [neg(square(y))]),
  sqrt: singular(op.sqrt, ({ y }) => [div(0.5, y)]),
  rsqrt: singular(op.rsqrt, ({ y }) => [mul(-0.5, mul(y, square(y)))]),
  cbrt: singular(op.cbrt, ({ y }) => [div(1 / 3, square(y))]),
  exp: singular(op.exp, ({ y }) => [y]),
  exp2: singular(op.exp2, ({ y }) => [mul(y, Math.LN2)]),
  expm1: singular(op.expm1, ({ y }) => [add(y, 1)]),
  log: singular(op.log, ({ x: [x] }) => [div(1, x)]),
  log2: singular(op.log2, ({ x: [x] }) => [div(Math.LOG2E, x)]),
  log10: singular(op.log10, ({ x: [x] }) => [div(Math.LOG10E, x)]),
  log1p: singular(op.log1p, ({ x: [x] }) => [div(1, add(1, x))]),
  sin: scalarRule(op.sin, ({ x: [x] }) => [cos(x)]),
  cos: scalarRule(op.cos, ({ x: [x] }) => [neg(sin(x))]),
  tan: scalarRule(op.tan, ({ y }) => [add(1, square(y))]),
  asin: singular(op.asin, ({ x: [x] }) => [op.rsqrt(oneMinusSquare(x))]),
  acos: singular(op.acos, ({ x: [x] }) => [neg(op.rsqrt(oneMinusSquare(x)))]),
  atan: scalarRule(op.atan, ({ x: [x] }) => [op.reciprocal(add(1, square(x)))]),
  sinh: singular(op.sinh, ({ x: [x] }) => [cosh(x)]),
  cosh: singular(op.cosh, ({ x: [x] }) => [sinh(x)]),
  tanh: scalarRule(op.tanh, ({ y }) => [sub(1, mul(y, y))]),
  asinh: scalarRule(op.asinh, ({ x: [x] }) => [op.rsqrt(add(1, square(x)))]),
  acosh: singular(op.acosh, ({ x: [x] }) => [op.rsqrt(mul(sub(x, 1), add(x, 1)))]),
  atanh: singular(op.atanh, ({ x: [x] }) => [op.reciprocal(oneMinusSquare(x))]),
  erf: scalarRule(op.erf, ({ x: [x] }) => [mul(TWO_OVER_ROOT_PI, op.exp(neg(square(x))))]),
  erfc: scalarRule(op.erfc, ({ x: [x] }) => [mul(-TWO_OVER_ROOT_PI, op.exp(neg(square(x))))]),
  lgamma: singular(op.lgamma, ({ x: [x] }) => [op.digamma(x)]),
  polygamma: singular(op.polygammaPrimitive, ({ x: [x], params }) => [op.polygammaOf(params.n + 1, x)]),
  sigmoid: scalarRule(op.sigmoid, ({ y }) => [mul(y, sub(1, y))]),
  softplus: scalarRule(op.softplus, ({ x: [x] }) => [sigmoid(x)]),
  relu: {
    ...rule(op.relu.primitive, {
      frule: (_x, [dx], _params, { y }) => [y, choose(gt(y, 0), dx, ZeroTangent)],
      rrule: (_x, _params, { y }) => {
        const reluPullback = (yBar: AnyExpr) => [thunk(() => choose(gt(y, 0), yBar, ZeroTangent))] as const
        return [y, reluPullback]
      },
    }),
    batch: elementwiseBatch(op.relu.primitive as AnyPrimitive),
  },
  add: scalarRule(op.add, () => [1, 1]),
  sub: scalarRule(op.sub, () => [1, -1]),
  mul: scalarRule(op.mul, ({ x: [a, b] }) => [b, a], productOf),
  strongMul: {
    ...rule(op.strongMul.primitive, {
      frule: ([a, b], [da, db], _params, { y }) => [
        y,
        sumOf(isExpr(da) ? strongMul(da, b) : ZeroTangent, isExpr(db) ? strongMul(a, db) : ZeroTangent),
      ],
      rrule: ([a, b], _params, { y }) => {
        const strongMulPullback = (yBar: AnyExpr) => [thunk(() => strongMul(yBar, b)), thunk(() => strongMul(a, yBar))] as const
        return [y, strongMulPullback]
      },
    }),
    batch: elementwiseBatch(op.strongMul.primitive as AnyPrimitive),
  },
  div: singular(op.div, ({ x: [, b], y }) => {
    const c = literal(b)
    return c !== undefined && c !== 0 ? [1 / c, ZeroTangent] : [div(1, b), neg(div(y, b))]
  }),
  // (a - y) / b is floor(a / b) up to rounding.
  mod: singular(op.mod, ({ x: [a, b], y }) => [1, literal(b) !== undefined ? ZeroTangent : neg(op.round(div(sub(a, y), b)))]),
  // strongMul(b, ...): the derivative of x^0 is 0, at 0 too.
  pow: singular(op.pow, ({ x: [a, b], y }) => {
    const n = literal(b)
    if (n === undefined) return [strongMul(b, pow(a, sub(b, 1))), literal(a) === 0 ? ZeroTangent : strongMul(y, op.log(a))]
    return [n === 0 ? 0 : n === 1 ? 1 : mul(n, pow(a, n - 1)), ZeroTangent]
  }),
  hypot: scalarRule(op.hypot, ({ x: [a, b], y }) => [where(eq(y, 0), 0, div(a, y)), where(eq(y, 0), 0, div(b, y))]),
  atan2: scalarRule(op.atan2, ({ x: [y, x] }) => {
    const r = add(square(x), square(y))
    return [where(eq(r, 0), 0, div(x, r)), where(eq(r, 0), 0, neg(div(y, r)))]
  }),
  logaddexp: scalarRule(op.logaddexp, ({ x: [a, b] }) => [sigmoid(difference(a, b)), sigmoid(difference(b, a))]),
  xlogy: singular(op.xlogy, ({ x: [x, y] }) => [where(logicalAnd(eq(x, 0), le(y, 0)), 0, op.log(y)), strongMul(x, div(1, y))]),
  maximum: extremum(op.maximum, gt),
  minimum: extremum(op.minimum, lt),
  copysign: scalarRule(op.copysign, ({ x: [a, b] }) => [mul(sign(a), copysign(1, b)), ZeroTangent]),
  where: {
    ...rule(op.wherePrimitive, {
      frule: ([c], [, da, db], _params, { y }) => [y, choose(c, da, db)],
      rrule: ([c], _params, { y }) => {
        const wherePullback = (yBar: AnyExpr) =>
          [NoTangent, thunk(() => choose(c, yBar, ZeroTangent)), thunk(() => choose(c, ZeroTangent, yBar))] as const
        return [y, wherePullback]
      },
    }),
    batch: elementwiseBatch(op.wherePrimitive as AnyPrimitive),
  },
  stopGradient: nonDifferentiable(op.stopGradient),
  cast: {
    ...rule(castPrimitive, {
      frule: (_xs, [dx], params, { y }) => [
        y,
        dx._tag === 'Expr' && isFloat(params.dtype)
          ? reapply(castPrimitive, [dx], params)
          : isFloat(params.dtype)
            ? ZeroTangent
            : NoTangent,
      ],
      rrule: ([x], _params, { y }) => [y, (yBar) => [isFloat(x.dtype) ? op.cast(yBar, x.dtype) : ZeroTangent]],
    }),
    batch: elementwiseBatch(castPrimitive as unknown as AnyPrimitive),
  },
}
