/** Special functions that are primitives, and those that are a primitive of one order. Their calculus is in rules/special.ts. */

import { shown } from '../../errors/check-arguments.js'
import { badInput } from '../../errors/explain.js'
import { apply, asExpr } from '../../graph/expr.js'
import { liftFloat } from '../../graph/lift.js'
import { typed } from '../../graph/operation.js'
import { NO_PARAMS, type Primitive } from '../../graph/primitive.js'
import type { AnyExpr } from '../../types/expr.js'
import type { FloatBinaryOp, FloatTernaryOp, FloatUnary, FloatUnaryOp, PolygammaFn } from '../../types/signatures/elementwise.js'
import { mul, sub } from '../arithmetic.js'
import { binary, elementwisePrimitive, liftFloats, unary } from '../lifted.js'
import { type BesselParams, besselIePrimitive, besselIPrimitive, besselJPrimitive, LAST_ORDER } from './bessel.js'
import * as gamma from './gamma.js'
import * as incomplete from './incomplete.js'
import * as normal from './normal.js'

const family = 'special'

/**
 * The number whose erf is x.
 *
 * Domain  [-1, 1]; infinite at the ends, NaN beyond.   Rule  dy = sqrt(pi) / 2 exp(y^2) dx.   Source  DLMF 7.17.1. Error at most 4 ulp.
 * @example erfinv([0, 0.5])   // [0, 0.4769]
 */
export const erfinv: FloatUnaryOp<'erfinv'> = unary({
  name: 'erfinv',
  family,
  scalar: (x) => normal.erfinv(x!),
  domain: [[-0.8, 0.8]],
  extremes: [-1, -1e-10, 0, 0.999, 1],
  cost: 40,
  unbounded: true,
  source: 'DLMF 7.17.1',
})
/**
 * The number whose erfc is x, accurate where x is small.
 *
 * Domain  [0, 2]; infinite at the ends, NaN beyond.   Rule  dy = -sqrt(pi) / 2 exp(y^2) dx.   Source  DLMF 7.17.1. Error at most 4 ulp.
 * @example erfcinv([1, 0.5])   // [0, 0.4769]
 */
export const erfcinv: FloatUnaryOp<'erfcinv'> = unary({
  name: 'erfcinv',
  family,
  scalar: (x) => normal.erfcinv(x!),
  domain: [[0.2, 1.8]],
  extremes: [0, 1e-20, 1, 2],
  cost: 40,
  unbounded: true,
  source: 'DLMF 7.17.1',
})
/**
 * exp(x^2) erfc(x): the tail of erfc without its underflow.
 *
 * Extremes  Infinity below -26.7, 0 at Infinity.   Rule  dy = (2 x y - 2 / sqrt(pi)) dx.   Source  DLMF 7.2.3. Error at most 4 ulp.
 * @example erfcx([0, 100])   // [1, 0.005642]
 */
export const erfcx: FloatUnaryOp<'erfcx'> = unary({
  name: 'erfcx',
  family,
  scalar: (x) => normal.erfcx(x!),
  extremes: [-30, 0, 1e10],
  cost: 40,
  unbounded: true,
  source: 'DLMF 7.2.3',
})
/**
 * The normal distribution function, erfc(-x / sqrt(2)) / 2, accurate in the lower tail.
 *
 * Extremes  0 and 1.   Rule  dy = exp(-x^2 / 2) / sqrt(2 pi) dx.   Source  DLMF 7.2.2. Error at most 4 ulp.
 * @example ndtr([-1, 0, 1])   // [0.1587, 0.5, 0.8413]
 */
export const ndtr: FloatUnaryOp<'ndtr'> = unary({
  name: 'ndtr',
  family,
  scalar: (x) => normal.ndtr(x!),
  extremes: [-40, -20, 0, 10],
  cost: 40,
  unbounded: false,
  source: 'DLMF 7.2.2',
})
/**
 * The logarithm of the normal distribution function, without underflow.
 *
 * Extremes  -x^2 / 2 far below, 0 above.   Rule  dy = sqrt(2 / pi) / erfcx(-x / sqrt(2)) dx.   Source  SciPy log_ndtr. Error at most 4 ulp.
 * @example logNdtr([-100, 0])   // [-5005.524, -0.6931]
 */
export const logNdtr: FloatUnaryOp<'logNdtr'> = unary({
  name: 'logNdtr',
  family,
  scalar: (x) => normal.logNdtr(x!),
  extremes: [-1000, -1, 0, 30],
  cost: 60,
  unbounded: true,
  source: 'SciPy log_ndtr',
})
/**
 * The p-quantile of the normal distribution: the inverse of ndtr.
 *
 * Domain  [0, 1]; infinite at the ends, NaN beyond.   Rule  dy = sqrt(2 pi) exp(y^2 / 2) dp.   Source  SciPy ndtri. Error at most 4 ulp.
 * @example ndtri([0.25, 0.5])   // [-0.6745, 0]
 */
export const ndtri: FloatUnary = typed((p: AnyExpr) => sub(0, mul(erfcinv(mul(asExpr(liftFloat(p, 'ndtri')), 2)), Math.SQRT2)))

const ofOrder =
  (prim: Primitive<string, BesselParams, readonly ['float']>) =>
  (n: number, x: unknown): AnyExpr => {
    if (!(Number.isInteger(n) && n >= 0 && n <= LAST_ORDER))
      badInput(prim.name, `n is ${shown(n)}.`, `n is an integer from 0 to ${LAST_ORDER}.`)
    return asExpr(apply(prim, [liftFloat(x, prim.name)], { n }))
  }
/**
 * J_n(x), the Bessel function of the first kind, of integer order n = 0, 1, 2, ...
 *
 * Rule  dy = (J_{n-1}(x) - J_{n+1}(x)) / 2 dx, of order 0 -J_1(x) dx.   Source  DLMF 10.2.2, 10.6.1.
 * Error   4 ulp for n = 0 and 1 up to x = 8, beyond 4 ulp of sqrt(2 / (pi x)); of higher orders 20 times that.
 * Errors  BadInput when n is not an integer from 0 to 100.
 * @example besselJ(2, [0, 1])   // [0, 0.1149]
 */
export const besselJ: PolygammaFn = typed(ofOrder(besselJPrimitive))
/**
 * J_0(x): besselJ(0, x).
 *
 * Rule  dy = -J_1(x) dx.   Source  DLMF 10.2.2.
 * @example j0([0, 2])   // [1, 0.2239]
 */
export const j0: FloatUnary = typed((x: AnyExpr) => besselJ(0, x))
/**
 * J_1(x): besselJ(1, x).
 *
 * Rule  dy = (J_0(x) - J_2(x)) / 2 dx.   Source  DLMF 10.2.2.
 * @example j1([0, 1])   // [0, 0.4401]
 */
export const j1: FloatUnary = typed((x: AnyExpr) => besselJ(1, x))
/**
 * I_n(x), the modified Bessel function of the first kind, of integer order n = 0, 1, 2, ...
 *
 * Rule  dy = (I_{n-1}(x) + I_{n+1}(x)) / 2 dx, of order 0 I_1(x) dx.   Source  DLMF 10.25.2, 10.29.1.
 * Error   4 ulp for n = 0 and 1, 20 ulp of higher orders.   Errors  BadInput when n is not an integer from 0 to 100.
 * @example besselI(2, [0, 1])   // [0, 0.1357]
 */
export const besselI: PolygammaFn = typed(ofOrder(besselIPrimitive))
/**
 * I_0(x): besselI(0, x).
 *
 * Extremes  Infinity beyond 713.   Rule  dy = I_1(x) dx.   Source  DLMF 10.25.2.
 * @example i0([0, 1])   // [1, 1.266]
 */
export const i0: FloatUnary = typed((x: AnyExpr) => besselI(0, x))
/**
 * I_1(x): besselI(1, x).
 *
 * Rule  dy = (I_0(x) + I_2(x)) / 2 dx.   Source  DLMF 10.25.2.
 * @example i1([0, 1])   // [0, 0.5652]
 */
export const i1: FloatUnary = typed((x: AnyExpr) => besselI(1, x))
/**
 * exp(-|x|) I_n(x), which does not overflow, for integers n = 0, 1, 2, ...
 *
 * Rule  dy = ((y_{n-1} + y_{n+1}) / 2 - sign(x) y) dx; 0 through the sign at x = 0.   Source  DLMF 10.25.2. Errors as besselI.
 * @example besselIe(2, [0, 1000])   // [0, 0.01259]
 */
export const besselIe: PolygammaFn = typed(ofOrder(besselIePrimitive))
/**
 * exp(-|x|) I_0(x): besselIe(0, x).
 *
 * Rule  dy = (exp(-|x|) I_1(x) - sign(x) y) dx.   Source  DLMF 10.25.2.
 * @example i0e([0, 1000])   // [1, 0.01262]
 */
export const i0e: FloatUnary = typed((x: AnyExpr) => besselIe(0, x))
/**
 * exp(-|x|) I_1(x): besselIe(1, x).
 *
 * Rule  as of besselIe.   Source  DLMF 10.25.2.
 * @example i1e([0, 1000])   // [0, 0.01261]
 */
export const i1e: FloatUnary = typed((x: AnyExpr) => besselIe(1, x))

/**
 * The beta function, gamma(a) gamma(b) / gamma(a + b).
 *
 * Domain  a > 0, b > 0; NaN elsewhere.   Shapes  broadcast.
 * Rule    dy = y (digamma(a) - digamma(a + b)) da + the same for b.   Source  DLMF 5.12.1.
 * Error   4 ulp where a or b is below 10, else 4 + 2 |log y| ulp.
 * @example beta([1, 2], [3, 2])   // [0.3333, 0.1667]
 */
export const beta: FloatBinaryOp<'beta'> = binary({
  name: 'beta',
  family,
  scalar: (a, b) => gamma.beta(a!, b!),
  domain: [
    [0.5, 3],
    [0.6, 4],
  ],
  extremes: [0, 20],
  cost: 100,
  unbounded: true,
  source: 'DLMF 5.12.1',
})
/**
 * log B(a, b), without the overflow and the cancellation of three lgamma.
 *
 * Domain  a >= 0, b >= 0; Infinity at 0, NaN below.   Shapes  broadcast.
 * Rule    dy = (digamma(a) - digamma(a + b)) da + the same for b.   Source  DLMF 5.12.1.
 * Error   4 ulp of max(1, |y|): it has zeros, as at (1, 1).
 * @example betaln([1, 20], [3, 30])   // [-1.0986, -33.9688]
 */
export const betaln: FloatBinaryOp<'betaln'> = binary({
  name: 'betaln',
  family,
  scalar: (a, b) => gamma.betaln(a!, b!),
  domain: [
    [0.5, 3],
    [0.6, 4],
  ],
  extremes: [0, 20],
  cost: 100,
  unbounded: true,
  source: 'DLMF 5.12.1',
})
/**
 * Hurwitz's zeta function: the sum of (q + k)^-s over k = 0, 1, 2, ...; zeta(s, 1) is Riemann's.
 *
 * Domain  s > 1, q > 0, or integers s and other q: Infinity at q = 0, -1, ..., NaN else.   Shapes  broadcast.   Error  4 ulp for q > 0.
 * Rule    dy = -s zeta(s + 1, q) dq - sum((q + k)^-s log(q + k)) ds; by s to 1e-13 for q > 0, NaN below, of second order NotImplemented.
 * Source  DLMF 25.11.1.
 * @example zeta([2, 4], 1)   // [1.645, 1.082]
 */
export const zeta: FloatBinaryOp<'zeta'> = binary({
  name: 'zeta',
  family,
  scalar: (s, q) => gamma.zeta(s!, q!),
  domain: [
    [1.5, 5],
    [0.6, 4],
  ],
  extremes: [1, 20],
  cost: 200,
  unbounded: true,
  source: 'DLMF 25.11.1',
})
/**
 * P(a, x), the regularized lower incomplete gamma function: the probability that a gamma variable of shape a is below x.
 *
 * Domain  a >= 0, x >= 0; NaN elsewhere.   Shapes  broadcast.   Error  4 + 3 |log y| ulp, measured up to a = 1e6.
 * Rule    dy = x^(a - 1) exp(-x) / gamma(a) dx + dP/da da: by a of its series, fraction and expansion, to 1e-13 relative up to a = 1e6, in the tails
 *         too; of second order by a NotImplemented.   Source  DLMF 8.2.4.
 * @example gammainc([1, 3], 2)   // [0.8647, 0.3233]
 */
export const gammainc: FloatBinaryOp<'gammainc'> = binary({
  name: 'gammainc',
  family,
  scalar: (a, x) => incomplete.gammainc(a!, x!),
  // Shapes of which the density is smooth at 0 too.
  domain: [
    [3.1, 5],
    [0.4, 6],
  ],
  extremes: [0, 50],
  cost: 200,
  unbounded: true,
  source: 'DLMF 8.2.4',
})
/**
 * Q(a, x) = 1 - P(a, x), the regularized upper incomplete gamma function, accurate where it is small.
 *
 * Domain, error and shapes  as gammainc.   Rule  dy = -x^(a - 1) exp(-x) / gamma(a) dx - dP/da da, as gammainc.   Source  DLMF 8.2.4.
 * @example gammaincc([1, 3], 2)   // [0.1353, 0.6767]
 */
export const gammaincc: FloatBinaryOp<'gammaincc'> = binary({
  name: 'gammaincc',
  family,
  scalar: (a, x) => incomplete.gammaincc(a!, x!),
  // Shapes of which the density is smooth at 0 too.
  domain: [
    [3.1, 5],
    [0.4, 6],
  ],
  extremes: [0, 50],
  cost: 200,
  unbounded: true,
  source: 'DLMF 8.2.4',
})
const betaincPrimitive = elementwisePrimitive(['float', 'float', 'float'] as const, {
  name: 'betainc',
  family,
  scalar: (a, b, x) => incomplete.betainc(a!, b!, x!),
  domain: [
    [0.5, 4],
    [0.5, 4],
    [0.05, 0.95],
  ],
  extremes: [0, 1],
  cost: 300,
  unbounded: true,
  source: 'DLMF 8.17.2',
})
/**
 * I_x(a, b), the regularized incomplete beta function: the probability that a beta variable of shapes a and b is below x.
 *
 * Domain  a > 0, b > 0, 0 <= x <= 1; NaN elsewhere.   Shapes  broadcast.   Error  20 ulp, measured up to a, b = 1e4.
 * Rule    dy = x^(a - 1) (1 - x)^(b - 1) / B(a, b) dx + dI/da da + dI/db db: by a and b of its fraction, to 2e-13 relative up to a, b = 1e4, in
 *         the tails too; of second order by a and b NotImplemented.   Source  DLMF 8.17.2.
 * @example betainc(2, 3, [0, 0.5, 1])   // [0, 0.6875, 1]
 */
export const betainc: FloatTernaryOp<'betainc'> = typed(
  Object.assign(
    (a: unknown, b: unknown, x: unknown): AnyExpr => asExpr(apply(betaincPrimitive, liftFloats([a, b, x], 'betainc', false), NO_PARAMS)),
    {
      primitive: betaincPrimitive,
    },
  ),
)
