/** The CPU facet of elementwise primitives: a vector form where there is a good one; otherwise the meaning is called lane by lane. */
import type { DType } from '../../core/types/dtype.js'
import { type Local, OP, type Operand } from './wasm/encoder.js'
import type { Lanes } from './wasm/lanes.js'
import type { Vec } from './wasm/math.js'
import * as m from './wasm/math.js'

/** What an emitter works with: `x` are the arguments' registers, `from` their dtypes. */
export interface ScalarContext {
  readonly v: Vec
  readonly lanes: Lanes
  readonly x: readonly Local[]
  readonly from: readonly DType[]
  readonly to: DType
  readonly params: unknown
  /** Pushes the primitive's meaning, called for each lane. */
  readonly viaMeaning: () => void
}
/** Pushes the value. */
export type ScalarKernel = (c: ScalarContext) => void

/** The primitive's meaning, called for each lane: slow and exact. */
export const viaMeaning: ScalarKernel = (c) => c.viaMeaning()

const isInt = (c: ScalarContext): boolean => c.from[0] === 'i32'
const float =
  (f: (v: Vec, ...xs: readonly Local[]) => Operand): ScalarKernel =>
  (c) =>
    isInt(c) ? c.viaMeaning() : c.v.push(f(c.v, ...c.x))
/** A float form and the integer instruction. */
const either =
  (f: (v: Vec, a: Local, b: Local) => Operand, integer: number): ScalarKernel =>
  (c) =>
    isInt(c) ? void c.v.f.op(integer as never, ...c.x) : c.v.push(f(c.v, c.x[0]!, c.x[1]!))
const comparison =
  (name: 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge', integer: number): ScalarKernel =>
  (c) => {
    const d = c.from[0]!
    if (d === 'bool') return c.viaMeaning()
    if (d === 'i32') c.v.f.op(integer as never, ...c.x)
    else c.v.push(c.v.compare(name, c.x[0]!, c.x[1]!))
    if (d !== 'f64' && c.lanes.lanes === 2) c.lanes.widen()
  }
const trig =
  (kind: 'sin' | 'cos'): ScalarKernel =>
  (c) => {
    const { v } = c
    const x = c.x[0]!
    // Large, infinite and NaN arguments take the meaning, for all lanes of the vector.
    v.f.op(
      OP.v128_any_true,
      v.xor(v.compare('le', v.abs(x), v.c(m.trigLimit(v))), () => v.f.i32x4Const(-1)),
    )
    v.f.if(
      () => c.viaMeaning(),
      () => v.push(m.sinOrCos(v, kind, x)),
      'v128',
    )
  }
/** Logical operations on masks. */
const logical =
  (code: number): ScalarKernel =>
  (c) =>
    void c.v.f.op(code as never, ...c.x)

export const scalarKernels: Readonly<Record<string, ScalarKernel>> = {
  neg: (c) => (isInt(c) ? void c.v.f.op(OP.i32x4_neg, c.x[0]!) : c.v.push(c.v.neg(c.x[0]!))),
  abs: (c) => (isInt(c) ? void c.v.f.op(OP.i32x4_abs, c.x[0]!) : c.v.push(c.v.abs(c.x[0]!))),
  square: (c) => (isInt(c) ? void c.v.f.op(OP.i32x4_mul, c.x[0]!, c.x[0]!) : c.v.push(c.v.mul(c.x[0]!, c.x[0]!))),
  add: either((v, a, b) => v.add(a, b), OP.i32x4_add),
  sub: either((v, a, b) => v.sub(a, b), OP.i32x4_sub),
  mul: either((v, a, b) => v.mul(a, b), OP.i32x4_mul),
  // a where a is 0: a masked cotangent stays 0 beside an infinite partial.
  strongMul: float((v, a, b) => v.select(v.compare('eq', a!, v.c(0)), a!, v.mul(a!, b!))),
  div: float((v, a, b) => v.div(a!, b!)),
  maximum: either((v, a, b) => v.max(a, b), OP.i32x4_max_s),
  minimum: either((v, a, b) => v.min(a, b), OP.i32x4_min_s),
  reciprocal: float((v, x) => v.div(v.c(1), x!)),
  sqrt: float((v, x) => v.sqrt(x!)),
  rsqrt: float((v, x) => v.div(v.c(1), v.sqrt(x!))),
  exp: float((v, x) => m.exp(v, x!)),
  expm1: float((v, x) => m.expm1(v, x!)),
  log: float((v, x) => m.log(v, x!)),
  log1p: float((v, x) => m.log1p(v, x!)),
  sin: trig('sin'),
  cos: trig('cos'),
  tanh: float((v, x) => m.tanh(v, x!)),
  sigmoid: float((v, x) => m.sigmoid(v, x!)),
  // max(x, 0) + log1p(exp(-|x|))
  softplus: float((v, x) => v.add(v.max(x!, v.c(0)), m.log1p(v, m.exp(v, v.neg(v.abs(x!)))))),
  relu: (c) => (isInt(c) ? void c.v.f.op(OP.i32x4_max_s, c.x[0]!, () => c.v.f.i32x4Const(0)) : c.v.push(c.v.max(c.x[0]!, c.v.c(0)))),
  atan2: float((v, y, x) => m.atan2(v, y!, x!)),
  atan: float((v, x) => m.atan2(v, x!, v.c(1))),
  floor: float((v, x) => v.round('floor', x!)),
  ceil: float((v, x) => v.round('ceil', x!)),
  round: float((v, x) => v.round('nearest', x!)),
  copysign: float((v, a, b) => v.copysign(a!, b!)),
  eq: comparison('eq', OP.i32x4_eq),
  ne: comparison('ne', OP.i32x4_ne),
  lt: comparison('lt', OP.i32x4_lt_s),
  le: comparison('le', OP.i32x4_le_s),
  gt: comparison('gt', OP.i32x4_gt_s),
  ge: comparison('ge', OP.i32x4_ge_s),
  logicalAnd: logical(OP.v128_and),
  logicalOr: logical(OP.v128_or),
  logicalNot: logical(OP.v128_not),
  where: (c) => {
    const mask: Operand = c.to === 'f64' || c.to === 'bool' ? c.x[0]! : c.lanes.mask32(c.x[0]!)
    c.v.f.op(OP.v128_bitselect, c.x[1]!, c.x[2]!, mask)
  },
  cast: (c) => {
    const { f } = c.v
    const [x, from, to] = [c.x[0]!, c.from[0]!, c.to]
    if (from === to) return void f.get(x)
    if (from === 'f32' && to === 'f64') return void f.op(OP.f64x2_promote_low_f32x4, x)
    if (from === 'f64' && to === 'f32') return void f.op(OP.f32x4_demote_f64x2_zero, x)
    if (from === 'i32' && to === 'f32') return void f.op(OP.f32x4_convert_i32x4_s, x)
    if (from === 'i32' && to === 'f64') return void f.op(OP.f64x2_convert_low_i32x4_s, x)
    if (from === 'f32' && to === 'i32') return void f.op(OP.i32x4_trunc_sat_f32x4_s, x)
    if (from === 'f64' && to === 'i32') return void f.op(OP.i32x4_trunc_sat_f64x2_s_zero, x)
    if (from === 'bool' && to === 'f64') return void f.op(OP.v128_and, x, () => f.f64x2Const(1))
    if (from === 'bool') return void f.op(OP.v128_and, c.lanes.mask32(x), () => (to === 'f32' ? f.f32x4Const(1) : f.i32x4Const(1)))
    // to bool: x != 0 (NaN is true)
    if (from === 'f64') f.op(OP.f64x2_ne, x, () => f.f64x2Const(0))
    else {
      if (from === 'f32') f.op(OP.f32x4_ne, x, () => f.f32x4Const(0))
      else f.op(OP.i32x4_ne, x, () => f.i32x4Const(0))
      if (c.lanes.lanes === 2) c.lanes.widen()
    }
  },
}
