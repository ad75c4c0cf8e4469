/*
 * Columns of neighbours that reflections reduce, in vectors. Numbers that are one alone are f64, whatever the columns have.
 */
import type { FuncRef, FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { address, type Float, multiplyAdd, zeroVector } from './float.js'
import * as OP from './opcodes.js'
import { divide, multiplySubtract, number, strips } from './panel-parts.js'
import { across } from './panel-vectors.js'

const WIDTHS = [4, 1]
/** As in core/matrices/reflections.ts. */
const faint = { f64: [2 ** -450, 2 ** 700], f32: [2 ** -50, 2 ** 100] } as const

/** Stores an f64 at an address. */
export const put = (f: FunctionBuilder, F: Float, pointer: Operand, value: Operand): void => {
  f.push(pointer).push(value)
  if (F.name === 'f32') f.op(OP.f32_demote_f64)
  F.store(f)
}
/** A vector of an f64, repeated. */
const splat = (f: FunctionBuilder, F: Float, value: Operand): FunctionBuilder =>
  F.name === 'f64' ? f.op(OP.f64x2_splat, value) : f.op(OP.f32_demote_f64, value).op(OP.f32x4_splat)
/** Pushes the sum of a vector's lanes as an f64. */
const total = (f: FunctionBuilder, F: Float, v: Local): FunctionBuilder => {
  across(f, F, v)
  return F.name === 'f32' ? f.op(OP.f64_promote_f32) : f
}

/** dot(x, y, n): the sum of n products. */
export const emitDot = (module: Module, F: Float): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'i32'], ['f64'])
  const [x, y, n] = f.parameters(3)
  const sums = f.locals('v128', 4)
  const one = f.local('v128')
  for (const s of sums) zeroVector(f).set(s)
  strips(f, F, n, WIDTHS, ({ vectors, bytes, load }) => {
    for (let v = 0; v < vectors; v++) {
      load(x, v).set(one)
      multiplyAdd(f, F, module.madd, sums[v]!, one, () => load(y, v))
    }
    f.increment(x, bytes).increment(y, bytes)
  })
  const [a, b, c, d] = sums
  f.op(
    F.vadd,
    () => f.op(F.vadd, a!, b!),
    () => f.op(F.vadd, c!, d!),
  ).set(one)
  total(f, F, one)
  return f
}
/** less(y, x, n, w): y -= w x. */
export const emitLess = (module: Module, F: Float): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'i32', 'f64'])
  const [y, x, n, w] = f.parameters(4)
  const [by, one] = f.locals('v128', 2)
  splat(f, F, w).set(by)
  strips(f, F, n, WIDTHS, ({ vectors, bytes, load, store }) => {
    for (let v = 0; v < vectors; v++) {
      load(y, v).set(one)
      multiplySubtract(f, F, module.madd, one, by, () => load(x, v))
      store(y, v, one)
    }
    f.increment(x, bytes).increment(y, bytes)
  })
  return f
}
/** scaled(x, n, by, divides): x *= by, or x /= by. */
export const emitScaled = (module: Module, F: Float): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'f64', 'i32'])
  const [x, n, w, divides] = f.parameters(4)
  const [by, one] = f.locals('v128', 2)
  splat(f, F, w).set(by)
  strips(f, F, n, [1], ({ bytes, load, store }) => {
    f.ifThen(
      divides,
      () => f.op(divide(F), () => load(x, 0), by).set(one),
      () => f.op(F.vmul, () => load(x, 0), by).set(one),
    )
    store(x, 0, one)
    f.increment(x, bytes)
  })
  return f
}
/** most(x, n): the largest size of n numbers, NaN where one is. */
const emitMost = (module: Module, F: Float): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32'], ['f64'])
  const [x, n] = f.parameters(2)
  const most = f.local('v128')
  const [abs, max] = F.name === 'f64' ? [OP.f64x2_abs, OP.f64x2_max] : [OP.f32x4_abs, OP.f32x4_max]
  strips(f, F, n, [1], ({ bytes, load }) => {
    f.op(max, most, () => load(x, 0).op(abs)).set(most)
    f.increment(x, bytes)
  })
  for (let lane = 0; lane < F.lanes; lane++) {
    F.extractLane(f.get(most), lane)
    if (F.name === 'f32') f.op(OP.f64_promote_f32)
    if (lane > 0) f.op(OP.f64_max)
  }
  return f
}

/**
 * reduce(x, n): the reflection that makes n numbers a multiple of the first unit vector, as `reflect` in core/matrices: tau, its vector in their place,
 * the multiple in the place of its 1. The numbers are of a matrix whose largest is near 1.
 */
export const emitReduce = (module: Module, F: Float, dot: FuncRef, scaled: FuncRef): FuncRef => {
  const most = emitMost(module, F)
  const f = module.func(undefined, ['i32', 'i32'], ['f64'])
  const [x, n] = f.parameters(2)
  const i32 = address(f)
  const rest = i32.add(x, F.bytes)
  const [least, larger] = faint[F.name]
  const [scale, enlarged, own, length] = f.locals('f64', 4)
  f.call(most, rest, i32.sub(n, 1)).set(scale)
  f.op(OP.f64_eq, scale, () => f.f64Const(0)).if(() => f.f64Const(0).op(OP.return))
  f.op(OP.f64_max, scale, () => number(f, F, x).op(OP.f64_abs)).set(scale)
  f.f64Const(1).set(enlarged)
  f.op(OP.f64_lt, scale, () => f.f64Const(least)).if(() => {
    f.f64Const(larger).set(enlarged)
    f.call(scaled, x, n, enlarged, 0)
  })
  number(f, F, x).set(own)
  f.call(dot, x, x, n).op(OP.f64_sqrt).set(length)
  f.op(OP.f64_gt, own, () => f.f64Const(0)).if(() => f.op(OP.f64_neg, length).set(length))
  f.call(scaled, rest, i32.sub(n, 1), () => f.op(OP.f64_sub, own, length), 1)
  put(f, F, x, () => f.op(OP.f64_div, length, enlarged))
  f.op(OP.f64_div, () => f.op(OP.f64_sub, length, own), length)
  return f
}
