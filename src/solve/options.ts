/** What solvers are told beside functions and arrays, checked. */
import { integerOf, numberOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type Kind, or } from '../core/errors/options.js'

/** A whole number from 1. */
export const wholeOf = (given: unknown, what: string, op: string): number => {
  const n = integerOf(given, what, op)
  return n >= 1 ? n : badInput(op, `${what} is ${n}, it must be 1 or more.`)
}
/** A positive number. */
export const positiveOf = (given: unknown, what: string, op: string): number => {
  const x = numberOf(given, what, op)
  return x > 0 && x < Number.POSITIVE_INFINITY ? x : badInput(op, `${what} is ${x}, it must be positive and finite.`)
}
/** The options of a tolerance and of a number of steps, each with a standard or none. */
export const positive: Kind<number | undefined, number> = or(undefined, positiveOf)
export const whole = (standard: number): Kind<number> => or(standard, wholeOf)
export const wholeOrNone: Kind<number | undefined, number> = or(undefined, wholeOf)
