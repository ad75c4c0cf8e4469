/* Positions along an axis, as a kernel for one shape: counters of i32 in vectors, so that each number is rounded once. */
import type { FunctionBuilder, Module } from './encoder.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

/** The result is [before, size, after], its numbers those along the middle axis. */
export interface Iota {
  readonly before: number
  readonly size: number
  readonly after: number
  readonly type: 'f64' | 'f32' | 'i32'
}

export const emitIota = (module: Module, { before, size, after, type }: Iota, name: string): void => {
  const f = module.kernel(name)
  if (before * size * after === 0) return
  const lanes = type === 'f64' ? 2 : 4
  const bytes = type === 'f64' ? 8 : 4
  const [out] = pointers(f, 1)
  const [block, row, left] = f.locals('i32', 3)
  const [count, v] = f.locals('v128', 2)
  const increase = (by: number): FunctionBuilder => f.op(OP.i32x4_add, count, () => f.i32x4Const(by)).set(count)
  const times = (n: number, body: () => void): void => {
    if (n > 0) f.set(left, n).countDown(left, body)
  }
  const converted = (): FunctionBuilder => {
    f.get(count)
    if (type === 'f64') f.op(OP.f64x2_convert_low_i32x4_s)
    else if (type === 'f32') f.op(OP.f32x4_convert_i32x4_s)
    return f.set(v)
  }
  const store = (single: boolean): void => {
    f.get(out).get(v)
    if (!single) f.v128Store().increment(out, 16)
    else if (bytes === 8) f.v128Store64Lane(0).increment(out, 8)
    else f.v128Store32Lane(0).increment(out, 4)
  }
  f.set(block, before).countDown(block, () => {
    if (after === 1) {
      f.v128Const(new Uint8Array(Int32Array.of(0, 1, 2, 3).buffer)).set(count)
      times(Math.floor(size / lanes), () => {
        converted()
        store(false)
        increase(lanes)
      })
      times(size % lanes, () => {
        converted()
        store(true)
        increase(1)
      })
      return
    }
    f.i32x4Const(0).set(count)
    f.set(row, size).countDown(row, () => {
      converted()
      times(Math.floor(after / lanes), () => store(false))
      times(after % lanes, () => store(true))
      increase(1)
    })
  })
}
