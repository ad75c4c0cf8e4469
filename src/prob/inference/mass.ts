/** The inverse of the mass matrix: an estimate of the covariance of the target, diagonal or dense. */

/** What a momentum is, and how fast it moves the position. */
export interface Mass {
  /** v = M^-1 p. */
  readonly velocity: (p: Float64Array, v: Float64Array) => void
  /** Standard normal numbers become a momentum: p ~ N(0, M), in place. */
  readonly momentum: (z: Float64Array) => void
  /** The elements of M^-1 if that is diagonal. */
  readonly diagonal: Float64Array | null
  /** M^-1: its diagonal, or all of it, row by row. */
  readonly inverse: Float64Array
}

export const diagonalMass = (inverse: Float64Array): Mass => {
  const roots = inverse.map((v) => 1 / Math.sqrt(v))
  return {
    inverse,
    diagonal: inverse,
    velocity: (p, v) => {
      for (let i = 0; i < p.length; i++) v[i] = inverse[i]! * p[i]!
    },
    momentum: (z) => {
      for (let i = 0; i < z.length; i++) z[i] = z[i]! * roots[i]!
    },
  }
}

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

/** M^-1 = L L^T, so p = L^-T z has the covariance M. */
export const denseMass = (inverse: Float64Array, n: number): Mass | undefined => {
  const l = choleskyOf(inverse, n)
  if (l === undefined) return undefined
  return {
    inverse,
    diagonal: null,
    velocity: (p, v) => {
      for (let i = 0; i < n; i++) {
        let [s, t] = [0, 0]
        const row = i * n
        let j = 0
        for (; j + 1 < n; j += 2) {
          s += inverse[row + j]! * p[j]!
          t += inverse[row + j + 1]! * p[j + 1]!
        }
        if (j < n) s += inverse[row + j]! * p[j]!
        v[i] = s + t
      }
    },
    momentum: (z) => {
      for (let i = n - 1; i >= 0; i--) {
        let s = z[i]!
        for (let k = i + 1; k < n; k++) s -= l[k * n + i]! * z[k]!
        z[i] = s / l[i * n + i]!
      }
    },
  }
}
