/** Comparisons, tests and logic: bool results, never differentiated. */
import { castNode } from '../graph/cast.js'
import { apply, asExpr } from '../graph/expr.js'
import { lift, liftPair } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive, type Sample } from '../graph/primitive.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import type { BinaryToOp, LogicalOp, UnaryToOp } from '../types/signatures/elementwise.js'
import { elementwisePrimitive, elementwiseShape } from './lifted.js'

const family = 'compare'
/** Small integers, so that equal pairs occur; and values that are not finite. */
const samples = (arity: number, dtypes: readonly DType[]): readonly Sample<NoParams>[] => {
  const of = (shapes: readonly (readonly number[])[], dtype: DType): Sample<NoParams> => ({
    args: Array.from({ length: arity }, (_, i) => {
      const shape = shapes[i % shapes.length]!
      const size = shape.reduce((a, b) => a * b, 1)
      return {
        shape,
        dtype,
        values: Array.from({ length: size }, (_, k) => (dtype === 'bool' ? (k >> i) & 1 : ((k * (i + 2) + i) % 5) - 2)),
      }
    }),
    params: NO_PARAMS,
  })
  return dtypes.flatMap((d) => [
    of([[]], d),
    of([[6]], d),
    of([[0]], d),
    of([[2, 3], [3]], d),
    of(
      [
        [2, 1],
        [1, 4],
      ],
      d,
    ),
  ])
}
const numbers: readonly DType[] = ['f64', 'f32', 'i32', 'bool']

const comparison = <const N extends string>(name: N, holds: (a: number, b: number) => boolean): BinaryToOp<N, 'bool'> => {
  const prim: Primitive<N, NoParams, readonly ['float', 'float']> = primitive({
    ...elementwisePrimitive(['float', 'float'] as const, {
      name,
      scalar: (a, b) => (holds(a!, b!) ? 1 : 0),
      result: 'bool',
      family,
      extremes: [0, -0, Number.NaN, Number.POSITIVE_INFINITY],
      source: 'IEEE 754, 5.11',
    }),
    samples: samples(2, numbers),
  })
  const f = (a: unknown, b: unknown): AnyExpr => {
    const [x, y] = liftPair(a, b, name, 'order')
    return asExpr(apply(prim, [x, y], NO_PARAMS))
  }
  return typed(Object.assign(f, { primitive: prim }))
}
const test = <const N extends string>(name: N, holds: (x: number) => boolean): UnaryToOp<N, 'bool'> => {
  const prim: Primitive<N, NoParams, readonly ['float']> = primitive({
    ...elementwisePrimitive(['float'] as const, {
      name,
      scalar: (x) => (holds(x!) ? 1 : 0),
      result: 'bool',
      family,
      extremes: [0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
      source: 'IEEE 754, 5.7.2',
    }),
    samples: [
      ...samples(1, numbers),
      { args: [{ shape: [4], values: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1] }], params: NO_PARAMS },
    ],
  })
  return typed(Object.assign((x: unknown): AnyExpr => asExpr(apply(prim, [lift(x, name)], NO_PARAMS)), { primitive: prim }))
}

/**
 * a = b; NaN equals nothing.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example eq([1, 2], 2)   // [false, true]
 */
export const eq: BinaryToOp<'eq', 'bool'> = comparison('eq', (a, b) => a === b)
/**
 * a != b; NaN differs from everything.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example ne([1, 2], 2)   // [true, false]
 */
export const ne: BinaryToOp<'ne', 'bool'> = comparison('ne', (a, b) => a !== b)
/**
 * a < b.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example lt([1, 2], 2)   // [true, false]
 */
export const lt: BinaryToOp<'lt', 'bool'> = comparison('lt', (a, b) => a < b)
/**
 * a <= b.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example le([1, 3], 2)   // [true, false]
 */
export const le: BinaryToOp<'le', 'bool'> = comparison('le', (a, b) => a <= b)
/**
 * a > b.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example gt([1, 3], 2)   // [false, true]
 */
export const gt: BinaryToOp<'gt', 'bool'> = comparison('gt', (a, b) => a > b)
/**
 * a >= b.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example ge([1, 2], 2)   // [false, true]
 */
export const ge: BinaryToOp<'ge', 'bool'> = comparison('ge', (a, b) => a >= b)
/**
 * Is x not a number?
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example isnan([1, NaN])   // [false, true]
 */
export const isnan: UnaryToOp<'isnan', 'bool'> = test('isnan', Number.isNaN)
/**
 * Is x a finite number?
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  IEEE 754.
 * @example isfinite([1, Infinity, NaN])   // [true, false, false]
 */
export const isfinite: UnaryToOp<'isfinite', 'bool'> = test('isfinite', Number.isFinite)

const logic = <const N extends string, const A extends readonly 'int'[]>(
  name: N,
  args: A,
  scalar: (...xs: number[]) => number,
): Primitive<N, NoParams, A> =>
  primitive({
    ...elementwisePrimitive(args, { name, scalar, result: 'bool', family, args, source: 'NumPy' }),
    dtypes: args.map(() => 'bool' as const),
    shapeRule: elementwiseShape(name, 'bool'),
    samples: samples(args.length, ['bool']),
  })
const truth = (x: unknown, name: string) => castNode(lift(x, name), 'bool')

const andPrimitive = logic('logicalAnd', ['int', 'int'] as const, (a, b) => (a !== 0 && b !== 0 ? 1 : 0))
const orPrimitive = logic('logicalOr', ['int', 'int'] as const, (a, b) => (a !== 0 || b !== 0 ? 1 : 0))
const notPrimitive = logic('logicalNot', ['int'] as const, (x) => (x === 0 ? 1 : 0))
/**
 * a and b. Numbers count as true unless they are 0.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  NumPy logical_and.
 * @example and([1, 0], [1, 1])   // [true, false]
 */
export const and: LogicalOp<'and', 'logicalAnd'> = typed(
  Object.assign((a: unknown, b: unknown): AnyExpr => asExpr(apply(andPrimitive, [truth(a, 'and'), truth(b, 'and')], NO_PARAMS)), {
    primitive: andPrimitive,
  }),
)
/**
 * a or b. Numbers count as true unless they are 0.
 *
 * Shapes  a and b broadcast.   Dtype  bool.   Rule  none: NoTangent.   Source  NumPy logical_or.
 * @example or([1, 0], [0, 0])   // [true, false]
 */
export const or: LogicalOp<'or', 'logicalOr'> = typed(
  Object.assign((a: unknown, b: unknown): AnyExpr => asExpr(apply(orPrimitive, [truth(a, 'or'), truth(b, 'or')], NO_PARAMS)), {
    primitive: orPrimitive,
  }),
)
/**
 * not x. Numbers count as true unless they are 0.
 *
 * Dtype  bool.   Rule  none: NoTangent.   Source  NumPy logical_not.
 * @example not([1, 0])   // [false, true]
 */
export const not: UnaryToOp<'logicalNot', 'bool', readonly ['int']> = typed(
  Object.assign((x: unknown): AnyExpr => asExpr(apply(notPrimitive, [truth(x, 'not')], NO_PARAMS)), { primitive: notPrimitive }),
)
