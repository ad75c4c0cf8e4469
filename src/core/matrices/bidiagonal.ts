/**
 * Square matrices made bidiagonal in panels of columns and rows: half of the work is products of matrices, half products with a vector.
 * Source  Dongarra, Hammarling and Sorensen 1989; LAPACK labrd.
 */
import { type Reduced, reflect } from './reflections.js'

/** Columns of a panel, after which what is left of the matrix is brought up to date. */
const PANEL = 16

/** Numbers that it needs room for beside the matrix. */
export const bidiagonalRoom = (n: number): number => 4 * PANEL * n + n + 2 * PANEL

/** With tau of the reflections of columns and of rows. */
export interface Bidiagonal extends Reduced {
  readonly tauLeft: Float64Array
  readonly tauRight: Float64Array
}

/**
 * `count` columns and rows from `from` on. What A became is A - L^T R: rows 2 p and 2 p + 1 of L are v and x, of R y and u, for v of the
 * reflection of a column, u of that of a row, y = A^T v - ..., x = A u - .... v stays in the column, u in the row.
 */
const panel = ({ a, at, n, room, subtract, d, e, tauLeft, tauRight }: Bidiagonal, from: number, count: number): void => {
  const [left, right, x, c] = [room, room + 2 * PANEL * n, room + 4 * PANEL * n, room + 4 * PANEL * n + n]
  /** `to` += (rows of `of` times the vector at `v`), rows of `other`, for `rows` of them: what A lacks, of -A v. */
  const others = (to: number, length: number, rows: number, of: number, other: number, v: number, size: number): void => {
    a.fill(0, c, c + rows)
    subtract(a, c, 1, a, of, n, 1, a, v, 1, 1, rows, 1, size)
    subtract(a, to, length, a, c, rows, 1, a, other, n, 1, 1, length, rows)
  }
  for (let p = 0; p < count; p++) {
    const j = from + p
    const next = j + 1
    const [own, size] = [at + j * n, n - next]
    const [v, y] = [left + 2 * p * n, right + 2 * p * n]
    for (let i = j; i < n; i++) a[v + i] = a[at + i * n + j]!
    for (let q = 0; q < 2 * p; q++) a[c + q] = a[right + q * n + j]!
    subtract(a, v + j, n, a, c, 2 * PANEL, 1, a, left + j, n, 1, 1, n - j, 2 * p)
    const t = reflect(a, v + j, 1, n - j)
    tauLeft[j] = t
    d[j] = a[v + j]!
    a[v + j] = 1
    for (let i = next; i < n; i++) a[at + i * n + j] = a[v + i]!
    if (size === 0) return
    a.fill(0, x, x + size)
    subtract(a, x, n, a, v + j, n, 1, a, own + next, n, 1, 1, size, n - j)
    others(x, size, 2 * p, left + j, right + next, v + j, n - j)
    for (let i = 0; i < size; i++) a[y + next + i] = -t * a[x + i]!
    for (let q = 0; q <= 2 * p; q++) a[c + q] = a[left + q * n + j]!
    subtract(a, own + next, n, a, c, 2 * PANEL, 1, a, right + next, n, 1, 1, size, 2 * p + 1)
    const s = reflect(a, own + next, 1, size)
    tauRight[j] = s
    e[j] = a[own + next]!
    const u = y + n + next
    a[u] = 1
    a.copyWithin(u + 1, own + next + 1, own + n)
    a.fill(0, x, x + size)
    subtract(a, x, 1, a, own + n + next, n, 1, a, u, 1, 1, size, 1, size)
    others(x, size, 2 * p + 1, right + next, left + next, u, size)
    for (let i = 0; i < size; i++) a[v + n + next + i] = -s * a[x + i]!
  }
}

/**
 * H^T A G is bidiagonal: the vector of reflection j of H is in column j of A, from its element j on, that of G in row j, from element
 * j + 1 on; the first element stands for 1.
 */
export const bidiagonalise = (of: Bidiagonal): void => {
  const { a, at, n, room, subtract } = of
  for (let from = 0; from < n; from += PANEL) {
    const count = Math.min(PANEL, n - from)
    panel(of, from, count)
    const next = from + count
    subtract(a, at + next * (n + 1), n, a, room + next, 1, n, a, room + 2 * PANEL * n + next, n, 1, n - next, n - next, 2 * count)
  }
}
