/** Special functions that are compositions: their derivatives of every order follow from what they are made of. */

import { runningOptions } from '../../core/ops/along-axis.js'
import { add, div, mul, strongMul, sub, where } from '../../core/ops/arithmetic.js'
import { and, eq, ge, gt, isnan, le, lt } from '../../core/ops/compare.js'
import { axisOptions, floats, operation } from '../../core/ops/operation.js'
import { round } from '../../core/ops/rounding.js'
import { abs, neg, sign, square } from '../../core/ops/unary.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { FloatBinary, FloatUnary } from '../../core/types/signatures/elementwise.js'
import type { FloatAlongAxisFn, RunningOptions } from '../../core/types/signatures/reduce.js'
import { atanh, log, log1p, logaddexp } from '../../families/exponentials.js'
import { sin } from '../../families/trigonometric.js'
import { associativeScan } from '../arrays/associative-scan.js'

const unary = (name: string, f: (x: AnyExpr) => AnyExpr): FloatUnary => operation(name, { x: floats }, {}, ({ x }) => f(x))
const binary = <const N extends string>(name: N, f: (x: AnyExpr, y: AnyExpr) => AnyExpr): FloatBinary<N> =>
  operation(name, { x: floats, y: floats }, {}, ({ x, y }) => f(x, y))

/**
 * x log(1 + y), 0 where x is 0 and y is not NaN.
 *
 * Shapes  x and y broadcast.   Rule  d = log(1 + y) dx + x / (1 + y) dy, the second 0 where x is 0.   Source  SciPy xlog1py.
 * @example xlog1py([0, 2], [-1, 1])   // [0, 1.386]
 */
export const xlog1py: FloatBinary<'xlog1py'> = binary('xlog1py', (x, y) => where(isnan(y), y, strongMul(x, log1p(y))))
/**
 * log(p / (1 - p)), the inverse of sigmoid; accurate near 1/2 too, where it is 0.
 *
 * Domain  [0, 1]; infinite at the ends, NaN beyond.   Rule  dy = dp / (p (1 - p)).   Source  SciPy logit. Error at most 4 ulp.
 * @example logit([0.25, 0.5, 1])   // [-1.099, 0, Infinity]
 */
export const logit: FloatUnary = unary('logit', (p) => {
  const middle = and(ge(p, 0.25), le(p, 0.75))
  const outer = where(middle, 0.125, p)
  const near = mul(2, atanh(sub(mul(2, where(middle, p, 0.5)), 1)))
  return where(middle, near, sub(log(outer), log1p(neg(outer))))
})
/**
 * -x log x, the elementwise entropy: 0 at 0, -Infinity below.
 *
 * Rule  dy = -(1 + log x) dx, Infinity at 0.   Source  SciPy entr.
 * @example entr([0, 0.5, 1])   // [0, 0.3466, 0]
 */
export const entr: FloatUnary = unary('entr', (x) => {
  const below = lt(x, 0)
  const y = where(below, 1, x)
  return where(below, Number.NEGATIVE_INFINITY, strongMul(neg(y), log(y)))
})

/** x log(x / y) for x >= 0 and y > 0: by log1p near x = y, by two logarithms where the quotient leaves the normal numbers. */
const logRatio = (x: AnyExpr, y: AnyExpr): AnyExpr => {
  const far = x.dtype === 'f32' ? 1e30 : 1e290
  const q = div(x, y)
  const near = and(gt(q, 0.5), lt(q, 2))
  const normal = and(gt(q, 1 / far), lt(q, far))
  const [one, other] = [where(near, x, 1), where(near, y, 1)]
  const plain = log(where(normal, q, 1))
  const apart = sub(log(where(normal, 1, x)), log(where(normal, 1, y)))
  return where(near, log1p(div(sub(one, other), other)), where(normal, plain, apart))
}
const entropy = (x: AnyExpr, y: AnyExpr): AnyExpr => {
  const inside = and(ge(x, 0), gt(y, 0))
  const [u, v] = [where(inside, x, 1), where(inside, y, 1)]
  const unknown = where(isnan(x), x, where(isnan(y), y, Number.POSITIVE_INFINITY))
  return where(inside, strongMul(u, logRatio(u, v)), where(and(eq(x, 0), eq(y, 0)), 0, unknown))
}
/**
 * x log(x / y), the elementwise relative entropy: 0 where x is 0 and y >= 0, Infinity where x or y is below 0, or y alone is 0.
 *
 * Shapes  x and y broadcast.   Rule  d = (1 + log(x / y)) dx - x / y dy; -Infinity for x at x = 0.   Source  SciPy rel_entr.
 * @example relEntr([0, 1, 2], [1, 2, 1])   // [0, -0.6931, 1.386]
 */
export const relEntr: FloatBinary<'relEntr'> = binary('relEntr', entropy)
/**
 * x log(x / y) - x + y, the elementwise Kullback-Leibler divergence: never below 0, and 0 only where x = y.
 *
 * Shapes  x and y broadcast.   Rule  d = log(x / y) dx + (1 - x / y) dy.   Source  SciPy kl_div. Error 4 ulp of x + y: the terms cancel near x = y.
 * @example klDiv([0, 1, 2], [1, 1, 1])   // [1, 0, 0.3863]
 */
export const klDiv: FloatBinary<'klDiv'> = binary('klDiv', (x, y) => {
  const z = entropy(x, y)
  // Where that is infinite the difference is: x or y is out of the domain, and may be infinite too.
  return where(eq(z, Number.POSITIVE_INFINITY), z, add(sub(z, x), y))
})

/** Coefficients of sin(pi x) / (pi x) in x^2, the last first: (-pi^2)^k / (2 k + 1)!. */
const sincSeries: readonly number[] = Array.from({ length: 12 }, (_, i) => {
  const k = 11 - i
  let c = 1
  for (let j = 1; j <= k; j++) c *= -(Math.PI ** 2) / (2 * j * (2 * j + 1))
  return c
})
/**
 * sin(pi x) / (pi x), 1 at 0 and exactly 0 at every other integer.
 *
 * Rule  dy = (cos(pi x) - y) / x dx, by a series near 0: all derivatives hold there.   Source  NumPy sinc. Error at most 4 ulp; NaN at infinity.
 * @example sinc([0, 0.5, 1])   // [1, 0.6366, 0]
 */
export const sinc: FloatUnary = unary('sinc', (x) => {
  const small = lt(abs(x), 0.25)
  const z = square(where(small, x, 0))
  let series: AnyExpr = mul(z, sincSeries[0]!)
  for (const c of sincSeries.slice(1, -1)) series = mul(z, add(series, c))
  const far = where(small, 1.5, x)
  // x modulo 2, then folded into [-1/2, 1/2]: both are exact.
  const r = sub(far, mul(2, round(mul(far, 0.5))))
  const folded = where(gt(abs(r), 0.5), sub(sign(r), r), r)
  return where(small, add(series, 1), div(sin(mul(folded, Math.PI)), mul(far, Math.PI)))
})

/**
 * Running logsumexp, y_k = log(exp x_0 + ... + exp x_k), along an axis (the last by default); `reverse` runs from the end.
 *
 * Shapes  x's.   Dtype  i32 and bool in f64.   Rule  dy_k = sum of exp(x_j - y_k) dx_j over j <= k.   Source  PyTorch logcumsumexp.
 * Errors  BadInput for an axis out of range.
 * @example logcumsumexp([0, 0, 1000])   // [0, 0.6931, 1000]
 */
export const logcumsumexp: FloatAlongAxisFn<'logcumsumexp', Pick<RunningOptions, 'reverse'>> = operation(
  'logcumsumexp',
  { x: floats },
  { ...axisOptions, reverse: runningOptions.reverse },
  ({ x }, options) => associativeScan((a: AnyExpr, b: AnyExpr) => logaddexp(a, b), x, options),
)
