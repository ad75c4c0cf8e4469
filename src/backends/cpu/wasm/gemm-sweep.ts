/*
 * The inner loops of a blocked matrix product: tiles of C in registers, down one panel of columns.
 */

import { type FuncRef, type Local, type Module, OP } from './encoder.js'
import { address, type Float, multiplyAdd, zeroVector } from './float.js'
import { loadPartial, storePartial } from './gemm-pack.js'

/** Rows of C that a tile holds. */
export const rowsPerTile = 4

/** Widths of column panels, widest first: two vectors, one vector, and every fraction of a vector. */
export const panelWidths = (F: Float): number[] => [2 * F.lanes, ...Array.from({ length: F.lanes }, (_, i) => F.lanes - i)]

/**
 * sweep(kb, rows, a, ars, acs, tileStep, b, ldb, c, ldc, acc): one column panel of C, all its rows, tiles of 4, 2 and 1 rows.
 * `tileStep` is the distance between tiles of 4 rows, which differs from 4 ars when A is packed.
 */
export function emitSweep(module: Module, F: Float, madd: boolean, unroll: boolean, width: number): FuncRef {
  const e = F.bytes
  const f = module.func(undefined, new Array(11).fill('i32'))
  const [kb, rows, a, ars, acs, tileStep, b, ldb, c, ldc, acc] = f.parameters(11)
  const i32 = address(f)
  const vectors = Math.ceil(width / F.lanes)
  const partial = width % F.lanes
  const results = f.locals('v128', rowsPerTile * vectors)
  const columns = f.locals('v128', vectors)
  const splat = f.local('v128')
  const rowPointers = f.locals('i32', rowsPerTile)
  const [bp, cp, count, tail] = f.locals('i32', 4)

  const loadColumns = (offset: number): void => {
    columns.forEach((column, v) => {
      const at = offset + v * 16
      if (partial === 0) f.get(bp).v128Load(at)
      else loadPartial(f, F, bp, partial, at)
      f.set(column)
    })
  }
  const step = (height: number, aOffset: number, bOffset: number): void => {
    loadColumns(bOffset)
    for (let r = 0; r < height; r++) {
      F.loadSplat(f.get(rowPointers[r]!), aOffset).set(splat)
      columns.forEach((column, v) => {
        multiplyAdd(f, F, madd, results[r * vectors + v]!, splat, column)
      })
    }
  }
  const advance = (height: number, aBytes: Local | number, bBytes: Local | number): void => {
    for (let r = 0; r < height; r++) f.increment(rowPointers[r]!, aBytes)
    f.increment(bp, bBytes)
  }
  const tile = (height: number): void => {
    for (let r = 0; r < height; r++) f.set(rowPointers[r]!, r === 0 ? a : i32.add(rowPointers[r - 1]!, ars))
    for (let v = 0; v < height * vectors; v++) zeroVector(f).set(results[v]!)
    f.set(bp, b).set(count, kb)
    if (unroll && height === rowsPerTile && vectors === 2) {
      f.set(tail, 0)
      f.ifThen(i32.and(i32.eq(acs, e), i32.eq(ldb, width * e)), () => {
        f.set(tail, i32.and(count, 3))
          .op(OP.i32_shr_u, count, 2)
          .localTee(count)
          .if(() =>
            f.countDown(count, () => {
              for (let q = 0; q < 4; q++) step(height, q * e, q * width * e)
              advance(height, 4 * e, 4 * width * e)
            }),
          )
        f.set(count, tail)
      })
    }
    f.ifThen(count, () =>
      f.countDown(count, () => {
        step(height, 0, 0)
        advance(height, acs, ldb)
      }),
    )
    f.ifThen(
      acc,
      () => storeTile(height, true),
      () => storeTile(height, false),
    )
  }
  const storeTile = (height: number, accumulate: boolean): void => {
    f.set(cp, c)
    for (let r = 0; r < height; r++) {
      for (let v = 0; v < vectors; v++) {
        const result = results[r * vectors + v]!
        if (partial === 0) {
          f.get(cp)
          if (accumulate)
            f.get(cp)
              .v128Load(v * 16)
              .get(result)
              .op(F.vadd)
          else f.get(result)
          f.v128Store(v * 16)
        } else {
          if (accumulate) {
            loadPartial(f, F, cp, partial, v * 16)
            f.get(result).op(F.vadd).set(result)
          }
          storePartial(f, F, cp, result, partial, v * 16)
        }
      }
      if (r < height - 1) f.increment(cp, ldc)
    }
  }
  f.block((done) =>
    f.loop((next) => {
      f.op(OP.i32_lt_u, rows, rowsPerTile).brIf(done)
      tile(rowsPerTile)
      f.increment(a, tileStep).increment(c, i32.mul(ldc, rowsPerTile))
      f.set(rows, i32.sub(rows, rowsPerTile)).br(next)
    }),
  )
  for (let height = rowsPerTile / 2; height >= 1; height /= 2) {
    f.ifThen(i32.and(rows, height), () => {
      tile(height)
      f.increment(a, i32.mul(ars, height)).increment(c, i32.mul(ldc, height))
    })
  }
  return f
}
