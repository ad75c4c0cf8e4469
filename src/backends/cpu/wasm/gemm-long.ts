/*
 * Products of f32 with a long inner axis: in parts of it, each rounded to f32, that are added up in f64.
 *
 * The blocked product adds one block of k after the other to C. In f32 every such addition rounds, so that 10^7 products would be wrong by
 * 10^-4; parts of 4096 keep the error where it is for short axes, and their sums cost nothing beside the products.
 */

import { aligned } from '../../plan/memory.js'
import type { FuncRef, Module } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'

/** Products of f32 up to this inner axis are computed at once. */
export const longestPart = 4096
const rowsAtOnce = 512
const columnsAtOnce = 1024

const totalsOf = (m: number, n: number): number => Math.min(m, rowsAtOnce) * Math.min(n, columnsAtOnce)

/** Bytes of totals and of one part; what the product of a part needs comes on top, for the sizes that `part` gives. */
export const longScratchBytes = (m: number, n: number): number => aligned(12 * totalsOf(m, n), 16)
export const partSizes = (m: number, n: number): readonly [m: number, n: number, k: number] => [
  Math.min(m, rowsAtOnce),
  Math.min(n, columnsAtOnce),
  longestPart,
]

/** long(C, A, B, m, n, k, ldc, ars, acs, brs, bcs, scratch, acc), as `product` is, whatever k. Where that subtracts, so do parts, from zeros. */
export function emitLong(module: Module, product: FuncRef, subtract: boolean): FuncRef {
  const f = module.func(undefined, new Array(13).fill('i32'))
  const [c, a, b, m, n, k, ldc, ars, acs, brs, bcs, scratch, acc] = f.parameters(13)
  const i32 = address(f)
  const [i, mb, j, nb, l, kb] = f.locals('i32', 6)
  const [part, free, from, to, row, left] = f.locals('i32', 6)
  f.ifThen(i32.atLeast(longestPart, k), () => {
    f.call(product, c, a, b, m, n, k, ldc, ars, acs, brs, bcs, scratch, acc).op(OP.return)
  })
  const size = i32.mul(i32.min(m, rowsAtOnce), i32.min(n, columnsAtOnce))
  f.set(part, i32.add(scratch, i32.mul(size, 8)))
  f.set(free, i32.and(i32.add(part, i32.mul(size, 4), 15), -16))
  const addPart = (): void => {
    f.set(from, part).set(to, scratch).set(left, i32.mul(mb, nb))
    f.countDown(left, () => {
      f.get(to)
        .op(
          OP.f64_add,
          () => f.get(to).f64Load(),
          () => f.get(from).f32Load().op(OP.f64_promote_f32),
        )
        .f64Store()
      f.increment(from, 4).increment(to, 8)
    })
  }
  const round = (): void => {
    f.set(from, scratch)
      .set(row, i32.add(c, i32.mul(i, ldc), i32.mul(j, 4)))
      .set(kb, mb)
    f.countDown(kb, () => {
      f.set(to, row).set(left, nb)
      f.countDown(left, () => {
        f.ifThen(acc, () =>
          f
            .get(from)
            .op(
              OP.f64_add,
              () => f.get(from).f64Load(),
              () => f.get(to).f32Load().op(OP.f64_promote_f32),
            )
            .f64Store(),
        )
        f.get(to).get(from).f64Load().op(OP.f32_demote_f64).f32Store()
        f.increment(from, 8).increment(to, 4)
      })
      f.increment(row, ldc)
    })
  }
  f.forBlocks(i, mb, m, rowsAtOnce, () =>
    f.forBlocks(j, nb, n, columnsAtOnce, () => {
      f.get(scratch)
        .i32Const(0)
        .push(i32.mul(i32.mul(mb, nb), 8))
        .memoryFill()
      f.forBlocks(l, kb, k, longestPart, () => {
        if (subtract)
          f.get(part)
            .i32Const(0)
            .push(i32.mul(i32.mul(mb, nb), 4))
            .memoryFill()
        f.get(part)
          .push(i32.add(a, i32.mul(i, ars), i32.mul(l, acs)))
          .push(i32.add(b, i32.mul(l, brs), i32.mul(j, bcs)))
        f.get(mb)
          .get(nb)
          .get(kb)
          .push(i32.mul(nb, 4))
          .get(ars)
          .get(acs)
          .get(brs)
          .get(bcs)
          .get(free)
          .i32Const(subtract ? 1 : 0)
        f.call(product)
        addPart()
      })
      round()
    }),
  )
  return f
}
