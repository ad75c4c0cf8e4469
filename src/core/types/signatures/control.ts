// Signatures of loops and branches over trees.

import type { OptionsOf } from '../../errors/options.js'
import type { scanOptions, whileOptions } from '../../ops/control/flow.js'
import type { loopOptions } from '../../ops/control/segments.js'
import type { Batched } from '../batch.js'
import type { DType, Float, Weak, WeakF64 } from '../dtype.js'
import type { Arg, Expr, MayFit, OfAnyDType, OfAnyRank, PlainDType, ShapeOf, Typed, Undeclared } from '../expr.js'
import type { AnyFn, Anything, ArgsOf, ResultOf } from '../fn.js'
import type { Box, Dim, Shape } from '../shape.js'
import type { ExprTree, Least, Loose, LooseArgs, NoTangent, PlainLeaf, Static } from '../tree.js'

/** The tree of expressions that stands for T in a body. */
export type Carried<T> = [Least] extends [T] ? ExprTree : CarriedIn<T>
type CarriedIn<T> =
  T extends Typed<infer S, infer D>
    ? Expr<S, D>
    : T extends PlainLeaf
      ? Expr<ShapeOf<T>, PlainDType<T, WeakF64>>
      : T extends NoTangent
        ? NoTangent
        : T extends { readonly _tag: 'Expr' | 'Tensor' } // what may be given, where what was given does not fit
          ? Expr
          : T extends Static
            ? NoInfer<T>
            : { -readonly [K in keyof T]: Carried<T[K]> }
/** What a body may return for the carry T: at each leaf an expression or a value of its shape and dtype. */
export type Next<T> =
  T extends Typed<infer S, infer D>
    ? NextLeaf<S, D>
    : T extends PlainLeaf
      ? NextLeaf<ShapeOf<T>, Float>
      : T extends NoTangent
        ? NoTangent
        : T extends Static
          ? Widened<NoInfer<T>>
          : { readonly [K in keyof T]: Next<T[K]> }
/** A text as what a parameter of it may be declared. */
type Widened<T> = T extends string ? string : T
/** A carry without a dtype takes that of what comes back. */
type NextLeaf<S extends Shape, D extends DType> = [D] extends [Weak]
  ? Expr<S, Float> | OfAnyRank<Expr['_tag']> | PlainLeaf
  : Expr<S, D> | Undeclared<S, D> | MayFit<S, D, Expr['_tag']> | OfAnyRank<Expr['_tag']> | OfAnyDType<S, D> | PlainLeaf
type Tail<S extends Shape> = S extends readonly [unknown, ...infer R extends Shape] ? R : Shape
type Head<S extends Shape> = S extends readonly [infer N extends Dim, ...unknown[]] ? N : number
/** One step's slices of xs. */
export type Slices<X> =
  X extends Typed<infer S, infer D>
    ? Expr<Tail<S>, D>
    : X extends PlainLeaf
      ? Expr<Tail<ShapeOf<X>>, 'f64'>
      : X extends NoTangent
        ? NoTangent
        : X extends null | undefined
          ? undefined
          : { -readonly [K in keyof X]: Slices<X[K]> }
type HeadOf<X> = X extends Typed<infer S, infer _D> ? Head<S> : number
/** The number of steps: of one array its length, of a list or record that of its arrays, where each is known; L of nothing. */
type Steps<X, L extends Dim> =
  X extends Typed<infer S, infer _D>
    ? Head<S>
    : X extends readonly unknown[]
      ? Alike<HeadOf<X[number]>, HeadOf<X[0]>>
      : X extends object
        ? Alike<HeadOf<X[keyof X]>, HeadOf<X[OneOf<keyof X> & keyof X]>>
        : L
/** Of a size and a name for it the size. One is the size of an array: if all are that one, as TypeScript says of a parameter too, it is the answer. */
type Alike<N, One> = Box<N> extends Box<One> ? N & Dim : [Extract<N, number>] extends [never] ? N & Dim : Extract<N, number>
/** One of the union K. */
type OneOf<K> = (K extends unknown ? (f: () => K) => void : never) extends (f: infer F) => void
  ? F extends () => infer One
    ? One
    : never
  : never
/** What is stacked of Y. */
type Stacked<Y, N extends Dim> = Y extends null | undefined ? null : Batched<Carried<Y>, N>

/**
 * The residuals that a loop keeps. `everything`: what is not cheap to make again; `contractions`: products alone; `nothing`: what a step begins with. A
 * number k: the carry of every k-th step, and what is between them is computed again; `sqrt`: that for about the root of the number of steps. `snapshots`:
 * at most so many carries at any time, steps computed again as rarely as that allows.
 */
export type Checkpoint = 'everything' | 'contractions' | 'nothing' | 'sqrt' | number | Snapshots
export interface Snapshots {
  readonly snapshots: number
}
/** Options of every loop whose number of steps is known. */
export interface LoopOptions extends OptionsOf<typeof loopOptions> {}
/** Options of `scan`. */
export interface ScanOptions extends OptionsOf<typeof scanOptions>, LoopOptions {}
/** scan(f, init, xs, { length, reverse }): [carry, ys] of (carry, y) = f(carry, x) over the slices of xs. */
export type ScanFn = <const C, const X, N extends Next<C>, Y extends Anything, const L extends number = number>(
  f: (carry: Carried<C>, x: Slices<X>) => readonly [N, Y],
  init: C,
  xs?: X,
  options?: ScanOptions & { readonly length?: L | undefined },
) => [carry: Carried<N>, ys: Stacked<Y, Steps<X, L>>]
/** How many steps, known when it runs: an i32 scalar. */
type Count = Expr<[], 'i32'> | OfAnyRank<Expr['_tag']>
/** fori(n, f, init): carry = f(k, carry) for k = 0 ... n - 1. */
export type ForiFn = <const C, N extends Next<C>>(
  n: number | Count,
  f: (k: Expr<[], 'i32'>, carry: Carried<C>) => N,
  init: C,
  options?: LoopOptions,
) => Carried<N>
/** Options of `whileLoop`. */
export interface WhileOptions extends OptionsOf<typeof whileOptions>, LoopOptions {}
/** How a loop ended: after how many steps, and whether its condition ended it. */
export interface Ended {
  readonly steps: Expr<[], 'i32'>
  readonly done: Expr<[], 'bool'>
}
/** whileLoop(condition, body, init, { maxSteps }): [state, { steps, done }] of state = body(state) while condition(state). */
export type WhileLoopFn = <const C, N extends Next<C>>(
  condition: (state: Carried<C>) => Arg | boolean,
  body: (state: Carried<C>) => N,
  init: C,
  options?: WhileOptions,
) => [state: Carried<N>, ended: Ended]
/** The tree of expressions that stands for some elements of X along the axis. */
type Elements<X> =
  X extends Typed<infer _S, infer D>
    ? Expr<Shape, D>
    : X extends PlainLeaf
      ? Expr<Shape, PlainDType<X, WeakF64>>
      : X extends NoTangent
        ? NoTangent
        : X extends Static
          ? NoInfer<X>
          : { -readonly [K in keyof X]: Elements<X[K]> }
/** associativeScan(op, xs, { axis, reverse }): x_0, op(x_0, x_1), op(op(x_0, x_1), x_2) ... */
export type AssociativeScanFn<Options> = <const X>(
  op: (a: Elements<X>, b: Elements<X>) => Next<Elements<X>>,
  xs: X,
  options?: Options,
) => Carried<X>
/** A function with fewer residuals: of what it was written for, and of what may stand for that. */
interface Checkpointed<A extends readonly unknown[], Out> {
  (...args: A): Out
  (...args: { readonly [K in keyof A]: LooseArgs<A[K]> }): Loose<Out>
}
/** checkpoint(f, keep): f with fewer residuals. */
export type CheckpointFn = <F extends AnyFn>(
  f: F,
  keep?: 'everything' | 'contractions' | 'nothing',
) => Checkpointed<ArgsOf<F>, Carried<ResultOf<F>>>

type Args<A extends readonly unknown[]> = { [K in keyof A]: Carried<A[K]> }
/** switchCase(index, branches, ...args): what the branch at the index makes of the arguments. */
export type SwitchCaseFn = <const A extends readonly unknown[], R extends Anything>(
  index: Arg,
  branches: readonly ((...args: Args<A>) => R)[],
  ...args: A
) => Carried<R>
/** cond(condition, onTrue, onFalse, ...args): what one of two functions makes of the arguments. */
export type CondFn = <const A extends readonly unknown[], R extends Anything>(
  condition: Arg | boolean,
  onTrue: (...args: Args<A>) => R,
  onFalse: (...args: Args<A>) => R,
  ...args: A
) => Carried<R>
