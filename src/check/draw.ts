/** Seeded numbers and arrays for checks. */

import { numberOf } from '../core/errors/check-arguments.js'
import { type Aval, isFloat } from '../core/graph/aval.js'
import { allocate, type NDArray } from '../core/graph/ndarray.js'

/**
 * Uniform numbers in [0, 1) from a seed; the same seed gives the same numbers everywhere.
 *
 * Source  mulberry32, T. Ettinger 2017.
 * @example random(1)()   // 0.6270739405881613
 */
export const random = (seed: number): (() => number) => {
  let s = numberOf(seed, 'the seed', 'random') | 0
  return () => {
    s = (s + 0x6d2b79f5) | 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** An array with entries drawn from [low, high); integers for i32 and bool. */
export const drawArray = (a: Aval, next: () => number, [low, high]: readonly [number, number] = [-2, 2]): NDArray => {
  const data = allocate(a.dtype, a.size)
  for (let i = 0; i < data.length; i++) {
    const x = low + (high - low) * next()
    data[i] = isFloat(a.dtype) ? x : Math.floor(x)
  }
  return { shape: a.shape, dtype: a.dtype, data }
}

/** x + t d. */
export const along = (x: NDArray, d: NDArray, t: number): NDArray => {
  const data = new Float64Array(x.data.length)
  for (let i = 0; i < data.length; i++) data[i] = x.data[i]! + t * d.data[i]!
  return { ...x, data }
}
