// The public face of a function: what `fn` and every transform give, and what they take.
import type { AnyExpr } from './expr.js'
import type { ExprArgs, Exprs, Loose, LooseArgs, PlainLeaf, Results, Tensors, TupleHint, Values } from './tree.js'

/** Holds a function's arguments and result in its type; no function has this property. */
declare const signatureOf: unique symbol

/** The values that may be passed for each argument. */
export type ValuesOf<A extends readonly unknown[]> = { readonly [K in keyof A]: Values<A[K]> }
/** The same, and expressions. */
export type RunOf<A extends readonly unknown[]> = { readonly [K in keyof A]: Values<A[K], 'expressions'> }
/** The expressions that stand for each argument. */
export type ExprsOf<A extends readonly unknown[]> = { readonly [K in keyof A]: Exprs<A[K]> }
type ConstantsOf<A extends readonly unknown[]> = { readonly [K in keyof A]: ExprArgs<A[K]> }
type LooseOf<A extends readonly unknown[]> = { readonly [K in keyof A]: LooseArgs<A[K]> }

/**
 * A pure function of trees: A are its arguments' trees (of specs or expressions), Out its result's tree of expressions.
 *
 * Called with values only it runs on the default backend; with an expression among its arguments it inlines. Inlined at other sizes
 * than the declared names, the names in its result become `number`.
 */
export interface Fn<A extends readonly unknown[], Out> {
  (...args: ValuesOf<A>): Tensors<Out>
  (...args: ExprsOf<A>): Out
  (...args: ConstantsOf<A>): Out
  (...args: LooseOf<A>): Loose<Out>
  // last: what TypeScript infers from a function with overloads, and names where no overload fits. Since it is generic, a call that does
  // not fit has the type of the first overload, so that one mistake is one error.
  <_ = never>(...args: LooseOf<A>): Out
  readonly _tag: 'Fn'
  readonly [signatureOf]: readonly [A, Out]
}
/** A function whose parameters are expressions where it does not say what they are. */
type OfExprs = { bivariant(...args: AnyExpr[]): Anything }['bivariant']
/** What a function may return, which is a tuple where an array literal is written; unknown would swallow the hint. */
// biome-ignore lint/complexity/noBannedTypes: everything that is neither null nor undefined
export type Anything = {} | null | undefined | TupleHint
/** What every function has; unlike a signature it gives parameters no type. */
interface Callable {
  readonly apply: unknown
  readonly bind: unknown
  readonly call: unknown
}
/** What a transform takes: a Fn or a plain function, whose parameters without annotations are `AnyExpr`. */
export type AnyFn = OfExprs | Callable
/** The arguments' trees of a function. */
export type ArgsOf<F> = [F] extends [never]
  ? AnyExpr[]
  : F extends { readonly _tag: 'Fn'; readonly [signatureOf]: readonly [infer A extends readonly unknown[], unknown] }
    ? A
    : F extends (...args: infer A) => unknown
      ? A
      : never
/** The result's tree of a function. */
export type ResultOf<F> = F extends { readonly _tag: 'Fn'; readonly [signatureOf]: readonly [readonly unknown[], infer Out] }
  ? Out
  : F extends (...args: never[]) => infer Out
    ? [unknown] extends [Out]
      ? Out
      : [Out] extends [PlainLeaf]
        ? Out // a function of numbers: what `ScalarOnly` explains
        : Results<Out>
    : never
