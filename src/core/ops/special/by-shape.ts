/** Derivatives of the incomplete gamma and beta functions by their shape parameters, in f64: those of the series and fractions that give the values. */
import { digamma, digammaMinusLog, digammaStep } from './functions.js'
import { log1pMinus, sumError } from './gamma.js'
import { belowMean, betaFront, gammaFront, MOST_TERMS, type Parts, polynomial, temme } from './incomplete.js'

const INF = Number.POSITIVE_INFINITY
const NAN = Number.NaN
const EPSILON = Number.EPSILON

/** Parameters that are smaller are taken as this. */
const TINY = 1e-100

type Terms = (n: number) => number
/**
 * b(0) + a(1) / (b(1) + a(2) / (b(2) + ...)), and its derivative over it, of those of its terms: by Lentz's method. At an a(n) = 0 the value ends, and its
 * derivative goes on.
 */
const slopedFraction = (a: Terms, b: Terms, da: Terms, db: Terms): readonly [value: number, slope: number] => {
  let [c, d, dc, dd] = [b(0), 0, db(0), 0]
  let [value, slope] = [c, dc / c]
  for (let n = 1; n < MOST_TERMS; n++) {
    const [p, q, dp, dq] = [a(n), b(n), da(n), db(n)]
    const before = d
    d = 1 / (q + p * before)
    dd = -d * d * (dq + dp * before + p * dd)
    dc = dq + (dp - (p / c) * dc) / c
    c = q + p / c
    const [step, more] = [c * d, dc / c + dd / d]
    value *= step
    slope += more
    // NaN ends it too.
    if (!(Math.abs(step - 1) >= EPSILON || Math.abs(more) > EPSILON * Math.abs(slope) + 1e-290)) break
  }
  return [value, slope]
}

// ---- incomplete gamma ------------------------------------------------------------------------------------------------

/** log x - digamma(a + 1), without the cancellation for large a. */
const logAbove = (a: number, x: number): number =>
  a < 12 ? Math.log(x) - digamma(a + 1) : (x < 0.5 * a ? Math.log(x / a) : Math.log1p((x - a) / a)) - digammaMinusLog(a) - 1 / a
/** dP/da by the power series of P: where x <= a all terms are negative. */
const lowerSlope = (a: number, x: number): number => {
  let [term, sum, harmonic, slope] = [1, 1, 0, 0]
  for (let n = 1; n < MOST_TERMS && !(term * harmonic <= 0.1 * EPSILON * slope && n > 1); n++) {
    term *= x / (a + n)
    harmonic += 1 / (a + n)
    sum += term
    slope += term * harmonic
  }
  const front = gammaFront(a, x)
  return front === 0 ? 0 : front * (sum * logAbove(a, x) - slope)
}
/** dQ/da by the continued fraction of Q, for x > a: all terms are positive. */
const upperSlope = (a: number, x: number): number => {
  const front = gammaFront(a, x)
  if (front === 0) return 0
  const from = x - a + 1
  const [value, slope] = slopedFraction(
    (n) => n * (a - n),
    (n) => from + 2 * n,
    (n) => n,
    () => -1,
  )
  return (front / value) * (1 + a * (logAbove(a, x) - slope))
}
const derivative = (c: readonly number[]): readonly number[] => c.slice(1).map((v, k) => v * (k + 1))
const temmeSlopes = /*#__PURE__*/ temme.map(derivative)
/** dP/da for large a and x near it: of Temme's expansion (DLMF 8.12.3). */
const uniformSlope = (a: number, x: number): number => {
  const mu = (x - a) / a
  const half = -log1pMinus(mu)
  const eta = Math.sign(mu) * Math.sqrt(2 * half)
  const ratio = eta === 0 ? 1 : mu / eta
  const at = temme.map((c) => polynomial(c, eta))
  const sum = polynomial(at, 1 / a)
  // By a of the powers of 1 / a, and of eta, which falls as ratio / a.
  const moved = -polynomial(derivative(at), 1 / a) / a - ratio * polynomial(temmeSlopes.map((c) => polynomial(c, eta)), 1 / a) // biome-ignore format: one sum
  const brace = 0.5 * eta - ratio - (Math.log1p(mu) - 0.5 / a) * sum - moved / a
  return (Math.exp(-a * half) / Math.sqrt(2 * Math.PI * a)) * brace
}
/** dP/da of the regularized lower incomplete gamma function; at a = 0 its limit, -E_1(x). */
export const gammaincGradA = (a: number, x: number): number => {
  if (!(a >= 0 && x >= 0) || (a === x && (a === 0 || a === INF))) return NAN
  if (x === 0 || x === INF || a === INF) return 0
  if (a > 1000 && Math.abs(x - a) < 0.1 * a) return uniformSlope(a, x)
  return x > 1.1 && x > a ? -upperSlope(a, x) : lowerSlope(a, x)
}

// ---- incomplete beta -------------------------------------------------------------------------------------------------

/** log(x (a + b) / a) - (digamma(a) - log a) + (digamma(a + b) - log(a + b)): log x less its mean, where 1 - less = x (a + b) / a. */
const logLess = (a: number, b: number, x: number, less: number): number =>
  (less > 0.5 ? Math.log(x * ((a + b) / a)) : Math.log1p(-less)) - digammaMinusLog(a) + digammaMinusLog(a + b)
/** dI/da, or dI/db, by the continued fraction of DiDonato and Morris (1992), divided by a, for x below the mean. */
const fractionSlope = (a: number, b: number, at: Parts, below: number, byB: boolean): number => {
  const { x, y, xLow, yLow } = at
  const s = a + b
  const over = (m: number): number => (m === 1 ? s / (a + 1) : ((a + (m - 1)) / (a + 2 * m - 1)) * (s + (m - 1))) / (a + 2 * m - 1) // biome-ignore format: one quotient
  const numerator: Terms = (m) => over(m) * m * (b - m) * x * x
  const rest = (m: number): number => below + 1 + m * (2 - x)
  const denominator: Terms = (m) =>
    m === 0 ? (below + 1) / (a + 1) : m + (m * (b - m) * x) / (a + 2 * m - 1) + ((a + m) / (a + 2 * m + 1)) * rest(m)
  const numeratorByA: Terms = (m) => numerator(m) * ((m === 1 ? 0 : 1 / (a + (m - 1))) + 1 / (s + (m - 1)) - 2 / (a + 2 * m - 1))
  const denominatorByA: Terms = (m) => {
    if (m === 0) return (y - (below + 1) / (a + 1)) / (a + 1)
    const [p, q] = [a + 2 * m - 1, a + 2 * m + 1]
    return ((m + 1) / q) * (rest(m) / q) + ((a + m) / q) * y - (m * (b - m) * x) / p / p
  }
  const numeratorByB: Terms = (m) => (over(m) / (s + (m - 1))) * m * (s + b - 1) * x * x
  const denominatorByB: Terms = (m) => (m === 0 ? -x / (a + 1) : (m * x) / (a + 2 * m - 1) - ((a + m) * x) / (a + 2 * m + 1))
  const front = betaFront(a, b, at, below)
  if (front === 0) return 0
  const [value, slope] = byB
    ? slopedFraction(numerator, denominator, numeratorByB, denominatorByB)
    : slopedFraction(numerator, denominator, numeratorByA, denominatorByA)
  const share = front / a / value
  const logX = Math.log(x) + xLow / x
  const logY = Math.log(y) + yLow / y
  if (!byB) {
    const log = a < 12 ? logX - digamma(a + 1) + digamma(s) : logLess(a, b, x, below / a) - 1 / a
    return share * (log - slope)
  }
  const log = b < 12 || a < 1 ? logY + digammaStep(b, a) : Math.log1p(below / b) - digammaMinusLog(b) + digammaMinusLog(s)
  return share * (log - slope)
}
/** dI/da, or dI/db, of 1 - I_y(b, a) by its power series, for small y. */
const endSlope = (a: number, b: number, at: Parts, below: number, byB: boolean): number => {
  const { y, yLow } = at
  let [c, dc, sum, slope] = [1, 0, 0, 0]
  for (let n = 1; n < 200; n++) {
    dc = ((dc * (n - a) - c) * y) / n
    c *= ((n - a) * y) / n
    sum += c / (b + n)
    const next = byB ? (c * n) / (b + n) ** 2 : (b * dc) / (b + n)
    slope += next
    if (Math.abs(next) <= 0.1 * EPSILON * Math.abs(slope)) break
  }
  const log = byB ? Math.log(y) + yLow / y - digamma(b + 1) + digamma(a + b) : digammaStep(a, b)
  const front = betaFront(a, b, at, below)
  return front === 0 ? 0 : -((front * Math.exp(-a * Math.log1p(-y))) / b) * (log * (1 + b * sum) + slope)
}
const belowSlope = (a: number, b: number, at: Parts, below: number, byB: boolean): number =>
  at.y < 0.05 && a * at.y < 0.7 ? endSlope(a, b, at, below, byB) : fractionSlope(a, b, at, below, byB)
const betaincGrad = (p: number, q: number, x: number, byB: boolean): number => {
  if (!(p > 0 && q > 0 && x >= 0 && x <= 1) || (p === INF && q === INF)) return NAN
  if (x === 0 || x === 1 || p === INF || q === INF) return 0
  // All of it lies at the two ends, and I is b / (a + b).
  if (Math.max(p, q) < 1e-20) return (byB ? p : -q) / (p + q) / (p + q)
  const [a, b] = [Math.max(p, TINY), Math.max(q, TINY)]
  const y = 1 - x
  const low = sumError(1, -x)
  const at: Parts = { x, y, xLow: 0, yLow: low }
  const below = belowMean(a, b, at)
  const slope = below > 0 ? belowSlope(a, b, at, below, byB) : -belowSlope(b, a, { x: y, y: x, xLow: low, yLow: 0 }, -below, !byB)
  // By one parameter it has a limit as that vanishes, and goes as the other.
  return slope * (byB ? p / a : q / b)
}
/** The derivatives of I_x(a, b) by a and by b. */
export const betaincGradA = (a: number, b: number, x: number): number => betaincGrad(a, b, x, false)
export const betaincGradB = (a: number, b: number, x: number): number => betaincGrad(a, b, x, true)
