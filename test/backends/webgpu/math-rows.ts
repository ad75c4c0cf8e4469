/** What each function of the scalar tables promises on every WebGPU driver: its error, why, and where it is tried. */

import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import type { elementwise } from '../../../src/core/ops/families.js'
import * as special from '../../../src/core/ops/special/functions.js'
import { floatFunctions, type Interval, intervalsOf, unitsOf } from '../accuracy.js'

export interface Row {
  /** Largest error in units in the last place, against the meaning in f64; 0 is its rounding, bit for bit. */
  readonly ulps: number
  /** Why it is not smaller. */
  readonly why: string
  /** Intervals from which every argument is drawn. */
  readonly on: readonly Interval[]
  /** An absolute error that does not count, where terms cancel. */
  readonly slack?: (...x: number[]) => number
}
export const EPS = 2 ** -23
export const SMALLEST = 2 ** -126
const all: Row['on'] = [
  [-4, 4],
  [-1e30, 1e30],
]
const exact = (why: string, on: Row['on'] = all): Row => ({ ulps: 0, why, on })
const bounded = (ulps: number, on: Row['on'], why: string, slack?: Row['slack']): Row => ({ ulps, why, on, ...(slack ? { slack } : {}) })
const unit: Interval = [-1, 1]
const tiny: Interval = [-1e-3, 1e-3]
const circle: Row['on'] = [
  [-4, 4],
  [-8000, 8000],
  [-1e5, 1e5],
  [-1e30, 1e30],
]
const ieee = 'one IEEE operation'
const bits = 'bits only'

const bounds: { readonly [K in keyof typeof elementwise]?: Row } = {
  neg: exact(bits),
  abs: exact(bits),
  square: exact(ieee),
  sign: exact(bits),
  floor: exact(ieee),
  ceil: exact(ieee),
  round: exact(ieee),
  reciprocal: exact(ieee),
  sqrt: exact(ieee),
  rsqrt: bounded(
    1.5,
    [
      [0, 4],
      [0, 1e30],
    ],
    'two roundings',
  ),
  cbrt: bounded(0.8, [...all, [-1e-37, 1e-37]], 'one Newton step from an exact square'),
  exp: bounded(1, [unit, [-110, 100]], 'a rounded polynomial, then + 1'),
  exp2: bounded(1, [unit, [-155, 130]], 'a rounded polynomial, then + 1'),
  expm1: bounded(1.6, [tiny, [-2, 2], [-50, 100]], '(exp r - 1) + (1 - 2^-n) cancels a little'),
  log: bounded(
    0.8,
    [
      [0.5, 2],
      [0, 1e-3],
      [0, 1e30],
      [0, 1e-37],
    ],
    'a rounded polynomial',
  ),
  log2: bounded(
    1.3,
    [
      [0.5, 2],
      [0, 1e30],
    ],
    'log2(e) in two terms',
  ),
  log10: bounded(
    1.8,
    [
      [0.5, 2],
      [0, 1e30],
    ],
    'log10(e) and log10(2) in two terms each',
  ),
  log1p: bounded(1.3, [tiny, [-1, 2], [-1e-5, 1e-5], [0, 1e20]], 'a logarithm and a correction'),
  sin: bounded(1.2, circle, 'a rounded polynomial'),
  cos: bounded(1.2, circle, 'a rounded polynomial'),
  tan: bounded(2, circle, 'a quotient after a polynomial'),
  asin: bounded(1.2, [unit, [0.99, 1], tiny], 'a rounded polynomial'),
  acos: bounded(1, [unit, [0.99, 1], [-1, -0.99]], 'a rounded polynomial'),
  atan: bounded(1.8, [[-3, 3], [-1e5, 1e5], tiny], 'a reciprocal and a difference after it'),
  sinh: bounded(
    1.7,
    [
      [-2, 2],
      [-90, 90],
    ],
    'exp, a quotient and a difference',
  ),
  cosh: bounded(
    1.4,
    [
      [-2, 2],
      [-90, 90],
    ],
    'exp, a quotient and a sum',
  ),
  tanh: bounded(1.3, [unit, [-12, 12], tiny], 'exp, a quotient and a difference'),
  asinh: bounded(2, [[-2, 2], tiny, [-1e4, 1e4], [-1e20, 1e20]], 'a root and a quotient within log1p'),
  acosh: bounded(
    3,
    [
      [1, 1.01],
      [1, 10],
      [1, 1e4],
      [1, 1e20],
    ],
    'a product, a root and a sum within log1p',
  ),
  atanh: bounded(1.6, [unit, tiny], 'a quotient within log1p'),
  erf: bounded(1.3, [unit, [-7, 7], tiny], 'a rounded polynomial'),
  erfc: bounded(
    4,
    [
      [-2, 2],
      [-7, 28],
    ],
    'exp, a polynomial of a quotient, a quotient and a product',
  ),
  lgamma: bounded(
    3.2,
    [
      [0.1, 9],
      [0, 3],
      [8, 1e4],
      [0, 1e30],
      [-10, 0],
      [-1e3, 0],
    ],
    'log x - 1 cancels; below 0 two logarithms do',
    (x) => (x < 0 ? 2 * EPS * (1 + Math.abs(special.lgamma(-x)) + Math.abs(Math.log(Math.abs(x)))) : 0),
  ),
  sigmoid: bounded(
    2.3,
    [
      [-2, 2],
      [-110, 110],
    ],
    'exp, a sum and a quotient',
  ),
  softplus: bounded(
    2,
    [
      [-2, 2],
      [-100, 100],
    ],
    'log1p of a rounded exp',
  ),
  relu: exact(bits),
  add: exact(ieee),
  sub: exact(ieee),
  mul: exact(ieee),
  strongMul: exact(ieee),
  div: exact(ieee),
  mod: exact('integers', [...all, [-100, 100]]),
  pow: bounded(
    1.1,
    [
      [0, 3],
      [-5, 5],
      [0, 60],
    ],
    'log2 x as a pair, then as exp',
  ),
  hypot: bounded(1.2, all, 'two squares, a sum and a root'),
  atan2: bounded(
    1.8,
    [
      [-2, 2],
      [-1e5, 1e5],
    ],
    'a quotient, atan and a difference',
  ),
  logaddexp: bounded(
    1,
    [
      [-3, 3],
      [-100, 100],
    ],
    'the sum cancels where the result is near 0',
    (a, b) => 2 * EPS * Math.max(1, Math.abs(a!), Math.abs(b!)),
  ),
  xlogy: bounded(1.7, [[0, 3]], 'log and a product'),
  maximum: exact(bits),
  minimum: exact(bits),
  // JavaScript does not tell the sign of a NaN.
  copysign: { ...exact(bits), slack: (_a, b) => (Number.isNaN(b) ? Number.POSITIVE_INFINITY : 0) },
  stopGradient: exact(bits),
}
const rowOf = (prim: AnyPrimitive): Row =>
  bounds[prim.name as keyof typeof elementwise] ?? bounded(unitsOf(prim, EPS), intervalsOf(prim), prim.tolerance?.reason ?? 'as declared')
/** A row for every primitive that takes f32: its measured bound, or what its declaration says. */
export const rows: ReadonlyMap<string, Row> = new Map(floatFunctions.map((prim) => [prim.name, rowOf(prim)]))
