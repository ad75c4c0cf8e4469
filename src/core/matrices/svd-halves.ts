/**
 * Singular values and vectors of a bidiagonal matrix by halves: those of two matrices beside each other, and of the row between them.
 * Source  Gu and Eisenstat 1994; LAPACK bdsdc.
 */
import { hypotenuse, rotate, scaleOf, TINY } from './gauge.js'
import type { Reflecting } from './loops.js'
import { BOTH, combine, deflate, FIRST, type Merge, mergeOf, placesOf, SECOND } from './merge.js'
import { ENLARGED, isFaint } from './reflections.js'
import { exactWeights, type Secular, secularRoot, vectorOf } from './secular.js'
import { diagonalise, svdLayout } from './svd-plain.js'

/** Matrices of at most so many rows are diagonalised as they are. */
const LEAF = 28

/** The matrix: [n, n], left vectors as rows at `u` and right ones at `v`; room for two C, n n numbers each, at `c`. */
interface Halves {
  readonly merge: Merge
  readonly u: number
  readonly v: number
  readonly c: number
  readonly d: Float64Array
  readonly e: Float64Array
  readonly loops: Reflecting
}

/**
 * Rows `low` to `high`, and one column more unless they are the last. With that column goes a row of zeros: its value is 0, and its right
 * vector, in row `high`, is what A takes to 0.
 */
const leaf = ({ merge: { a, n, values }, u, v, c, d, e, loops }: Halves, low: number, high: number): boolean => {
  const size = Math.min(n, high + 1) - low
  const of = svdLayout(size, size)
  const small = a.subarray(c, c + of.size).fill(0)
  for (let i = 0; i < size; i++) {
    small[of.u + i * size + i] = 1
    small[of.v + i * size + i] = 1
    if (low + i < high) small[of.s + i] = d[low + i]!
    if (i < size - 1) small[of.e + i] = e[low + i]!
  }
  if (!diagonalise(small, of, loops)) return false
  for (let i = 0; i < size; i++) {
    const to = (low + i) * n + low
    for (let j = 0; j < size; j++) a[v + to + j] = small[of.v + i * size + j]!
    if (low + i === high) continue
    const value = small[of.s + i]!
    const sign = value < 0 ? -1 : 1
    values[low + i] = sign * value
    for (let j = 0; j < high - low; j++) a[u + to + j] = sign * small[of.u + i * size + j]!
  }
  return true
}

/**
 * The halves are rows `low` to `middle`, and `middle + 1` to `high`; d and e of the row between them are its only elements. What was the first
 * half's vector to 0 becomes the row's own, and where there is a column more what is left of both is the vector to 0 of the whole.
 */
const shares = ({ merge, u, v, d, e }: Halves, low: number, middle: number, high: number, end: number, scale: number): void => {
  const { a, n, values, z, kinds, order } = merge
  const [alpha, beta] = [d[middle]! / scale, e[middle]! / scale]
  a[u + middle * (n + 1)] = 1
  for (let i = low; i < high; i++) {
    z[i] = i <= middle ? alpha * a[v + i * n + middle]! : beta * a[v + i * n + middle + 1]!
    kinds[i] = i < middle ? FIRST : i > middle ? SECOND : BOTH
    values[i]! /= scale
    if (i !== middle) order[i < middle ? i - low + 1 : i - low] = i
  }
  values[middle] = 0
  if (end > high) {
    const [x, y] = [z[middle]!, beta * a[v + high * n + middle + 1]!]
    const enlarged = isFaint(Math.max(Math.abs(x), Math.abs(y))) ? ENLARGED : 1
    const [p, q] = [enlarged * x, enlarged * y]
    const length = hypotenuse(p, q)
    if (length > 0) rotate(a, v + middle * n + low, v + high * n + low, end - low, p / length, q / length)
    z[middle] = length / enlarged
  }
  order[0] = middle
  order.subarray(1, high - low).sort((i, j) => values[i]! - values[j]! || i - j)
}

/** Rows of C, for right vectors, and of the matrix after it, for left ones, from p_j minus each root. */
const coefficients = ({ merge, c }: Halves, k: number, left: number): void => {
  const { a, d, shares, weights, place, products: others, secular: loops } = merge
  const vector = loops?.vector ?? vectorOf
  for (let j = 1; j < k; j++) a[others + j] = a[d + j]! * a[shares + j]!
  for (let i = 0; i < k; i++) {
    const row = c + i * k
    // The first element of a left vector is -1 before its length becomes 1.
    a[others] = -a[row]!
    vector(a, row, others, k, place, left + i * k, weights)
    vector(a, row, shares, k, place, row, weights)
  }
}

const join = (of: Halves, low: number, middle: number, high: number): void => {
  const { merge, u, v, c } = of
  const { a, n, values, z, kept, rest, d, weights, shares: own, products, others, sums, secular: loops } = merge
  const [size, end] = [high - low, Math.min(n, high + 1)]
  let most = Math.max(Math.abs(of.d[middle]!), Math.abs(of.e[middle]!))
  for (let i = low; i < high; i++) if (i !== middle) most = Math.max(most, values[i]!)
  const scale = scaleOf(most)
  shares(of, low, middle, high, end, scale)
  if (most === 0) return
  const least = (8 * Number.EPSILON * most) / scale
  if (Math.abs(z[middle]!) <= least) z[middle] = z[middle]! < 0 ? -least : least
  kept[0] = middle
  const k = deflate(
    merge,
    1,
    size,
    least,
    (p, j) => values[j]! - values[p]! <= least,
    (p, j, cos, sin) => {
      rotate(a, u + p * n + low, u + j * n + low, size, cos, sin)
      rotate(a, v + p * n + low, v + j * n + low, end - low, cos, sin)
    },
  )
  for (let j = 0; j < k; j++) {
    const share = z[kept[j]!]!
    a[d + j] = j === 1 ? Math.max(values[kept[j]!]!, least / 2) : values[kept[j]!]!
    a[own + j] = share
    a[weights + j] = share * share
  }
  const equation: Secular = { a, k, d, weights, squares: true, sums, loops }
  for (let j = 0; j < size - k; j++) others[j] = scale * values[rest[j]!]!
  for (let i = 0; i < k; i++) values[low + i] = scale * secularRoot(equation, i, c + i * k)
  for (let j = 0; j < size - k; j++) values[low + k + j] = others[j]!
  exactWeights(equation, c, own, products)
  const alone = placesOf(merge, k)
  const left = c + n * n
  coefficients(of, k, left)
  combine(merge, { at: v, low, split: middle + 1, end }, size, k, alone, c)
  combine(merge, { at: u, low, split: middle + 1, end: high }, size, k, alone, left)
}

const solve = (of: Halves, low: number, high: number): boolean => {
  if (high - low <= LEAF) return leaf(of, low, high)
  const middle = (low + high) >> 1
  if (!solve(of, low, middle) || !solve(of, middle + 1, high)) return false
  join(of, low, middle, high)
  return true
}

/**
 * Of the upper bidiagonal matrix with diagonal d and e beside it: its singular values, in no order, go to d, left and right vectors to the
 * rows of [n, n] matrices at `u` and `v` in `a`; at `room` there is room for 3 n n numbers, at `equation` for
 * those of one. False where a step finds no end.
 */
export const byHalves = (
  a: Float64Array,
  n: number,
  u: number,
  v: number,
  room: number,
  d: Float64Array,
  e: Float64Array,
  loops: Reflecting,
  equation: number,
): boolean => {
  for (const x of [d, e]) for (let i = 0; i < x.length; i++) if (Math.abs(x[i]!) <= TINY) x[i] = 0
  const merge = mergeOf(a, loops, n, room, equation)
  a.fill(0, u, u + n * n)
  a.fill(0, v, v + n * n)
  const found = solve({ merge, u, v, c: room + n * n, d, e, loops }, 0, n)
  d.set(merge.values)
  return found
}
