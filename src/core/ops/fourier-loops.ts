import { greatestOf } from '../errors/extremes.js'
/** Fourier transforms in plain loops: Stockham's passes of the factors of a length, and a convolution where one of these is a large prime (Bluestein 1970). */

/** exp(2 pi i k / n), from an angle of at most pi / 4. */
export const rootOfUnity = (k: number, n: number): readonly [cos: number, sin: number] => {
  const m = ((k % n) + n) % n
  // m / n in eighths of a turn.
  const eighth = Math.floor((8 * m) / n)
  const quarter = Math.floor((eighth + 1) / 2) % 4
  const angle = (2 * Math.PI * (m - (n * Math.floor((eighth + 1) / 2)) / 4)) / n
  const [c, s] = [Math.cos(angle), Math.sin(angle)]
  return quarter === 0 ? [c, s] : quarter === 1 ? [-s, c] : quarter === 2 ? [-c, -s] : [s, -c]
}

/** The largest prime whose transform is made of sums. */
const LARGEST = 61
const factorsOf = (n: number): readonly number[] => {
  const factors: number[] = []
  let rest = n
  for (let r = 4; rest > 1; r = r === 4 ? 2 : r === 2 ? 3 : r + 2) {
    if (r * r > rest && r > 4) r = rest
    for (; rest % r === 0; rest /= r) factors.push(r)
  }
  return factors
}

/** Real and imaginary parts, transformed in place by exp(-2 pi i j k / n). */
export type Transform = (re: Float64Array, im: Float64Array) => void
/** The transform of n numbers. */
export const fourier = (n: number): Transform => {
  const factors = factorsOf(n)
  return factors.some((r) => r > LARGEST) ? chirped(n) : passes(n, factors)
}

const passes = (n: number, factors: readonly number[]): Transform => {
  const [cos, sin] = [new Float64Array(n), new Float64Array(n)]
  for (let k = 0; k < n; k++) [cos[k], sin[k]] = rootOfUnity(-k, n) as [number, number]
  const [tr, ti] = [new Float64Array(n), new Float64Array(n)]
  const most = greatestOf(factors, 1)
  const [ur, ui] = [new Float64Array(most), new Float64Array(most)]
  return (re, im) => {
    let span = 1
    let [xr, xi, yr, yi]: readonly Float64Array[] & { readonly length: 4 } = [re, im, tr, ti]
    for (const r of factors) {
      const rows = n / (span * r)
      for (let p = 0; p < rows; p++)
        for (let q = 0; q < span; q++) {
          for (let j = 0; j < r; j++) {
            ur[j] = xr[q + span * (p + rows * j)]!
            ui[j] = xi[q + span * (p + rows * j)]!
          }
          for (let k = 0; k < r; k++) {
            let [a, b] = [ur[0]!, ui[0]!]
            for (let j = 1; j < r; j++) {
              const at = ((j * k) % r) * (n / r)
              a += ur[j]! * cos[at]! - ui[j]! * sin[at]!
              b += ur[j]! * sin[at]! + ui[j]! * cos[at]!
            }
            const at = p * k * span
            const to = q + span * (r * p + k)
            yr[to] = a * cos[at]! - b * sin[at]!
            yi[to] = a * sin[at]! + b * cos[at]!
          }
        }
      span *= r
      ;[xr, xi, yr, yi] = [yr, yi, xr, xi]
    }
    if (xr !== re) {
      re.set(xr)
      im.set(xi)
    }
  }
}

/** exp(-pi i k^2 / n) for each k below n, and the transform of length m that convolves with its conjugate, over m. */
export const chirpOf = (
  n: number,
  m: number,
): { readonly own: readonly [Float64Array, Float64Array]; readonly over: readonly [Float64Array, Float64Array] } => {
  const [c, s] = [new Float64Array(n), new Float64Array(n)]
  const [re, im] = [new Float64Array(m), new Float64Array(m)]
  for (let k = 0; k < n; k++) {
    // k^2 modulo 2 n is exact.
    ;[c[k], s[k]] = rootOfUnity(-((k * k) % (2 * n)), 2 * n) as [number, number]
    re[k] = c[k]! / m
    im[k] = -s[k]! / m
    if (k > 0) [re[m - k], im[m - k]] = [re[k]!, im[k]!]
  }
  fourier(m)(re, im)
  return { own: [c, s], over: [re, im] }
}
const chirped = (n: number): Transform => {
  const m = 2 ** Math.ceil(Math.log2(2 * n - 1))
  const {
    own: [c, s],
    over: [hr, hi],
  } = chirpOf(n, m)
  const convolved = fourier(m)
  const [ar, ai] = [new Float64Array(m), new Float64Array(m)]
  const times = (
    xr: Float64Array,
    xi: Float64Array,
    wr: Float64Array,
    wi: Float64Array,
    yr: Float64Array,
    yi: Float64Array,
    size: number,
  ): void => {
    for (let k = 0; k < size; k++) {
      const [a, b] = [xr[k]!, xi[k]!]
      yr[k] = a * wr[k]! - b * wi[k]!
      yi[k] = a * wi[k]! + b * wr[k]!
    }
  }
  return (re, im) => {
    times(re, im, c, s, ar, ai, n)
    ar.fill(0, n)
    ai.fill(0, n)
    convolved(ar, ai)
    times(ar, ai, hr, hi, ar, ai, m)
    // Parts that change places make the inverse of it.
    convolved(ai, ar)
    times(ar, ai, c, s, re, im, n)
  }
}
