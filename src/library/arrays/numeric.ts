/** Numbers made of others, element by element: quotients and remainders, choices that leave NaN out, tests of nearness. */

import { flagOf, type Names, numberOf, ofOne, optionsOf } from '../../core/errors/check-arguments.js'
import { isFloat } from '../../core/graph/aval.js'
import { castNode } from '../../core/graph/cast.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift, liftAll, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { and, eq, gt, isfinite, isnan, le, lt, ne, not, or } from '../../core/ops/compare.js'
import {
  abs,
  add,
  ceil,
  copysign,
  div,
  floor,
  maximum,
  minimum,
  mod,
  mul,
  neg,
  round,
  stopGradient,
  sub,
  where,
} from '../../core/ops/elementwise.js'
import { all } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { AllCloseFn, CloseOptions, IsCloseFn, NanToNumFn, NanToNumOptions } from '../../core/types/signatures/arrays.js'
import type { Binary, Choosing, FloatBinary, FloatUnary, UnaryTo } from '../../core/types/signatures/elementwise.js'

const pair = (a: unknown, b: unknown, op: string): readonly [AnyExpr, AnyExpr] => {
  const [x, y] = liftAll([a, b], op, 'number') as [Node, Node]
  return [asExpr(x), asExpr(y)]
}

/**
 * x without its fraction: the nearest integer that is not farther from 0, as a float.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTowardZero.
 * @example trunc([1.7, -1.7])   // [1, -1]
 */
export const trunc: FloatUnary = typed(
  ofOne('trunc', (x: unknown): AnyExpr => {
    const v = asExpr(lift(x, 'trunc'))
    return where(lt(v, 0), ceil(v), floor(v))
  }),
)

/**
 * a modulo b, with the sign of b: NumPy's other name of `mod`.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 stays.   Rule  dy = da - floor(a / b) db.   Source  NumPy remainder.
 * @example remainder([7, -7], 3)   // [1, 2]
 */
export const remainder: Binary<'remainder'> = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = pair(a, b, 'remainder')
  return mod(x, y)
})

/**
 * The remainder with the sign of a: a - b trunc(a / b), C's fmod and JavaScript's %.
 *
 * Shapes  a and b broadcast.   Domain  b != 0; NaN for floats, 0 for i32 there.   Dtype  promoted; i32 stays.
 * Rule    dy = da - trunc(a / b) db.   Source  IEEE 754 and C, exact.
 * @example fmod([7, -7], 3)   // [1, -1]
 */
export const fmod: Binary<'fmod'> = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = pair(a, b, 'fmod')
  if (!isFloat(x.dtype)) {
    // Where the sign is the other, one divisor less: i32 has not the absolute value of its least number.
    const r = mod(x, y)
    return where(and(ne(r, 0), ne(lt(r, 0), lt(x, 0))), sub(r, y), r)
  }
  // Of two numbers that are not negative both remainders are the same, without rounding. The sign is that of -0 too.
  const s = copysign(1, x)
  return mul(s, mod(mul(s, x), mul(copysign(1, y), y)))
})

/**
 * floor(a / b): the whole quotient whose remainder, `remainder(a, b)`, has the sign of b.
 *
 * Shapes  a and b broadcast.   Domain  b != 0; a / b for floats, 0 for i32 there.   Dtype  promoted; i32 stays.
 * Rule    dy = 0.   Source  NumPy floor_divide: (a - remainder) / b, rounded, so that 1 by 0.1 is 9.
 * @example floorDivide([7, -7], 2)   // [3, -4]
 */
export const floorDivide: Binary<'floorDivide'> = typed((a: unknown, b: unknown): AnyExpr => {
  const [x, y] = pair(a, b, 'floorDivide').map((v) => stopGradient(v)) as unknown as readonly [AnyExpr, AnyExpr]
  const isZero = eq(y, 0)
  if (!isFloat(x.dtype)) {
    // Quotients of i32 are exact in f64; the one that i32 has not, of its least number by -1, wraps.
    const quotient = asExpr(castNode(asNode(floor(div(x, where(isZero, 1, y)))), 'i32'))
    return where(isZero, 0, where(eq(y, -1), neg(x), quotient))
  }
  // The remainder with the sign of x is at most x, so that nothing is infinite but a quotient by 0; where its sign is not y's, one less.
  const rest = fmod(x, y)
  const cut = round(div(sub(x, rest), y))
  const q = where(and(ne(rest, 0), ne(lt(rest, 0), lt(y, 0))), sub(cut, 1), cut)
  return where(isZero, div(x, y), where(eq(q, 0), copysign(0, div(x, y)), q))
})

const choosing =
  (op: 'fmax' | 'fmin', choose: (a: AnyExpr, b: AnyExpr) => AnyExpr) =>
  (a: unknown, b: unknown): AnyExpr => {
    const [x, y] = liftAll([a, b], op, 'order').map(asExpr) as [AnyExpr, AnyExpr]
    return isFloat(x.dtype) ? where(isnan(x), y, where(isnan(y), x, choose(x, y))) : choose(x, y)
  }

/**
 * The larger of a and b; the other one where one is NaN.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool stay.   Rule  as `maximum`: the larger has the cotangent, equals share it; a NaN has none of it.
 * @example fmax([1, NaN], [2, 3])   // [2, 3]
 */
export const fmax: Choosing<'fmax'> = typed(choosing('fmax', maximum))

/**
 * The smaller of a and b; the other one where one is NaN.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool stay.   Rule  as `minimum`: the smaller has the cotangent, equals share it; a NaN has none of it.
 * @example fmin([1, NaN], [2, 3])   // [1, 3]
 */
export const fmin: Choosing<'fmin'> = typed(choosing('fmin', minimum))

/**
 * The step of Heaviside: 0 for x < 0, 1 for x > 0, h at 0; NaN stays.
 *
 * Shapes  x and h broadcast.   Dtype  promoted; i32 and bool become f64.   Rule  dx has no part; dy = dh where x is 0.
 * @example heaviside([-1, 0, 2], 0.5)   // [0, 0.5, 1]
 */
export const heaviside: FloatBinary<'heaviside'> = typed((x: unknown, h: unknown): AnyExpr => {
  const [v, at0] = liftAll([x, h], 'heaviside', 'float').map(asExpr) as [AnyExpr, AnyExpr]
  const s = stopGradient(v)
  return where(lt(s, 0), 0, where(gt(s, 0), 1, where(eq(s, 0), at0, s)))
})

/**
 * Is x infinite?
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example isinf([1, -Infinity, NaN])   // [false, true, false]
 */
export const isinf: UnaryTo<'bool'> = typed(
  ofOne('isinf', (x: unknown): AnyExpr => {
    const v = asExpr(lift(x, 'isinf'))
    return not(or(isfinite(v), isnan(v)))
  }),
)

/**
 * Is the sign bit of x set: is it negative, or -0? Not for NaN, whose sign is not kept.
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754, isSignMinus.
 * @example signbit([-1, 0, -0])   // [true, false, true]
 */
export const signbit: UnaryTo<'bool'> = typed(
  ofOne('signbit', (x: unknown): AnyExpr => lt(copysign(1, asExpr(liftFloat(x, 'signbit'))), 0)),
)

const closeOptions: Names<CloseOptions> = { rtol: true, atol: true, equalNan: true }
const close = (a: unknown, b: unknown, options: CloseOptions | undefined, op: string): AnyExpr => {
  const [x, y] = liftAll([a, b], op, 'float').map(asExpr) as [AnyExpr, AnyExpr]
  const { rtol = 1e-5, atol = 1e-8, equalNan } = optionsOf(options, closeOptions, op)
  const bound = add(numberOf(atol, 'atol', op), mul(numberOf(rtol, 'rtol', op), abs(y)))
  const near = or(eq(x, y), and(isfinite(y), le(abs(sub(x, y)), bound)))
  return flagOf(equalNan, 'equalNan', op) ? or(near, and(isnan(x), isnan(y))) : near
}

/**
 * Is a near b, element by element: |a - b| <= atol + rtol |b|? Infinities are near themselves, NaN with `equalNan`. rtol is 1e-5, atol 1e-8.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  NumPy isclose.
 * @example isclose([1, 2], [1.000001, 2.1])   // [true, false]
 */
export const isclose: IsCloseFn = typed((a: unknown, b: unknown, options?: CloseOptions): AnyExpr => close(a, b, options, 'isclose'))

/**
 * Are all elements near, as `isclose` has it?
 *
 * Shapes  a and b broadcast -> [].   Dtype  bool.   Rule  none: NoTangent.   Source  NumPy allclose.
 * @example allclose([1, 2], [1.000001, 2.1])   // false
 */
export const allclose: AllCloseFn = typed(
  (a: unknown, b: unknown, options?: CloseOptions): AnyExpr => all(close(a, b, options, 'allclose')),
)

const LARGEST = { f64: Number.MAX_VALUE, f32: 2 ** 128 - 2 ** 104 } as const
const nanToNumOptions: Names<NanToNumOptions> = { nan: true, posinf: true, neginf: true }

/**
 * x with numbers in the place of NaN (0 unless given) and of infinities (the largest and the smallest number of the dtype unless given).
 *
 * Shapes  x's.   Dtype  x's; integers stay as they are.   Rule  xBar = yBar where x is finite, 0 elsewhere.   Source  NumPy nan_to_num.
 * @example nanToNum([1, NaN, -Infinity], { neginf: -9 })   // [1, 0, -9]
 */
export const nanToNum: NanToNumFn = typed((x: unknown, options?: NanToNumOptions): AnyExpr => {
  const n = lift(x, 'nanToNum')
  const { nan = 0, posinf, neginf } = optionsOf(options, nanToNumOptions, 'nanToNum')
  const v = asExpr(n)
  const largest = n.dtype === 'f32' ? LARGEST.f32 : LARGEST.f64
  const high = numberOf(posinf ?? largest, 'posinf', 'nanToNum')
  const low = numberOf(neginf ?? -largest, 'neginf', 'nanToNum')
  numberOf(nan, 'nan', 'nanToNum')
  return isFloat(n.dtype) ? where(isfinite(v), v, where(isnan(v), nan, where(gt(v, 0), high, low))) : v
})
