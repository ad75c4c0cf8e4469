/**
 * Symmetric matrices made tridiagonal in panels of columns: half of the work is products of matrices, half products with a vector.
 * Source  Dongarra, Hammarling and Sorensen 1989; LAPACK latrd.
 */
import { type Reduced, reflect } from './reflections.js'

/** Columns of a panel, after which what is left of the matrix is brought up to date. */
const PANEL = 16
/** Rows of what is left that are brought up to date together: what is left of them is not. */
const STRIP = 64

/** Numbers that it needs room for beside the matrix. */
export const tridiagonalRoom = (n: number): number => 4 * PANEL * n + 2 * n + 2 * PANEL

/** A symmetric matrix, all of it, with tau of each reflection. */
export interface Tridiagonal extends Reduced {
  readonly tau: Float64Array
}

/**
 * Rows `from` to `from + count` of the matrix, whose reflections v and w = A v - ... go to the panel in turns, row by row, as numbers 2 p
 * and 2 p + 1 of it: A - sum_p v w^T + w v^T is what A became. v of row j stays in the row, from j + 2 on.
 */
const panel = ({ a, at, n, room, subtract, d, e, tau }: Tridiagonal, from: number, count: number): void => {
  const [v, x, c] = [room, room + 4 * PANEL * n, room + 4 * PANEL * n + 2 * n]
  for (let p = 0; p < count; p++) {
    const j = from + p
    const own = at + j * n
    for (let q = 0; q < p; q++) {
      a[c + 2 * q] = a[v + (2 * q + 1) * n + j]!
      a[c + 2 * q + 1] = a[v + 2 * q * n + j]!
    }
    subtract(a, own + j, n, a, c, 2 * PANEL, 1, a, v + j, n, 1, 1, n - j, 2 * p)
    d[j] = a[own + j]!
    const next = j + 1
    const length = n - next
    const t = reflect(a, own + next, 1, length)
    tau[j] = t
    e[j] = a[own + next]!
    const row = v + 2 * p * n
    a.fill(0, row, row + 2 * n)
    if (t === 0) continue
    a[row + next] = 1
    a.copyWithin(row + next + 1, own + next + 1, own + n)
    // -w, before its own part is taken off.
    a.fill(0, x, x + length)
    subtract(a, x, 1, a, at + next * n + next, n, 1, a, row + next, 1, 1, length, 1, length)
    a.fill(0, c, c + 2 * p)
    subtract(a, c, 1, a, v + next, n, 1, a, row + next, 1, 1, 2 * p, 1, length)
    for (let q = 0; q < 2 * p; q += 2) {
      const one = a[c + q]!
      a[c + q] = a[c + q + 1]!
      a[c + q + 1] = one
    }
    subtract(a, x, length, a, c, 2 * PANEL, 1, a, v + next, n, 1, 1, length, 2 * p)
    let both = 0
    for (let i = 0; i < length; i++) both += a[x + i]! * a[row + next + i]!
    const half = (t * t * both) / 2
    const other = row + n + next
    for (let i = 0; i < length; i++) a[other + i] = half * a[row + next + i]! - t * a[x + i]!
  }
}

/** H^T A H is tridiagonal; the vector of reflection j is in row j of A, from its element j + 1 on, which stands for 1. */
export const tridiagonalise = (of: Tridiagonal): void => {
  const { a, at, n, room, subtract, d } = of
  const turned = room + 2 * PANEL * n
  for (let from = 0; from < n - 1; from += PANEL) {
    const count = Math.min(PANEL, n - 1 - from)
    panel(of, from, count)
    const next = from + count
    for (let p = 0; p < 2 * count; p++) {
      const row = room + (p ^ 1) * n
      a.copyWithin(turned + p * n + next, row + next, row + n)
    }
    for (let i = next; i < n; i += STRIP) {
      const rows = Math.min(STRIP, n - i)
      subtract(a, at + i * n + i, n, a, room + i, 1, n, a, turned + i, n, 1, rows, n - i, 2 * count)
      for (let k = i; k < i + rows; k++) for (let j = k + 1; j < n; j++) a[at + j * n + k] = a[at + k * n + j]!
    }
  }
  if (n > 0) d[n - 1] = a[at + n * n - 1]!
}
