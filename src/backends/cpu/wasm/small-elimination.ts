/*
 * Factorisations by elimination of matrices with a few rows: Cholesky's, LU, and systems with a triangle, as kernels for one shape (pairs.ts).
 */
import type { Local, Module, Operand } from './encoder.js'
import { bytesOf, eachPair, loadAll, type Part, type SmallShape } from './pairs.js'

/** L with (A + A^T) / 2 = L L^T, as `cholesky` in core/matrices. */
export const emitSmallCholesky = (module: Module, { type, rows: n }: SmallShape, name: string): void =>
  eachPair(
    module,
    name,
    [
      [type, n * n],
      [type, n * n],
    ],
    (p, result, matrix) => {
      const l: Local[][] = []
      let fine: Operand = () => p.f.i32x4Const(-1)
      for (let i = 0; i < n; i++) {
        const row: Local[] = []
        l.push(row)
        for (let j = 0; j <= i; j++) {
          const half = (k: number, l: number): Operand => p.mul(p.load(matrix, k * n + l), p.c(0.5))
          const s = p.keep(p.add(half(i, j), half(j, i)))
          for (let k = 0; k < j; k++) p.set(s, p.sub(s, p.mul(row[k]!, l[j]![k]!)))
          if (j < i) p.set(s, p.div(s, l[j]![j]!))
          else {
            fine = p.keep(p.and(fine, p.and(p.gt(s, p.c(0)), p.lt(s, p.c(Number.POSITIVE_INFINITY)))))
            p.set(s, p.sqrt(s))
          }
          row.push(s)
        }
      }
      const above = p.keep(p.without(p.c(Number.NaN), fine))
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) p.store(result, i * n + j, j > i ? above : p.choose(fine, l[i]![j]!, p.c(Number.NaN)))
    },
  )

/** P A = L U with partial pivoting, as `lu` in core/matrices: both factors in one matrix, swaps, and the order of rows. */
export const emitSmallLu = (module: Module, { type, rows: m, columns: n }: SmallShape, name: string): void => {
  const steps = Math.min(m, n)
  eachPair(
    module,
    name,
    [
      [type, m * n],
      ['i32', steps],
      ['i32', m],
      [type, m * n],
    ],
    (p, packed, pivots, order, matrix) => {
      const a = loadAll(p, matrix, m, n)
      const places = Array.from({ length: m }, (_, i) => p.keep(p.c(i)))
      for (let k = 0; k < steps; k++) {
        const most = p.keep(p.abs(a[k]![k]!))
        const pivot = p.keep(p.c(k))
        for (let i = k + 1; i < m; i++) {
          const size = p.keep(p.abs(a[i]![k]!))
          // What is not at most `most` is larger, or NaN: the first of these is taken, and kept.
          const taken = p.keep(p.without(p.eq(most, most), p.le(size, most)))
          p.set(most, p.choose(taken, size, most))
          p.set(pivot, p.choose(taken, p.c(i), pivot))
        }
        p.store(pivots, k, pivot)
        for (let i = k + 1; i < m; i++) {
          const swapped = p.keep(p.eq(pivot, p.c(i)))
          for (let j = 0; j < n; j++) p.exchange(swapped, a[i]![j]!, a[k]![j]!)
          p.exchange(swapped, places[i]!, places[k]!)
        }
        const d = a[k]![k]!
        const divisor = p.keep(p.choose(p.eq(d, p.c(0)), p.c(1), d))
        for (let i = k + 1; i < m; i++) {
          const x = p.set(a[i]![k]!, p.div(a[i]![k]!, divisor))
          const moves = p.keep(p.ne(x, p.c(0)))
          for (let j = k + 1; j < n; j++) p.set(a[i]![j]!, p.sub(a[i]![j]!, p.and(moves, p.mul(x, a[k]![j]!))))
        }
      }
      a.forEach((row, i) => {
        row.forEach((x, j) => {
          p.store(packed, i * n + j, x)
        })
        p.store(order, i, places[i]!)
      })
    },
  )
}

/** Which triangle is read: that of the matrix as it lies, unless it stands for its transpose. */
export interface SmallTriangle extends SmallShape {
  readonly lower: boolean
  readonly transpose: boolean
  readonly unit: boolean
}
/** x with T x = b for `columns` right sides, as `solveTriangular` in core/matrices. */
export const emitSmallTriangular = (
  module: Module,
  { type, rows: n, columns, lower, transpose, unit }: SmallTriangle,
  name: string,
): void =>
  eachPair(
    module,
    name,
    [
      [type, n * columns],
      [type, n * n],
      [type, n * columns],
    ],
    (p, result, matrix, sides) => {
      const { f } = p
      const first = lower !== transpose
      const order = Array.from({ length: n }, (_, i) => (first ? i : n - 1 - i))
      const known = (i: number): readonly number[] => order.filter((k) => (first ? k < i : k > i)).sort((x, y) => x - y)
      const element = (i: number, k: number): Operand => p.load(matrix, transpose ? k * n + i : i * n + k)
      const rows = Array.from({ length: n }, (_, i) => new Map(known(i).map((k) => [k, p.keep(element(i, k))])))
      const diagonal = unit ? [] : Array.from({ length: n }, (_, i) => p.keep(element(i, i)))
      const walk = (part: Part): Part => {
        const copy = { ...part, first: f.local('i32'), second: f.local('i32') }
        f.set(copy.first, part.first).set(copy.second, part.second)
        return copy
      }
      const [to, from] = [walk(result), walk(sides)]
      const left = f.local('i32')
      const xs = Array.from({ length: n }, () => p.local())
      f.set(left, columns).countDown(left, () => {
        for (const i of order) {
          const x = p.set(xs[i]!, p.load(from, i * columns))
          for (const [k, t] of rows[i]!) p.set(x, p.sub(x, p.mul(t, xs[k]!)))
          if (!unit) p.set(x, p.div(x, diagonal[i]!))
          p.store(to, i * columns, x)
        }
        for (const at of [to, from]) for (const pointer of [at.first, at.second]) f.increment(pointer, bytesOf[type])
      })
    },
  )
