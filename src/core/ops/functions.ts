/** Functions of one number at every index: what each one is. Their calculus is in rules/elementwise.ts. */

import { asExpr } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import type { AnyExpr } from '../types/expr.js'
import type { FloatUnaryOp, KeepingOp, UnaryOp } from '../types/signatures/elementwise.js'
import { unary } from './lifted.js'
import * as special from './special-functions.js'

export * from './gamma.js'
export * from './trigonometric.js'

const IEEE = 'IEEE 754'

// ---- signs and rounding ----------------------------------------------------------------------------------------------

/**
 * -x.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = -dx.   Source  IEEE 754.
 * @example neg([1, -2])   // [-1, 2]
 */
export const neg: UnaryOp<'neg'> = unary({ name: 'neg', unbounded: false, scalar: (x) => -x!, integers: true, source: IEEE })
const magnitude = unary({
  name: 'abs',
  unbounded: false,
  scalar: (x) => Math.abs(x!),
  integers: true,
  extremes: [0, -0, 1e300],
  kinks: [{ at: [0], partials: [0], why: 'the middle of the subgradients' }],
  source: IEEE,
})
/**
 * |x|.
 *
 * Dtype  x's; of i32 the least number, which has no counterpart, stays.   Rule  dy = sign(x) dx, so 0 at the kink 0.   Source  IEEE 754.
 * @example abs([3, -3])   // [3, 3]
 */
export const abs: KeepingOp<'abs'> = typed(
  Object.assign(
    (x: unknown, more: unknown = undefined): AnyExpr => {
      const n = lift(x, 'abs')
      return n.dtype === 'bool' && more === undefined ? asExpr(n) : (magnitude as (...xs: unknown[]) => AnyExpr)(asExpr(n), more)
    },
    { primitive: magnitude.primitive },
  ),
)
/**
 * x x.
 *
 * Dtype  x's; i32 stays, bool becomes i32.   Rule  dy = 2 x dx, 0 at 0.   Source  IEEE 754.
 * @example square([3, -2])   // [9, 4]
 */
export const square: UnaryOp<'square'> = unary({
  name: 'square',
  unbounded: false,
  scalar: (x) => x! * x!,
  integer: (x) => Math.imul(x!, x!),
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
export const sign: UnaryOp<'sign'> = unary({
  name: 'sign',
  unbounded: false,
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
export const floor: FloatUnaryOp<'floor'> = unary({
  name: 'floor',
  unbounded: false,
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
export const ceil: FloatUnaryOp<'ceil'> = unary({
  name: 'ceil',
  unbounded: false,
  scalar: (x) => Math.ceil(x!),
  domain: [[0.1, 0.9]],
  extremes: [-1.5, -1, 0, 2.5, 1e20],
  kinks: [{ at: [1], partials: [0], why: 'a step: zero on both sides' }],
  source: IEEE,
})
// ---- powers and roots ------------------------------------------------------------------------------------------------

/**
 * 1 / x.
 *
 * Domain  x != 0; 1 / 0 is Infinity.   Rule  dy = -y^2 dx.   Source  IEEE 754.
 * @example reciprocal([2, -4])   // [0.5, -0.25]
 */
export const reciprocal: FloatUnaryOp<'reciprocal'> = unary({
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
export const sqrt: FloatUnaryOp<'sqrt'> = unary({
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
export const rsqrt: FloatUnaryOp<'rsqrt'> = unary({
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
export const cbrt: FloatUnaryOp<'cbrt'> = unary({
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
 * @example exp([0, 1])   // [1, 2.718]
 */
export const exp: FloatUnaryOp<'exp'> = unary({
  name: 'exp',
  scalar: (x) => Math.exp(x!),
  extremes: [-800, -100, 0, 100],
  cost: 10,
  source: 'DLMF 4.2.19',
})
/**
 * 2^x.
 *
 * Rule  dy = y log(2) dx.   Source  IEEE 754, exp2.
 * @example exp2([3, -1])   // [8, 0.5]
 */
export const exp2: FloatUnaryOp<'exp2'> = unary({
  name: 'exp2',
  scalar: (x) => 2 ** x!,
  extremes: [-1100, 0, 10, 1100],
  cost: 10,
  source: IEEE,
})
/**
 * e^x - 1, accurate near 0.
 *
 * Rule  dy = (y + 1) dx.   Source  DLMF 4.2.19; IEEE 754, expm1.
 * @example expm1([0, 1])   // [0, 1.718]
 */
export const expm1: FloatUnaryOp<'expm1'> = unary({
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
 * @example log([1, 2])   // [0, 0.6931]
 */
export const log: FloatUnaryOp<'log'> = unary({
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
export const log2: FloatUnaryOp<'log2'> = unary({
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
export const log10: FloatUnaryOp<'log10'> = unary({
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
 * @example log1p([0, 1])   // [0, 0.6931]
 */
export const log1p: FloatUnaryOp<'log1p'> = unary({
  name: 'log1p',
  scalar: (x) => Math.log1p(x!),
  domain: [[-0.6, 3]],
  extremes: [-1, -1e-10, 0, 1e-10, 1e30, -2],
  cost: 12,
  source: IEEE,
})

// ---- activations that are functions of their own ---------------------------------------------------------------------

/**
 * 1 / (1 + exp(-x)), the logistic function.
 *
 * Extremes  0 and 1.   Rule  dy = y (1 - y) dx.   Source  NNlib sigma.
 * @example sigmoid([0, 2])   // [0.5, 0.8808]
 */
export const sigmoid: FloatUnaryOp<'sigmoid'> = unary({
  name: 'sigmoid',
  unbounded: false,
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
 * @example softplus([0, 1000])   // [0.6931, 1000]
 */
export const softplus: FloatUnaryOp<'softplus'> = unary({
  name: 'softplus',
  unbounded: false,
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
export const relu: UnaryOp<'relu'> = unary({
  name: 'relu',
  unbounded: false,
  scalar: (x) => Math.max(x!, 0),
  integers: true,
  extremes: [0, -0, 1e300],
  kinks: [{ at: [0], partials: [0], why: 'the value of most libraries; zero input gives no gradient' }],
  source: 'NNlib relu',
})
