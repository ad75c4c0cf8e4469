/** What is given to the definers of rules, checked: a primitive, and functions by name. */

import type { Rule } from '../core/calculus/rule.js'
import { functionOf, type Names, optionsOf, recordOf, shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import { holds } from '../core/errors/language.js'
import { isExpr } from '../core/graph/expr.js'
import { type AnyPrimitive, primitiveOf } from '../core/graph/primitive.js'
import { type Forced, NoTangent, type NotImplemented, ZeroTangent } from '../core/graph/tangent.js'
import type { AnyExpr } from '../core/types/expr.js'

/** The facets of a rule, and of those that are made from transposes. */
export const facets: Names<Pick<Rule, 'frule' | 'rrule' | 'batch'>> = { frule: true, rrule: true, batch: true }
export const transposes: Names<{ readonly transpose: unknown; readonly batch: unknown }> = { transpose: true, batch: true }
export const bilinear: Names<{
  readonly transposeA: unknown
  readonly transposeB: unknown
  readonly reach?: unknown
  readonly batch: unknown
}> = {
  transposeA: true,
  transposeB: true,
  reach: true,
  batch: true,
}
/** Functions by name, some of which may be left out; another name, or anything but a function, is an error. */
const functions = <R extends object>(given: R, names: Names<R>, where: string, needed: readonly (keyof R)[] = []): R => {
  optionsOf(recordOf(given, 'the second argument', where), names, where)
  for (const name of Object.keys(names) as (keyof R & string)[])
    if (given[name] !== undefined || needed.includes(name)) functionOf(given[name], name, where)
  return given
}
/** What is given in place of a rule's primitive is checked, then its functions. */
export const facetsOf = <R extends object>(
  op: AnyPrimitive,
  given: R,
  names: Names<R>,
  where: string,
  needed?: readonly (keyof R)[],
): void => void functions(given, names, `${where}(${primitiveOf(op, where).name})`, needed)

/** The pair that a facet returned. */
export const pairFrom = <A, B>(given: readonly [A, B], name: string, facet: 'frule' | 'rrule', pair: string): readonly [A, B] =>
  Array.isArray(given) && given.length === 2
    ? (given as readonly [A, B])
    : raise({
        _tag: 'BadInput',
        where: `the ${facet} of ${name}`,
        reason: `it returned ${shown(given)}, not ${pair}.`,
        fix: `return ${pair}.`,
      })

const refuse = (where: string, what: string, given: unknown, fix: string): never =>
  raise({ _tag: 'BadInput', where, reason: `${what} is ${shown(given)}.`, fix })
/** An expression. */
export const exprIn = (given: AnyExpr, what: string, where: string): AnyExpr =>
  isExpr(given) ? given : refuse(where, what, given, 'give an expression.')
const unknown = (x: unknown): boolean => holds(() => (x as { readonly _tag?: unknown } | null | undefined)?._tag === 'NotImplemented')
/** A (co)tangent without thunks. */
export const forcedIn = (given: Forced, what: string, where: string): Forced =>
  isExpr(given) || given === ZeroTangent || given === NoTangent || unknown(given)
    ? given
    : refuse(where, what, given, 'give an expression, or ZeroTangent.')
const entryTags: ReadonlySet<unknown> = new Set<Entry['_tag']>(['Expr', 'ZeroTangent', 'NoTangent', 'NotImplemented'])
type Entry = AnyExpr | ZeroTangent | NoTangent | NotImplemented
/** An entry of dy/dx: by its tag, since a rule may be written with the operations of another copy of codual. */
export const isEntry = (p: unknown): p is Entry | number =>
  typeof p === 'number' || holds(() => entryTags.has((p as Partial<Entry> | null | undefined)?._tag))
export const entryIn = <P>(given: P, what: string, where: string): P =>
  isEntry(given) ? given : refuse(where, what, given, 'give an expression or a number.')
