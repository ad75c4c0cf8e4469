/** What is given to this entry point, checked: each check raises BadInput that names the function and says what it takes. */

import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { holds } from '../core/errors/language.js'
import { type Kind, or } from '../core/errors/options.js'
import type { AdException } from '../index.js'

/** What was thrown, in a line. */
export const thrown = (e: unknown): string => {
  try {
    const said = e instanceof Error ? `${e.name}: ${e.message}` : `${typeof e} ${String(e)}`
    return `${said.slice(0, 200)}${/[.!?]$/.test(said) ? '' : '.'}`
  } catch {
    return 'something that cannot be read.'
  }
}

/** Is x an object with names, neither a list nor the bytes of an array? */
export const isRecord = (x: unknown): x is Readonly<Record<string, unknown>> =>
  typeof x === 'object' && x !== null && !Array.isArray(x) && !ArrayBuffer.isView(x)

/** A whole number from `least` to `most`. */
export const wholeOf = (x: unknown, what: string, where: string, least: number, most = Number.MAX_SAFE_INTEGER): number =>
  Number.isSafeInteger(x) && (x as number) >= least && (x as number) <= most
    ? (x as number)
    : badInput(
        where,
        `${what} must be a whole number${most === Number.MAX_SAFE_INTEGER ? (least === Number.MIN_SAFE_INTEGER ? '' : ` of at least ${least}`) : ` from ${least} to ${most}`}, not ${shown(x)}.`,
      )
/** The option of a seed: any whole number. */
export const seed: Kind<number | undefined, number> = or(undefined, (x, _what, where) =>
  wholeOf(x, 'the seed', where, Number.MIN_SAFE_INTEGER),
)
/** What an error says, without its fix and its place. */
export const reasonOf = ({ error, message }: AdException): string => ('reason' in error ? error.reason : message)

interface Stream {
  readonly write: (text: string) => unknown
}
export const barOptions = {
  /** What stands before the bar. */
  name: or<string, undefined>(undefined, (x, _what, where) =>
    typeof x === 'string' ? x : badInput(where, `the name must be a string, not ${shown(x)}.`),
  ),
  /** Where it is drawn (standard error unless given). */
  stream: or<Stream, undefined>(undefined, (x, _what, where) =>
    holds(() => typeof (x as Partial<Stream> | null)?.write === 'function')
      ? (x as Stream)
      : badInput(where, 'the stream cannot be written to.'),
  ),
}
