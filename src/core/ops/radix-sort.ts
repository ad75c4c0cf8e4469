/**
 * Stable order of numbers, NaN after everything and zeros equal: digit by digit from the last, of keys that have the order of the numbers.
 * Source  Knuth 1998, 5.2.5; Herf 2001 (keys of floats).
 */
import type { DType } from '../types/dtype.js'

/** Lines of at most so many are sorted by insertion. */
const FEW = 48
const DIGITS = 256
const SIGN = 0x8000_0000

/** Where a belongs behind b. */
const isAfter = (a: number, b: number): boolean => a > b || (Number.isNaN(a) && !Number.isNaN(b))
const insertionOrder = (x: Float64Array, descending: boolean, order: Int32Array): void => {
  for (let i = 0; i < order.length; i++) {
    const v = x[i]!
    let k = i
    while (k > 0 && (descending ? isAfter(v, x[order[k - 1]!]!) : isAfter(x[order[k - 1]!]!, v))) {
      order[k] = order[k - 1]!
      k--
    }
    order[k] = i
  }
}

/** Keys of one word, as unsigned integers: bits whose sign is flipped, and of negative numbers all. `other` is -1 where the order is turned. */
const narrowKeys = (x: Float64Array, dtype: DType, other: number, keys: Uint32Array): void => {
  if (dtype === 'f32') new Float32Array(keys.buffer).set(x)
  else new Int32Array(keys.buffer).set(x)
  const float = dtype === 'f32'
  for (let i = 0; i < keys.length; i++) {
    const v = x[i]!
    const bits = keys[i]!
    const key = !float ? bits ^ SIGN : Number.isNaN(v) ? -1 : v === 0 ? SIGN : bits >= SIGN ? ~bits : bits | SIGN
    keys[i] = key ^ other
  }
}
/** Keys of two words: those of the last digits, and those of the first. */
const wideKeys = (x: Float64Array, other: number, low: Uint32Array, high: Uint32Array): void => {
  const words = new Uint32Array(x.buffer, x.byteOffset, 2 * x.length)
  for (let i = 0; i < x.length; i++) {
    const v = x[i]!
    const a = words[2 * i]!
    const b = words[2 * i + 1]!
    const regular = !Number.isNaN(v) && v !== 0
    const negative = regular && b >= SIGN
    low[i] = (regular ? (negative ? ~a : a) : Number.isNaN(v) ? -1 : 0) ^ other
    high[i] = (regular ? (negative ? ~b : b | SIGN) : Number.isNaN(v) ? -1 : SIGN) ^ other
  }
}

/** Two of each array: a pass reads one and writes the other. */
type Twice<T> = [from: T, to: T]
const twice = <T>(make: () => T): Twice<T> => [make(), make()]

/** Room to sort lines of n numbers in. */
export interface Sorting {
  readonly n: number
  readonly dtype: DType
  readonly keys: readonly Twice<Uint32Array>[]
  readonly order: Twice<Int32Array>
  readonly counts: Uint32Array
}
export const sorting = (n: number, dtype: DType): Sorting => ({
  n,
  dtype,
  keys: n > FEW ? Array.from({ length: dtype === 'f64' ? 2 : 1 }, () => twice(() => new Uint32Array(n))) : [],
  order: twice(() => new Int32Array(n)),
  counts: new Uint32Array(DIGITS),
})

/** One pass: by the digit at `shift` of the keys number `word`. Nothing moves where all have the same. */
const pass = ({ n, keys, order, counts }: Sorting, word: number, shift: number): void => {
  const [digits] = keys[word]!
  counts.fill(0)
  for (let i = 0; i < n; i++) counts[(digits[i]! >>> shift) & 255]!++
  if (counts[(digits[0]! >>> shift) & 255] === n) return
  for (let d = 0, at = 0; d < DIGITS; d++) {
    const count = counts[d]!
    counts[d] = at
    at += count
  }
  const [from, to] = order
  // Keys of words that are done are not read again.
  const first = keys[keys.length - 1]!
  const rest = word === keys.length - 1 ? undefined : first
  const moved = keys[word]![1]
  for (let i = 0; i < n; i++) {
    const place = counts[(digits[i]! >>> shift) & 255]!++
    to[place] = from[i]!
    moved[place] = digits[i]!
    if (rest !== undefined) rest[1][place] = rest[0][i]!
  }
  order.reverse()
  keys[word]!.reverse()
  rest?.reverse()
}

/** Part of an order: the places from ... to - 1. */
interface Places {
  readonly descending: boolean
  readonly from: number
  readonly to: number
}
/** Lines above this are split finer: by a sign, an exponent and the first bits behind it. */
const LONG = 1 << 15
/**
 * Where the numbers at these places of the order stand: valid until the next call. Where few are asked for, numbers are counted by the first bits of their keys, and those alone are sorted that share
 * them with what is asked for: in the order of the line, so that equals keep theirs.
 */
export const placesOf = (s: Sorting, x: Float64Array, { descending, from, to }: Places): Int32Array => {
  const { n, dtype, keys } = s
  if (n <= FEW || to - from > n / 2) return orderOf(s, x, descending).subarray(from, to)
  const other = descending ? -1 : 0
  if (keys.length === 1) narrowKeys(x, dtype, other, keys[0]![0])
  else wideKeys(x, other, keys[0]![0], keys[1]![0])
  const first = keys[keys.length - 1]![0]
  const bits = n > LONG ? 16 : 11
  const shift = 32 - bits
  const counts = new Uint32Array(1 << bits)
  for (let i = 0; i < n; i++) counts[first[i]! >>> shift]!++
  let [low, before] = [0, 0]
  while (low < counts.length - 1 && before + counts[low]! <= from) before += counts[low++]!
  let [high, behind] = [low, before + counts[low]!]
  while (behind < to) behind += counts[++high]!
  const found = new Int32Array(behind - before)
  if (found.length > n / 2) return orderOf(s, x, descending).subarray(from, to)
  for (let i = 0, k = 0; i < n; i++) {
    const digit = first[i]! >>> shift
    if (digit >= low && digit <= high) found[k++] = i
  }
  const order = orderOf(
    sorting(found.length, dtype),
    Float64Array.from(found, (i) => x[i]!),
    descending,
  )
  return found.map((_, k) => found[order[k]!]!).subarray(from - before, to - before)
}

/** Where the numbers stand in order, the least first, or the largest: valid until the next call. */
export const orderOf = (s: Sorting, x: Float64Array, descending: boolean): Int32Array => {
  const { n, dtype, keys, order } = s
  if (n <= FEW) {
    insertionOrder(x, descending, order[0])
    return order[0]
  }
  for (let i = 0; i < n; i++) order[0][i] = i
  const other = descending ? -1 : 0
  if (keys.length === 1) narrowKeys(x, dtype, other, keys[0]![0])
  else wideKeys(x, other, keys[0]![0], keys[1]![0])
  for (let word = 0; word < keys.length; word++) for (let shift = 0; shift < 32; shift += 8) pass(s, word, shift)
  return order[0]
}
