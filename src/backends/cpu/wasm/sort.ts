/*
 * Sorting lines of 32-bit numbers, of any shape, which the record tells, by digits of keys that have the order of the numbers. A key and its place are one word of 64 bits, so that they move
 * together. Three digits of 11 bits are sorted from the last. A long line is first dealt into 512 parts by the highest bits in which its keys differ; each part stays in a cache while
 * it is sorted. Equals keep their order.
 *
 * Source  Knuth 1998, 5.2.5; Herf 2001 (keys of floats; all digits are counted at once).
 */
import type { FuncRef, FunctionBuilder, Local, Module, Operand } from './encoder.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

export interface Sorted {
  readonly type: 'f32' | 'i32'
  readonly descending: boolean
  /** Whether lines are long enough to be dealt (`isDealt`). */
  readonly dealt: boolean
}
const SIGN = -0x8000_0000
const MAGNITUDE = 0x7fff_ffff
const INFINITE = 0x7f80_0000
/** Bytes of a word. */
const WORD = 8
const DIGITS = 3
/** Bits by which long lines are dealt. */
const DEALT = 9
/** Numbers of a part that is sorted without tables. */
const FEW = 48

/** Numbers of the longest line that is not dealt: its words stay in the cache. */
export const UNDEALT = 2 ** 18
export const isDealt = (size: number): boolean => size > UNDEALT
/** Bits of the digits: three of them are all, or all that dealing leaves. */
const bitsOf = (dealt: boolean): number => (dealt ? 8 : 11)
/** Bytes of a table of counts. */
const table = (bits: number): number => 4 << bits
/** Tables of the digits and of the dealing, and two of words: a pass reads one and writes the other. */
const tableBytes = (dealt: boolean): number => DIGITS * table(bitsOf(dealt)) + (dealt ? table(DEALT) : 0)
export const sortScratchBytes = (size: number): number => tableBytes(isDealt(size)) + 2 * WORD * size

const sum =
  (f: FunctionBuilder, a: Operand, b: Operand): Operand =>
  () =>
    f.op(OP.i32_add, a, b)
/** 4 times so many bits of a key, from a bit on. */
const entry = (f: FunctionBuilder, key: Local, from: number | Local, bits: number): Operand => {
  const shifted = (): unknown =>
    typeof from !== 'number'
      ? f.op(OP.i32_shl, () => f.op(OP.i32_shr_u, key, from), 2)
      : from < 2
        ? f.op(OP.i32_shl, key, 2 - from)
        : f.op(OP.i32_shr_u, key, from - 2)
  return () => f.op(OP.i32_and, shifted, table(bits) - 4)
}
const keyOf =
  (f: FunctionBuilder, word: Local): Operand =>
  () =>
    f.get(word).i32Load(4)
/** Adds one to a count. */
const count = (f: FunctionBuilder, at: Local, offset: number): void => {
  f.get(at)
    .op(OP.i32_add, () => f.get(at).i32Load(offset), 1)
    .i32Store(offset)
}
/** The place that a table has for the next word, moved on. */
const next = (f: FunctionBuilder, at: Local, offset: number, to: Local): void => {
  f.get(at).i32Load(offset).set(to)
  f.get(at).op(OP.i32_add, to, WORD).i32Store(offset)
}
/** Makes the counts of a table the places where words begin, the first of them at `place`, which moves to the end. */
const begin = (f: FunctionBuilder, first: Operand, bits: number, place: Local): void => {
  const { at, end, n } = f.namedLocals('i32', 'at end n')
  f.set(at, first).set(end, sum(f, at, table(bits)))
  f.loop((top) => {
    f.get(at).i32Load().set(n)
    f.get(at).get(place).i32Store()
    f.increment(place, () => f.op(OP.i32_shl, n, 3)).increment(at, 4)
    f.brIf(top, () => f.op(OP.i32_lt_u, at, end))
  })
}

/** (from, other, bytes, tables): where the words lie, in order of their digits: in `from` or in `other`, which has as much room. */
const emitByDigits = (module: Module, bits: number): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'i32', 'i32'], ['i32'])
  const { from, other, bytes, tables } = f.namedParameters('from other bytes tables')
  const { p, end, key, at, to } = f.namedLocals('i32', 'p end key at to')
  const word = f.local('i64')
  const place = (digit: number): Operand => sum(f, tables, entry(f, key, digit * bits, bits))
  const each = (body: () => void): void => {
    f.set(end, sum(f, from, bytes)).forLoop(p, from, end, WORD, () => {
      f.set(key, keyOf(f, p))
      body()
    })
  }
  f.push(tables)
    .push(0)
    .push(DIGITS * table(bits))
    .memoryFill()
  each(() => {
    for (let digit = 0; digit < DIGITS; digit++) {
      f.set(at, place(digit))
      count(f, at, digit * table(bits))
    }
  })
  for (let digit = 0; digit < DIGITS; digit++) {
    const offset = digit * table(bits)
    // Nothing moves where all have the same digit.
    f.set(key, keyOf(f, from)).push(place(digit)).i32Load(offset)
    f.op(OP.i32_ne, () => f.op(OP.i32_shr_u, bytes, 3)).if(() => {
      f.set(to, other)
      begin(f, sum(f, tables, offset), bits, to)
      each(() => {
        f.get(p).i64Load().set(word)
        f.set(at, place(digit))
        next(f, at, offset, to)
        f.get(to).get(word).i64Store()
      })
      f.get(from).get(other).set(from).set(other)
    })
  }
  f.get(from)
  return f
}
/** (from, bytes): words in order of their keys, in place: each goes in among those before it. */
const emitInserting = (module: Module): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32'])
  const { from, bytes } = f.namedParameters('from bytes')
  const { p, end, key, to, before } = f.namedLocals('i32', 'p end key to before')
  const word = f.local('i64')
  f.set(end, sum(f, from, bytes)).forLoop(p, sum(f, from, WORD), end, WORD, () => {
    f.get(p).i64Load().set(word)
    f.set(key, keyOf(f, p)).set(to, p)
    f.block((here) =>
      f.loop((top) => {
        f.brIf(here, () => f.op(OP.i32_eq, to, from))
        f.op(OP.i32_sub, to, WORD).set(before)
        f.brIf(here, () => f.op(OP.i32_le_u, keyOf(f, before), key))
        f.get(to).get(before).i64Load().i64Store()
        f.set(to, before).br(top)
      }),
    )
    f.get(to).get(word).i64Store()
  })
  return f
}

/** x is [before, size, after], the sizes of the record, none of them 0; its lines are along the middle axis. */
export const emitSort = (module: Module, { type, descending, dealt }: Sorted, name: string): void => {
  const byDigits = emitByDigits(module, bitsOf(dealt))
  const inserting = dealt ? emitInserting(module) : undefined
  const f = module.kernel(name)
  const [values, indices, x, scratch, before, size, after] = pointers(f, 7)
  const v = f.namedLocals('i32', 'words others i key at from end to start bytes bits shift column value index step rest all')
  const add = (a: Operand, b: Operand): Operand => sum(f, a, b)
  /** Between an i32 and its key: the same both ways. */
  const turned =
    (n: Operand): Operand =>
    () =>
      f.op(OP.i32_xor, n, descending ? ~SIGN : SIGN)
  const toKey = (): void => {
    f.get(v.from).i32Load().set(v.key)
    if (type === 'i32') {
      f.set(v.key, turned(v.key))
      return
    }
    f.set(v.bits, () => f.op(OP.i32_and, v.key, MAGNITUDE))
    f.set(v.key, () => f.op(OP.i32_xor, v.key, () => f.op(OP.i32_or, () => f.op(OP.i32_shr_s, v.key, 31), SIGN)))
    f.op(OP.select, SIGN, v.key, () => f.op(OP.i32_eqz, v.bits)).set(v.key)
    f.op(OP.select, -1, v.key, () => f.op(OP.i32_gt_u, v.bits, INFINITE)).set(v.key)
    if (descending) f.set(v.key, () => f.op(OP.i32_xor, v.key, -1))
  }
  const each = (body: () => void): void => {
    f.set(v.from, x).forLoop(v.i, 0, size, 1, () => {
      toKey()
      body()
      f.increment(v.from, v.step)
    })
  }
  const high = (): unknown =>
    f.op(
      OP.i64_shl,
      () => f.op(OP.i64_extend_i32_u, v.key),
      () => f.op(OP.i64_extend_i32_u, 32),
    )
  const store = (to: Local): void =>
    void f
      .get(to)
      .op(OP.i64_or, high, () => f.op(OP.i64_extend_i32_u, v.i))
      .i64Store()
  /** The number of a key; a key does not say which zero or which NaN it was. */
  const fromKey = (): void => {
    if (type === 'i32') {
      f.set(v.key, turned(v.key))
      return
    }
    if (descending) f.set(v.key, () => f.op(OP.i32_xor, v.key, -1))
    f.op(
      OP.i32_or,
      () => f.op(OP.i32_eq, v.key, SIGN),
      () => f.op(OP.i32_eq, v.key, -1),
    ).if(
      () =>
        f
          .push(add(x, () => f.op(OP.i32_mul, v.i, v.step)))
          .i32Load()
          .set(v.key),
      () =>
        f.set(v.key, () =>
          f.op(OP.i32_xor, v.key, () => f.op(OP.i32_or, () => f.op(OP.i32_xor, () => f.op(OP.i32_shr_s, v.key, 31), -1), SIGN)),
        ),
    )
  }
  /** The numbers and places of so many bytes of words. */
  const write = (): void => {
    f.set(v.end, add(v.at, v.bytes)).forLoop(v.at, v.at, v.end, WORD, () => {
      f.get(v.at).i32Load().set(v.i)
      f.get(v.index).get(v.i).i32Store()
      f.set(v.key, keyOf(f, v.at))
      fromKey()
      f.get(v.value).get(v.key).i32Store()
      f.increment(v.index, v.step).increment(v.value, v.step)
    })
  }
  const sortAll = (): void => {
    f.set(v.at, v.words)
    each(() => {
      store(v.at)
      f.increment(v.at, WORD)
    })
    f.set(v.bytes, v.all).call(byDigits, v.words, v.others, v.bytes, scratch).set(v.at)
    write()
  }
  const counts = DIGITS * table(bitsOf(dealt))
  const deal = (): void => {
    const part = (): void => void f.op(OP.i32_add, scratch, entry(f, v.key, v.shift, DEALT)).set(v.at)
    const highest = 32 - DEALT
    f.set(v.from, x)
    toKey()
    f.set(v.to, v.key).set(v.start, 0).set(v.shift, highest)
    // Most keys differ in their first bits; counted again where they do not.
    f.loop((again) => {
      f.push(add(scratch, counts)).push(0).push(table(DEALT)).memoryFill()
      each(() => {
        f.set(v.start, () => f.op(OP.i32_or, v.start, () => f.op(OP.i32_xor, v.key, v.to)))
        part()
        count(f, v.at, counts)
      })
      f.set(v.bits, v.shift)
      f.op(OP.i32_sub, highest, () => f.op(OP.i32_clz, v.start)).set(v.shift)
      f.op(OP.select, v.shift, 0, () => f.op(OP.i32_gt_s, v.shift, 0)).set(v.shift)
      f.brIf(again, () => f.op(OP.i32_ne, v.shift, v.bits))
    })
    f.set(v.to, v.words)
    begin(f, add(scratch, counts), DEALT, v.to)
    each(() => {
      part()
      next(f, v.at, counts, v.to)
      store(v.to)
    })
    // Where the words of a part began, they end now.
    const { part: at, last } = f.namedLocals('i32', 'part last')
    f.set(v.start, v.words).set(last, add(scratch, table(DEALT)))
    f.forLoop(at, scratch, last, 4, () => {
      f.get(at).i32Load(counts).set(v.to)
      f.op(OP.i32_sub, v.to, v.start).set(v.bytes)
      f.ifThen(v.bytes, () => {
        f.set(v.at, v.start)
        f.op(OP.i32_lt_u, v.bytes, FEW * WORD).if(
          () => f.call(inserting!, v.at, v.bytes),
          () => f.call(byDigits, v.at, v.others, v.bytes, scratch).set(v.at),
        )
        write()
        f.set(v.start, v.to)
      })
    })
  }
  const times =
    (a: Local, b: Operand): Operand =>
    () =>
      f.op(OP.i32_mul, a, b)
  f.set(v.step, times(after, 4)).set(v.all, times(size, WORD))
  f.set(v.rest, () => f.op(OP.i32_sub, times(v.step, size), v.step))
  f.set(v.words, add(scratch, tableBytes(dealt))).set(v.others, add(v.words, v.all))
  f.countDown(before, () => {
    f.set(v.column, after).countDown(v.column, () => {
      f.set(v.value, values).set(v.index, indices)
      if (dealt) deal()
      else sortAll()
      for (const p of [values, indices, x]) f.increment(p, 4)
    })
    for (const p of [values, indices, x]) f.increment(p, v.rest)
  })
}
