/** Sums whose length is an expression, with derivatives of every order: that of a sum is the sum of the derivatives, which is a loop of its own. */
import { type AnyExpr, add, customRule, fori, jvp, NoTangent, tensor, treeMap, treeZip, vjp, zerosLike } from '../index.js'

/** A tree of floats: a record, or an expression. */
type Floats = unknown
type Term = (i: AnyExpr, args: Floats) => Floats
type Pushed = (x: Floats, dx: Floats) => readonly [Floats, Floats]
type Pair = { readonly x: Floats; readonly dx: Floats }

const loop = (steps: AnyExpr | number, term: Term, args: Floats): Floats =>
  fori(
    steps as never,
    ((i: AnyExpr, sum: Floats) => treeZip(add as never, sum as never, term(i, args) as never)) as never,
    treeMap(zerosLike as never, term(tensor(0, [], 'i32') as never, args) as never) as never,
  )
/** What `of` makes of each term's derivative by the arguments, x, along dx. */
const derived =
  (of: (f: never) => unknown, term: Term): Term =>
  (i, args) => {
    const { x, dx } = args as Pair
    return (of(((y: Floats) => term(i, y)) as never) as Pushed)(x, dx)[1]
  }

/**
 * The sum of term(i, args) over 0 <= i < steps. Reverse mode of a loop keeps what each step needs. Where the number of steps is known only when it runs, the pullback is a sum of those of the terms instead, by another such loop.
 *
 * `term` reads no expression but its arguments; `args` and its results are trees of floats.
 */
export const sumOver = (steps: AnyExpr | number, term: Term, args: Floats): Floats => {
  if (typeof steps === 'number') return loop(steps, term, args)
  type Rule = (n: AnyExpr, x: Floats) => Floats
  const rule: Rule = customRule(((n: AnyExpr, x: Floats) => loop(n, term, x)) as never, {
    name: 'sumOver',
    frule: (([n, x]: readonly [AnyExpr, Floats], [, dx]: readonly [unknown, Floats]) => [
      rule(n, x),
      sumOver(n, derived(jvp, term), { x, dx }),
    ]) as never,
    rrule: (([n, x]: readonly [AnyExpr, Floats]) => [
      rule(n, x),
      (dx: Floats) => [NoTangent, sumOver(n, derived(vjp, term), { x, dx })],
    ]) as never,
  }) as never
  return rule(steps, args)
}
