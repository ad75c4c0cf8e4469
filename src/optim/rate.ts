/** Rates: a number, a scalar expression, or a schedule of the count of steps; and the checks of options. */
import { functionOf, numberOf, shown } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { type Kind, type Needed, needed, or } from '../core/errors/options.js'
import { type AnyExpr, cast, type Expr, type Float, full, isExpr, isTensor } from '../index.js'

type ScalarOf<D extends Float = Float> = Expr<[], D>
/** A factor that is a number, a scalar expression, or a function of the count of steps done (a float scalar, 0 at the first). */
export type Rate = number | ScalarOf | ((count: Expr<[], Float>) => Expr<[], Float> | number)

/** Raises unless x is a number or a scalar. */
const scalarOf = (x: unknown, what: string, op: string): number | AnyExpr => {
  if (typeof x === 'number') return Number.isNaN(x) ? badInput(op, `${what} is NaN.`) : x
  if (!isExpr(x) && !isTensor(x)) return badInput(op, `${what} must be a number, a scalar expression or a schedule, not ${shown(x)}.`)
  const shape: readonly number[] = x.shape
  if (shape.length === 0) return x as AnyExpr
  return badShape(op, [shape], `${what} must be a scalar, and has shape [${shape.join(', ')}].`, 'give one number.')
}

/** A rate at a count of steps, in a dtype. */
export const rateAt = (rate: unknown, count: AnyExpr, dtype: Float, what: string, op: string): AnyExpr => {
  const x = scalarOf(typeof rate === 'function' ? rate(cast(count, dtype)) : rate, what, op)
  return typeof x === 'number' ? full([], x, dtype) : x.dtype === dtype ? x : cast(x, dtype)
}

/** A rate, checked as far as it can be before it is used. */
export const rateOf = (given: unknown, what: string, op: string): unknown =>
  typeof given === 'function' ? functionOf(given, what, op) : scalarOf(given, what, op)

/** A number from `low` on (0 unless given). */
export const atLeast = (given: unknown, what: string, op: string, low = 0): number =>
  numberOf(given, what, op) >= low ? (given as number) : badInput(op, `${what} must be at least ${low}, not ${shown(given)}.`)
/** A number in [0, 1). */
export const fraction = (given: unknown, what: string, op: string): number =>
  atLeast(given, what, op) < 1 ? (given as number) : badInput(op, `${what} must be below 1, not ${shown(given)}.`)
/** A whole number from `low` on. */
export const wholeFrom = (given: unknown, low: number, what: string, op: string): number =>
  Number.isSafeInteger(given) && (given as number) >= low
    ? (given as number)
    : badInput(op, `${what} must be a whole number of at least ${low}, not ${shown(given)}.`)

/** The option of a rate, which must be given. */
export const aRate: Needed<unknown, Rate> = needed(rateOf)
/** Of a number from `low` on. */
export const amount = (standard: number, low = 0): Kind<number> => or(standard, (given, what, op) => atLeast(given, what, op, low))
/** Of a number in [0, 1). */
export const share = (standard: number): Kind<number> => or(standard, fraction)
/** Of a number above 0, up to 1. */
export const upToOne = (standard: number): Kind<number> =>
  or(standard, (given, what, op) => {
    const x = numberOf(given, what, op)
    return x > 0 && x <= 1 ? x : badInput(op, `${what} is ${x}.`, 'give a number above 0 up to 1.')
  })
/** Of a whole number from `low` on. */
export const whole = (low: number, standard: number): Kind<number> => or(standard, (given, what, op) => wholeFrom(given, low, what, op))
/** Of one that must be given. */
export const wholeNeeded = (low: number): Needed<number> => needed((given, what, op) => wholeFrom(given, low, what, op))
