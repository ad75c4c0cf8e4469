/** A = Q R by Householder's reflections, with a diagonal of R that is not negative. Source  Golub and Van Loan 2013, 5.2. */
import { largestOf, scaleOf } from './gauge.js'
import type { Floats } from './product.js'

/** Numbers that a factorisation of m x n matrices works in. */
export const qrWorkspace = (m: number, n: number, columns: number): Float64Array => new Float64Array(m * n + m * columns + n + columns)

/**
 * The reflection that makes the column of A from `from` on, `count` long, a multiple of the first unit vector: v is in its place (v_0 = 1
 * unwritten, the multiple in its stead), what is given back is tau of I - tau v v^T.
 */
const reflect = (a: Float64Array, from: number, row: number, count: number): number => {
  let scale = 0
  for (let i = 1; i < count; i++) scale = Math.max(scale, Math.abs(a[from + i * row]!))
  if (scale === 0) return 0
  const x = a[from]!
  scale = Math.max(scale, Math.abs(x))
  let squares = 0
  for (let i = 0; i < count; i++) squares += (a[from + i * row]! / scale) ** 2
  const length = (x > 0 ? -1 : 1) * scale * Math.sqrt(squares)
  for (let i = 1; i < count; i++) a[from + i * row]! /= x - length
  a[from] = length
  return (length - x) / length
}

/** B: [count, columns] becomes (I - tau v v^T) B; v without its first element is in the column of A after `from`. */
const apply = (
  tau: number,
  a: Float64Array,
  from: number,
  row: number,
  count: number,
  b: Float64Array,
  bAt: number,
  bRow: number,
  columns: number,
  w: number,
  work: Float64Array,
): void => {
  if (tau === 0 || columns <= 0) return
  for (let j = 0; j < columns; j++) work[w + j] = b[bAt + j]!
  for (let i = 1; i < count; i++) {
    const v = a[from + i * row]!
    const at = bAt + i * bRow
    for (let j = 0; j < columns; j++) work[w + j]! += v * b[at + j]!
  }
  for (let i = 0; i < count; i++) {
    const v = i === 0 ? tau : tau * a[from + i * row]!
    const at = bAt + i * bRow
    for (let j = 0; j < columns; j++) b[at + j]! -= v * work[w + j]!
  }
}

/** Of A: [m, n], m >= n, at `aAt`: Q: [m, columns] (n or m of them) and R: [columns, n]. */
export const qr = (
  a: Floats,
  aAt: number,
  q: Floats,
  qAt: number,
  r: Floats,
  rAt: number,
  m: number,
  n: number,
  columns: number,
  work: Float64Array,
): void => {
  const [qs, tau] = [m * n, m * n + m * columns]
  const w = tau + n
  const scale = scaleOf(largestOf(a, aAt, m * n))
  for (let i = 0; i < m * n; i++) work[i] = a[aAt + i]! / scale
  for (let k = 0; k < n; k++) {
    const from = k * n + k
    const t = reflect(work, from, n, m - k)
    work[tau + k] = t
    apply(t, work, from, n, m - k, work, from + 1, n, n - k - 1, w, work)
  }
  work.fill(0, qs, tau)
  for (let k = 0; k < columns; k++) work[qs + k * columns + k] = 1
  for (let k = n - 1; k >= 0; k--)
    apply(work[tau + k]!, work, k * n + k, n, m - k, work, qs + k * columns + k, columns, columns - k, w, work)
  for (let i = 0; i < columns; i++) {
    const sign = i < n && work[i * n + i]! < 0 ? -1 : 1
    for (let j = 0; j < n; j++) r[rAt + i * n + j] = j < i || i >= n ? 0 : sign * scale * work[i * n + j]!
    for (let k = 0; k < m; k++) q[qAt + k * columns + i] = sign * work[qs + k * columns + i]!
  }
}
