/**
 * Eigenvalues and eigenvectors of symmetric matrices: small ones in plain loops, larger ones by a reduction in panels, by dividing and
 * conquering, and by reflections applied together, which are mostly products of matrices.
 */
import { applyToRows, chainRoom } from './chain.js'
import { byHalves } from './eigh-halves.js'
import { diagonalise, tridiagonalise } from './eigh-plain.js'
import { columnsOf, copyScaled, decidingOf, largestOf, scaleOf, signedOf, signsOf, sorted } from './gauge.js'
import { type Reflecting, type Space, spaceOf } from './loops.js'
import { equationRoom } from './merge.js'
import { type Floats, LEAF } from './product.js'
import { tridiagonalise as inPanels, tridiagonalRoom } from './tridiagonal.js'

/** Up to so many rows the plain loops are as fast. */
const FEW = 36

/** Whether matrices of so many rows are large enough for f32, where that is what is asked for. */
export const eighIsLarge = (n: number): boolean => n > FEW
/** Numbers that it needs room for. */
export const eighRoom = (n: number): number => (eighIsLarge(n) ? blockedLayout(n).size : n * n + 4 * n)

/**
 * Where the parts lie in the workspace: A with its reflections, vectors as rows, room for two matrices, one of which is Q later; then reflections; and among
 * its numbers, of which one f64 makes `per`, the diagonal, what is beside it, and tau.
 */
const blockedLayout = (n: number, per: 1 | 2 = 1) => {
  const [w, room, panel] = [n * n, 2 * n * n, 4 * n * n]
  const end = panel + Math.max(tridiagonalRoom(n), equationRoom(n), chainRoom(n))
  const d = per * end
  return { w, room, panel, d, e: d + n, tau: d + 2 * n, size: end + 3 * n }
}
/** What puts eigenvectors into the columns of a matrix, with signs of their own; and the order of eigenvalues, unless they are in it. */
interface Found {
  readonly order?: Int32Array
  readonly put: (vectors: Floats, at: number) => void
}
/** Eigenvalues go to d. */
const plain = (work: Float64Array, n: number, d: number, loops: Reflecting): Found | undefined => {
  tridiagonalise(work, n, d, d + n)
  if (!diagonalise(work, 0, n, n, d, d + n, d + 2 * n, loops)) return undefined
  const order = sorted(work, d, n)
  const own = { at: 0, vector: n, element: 1 }
  return { order, put: (vectors, at) => columnsOf(work, own, order, signsOf(work, own, n, n), vectors, at, n) }
}
/** By products of matrices. */
const blocked = (work: Float64Array, space: Space, n: number, values: number, loops: Reflecting): Found | undefined => {
  const { x, per, by } = space
  const { w, room, panel, d, e, tau } = blockedLayout(n, per)
  inPanels({ a: x, at: 0, n, d, e, tau, room: per * panel, loops: by })
  const [found, beside] = [Float64Array.from(x.subarray(d, e)), Float64Array.from(x.subarray(e, tau))]
  if (!byHalves(work, n, w, room, found, beside, loops, panel)) return undefined
  const order = sorted(found, 0, n)
  const [chain, to, signs] = [{ count: n - 1, from: 1, row: 1, column: n, tau }, per * room, per * panel]
  applyToRows(work, space, chain, w, order, 1, to, per * (room + n * n), per * panel)
  for (let k = 0; k < n; k++) work[values + k] = found[order[k]!]!
  const { deciding = decidingOf, signed = signedOf } = by
  const put: Found['put'] = (vectors, at) => {
    deciding(x, to, n, n, n, signs)
    signed(vectors, at, x, to, n, n, n, signs)
  }
  return { put }
}

/** The largest size of what the lower triangle of A holds; NaN where something in there is not finite. */
const largestBelow = (a: Floats, at: number, n: number): number => {
  let most = 0
  for (let i = 0; i < n; i++) most = Math.max(most, largestOf(a, at + i * n, i + 1))
  return most
}
/** The matrix at 0 whose lower triangle is that of A over a power of two, and the upper one as well. */
const symmetric = (a: Floats, at: number, scale: number, x: Floats, n: number, { turn }: Reflecting): void => {
  for (let i = 0; i < n; i++) copyScaled(x, i * n, a, at + i * n, i + 1, scale)
  for (let i = 0; i < n; i += LEAF) {
    const end = Math.min(n, i + LEAF)
    turn(x, i * n + end, n, x, end * n + i, n, n - end, end - i)
    for (let j = i; j < end; j++) for (let k = j + 1; k < end; k++) x[j * n + k] = x[k * n + j]!
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
  const few = !eighIsLarge(n)
  const space = spaceOf(work, loops, !few)
  const size = largestBelow(a, at, n)
  const scale = scaleOf(size)
  symmetric(a, at, scale, space.x, n, space.by)
  const d = n * n
  const found = Number.isNaN(size) ? undefined : few ? plain(work, n, d, loops) : blocked(work, space, n, d, loops)
  if (found === undefined) {
    w.fill(Number.NaN, wAt, wAt + n)
    vectors.fill(Number.NaN, at, at + n * n)
    return
  }
  const { order, put } = found
  for (let k = 0; k < n; k++) w[wAt + k] = scale * work[d + (order === undefined ? k : order[k]!)]!
  put(vectors, at)
}
