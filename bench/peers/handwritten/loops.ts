// Loops over typed arrays that the hand-written workloads share. Row-major; k unrolled by four, so that
// each pass over a row of the result does eight operations a load and a store.
import type { FloatArray } from '../../peer.js'

/** c[m, n] += a[m, k] b[k, n] */
export const addMatmul = (c: FloatArray, a: FloatArray, b: FloatArray, m: number, k: number, n: number): void => {
  for (let i = 0; i < m; i++) {
    const ci = i * n
    let p = 0
    for (; p + 3 < k; p += 4) {
      const a0 = a[i * k + p]!
      const a1 = a[i * k + p + 1]!
      const a2 = a[i * k + p + 2]!
      const a3 = a[i * k + p + 3]!
      const b0 = p * n
      const b1 = b0 + n
      const b2 = b1 + n
      const b3 = b2 + n
      for (let j = 0; j < n; j++) c[ci + j]! += a0 * b[b0 + j]! + a1 * b[b1 + j]! + a2 * b[b2 + j]! + a3 * b[b3 + j]!
    }
    for (; p < k; p++) {
      const a0 = a[i * k + p]!
      const b0 = p * n
      for (let j = 0; j < n; j++) c[ci + j]! += a0 * b[b0 + j]!
    }
  }
}

/** c[m, n] += a[k, m]^T b[k, n] */
export const addMatmulTA = (c: FloatArray, a: FloatArray, b: FloatArray, m: number, k: number, n: number): void => {
  let p = 0
  for (; p + 3 < k; p += 4) {
    const b0 = p * n
    const b1 = b0 + n
    const b2 = b1 + n
    const b3 = b2 + n
    for (let i = 0; i < m; i++) {
      const a0 = a[p * m + i]!
      const a1 = a[(p + 1) * m + i]!
      const a2 = a[(p + 2) * m + i]!
      const a3 = a[(p + 3) * m + i]!
      const ci = i * n
      for (let j = 0; j < n; j++) c[ci + j]! += a0 * b[b0 + j]! + a1 * b[b1 + j]! + a2 * b[b2 + j]! + a3 * b[b3 + j]!
    }
  }
  for (; p < k; p++) {
    for (let i = 0; i < m; i++) {
      const a0 = a[p * m + i]!
      for (let j = 0; j < n; j++) c[i * n + j]! += a0 * b[p * n + j]!
    }
  }
}

/** c[m, n] += a[m, k] b[n, k]^T */
export const addMatmulTB = (c: FloatArray, a: FloatArray, b: FloatArray, m: number, k: number, n: number): void => {
  for (let i = 0; i < m; i++) {
    const ai = i * k
    let j = 0
    for (; j + 3 < n; j += 4) {
      const b0 = j * k
      const b1 = b0 + k
      const b2 = b1 + k
      const b3 = b2 + k
      let s0 = 0
      let s1 = 0
      let s2 = 0
      let s3 = 0
      for (let p = 0; p < k; p++) {
        const x = a[ai + p]!
        s0 += x * b[b0 + p]!
        s1 += x * b[b1 + p]!
        s2 += x * b[b2 + p]!
        s3 += x * b[b3 + p]!
      }
      c[i * n + j]! += s0
      c[i * n + j + 1]! += s1
      c[i * n + j + 2]! += s2
      c[i * n + j + 3]! += s3
    }
    for (; j < n; j++) {
      let s = 0
      for (let p = 0; p < k; p++) s += a[ai + p]! * b[j * k + p]!
      c[i * n + j]! += s
    }
  }
}

/** Every row of c[m, n] becomes b[n]. */
export const fillRows = (c: FloatArray, b: FloatArray, m: number, n: number): void => {
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) c[i * n + j] = b[j]!
}

/** b[n] += the sum of the rows of c[m, n] */
export const addColumnSums = (b: FloatArray, c: FloatArray, m: number, n: number): void => {
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) b[j]! += c[i * n + j]!
}

/** out = 2 x, and the sum of squares of x */
export const sumOfSquares = (out: FloatArray, x: FloatArray): number => {
  let value = 0
  for (let i = 0; i < x.length; i++) {
    const y = x[i]!
    value += y * y
    out[i] = 2 * y
  }
  return value
}

export interface Loops {
  readonly addMatmul: typeof addMatmul
  readonly addMatmulTA: typeof addMatmulTA
  readonly addMatmulTB: typeof addMatmulTB
  readonly fillRows: typeof fillRows
  readonly addColumnSums: typeof addColumnSums
  readonly sumOfSquares: typeof sumOfSquares
}
