/** Options of a function that hands a part of them on. */
import { type Options, type ReadOf, readOptions } from '../core/errors/options.js'

/** Reads the options of `own`, and leaves those of `other` as they were given; a name of neither is an error that lists both. */
export const splitOptions = <O extends Options>(
  own: O,
  other: Options,
  given: unknown,
  op: string,
): { readonly own: ReadOf<O>; readonly rest: unknown } => {
  const read = readOptions({ ...other, ...own }, given, op) as ReadOf<O>
  if (given === undefined) return { own: read, rest: undefined }
  return { own: read, rest: Object.fromEntries(Object.entries(given as object).filter(([key]) => Object.hasOwn(other, key))) }
}
