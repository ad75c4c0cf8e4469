/*
 * Factorisations of matrices with a few rows, as kernels for one shape: all elements in registers, loops written out, two matrices of a
 * stack at a time, one in each lane. Arithmetic is in f64 for both floats; what is stored is rounded once.
 */
import { type FunctionBuilder, type Local, type Module, OP, type Operand } from './encoder.js'
import type { FloatName } from './float.js'
import { pointers } from './pointers.js'

/** Rows and columns of the largest matrix that is written out. */
export const SMALL = 8

/** A stack of matrices with `rows` and `columns`. */
export interface SmallShape {
  readonly type: FloatName
  readonly count: number
  readonly rows: number
  readonly columns: number
}

/** Elements of a stack: where those of the two matrices lie. */
interface Part {
  readonly first: Local
  readonly second: Local
  readonly type: FloatName | 'i32'
}

/** Expressions over pairs of numbers; a mask has all bits of a lane or none. */
export class Pairs {
  constructor(readonly f: FunctionBuilder) {}
  local(): Local {
    return this.f.local('v128')
  }
  set(to: Local, x: Operand): Local {
    this.f.push(x).set(to)
    return to
  }
  /** The value in a register of its own. */
  keep(x: Operand): Local {
    return this.set(this.local(), x)
  }
  private of(code: (typeof OP)[keyof typeof OP], ...xs: readonly Operand[]): Operand {
    return () => this.f.op(code, ...xs)
  }
  c(x: number): Operand {
    return () => this.f.f64x2Const(x)
  }
  add = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_add, a, b)
  sub = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_sub, a, b)
  mul = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_mul, a, b)
  div = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_div, a, b)
  sqrt = (a: Operand): Operand => this.of(OP.f64x2_sqrt, a)
  abs = (a: Operand): Operand => this.of(OP.f64x2_abs, a)
  eq = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_eq, a, b)
  ne = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_ne, a, b)
  lt = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_lt, a, b)
  le = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_le, a, b)
  gt = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_gt, a, b)
  and = (a: Operand, b: Operand): Operand => this.of(OP.v128_and, a, b)
  /** a where the mask is not. */
  without = (a: Operand, mask: Operand): Operand => this.of(OP.v128_andnot, a, mask)
  /** a where the mask is, else b. */
  choose = (mask: Operand, a: Operand, b: Operand): Operand => this.of(OP.v128_bitselect, a, b, mask)

  load({ first, second, type }: Part, element: number): Operand {
    const { f } = this
    const [four, eight] = [4 * element, 8 * element]
    return () =>
      type === 'f64'
        ? f.get(second).get(first).v128Load64Zero(eight).v128Load64Lane(1, eight)
        : f.get(second).get(first).v128Load32Zero(four).v128Load32Lane(1, four).op(OP.f64x2_promote_low_f32x4)
  }
  store({ first, second, type }: Part, element: number, x: Operand): void {
    const { f } = this
    const value = this.keep(type === 'f64' ? x : this.of(type === 'f32' ? OP.f32x4_demote_f64x2_zero : OP.i32x4_trunc_sat_f64x2_s_zero, x))
    for (const [lane, at] of [first, second].entries())
      if (type === 'f64')
        f.get(at)
          .get(value)
          .v128Store64Lane(lane, 8 * element)
      else
        f.get(at)
          .get(value)
          .v128Store32Lane(lane, 4 * element)
  }
}

const bytesOf = { f64: 8, f32: 4, i32: 4 } as const
/** Code for every two matrices of `count`; of the last one, where it has no neighbour, in both lanes. A part has so many elements in each matrix. */
const eachPair = (
  module: Module,
  name: string,
  count: number,
  parts: readonly (readonly [type: Part['type'], elements: number])[],
  body: (p: Pairs, ...parts: Part[]) => void,
): void => {
  const f = module.kernel(name)
  if (count === 0) return
  const starts = pointers(f, parts.length)
  const left = f.local('i32')
  const both = parts.map(([type], i): Part => ({ first: starts[i]!, second: f.local('i32'), type }))
  const sizes = parts.map(([type, elements]) => bytesOf[type] * elements)
  f.set(left, Math.ceil(count / 2)).countDown(left, () => {
    const step = (i: number): number => sizes[i]!
    both.forEach(({ first, second }, i) => {
      if (count % 2 === 0) f.op(OP.i32_add, first, step(i)).set(second)
      else f.op(OP.i32_add, first, () => f.op(OP.select, 0, step(i), () => f.op(OP.i32_eq, left, 1))).set(second)
    })
    body(new Pairs(f), ...both)
    both.forEach(({ first }, i) => {
      f.increment(first, 2 * step(i))
    })
  })
}

/** Reads whole matrices: their elements, row by row. */
const loadAll = (p: Pairs, part: Part, rows: number, columns: number): Local[][] =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => p.keep(p.load(part, i * columns + j))))

/** L with A = L L^T, as `cholesky` in core/matrices. */
export const emitSmallCholesky = (module: Module, { type, count, rows: n }: SmallShape, name: string): void =>
  eachPair(
    module,
    name,
    count,
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
          const s = p.keep(p.load(matrix, i * n + j))
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

/** x and y change places where the mask is. */
const exchange = (p: Pairs, mask: Operand, x: Local, y: Local): void => {
  const kept = p.keep(p.choose(mask, y, x))
  p.set(y, p.choose(mask, x, y))
  p.set(x, kept)
}

/** P A = L U with partial pivoting, as `lu` in core/matrices: both factors in one matrix, swaps, and the order of rows. */
export const emitSmallLu = (module: Module, { type, count, rows: m, columns: n }: SmallShape, name: string): void => {
  const steps = Math.min(m, n)
  eachPair(
    module,
    name,
    count,
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
          for (let j = 0; j < n; j++) exchange(p, swapped, a[i]![j]!, a[k]![j]!)
          exchange(p, swapped, places[i]!, places[k]!)
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
  { type, count, rows: n, columns, lower, transpose, unit }: SmallTriangle,
  name: string,
): void =>
  eachPair(
    module,
    name,
    columns === 0 ? 0 : count,
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
