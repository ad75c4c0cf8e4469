/**
 * Many reflections applied to a matrix, in blocks I - V T V^T whose T comes from V^T V, so that most of the work is products of matrices.
 * Source  Schreiber and Van Loan 1989.
 */
import type { Reflecting, Space } from './loops.js'
import type { Floats } from './product.js'

/** Reflections that are applied together, at most; twice as many to matrices of `MANY` rows. */
const BLOCK = 32
const MANY = 200
const blockOf = (n: number): number => Math.min(n, n < MANY ? BLOCK : 2 * BLOCK)

/** Many reflections of as many rows, the vector of each one element shorter than that before: where their vectors and their tau lie. */
export interface Chain {
  readonly count: number
  /** Where the first element of the first vector lies, in place of its 1; the distance of elements, and of vectors. */
  readonly from: number
  readonly row: number
  readonly column: number
  readonly tau: number
}
/** One block, of `wide` reflections: V^T: [wide, rows], -V T: [rows, wide], -V^T V and T: [wide, wide], -V^T B, and where they lie in `a`. */
interface Block {
  readonly a: Floats
  readonly loops: Reflecting
  readonly wide: number
  readonly rows: number
  readonly v: number
  readonly m: number
  readonly g: number
  readonly t: number
  readonly x: number
}
/** Numbers that a chain of n reflections needs room for, and n columns that it is applied to. */
export const chainRoom = (n: number): number => (3 * n + 2 * blockOf(n)) * blockOf(n)

/** V^T of the reflections from number `first` of the chain on, with their ones and zeros. */
const unpack = ({ a, loops, wide, rows, v }: Block, { from, row, column }: Chain, first: number): void => {
  const own = from + first * (row + column)
  if (row === 1) for (let j = 0; j < wide; j++) a.copyWithin(v + j * rows, own + j * column, own + j * column + rows)
  else loops.turn(a, v, rows, a, own, row, rows, wide)
  for (let j = 0; j < wide; j++) {
    const to = v + j * rows
    a.fill(0, to, to + j)
    a[to + j] = 1
  }
}
/** T of n reflections from number `first` of the block on, whose tau are its diagonal. */
const triangle = (b: Block, first: number, n: number): void => {
  const { a, loops, wide, g, t, x } = b
  const own = t + first * (wide + 1)
  if (n > BLOCK) {
    const [head, tail] = [n >> 1, n - (n >> 1)]
    triangle(b, first, head)
    triangle(b, first + head, tail)
    a.fill(0, x, x + head * tail)
    loops.subtract(a, x, tail, a, own, wide, 1, a, g + first * (wide + 1) + head, wide, 1, head, tail, head)
    loops.subtract(a, own + head, wide, a, x, tail, 1, a, own + head * (wide + 1), wide, 1, head, tail, tail)
    return
  }
  for (let j = 1; j < n; j++) {
    const beside = g + (first + j) * wide + first
    const tau = a[own + j * (wide + 1)]!
    for (let i = 0; i < j; i++) {
      let s = 0
      for (let l = i; l < j; l++) s += a[own + i * wide + l]! * a[beside + l]!
      a[own + i * wide + j] = tau * s
    }
  }
}

/** B: [count, columns] becomes H1 H2 ... B, in blocks from the last, with room at `room`. */
const applyChain = (a: Floats, loops: Reflecting, chain: Chain, room: number, bAt: number, bRow: number, columns: number): void => {
  const { subtract } = loops
  const { count, tau } = chain
  const most = blockOf(count)
  for (let k = most * Math.floor((count - 1) / most); k >= 0; k -= most) {
    const [wide, rows, own] = [Math.min(most, count - k), count - k, bAt + k * bRow]
    const [v, m, g] = [room, room + wide * rows, room + 2 * wide * rows]
    const [t, x] = [g + wide * wide, g + 2 * wide * wide]
    const b: Block = { a, loops, wide, rows, v, m, g, t, x }
    unpack(b, chain, k)
    a.fill(0, m, x + wide * columns)
    subtract(a, g, wide, a, v, rows, 1, a, v, 1, rows, wide, wide, rows)
    for (let j = 0; j < wide; j++) a[t + j * (wide + 1)] = a[tau + k + j]!
    triangle(b, 0, wide)
    a.fill(0, x, x + wide * columns)
    subtract(a, m, wide, a, v, 1, rows, a, t, wide, 1, rows, wide, wide)
    subtract(a, x, columns, a, v, rows, 1, a, own, bRow, 1, wide, columns, rows)
    subtract(a, own, bRow, a, m, wide, 1, a, x, columns, 1, rows, columns, wide)
  }
}
/**
 * W'^T = H1 H2 ... W^T for W: [n, n] at `w` of the workspace, whose rows are taken in this order, and reflections of elements from `first` on, goes to `to`.
 * There is room for the rows at `rows`, and for blocks at `room`. All but `w` are places among the numbers of the space.
 */
export const applyToRows = (
  work: Float64Array,
  { x, per, by }: Space,
  chain: Chain,
  w: number,
  order: Int32Array,
  first: number,
  to: number,
  rows: number,
  room: number,
): void => {
  const n = order.length
  for (let i = 0; i < n; i++) {
    const [from, row] = [w + order[i]! * n, rows + i * n]
    if (per === 1) x.copyWithin(row, from, from + n)
    else for (let j = 0; j < n; j++) x[row + j] = work[from + j]!
  }
  by.turn(x, to, n, x, rows, n, n, n)
  applyChain(x, by, chain, room, to + first * n, n, n)
}
