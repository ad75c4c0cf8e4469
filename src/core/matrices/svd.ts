/**
 * Singular values and vectors: small matrices in plain loops, larger ones by a reduction in panels, by dividing and conquering, and by
 * reflections applied together, which are mostly products of matrices. Of tall ones the factor R of A = Q R takes the place of A.
 */
import { bidiagonalRoom, bidiagonalise as inPanels } from './bidiagonal.js'
import { applyToRows, chainRoom } from './chain.js'
import { columnsOf, copyScaled, decidingOf, largestOf, scaleOf, signedOf, signsOf, sorted, type Vectors } from './gauge.js'
import { type Reflecting, type Space, spaceOf } from './loops.js'
import { equationRoom } from './merge.js'
import type { Floats } from './product.js'
import { qr, qrLayout } from './qr.js'
import { byHalves } from './svd-halves.js'
import { bidiagonalise, diagonalise, generate, svdLayout } from './svd-plain.js'

/** Up to so many columns the plain loops are as fast. */
const FEW = 34
/** Whether matrices of so many columns are large enough for f32, where that is what is asked for. */
export const svdIsLarge = (n: number): boolean => n > FEW
/** Of so many columns, and twice as many rows, R is worth its while for plain loops too. */
const TALL = 8

const isTall = (m: number, n: number): boolean => m > n && (svdIsLarge(n) || (n > TALL && m > 2 * n))

/**
 * Where the parts lie in the workspace: A with its reflections, both kinds of vectors as rows, room for three matrices; then reflections; and among its
 * numbers, of which one f64 makes `per`, the diagonal, what is beside it, and tau.
 */
const blockedLayout = (n: number, per: 1 | 2 = 1) => {
  const square = n * n
  const [u, v, room, panel] = [square, 2 * square, 3 * square, 6 * square]
  const end = panel + Math.max(bidiagonalRoom(n), equationRoom(n), chainRoom(n))
  const d = per * end
  return { u, v, room, panel, d, e: d + n, tauLeft: d + 2 * n, tauRight: d + 3 * n, size: end + 4 * n }
}
/** Of a tall matrix, among such numbers: A, and U later; Q; R; what the factorisation needs. What R needs comes first. */
const tallLayout = (m: number, n: number, per: 1 | 2 = 1) => {
  const [of, a] = [qrLayout(m, n, n), per * ownRoom(n, n)]
  const q = a + m * n
  const r = q + m * n
  return { of, a, q, r, work: r + n * n, size: r + n * n + of.size }
}
const ownRoom = (m: number, n: number): number => (svdIsLarge(n) ? blockedLayout(n).size : svdLayout(m, n).size)
/** Numbers that it needs room for. */
export const svdRoom = (m: number, n: number): number => sortRoom(m, n) + n
/** Where the room for keys begins. */
const sortRoom = (m: number, n: number): number => (isTall(m, n) ? tallLayout(m, n).size : ownRoom(m, n))

/** Left and right vectors, and singular values of either sign: in no order, or where vectors are columns, as they are wanted, with room for 2 n numbers at `signs`. */
interface Found {
  readonly u: Vectors
  readonly v: Vectors
  readonly s: number
  readonly signs?: number
}

/** Of A^T, which is at 0. */
const plain = (a: Float64Array, m: number, n: number, loops: Reflecting): Found | undefined => {
  const of = svdLayout(m, n)
  a.fill(0, of.u, of.size)
  bidiagonalise(a, of)
  generate(a, of)
  if (!diagonalise(a, of, loops)) return undefined
  return { u: { at: of.u, vector: m, element: 1 }, v: { at: of.v, vector: n, element: 1 }, s: of.s }
}
/** Of A, which is at 0 of the space, by products of matrices. */
const blocked = (work: Float64Array, space: Space, n: number, loops: Reflecting): Found | undefined => {
  const { x, per, by } = space
  const { u, v, room, panel, d, e, tauLeft, tauRight } = blockedLayout(n, per)
  inPanels({ a: x, at: 0, n, d, e, tauLeft, tauRight, room: per * panel, loops: by })
  const [found, beside] = [Float64Array.from(x.subarray(d, e)), Float64Array.from(x.subarray(e, tauLeft))]
  if (!byHalves(work, n, u, v, room, found, beside, loops, panel)) return undefined
  const order = sorted(
    found.map((value) => -Math.abs(value)),
    0,
    n,
  )
  const [left, right, rows] = [per * room, per * (room + n * n), per * (room + 2 * n * n)]
  applyToRows(work, space, { count: n, from: 0, row: n, column: 1, tau: tauLeft }, u, order, 0, left, rows, per * panel)
  applyToRows(work, space, { count: n - 1, from: 1, row: 1, column: n, tau: tauRight }, v, order, 1, right, rows, per * panel)
  for (let k = 0; k < n; k++) work[u + k] = found[order[k]!]!
  return { u: { at: left, vector: 1, element: n }, v: { at: right, vector: 1, element: n }, s: u, signs: per * panel }
}
/** Of the matrix at `at` of `from`, over `scale`; `from` may be the workspace, behind what is used here. */
type Find = (
  from: Floats,
  at: number,
  m: number,
  n: number,
  scale: number,
  work: Float64Array,
  space: Space,
  loops: Reflecting,
) => Found | undefined
const own: Find = (from, at, m, n, scale, work, space, loops) => {
  if (svdIsLarge(n)) {
    const { x } = space
    copyScaled(x, 0, from, at, n * n, scale)
    return blocked(work, space, n, loops)
  }
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) work[j * m + i] = from[at + i * n + j]! / scale
  return plain(work, m, n, loops)
}
/** A = Q R: U of A is Q times that of R. */
const tall: Find = (from, at, m, n, scale, work, space, loops) => {
  const { x, per, by } = space
  const { of, a, q, r, work: room } = tallLayout(m, n, per)
  copyScaled(x, a, from, at, m * n, scale)
  qr(x, a, x, q, x, r, of, x.subarray(room), by)
  const found = own(x, r, n, n, 1, work, space, loops)
  if (found === undefined) return undefined
  const { u, s } = found
  // -Q U, which is as good with -V.
  x.fill(0, a, a + m * n)
  by.subtract(x, a, n, x, q, n, 1, x, u.at, u.element, u.vector, m, n, n)
  for (let k = 0; k < n; k++) work[s + k] = -work[s + k]!
  return { ...found, u: { at: a, vector: 1, element: n } }
}

/**
 * Of A: [m, n], m >= n, the matrix number `matrix`: U: [m, n] and V: [n, n] with columns of length 1, and singular values in descending
 * order. The largest component of each column of V is positive. NaN everywhere where A holds something that is not finite.
 */
export const svd = (
  a: Floats,
  u: Floats,
  s: Floats,
  v: Floats,
  matrix: number,
  m: number,
  n: number,
  work: Float64Array,
  loops: Reflecting,
): void => {
  const [at, sAt, vAt] = [matrix * m * n, matrix * n, matrix * n * n]
  const size = largestOf(a, at, m * n)
  const scale = scaleOf(size)
  if (n === 0) return
  const space = spaceOf(work, loops, svdIsLarge(n))
  const found = Number.isNaN(size) ? undefined : (isTall(m, n) ? tall : own)(a, at, m, n, scale, work, space, loops)
  if (found === undefined) {
    u.fill(Number.NaN, at, at + m * n)
    s.fill(Number.NaN, sAt, sAt + n)
    v.fill(Number.NaN, vAt, vAt + n * n)
    return
  }
  const { signs: decided } = found
  if (decided !== undefined) {
    const { x, by } = space
    const { deciding = decidingOf, signed = signedOf } = by
    deciding(x, found.v.at, n, n, n, decided)
    signed(v, vAt, x, found.v.at, n, n, n, decided)
    for (let k = 0; k < n; k++) {
      s[sAt + k] = scale * Math.abs(work[found.s + k]!)
      if (work[found.s + k]! < 0) x[decided + k] = -x[decided + k]!
    }
    signed(u, at, x, found.u.at, n, m, n, decided)
    return
  }
  const keys = sortRoom(m, n)
  for (let k = 0; k < n; k++) work[keys + k] = -Math.abs(work[found.s + k]!)
  const order = sorted(work, keys, n)
  for (let k = 0; k < n; k++) s[sAt + k] = scale * Math.abs(work[found.s + order[k]!]!)
  const signs = signsOf(space.x, found.v, n, n)
  columnsOf(space.x, found.v, order, signs, v, vAt, n)
  for (let k = 0; k < n; k++) if (work[found.s + k]! < 0) signs[k] = -signs[k]!
  columnsOf(space.x, found.u, order, signs, u, at, m)
}
