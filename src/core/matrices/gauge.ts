import type { Reflecting } from './loops.js'
import type { Floats } from './product.js'

/** Signs of vectors that are unique but for it: the component that is largest in size, the first of equals, is positive. */
export const flips = (v: Floats, at: number, n: number): boolean => {
  let most = 0
  let size = -1
  for (let i = 0; i < n; i++) {
    const x = Math.abs(v[at + i]!)
    if (x > size * NEARLY) {
      size = x
      most = i
    }
  }
  return n > 0 && v[at + most]! < 0
}
/** Components that are equal to four digits count as equal, so that it is the first of them whatever rounds them. */
export const NEARLY = 1.0001

/** Where vectors are found: the first element of the first, the distance of vectors, and of elements. */
export interface Vectors {
  readonly at: number
  readonly vector: number
  readonly element: number
}
/** -1 for each of `count` vectors of n elements that `flips`, else 1. */
export const signsOf = (a: Floats, { at, vector, element }: Vectors, count: number, n: number): Float64Array => {
  const signs = new Float64Array(count)
  if (element === 1) {
    for (let k = 0; k < count; k++) signs[k] = flips(a, at + k * vector, n) ? -1 : 1
    return signs
  }
  const sizes = new Float64Array(count).fill(-1)
  for (let j = 0; j < n; j++)
    for (let k = 0, from = at + j * element; k < count; k++, from += vector) {
      const x = a[from]!
      const size = Math.abs(x)
      if (size > sizes[k]! * NEARLY) {
        sizes[k] = size
        signs[k] = x < 0 ? -1 : 1
      }
    }
  return signs
}
/** The vectors in this order, each times its sign, become the columns of a matrix: [n, count]. */
export const columnsOf = (
  a: Floats,
  { at, vector, element }: Vectors,
  order: Int32Array,
  signs: Float64Array,
  to: Floats,
  toAt: number,
  n: number,
): void => {
  const count = order.length
  for (let j = 0; j < n; j++) {
    const [from, row] = [at + j * element, toAt + j * count]
    for (let k = 0; k < count; k++) to[row + k] = signs[order[k]!]! * a[from + order[k]! * vector]!
  }
}
/**
 * Of the columns of X: [m, n] the number of each that is largest in size, the first of nearly equal ones, which decides about its sign; room for n numbers is
 * behind these.
 */
export const decidingOf: NonNullable<Reflecting['deciding']> = (x, at, row, m, n, to) => {
  x.fill(-1, to + n, to + 2 * n)
  for (let i = 0; i < m; i++)
    for (let k = 0; k < n; k++) {
      const value = x[at + i * row + k]!
      const size = Math.abs(value)
      if (size <= x[to + n + k]! * NEARLY) continue
      x[to + n + k] = size
      x[to + k] = value
    }
}
/** The columns of X: [m, n], each with the other sign where its number in `signs` is negative, become those of a matrix. */
export const signedOf: NonNullable<Reflecting['signed']> = (to, toAt, x, at, row, m, n, signs) => {
  for (let i = 0; i < m; i++)
    for (let k = 0; k < n; k++) to[toAt + i * n + k] = x[signs + k]! < 0 ? -x[at + i * row + k]! : x[at + i * row + k]!
}
/** x and y, rotated: x' = c x + s y, y' = c y - s x, for rows of a matrix. */
export const rotate = (v: Float64Array, x: number, y: number, n: number, c: number, s: number): void => {
  for (let k = 0; k < n; k++) {
    const p = v[x + k]!
    const q = v[y + k]!
    v[x + k] = c * p + s * q
    v[y + k] = c * q - s * p
  }
}
/** Neighbours of `count` + 1 rows from `at` on are rotated, the first two first; the cosine and sine of each are at `by`, side by side. */
export const rotateAll: NonNullable<Reflecting['rotate']> = (a, at, row, n, count, by) => {
  for (let k = 0; k < count; k++) rotate(a, at + k * row, at + (k + 1) * row, n, a[by + 2 * k]!, a[by + 2 * k + 1]!)
}
/** A power of two near a largest size, or 1: numbers over it have squares that neither overflow nor vanish, and scaling rounds nothing. */
export const scaleOf = (size: number): number => (size > 0 ? 2 ** Math.max(-1070, Math.min(1023, Math.round(Math.log2(size)))) : 1)
/** Numbers over a scale, which is exact. */
export const copyScaled = (to: Floats, toAt: number, from: Floats, at: number, count: number, scale: number): void => {
  const by = 1 / scale
  // What the smallest numbers are multiplied by is too large to be one.
  if (by === Number.POSITIVE_INFINITY) for (let i = 0; i < count; i++) to[toAt + i] = from[at + i]! / scale
  else for (let i = 0; i < count; i++) to[toAt + i] = by * from[at + i]!
}
/** The largest |x| of `count` numbers; NaN where one is not finite. */
export const largestOf = (a: ArrayLike<number>, at: number, count: number): number => {
  let most = 0
  for (let i = 0; i < count; i++) {
    const x = Math.abs(a[at + i]!)
    if (!(x < Number.POSITIVE_INFINITY)) return Number.NaN
    if (x > most) most = x
  }
  return most
}
/** The square root of x^2 + y^2. Math.hypot takes many times as long, and is asked only where squares would overflow or vanish. */
export const hypotenuse = (x: number, y: number): number => {
  const square = x * x + y * y
  return square > 2 ** -900 && square < Number.POSITIVE_INFINITY ? Math.sqrt(square) : Math.hypot(x, y)
}
/** Numbers 0 to n - 1 in ascending order of the keys from `keys` on, equal ones in their own. */
export const sorted = (work: Float64Array, keys: number, n: number): Int32Array => {
  const order = new Int32Array(n)
  if (n > 32) {
    for (let i = 0; i < n; i++) order[i] = i
    return order.sort((i, j) => work[keys + i]! - work[keys + j]! || i - j)
  }
  for (let i = 0; i < n; i++) {
    const key = work[keys + i]!
    let at = i
    for (; at > 0 && work[keys + order[at - 1]!]! > key; at--) order[at] = order[at - 1]!
    order[at] = i
  }
  return order
}
/** Beside a matrix whose largest number is near 1, what is no larger counts as 0: rotations by numbers with few digits would be none. */
export const TINY = 2 ** -966
