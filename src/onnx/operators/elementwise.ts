/** Operators on one element at a time. */
import {
  type AnyExpr,
  abs,
  acos,
  acosh,
  add,
  and,
  asin,
  asinh,
  atan,
  atanh,
  bitwiseAnd,
  bitwiseNot,
  bitwiseOr,
  bitwiseXor,
  cast,
  ceil,
  celu,
  clamp,
  cos,
  cosh,
  div,
  elu,
  eq,
  erf,
  exp,
  floor,
  floorDivide,
  fmod,
  ge,
  gelu,
  gt,
  hardSwish,
  isinf,
  isnan,
  le,
  leakyRelu,
  leftShift,
  log,
  lt,
  maximum,
  minimum,
  mish,
  mod,
  mul,
  ne,
  neg,
  not,
  or,
  pow,
  reciprocal,
  relu,
  reshape,
  rightShift,
  round,
  sigmoid,
  sign,
  sin,
  sinh,
  softplus,
  softsign,
  sqrt,
  sub,
  tan,
  tanh,
  where,
  zerosLike,
} from '../../index.js'
import { type Call, like, type Operator, type Table } from '../call.js'
import { type ElementType, isFloat, typeOf } from '../types.js'
import { type Value, value, wrapped } from '../value.js'
import { rounded, roundedToPower } from './rounding.js'

/** A function of one element, of the type that it has. */
const one = (f: (x: AnyExpr) => AnyExpr, ...since: readonly number[]): Operator => ({
  since,
  read: (c) => {
    const x = c.in(0)
    return like(x, wrapped(x.type, f(x.x)))
  },
})
/** A function of one element and of attributes. */
const told = (f: (x: AnyExpr, c: Call) => AnyExpr, ...since: readonly number[]): Operator => ({
  since,
  read: (c) => {
    const x = c.in(0)
    return like(x, f(x.x, c))
  },
})
const bool = /*#__PURE__*/ typeOf('bool')

/** Before operator set 7 the second of two arrays was broadcast only where `broadcast` says so, from `axis` on. */
const second = (c: Call, a: Value, b: Value): AnyExpr => {
  if (c.version >= 7 || c.int('broadcast', 0) === 0 || !c.has('axis')) return b.x
  const [rank, inner] = [a.x.shape.length, b.x.shape.length]
  const axis = c.int('axis')
  const after = rank - (axis < 0 ? axis + rank : axis) - inner
  return after <= 0 ? b.x : reshape(b.x, [...b.x.shape, ...new Array<number>(after).fill(1)])
}
/** Two integers of one type that different dtypes hold are computed in f64. */
const both = (a: AnyExpr, b: AnyExpr): readonly [AnyExpr, AnyExpr] =>
  a.dtype === b.dtype ? [a, b] : a.dtype === 'i32' ? [cast(a, b.dtype), b] : [a, cast(b, a.dtype)]
const two = (f: (a: AnyExpr, b: AnyExpr, c: Call, type: ElementType) => AnyExpr, since: readonly number[], to?: ElementType): Operator => ({
  since,
  read: (c) => {
    const [a, b] = [c.in(0), c.in(1)]
    const [x, y] = both(a.x, second(c, a, b))
    return value(to ?? a.type, wrapped(to ?? a.type, f(x, y, c, a.type)))
  },
})
/** A function of any number of arrays, two by two. */
const fold = (f: (a: AnyExpr, b: AnyExpr) => AnyExpr, ...since: readonly number[]): Operator => ({
  since,
  read: (c) => {
    const all = c.all()
    return like(
      c.in(0),
      all.slice(1).reduce<AnyExpr>((x, v) => f(...both(x, v.x)), all[0]!.x),
    )
  },
})

/** The quotient of integers, towards 0. */
const quotient = (a: AnyExpr, b: AnyExpr): AnyExpr => {
  const q = floorDivide(a, b)
  const isBetween = and(ne(mul(q, b), a), ne(lt(a, 0), lt(b, 0)))
  return where(isBetween, add(q, 1), q)
}
const divide = (a: AnyExpr, b: AnyExpr, _c: Call, type: ElementType): AnyExpr => (isFloat(type) ? div(a, b) : quotient(a, b))

const power: Operator = {
  since: [1, 7, 12, 13, 15],
  known: [1],
  read: (c) => {
    const [a, b] = [c.in(0), c.in(1)]
    const exponent = c.known(b)
    // A number has derivatives at 0 and below, which an array of them has not.
    if (exponent?.length === 1 && b.x.shape.length === 0 && isFloat(a.type)) return like(a, pow(a.x, exponent[0]!))
    if (isFloat(a.type)) return like(a, pow(a.x, cast(second(c, a, b), a.x.dtype)))
    const floats = pow(cast(a.x, 'f64'), cast(b.x, 'f64'))
    return like(a, wrapped(a.type, a.x.dtype === 'i32' ? cast(isFloat(b.type) ? floats : round(floats), 'i32') : floats))
  },
}
const clip: Operator = {
  since: [1, 6, 11, 12, 13],
  read: (c) => {
    const x = c.in(0)
    if (c.version < 11) return like(x, clamp(x.x, c.float('min', Number.NEGATIVE_INFINITY), c.float('max', Number.POSITIVE_INFINITY)))
    const [low, high] = [c.maybe(1), c.maybe(2)]
    const above = low === undefined ? x.x : maximum(...both(x.x, low.x))
    return like(x, high === undefined ? above : minimum(...both(above, high.x)))
  },
}
const prelu: Operator = {
  since: [1, 6, 7, 9, 16],
  read: (c) => {
    const [x, slope] = [c.in(0), c.in(1)]
    const rank = x.x.shape.length
    // Before operator set 7 a slope for each channel.
    const s =
      c.version < 7 && slope.x.shape.length === 1 && rank > 2 ? reshape(slope.x, [-1, ...new Array<number>(rank - 2).fill(1)]) : slope.x
    return like(x, wrapped(x.type, where(lt(x.x, 0), mul(x.x, s), x.x)))
  },
}
/** How a cast to floats of 8 bits rounds. */
interface Rounding {
  readonly saturate: boolean
  readonly mode: string
}
const STANDARD: Rounding = { saturate: true, mode: 'up' }
const roundingOf = (c: Call): Rounding => ({ saturate: c.int('saturate', 1) !== 0, mode: c.text('round_mode', 'up') })
/** A cast as ONNX has it: floats to integers are cut, integers to narrower ones wrap, floats of 16 bits and less round to what they hold. */
export const castTo = (v: Value, to: ElementType, { saturate, mode } = STANDARD): Value => {
  const { x } = v
  if (to.name === 'bool') return value(to, x.dtype === 'bool' ? x : ne(x, 0))
  if (to.dtype === 'i32') {
    // Integers that no i32 holds stay f64 where the type may have them.
    const stays = x.dtype === 'f64' && !isFloat(v.type) && to.bytes === 8
    return value(to, stays ? x : wrapped(to, x.dtype === 'i32' ? x : cast(x, 'i32')))
  }
  const y = x.dtype === to.dtype ? x : cast(x, to.dtype)
  if (to.name === 'float8e8m0') return value(to, roundedToPower(y, mode))
  return value(to, to.bytes <= 2 ? rounded(y, to.name, saturate) : y)
}
const shrink = (x: AnyExpr, c: Call): AnyExpr => {
  const [bias, lambda] = [c.float('bias', 0), c.float('lambd', 0.5)]
  const type = x.dtype
  const moved = where(lt(x, -lambda), add(x, bias), where(gt(x, lambda), sub(x, bias), 0))
  return moved.dtype === type ? moved : cast(moved, type)
}
/** Signs stay; a shift that is no place of the type is as far as there is. */
const shift = (a: AnyExpr, b: AnyExpr, c: Call): AnyExpr =>
  c.text('direction') === 'LEFT' ? leftShift(a, b) : rightShift(a, where(and(ge(b, 0), le(b, 31)), b, 31))
const isInfinite: Operator = {
  since: [10, 20],
  read: (c) => {
    const { x } = c.in(0)
    const [low, high] = [c.int('detect_negative', 1) !== 0, c.int('detect_positive', 1) !== 0]
    if (low && high) return value(bool, isinf(x))
    return value(bool, low ? eq(x, Number.NEGATIVE_INFINITY) : high ? eq(x, Number.POSITIVE_INFINITY) : and(isinf(x), not(isinf(x))))
  },
}

export const elementwise: Table = {
  Abs: one(abs, 1, 6, 13),
  Acos: one(acos, 7),
  Acosh: one(acosh, 9),
  Asin: one(asin, 7),
  Asinh: one(asinh, 9),
  Atan: one(atan, 7),
  Atanh: one(atanh, 9),
  Ceil: one(ceil, 1, 6, 13),
  Cos: one(cos, 7),
  Cosh: one(cosh, 9),
  Erf: one(erf, 9, 13),
  Exp: one(exp, 1, 6, 13),
  Floor: one(floor, 1, 6, 13),
  HardSwish: one(hardSwish, 14),
  Log: one(log, 1, 6, 13),
  Mish: one(mish, 18),
  Neg: one(neg, 1, 6, 13),
  Reciprocal: one(reciprocal, 1, 6, 13),
  Relu: one((x) => (x.dtype === 'i32' ? maximum(x, 0) : relu(x)), 1, 6, 13, 14),
  Round: one(round, 11),
  Sigmoid: one(sigmoid, 1, 6, 13),
  Sign: one(sign, 9, 13),
  Sin: one(sin, 7),
  Sinh: one(sinh, 9),
  Softplus: one(softplus, 1),
  Softsign: one(softsign, 1),
  Sqrt: one(sqrt, 1, 6, 13),
  Tan: one(tan, 7),
  Tanh: one(tanh, 1, 6, 13),
  Not: one(not, 1),
  BitwiseNot: one(bitwiseNot, 18),
  Celu: told((x, c) => celu(x, { alpha: c.float('alpha', 1) }), 12),
  Elu: told((x, c) => elu(x, { alpha: c.float('alpha', 1) }), 1, 6),
  Gelu: told((x, c) => gelu(x, { approximate: c.text('approximate', 'none') === 'tanh' }), 20),
  HardSigmoid: told((x, c) => clamp(add(mul(x, c.float('alpha', 0.2)), c.float('beta', 0.5)), 0, 1), 1, 6),
  LeakyRelu: told((x, c) => leakyRelu(x, { slope: c.float('alpha', 0.01) }), 1, 6, 16),
  Selu: told(
    (x, c) => {
      const [alpha, gamma] = [c.float('alpha', 1.6732632423543772), c.float('gamma', 1.0507009873554805)]
      return mul(gamma, elu(x, { alpha }))
    },
    1,
    6,
  ),
  Shrink: told(shrink, 9),
  ThresholdedRelu: told((x, c) => where(gt(x, c.float('alpha', 1)), x, zerosLike(x)), 10),
  IsNaN: { since: [9, 13, 20], read: (c) => value(bool, isnan(c.in(0).x)) },
  IsInf: isInfinite,
  Clip: clip,
  PRelu: prelu,
  Add: two(add, [1, 6, 7, 13, 14]),
  Sub: two(sub, [1, 6, 7, 13, 14]),
  Mul: two(mul, [1, 6, 7, 13, 14]),
  Div: two(divide, [1, 6, 7, 13, 14]),
  Mod: two((a, b, c) => (c.int('fmod', 0) === 0 ? mod(a, b) : fmod(a, b)), [10, 13]),
  Pow: power,
  BitShift: two(shift, [11]),
  BitwiseAnd: two(bitwiseAnd, [18]),
  BitwiseOr: two(bitwiseOr, [18]),
  BitwiseXor: two(bitwiseXor, [18]),
  And: two(and, [1, 7], bool),
  Or: two(or, [1, 7], bool),
  Xor: two(ne, [1, 7], bool),
  Equal: two(eq, [1, 7, 11, 13, 19], bool),
  Greater: two(gt, [1, 7, 9, 13], bool),
  GreaterOrEqual: two(ge, [12, 16], bool),
  Less: two(lt, [1, 7, 9, 13], bool),
  LessOrEqual: two(le, [12, 16], bool),
  Max: fold(maximum, 1, 6, 8, 12, 13),
  Min: fold(minimum, 1, 6, 8, 12, 13),
  Sum: fold(add, 1, 6, 8, 13),
  Mean: {
    since: [1, 6, 8, 13],
    read: (c) => {
      const all = c.all()
      return like(
        c.in(0),
        div(
          all.slice(1).reduce<AnyExpr>((x, v) => add(x, v.x), all[0]!.x),
          all.length,
        ),
      )
    },
  },
  Where: {
    since: [9, 16],
    read: (c) => {
      const [a, b] = both(c.in(1).x, c.in(2).x)
      return value(c.in(1).type, where(c.in(0).x, a, b))
    },
  },
  Cast: {
    since: [1, 6, 9, 13, 19, 21],
    read: (c) => castTo(c.in(0), c.version < 6 && !c.has('to') ? c.in(0).type : c.typeAt('to'), roundingOf(c)),
  },
  CastLike: { since: [15, 19, 21], read: (c) => castTo(c.in(0), c.in(1).type, roundingOf(c)) },
  Identity: { since: [1, 13, 14, 16, 19, 21], read: (c) => c.item(0) },
}
