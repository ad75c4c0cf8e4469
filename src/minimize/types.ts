/** The types of trees: what a function of one is given, and what a driver gives back. */
import type { Expr, NoTangent, Shape, Static, Tensor } from '../index.js'
import type { NumberLists } from '../solve/vectors.js'

/** The shape of nested arrays: of their rank, of unknown sizes. */
type Nested<A, R extends number[] = []> = [NumberLists] extends [A] ? Shape : A extends readonly (infer E)[] ? Nested<E, [...R, number]> : R
/** What a function is given for x0: expressions for tensors, and of f64 for numbers and arrays of numbers. */
export type Inside<X> =
  X extends Expr<infer S, infer D>
    ? Expr<S, D>
    : X extends number
      ? Expr<[], 'f64'>
      : X extends NumberLists
        ? Expr<Nested<X>, 'f64'>
        : X extends NoTangent | Static
          ? X
          : { readonly [K in keyof X]: Inside<X[K]> }
/** What comes back for x0: tensors, of f64 for numbers and arrays of numbers. */
export type Found<X> =
  X extends Expr<infer S, infer D>
    ? Tensor<S, D>
    : X extends number
      ? Tensor<[], 'f64'>
      : X extends NumberLists
        ? Tensor<Nested<X>, 'f64'>
        : X extends NoTangent | Static
          ? X
          : { -readonly [K in keyof X]: Found<X[K]> }
