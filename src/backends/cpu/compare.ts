/** The CPU facet of the compare family: masks as wide as the loop's lanes. */
import type { compare } from '../../core/ops/families.js'
import type { ScalarContext, ScalarKernel } from './kernel.js'
import type { Local, Op, Operand } from './wasm/encoder.js'
import * as OP from './wasm/opcodes.js'
import type { Vec } from './wasm/vec.js'

type Name = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

/** Masks of 32-bit lanes are widened where the loop's lanes are 64 bits wide. */
const widened = (c: ScalarContext): void => {
  if (c.from[0] !== 'f64' && c.lanes.lanes === 2) c.lanes.widen()
}
/** The comparison of two masks, by logic. */
const ofMasks = ({ v: { f } }: ScalarContext, name: Name, a: Local, b: Local): void => {
  const not =
    (x: Operand): Operand =>
    () =>
      f.op(OP.v128_not, x)
  if (name === 'eq') f.push(not(() => f.op(OP.v128_xor, a, b)))
  else if (name === 'ne') f.op(OP.v128_xor, a, b)
  else if (name === 'lt') f.op(OP.v128_andnot, b, a)
  else if (name === 'gt') f.op(OP.v128_andnot, a, b)
  else if (name === 'le') f.op(OP.v128_or, not(a), b)
  else f.op(OP.v128_or, a, not(b))
}
const comparison =
  (name: Name, integer: Op): ScalarKernel =>
  (c) => {
    const [a, b] = c.x as readonly [Local, Local]
    if (c.from[0] === 'bool') return ofMasks(c, name, a, b)
    if (c.from[0] === 'i32') c.v.f.op(integer, a, b)
    else c.v.push(c.v.compare(name, a, b))
    widened(c)
  }
/** A test that only floats can meet, or fail: `whole` is the answer for integers and booleans. */
const test =
  (f: (v: Vec, x: Local) => Operand, whole: boolean): ScalarKernel =>
  (c) => {
    const d = c.from[0]!
    if (d === 'i32' || d === 'bool') c.v.f.i32x4Const(whole ? -1 : 0)
    else {
      c.v.push(f(c.v, c.x[0]!))
      widened(c)
    }
  }
const logical =
  (code: Op): ScalarKernel =>
  (c) =>
    void c.v.f.op(code, ...c.x)

/** One row per primitive of the family `compare`. */
export const compareKernels: { readonly [K in keyof typeof compare]: ScalarKernel } = {
  eq: comparison('eq', OP.i32x4_eq),
  ne: comparison('ne', OP.i32x4_ne),
  lt: comparison('lt', OP.i32x4_lt_s),
  le: comparison('le', OP.i32x4_le_s),
  gt: comparison('gt', OP.i32x4_gt_s),
  ge: comparison('ge', OP.i32x4_ge_s),
  isnan: test((v, x) => v.compare('ne', x, x), false),
  isfinite: test((v, x) => v.compare('lt', v.abs(x), v.c(Number.POSITIVE_INFINITY)), true),
  logicalAnd: logical(OP.v128_and),
  logicalOr: logical(OP.v128_or),
  logicalNot: logical(OP.v128_not),
}
