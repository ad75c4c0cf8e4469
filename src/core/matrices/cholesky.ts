/** Cholesky's factor of a symmetric matrix, in place. Source  Golub and Van Loan 2013, 4.2; halved as LAPACK's potrf2. */
import { type Floats, halfOf, LEAF, type SubtractProduct } from './product.js'
import { solveFromRight } from './triangular.js'

/** The lower triangle of A: [n, n] becomes L with A = L L^T; what is above the diagonal is not read and of no meaning afterwards. False where a pivot is not positive. */
const factor = (a: Floats, at: number, row: number, n: number, subtract: SubtractProduct): boolean => {
  if (n > LEAF) {
    const head = halfOf(n)
    const tail = n - head
    const below = at + head * row
    if (!factor(a, at, row, head, subtract)) return false
    solveFromRight(a, at, row, head, a, below, row, tail, subtract)
    subtractSquare(a, below + head, row, a, below, row, tail, head, subtract)
    return factor(a, below + head, row, tail, subtract)
  }
  for (let i = 0; i < n; i++) {
    const x = at + i * row
    for (let j = 0; j <= i; j++) {
      const y = at + j * row
      let s = a[x + j]!
      for (let k = 0; k < j; k++) s -= a[x + k]! * a[y + k]!
      if (j < i) a[x + j] = s / a[y + j]!
      else if (!(s > 0 && s < Number.POSITIVE_INFINITY)) return false
      else a[x + j] = Math.sqrt(s)
    }
  }
  return true
}

/** The lower triangle of C: [n, n] -= B B^T, for B: [n, k]: squares on the diagonal as a whole, what is right of them not at all. */
const subtractSquare = (
  c: Floats,
  cAt: number,
  cRow: number,
  b: Floats,
  bAt: number,
  bRow: number,
  n: number,
  k: number,
  subtract: SubtractProduct,
): void => {
  if (n <= 4 * LEAF) {
    subtract(c, cAt, cRow, b, bAt, bRow, 1, b, bAt, 1, bRow, n, n, k)
    return
  }
  const head = halfOf(n)
  const below = bAt + head * bRow
  subtractSquare(c, cAt, cRow, b, bAt, bRow, head, k, subtract)
  subtract(c, cAt + head * cRow, cRow, b, below, bRow, 1, b, bAt, 1, bRow, n - head, head, k)
  subtractSquare(c, cAt + head * (cRow + 1), cRow, b, below, bRow, n - head, k, subtract)
}

/** L of A's lower triangle, with zeros above the diagonal; NaN everywhere where A is not positive definite, or holds NaN. */
export const cholesky = (a: Floats, l: Floats, at: number, n: number, subtract: SubtractProduct): void => {
  const size = n * n
  for (let i = 0; i < size; i++) l[at + i] = a[at + i]!
  if (!factor(l, at, n, n, subtract)) {
    l.fill(Number.NaN, at, at + size)
    return
  }
  for (let i = 0; i < n; i++) l.fill(0, at + i * n + i + 1, at + (i + 1) * n)
}
