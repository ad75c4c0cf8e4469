/**
 * Singular values and vectors in plain loops: reduction to bidiagonal form, then QR steps with implicit shifts. Left and right vectors are held as rows.
 * Source  Golub and Reinsch 1970; LINPACK dsvdc, as in JAMA.
 */
import { hypotenuse, rotate, rotateAll, TINY } from './gauge.js'
import type { Reflecting } from './loops.js'
import { ENLARGED, isFaint } from './reflections.js'

/** QR steps for one singular value: two or three are usual. */
const STEPS = 75

/** Where the parts of an m x n matrix lie in its workspace: A^T, U^T, V^T, singular values, what is beside them, a row. */
export interface Layout {
  readonly m: number
  readonly n: number
  readonly u: number
  readonly v: number
  readonly s: number
  readonly e: number
  readonly row: number
  /** Cosines and sines of a step, of left and of right vectors. */
  readonly left: number
  readonly right: number
  readonly size: number
}
export const svdLayout = (m: number, n: number): Layout => {
  const u = m * n
  const v = u + m * n
  const s = v + n * n
  const left = s + 2 * n + 2 + m
  return { m, n, u, v, s, e: s + n + 1, row: s + 2 * n + 2, left, right: left + 2 * n, size: left + 4 * n }
}

const dot = (a: Float64Array, x: number, y: number, n: number): number => {
  let s = 0
  for (let k = 0; k < n; k++) s += a[x + k]! * a[y + k]!
  return s
}
const addTo = (a: Float64Array, to: number, x: number, n: number, factor: number): void => {
  for (let k = 0; k < n; k++) a[to + k]! += factor * a[x + k]!
}
/** The length of n numbers, with the sign of the first; they are divided by it, and 1 is added to the first. 0 where they are all 0. */
const reflector = (a: Float64Array, x: number, n: number): number => {
  let size = 0
  for (let k = 0; k < n; k++) size = Math.max(size, Math.abs(a[x + k]!))
  if (size === 0) return 0
  const enlarged = isFaint(size) ? ENLARGED : 1
  if (enlarged !== 1) for (let k = 0; k < n; k++) a[x + k]! *= enlarged
  const length = Math.sqrt(dot(a, x, x, n))
  const signed = a[x]! < 0 ? -length : length
  for (let k = 0; k < n; k++) a[x + k]! /= signed
  a[x]! += 1
  return signed / enlarged
}

/** A^T becomes bidiagonal: reflectors of columns go to U^T, those of rows to V^T, diagonals to s and e. */
export const bidiagonalise = (a: Float64Array, { m, n, u, v, s, e, row }: Layout): void => {
  const columns = Math.min(m - 1, n)
  const rows = Math.max(0, n - 2)
  for (let k = 0; k < Math.max(columns, rows); k++) {
    const own = k * m + k
    if (k < columns) a[s + k] = -reflector(a, own, m - k)
    for (let j = k + 1; j < n; j++) {
      const other = j * m + k
      if (k < columns && a[s + k] !== 0) addTo(a, other, own, m - k, -dot(a, own, other, m - k) / a[own]!)
      a[e + j] = a[other]!
    }
    if (k < columns) for (let i = k; i < m; i++) a[u + k * m + i] = a[k * m + i]!
    if (k >= rows) continue
    const tail = e + k + 1
    const length = reflector(a, tail, n - k - 1)
    a[e + k] = -length
    if (k + 1 < m && length !== 0) {
      const [from, count] = [k + 1, m - k - 1]
      a.fill(0, row + from, row + m)
      for (let j = k + 1; j < n; j++) addTo(a, row + from, j * m + from, count, a[e + j]!)
      for (let j = k + 1; j < n; j++) addTo(a, j * m + from, row + from, count, -a[e + j]! / a[tail]!)
    }
    for (let i = k + 1; i < n; i++) a[v + k * n + i] = a[e + i]!
  }
  if (columns < n) a[s + columns] = a[columns * m + columns]!
  if (n > 1) a[e + n - 2] = n - 2 < rows ? a[e + n - 2]! : a[(n - 1) * m + n - 2]!
  a[e + n - 1] = 0
}

/** U^T and V^T from their reflectors. */
export const generate = (a: Float64Array, { m, n, u, v, s, e }: Layout): void => {
  const columns = Math.min(m - 1, n)
  for (let j = columns; j < n; j++) {
    a.fill(0, u + j * m, u + (j + 1) * m)
    a[u + j * m + j] = 1
  }
  for (let k = columns - 1; k >= 0; k--) {
    const own = u + k * m + k
    if (a[s + k] !== 0) {
      for (let j = k + 1; j < n; j++) {
        const other = u + j * m + k
        addTo(a, other, own, m - k, -dot(a, own, other, m - k) / a[own]!)
      }
      for (let i = 0; i < m - k; i++) a[own + i] = -a[own + i]!
      a[own]! += 1
      a.fill(0, u + k * m, own)
    } else {
      a.fill(0, u + k * m, u + (k + 1) * m)
      a[own] = 1
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    const own = v + k * n + k + 1
    if (k < n - 2 && a[e + k] !== 0)
      for (let j = k + 1; j < n; j++) {
        const other = v + j * n + k + 1
        addTo(a, other, own, n - k - 1, -dot(a, own, other, n - k - 1) / a[own]!)
      }
    a.fill(0, v + k * n, v + (k + 1) * n)
    a[v + k * n + k] = 1
  }
}

/** The singular value p - 1 is 0: what is beside it is moved out of the matrix. */
const deflateLast = (a: Float64Array, { n, v, s, e }: Layout, k: number, p: number): void => {
  let f = a[e + p - 2]!
  a[e + p - 2] = 0
  for (let j = p - 2; j >= k; j--) {
    const t = hypotenuse(a[s + j]!, f)
    const [c, d] = [a[s + j]! / t, f / t]
    a[s + j] = t
    if (j !== k) {
      f = -d * a[e + j - 1]!
      a[e + j - 1] = c * a[e + j - 1]!
    }
    rotate(a, v + j * n, v + (p - 1) * n, n, c, d)
  }
}
/** The singular value k - 1 is 0: the matrix falls in two there. */
const split = (a: Float64Array, { m, u, s, e }: Layout, k: number, p: number): void => {
  let f = a[e + k - 1]!
  a[e + k - 1] = 0
  for (let j = k; j < p; j++) {
    const t = hypotenuse(a[s + j]!, f)
    const [c, d] = [a[s + j]! / t, f / t]
    a[s + j] = t
    f = -d * a[e + j]!
    a[e + j] = c * a[e + j]!
    rotate(a, u + j * m, u + (k - 1) * m, m, c, d)
  }
}
/** One QR step on the rows k to p - 1. */
const qrStep = (a: Float64Array, { m, n, u, v, s, e, left, right }: Layout, k: number, p: number, rotate: typeof rotateAll): void => {
  const [last, before, beside] = [a[s + p - 1]!, a[s + p - 2]!, a[e + p - 2]!]
  const scale = Math.max(Math.abs(last), Math.abs(before), Math.abs(beside), Math.abs(a[s + k]!), Math.abs(a[e + k]!))
  const [sp, sq, ep, sk, ek] = [last / scale, before / scale, beside / scale, a[s + k]! / scale, a[e + k]! / scale]
  const b = ((sq + sp) * (sq - sp) + ep * ep) / 2
  const c = sp * ep * (sp * ep)
  const root = b < 0 ? -Math.sqrt(b * b + c) : Math.sqrt(b * b + c)
  let f = (sk + sp) * (sk - sp) + (b !== 0 || c !== 0 ? c / (b + root) : 0)
  let g = sk * ek
  for (let j = k; j < p - 1; j++) {
    let t = hypotenuse(f, g)
    let [cs, sn] = t === 0 ? [1, 0] : [f / t, g / t]
    if (j !== k) a[e + j - 1] = t
    f = cs * a[s + j]! + sn * a[e + j]!
    a[e + j] = cs * a[e + j]! - sn * a[s + j]!
    g = sn * a[s + j + 1]!
    a[s + j + 1] = cs * a[s + j + 1]!
    const at = 2 * (j - k)
    a[right + at] = cs
    a[right + at + 1] = sn
    t = hypotenuse(f, g)
    ;[cs, sn] = t === 0 ? [1, 0] : [f / t, g / t]
    a[s + j] = t
    f = cs * a[e + j]! + sn * a[s + j + 1]!
    a[s + j + 1] = -sn * a[e + j]! + cs * a[s + j + 1]!
    g = sn * a[e + j + 1]!
    a[e + j + 1] = cs * a[e + j + 1]!
    a[left + at] = cs
    a[left + at + 1] = sn
  }
  a[e + p - 2] = f
  rotate(a, v + k * n, n, n, p - 1 - k, right)
  rotate(a, u + k * m, m, m, p - 1 - k, left)
}

/** The diagonal becomes the singular values, in no order and of either sign. False where a step finds no end. */
export const diagonalise = (a: Float64Array, of: Layout, { rotate = rotateAll }: Reflecting): boolean => {
  const { s, e } = of
  for (let p = of.n, steps = 0; p > 0; ) {
    let k = p - 2
    for (; k >= 0; k--)
      if (Math.abs(a[e + k]!) <= TINY + Number.EPSILON * (Math.abs(a[s + k]!) + Math.abs(a[s + k + 1]!))) {
        a[e + k] = 0
        break
      }
    if (k === p - 2) {
      p--
      steps = 0
      continue
    }
    if (steps++ === STEPS) return false
    let zero = p - 1
    for (; zero > k; zero--) {
      const t = (zero !== p - 1 ? Math.abs(a[e + zero]!) : 0) + (zero !== k + 1 ? Math.abs(a[e + zero - 1]!) : 0)
      if (Math.abs(a[s + zero]!) <= TINY + Number.EPSILON * t) {
        a[s + zero] = 0
        break
      }
    }
    if (zero === k) qrStep(a, of, k + 1, p, rotate)
    else if (zero === p - 1) deflateLast(a, of, k + 1, p)
    else split(a, of, zero + 1, p)
  }
  return true
}
