/*
 * Sorting lines of 32-bit numbers, of any shape, which the record tells: three digits of 11 bits, from the last, of keys that have the order of the numbers. Equals keep theirs.
 *
 * Source  Knuth 1998, 5.2.5; Herf 2001 (keys of floats; all digits are counted at once).
 */
import type { Local, Module, Operand } from './encoder.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

export interface Sorted {
  readonly type: 'f32' | 'i32'
  readonly descending: boolean
}
const BITS = 11
const DIGITS = 3
const TABLE = 4 << BITS
const SIGN = -0x8000_0000
const MAGNITUDE = 0x7fff_ffff
const INFINITE = 0x7f80_0000
/** Counts of the digits, and two of keys and of places each: a pass reads one and writes the other. */
export const sortScratchBytes = (size: number): number => DIGITS * TABLE + 16 * size

/** x is [before, size, after], the sizes of the record, none of them 0; its lines are along the middle axis. */
export const emitSort = (module: Module, { type, descending }: Sorted, name: string): void => {
  const f = module.kernel(name)
  const [values, indices, x, scratch, before, size, after] = pointers(f, 7)
  const v = f.namedLocals('i32', 'keys moved places order i key at from end sum digit to column step bytes rest')
  const sum =
    (a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.i32_add, a, b)
  const load =
    (at: Operand): Operand =>
    () =>
      f.push(at).i32Load()
  /** Where the count of a digit of the key lies. */
  const place = (pass: number): Operand =>
    sum(sum(scratch, pass * TABLE), () =>
      f.op(OP.i32_shl, () => f.op(OP.i32_and, () => f.op(OP.i32_shr_u, v.key, BITS * pass), (1 << BITS) - 1), 2),
    )
  const swap = (a: Local, b: Local): void => void f.push(a).push(b).set(a).set(b)
  const toKey = (): void => {
    if (type === 'i32') f.localSet(v.key, () => f.op(OP.i32_xor, v.key, SIGN))
    else {
      f.localSet(v.digit, () => f.op(OP.i32_and, v.key, MAGNITUDE))
      f.localSet(v.key, () => f.op(OP.i32_xor, v.key, () => f.op(OP.i32_or, () => f.op(OP.i32_shr_s, v.key, 31), SIGN)))
      f.op(OP.select, SIGN, v.key, () => f.op(OP.i32_eqz, v.digit)).set(v.key)
      f.op(OP.select, -1, v.key, () => f.op(OP.i32_gt_u, v.digit, INFINITE)).set(v.key)
    }
    if (descending) f.localSet(v.key, () => f.op(OP.i32_xor, v.key, -1))
  }
  const pass = (digit: number): void => {
    // Nothing moves where all have the same digit.
    f.localSet(v.key, load(v.keys))
    f.op(OP.i32_ne, load(place(digit)), size).if(() => {
      f.localSet(v.at, sum(scratch, digit * TABLE))
        .localSet(v.end, sum(v.at, TABLE))
        .localSet(v.sum, 0)
      f.forLoop(v.at, v.at, v.end, 4, () => {
        f.localSet(v.digit, load(v.at))
        f.push(v.at).push(v.sum).i32Store()
        f.increment(v.sum, v.digit)
      })
      f.forLoop(v.i, 0, v.bytes, 4, () => {
        f.localSet(v.key, load(sum(v.keys, v.i)))
          .localSet(v.at, place(digit))
          .localSet(v.to, load(v.at))
        f.push(v.at).push(sum(v.to, 1)).i32Store()
        f.localSet(v.to, () => f.op(OP.i32_shl, v.to, 2))
        f.push(sum(v.moved, v.to)).push(v.key).i32Store()
        f.push(sum(v.order, v.to))
          .push(load(sum(v.places, v.i)))
          .i32Store()
      })
      swap(v.keys, v.moved)
      swap(v.places, v.order)
    })
  }
  const line = (): void => {
    f.localSet(v.keys, sum(scratch, DIGITS * TABLE))
    f.localSet(v.moved, sum(v.keys, v.bytes)).localSet(v.places, sum(v.moved, v.bytes)).localSet(v.order, sum(v.places, v.bytes))
    f.push(scratch)
      .push(0)
      .push(DIGITS * TABLE)
      .memoryFill()
    f.localSet(v.from, x)
    f.forLoop(v.i, 0, size, 1, () => {
      f.localSet(v.key, load(v.from))
      toKey()
      f.localSet(v.at, () => f.op(OP.i32_shl, v.i, 2))
      f.push(sum(v.keys, v.at)).push(v.key).i32Store()
      f.push(sum(v.places, v.at)).push(v.i).i32Store()
      for (let digit = 0; digit < DIGITS; digit++) {
        f.localSet(v.at, place(digit))
        f.push(v.at)
          .push(sum(load(v.at), 1))
          .i32Store()
      }
      f.increment(v.from, v.step)
    })
    for (let digit = 0; digit < DIGITS; digit++) pass(digit)
    f.localSet(v.from, 0)
    f.forLoop(v.i, 0, v.bytes, 4, () => {
      f.localSet(v.key, load(sum(v.places, v.i)))
      f.push(sum(indices, v.from)).push(v.key).i32Store()
      f.push(sum(values, v.from))
        .push(load(sum(x, () => f.op(OP.i32_mul, v.key, v.step))))
        .i32Store()
      f.increment(v.from, v.step)
    })
  }
  const times = (a: Local, b: Operand) => (): void => void f.op(OP.i32_mul, a, b)
  f.localSet(v.step, times(after, 4)).localSet(v.bytes, times(size, 4))
  f.localSet(v.rest, () => f.op(OP.i32_sub, times(v.step, size), v.step))
  f.countDown(before, () => {
    f.set(v.column, after).countDown(v.column, () => {
      line()
      for (const p of [values, indices, x]) f.increment(p, 4)
    })
    for (const p of [values, indices, x]) f.increment(p, v.rest)
  })
}
