/** Scalar special functions in f64. */

/** erf x by the Maclaurin series below 2, 1 - erfc above. Source: DLMF 7.6.1, 7.9.1. */
export const erf = (x: number): number => {
  if (Number.isNaN(x)) return x
  const a = Math.abs(x)
  if (a < 2) {
    // sum of (-1)^n x^(2n+1) / (n! (2n+1)), by the alternating-free form exp(-x^2) sum 2^n x^(2n+1) / (2n+1)!!
    let term = x
    let sum = x
    for (let n = 1; n < 80; n++) {
      term *= (2 * x * x) / (2 * n + 1)
      sum += term
      if (Math.abs(term) < 1e-17 * Math.abs(sum)) break
    }
    return ((2 / Math.sqrt(Math.PI)) * Math.exp(-x * x)) * sum
  }
  return x > 0 ? 1 - erfcTail(a) : erfcTail(a) - 1
}

/** erfc x, exact in the tail. */
export const erfc = (x: number): number => {
  if (Number.isNaN(x)) return x
  return x < 2 ? 1 - erf(x) : erfcTail(x)
}

/** erfc x for x >= 2: exp(-x^2) / (x sqrt pi) by the continued fraction, evaluated backwards. Source: DLMF 7.9.4. */
const erfcTail = (x: number): number => {
  if (x > 27.3) return 0
  let f = 0
  for (let k = 60; k >= 1; k--) f = (k / 2) / (x + f)
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * (x + f))
}

/** B_2k / (2k (2k-1)) of Stirling's series. */
const stirling = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400]
/** B_2k. */
const bernoulli = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330]

/** log |gamma(x)|: Stirling's series above 12, recurrence and reflection below. Source: DLMF 5.11.1, 5.5.3. */
export const lgamma = (x: number): number => {
  if (Number.isNaN(x)) return x
  if (!Number.isFinite(x)) return Number.POSITIVE_INFINITY
  if (x <= 0) return Number.isInteger(x) ? Number.POSITIVE_INFINITY : Math.log(Math.PI / Math.abs(Math.sin(Math.PI * (x % 2)))) - lgamma(1 - x)
  if (x === 1 || x === 2) return 0
  let shift = 1
  let y = x
  while (y < 12) {
    shift *= y
    y += 1
  }
  let s = 0
  const z = 1 / (y * y)
  for (let k = stirling.length - 1; k >= 0; k--) s = s * z + stirling[k]!
  return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + s / y - Math.log(shift)
}

const factorial = (n: number): number => {
  let f = 1
  for (let k = 2; k <= n; k++) f *= k
  return f
}

/** psi^(n)(x): asymptotic series above 15 + n, recurrence below; reflection of digamma and trigamma for x <= 0. Source: DLMF 5.15. */
export const polygamma = (n: number, x: number): number => {
  if (Number.isNaN(x)) return x
  if (x <= 0) {
    if (Number.isInteger(x)) return n % 2 === 0 ? Number.NaN : Number.POSITIVE_INFINITY
    if (n === 0) return polygamma(0, 1 - x) - Math.PI / Math.tan(Math.PI * x)
    if (n === 1) return (Math.PI / Math.sin(Math.PI * x)) ** 2 - polygamma(1, 1 - x)
  }
  let y = x
  let sum = 0
  const sign = n % 2 === 0 ? -1 : 1
  const f = factorial(n)
  const high = 15 + n
  while (y < high) {
    sum += 1 / y ** (n + 1)
    y += 1
  }
  if (n === 0) {
    let s = Math.log(y) - 0.5 / y
    const z = 1 / (y * y)
    let p = z
    for (let k = 0; k < bernoulli.length; k++) {
      s -= (bernoulli[k]! / (2 * k + 2)) * p
      p *= z
    }
    return s - sum
  }
  // (n-1)!/y^n + n!/(2 y^(n+1)) + sum B_2k (2k+n-1)! / ((2k)! y^(2k+n))
  let s = factorial(n - 1) / y ** n + f / (2 * y ** (n + 1))
  for (let k = 1; k <= bernoulli.length; k++) {
    let c = bernoulli[k - 1]!
    for (let j = 2 * k + 1; j <= 2 * k + n - 1; j++) c *= j
    s += c / y ** (2 * k + n)
  }
  return sign * (s + f * sum)
}
