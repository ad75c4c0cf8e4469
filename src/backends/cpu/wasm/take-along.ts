/* Elements and rows taken by indices, as kernels for one shape: what a loop with an address from memory costs, and no more. */
import type { FunctionBuilder, Local, Module } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

/** The index at an address, as the meanings have it: a negative one counts from the end, and one out of range is that of the nearest element. */
export const loadIndex = (f: FunctionBuilder, at: Local, size: number, index: Local): void => {
  f.get(at).i32Load().set(index)
  f.op(OP.i32_add, index, () => f.op(OP.select, size, 0, () => f.op(OP.i32_lt_s, index, 0))).set(index)
  f.op(OP.select, index, 0, () => f.op(OP.i32_gt_s, index, 0)).set(index)
  f.op(OP.select, index, size - 1, () => f.op(OP.i32_lt_s, index, size - 1)).set(index)
}

/** x is [before, size, after], the indices and what is taken [before, count, after]; `bytes` of an element. */
export interface Along {
  readonly before: number
  readonly size: number
  readonly after: number
  readonly count: number
  readonly bytes: number
}

export const emitTakeAlong = (module: Module, { before, size, after, count, bytes }: Along, name: string): void => {
  const f = module.kernel(name)
  if (before * count * after === 0) return
  const [out, x, indices] = pointers(f, 3)
  const { add, mul } = address(f)
  const [block, row, column, index] = f.locals('i32', 4)
  const four = f.local('v128')
  /** Four of a line whose elements are neighbours: their indices as vectors. */
  const together = (): void => {
    f.get(indices).v128Load().set(four)
    f.op(
      OP.v128_and,
      () => f.op(OP.i32x4_shr_s, four, 31),
      () => f.i32x4Const(size),
    )
      .get(four)
      .op(OP.i32x4_add)
    f.i32x4Const(0)
      .op(OP.i32x4_max_s)
      .i32x4Const(size - 1)
      .op(OP.i32x4_min_s)
      .set(four)
    for (let l = 0; l < 4; l++) {
      f.get(out).push(
        add(
          x,
          mul(() => f.get(four).i32x4ExtractLane(l), bytes),
        ),
      )
      if (bytes === 8) f.f64Load().f64Store(8 * l)
      else if (bytes === 4) f.i32Load().i32Store(4 * l)
      else f.i32Load8U().i32Store8(l)
    }
    f.increment(out, 4 * bytes).increment(indices, 16)
  }
  const single = after === 1 ? count % 4 : count
  f.set(block, before).countDown(block, () => {
    if (single < count && count >= 4) f.set(row, (count - single) / 4).countDown(row, together)
    if (single > 0)
      f.set(row, single).countDown(row, () => {
        f.forLoop(column, 0, after * bytes, bytes, () => {
          loadIndex(f, indices, size, index)
          f.get(out).push(add(x, mul(index, after * bytes), column))
          if (bytes === 8) f.f64Load().f64Store()
          else if (bytes === 4) f.i32Load().i32Store()
          else f.i32Load8U().i32Store8()
          f.increment(out, bytes).increment(indices, 4)
        })
      })
    f.increment(x, size * after * bytes)
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
/** Rows of at most so many bytes are copied by vectors. */
const WRITTEN_OUT = 128

/** Copies a row, of so many bytes. */
const copyRow = (f: FunctionBuilder, to: Local, from: Local, bytes: number): void => {
  if (bytes > WRITTEN_OUT) {
    f.get(to).get(from).i32Const(bytes).memoryCopy()
    return
  }
  let at = 0
  for (; at + 16 <= bytes; at += 16) f.get(to).get(from).v128Load(at).v128Store(at)
  for (; at + 8 <= bytes; at += 8) f.get(to).get(from).f64Load(at).f64Store(at)
  for (; at + 4 <= bytes; at += 4) f.get(to).get(from).i32Load(at).i32Store(at)
  for (; at < bytes; at++) f.get(to).get(from).i32Load8U(at).i32Store8(at)
}
export const emitGather = (module: Module, { batches, outer, size, count, bytes }: Rows, name: string): void => {
  const f = module.kernel(name)
  if (batches * outer * count * bytes === 0) return
  const [out, x, indices] = pointers(f, 3)
  const { add, mul } = address(f)
  const [batch, block, left, at, index, from] = f.locals('i32', 6)
  f.set(batch, batches).countDown(batch, () => {
    f.set(block, outer).countDown(block, () => {
      f.set(at, indices)
      f.set(left, count).countDown(left, () => {
        loadIndex(f, at, size, index)
        f.set(from, add(x, mul(index, bytes)))
        copyRow(f, out, from, bytes)
        f.increment(out, bytes).increment(at, 4)
      })
      f.increment(x, size * bytes)
    })
    f.set(indices, at)
  })
}
