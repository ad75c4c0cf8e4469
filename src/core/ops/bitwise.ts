/** Operations on the bits of i32, in two's complement. None has a derivative. */
import { apply, asExpr, CONST, type Node } from '../graph/expr.js'
import { counted, liftDiscrete } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import type { BitwiseNotOp, BitwiseOp, ShiftOp } from '../types/signatures/elementwise.js'
import { and, ne, not, or } from './compare.js'
import { elementwiseShape, liftScalar } from './lifted.js'
import { BITS, integerPair, PATTERNS, type ShiftKind, shiftByPrimitive, shifts } from './shift.js'

type Pair<N extends string> = Primitive<N, NoParams, readonly ['int', 'int']>

/** A bool counts as 0 or 1. */
const bitsOf = (x: unknown, op: string): Node => counted(liftDiscrete(x, op))
/** Of two booleans it is what logic makes of them. */
const two = <const N extends string>(prim: Pair<N>, logic: (a: AnyExpr, b: AnyExpr) => AnyExpr): BitwiseOp<N> =>
  typed(
    Object.assign(
      (a: unknown, b: unknown): AnyExpr => {
        const [x, y] = [liftDiscrete(a, prim.name), liftDiscrete(b, prim.name)]
        if (x.dtype === 'bool' && y.dtype === 'bool') return logic(asExpr(x), asExpr(y))
        return asExpr(apply(prim, [counted(x), counted(y)], NO_PARAMS))
      },
      { primitive: prim },
    ),
  )
/** A shift by a literal is a primitive with that count, which backends know. */
const shift = <const N extends string>(prim: Pair<N>, kind: ShiftKind): ShiftOp<N> =>
  typed(
    Object.assign(
      (a: unknown, b: unknown): AnyExpr => {
        const [x, n] = [bitsOf(a, prim.name), bitsOf(b, prim.name)]
        const count = n.kind === CONST ? (n.payload as number) : -1
        if (x.kind === CONST || count < 0 || count >= BITS) return asExpr(apply(prim, [x, n], NO_PARAMS))
        return asExpr(count === 0 && x.aval.dtype === 'i32' ? x : apply(shiftByPrimitive, [x], { kind, count }))
      },
      { primitive: prim },
    ),
  )
const logical = 'NumPy bitwise_and, bitwise_or, bitwise_xor'
const shifting = 'NumPy left_shift, right_shift; JAX for counts outside of 0 to 31'
const COUNTS: readonly number[] = [0, 1, 5, 31, 32, -1, 40, 16]

/**
 * The bits that a and b both have.
 *
 * Shapes  a and b broadcast.   Dtype  i32; for two bools bool, their `and`.   Rule  none: NoTangent.   Source  NumPy bitwise_and.
 * Errors  DTypeMismatch for floats.
 * @example bitwiseAnd([12, -1], 10)   // [8, 10]
 */
export const bitwiseAnd: BitwiseOp<'bitwiseAnd'> = two(
  integerPair('bitwiseAnd', (a, b) => a & b, PATTERNS, [-1, -1], logical),
  and,
)
/**
 * The bits that a or b has.
 *
 * Shapes  a and b broadcast.   Dtype  i32; for two bools bool, their `or`.   Rule  none: NoTangent.   Source  NumPy bitwise_or.
 * Errors  DTypeMismatch for floats.
 * @example bitwiseOr([12, 0], 10)   // [14, 10]
 */
export const bitwiseOr: BitwiseOp<'bitwiseOr'> = two(
  integerPair('bitwiseOr', (a, b) => a | b, PATTERNS, [0, 0], logical),
  or,
)
/**
 * The bits that exactly one of a and b has.
 *
 * Shapes  a and b broadcast.   Dtype  i32; for two bools bool: do they differ?   Rule  none: NoTangent.   Source  NumPy bitwise_xor.
 * Errors  DTypeMismatch for floats.
 * @example bitwiseXor([12, -1], 10)   // [6, -11]
 */
export const bitwiseXor: BitwiseOp<'bitwiseXor'> = two(
  integerPair('bitwiseXor', (a, b) => a ^ b, PATTERNS, [0, 0], logical),
  ne,
)

const notPrimitive: Primitive<'bitwiseNot', NoParams, readonly ['int']> = primitive({
  name: 'bitwiseNot',
  family: 'bitwise',
  args: ['int'],
  class: 'elementwise',
  dtypes: ['i32'],
  shapeRule: elementwiseShape('bitwiseNot'),
  scalar: (x) => ~x!,
  meaning: ([x], _params, [out]) => liftScalar((v) => ~v!, [x!], out!),
  samples: [
    { args: [{ shape: [8], dtype: 'i32', values: PATTERNS }], params: NO_PARAMS },
    { args: [{ shape: [], dtype: 'i32', values: [5] }], params: NO_PARAMS },
    { args: [{ shape: [2, 0], dtype: 'i32', values: [] }], params: NO_PARAMS },
  ],
  source: 'NumPy bitwise_not',
})
/**
 * Every bit of x inverted: -1 - x; for a bool its `not`.
 *
 * Dtype  i32; bool stays bool.   Rule  none: NoTangent.   Source  NumPy bitwise_not.
 * Errors  DTypeMismatch for floats.
 * @example
 * bitwiseNot([0, 5])   // [-1, -6]
 * bitwiseNot([true])   // [false]
 */
export const bitwiseNot: BitwiseNotOp = typed(
  Object.assign(
    (x: unknown): AnyExpr => {
      const n = liftDiscrete(x, 'bitwiseNot')
      return n.dtype === 'bool' ? not(asExpr(n)) : asExpr(apply(notPrimitive, [n], NO_PARAMS))
    },
    { primitive: notPrimitive },
  ),
)

/**
 * The bits of x moved n places to the left, filled with zeros: x 2^n, wrapped. 0 unless n is from 0 to 31.
 *
 * Shapes  x and n broadcast.   Dtype  i32; bool counts as 0 or 1.   Rule  none: NoTangent.   Source  NumPy left_shift; JAX for other n.
 * Errors  DTypeMismatch for floats.
 * @example leftShift([1, 3], [4, 32])   // [16, 0]
 */
export const leftShift: ShiftOp<'leftShift'> = shift(integerPair('leftShift', shifts.left, COUNTS, [null, 0], shifting), 'left')
/**
 * The bits of x moved n places to the right, filled with copies of the sign: floor(x / 2^n). Only the sign remains unless n is from 0 to
 * 31.
 *
 * Shapes  x and n broadcast.   Dtype  i32; bool counts as 0 or 1.   Rule  none: NoTangent.   Source  NumPy right_shift; JAX for other n.
 * Errors  DTypeMismatch for floats.
 * @example rightShift([16, -3], [2, 32])   // [4, -1]
 */
export const rightShift: ShiftOp<'rightShift'> = shift(integerPair('rightShift', shifts.right, COUNTS, [null, 0], shifting), 'right')
/**
 * The bits of x moved n places to the right, filled with zeros. 0 unless n is from 0 to 31.
 *
 * Shapes  x and n broadcast.   Dtype  i32; bool counts as 0 or 1.   Rule  none: NoTangent.   Source  JAX shift_right_logical.
 * Errors  DTypeMismatch for floats.
 * @example rightShiftLogical([16, -1], [2, 28])   // [4, 15]
 */
export const rightShiftLogical: ShiftOp<'rightShiftLogical'> = shift(
  integerPair('rightShiftLogical', shifts.logical, COUNTS, [null, 0], shifting),
  'logical',
)
