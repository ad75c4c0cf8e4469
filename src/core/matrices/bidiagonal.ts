/**
 * Square matrices made bidiagonal in panels of columns and rows: half of the work is products of matrices, half products with a vector.
 * Source  Dongarra, Hammarling and Sorensen 1989; LAPACK labrd.
 */
import type { Reflecting } from './loops.js'
import { type Floats, subtractProduct } from './product.js'
import { reflect } from './reflections.js'

/** Columns of a panel, after which what is left of the matrix is brought up to date. */
const PANEL = 16

/** Numbers that it needs room for beside the matrix. */
export const bidiagonalRoom = (n: number): number => 4 * PANEL * n + 2 * PANEL

/** A square matrix: [n, n]; where its new diagonal goes, what is beside that, and tau of the reflections of columns and of rows; room. */
export interface Bidiagonal {
  readonly a: Floats
  readonly at: number
  readonly n: number
  readonly d: number
  readonly e: number
  readonly tauLeft: number
  readonly tauRight: number
  readonly room: number
  readonly loops: Reflecting
}

/**
 * `count` columns and rows of the matrix: [n, n]. What A became is A - L^T R: rows 2 p and 2 p + 1 of L are v and x, of R y and u, for v of the
 * reflection of a column, u of that of a row, y = A^T v - ..., x = A u - .... v stays in the column, u in the row. At c is room for 2 `count` numbers.
 */
export const bidiagonalPanel: NonNullable<Reflecting['bidiagonal']> = (
  a,
  at,
  row,
  n,
  count,
  left,
  right,
  pRow,
  d,
  e,
  tauLeft,
  tauRight,
  c,
) => {
  /** `to` += (rows of `of` times the vector at `v`), rows of `other`, for `rows` of them: what A lacks, of -A v. */
  const others = (to: number, length: number, rows: number, of: number, other: number, v: number, size: number): void => {
    a.fill(0, c, c + rows)
    subtractProduct(a, c, 1, a, of, pRow, 1, a, v, 1, 1, rows, 1, size)
    subtractProduct(a, to, length, a, c, rows, 1, a, other, pRow, 1, 1, length, rows)
  }
  for (let p = 0; p < count; p++) {
    const next = p + 1
    const [own, size] = [at + p * row, n - next]
    const [v, y] = [left + 2 * p * pRow, right + 2 * p * pRow]
    for (let i = p; i < n; i++) a[v + i] = a[at + i * row + p]!
    for (let q = 0; q < 2 * p; q++) a[c + q] = a[right + q * pRow + p]!
    subtractProduct(a, v + p, pRow, a, c, 2 * p, 1, a, left + p, pRow, 1, 1, n - p, 2 * p)
    const t = reflect(a, v + p, 1, n - p)
    a[tauLeft + p] = t
    a[d + p] = a[v + p]!
    a[v + p] = 1
    for (let i = next; i < n; i++) a[at + i * row + p] = a[v + i]!
    if (size === 0) return
    a.fill(0, y + next, y + n)
    subtractProduct(a, y + next, pRow, a, v + p, n, 1, a, own + next, row, 1, 1, size, n - p)
    others(y + next, size, 2 * p, left + p, right + next, v + p, n - p)
    for (let i = next; i < n; i++) a[y + i]! *= -t
    for (let q = 0; q <= 2 * p; q++) a[c + q] = a[left + q * pRow + p]!
    subtractProduct(a, own + next, row, a, c, 2 * p + 1, 1, a, right + next, pRow, 1, 1, size, 2 * p + 1)
    const s = reflect(a, own + next, 1, size)
    a[tauRight + p] = s
    a[e + p] = a[own + next]!
    const [x, u] = [v + pRow + next, y + pRow + next]
    a.copyWithin(u, own + next, own + n)
    a[u] = 1
    a.fill(0, x, x + size)
    subtractProduct(a, x, 1, a, own + row + next, row, 1, a, u, 1, 1, size, 1, size)
    others(x, size, 2 * p + 1, right + next, left + next, u, size)
    for (let i = 0; i < size; i++) a[x + i]! *= -s
  }
}

/**
 * H^T A G is bidiagonal: the vector of reflection j of H is in column j of A, from its element j on, that of G in row j, from element
 * j + 1 on; the first element stands for 1.
 */
export const bidiagonalise = ({ a, at, n, d, e, tauLeft, tauRight, room, loops }: Bidiagonal): void => {
  const { subtract, bidiagonal = bidiagonalPanel } = loops
  const [right, c] = [room + 2 * PANEL * n, room + 4 * PANEL * n]
  for (let from = 0; from < n; from += PANEL) {
    const count = Math.min(PANEL, n - from)
    const [l, r] = [room + from, right + from]
    bidiagonal(a, at + from * (n + 1), n, n - from, count, l, r, n, d + from, e + from, tauLeft + from, tauRight + from, c)
    const next = from + count
    subtract(a, at + next * (n + 1), n, a, room + next, 1, n, a, right + next, n, 1, n - next, n - next, 2 * count)
  }
}
