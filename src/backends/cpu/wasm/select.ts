/*
 * The first places of the order along an axis, as a kernel for one shape: a heap of the best so far with the worst of them on top, and vectors that pass over what is
 * no better than that. Keys are integers in the order of numbers: zeros equal, NaN after everything; equals stand by their index, so that no two are alike.
 */
import type { FuncRef, FunctionBuilder, Local, Module, Operand } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

/** x is [before, size, after]; the places from ... to - 1 of each line along the middle axis. */
export interface Places {
  readonly before: number
  readonly size: number
  readonly after: number
  readonly type: 'f64' | 'f32' | 'i32'
  readonly descending: boolean
  readonly from: number
  readonly to: number
}
export const bytesOf = { f64: 8, f32: 4, i32: 4 } as const
/** A place of the heap: a key of 8 bytes, an index of 4. */
export const SLOT = 16
export const KEY = 0
export const INDEX = 8
/** Vectors that are passed over together. */
const BLOCK = 4

/** Is a heap of so many of a line's numbers less work than digits of all? */
export const isFew = (to: number, size: number): boolean => to <= 64 || 64 * to <= size
/**
 * Numbers of a line, evenly apart, that are looked at first: the worst of the best of them bounds what can be among the best of all, so that a line whose best are
 * last does not put each of its numbers into the heap. 0 where places are no few of the line.
 */
const sampleOf = (to: number, size: number): number => (16 * to <= size ? Math.floor(Math.sqrt(size * to)) : 0)

export const selectScratchBytes = ({ size, after, type, to }: Places): number => SLOT * to + (after > 1 ? bytesOf[type] * size : 0)

/** (heap, place, size, key, index): moves what is worse up from the place on, and puts the key where it ends. */
export const emitSift = (module: Module): FuncRef => {
  const f = module.func(undefined, ['i32', 'i32', 'i32', 'i64', 'i32'])
  const [heap, place, size, key, index] = f.parameters(5)
  const [child, at, to] = f.locals('i32', 3)
  const { add, mul } = address(f)
  const slot = (n: Operand): Operand => add(heap!, mul(n, SLOT))
  const store = (): void => {
    f.set(to, slot(place!))
  }
  const keyAt =
    (p: Local, offset = KEY): Operand =>
    () =>
      f.get(p).i64Load(offset)
  const indexAt =
    (p: Local, offset = INDEX): Operand =>
    () =>
      f.get(p).i32Load(offset)
  /** Does a stand behind b? */
  const isBehind =
    (a: readonly [Operand, Operand], b: readonly [Operand, Operand]): Operand =>
    () =>
      f.op(
        OP.i32_or,
        () => f.op(OP.i64_gt_s, a[0], b[0]),
        () =>
          f.op(
            OP.i32_and,
            () => f.op(OP.i64_eq, a[0], b[0]),
            () => f.op(OP.i32_gt_u, a[1], b[1]),
          ),
      )
  f.block((done) => {
    f.loop((top) => {
      f.set(child, add(mul(place!, 2), 1))
      f.op(OP.i32_ge_u, child, size!).brIf(done)
      f.set(at, slot(child))
      f.op(OP.i32_lt_u, add(child, 1), size!).if(() =>
        f.push(isBehind([keyAt(at, SLOT + KEY), indexAt(at, SLOT + INDEX)], [keyAt(at), indexAt(at)])).if(() => {
          f.increment(child, 1).increment(at, SLOT)
        }),
      )
      f.push(isBehind([key!, index!], [keyAt(at), indexAt(at)])).brIf(done)
      store()
      f.get(to).get(at).v128Load().v128Store()
      f.set(place!, child).br(top)
    })
  })
  store()
  f.get(to).get(key!).i64Store(KEY)
  f.get(to).get(index!).i32Store(INDEX)
  return f
}

/** (address): the key of the number there. */
const emitKey = (module: Module, { type, descending }: Places): FuncRef => {
  const f = module.func(undefined, ['i32'], ['i64'])
  const x = f.local('f64')
  const bits = f.local('i64')
  const long = (n: number): FunctionBuilder => f.i32Const(n).op(OP.i64_extend_i32_s)
  f.get(f.param(0))
  if (type === 'i32') f.i32Load().op(OP.i64_extend_i32_s)
  else {
    if (type === 'f32') f.f32Load().op(OP.f64_promote_f32)
    else f.f64Load()
    // Zeros are one number.
    f.f64Const(0).op(OP.f64_add).set(x)
    f.get(x).op(OP.i64_reinterpret_f64).set(bits)
    f.op(OP.i64_shr_s, bits, () => long(63))
      .op(OP.i64_shr_u, () => long(1))
      .op(OP.i64_xor, bits)
    f.op(
      OP.i64_shr_u,
      () => long(-1),
      () => long(1),
    )
      .op(OP.f64_eq, x, x)
      .op(OP.select)
  }
  if (descending) f.op(OP.i64_xor, () => long(-1))
  return f
}

const splat = (f: FunctionBuilder, type: Places['type'], at: Operand): FunctionBuilder =>
  type === 'f64' ? f.push(at).v128Load64Splat() : f.push(at).v128Load32Splat()
/** Lanes that are worse than the limit; a NaN is none of them. */
const isWorse = {
  f64: [OP.f64x2_gt, OP.f64x2_lt],
  f32: [OP.f32x4_gt, OP.f32x4_lt],
  i32: [OP.i32x4_gt_s, OP.i32x4_lt_s],
} as const
/** The index of a place that is not taken: behind those of all numbers. */
const FREE = -1

/** The lines of x one after the other, and a heap of `slots` numbers of each, behind so many bytes of the scratch. */
export const linesOf = (f: FunctionBuilder, sift: FuncRef, places: Places, slots: number, room: number) => {
  const { before, size, after, type, from, to } = places
  const bytes = bytesOf[type]
  const count = to - from
  const [values, indices, x, scratch] = pointers(f, 4)
  const [block, column, line, at, copied, i, n] = f.locals('i32', 7)
  const [heap, outValue, outIndex, slot, index] = f.locals('i32', 5)
  const key = f.local('i64')
  const { add, mul } = address(f)
  const copy = (to: Local, from: Operand): void => {
    f.get(to).push(from)
    if (bytes === 8) f.i64Load().i64Store()
    else f.i32Load().i32Store()
  }
  const setSlot = (number: Operand): void => {
    f.set(slot, add(heap, mul(number, SLOT)))
  }
  const siftSlot = (place: Operand, length: Operand): void => {
    f.set(key, () => f.get(slot).i64Load(KEY)).set(index, () => f.get(slot).i32Load(INDEX))
    f.call(sift, heap, place, length, key, index)
  }
  /** Makes the slots a heap. */
  const heapify = (): void => {
    if (slots < 2) return
    f.set(i, slots >> 1).countDown(i, () => {
      f.op(OP.i32_sub, i, 1).set(n)
      setSlot(n)
      siftSlot(n, slots)
    })
  }
  /** Puts the heap in order, and these places of it where the line has its results. */
  const write = (first: number, end: number): void => {
    // The worst goes to the end, and so on.
    if (slots > 1) {
      f.set(i, slots - 1).countDown(i, () => {
        setSlot(i)
        f.set(key, () => f.get(slot).i64Load(KEY)).set(index, () => f.get(slot).i32Load(INDEX))
        f.get(slot).get(heap).v128Load().v128Store()
        f.call(sift, heap, 0, i, key, index)
      })
    }
    f.set(outValue, values).set(outIndex, indices)
    f.forLoop(i, first, end, 1, () => {
      setSlot(i)
      f.get(slot).i32Load(INDEX).set(index)
      f.get(outIndex).get(index).i32Store()
      copy(outValue, add(line, mul(index, bytes)))
      f.increment(outValue, after * bytes).increment(outIndex, after * 4)
    })
  }
  /** `select` for every line, whose numbers are neighbours from `line` on. */
  const each = (select: () => void): void => {
    f.set(heap, add(scratch, room))
    f.set(block, before).countDown(block, () => {
      if (after === 1) {
        f.set(line, x)
        select()
        f.increment(values, count * bytes)
          .increment(indices, count * 4)
          .increment(x, size * bytes)
        return
      }
      f.set(column, after).countDown(column, () => {
        // Lines whose elements are no neighbours are copied.
        f.set(line, add(heap, SLOT * slots))
          .set(at, x)
          .set(copied, line)
        f.set(i, size).countDown(i, () => {
          copy(copied, at)
          f.increment(copied, bytes).increment(at, after * bytes)
        })
        select()
        f.increment(values, bytes).increment(indices, 4).increment(x, bytes)
      })
      f.increment(values, (count - 1) * after * bytes)
        .increment(indices, (count - 1) * after * 4)
        .increment(x, (size - 1) * after * bytes)
    })
  }
  return { scratch, line, heap, heapify, write, each }
}

export const emitSelect = (module: Module, places: Places, name: string): void => {
  const { before, size, after, type, descending, from, to } = places
  const bytes = bytesOf[type]
  const f = module.kernel(name)
  if (before * after * (to - from) === 0) return
  const sift = emitSift(module)
  const keyOf = emitKey(module, places)
  const lines = linesOf(f, sift, places, to, 0)
  const { line, heap } = lines
  const [at, end, i, last, holder, slot] = f.locals('i32', 6)
  const [key, worst] = f.locals('i64', 2)
  const limit = f.local('v128')
  const { add, mul } = address(f)
  /** The worst of the heap, which a number has to be better than. */
  const setLimit = (): void => {
    f.get(heap).i64Load(KEY).set(worst)
    f.get(heap).i32Load(INDEX).set(holder)
    f.op(OP.i32_ne, holder, FREE).if(() => splat(f, type, add(line, mul(holder, bytes))).set(limit))
  }
  /** Takes the number into the heap where it is better than the worst there. Those before it with an equal key stay. */
  const offer = (step: number): void => {
    f.call(keyOf, at).set(key)
    const better = (): unknown => f.op(OP.i64_lt_s, key, worst)
    const free = (): unknown =>
      f.op(
        OP.i32_and,
        () => f.op(OP.i64_eq, key, worst),
        () => f.op(OP.i32_eq, holder, FREE),
      )
    f.op(OP.i32_or, better, free).if(() => {
      f.call(sift, heap, 0, to, key, () => f.op(OP.i32_div_u, () => f.op(OP.i32_sub, at, line), bytes))
      setLimit()
    })
    f.increment(at, step)
  }
  const offerUntil = (end: Operand, step: number): void => {
    f.block((done) => {
      f.loop((top) => {
        f.op(OP.i32_ge_u, at, end).brIf(done)
        offer(step)
        f.br(top)
      })
    })
  }
  /** Makes the first numbers of a line a heap. */
  const fill = (step: number): void => {
    f.set(at, line).set(slot, heap)
    f.set(i, to).countDown(i, () => {
      f.get(slot).call(keyOf, at).i64Store(KEY)
      f.get(slot)
        .op(OP.i32_div_u, () => f.op(OP.i32_sub, at, line), bytes)
        .i32Store(INDEX)
      f.increment(at, step).increment(slot, SLOT)
    })
    lines.heapify()
  }
  const sample = sampleOf(to, size)
  const bound = (): void => {
    const step = bytes * Math.floor(size / sample)
    fill(step)
    setLimit()
    offerUntil(add(line, sample * step), step)
    f.set(slot, heap)
    f.set(i, to).countDown(i, () => {
      f.get(slot).get(worst).i64Store(KEY)
      f.get(slot).i32Const(FREE).i32Store(INDEX)
      f.increment(slot, SLOT)
    })
    f.set(at, line).set(holder, FREE)
  }
  const select = (): void => {
    if (sample > 0) bound()
    else fill(bytes)
    if (to < size) {
      if (sample === 0) setLimit()
      const stride = 16 * BLOCK
      f.set(end, add(line, size * bytes))
      f.block((done) => {
        f.loop((top) => {
          f.op(OP.i32_gt_u, add(at, stride), end).brIf(done)
          for (let n = 0; n < BLOCK; n++) {
            f.get(at)
              .v128Load(16 * n)
              .get(limit)
              .op(isWorse[type][descending ? 1 : 0])
            if (n > 0) f.op(OP.v128_and)
          }
          f.op(bytes === 8 ? OP.i64x2_all_true : OP.i32x4_all_true)
          f.if(
            () => f.increment(at, stride),
            () => {
              f.set(last, add(at, stride))
              f.loop((each) => {
                offer(bytes)
                f.op(OP.i32_lt_u, at, last).brIf(each)
              })
            },
          )
          f.br(top)
        })
      })
      offerUntil(end, bytes)
    }
    lines.write(from, to)
  }
  lines.each(select)
}
