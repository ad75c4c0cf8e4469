// Shape rules of linear algebra.
import type { Beside, Decided, Dim, Ok, Shape, ShapeError, Show, ZeroOf } from './shape.js'
import type { MatMul, Square } from './shape-contract.js'
import type { Shorter } from './sizes.js'

/** [], if S has two axes or more; else a ShapeError that names Op. */
export type Matrices<S extends Shape, Op extends string> = [number] extends [S['length']]
  ? []
  : S extends readonly [...unknown[], unknown, unknown]
    ? []
    : ShapeError<`${Op}: needs a matrix, got shape ${Show<S>}`>
/** S with its last axis (its last but one) of another length. */
export type SetLast<S extends Shape, N> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [...infer H extends Shape, unknown]
    ? [...H, N & Dim]
    : Shape
export type WithRows<S extends Shape, N> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [...infer H extends Shape, unknown, infer n extends Dim]
    ? [...H, N & Dim, n]
    : Shape
/** S with its last two axes swapped. */
export type SwapLast<S extends Shape> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [...infer H extends Shape, infer m extends Dim, infer n extends Dim]
    ? [...H, n, m]
    : Shape
/** The shorter of the last two axes, where both are known or the same. */
export type MinDim<S extends Shape> = S extends readonly [...unknown[], infer m extends Dim, infer n extends Dim]
  ? Shorter<m, n, ZeroOf<S>>
  : number
/** The shape of x in a x = b, where a is square. */
export type Solved<A extends Shape, B extends Shape, Op extends string> = A extends readonly [...unknown[], infer a, infer b]
  ? Beside<a, b> extends Beside<b, a>
    ? SolvedBy<A, B, A, Op>
    : SolvedIf<A, B, Op>
  : SolvedIf<A, B, Op>
type SolvedIf<A extends Shape, B extends Shape, Op extends string> =
  Square<A, Op> extends ShapeError<string> ? Square<A, Op> : SolvedBy<A, B, A, Op>
/** T for square matrices S: at once where both sizes are one parameter; of two it takes no T. */
export type OfSquare<S extends Shape, Op extends string, T> = S extends readonly [...unknown[], infer a, infer b]
  ? Beside<a, b> extends Beside<b, a>
    ? T
    : Decided<Square<S, Op>, T>
  : Decided<Square<S, Op>, T>
/** unknown, if the rank of S is not known, or is that of a parameter; else never. */
export type OfNoRank<S extends Shape> = ([S] extends [readonly [unknown, unknown, ...unknown[]]]
  ? { readonly given: never }
  : { readonly given: unknown })['given']
/** The shape of x with the least |a x - b|. */
export type Fitted<A extends Shape, B extends Shape, Op extends string> = SolvedBy<A, B, SwapLast<A>, Op>
/** The shape of x in x a = b: of a vector b that of a transposed system. */
export type SolvedRight<A extends Shape, B extends Shape, Op extends string> = B extends readonly [unknown]
  ? Solved<A, B, Op>
  : Solved<A, SwapLast<B>, Op> extends infer R extends readonly unknown[]
    ? SwapLast<Ok<R>>
    : Square<A, Op> extends ShapeError<string>
      ? Square<A, Op>
      : ShapeError<`${Op}: right-hand sides ${Show<B>} do not fit matrices ${Show<A>} on the right`>
type SolvedBy<A extends Shape, B extends Shape, I extends Shape, Op extends string> =
  MatMul<I, B> extends infer R extends readonly unknown[]
    ? R
    : ShapeError<`${Op}: right-hand sides ${Show<B>} do not fit matrices ${Show<A>}`>
/** The shape of a product of several matrices, of which the first and the last may be vectors. */
export type MultiDot<Ss extends readonly unknown[]> = Ss extends readonly [infer A extends Shape]
  ? A
  : Ss extends readonly [infer A extends Shape, infer B extends Shape, ...infer R]
    ? MatMul<A, B> extends infer C extends Shape
      ? MultiDot<[C, ...R]>
      : MatMul<A, B>
    : Shape
