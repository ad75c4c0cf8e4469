/**
 * What dividing and conquering of eigenvalues and of singular values share: rows that hold vectors of two halves become those of the whole.
 * Source  Gu and Eisenstat 1994 and 1995; LAPACK laed2 and lasd2.
 */
import type { Reflecting, SecularLoops } from './loops.js'
import type { SubtractProduct } from './product.js'

/** Which columns a row has numbers in: those of the first half, of both, of the second. */
export const FIRST = 0
export const BOTH = 1
export const SECOND = 2

/** What merging works with. Lists of rows are of `n` at most. */
export interface Merge {
  readonly a: Float64Array
  readonly subtract: SubtractProduct
  readonly secular: SecularLoops | undefined
  /** The distance of rows. */
  readonly n: number
  /** Room for copies of rows, n n numbers. */
  readonly copies: number
  /** The value of each row, its share in what joins the halves, and which columns it has. */
  readonly values: Float64Array
  readonly z: Float64Array
  readonly kinds: Uint8Array
  /** Rows by value; those that take part, in ascending order; those that stay. */
  readonly order: Int32Array
  readonly kept: Int32Array
  readonly rest: Int32Array
  /** Of each that takes part its place among them by kind; behind the equation, so that a backend's code reads it. */
  readonly place: Int32Array
  /** Where poles, weights and shares of the equation lie. */
  readonly d: number
  readonly weights: number
  readonly shares: number
  /** Room for n numbers, and for four. */
  readonly products: number
  readonly sums: number
  /** Values of those that stay. */
  readonly others: Float64Array
}
/** Numbers of the equation. */
export const equationRoom = (n: number): number => 5 * n + 4
/** `equation` is where there is room for what is computed with it. */
export const mergeOf = (a: Float64Array, { subtract, secular }: Reflecting, n: number, copies: number, equation: number): Merge => ({
  a,
  subtract,
  secular,
  n,
  copies,
  values: new Float64Array(n),
  z: new Float64Array(n),
  kinds: new Uint8Array(n),
  order: new Int32Array(n),
  kept: new Int32Array(n),
  rest: new Int32Array(n),
  place: new Int32Array(a.buffer, a.byteOffset + 8 * (equation + 4 * n + 4), n),
  d: equation,
  weights: equation + n,
  shares: equation + 2 * n,
  products: equation + 3 * n,
  sums: equation + 4 * n,
  others: new Float64Array(n),
})

/**
 * Rows order[from] to order[count - 1] take part from kept[from] on unless their share is no more than `least`, or the next value is so
 * `close` that a rotation of both rows, by `rotate`, leaves one of them without a share. How many take part, with `from`.
 */
export const deflate = (
  { z, kinds, order, kept, rest }: Merge,
  from: number,
  count: number,
  least: number,
  close: (p: number, j: number, c: number, s: number) => boolean,
  rotate: (p: number, j: number, c: number, s: number) => void,
): number => {
  let [k, left, last] = [from, 0, -1]
  for (let at = from; at < count; at++) {
    const j = order[at]!
    if (Math.abs(z[j]!) <= least) {
      rest[left++] = j
      continue
    }
    if (last >= 0) {
      const length = Math.sqrt(z[j]! * z[j]! + z[last]! * z[last]!)
      const [c, s] = [z[j]! / length, -z[last]! / length]
      if (close(last, j, c, s)) {
        rotate(last, j, c, s)
        z[j] = length
        if (kinds[last] !== kinds[j]) kinds[j] = BOTH
        rest[left++] = last
      } else kept[k++] = last
    }
    last = j
  }
  if (last >= 0) kept[k++] = last
  return k
}

/** Places of the k rows that take part: of the first half, of both, of the second. How many are of the first alone, and of the second alone. */
export const placesOf = ({ kinds, kept, place }: Merge, k: number): readonly [first: number, second: number] => {
  const counts = [0, 0, 0]
  for (let j = 0; j < k; j++) counts[kinds[kept[j]!]!]!++
  const next = [0, counts[FIRST]!, counts[FIRST]! + counts[BOTH]!]
  for (let j = 0; j < k; j++) place[j] = next[kinds[kept[j]!]!]!++
  return [counts[FIRST]!, counts[SECOND]!]
}

/** A matrix of rows: rows and columns from `low` on, those of the first half up to `split`. */
export interface Rows {
  readonly at: number
  readonly low: number
  readonly split: number
  /** Columns end there. */
  readonly end: number
}
/**
 * Of `size` rows from `low` on the first k become -C times those that take part, in the order of their places; those that stay follow.
 * C: [k, k] lies at `c`.
 */
export const combine = (
  of: Merge,
  { at, low, split, end }: Rows,
  size: number,
  k: number,
  alone: readonly [number, number],
  c: number,
): void => {
  const { a, n, subtract, copies, kinds, kept, rest, place } = of
  const [first, second] = alone
  const [wide, other] = [split - low, end - split]
  const right = copies + (k - second) * wide
  const stay = right + (k - first) * other
  for (let j = 0; j < k; j++) {
    const row = at + kept[j]! * n
    const kind = kinds[kept[j]!]!
    if (kind !== SECOND) a.copyWithin(copies + place[j]! * wide, row + low, row + split)
    if (kind !== FIRST) a.copyWithin(right + (place[j]! - first) * other, row + split, row + end)
  }
  for (let j = 0; j < size - k; j++) a.copyWithin(stay + j * (end - low), at + rest[j]! * n + low, at + rest[j]! * n + end)
  const to = at + low * n + low
  for (let j = 0; j < k; j++) a.fill(0, to + j * n, to + j * n + end - low)
  subtract(a, to, n, a, c, k, 1, a, copies, wide, 1, k, wide, k - second)
  subtract(a, to + wide, n, a, c + first, k, 1, a, right, other, 1, k, other, k - first)
  for (let j = 0; j < size - k; j++) a.copyWithin(to + (k + j) * n, stay + j * (end - low), stay + (j + 1) * (end - low))
}
