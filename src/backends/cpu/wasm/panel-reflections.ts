/*
 * Panels of factorisations by reflections, in vectors: columns that are reduced one after the other, turned so that neighbours in a column are side by side;
 * and rotations and sums of secular equations, which are f64 always.
 */
import type { FuncRef, Module } from './encoder.js'
import { address, type Float, type FloatName, floats } from './float.js'
import * as OP from './opcodes.js'
import { emitDot, emitLess, emitReduce, emitScaled, put } from './panel-columns.js'
import { number, strips, times, turning } from './panel-parts.js'
import { type ColumnCode, emitBidiagonal, emitTridiagonal } from './panel-reductions.js'
import { emitBackward, emitForward, emitRotate, emitSymmetric } from './panel-vectors.js'
import type { PanelCode } from './panels.js'

/**
 * reflect(a, row, m, n, t, tRow, v, vRow, p, step): n columns of A: [m, n], m >= n, become R and the vectors of their reflections. These go to V: [m, n] as
 * well, with their ones and zeros, and T of I - V T V^T to the upper triangle of T: [n, n]. The panel lies turned at `p` meanwhile, `step` bytes between
 * its columns, with room for n numbers behind.
 */
const emitReflect = (module: Module, F: Float, turn: FuncRef, { dot, less, reduce }: ColumnCode): void => {
  const e = F.bytes
  const f = module.func('reflect', new Array(10).fill('i32'))
  const [a, row, m, n, t, tRow, v, vRow, p, step] = f.parameters(10)
  const i32 = address(f)
  const [own, count, left, other, s, z, k, to, from, place] = f.locals('i32', 10)
  const [tau, w] = f.locals('f64', 2)
  f.call(turn, p, step, a, row, m, n)
  f.set(own, p)
    .set(count, m)
    .set(left, n)
    .set(z, i32.add(p, i32.mul(n, step)))
  times(f, left, () => {
    f.call(reduce, own, count).set(tau)
    // The columns after it.
    f.op(OP.f64_ne, tau, () => f.f64Const(0)).if(() => {
      f.set(other, i32.add(own, step)).set(k, i32.sub(left, 1))
      times(f, k, () => {
        f.op(OP.f64_mul, tau, () =>
          f.op(
            OP.f64_add,
            () => number(f, F, other),
            () => f.call(dot, i32.add(own, e), i32.add(other, e), i32.sub(count, 1)),
          ),
        ).set(w)
        put(f, F, other, () => f.op(OP.f64_sub, () => number(f, F, other), w))
        f.call(less, i32.add(other, e), i32.add(own, e), i32.sub(count, 1), w)
        f.increment(other, step)
      })
    })
    // T: tau on the diagonal, and -tau T V^T v above.
    f.set(other, i32.add(p, i32.mul(s, e)))
      .set(to, z)
      .set(k, s)
    times(f, k, () => {
      put(f, F, to, () =>
        f.op(
          OP.f64_add,
          () => number(f, F, other),
          () => f.call(dot, i32.add(own, e), i32.add(other, e), i32.sub(count, 1)),
        ),
      )
      f.increment(other, step).increment(to, e)
    })
    f.set(other, t)
      .set(from, z)
      .set(to, i32.add(t, i32.mul(s, e)))
      .set(k, s)
    times(f, k, () => {
      put(f, F, to, () => f.op(OP.f64_neg, () => f.op(OP.f64_mul, tau, () => f.call(dot, other, from, k))))
      f.increment(to, tRow).increment(other, i32.add(tRow, e)).increment(from, e)
    })
    put(f, F, to, tau)
    f.increment(own, i32.add(step, e)).set(count, i32.sub(count, 1)).increment(s, 1)
  })
  f.call(turn, a, row, p, step, n, m)
  f.call(turn, v, vRow, p, step, n, m)
  f.set(left, n).set(place, v)
  times(f, left, () => {
    put(f, F, place, () => f.f64Const(1))
    f.set(to, place).set(k, i32.sub(left, 1))
    times(f, k, () => {
      f.increment(to, e)
      put(f, F, to, () => f.f64Const(0))
    })
    f.increment(place, i32.add(vRow, e))
  })
}

/**
 * part(d, w, n, own, tau, squares, gaps, sums): of n poles, the gaps g_j = p_j - x between them and the root own + tau, and sum w_j / g_j and
 * sum w_j / g_j^2, as `sumsAt` in core/matrices/secular.ts.
 */
const emitPart = (module: Module): void => {
  const F = floats.f64
  const f = module.func('part', ['i32', 'i32', 'i32', 'f64', 'f64', 'i32', 'i32', 'i32'])
  const [d, w, n, own, tau, squares, gaps, sums] = f.parameters(8)
  const [o, t, root, gap, share, sum, slope, value] = f.locals('v128', 8)
  f.get(own).op(OP.f64x2_splat).set(o)
  f.get(tau).op(OP.f64x2_splat).set(t)
  f.op(OP.f64x2_add, o, t).set(root)
  strips(f, F, n, [1], ({ single, bytes, load, store }) => {
    load(d, 0).set(value)
    f.op(OP.f64x2_sub, () => f.op(OP.f64x2_sub, value, o), t).set(gap)
    f.ifThen(squares, () => f.op(OP.f64x2_mul, gap, () => f.op(OP.f64x2_add, value, root)).set(gap))
    store(gaps, 0, gap)
    // The weight of a lane without an element is 0; with a gap of 1 its share is as well.
    if (single) f.get(gap).f64Const(1).f64x2ReplaceLane(1).set(gap)
    f.op(OP.f64x2_div, () => load(w, 0), gap).set(share)
    f.op(OP.f64x2_add, sum, share).set(sum)
    f.op(OP.f64x2_add, slope, () => f.op(OP.f64x2_div, share, gap)).set(slope)
    f.increment(d, bytes).increment(w, bytes).increment(gaps, bytes)
  })
  for (const [i, x] of [sum, slope].entries()) {
    f.get(sums)
      .get(x)
      .f64x2ExtractLane(0)
      .get(x)
      .f64x2ExtractLane(1)
      .op(OP.f64_add)
      .f64Store(8 * i)
  }
}
/** weigh(to, gaps, d, n, own, squares): n numbers are multiplied by gaps_j / (p_j - p), for poles as in part. */
const emitWeigh = (module: Module): void => {
  const F = floats.f64
  const f = module.func('weigh', ['i32', 'i32', 'i32', 'i32', 'f64', 'i32'])
  const [to, gaps, d, n, own, squares] = f.parameters(6)
  const [o, between, value] = f.locals('v128', 3)
  f.get(own).op(OP.f64x2_splat).set(o)
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
/** Names of exports. */
export interface ReflectionCode {
  readonly turn: PanelCode['turn']
  readonly reflect: (
    a: number,
    row: number,
    m: number,
    n: number,
    t: number,
    tRow: number,
    v: number,
    vRow: number,
    p: number,
    step: number,
  ) => void
  readonly tridiagonal: (
    a: number,
    row: number,
    n: number,
    count: number,
    v: number,
    vRow: number,
    d: number,
    e: number,
    tau: number,
    c: number,
  ) => void
  readonly bidiagonal: (
    a: number,
    row: number,
    n: number,
    count: number,
    l: number,
    r: number,
    pRow: number,
    d: number,
    e: number,
    tauLeft: number,
    tauRight: number,
    c: number,
  ) => void
  readonly rotate: (a: number, row: number, n: number, count: number, by: number) => void
  readonly part: (d: number, w: number, n: number, own: number, tau: number, squares: number, gaps: number, sums: number) => void
  readonly weigh: (to: number, gaps: number, d: number, n: number, own: number, squares: number) => void
}
/** Adds all of them to a module, for one type. */
export const emitReflections = (module: Module, type: FloatName): void => {
  const F = floats[type]
  const turn = turning(module.func('turn', new Array(6).fill('i32')), F)
  const [dot, scaled] = [emitDot(module, F), emitScaled(module, F)]
  const by: ColumnCode = {
    dot,
    less: emitLess(module, F),
    scaled,
    reduce: emitReduce(module, F, dot, scaled),
    forward: emitForward(module, F),
    backward: emitBackward(module, F),
    symmetric: emitSymmetric(module, F),
  }
  emitReflect(module, F, turn, by)
  emitTridiagonal(module, F, by)
  emitBidiagonal(module, F, by)
  emitRotate(module, floats.f64)
  emitPart(module)
  emitWeigh(module)
}
