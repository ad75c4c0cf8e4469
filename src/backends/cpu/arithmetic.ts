/** The CPU facet of arithmetic and choices: a vector form where there is a good one; otherwise the meaning is called lane by lane. */
import type { arithmetic } from '../../core/ops/families.js'
import { binary, either, either1, isInt, one, unary } from './forms.js'
import type { ScalarContext, ScalarKernel } from './kernel.js'
import type { Local, Operand } from './wasm/encoder.js'
import * as OP from './wasm/opcodes.js'
import * as trigonometric from './wasm/trigonometric.js'
import type { Vec } from './wasm/vec.js'

/** A bound that stays: where a number wins over it or is beside it, one instruction, and one more with what is made of the bound: NaN, or the sign of a zero. */
const bounded = (
  whole: ScalarKernel,
  form: (v: Vec, x: Local, bound: Local, aside: Local) => Operand,
  aside: NonNullable<ScalarKernel['aside']>,
): ScalarKernel =>
  Object.assign((c: ScalarContext): void => (c.aside === undefined ? whole(c) : c.v.push(form(c.v, c.x[0]!, c.x[1]!, c.aside))), { aside })
const isOrdinary = (v: Vec, y: Local): Operand => v.compare('gt', v.abs(y), v.c(0))
const maximum = /*#__PURE__*/ bounded(
  either((v, a, b) => v.max(a, b), OP.i32x4_max_s),
  (v, x, y, aside) => v.add(v.pmax(x, y), aside),
  (v, y) => v.select(isOrdinary(v, y), v.c(-0), y),
)
const minimum = /*#__PURE__*/ bounded(
  either((v, a, b) => v.min(a, b), OP.i32x4_min_s),
  (v, x, y, aside) => v.or(v.pmin(x, y), aside),
  (v, y) => v.andNot(y, isOrdinary(v, y)),
)

/** One row per primitive of the family `elementwise` that every program may need. */
export const arithmeticKernels: { readonly [K in keyof typeof arithmetic]: ScalarKernel } = {
  neg: either1(
    (v, x) => v.neg(x),
    (c, x) => c.v.f.op(OP.i32x4_neg, x),
  ),
  abs: either1(
    (v, x) => v.abs(x),
    (c, x) => c.v.f.op(OP.i32x4_abs, x),
  ),
  square: either1(
    (v, x) => v.mul(x, x),
    (c, x) => c.v.f.op(OP.i32x4_mul, x, x),
  ),
  // 1 with the sign of x; zeros stay, and NaN is one.
  sign: either1(
    (v, x) => v.or(v.or(v.sign(x), v.and(v.compare('ne', x, v.c(0)), one(v))), v.compare('ne', x, x)),
    ({ v: { f } }, x) =>
      f.op(
        OP.i32x4_max_s,
        () => f.op(OP.i32x4_min_s, x, () => f.i32x4Const(1)),
        () => f.i32x4Const(-1),
      ),
  ),
  floor: unary((v, x) => v.round('floor', x)),
  ceil: unary((v, x) => v.round('ceil', x)),
  round: unary((v, x) => v.round('nearest', x)),
  reciprocal: unary((v, x) => v.div(one(v), x)),
  sqrt: unary((v, x) => v.sqrt(x)),
  rsqrt: unary((v, x) => v.div(one(v), v.sqrt(x))),
  // x < 0 ? 0 : x, and -0 becomes 0: processors have no instruction for a maximum that keeps NaN.
  relu: either1(
    (v, x) => v.add(v.pmax(x, v.c(0)), v.c(0)),
    (c, x) => c.v.f.op(OP.i32x4_max_s, x, () => c.v.f.i32x4Const(0)),
  ),
  add: either((v, a, b) => v.add(a, b), OP.i32x4_add),
  sub: either((v, a, b) => v.sub(a, b), OP.i32x4_sub),
  mul: either((v, a, b) => v.mul(a, b), OP.i32x4_mul),
  // a where a is 0: a masked cotangent stays 0 beside an infinite partial.
  strongMul: binary((v, a, b) => v.select(v.compare('eq', a, v.c(0)), a, v.mul(a, b))),
  div: binary((v, a, b) => v.div(a, b)),
  // Through f64, where a - b floor(a / b) is exact: of integers, since a quotient that is no integer is further from one than it is rounded (b = 0 gives NaN, which becomes 0), and of f32 as long
  // as the quotient has 27 bits. The remainder of a larger one, and of f64, has no short vector form.
  mod: (c) => {
    const remainder = (to: 'i32' | 'f32') =>
      trigonometric.throughDouble(c.v, c.wide, c.lanes.lanes, c.x, (w, a, b) => w.sub(a!, w.mul(b!, w.round('floor', w.div(a!, b!)))), to)
    if (isInt(c)) return void c.v.push(remainder('i32'))
    if (c.v.wide) return c.viaMeaning()
    const { v } = c
    const [a, b] = c.x as readonly [Local, Local]
    // not: |a / b| < 2^27 and |b| < Infinity, which NaN are not
    const far = (): void => {
      v.push(v.and(v.compare('lt', v.abs(v.div(a, b)), v.c(2 ** 27)), v.compare('lt', v.abs(b), v.c(Number.POSITIVE_INFINITY))))
      v.f.op(OP.v128_not)
    }
    // a remainder of 0 has the sign of b
    v.let(remainder('f32'), (y) => {
      v.set(y, v.select(v.compare('eq', y, v.c(0)), v.copysign(v.c(0), b), y))
      v.let(far, (mask) => {
        v.f.op(OP.v128_any_true, mask).if(() => v.let(c.viaMeaning, (exact) => v.set(y, v.select(mask, exact, y))))
        v.push(y)
      })
    })
  },
  maximum,
  minimum,
  // The sign bit of a NaN is no one's: processors set it as they like.
  copysign: binary((v, a, b) => v.or(v.abs(a), v.and(v.sign(b), v.compare('eq', b, b)))),
  where: (c) => {
    const mask: Operand = c.to === 'f64' || c.to === 'bool' ? c.x[0]! : c.lanes.mask32(c.x[0]!)
    c.v.f.op(OP.v128_bitselect, c.x[1]!, c.x[2]!, mask)
  },
  stopGradient: (c) => c.v.push(c.x[0]!),
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
