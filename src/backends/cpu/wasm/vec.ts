/** Vector arithmetic on f32 or f64 lanes as expressions: each pushes its value when emitted. */
import type { FunctionBuilder, Local, Operand } from './encoder.js'
import { extremeOf } from './fold.js'
import type { Registers } from './lanes.js'
import * as OP from './opcodes.js'

/** Each operation's opcode on f32 and on f64 lanes. */
const codes = {
  add: [OP.f32x4_add, OP.f64x2_add],
  sub: [OP.f32x4_sub, OP.f64x2_sub],
  mul: [OP.f32x4_mul, OP.f64x2_mul],
  div: [OP.f32x4_div, OP.f64x2_div],
  pmin: [OP.f32x4_pmin, OP.f64x2_pmin],
  pmax: [OP.f32x4_pmax, OP.f64x2_pmax],
  abs: [OP.f32x4_abs, OP.f64x2_abs],
  neg: [OP.f32x4_neg, OP.f64x2_neg],
  sqrt: [OP.f32x4_sqrt, OP.f64x2_sqrt],
  eq: [OP.f32x4_eq, OP.f64x2_eq],
  ne: [OP.f32x4_ne, OP.f64x2_ne],
  lt: [OP.f32x4_lt, OP.f64x2_lt],
  gt: [OP.f32x4_gt, OP.f64x2_gt],
  le: [OP.f32x4_le, OP.f64x2_le],
  ge: [OP.f32x4_ge, OP.f64x2_ge],
  nearest: [OP.f32x4_nearest, OP.f64x2_nearest],
  floor: [OP.f32x4_floor, OP.f64x2_floor],
  ceil: [OP.f32x4_ceil, OP.f64x2_ceil],
  trunc: [OP.f32x4_trunc, OP.f64x2_trunc],
} as const
type Name = keyof typeof codes

/** An expression: pushes its value when emitted. */
export type E = Operand

/** Vector arithmetic in one format. */
export class Vec {
  readonly wide: boolean
  constructor(
    readonly f: FunctionBuilder,
    readonly regs: Registers,
    readonly dtype: 'f32' | 'f64',
  ) {
    this.wide = dtype === 'f64'
  }
  /** A constant in every lane. */
  c(x: number): E {
    return () => (this.wide ? this.f.f64x2Const(x) : this.f.f32x4Const(x))
  }
  private two(name: Name, a: E, b: E): E {
    return () => this.f.op(codes[name][this.wide ? 1 : 0], a, b)
  }
  private one(name: Name, a: E): E {
    return () => this.f.op(codes[name][this.wide ? 1 : 0], a)
  }
  add(a: E, b: E): E {
    return this.two('add', a, b)
  }
  sub(a: E, b: E): E {
    return this.two('sub', a, b)
  }
  mul(a: E, b: E): E {
    return this.two('mul', a, b)
  }
  div(a: E, b: E): E {
    return this.two('div', a, b)
  }
  /** Maximum and minimum that keep NaN and tell zeros apart, of registers. */
  max(a: Local, b: Local): E {
    return () => extremeOf(this.f, 'max', this.dtype, a, b)
  }
  min(a: Local, b: Local): E {
    return () => extremeOf(this.f, 'min', this.dtype, a, b)
  }
  /** b < a ? b : a, and a < b ? b : a: NaN in a is kept, in one instruction. */
  pmin(a: E, b: E): E {
    return this.two('pmin', a, b)
  }
  pmax(a: E, b: E): E {
    return this.two('pmax', a, b)
  }
  abs(a: E): E {
    return this.one('abs', a)
  }
  neg(a: E): E {
    return this.one('neg', a)
  }
  sqrt(a: E): E {
    return this.one('sqrt', a)
  }
  compare(name: 'eq' | 'ne' | 'lt' | 'gt' | 'le' | 'ge', a: E, b: E): E {
    return this.two(name, a, b)
  }
  round(name: 'nearest' | 'floor' | 'ceil' | 'trunc', a: E): E {
    return this.one(name, a)
  }
  /** mask ? a : b, lane by lane. */
  select(mask: E, a: E, b: E): E {
    return () => this.f.op(OP.v128_bitselect, a, b, mask)
  }
  and(a: E, b: E): E {
    return () => this.f.op(OP.v128_and, a, b)
  }
  or(a: E, b: E): E {
    return () => this.f.op(OP.v128_or, a, b)
  }
  xor(a: E, b: E): E {
    return () => this.f.op(OP.v128_xor, a, b)
  }
  andNot(a: E, b: E): E {
    return () => this.f.op(OP.v128_andnot, a, b)
  }
  not(a: E): E {
    return () => this.f.op(OP.v128_not, a)
  }
  /** Runs `body` where a lane of the mask is set. */
  whereAny(mask: E, body: () => void): void {
    this.f.op(OP.v128_any_true, mask).if(body)
  }
  /** The sign bit of x. */
  sign(x: E): E {
    return this.and(x, this.c(-0))
  }
  copysign(magnitude: E, sign: E): E {
    return this.or(this.abs(magnitude), this.sign(sign))
  }
  /** Integer lanes of the format's width. */
  iadd(a: E, b: E): E {
    return () => this.f.op(this.wide ? OP.i64x2_add : OP.i32x4_add, a, b)
  }
  isub(a: E, b: E): E {
    return () => this.f.op(this.wide ? OP.i64x2_sub : OP.i32x4_sub, a, b)
  }
  shl(a: E, n: number): E {
    return () => this.f.op(this.wide ? OP.i64x2_shl : OP.i32x4_shl, a, n)
  }
  shr(a: E, n: number): E {
    return () => this.f.op(this.wide ? OP.i64x2_shr_s : OP.i32x4_shr_s, a, n)
  }
  ushr(a: E, n: number): E {
    return () => this.f.op(this.wide ? OP.i64x2_shr_u : OP.i32x4_shr_u, a, n)
  }
  bits(n: number | bigint): E {
    return () => (this.wide ? this.f.i64x2Const(BigInt(n)) : this.f.i32x4Const(Number(n)))
  }
  /** Names a value: computed once, read often. */
  let(e: E, body: (x: Local) => void): void {
    this.regs.hold(e, body)
  }
  /** Replaces the value of a register by an expression of it. */
  set(x: Local, e: E): void {
    this.f.set(x, e)
  }
  /** Horner's rule: coefficients from the highest power. */
  horner(x: E, cs: readonly number[]): E {
    let e = this.c(cs[0]!)
    for (const c of cs.slice(1)) e = this.add(this.mul(e, x), this.c(c))
    return e
  }
  /** That by halves, Estrin's scheme: the processor need not wait for each step. Errors are about those of Horner's rule. */
  estrin(x: Local, cs: readonly number[]): E {
    const half = (from: number, count: number, powers: readonly Local[]): E => {
      if (count === 1) return this.c(cs[cs.length - 1 - from]!)
      const log = 31 - Math.clz32(count - 1)
      return this.add(this.mul(half(from + 2 ** log, count - 2 ** log, powers), powers[log]!), half(from, 2 ** log, powers))
    }
    const withPowers = (powers: readonly Local[], body: (powers: readonly Local[]) => void): void => {
      const last = powers[powers.length - 1]!
      if (2 ** powers.length >= cs.length) body(powers)
      else this.let(this.mul(last, last), (square) => withPowers([...powers, square], body))
    }
    return this.block(() => withPowers([x], (powers) => this.push(half(0, cs.length, powers))))
  }
  /** As an expression: runs `body`, which must push one value. */
  block(body: () => void): E {
    return () => {
      body()
    }
  }
  push(e: E): void {
    this.f.push(e)
  }
}
