/** P A = L U by elimination with partial pivoting, in place. Source  Toledo 1997: columns halved, so that most of the work is products. */
import { type Floats, halfOf, LEAF, type SubtractProduct } from './product.js'
import { solveTriangular } from './triangular.js'

const swapRows = (a: Floats, at: number, row: number, i: number, j: number, columns: number): void => {
  if (i === j) return
  const [x, y] = [at + i * row, at + j * row]
  for (let k = 0; k < columns; k++) {
    const kept = a[x + k]!
    a[x + k] = a[y + k]!
    a[y + k] = kept
  }
}

/** Columns `first` to `first + n` of A: [m, ...], from row `first` on. The pivots say which row was swapped with each, among all. */
const factor = (
  a: Floats,
  at: number,
  row: number,
  m: number,
  first: number,
  n: number,
  pivots: Int32Array,
  pAt: number,
  subtract: SubtractProduct,
): void => {
  if (n > LEAF && m - first > LEAF) {
    const head = Math.min(halfOf(n), m - first)
    const tail = n - head
    factor(a, at, row, m, first, head, pivots, pAt, subtract)
    const next = first + head
    for (let i = first; i < next; i++) swapRows(a, at + next, row, i, pivots[pAt + i]!, tail)
    const right = at + first * row + next
    const below = at + next * row
    solveTriangular({ data: a, at, row, column: 1, lower: true, unit: true }, first, head, a, right, row, tail, subtract)
    subtract(a, below + next, row, a, below + first, row, 1, a, right, row, 1, m - next, tail, head)
    const rows = Math.min(tail, m - next)
    factor(a, at, row, m, next, tail, pivots, pAt, subtract)
    for (let i = next; i < next + rows; i++) swapRows(a, at + first, row, i, pivots[pAt + i]!, head)
    return
  }
  const steps = Math.min(n, m - first)
  for (let s = 0; s < steps; s++) {
    const column = first + s
    const pivot = largest(a, at + column, row, column, m)
    pivots[pAt + column] = pivot
    swapRows(a, at + first, row, column, pivot, n)
    const from = at + column * row + column
    const d = a[from]!
    const width = first + n - column
    for (let i = column + 1; i < m; i++) {
      const to = at + i * row + column
      // A column of zeros needs no elimination, and its pivot has no reciprocal.
      const x = d === 0 ? a[to]! : a[to]! / d
      a[to] = x
      if (x !== 0) for (let j = 1; j < width; j++) a[to + j]! -= x * a[from + j]!
    }
  }
}
/** The row of the element of a column that is largest in size, the first of equals; of a NaN where there is one, so that it is in the result. */
const largest = (a: Floats, at: number, row: number, from: number, m: number): number => {
  let found = from
  let most = -1
  for (let i = from; i < m; i++) {
    const x = Math.abs(a[at + i * row]!)
    if (x > most) {
      most = x
      found = i
    } else if (Number.isNaN(x)) return i
  }
  return found
}

/**
 * Of A: [m, n]: L below the diagonal and U on and above it, in one matrix; which row was swapped with each of the first min(m, n); and the
 * rows of A in their new order.
 */
export const lu = (
  a: Floats,
  packed: Floats,
  pivots: Int32Array,
  order: Int32Array,
  matrix: number,
  m: number,
  n: number,
  subtract: SubtractProduct,
): void => {
  const [at, steps] = [matrix * m * n, Math.min(m, n)]
  const [pAt, oAt] = [matrix * steps, matrix * m]
  for (let i = 0; i < m * n; i++) packed[at + i] = a[at + i]!
  factor(packed, at, n, m, 0, n, pivots, pAt, subtract)
  for (let i = 0; i < m; i++) order[oAt + i] = i
  for (let i = 0; i < steps; i++) {
    const j = pivots[pAt + i]!
    const kept = order[oAt + i]!
    order[oAt + i] = order[oAt + j]!
    order[oAt + j] = kept
  }
}
