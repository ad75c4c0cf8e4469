/** The CPU facet of the bitwise family: instructions on the 32-bit lanes. */
import type { bitwise } from '../../core/ops/families.js'
import { BITS, type ShiftByParams, type ShiftKind } from '../../core/ops/shift.js'
import type { ScalarContext, ScalarKernel } from './kernel.js'
import type { Op, Operand } from './wasm/encoder.js'
import * as OP from './wasm/opcodes.js'

const instruction =
  (code: Op): ScalarKernel =>
  (c) =>
    void c.v.f.op(code, ...c.x)

const moves: Readonly<Record<ShiftKind, Op>> = { left: OP.i32x4_shl, right: OP.i32x4_shr_s, logical: OP.i32x4_shr_u }
/**
 * A shift of each lane by a count of its own, which SIMD has not: by 16, 8, 4, 2 and 1 where the count has that bit. Counts from 32 on, as
 * unsigned numbers, leave zeros; of the sign, itself: a shift by 31.
 */
const lanewise =
  (kind: ShiftKind): ScalarKernel =>
  ({ v, x }: ScalarContext) => {
    const { f } = v
    const [value, given] = [x[0]!, x[1]!]
    const constant =
      (n: number): Operand =>
      () =>
        f.i32x4Const(n)
    const count: Operand = kind === 'right' ? () => f.op(OP.i32x4_min_u, given, constant(BITS - 1)) : given
    v.let(count, (n) =>
      v.let(value, (y) => {
        for (let k = 4; k >= 0; k--) {
          // All bits of a lane where its count has bit k: that bit moved to the sign, and the sign spread.
          const has: Operand = () => f.op(OP.i32x4_shr_s, () => f.op(OP.i32x4_shl, n, BITS - 1 - k), BITS - 1)
          const moved: Operand = () => f.op(moves[kind], y, 1 << k)
          v.set(y, v.select(has, moved, y))
        }
        if (kind === 'right') v.push(y)
        else v.push(v.and(y, () => f.op(OP.i32x4_lt_u, n, constant(BITS))))
      }),
    )
  }

/** One row per primitive of the family `bitwise`. */
export const bitwiseKernels: { readonly [K in keyof typeof bitwise]: ScalarKernel } = {
  bitwiseAnd: instruction(OP.v128_and),
  bitwiseOr: instruction(OP.v128_or),
  bitwiseXor: instruction(OP.v128_xor),
  bitwiseNot: instruction(OP.v128_not),
  leftShift: lanewise('left'),
  rightShift: lanewise('right'),
  rightShiftLogical: lanewise('logical'),
  shiftBy: (c) => {
    const { kind, count } = c.params as ShiftByParams
    c.v.f.op(moves[kind], c.x[0]!, count)
  },
}
