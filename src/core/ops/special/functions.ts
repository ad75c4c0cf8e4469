/**
 * Special functions of one real number, in f64, a few units in the last place (stated where it is more).
 * Chebyshev coefficients were computed with 40 digits; the rest is recurrences, reflections and asymptotic series.
 */

/** Sum of c[k] T_k(t), by Clenshaw's recurrence. */
export const chebyshev = (c: readonly number[], t: number): number => {
  let b1 = 0
  let b2 = 0
  for (let k = c.length - 1; k > 0; k--) {
    const b = c[k]! + 2 * t * b1 - b2
    b2 = b1
    b1 = b
  }
  return c[0]! + t * b1 - b2
}

// ---- erf, erfc -------------------------------------------------------------------------------------------------------

/** erf(x) / x for |x| <= 1, in t = 2 x^2 - 1. */
export const erfSmall: readonly number[] = [
  0.9754769393826541, -0.14226120510371365, 0.010035582187599796, -0.0005768764699767485, 2.741993125219606e-5, -1.1043175507344507e-6,
  3.8488755420345036e-8, -1.1808582533875466e-9, 3.2334215826050907e-11, -7.991015947004549e-13, 1.7990725113961456e-14,
  -3.718635487818693e-16, 7.103599003714253e-18,
]
/** exp(x^2) erfc(x) (x + 2.5) for x >= 0.5, in t = (x - 3.5) / (x + 2.5). */
export const erfcLarge: readonly number[] = [
  1.0669580421392333, -0.6202500452595417, 0.1369762148917103, -0.021291659899086168, 0.0017371853691808517, 9.96868298912262e-5,
  -4.2004835132075046e-5, 1.3645527119992318e-6, 8.926157059063146e-7, -7.307856068468331e-8, -2.282365808778525e-8, 2.4052659166615254e-9,
  7.330462324136272e-10, -6.751873639359263e-11, -2.7923236225431868e-11, 1.3106837475529107e-12, 1.1484130261460301e-12,
  2.129959389647899e-14, -4.6291785062024004e-14, -4.815967267078593e-15, 1.6137705464382306e-15, 3.86211252945877e-16,
  -3.358645805789803e-17, -2.2751749899174208e-17, -1.2040480637754204e-18,
]

/** exp(-x^2) without the rounding of x^2: x = h + l with h^2 exact. */
export const expMinusSquare = (x: number): number => {
  const h = Math.fround(x)
  return Math.exp(-h * h) * Math.exp(-(x - h) * (x + h))
}
/** exp(x^2) erfc(x) for x >= 0.5. */
export const erfcxUpper = (x: number): number => chebyshev(erfcLarge, (x - 3.5) / (x + 2.5)) / (x + 2.5)
/** erfc(x) for x >= 0.5. */
const erfcUpper = (x: number): number => (x > 27.5 ? 0 : expMinusSquare(x) * erfcxUpper(x))

/** The error function. */
export const erf = (x: number): number => {
  const a = Math.abs(x)
  if (a <= 1) return x * chebyshev(erfSmall, 2 * x * x - 1)
  if (a > 6) return Math.sign(x)
  return x > 0 ? 1 - erfcUpper(x) : x < 0 ? erfcUpper(-x) - 1 : x
}
/** 1 - erf(x), accurate in the tail. */
export const erfc = (x: number): number => (x >= 0.5 ? erfcUpper(x) : x <= -1 ? 2 - erfcUpper(-x) : 1 - erf(x))

// ---- gamma family ----------------------------------------------------------------------------------------------------

/** lgamma(x) / ((x - 1)(x - 2)) for 1 <= x <= 3, in t = x - 2: keeps relative accuracy at the zeros 1 and 2. */
export const lgammaMiddle: readonly number[] = [
  0.44148902545501423, -0.11119580321752523, 0.01951044826068884, -0.003922461463025264, 0.0008478989895953857, -0.00019153855341365593,
  4.454470184975607e-5, -1.05728743735943e-5, 2.5474336873408417e-6, -6.208535880776316e-7, 1.5268677399071546e-7, -3.782637660291326e-8,
  9.428100823624284e-9, -2.361999702184645e-9, 5.943541905817546e-10, -1.501312977072867e-10, 3.8050196458110534e-11,
  -9.672485299656325e-12, 2.465348198355661e-12, -6.298868140791711e-13, 1.6128460030283787e-13, -4.137949206814042e-14,
  1.0635701227757898e-14, -2.7382420786652826e-15, 7.060670507214892e-16, -1.8232177141662118e-16, 4.714169006756272e-17,
  -1.2204107319639856e-17, 3.1630451661790255e-18, -8.206746544166728e-19,
]
/** Bernoulli numbers B2, B4, ... B24. */
export const bernoulli: readonly number[] = [
  1 / 6,
  -1 / 30,
  1 / 42,
  -1 / 30,
  5 / 66,
  -691 / 2730,
  7 / 6,
  -3617 / 510,
  43867 / 798,
  -174611 / 330,
  854513 / 138,
  -236364091 / 2730,
]
/** Half of log(2 pi). */
export const HALF_LOG_TWO_PI = 0.9189385332046728

/** sin(pi x), exact at integers and halves. */
const sinPi = (x: number): number => {
  const r = x - 2 * Math.round(x / 2)
  return Math.abs(r) > 0.5 ? Math.sin(Math.PI * (Math.sign(r) - r)) : Math.sin(Math.PI * r)
}

/** lgamma(1 + x) for 0 <= x <= 2, without rounding 1 + x. */
export const lgammaOnePlus = (x: number): number => x * (x - 1) * chebyshev(lgammaMiddle, x - 1)
/** lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= 10. */
export const stirlingTail = (x: number): number => {
  const r = 1 / (x * x)
  let tail = 0
  for (let k = 8; k >= 1; k--) tail = tail * r + bernoulli[k - 1]! / (2 * k * (2 * k - 1))
  return tail / x
}
const lgammaPositive = (x: number): number => {
  if (x < 1) return lgammaOnePlus(x) - Math.log(x)
  if (x <= 3) return (x - 1) * (x - 2) * chebyshev(lgammaMiddle, x - 2)
  if (x < 12) {
    let product = 1
    let y = x
    while (y > 3) {
      y -= 1
      product *= y
    }
    return Math.log(product) + lgammaPositive(y)
  }
  if (x > 1e17) return x * (Math.log(x) - 1)
  return (x - 0.5) * Math.log(x) - x + HALF_LOG_TWO_PI + stirlingTail(x)
}

/** log |gamma(x)|; +Infinity at 0, -1, -2, ... Between negative integers the error is absolute (about 1e-15), because it has zeros there. */
export const lgamma = (x: number): number => {
  if (Number.isNaN(x)) return x
  if (Math.abs(x) === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY
  if (x > 0) return lgammaPositive(x)
  if (Number.isInteger(x)) return Number.POSITIVE_INFINITY
  if (x > -1e-17) return -Math.log(-x)
  return Math.log(Math.PI / Math.abs(sinPi(x))) - lgammaPositive(1 - x)
}

/** digamma(1 + t) / (1 + t - root) for 0 <= t <= 2, to 6e-17: a quotient of polynomials, from the highest power, least squares of the relative error with 50 digits. */
export const digammaMiddle: readonly [p: readonly number[], q: readonly number[]] = [
  [
    7.717720262309067e-7, 4.698069712508019e-4, 1.7495869566123118e-2, 2.002401188795955e-1, 9.328282799746364e-1, 1.8385100438323148,
    1.2503801375034054,
  ],
  [9.548814997289287e-5, 5.243911173103265e-3, 8.289523300763367e-2, 5.40379976664988e-1, 1.6165408874170348, 2.153907698671165, 1],
]
/** The positive zero of digamma, in two parts. */
export const digammaRoot = [1.4616321449683622, 9.549995429965697e-17] as const
const horner = (c: readonly number[], t: number): number => c.reduce((y, a) => y * t + a)

/** digamma(x) - log x for x >= 12. */
const digammaTail = (x: number): number => {
  const r = 1 / (x * x)
  let tail = 0
  for (let k = 8; k >= 1; k--) tail = (tail + bernoulli[k - 1]! / (2 * k)) * r
  return -0.5 / x - tail
}
const digammaPositive = (x: number): number => {
  if (x <= 3) {
    const [p, q] = digammaMiddle
    const [t, root] = x < 1 ? [x, digammaRoot[0] - 1] : [x - 1, digammaRoot[0]]
    return (x - root - digammaRoot[1]) * (horner(p, t) / horner(q, t)) - (x < 1 ? 1 / x : 0)
  }
  let below = 0
  let y = x
  while (y < 12) {
    below += 1 / y
    y += 1
  }
  return Math.log(y) + digammaTail(y) - below
}
/** digamma(x) - log x for x > 0. */
export const digammaMinusLog = (x: number): number => (x < 12 ? digamma(x) - Math.log(x) : digammaTail(x))
/** digamma(x + h) - digamma(x) for x, h > 0, without cancellation. */
export const digammaStep = (x: number, h: number): number => {
  let sum = 0
  let y = x
  for (; y < 12; y += 1) sum += h / (y * (y + h))
  const z = y + h
  const [r, s] = [1 / (y * y), 1 / (z * z)]
  // r^k - s^k
  let [power, fall, tail] = [1, 0, 0]
  for (let k = 1; k <= 8; k++) {
    fall = r * fall + power * (h / y / z) * ((y + z) / y / z)
    power *= s
    tail += (bernoulli[k - 1]! / (2 * k)) * fall
  }
  return Math.log1p(h / y) + 0.5 * (h / y / z) + tail + sum
}

/** n! zeta(n + 1, x) for n >= 1 and x > 0, by Euler-Maclaurin summation: the absolute value of polygamma. */
const polygammaPositive = (n: number, x: number): number => {
  const s = n + 1
  let factorial = 1
  for (let k = 2; k <= n; k++) factorial *= k
  let y = x
  let sum = 0
  while (y < 10 + n) {
    sum += y ** -s
    y += 1
  }
  const power = y ** -s
  sum += y ** -n / n + 0.5 * power
  let term = (s * power) / y
  let factor = 2
  for (let j = 1; j <= bernoulli.length; j++) {
    const next = (bernoulli[j - 1]! / factor) * term
    sum += next
    if (Math.abs(next) < 1e-17 * sum) break
    term *= ((s + 2 * j - 1) * (s + 2 * j)) / (y * y)
    factor *= (2 * j + 1) * (2 * j + 2)
  }
  return factorial * sum
}

/** The n-th derivative of pi cot(pi x), from cot' = -(1 + cot^2). */
const cotDerivative = (n: number, x: number): number => {
  const r = x - Math.round(x)
  const c = Math.cos(Math.PI * r) / Math.sin(Math.PI * r)
  let p: number[] = [0, 1]
  for (let k = 0; k < n; k++) {
    const next = new Array<number>(p.length + 1).fill(0)
    for (let i = 1; i < p.length; i++) {
      next[i - 1]! -= i * p[i]!
      next[i + 1]! -= i * p[i]!
    }
    p = next
  }
  return Math.PI ** (n + 1) * p.reduceRight((y, a) => y * c + a)
}

/** The n-th derivative of digamma (n = 0: digamma itself), for integers n >= 0. */
export const polygamma = (n: number, x: number): number => {
  if (Number.isNaN(x) || x === Number.NEGATIVE_INFINITY) return Number.NaN
  const sign = n % 2 === 0 ? -1 : 1
  if (x === 0) return n % 2 === 1 || Object.is(x, -0) ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  if (x === Number.POSITIVE_INFINITY) return n === 0 ? x : 0
  if (x > 0) return n === 0 ? digammaPositive(x) : sign * polygammaPositive(n, x)
  if (Number.isInteger(x)) return n % 2 === 1 ? Number.POSITIVE_INFINITY : Number.NaN
  return -sign * polygamma(n, 1 - x) - cotDerivative(n, x)
}
/** The logarithmic derivative of gamma. */
export const digamma = (x: number): number => polygamma(0, x)

// ---- small scalar functions that JavaScript lacks --------------------------------------------------------------------

/** To the nearest integer, halves to even; keeps the sign of zero. */
export const roundHalfEven = (x: number): number => {
  const low = Math.floor(x)
  const d = x - low
  const r = d < 0.5 ? low : d > 0.5 || low % 2 !== 0 ? low + 1 : low
  return r === 0 ? (x < 0 ? -0 : x * 0) : r
}
/** a modulo b with the sign of b, as NumPy and Python; NaN for b = 0. */
export const modulo = (a: number, b: number): number => {
  const r = a % b
  if (r === 0) return b < 0 ? -0 : 0
  return r < 0 !== b < 0 ? r + b : r
}
/** |a| with the sign bit of b. */
export const copySign = (a: number, b: number): number => {
  const negative = b < 0 || Object.is(b, -0)
  const m = Math.abs(a)
  return negative ? -m : m
}
/** log(1 + exp x) without overflow. */
export const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))
/** 1 / (1 + exp(-x)), accurate down to the smallest numbers. */
export const sigmoid = (x: number): number => {
  if (x >= 0) return 1 / (1 + Math.exp(-x))
  const e = Math.exp(x)
  return e / (1 + e)
}
/** log(exp a + exp b) without overflow. */
export const logAddExp = (a: number, b: number): number =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)))
/** a^b as IEEE 754 has it: 1^b and a^0 are 1 for every b and a, (-1)^(+-Infinity) is 1. JavaScript gives NaN for 1^NaN and 1^Infinity. */
export const power = (a: number, b: number): number =>
  a === 1 || (a === -1 && (b === Number.POSITIVE_INFINITY || b === Number.NEGATIVE_INFINITY)) ? 1 : a ** b
