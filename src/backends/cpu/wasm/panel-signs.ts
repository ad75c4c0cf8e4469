/*
 * Columns of vectors that are unique but for a sign, as in core/matrices/gauge.ts. Addresses, distances in bytes and counts are i32.
 */

import { NEARLY } from '../../../core/matrices/gauge.js'
import type { Module } from './encoder.js'
import { address, type Float } from './float.js'
import * as OP from './opcodes.js'
import { strips, times } from './panel-parts.js'

const WIDTHS = [4, 1]

/** deciding(x, row, m, n, to): of the columns of X: [m, n] the numbers that decide about their signs; room for n numbers is behind these. */
export const emitDeciding = (module: Module, F: Float): void => {
  const f = module.func('deciding', new Array(5).fill('i32'))
  const [x, row, m, n, to] = f.parameters(5)
  const i32 = address(f)
  const [left, from, found, size] = f.locals('i32', 4)
  const [value, magnitude, largest, mask, nearly] = f.locals('v128', 5)
  const [abs, gt, splat] = F.name === 'f64' ? [OP.f64x2_abs, OP.f64x2_gt, OP.f64x2_splat] : [OP.f32x4_abs, OP.f32x4_gt, OP.f32x4_splat]
  F.constant(f, NEARLY).op(splat).set(nearly)
  const sizes = i32.add(to, i32.mul(n, F.bytes))
  f.set(size, sizes).set(left, n)
  times(f, left, () => {
    F.store(F.constant(f.get(size), -1))
    f.increment(size, F.bytes)
  })
  times(f, m, () => {
    f.set(left, n).set(from, x).set(found, to).set(size, sizes)
    strips(f, F, left, WIDTHS, ({ vectors, bytes, load, store }) => {
      for (let v = 0; v < vectors; v++) {
        load(from, v).set(value)
        load(size, v).set(largest)
        f.op(abs, value).set(magnitude)
        f.op(gt, magnitude, () => f.op(F.vmul, largest, nearly)).set(mask)
        f.op(OP.v128_bitselect, magnitude, largest, mask).set(largest)
        store(size, v, largest)
        f.op(OP.v128_bitselect, value, () => load(found, v), mask).set(value)
        store(found, v, value)
      }
      f.increment(from, bytes).increment(found, bytes).increment(size, bytes)
    })
    f.increment(x, row)
  })
}
/** signed(to, toRow, from, fromRow, m, n, signs): columns of [m, n], with the other sign where the number of `signs` is negative. */
export const emitSigned = (module: Module, F: Float): void => {
  const f = module.func('signed', new Array(7).fill('i32'))
  const [to, toRow, from, fromRow, m, n, signs] = f.parameters(7)
  const [left, source, target, sign] = f.locals('i32', 4)
  const [bit, value] = f.locals('v128', 2)
  F.constant(f, -0)
    .op(F.name === 'f64' ? OP.f64x2_splat : OP.f32x4_splat)
    .set(bit)
  times(f, m, () => {
    f.set(left, n).set(source, from).set(target, to).set(sign, signs)
    strips(f, F, left, WIDTHS, ({ vectors, bytes, load, store }) => {
      for (let v = 0; v < vectors; v++) {
        f.op(
          OP.v128_xor,
          () => load(source, v),
          () => f.op(OP.v128_and, bit, () => load(sign, v)),
        ).set(value)
        store(target, v, value)
      }
      f.increment(source, bytes).increment(target, bytes).increment(sign, bytes)
    })
    f.increment(to, toRow).increment(from, fromRow)
  })
}
