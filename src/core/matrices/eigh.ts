/**
 * Eigenvalues and eigenvectors of symmetric matrices: small ones in plain loops, larger ones by a reduction in panels, by dividing and
 * conquering, and by reflections applied together, which are mostly products of matrices.
 */
import { byHalves } from './eigh-halves.js'
import { diagonalise, tridiagonalise } from './eigh-plain.js'
import { flips, largestOf, scaleOf, sorted } from './gauge.js'
import type { Floats, SubtractProduct } from './product.js'
import { applyToRows, BLOCK } from './reflections.js'
import { tridiagonalise as inPanels, tridiagonalRoom } from './tridiagonal.js'

/** Up to so many rows the plain loops are as fast. */
const FEW = 48

/** Numbers that it needs room for. */
export const eighRoom = (n: number): number => (n <= FEW ? n * n + 3 * n : blockedLayout(n).size)

/** Where the parts lie in the workspace: A with its reflections, vectors as rows, room for two matrices, one of which is Q later; then reflections. */
const blockedLayout = (n: number) => {
  const [w, room, panel] = [n * n, 2 * n * n, 4 * n * n]
  const wide = Math.min(BLOCK, n)
  const [v, t, strip] = [panel, panel + n * wide, panel + (n + wide) * wide]
  return { w, room, panel, wide, v, t, strip, size: panel + Math.max(tridiagonalRoom(n), (3 * n + wide) * wide) }
}
/** Eigenvalues go to d, and their vectors to the rows of V^T at 0. */
const plain = (work: Float64Array, n: number, d: number): boolean => {
  tridiagonalise(work, n, d, d + n)
  return diagonalise(work, n, d, d + n)
}
/** By products of matrices. */
const blocked = (a: Float64Array, n: number, values: number, subtract: SubtractProduct): boolean => {
  const { w, room, panel, wide, v, t, strip } = blockedLayout(n)
  const [d, e, tau] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)]
  inPanels({ a, at: 0, n, room: panel, subtract, d, e, tau })
  if (!byHalves(a, n, w, room, d, e, subtract)) return false
  const chain = { count: n - 1, from: 1, row: 1, column: n, tau }
  applyToRows({ a, subtract, rows: n - 1, wide, v, t, strip }, chain, w, n, 1, room)
  a.copyWithin(0, w, w + n * n)
  a.set(d, values)
  return true
}

/**
 * Of the symmetric matrix whose lower triangle is A's: eigenvalues in ascending order and eigenvectors as columns, of length 1, the largest
 * component of each positive. NaN everywhere where A holds something that is not finite.
 */
export const eigh = (
  a: Floats,
  at: number,
  w: Floats,
  wAt: number,
  vectors: Floats,
  n: number,
  work: Float64Array,
  subtract: SubtractProduct,
): void => {
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) work[i * n + j] = work[j * n + i] = a[at + i * n + j]!
  const size = largestOf(work, 0, n * n)
  const scale = scaleOf(size)
  for (let i = 0; i < n * n; i++) work[i]! /= scale
  const [d, order] = [n * n, n * n + 2 * n]
  const found = !Number.isNaN(size) && (n === 0 || (n <= FEW ? plain(work, n, d) : blocked(work, n, d, subtract)))
  if (!found) {
    w.fill(Number.NaN, wAt, wAt + n)
    vectors.fill(Number.NaN, at, at + n * n)
    return
  }
  sorted(work, d, order, n)
  for (let k = 0; k < n; k++) {
    const i = work[order + k]!
    const sign = flips(work, i * n, n) ? -1 : 1
    w[wAt + k] = scale * work[d + i]!
    for (let j = 0; j < n; j++) vectors[at + j * n + k] = sign * work[i * n + j]!
  }
}
