/** The error function and the gamma family: what each one is. Their calculus is in rules/functions.ts. */

import { ofOne, shown } from '../errors/check-arguments.js'
import { badInput } from '../errors/explain.js'
import { apply, asExpr } from '../graph/expr.js'
import { liftFloat } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import type { AnyExpr } from '../types/expr.js'
import type { FloatUnary, FloatUnaryOp, PolygammaFn } from '../types/signatures/elementwise.js'
import { unary } from './lifted.js'
import { polygammaPrimitive } from './polygamma.js'
import * as special from './special/functions.js'

/**
 * The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
 *
 * Extremes  -1 and 1.   Rule  dy = 2 / sqrt(pi) exp(-x^2) dx.   Source  DLMF 7.2.1.
 * @example erf([0, 1])   // [0, 0.8427]
 */
export const erf: FloatUnaryOp<'erf'> = unary({
  name: 'erf',
  unbounded: false,
  scalar: (x) => special.erf(x!),
  extremes: [-10, -1e-10, 0, 10],
  cost: 30,
  source: 'DLMF 7.2.1',
})
/**
 * 1 - erf x, accurate in the tail.
 *
 * Extremes  2 and 0.   Rule  dy = -2 / sqrt(pi) exp(-x^2) dx.   Source  DLMF 7.2.2.
 * @example erfc([0])   // [1]
 */
export const erfc: FloatUnaryOp<'erfc'> = unary({
  name: 'erfc',
  unbounded: false,
  scalar: (x) => special.erfc(x!),
  extremes: [-10, 0, 5, 30],
  cost: 40,
  source: 'DLMF 7.2.2',
})
/**
 * The logarithm of |gamma(x)|.
 *
 * Domain  everywhere but 0, -1, -2, ... (Infinity there).   Rule  dy = digamma(x) dx.   Source  DLMF 5.2.1, 5.5.3.
 * @example lgamma([1, 5])   // [0, 3.178]
 */
export const lgamma: FloatUnaryOp<'lgamma'> = unary({
  name: 'lgamma',
  scalar: (x) => special.lgamma(x!),
  domain: [[0.3, 5]],
  extremes: [0, -1, -2.5, 1e10],
  cost: 60,
  source: 'DLMF 5.2.1',
})

const MAX_ORDER = 100

/**
 * The n-th derivative of digamma, for a number n = 0, 1, 2, ...
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = polygamma(n + 1, x) dx.   Source  DLMF 5.15.1.
 * Errors  BadInput when n is not an integer from 0 to 100.
 * @example polygamma(3, [0])   // [Infinity]
 */
export const polygamma: PolygammaFn = typed((n: number, x: unknown): AnyExpr => {
  if (!(Number.isInteger(n) && n >= 0 && n <= MAX_ORDER))
    badInput('polygamma', `n is ${shown(n)}.`, `n is an integer from 0 to ${MAX_ORDER}.`)
  return asExpr(apply(polygammaPrimitive, [liftFloat(x, 'polygamma')], { n }))
})
/**
 * The logarithmic derivative of gamma: polygamma(0, x).
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = trigamma(x) dx.   Source  DLMF 5.2.2.
 * @example digamma([1])   // [-0.5772]
 */
export const digamma: FloatUnary = typed(ofOne('digamma', (x: AnyExpr) => polygamma(0, x)))
/**
 * The derivative of digamma: polygamma(1, x).
 *
 * Domain  everywhere but 0, -1, -2, ...   Rule  dy = polygamma(2, x) dx.   Source  DLMF 5.15.1.
 * @example trigamma([0])   // [Infinity]
 */
export const trigamma: FloatUnary = typed(ofOne('trigamma', (x: AnyExpr) => polygamma(1, x)))
