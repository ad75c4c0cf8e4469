/**
 * The roots of 1 + sum_j w_j / (p_j - x) between its poles p_j, which are d_j, or d_j^2 where singular values are wanted: each root as a
 * distance from the pole that is nearest, so that its distances from all poles are right to the last digits.
 * Source  Li 1993 (the middle way); Gu and Eisenstat 1994 and 1995.
 */

/** Steps for one root: five are usual. */
const STEPS = 100

/** The equation: k poles in ascending order, and positive weights. */
export interface Secular {
  readonly k: number
  readonly d: Float64Array
  readonly weights: Float64Array
  /** Poles are d^2, and so are roots x. */
  readonly squares: boolean
}

/** The part of the sum over poles `from` to `to` at the root d[origin] + tau, and its derivative, go to `sums`; p_j - x to `gaps`. */
const partAt = (of: Secular, from: number, to: number, origin: number, tau: number, gaps: Float64Array, at: number, sums: Float64Array) => {
  const { d, weights, squares } = of
  const own = d[origin]!
  const root = own + tau
  let [sum, slope] = [0, 0]
  for (let j = from; j < to; j++) {
    const distance = d[j]! - own - tau
    const gap = squares ? distance * (d[j]! + root) : distance
    gaps[at + j] = gap
    const share = weights[j]! / gap
    sum += share
    slope += share / gap
  }
  sums[0] = sum
  sums[1] = slope
}
/** Of c x^2 - a x + b = 0: tau after a step by the root x that leads into the open interval, or its middle. */
const step = (a: number, b: number, c: number, lo: number, hi: number, move: (x: number) => number): number => {
  const half = Math.sqrt(Math.max(0, a * a - 4 * b * c))
  const q = (a + (a < 0 ? -half : half)) / 2
  const first = move(b / q)
  if (first > lo && first < hi) return first
  const second = move(q / c)
  return second > lo && second < hi ? second : (lo + hi) / 2
}

/** Root number i, as a value of d; p_j minus the root of the equation goes to gaps[at + j]. `sums` is room for two numbers. */
export const secularRoot = (of: Secular, i: number, gaps: Float64Array, at: number, sums: Float64Array): number => {
  const { k, d, weights, squares } = of
  let [lo, hi] = [0, 0]
  if (i < k - 1) hi = d[i + 1]! - d[i]!
  else {
    let total = 0
    for (let j = 0; j < k; j++) total += weights[j]!
    hi = squares ? total / (d[i]! + Math.sqrt(d[i]! * d[i]! + total)) : total
    if (k === 1) {
      gaps[at] = -total
      return d[i]! + hi
    }
  }
  // The two poles whose neighbourhood is looked at: those around the root, or the last two.
  const left = Math.min(i, k - 2)
  const right = left + 1
  let origin = i
  let tau = hi / 2
  const evaluate = (): readonly [psi: number, psiSlope: number, phi: number, phiSlope: number] => {
    partAt(of, 0, right, origin, tau, gaps, at, sums)
    const [psi, psiSlope] = [sums[0]!, sums[1]!]
    partAt(of, right, k, origin, tau, gaps, at, sums)
    return [psi, psiSlope, sums[0]!, sums[1]!]
  }
  const move = (x: number): number => {
    if (!squares) return tau + x
    const root = d[origin]! + tau
    return tau + x / (root + Math.sqrt(root * root + x))
  }
  const [psi, , phi] = evaluate()
  // What other poles add is taken as in the middle: the first guess.
  const rest = 1 + psi + phi - weights[left]! / gaps[at + left]! - weights[right]! / gaps[at + right]!
  if (i < k - 1) {
    if (1 + psi + phi >= 0) hi = tau
    else {
      origin = right
      lo = -tau
      hi = 0
    }
  } else if (1 + psi + phi >= 0) hi = tau
  else lo = tau
  tau = 0
  const pole = (j: number): number => (d[j]! - d[origin]!) * (squares ? d[j]! + d[origin]! : 1)
  const [x, y, u, v] = [pole(left), pole(right), weights[left]!, weights[right]!]
  tau = step(rest * (x + y) + u + v, rest * x * y + u * y + v * x, rest, lo, hi, move)
  for (let n = 1; ; n++) {
    const [s, sSlope, t, tSlope] = evaluate()
    const f = 1 + s + t
    if (f < 0) lo = tau
    else hi = tau
    const slope = sSlope + tSlope
    const moves = Math.abs(tau) * slope * (squares ? 2 * (d[origin]! + tau) : 1)
    if (n === STEPS || Math.abs(f) <= Number.EPSILON * (4 * (1 + Math.abs(s) + Math.abs(t)) + moves)) break
    const [l, r] = [gaps[at + left]!, gaps[at + right]!]
    // Where a few steps were not enough, every third halves what is left.
    const next =
      n % 3 === 0 && n > 12 ? (lo + hi) / 2 : step((l + r) * f - l * r * slope, l * r * f, f - l * sSlope - r * tSlope, lo, hi, move)
    if (next === tau) break
    tau = next
  }
  return d[origin]! + tau
}

/**
 * The square roots of the weights for which the numbers found are the roots to the last digit, with the signs of z: vectors made of these
 * are orthogonal. Row i of `gaps` is what belongs to root i.
 */
export const exactWeights = ({ k, d, squares }: Secular, gaps: Float64Array, at: number, z: Float64Array): void => {
  const products = new Float64Array(k).fill(1)
  for (let i = 0; i < k; i++) {
    const row = at + i * k
    const own = d[i]!
    for (let j = 0; j < k; j++) {
      const distance = d[j]! - own
      products[j]! *= j === i ? gaps[row + j]! : gaps[row + j]! / (squares ? distance * (d[j]! + own) : distance)
    }
  }
  for (let j = 0; j < k; j++) z[j] = Math.sqrt(Math.abs(products[j]!)) * (z[j]! < 0 ? -1 : 1)
}
