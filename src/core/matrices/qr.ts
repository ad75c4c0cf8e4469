/**
 * A = Q R by Householder's reflections, with a diagonal of R that is not negative: blocks of columns, each halved, and reflections of a half
 * applied to what is right of it as I - V T V^T, so that most of the work is products. Source  Golub and Van Loan 2013, 5.2; Elmroth and Gustavson 2000.
 */
import { copyScaled, largestOf, scaleOf } from './gauge.js'
import type { Reflecting } from './loops.js'
import type { Floats } from './product.js'
import { applyTogether, extendTogether, joinT, type Reflections, reflect, tAt, unpack } from './reflections.js'

/** Columns whose reflections are applied one by one. */
const LEAF = 8
/** Up to so many columns reflections are applied one by one: products are too small to pay; and where a backend reduces panels. */
const FEW = 40
const FEW_REDUCED = 14
/** Columns of a block; from so many columns on twice as many. */
const BLOCK = 32
const MANY = 400

/** Where the parts lie in the workspace: A with R and the vectors; Q; a T for each block, which has its square; two strips; V^T or a column. */
interface Layout {
  readonly m: number
  readonly n: number
  /** Columns of Q, and of a block. */
  readonly columns: number
  readonly block: number
  readonly q: number
  readonly t: number
  readonly strip: number
  readonly v: number
  readonly size: number
}
export const qrLayout = (m: number, n: number, columns: number): Layout => {
  const block = Math.min(n < MANY ? BLOCK : 2 * BLOCK, n)
  const q = m * n
  const t = q + m * columns
  const strip = t + Math.ceil(n / Math.max(1, block)) * block * block
  const v = strip + 2 * block * Math.max(columns, n, block)
  return { m, n, columns, block, q, t, strip, v, size: v + m * block }
}

/** B: [count, columns] becomes (I - tau v v^T) B; v without its first element is in the column of A after `from`. */
const apply = (
  tau: number,
  a: Floats,
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

/** One factorisation: where it works, and what it works by. */
interface Work {
  readonly of: Layout
  readonly a: Floats
  readonly loops: Reflecting
}
/** The reflections of columns from `start` on. */
const blockOf = ({ of, a, loops }: Work, start: number): Reflections => {
  const wide = of.block
  return { a, loops, rows: of.m - start, wide, v: of.v, t: of.t + start * wide, strip: of.strip }
}
/** R and the reflections of n columns from number `first` of the block at `start` on, with V and T. */
const factor = (work: Work, b: Reflections, start: number, first: number, n: number): void => {
  const { of, a } = work
  const own = start * (of.n + 1)
  if (n > LEAF) {
    const head = LEAF * Math.ceil(n / (2 * LEAF))
    const tail = n - head
    factor(work, b, start, first, head)
    applyTogether(b, first, head, own + first * (of.n + 1) + head, of.n, tail, true)
    factor(work, b, start, first + head, tail)
    joinT(b, first, head, tail)
    return
  }
  const { reflect: columns } = work.loops
  if (columns !== undefined) {
    unpack(b, first, n, own, of.n, 1, first)
    columns(a, own + first * (of.n + 1), of.n, b.rows - first, n, tAt(b, first), b.wide, b.v + first * (b.wide + 1), b.wide)
    return
  }
  for (let j = 0; j < n; j++) {
    const from = own + (first + j) * (of.n + 1)
    const count = b.rows - first - j
    const tau = reflect(a, from, of.n, count)
    apply(tau, a, from, of.n, count, from + 1, of.n, n - j - 1, of.strip)
    a[tAt(b, first + j)] = tau
  }
  unpack(b, first, n, own, of.n, 1)
  for (let j = 1; j < n; j++) joinT(b, first, j, 1)
}

/** Q of all columns at once, block by block from the last. */
const together = (work: Work): void => {
  const { of, a } = work
  const { block } = of
  for (let k = 0; k < of.n; k += block) {
    const b = blockOf(work, k)
    const n = Math.min(block, of.n - k)
    a.fill(0, b.t, b.t + b.wide * b.wide)
    factor(work, b, k, 0, n)
    applyTogether(b, 0, n, k * of.n + k + n, of.n, of.n - k - n, true)
  }
  identity(work)
  for (let k = block * Math.floor((of.n - 1) / block); k >= 0; k -= block) {
    const b = blockOf(work, k)
    const n = Math.min(block, of.n - k)
    unpack(b, 0, n, k * (of.n + 1), of.n, 1)
    extendTogether(b, n, of.q + k * (of.columns + 1), of.columns, of.columns - k)
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

/** Whether matrices of so many columns are large enough for f32, where that is what is asked for. */
export const qrIsLarge = (n: number): boolean => n > FEW

/** Of A: [m, n], m >= n, at `aAt`: Q: [m, columns] (n or m of them) and R: [columns, n]. */
export const qr = (
  a: Floats,
  aAt: number,
  q: Floats,
  qAt: number,
  r: Floats,
  rAt: number,
  of: Layout,
  work: Floats,
  loops: Reflecting,
): void => {
  const { m, n, columns } = of
  const scale = scaleOf(largestOf(a, aAt, m * n))
  copyScaled(work, 0, a, aAt, m * n, scale)
  if (n > (loops.reflect === undefined ? FEW : FEW_REDUCED)) together({ of, a: work, loops })
  else oneByOne({ of, a: work, loops })
  const signs = new Float64Array(columns).fill(1)
  r.fill(0, rAt, rAt + columns * n)
  for (let i = 0; i < columns; i++) {
    const from = i * n
    if (i < n && work[from + i]! < 0) signs[i] = -1
    const by = signs[i]! * scale
    const to = rAt + i * n
    for (let j = i; j < n; j++) r[to + j] = by * work[from + j]!
  }
  for (let k = 0; k < m; k++) {
    const [from, to] = [of.q + k * columns, qAt + k * columns]
    for (let i = 0; i < columns; i++) q[to + i] = signs[i]! * work[from + i]!
  }
}
