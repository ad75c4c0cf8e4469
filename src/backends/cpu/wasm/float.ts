/*
 * f32 and f64 as kernel generators see them: sizes, opcodes and memory accesses, so that one generator serves both.
 */

import type { FunctionBuilder, Local, Op, Operand } from './encoder.js'
import * as OP from './opcodes.js'

export type FloatName = 'f32' | 'f64'

export interface Float {
  readonly name: FloatName
  readonly bytes: number
  /** Elements in a v128. */
  readonly lanes: number
  /** Scalar opcodes. */
  readonly add: Op
  readonly sub: Op
  readonly mul: Op
  readonly div: Op
  readonly gt: Op
  readonly ge: Op
  readonly ne: Op
  /** Vector opcodes. */
  readonly vadd: Op
  readonly vsub: Op
  readonly vmul: Op
  readonly vmadd: Op
  readonly constant: (f: FunctionBuilder, x: number) => FunctionBuilder
  readonly load: (f: FunctionBuilder, offset?: number) => FunctionBuilder
  readonly store: (f: FunctionBuilder, offset?: number) => FunctionBuilder
  /** Vector of one element repeated. */
  readonly loadSplat: (f: FunctionBuilder, offset?: number) => FunctionBuilder
  /** Vector of one element and zeros. */
  readonly loadOne: (f: FunctionBuilder, offset?: number) => FunctionBuilder
  readonly storeLane: (f: FunctionBuilder, lane: number, offset?: number) => FunctionBuilder
  readonly extractLane: (f: FunctionBuilder, lane: number) => FunctionBuilder
}

const f32: Float = {
  name: 'f32',
  bytes: 4,
  lanes: 4,
  add: OP.f32_add,
  sub: OP.f32_sub,
  mul: OP.f32_mul,
  div: OP.f32_div,
  gt: OP.f32_gt,
  ge: OP.f32_ge,
  ne: OP.f32_ne,
  vadd: OP.f32x4_add,
  vsub: OP.f32x4_sub,
  vmul: OP.f32x4_mul,
  vmadd: OP.f32x4_relaxed_madd,
  constant: (f, x) => f.f32Const(x),
  load: (f, offset) => f.f32Load(offset),
  store: (f, offset) => f.f32Store(offset),
  loadSplat: (f, offset) => f.v128Load32Splat(offset),
  loadOne: (f, offset) => f.v128Load32Zero(offset),
  storeLane: (f, lane, offset) => f.v128Store32Lane(lane, offset),
  extractLane: (f, lane) => f.f32x4ExtractLane(lane),
}

const f64: Float = {
  name: 'f64',
  bytes: 8,
  lanes: 2,
  add: OP.f64_add,
  sub: OP.f64_sub,
  mul: OP.f64_mul,
  div: OP.f64_div,
  gt: OP.f64_gt,
  ge: OP.f64_ge,
  ne: OP.f64_ne,
  vadd: OP.f64x2_add,
  vsub: OP.f64x2_sub,
  vmul: OP.f64x2_mul,
  vmadd: OP.f64x2_relaxed_madd,
  constant: (f, x) => f.f64Const(x),
  load: (f, offset) => f.f64Load(offset),
  store: (f, offset) => f.f64Store(offset),
  loadSplat: (f, offset) => f.v128Load64Splat(offset),
  loadOne: (f, offset) => f.v128Load64Zero(offset),
  storeLane: (f, lane, offset) => f.v128Store64Lane(lane, offset),
  extractLane: (f, lane) => f.f64x2ExtractLane(lane),
}

export const floats: Readonly<Record<FloatName, Float>> = { f32, f64 }

/** How products are made: with the relaxed multiply-add; taken from what C holds instead of added to it. */
export interface Multiply {
  readonly madd: boolean
  readonly subtract: boolean
}
/** acc += a b on vectors, fused when `madd`. */
export function multiplyAdd(f: FunctionBuilder, F: Float, madd: boolean, acc: Local, a: Operand, b: Operand): void {
  if (madd) f.op(F.vmadd, a, b, acc).set(acc)
  else f.op(F.vadd, acc, () => f.op(F.vmul, a, b)).set(acc)
}

/** Address arithmetic on i32 operands, emitted when pushed. */
export const address = (f: FunctionBuilder) => ({
  add:
    (...xs: readonly Operand[]): Operand =>
    () => {
      xs.forEach((x, i) => {
        f.push(x)
        if (i > 0) f.op(OP.i32_add)
      })
    },
  sub:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_sub, a, b),
  mul:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_mul, a, b),
  eq:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_eq, a, b),
  ne:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_ne, a, b),
  below:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_lt_u, a, b),
  atLeast:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_ge_u, a, b),
  and:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_and, a, b),
  or:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_or, a, b),
  /** a when the condition holds, else b; both are evaluated. */
  choose:
    (condition: Operand, a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.select, a, b, condition),
  min:
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.select, a, b, () => f.op(OP.i32_lt_u, a, b)),
})

/** A vector of zeros. */
export const zeroVector = (f: FunctionBuilder): FunctionBuilder => f.i32x4Const(0)
