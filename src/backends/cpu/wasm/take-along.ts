/* Elements taken along an axis by indices, as a kernel for one shape: what a loop with an address from memory costs, and no more. */
import { type Module, OP } from './encoder.js'
import { address } from './float.js'
import { pointers } from './pointers.js'

/** x is [before, size, after], the indices and what is taken [before, count, after]; `bytes` of an element. */
export interface Along {
  readonly before: number
  readonly size: number
  readonly after: number
  readonly count: number
  readonly bytes: number
}

/** As the meaning: a negative index counts from the end, and one out of range is that of the nearest element. */
export const emitTakeAlong = (module: Module, { before, size, after, count, bytes }: Along, name: string): void => {
  const f = module.kernel(name)
  if (before * count * after === 0) return
  const [out, x, indices] = pointers(f, 3)
  const { add, mul } = address(f)
  const [block, row, column, index] = f.locals('i32', 4)
  f.set(block, before).countDown(block, () => {
    f.set(row, count).countDown(row, () => {
      f.forLoop(column, 0, after * bytes, bytes, () => {
        f.get(indices).i32Load().set(index)
        f.op(OP.i32_add, index, () => f.op(OP.select, size, 0, () => f.op(OP.i32_lt_s, index, 0))).set(index)
        f.op(OP.select, index, 0, () => f.op(OP.i32_gt_s, index, 0)).set(index)
        f.op(OP.select, index, size - 1, () => f.op(OP.i32_lt_s, index, size - 1)).set(index)
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
