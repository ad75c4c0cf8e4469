/* Positions along an axis: counters of i32 in vectors, so that each number is rounded once. */
import type { FunctionBuilder, Local, Module, Operand } from './encoder.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

export interface Iota {
  readonly type: 'f64' | 'f32' | 'i32'
  /** The axis is the last one. */
  readonly last: boolean
}

/** The result is [before, size, after], the sizes of the record, none of them 0; its numbers are those along the middle axis. */
export const emitIota = (module: Module, { type, last }: Iota, name: string): void => {
  const f = module.kernel(name)
  const lanes = type === 'f64' ? 2 : 4
  const bytes = type === 'f64' ? 8 : 4
  const [out, , before, size, after] = pointers(f, 5)
  const [row, left] = f.locals('i32', 2)
  const [count, v] = f.locals('v128', 2)
  const increase = (by: number): FunctionBuilder => f.op(OP.i32x4_add, count, () => f.i32x4Const(by)).set(count)
  const times = (n: Operand, body: () => void): void => void f.set(left, n).ifThen(left, () => f.countDown(left, body))
  const vectors =
    (n: Local): Operand =>
    () =>
      f.op(OP.i32_div_u, n, lanes)
  const rest =
    (n: Local): Operand =>
    () =>
      f.op(OP.i32_rem_u, n, lanes)
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
  f.countDown(before, () => {
    if (last) {
      f.v128Const(new Uint8Array(Int32Array.of(0, 1, 2, 3).buffer)).set(count)
      times(vectors(size), () => {
        converted()
        store(false)
        increase(lanes)
      })
      times(rest(size), () => {
        converted()
        store(true)
        increase(1)
      })
      return
    }
    f.i32x4Const(0).set(count)
    f.set(row, size).countDown(row, () => {
      converted()
      times(vectors(after), () => store(false))
      times(rest(after), () => store(true))
      increase(1)
    })
  })
}
