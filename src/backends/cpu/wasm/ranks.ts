/*
 * Some places in the middle of an order, as a kernel for one shape: the keys at the first and the last of them, digit by digit of those that share the digits before,
 * then what lies between. Keys are words in the order of numbers: zeros equal, NaN after everything.
 */
import type { Local, Module } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'
import { emitSift, INDEX, KEY, linesOf, type Places, SLOT } from './select.js'

/** Lines above this have digits of 16 bits, others of 8. */
const LONG = 1 << 15
const bitsOf = (size: number): number => (size > LONG ? 16 : 8)
const tableBytes = (size: number): number => 4 << bitsOf(size)

/** Is it worth it: numbers of one word, and few places of a line that is long enough? */
export const isRanked = ({ type, from, to, size }: Places): boolean =>
  type !== 'f64' && size > 64 && (to - from <= 64 || 64 * (to - from) <= size)
export const rankScratchBytes = ({ size, after, from, to }: Places): number =>
  2 * tableBytes(size) + SLOT * (to - from) + (after > 1 ? 4 * size : 0)

export const emitRanks = (module: Module, places: Places, name: string): void => {
  const { before, size, after, type, descending, from, to } = places
  const f = module.kernel(name)
  if (before * after * (to - from) === 0) return
  const bits = bitsOf(size)
  const table = tableBytes(size)
  const lines = linesOf(f, emitSift(module), places, to - from, 2 * table)
  const { line, heap, scratch } = lines
  const [at, left, digit, rank, second, slot, key, bin, skipped, quota] = f.locals('i32', 10)
  const [lowest, highest, prefix] = f.locals('i32', 3)
  const [keys, wanted, span] = f.locals('v128', 3)
  const { add, sub } = address(f)
  /** Keys of what was loaded. */
  const toKeys = (): void => {
    if (type === 'i32') f.i32x4Const(-(2 ** 31)).op(OP.v128_xor)
    else {
      f.f32x4Const(0).op(OP.f32x4_add).set(keys)
      f.get(keys)
      f.op(
        OP.v128_or,
        () => f.op(OP.i32x4_shr_s, keys, 31),
        () => f.i32x4Const(-(2 ** 31)),
      ).op(OP.v128_xor)
      f.op(OP.v128_or, () => f.op(OP.f32x4_ne, keys, keys))
    }
    if (descending) f.op(OP.v128_not)
    f.set(keys)
  }
  /** `body` for the numbers of a line in their order, four lanes and one; with the keys of all of them. */
  const scan = (body: (lanes: number) => void): void => {
    const times = (count: number, lanes: number): void => {
      if (count === 0) return
      f.set(left, count).countDown(left, () => {
        f.get(at)
        if (lanes === 4) f.v128Load()
        else f.v128Load32Splat()
        toKeys()
        body(lanes)
        f.increment(at, 4 * lanes)
      })
    }
    f.set(at, line)
    times(size >> 2, 4)
    times(size & 3, 1)
  }
  const count = (tableAt: Local, shift: number): void => {
    f.set(
      bin,
      add(tableAt, () => f.op(OP.i32_shl, () => f.op(OP.i32_and, () => f.op(OP.i32_shr_u, key, shift), 2 ** bits - 1), 2)),
    )
    f.get(bin).get(bin).i32Load().i32Const(1).op(OP.i32_add).i32Store()
  }
  const clear = (tableAt: Local): void => {
    f.get(tableAt).i32Const(0).i32Const(table).memoryFill()
  }
  /** Takes the next digit: that of the number with this rank among those counted. */
  const descend = (tableAt: Local): void => {
    f.set(digit, 0).set(bin, tableAt)
    f.block((found) => {
      f.loop((top) => {
        f.op(OP.i32_lt_u, rank, () => f.get(bin).i32Load()).brIf(found)
        f.set(
          rank,
          sub(rank, () => f.get(bin).i32Load()),
        )
        f.increment(digit, 1).increment(bin, 4).br(top)
      })
    })
    f.op(OP.i32_or, () => f.op(OP.i32_shl, prefix, bits), digit).set(prefix)
  }
  /** The key at a place, as `prefix`, and how many equal ones are before it, as `rank`. */
  const find = (place: number): void => {
    f.set(rank, () => f.i32Const(place)).set(prefix, 0)
    descend(scratch)
    for (let shift = 32 - 2 * bits; shift >= 0; shift -= bits) {
      clear(second)
      f.get(prefix).op(OP.i32x4_splat).set(wanted)
      scan((lanes) => {
        const above = shift + bits
        f.op(OP.v128_any_true, () => f.op(OP.i32x4_eq, () => f.op(OP.i32x4_shr_u, keys, above), wanted)).if(() => {
          for (let l = 0; l < lanes; l++) {
            f.get(keys).i32x4ExtractLane(l).set(key)
            f.op(OP.i32_eq, () => f.op(OP.i32_shr_u, key, above), prefix).if(() => count(second, shift))
          }
        })
      })
      descend(second)
    }
  }
  lines.each(() => {
    f.set(second, add(scratch, table))
    clear(scratch)
    scan((lanes) => {
      for (let l = 0; l < lanes; l++) {
        f.get(keys).i32x4ExtractLane(l).set(key)
        count(scratch, 32 - bits)
      }
    })
    find(from)
    f.set(lowest, prefix).set(skipped, rank)
    if (to - from > 1) find(to - 1)
    f.set(highest, prefix).set(quota, add(rank, 1))
    f.get(lowest).op(OP.i32x4_splat).set(wanted)
    f.op(OP.i32_sub, highest, lowest).op(OP.i32x4_splat).set(span)
    f.set(slot, heap)
    const take = (l: number): void => {
      f.block((next) => {
        f.get(keys).i32x4ExtractLane(l).set(key)
        f.op(OP.i32_gt_u, sub(key, lowest), sub(highest, lowest)).brIf(next)
        f.op(OP.i32_eq, key, highest).if(() => {
          f.op(OP.i32_eqz, quota).brIf(next)
          f.increment(quota, -1)
        })
        f.op(OP.i32_eq, key, lowest).if(() => {
          f.get(skipped).if(() => f.increment(skipped, -1).br(next))
        })
        f.get(slot).op(OP.i64_extend_i32_u, key).i64Store(KEY)
        f.get(slot).op(OP.i32_shr_u, sub(at, line), 2)
        if (l > 0) f.i32Const(l).op(OP.i32_add)
        f.i32Store(INDEX)
        f.increment(slot, SLOT)
      })
    }
    scan((lanes) => {
      f.op(OP.v128_any_true, () => f.op(OP.i32x4_le_u, () => f.op(OP.i32x4_sub, keys, wanted), span)).if(() => {
        for (let l = 0; l < lanes; l++) take(l)
      })
    })
    lines.heapify()
    lines.write(0, to - from)
  })
}
