/**
 * A = Q R by Householder's reflections, with a diagonal of R that is not negative: blocks of columns, each halved, and reflections of a half
 * applied to what is right of it as I - V T V^T, so that most of the work is products. Source  Golub and Van Loan 2013, 5.2; Elmroth and Gustavson 2000.
 */
import { largestOf, scaleOf } from './gauge.js'
import type { Floats, SubtractProduct } from './product.js'

/** Columns whose reflections are applied one by one, and those that are applied together. */
const LEAF = 8
const BLOCK = 64
/** Up to so many columns reflections are applied one by one: products are too small to pay. */
const FEW = 40

/** Where the parts lie in the workspace: A with R and the vectors; Q; a T for each block, which has its square; two strips; V^T or a column. */
interface Layout {
  readonly m: number
  readonly n: number
  /** Columns of Q. */
  readonly columns: number
  readonly q: number
  readonly t: number
  readonly strip: number
  readonly v: number
  readonly size: number
}
export const qrLayout = (m: number, n: number, columns: number): Layout => {
  const block = Math.min(BLOCK, n)
  const q = m * n
  const t = q + m * columns
  const strip = t + Math.ceil(n / BLOCK) * block * block
  const v = strip + 2 * block * Math.max(columns, n, block)
  return { m, n, columns, q, t, strip, v, size: v + m * block }
}

/**
 * The reflection that makes the column of A from `from` on, `count` long, a multiple of the first unit vector: v is in its place (v_0 = 1
 * unwritten, the multiple in its stead), what is given back is tau of I - tau v v^T.
 */
const reflect = (a: Float64Array, from: number, row: number, count: number): number => {
  let scale = 0
  for (let i = 1; i < count; i++) scale = Math.max(scale, Math.abs(a[from + i * row]!))
  if (scale === 0) return 0
  const x = a[from]!
  scale = Math.max(scale, Math.abs(x))
  let squares = 0
  for (let i = 0; i < count; i++) {
    const share = a[from + i * row]! / scale
    squares += share * share
  }
  const length = (x > 0 ? -1 : 1) * scale * Math.sqrt(squares)
  for (let i = 1; i < count; i++) a[from + i * row]! /= x - length
  a[from] = length
  return (length - x) / length
}

/** B: [count, columns] becomes (I - tau v v^T) B; v without its first element is in the column of A after `from`. */
const apply = (
  tau: number,
  a: Float64Array,
  from: number,
  row: number,
  count: number,
  bAt: number,
  bRow: number,
  columns: number,
  w: number,
): void => {
  if (tau === 0 || columns <= 0) return
  for (let j = 0; j < columns; j++) a[w + j] = a[bAt + j]!
  for (let i = 1; i < count; i++) {
    const v = a[from + i * row]!
    const at = bAt + i * bRow
    for (let j = 0; j < columns; j++) a[w + j]! += v * a[at + j]!
  }
  for (let i = 0; i < count; i++) {
    const v = i === 0 ? tau : tau * a[from + i * row]!
    const at = bAt + i * bRow
    for (let j = 0; j < columns; j++) a[at + j]! -= v * a[w + j]!
  }
}

/** One factorisation: where it works, and the product that it works by. */
interface Work {
  readonly of: Layout
  readonly a: Float64Array
  readonly subtract: SubtractProduct
}
/** Columns of A that are factorised together, and where their T lies; `wide` is the distance of rows of T and of V. */
interface Block {
  readonly start: number
  readonly wide: number
  readonly t: number
}
const blockOf = ({ t, n }: Layout, start: number): Block => {
  const wide = Math.min(BLOCK, n)
  return { start, wide, t: t + Math.floor(start / BLOCK) * wide * wide }
}
/** Where T of the reflections from `first` on begins, and where V does. */
const tAt = ({ start, wide, t }: Block, first: number): number => t + (first - start) * (wide + 1)
const vAt = ({ v }: Layout, { start, wide }: Block, first: number, from: number): number => v + (from - start) * wide + first - start

/** The vectors of n reflections from `first` on with their ones and zeros, as columns of V. */
const unpack = ({ of, a }: Work, b: Block, first: number, n: number): void => {
  for (let i = b.start; i < of.m; i++) {
    const to = vAt(of, b, first, i)
    for (let j = 0; j < n; j++) a[to + j] = i < first + j ? 0 : i === first + j ? 1 : a[i * of.n + first + j]!
  }
}

/** B: [m - first, columns] becomes (I - V T V^T) B, or (I - V T^T V^T) B, for n reflections from `first` on. */
const applyTogether = (
  { of, a, subtract }: Work,
  b: Block,
  first: number,
  n: number,
  bAt: number,
  bRow: number,
  columns: number,
  transposed: boolean,
): void => {
  if (columns <= 0) return
  const [x, y] = [of.strip, of.strip + n * columns]
  const rows = of.m - first
  const v = vAt(of, b, first, first)
  a.fill(0, x, x + 2 * n * columns)
  subtract(a, x, columns, a, v, 1, b.wide, a, bAt, bRow, 1, n, columns, rows)
  subtract(a, y, columns, a, tAt(b, first), transposed ? 1 : b.wide, transposed ? b.wide : 1, a, x, columns, 1, n, columns, n)
  subtract(a, bAt, bRow, a, v, b.wide, 1, a, y, columns, 1, rows, columns, n)
}

/** T of head + tail reflections from those of both: beside them, where zeros are, stands -T1 (V1^T V2) T2. */
const joinT = ({ of, a, subtract }: Work, b: Block, first: number, head: number, tail: number): void => {
  const next = first + head
  const [x, y, corner] = [of.strip, of.strip + head * tail, tAt(b, first) + head]
  a.fill(0, x, x + 2 * head * tail)
  subtract(a, x, tail, a, vAt(of, b, first, next), 1, b.wide, a, vAt(of, b, next, next), b.wide, 1, head, tail, of.m - next)
  subtract(a, y, tail, a, tAt(b, first), b.wide, 1, a, x, tail, 1, head, tail, head)
  subtract(a, corner, b.wide, a, y, tail, 1, a, tAt(b, next), b.wide, 1, head, tail, tail)
}

/** R and the reflections of columns `first` to `first + n`, with V and T. */
const factor = (work: Work, b: Block, first: number, n: number): void => {
  const { of, a } = work
  if (n > LEAF) {
    const head = LEAF * Math.ceil(n / (2 * LEAF))
    const tail = n - head
    factor(work, b, first, head)
    applyTogether(work, b, first, head, first * of.n + first + head, of.n, tail, true)
    factor(work, b, first + head, tail)
    joinT(work, b, first, head, tail)
    return
  }
  for (let j = 0; j < n; j++) {
    const from = (first + j) * (of.n + 1)
    const tau = reflect(a, from, of.n, of.m - first - j)
    apply(tau, a, from, of.n, of.m - first - j, from + 1, of.n, n - j - 1, of.strip)
    a[tAt(b, first + j)] = tau
  }
  unpack(work, b, first, n)
  for (let j = 1; j < n; j++) joinT(work, b, first, j, 1)
}

/** Q of all columns at once, block by block from the last. */
const together = (work: Work): void => {
  const { of, a } = work
  for (let k = 0; k < of.n; k += BLOCK) {
    const b = blockOf(of, k)
    const n = Math.min(BLOCK, of.n - k)
    a.fill(0, b.t, b.t + b.wide * b.wide)
    factor(work, b, k, n)
    applyTogether(work, b, k, n, k * of.n + k + n, of.n, of.n - k - n, true)
  }
  identity(work)
  for (let k = BLOCK * Math.floor((of.n - 1) / BLOCK); k >= 0; k -= BLOCK) {
    const b = blockOf(of, k)
    const n = Math.min(BLOCK, of.n - k)
    unpack(work, b, k, n)
    applyTogether(work, b, k, n, of.q + k * of.columns + k, of.columns, of.columns - k, false)
  }
}
const identity = ({ of, a }: Work): void => {
  a.fill(0, of.q, of.t)
  for (let k = 0; k < of.columns; k++) a[of.q + k * (of.columns + 1)] = 1
}
/** One reflection after the other. */
const oneByOne = (work: Work): void => {
  const { of, a } = work
  const { m, n, columns } = of
  for (let k = 0; k < n; k++) {
    const from = k * n + k
    const tau = reflect(a, from, n, m - k)
    a[of.t + k] = tau
    apply(tau, a, from, n, m - k, from + 1, n, n - k - 1, of.strip)
  }
  identity(work)
  for (let k = n - 1; k >= 0; k--) apply(a[of.t + k]!, a, k * n + k, n, m - k, of.q + k * (columns + 1), columns, columns - k, of.strip)
}

/** Of A: [m, n], m >= n, at `aAt`: Q: [m, columns] (n or m of them) and R: [columns, n]. */
export const qr = (
  a: Floats,
  aAt: number,
  q: Floats,
  qAt: number,
  r: Floats,
  rAt: number,
  of: Layout,
  work: Float64Array,
  subtract: SubtractProduct,
): void => {
  const { m, n, columns } = of
  const scale = scaleOf(largestOf(a, aAt, m * n))
  for (let i = 0; i < m * n; i++) work[i] = a[aAt + i]! / scale
  if (n > FEW) together({ of, a: work, subtract })
  else oneByOne({ of, a: work, subtract })
  for (let i = 0; i < columns; i++) {
    const sign = i < n && work[i * n + i]! < 0 ? -1 : 1
    for (let j = 0; j < n; j++) r[rAt + i * n + j] = j < i || i >= n ? 0 : sign * scale * work[i * n + j]!
    for (let k = 0; k < m; k++) q[qAt + k * columns + i] = sign * work[of.q + k * columns + i]!
  }
}
