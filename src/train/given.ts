/** What is given to this entry point, checked: each check raises BadInput that names the function and says what it takes. */
import { type AdException, isAdException, raise } from '../index.js'

/** Raises BadInput. */
export const bad = (where: string, reason: string, fix?: string): never =>
  raise({ _tag: 'BadInput', where, reason, ...(fix !== undefined && { fix }) })

/** What `read` gives; what a getter or a Proxy throws is a BadInput about the argument. */
export const reading = <A>(where: string, read: () => A): A => {
  try {
    return read()
  } catch (e) {
    if (isAdException(e)) throw e
    return bad(where, `it cannot be read: ${thrown(e)}`, 'pass plain records, arrays, numbers or tensors.')
  }
}

/** What was thrown, in a line. */
export const thrown = (e: unknown): string => {
  try {
    const said = e instanceof Error ? `${e.name}: ${e.message}` : `${typeof e} ${String(e)}`
    return `${said.slice(0, 200)}${/[.!?]$/.test(said) ? '' : '.'}`
  } catch {
    return 'something that cannot be read.'
  }
}

/** A value in a few words. */
export const shown = (x: unknown): string => {
  if (typeof x === 'string') return `'${x.length > 20 ? `${x.slice(0, 20)}...` : x}'`
  if (typeof x === 'function' || typeof x === 'symbol' || typeof x === 'bigint') return `a ${typeof x}`
  return typeof x === 'object' && x !== null ? 'an object' : String(x)
}

/** Is x an object with names, neither a list nor the bytes of an array? */
export const isRecord = (x: unknown): x is Readonly<Record<string, unknown>> =>
  typeof x === 'object' && x !== null && !Array.isArray(x) && !ArrayBuffer.isView(x)

/** Every name of the options O, so that none is forgotten. */
export type Names<O> = { readonly [K in keyof Required<O>]: true }
/** Options by name, each read once; a name that is not among `names` is an error. */
export const optionsOf = <O extends object>(given: O | undefined, names: Names<O>, where: string): O =>
  reading(`${where}: options`, () => {
    const takes = `options: { ${Object.keys(names).join(', ')} }.`
    if (given === undefined) return {} as O
    if (!isRecord(given)) return bad(where, `${shown(given)} where options may stand.`, takes)
    for (const name of Object.keys(given)) if (!Object.hasOwn(names, name)) return bad(where, `there is no option ${name}.`, takes)
    return { ...given }
  })

/** A whole number from `least` to `most`. */
export const wholeOf = (x: unknown, what: string, where: string, least: number, most = Number.MAX_SAFE_INTEGER): number =>
  Number.isSafeInteger(x) && (x as number) >= least && (x as number) <= most
    ? (x as number)
    : bad(
        where,
        `${what} must be a whole number${most === Number.MAX_SAFE_INTEGER ? (least === Number.MIN_SAFE_INTEGER ? '' : ` of at least ${least}`) : ` from ${least} to ${most}`}, not ${shown(x)}.`,
      )
/** A seed: any whole number. */
export const seedOf = (x: unknown, where: string): number => wholeOf(x, 'the seed', where, Number.MIN_SAFE_INTEGER)
/** True or false; false where it is not given. */
export const flagOf = (x: unknown, what: string, where: string): boolean =>
  x === undefined || typeof x === 'boolean' ? x === true : bad(where, `${what} must be true or false, not ${shown(x)}.`)
/** A function, or nothing. */
export const functionOf = <F>(x: F, what: string, where: string): F =>
  typeof x === 'function' ? x : bad(where, `${what} must be a function, not ${shown(x)}.`)

/** What an error says, without its fix and its place. */
export const reasonOf = ({ error, message }: AdException): string => ('reason' in error ? error.reason : message)
