/** The options of `forAll`. */
import { type Registry, registryIn } from '../core/calculus/rule.js'
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { integer, number, type OptionsOf, or, readGiven } from '../core/errors/options.js'
import { type DrawOptions, drawOptions } from './declared.js'
import { type CheckOptions, checkOptions } from './program.js'

const ownOptions = {
  /** How many arguments are drawn (default 25). */
  runs: integer(),
  /** Of fast-check: draws the same again. */
  seed: number(),
  /** Of fast-check: goes straight to one counterexample of that seed. */
  path: or<string, undefined>(undefined, (given, what, where) =>
    typeof given === 'string' ? given : badInput(where, `${what} must be a string, not ${shown(given)}.`),
  ),
  /** The checks at each draw; derivatives to the first order unless `order: 2`. */
  check: or<CheckOptions, undefined>(undefined, (given, what, where) => readGiven(checkOptions, given, `${where}: ${what}`)),
  /** Rules of one's own (default the shipped ones). */
  registry: or<Registry, undefined>(undefined, (given, _what, where) => registryIn(given as Registry, where)),
}
export const propertyOptions: typeof ownOptions & typeof drawOptions = { ...ownOptions, ...drawOptions }
/** What is drawn, and what is checked at each draw. */
export interface PropertyOptions extends DrawOptions, OptionsOf<typeof ownOptions> {}
