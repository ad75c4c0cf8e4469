// The error function and the gamma function: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as gamma from '../ops/gamma.js'
import { type Public, typed } from './typed.js'

/**
 * The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
 *
 * Extremes  -1 and 1.   Rule  dy = 2 / sqrt(pi) exp(-x^2) dx.   Source  DLMF 7.2.1.
 * @example erf([0, 1])   // [0, 0.8427]
 */
export const erf: Public['erf'] = typed(gamma.erf)

/**
 * 1 - erf x, accurate in the tail.
 *
 * Extremes  2 and 0.   Rule  dy = -2 / sqrt(pi) exp(-x^2) dx.   Source  DLMF 7.2.2.
 * @example erfc([0])   // [1]
 */
export const erfc: Public['erfc'] = typed(gamma.erfc)

/**
 * The logarithm of |gamma(x)|.
 *
 * Domain  everywhere but 0, -1, -2, ... (Infinity there).   Rule  dy = digamma(x) dx.   Source  DLMF 5.2.1, 5.5.3.
 * @example lgamma([1, 5])   // [0, 3.178]
 */
export const lgamma: Public['lgamma'] = typed(gamma.lgamma)

/**
 * The logarithmic derivative of gamma: polygamma(0, x).
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = trigamma(x) dx.   Source  DLMF 5.2.2.
 * @example digamma([1])   // [-0.5772]
 */
export const digamma: Public['digamma'] = typed(gamma.digamma)

/**
 * The derivative of digamma: polygamma(1, x).
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = polygamma(2, x) dx.   Source  DLMF 5.15.1.
 * @example trigamma([0])   // [Infinity]
 */
export const trigamma: Public['trigamma'] = typed(gamma.trigamma)

/**
 * The n-th derivative of digamma, n = 0, 1, 2, ... a number.
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = polygamma(n + 1, x) dx.   Source  DLMF 5.15.1.
 * Errors  BadInput when n is not an integer from 0 to 100.
 * @example polygamma(3, [0])   // [Infinity]
 */
export const polygamma: Public['polygamma'] = typed(gamma.polygamma)
