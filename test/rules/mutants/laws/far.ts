/** Functions that are smooth far away, where formulas of their derivatives cancel: beside differences, which are good there to nine digits. */
import * as cd from '../../../../src/index.js'
import { type Laws, numbers, o } from './law.js'

type F = (x: unknown) => cd.AnyExpr
const { erfcx, logNdtr, lgamma, digamma, besselIe, betaln } = cd as unknown as Readonly<
  Record<'erfcx' | 'logNdtr' | 'lgamma' | 'digamma', F> & {
    readonly besselIe: (n: number, x: unknown) => cd.AnyExpr
    readonly betaln: (a: unknown, b: number) => cd.AnyExpr
  }
>
const functions: readonly (readonly [F, readonly number[]])[] = [
  [erfcx, [4, 20, 60, 1e3, 1e6, 1e9]],
  [logNdtr, [-40, -1e3, -1e6]],
  [lgamma, [1e3, 1e6]],
  [digamma, [1e3, 1e6]],
  [(x) => besselIe(0, x), [50, 1e3, 1e6]],
  [(x) => betaln(x, 2.5), [50, 1e3]],
]
/** f'(x) by differences of the fourth order, at steps in proportion to x. */
const slope = (f: F, x: number): number => {
  const h = 2e-3 * x
  const at = (k: number): number => numbers(cd.evaluate(f(x + k * h)))[0]!
  return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
}

export const far: Laws = {
  'slopes far away': function* () {
    for (const [f, xs] of functions) for (const x of xs) yield [1, numbers(o.jvp(f)(x, 1) as unknown)[1]! / slope(f, x), 1e-8]
  },
}
