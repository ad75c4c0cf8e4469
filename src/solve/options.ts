/** What solvers are told beside functions and arrays, checked. */
import { integerOf, numberOf, shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'

/** A whole number from 1. */
export const wholeOf = (given: unknown, what: string, op: string): number => {
  const n = integerOf(given, what, op)
  return n >= 1 ? n : raise({ _tag: 'BadInput', where: op, reason: `${what} is ${n}, it must be 1 or more.` })
}
/** A positive number. */
export const positiveOf = (given: unknown, what: string, op: string): number => {
  const x = numberOf(given, what, op)
  return x > 0 && x < Number.POSITIVE_INFINITY
    ? x
    : raise({ _tag: 'BadInput', where: op, reason: `${what} is ${x}, it must be positive and finite.` })
}
/** One of some words. */
export const oneOf = <W extends string>(given: unknown, words: readonly W[], what: string, op: string): W =>
  words.find((w) => w === given) ??
  raise({
    _tag: 'BadInput',
    where: op,
    reason: `${what} is ${shown(given)}.`,
    fix: `give one of ${words.map((w) => `'${w}'`).join(', ')}.`,
  })
