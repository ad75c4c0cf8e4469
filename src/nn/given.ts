/** What layers are told, checked. */
import { integerOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { choice, type Kind, kind, raw } from '../core/errors/options.js'
import { type Float, f32, f64, type Spec } from '../index.js'
import type { Initials } from './init.js'

/** A declared input of a float dtype. */
export const floatSpec = <const S extends readonly number[], D extends Float>(dtype: D, shape: S): Spec<[...S], D> =>
  (dtype === 'f32' ? f32 : f64)(...shape) as unknown as Spec<[...S], D>
/** A size: a whole number from 1 on. */
export const sizeIn = (given: unknown, what: string, op: string): number => {
  const n = integerOf(given as number, what, op)
  return n >= 1 ? n : badInput(op, `${what} is ${shown(given)}.`, 'give a positive integer.')
}
/** f32 or f64: f32 unless given, as networks are. */
export const floatOption: Kind<Float, Float> = choice(['f32', 'f64'], 'f32')
/** How parameters are initialised, by name. */
export const initials: Kind<Initials | undefined, Initials> = raw<Initials>()
/** A size that may be given. */
export const sizeOption = (standard: number): Kind<number> =>
  kind((given, what, op) => (given === undefined ? standard : sizeIn(given, what, op)))
/** A probability below 1. */
export const rateIn = (given: unknown, what: string, op: string): number =>
  typeof given === 'number' && given >= 0 && given < 1
    ? given
    : badInput(op, `${what} is ${shown(given)}.`, 'give a probability: 0 <= rate < 1.')
/** Leading axes: a list of sizes, or one size. */
export const leadingAxes = (given: unknown, op: string): readonly number[] =>
  Array.isArray(given) ? given.map((n, i) => sizeIn(n, `axis ${i} of the batch`, op)) : [sizeIn(given, 'batch', op)]
