// Circular and hyperbolic functions: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as circular from '../ops/circular.js'
import { type Public, typed } from './typed.js'

/**
 * sin x, x in radians.
 *
 * Rule  dy = cos(x) dx.   Source  DLMF 4.14.1.
 * @example sin([0, 1])   // [0, 0.8415]
 */
export const sin: Public['sin'] = typed(circular.sin)

/**
 * cos x, x in radians.
 *
 * Rule  dy = -sin(x) dx.   Source  DLMF 4.14.2.
 * @example cos([0, 1])   // [1, 0.5403]
 */
export const cos: Public['cos'] = typed(circular.cos)

/**
 * tan x, x in radians.
 *
 * Domain  away from the odd multiples of pi / 2.   Rule  dy = (1 + y^2) dx.   Source  DLMF 4.14.4.
 * @example tan([0, 1])   // [0, 1.557]
 */
export const tan: Public['tan'] = typed(circular.tan)

/**
 * The angle in [-pi/2, pi/2] whose sine is x.
 *
 * Domain  [-1, 1], NaN outside.   Rule  dy = dx / sqrt(1 - x^2): Infinity at the ends.   Source  DLMF 4.23.1.
 * @example asin([0, 1])   // [0, 1.571]
 */
export const asin: Public['asin'] = typed(circular.asin)

/**
 * The angle in [0, pi] whose cosine is x.
 *
 * Domain  [-1, 1], NaN outside.   Rule  dy = -dx / sqrt(1 - x^2): -Infinity at the ends.   Source  DLMF 4.23.2.
 * @example acos([1, 0])   // [0, 1.571]
 */
export const acos: Public['acos'] = typed(circular.acos)

/**
 * The angle in (-pi/2, pi/2) whose tangent is x.
 *
 * Rule  dy = dx / (1 + x^2).   Source  DLMF 4.23.3.
 * @example atan([0, 1])   // [0, 0.7854]
 */
export const atan: Public['atan'] = typed(circular.atan)

/**
 * (e^x - e^-x) / 2.
 *
 * Rule  dy = cosh(x) dx.   Source  DLMF 4.28.1.
 * @example sinh([0, 1])   // [0, 1.175]
 */
export const sinh: Public['sinh'] = typed(circular.sinh)

/**
 * (e^x + e^-x) / 2.
 *
 * Rule  dy = sinh(x) dx.   Source  DLMF 4.28.2.
 * @example cosh([0, 1])   // [1, 1.543]
 */
export const cosh: Public['cosh'] = typed(circular.cosh)

/**
 * The hyperbolic tangent of x.
 *
 * Extremes  -1 and 1.   Rule  dy = (1 - y^2) dx.   Source  DLMF 4.28.4.
 * @example tanh([0, 1])   // [0, 0.7616]
 */
export const tanh: Public['tanh'] = typed(circular.tanh)

/**
 * The number whose hyperbolic sine is x.
 *
 * Rule  dy = dx / sqrt(1 + x^2).   Source  DLMF 4.37.1.
 * @example asinh([0, 1])   // [0, 0.8814]
 */
export const asinh: Public['asinh'] = typed(circular.asinh)

/**
 * The number that is not negative and whose hyperbolic cosine is x.
 *
 * Domain  x >= 1, NaN below.   Rule  dy = dx / sqrt(x^2 - 1): Infinity at 1.   Source  DLMF 4.37.2.
 * @example acosh([1, 2])   // [0, 1.317]
 */
export const acosh: Public['acosh'] = typed(circular.acosh)

/**
 * The number whose hyperbolic tangent is x.
 *
 * Domain  (-1, 1); infinite at the ends, NaN outside.   Rule  dy = dx / (1 - x^2).   Source  DLMF 4.37.3.
 * @example atanh([0, 0.5])   // [0, 0.5493]
 */
export const atanh: Public['atanh'] = typed(circular.atanh)
