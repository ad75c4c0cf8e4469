/** Ways to write a vector form of an elementwise function. */
import type { MathFunction, ScalarContext, ScalarKernel } from './kernel.js'
import type { Local, Op, Operand } from './wasm/encoder.js'
import { usually } from './wasm/math.js'
import * as trigonometric from './wasm/trigonometric.js'
import type { Vec } from './wasm/vec.js'

/** The primitive's meaning, called for each lane: slow and exact. */
export const viaMeaning: ScalarKernel = (c) => c.viaMeaning()

export type Unary = (v: Vec, x: Local) => Operand
export type Binary = (v: Vec, x: Local, y: Local) => Operand

export const isInt = (c: ScalarContext): boolean => c.to === 'i32'
/** A form for both float formats. */
export const unary =
  (f: Unary): ScalarKernel =>
  (c) =>
    isInt(c) ? c.viaMeaning() : c.v.push(f(c.v, c.x[0]!))
export const binary =
  (f: Binary): ScalarKernel =>
  (c) =>
    isInt(c) ? c.viaMeaning() : c.v.push(f(c.v, c.x[0]!, c.x[1]!))
/** A form for each format. */
export const each = (f: Unary, ofF32: Unary): ScalarKernel => unary((v, x) => (v.wide ? f : ofF32)(v, x))
/** A form for f64; f32 goes through it, or through a shorter one. */
export const double =
  (f: (v: Vec, ...xs: readonly Local[]) => Operand, ofF32 = f): ScalarKernel =>
  (c) =>
    c.v.push(c.v.wide ? f(c.v, ...c.x) : trigonometric.throughDouble(c.v, c.wide, c.lanes.lanes, c.x, ofF32))
export const double1 = (f: Unary, ofF32 = f): ScalarKernel =>
  double(
    (v, x) => f(v, x!),
    (v, x) => ofF32(v, x!),
  )
export const double2 = (f: Binary, ofF32 = f): ScalarKernel =>
  double(
    (v, x, y) => f(v, x!, y!),
    (v, x, y) => ofF32(v, x!, y!),
  )
/** A float form and the integer instruction, on one argument or two. */
export const either =
  (f: Binary, integer: Op): ScalarKernel =>
  (c) =>
    isInt(c) ? void c.v.f.op(integer, ...c.x) : c.v.push(f(c.v, c.x[0]!, c.x[1]!))
export const either1 =
  (f: Unary, integer: (c: ScalarContext, x: Local) => void): ScalarKernel =>
  (c) =>
    isInt(c) ? integer(c, c.x[0]!) : c.v.push(f(c.v, c.x[0]!))
/** A periodic function: lanes whose argument is too large for the reduction take the engine's. `single` is a form for small arguments of f32. */
export const periodic = (
  math: MathFunction,
  f: (c: ScalarContext, x: Local) => Operand,
  single?: (c: ScalarContext, x: Local) => Operand,
): ScalarKernel => {
  const kernel: ScalarKernel = (c) => {
    const { v } = c
    const x = c.x[0]!
    const below = (limit: number): Operand => v.compare('lt', v.abs(x), v.c(limit))
    const large = v.andNot(below(Number.POSITIVE_INFINITY), below(trigonometric.CIRCULAR_LIMIT))
    const any = usually(v, v.not(large), f(c, x), c.viaMath)
    v.push(v.wide || single === undefined ? any : usually(v, below(trigonometric.SINGLE_LIMIT), single(c, x), any))
  }
  return Object.assign(kernel, { math })
}
export const one = (v: Vec): Operand => v.c(1)
