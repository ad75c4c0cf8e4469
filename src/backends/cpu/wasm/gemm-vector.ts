/*
 * Matrix times vector, y = M x, y + M x or y - M x, for the products with one row or one column; and times two vectors at once, for those of few (gemm-few.ts).
 *
 *   columns of M contiguous   32 (f32) or 16 (f64) elements of y in registers (half as many of two vectors), one multiply-add a column; k in blocks of 64
 *   rows of M contiguous      dot products, four rows at once; sums of 256 elements are added up in f64
 *   neither                   one element at a time, added up in f64
 */

import type { FuncRef, FunctionBuilder, Local, Module } from './encoder.js'
import { address, type Float, type Multiply, multiplyAdd, zeroVector } from './float.js'
import * as OP from './opcodes.js'

export const columnBlock = 64
const dotBlock = 256

type Params = [Local, Local, Local, Local, Local, Local, Local, Local, Local, Local, Local]

/** matvec(y, yStride, M, rowStride, colStride, x, xStride, rows, k, scratch, acc) for positive rows and k; strides in bytes. */
export function emitMatvec(module: Module, F: Float, by: Multiply): FuncRef {
  const e = F.bytes
  const columns = emitColumns(module, F, by, 1)
  const dots = emitDots(module, F, by, 1)
  const strided = emitStrided(module, F, by)
  const f = module.func(undefined, new Array(11).fill('i32'))
  const [y, ys, M, rs, cs, x, xs, rows, k, scratch, acc] = Array.from({ length: 11 }, (_, i) => f.param(i)) as Params
  const i32 = address(f)
  const [from, to, count] = f.locals('i32', 3)
  f.ifThen(i32.and(i32.and(i32.eq(rs, e), i32.eq(ys, e)), i32.or(i32.ne(rows, 1), i32.eq(k, 1))), () =>
    f.call(columns, y, M, cs, x, xs, rows, k, acc).op(OP.return),
  )
  f.ifThen(
    i32.eq(cs, e),
    () => {
      f.ifThen(i32.ne(xs, e), () => {
        f.set(from, x).set(to, scratch).set(count, k)
        f.countDown(count, () => {
          F.store(F.load(f.get(to).get(from)))
          f.increment(from, xs).increment(to, e)
        })
        f.set(x, scratch)
      })
      f.call(dots, y, ys, M, rs, x, rows, k, acc)
    },
    () => f.call(strided, y, ys, M, rs, cs, x, xs, rows, k, acc),
  )
  return f
}

/**
 * columns(y, M, colStride, x, xStride, rows, k, acc): y and the columns of M are contiguous. The one for two vectors takes yNext and xNext too, which is how far they lie from each other.
 */
export function emitColumns(module: Module, F: Float, { madd, subtract }: Multiply, count: 1 | 2): FuncRef {
  const e = F.bytes
  const most = 8 / count
  const f = module.func(undefined, new Array(count === 1 ? 8 : 10).fill('i32'))
  const [y, M, cs, x, xs, rows, k, acc] = f.parameters(8)
  const next = count === 1 ? [] : ([f.param(8), f.param(9)] as const)
  const i32 = address(f)
  const [kb, left, bp, mp, steps] = f.locals('i32', 5)
  const [ys, xp] = [f.locals('i32', count), f.locals('i32', count)]
  const sums = f.locals('v128', 8)
  const splats = f.locals('v128', count)
  const column = f.local('v128')
  /** Where each vector is, from where the first one is. */
  const each = (to: readonly Local[], first: Local, step: Local | undefined): void => {
    to.forEach((at, p) => {
      f.set(at, p === 0 ? first : i32.add(first, step!))
    })
  }
  const tile = (vectors: number, single: boolean): void => {
    const used = sums.slice(0, vectors * count)
    for (const s of used) zeroVector(f).set(s)
    f.set(mp, bp).set(steps, kb)
    each(xp, x, next[1])
    const read = (v: number): unknown => (single ? F.loadOne(f.get(mp)) : f.get(mp).v128Load(v * 16))
    f.countDown(steps, () => {
      splats.forEach((splat, p) => {
        F.loadSplat(f.get(xp[p]!)).set(splat)
      })
      for (let v = 0; v < vectors; v++) {
        if (count > 1) {
          read(v)
          f.set(column)
        }
        for (let p = 0; p < count; p++) multiplyAdd(f, F, madd, used[v * count + p]!, splats[p]!, count > 1 ? column : () => read(v))
      }
      f.increment(mp, cs)
      for (const at of xp) f.increment(at, xs)
    })
    const store = (accumulate: boolean): void => {
      used.forEach((s, i) => {
        const [at, v] = [ys[i % count]!, Math.floor(i / count)]
        f.get(at)
        if (accumulate) f.op(subtract ? F.vsub : F.vadd, () => (single ? F.loadOne(f.get(at)) : f.get(at).v128Load(v * 16)), s)
        else f.get(s)
        if (single) F.storeLane(f, 0)
        else f.v128Store(v * 16)
      })
    }
    f.ifThen(
      acc,
      () => store(true),
      () => store(false),
    )
    const bytes = single ? e : vectors * 16
    for (const at of ys) f.increment(at, bytes)
    f.increment(bp, bytes)
    f.set(left, i32.sub(left, bytes / e))
  }
  const whileAtLeast = (elements: number, body: () => void): void => {
    f.block((done) =>
      f.loop((again) => {
        f.op(OP.i32_lt_u, left, elements).brIf(done)
        body()
        f.br(again)
      }),
    )
  }
  f.loop((nextBlock) => {
    f.set(kb, i32.min(k, columnBlock)).set(left, rows).set(bp, M)
    each(ys, y, next[0])
    whileAtLeast(most * F.lanes, () => tile(most, false))
    whileAtLeast(F.lanes, () => tile(1, false))
    whileAtLeast(1, () => tile(1, true))
    f.set(acc, 1)
    f.increment(M, i32.mul(kb, cs)).increment(x, i32.mul(kb, xs))
    f.set(k, i32.sub(k, kb)).brIf(nextBlock, k)
  })
  return f
}

/**
 * dots(y, yStride, M, rowStride, x, rows, k, acc): x and the rows of M are contiguous. The one for two vectors takes yNext and xNext too.
 */
export function emitDots(module: Module, F: Float, { madd, subtract }: Multiply, count: 1 | 2): FuncRef {
  const e = F.bytes
  const f = module.func(undefined, new Array(count === 1 ? 8 : 10).fill('i32'))
  const [y, ys, M, rs, x, rows, k, acc] = f.parameters(8)
  const next = count === 1 ? [] : ([f.param(8), f.param(9)] as const)
  const i32 = address(f)
  const [left, vectors, rest, groups] = f.locals('i32', 4)
  const [yp, xp] = [f.locals('i32', count), f.locals('i32', count)]
  const pointers = f.locals('i32', 4)
  const sums = f.locals('v128', 4 * count)
  const totals = f.locals('v128', 4 * count)
  const xv = f.locals('v128', count)
  const row = f.local('v128')
  const total = f.local('f64')

  // Blocks keep the f32 error near one rounding of the block; partial elements go through lane 0.
  const group = (height: number, unroll: number): void => {
    const used = height * count
    for (let r = 0; r < height; r++) f.set(pointers[r]!, r === 0 ? M : i32.add(pointers[r - 1]!, rs))
    for (const t of totals.slice(0, used)) zeroVector(f).set(t)
    xp.forEach((at, p) => {
      f.set(at, p === 0 ? x : i32.add(x, next[1]!))
    })
    f.set(left, k)
    const step = (read: (pointer: Local) => unknown, bytes: number, times: number): void => {
      for (let u = 0; u < times; u++) {
        const load = (pointer: Local): unknown => (times === 1 ? read(pointer) : f.get(pointer).v128Load(u * bytes))
        xp.forEach((at, p) => {
          load(at)
          f.set(xv[p]!)
        })
        for (let r = 0; r < height; r++) {
          if (count > 1) {
            load(pointers[r]!)
            f.set(row)
          }
          for (let p = 0; p < count; p++)
            multiplyAdd(f, F, madd, sums[r * count + p + u]!, count > 1 ? row : () => load(pointers[r]!), xv[p]!)
        }
      }
      for (let r = 0; r < height; r++) f.increment(pointers[r]!, bytes * times)
      for (const at of xp) f.increment(at, bytes * times)
    }
    const whole = (pointer: Local): unknown => f.get(pointer).v128Load()
    const one = (pointer: Local): unknown => F.loadOne(f.get(pointer))
    const chains = Math.max(used, unroll)
    f.loop((nextBlock) => {
      for (let s = 0; s < chains; s++) zeroVector(f).set(sums[s]!)
      f.set(vectors, i32.min(left, dotBlock))
      f.set(left, i32.sub(left, vectors))
      f.set(rest, i32.and(vectors, F.lanes - 1))
      f.op(OP.i32_div_u, vectors, F.lanes).set(vectors)
      if (unroll > 1) {
        f.op(OP.i32_div_u, vectors, unroll)
          .localTee(groups)
          .if(() => f.countDown(groups, () => step(whole, 16, unroll)))
        f.set(vectors, i32.and(vectors, unroll - 1))
      }
      f.ifThen(vectors, () => f.countDown(vectors, () => step(whole, 16, 1)))
      f.ifThen(rest, () => f.countDown(rest, () => step(one, e, 1)))
      if (unroll > 1) {
        f.op(
          F.vadd,
          () => f.op(F.vadd, sums[0]!, sums[1]!),
          () => f.op(F.vadd, sums[2]!, sums[3]!),
        ).set(sums[0]!)
      }
      for (let s = 0; s < used; s++) addToTotal(f, F, totals[s]!, sums[s]!)
      f.brIf(nextBlock, left)
    })
    for (let r = 0; r < height; r++) {
      for (let p = 0; p < count; p++) {
        const t = totals[r * count + p]!
        f.get(t).f64x2ExtractLane(0).get(t).f64x2ExtractLane(1).op(OP.f64_add).set(total)
        finish(f, F, subtract, yp[p]!, total, acc)
      }
      for (const at of yp) f.increment(at, ys)
    }
    f.increment(M, i32.mul(rs, height))
  }
  yp.forEach((at, p) => {
    f.set(at, p === 0 ? y : i32.add(y, next[0]!))
  })
  f.block((done) =>
    f.loop((again) => {
      f.op(OP.i32_lt_u, rows, 4).brIf(done)
      group(4, 1)
      f.set(rows, i32.sub(rows, 4)).br(again)
    }),
  )
  f.ifThen(rows, () => f.countDown(rows, () => group(1, count === 1 ? 4 : 1)))
  return f
}

/** total (two f64) += the lanes of a sum. */
function addToTotal(f: FunctionBuilder, F: Float, total: Local, sum: Local): void {
  if (F.name === 'f64') {
    f.op(OP.f64x2_add, total, sum).set(total)
    return
  }
  f.op(OP.f64x2_add, total, () => f.get(sum).op(OP.f64x2_promote_low_f32x4))
  f.get(sum).get(sum).i32x4Shuffle(2, 3, 2, 3).op(OP.f64x2_promote_low_f32x4).op(OP.f64x2_add).set(total)
}

/** *y = total, or *y + total (*y - total) when acc; total is an f64. */
function finish(f: FunctionBuilder, F: Float, subtract: boolean, y: Local, total: Local, acc: Local): void {
  f.ifThen(acc, () => {
    F.load(f.get(y))
    if (F.name === 'f32') f.op(OP.f64_promote_f32)
    f.op(subtract ? OP.f64_sub : OP.f64_add, total).set(total)
  })
  f.get(y).get(total)
  if (F.name === 'f32') f.op(OP.f32_demote_f64)
  F.store(f)
}

/** strided(y, yStride, M, rowStride, colStride, x, xStride, rows, k, acc) */
function emitStrided(module: Module, F: Float, { subtract }: Multiply): FuncRef {
  const f = module.func(undefined, new Array(10).fill('i32'))
  const [y, ys, M, rs, cs, x, xs, rows, k, acc] = f.parameters(10)
  const [mp, xp, count] = f.locals('i32', 3)
  const total = f.local('f64')
  const read = (pointer: Local): void => {
    F.load(f.get(pointer))
    if (F.name === 'f32') f.op(OP.f64_promote_f32)
  }
  f.countDown(rows, () => {
    f.f64Const(0).set(total)
    f.set(mp, M).set(xp, x).set(count, k)
    f.countDown(count, () => {
      f.op(OP.f64_add, total, () =>
        f.op(
          OP.f64_mul,
          () => read(mp),
          () => read(xp),
        ),
      ).set(total)
      f.increment(mp, cs).increment(xp, xs)
    })
    finish(f, F, subtract, y, total, acc)
    f.increment(y, ys).increment(M, rs)
  })
  return f
}
