/** The elements of an array as text: rows below each other, numbers in columns. */

import { greatestOf } from '../errors/extremes.js'
import type { DType } from '../types/dtype.js'
import type { NDArray } from './ndarray.js'

/** Along an axis of more than twice as many, so many are shown at each end. */
const EDGE = 3
const LEFT_OUT = '...'
/** From here on whole numbers are written with an exponent: not every one of them is an f64. */
const WHOLE = 2 ** 53

const showNumber = (x: number, dtype: DType): string => {
  if (dtype === 'bool') return String(x !== 0)
  if (Object.is(x, -0)) return '-0'
  if (Number.isInteger(x) && Math.abs(x) < WHOLE) return String(x)
  const short = Number(x.toPrecision(5))
  return Math.abs(short) >= WHOLE && Number.isFinite(short) ? short.toExponential() : String(short)
}

/** The places along an axis of n that are shown; -1 stands for those left out. */
const shownOf = (n: number): readonly number[] => {
  if (n <= 2 * EDGE) return Array.from({ length: n }, (_, i) => i)
  const edge = Array.from({ length: EDGE }, (_, i) => i)
  return [...edge, -1, ...edge.map((i) => n - EDGE + i)]
}

/**
 * Row-major text with at most 6 entries along each axis. A vector is one line. Several rows are a line each, their numbers set to the right of columns
 * of one width; matrices of a stack have an empty line between them.
 */
export const showElements = (a: NDArray): string => {
  const { shape, data, dtype } = a
  if (shape.length === 0) return showNumber(data[0]!, dtype)
  if (shape.includes(0)) return '[]'
  const places = shape.map(shownOf)
  const last = shape.length - 1
  const rows: string[][] = []
  const collect = (depth: number, offset: number): void => {
    if (depth === last) rows.push(places[depth]!.map((i) => (i < 0 ? LEFT_OUT : showNumber(data[offset + i]!, dtype))))
    else for (const i of places[depth]!) if (i >= 0) collect(depth + 1, (offset + i) * shape[depth + 1]!)
  }
  collect(0, 0)
  const width =
    rows.length === 1 ? 0 : greatestOf(rows.flatMap((row) => row.filter((_, i) => places[last]![i]! >= 0).map((text) => text.length)))
  let next = 0
  const text = (depth: number): string => {
    if (depth === last) return `[${rows[next++]!.map((x, i) => (places[last]![i]! < 0 ? x : x.padStart(width))).join(', ')}]`
    const between = `,${'\n'.repeat(last - depth)}${' '.repeat(depth + 1)}`
    return `[${places[depth]!.map((i) => (i < 0 ? LEFT_OUT : text(depth + 1))).join(between)}]`
  }
  return text(0)
}
