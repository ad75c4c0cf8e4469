/** Predicates: booleans, never differentiated. */
import { castNode } from '../cast.js'
import { elementwise } from '../elementwise.js'
import { apply, asExpr } from '../expr.js'
import { lift, liftPair } from '../lift.js'
import { NO_PARAMS } from '../primitive.js'
import type { AnyExpr } from '../types/expr.js'

const comparison = <const N extends string>(name: N, f: (a: number, b: number) => boolean) => {
  const primitive = elementwise(['int', 'int'] as const, { name, family: 'compare', scalar: (a, b) => (f(a!, b!) ? 1 : 0), result: 'bool', source: 'IEEE 754' })
  const op = (a: unknown, b: unknown): AnyExpr => asExpr(apply(primitive, liftPair(a, b, name), NO_PARAMS))
  return Object.assign(op, { primitive })
}
const predicate = <const N extends string>(name: N, f: (x: number) => boolean) => {
  const primitive = elementwise(['int'] as const, { name, family: 'compare', scalar: (x) => (f(x!) ? 1 : 0), result: 'bool', source: 'IEEE 754' })
  return Object.assign((x: unknown): AnyExpr => asExpr(apply(primitive, [lift(x, name)], NO_PARAMS)), { primitive })
}
const connective = <const N extends string>(name: N, f: (a: boolean, b: boolean) => boolean) => {
  const primitive = elementwise(['int', 'int'] as const, { name, family: 'compare', scalar: (a, b) => (f(a !== 0, b !== 0) ? 1 : 0), result: 'bool', source: 'NumPy' })
  const op = (a: unknown, b: unknown): AnyExpr => asExpr(apply(primitive, [castNode(lift(a, name), 'bool'), castNode(lift(b, name), 'bool')], NO_PARAMS))
  return Object.assign(op, { primitive })
}

/** a = b. @example eq([1, 2], 2)   // [false, true] */
export const eq = comparison('eq', (a, b) => a === b)
/** a differs from b; NaN differs from everything. @example ne([1, 2], 2)   // [true, false] */
export const ne = comparison('ne', (a, b) => a !== b)
/** a < b. @example lt([1, 2], 2)   // [true, false] */
export const lt = comparison('lt', (a, b) => a < b)
/** a <= b. @example le([1, 3], 2)   // [true, false] */
export const le = comparison('le', (a, b) => a <= b)
/** a > b. @example gt([1, 3], 2)   // [false, true] */
export const gt = comparison('gt', (a, b) => a > b)
/** a >= b. @example ge([1, 2], 2)   // [false, true] */
export const ge = comparison('ge', (a, b) => a >= b)
/** Is x NaN? @example isnan([1, 0])   // [false, false] */
export const isnan = predicate('isnan', (x) => Number.isNaN(x))
/** Is x neither infinite nor NaN? @example isfinite([1, 0])   // [true, true] */
export const isfinite = predicate('isfinite', (x) => Number.isFinite(x))
/** Both. @example and([true, true], [true, false])   // [true, false] */
export const and = connective('logicalAnd', (a, b) => a && b)
/** Either. @example or([true, false], [false, false])   // [true, false] */
export const or = connective('logicalOr', (a, b) => a || b)
const notPrimitive = elementwise(['int'] as const, { name: 'logicalNot', family: 'compare', scalar: (x) => (x === 0 ? 1 : 0), result: 'bool', source: 'NumPy' })
/** Not x. @example not([true, false])   // [false, true] */
export const not = (x: unknown): AnyExpr => asExpr(apply(notPrimitive, [castNode(lift(x, 'not'), 'bool')], NO_PARAMS))

/** Primitives of this family, by name. */
export const compare = {
  eq: eq.primitive,
  ne: ne.primitive,
  lt: lt.primitive,
  le: le.primitive,
  gt: gt.primitive,
  ge: ge.primitive,
  isnan: isnan.primitive,
  isfinite: isfinite.primitive,
  logicalAnd: and.primitive,
  logicalOr: or.primitive,
  logicalNot: notPrimitive,
} as const
