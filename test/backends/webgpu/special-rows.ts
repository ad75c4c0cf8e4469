/** What each special function promises on every WebGPU driver: its error against the meaning in f64, and where it is tried. */
import type { special } from '../../../src/core/ops/families.js'
import type { Interval } from '../accuracy.js'
import { EPS } from './math-rows.js'

export interface SpecialRow {
  /** Largest error in units in the last place, where y is the result and x are the arguments. */
  readonly ulps: (y: number, ...x: number[]) => number
  /** An absolute error that does not count, where the function has zeros. */
  readonly slack?: (...x: number[]) => number
  /** An interval for each argument; those of positive numbers that span more than a factor of 1000 are drawn by their logarithm. */
  readonly on: readonly (readonly Interval[])[]
  /** Orders of a Bessel function: the last argument, of errors too. */
  readonly orders?: readonly number[]
}
const of = (ulps: number, on: readonly Interval[]): SpecialRow => ({ ulps: () => ulps, on: on.map((i) => [i]) })
/** As the exponential of a logarithm of that size. */
const byLog =
  (few: number, per: number) =>
  (y: number): number =>
    few + per * (y !== 0 ? Math.abs(Math.log(Math.abs(y))) : 0)

const shapes: SpecialRow['on'] = [
  [
    [0.01, 10],
    [0.01, 10],
  ],
  [
    [0.1, 40],
    [0.1, 40],
  ],
  [
    [1e-30, 1e5],
    [1e-30, 1e5],
  ],
  [
    [0.1, 10],
    [10, 1e30],
  ],
]
const incomplete: SpecialRow['on'] = [
  [
    [0, 5],
    [0, 8],
  ],
  [
    [0, 60],
    [0, 80],
  ],
  [
    [1e-8, 1],
    [1e-6, 4],
  ],
  [
    [20, 400],
    [20, 400],
  ],
  [
    [900, 1100],
    [900, 1100],
  ],
  [
    [1e-4, 1e8],
    [1e-4, 1e8],
  ],
]

const incompleteBetas: SpecialRow['on'] = [
  [
    [0.01, 10],
    [0.01, 10],
    [0, 1],
  ],
  [
    [0, 1],
    [0, 1],
    [0, 1],
  ],
  [
    [0.1, 100],
    [0.1, 100],
    [0, 1],
  ],
  [
    [1, 1e4],
    [1, 1e4],
    [0, 1],
  ],
  [
    [900, 1100],
    [900, 1100],
    [0.45, 0.55],
  ],
]
const zetas: SpecialRow['on'] = [
  [
    [1, 5],
    [0.1, 4],
  ],
  [
    [1, 40],
    [0.1, 60],
  ],
  [
    [1.001, 100],
    [1e-3, 1e6],
  ],
]

/** By name. */
export const specialRows: readonly (readonly [keyof typeof special, SpecialRow])[] = [
  [
    'erfinv',
    of(4, [
      [-1, 1],
      [0.7, 0.8],
      [0.99, 1],
      [-1e-4, 1e-4],
    ]),
  ],
  [
    'erfcinv',
    of(4, [
      [0, 2],
      [0.2, 0.3],
      [1.7, 1.8],
      [1e-38, 1],
    ]),
  ],
  [
    'erfcx',
    of(4, [
      [-1, 1],
      [-9.5, 4],
      [0, 30],
      [1, 1e30],
    ]),
  ],
  [
    'ndtr',
    of(4, [
      [-1, 1],
      [-14, 8],
    ]),
  ],
  [
    'logNdtr',
    of(5, [
      [-2, 1],
      [-20, 14],
      [-1e15, -10],
    ]),
  ],
  [
    'besselJ',
    {
      orders: [0, 1, 2, 3, 10, 40, 101, 300],
      ulps: (_y, _x, n) => (n! < 2 ? 6 : 20 + n!),
      slack: (x, n) => (Math.abs(x!) > (n! < 2 ? 8 : n!) ? (n! < 2 ? 4 : 20) * EPS * Math.sqrt(2 / (Math.PI * Math.abs(x!))) : 0),
      on: [[[-4, 4]], [[0, 20]], [[0, 150]], [[10, 1e6]]],
    },
  ],
  ['besselI', { orders: [0, 1, 2, 3, 10, 40, 101, 300], ulps: (_y, _x, n) => 5 + n! / 2, on: [[[-10, 10]], [[0, 100]], [[90, 180]]] }],
  ['besselIe', { orders: [0, 1, 2, 3, 10, 40, 101, 300], ulps: (_y, _x, n) => 5 + n! / 2, on: [[[-10, 10]], [[0, 100]], [[8, 1e6]]] }],
  ['beta', { ulps: byLog(6, 4), on: shapes }],
  ['betaln', { ulps: byLog(6, 0), slack: () => 6 * EPS, on: shapes }],
  ['zeta', { ulps: (_y, s) => 4 + s! / 4, on: zetas }],
  ['gammainc', { ulps: byLog(6, 5), on: incomplete }],
  ['gammaincc', { ulps: byLog(6, 5), on: incomplete }],
  ['betainc', { ulps: byLog(20, 8), on: incompleteBetas }],
  ['gammaincGradA', { ulps: byLog(12, 5), on: incomplete }],
  ['betaincGradA', { ulps: byLog(30, 8), on: incompleteBetas }],
  ['betaincGradB', { ulps: byLog(30, 8), on: incompleteBetas }],
  // Below q = 1 it has a zero, of terms that cancel.
  ['zetaGradS', { ulps: (_y, s) => 6 + s! / 4, slack: (s, q) => (q! < 1 ? 4 * EPS * q! ** -s! * Math.abs(Math.log(q!)) : 0), on: zetas }],
]
