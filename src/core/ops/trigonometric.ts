/** Circular and hyperbolic functions and their inverses: what each one is. Their calculus is in rules/functions.ts. */

import type { FloatUnaryOp } from '../types/signatures/elementwise.js'
import { unary } from './lifted.js'

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
 * (e^x - e^-x) / 2.
 *
 * Rule  dy = cosh(x) dx.   Source  DLMF 4.28.1.
 * @example sinh([0, 1])   // [0, 1.175]
 */
export const sinh: FloatUnaryOp<'sinh'> = unary({
  name: 'sinh',
  scalar: (x) => Math.sinh(x!),
  extremes: [-100, -1e-10, 0, 100],
  cost: 14,
  source: 'DLMF 4.28.1',
})
/**
 * (e^x + e^-x) / 2.
 *
 * Rule  dy = sinh(x) dx.   Source  DLMF 4.28.2.
 * @example cosh([0, 1])   // [1, 1.543]
 */
export const cosh: FloatUnaryOp<'cosh'> = unary({
  name: 'cosh',
  scalar: (x) => Math.cosh(x!),
  extremes: [-100, 0, 100],
  cost: 14,
  source: 'DLMF 4.28.2',
})
/**
 * The hyperbolic tangent of x.
 *
 * Extremes  -1 and 1.   Rule  dy = (1 - y^2) dx.   Source  DLMF 4.28.4.
 * @example tanh([0, 1])   // [0, 0.7616]
 */
export const tanh: FloatUnaryOp<'tanh'> = unary({
  name: 'tanh',
  unbounded: false,
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
 * @example asinh([0, 1])   // [0, 0.8814]
 */
export const asinh: FloatUnaryOp<'asinh'> = unary({
  name: 'asinh',
  unbounded: false,
  scalar: (x) => Math.asinh(x!),
  extremes: [-1e10, -1e-10, 0, 1e10],
  cost: 16,
  source: 'DLMF 4.37.1',
})
/**
 * The number that is not negative and whose hyperbolic cosine is x.
 *
 * Domain  x >= 1, NaN below.   Rule  dy = dx / sqrt(x^2 - 1): Infinity at 1.   Source  DLMF 4.37.2.
 * @example acosh([1, 2])   // [0, 1.317]
 */
export const acosh: FloatUnaryOp<'acosh'> = unary({
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
 * @example atanh([0, 0.5])   // [0, 0.5493]
 */
export const atanh: FloatUnaryOp<'atanh'> = unary({
  name: 'atanh',
  scalar: (x) => Math.atanh(x!),
  domain: [[-0.7, 0.7]],
  extremes: [-1, -1e-10, 0, 1, 2],
  cost: 16,
  source: 'DLMF 4.37.3',
})
