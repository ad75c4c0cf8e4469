/*
 * Panels of reductions to tridiagonal and to bidiagonal form, as in core/matrices/tridiagonal.ts and bidiagonal.ts, where the letters are explained. Addresses,
 * distances in bytes and counts are i32.
 */
import type { FuncRef, FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { address, type Float } from './float.js'
import * as OP from './opcodes.js'
import { put } from './panel-columns.js'
import { number, times } from './panel-parts.js'

/** What they call: panel-columns.ts and panel-vectors.ts. */
export interface ColumnCode {
  readonly dot: FuncRef
  readonly less: FuncRef
  readonly scaled: FuncRef
  readonly reduce: FuncRef
  readonly forward: FuncRef
  readonly backward: FuncRef
  readonly symmetric: FuncRef
}
const clear = (f: FunctionBuilder, F: Float, at: Operand, count: Operand): unknown =>
  f.push(at).i32Const(0).push(address(f).mul(count, F.bytes)).memoryFill()
const copy = (f: FunctionBuilder, F: Float, to: Operand, from: Operand, count: Operand): unknown =>
  f.push(to).push(from).push(address(f).mul(count, F.bytes)).memoryCopy()
/** `count` numbers from `from` on, `fromRow` bytes apart, to `to` on, `toRow` apart. */
const spread = (f: FunctionBuilder, F: Float, to: Local, toRow: Operand, from: Local, fromRow: Operand, count: Local): unknown =>
  times(f, count, () => {
    F.store(F.load(f.get(to).get(from)))
    f.increment(to, toRow).increment(from, fromRow)
  })
/** Pairs of numbers, `count` of these, change places. */
const exchange = (f: FunctionBuilder, F: Float, at: Local, count: Local, kept: Local): unknown =>
  times(f, count, () => {
    number(f, F, at).set(kept)
    f.get(at)
    F.store(F.load(f.get(at), F.bytes))
    put(f, F, address(f).add(at, F.bytes), kept)
    f.increment(at, 2 * F.bytes)
  })

/** tridiagonal(a, row, n, count, v, vRow, d, e, tau, c): `count` rows of A: [n, n], with room for 2 `count` numbers at c. */
export const emitTridiagonal = (module: Module, F: Float, by: ColumnCode): void => {
  const f = module.func('tridiagonal', new Array(10).fill('i32'))
  const [a, row, n, count, v, vRow, d, e, taus, c] = f.parameters(10)
  const i32 = address(f)
  const own = F.bytes
  const [p, two, length, next, x, w, to, from, k] = f.locals('i32', 9)
  const [tau, half] = f.locals('f64', 2)
  times(f, count, () => {
    // Row p, less what the reflections before it take off.
    f.set(to, c).set(from, v).set(k, two)
    spread(f, F, to, own, from, vRow, k)
    f.set(to, c).set(k, p)
    exchange(f, F, to, k, half)
    f.call(by.backward, a, n, c, two, v, vRow)
    put(f, F, d, () => number(f, F, a))
    f.set(next, i32.add(a, own)).set(length, i32.sub(n, 1))
    f.call(by.reduce, next, length).set(tau)
    put(f, F, taus, tau)
    put(f, F, e, () => number(f, F, next))
    f.increment(v, own)
    f.set(x, i32.add(v, i32.mul(vRow, two))).set(w, i32.add(x, vRow))
    clear(f, F, x, length)
    clear(f, F, w, length)
    f.op(OP.f64_ne, tau, () => f.f64Const(0)).if(() => {
      copy(f, F, x, next, length)
      put(f, F, x, () => f.f64Const(1))
      f.call(by.symmetric, w, length, i32.add(next, row), row, x)
      clear(f, F, c, two)
      f.call(by.forward, c, two, v, vRow, x, length)
      f.set(to, c).set(k, p)
      exchange(f, F, to, k, half)
      f.call(by.backward, w, length, c, two, v, vRow)
      // w = -tau times what was found, and half of v's part in it.
      f.op(OP.f64_mul, tau, () => f.op(OP.f64_mul, tau, () => f.call(by.dot, w, x, length)))
        .f64Const(-0.5)
        .op(OP.f64_mul)
        .set(half)
      f.call(by.scaled, w, length, () => f.op(OP.f64_neg, tau), 0)
      f.call(by.less, w, x, length, half)
    })
    f.increment(a, i32.add(row, own)).increment(p, 1).increment(two, 2)
    for (const at of [d, e, taus]) f.increment(at, own)
    f.set(n, length)
  })
}

/**
 * bidiagonal(a, row, n, count, l, r, pRow, d, e, tauLeft, tauRight, c): `count` columns and rows of A: [n, n], with room for 2 `count` numbers at c. Rows
 * of l and r are pRow apart.
 */
export const emitBidiagonal = (module: Module, F: Float, by: ColumnCode): void => {
  const f = module.func('bidiagonal', new Array(12).fill('i32'))
  const [a, row, n, count, l, r, pRow, d, e, tauLeft, tauRight, c] = f.parameters(12)
  const i32 = address(f)
  const own = F.bytes
  const [two, more, size, next, v, x, y, u, to, from, k, right] = f.locals('i32', 12)
  const tau = f.local('f64')
  /** c = -(rows of `of`) x, then y -= (rows of `other`)^T c. */
  const others = (target: Local, length: Local, rows: Local, of: Local, other: Local, vector: Local, size: Local): void => {
    clear(f, F, c, rows)
    f.call(by.forward, c, rows, of, pRow, vector, size)
    f.call(by.backward, target, length, c, rows, other, pRow)
  }
  f.block((done) => {
    times(f, count, () => {
      f.set(v, i32.add(l, i32.mul(pRow, two))).set(y, i32.add(r, i32.mul(pRow, two)))
      // The column, less what those before it take off.
      f.set(to, v).set(from, a).set(k, n)
      spread(f, F, to, own, from, row, k)
      f.set(to, c).set(from, r).set(k, two)
      spread(f, F, to, own, from, pRow, k)
      f.call(by.backward, v, n, c, two, l, pRow)
      f.call(by.reduce, v, n).set(tau)
      put(f, F, tauLeft, tau)
      put(f, F, d, () => number(f, F, v))
      put(f, F, v, () => f.f64Const(1))
      f.set(to, i32.add(a, row)).set(from, i32.add(v, own)).set(k, i32.sub(n, 1))
      spread(f, F, to, row, from, own, k)
      f.set(size, i32.sub(n, 1))
      f.op(OP.i32_eqz, size).brIf(done)
      f.set(next, i32.add(a, own)).increment(y, own).set(right, i32.add(r, own))
      clear(f, F, y, size)
      f.call(by.backward, y, size, v, n, next, row)
      others(y, size, two, l, right, v, n)
      f.call(by.scaled, y, size, () => f.op(OP.f64_neg, tau), 0)
      // The row, less what those and the column take off.
      f.set(to, c).set(from, l).set(k, i32.add(two, 1)).set(more, k)
      spread(f, F, to, own, from, pRow, k)
      f.call(by.backward, next, size, c, more, right, pRow)
      f.call(by.reduce, next, size).set(tau)
      put(f, F, tauRight, tau)
      put(f, F, e, () => number(f, F, next))
      f.set(u, i32.add(y, pRow))
      copy(f, F, u, next, size)
      put(f, F, u, () => f.f64Const(1))
      f.increment(l, own)
      f.set(x, i32.add(v, i32.add(pRow, own)))
      clear(f, F, x, size)
      f.call(by.forward, x, size, i32.add(next, row), row, u, size)
      others(x, size, more, right, l, u, size)
      f.call(by.scaled, x, size, () => f.op(OP.f64_neg, tau), 0)
      f.set(r, right)
      f.increment(a, i32.add(row, own)).increment(two, 2)
      for (const at of [d, e, tauLeft, tauRight]) f.increment(at, own)
      f.set(n, size)
    })
  })
}
