/** The inverse of the mass matrix: an estimate of the covariance of the target, diagonal or dense. */
import { choleskyOf } from '../../minimize/cholesky.js'

/** How momenta and positions move each other. With the inverse M^-1 = L L^T, the momentum here is p = L^T m, which is standard normal if m ~ N(0, M): then M^-1 m = L p, and m^T M^-1 m = |p|^2. */
export interface Mass {
  /** p += step L^T g. */
  readonly kick: (p: Float64Array, step: number, g: Float64Array) => void
  /** q += step L p. */
  readonly drift: (q: Float64Array, step: number, p: Float64Array) => void
  /** The diagonal of L if that is diagonal. */
  readonly scales: Float64Array | null
  /** Writes L, row by row. */
  readonly lower: (into: Float64Array) => void
  /** M^-1: its diagonal, or all of it, row by row. */
  readonly inverse: Float64Array
}

export const diagonalMass = (inverse: Float64Array): Mass => {
  const scales = inverse.map(Math.sqrt)
  return {
    inverse,
    scales,
    lower: (into) => {
      into.fill(0)
      for (const [i, s] of scales.entries()) into[i * (scales.length + 1)] = s
    },
    kick: (p, step, g) => {
      for (let i = 0; i < p.length; i++) p[i] = p[i]! + step * scales[i]! * g[i]!
    },
    drift: (q, step, p) => {
      for (let i = 0; i < q.length; i++) q[i] = q[i]! + step * scales[i]! * p[i]!
    },
  }
}

export const denseMass = (inverse: Float64Array, n: number): Mass | undefined => {
  const l = choleskyOf(inverse, n)
  if (l === undefined) return undefined
  return {
    inverse,
    scales: null,
    lower: (into) => into.set(l),
    kick: (p, step, g) => {
      // Row by row, as L lies in memory.
      for (let k = 0; k < n; k++) {
        const by = step * g[k]!
        const row = k * n
        for (let i = 0; i <= k; i++) p[i] = p[i]! + by * l[row + i]!
      }
    },
    drift: (q, step, p) => {
      for (let i = 0; i < n; i++) {
        let [s, t] = [0, 0]
        const row = i * n
        let j = 0
        for (; j < i; j += 2) {
          s += l[row + j]! * p[j]!
          t += l[row + j + 1]! * p[j + 1]!
        }
        if (j === i) s += l[row + j]! * p[j]!
        q[i] = q[i]! + step * (s + t)
      }
    },
  }
}
