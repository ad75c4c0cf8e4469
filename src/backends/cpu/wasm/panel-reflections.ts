/*
 * Panels of factorisations by reflections, in vectors: columns that are reduced one after the other, turned so that neighbours in a column are side by side.
 */
import type { FuncRef, Module } from './encoder.js'
import { address, type Float, type FloatName, floats } from './float.js'
import * as OP from './opcodes.js'
import { emitDot, emitLess, emitReduce, emitScaled, put } from './panel-columns.js'
import { number, times, turning } from './panel-parts.js'
import { type ColumnCode, emitBidiagonal, emitTridiagonal } from './panel-reductions.js'
import { emitSums, emitVector, emitWeigh } from './panel-secular.js'
import { emitDeciding, emitSigned } from './panel-signs.js'
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
  readonly deciding: (x: number, row: number, m: number, n: number, to: number) => void
  readonly signed: (to: number, toRow: number, from: number, fromRow: number, m: number, n: number, signs: number) => void
  readonly rotate: (a: number, row: number, n: number, count: number, by: number) => void
  readonly sums: (
    d: number,
    w: number,
    split: number,
    n: number,
    own: number,
    tau: number,
    squares: number,
    gaps: number,
    sums: number,
  ) => void
  readonly weigh: (to: number, gaps: number, d: number, n: number, own: number, squares: number) => void
  readonly vector: (gaps: number, shares: number, n: number, place: number, to: number, room: number) => void
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
  emitDeciding(module, F)
  emitSigned(module, F)
  emitRotate(module, floats.f64)
  emitSums(module)
  emitWeigh(module)
  emitVector(module)
}
