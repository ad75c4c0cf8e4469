// Shape rules of the operations that move elements: concat, split, transpose, reshape, expandDims, squeeze.
import type { Add, DivMod, IsNat, Mul } from './nat.js'
import type {
  Axis,
  AxisOfNew,
  Box,
  Dim,
  InsertAxis,
  IsLiteral,
  IsUnknown,
  Known,
  Meets,
  NoAxis,
  Ok,
  Same,
  SetAxis,
  Shape,
  ShapeError,
  Show,
  ZeroOf,
} from './shape.js'
import type { AnySizes } from './shape-index.js'

// ---- arithmetic on dimensions: a literal where both are, else number

/** A + B for dimensions. */
export type AddDim<A, B> = IsLiteral<A> extends true ? (IsLiteral<B> extends true ? Add<A & number, B & number> : number) : number
/** A * B for dimensions; 1 keeps a name. */
export type MulDim<A, B> = [B] extends [1]
  ? A
  : [A] extends [1]
    ? B
    : IsLiteral<A> extends true
      ? IsLiteral<B> extends true
        ? Mul<A & number, B & number>
        : number
      : number

// ---- concat, stack, split, unstack

type ConcatTwo<A extends Shape, B extends Shape, I, R extends Dim[] = []> = A extends readonly [infer a, ...infer AT extends Shape]
  ? B extends readonly [infer b, ...infer BT extends Shape]
    ? R['length'] extends I
      ? ConcatTwo<AT, BT, I, [...R, AddDim<a, b>]>
      : Meets<a, b> extends true
        ? ConcatTwo<AT, BT, I, [...R, Same<a, b> & Dim]>
        : never
    : never
  : B extends readonly []
    ? R
    : never
type ConcatAll<A extends Shape, T extends readonly unknown[], I extends number> = [number] extends [A['length']]
  ? Shape
  : T extends readonly [infer B extends Shape, ...infer R]
    ? [number] extends [B['length']]
      ? Shape
      : Axis<A, I> extends infer J
        ? J extends 'bad'
          ? ShapeError<NoAxis<A, I, 'concat'>>
          : number extends J
            ? { -readonly [K in keyof A]: Dim }
            : [ConcatTwo<A, B, J>] extends [never]
              ? ShapeError<`concat: ${Show<A>} and ${Show<B>} differ away from axis ${I}`>
              : ConcatAll<ConcatTwo<A, B, J>, R, I>
        : never
    : A
/** The shape of arrays of the shapes T joined along axis I. @example Concat<[['b', 100], ['b', 28]], -1>   // ['b', 128] */
export type Concat<T extends readonly unknown[], I extends number = 0> = T extends readonly [infer A extends Shape, ...infer R]
  ? ConcatAll<A, R, I>
  : T extends readonly []
    ? ShapeError<'concat: needs at least one array'>
    : T extends readonly (infer A)[]
      ? A extends Shape
        ? [number] extends [A['length']]
          ? Shape
          : Axis<A, I> extends infer J
            ? J extends 'bad'
              ? ShapeError<NoAxis<A, I, 'concat'>>
              : number extends J
                ? { -readonly [K in keyof A]: Dim }
                : SetAxis<A, J, [number]>
            : never
        : Shape
      : Shape

type SameShapes<A extends Shape, T extends readonly unknown[]> = T extends readonly [infer B extends Shape, ...infer R]
  ? SameShape<A, B> extends true
    ? SameShapes<A, R>
    : B
  : true
type SameShape<A extends Shape, B extends Shape> = [number] extends [A['length']]
  ? true
  : [number] extends [B['length']]
    ? true
    : A extends readonly [infer a, ...infer AT extends Shape]
      ? B extends readonly [infer b, ...infer BT extends Shape]
        ? Meets<a, b> extends true
          ? SameShape<AT, BT>
          : false
        : false
      : B extends readonly []
        ? true
        : false
/** The shape of equal arrays stacked along a new axis I. @example Stack<[[3], [3]], 0>   // [2, 3] */
export type Stack<T extends readonly unknown[], I extends number = 0> = T extends readonly [infer A extends Shape, ...infer R]
  ? SameShapes<A, R> extends infer B
    ? B extends Shape
      ? ShapeError<`stack: shapes ${Show<A>} and ${Show<B>} differ`>
      : StackAt<A, I, T['length'] & number>
    : never
  : T extends readonly []
    ? ShapeError<'stack: needs at least one array'>
    : T extends readonly (infer A extends Shape)[]
      ? StackAt<A, I, number>
      : Shape
type StackAt<A extends Shape, I extends number, N extends number> = [number] extends [A['length']] ? Shape : WithNewAxis<A, I, N>

type TupleOf<N, T, R extends T[] = []> = R['length'] extends N ? R : TupleOf<N, T, [...R, T]>
/** N copies of T, or an array of T where N is unknown or above 99. */
export type Repeated<N, T> =
  IsNat<N> extends true
    ? `${N & number}` extends `${infer _A}${infer _B}${infer C}`
      ? C extends `${infer _D}${string}`
        ? T[]
        : Tuple<N, T>
      : Tuple<N, T>
    : T[]
/** `TupleOf`, of which TypeScript knows at once, where N is a parameter, that it is an array of T. */
type Tuple<N, T> = TupleOf<N, T> extends infer R extends T[] ? R : never

/** The shapes after splitting S along axis I into P equal parts (a number) or parts of the sizes P (a tuple). */
export type Split<S extends Shape, P, I extends number = 0> = [number] extends [S['length']]
  ? P extends readonly number[]
    ? { -readonly [K in keyof P]: Shape }
    : Repeated<P, Shape>
  : Axis<S, I> extends infer J
    ? J extends 'bad'
      ? ShapeError<NoAxis<S, I, 'split'>>
      : number extends J
        ? { -readonly [K in keyof S]: Dim }[]
        : `${J & number}` extends keyof S
          ? P extends readonly number[]
            ? SplitSizes<S, P, J, S[`${J & number}`]>
            : SplitEqual<S, P, J, S[`${J & number}`]>
          : Shape[]
    : never
/** `Split` without its errors: in equal parts that many shapes of its rank, whether or not a size that is a parameter divides. */
export type Parts<S extends Shape, P, I extends number = 0> =
  IsNat<P> extends true
    ? [number] extends [S['length']]
      ? Split<S, P, I>
      : Axis<S, I> extends infer J
        ? number extends J
          ? Split<S, P, I>
          : `${J & number}` extends keyof S
            ? Repeated<P, SetAxis<S, J, [Quotient<S[`${J & number}`], P>]>>
            : Split<S, P, I>
        : never
    : Split<S, P, I>
type Quotient<D, P> = IsNat<D> extends true ? (DivMod<D & number, P & number> extends [infer Q extends number, 0] ? Q : number) : number
type SplitEqual<S extends Shape, P, J, D> =
  IsNat<P> extends true
    ? IsNat<D> extends true
      ? DivMod<D & number, P & number> extends [infer Q extends number, infer R]
        ? R extends 0
          ? Repeated<P, SetAxis<S, J, [Q]>>
          : ShapeError<`split: axis ${J & number} of ${Show<S>} does not divide by ${P & number}`>
        : ShapeError<'split: needs at least one part'>
      : Repeated<P, SetAxis<S, J, [number]>>
    : SetAxis<S, J, [number]>[]
type Total<P extends readonly number[], R = 0> = P extends readonly [infer H, ...infer T extends readonly number[]]
  ? Total<T, AddDim<R, H>>
  : P extends readonly []
    ? R
    : number
type SplitSizes<S extends Shape, P extends readonly number[], J, D> =
  Meets<Total<P>, D> extends true
    ? { -readonly [K in keyof P]: SetAxis<S, J, [P[K]]> }
    : ShapeError<`split: sizes ${Show<P>} do not add up to axis ${J & number} of ${Show<S>}`>
/** The shapes of the slices of S along axis I, with that axis gone. */
export type Unstack<S extends Shape, I extends number = 0> = [number] extends [S['length']]
  ? Shape[]
  : Axis<S, I> extends infer J
    ? J extends 'bad'
      ? ShapeError<NoAxis<S, I, 'unstack'>>
      : `${J & number}` extends keyof S
        ? Repeated<S[`${J & number}`], SetAxis<S, J, []>>
        : Shape[]
    : never

// ---- transpose, reshape, expandDims, squeeze

/** S with its last two axes swapped, or permuted by P. @example Transpose<[2, 3, 4], [2, 0, 1]>   // [4, 2, 3] */
export type Transpose<S extends Shape, P = undefined> = [number] extends [S['length']]
  ? Shape
  : P extends readonly number[]
    ? [number] extends [P['length']]
      ? { -readonly [K in keyof S]: Dim }
      : S['length'] extends P['length']
        ? 'bad' extends Axis<S, P[number]>
          ? ShapeError<BadPermutation<S, P>>
          : number extends Axis<S, P[number]>
            ? { -readonly [K in keyof S]: Dim }
            : [Exclude<keyof S & `${number}`, `${Axis<S, P[number]> & number}`>] extends [never]
              ? Permuted<S, P>
              : ShapeError<BadPermutation<S, P>>
        : ShapeError<BadPermutation<S, P>>
    : S extends readonly [...infer H extends Shape, infer a extends Dim, infer b extends Dim]
      ? [...H, b, a]
      : ShapeError<`transpose: needs two axes or a permutation, got shape ${Show<S>}`>
type BadPermutation<S extends Shape, P extends readonly number[]> = `transpose: ${Show<P>} is not a permutation of the axes of ${Show<S>}`
type Permuted<S extends Shape, P extends readonly number[]> = { -readonly [K in keyof P]: S[Axis<S, P[K]> & number] & Dim }

/** The number of elements: [product of the literals, the names], or `number` when a dimension is unknown. */
type Count<S extends Shape, P extends number = 1, Dims extends string[] = []> = S extends readonly [infer H, ...infer T extends Shape]
  ? IsLiteral<H> extends true
    ? H extends -1
      ? Count<T, P, Dims>
      : Count<T, Mul<P, H & number>, Dims>
    : H extends string
      ? string extends H
        ? number
        : Count<T, P, [...Dims, H]>
      : number
  : [P, Dims]
type Without<Dims extends readonly string[], N extends string, R extends string[] = []> = Dims extends readonly [
  infer H extends string,
  ...infer T extends string[],
]
  ? [H] extends [N]
    ? [...R, ...T]
    : Without<T, N, [...R, H]>
  : never
/** Names less the names of Drop; `never` when one is missing. */
type Difference<Dims extends string[], Drop extends string[]> = Drop extends [infer H extends string, ...infer T extends string[]]
  ? [Without<Dims, H>] extends [never]
    ? never
    : Difference<Without<Dims, H>, T>
  : Dims
type Elements<C> = C extends [infer N extends number, infer Dims extends string[]] ? `${ShowProduct<Dims, `${N}`>} elements` : '? elements'
type ShowProduct<Dims extends string[], R extends string> = Dims extends [infer H extends string, ...infer T extends string[]]
  ? ShowProduct<T, `${R} x ${H}`>
  : R

/** T, if it has as many elements as S, one -1 or one unknown size filled in; else a ShapeError. @example Reshape<['b', 28, 28], ['b', -1]>   // ['b', 784] */
export type Reshape<S extends Shape, T extends Shape> = [number] extends [T['length']] ? Shape : ReshapeTo<S, T>
/** `Reshape` to a shape of known rank. */
export type ReshapeTo<S extends Shape, T extends Shape> = [number] extends [S['length']]
  ? NoMinusOne<T, number>
  : [Count<S>, Count<T>] extends [infer A, infer B]
    ? A extends [infer P extends number, infer N extends string[]]
      ? B extends [infer Q extends number, infer M extends string[]]
        ? -1 extends T[number]
          ? ReshapeRest<S, T, P, N, Q, M>
          : [Difference<N, M>] extends [never]
            ? ShapeError<DoesNotFit<S, T>>
            : [P, Difference<N, M>] extends [Q, []]
              ? T
              : ShapeError<DoesNotFit<S, T>>
        : [SoleUnknown<T>] extends [never]
          ? NoMinusOne<T, number>
          : Count<SoleUnknown<T>> extends [infer Q extends number, infer M extends string[]]
            ? ReshapeRest<S, SoleUnknown<T>, P, N, Q, M>
            : NoMinusOne<T, number>
      : NoMinusOne<T, number>
    : never
/** T with -1 in place of its one unknown size, which the others leave: `x.shape[0]` is n again. `never` where there is none, or several. */
type SoleUnknown<T extends Shape, R extends Dim[] = [], Seen = false> = T extends readonly [infer H, ...infer U extends Shape]
  ? IsUnknown<H> extends true
    ? Seen extends true
      ? never
      : SoleUnknown<U, [...R, -1], true>
    : H extends -1
      ? never
      : SoleUnknown<U, [...R, H & Dim], Seen>
  : Seen extends true
    ? R
    : never
type NoMinusOne<T extends Shape, D> = -1 extends T[number] ? { -readonly [K in keyof T]: T[K] extends -1 ? D & Dim : T[K] } : T
type DoesNotFit<
  S extends Shape,
  T extends Shape,
> = `reshape: ${Show<S>} (${Elements<Count<S>>}) does not fit ${Show<T>} (${Elements<Count<T>>})`
type ReshapeRest<S extends Shape, T extends Shape, P extends number, N extends string[], Q extends number, M extends string[]> = [
  Difference<N, M>,
] extends [never]
  ? NoMinusOne<T, number>
  : Q extends 0
    ? NoMinusOne<T, number>
    : DivMod<P, Q> extends [infer D, infer R]
      ? Difference<N, M> extends []
        ? R extends 0
          ? NoMinusOne<T, D>
          : ShapeError<DoesNotFit<S, T>>
        : [Difference<N, M>, D] extends [[infer H], 1]
          ? NoMinusOne<T, H>
          : NoMinusOne<T, number>
      : never

/** S with an axis of length D (default 1) at I of the result, or at each of several I. */
export type ExpandDims<S extends Shape, I, D extends number = 1> = [number] extends [S['length']]
  ? Shape
  : I extends readonly number[]
    ? [number] extends [I['length']]
      ? Shape
      : ExpandedAt<S, Longer<S, I>, I[number], D>
    : I extends number
      ? WithNewAxis<S, I, D>
      : Shape
/** S with an axis of length D at I of the result. */
type WithNewAxis<S extends Shape, I extends number, D extends number> =
  AxisOfNew<S, I> extends infer J
    ? J extends 'bad'
      ? ShapeError<NoAxis<S, I, 'expandDims'>>
      : number extends J
        ? [Dim, ...{ -readonly [K in keyof S]: Dim }]
        : InsertAxis<S, J, D>
    : never
/** S with as many axes more as I has. */
type Longer<S extends Shape, I extends readonly unknown[]> = I extends readonly [unknown, ...infer T] ? Longer<[...S, 1], T> : S
/** S with axes D at the axes A, of a result of the rank of R. Decided by the axes: whether the result is a shape, TypeScript does not know of sizes that are parameters. */
type ExpandedAt<S extends Shape, R extends Shape, A, D extends number> =
  Axis<R, A> extends infer J
    ? 'bad' extends J
      ? ShapeError<NoAxis<R, BadAmong<R, A>, 'expandDims'>>
      : number extends J
        ? { -readonly [K in keyof R]: Dim }
        : NewAxes<S, R, J, D>
    : never
/** Of the axes A those that S does not have. */
type BadAmong<S extends Shape, A> = A extends unknown ? (Axis<S, A> extends 'bad' ? A : never) : never
/** S with axes D at the places J of as many as there are in T. */
type NewAxes<S extends Shape, T extends Shape, J, D extends number, R extends Dim[] = []> = T extends readonly [
  unknown,
  ...infer Rest extends Shape,
]
  ? R['length'] extends J
    ? NewAxes<S, Rest, J, D, [...R, D]>
    : S extends readonly [infer H extends Dim, ...infer Q extends Shape]
      ? NewAxes<Q, Rest, J, D, [...R, H]>
      : R
  : R

/** S without its axes of length 1, or without the axes I, which must be of length 1. */
export type Squeeze<S extends Shape, I = undefined> = [number] extends [S['length']]
  ? Shape
  : [I] extends [undefined]
    ? SqueezeOnes<S>
    : I extends readonly (infer A)[]
      ? number extends A
        ? SqueezeSome<S, I>
        : SqueezeAxes<S, A>
      : number extends I
        ? SqueezeSome<S, [I]>
        : SqueezeAxes<S, I>
/** S without as many axes as I has, whichever they are: of unknown sizes. */
type SqueezeSome<S extends Shape, I extends readonly unknown[], O extends Shape = S> = [number] extends [I['length']]
  ? Shape
  : I extends readonly [unknown, ...infer R]
    ? S extends readonly [unknown, ...infer T extends Shape]
      ? SqueezeSome<T, R, O>
      : ShapeError<`squeeze: more axes than shape ${Show<O>} has`>
    : AnySizes<S>
type SqueezeOnes<S extends Shape, R extends Dim[] = []> = S extends readonly [infer H extends Dim, ...infer T extends Shape]
  ? Known<Fixed<H>> extends Box<ZeroOf<R>>
    ? SqueezeOnes<T, H extends 1 ? R : [...R, H]>
    : Shape
  : R
/** [], if H is a literal or a name. */
type Fixed<H> = H extends number ? (number extends H ? [0] : []) : string extends H ? [0] : []
/** `Squeeze` where the axes are of length 1. */
export type Squeezed<S extends Shape, I = undefined> = [number] extends [S['length']]
  ? Shape
  : [I] extends [undefined]
    ? SqueezeOnes<S>
    : I extends readonly (infer A)[]
      ? number extends A
        ? Ok<SqueezeSome<S, I>>
        : Dropped<S, Axis<S, A>>
      : number extends I
        ? Ok<SqueezeSome<S, [I]>>
        : Dropped<S, Axis<S, I>>
type Dropped<S extends Shape, A> = 'bad' extends A ? Shape : number extends A ? Shape : DropMembers<S, A>
type SqueezeAxes<S extends Shape, A> =
  'bad' extends Axis<S, A>
    ? ShapeError<NoAxis<S, A, 'squeeze'>>
    : number extends Axis<S, A>
      ? Shape
      : [NotOne<S, Axis<S, A>>] extends [never]
        ? DropMembers<S, Axis<S, A>>
        : ShapeError<`squeeze: axis ${NotOne<S, Axis<S, A>>} of ${Show<S>} is not 1`>
type NotOne<S extends Shape, A> = A extends number ? (Meets<S[A], 1> extends true ? never : A) : never
/** S without the axes A. */
export type DropMembers<S extends Shape, A, Seen extends unknown[] = [], R extends Dim[] = []> = S extends readonly [
  infer H extends Dim,
  ...infer T extends Shape,
]
  ? DropMembers<T, A, [...Seen, 0], Seen['length'] extends A ? R : [...R, H]>
  : R
