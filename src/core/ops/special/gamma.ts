/** Gamma, beta and Hurwitz's zeta function, in f64. */
import { bernoulli, digamma, lgamma, lgammaOnePlus, polygamma, stirlingTail } from './functions.js'

const INF = Number.POSITIVE_INFINITY
const NAN = Number.NaN

/** log(1 + u) - u for u > -1, without cancellation. */
export const log1pMinus = (u: number): number => {
  if (!(u > -0.55 && u < 0.7)) return Math.log1p(u) - u
  const r = u / (2 + u)
  const z = r * r
  let sum = 0
  for (let k = 45; k >= 3; k -= 2) sum = sum * z + 1 / k
  return 2 * r * z * sum - r * u
}

/** The gamma function of 0 < x. */
export const gammaPositive = (x: number): number => {
  if (x < 1) return Math.exp(lgammaOnePlus(x)) / x
  if (x < 20) {
    let product = 1
    let y = x
    while (y >= 2) {
      y -= 1
      product *= y
    }
    return product * Math.exp(lgammaOnePlus(y - 1))
  }
  if (x > 172) return INF
  const root = x ** (0.5 * (x - 0.5))
  return root * Math.exp(-x) * Math.sqrt(2 * Math.PI) * Math.exp(stirlingTail(x)) * root
}
/** The rounding error of a + b: the sum is fl(a + b) + this. */
export const sumError = (a: number, b: number): number => {
  const s = a + b
  const t = s - a
  return a - (s - t) + (b - t)
}
/** log(gamma(b) / gamma(a + b)) + a log(a + b) for b >= 10. */
const gammaQuotient = (a: number, b: number): number => {
  const u = a / b
  return 0.5 * Math.log1p(u) - b * log1pMinus(u) + (stirlingTail(b) - stirlingTail(a + b))
}
/** B(a, b) for 0 < a <= b. */
const betaPositive = (a: number, b: number): number => {
  const s = a + b
  if (b < 10) {
    // gamma(a + b) at the exact sum.
    const e = sumError(a, b)
    return (gammaPositive(a) / gammaPositive(s)) * gammaPositive(b) * (e === 0 ? 1 : 1 - e * digamma(s))
  }
  if (a < 10) return gammaPositive(a) * s ** -a * (1 - (a * sumError(a, b)) / s) * Math.exp(gammaQuotient(a, b))
  return Math.exp(betalnLarge(a, b))
}
/** log B(a, b) for 10 <= a <= b. */
const betalnLarge = (a: number, b: number): number =>
  0.5 * Math.log(2 * Math.PI * (1 / a + 1 / b)) +
  a * Math.log(a / (a + b)) -
  b * Math.log1p(a / b) +
  (stirlingTail(a) + stirlingTail(b) - stirlingTail(a + b))

/** gamma(a) gamma(b) / gamma(a + b) for a, b > 0; there is a pole at 0. */
export const beta = (a: number, b: number): number => {
  if (!(a > 0 && b > 0)) return NAN
  return a === INF || b === INF ? 0 : betaPositive(Math.min(a, b), Math.max(a, b))
}
/** Its logarithm. */
export const betaln = (a: number, b: number): number => {
  const [p, q] = a < b ? [a, b] : [b, a]
  if (!(p > 0 && q < INF)) return p === 0 && q < INF ? INF : Math.log(beta(a, b))
  if (q < 10) return p < 1e-300 ? Math.log1p(p / q) - Math.log(p) : Math.log(betaPositive(p, q))
  return p < 10 ? lgamma(p) - p * Math.log(p + q) + gammaQuotient(p, q) : betalnLarge(p, q)
}

/** (q + k)^-s at the exact sum. */
const powerAt = (q: number, k: number, s: number): number => {
  const y = q + k
  return y ** -s * (1 - (s * sumError(q, k)) / y)
}
/** Hurwitz's zeta function for s > 1 and q > 0, by Euler-Maclaurin summation. */
const zetaPositive = (s: number, q: number): number => {
  if (q > 1e16) return (q ** (1 - s) / (s - 1)) * (1 + (s - 1) / (2 * q))
  let sum = 0
  let k = 0
  for (; q + k < 10 + s; k++) {
    const term = powerAt(q, k, s)
    sum += term
    // What follows is less than its integral.
    if (sum === INF || term * (q + k) <= 1e-18 * (s - 1) * sum) return sum
  }
  const y = q + k
  const power = powerAt(q, k, s)
  let rest = 0.5
  let factor = s / (2 * y)
  for (let j = 1; j <= bernoulli.length; j++) {
    const next = bernoulli[j - 1]! * factor
    rest += next
    if (Math.abs(next) < 1e-18) break
    factor *= ((s + 2 * j - 1) * (s + 2 * j)) / (y * y * (2 * j + 1) * (2 * j + 2))
  }
  return sum + (power * rest + (power * y) / (s - 1))
}
/** Hurwitz's zeta function: the sum of (q + k)^-s over k = 0, 1, 2, ..., for s > 1; below q = 0 for integers s. */
export const zeta = (s: number, q: number): number => {
  if (Number.isNaN(s) || Number.isNaN(q)) return NAN
  if (s <= 1) return s === 1 ? INF : NAN
  if (q > 0) return q === INF ? 0 : s === INF ? (q < 1 ? INF : q === 1 ? 1 : 0) : zetaPositive(s, q)
  if (Number.isInteger(q)) return INF
  if (!Number.isInteger(s) || q === Number.NEGATIVE_INFINITY) return NAN
  // The nearest terms on both sides; of an odd s they cancel in pairs.
  const [r, l] = [q - Math.floor(q), q - Math.ceil(q)]
  if (s % 2 === 1 && r === -l) return zetaPositive(s, 1 - q)
  if (s > 150) {
    const sum = r ** -s + l ** -s + ((r + 1) ** -s + (l - 1) ** -s)
    return Number.isNaN(sum) ? (r < -l ? INF : -INF) : sum
  }
  let factorial = 1
  for (let k = 2; k < s; k++) factorial *= k
  return ((s % 2 === 0 ? 1 : -1) * polygamma(s - 1, q)) / factorial
}

/** dzeta/ds for s > 1 and q > 0: of Euler and Maclaurin's sum. */
const zetaSlope = (s: number, q: number): number => {
  if (q > 1e16) return (q ** (1 - s) / (1 - s)) * (Math.log(q) + 1 / (s - 1))
  let sum = 0
  let most = 0
  let k = 0
  for (; q + k < 10 + s; k++) {
    const term = powerAt(q, k, s)
    const log = Math.log(q + k)
    sum -= term * log
    most = Math.max(most, Math.abs(sum))
    // What follows is less than its integral.
    if (sum === INF || (q + k > 1 && term * (q + k) * (log + 1 / (s - 1)) <= 1e-18 * (s - 1) * most)) return sum
  }
  const y = q + k
  const log = Math.log(y)
  let [rest, slope, factor, moved] = [0.5, 0, s / (2 * y), 1 / s]
  for (let j = 1; j <= bernoulli.length; j++) {
    const next = bernoulli[j - 1]! * factor
    rest += next
    slope += next * moved
    if (Math.abs(next) < 1e-18) break
    factor *= ((s + 2 * j - 1) * (s + 2 * j)) / (y * y * (2 * j + 1) * (2 * j + 2))
    moved += 1 / (s + 2 * j - 1) + 1 / (s + 2 * j)
  }
  return sum + powerAt(q, k, s) * (slope - log * rest - (y / (s - 1)) * (log + 1 / (s - 1)))
}
/** dzeta/ds: NaN where zeta is of integers s alone. */
export const zetaGradS = (s: number, q: number): number => {
  if (!(s >= 1 && q >= 0)) return NAN
  if (s === 1) return -INF
  if (q === 0) return INF
  if (q === INF) return 0
  return s === INF ? (q < 1 ? INF : 0) : zetaSlope(s, q)
}
