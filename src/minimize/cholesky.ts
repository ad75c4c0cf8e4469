/** The Cholesky factor of a small dense matrix on the host. */

/** The lower Cholesky factor of a symmetric matrix, or undefined if it is not positive definite. */
export const choleskyOf = (a: Float64Array, n: number): Float64Array | undefined => {
  const l = new Float64Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let s = a[i * n + j]!
      for (let k = 0; k < j; k++) s -= l[i * n + k]! * l[j * n + k]!
      if (i === j) {
        // What rounding leaves of 0 is not positive.
        if (!(s > 1e-14 * Math.abs(a[i * n + i]!))) return undefined
        l[i * n + i] = Math.sqrt(s)
      } else l[i * n + j] = s / l[j * n + j]!
    }
  }
  return l
}
/** L^-1 v. */
export const solveLower = (l: Float64Array, v: Float64Array): Float64Array => {
  const n = v.length
  const x = Float64Array.from(v)
  for (let i = 0; i < n; i++) {
    let s = x[i]!
    for (let k = 0; k < i; k++) s -= l[i * n + k]! * x[k]!
    x[i] = s / l[i * n + i]!
  }
  return x
}
/** L^-T v. */
export const solveUpper = (l: Float64Array, v: Float64Array): Float64Array => {
  const n = v.length
  const x = Float64Array.from(v)
  for (let i = n - 1; i >= 0; i--) {
    const s = x[i]! / l[i * n + i]!
    x[i] = s
    for (let k = 0; k < i; k++) x[k] = x[k]! - s * l[i * n + k]!
  }
  return x
}
