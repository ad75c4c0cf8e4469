/**
 * The roots of 1 + sum_j w_j / (p_j - x) between its poles p_j, which are d_j, or d_j^2 where singular values are wanted: each root as a
 * distance from the pole that is nearest, so that its distances from all poles are right to the last digits.
 * Source  Li 1993 (the middle way); Gu and Eisenstat 1994 and 1995.
 */

import type { SecularLoops } from './loops.js'

/** Steps for one root: five are usual. */
const STEPS = 100

/** The equation: k poles in ascending order, and positive weights. They and what is computed lie in `a`. */
export interface Secular {
  readonly a: Float64Array
  readonly k: number
  readonly d: number
  readonly weights: number
  /** Poles are d^2, and so are roots x. */
  readonly squares: boolean
  /** Room for four numbers. */
  readonly sums: number
  /** A backend's, where it has some. */
  readonly loops: SecularLoops | undefined
}

/**
 * At the root own + tau of n poles: p_j - x to `gaps`, for x that root, or its square; of the poles before `split` sum_j w_j / (p_j - x) and its
 * derivative to `sums`, and of the others to the two places after.
 */
export const sumsAt: SecularLoops['sums'] = (a, d, w, split, n, own, tau, squares, gaps, sums) => {
  const root = own + tau
  for (const [from, to, slot] of [
    [0, split, sums],
    [split, n, sums + 2],
  ] as const) {
    let sum = 0
    let slope = 0
    for (let j = from; j < to; j++) {
      const distance = a[d + j]! - own - tau
      const gap = squares ? distance * (a[d + j]! + root) : distance
      a[gaps + j] = gap
      const share = a[w + j]! / gap
      sum += share
      slope += share / gap
    }
    a[slot] = sum
    a[slot + 1] = slope
  }
}
/** shares_j / gaps_j, as a vector of length 1, whose element j goes to `to` + place_j; at `room` is room for n numbers. */
export const vectorOf: SecularLoops['vector'] = (a, gaps, shares, n, place, to, room) => {
  let squares = 0
  for (let j = 0; j < n; j++) {
    const x = a[shares + j]! / a[gaps + j]!
    a[room + j] = x
    squares += x * x
  }
  const by = 1 / Math.sqrt(squares)
  for (let j = 0; j < n; j++) a[to + place[j]!] = by * a[room + j]!
}
/** The root of the equation x further than d[origin] + tau, as a distance from d[origin]. */
const moved = ({ a, d, squares }: Secular, origin: number, tau: number, x: number): number => {
  if (!squares) return tau + x
  const root = a[d + origin]! + tau
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
const between = ({ a, d, squares }: Secular, j: number, l: number): number =>
  (a[d + j]! - a[d + l]!) * (squares ? a[d + j]! + a[d + l]! : 1)
/** How far the last root may be from the last pole, as values of d. */
const reach = ({ a, k, d, weights, squares }: Secular): number => {
  let total = 0
  for (let j = 0; j < k; j++) total += a[weights + j]!
  const last = a[d + k - 1]!
  return squares ? total / (last + Math.sqrt(last * last + total)) : total
}

/** Root number i, as a value of d; p_j minus the root of the equation goes to gaps + j. */
export const secularRoot = (of: Secular, i: number, gaps: number): number => {
  const { a, k, d, weights, squares, sums, loops } = of
  const sumsOf = loops?.sums ?? sumsAt
  let lo = 0
  let hi = i < k - 1 ? a[d + i + 1]! - a[d + i]! : reach(of)
  if (k === 1) {
    a[gaps] = -a[weights]!
    return a[d]! + hi
  }
  // The two poles whose neighbourhood is looked at: those around the root, or the last two.
  const left = Math.min(i, k - 2)
  const right = left + 1
  let origin = i
  let tau = hi / 2
  const at = (): void => sumsOf(a, d, weights, right, k, a[d + origin]!, tau, squares, gaps, sums)
  at()
  const middle = 1 + a[sums]! + a[sums + 2]!
  // What other poles add is taken as in the middle: the first guess.
  const [u, v] = [a[weights + left]!, a[weights + right]!]
  const rest = middle - u / a[gaps + left]! - v / a[gaps + right]!
  if (middle >= 0) hi = tau
  else if (i < k - 1) {
    origin = right
    lo = -tau
    hi = 0
  } else lo = tau
  const [x, y] = [between(of, left, origin), between(of, right, origin)]
  tau = step(of, origin, 0, rest * (x + y) + u + v, rest * x * y + u * y + v * x, rest, lo, hi)
  for (let n = 1; ; n++) {
    at()
    const [s, t] = [a[sums]!, a[sums + 2]!]
    const f = 1 + s + t
    if (f < 0) lo = tau
    else hi = tau
    const slope = a[sums + 1]! + a[sums + 3]!
    const moves = Math.abs(tau) * slope * (squares ? 2 * (a[d + origin]! + tau) : 1)
    if (n === STEPS || Math.abs(f) <= Number.EPSILON * (4 * (1 + Math.abs(s) + Math.abs(t)) + moves)) break
    const [l, r] = [a[gaps + left]!, a[gaps + right]!]
    // Where a few steps were not enough, every third halves what is left.
    const next =
      n % 3 === 0 && n > 12
        ? (lo + hi) / 2
        : step(of, origin, tau, (l + r) * f - l * r * slope, l * r * f, f - l * a[sums + 1]! - r * a[sums + 3]!, lo, hi)
    if (next === tau) break
    tau = next
  }
  return a[d + origin]! + tau
}

/**
 * The square roots of the weights for which the numbers found are the roots to the last digit, with the signs of what is at `z`: vectors made
 * of these are orthogonal. Row i of `gaps` is what belongs to root i; at `products` there is room for k numbers.
 */
export const exactWeights = (of: Secular, gaps: number, z: number, products: number): void => {
  const { a, k, d, squares, loops } = of
  a.fill(1, products, products + k)
  for (let i = 0; i < k; i++) {
    const row = gaps + i * k
    a[products + i]! *= a[row + i]!
    if (loops !== undefined) {
      const own = a[d + i]!
      const next = i + 1
      loops.weigh(a, products, row, d, i, own, squares)
      loops.weigh(a, products + next, row + next, d + next, k - next, own, squares)
    } else for (let j = 0; j < k; j++) if (j !== i) a[products + j]! *= a[row + j]! / between(of, j, i)
  }
  for (let j = 0; j < k; j++) a[z + j] = Math.sqrt(Math.abs(a[products + j]!)) * (a[z + j]! < 0 ? -1 : 1)
}
