/**
 * What is given beside arrays, checked: options, lists, whole numbers, functions. Types refuse most of it before; a REPL and JavaScript have
 * none. Each raises BadInput that names the operation and says what it takes.
 */

import type { DType } from '../types/dtype.js'
import { badInput } from './explain.js'
import { meantBy, meantDtype, meantItems, meantList, meantOption, needless } from './hints.js'
import { arrayInWords, holds, objectInWords, reading, unreadable } from './language.js'

/** Every name of the options O, so that none is forgotten. */
export type Names<O> = { readonly [K in keyof Required<O>]: true }

/** A value in a few words. */
export const shown = (x: unknown): string => {
  try {
    return inWords(x)
  } catch {
    return 'an object that cannot be read'
  }
}
const inWords = (x: unknown): string => {
  if (x === null || x === undefined || typeof x === 'boolean' || typeof x === 'number') return String(x)
  if (typeof x === 'string') return `'${x.length > 20 ? `${x.slice(0, 20)}...` : x}'`
  if (Array.isArray(x)) return x.length <= 8 && x.every((v) => typeof v === 'number') ? `[${x.join(', ')}]` : `an array of ${x.length}`
  return typeof x === 'object' ? (arrayInWords(x) ?? objectInWords(x)) : `a ${typeof x}`
}

const none = Object.freeze({})
/** Options by name; a name that is not among `names` is an error, not left out in silence. */
export const optionsOf = <O extends object>(given: O | undefined, names: Names<O>, where: string): O => {
  if (given === undefined) return none as O
  try {
    return optionsIn(given, names, where)
  } catch (e) {
    return unreadable(e, `${where}: options`)
  }
}
const isPlain = (x: unknown): boolean => typeof x === 'object' && x !== null && Object.getPrototypeOf(x) === Object.prototype
const isNoOptions = (x: unknown): boolean =>
  typeof x !== 'object' || x === null || Array.isArray(x) || ArrayBuffer.isView(x) || arrayInWords(x) !== undefined
/** Their values are read once, so what is checked is what is used. */
const optionsIn = <O extends object>(given: O, names: Names<O>, where: string): O => {
  if (!isPlain(given) && isNoOptions(given)) {
    const isArray = typeof given === 'object' && given !== null && arrayInWords(given) !== undefined
    return badInput(where, `${shown(given)} where options may stand.`, meantBy(given, isArray, Object.keys(names), where))
  }
  const read: Record<string, unknown> = {}
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(names, name)) {
      const all = Object.keys(names)
      const meant = meantOption(name, all, where)
      badInput(where, `there is no option ${name}.`, `${meant === undefined ? '' : `${meant} `}options: { ${all.join(', ')} }.`)
    }
    const value = (given as Readonly<Record<string, unknown>>)[name]
    read[name] = (names as unknown as Record<string, { readonly untouched?: true }>)[name]!.untouched ? value : listsIn(value, 0)
  }
  return read as O
}

/** What stands behind the argument of an operation that takes one alone would be left out in silence. A number is the index that map and Array.from give. */
export const nothingMore = (more: unknown, where: string): void => {
  if (more === undefined || typeof more === 'number') return
  const named = reading(where, () =>
    typeof more === 'object' && more !== null && !Array.isArray(more)
      ? Object.keys(more)
          .map(needless)
          .find((n) => n !== undefined)
      : undefined,
  )
  badInput(
    where,
    `${reading(where, () => shown(more))} is given after its argument.`,
    `${named === undefined ? '' : `${named} `}write ${where}(x): it takes no options.`,
  )
}

/** A function of one argument that refuses what stands behind it. */
export const ofOne =
  <Y>(where: string, f: (x: never) => Y): ((x: never, more?: unknown) => Y) =>
  (x, more = undefined) => {
    nothingMore(more, where)
    return f(x)
  }

/** Lists, and lists in them, as copies. A sparse one, which may have any length, is refused. */
const listsIn = (x: unknown, depth: number): unknown => {
  if (!Array.isArray(x) || depth === 3) return x
  const n = x.length
  if (n > 0 && !(0 in x)) throw new Error('a sparse array')
  const copy: unknown[] = []
  for (let i = 0; i < n; i++) {
    const y: unknown = x[i]
    copy.push(typeof y === 'object' || typeof y === 'function' ? listsIn(y, depth + 1) : y)
  }
  return copy
}
/** Numbers in lists (axes, widths, shifts), read once: a Proxy, a getter or a later change gives no other value afterwards. */
export const settled = <X>(given: X, what: string, where: string): X =>
  typeof given === 'object' || typeof given === 'function' ? (reading(`${where}: ${what}`, () => listsIn(given, 0)) as X) : given

/** True or false; false where it is not given. */
export const flagOf = (given: unknown, what: string, where: string): boolean =>
  given === undefined || typeof given === 'boolean'
    ? given === true
    : badInput(where, `${what} must be true or false, not ${shown(given)}.`)

/** A list of anything. */
export const listOf = (given: unknown, what: string, where: string): readonly unknown[] =>
  reading(`${where}: ${what}`, () =>
    Array.isArray(given) && (given.length === 0 || 0 in given)
      ? copied(given)
      : badInput(where, `${what} must be an array, not ${Array.isArray(given) ? 'a sparse one' : shown(given)}.`, meantItems(where, what)),
  )
/** A list that keeps what it is given: a Proxy, a getter or a later change gives no other value afterwards. */
const copied = <A>(given: readonly A[]): readonly A[] => [...given]

/** A whole number. */
export const integerOf = (given: unknown, what: string, where: string): number =>
  Number.isSafeInteger(given) ? (given as number) : badInput(where, `${what} must be a whole number, not ${shown(given)}.`, computed(given))
/** What to do where a whole number, or one of a list (the first few: a list may be as long as it likes), is an expression or a tensor; undefined where it is neither. */
export const computed = (given: unknown): string | undefined =>
  holds(() =>
    (Array.isArray(given) ? given.slice(0, 16) : [given]).some((x) => typeof x === 'object' && x !== null && arrayInWords(x) !== undefined),
  )
    ? 'it has to be known when the program is built: give a number that the program captures, x.shape[0] of an input (if need be of one that is there for its size alone), or item() of a tensor.'
    : undefined
/** An array of whole numbers: a shape, axes, positions. */
export const integersOf = (given: unknown, what: string, where: string): readonly number[] =>
  reading(`${where}: ${what}`, () =>
    Array.isArray(given) && !given.includes(undefined) && given.every(Number.isSafeInteger)
      ? copied(given)
      : badInput(
          where,
          `${what} must be an array of whole numbers, not ${shown(given)}.`,
          computed(given) ?? meantList(given, where, what),
        ),
  )

/** A number, NaN and infinities included. */
export const numberOf = (given: unknown, what: string, where: string): number =>
  typeof given === 'number' ? given : badInput(where, `${what} must be a number, not ${shown(given)}.`)

/** One of the dtypes. */
export const dtypeOf = (given: unknown, where: string): DType =>
  given === 'f64' || given === 'f32' || given === 'i32' || given === 'bool'
    ? given
    : badInput(where, `${shown(given)} is not a dtype.`, meantDtype(given, where))

/** A function. */
export const functionOf = <F>(given: F, what: string, where: string): F =>
  typeof given === 'function' && reading(`${where}: ${what}`, () => 'call' in given)
    ? given
    : badInput(where, `${what} must be a function, not ${shown(given)}.`)

/** An object with names, not an array. */
export const recordOf = <R>(given: R, what: string, where: string): R =>
  typeof given === 'object' && given !== null && !reading(`${where}: ${what}`, () => Array.isArray(given)) && !ArrayBuffer.isView(given)
    ? given
    : badInput(where, `${what} must be an object, not ${shown(given)}.`)
