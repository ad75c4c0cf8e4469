/**
 * Symmetric matrices made tridiagonal in panels of columns: half of the work is products of matrices, half products with a vector.
 * Source  Dongarra, Hammarling and Sorensen 1989; LAPACK latrd.
 */
import type { Reflecting } from './loops.js'
import { type Floats, subtractProduct } from './product.js'
import { reflect } from './reflections.js'

/** Columns of a panel, after which what is left of the matrix is brought up to date. */
const PANEL = 16
/** Rows of what is left that are brought up to date together: what these have below the diagonal is computed for nothing. */
const STRIP = 32

/** Numbers that it needs room for beside the matrix. */
export const tridiagonalRoom = (n: number): number => 4 * PANEL * n + 2 * PANEL

/** A symmetric matrix: [n, n], whose upper triangle is read; where its new diagonal goes, what is beside that, and tau of each reflection; room. */
export interface Tridiagonal {
  readonly a: Floats
  readonly at: number
  readonly n: number
  readonly d: number
  readonly e: number
  readonly tau: number
  readonly room: number
  readonly loops: Reflecting
}

/** y -= A x for a symmetric matrix, whose upper triangle is read. */
const symmetric = (a: Floats, at: number, row: number, n: number, x: number, y: number): void => {
  for (let i = 0; i < n; i++) {
    const from = at + i * row
    const own = a[x + i]!
    let s = a[from + i]! * own
    for (let j = i + 1; j < n; j++) {
      const value = a[from + j]!
      s += value * a[x + j]!
      a[y + j]! -= value * own
    }
    a[y + i]! -= s
  }
}
/** Pairs of numbers, `count` of these, change places. */
const exchange = (a: Floats, at: number, count: number): void => {
  for (let q = at; q < at + 2 * count; q += 2) {
    const kept = a[q]!
    a[q] = a[q + 1]!
    a[q + 1] = kept
  }
}
/**
 * `count` rows of the matrix: [n, n], whose reflections v and w = A v - ... go to the panel in turns, row by row, as numbers 2 p
 * and 2 p + 1 of it: A - sum_p v w^T + w v^T is what A became. v of row j stays in the row, from j + 2 on. At c is room for 2 `count` numbers.
 */
export const tridiagonalPanel: NonNullable<Reflecting['tridiagonal']> = (a, at, row, n, count, v, vRow, d, e, tau, c) => {
  for (let p = 0; p < count; p++) {
    const [own, next] = [at + p * row, p + 1]
    const length = n - next
    for (let q = 0; q < 2 * p; q++) a[c + q] = a[v + q * vRow + p]!
    exchange(a, c, p)
    subtractProduct(a, own + p, row, a, c, 2 * p, 1, a, v + p, vRow, 1, 1, n - p, 2 * p)
    a[d + p] = a[own + p]!
    const t = reflect(a, own + next, 1, length)
    a[tau + p] = t
    a[e + p] = a[own + next]!
    const [x, w] = [v + 2 * p * vRow + next, v + (2 * p + 1) * vRow + next]
    a.fill(0, x, x + length)
    a.fill(0, w, w + length)
    if (t === 0) continue
    a.copyWithin(x, own + next, own + n)
    a[x] = 1
    // -w, before its own part is taken off.
    symmetric(a, at + next * (row + 1), row, length, x, w)
    a.fill(0, c, c + 2 * p)
    subtractProduct(a, c, 1, a, v + next, vRow, 1, a, x, 1, 1, 2 * p, 1, length)
    exchange(a, c, p)
    subtractProduct(a, w, length, a, c, 2 * p, 1, a, v + next, vRow, 1, 1, length, 2 * p)
    let both = 0
    for (let i = 0; i < length; i++) both += a[w + i]! * a[x + i]!
    const half = (t * t * both) / 2
    for (let i = 0; i < length; i++) a[w + i] = half * a[x + i]! - t * a[w + i]!
  }
}

/** H^T A H is tridiagonal; the vector of reflection j is in row j of A, from its element j + 1 on, which stands for 1. */
export const tridiagonalise = ({ a, at, n, d, e, tau, room, loops }: Tridiagonal): void => {
  const { subtract, tridiagonal = tridiagonalPanel } = loops
  const [turned, c] = [room + 2 * PANEL * n, room + 4 * PANEL * n]
  for (let from = 0; from < n - 1; from += PANEL) {
    const count = Math.min(PANEL, n - 1 - from)
    tridiagonal(a, at + from * (n + 1), n, n - from, count, room + from, n, d + from, e + from, tau + from, c)
    const next = from + count
    for (let p = 0; p < 2 * count; p++) {
      const row = room + (p ^ 1) * n
      a.copyWithin(turned + p * n + next, row + next, row + n)
    }
    for (let i = next; i < n; i += STRIP) {
      const rows = Math.min(STRIP, n - i)
      subtract(a, at + i * n + i, n, a, room + i, 1, n, a, turned + i, n, 1, rows, n - i, 2 * count)
    }
  }
  if (n > 0) a[d + n - 1] = a[at + n * n - 1]!
}
