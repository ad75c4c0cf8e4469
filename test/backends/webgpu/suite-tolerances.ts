/** What every primitive promises on WebGPU in f32, results and cotangents: data, with reasons. i32 and bool are exact everywhere. */

import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import type { families } from '../../../src/core/ops/families.js'
import { rows } from './math-rows.js'

/**
 * How far a result may be from the meaning in f64 on the same numbers.
 * `ulps`: units in the last place of each entry; 0 is the rounded meaning, bit for bit, signs of zero too.
 * `terms`: for each entry eps times (`per` times its terms + `more`) times the sum of their absolute values. Both are computed by the
 * meaning itself, on ones and on absolute values: the error bound of a sum of products in any order.
 * `array`: `eps` eps relative to the largest entry of its array, or to 1: what a factorisation promises of matrices far from singular.
 * `factors`: eps times the entries of the longest argument, relative to each entry: the bound of a product in any order.
 */
export type Forward =
  | { readonly in: 'ulps'; readonly ulps: number; readonly why: string; readonly slack?: (...x: number[]) => number }
  | { readonly in: 'terms'; readonly per: number; readonly more: number; readonly why: string }
  | { readonly in: 'factors'; readonly why: string }
  | { readonly in: 'array'; readonly eps: number; readonly why: string }

/** A cotangent may be `gradient` eps away, relative to the largest entry of its array (or to 1). */
export interface Promised {
  readonly forward: Forward
  readonly gradient: { readonly eps: number; readonly why: string }
}

export const EPS = 2 ** -23

const moved: Forward = { in: 'ulps', ulps: 0, why: 'elements are moved or chosen, not computed' }
const rounded: Forward = { in: 'ulps', ulps: 0, why: 'one IEEE operation on each element' }
const sums: Forward = { in: 'terms', per: 1, more: 1, why: 'a sum of products, in any order' }
const product: Forward = { in: 'factors', why: 'a product, in any order' }

const few = { eps: 2, why: 'moved, or a sum of few terms' }
const long = { eps: 4, why: 'sums of products of numbers up to 2' }
const chain = { eps: 4, why: 'a few functions of the table one after the other, summed over broadcast axes' }

type Table = { readonly [F in keyof typeof families]?: { readonly [P in keyof (typeof families)[F]]?: Promised } }

/** What most primitives promise: of their class, and functions of numbers what the table of functions says. */
const usual = (prim: AnyPrimitive): Promised => {
  const row = prim.family === 'elementwise' ? rows.get(prim.name) : undefined
  if (row !== undefined)
    return {
      forward: { in: 'ulps', ulps: row.ulps, why: row.why, ...(row.slack === undefined ? {} : { slack: row.slack }) },
      gradient: chain,
    }
  if (prim.class === 'layout' || prim.family === 'compare') return { forward: moved, gradient: few }
  if (prim.family === 'fourier') return transformed
  return prim.family === 'linalg' ? factorised : { forward: sums, gradient: long }
}
const factorised: Promised = {
  forward: { in: 'array', eps: 16, why: 'a few steps that are each backward stable' },
  gradient: { eps: 64, why: 'several factorisations and products one after the other' },
}
const transformed: Promised = {
  forward: { in: 'array', eps: 4, why: 'sums of products with parts of units, of both signs' },
  gradient: long,
}
const chosen: Promised = { forward: moved, gradient: few }
const running: Promised = { forward: product, gradient: chain }
const sine: Promised = { forward: { in: 'ulps', ulps: 2, why: 'sin, then one product' }, gradient: chain }

const function4 = { forward: { in: 'ulps', ulps: 4, why: 'an exponential, a polynomial and a quotient' }, gradient: chain } as const
const bessel: Promised = {
  forward: { in: 'ulps', ulps: 8, why: 'polynomials, then a recurrence', slack: () => 4 * EPS },
  gradient: chain,
}
const shaped: Promised = {
  forward: { in: 'ulps', ulps: 24, why: 'a series or a continued fraction, times the exponential of a logarithm', slack: () => 4 * EPS },
  gradient: { eps: 16, why: 'exponentials of sums of logarithms' },
}

/** Those that promise something else. */
const others: Table = {
  elementwise: {
    where: chosen,
    cast: { forward: rounded, gradient: few },
    polygamma: { forward: { in: 'ulps', ulps: 8, why: 'a series after a recurrence' }, gradient: chain },
  },
  special: {
    erfinv: function4,
    erfcinv: function4,
    erfcx: function4,
    ndtr: function4,
    logNdtr: { ...function4, forward: { ...function4.forward, ulps: 5 } },
    besselJ: bessel,
    besselI: bessel,
    besselIe: bessel,
    beta: shaped,
    betaln: shaped,
    zeta: shaped,
    gammainc: shaped,
    gammaincc: shaped,
    betainc: shaped,
    gammaincGradA: shaped,
    betaincGradA: shaped,
    betaincGradB: shaped,
    zetaGradS: shaped,
  },
  layout: { sliceAdd: { forward: rounded, gradient: few } },
  reduce: { max: chosen, min: chosen, argmax: chosen, argmin: chosen },
  scans: {
    prod: running,
    cumprod: running,
    linearRecurrence: {
      forward: { in: 'terms', per: 2, more: 1, why: 'terms are products, one factor longer each step' },
      gradient: chain,
    },
    sort: chosen,
  },
  positions: { iota: chosen },
  indexing: {
    gather: chosen,
    scatterAdd: { forward: sums, gradient: few },
    setAt: chosen,
    takeAlongAxis: chosen,
    scatterAddAlong: { forward: sums, gradient: few },
    searchsorted: chosen,
    dynamicSlice: chosen,
    dynamicSliceAdd: { forward: rounded, gradient: few },
    dynamicUpdateSlice: chosen,
  },
  nn: {
    maxPool: chosen,
    unpool: { forward: sums, gradient: few },
    poolGather: chosen,
    avgPool: {
      forward: { in: 'terms', per: 4, more: 1, why: 'a mean: its window has 4 entries or fewer for each that ones give' },
      gradient: few,
    },
    avgPoolInput: { forward: { in: 'terms', per: 4, more: 1, why: 'a sum of quotients' }, gradient: few },
  },
  map: { map: sine },
  custom: { customRule: sine },
}
/** What a primitive promises. */
export const promised = (prim: AnyPrimitive): Promised =>
  (others as { readonly [F: string]: { readonly [P: string]: Promised } })[prim.family]?.[prim.name] ?? usual(prim)
