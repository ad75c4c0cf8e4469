/** Functions of one number that take no series: signs, squares and roots, whole numbers. Their calculus is in rules/arithmetic.ts. */
import { asExpr } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import type { AnyExpr } from '../types/expr.js'
import type { FloatUnaryOp, KeepingOp, UnaryOp } from '../types/signatures/elementwise.js'
import { unary } from './lifted.js'

// ---- signs and rounding ----------------------------------------------------------------------------------------------

const IEEE = 'IEEE 754'
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
 * Dtype  x's; the least i32, which has no negative, stays.   Rule  dy = sign(x) dx, so 0 at the kink 0.   Source  IEEE 754.
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
