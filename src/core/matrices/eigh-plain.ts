/**
 * Eigenvalues and eigenvectors of symmetric matrices in plain loops: reduction to tridiagonal form, then QL steps with implicit shifts. Vectors are held as
 * rows, so that every inner loop runs over neighbours. Source  EISPACK tred2 and tql2 (Bowdler, Martin, Reinsch and Wilkinson 1968).
 */
import { hypotenuse, rotateAll, TINY } from './gauge.js'
import type { Reflecting } from './loops.js'

/** QL steps for one eigenvalue: two or three are usual. */
const STEPS = 60

/** Row i of what is left of the matrix is freed of all but its last element by a reflection, whose vector stays in d. */
const reduceRow = (v: Float64Array, n: number, i: number, d: number, e: number): void => {
  let scale = 0
  for (let k = 0; k < i; k++) scale += Math.abs(v[d + k]!)
  if (scale === 0) {
    v[e + i] = v[d + i - 1]!
    for (let j = 0; j < i; j++) {
      v[d + j] = v[j * n + i - 1]!
      v[j * n + i] = 0
      v[i * n + j] = 0
    }
    v[d + i] = 0
    return
  }
  let h = 0
  for (let k = 0; k < i; k++) {
    v[d + k]! /= scale
    h += v[d + k]! * v[d + k]!
  }
  const last = v[d + i - 1]!
  const g = last > 0 ? -Math.sqrt(h) : Math.sqrt(h)
  v[e + i] = scale * g
  h -= last * g
  v[d + i - 1] = last - g
  for (let j = 0; j < i; j++) v[e + j] = 0
  for (let j = 0; j < i; j++) {
    const f = v[d + j]!
    v[i * n + j] = f
    let s = v[e + j]! + v[j * n + j]! * f
    for (let k = j + 1; k < i; k++) {
      s += v[j * n + k]! * v[d + k]!
      v[e + k]! += v[j * n + k]! * f
    }
    v[e + j] = s
  }
  let total = 0
  for (let j = 0; j < i; j++) {
    v[e + j]! /= h
    total += v[e + j]! * v[d + j]!
  }
  const hh = total / (h + h)
  for (let j = 0; j < i; j++) v[e + j]! -= hh * v[d + j]!
  for (let j = 0; j < i; j++) {
    const [f, s] = [v[d + j]!, v[e + j]!]
    for (let k = j; k < i; k++) v[j * n + k]! -= f * v[e + k]! + s * v[d + k]!
    v[d + j] = v[j * n + i - 1]!
    v[j * n + i] = 0
  }
  v[d + i] = h
}

/** V^T A V is tridiagonal: its diagonal is left at d, what is beside it at e + 1. */
export const tridiagonalise = (v: Float64Array, n: number, d: number, e: number): void => {
  for (let j = 0; j < n; j++) v[d + j] = v[j * n + n - 1]!
  for (let i = n - 1; i > 0; i--) reduceRow(v, n, i, d, e)
  for (let i = 0; i < n - 1; i++) {
    v[i * n + n - 1] = v[i * n + i]!
    v[i * n + i] = 1
    const h = v[d + i + 1]!
    const next = (i + 1) * n
    if (h !== 0) {
      for (let k = 0; k <= i; k++) v[d + k] = v[next + k]! / h
      for (let j = 0; j <= i; j++) {
        let g = 0
        for (let k = 0; k <= i; k++) g += v[next + k]! * v[j * n + k]!
        for (let k = 0; k <= i; k++) v[j * n + k]! -= g * v[d + k]!
      }
    }
    for (let k = 0; k <= i; k++) v[next + k] = 0
  }
  for (let j = 0; j < n; j++) {
    v[d + j] = v[j * n + n - 1]!
    v[j * n + n - 1] = 0
  }
  v[n * n - 1] = 1
  v[e] = 0
}

/** One QL step on the rows l to m; what it takes from the diagonal. Its rotations go to `by`, the first, of the last two rows, first. */
const qlStep = (v: Float64Array, d: number, e: number, n: number, l: number, m: number, by: number): number => {
  const g = v[d + l]!
  const p0 = (v[d + l + 1]! - g) / (2 * v[e + l]!)
  const r0 = p0 < 0 ? -hypotenuse(p0, 1) : hypotenuse(p0, 1)
  v[d + l] = v[e + l]! / (p0 + r0)
  v[d + l + 1] = v[e + l]! * (p0 + r0)
  const next = v[d + l + 1]!
  const shift = g - v[d + l]!
  for (let i = l + 2; i < n; i++) v[d + i]! -= shift
  let p = v[d + m]!
  let [c, c2, c3, s, s2] = [1, 1, 1, 0, 0]
  const beside = v[e + l + 1]!
  let at = by
  for (let i = m - 1; i >= l; i--) {
    c3 = c2
    c2 = c
    s2 = s
    const u = c * v[e + i]!
    const h = c * p
    const r = hypotenuse(p, v[e + i]!)
    v[e + i + 1] = s * r
    s = v[e + i]! / r
    c = p / r
    p = c * v[d + i]! - s * u
    v[d + i + 1] = h + s * (c * u + s * v[d + i]!)
    v[at++] = c
    v[at++] = s
  }
  p = (-s * s2 * c3 * beside * v[e + l]!) / next
  v[e + l] = s * p
  v[d + l] = c * p
  return shift
}

/**
 * The diagonal at d becomes the eigenvalues, in no order, and what `at` begins, n numbers of each of n rows, is multiplied by their vectors, which are rows;
 * what is beside the diagonal is at e + 1, and at `by` is room for 2 n numbers. False where a step finds no end.
 */
export const diagonalise = (
  v: Float64Array,
  at: number,
  row: number,
  n: number,
  d: number,
  e: number,
  by: number,
  { rotate = rotateAll }: Reflecting,
): boolean => {
  for (let i = 1; i < n; i++) v[e + i - 1] = v[e + i]!
  v[e + n - 1] = 0
  let taken = 0
  let size = 0
  for (let l = 0; l < n; l++) {
    size = Math.max(size, Math.abs(v[d + l]!) + Math.abs(v[e + l]!))
    let m = l
    const least = Math.max(TINY, Number.EPSILON * size)
    while (m < n - 1 && Math.abs(v[e + m]!) > least) m++
    for (let step = 0; m > l && Math.abs(v[e + l]!) > least; step++) {
      if (step === STEPS) return false
      taken += qlStep(v, d, e, n, l, m, by)
      rotate(v, at + m * row, -row, n, m - l, by)
    }
    v[d + l]! += taken
    v[e + l] = 0
  }
  return true
}
