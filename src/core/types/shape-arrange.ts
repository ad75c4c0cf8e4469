// Shape rules of the functions that arrange arrays: axes moved, joins by NumPy's names, blocks, diagonals, masks, grids.
import type { WeakF64 } from './dtype.js'
import type { Arg, Expr, NestedArray, ShapeOf } from './expr.js'
import type { Add, Div, DivMod, Mul, Sub } from './nat.js'
import type { Axis, Box, Broadcast, Dim, DimAt, Known, Ok, Reduce, SetAxis, Shape, ShapeError, Show, ZeroOf } from './shape.js'
import type { AnySizes, WithAxis } from './shape-index.js'
import type { DropMembers, Repeated } from './shape-layout.js'
import type { Equal, FloorOver, IfIs, Least, Less, Literals, Plus, Signed, Sole, Times, Written } from './sizes.js'

// ---- axes moved

/** As many axes as S has, of unknown sizes; an unknown rank stays unknown. */
export type SameRank<S extends Shape> = [number] extends [S['length']] ? Shape : AnySizes<S>
/** What the option K of O is; Default where it is not given. */
type Option<O, K extends string, Default> = O extends { readonly [k in K]: infer X } ? X : Default
/** The axes A of S, counted from 0. */
type Places<S extends Shape, A extends readonly number[]> = { readonly [K in keyof A]: Sole<Axis<S, A[K]>> }
type List<A> = [A] extends [number] ? readonly [A] : A
/** With each axis of A moved to the place in B. @example Moved<[2, 3, 4], 0, -1>   // [3, 4, 2] */
export type Moved<S extends Shape, A, B> = [number] extends [S['length']]
  ? Shape
  : [List<A>, List<B>] extends [infer P extends readonly number[], infer Q extends readonly number[]]
    ? [number] extends [P['length'] | Q['length']]
      ? AnySizes<S>
      : MovedTo<S, Places<S, P>, Places<S, Q>>
    : never
type MovedTo<S extends Shape, P extends readonly unknown[], Q extends readonly unknown[]> = number extends P[number] | Q[number]
  ? AnySizes<S>
  : 'bad' extends P[number] | Q[number]
    ? AnySizes<S>
    : Filled<
        S,
        DropMembers<S, P[number]>,
        { [K in keyof Q & `${number}` as `${Q[K] & number}`]: K extends keyof P ? S[P[K] & number] : never }
      >
/** As many axes as T has: at each place in At what that says, at the others those of S in their order. */
type Filled<T extends Shape, S extends Shape, At, R extends Dim[] = []> = T extends readonly [unknown, ...infer U extends Shape]
  ? `${R['length']}` extends infer K extends keyof At
    ? Filled<U, S, At, [...R, At[K] & Dim]>
    : S extends readonly [infer H extends Dim, ...infer V extends Shape]
      ? Filled<U, V, At, [...R, H]>
      : R
  : R
/** After k quarter turns in a plane of two axes. */
export type Rotated<S extends Shape, O> = Turned<S, Written<Option<O, 'k', 1>, ZeroOf<S>>, Option<O, 'axes', readonly [0, 1]>>
type Turned<S extends Shape, K, X> = X extends readonly [infer a extends number, infer b extends number]
  ? `${K & number}` extends `${string}e${string}` | `${string}.${string}`
    ? SameRank<S>
    : `${K & number}` extends `${string}${1 | 3 | 5 | 7 | 9}`
      ? Moved<S, X, readonly [b, a]>
      : `${K & number}` extends `${string}${0 | 2 | 4 | 6 | 8}`
        ? S
        : SetBoth<S, Axis<S, a>, Axis<S, b>>
  : SameRank<S>
/** S, of which the axes I and J may have each other's length. */
type SetBoth<S extends Shape, I, J> = [number] extends [S['length']]
  ? Shape
  : number extends I | J
    ? AnySizes<S>
    : 'bad' extends I | J
      ? AnySizes<S>
      : SetAxis<SetAxis<S, I, [number]>, J, [number]>

// ---- joins

/** S with axes of length 1 until it has N; at 'columns' a vector becomes a column. */
export type AtLeast<S extends Shape, N extends 1 | 2 | 3 | 'columns'> = [number] extends [S['length']]
  ? Shape
  : S extends readonly []
    ? { 1: [1]; 2: [1, 1]; 3: [1, 1, 1]; columns: [1, 1] }[N]
    : S extends readonly [infer A extends Dim]
      ? { 1: S; 2: [1, A]; 3: [1, A, 1]; columns: [A, 1] }[N]
      : S extends readonly [infer A extends Dim, infer B extends Dim]
        ? N extends 3
          ? [A, B, 1]
          : S
        : S
/** The axis along which arrays of the rank of S are joined. */
type Along<S extends Shape, N extends 1 | 2 | 3 | 'columns'> = { 1: S['length'] extends 1 ? 0 : 1; 2: 0; 3: 2; columns: 1 }[N]
/** The shape of arrays joined by vstack (2), hstack (1), dstack (3) or columnStack: of as many axes at least. */
export type Joined<T extends readonly unknown[], N extends 1 | 2 | 3 | 'columns'> = T extends readonly [infer A extends Shape, ...infer U]
  ? JoinedAt<AtLeast<A, N>, U, N, Along<A, N>>
  : T extends readonly (infer A extends Shape)[]
    ? ManyJoined<A, N>
    : Shape
/** Of arrays of which the compiler does not know how many. */
type ManyJoined<A extends Shape, N extends 1 | 2 | 3 | 'columns'> = A extends unknown
  ? [number] extends [A['length']]
    ? Shape
    : SetAxis<AtLeast<A, N>, Along<A, N>, [number]>
  : never
type JoinedAt<A extends Shape, T, N extends 1 | 2 | 3 | 'columns', I> = T extends readonly [infer B extends Shape, ...infer U]
  ? JoinedAt<Beside<A, AtLeast<B, N>, I>, U, N, I>
  : T extends readonly []
    ? A
    : Shape
/** A and B joined along the axis I, as far as they fit. */
type Beside<A extends Shape, B extends Shape, I, R extends Dim[] = []> = A extends readonly [infer a, ...infer AT extends Shape]
  ? B extends readonly [infer b, ...infer BT extends Shape]
    ? Beside<AT, BT, I, [...R, (R['length'] extends I ? Plus<a, b, ZeroOf<R>> : Equal<a, b, ZeroOf<R>>) & Dim]>
    : Shape
  : A extends readonly []
    ? B extends readonly []
      ? R
      : Shape
    : Shape
/** The shape of arrays of one shape: what is known of one is known of all. */
export type OneShape<T extends readonly unknown[]> = T extends readonly [infer A extends Shape, ...infer U]
  ? JoinedAt<A, U, 1, -1>
  : T extends readonly (infer A extends Shape)[]
    ? A
    : Shape
/** The shape of arrays that broadcast, if as many as are told. */
export type BroadcastAll<T extends readonly unknown[], R extends Shape = []> = T extends readonly [infer A extends Shape, ...infer U]
  ? BroadcastAll<U, Ok<Broadcast<R, A>>>
  : T extends readonly []
    ? R
    : Shape

// ---- blocks

/** Arrays in rows in ... : what `block` joins. */
export type BlockList = readonly (Arg | BlockList)[]
/** The arrays in a list of blocks; numbers are arrays of their own, whose dtype nobody has declared. */
export type Leaves<X> = X extends readonly (infer E)[]
  ? [NestedArray<never>] extends [X]
    ? Arg
    : Leaves<E>
  : X extends number
    ? Expr<[], WeakF64>
    : X
/** How deep X is nested, as a shape: [1, 1] of a list of lists. */
type Depth<X> = X extends readonly [infer H, ...unknown[]] ? [1, ...Depth<H>] : []
/** The shape of blocks joined: the lists at each depth along an axis, counted from the last one. */
export type Block<X> = BlockAt<X, Depth<X>>
type BlockAt<X, Left extends Shape> = X extends readonly unknown[]
  ? X extends readonly [infer H, ...infer T]
    ? Left extends readonly [unknown, ...infer Below extends Shape]
      ? JoinedBlocks<Raised<BlockAt<H, Below>, Left>, T, Below>
      : Shape
    : Shape
  : Left extends readonly []
    ? ShapeOf<X>
    : Shape
type JoinedBlocks<A extends Shape, T, Below extends Shape> = T extends readonly [infer H, ...infer U]
  ? JoinedBlocks<JoinTail<A, BlockAt<H, Below>, Below['length']>, U, Below>
  : A
/** A with axes of length 1 in front, as many as Least has. */
type Raised<A extends Shape, Least extends Shape, T extends Shape = A> = [number] extends [A['length']]
  ? Shape
  : T extends readonly [unknown, ...infer U extends Shape]
    ? Least extends readonly [unknown, ...infer L extends Shape]
      ? Raised<A, L, U>
      : A
    : [...Least, ...A]
/** A and B joined along the axis I, counted from the last one, with axes of length 1 in front of the shorter. */
type JoinTail<A extends Shape, B extends Shape, I> = [number] extends [A['length'] | B['length']] ? Shape : JoinEnds<A, B, I>
type JoinEnds<A extends Shape, B extends Shape, I, R extends Dim[] = []> = A extends readonly [...infer AH extends Shape, infer a]
  ? B extends readonly [...infer BH extends Shape, infer b]
    ? JoinEnds<AH, BH, I, [JoinDim<a, b, I, R>, ...R]>
    : JoinEnds<AH, B, I, [JoinDim<a, 1, I, R>, ...R]>
  : B extends readonly [...infer BH extends Shape, infer b]
    ? JoinEnds<A, BH, I, [JoinDim<1, b, I, R>, ...R]>
    : R
type JoinDim<A, B, I, R extends Shape> = (R['length'] extends I ? Plus<A, B, ZeroOf<R>> : Equal<A, B, ZeroOf<R>>) & Dim
/** The shape of the matrix with blocks of these shapes on its diagonal. */
export type BlockDiag<T extends readonly unknown[], M = 0, N = 0> = T extends readonly [infer S extends Shape, ...infer U]
  ? Raised<S, [1, 1]> extends readonly [infer m, infer n]
    ? BlockDiag<U, Plus<M, m, ZeroOf<S>>, Plus<N, n, ZeroOf<S>>>
    : [number, number]
  : T extends readonly []
    ? [M & Dim, N & Dim]
    : [number, number]

// ---- diagonals

/** The length of the diagonal of an [M, N] matrix K places above its main one. */
type DiagonalOf<M, N, K, Zero> =
  Signed<Written<K, Zero>> extends readonly [infer P, infer Q] ? Least<Less<M, Q, Zero>, Less<N, P, Zero>, Zero> : number
/** A vector becomes a matrix with it on its diagonal K; of a matrix (or a stack of them) that diagonal. */
export type Diag<S extends Shape, K = 0> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [infer N]
    ? Square<Signed<Written<K, ZeroOf<S>>> extends readonly [infer P, infer Q] ? Plus<N, P extends 0 ? Q : P, ZeroOf<S>> : number>
    : S extends readonly [...infer H extends Shape, infer M, infer N]
      ? [...H, DiagonalOf<M, N, K, ZeroOf<S>> & Dim]
      : ShapeError<`diag: needs an axis, got shape ${Show<S>}`>
type Square<N> = [N & Dim, N & Dim]
/** S without two axes, and then the length of its diagonal in their plane. */
export type Diagonals<S extends Shape, O> = [number] extends [S['length']]
  ? Shape
  : DiagonalIn<S, Option<O, 'offset', 0>, Sole<Axis<S, Option<O, 'axis1', -2>>>, Sole<Axis<S, Option<O, 'axis2', -1>>>>
type DiagonalIn<S extends Shape, K, I, J> = number extends I | J
  ? S extends readonly [unknown, ...infer T extends Shape]
    ? AnySizes<T>
    : Shape
  : 'bad' extends I | J
    ? Shape
    : [...DropMembers<S, I | J>, DiagonalOf<S[I & number], S[J & number], K, ZeroOf<S>> & Dim]
/** How many elements of an [N, M] matrix lie on and below its diagonal K. */
export type Lower<N, K, M, Zero> =
  Known<Literals<N, M>> extends Box<Zero>
    ? Signed<Written<K, Zero>> extends [infer P, infer Q]
      ? Below<N & number, M & number, Add<P & number, 1>, Q & number>
      : number
    : number
/** The same on and above it. */
export type Upper<N, K, M, Zero> =
  Known<Literals<N, M>> extends Box<Zero>
    ? Signed<Written<K, Zero>> extends [infer P, infer Q]
      ? Sub<Mul<N & number, M & number>, Below<N & number, M & number, P & number, Q & number>>
      : number
    : number
/** The sum over rows i < N of i + P - Q, at least 0 and at most M. */
type Below<N extends number, M extends number, P extends number, Q extends number> = Sub<Stairs<N, P, Q>, Stairs<N, P, Add<Q, M>>>
/** The sum over i < N of i + P - Q, at least 0. */
type Stairs<N extends number, P extends number, Q extends number> = [Sub<P, Q>] extends [never]
  ? [Sub<N, Sub<Q, P>>] extends [never]
    ? 0
    : Triangle<Sub<N, Sub<Q, P>>>
  : Add<Mul<N, Sub<P, Q>>, Triangle<N>>
/** The sum over i < N of i. */
type Triangle<N extends number> = N extends 0 ? 0 : Div<Mul<N, Sub<N, 1>>, 2>

// ---- masks, grids, parts

/** S with an axis of length N in place of those that a mask of shape M has, from the axis I on. */
export type Masked<S extends Shape, M extends Shape, I, N extends number> = [number] extends [S['length'] | M['length']]
  ? Shape
  : Sole<Axis<S, I>> extends infer J
    ? number extends J
      ? Shape
      : J extends 'bad'
        ? Shape
        : MaskedAt<S, M, J, N>
    : never
type MaskedAt<S extends Shape, M extends Shape, I, N extends number, R extends Dim[] = []> = R['length'] extends I
  ? [...R, N, ...Behind<S, M>]
  : S extends readonly [infer H extends Dim, ...infer T extends Shape]
    ? MaskedAt<T, M, I, N, [...R, H]>
    : Shape
/** S without as many of its first axes as M has. */
type Behind<S extends Shape, M extends Shape> = M extends readonly [unknown, ...infer U extends Shape]
  ? S extends readonly [unknown, ...infer T extends Shape]
    ? Behind<T, U>
    : []
  : S
/** The shape of a grid over vectors of the shapes T. */
export type Grid<T extends readonly unknown[], O> = [number] extends [T['length']]
  ? Shape
  : Option<O, 'indexing', 'xy'> extends infer X
    ? [X] extends ['ij']
      ? Lengths<T>
      : [X] extends ['xy']
        ? Lengths<T> extends readonly [infer A extends Dim, infer B extends Dim, ...infer R extends Shape]
          ? [B, A, ...R]
          : Lengths<T>
        : AnySizes<Lengths<T>>
    : never
type Lengths<T extends readonly unknown[], R extends Dim[] = []> = T extends readonly [infer S, ...infer U]
  ? Lengths<U, [...R, S extends readonly [infer N extends Dim] ? N : S extends readonly [] ? 1 : number]>
  : R
/** The number of elements. */
export type SizeOf<S extends Shape, N = 1> = S extends readonly [infer H, ...infer T extends Shape]
  ? SizeOf<T, Times<N, H, ZeroOf<S>>>
  : S extends readonly []
    ? N
    : number
/** S with its axis I half as long. */
export type Halved<S extends Shape, I, Op extends string> = WithAxis<S, I, FloorOver<DimAt<S, I>, 2, ZeroOf<S>>, Op>
/** P parts of S along the axis I, the longer ones first. */
export type NearlyEqual<S extends Shape, P, I, Op extends string> =
  Repeated<P, 0> extends infer L extends readonly unknown[]
    ? P extends 1
      ? [S]
      : [number] extends [L['length']]
        ? Repeated<P, Ok<WithAxis<S, I, number, Op>>>
        : Known<Literals<DimAt<S, I>, P>> extends Box<ZeroOf<S>>
          ? DivMod<DimAt<S, I> & number, P & number> extends [infer Q extends number, infer R extends number]
            ? [...Repeated<R, Ok<WithAxis<S, I, Add<Q, 1>, Op>>>, ...Repeated<Sub<P & number, R>, Ok<WithAxis<S, I, Q, Op>>>]
            : never
          : Repeated<P, Ok<WithAxis<S, I, number, Op>>>
    : never

// ---- differences, moments

/** The length of what is put before or behind S along the axis I: 1 of a number, 0 of nothing. */
type EndOf<X, I> = [X] extends [undefined]
  ? 0
  : ShapeOf<X> extends infer S extends Shape
    ? S extends readonly []
      ? 1
      : [number] extends [S['length']]
        ? number
        : DimAt<S, I>
    : number
/** The shape of the differences of neighbours. */
export type Differences<S extends Shape, O, Op extends string> = DifferencesAt<S, O, Option<O, 'axis', -1>, Option<O, 'n', 1>, Op>
type DifferencesAt<S extends Shape, O, I, N, Op extends string> = IfIs<
  N,
  0,
  ZeroOf<S>,
  WithAxis<S, I, DimAt<S, I>, Op>,
  WithAxis<
    S,
    I,
    Less<
      Plus<Plus<DimAt<S, I>, EndOf<Option<O, 'prepend', undefined>, I>, ZeroOf<S>>, EndOf<Option<O, 'append', undefined>, I>, ZeroOf<S>>,
      N,
      ZeroOf<S>
    > &
      Dim,
    Op
  >
>
/** The shape of running integrals of S, one shorter along the axis I, where samples lie at X. */
export type Areas<S extends Shape, X, I, Op extends string> = [X] extends [undefined]
  ? Shorter<S, I, Op>
  : ShapeOf<X> extends readonly [unknown]
    ? Shorter<S, I, Op>
    : ShapeOf<X>['length'] extends S['length']
      ? Broadcast<Ok<Shorter<S, I, Op>>, Ok<WithAxis<ShapeOf<X>, I, number, Op>>, Op>
      : Shape
type Shorter<S extends Shape, I, Op extends string> = WithAxis<S, I, Less<DimAt<S, I>, 1, ZeroOf<S>> & Dim, Op>
/** The shape of integrals of S along the axis I, where samples lie at X. */
export type Area<S extends Shape, X, I, Op extends string> = [X] extends [undefined]
  ? Reduce<S, { readonly axis: I }, Op>
  : ShapeOf<X> extends readonly [unknown]
    ? Reduce<S, { readonly axis: I }, Op>
    : ShapeOf<X>['length'] extends S['length']
      ? Reduce<Ok<Broadcast<S, ShapeOf<X>, Op>>, { readonly axis: I }, Op>
      : Shape
/** [V, V] of variables in rows, or in columns; of one variable, as of a vector, a number. */
export type Covariance<S extends Shape, O> = S extends readonly [unknown]
  ? []
  : S extends readonly [infer V, infer W]
    ? Option<O, 'rowvar', true> extends infer R
      ? [R] extends [true]
        ? Matrix<V, ZeroOf<S>>
        : [R] extends [false]
          ? Matrix<W, ZeroOf<S>>
          : Matrix<V, ZeroOf<S>> | Matrix<W, ZeroOf<S>>
      : never
    : Shape
type Matrix<V, Zero> = IfIs<V, 1, Zero, [], Square<V>>
