/** What is given to the definers of rules, checked: a primitive, and functions by name. */

import type { Rule } from '../core/calculus/rule.js'
import { functionOf, recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { holds } from '../core/errors/language.js'
import { type Kind, type OptionsFor, readOptions, refused } from '../core/errors/options.js'
import { isExpr } from '../core/graph/expr.js'
import { type AnyPrimitive, primitiveOf } from '../core/graph/primitive.js'
import { type Forced, NoTangent, type NotImplemented, ZeroTangent } from '../core/graph/tangent.js'
import type { AnyExpr } from '../core/types/expr.js'

export const neededFunction: Kind<unknown> = { read: functionOf }
export const aFunction: Kind<unknown> = { read: (x, what, where) => (x === undefined ? x : functionOf(x, what, where)) }
/** The facets of a rule, and of those that are made from transposes. */
export const facets: OptionsFor<Pick<Rule, 'frule' | 'rrule' | 'batch'>> = { frule: aFunction, rrule: aFunction, batch: aFunction }
export const transposes = { transpose: neededFunction, batch: aFunction }
export const bilinear = { transposeA: neededFunction, transposeB: neededFunction, reach: aFunction, batch: aFunction }
/** What is given in place of a rule's primitive is checked, then its functions by name; another name, or anything but a function, is an error. */
export const facetsOf = <R extends object>(op: AnyPrimitive, given: R, names: OptionsFor<R>, where: string): void => {
  const at = `${where}(${primitiveOf(op, where).name})`
  readOptions(names, recordOf(given, 'the second argument', at), at)
}

/** The pair that a facet returned. */
export const pairFrom = <A, B>(given: readonly [A, B], name: string, facet: 'frule' | 'rrule', pair: string): readonly [A, B] =>
  Array.isArray(given) && given.length === 2
    ? (given as readonly [A, B])
    : badInput(`the ${facet} of ${name}`, `it returned ${shown(given)}, not ${pair}.`, `return ${pair}.`)

/** An expression. */
export const exprIn = (given: AnyExpr, what: string, where: string): AnyExpr =>
  isExpr(given) ? given : refused(given, what, where, 'give an expression.')
const unknown = (x: unknown): boolean => holds(() => (x as { readonly _tag?: unknown } | null | undefined)?._tag === 'NotImplemented')
/** A (co)tangent without thunks. */
export const forcedIn = (given: Forced, what: string, where: string): Forced =>
  isExpr(given) || given === ZeroTangent || given === NoTangent || unknown(given)
    ? given
    : refused(given, what, where, 'give an expression, or ZeroTangent.')
const entryTags: ReadonlySet<unknown> = new Set<Entry['_tag']>(['Expr', 'ZeroTangent', 'NoTangent', 'NotImplemented'])
type Entry = AnyExpr | ZeroTangent | NoTangent | NotImplemented
/** An entry of dy/dx: by its tag, since a rule may be written with the operations of another copy of codual. */
export const isEntry = (p: unknown): p is Entry | number =>
  typeof p === 'number' || holds(() => entryTags.has((p as Partial<Entry> | null | undefined)?._tag))
export const entryIn = <P>(given: P, what: string, where: string): P =>
  isEntry(given) ? given : refused(given, what, where, 'give an expression or a number.')
