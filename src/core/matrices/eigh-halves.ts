/**
 * Eigenvalues and eigenvectors of a tridiagonal matrix by halves: those of two matrices beside each other, and of what joins them.
 * Source  Cuppen 1981; Gu and Eisenstat 1995; LAPACK stedc.
 */
import { diagonalise } from './eigh-plain.js'
import { rotate } from './gauge.js'
import type { Reflecting } from './loops.js'
import { combine, deflate, FIRST, type Merge, mergeOf, placesOf, SECOND } from './merge.js'
import { exactWeights, type Secular, secularRoot, vectorOf } from './secular.js'

/** Matrices of at most so many rows are diagonalised as they are. */
const LEAF = 28

/** The matrix, and its vectors as rows of W: [n, n] at `w`; room for C at `c`, n n numbers. */
interface Halves {
  readonly merge: Merge
  readonly w: number
  readonly c: number
  readonly beside: Float64Array
  readonly loops: Reflecting
}

const leaf = ({ merge: { a, n, values }, w, c, beside, loops }: Halves, low: number, high: number): boolean => {
  const size = high - low
  const [own, d, e] = [w + low * (n + 1), c, c + size]
  for (let i = 0; i < size; i++) {
    a[own + i * (n + 1)] = 1
    a[d + i] = values[low + i]!
    a[e + i] = i > 0 ? beside[low + i - 1]! : 0
  }
  if (!diagonalise(a, own, n, size, d, e, e + size, loops)) return false
  for (let i = 0; i < size; i++) values[low + i] = a[d + i]!
  return true
}

/** Rows `low` to `middle` and `middle` to `high` of W become those of both and of `beta` between them. */
const join = ({ merge, w, c }: Halves, low: number, middle: number, high: number, beta: number): void => {
  if (beta === 0) return
  const { a, n, values, z, kinds, order, kept, rest, place, d, weights, shares, products, others, sums, secular: loops } = merge
  const size = high - low
  const factor = Math.sign(beta) * Math.SQRT1_2
  let most = 0
  let largest = 0
  for (let i = low; i < high; i++) {
    z[i] = i < middle ? Math.SQRT1_2 * a[w + i * n + middle - 1]! : factor * a[w + i * n + middle]!
    kinds[i] = i < middle ? FIRST : SECOND
    order[i - low] = i
    most = Math.max(most, Math.abs(values[i]!))
    largest = Math.max(largest, Math.abs(z[i]!))
  }
  order.subarray(0, size).sort((i, j) => values[i]! - values[j]! || i - j)
  const rho = 2 * Math.abs(beta)
  const least = 8 * Number.EPSILON * Math.max(most, largest)
  const k = deflate(
    merge,
    0,
    size,
    least / rho,
    (p, j, cos, sin) => Math.abs((values[j]! - values[p]!) * cos * sin) <= least,
    (p, j, cos, sin) => {
      rotate(a, w + p * n + low, w + j * n + low, size, cos, sin)
      const [x, y] = [values[p]!, values[j]!]
      values[p] = x * cos * cos + y * sin * sin
      values[j] = x * sin * sin + y * cos * cos
    },
  )
  if (k === 0) return
  for (let j = 0; j < k; j++) {
    const share = z[kept[j]!]!
    a[d + j] = values[kept[j]!]!
    a[shares + j] = share
    a[weights + j] = rho * share * share
  }
  for (let j = 0; j < size - k; j++) others[j] = values[rest[j]!]!
  const equation: Secular = { a, k, d, weights, squares: false, sums, loops }
  for (let i = 0; i < k; i++) values[low + i] = secularRoot(equation, i, c + i * k)
  for (let j = 0; j < size - k; j++) values[low + k + j] = others[j]!
  exactWeights(equation, c, shares, products)
  const alone = placesOf(merge, k)
  const vector = loops?.vector ?? vectorOf
  for (let i = 0, row = c; i < k; i++, row += k) vector(a, row, shares, k, place, row, weights)
  combine(merge, { at: w, low, split: middle, end: high }, size, k, alone, c)
}

const solve = (of: Halves, low: number, high: number): boolean => {
  if (high - low <= LEAF) return leaf(of, low, high)
  const { merge, beside } = of
  const { values } = merge
  const middle = (low + high) >> 1
  const beta = beside[middle - 1]!
  values[middle - 1]! -= Math.abs(beta)
  values[middle]! -= Math.abs(beta)
  if (!solve(of, low, middle) || !solve(of, middle, high)) return false
  join(of, low, middle, high, beta)
  return true
}

/**
 * Of the matrix with diagonal d, and e beside it: its eigenvalues, in no order, go to d, its eigenvectors to the rows of W: [n, n] at `w`
 * in `a`; at `room` there is room for 2 n n numbers, at `equation` for those
 * of one. False where a step finds no end.
 */
export const byHalves = (
  a: Float64Array,
  n: number,
  w: number,
  room: number,
  d: Float64Array,
  e: Float64Array,
  loops: Reflecting,
  equation: number,
): boolean => {
  const merge = mergeOf(a, loops, n, room, equation)
  merge.values.set(d)
  a.fill(0, w, w + n * n)
  const found = solve({ merge, w, c: room + n * n, beside: e, loops }, 0, n)
  d.set(merge.values)
  return found
}
