/** P A = L U by elimination with partial pivoting, in place. Source  Toledo 1997: columns halved, so that most of the work is products. */
import type { Eliminating } from './loops.js'
import { type Floats, halfOf, LEAF } from './product.js'
import { solveTriangular } from './triangular.js'

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
  loops: Eliminating,
): void => {
  if (m <= first) return
  if (n > LEAF) {
    const head = Math.min(halfOf(n), m - first)
    const tail = n - head
    factor(a, at, row, m, first, head, pivots, pAt, loops)
    const next = first + head
    loops.swap(a, at + next, row, tail, pivots, pAt, first, head)
    const right = at + first * row + next
    const below = at + next * row
    solveTriangular({ data: a, at, row, column: 1, lower: true, unit: true }, first, head, a, right, row, tail, loops)
    loops.subtract(a, below + next, row, a, below + first, row, 1, a, right, row, 1, m - next, tail, head)
    const rows = Math.min(tail, m - next)
    factor(a, at, row, m, next, tail, pivots, pAt, loops)
    loops.swap(a, at + first, row, head, pivots, pAt, next, rows)
    return
  }
  loops.lu(a, at + first * (row + 1), row, m - first, n, first, pivots, pAt + first)
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
  loops: Eliminating,
): void => {
  const [at, steps] = [matrix * m * n, Math.min(m, n)]
  const [pAt, oAt] = [matrix * steps, matrix * m]
  packed.set(a.subarray(at, at + m * n), at)
  factor(packed, at, n, m, 0, n, pivots, pAt, loops)
  for (let i = 0; i < m; i++) order[oAt + i] = i
  for (let i = 0; i < steps; i++) {
    const j = pivots[pAt + i]!
    const kept = order[oAt + i]!
    order[oAt + i] = order[oAt + j]!
    order[oAt + j] = kept
  }
}
