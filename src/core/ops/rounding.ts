/** Rounding to so many decimals: the nearest integer, in other units. */

import { integer } from '../errors/options.js'
import type { RoundOp } from '../types/signatures/elementwise.js'
import { div, mul, stopGradient, where } from './arithmetic.js'
import { isfinite } from './compare.js'
import { unary } from './lifted.js'
import { floats, operation } from './operation.js'
import { roundHalfEven } from './special/functions.js'

const nearest = unary({
  name: 'round',
  unbounded: false,
  scalar: (x) => roundHalfEven(x!),
  domain: [[0.6, 1.4]],
  extremes: [-2.5, -0.5, 0.5, 1.5, 1e20],
  kinks: [{ at: [0.5], partials: [0], why: 'a step: zero on both sides' }],
  source: 'IEEE 754',
})
export const roundOptions = {
  /** Decimal places, 0 unless given; negative ones are before the point. */
  decimals: integer(0),
}
/**
 * The nearest integer, halves to even, as a float; with `decimals`, to that many places after the point, or before it if negative.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTiesToEven; NumPy round: x 10^decimals is rounded.   Errors  BadInput unless decimals is an integer.
 * @example
 * round([0.5, 1.5, 2.4])                     // [0, 2, 2]
 * round([1.2345, 67.891], { decimals: 2 })   // [1.23, 67.89]
 */
export const round: RoundOp = Object.assign(
  operation<RoundOp, { readonly x: typeof floats }, typeof roundOptions>('round', { x: floats }, roundOptions, ({ x }, { decimals }) => {
    if (decimals === 0) return nearest(x)
    const unit = 10 ** Math.abs(decimals)
    const scaled = decimals > 0 ? mul(x, unit) : div(x, unit)
    const y = nearest(scaled)
    // What is so large that it overflows has no digits there.
    return stopGradient(where(isfinite(scaled), decimals > 0 ? div(y, unit) : mul(y, unit), x))
  }),
  { primitive: nearest.primitive },
)
