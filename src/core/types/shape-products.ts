// Shape rules of tensordot, kron, vdot, linear and crossEntropy.
import type { Sub } from './nat.js'
import type { Axis, Broadcast, Dim, Meets, NoAxis, ReduceAt, Same, Shape, ShapeError, Show, ShowDim, ZeroOf } from './shape.js'
import type { MatMul } from './shape-contract.js'
import type { Reshape, Stack } from './shape-layout.js'
import type { TimesOf } from './sizes.js'

/** S in two: its first N axes and the others; `never` when it has fewer. */
type SplitAt<S extends Shape, N, Head extends Dim[] = []> = Head['length'] extends N
  ? readonly [Head, S]
  : S extends readonly [infer H extends Dim, ...infer T extends Shape]
    ? SplitAt<T, N, [...Head, H]>
    : never
/** Do A and B have the same axes, as far as is known? */
type Fits<A extends Shape, B extends Shape> = Stack<[A, B]> extends ShapeError<string> ? false : true

/** What `tensordot` sums over: the last N axes of a and the first N of b, or axes of a and axes of b. */
export type TensordotAxes = number | readonly [readonly number[], readonly number[]]
type Clash<A extends Shape, B extends Shape> = ShapeError<`tensordot: axes of ${Show<A>} and ${Show<B>} differ`>
type Paired<A extends Shape, B extends Shape, P, Q> = P extends readonly [infer p extends number, ...infer PT]
  ? Q extends readonly [infer q extends number, ...infer QT]
    ? Meets<A[Axis<A, p> & number], B[Axis<B, q> & number]> extends true
      ? Paired<A, B, PT, QT>
      : false
    : false
  : Q extends readonly []
    ? true
    : false
type Left<A, B> = A extends Shape ? (B extends Shape ? [...A, ...B] : B) : A
/** The axes of A that are left, then those of B. @example Tensordot<[2, 3, 4], [3, 4, 5]>   // [2, 5] */
export type Tensordot<A extends Shape, B extends Shape, X extends TensordotAxes = 2> = [number] extends [A['length'] | B['length']]
  ? Shape
  : X extends number
    ? number extends X
      ? Shape
      : [Sub<A['length'], X>] extends [never]
        ? ShapeError<`tensordot: ${Show<A>} has fewer than ${X} axes`>
        : SplitAt<A, Sub<A['length'], X>> extends readonly [infer L extends Shape, infer I extends Shape]
          ? [SplitAt<B, X>] extends [never]
            ? ShapeError<`tensordot: ${Show<B>} has fewer than ${X} axes`>
            : SplitAt<B, X> extends readonly [infer J extends Shape, infer R extends Shape]
              ? Fits<I, J> extends true
                ? [...L, ...R]
                : Clash<A, B>
              : never
          : never
    : X extends readonly [infer P extends readonly number[], infer Q extends readonly number[]]
      ? number extends P['length'] | Q['length']
        ? Shape
        : 'bad' extends Axis<A, P[number]>
          ? ReduceAt<A, P[number], false, 'tensordot'>
          : 'bad' extends Axis<B, Q[number]>
            ? ReduceAt<B, Q[number], false, 'tensordot'>
            : Paired<A, B, P, Q> extends true
              ? Left<ReduceAt<A, P[number], false>, ReduceAt<B, Q[number], false>>
              : Clash<A, B>
      : never

/** The product of the lengths, axis by axis from the last one. @example Kron<[1, 2], [2, 1]>   // [2, 2] */
export type Kron<A extends Shape, B extends Shape> = [number] extends [A['length'] | B['length']] ? Shape : KronTail<A, B>
type KronTail<A extends Shape, B extends Shape, R extends Dim[] = []> = A extends readonly [...infer AH extends Shape, infer a extends Dim]
  ? B extends readonly [...infer BH extends Shape, infer b extends Dim]
    ? KronTail<AH, BH, [TimesOf<a, b, ZeroOf<R>> & Dim, ...R]>
    : [...A, ...R]
  : [...B, ...R]

/** [], if A and B may have equally many elements. */
export type SameSize<A extends Shape, B extends Shape> =
  Reshape<A, B> extends ShapeError<string> ? ShapeError<`vdot: sizes of ${Show<A>} and ${Show<B>} differ`> : []

/** The shape of x W + b. */
export type Linear<X extends Shape, W extends Shape, B extends Shape> =
  MatMul<X, W> extends infer Y extends Shape ? Broadcast<Y, B, 'linear'> : MatMul<X, W>

/** `Fits` that asks for never: two sizes that are parameters do not fit. */
type Belong<A extends Shape, B extends Shape> = A extends readonly [infer a, ...infer AT extends Shape]
  ? B extends readonly [infer b, ...infer BT extends Shape]
    ? [Same<a, b>] extends [never]
      ? false
      : Belong<AT, BT>
    : false
  : B extends readonly []
    ? true
    : false

/** [], if targets of shape T belong to logits of shape S: probabilities of that shape, or classes without the axis A. */
export type Targets<S extends Shape, T extends Shape, A extends number> = [number] extends [S['length'] | T['length']]
  ? []
  : 'bad' extends Axis<S, A>
    ? ShapeError<NoAxis<S, A, 'crossEntropy'>>
    : Belong<S, T> extends true
      ? []
      : ReduceAt<S, A, false> extends infer C extends Shape
        ? Belong<C, T> extends true
          ? []
          : ShapeError<`crossEntropy: targets ${Show<T>} do not fit logits ${Show<S>} (axis ${ShowDim<A>})`>
        : never
