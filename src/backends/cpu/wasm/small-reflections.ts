/*
 * Q and R of matrices with a few rows, by Householder's reflections, as kernels for one shape (pairs.ts); as `qr` in core/matrices.
 */
import type { Local, Module, Operand } from './encoder.js'
import { eachPair, loadAll, type Pairs, type SmallShape } from './pairs.js'

/** I - tau v v^T: v has a 1 in row k, and these below. */
interface Reflection {
  readonly k: number
  readonly tau: Local
  readonly below: readonly Local[]
}
/**
 * The reflection that makes column k of A a multiple of the first unit vector from row k on: the multiple takes its place. All but that is of the
 * column over a power of two near its largest number, since what is left of a matrix of low rank has few digits.
 */
const reflectionOf = (p: Pairs, a: readonly (readonly Local[])[], k: number): Reflection => {
  const own = a[k]![k]!
  const under = a.slice(k + 1).map((row) => row[k]!)
  if (under.length === 0) return { k, tau: p.keep(p.c(0)), below: [] }
  const size = p.keep(p.largest(under))
  const scale = p.keep(p.powerBelow(p.max(size, p.abs(own))))
  const [first, ...rest] = p.over([own, ...under], scale) as [Local, ...Local[]]
  const length = p.keep(p.sqrt(p.dot(...[first, ...rest].map((x): [Local, Local] => [x, x]))))
  // Where there is nothing below, the column stays as it is.
  const still = p.keep(p.eq(size, p.c(0)))
  const end = p.keep(p.flip(length, p.gt(own, p.c(0))))
  const tau = p.keep(p.without(p.div(p.sub(end, first), end), still))
  const divisor = p.keep(p.choose(still, p.c(1), p.sub(first, end)))
  const below = rest.map((x) => p.keep(p.div(x, divisor)))
  p.set(own, p.choose(still, own, p.mul(scale, end)))
  return { k, tau, below }
}
/** B becomes (I - tau v v^T) B in one column, of which the elements from row k on are given. */
const reflect = (p: Pairs, { tau, below }: Reflection, [first, ...rest]: readonly Local[]): void => {
  const w = p.keep(p.mul(tau, p.add(first!, p.dot(...below.map((v, i): [Local, Local] => [v, rest[i]!])))))
  p.set(first!, p.sub(first!, w))
  below.forEach((v, i) => {
    p.set(rest[i]!, p.sub(rest[i]!, p.mul(v, w)))
  })
}

/** Columns of Q, so many, of the matrix whose elements are given: R takes their place, with a diagonal that is not negative. */
export const reflections = (p: Pairs, a: readonly (readonly Local[])[], columns: number): readonly (readonly Local[])[] => {
  const n = a[0]?.length ?? 0
  const m = a.length
  const all = Array.from({ length: n }, (_, k) => {
    const r = reflectionOf(p, a, k)
    if (r.below.length > 0)
      for (let j = k + 1; j < n; j++)
        reflect(
          p,
          r,
          a.slice(k).map((row) => row[j]!),
        )
    return r
  })
  const q = Array.from({ length: m }, (_, i) => Array.from({ length: columns }, (_, j) => p.keep(p.c(i === j ? 1 : 0))))
  for (const r of [...all].reverse())
    if (r.below.length > 0)
      for (let j = r.k; j < columns; j++)
        reflect(
          p,
          r,
          q.slice(r.k).map((row) => row[j]!),
        )
  for (let i = 0; i < n; i++) {
    const negative = p.keep(p.lt(a[i]![i]!, p.c(0)))
    for (const x of [...a[i]!.slice(i), ...q.map((row) => row[i]!)]) p.set(x, p.flip(x, negative))
  }
  return q
}

/** Q: [m, columns] and R: [columns, n] of A: [m, n], m >= n. */
export const emitSmallQr = (module: Module, { type, rows: m, columns: n }: SmallShape, columns: number, name: string): void =>
  eachPair(
    module,
    name,
    [
      [type, m * columns],
      [type, columns * n],
      [type, m * n],
    ],
    (p, toQ, toR, matrix) => {
      const a = loadAll(p, matrix, m, n)
      const scale = type === 'f32' || m * n === 0 ? undefined : p.keep(p.powerBelow(p.largest(a.flat())))
      if (scale) p.over(a.flat(), scale, a.flat())
      const q = reflections(p, a, columns)
      const element = (i: number, j: number): Operand => (j < i || i >= n ? p.c(0) : scale ? p.mul(scale, a[i]![j]!) : a[i]![j]!)
      q.forEach((row, i) => {
        row.forEach((x, j) => {
          p.store(toQ, i * columns + j, x)
        })
      })
      for (let i = 0; i < columns; i++) for (let j = 0; j < n; j++) p.store(toR, i * n + j, element(i, j))
    },
  )
