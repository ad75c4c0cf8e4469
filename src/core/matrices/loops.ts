/** The loops that factorisations come down to. A backend may compute each faster; these are plain. */
import { type Floats, LEAF, type SubtractProduct, subtractProduct } from './product.js'

/** What every factorisation of large matrices needs. */
export interface Basics {
  /** C -= A B. */
  readonly subtract: SubtractProduct
  /** Element (j, i) of `to` becomes (i, j) of `from`: [m, n]. */
  readonly turn: (to: Floats, toAt: number, toRow: number, from: Floats, fromAt: number, fromRow: number, m: number, n: number) => void
}
/** What factorisations by reflections have as well where a backend has it faster; all that they are given lies in one array. */
export interface Reflecting extends Basics {
  /** These loops for matrices of f32, where that is what is asked for: large ones are reduced and multiplied in it. */
  readonly narrow?: Reflecting
  /**
   * `n` columns of A: [m, n], m >= n, become R and the vectors of their reflections, as `reflect` leaves them; these go to V: [m, n] with
   * their ones and zeros, and T of I - V T V^T to the upper triangle of T: [n, n]. At most LEAF / 2 columns, of numbers near 1 or smaller.
   */
  readonly reflect?: (a: Floats, at: number, row: number, m: number, n: number, t: number, tRow: number, v: number, vRow: number) => void
  /** As `decidingOf` and `signedOf` have them (gauge.ts). */
  readonly deciding?: (x: Floats, at: number, row: number, m: number, n: number, to: number) => void
  readonly signed?: (to: Floats, toAt: number, x: Floats, at: number, row: number, m: number, n: number, signs: number) => void
  /** Rotations of rows, as `rotateAll` has them (gauge.ts). */
  readonly rotate?: (a: Float64Array, at: number, row: number, n: number, count: number, by: number) => void
  /** A panel of tridiagonal.ts. */
  readonly tridiagonal?: (
    a: Floats,
    at: number,
    row: number,
    n: number,
    count: number,
    v: number,
    vRow: number,
    d: number,
    e: number,
    tau: number,
    c: number,
  ) => void
  /** A panel of bidiagonal.ts. */
  readonly bidiagonal?: (
    a: Floats,
    at: number,
    row: number,
    n: number,
    count: number,
    left: number,
    right: number,
    pRow: number,
    d: number,
    e: number,
    tauLeft: number,
    tauRight: number,
    c: number,
  ) => void
  /** Secular equations (secular.ts), whose poles, weights, gaps and sums lie in one array. */
  readonly secular?: SecularLoops
}
/** A workspace that reflections work in: its numbers, how many of these one f64 makes, and their loops. */
export interface Space {
  readonly x: Floats
  readonly per: 1 | 2
  readonly by: Reflecting
}
/** A workspace, in f32 where matrices are `large` and loops are there for it. */
export const spaceOf = (work: Float64Array, loops: Reflecting, large: boolean): Space =>
  large && loops.narrow !== undefined
    ? { x: new Float32Array(work.buffer, work.byteOffset, 2 * work.length), per: 2, by: loops.narrow }
    : { x: work, per: 1, by: loops }
/** As in secular.ts, which says what these are. */
export interface SecularLoops {
  readonly sums: (
    a: Float64Array,
    d: number,
    w: number,
    split: number,
    n: number,
    own: number,
    tau: number,
    squares: boolean,
    gaps: number,
    sums: number,
  ) => void
  /** n products from `to` on are multiplied by gaps_j / (p_j - p), for the poles from `d` on, and the pole p of `own`. */
  readonly weigh: (a: Float64Array, to: number, gaps: number, d: number, n: number, own: number, squares: boolean) => void
  readonly vector: (a: Float64Array, gaps: number, shares: number, n: number, place: Int32Array, to: number, room: number) => void
}
/** What factorisations by elimination need. */
export interface Eliminating extends Basics {
  /**
   * B: [n, columns], with unit column stride, becomes T^-1 B for the lower triangle of T, with a diagonal of ones where `unit`. Where
   * distances of T and B are negative, that is an upper triangle, read from its end.
   */
  readonly solve: (
    t: Floats,
    tAt: number,
    tRow: number,
    tColumn: number,
    unit: boolean,
    b: Floats,
    bAt: number,
    bRow: number,
    n: number,
    columns: number,
  ) => void
  /** The upper triangle of A: [n, n] becomes U with A = U^T U; what is below the diagonal is left as it is. False where a pivot is not positive. */
  readonly cholesky: (a: Floats, at: number, row: number, n: number) => boolean
  /**
   * P A = L U for A: [m, n], m >= 1, n of LEAF at most, in place. Which row was swapped with each of the first goes to `pivots` from `pAt` on, as its number in
   * the panel and `first`.
   */
  readonly lu: (a: Floats, at: number, row: number, m: number, n: number, first: number, pivots: Int32Array, pAt: number) => void
  /** Rows `first` to `first + count` of A: [..., columns] change places with those that pivots[pAt + row] name, one after the other. */
  readonly swap: (
    a: Floats,
    at: number,
    row: number,
    columns: number,
    pivots: Int32Array,
    pAt: number,
    first: number,
    count: number,
  ) => void
  /** Rows of the systems that `solve` is asked for, at most. */
  readonly leaf: number
}

/** A zero on the diagonal gives infinities and NaN. */
const solve: Eliminating['solve'] = (t, tAt, tRow, tColumn, unit, b, bAt, bRow, n, columns) => {
  for (let i = 0; i < n; i++) {
    const to = bAt + i * bRow
    const from = tAt + i * tRow
    const d = t[from + i * tColumn]!
    if (columns === 1) {
      let s = b[to]!
      for (let k = 0; k < i; k++) s -= t[from + k * tColumn]! * b[bAt + k * bRow]!
      b[to] = unit ? s : s / d
      continue
    }
    for (let k = 0; k < i; k++) {
      const x = t[from + k * tColumn]!
      const known = bAt + k * bRow
      for (let j = 0; j < columns; j++) b[to + j]! -= x * b[known + j]!
    }
    if (!unit) for (let j = 0; j < columns; j++) b[to + j]! /= d
  }
}

const cholesky: Eliminating['cholesky'] = (a, at, row, n) => {
  for (let i = 0; i < n; i++) {
    const own = at + i * row
    for (let k = 0; k < i; k++) {
      const other = at + k * row
      const x = a[other + i]!
      for (let j = i; j < n; j++) a[own + j]! -= x * a[other + j]!
    }
    const s = a[own + i]!
    if (!(s > 0 && s < Number.POSITIVE_INFINITY)) return false
    const d = Math.sqrt(s)
    a[own + i] = d
    for (let j = i + 1; j < n; j++) a[own + j]! /= d
  }
  return true
}

const swapRows = (a: Floats, x: number, y: number, columns: number): void => {
  for (let k = 0; k < columns; k++) {
    const kept = a[x + k]!
    a[x + k] = a[y + k]!
    a[y + k] = kept
  }
}
/** The row of the element of a column that is largest in size, the first of equals; of a NaN where there is one, so that it is in the result. */
const largest = (a: Floats, at: number, row: number, from: number, m: number): number => {
  let found = from
  let most = -1
  for (let i = from; i < m; i++) {
    const x = Math.abs(a[at + i * row]!)
    if (x > most) {
      most = x
      found = i
    } else if (Number.isNaN(x)) return i
  }
  return found
}
const lu: Eliminating['lu'] = (a, at, row, m, n, first, pivots, pAt) => {
  for (let s = 0; s < Math.min(m, n); s++) {
    const pivot = largest(a, at + s, row, s, m)
    pivots[pAt + s] = first + pivot
    if (pivot !== s) swapRows(a, at + s * row, at + pivot * row, n)
    const from = at + s * row
    const d = a[from + s]!
    for (let i = s + 1; i < m; i++) {
      const to = at + i * row
      // A column of zeros needs no elimination, and its pivot has no reciprocal.
      const x = d === 0 ? a[to + s]! : a[to + s]! / d
      a[to + s] = x
      if (x !== 0) for (let j = s + 1; j < n; j++) a[to + j]! -= x * a[from + j]!
    }
  }
}
const swap: Eliminating['swap'] = (a, at, row, columns, pivots, pAt, first, count) => {
  for (let i = first; i < first + count; i++) {
    const other = pivots[pAt + i]!
    if (other !== i) swapRows(a, at + i * row, at + other * row, columns)
  }
}
const turn: Basics['turn'] = (to, toAt, toRow, from, fromAt, fromRow, m, n) => {
  for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) to[toAt + j * toRow + i] = from[fromAt + i * fromRow + j]!
}

export const plainBasics: Reflecting = { subtract: subtractProduct, turn }
export const plainEliminating: Eliminating = { subtract: subtractProduct, turn, solve, cholesky, lu, swap, leaf: LEAF }
