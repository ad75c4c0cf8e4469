/* Elements and rows taken by indices, as kernels for rows of one length: what a loop with an address from memory costs, and no more. Other sizes are words of the record. */
import type { FunctionBuilder, Local, Module } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

/** The index at an address, as the meanings have it: a negative one counts from the end, and one out of range is that of the nearest element. */
export const loadIndex = (f: FunctionBuilder, at: Local, size: Local, index: Local): void => {
  const last = address(f).sub(size, 1)
  f.get(at).i32Load().set(index)
  f.op(OP.i32_add, index, () => f.op(OP.select, size, 0, () => f.op(OP.i32_lt_s, index, 0))).set(index)
  f.op(OP.select, index, 0, () => f.op(OP.i32_gt_s, index, 0)).set(index)
  f.op(OP.select, index, last, () => f.op(OP.i32_lt_s, index, last)).set(index)
}

/** x is [before, size, after], the indices and what is taken [before, count, after]; `bytes` of an element. */
export interface Along {
  readonly before: number
  readonly size: number
  readonly after: number
  readonly count: number
  readonly bytes: number
}
/** Are the elements of a line neighbours? Then `after` is 1 in the code. */
export const areLines = ({ after }: Pick<Along, 'after'>): boolean => after === 1
/** The sizes of its record: those of `Along` but for the bytes, in this order. */
export const alongSizes = ({ before, size, after, count }: Along): readonly number[] => [before, size, after, count]

/** `lines`: of neighbours. The result has elements. */
export const emitTakeAlong = (
  module: Module,
  { bytes, lines }: { readonly bytes: number; readonly lines: boolean },
  name: string,
): void => {
  const f = module.kernel(name)
  const [out, x, indices, , before, size, after, count] = pointers(f, 8)
  const { add, mul, sub } = address(f)
  const [row, column, index, width, fours] = f.locals('i32', 5)
  const [four, sizes, lasts] = f.locals('v128', 3)
  const moved = (to: () => FunctionBuilder, offset = 0): void => {
    to()
    if (bytes === 8) f.f64Load().f64Store(offset)
    else if (bytes === 4) f.i32Load().i32Store(offset)
    else f.i32Load8U().i32Store8(offset)
  }
  /** Four of a line of neighbours: their indices as vectors. */
  const together = (): void => {
    f.get(indices).v128Load().set(four)
    f.op(OP.v128_and, () => f.op(OP.i32x4_shr_s, four, 31), sizes)
      .get(four)
      .op(OP.i32x4_add)
    f.i32x4Const(0).op(OP.i32x4_max_s).get(lasts).op(OP.i32x4_min_s).set(four)
    for (let l = 0; l < 4; l++) {
      const from = add(
        x,
        mul(() => f.get(four).i32x4ExtractLane(l), bytes),
      )
      moved(() => f.get(out).push(from), bytes * l)
    }
    f.increment(out, 4 * bytes).increment(indices, 16)
  }
  const one = (): void => {
    loadIndex(f, indices, size, index)
    const from = lines ? add(x, mul(index, bytes)) : add(x, mul(index, width), column)
    moved(() => f.get(out).push(from))
    f.increment(out, bytes).increment(indices, 4)
  }
  f.set(width, mul(after, bytes))
  if (lines) {
    f.set(fours, () => f.op(OP.i32_shr_u, count, 2)).set(count, () => f.op(OP.i32_and, count, 3))
    f.get(size).op(OP.i32x4_splat).set(sizes)
    f.push(sub(size, 1)).op(OP.i32x4_splat).set(lasts)
  }
  f.countDown(before, () => {
    if (lines) {
      f.set(row, fours).ifThen(row, () => f.countDown(row, together))
      f.set(row, count).ifThen(row, () => f.countDown(row, one))
    } else f.set(row, count).countDown(row, () => f.forLoop(column, 0, width, bytes, one))
    f.increment(x, mul(size, width))
  })
}

/** x is [batches, outer, size, row], the indices [batches, count], what is taken [batches, outer, count, row]; `bytes` of a row. */
export interface Rows {
  readonly batches: number
  readonly outer: number
  readonly size: number
  readonly count: number
  readonly bytes: number
}
/** The sizes of its record: those of `Rows` but for the bytes, in this order. */
export const rowSizes = ({ batches, outer, size, count }: Rows): readonly number[] => [batches, outer, size, count]
/** Rows of at most so many bytes are copied by vectors. */
export const WRITTEN_OUT = 128

/** Copies a row, of so many bytes: a number, or one that the record has. */
export const copyRow = (f: FunctionBuilder, to: Local, from: Local, bytes: number | Local): void => {
  if (typeof bytes !== 'number' || bytes > WRITTEN_OUT) {
    f.get(to).get(from).push(bytes).memoryCopy()
    return
  }
  let at = 0
  for (; at + 16 <= bytes; at += 16) f.get(to).get(from).v128Load(at).v128Store(at)
  for (; at + 8 <= bytes; at += 8) f.get(to).get(from).f64Load(at).f64Store(at)
  for (; at + 4 <= bytes; at += 4) f.get(to).get(from).i32Load(at).i32Store(at)
  for (; at < bytes; at++) f.get(to).get(from).i32Load8U(at).i32Store8(at)
}
/** Rows of so many bytes, taken by indices or set there, one after the other: the last one that is set stays. The result has elements; where rows are set the planner has put the array at the result. */
export const emitRows = (module: Module, bytes: number, use: 'take' | 'set', name: string): void => {
  const f = module.kernel(name)
  const [out, first, second, , batches, outer, size, count] = pointers(f, 8)
  const [x, indices, packed] = use === 'take' ? [first, second, out] : [out, first, second]
  const { add, mul } = address(f)
  const [block, left, at, index, row] = f.locals('i32', 5)
  f.countDown(batches, () => {
    f.set(block, outer).countDown(block, () => {
      f.set(at, indices)
      f.set(left, count).countDown(left, () => {
        loadIndex(f, at, size, index)
        f.set(row, add(x, mul(index, bytes)))
        if (use === 'take') copyRow(f, packed, row, bytes)
        else copyRow(f, row, packed, bytes)
        f.increment(packed, bytes).increment(at, 4)
      })
      f.increment(x, mul(size, bytes))
    })
    f.set(indices, at)
  })
}
