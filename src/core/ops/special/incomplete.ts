/** The incomplete gamma and beta functions, in f64. */
import { erfc, lgammaOnePlus, stirlingTail } from './functions.js'
import { beta, gammaPositive, log1pMinus, sumError } from './gamma.js'

const INF = Number.POSITIVE_INFINITY
const NAN = Number.NaN
const EPSILON = Number.EPSILON
/** Of a series or a continued fraction. */
export const MOST_TERMS = 1e5

// ---- incomplete gamma ------------------------------------------------------------------------------------------------

/** Temme's coefficients: the power series in eta of C_0 to C_3 (DLMF 8.12.11), from exact fractions. */
export const temme: readonly (readonly number[])[] = [
  [
    -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073, 0.0003527336860670194, -0.0001787551440329218,
    3.919263178522438e-5, -2.185448510679992e-6, -1.85406221071516e-6, 8.296711340953087e-7, -1.7665952736826078e-7, 6.707853543401498e-9,
    1.0261809784240309e-8,
  ],
  [
    -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596, 0.00020576131687242798,
    -4.018775720164609e-7, -1.8098550334489977e-5, 7.64916091608111e-6, -1.6120900894563446e-6, 4.647127802807434e-9,
  ],
  [
    0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-6, -0.0001073665322636516,
    5.2923448829120125e-5, -1.2760635188618728e-5,
  ],
  [0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885],
]
export const polynomial = (c: readonly number[], x: number): number => c.reduceRight((y, a) => y * x + a, 0)

/** P or Q for large a and x near it (DLMF 8.12.3). */
const uniform = (a: number, x: number, upper: boolean): number => {
  const mu = (x - a) / a
  const half = -log1pMinus(mu)
  const eta = Math.sign(mu) * Math.sqrt(2 * half)
  const rest =
    (Math.exp(-a * half) / Math.sqrt(2 * Math.PI * a)) *
    polynomial(
      temme.map((c) => polynomial(c, eta)),
      1 / a,
    )
  const z = eta * Math.sqrt(0.5 * a)
  return upper ? 0.5 * erfc(z) + rest : 0.5 * erfc(-z) - rest
}
/** x^a exp(-x) / gamma(a + 1). */
export const gammaFront = (a: number, x: number): number => {
  const power = a < 150 ? x ** a : 0
  if (a < 20 || (power > 1e-290 && power < 1e290)) {
    const half = Math.exp(-0.5 * x)
    if (half === 0) return 0
    return ((power * half) / (a < 1 ? Math.exp(lgammaOnePlus(a)) : a * gammaPositive(a))) * half
  }
  const mu = (x - a) / a
  const exponent = mu > -0.55 ? a * log1pMinus(mu) : a * Math.log(x / a) + (a - x)
  return Math.exp(exponent - stirlingTail(a)) / Math.sqrt(2 * Math.PI * a)
}
/** P by its power series. */
const lowerSeries = (a: number, x: number): number => {
  let term = 1
  let sum = 1
  for (let n = 1; n < MOST_TERMS && term > 0.1 * EPSILON * sum; n++) {
    term *= x / (a + n)
    sum += term
  }
  const front = gammaFront(a, x)
  return front * sum
}
/** How many terms of b(0) + a(1) / (b(1) + a(2) / (b(2) + ...)) are needed, by Lentz's method. */
export const fractionTerms = (a: (n: number) => number, b: (n: number) => number): number => {
  let c = b(0)
  let d = 0
  let terms = 1
  for (; terms < MOST_TERMS; terms++) {
    d = 1 / (b(terms) + a(terms) * d)
    c = b(terms) + a(terms) / c
    // NaN ends it too.
    if (!(Math.abs(c * d - 1) >= EPSILON)) break
  }
  return terms
}
/** That fraction, summed from its last term, where errors shrink. */
const continuedFraction = (a: (n: number) => number, b: (n: number) => number): number => {
  const terms = fractionTerms(a, b)
  let tail = b(terms)
  for (let n = terms; n >= 1; n--) tail = b(n - 1) + a(n) / tail
  return tail
}
/** Q by its continued fraction (DLMF 8.9.2), for x > a. */
const upperFraction = (a: number, x: number): number => {
  const front = gammaFront(a, x)
  if (front === 0) return 0
  const from = x - a + 1
  return (
    (front * a) /
    continuedFraction(
      (n) => n * (a - n),
      (n) => from + 2 * n,
    )
  )
}
/** Q for small a and x: 1 - P without the cancellation. */
const upperSmall = (a: number, x: number): number => {
  let fac = 1
  let sum = 0
  for (let n = 1; n < 60; n++) {
    fac *= -x / n
    sum += fac / (a + n)
  }
  const log = a * Math.log(x) - lgammaOnePlus(a)
  return -Math.expm1(log) - a * Math.exp(log) * sum
}
/** The regularized incomplete gamma function, P(a, x) or Q(a, x) = 1 - P(a, x). */
const incompleteGamma = (a: number, x: number, upper: boolean): number => {
  if (!(a >= 0 && x >= 0)) return NAN
  const from = (p: number): number => (upper ? 1 - p : p)
  if (a === 0) return x === 0 ? NAN : from(1)
  if (x === 0) return from(0)
  if (a === INF) return x === INF ? NAN : from(0)
  if (x === INF) return from(1)
  if (a > 1000 && Math.abs(x - a) < 0.1 * a) return uniform(a, x, upper)
  if (x > 1.1 && x > a) return upper ? upperFraction(a, x) : 1 - upperFraction(a, x)
  if (x <= 1.1 && (x <= 0.5 ? -0.4 / Math.log(x) >= a : 1.1 * x >= a)) return upper ? upperSmall(a, x) : 1 - upperSmall(a, x)
  return from(lowerSeries(a, x))
}
export const gammainc = (a: number, x: number): number => incompleteGamma(a, x, false)
export const gammaincc = (a: number, x: number): number => incompleteGamma(a, x, true)

// ---- incomplete beta -------------------------------------------------------------------------------------------------

const SPLIT = 134217729
/** The rounding error of a b. */
const productError = (a: number, b: number): number => {
  const [ta, tb] = [SPLIT * a, SPLIT * b]
  const [ha, hb] = [ta - (ta - a), tb - (tb - b)]
  const [la, lb] = [a - ha, b - hb]
  return ha * hb - a * b + ha * lb + la * hb + la * lb
}
/** x and y = 1 - x, and the rounding error of the one that is rounded. */
export interface Parts {
  readonly x: number
  readonly y: number
  readonly xLow: number
  readonly yLow: number
}
/** a y - b x, without cancellation: positive where x is below the mean. */
export const belowMean = (a: number, b: number, { x, y, xLow, yLow }: Parts): number =>
  y * a - x * b + (productError(y, a) - productError(x, b) + (yLow * a - xLow * b))
/** x^a y^b / B(a, b). */
export const betaFront = (a: number, b: number, at: Parts, below: number): number => {
  const { x, y, xLow, yLow } = at
  if (Math.min(a, b) < 10) return (x ** a * (y ** b * Math.exp((b * yLow) / y + (a * xLow) / x))) / beta(a, b)
  const less = below / a
  const first = less > 0.75 ? Math.log(x * ((a + b) / a)) + less : log1pMinus(-less)
  const exponent = a * first + b * log1pMinus(below / b) - (stirlingTail(a) + stirlingTail(b) - stirlingTail(a + b))
  return Math.exp(exponent) * Math.sqrt((a / (a + b)) * (b / (2 * Math.PI)))
}
/** I_x(a, b) by the continued fraction of DiDonato and Morris (1992), for x below the mean. */
const betaFraction = (a: number, b: number, at: Parts, below: number): number => {
  const { x } = at
  const fraction = continuedFraction(
    (m) => ((a + (m - 1)) / (a + 2 * m - 1)) * ((a + b + (m - 1)) / (a + 2 * m - 1)) * m * (b - m) * x * x,
    // At m = 0 and a = 1 the quotient is 0 / 0.
    (m) => m + (m === 0 ? 0 : (m * (b - m) * x) / (a + 2 * m - 1)) + ((a + m) * (below + 1 + m * (2 - x))) / (a + 2 * m + 1),
  )
  return betaFront(a, b, at, below) / fraction
}
/** I_x(a, b) for b <= 1: a series of positive terms (DLMF 8.17.8). */
const betaSeries = (a: number, b: number, x: number): number => {
  let factor = 1
  let sum = 0
  for (let n = 1; n < MOST_TERMS; n++) {
    factor *= ((n - b) * x) / n
    const term = factor / (a + n)
    sum += term
    if (!(term >= 0.01 * EPSILON * (sum + 1 / a))) break
  }
  return (x ** a * (1 + a * sum)) / (a * beta(a, b))
}
/** The regularized incomplete beta function I_x(a, b). */
export const betainc = (a: number, b: number, x: number): number => {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return NAN
  if (x === 0 || x === 1) return x
  if (a === INF || b === INF) return a === b ? NAN : a === INF ? 0 : 1
  if (b <= 1 && x <= 0.99) return betaSeries(a, b, x)
  const y = 1 - x
  const low = sumError(1, -x)
  const at: Parts = { x, y, xLow: 0, yLow: low }
  const below = belowMean(a, b, at)
  if (below > 0) return betaFraction(a, b, at, below)
  return 1 - betaFraction(b, a, { x: y, y: x, xLow: low, yLow: 0 }, -below)
}
