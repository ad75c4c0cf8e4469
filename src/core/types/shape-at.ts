// The shape of x[i, j, ...] in NumPy's notation: numbers, slices as text, '...', null, expressions and arrays.
import type { ShapeOf, Typed } from './expr.js'
import type { Sub } from './nat.js'
import type { Box, Broadcast, Dim, IsLiteral, Known, Ok, Shape, ShapeError, Show, ZeroOf } from './shape.js'
import type { PartSize } from './shape-index.js'

/** A shape error of the index at place K of the list. */
interface IndexError<Message extends string, K extends string> extends ShapeError<Message> {
  readonly place: K
}

// ---- one axis of length D: the axes in its place, as a tuple; or a message

/** A number drops the axis, if it is in range: 0, or a message. Said apart from the shape, since of a size that is a parameter it is not known. */
type NumberAt<D, H extends number> = number extends H
  ? 0
  : IsLiteral<D> extends true
    ? `${H}` extends `-${infer N extends number}`
      ? [Sub<D & number, N>] extends [never]
        ? OutOfRange<D, H>
        : 0
      : [Sub<D & number, H>] extends [never]
        ? OutOfRange<D, H>
        : H extends D
          ? OutOfRange<D, H>
          : 0
    : 0
type OutOfRange<D, H extends number> = `index ${H} is out of range for an axis of length ${D & number}`

/** [], if A is P, to be asked of `Known`: of a text with a parameter in it, `:${L}`, TypeScript says there at once that it is another. */
type Is<A, P> = A extends P ? [] : [0]
/** The same, if A is any text. */
type IsAnyText<A> = A extends string ? (string extends A ? [] : [0]) : []
/** [], if one of H is no number and no text. */
type HasObject<H> = [H extends object ? 0 : never] extends [never] ? [0] : []
// in boxes: which parts a text with a parameter has TypeScript says there at once; C is inferred where there are three, and F unless H is never: of a number, which has nothing in
// common with text, as TypeScript says of a parameter too
type SliceAt<D extends Dim, H extends string, Zero> =
  Box<H> extends Box<`${infer A}:${infer B}:${infer C}`> | Box<`${infer F}:${infer T}`>
    ? Known<string extends F ? [] : [0]> extends Box<Zero>
      ? []
      : Known<IsAnyText<C>> extends Box<Zero>
        ? PartAt<D, H, Bound<F, Zero>, Bound<T, Zero>, 1>
        : PartAt<D, H, Bound<A, Zero>, Bound<B, Zero>, StepOf<Bound<C, Zero>>>
    : string extends H
      ? [number]
      : NotASlice<H>
type NotASlice<H extends string> = `'${H}' is not a slice: write 'start:end' or 'start:end:step'`
/** A position: a number, 'open' where it is left out, 'bad' for what is none. A parameter is a number that is not known. Zero is `ZeroOf` an accumulator of the caller. */
type Bound<A extends string, Zero> =
  Box<A> extends Box<`${infer N extends number}`> | Box<`-${infer _M extends number}`>
    ? Known<IsLiteral<N> extends true ? [] : [0]> extends Box<Zero>
      ? N
      : number
    : A extends ''
      ? 'open'
      : string extends A
        ? number
        : 'bad'
type StepOf<C> = C extends 'open' ? 1 : C
type PartAt<D extends Dim, H extends string, A, B, C> = 'bad' extends A | B | C
  ? NotASlice<H>
  : [A, B, C] extends ['open', 'open', 1 | -1]
    ? [D]
    : [number extends A | B | C ? number : PartSize<D, A, B, C>]
/** The shape of an array of indices; of a list that is written out all its sizes. */
type IndexShape<H> =
  H extends Typed<infer S, 'i32'>
    ? S
    : H extends number
      ? []
      : H extends readonly []
        ? [0]
        : H extends readonly [infer F, ...unknown[]]
          ? [H['length'] & number, ...IndexShape<F>]
          : H extends Int32Array
            ? [number]
            : ShapeOf<H>

// ---- all axes

/** The axes that '...' stands for: those of S that the indices T behind it leave. */
type Middle<S extends Shape, T extends readonly unknown[]> = T extends readonly [...infer TT, infer L]
  ? Known<Is<L, null | '...'>> extends Box<ZeroOf<S>>
    ? [L] extends [null]
      ? Middle<S, TT>
      : "'...' may stand once"
    : S extends readonly [...infer SS extends Shape, unknown]
      ? Middle<SS, TT>
      : 'more indices than axes'
  : S

/** Where the axes of arrays go: 0 none was there, 1 among them, 2 behind them, 3 behind them and there was another: to the front. */
type Kept = { 0: 0; 1: 2; 2: 2; 3: 3 }
type Gathered = { 0: 1; 1: 1; 2: 3; 3: 3 }
type Phase = 0 | 1 | 2 | 3
/** S: the axes that are left, of O. A: axes before those of arrays, G: these, B: axes behind them. K: for each index that was read 0, or what is wrong with it. */
type Walk<
  S extends Shape,
  I extends readonly unknown[],
  O extends Shape,
  A extends Dim[] = [],
  G extends Shape = [],
  B extends Dim[] = [],
  P extends Phase = 0,
  K extends (0 | string)[] = [],
> = I extends readonly [infer H, ...infer T]
  ? Known<Is<H, null | '...'>> extends Box<ZeroOf<K>>
    ? [H] extends [null]
      ? Keep<[1], S, T, O, A, G, B, P, K>
      : Middle<S, T> extends infer M
        ? M extends readonly [...infer N extends Shape]
          ? S extends readonly [...N, ...infer E extends Shape]
            ? Keep<N, E, T, O, A, G, B, P, K>
            : never
          : Wrong<M, O, K>
        : never
    : S extends readonly [infer D extends Dim, ...infer E extends Shape]
      ? Known<HasObject<H>> extends Box<ZeroOf<K>>
        ? Pick<H, E, T, O, A, G, B, P, K>
        : Box<H & string> extends Box<infer X extends string>
          ? SliceAt<D, X, ZeroOf<K>> extends infer N
            ? N extends readonly []
              ? Walk<E, T, O, A, G, B, Gathered[P], [...K, NumberAt<D, H & number>]>
              : N extends readonly [infer L extends Dim]
                ? Keep<[L], E, T, O, A, G, B, P, K>
                : Wrong<N, O, K>
            : never
          : never
      : Wrong<'more indices than axes', O, K>
  : Found<P extends 3 ? [...G, ...A, ...B, ...S] : [...A, ...G, ...B, ...S], K, O>
/** A shape Z that indices give, as K says of each whether it is in range of x, which has the shape O. */
interface Found<Z extends Shape, K, O extends Shape> {
  readonly shape: Z
  readonly each: K
  readonly of: O
}
type Keep<
  N extends Shape,
  S extends Shape,
  T extends readonly unknown[],
  O extends Shape,
  A extends Dim[],
  G extends Shape,
  B extends Dim[],
  P extends Phase,
  K extends (0 | string)[],
> = P extends 0 ? Walk<S, T, O, [...A, ...N], G, B, 0, [...K, 0]> : Walk<S, T, O, A, G, [...B, ...N], Kept[P], [...K, 0]>
type Pick<
  H,
  S extends Shape,
  T extends readonly unknown[],
  O extends Shape,
  A extends Dim[],
  G extends Shape,
  B extends Dim[],
  P extends Phase,
  K extends (0 | string)[],
> = [H] extends [{ readonly dtype: 'i32' } | readonly unknown[] | Int32Array]
  ? Broadcast<G, IndexShape<H>, 'at'> extends infer R
    ? R extends ShapeError<string>
      ? Wrong<`arrays of indices of shapes ${Show<G>} and ${Show<IndexShape<H>>} do not broadcast`, O, K>
      : [number] extends [Ok<R>['length']]
        ? Shape
        : Walk<S, T, O, A, Ok<R>, B, Gathered[P], [...K, 0]>
    : never
  : H extends { readonly dtype: infer X }
    ? 'i32' extends X
      ? Shape
      : IndexError<NotIndices<X>, `${K['length']}`>
    : Shape
/** What is said of indices whose dtype X is not i32. */
export type NotIndices<X> = `indices are i32, and this is ${X & string}: cast it to 'i32'`
type Wrong<M, O extends Shape, K extends readonly unknown[]> = IndexError<
  `${M & string}; x has shape ${Show<O>}`,
  `${K['length'] & number}`
>

/**
 * The shape of x[I] for an array of shape S: NumPy's rules, those for several arrays included.
 * @example At<['b', 10, 3], ['...', '2:8', -1, null]>   // ['b', 6, 1]
 */
export type At<S extends Shape, I extends readonly unknown[]> =
  Places<S, I> extends infer R ? (R extends Found<infer Z, infer _K, infer _O> ? Z : R extends Shape ? R : Shape) : never
/** What x[I] is: a shape, with whether each index is in range; an unknown one; or what is wrong. */
export type Places<S extends Shape, I extends readonly unknown[]> = [number] extends [S['length']]
  ? Shape
  : [number] extends [I['length']]
    ? Shape
    : Known<0 extends 1 & I[number] ? [] : [0]> extends Box<ZeroOf<I>>
      ? Shape
      : Walk<S, I, S>
/** The indices I; where they give an error, that error in the place of the wrong one. Where R is not decided, any: each branch is I, or is looked up in what has I among its entries. */
export type IndicesFor<R, I extends readonly unknown[], Op extends string> = [R] extends [ShapeError<string>]
  ? Misplaced<R, I, Op>['indices']
  : [R] extends [Shape]
    ? I
    : Placed<R, I, Op>['indices']
type Misplaced<R, I extends readonly unknown[], Op extends string> =
  R extends IndexError<infer M, infer K>
    ? { readonly indices: { readonly [J in keyof I]: J extends K ? ShapeError<`${Op}: ${M}`> : I[J] } }
    : { readonly indices: I }
type Placed<R, I extends readonly unknown[], Op extends string> =
  R extends Found<infer _Z, infer K, infer O> ? InRange<K, O, I, Op> : { readonly indices: I }
// a condition of its own, whose both branches are one entry: where a size is a parameter, either may be
type InRange<K, O extends Shape, I extends readonly unknown[], Op extends string> = K extends readonly 0[]
  ? { readonly indices: I }
  : { readonly indices: { readonly [J in keyof I]: J extends keyof K ? IndexIn<K[J], O, I[J], Op> : I[J] } }
type IndexIn<M, O extends Shape, H, Op extends string> = M extends string ? ShapeError<`${Op}: ${M}; x has shape ${Show<O>}`> : H
/** I, or the error that the places R are. */
export type IndexFor<R, I, Op extends string> = [R] extends [ShapeError<string>]
  ? MisplacedAt<R, I, Op>['index']
  : [R] extends [Shape]
    ? I
    : PlacedAt<R, I, Op>['index']
type MisplacedAt<R, I, Op extends string> =
  R extends IndexError<infer M, string> ? { readonly index: ShapeError<`${Op}: ${M}`> } : { readonly index: I }
type PlacedAt<R, I, Op extends string> = R extends Found<infer _Z, infer K, infer O> ? InRangeAt<K, O, I, Op> : { readonly index: I }
type InRangeAt<K, O extends Shape, I, Op extends string> = K extends readonly 0[]
  ? { readonly index: I }
  : { readonly index: ShapeError<`${Op}: ${Exclude<K extends readonly (infer M)[] ? M : never, 0> & string}; x has shape ${Show<O>}`> }
/** Indices as a list: of `set` and `addAt`, where one may stand alone. */
export type IndexList<I> = I extends readonly unknown[] ? I : readonly [I]
