/** Compositions of elementwise operations: bounds, fused products, units of angles. */
import { badInput } from '../../core/errors/explain.js'
import { reading } from '../../core/errors/language.js'
import { typed } from '../../core/graph/operation.js'
import { add, maximum, minimum, mul } from '../../core/ops/arithmetic.js'
import { arraysOf } from '../../core/ops/arrays.js'
import { floats, numbers, operation } from '../../core/ops/operation.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { ClampFn, FloatUnary, Ternary } from '../../core/types/signatures/elementwise.js'

/** Is one of these an object of plain JavaScript, as options are? */
const recordsIn = (xs: readonly unknown[]): boolean =>
  reading('clamp', () =>
    xs.some((x) => typeof x === 'object' && x !== null && Object.getPrototypeOf(x) === Object.prototype && !('_tag' in x)),
  )
/**
 * x clamped to [low, high]: minimum(maximum(x, low), high); a bound that is null or left out does not apply.
 *
 * Shapes  all broadcast.   Dtype  promoted; i32 and bool stay.   Rule  the cotangent passes inside; at a bound, half of it.   Source  NumPy clip.
 * Errors  BadInput for an object in place of a bound.
 * @example
 * clamp([-1, 0.5, 2], 0, 1)      // [0, 0.5, 1]
 * clamp([-1, 0.5, 2], null, 1)   // [-1, 0.5, 1]
 */
export const clamp: ClampFn = typed((x: unknown, low?: unknown, high?: unknown): AnyExpr => {
  if (recordsIn([low, high])) badInput('clamp', 'an object where a bound may stand.', 'write clamp(x, low, high); null is no bound.')
  const [below, above] = [low ?? undefined, high ?? undefined]
  const bounds = [below, above].filter((b) => b !== undefined)
  const [y, a, b] = arraysOf([x, ...bounds], 'clamp', 'order') as [AnyExpr, AnyExpr, AnyExpr]
  if (bounds.length === 0) return y
  if (below === undefined) return minimum(y, a)
  return above === undefined ? maximum(y, a) : minimum(maximum(y, a), b)
})
/**
 * a b + c, rounded twice (not fused).
 *
 * Shapes  all broadcast.   Dtype  promoted; i32 stays.   Rule  dy = b da + a db + dc.   Source  IEEE 754.
 * @example fma([2, 3], 4, 1)   // [9, 13]
 */
export const fma: Ternary<'fma'> = operation('fma', { a: numbers, b: numbers, c: numbers }, {}, ({ a, b, c }) => add(mul(a, b), c))
const scaled = (name: string, by: number): FloatUnary => operation(name, { x: floats }, {}, ({ x }) => mul(x, by))
/**
 * Radians as degrees: 180 x / pi.
 *
 * Rule  dy = 180 dx / pi.   Source  NumPy degrees.
 * @example degrees([0])   // [0]
 */
export const degrees: FloatUnary = scaled('degrees', 180 / Math.PI)
/**
 * Degrees as radians: pi x / 180.
 *
 * Rule  dy = pi dx / 180.   Source  NumPy radians.
 * @example radians([0])   // [0]
 */
export const radians: FloatUnary = scaled('radians', Math.PI / 180)
