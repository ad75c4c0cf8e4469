/**
 * What a function takes beside its arrays, as data: for each option its kind, which says what may be given, how it is checked and what it is where it is left out. Types, checks,
 * messages and tests follow from that one declaration.
 */

import type { DType } from '../types/dtype.js'
import {
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
import { raise } from './explain.js'

/** How one option or argument is read: what a user gives as G (or leaves out) is a T. `shape` is that of the first array, where there is one. */
export interface Kind<T, G = T> {
  readonly read: (given: unknown, what: string, where: string, shape: readonly number[]) => T
  /** The type of what is given: no value has it. */
  readonly takes?: G
}
/** The options of a function, by name. */
export type Options = Readonly<Record<string, Kind<unknown, unknown>>>
/** What a user may give for declared options. @example OptionsOf<{ squared: Kind<boolean> }>   // { readonly squared?: boolean | undefined } */
export type OptionsOf<O> = { readonly [K in keyof O]?: (O[K] extends Kind<unknown, infer G> ? G : never) | undefined }
/** What a function reads of declared options, or of declared arguments. */
export type ReadOf<O> = { readonly [K in keyof O]: O[K] extends Kind<infer T, unknown> ? T : never }

/** A kind of its own; what is not given is undefined. */
export const kind = <T, G = T>(read: Kind<T, G>['read']): Kind<T, G> => ({ read })
/** What is not given is `standard`. */
const or = <T, D extends T | undefined>(standard: D, read: Kind<T>['read']): Kind<T | (D extends undefined ? undefined : never), T> => ({
  read: (given, what, where, shape) => (given === undefined ? (standard as never) : read(given, what, where, shape)),
})

/** True or false. */
export const flag = (standard = false): Kind<boolean> => ({
  read: (given, what, where) => (given === undefined ? standard : flagOf(given, what, where)),
})
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
  return raise({
    _tag: 'BadInput',
    where,
    reason: `${what} is ${x}.`,
    fix: fix ?? `give a ${whole}number${low}${to === undefined ? '' : ` up to ${to}`}.`,
  })
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
/** One of some texts, which `what` they are in the message. */
export const choice = <const T extends string, D extends T | undefined = undefined>(
  all: readonly T[],
  standard?: D,
  noun?: string,
): Kind<T | (D extends undefined ? undefined : never), T> =>
  or<T, D>(standard as D, (given, what, where) =>
    all.includes(given as T)
      ? (given as T)
      : raise({
          _tag: 'BadInput',
          where,
          reason: noun === undefined ? `${what} is ${shown(given)}.` : `there is no ${noun} ${shown(given)}.`,
          fix: `${noun === undefined ? 'give' : `${noun}s are`} ${all.map((m) => `'${m}'`).join(', ')}.`,
        }),
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

/** Reads the options that were given. */
export const readOptions = <O extends Options>(declared: O, given: unknown, where: string, shape: readonly number[] = []): ReadOf<O> => {
  const read = optionsOf(given as Record<string, unknown> | undefined, declared as unknown as Names<Record<string, unknown>>, where)
  const out: Record<string, unknown> = {}
  for (const name in declared) out[name] = declared[name]!.read(read[name], name, where, shape)
  return out as ReadOf<O>
}
/** A whole number that cannot be left out. */
export const whole = (range: Range = {}): Kind<number> => ({
  read: (given, what, where) => held(integerOf(given, what, where), range, what, where, 'whole '),
})
/** A whole number that must be given, from 0 unless a range says otherwise; the words are those of what is none. */
export const wholeNumber = ({ from = 0, to = Infinity }: Range, reason: (given: unknown) => string, fix: string): Kind<number> =>
  kind((given, _what, where) =>
    Number.isInteger(given) && (given as number) >= from && (given as number) <= to
      ? (given as number)
      : raise({ _tag: 'BadInput', where, reason: reason(given), fix }),
  )
