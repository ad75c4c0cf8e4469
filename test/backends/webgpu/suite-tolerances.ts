/** What every primitive promises on WebGPU in f32, results and cotangents: data, with reasons. i32 and bool are exact everywhere. */
import type { families } from '../../../src/core/ops/families.js'
import { rows } from './math-rows.js'

/**
 * How far a result may be from the meaning in f64 on the same numbers.
 * `ulps`: units in the last place of each entry; 0 is the rounded meaning, bit for bit, signs of zero too.
 * `terms`: for each entry eps times (`per` times its terms + `more`) times the sum of their absolute values. Both are computed by the
 * meaning itself, on ones and on absolute values: the error bound of a sum of products in any order.
 * `factors`: eps times the entries of the longest argument, relative to each entry: the bound of a product in any order.
 */
export type Forward =
  | { readonly in: 'ulps'; readonly ulps: number; readonly why: string; readonly slack?: (...x: number[]) => number }
  | { readonly in: 'terms'; readonly per: number; readonly more: number; readonly why: string }
  | { readonly in: 'factors'; readonly why: string }

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

type Table = { readonly [F in keyof typeof families]: { readonly [P in keyof (typeof families)[F]]: Promised } }

const functions = Object.fromEntries(
  Object.entries(rows).map(([name, { ulps, why, slack }]): [string, Promised] => [
    name,
    { forward: { in: 'ulps', ulps, why, ...(slack === undefined ? {} : { slack }) }, gradient: chain },
  ]),
) as { readonly [P in keyof typeof rows]: Promised }

const test: Promised = { forward: moved, gradient: few }
const layout: Promised = { forward: moved, gradient: few }
const summed: Promised = { forward: sums, gradient: long }

/** Every primitive of the registry: one without a row does not compile. */
export const promises: Table = {
  elementwise: {
    ...functions,
    where: { forward: moved, gradient: few },
    cast: { forward: rounded, gradient: few },
    polygamma: { forward: { in: 'ulps', ulps: 8, why: 'a series after a recurrence' }, gradient: chain },
  },
  compare: {
    eq: test,
    ne: test,
    lt: test,
    le: test,
    gt: test,
    ge: test,
    isnan: test,
    isfinite: test,
    logicalAnd: test,
    logicalOr: test,
    logicalNot: test,
  },
  layout: {
    broadcastTo: layout,
    reshape: layout,
    transpose: layout,
    slice: layout,
    sliceAdd: { forward: rounded, gradient: few },
    pad: layout,
    concat: layout,
    split: layout,
  },
  reduce: {
    sum: summed,
    prod: { forward: product, gradient: chain },
    max: { forward: moved, gradient: few },
    min: { forward: moved, gradient: few },
    argmax: { forward: moved, gradient: few },
    argmin: { forward: moved, gradient: few },
  },
  scans: {
    cumsum: summed,
    cumprod: { forward: product, gradient: chain },
    linearRecurrence: {
      forward: { in: 'terms', per: 2, more: 1, why: 'terms are products, one factor longer each step' },
      gradient: chain,
    },
    sort: { forward: moved, gradient: few },
  },
  indexing: {
    iota: { forward: moved, gradient: few },
    gather: { forward: moved, gradient: few },
    scatterAdd: { forward: sums, gradient: few },
    setAt: { forward: moved, gradient: few },
    takeAlongAxis: { forward: moved, gradient: few },
    scatterAddAlong: { forward: sums, gradient: few },
    searchsorted: { forward: moved, gradient: few },
    dynamicSlice: { forward: moved, gradient: few },
    dynamicSliceAdd: { forward: rounded, gradient: few },
    dynamicUpdateSlice: { forward: moved, gradient: few },
  },
  contract: { matmul: summed, matmulAdd: summed },
  nn: {
    conv: summed,
    convInput: summed,
    convKernel: summed,
    convInputAdd: summed,
    convKernelAdd: summed,
    maxPool: { forward: moved, gradient: few },
    unpool: { forward: sums, gradient: few },
    poolGather: { forward: moved, gradient: few },
    avgPool: {
      forward: { in: 'terms', per: 4, more: 1, why: 'a mean: its window has 4 entries or fewer for each that ones give' },
      gradient: few,
    },
    avgPoolInput: { forward: { in: 'terms', per: 4, more: 1, why: 'a sum of quotients' }, gradient: few },
  },
  map: { map: { forward: { in: 'ulps', ulps: 2, why: 'sin, then one product' }, gradient: chain } },
  custom: { customRule: { forward: { in: 'ulps', ulps: 2, why: 'sin, then one product' }, gradient: chain } },
}
