/*
 * Matrices with a few rows, two of a stack at a time, one in each lane: what kernels for one shape are written with (small-*.ts), all elements in
 * registers, loops written out. Arithmetic is in f64 for both floats; what is stored is rounded once.
 */
import type { FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { address, type FloatName } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

/** Rows and columns of the largest matrix that is written out. */
export const SMALL = 8

/** Matrices with `rows` and `columns`, not 0; how many is a size of the record, which is not 0 either. */
export interface SmallShape {
  readonly type: FloatName
  readonly rows: number
  readonly columns: number
}

/** Elements of a stack: where those of the two matrices lie. */
export interface Part {
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
  /** The larger of both, NaN where one is. */
  max = (a: Operand, b: Operand): Operand => this.of(OP.f64x2_max, a, b)
  and = (a: Operand, b: Operand): Operand => this.of(OP.v128_and, a, b)
  or = (a: Operand, b: Operand): Operand => this.of(OP.v128_or, a, b)
  /** a with its sign changed where the mask is. */
  flip = (a: Operand, mask: Operand): Operand => this.of(OP.v128_xor, a, this.and(mask, this.c(-0)))
  /** a where the mask is not. */
  without = (a: Operand, mask: Operand): Operand => this.of(OP.v128_andnot, a, mask)
  /** a where the mask is, else b. */
  choose = (mask: Operand, a: Operand, b: Operand): Operand => this.of(OP.v128_bitselect, a, b, mask)

  /** x and y change places where the mask is. */
  exchange(mask: Operand, x: Local, y: Local): void {
    const kept = this.keep(this.choose(mask, y, x))
    this.set(y, this.choose(mask, x, y))
    this.set(x, kept)
  }
  /** 1 where one of the masks has a bit, as an i32. */
  any = (mask: Operand): Operand => this.of(OP.v128_any_true, mask)
  /** The power of two below a size, within what can be divided by and multiplied with; 1 where it is not finite. */
  powerBelow(size: Operand): Operand {
    const power = this.of(
      OP.f64x2_pmin,
      this.of(OP.f64x2_pmax, this.and(size, this.c(Number.POSITIVE_INFINITY)), this.c(2 ** -1000)),
      this.c(2 ** 1000),
    )
    return this.choose(this.lt(size, this.c(Number.POSITIVE_INFINITY)), power, this.c(1))
  }
  /** All over a power of two, which is exact: in new registers, or in these. */
  over(xs: readonly Local[], power: Local, to: readonly Local[] = xs.map(() => this.local())): readonly Local[] {
    const inverse = this.keep(this.div(this.c(1), power))
    return xs.map((x, i) => this.set(to[i]!, this.mul(x, inverse)))
  }
  /** a b + c d, of as many pairs as there are. */
  dot(...pairs: readonly (readonly [Operand, Operand])[]): Operand {
    return pairs.map(([a, b]) => this.mul(a, b)).reduce((s, x) => this.add(s, x))
  }
  /** The largest size among some. */
  largest(xs: readonly Operand[]): Operand {
    return xs.map((x) => this.abs(x)).reduce((m, x) => this.max(m, x))
  }

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

export const bytesOf = { f64: 8, f32: 4, i32: 4 } as const
/** Code for every two matrices of as many as the record says; of the last one, where it has no neighbour, in both lanes. A part has so many elements in each matrix. */
export const eachPair = (
  module: Module,
  name: string,
  parts: readonly (readonly [type: Part['type'], elements: number])[],
  body: (p: Pairs, ...parts: Part[]) => void,
): void => {
  const f = module.kernel(name)
  const words: readonly Local[] = pointers(f, parts.length + 2)
  const starts = words.slice(0, parts.length)
  const count = words.at(-1)!
  const left = f.local('i32')
  const both = parts.map(([type], i): Part => ({ first: starts[i]!, second: f.local('i32'), type }))
  const sizes = parts.map(([type, elements]) => bytesOf[type] * elements)
  const { add, and, eq } = address(f)
  const half =
    (x: Operand): Operand =>
    () =>
      f.op(OP.i32_shr_u, x, 1)
  /** Is it the last one, which has no neighbour? */
  const alone = and(eq(left, 1), and(count, 1))
  f.set(left, half(add(count, 1))).countDown(left, () => {
    const step = (i: number): number => sizes[i]!
    both.forEach(({ first, second }, i) => {
      f.op(OP.i32_add, first, () => f.op(OP.select, 0, step(i), alone)).set(second)
    })
    body(new Pairs(f), ...both)
    both.forEach(({ first }, i) => {
      f.increment(first, 2 * step(i))
    })
  })
}

/** Reads whole matrices: their elements, row by row. */
export const loadAll = (p: Pairs, part: Part, rows: number, columns: number): Local[][] =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => p.keep(p.load(part, i * columns + j))))
