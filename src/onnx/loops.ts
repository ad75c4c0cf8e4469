/** Loops and branches over lists of arrays whose number only a file says: the functions of the library, whose types know no lists. */
import { type AnyExpr, cond, scan, whileLoop } from '../index.js'

type Arrays = readonly AnyExpr[]
/** A list as a tree: one without arrays would be an array without elements. */
const packed = (xs: Arrays): Arrays | null => (xs.length === 0 ? null : xs)
const listed = (xs: Arrays | null): Arrays => xs ?? []

const anyScan = scan as unknown as <S, X, Y>(f: (state: S, x: X) => readonly [S, Y], init: S, xs: X) => readonly [S, Y]
const anyWhile = whileLoop as unknown as <S>(
  condition: (state: S) => AnyExpr,
  body: (state: S) => S,
  init: S,
  options: { readonly maxSteps?: number },
) => readonly [S, unknown]

/** `scan`: what is carried in the end, and what the steps stacked. */
export const scanned = <X>(f: (state: Arrays, x: X) => readonly [Arrays, Arrays], init: Arrays, xs: X): readonly [Arrays, Arrays] => {
  const body = (state: Arrays | null, x: X): readonly [Arrays | null, Arrays | null] => {
    const [next, ys] = f(listed(state), x)
    return [packed(next), packed(ys)]
  }
  const [last, ys] = anyScan(body, packed(init), xs)
  return [listed(last), listed(ys)]
}
/** `cond` of branches without arguments. */
export const chosen = cond as unknown as (condition: AnyExpr, yes: () => Arrays, no: () => Arrays) => Arrays
/** What a loop that data end carries: the number of the step, whether it goes on, and arrays. */
export interface State {
  readonly k: AnyExpr
  readonly on: AnyExpr
  readonly xs: Arrays
}
/** `whileLoop`: the state in the end. */
export const whileTrue = (
  condition: (state: State) => AnyExpr,
  body: (state: State) => State,
  init: State,
  options: { readonly maxSteps?: number },
): State => {
  interface Tree {
    readonly k: AnyExpr
    readonly on: AnyExpr
    readonly xs: Arrays | null
  }
  const treeOf = (s: State): Tree => ({ ...s, xs: packed(s.xs) })
  const stateOf = (t: Tree): State => ({ ...t, xs: listed(t.xs) })
  const [last] = anyWhile<Tree>(
    (t) => condition(stateOf(t)),
    (t) => treeOf(body(stateOf(t))),
    treeOf(init),
    options,
  )
  return stateOf(last)
}
