// The public face of a function: what `fn` and every transform give, and what they take.
import type { AnyExpr } from './expr.js'
import type { Exprs, Loose, LooseArgs, Tensors, Values } from './tree.js'

/** Holds a function's arguments and result in its type; no function has this property. */
declare const signatureOf: unique symbol

/** The values that may be passed for each argument. */
export type ValuesOf<A extends readonly unknown[]> = { readonly [K in keyof A]: Values<A[K]> }
/** The expressions that stand for each argument. */
export type ExprsOf<A extends readonly unknown[]> = { readonly [K in keyof A]: Exprs<A[K]> }
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
  (...args: LooseOf<A>): Loose<Out>
  // again, last: what TypeScript infers from a function with overloads
  (...args: ExprsOf<A>): Out
  readonly _tag: 'Fn'
  readonly [signatureOf]?: readonly [A, Out]
}
/** An ordinary function of expressions; without annotations its parameters are `AnyExpr`. */
export interface PlainFn<A extends readonly unknown[], Out> {
  (...args: A): Out
  readonly _tag?: undefined
}
/** The arguments of a plain function without annotations. */
export type AnyExprs = AnyExpr[]
