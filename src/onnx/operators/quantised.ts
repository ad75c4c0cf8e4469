/** Operators on integers that stand for floats: x = scale (q - zero). Products are of integers, exact. */
import {
  type AnyExpr,
  add,
  cast,
  clamp,
  conv,
  div,
  matmul,
  max,
  maximum,
  min,
  minimum,
  mul,
  neg,
  repeat,
  reshape,
  round,
  slice,
  sub,
} from '../../index.js'
import { axisIn, type Call, type Operator, type Table } from '../call.js'
import { type ElementType, isFloat, typeOf } from '../types.js'
import { type Value, value } from '../value.js'
import { windowsOf } from './conv.js'
import { rounded } from './rounding.js'

/** Floats as integers of a type: rounded, halves to even, and kept within its range. */
const saturated = (x: AnyExpr, type: ElementType): AnyExpr => cast(clamp(x, type.range![0], type.range![1]), 'i32')
/** A number for each place of an axis, or one for each block of it, beside x; one for all stays. */
const along = (c: Call, v: AnyExpr, x: AnyExpr, standard: number): AnyExpr => {
  if (v.shape.length === 0 || (v.shape.length === 1 && v.shape[0] === 1)) return reshape(v, [])
  const axis = axisIn(c, c.int('axis', standard), x.shape.length)
  if (v.shape.length === 1)
    return reshape(
      v,
      x.shape.map((_, i) => (i === axis ? v.shape[0]! : 1)),
    )
  const block = c.int('block_size', 0)
  if (block === 0) return c.refuse('its scale has several axes, and there is no block_size.')
  const whole = repeat(v, block, { axis })
  return whole.shape[axis] === x.shape[axis]
    ? whole
    : slice(
        whole,
        x.shape.map(() => 0),
        [...x.shape],
      )
}
const outOf = (c: Call, zero: Value | undefined): ElementType => zero?.type ?? c.typeAt('output_dtype', typeOf('uint8'))

const quantize: Operator = {
  since: [10, 13, 19, 21],
  read: (c) => {
    const [x, scale, zero] = [c.in(0), c.in(1), c.maybe(2)]
    const type = outOf(c, zero)
    const floats = x.x.dtype === 'i32' ? cast(x.x, 'f32') : x.x
    const quotient = div(floats, along(c, scale.x, x.x, 1))
    if (isFloat(type)) {
      const shifted = zero === undefined ? quotient : add(quotient, along(c, zero.x, x.x, 1))
      return value(type, rounded(shifted, type.name, c.int('saturate', 1) !== 0))
    }
    const q = round(quotient)
    return value(type, saturated(zero === undefined ? q : add(q, cast(along(c, zero.x, x.x, 1), q.dtype)), type))
  },
}
const dequantize: Operator = {
  since: [10, 13, 19, 21],
  read: (c) => {
    const [x, scale, zero] = [c.in(0), c.in(1), c.maybe(2)]
    const q = zero === undefined ? x.x : sub(x.x, along(c, zero.x, x.x, 1))
    return value(scale.type, mul(cast(q, scale.x.dtype), along(c, scale.x, x.x, 1)))
  },
}
const dynamic: Operator = {
  since: [11],
  read: (c) => {
    const { x } = c.in(0)
    const low = minimum(min(x), 0)
    const scale = div(sub(maximum(max(x), 0), low), 255)
    const zero = clamp(round(div(neg(low), scale)), 0, 255)
    const type = typeOf('uint8')
    return [value(type, saturated(add(round(div(x, scale)), zero), type)), value(typeOf('float'), scale), value(type, cast(zero, 'i32'))]
  },
}
/** q - zero of a matrix: one zero, or one for each row of the left and each column of the right. */
const centred = (x: AnyExpr, zero: AnyExpr | undefined, rows: boolean): AnyExpr => {
  if (zero === undefined) return x
  const one = zero.shape.length === 1 && zero.shape[0]! > 1 && rows ? reshape(zero, [-1, 1]) : zero
  return sub(x, one.shape.length === 1 && one.shape[0] === 1 ? reshape(one, []) : one)
}
const perRow = (v: AnyExpr, rows: boolean): AnyExpr =>
  v.shape.length === 1 && v.shape[0]! > 1 && rows ? reshape(v, [-1, 1]) : v.shape.length === 1 && v.shape[0] === 1 ? reshape(v, []) : v
const matMulInteger: Operator = {
  since: [10],
  read: (c) => value(typeOf('int32'), matmul(centred(c.in(0).x, c.maybe(2)?.x, true), centred(c.in(1).x, c.maybe(3)?.x, false))),
}
/** An integer sum as one of another scale. */
const rescaled = (sum: AnyExpr, by: AnyExpr, zero: Value): Value =>
  value(zero.type, saturated(add(round(mul(cast(sum, by.dtype), by)), cast(perRow(zero.x, false), by.dtype)), zero.type))
const qMatMul: Operator = {
  since: [10, 21],
  read: (c) => {
    const product = matmul(centred(c.in(0).x, c.in(2).x, true), centred(c.in(3).x, c.in(5).x, false))
    const by = div(mul(perRow(c.in(1).x, true), perRow(c.in(4).x, false)), perRow(c.in(6).x, true))
    return rescaled(product, by, c.in(7))
  },
}
/** A convolution of integers of 8 bits, by the floats that hold every sum: f32 of up to 258 products, else f64. */
const convolvedIntegers = (c: Call, x: AnyExpr, k: AnyExpr): AnyExpr => {
  const w = windowsOf(c, x.shape.slice(2), k.shape.slice(2))
  const products = k.shape.slice(1).reduce((n, d) => n * d, 1)
  const dtype = products * 255 * 255 <= 2 ** 24 ? 'f32' : 'f64'
  return cast(conv(cast(x, dtype), cast(k, dtype), { ...w, groups: c.int('group', 1) } as never), 'i32')
}
const channelwise = (v: AnyExpr, rank: number, at: number): AnyExpr =>
  v.shape.length === 0 || v.shape[0] === 1
    ? reshape(v, [])
    : reshape(
        v,
        Array.from({ length: rank }, (_, i) => (i === at ? -1 : 1)),
      )
const minus = (x: AnyExpr, zero: Value | undefined, at: number): AnyExpr =>
  zero === undefined ? x : sub(x, channelwise(zero.x, x.shape.length, at))
const convInteger: Operator = {
  since: [10],
  read: (c) => value(typeOf('int32'), convolvedIntegers(c, minus(c.in(0).x, c.maybe(2), 1), minus(c.in(1).x, c.maybe(3), 0))),
}
const qConv: Operator = {
  since: [10],
  read: (c) => {
    const x = minus(c.in(0).x, c.in(2), 1)
    const sum = convolvedIntegers(c, x, minus(c.in(3).x, c.in(5), 0))
    const rank = x.shape.length
    const bias = c.maybe(8)
    const all = bias === undefined ? sum : add(sum, channelwise(bias.x, rank, 1))
    const by = div(mul(channelwise(c.in(1).x, rank, 1), channelwise(c.in(4).x, rank, 1)), channelwise(c.in(6).x, rank, 1))
    return rescaled(all, by, c.in(7))
  },
}

export const quantised: Table = {
  ConvInteger: convInteger,
  DequantizeLinear: dequantize,
  DynamicQuantizeLinear: dynamic,
  MatMulInteger: matMulInteger,
  QLinearConv: qConv,
  QLinearMatMul: qMatMul,
  QuantizeLinear: quantize,
}
