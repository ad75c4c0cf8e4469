/** Rows of what is computed at every index. */
import type { CastParams } from '../../../core/graph/cast.js'
import type { elementwise } from '../../../core/ops/families.js'
import type { PolygammaParams } from '../../../core/ops/polygamma.js'
import { abs, add, cos, div, eq, log, mul, pow, reciprocal, sign, sin, sqrt, sub, where } from '../../../index.js'
import { as, each, narrow, type Row, type RowsOf } from '../row.js'
import { type Ref, type TypeName, typeNameOf, type Writer } from '../writer.js'
import * as fn from './functions.js'

const isFloat = (t: TypeName): boolean => t === 'float' || t === 'double'
const identity: Row = { write: (w, [x]) => w.node('Identity', [x]) }

/** a - b floor(a / b): of the sign of b, as C's remainder where that has it. */
const mod: Row = {
  write: (w, [a, b]) => {
    if (isFloat(a!.type)) {
      const rest = w.node('Mod', [a, b], { fmod: 1 }, { shape: w.each('Add', a!, b!).shape })
      return floored(w, rest, b!)
    }
    const zero = w.scalar('int32', 0)
    const isZero = w.test('Equal', b!, zero)
    return w.where(isZero, zero, w.each('Mod', a!, w.where(isZero, w.scalar('int32', 1), b!)))
  },
}
const floored = (w: Writer, rest: Ref, b: Ref): Ref => {
  const zero = w.scalar(rest.type, 0)
  const differs = w.test('Xor', w.test('Less', rest, zero), w.test('Less', b, zero))
  const isNone = w.test('Equal', rest, zero)
  return w.where(w.test('And', differs, w.test('Not', isNone)), w.each('Add', rest, b), rest)
}

/** A cast to integers saturates, and NaN is 0: ONNX leaves both undefined. */
const castRow: Row<CastParams> = {
  write: (w, [x], { dtype }) => {
    const to = typeNameOf[dtype]
    if (x!.type === to) return w.node('Identity', [x])
    if (to !== 'int32' || !isFloat(x!.type)) return w.cast(x!, to)
    const high = w.test('GreaterOrEqual', x!, w.scalar(x!.type, 2147483648))
    const low = w.test('Less', x!, w.scalar(x!.type, -2147483648))
    const safe = w.where(w.test('Or', w.test('Or', high, low), w.test('IsNaN', x!)), w.scalar(x!.type, 0), x!)
    const cut = w.where(high, w.scalar('int32', 2147483647), w.cast(safe, 'int32'))
    return w.where(low, w.scalar('int32', -2147483648), cut)
  },
}
/** Booleans are chosen by logic: ONNX Runtime has no kernel for them. */
const whereRow: Row = {
  write: (w, [c, a, b]) =>
    a!.type === 'bool' ? w.test('Or', w.test('And', c!, a!), w.test('And', w.test('Not', c!), b!)) : w.where(c!, a!, b!),
}

export const elementwiseRows: RowsOf<typeof elementwise> = {
  add: each('Add'),
  sub: each('Sub'),
  mul: each('Mul'),
  div: each('Div'),
  maximum: each('Max'),
  minimum: each('Min'),
  mod,
  copysign: as(([x, y]) => fn.signed(x!, y!)),
  where: whereRow,
  stopGradient: identity,
  strongMul: as(([a, b]) => where(eq(a!, 0), a!, mul(a!, b!))),
  abs: each('Abs'),
  ceil: each('Ceil'),
  floor: each('Floor'),
  neg: each('Neg'),
  reciprocal: each('Reciprocal'),
  relu: each('Relu'),
  rsqrt: as(([x]) => reciprocal(sqrt(x!))),
  sign: each('Sign'),
  sqrt: each('Sqrt'),
  square: { write: (w, [x]) => w.each('Mul', x!, x!) },
  round: each('Round'),
  cast: castRow,
  acosh: narrow('Acosh', ([x]) => fn.acosh(x!)),
  asinh: narrow('Asinh', ([x]) => fn.asinh(x!)),
  atanh: narrow('Atanh', ([x]) => fn.atanh(x!)),
  cbrt: as(([x]) => mul(sign(x!), pow(abs(x!), 1 / 3))),
  cosh: narrow('Cosh', ([x]) => fn.cosh(x!)),
  exp: each('Exp'),
  exp2: as(([x]) => pow(2, x!)),
  expm1: as(([x]) => fn.expm1(x!)),
  log: each('Log'),
  log10: as(([x]) => mul(log(x!), Math.LOG10E)),
  log1p: as(([x]) => fn.log1p(x!)),
  log2: as(([x]) => mul(log(x!), Math.LOG2E)),
  logaddexp: as(([a, b]) => fn.logaddexp(a!, b!)),
  pow: each('Pow'),
  sigmoid: each('Sigmoid'),
  sinh: narrow('Sinh', ([x]) => fn.sinh(x!)),
  softplus: as(([x]) => fn.softplus(x!)),
  tanh: each('Tanh'),
  xlogy: as(([x, y]) => fn.xlogy(x!, y!)),
  acos: narrow('Acos', ([x]) => mul(fn.arctan(sqrt(div(sub(1, x!), add(x!, 1)))), 2)),
  asin: narrow('Asin', ([x]) => fn.arctan(div(x!, sqrt(mul(sub(1, x!), add(x!, 1)))))),
  atan: narrow('Atan', ([x]) => fn.arctan(x!)),
  atan2: as(([y, x]) => fn.atan2(y!, x!)),
  cos: each('Cos'),
  hypot: as(([x, y]) => fn.hypot(x!, y!)),
  sin: each('Sin'),
  tan: narrow('Tan', ([x]) => div(sin(x!), cos(x!))),
  erf: narrow('Erf', ([x]) => fn.erf(x!)),
  erfc: as(([x]) => fn.erfc(x!)),
  lgamma: as(([x]) => fn.lgamma(x!)),
  polygamma: as<PolygammaParams>(([x], { n }) => fn.polygamma(n, x!)),
}
