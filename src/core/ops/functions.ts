/** Functions of one number at every index: what each one is. Their calculus is in rules/elementwise.ts. */
import * as t from 'io-ts'
import { elementwiseShape, liftScalar, unary } from '../elementwise.js'
import { raise } from '../explain.js'
import { apply, asExpr } from '../expr.js'
import { liftFloat } from '../lift.js'
import { type Primitive, primitive } from '../primitive.js'
import * as special from '../special.js'
import type { AnyExpr } from '../types/expr.js'

const IEEE = 'IEEE 754'

// ---- signs and rounding ----------------------------------------------------------------------------------------------

/**
 * -x.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = -dx.   Source  IEEE 754.
 * @example neg([1, -2])   // [-1, 2]
 */
export const neg = unary({ name: 'neg', scalar: (x) => -x!, integers: true, source: IEEE })
/**
 * |x|.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = sign(x) dx, so 0 at the kink 0.   Source  IEEE 754.
 * @example abs([3, -3])   // [3, 3]
 */
export const abs = unary({
  name: 'abs',
  scalar: (x) => Math.abs(x!),
  integers: true,
  extremes: [0, -0, 1e300],
  kinks: [{ at: [0], partials: [0], why: 'the middle of the subgradients' }],
  source: IEEE,
})
/**
 * x x.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = 2 x dx, 0 at 0.   Source  IEEE 754.
 * @example square([3, -2])   // [9, 4]
 */
export const square = unary({
  name: 'square',
  scalar: (x) => x! * x!,
  integers: true,
  kinks: [{ at: [0], partials: [0], why: 'smooth; no 0 / 0' }],
  source: IEEE,
})
/**
 * -1, 0 or 1 as x is negative, zero or positive; NaN stays.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = 0 everywhere, at the jump too.   Source  NumPy sign.
 * @example sign([-5, 0, 7])   // [-1, 0, 1]
 */
export const sign = unary({
  name: 'sign',
  scalar: (x) => Math.sign(x!),
  integers: true,
  extremes: [0, 1e-300],
  kinks: [{ at: [0], partials: [0], why: 'a step: zero on both sides' }],
  source: 'NumPy',
})
/**
 * The largest integer that is not above x, as a float.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTowardNegative.
 * @example floor([1.7, -1.2])   // [1, -2]
 */
export const floor = unary({
  name: 'floor',
  scalar: (x) => Math.floor(x!),
  domain: [[0.1, 0.9]],
  extremes: [-1.5, -1, 0, 2.5, 1e20],
  kinks: [{ at: [1], partials: [0], why: 'a step: zero on both sides' }],
  source: IEEE,
})
/**
 * The smallest integer that is not below x, as a float.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTowardPositive.
 * @example ceil([1.2, -1.7])   // [2, -1]
 */
export const ceil = unary({
  name: 'ceil',
  scalar: (x) => Math.ceil(x!),
  domain: [[0.1, 0.9]],
  extremes: [-1.5, -1, 0, 2.5, 1e20],
  kinks: [{ at: [1], partials: [0], why: 'a step: zero on both sides' }],
  source: IEEE,
})
/**
 * The nearest integer, halves to even, as a float.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTiesToEven; NumPy round.
 * @example round([0.5, 1.5, 2.4])   // [0, 2, 2]
 */
export const round = unary({
  name: 'round',
  scalar: (x) => special.roundHalfEven(x!),
  domain: [[0.6, 1.4]],
  extremes: [-2.5, -0.5, 0.5, 1.5, 1e20],
  kinks: [{ at: [0.5], partials: [0], why: 'a step: zero on both sides' }],
  source: IEEE,
})

// ---- powers and roots ------------------------------------------------------------------------------------------------

/**
 * 1 / x.
 *
 * Domain  x != 0; 1 / 0 is Infinity.   Rule  dy = -y^2 dx.   Source  IEEE 754.
 * @example reciprocal([2, -4])   // [0.5, -0.25]
 */
export const reciprocal = unary({
  name: 'reciprocal',
  scalar: (x) => 1 / x!,
  domain: [[0.3, 3]],
  extremes: [0, -0.5, 1e20],
  cost: 4,
  source: IEEE,
})
/**
 * The square root of x.
 *
 * Domain  x >= 0, NaN below.   Rule  dy = dx / (2 y): Infinity at 0, and exactly 0 there where the cotangent is 0.   Source  IEEE 754.
 * @example sqrt([0, 4, 9])   // [0, 2, 3]
 */
export const sqrt = unary({
  name: 'sqrt',
  scalar: (x) => Math.sqrt(x!),
  domain: [[0.2, 4]],
  extremes: [0, 1e-30, 1e30, -1],
  kinks: [{ at: [0], partials: [Number.POSITIVE_INFINITY], why: 'a vertical tangent; a masked cotangent still gives 0' }],
  cost: 4,
  source: IEEE,
})
/**
 * 1 / sqrt x.
 *
 * Domain  x > 0; Infinity at 0, NaN below.   Rule  dy = -y^3 dx / 2.   Source  IEEE 754.
 * @example rsqrt([1, 4])   // [1, 0.5]
 */
export const rsqrt = unary({
  name: 'rsqrt',
  scalar: (x) => 1 / Math.sqrt(x!),
  domain: [[0.3, 4]],
  extremes: [0, 1e20, -1],
  cost: 8,
  source: IEEE,
})
/**
 * The real cube root of x, of negative x too.
 *
 * Rule  dy = dx / (3 y^2): Infinity at 0.   Source  IEEE 754, rootn.
 * @example cbrt([8, -27])   // [2, -3]
 */
export const cbrt = unary({
  name: 'cbrt',
  scalar: (x) => Math.cbrt(x!),
  domain: [[0.2, 4]],
  extremes: [0, -8, 1e30],
  kinks: [{ at: [0], partials: [Number.POSITIVE_INFINITY], why: 'a vertical tangent; a masked cotangent still gives 0' }],
  cost: 12,
  source: IEEE,
})

// ---- exponentials and logarithms -------------------------------------------------------------------------------------

/**
 * e^x.
 *
 * Extremes  0 and Infinity beyond the range of the dtype.   Rule  dy = y dx.   Source  DLMF 4.2.19.
 * @example exp([0])   // [1]
 */
export const exp = unary({ name: 'exp', scalar: (x) => Math.exp(x!), extremes: [-800, -100, 0, 100], cost: 10, source: 'DLMF 4.2.19' })
/**
 * 2^x.
 *
 * Rule  dy = y log(2) dx.   Source  IEEE 754, exp2.
 * @example exp2([3, -1])   // [8, 0.5]
 */
export const exp2 = unary({ name: 'exp2', scalar: (x) => 2 ** x!, extremes: [-1100, 0, 10, 1100], cost: 10, source: IEEE })
/**
 * e^x - 1, accurate near 0.
 *
 * Rule  dy = (y + 1) dx.   Source  DLMF 4.2.19; IEEE 754, expm1.
 * @example expm1([0])   // [0]
 */
export const expm1 = unary({
  name: 'expm1',
  scalar: (x) => Math.expm1(x!),
  extremes: [-100, -1e-10, 0, 1e-10, 100],
  cost: 12,
  source: 'DLMF 4.2.19',
})
/**
 * The natural logarithm of x.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / x.   Source  DLMF 4.2.2.
 * @example log([1])   // [0]
 */
export const log = unary({
  name: 'log',
  scalar: (x) => Math.log(x!),
  domain: [[0.2, 4]],
  extremes: [0, 1e-30, 1e30, -1],
  cost: 10,
  source: 'DLMF 4.2.2',
})
/**
 * The logarithm of x to base 2.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / (x log 2).   Source  DLMF 4.2.10.
 * @example log2([1, 8])   // [0, 3]
 */
export const log2 = unary({
  name: 'log2',
  scalar: (x) => Math.log2(x!),
  domain: [[0.2, 4]],
  extremes: [0, 1e30, -1],
  cost: 10,
  source: 'DLMF 4.2.10',
})
/**
 * The logarithm of x to base 10.
 *
 * Domain  x > 0; -Infinity at 0, NaN below.   Rule  dy = dx / (x log 10).   Source  DLMF 4.2.10.
 * @example log10([1, 1000])   // [0, 3]
 */
export const log10 = unary({
  name: 'log10',
  scalar: (x) => Math.log10(x!),
  domain: [[0.2, 4]],
  extremes: [0, 1e30, -1],
  cost: 10,
  source: 'DLMF 4.2.10',
})
/**
 * log(1 + x), accurate near 0.
 *
 * Domain  x > -1; -Infinity at -1, NaN below.   Rule  dy = dx / (1 + x).   Source  IEEE 754, logp1.
 * @example log1p([0])   // [0]
 */
export const log1p = unary({
  name: 'log1p',
  scalar: (x) => Math.log1p(x!),
  domain: [[-0.6, 3]],
  extremes: [-1, -1e-10, 0, 1e-10, 1e30, -2],
  cost: 12,
  source: IEEE,
})

// ---- circular and hyperbolic functions -------------------------------------------------------------------------------

/**
 * sin x, x in radians.
 *
 * Rule  dy = cos(x) dx.   Source  DLMF 4.14.1.
 * @example sin([0])   // [0]
 */
export const sin = unary({ name: 'sin', scalar: (x) => Math.sin(x!), extremes: [0, 30, -1000], cost: 12, source: 'DLMF 4.14.1' })
/**
 * cos x, x in radians.
 *
 * Rule  dy = -sin(x) dx.   Source  DLMF 4.14.2.
 * @example cos([0])   // [1]
 */
export const cos = unary({ name: 'cos', scalar: (x) => Math.cos(x!), extremes: [0, 30, -1000], cost: 12, source: 'DLMF 4.14.2' })
/**
 * tan x, x in radians.
 *
 * Domain  away from the odd multiples of pi / 2.   Rule  dy = (1 + y^2) dx.   Source  DLMF 4.14.4.
 * @example tan([0])   // [0]
 */
export const tan = unary({
  name: 'tan',
  scalar: (x) => Math.tan(x!),
  domain: [[-1, 1]],
  extremes: [0, 30],
  cost: 16,
  source: 'DLMF 4.14.4',
})
/**
 * The angle in [-pi/2, pi/2] whose sine is x.
 *
 * Domain  [-1, 1], NaN outside.   Rule  dy = dx / sqrt(1 - x^2): Infinity at the ends.   Source  DLMF 4.23.1.
 * @example asin([0])   // [0]
 */
export const asin = unary({
  name: 'asin',
  scalar: (x) => Math.asin(x!),
  domain: [[-0.8, 0.8]],
  extremes: [-1, 1, 2],
  cost: 14,
  source: 'DLMF 4.23.1',
})
/**
 * The angle in [0, pi] whose cosine is x.
 *
 * Domain  [-1, 1], NaN outside.   Rule  dy = -dx / sqrt(1 - x^2): -Infinity at the ends.   Source  DLMF 4.23.2.
 * @example acos([1])   // [0]
 */
export const acos = unary({
  name: 'acos',
  scalar: (x) => Math.acos(x!),
  domain: [[-0.8, 0.8]],
  extremes: [-1, 1, 2],
  cost: 14,
  source: 'DLMF 4.23.2',
})
/**
 * The angle in (-pi/2, pi/2) whose tangent is x.
 *
 * Rule  dy = dx / (1 + x^2).   Source  DLMF 4.23.3.
 * @example atan([0])   // [0]
 */
export const atan = unary({ name: 'atan', scalar: (x) => Math.atan(x!), extremes: [-1e20, 0, 1e20], cost: 14, source: 'DLMF 4.23.3' })
/**
 * (e^x - e^-x) / 2.
 *
 * Rule  dy = cosh(x) dx.   Source  DLMF 4.28.1.
 * @example sinh([0])   // [0]
 */
export const sinh = unary({ name: 'sinh', scalar: (x) => Math.sinh(x!), extremes: [-100, -1e-10, 0, 100], cost: 14, source: 'DLMF 4.28.1' })
/**
 * (e^x + e^-x) / 2.
 *
 * Rule  dy = sinh(x) dx.   Source  DLMF 4.28.2.
 * @example cosh([0])   // [1]
 */
export const cosh = unary({ name: 'cosh', scalar: (x) => Math.cosh(x!), extremes: [-100, 0, 100], cost: 14, source: 'DLMF 4.28.2' })
/**
 * The hyperbolic tangent of x.
 *
 * Extremes  -1 and 1.   Rule  dy = (1 - y^2) dx.   Source  DLMF 4.28.4.
 * @example tanh([0])   // [0]
 */
export const tanh = unary({
  name: 'tanh',
  scalar: (x) => Math.tanh(x!),
  domain: [[-3, 3]],
  extremes: [-100, 0, 100],
  cost: 12,
  source: 'DLMF 4.28.4',
})
/**
 * The number whose hyperbolic sine is x.
 *
 * Rule  dy = dx / sqrt(1 + x^2).   Source  DLMF 4.37.1.
 * @example asinh([0])   // [0]
 */
export const asinh = unary({
  name: 'asinh',
  scalar: (x) => Math.asinh(x!),
  extremes: [-1e10, -1e-10, 0, 1e10],
  cost: 16,
  source: 'DLMF 4.37.1',
})
/**
 * The number that is not negative and whose hyperbolic cosine is x.
 *
 * Domain  x >= 1, NaN below.   Rule  dy = dx / sqrt(x^2 - 1): Infinity at 1.   Source  DLMF 4.37.2.
 * @example acosh([1])   // [0]
 */
export const acosh = unary({
  name: 'acosh',
  scalar: (x) => Math.acosh(x!),
  domain: [[1.3, 4]],
  extremes: [1, 1e10, 0],
  cost: 16,
  source: 'DLMF 4.37.2',
})
/**
 * The number whose hyperbolic tangent is x.
 *
 * Domain  (-1, 1); infinite at the ends, NaN outside.   Rule  dy = dx / (1 - x^2).   Source  DLMF 4.37.3.
 * @example atanh([0])   // [0]
 */
export const atanh = unary({
  name: 'atanh',
  scalar: (x) => Math.atanh(x!),
  domain: [[-0.7, 0.7]],
  extremes: [-1, -1e-10, 0, 1, 2],
  cost: 16,
  source: 'DLMF 4.37.3',
})

// ---- special functions -----------------------------------------------------------------------------------------------

/**
 * The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
 *
 * Extremes  -1 and 1.   Rule  dy = 2 / sqrt(pi) exp(-x^2) dx.   Source  DLMF 7.2.1.
 * @example erf([0])   // [0]
 */
export const erf = unary({ name: 'erf', scalar: (x) => special.erf(x!), extremes: [-10, -1e-10, 0, 10], cost: 30, source: 'DLMF 7.2.1' })
/**
 * 1 - erf x, accurate in the tail.
 *
 * Extremes  2 and 0.   Rule  dy = -2 / sqrt(pi) exp(-x^2) dx.   Source  DLMF 7.2.2.
 * @example erfc([0])   // [1]
 */
export const erfc = unary({ name: 'erfc', scalar: (x) => special.erfc(x!), extremes: [-10, 0, 5, 30], cost: 40, source: 'DLMF 7.2.2' })
/**
 * The logarithm of |gamma(x)|.
 *
 * Domain  everywhere but 0, -1, -2, ... (Infinity there).   Rule  dy = digamma(x) dx.   Source  DLMF 5.2.1, 5.5.3.
 * @example lgamma([1, 2])   // [0, 0]
 */
export const lgamma = unary({
  name: 'lgamma',
  scalar: (x) => special.lgamma(x!),
  domain: [[0.3, 5]],
  extremes: [0, -1, -2.5, 1e10],
  cost: 60,
  source: 'DLMF 5.2.1',
})

/** Which derivative of digamma. */
export interface PolygammaParams {
  readonly n: number
}
const MAX_ORDER = 100

export const polygammaPrimitive: Primitive<'polygamma', PolygammaParams, readonly ['float']> = primitive({
  name: 'polygamma',
  family: 'elementwise',
  args: ['float'],
  class: 'elementwise',
  codec: t.type({ n: t.number }),
  shapeRule: elementwiseShape('polygamma', undefined, ['f64', 'f32']),
  scalarWith:
    ({ n }) =>
    (x) =>
      special.polygamma(n, x!),
  meaning: ([x], { n }, [out]) => liftScalar((v) => special.polygamma(n, v!), [x!], out!),
  cost: 80,
  samples: [
    { args: [{ shape: [], domain: [0.4, 5] }], params: { n: 0 } },
    { args: [{ shape: [5], domain: [0.4, 5] }], params: { n: 0 } },
    { args: [{ shape: [2, 3], domain: [0.5, 4] }], params: { n: 1 } },
    { args: [{ shape: [3], domain: [0.8, 4] }], params: { n: 3 } },
    { args: [{ shape: [3], domain: [-0.8, -0.2] }], params: { n: 0 } },
    { args: [{ shape: [0] }], params: { n: 2 } },
  ],
  extremes: [0, -1, 20, 1e10],
  showParams: ({ n }) => `n ${n}`,
  source: 'DLMF 5.15.1',
})
/**
 * The n-th derivative of digamma, n = 0, 1, 2, ... a number.
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = polygamma(n + 1, x) dx.   Source  DLMF 5.15.1.
 * Errors  BadInput when n is not an integer from 0 to 100.
 * @example polygamma(3, [0])   // [Infinity]
 */
export const polygamma = (n: number, x: unknown): AnyExpr => {
  if (!(Number.isInteger(n) && n >= 0 && n <= MAX_ORDER))
    raise({ _tag: 'BadInput', where: 'polygamma', reason: `n is ${n}.`, fix: `n is an integer from 0 to ${MAX_ORDER}.` })
  return asExpr(apply(polygammaPrimitive, [liftFloat(x, 'polygamma')], { n }))
}
/**
 * The logarithmic derivative of gamma: polygamma(0, x).
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = trigamma(x) dx.   Source  DLMF 5.2.2.
 * @example digamma([0])   // [-Infinity]
 */
export const digamma = (x: unknown): AnyExpr => polygamma(0, x)
/**
 * The derivative of digamma: polygamma(1, x).
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = polygamma(2, x) dx.   Source  DLMF 5.15.1.
 * @example trigamma([0])   // [Infinity]
 */
export const trigamma = (x: unknown): AnyExpr => polygamma(1, x)

// ---- activations that are functions of their own ---------------------------------------------------------------------

/**
 * 1 / (1 + exp(-x)), the logistic function.
 *
 * Extremes  0 and 1.   Rule  dy = y (1 - y) dx.   Source  NNlib sigma.
 * @example sigmoid([0])   // [0.5]
 */
export const sigmoid = unary({
  name: 'sigmoid',
  scalar: (x) => special.sigmoid(x!),
  domain: [[-3, 3]],
  extremes: [-80, 0, 100],
  cost: 12,
  source: 'NNlib sigmoid',
})
/**
 * log(1 + exp x), without overflow.
 *
 * Extremes  0 and x.   Rule  dy = sigmoid(x) dx.   Source  NNlib softplus.
 * @example softplus([1000])   // [1000]
 */
export const softplus = unary({
  name: 'softplus',
  scalar: (x) => special.softplus(x!),
  domain: [[-3, 3]],
  extremes: [-80, 0, 1000],
  cost: 20,
  source: 'NNlib softplus',
})
/**
 * max(x, 0).
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = dx where x > 0, else 0: 0 at the kink 0.   Source  NNlib relu.
 * @example relu([-1, 0, 2])   // [0, 0, 2]
 */
export const relu = unary({
  name: 'relu',
  scalar: (x) => Math.max(x!, 0),
  integers: true,
  extremes: [0, -0, 1e300],
  kinks: [{ at: [0], partials: [0], why: 'the value of most libraries; zero input gives no gradient' }],
  source: 'NNlib relu',
})
