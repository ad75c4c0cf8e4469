/** Totals of the kernel gradient by minimal filtering (conv-winograd-kernel.ts): how sums in f32 are added to them, and what they become. */
import type { Layout } from './conv-winograd-kernel.js'
import type { FunctionBuilder, Local, Op, Operand } from './encoder.js'
import { address } from './float.js'
import * as OP from './opcodes.js'

/** Adds the sums of elements to their totals. */
export const addSums = (f: FunctionBuilder, at: Layout, sums: Operand, totals: Operand): void => {
  const [from, next, to, element, left] = f.locals('i32', 5)
  f.set(next, sums).set(to, totals)
  f.set(element, at.elements).countDown(element, () => {
    f.set(from, next)
    f.set(left, Math.floor(at.weights / 2)).countDown(left, () => {
      f.get(to)
      f.op(
        OP.f64x2_add,
        () => f.get(to).v128Load(),
        () => f.get(from).v128Load64Zero().op(OP.f64x2_promote_low_f32x4),
      )
      f.v128Store()
      f.increment(from, 8).increment(to, 16)
    })
    if (at.weights % 2 === 1) {
      f.get(to)
      f.op(
        OP.f64_add,
        () => f.get(to).f64Load(),
        () => f.get(from).f32Load().op(OP.f64_promote_f32),
      )
      f.f64Store()
      f.increment(to, 8)
    }
    f.increment(next, at.ofKernel)
  })
}
/** dK (+)= G^T u G of so many output channels, from their totals, in f64. */
export const emitResults = (
  f: FunctionBuilder,
  at: Layout,
  totals: Operand,
  dK: Local,
  outputs: number | Local,
  accumulate: boolean,
): void => {
  const [from, to, left] = f.locals('i32', 3)
  const [u0, u1, u2, u3, sum, difference] = f.locals('f64', 6)
  const columns = Array.from({ length: 4 }, () => f.locals('f64', 3))
  /** G^T times four numbers: u0 + (u1 + u2) / 2, (u1 - u2) / 2, (u1 + u2) / 2 + u3. */
  const folded = (use: (i: number, value: () => void) => void): void => {
    const half = (code: Op) => () => {
      f.op(
        OP.f64_mul,
        () => f.op(code, u1, u2),
        () => f.f64Const(0.5),
      )
    }
    f.set(sum, half(OP.f64_add)).set(difference, half(OP.f64_sub))
    use(0, () => f.op(OP.f64_add, u0, sum))
    use(1, () => f.get(difference))
    use(2, () => f.op(OP.f64_add, sum, u3))
  }
  const u = [u0, u1, u2, u3]
  f.set(from, totals).set(to, dK)
  f.set(left, address(f).mul(outputs, at.g.inputs)).countDown(left, () => {
    for (const [q, column] of columns.entries()) {
      for (const [r, x] of u.entries())
        f.get(from)
          .f64Load(8 * at.weights * (4 * r + q))
          .set(x)
      folded((i, value) => f.set(column[i]!, value))
    }
    for (let r = 0; r < 3; r++) {
      for (const [q, x] of u.entries()) f.set(x, columns[q]![r]!)
      folded((i, value) => {
        const offset = 4 * (3 * r + i)
        f.get(to).push(value)
        if (accumulate) f.op(OP.f64_add, () => f.get(to).f32Load(offset).op(OP.f64_promote_f32))
        f.op(OP.f32_demote_f64).f32Store(offset)
      })
    }
    f.increment(from, 8).increment(to, 36)
  })
}
