/**
 * What a function takes beside its arrays, as data: for each option its kind, which says what may be given, how it is checked and what it is where it is left out. Types, checks,
 * messages and tests follow from that one declaration.
 */

import type { DType } from '../types/dtype.js'
import {
  computed,
  dtypeOf,
  flagOf,
  functionOf,
  integerOf,
  integersOf,
  listOf,
  type Names,
  numberOf,
  optionsOf,
  recordOf,
  settled,
  shown,
} from './check-arguments.js'
import { badInput } from './explain.js'

/** How one option or argument is read: what a user gives as G (or leaves out) is a T. `shape` is that of the first array, where there is one. */
export interface Kind<T, G = T> {
  readonly read: (given: unknown, what: string, where: string, shape: readonly number[]) => T
  /** Is the value kept as it is? Lists in any other are read once. */
  readonly untouched?: true
  /** The type of what is given: no value has it. */
  readonly takes?: G
}
/** The options of a function, by name. */
export type Options = Readonly<Record<string, Kind<unknown, unknown>>>
/** One that must be given. */
export interface Needed<T, G = T> extends Kind<T, G> {
  readonly needed: true
}
type Given<K> = K extends Kind<unknown, infer G> ? G : never
type Left<O> = { readonly [K in keyof O]?: (O[K] extends Kind<unknown, unknown> ? O[K]['takes'] : never) | undefined }
type Must<O, N extends keyof O> = { readonly [K in N]: Given<O[K]> }
type NeededIn<O> = { [K in keyof O]: O[K] extends Needed<unknown, unknown> ? K : never }[keyof O]
/** What a user may give for declared options. @example OptionsOf<{ squared: Kind<boolean> }>   // { readonly squared?: boolean | undefined } */
export type OptionsOf<O> = [Extract<O[keyof O], { readonly needed: true }>] extends [never]
  ? Left<O>
  : Must<O, NeededIn<O>> & Left<Pick<O, Exclude<keyof O, NeededIn<O>>>>
/** The declaration of options whose type is written out, since it has parameters: `satisfies OptionsFor<...>` holds it to every name, and no other. */
export type OptionsFor<I> = { readonly [K in keyof Required<I>]: Kind<unknown, unknown> }
/** What a function reads of declared options, or of declared arguments. */
export type ReadOf<O> = { readonly [K in keyof O]: O[K] extends Kind<infer T, unknown> ? T : never }

/** A kind of its own; what is not given is undefined. */
export const kind = <T, G = T>(read: Kind<T, G>['read']): Kind<T, G> => ({ read })
/** One that must be given: `read` says so of undefined too. */
export const needed = <T, G = T>(read: Kind<T, G>['read']): Needed<T, G> => ({ read, needed: true })
/** What is not given is `standard`; anything else is read. */
export const or = <T, D extends T | undefined, G = T>(
  standard: D,
  read: Kind<T>['read'],
): Kind<T | (D extends undefined ? undefined : never), G> => ({
  read: (given, what, where, shape) => (given === undefined ? (standard as never) : read(given, what, where, shape)),
})

/** True or false. */
export const flag = (standard = false): Kind<boolean> => ({
  read: (given, what, where) => (given === undefined ? standard : flagOf(given, what, where)),
})
/** True, false, or undefined. */
export const maybe: Kind<boolean | undefined, boolean> = /*#__PURE__*/ or<boolean, undefined>(undefined, flagOf)
/** Which numbers are taken: above, or from (and up to), these. */
export interface Range {
  readonly above?: number
  readonly from?: number
  readonly to?: number
  /** What to give, in words; the range itself unless it is said. */
  readonly fix?: string
}
const held = (x: number, { above, from, to, fix }: Range, what: string, where: string, whole: string): number => {
  if ((above === undefined || x > above) && (from === undefined || x >= from) && (to === undefined || x <= to)) return x
  const low = above === undefined ? (from === undefined ? '' : ` from ${from}`) : ` above ${above}`
  return badInput(where, `${what} is ${x}.`, fix ?? `give a ${whole}number${low}${to === undefined ? '' : ` up to ${to}`}.`)
}
/** A number, NaN and infinities included unless a range leaves them out. */
export const number = <D extends number | undefined = undefined>(
  standard?: D,
  range: Range = {},
): Kind<number | (D extends undefined ? undefined : never), number> =>
  or<number, D>(standard as D, (given, what, where) => held(numberOf(given, what, where), range, what, where, ''))
/** A whole number. */
export const integer = <D extends number | undefined = undefined>(
  standard?: D,
  range: Range = {},
): Kind<number | (D extends undefined ? undefined : never), number> =>
  or<number, D>(standard as D, (given, what, where) => held(integerOf(given, what, where), range, what, where, 'whole '))
/** An array of whole numbers. */
export const integers = <D extends readonly number[] | undefined = undefined>(
  standard?: D,
): Kind<readonly number[] | (D extends undefined ? undefined : never), readonly number[]> =>
  or<readonly number[], D>(standard as D, integersOf)
/** Raises: what was given is none, and what to give. */
export const refused = (given: unknown, what: string, where: string, fix: string): never =>
  badInput(where, `${what} is ${shown(given)}.`, fix)
const quoted = (all: readonly string[]): string => all.map((m) => `'${m}'`).join(', ')
/** One of some texts, which `what` they are in the message. */
export const choice = <const T extends string, D extends T | undefined = undefined>(
  all: readonly T[],
  standard?: D,
  noun?: string,
): Kind<T | (D extends undefined ? undefined : never), T> =>
  or<T, D>(standard as D, (given, what, where) =>
    all.includes(given as T)
      ? (given as T)
      : badInput(
          where,
          noun === undefined ? `${what} is ${shown(given)}.` : `there is no ${noun} ${shown(given)}.`,
          noun === undefined ? `give ${quoted(all).replace(/, (?=[^,]*$)/, ' or ')}.` : `${noun}s are ${quoted(all)}.`,
        ),
  )
/** One of some texts, or undefined; the message lists them as `use one of`. */
export const oneOf = <const T extends string>(...all: readonly T[]): Kind<T | undefined, T> =>
  or<T, undefined>(undefined, (given, what, where) =>
    all.includes(given as T) ? (given as T) : refused(given, what, where, `use one of ${all.join(', ')}.`),
  )
/** A dtype. */
export const dtype = <D extends DType | undefined = undefined>(
  standard?: D,
): Kind<DType | (D extends undefined ? undefined : never), DType> =>
  or<DType, D>(standard as D, (given, _what, where) => dtypeOf(given, where))
/** A function. */
export const func = <F, D extends F | undefined = undefined>(standard?: D): Kind<F | (D extends undefined ? undefined : never), F> =>
  or<F, D>(standard as D, (given, what, where) => functionOf(given as F, what, where))
/** A function that must be given, `noun` in the message. */
export const callback = <F>(noun?: string): Kind<F> => kind((f, what, where) => functionOf(f as F, noun ?? what, where))
/** An object with names. */
export const object = <R, D extends R | undefined = undefined>(standard?: D): Kind<R | (D extends undefined ? undefined : never), R> =>
  or<R, D>(standard as D, (given, what, where) => recordOf(given as R, what, where))
/** An array of anything. */
export const list = <T = unknown>(): Kind<readonly T[] | undefined, readonly T[]> =>
  or<readonly T[], undefined>(undefined, (given, what, where) => listOf(given, what, where) as readonly T[])
/** Whatever is given, lists in it read once: what reads it checks it. */
export const raw = <G = unknown, D extends G | undefined = undefined>(
  standard?: D,
): Kind<G | (D extends undefined ? undefined : never), G> =>
  or<G, D>(standard as D, (given, what, where) => settled(given as G, what, where))

/** As `raw`, of what must be given: what reads it says so. */
export const must = <G>(): Needed<G> => needed((given, what, where) => settled(given as G, what, where))
/** A part of a declaration: what is made of it checks it, with the parts beside it. */
export const part: Kind<unknown> = /*#__PURE__*/ raw()
/** Whatever is given, itself: a state, a template. */
export const untouched = <G = unknown>(): Kind<G | undefined, G> => ({ read: (given) => given as G | undefined, untouched: true })

const nothing: Readonly<Record<string, unknown>> = Object.freeze({})
const scalar: readonly number[] = Object.freeze([])
/** What reads these options, of what is given where; the shape is that of the first array. */
export const readerOf = <O extends Options>(declared: O): ((given: unknown, where: string, shape?: readonly number[]) => ReadOf<O>) => {
  const names = Object.keys(declared)
  const kinds = Object.values(declared)
  return (given, where, shape = scalar) => {
    const read =
      given === undefined
        ? nothing
        : optionsOf(given as Record<string, unknown>, declared as unknown as Names<Record<string, unknown>>, where)
    const out: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!
      out[name] = kinds[i]!.read(read[name], name, where, shape)
    }
    return out as ReadOf<O>
  }
}
/** Reads the options that were given. */
export const readOptions = <O extends Options>(declared: O, given: unknown, where: string, shape?: readonly number[]): ReadOf<O> =>
  readerOf(declared)(given, where, shape)
/** Reads the options that were given, and those alone: what is handed on, or written out, has no others. */
export const readGiven = <O extends Options>(
  declared: O,
  given: unknown,
  where: string,
): { readonly [K in keyof O]?: Exclude<ReadOf<O>[K], undefined> } => {
  const read = Object.entries(readOptions(declared, given, where)).filter(([, x]) => x !== undefined)
  return Object.fromEntries(read) as { readonly [K in keyof O]?: Exclude<ReadOf<O>[K], undefined> }
}
/** A whole number that cannot be left out. */
export const whole = (range: Range = {}): Needed<number> =>
  needed((given, what, where) => held(integerOf(given, what, where), range, what, where, 'whole '))
/** A whole number that must be given, from 0 unless a range says otherwise; the words are those of what is none. */
export const wholeNumber = ({ from = 0, to = Infinity }: Range, reason: (given: unknown) => string, fix: string): Needed<number> =>
  needed((given, _what, where) =>
    Number.isInteger(given) && (given as number) >= from && (given as number) <= to
      ? (given as number)
      : badInput(where, reason(given), computed(given) ?? fix),
  )
