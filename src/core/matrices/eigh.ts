/**
 * Eigenvalues and eigenvectors of symmetric matrices: small ones in plain loops, larger ones by a reduction in panels, by dividing and
 * conquering, and by reflections applied together, which are mostly products of matrices.
 */
import { applyToRows, chainRoom } from './chain.js'
import { byHalves } from './eigh-halves.js'
import { diagonalise, tridiagonalise } from './eigh-plain.js'
import { columnsOf, largestOf, scaleOf, signsOf, sorted } from './gauge.js'
import type { Reflecting } from './loops.js'
import { equationRoom } from './merge.js'
import { type Floats, LEAF } from './product.js'
import { tridiagonalise as inPanels, tridiagonalRoom } from './tridiagonal.js'

/** Up to so many rows the plain loops are as fast. */
const FEW = 36

/** Numbers that it needs room for. */
export const eighRoom = (n: number): number => (n <= FEW ? n * n + 4 * n : blockedLayout(n).size)

/** Where the parts lie in the workspace: A with its reflections, vectors as rows, room for two matrices, one of which is Q later; then reflections. */
const blockedLayout = (n: number) => {
  const [w, room, panel] = [n * n, 2 * n * n, 4 * n * n]
  const d = panel + Math.max(tridiagonalRoom(n), equationRoom(n), chainRoom(n))
  return { w, room, panel, d, e: d + n, tau: d + 2 * n, size: d + 3 * n }
}
/** Eigenvalues go to d, and their vectors to the rows of V^T at 0. */
const plain = (work: Float64Array, n: number, d: number, loops: Reflecting): boolean => {
  tridiagonalise(work, n, d, d + n)
  return diagonalise(work, 0, n, n, d, d + n, d + 2 * n, loops)
}
/** By products of matrices: vectors are columns, at the layout's `room`. */
const blocked = (a: Float64Array, n: number, values: number, loops: Reflecting): boolean => {
  const { w, room, panel, d, e, tau } = blockedLayout(n)
  inPanels({ a, at: 0, n, d, e, tau, room: panel, loops })
  const [found, beside] = [a.slice(d, e), a.slice(e, tau)]
  if (!byHalves(a, n, w, room, found, beside, loops, panel)) return false
  const chain = { count: n - 1, from: 1, row: 1, column: n, tau }
  applyToRows(a, loops, chain, w, n, 1, room, panel)
  a.set(found, values)
  return true
}

/** The matrix at 0 whose lower triangle is that of A, and the upper one as well. */
const symmetric = (a: Floats, at: number, work: Float64Array, n: number, loops: Reflecting): void => {
  for (let i = 0; i < n; i++) {
    const row = at + i * n
    for (let j = 0; j <= i; j++) work[i * n + j] = a[row + j]!
  }
  for (let i = 0; i < n; i += LEAF) {
    const end = Math.min(n, i + LEAF)
    loops.turn(work, i * n + end, n, work, end * n + i, n, n - end, end - i)
    for (let j = i; j < end; j++) for (let k = j + 1; k < end; k++) work[j * n + k] = work[k * n + j]!
  }
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
  loops: Reflecting,
): void => {
  const few = n <= FEW
  symmetric(a, at, work, n, loops)
  const size = largestOf(work, 0, n * n)
  const scale = scaleOf(size)
  for (let i = 0; i < n * n; i++) work[i]! /= scale
  const d = n * n
  const found = !Number.isNaN(size) && (n === 0 || (few ? plain(work, n, d, loops) : blocked(work, n, d, loops)))
  if (!found) {
    w.fill(Number.NaN, wAt, wAt + n)
    vectors.fill(Number.NaN, at, at + n * n)
    return
  }
  const order = sorted(work, d, n)
  for (let k = 0; k < n; k++) w[wAt + k] = scale * work[d + order[k]!]!
  const own = few ? { at: 0, vector: n, element: 1 } : { at: blockedLayout(n).room, vector: 1, element: n }
  columnsOf(work, own, order, signsOf(work, own, n, n), vectors, at, n)
}
