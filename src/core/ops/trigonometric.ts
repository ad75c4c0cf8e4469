/** Circular functions, their inverses, and lengths: what each one is. Their calculus is in rules/functions.ts. */

import type { FloatBinaryOp, FloatUnaryOp } from '../types/signatures/elementwise.js'
import { binary, unary } from './lifted.js'

/**
 * sin x, x in radians.
 *
 * Rule  dy = cos(x) dx.   Source  DLMF 4.14.1.
 * @example sin([0, 1])   // [0, 0.8415]
 */
export const sin: FloatUnaryOp<'sin'> = unary({
  name: 'sin',
  unbounded: false,
  scalar: (x) => Math.sin(x!),
  extremes: [0, 30, -1000],
  cost: 12,
  source: 'DLMF 4.14.1',
})
/**
 * cos x, x in radians.
 *
 * Rule  dy = -sin(x) dx.   Source  DLMF 4.14.2.
 * @example cos([0, 1])   // [1, 0.5403]
 */
export const cos: FloatUnaryOp<'cos'> = unary({
  name: 'cos',
  unbounded: false,
  scalar: (x) => Math.cos(x!),
  extremes: [0, 30, -1000],
  cost: 12,
  source: 'DLMF 4.14.2',
})
/**
 * tan x, x in radians.
 *
 * Domain  away from the odd multiples of pi / 2.   Rule  dy = (1 + y^2) dx.   Source  DLMF 4.14.4.
 * @example tan([0, 1])   // [0, 1.557]
 */
export const tan: FloatUnaryOp<'tan'> = unary({
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
 * @example asin([0, 1])   // [0, 1.571]
 */
export const asin: FloatUnaryOp<'asin'> = unary({
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
 * @example acos([1, 0])   // [0, 1.571]
 */
export const acos: FloatUnaryOp<'acos'> = unary({
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
 * @example atan([0, 1])   // [0, 0.7854]
 */
export const atan: FloatUnaryOp<'atan'> = unary({
  name: 'atan',
  unbounded: false,
  scalar: (x) => Math.atan(x!),
  extremes: [-1e20, 0, 1e20],
  cost: 14,
  source: 'DLMF 4.23.3',
})

/**
 * sqrt(a^2 + b^2), without overflow.
 *
 * Shapes  a and b broadcast.   Rule  dy = (a da + b db) / y, 0 at the kink (0, 0).   Source  IEEE 754 hypot.
 * @example hypot([3, 5], [4, 12])   // [5, 13]
 */
export const hypot: FloatBinaryOp<'hypot'> = binary({
  name: 'hypot',
  unbounded: false,
  scalar: (a, b) => Math.hypot(a!, b!),
  extremes: [0, 1e300, -1e-300],
  kinks: [{ at: [0, 0], partials: [0, 0], why: 'the least subgradient, as the norm of a vector' }],
  cost: 12,
  source: 'IEEE 754 hypot',
})

/**
 * The angle of the point (x, y), y first: in [-pi, pi].
 *
 * Shapes  y and x broadcast.   Rule  d = (x dy - y dx) / (x^2 + y^2), 0 at the origin.   Source  DLMF 4.23.24.
 * @example atan2([1], [-1])   // [2.356]
 */
export const atan2: FloatBinaryOp<'atan2'> = binary({
  name: 'atan2',
  unbounded: false,
  scalar: (y, x) => Math.atan2(y!, x!),
  domain: [
    [0.2, 2],
    [-2, 2],
  ],
  extremes: [0, -0, -1, 1e20],
  kinks: [{ at: [0, 0], partials: [0, 0], why: 'no derivative at the origin; 0 is symmetric' }],
  cost: 20,
  source: 'DLMF 4.23.24',
})
