/**
 * Householder's reflections, and several of them together as I - V T V^T, so that applying them is products of matrices.
 * Source  Golub and Van Loan 2013, 5.1 and 5.2; Schreiber and Van Loan 1989.
 */
import type { Reflecting } from './loops.js'
import type { Floats } from './product.js'

/**
 * Vectors as columns of V: [rows, wide], with their ones and zeros, T: [wide, wide], and two strips, all in `a`. What reflections are
 * applied to lies there too.
 */
export interface Reflections {
  readonly a: Floats
  readonly loops: Reflecting
  readonly rows: number
  readonly wide: number
  readonly v: number
  readonly t: number
  /** Room for 2 n numbers of each column that n reflections are applied to. */
  readonly strip: number
}
/** Where T of the reflections from `first` on begins, and where V does. */
export const tAt = ({ t, wide }: Reflections, first: number): number => t + first * (wide + 1)
const vAt = ({ v, wide }: Reflections, first: number, row: number): number => v + row * wide + first

/** Columns of smaller numbers are enlarged by a power of two before they are divided by their length: in rank-deficient matrices what is left falls, column by column, to numbers with few digits. */
const FAINT = 2 ** -450
export const ENLARGED = 2 ** 700
export const isFaint = (size: number): boolean => size < FAINT
/** By what numbers of this size are enlarged. */
const enlargedBy = (a: Floats, size: number): number =>
  a instanceof Float32Array ? (size < 2 ** -50 ? 2 ** 100 : 1) : isFaint(size) ? ENLARGED : 1
/**
 * The reflection that makes the column of A from `from` on, `count` long, a multiple of the first unit vector: v is in its place (v_0 = 1
 * unwritten, the multiple in its stead), what is given back is tau of I - tau v v^T.
 */
export const reflect = (a: Floats, from: number, row: number, count: number): number => {
  let scale = 0
  for (let i = 1; i < count; i++) scale = Math.max(scale, Math.abs(a[from + i * row]!))
  if (scale === 0) return 0
  scale = Math.max(scale, Math.abs(a[from]!))
  const enlarged = enlargedBy(a, scale)
  if (enlarged !== 1) for (let i = 0; i < count; i++) a[from + i * row]! *= enlarged
  scale *= enlarged
  const x = a[from]!
  let squares = 0
  for (let i = 0; i < count; i++) {
    const share = a[from + i * row]! / scale
    squares += share * share
  }
  const length = (x > 0 ? -1 : 1) * scale * Math.sqrt(squares)
  for (let i = 1; i < count; i++) a[from + i * row]! /= x - length
  a[from] = length / enlarged
  return (length - x) / length
}

/** The vectors of n reflections from `first` on become columns of V, or the first rows of it: element i of number j is at from + i row + j column. */
export const unpack = (b: Reflections, first: number, n: number, from: number, row: number, column: number, rows = b.rows): void => {
  const { a } = b
  for (let i = 0; i < rows; i++) {
    const to = vAt(b, first, i)
    for (let j = 0; j < n; j++) {
      const own = first + j
      a[to + j] = i < own ? 0 : i === own ? 1 : a[from + i * row + own * column]!
    }
  }
}

/** B: [rows - first, columns] becomes (I - V T V^T) B, or (I - V T^T V^T) B, for n reflections from `first` on. */
export const applyTogether = (
  b: Reflections,
  first: number,
  n: number,
  bAt: number,
  bRow: number,
  columns: number,
  transposed: boolean,
): void => {
  if (columns <= 0) return
  const { a, loops, wide, strip } = b
  a.fill(0, strip, strip + n * columns)
  loops.subtract(a, strip, columns, a, vAt(b, first, first), 1, wide, a, bAt, bRow, 1, n, columns, b.rows - first)
  addTogether(b, first, n, bAt, bRow, columns, transposed)
}
/** B: [rows - first, columns] += V T X, or V T^T X, for X: [n, columns] in the strip. */
const addTogether = (b: Reflections, first: number, n: number, bAt: number, bRow: number, columns: number, transposed: boolean): void => {
  const {
    a,
    loops: { subtract },
    wide,
    strip,
  } = b
  const y = strip + n * columns
  a.fill(0, y, y + n * columns)
  subtract(a, y, columns, a, tAt(b, first), transposed ? 1 : wide, transposed ? wide : 1, a, strip, columns, 1, n, columns, n)
  subtract(a, bAt, bRow, a, vAt(b, first, first), wide, 1, a, y, columns, 1, b.rows - first, columns, n)
}
/** As `applyTogether`, for all n reflections and B = [I 0; 0 C], whose I has as many rows. */
export const extendTogether = (b: Reflections, n: number, bAt: number, bRow: number, columns: number): void => {
  const { a, loops, wide, rows, strip, v } = b
  a.fill(0, strip, strip + n * columns)
  for (let i = 0; i < n; i++) for (let j = i; j < n; j++) a[strip + i * columns + j] = -a[v + j * wide + i]!
  const below = v + n * wide
  loops.subtract(a, strip + n, columns, a, below, 1, wide, a, bAt + n * (bRow + 1), bRow, 1, n, columns - n, rows - n)
  addTogether(b, 0, n, bAt, bRow, columns, false)
}

/** T of head + tail reflections from those of both: beside them, where zeros are, stands -T1 (V1^T V2) T2. */
export const joinT = (b: Reflections, first: number, head: number, tail: number): void => {
  const {
    a,
    loops: { subtract },
    wide,
  } = b
  const next = first + head
  const [x, y, corner] = [b.strip, b.strip + head * tail, tAt(b, first) + head]
  a.fill(0, x, x + 2 * head * tail)
  subtract(a, x, tail, a, vAt(b, first, next), 1, wide, a, vAt(b, next, next), wide, 1, head, tail, b.rows - next)
  subtract(a, y, tail, a, tAt(b, first), wide, 1, a, x, tail, 1, head, tail, head)
  subtract(a, corner, wide, a, y, tail, 1, a, tAt(b, next), wide, 1, head, tail, tail)
}
