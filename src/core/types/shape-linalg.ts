// Shape rules of linear algebra.
import type { IsNat, Sub } from './nat.js'
import type { Beside, Dim, Shape, ShapeError, Show } from './shape.js'
import type { MatMul, Square } from './shape-contract.js'

/** [], if S has two axes or more; else a ShapeError that names Op. */
export type Matrices<S extends Shape, Op extends string> = [number] extends [S['length']]
  ? []
  : S extends readonly [...Shape, unknown, unknown]
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
export type MinDim<S extends Shape> = S extends readonly [...Shape, infer m extends Dim, infer n extends Dim]
  ? Beside<m, n> extends Beside<n, m>
    ? m
    : [IsNat<m>, IsNat<n>] extends [true, true]
      ? [Sub<m & number, n & number>] extends [never]
        ? m
        : n
      : number
  : number
/** The shape of x in a x = b, where a is square unless its inverse has the shape I. */
export type Solved<A extends Shape, B extends Shape, Op extends string, I extends Shape = A> = I extends A
  ? Square<A, Op> extends ShapeError<string>
    ? Square<A, Op>
    : SolvedBy<A, B, I, Op>
  : SolvedBy<A, B, I, Op>
/** The shape of x in x a = b: of a vector b that of a transposed system. */
export type SolvedRight<A extends Shape, B extends Shape, Op extends string> = B extends readonly [unknown]
  ? Solved<A, B, Op>
  : Solved<A, SwapLast<B>, Op> extends infer R extends Shape
    ? SwapLast<R>
    : Square<A, Op> extends ShapeError<string>
      ? Square<A, Op>
      : ShapeError<`${Op}: right-hand sides ${Show<B>} do not fit matrices ${Show<A>} on the right`>
type SolvedBy<A extends Shape, B extends Shape, I extends Shape, Op extends string> =
  MatMul<I, B> extends infer R extends Shape ? R : ShapeError<`${Op}: right-hand sides ${Show<B>} do not fit matrices ${Show<A>}`>
/** The shape of a product of several matrices, of which the first and the last may be vectors. */
export type MultiDot<Ss extends readonly unknown[]> = Ss extends readonly [infer A extends Shape]
  ? A
  : Ss extends readonly [infer A extends Shape, infer B extends Shape, ...infer R]
    ? MatMul<A, B> extends infer C extends Shape
      ? MultiDot<[C, ...R]>
      : MatMul<A, B>
    : Shape
