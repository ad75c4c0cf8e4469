/** Systems with a triangular matrix, solved in place. */
import type { Eliminating } from './loops.js'
import { type Floats, halfOf } from './product.js'

/** A triangular matrix: an array, where its first element lies, the distances of rows and columns; what it reads, and that its diagonal is 1. */
export interface Triangle {
  readonly data: Floats
  readonly at: number
  readonly row: number
  readonly column: number
  readonly lower: boolean
  readonly unit: boolean
}

/** B: [n, columns], with unit column stride, becomes T^-1 B, for the rows and columns of T from `first` on. */
export const solveTriangular = (
  t: Triangle,
  first: number,
  n: number,
  b: Floats,
  bAt: number,
  bRow: number,
  columns: number,
  loops: Eliminating,
): void => {
  const { data, row, column, lower, unit } = t
  const corner = t.at + first * (row + column)
  if (n <= loops.leaf) {
    if (lower) loops.solve(data, corner, row, column, unit, b, bAt, bRow, n, columns)
    else loops.solve(data, corner + (n - 1) * (row + column), -row, -column, unit, b, bAt + (n - 1) * bRow, -bRow, n, columns)
    return
  }
  const head = halfOf(n)
  const tail = n - head
  const below = bAt + head * bRow
  if (lower) {
    solveTriangular(t, first, head, b, bAt, bRow, columns, loops)
    loops.subtract(b, below, bRow, data, corner + head * row, row, column, b, bAt, bRow, 1, tail, columns, head)
    solveTriangular(t, first + head, tail, b, below, bRow, columns, loops)
  } else {
    solveTriangular(t, first + head, tail, b, below, bRow, columns, loops)
    loops.subtract(b, bAt, bRow, data, corner + head * column, row, column, b, below, bRow, 1, head, columns, tail)
    solveTriangular(t, first, head, b, bAt, bRow, columns, loops)
  }
}
