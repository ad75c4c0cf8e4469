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
  /** Room for four numbers. */
  readonly sums: Float64Array
}

/** Of the poles `from` to `to` at the root d[origin] + tau: their part of the sum, and its derivative, go to sums[slot] and after; p_j - x to `gaps`. */
const partAt = (of: Secular, from: number, to: number, origin: number, tau: number, gaps: Float64Array, at: number, slot: number): void => {
  const { d, weights, squares, sums } = of
  const own = d[origin]!
  const root = own + tau
  let sum = 0
  let slope = 0
  for (let j = from; j < to; j++) {
    const distance = d[j]! - own - tau
    const gap = squares ? distance * (d[j]! + root) : distance
    gaps[at + j] = gap
    const share = weights[j]! / gap
    sum += share
    slope += share / gap
  }
  sums[slot] = sum
  sums[slot + 1] = slope
}
/** The root of the equation x further than d[origin] + tau, as a distance from d[origin]. */
const moved = ({ d, squares }: Secular, origin: number, tau: number, x: number): number => {
  if (!squares) return tau + x
  const root = d[origin]! + tau
  return tau + x / (root + Math.sqrt(root * root + x))
}
/** After a step by a root x of c x^2 - a x + b = 0 that leads into the open interval from lo to hi; or its middle. */
const step = (of: Secular, origin: number, tau: number, a: number, b: number, c: number, lo: number, hi: number): number => {
  const half = Math.sqrt(Math.max(0, a * a - 4 * b * c))
  const q = (a + (a < 0 ? -half : half)) / 2
  const first = moved(of, origin, tau, b / q)
  if (first > lo && first < hi) return first
  const second = moved(of, origin, tau, q / c)
  return second > lo && second < hi ? second : (lo + hi) / 2
}
/** p_j - p_l. */
const between = ({ d, squares }: Secular, j: number, l: number): number => (d[j]! - d[l]!) * (squares ? d[j]! + d[l]! : 1)
/** How far the last root may be from the last pole, as values of d. */
const reach = ({ k, d, weights, squares }: Secular): number => {
  let total = 0
  for (let j = 0; j < k; j++) total += weights[j]!
  const last = d[k - 1]!
  return squares ? total / (last + Math.sqrt(last * last + total)) : total
}

/** Root number i, as a value of d; p_j minus the root of the equation goes to gaps[at + j]. */
export const secularRoot = (of: Secular, i: number, gaps: Float64Array, at: number): number => {
  const { k, d, weights, squares, sums } = of
  let lo = 0
  let hi = i < k - 1 ? d[i + 1]! - d[i]! : reach(of)
  if (k === 1) {
    gaps[at] = -weights[0]!
    return d[0]! + hi
  }
  // The two poles whose neighbourhood is looked at: those around the root, or the last two.
  const left = Math.min(i, k - 2)
  const right = left + 1
  let origin = i
  let tau = hi / 2
  partAt(of, 0, right, origin, tau, gaps, at, 0)
  partAt(of, right, k, origin, tau, gaps, at, 2)
  const middle = 1 + sums[0]! + sums[2]!
  // What other poles add is taken as in the middle: the first guess.
  const [u, v] = [weights[left]!, weights[right]!]
  const rest = middle - u / gaps[at + left]! - v / gaps[at + right]!
  if (middle >= 0) hi = tau
  else if (i < k - 1) {
    origin = right
    lo = -tau
    hi = 0
  } else lo = tau
  const [x, y] = [between(of, left, origin), between(of, right, origin)]
  tau = step(of, origin, 0, rest * (x + y) + u + v, rest * x * y + u * y + v * x, rest, lo, hi)
  for (let n = 1; ; n++) {
    partAt(of, 0, right, origin, tau, gaps, at, 0)
    partAt(of, right, k, origin, tau, gaps, at, 2)
    const [s, t] = [sums[0]!, sums[2]!]
    const f = 1 + s + t
    if (f < 0) lo = tau
    else hi = tau
    const slope = sums[1]! + sums[3]!
    const moves = Math.abs(tau) * slope * (squares ? 2 * (d[origin]! + tau) : 1)
    if (n === STEPS || Math.abs(f) <= Number.EPSILON * (4 * (1 + Math.abs(s) + Math.abs(t)) + moves)) break
    const [l, r] = [gaps[at + left]!, gaps[at + right]!]
    // Where a few steps were not enough, every third halves what is left.
    const next =
      n % 3 === 0 && n > 12
        ? (lo + hi) / 2
        : step(of, origin, tau, (l + r) * f - l * r * slope, l * r * f, f - l * sums[1]! - r * sums[3]!, lo, hi)
    if (next === tau) break
    tau = next
  }
  return d[origin]! + tau
}

/**
 * The square roots of the weights for which the numbers found are the roots to the last digit, with the signs of z: vectors made of these
 * are orthogonal. Row i of `gaps` is what belongs to root i.
 */
export const exactWeights = (of: Secular, gaps: Float64Array, at: number, z: Float64Array): void => {
  const { k } = of
  const products = new Float64Array(k).fill(1)
  for (let i = 0; i < k; i++) {
    const row = at + i * k
    for (let j = 0; j < k; j++) products[j]! *= j === i ? gaps[row + j]! : gaps[row + j]! / between(of, j, i)
  }
  for (let j = 0; j < k; j++) z[j] = Math.sqrt(Math.abs(products[j]!)) * (z[j]! < 0 ? -1 : 1)
}
