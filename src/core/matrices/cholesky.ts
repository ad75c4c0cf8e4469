/**
 * Cholesky's factor of a symmetric matrix. Source  Golub and Van Loan 2013, 4.2; halved as LAPACK's potrf2. It is the upper factor that is
 * computed, whose rows lie in neighbours, and turned over in the end.
 */
import type { Eliminating } from './loops.js'
import { type Floats, halfOf, LEAF } from './product.js'
import { solveTriangular } from './triangular.js'

/** The upper triangle of A: [n, n] becomes U with A = U^T U; what is below the diagonal is not read and of no meaning afterwards. False where a pivot is not positive. */
const factor = (a: Floats, at: number, row: number, n: number, loops: Eliminating): boolean => {
  if (n <= LEAF) return loops.cholesky(a, at, row, n)
  const head = halfOf(n)
  const tail = n - head
  const right = at + head
  const corner = right + head * row
  if (!factor(a, at, row, head, loops)) return false
  solveTriangular({ data: a, at, row: 1, column: row, lower: true, unit: false }, 0, head, a, right, row, tail, loops)
  subtractSquare(a, corner, row, right, tail, head, loops)
  return factor(a, corner, row, tail, loops)
}

/** The upper triangle of C: [n, n] -= B^T B, for B: [k, n] in the same array: squares on the diagonal as a whole, what is left of them not at all. */
const subtractSquare = (a: Floats, cAt: number, row: number, bAt: number, n: number, k: number, loops: Eliminating): void => {
  if (n <= 4 * LEAF) {
    loops.subtract(a, cAt, row, a, bAt, 1, row, a, bAt, row, 1, n, n, k)
    return
  }
  const head = halfOf(n)
  const right = bAt + head
  subtractSquare(a, cAt, row, bAt, head, k, loops)
  loops.subtract(a, cAt + head, row, a, bAt, 1, row, a, right, row, 1, head, n - head, k)
  subtractSquare(a, cAt + head * (row + 1), row, right, n - head, k, loops)
}

/** The upper triangle of A: [n, n] goes below the diagonal, and zeros take its place. */
const turnOver = (a: Floats, at: number, n: number, loops: Eliminating): void => {
  for (let i = 0; i < n; i += LEAF) {
    const end = Math.min(n, i + LEAF)
    loops.turn(a, at + end * n + i, n, a, at + i * n + end, n, end - i, n - end)
    for (let j = i; j < end; j++) {
      for (let k = j + 1; k < end; k++) a[at + k * n + j] = a[at + j * n + k]!
      a.fill(0, at + j * n + j + 1, at + (j + 1) * n)
    }
  }
}

/** In the upper triangles of X and A: [n, n] the mean of both takes the place of X. Halves are added, so that large numbers do not overflow. */
export const meanOfTriangles = (x: Floats, xAt: number, a: Floats, aAt: number, n: number): void => {
  for (let i = 0; i < n; i++) {
    const [to, from, end] = [xAt + i * n, aAt + i * n, n]
    for (let j = i; j < end; j++) x[to + j] = 0.5 * x[to + j]! + 0.5 * a[from + j]!
  }
}
/** Rows of A that are turned together: what is above the diagonal in them is turned for nothing. */
const TURNED = 4 * LEAF
/** L with (A + A^T) / 2 = L L^T, with zeros above the diagonal; NaN everywhere where that is not positive definite, or holds NaN. */
export const cholesky = (a: Floats, l: Floats, at: number, n: number, loops: Eliminating): void => {
  for (let i = 0; i < n; i += TURNED) {
    const end = Math.min(n, i + TURNED)
    loops.turn(l, at + i, n, a, at + i * n, n, end - i, end)
  }
  meanOfTriangles(l, at, a, at, n)
  if (factor(l, at, n, n, loops)) turnOver(l, at, n, loops)
  else l.fill(Number.NaN, at, at + n * n)
}
