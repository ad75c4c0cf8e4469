/** Numbers made of others, element by element: quotients and remainders, choices that leave NaN out, tests of nearness. */
import { flag, number, type OptionsOf } from '../../core/errors/options.js'
import { isFloat } from '../../core/graph/aval.js'
import { add, copysign, div, maximum, minimum, mod, mul, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { castTo } from '../../core/ops/arrays.js'
import { and, eq, gt, isfinite, isnan, le, lt, ne, not, or } from '../../core/ops/compare.js'
import { array, floats, numbers, operation, ordered } from '../../core/ops/operation.js'
import { all } from '../../core/ops/reductions.js'
import { round } from '../../core/ops/rounding.js'
import { abs, ceil, floor, neg } from '../../core/ops/unary.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { AllCloseFn, IsCloseFn, NanToNumFn } from '../../core/types/signatures/arrays.js'
import type { Binary, Choosing, FloatBinary, FloatUnary, UnaryTo } from '../../core/types/signatures/elementwise.js'

const two = { a: numbers, b: numbers }

/**
 * x without its fraction: the nearest integer towards 0, as a float.
 *
 * Rule  dy = 0.   Source  IEEE 754, roundToIntegralTowardZero.
 * @example trunc([1.7, -1.7])   // [1, -1]
 */
export const trunc: FloatUnary = operation('trunc', { x: array }, {}, ({ x }) => where(lt(x, 0), ceil(x), floor(x)))

/**
 * a modulo b, with the sign of b: NumPy's other name of `mod`.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 stays.   Rule  dy = da - floor(a / b) db.   Source  NumPy remainder.
 * @example remainder([7, -7], 3)   // [1, 2]
 */
export const remainder: Binary<'remainder'> = operation('remainder', two, {}, ({ a, b }) => mod(a, b))

/**
 * The remainder with the sign of a: a - b trunc(a / b), C's fmod and JavaScript's %.
 *
 * Shapes  a and b broadcast.   Domain  b != 0; NaN for floats, 0 for i32 there.   Dtype  promoted; i32 stays.
 * Rule    dy = da - trunc(a / b) db.   Source  IEEE 754 and C, exact.
 * @example fmod([7, -7], 3)   // [1, -1]
 */
export const fmod: Binary<'fmod'> = operation('fmod', two, {}, ({ a, b }) => {
  if (!isFloat(a.dtype)) {
    // Where the sign is the other, one divisor less: i32 has not the absolute value of its least number.
    const r = mod(a, b)
    return where(and(ne(r, 0), ne(lt(r, 0), lt(a, 0))), sub(r, b), r)
  }
  // Of two numbers that are not negative both remainders are the same, without rounding. The sign is that of -0 too.
  const s = copysign(1, a)
  return mul(s, mod(mul(s, a), mul(copysign(1, b), b)))
})

/**
 * floor(a / b): the whole quotient whose remainder, `remainder(a, b)`, has the sign of b.
 *
 * Shapes  a and b broadcast.   Domain  b != 0; a / b for floats, 0 for i32 there.   Dtype  promoted; i32 stays.
 * Rule    dy = 0.   Source  NumPy floor_divide: (a - remainder) / b, rounded, so that 1 by 0.1 is 9.
 * @example floorDivide([7, -7], 2)   // [3, -4]
 */
export const floorDivide: Binary<'floorDivide'> = operation('floorDivide', two, {}, ({ a, b }) => {
  const [x, y] = [stopGradient(a), stopGradient(b)] as [AnyExpr, AnyExpr]
  const isZero = eq(y, 0)
  if (!isFloat(x.dtype)) {
    // Quotients of i32 are exact in f64; the one that i32 has not, of its least number by -1, wraps.
    const quotient = castTo(floor(div(x, where(isZero, 1, y))), 'i32')
    return where(isZero, 0, where(eq(y, -1), neg(x), quotient))
  }
  // The remainder with the sign of x is at most x, so that nothing is infinite but a quotient by 0; where its sign is not y's, one less.
  const rest = fmod(x, y)
  const cut = round(div(sub(x, rest), y))
  const q = where(and(ne(rest, 0), ne(lt(rest, 0), lt(y, 0))), sub(cut, 1), cut)
  return where(isZero, div(x, y), where(eq(q, 0), copysign(0, div(x, y)), q))
})

const choosing = <Op extends 'fmax' | 'fmin'>(name: Op, choose: (a: AnyExpr, b: AnyExpr) => AnyExpr): Choosing<Op> =>
  operation(name, { a: ordered, b: ordered }, {}, ({ a, b }) =>
    isFloat(a.dtype) ? where(isnan(a), b, where(isnan(b), a, choose(a, b))) : choose(a, b),
  )

/**
 * The larger of a and b; if one is NaN, the other.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool stay.   Rule  as `maximum`: the larger has the cotangent, equal elements share it, and a NaN has
 *         none.
 * @example fmax([1, NaN], [2, 3])   // [2, 3]
 */
export const fmax: Choosing<'fmax'> = choosing('fmax', maximum)

/**
 * The smaller of a and b; if one is NaN, the other.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool stay.   Rule  as `minimum`: the smaller has the cotangent, equal elements share it, and a NaN has
 *         none.
 * @example fmin([1, NaN], [2, 3])   // [1, 3]
 */
export const fmin: Choosing<'fmin'> = choosing('fmin', minimum)

/**
 * Heaviside's step function: 0 for x < 0, 1 for x > 0, h at 0; NaN stays.
 *
 * Shapes  x and h broadcast.   Dtype  promoted; i32 and bool become f64.   Rule  dy = dh where x is 0; dx has no effect.
 * @example heaviside([-1, 0, 2], 0.5)   // [0, 0.5, 1]
 */
export const heaviside: FloatBinary<'heaviside'> = operation('heaviside', { x: floats, h: floats }, {}, ({ x, h }) => {
  const s = stopGradient(x)
  return where(lt(s, 0), 0, where(gt(s, 0), 1, where(eq(s, 0), h, s)))
})

/**
 * Is x infinite?
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example isinf([1, -Infinity, NaN])   // [false, true, false]
 */
export const isinf: UnaryTo<'bool'> = operation('isinf', { x: array }, {}, ({ x }) => not(or(isfinite(x), isnan(x))))

/**
 * Is the sign bit of x set, that is, is x negative or -0? False for NaN, whose sign is not kept.
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754, isSignMinus.
 * @example signbit([-1, 0, -0])   // [true, false, true]
 */
export const signbit: UnaryTo<'bool'> = operation('signbit', { x: floats }, {}, ({ x }) => lt(copysign(1, x), 0))

const closeOptions = { rtol: number(1e-5), atol: number(1e-8), equalNan: flag() }
/** Options of isclose and allclose. */
interface CloseOptions extends OptionsOf<typeof closeOptions> {}
const closeness = <F>(name: string, of: (near: AnyExpr) => AnyExpr): F =>
  operation(name, { a: floats, b: floats }, closeOptions, ({ a, b }, { rtol, atol, equalNan }) => {
    const bound = add(atol, mul(rtol, abs(b)))
    const near = or(eq(a, b), and(isfinite(b), le(abs(sub(a, b)), bound)))
    return of(equalNan ? or(near, and(isnan(a), isnan(b))) : near)
  })

/**
 * Is a near b, element by element: |a - b| <= atol + rtol |b|? Infinities are near themselves, NaN with `equalNan`. rtol is 1e-5, atol 1e-8.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  NumPy isclose.
 * @example isclose([1, 2], [1.000001, 2.1])   // [true, false]
 */
export const isclose: IsCloseFn<CloseOptions> = closeness('isclose', (near) => near)

/**
 * Are all elements near, in the sense of `isclose`?
 *
 * Shapes  a and b broadcast -> [].   Dtype  bool.   Rule  none: NoTangent.   Source  NumPy allclose.
 * @example allclose([1, 2], [1.000001, 2.1])   // false
 */
export const allclose: AllCloseFn<CloseOptions> = closeness('allclose', (near) => all(near))

const replacing = { nan: number(0), posinf: number(), neginf: number() }
/** What nanToNum puts in the place of what is no number. */
interface NanToNumOptions extends OptionsOf<typeof replacing> {}
const LARGEST = { f64: Number.MAX_VALUE, f32: 2 ** 128 - 2 ** 104 } as const

/**
 * x with numbers in place of NaN (0 unless given) and of infinities (the largest and the smallest number of the dtype unless given).
 *
 * Shapes  x's.   Dtype  x's; integers stay as they are.   Rule  xBar = yBar where x is finite, 0 elsewhere.   Source  NumPy nan_to_num.
 * @example nanToNum([1, NaN, -Infinity], { neginf: -9 })   // [1, 0, -9]
 */
export const nanToNum: NanToNumFn<NanToNumOptions> = operation('nanToNum', { x: array }, replacing, ({ x }, { nan, posinf, neginf }) => {
  if (!isFloat(x.dtype)) return x
  const largest = LARGEST[x.dtype as 'f64' | 'f32']
  return where(isfinite(x), x, where(isnan(x), nan, where(gt(x, 0), posinf ?? largest, neginf ?? -largest)))
})
