/*
 * Products of few rows, or of few columns, with a large matrix: Y = M X, where X and Y have 2 to 16 columns, which are taken by pairs. M is read where it lies, in its order; the tiles of a blocked product
 * would be two rows high, and read it in short pieces or copy it first.
 *
 *   columns of M contiguous   four vectors of a pair of columns of Y in registers; so many rows of M at once that a cache keeps them near for all pairs
 *   rows of M contiguous      dot products of four rows with a pair
 */

import type { FuncRef, Module } from './encoder.js'
import { address, type Float, type Multiply } from './float.js'
import { columnBlock, emitColumns, emitDots } from './gemm-vector.js'

/** Columns that are few. */
export const few = 16
/** Rows of M, in vectors, that all pairs use before the next, where its columns are contiguous. */
const vectorsAtOnce = 24
/** As many blocks of these have their sums in scratch, where those of Y are not contiguous. */
const blocksInScratch = 4
/** Rows of M, and bytes of each, that all pairs use before the next, where its rows are contiguous. */
const rowsAtOnce = 8
const blockBytes = 4096

const stripOf = (F: Float): number => blocksInScratch * vectorsAtOnce * F.lanes

/** Bytes of scratch for a product with `rows` rows of M and `count` columns. */
export const fewScratchBytes = (F: Float, rows: number, count: number, k: number): number =>
  count * Math.max(F.bytes * Math.min(rows, stripOf(F)), Math.min(F.bytes * k, blockBytes))

const parameters = 'y ys yNext M rs cs x xs xNext rows count k scratch acc'

/**
 * few(y, yStride, yNext, M, rowStride, colStride, x, xStride, xNext, rows, count, k, scratch, acc) for positive sizes, where the elements of a row or of a column of M are contiguous; `next`: from one
 * column to the next. Y becomes M X, or with acc Y + M X.
 */
export function emitFew(module: Module, F: Float, by: Multiply): FuncRef {
  const byColumns = emitByColumns(module, F, by)
  const byDots = emitByDots(module, F, by)
  const f = module.func(undefined, new Array(14).fill('i32'))
  const given = f.namedParameters(parameters)
  f.ifThen(
    address(f).eq(given.rs, F.bytes),
    () => f.call(byColumns, ...Object.values(given)),
    () => f.call(byDots, ...Object.values(given)),
  )
  return f
}

function emitByColumns(module: Module, F: Float, by: Multiply): FuncRef {
  const [one, two] = [emitColumns(module, F, by, 1), emitColumns(module, F, by, 2)]
  const e = F.bytes
  const f = module.func(undefined, new Array(14).fill('i32'))
  const { y, ys, yNext, M, cs, x, xs, xNext, rows, count, k, scratch, acc } = f.namedParameters(parameters)
  const { direct, strip, length, sums, next, j, nb, kk, kb, p, yp, mp, xp, more } = f.namedLocals(
    'i32',
    'direct strip length sums next j nb kk kb p yp mp xp more',
  )
  const i32 = address(f)
  const sumStrip = (): void => {
    f.forBlocks(kk, kb, k, columnBlock, () => {
      f.set(more, i32.or(i32.and(acc, direct), i32.ne(kk, 0)))
      f.forBlocks(j, nb, length, vectorsAtOnce * F.lanes, () => {
        f.set(mp, i32.add(M, i32.mul(j, e), i32.mul(kk, cs)))
        f.forLoop(p, 0, count, 2, () => {
          f.set(yp, i32.add(sums, i32.mul(j, e), i32.mul(p, next))).set(xp, i32.add(x, i32.mul(kk, xs), i32.mul(p, xNext)))
          f.ifThen(
            i32.eq(i32.sub(count, p), 1),
            () => f.call(one, yp, mp, cs, xp, xs, nb, kb, more),
            () => f.call(two, yp, mp, cs, xp, xs, nb, kb, more, next, xNext),
          )
        })
      })
    })
  }
  const fromScratch = (): void => {
    const [from, to] = f.locals('i32', 2)
    f.forLoop(j, 0, length, 1, () => {
      f.set(from, i32.add(sums, i32.mul(j, e)))
        .set(to, i32.add(y, i32.mul(j, ys)))
        .set(p, count)
      f.countDown(p, () => {
        f.ifThen(
          acc,
          () => F.store(F.load(F.load(f.get(to).get(to)).get(from)).op(F.add)),
          () => F.store(F.load(f.get(to).get(from))),
        )
        f.increment(from, next).increment(to, yNext)
      })
    })
  }
  f.set(direct, i32.eq(ys, e))
  f.set(strip, i32.choose(direct, rows, stripOf(F)))
  f.loop((again) => {
    f.set(length, i32.min(rows, strip))
    f.set(sums, i32.choose(direct, y, scratch)).set(next, i32.choose(direct, yNext, i32.mul(length, e)))
    sumStrip()
    f.ifThen(i32.eq(direct, 0), fromScratch)
    f.increment(y, i32.mul(length, ys)).increment(M, i32.mul(length, e))
    f.set(rows, i32.sub(rows, length)).brIf(again, rows)
  })
  return f
}

function emitByDots(module: Module, F: Float, by: Multiply): FuncRef {
  const [one, two] = [emitDots(module, F, by, 1), emitDots(module, F, by, 2)]
  const e = F.bytes
  const f = module.func(undefined, new Array(14).fill('i32'))
  const { y, ys, yNext, M, rs, x, xs, xNext, rows, count, k, scratch, acc } = f.namedParameters(parameters)
  const { j, nb, kk, kb, p, yp, mp, xp, more, vectors, next, from, to, left } = f.namedLocals(
    'i32',
    'j nb kk kb p yp mp xp more vectors next from to left',
  )
  const i32 = address(f)
  /** The block's columns of X, one after the other. */
  const copied = (): void => {
    f.set(to, scratch)
    f.forLoop(p, 0, count, 1, () => {
      f.set(from, i32.add(vectors, i32.mul(p, xNext))).set(left, kb)
      f.countDown(left, () => {
        F.store(F.load(f.get(to).get(from)))
        f.increment(from, xs).increment(to, e)
      })
    })
    f.set(vectors, scratch).set(next, i32.mul(kb, e))
  }
  f.forBlocks(kk, kb, k, blockBytes / e, () => {
    f.set(more, i32.or(acc, i32.ne(kk, 0)))
    f.set(vectors, i32.add(x, i32.mul(kk, xs))).set(next, xNext)
    f.ifThen(i32.ne(xs, e), copied)
    f.forBlocks(j, nb, rows, rowsAtOnce, () => {
      f.set(mp, i32.add(M, i32.mul(j, rs), i32.mul(kk, e)))
      f.forLoop(p, 0, count, 2, () => {
        f.set(yp, i32.add(y, i32.mul(j, ys), i32.mul(p, yNext))).set(xp, i32.add(vectors, i32.mul(p, next)))
        f.ifThen(
          i32.eq(i32.sub(count, p), 1),
          () => f.call(one, yp, ys, mp, rs, xp, nb, kb, more),
          () => f.call(two, yp, ys, mp, rs, xp, nb, kb, more, yNext, next),
        )
      })
    })
  })
  return f
}
