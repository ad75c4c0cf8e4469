// Signatures of control flow and of random numbers.
import type { DType, Float } from '../dtype.js'
import type { Expr, Operand, Scalar } from '../expr.js'
import type { Shape, Writable } from '../shape.js'
import type { Batched, Element, ExprTree, LengthOf } from '../tree.js'

/** Options of `scan`. */
export interface ScanOptions {
  readonly reverse?: boolean | undefined
  /** The number of steps, where there is no xs. */
  readonly length?: number | undefined
}
/** scan(step, init, xs): a loop over the first axis of xs; step(carry, x) gives [carry, y]; the ys are stacked. */
export interface ScanFn {
  <C extends ExprTree, X extends ExprTree, Y extends ExprTree>(
    step: (carry: C, x: Element<X>) => readonly [NoInfer<C>, Y],
    init: C,
    xs: X,
    options?: ScanOptions,
  ): readonly [C, Batched<Y, LengthOf<X>>]
  <C extends ExprTree, Y extends ExprTree>(
    step: (carry: C) => readonly [NoInfer<C>, Y],
    init: C,
    xs: undefined,
    options: ScanOptions,
  ): readonly [C, Batched<Y>]
}
/** cond(predicate, then, otherwise, ...operands): one of two branches, chosen when it runs. */
export type CondFn = <X extends readonly ExprTree[], R extends ExprTree>(
  predicate: Scalar<'bool'>,
  then: (...operands: X) => R,
  otherwise: (...operands: NoInfer<X>) => NoInfer<R>,
  ...operands: X
) => R
/** Options of `whileLoop`: a bound makes it differentiable in reverse. */
export interface WhileOptions {
  readonly maxSteps?: number | undefined
}
/** whileLoop(predicate, step, init, { maxSteps }). */
export type WhileLoopFn = <C extends ExprTree>(
  predicate: (carry: C) => Scalar<'bool'>,
  step: (carry: C) => NoInfer<C>,
  init: C,
  options?: WhileOptions,
) => C

/** The state of a random generator: explicit, never advanced in place. */
export type Key = Operand<[2], 'i32'>
/** key(seed). */
export type KeyFn = (seed: number) => Expr<[2], 'i32'>
/** splitKey(key, n): n independent keys. */
export type SplitKeyFn = <const N extends number = 2>(key: Key, n?: N) => Expr<[N, 2], 'i32'>
/** foldIn(key, data): the key of one step. */
export type FoldInFn = (key: Key, data: number | Scalar<'i32'>) => Expr<[2], 'i32'>
/** uniform(key, shape), normal(key, shape): samples, reparametrised. */
export interface SampleFn {
  <const S extends Shape>(key: Key, shape: S): Expr<Writable<S>, 'f64'>
  <const S extends Shape, D extends Float>(key: Key, shape: S, dtype: D): Expr<Writable<S>, D>
}
/** bernoulli(key, p, shape): booleans, not differentiated. */
export type BernoulliFn = <const S extends Shape>(key: Key, p: number | Expr<Shape, DType>, shape: S) => Expr<Writable<S>, 'bool'>
