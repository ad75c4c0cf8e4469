/** Systems with a triangular matrix, solved in place. */
import { type Floats, halfOf, LEAF, type SubtractProduct } from './product.js'

/** A triangular matrix: an array, where its first element lies, the distances of rows and columns; what it reads, and that its diagonal is 1. */
export interface Triangle {
  readonly data: Floats
  readonly at: number
  readonly row: number
  readonly column: number
  readonly lower: boolean
  readonly unit: boolean
}

/** Row by row: each is freed of those that are known, then divided. A zero on the diagonal gives infinities and NaN. */
const solveRows = (t: Triangle, first: number, n: number, b: Floats, bAt: number, bRow: number, columns: number): void => {
  const { data, row, column, lower, unit } = t
  const at = t.at + first * (row + column)
  for (let step = 0; step < n; step++) {
    const i = lower ? step : n - 1 - step
    const to = bAt + i * bRow
    const [from, end] = lower ? [0, i] : [i + 1, n]
    if (columns === 1) {
      let s = b[to]!
      for (let k = from; k < end; k++) s -= data[at + i * row + k * column]! * b[bAt + k * bRow]!
      b[to] = unit ? s : s / data[at + i * (row + column)]!
      continue
    }
    for (let k = from; k < end; k++) {
      const x = data[at + i * row + k * column]!
      const known = bAt + k * bRow
      for (let j = 0; j < columns; j++) b[to + j]! -= x * b[known + j]!
    }
    if (unit) continue
    const d = data[at + i * (row + column)]!
    for (let j = 0; j < columns; j++) b[to + j]! /= d
  }
}

/** With so many columns, products pay for half a leaf. */
const MANY = 64
/** B: [n, columns], with unit column stride, becomes T^-1 B, for the rows and columns of T from `first` on. */
export const solveTriangular = (
  t: Triangle,
  first: number,
  n: number,
  b: Floats,
  bAt: number,
  bRow: number,
  columns: number,
  subtract: SubtractProduct,
): void => {
  if (n <= (columns < MANY ? LEAF : LEAF / 2) || columns < 4) {
    solveRows(t, first, n, b, bAt, bRow, columns)
    return
  }
  const { data, row, column, lower } = t
  const head = halfOf(n)
  const tail = n - head
  const below = bAt + head * bRow
  const corner = t.at + first * (row + column)
  if (lower) {
    solveTriangular(t, first, head, b, bAt, bRow, columns, subtract)
    subtract(b, below, bRow, data, corner + head * row, row, column, b, bAt, bRow, 1, tail, columns, head)
    solveTriangular(t, first + head, tail, b, below, bRow, columns, subtract)
  } else {
    solveTriangular(t, first + head, tail, b, below, bRow, columns, subtract)
    subtract(b, bAt, bRow, data, corner + head * column, row, column, b, below, bRow, 1, head, columns, tail)
    solveTriangular(t, first, head, b, bAt, bRow, columns, subtract)
  }
}

/** B: [rows, n] becomes B L^-T, for L: [n, n], lower triangular with unit column stride. */
export const solveFromRight = (
  l: Floats,
  lAt: number,
  lRow: number,
  n: number,
  b: Floats,
  bAt: number,
  bRow: number,
  rows: number,
  subtract: SubtractProduct,
): void => {
  if (n > LEAF) {
    const head = halfOf(n)
    solveFromRight(l, lAt, lRow, head, b, bAt, bRow, rows, subtract)
    subtract(b, bAt + head, bRow, b, bAt, bRow, 1, l, lAt + head * lRow, 1, lRow, rows, n - head, head)
    solveFromRight(l, lAt + head * (lRow + 1), lRow, n - head, b, bAt + head, bRow, rows, subtract)
    return
  }
  for (let i = 0; i < rows; i++) {
    const x = bAt + i * bRow
    for (let j = 0; j < n; j++) {
      const y = lAt + j * lRow
      let s = b[x + j]!
      for (let k = 0; k < j; k++) s -= b[x + k]! * l[y + k]!
      b[x + j] = s / l[y + j]!
    }
  }
}
