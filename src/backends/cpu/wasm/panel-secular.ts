/*
 * Sums of secular equations, and the vectors that belong to their roots, as in core/matrices/secular.ts. Numbers are f64; addresses and counts i32.
 */
import type { FuncRef, FunctionBuilder, Local, Module } from './encoder.js'
import { address, floats, multiplyAdd } from './float.js'
import * as OP from './opcodes.js'
import { strips, times } from './panel-parts.js'
import { across } from './panel-vectors.js'

const F = floats.f64
const splat = (f: FunctionBuilder, x: Local): FunctionBuilder => f.op(OP.f64x2_splat, x)

/** half(d, w, n, own, tau, squares, gaps, sums): of n poles the gaps, and both sums. */
const emitHalf = (module: Module): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'i32', 'f64', 'f64', 'i32', 'i32', 'i32'])
  const [d, w, n, own, tau, squares, gaps, sums] = f.parameters(8)
  const [o, t, root, gap, one, share, sum, slope, value] = f.locals('v128', 9)
  splat(f, own).set(o)
  splat(f, tau).set(t)
  f.op(OP.f64x2_add, o, t).set(root)
  f.f64Const(1).op(OP.f64x2_splat).set(one)
  strips(f, F, n, [1], ({ single, bytes, load, store }) => {
    load(d, 0).set(value)
    f.op(OP.f64x2_sub, () => f.op(OP.f64x2_sub, value, o), t).set(gap)
    f.ifThen(squares, () => f.op(OP.f64x2_mul, gap, () => f.op(OP.f64x2_add, value, root)).set(gap))
    store(gaps, 0, gap)
    // The weight of a lane without an element is 0; with a gap of 1 its share is as well.
    if (single) f.get(gap).f64Const(1).f64x2ReplaceLane(1).set(gap)
    f.op(OP.f64x2_div, one, gap).set(gap)
    f.op(OP.f64x2_mul, () => load(w, 0), gap).set(share)
    f.op(OP.f64x2_add, sum, share).set(sum)
    multiplyAdd(f, F, module.madd, slope, share, gap)
    f.increment(d, bytes).increment(w, bytes).increment(gaps, bytes)
  })
  for (const [i, x] of [sum, slope].entries()) {
    f.get(sums)
    across(f, F, x).f64Store(8 * i)
  }
  return f
}
/** sums(d, w, split, n, own, tau, squares, gaps, sums): as `sumsAt`, of the poles before `split` and of the others. */
export const emitSums = (module: Module): void => {
  const half = emitHalf(module)
  const f = module.func('sums', ['i32', 'i32', 'i32', 'i32', 'f64', 'f64', 'i32', 'i32', 'i32'])
  const [d, w, split, n, own, tau, squares, gaps, sums] = f.parameters(9)
  const i32 = address(f)
  const bytes = f.local('i32')
  f.set(bytes, i32.mul(split, 8))
  f.call(half, d, w, split, own, tau, squares, gaps, sums)
  f.call(half, i32.add(d, bytes), i32.add(w, bytes), i32.sub(n, split), own, tau, squares, i32.add(gaps, bytes), i32.add(sums, 16))
}
/** weigh(to, gaps, d, n, own, squares): n numbers are multiplied by gaps_j / (p_j - p), for poles as in `sums`. */
export const emitWeigh = (module: Module): void => {
  const f = module.func('weigh', ['i32', 'i32', 'i32', 'i32', 'f64', 'i32'])
  const [to, gaps, d, n, own, squares] = f.parameters(6)
  const [o, between, value] = f.locals('v128', 3)
  splat(f, own).set(o)
  strips(f, F, n, [1], ({ bytes, load, store }) => {
    load(d, 0).set(value)
    f.op(OP.f64x2_sub, value, o).set(between)
    f.ifThen(squares, () => f.op(OP.f64x2_mul, between, () => f.op(OP.f64x2_add, value, o)).set(between))
    f.op(
      OP.f64x2_mul,
      () => load(to, 0),
      () => f.op(OP.f64x2_div, () => load(gaps, 0), between),
    ).set(value)
    store(to, 0, value)
    f.increment(to, bytes).increment(gaps, bytes).increment(d, bytes)
  })
}
/** vector(gaps, shares, n, place, to, room): as `vectorOf`, with room for n numbers. */
export const emitVector = (module: Module): void => {
  const f = module.func('vector', new Array(6).fill('i32'))
  const [gaps, shares, n, place, to, room] = f.parameters(6)
  const [left, at] = f.locals('i32', 2)
  const [sum, x] = f.locals('v128', 2)
  const by = f.local('f64')
  f.set(left, n).set(at, room)
  strips(f, F, left, [1], ({ single, bytes, load, store }) => {
    load(gaps, 0).set(x)
    if (single) f.get(x).f64Const(1).f64x2ReplaceLane(1).set(x)
    f.op(OP.f64x2_div, () => load(shares, 0), x).set(x)
    store(at, 0, x)
    multiplyAdd(f, F, module.madd, sum, x, x)
    f.increment(gaps, bytes).increment(shares, bytes).increment(at, bytes)
  })
  f.f64Const(1)
  across(f, F, sum).op(OP.f64_sqrt).op(OP.f64_div).set(by)
  times(f, n, () => {
    f.op(OP.i32_add, to, () => f.op(OP.i32_mul, () => f.get(place).i32Load(), 8))
    f.op(OP.f64_mul, by, () => f.get(room).f64Load()).f64Store()
    f.increment(place, 4).increment(room, 8)
  })
}
