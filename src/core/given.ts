/**
 * What is given beside arrays, checked: options, lists, whole numbers, functions. Types refuse most of it before; a REPL and JavaScript have
 * none. Each raises BadInput that names the operation and says what it takes.
 */
import { raise } from './explain.js'
import type { DType } from './types/dtype.js'

/** Every name of the options O, so that none is forgotten. */
export type Names<O> = { readonly [K in keyof Required<O>]: true }

/** A value in a few words. */
export const shown = (x: unknown): string => {
  if (x === null || x === undefined || typeof x === 'boolean' || typeof x === 'number') return String(x)
  if (typeof x === 'string') return `'${x.length > 20 ? `${x.slice(0, 20)}...` : x}'`
  if (Array.isArray(x)) return x.length <= 8 && x.every((v) => typeof v === 'number') ? `[${x.join(', ')}]` : `an array of ${x.length}`
  return typeof x === 'object' ? 'an object' : `a ${typeof x}`
}
const refuse = (where: string, reason: string, fix?: string): never =>
  raise({ _tag: 'BadInput', where, reason, ...(fix !== undefined && { fix }) })

const none = Object.freeze({})
const takes = (names: object): string => `options: { ${Object.keys(names).join(', ')} }.`
/** Options by name; a name that is not among `names` is an error, not left out in silence. */
export const optionsOf = <O extends object>(given: O | undefined, names: Names<O>, where: string): O => {
  if (given === undefined) return none as O
  if (typeof given !== 'object' || given === null || Array.isArray(given) || ArrayBuffer.isView(given))
    return refuse(where, `${shown(given)} where options may stand.`, takes(names))
  for (const name of Object.keys(given)) if (!Object.hasOwn(names, name)) return refuse(where, `there is no option ${name}.`, takes(names))
  return given
}

/** True or false; false where it is not given. */
export const flagOf = (given: unknown, what: string, where: string): boolean =>
  given === undefined || typeof given === 'boolean' ? given === true : refuse(where, `${what} must be true or false, not ${shown(given)}.`)

/** A list of anything. */
export const listOf = (given: unknown, what: string, where: string): readonly unknown[] =>
  Array.isArray(given) ? given : refuse(where, `${what} must be an array, not ${shown(given)}.`)

/** A whole number. */
export const integerOf = (given: unknown, what: string, where: string): number =>
  Number.isSafeInteger(given) ? (given as number) : refuse(where, `${what} must be a whole number, not ${shown(given)}.`)
/** An array of whole numbers: a shape, axes, positions. */
export const integersOf = (given: unknown, what: string, where: string): readonly number[] =>
  Array.isArray(given) && given.every(Number.isSafeInteger) && !given.includes(undefined)
    ? given
    : refuse(where, `${what} must be an array of whole numbers, not ${shown(given)}.`)

/** A number, NaN and infinities included. */
export const numberOf = (given: unknown, what: string, where: string): number =>
  typeof given === 'number' ? given : refuse(where, `${what} must be a number, not ${shown(given)}.`)

/** One of the dtypes. */
export const dtypeOf = (given: unknown, where: string): DType =>
  given === 'f64' || given === 'f32' || given === 'i32' || given === 'bool'
    ? given
    : refuse(where, `${shown(given)} is not a dtype.`, 'give one of f64, f32, i32, bool.')

/** A function. */
export const functionOf = <F>(given: F, what: string, where: string): F =>
  typeof given === 'function' ? given : refuse(where, `${what} must be a function, not ${shown(given)}.`)

/** An object with names, not an array. */
export const recordOf = <R>(given: R, what: string, where: string): R =>
  typeof given === 'object' && given !== null && !Array.isArray(given) && !ArrayBuffer.isView(given)
    ? given
    : refuse(where, `${what} must be an object, not ${shown(given)}.`)
