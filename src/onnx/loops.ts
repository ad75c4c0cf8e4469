/** Loops and branches over lists of arrays whose number only a file says: the functions of the library, of types that know no lists. */
import { type AnyExpr, cond, scan, whileLoop } from '../index.js'

/** `scan`: [carry, ys]. */
export const scanned = scan as unknown as <S, X, Y>(f: (state: S, x: X) => readonly [S, Y], init: S, xs: X) => readonly [S, Y]
/** `cond` of branches without arguments. */
export const chosen = cond as unknown as <T>(condition: AnyExpr, yes: () => T, no: () => T) => T
/** `whileLoop`: [state, ...]. */
export const whileTrue = whileLoop as unknown as <S>(
  condition: (state: S) => AnyExpr,
  body: (state: S) => S,
  init: S,
  options: { readonly maxSteps?: number },
) => readonly [S, unknown]
