// Shape rules of the operations that contract: matmul, dot, einsum, linear algebra, convolution and pooling.
import type { OptionsOf } from '../errors/options.js'
import type { convOptions, poolOptions } from '../ops/nn.js'
import type { Add, Div, IsNat, Mul, Sub } from './nat.js'
import type {
  Box,
  Broadcast,
  Differ,
  Dim,
  Known,
  Meets,
  NoOptions,
  Ok,
  Reduce,
  Same,
  Shape,
  ShapeError,
  Show,
  ShowDim,
  ZeroOf,
} from './shape.js'
import type { CeilDiv } from './shape-index.js'
import type { AddDim } from './shape-layout.js'
import type { FlagIn, Literals, Times } from './sizes.js'

// ---- matmul and its relatives

type InnerAxes<
  A extends Shape,
  B extends Shape,
  ka,
  kb,
> = `matmul: inner axes differ: a is ${Show<A>}, b is ${Show<B>} (${ShowDim<ka>} is not ${ShowDim<kb>})`
/** The shape of the matrix product: [..., n, k] x [..., k, m]; a vector stands for a row (a) or a column (b). */
export type MatMul<A extends Shape, B extends Shape> = [number] extends [A['length']]
  ? Shape
  : [number] extends [B['length']]
    ? Shape
    : A extends readonly [...infer AL extends Shape, infer ka extends Dim]
      ? B extends readonly [infer kb extends Dim]
        ? Meets<ka, kb> extends true
          ? [...AL]
          : ShapeError<InnerAxes<A, B, ka, kb>>
        : B extends readonly [...infer BL extends Shape, infer kb extends Dim, infer m extends Dim]
          ? Meets<ka, kb> extends true
            ? AL extends readonly [...infer AB extends Shape, infer n extends Dim]
              ? Broadcast<AB, BL> extends infer R
                ? R extends ShapeError<string>
                  ? ShapeError<`matmul: leading axes differ: a is ${Show<A>}, b is ${Show<B>}`>
                  : [...Ok<R>, n, m]
                : never
              : [...BL, m]
            : ShapeError<InnerAxes<A, B, ka, kb>>
          : ShapeError<`matmul: needs at least one axis: a is ${Show<A>}, b is ${Show<B>}`>
      : ShapeError<`matmul: needs at least one axis: a is ${Show<A>}, b is ${Show<B>}`>

/** NumPy's dot: the axes of A but the last, then those of B but the second last (or its only one); of a number, the other shape. */
export type Dot<A extends Shape, B extends Shape> = [number] extends [A['length']]
  ? Shape
  : [number] extends [B['length']]
    ? Shape
    : A extends readonly [...infer AL extends Shape, infer ka]
      ? B extends readonly [infer kb]
        ? Meets<ka, kb> extends true
          ? [...AL]
          : DotClash<A, B>
        : B extends readonly [...infer BL extends Shape, infer kb, infer m extends Dim]
          ? Meets<ka, kb> extends true
            ? [...AL, ...BL, m]
            : DotClash<A, B>
          : A
      : B
type DotClash<
  A extends Shape,
  B extends Shape,
> = ShapeError<`dot: the last axis of a and the second last of b differ: a is ${Show<A>}, b is ${Show<B>}`>

/** The inner product of vectors along the axis X of two arrays of them: the other axes broadcast. */
export type Vecdot<A extends Shape, B extends Shape, X = -1> = [X] extends [-1]
  ? VecdotLast<A, B>
  : Broadcast<A, B, 'vecdot'> extends infer R extends Shape
    ? Reduce<R, { readonly axis: X }, 'vecdot'>
    : Broadcast<A, B, 'vecdot'>
type VecdotLast<A extends Shape, B extends Shape> = [number] extends [A['length']]
  ? Shape
  : [number] extends [B['length']]
    ? Shape
    : A extends readonly [...infer AL extends Shape, infer ka]
      ? B extends readonly [...infer BL extends Shape, infer kb]
        ? Meets<ka, kb> extends true
          ? Broadcast<AL, BL, 'vecdot'>
          : ShapeError<`vecdot: last axes differ: a is ${Show<A>}, b is ${Show<B>}`>
        : ShapeError<`vecdot: needs at least one axis: a is ${Show<A>}, b is ${Show<B>}`>
      : ShapeError<`vecdot: needs at least one axis: a is ${Show<A>}, b is ${Show<B>}`>

/** [], if the last two axes of S are equal; else a ShapeError that names Op. Never S itself: that would be a place to infer S from. */
export type Square<S extends Shape, Op extends string> = [number] extends [S['length']]
  ? []
  : S extends readonly [...unknown[], infer a, infer b]
    ? [Same<a, b>] extends [never]
      ? ShapeError<`${Op}: needs square matrices, got shape ${Show<S>}`>
      : []
    : ShapeError<`${Op}: needs square matrices, got shape ${Show<S>}`>
/** S without its last N axes (1 or 2). */
export type DropLast<S extends Shape, N extends 1 | 2> = [number] extends [S['length']]
  ? Shape
  : N extends 1
    ? S extends readonly [...infer H extends Shape, unknown]
      ? [...H]
      : Shape
    : S extends readonly [...infer H extends Shape, unknown, unknown]
      ? [...H]
      : Shape

// ---- einsum

type Letters<T extends string, S extends Shape, Seen = Readonly<Record<never, never>>> = T extends `${infer H}${infer R}`
  ? S extends readonly [infer d, ...infer ST extends Shape]
    ? H extends keyof Seen
      ? Meets<Seen[H], d> extends true
        ? Letters<R, ST, Seen>
        : never
      : Letters<R, ST, Seen & { [K in H]: d }>
    : never
  : S extends readonly []
    ? Seen
    : never
/** The sizes of letters, and the axes under the ellipsis. */
interface Named<Seen, More extends Shape> {
  readonly seen: Seen
  readonly more: More
}
/** A term, of which the axes between P and Q have no letters. */
type Term<T extends string, S extends Shape, Seen, More extends Shape> = T extends `${infer P}...${infer Q}`
  ? S extends readonly [...Ends<P>, ...infer E extends Shape]
    ? E extends readonly [...infer M extends Shape, ...Ends<Q>]
      ? S extends readonly [...infer B extends Shape, ...E]
        ? E extends readonly [...M, ...infer A extends Shape]
          ? Under<Letters<Q, A, Letters<P, B, Seen>>, Broadcast<More, M>>
          : never
        : never
      : never
    : never
  : Under<Letters<T, S, Seen>, More>
type Under<Seen, More> = [Seen] extends [never] ? never : Named<Seen, Ok<More>>
/** As many as T has letters. */
type Ends<T extends string, R extends unknown[] = []> = T extends `${string}${infer U}` ? Ends<U, [...R, unknown]> : R
type AllTerms<T extends string, Ss extends readonly unknown[], N = Named<Readonly<Record<never, never>>, []>> =
  N extends Named<infer Seen, infer More>
    ? Ss extends readonly [infer S extends Shape, ...infer R]
      ? T extends `${infer H},${infer TT}`
        ? AllTerms<TT, R, Term<H, S, Seen, More>>
        : R extends readonly []
          ? Term<T, S, Seen, More>
          : never
      : never
    : never
type LettersOut<T extends string, Seen, R extends Dim[] = []> = T extends `${infer H}${infer TT}`
  ? H extends keyof Seen
    ? LettersOut<TT, Seen, [...R, Seen[H] & Dim]>
    : never
  : R
/** Asked of T, so that TypeScript does not go through the alphabet before it knows T. */
type Alphabet<T extends string> = T extends '' ? '' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The sizes of letters that are in T once, in alphabetical order. */
type OnceIn<T extends string, Seen, Abc extends string = Alphabet<T>, R extends Dim[] = []> = Abc extends `${infer C}${infer U}`
  ? T extends `${string}${C}${infer B}`
    ? B extends `${string}${C}${string}`
      ? OnceIn<T, Seen, U, R>
      : OnceIn<T, Seen, U, [...R, Seen[C & keyof Seen] & Dim]>
    : OnceIn<T, Seen, U, R>
  : R
type Packed<T extends string> = T extends `${infer A} ${infer B}` ? Packed<`${A}${B}`> : T
type ShowAll<Ss extends readonly unknown[], R extends string = ''> = Ss extends readonly [infer S extends Shape, ...infer T]
  ? ShowAll<T, R extends '' ? Show<S> : `${R}, ${Show<S>}`>
  : R
/** The result of einsum for a literal 'ij,jk->ik'. */
export type Einsum<Spec extends string, Ss extends readonly Shape[]> = [number] extends [Ss['length']]
  ? Shape
  : number extends Ss[number]['length']
    ? Shape
    : string extends Spec
      ? Shape
      : Packed<Spec> extends `${infer L}->${infer R}`
        ? EinsumOut<Spec, Ss, AllTerms<L, Ss>, R>
        : EinsumOut<Spec, Ss, AllTerms<Packed<Spec>, Ss>>
type DoesNotFit<Spec extends string, Ss extends readonly Shape[]> = ShapeError<`einsum: '${Spec}' does not fit the shapes ${ShowAll<Ss>}`>
/** What is left of terms N: R, or without one the axes of the ellipsis and the letters that are there once. */
type EinsumOut<Spec extends string, Ss extends readonly Shape[], N, R extends string | undefined = undefined> = [N] extends [never]
  ? DoesNotFit<Spec, Ss>
  : N extends Named<infer Seen, infer More>
    ? R extends string
      ? EinsumTo<Spec, R, Seen, More>
      : [...More, ...OnceIn<Packed<Spec>, Seen>]
    : Shape
type EinsumTo<Spec extends string, R extends string, Seen, More extends Shape> = R extends `${infer P}...${infer Q}`
  ? [LettersOut<P, Seen>, LettersOut<Q, Seen>] extends [infer A extends Dim[], infer B extends Dim[]]
    ? [A] extends [never]
      ? NoLetter<Spec>
      : [B] extends [never]
        ? NoLetter<Spec>
        : [...A, ...More, ...B]
    : NoLetter<Spec>
  : [LettersOut<R, Seen>] extends [never]
    ? NoLetter<Spec>
    : More extends []
      ? LettersOut<R, Seen>
      : ShapeError<`einsum: the output of '${Spec}' leaves out the axes of '...'`>
type NoLetter<Spec extends string> = ShapeError<`einsum: '${Spec}' has an output letter that no input has`>

// ---- convolution and pooling

/** Padding of each spatial axis: one number, 'same', 'valid', or per axis a number or [before, after]. */
export type Padding = number | 'same' | 'valid' | readonly (number | readonly [number, number])[]
/** Options of `conv`. */
export interface ConvOptions extends OptionsOf<typeof convOptions> {}
/** Options of `maxPool` and `avgPool`. */
export interface PoolOptions extends OptionsOf<typeof poolOptions> {}
type Option<O, K extends string, Default> = K extends keyof O ? (O[K] extends undefined ? Default : O[K]) : Default
type PerAxis<V, I> = V extends readonly unknown[] ? (I extends keyof V ? V[I] : number) : V
/** What padding adds to one axis, both ends together. */
type PadTotal<P> = P extends 'valid' ? 0 : P extends readonly [infer A, infer B] ? AddDim<A, B> : P extends number ? AddDim<P, P> : number
/** The extent of a dilated kernel: dilation (k - 1) + 1. */
type Extent<K, Dilation> = [Dilation] extends [1]
  ? K
  : IsNat<K> extends true
    ? IsNat<Dilation> extends true
      ? Add<Mul<Sub<K & number, 1>, Dilation & number>, 1>
      : number
    : number
/** One spatial axis after a window: floor((h + pad - extent) / stride) + 1; Larger when the window is larger. */
export type WindowDim<H, K, Stride, P, Dilation = 1, Larger = never> =
  IsNat<Stride> extends true
    ? P extends 'same'
      ? Stride extends 1
        ? H
        : IsNat<H> extends true
          ? Add<Div<Sub<H & number, 1>, Stride & number>, 1>
          : number
      : [IsNat<H>, IsNat<Extent<K, Dilation>>, IsNat<PadTotal<P>>] extends [true, true, true]
        ? [Sub<Add<H & number, PadTotal<P> & number>, Extent<K, Dilation> & number>] extends [never]
          ? Larger
          : Add<Div<Sub<Add<H & number, PadTotal<P> & number>, Extent<K, Dilation> & number>, Stride & number>, 1>
        : [Extent<K, Dilation>, PadTotal<P>, Stride] extends [1, 0, 1]
          ? H
          : number
    : number
type WindowDims<Hs extends Shape, Ks extends Shape, Stride, P, Dilation, R extends Dim[] = []> = Hs extends readonly [
  infer h,
  ...infer HT extends Shape,
]
  ? Ks extends readonly [infer k, ...infer KT extends Shape]
    ? [WindowDim<h, k, PerAxis<Stride, `${R['length']}`>, PerAxis<P, `${R['length']}`>, PerAxis<Dilation, `${R['length']}`>>] extends [
        infer d extends Dim,
      ]
      ? [d] extends [never]
        ? never
        : WindowDims<HT, KT, Stride, P, Dilation, [...R, d]>
      : never
    : never
  : Ks extends readonly []
    ? R
    : never

/** [], if all is a literal that the number of windows depends on. */
type Decides<H, K, Stride, P, Dilation> = P extends 'same'
  ? AllLiteral<H, Stride>
  : Dilation extends number
    ? K extends number
      ? AllLiteral<H, Stride, K | Dilation | PadTotal<P>>
      : [0]
    : [0]
/** [], if A and B are literals, and no number is in C. */
type AllLiteral<A, B, C = never> = A extends number ? (B extends number ? (number extends A | B | C ? [0] : []) : [0]) : [0]
/** [], if a window leaves as many positions as there were: in steps of 1, with as much padding as it is longer than 1. */
type Keeps<K, Stride, P, Dilation> = Stride extends 1 ? (P extends 'same' ? [] : Longer<K, Dilation, PadTotal<P>>) : [0]
type Longer<K, Dilation, Total> = K extends number
  ? Dilation extends number
    ? [IsNat<Extent<K, Dilation>>, IsNat<Total>] extends [true, true]
      ? Add<Total & number, 1> extends Extent<K, Dilation>
        ? []
        : [0]
      : [0]
    : [0]
  : [0]
/** `WindowDim` where the window fits, decided at once; rounded up with Ceil. */
type WindowSize<H, K, Stride, P, Dilation, Ceil, Zero> =
  Known<Decides<H, K, Stride, P, Dilation>> extends Box<Zero>
    ? [Ceil, P] extends [false, unknown] | [true, 'same']
      ? WindowDim<H, K, Stride, P, Dilation, number>
      : [Ceil] extends [true]
        ? CeiledDim<H & number, Extent<K, Dilation> & number, Stride & number, P>
        : number
    : Known<Keeps<K, Stride, P, Dilation>> extends Box<Zero>
      ? H
      : number
/** ceil((h + pad - extent) / stride) + 1, or 1 less where the last window would begin behind x. */
type CeiledDim<H extends number, E extends number, Stride extends number, P> = [Sub<Add<H, PadTotal<P> & number>, E>] extends [never]
  ? number
  : CeilDiv<Sub<Add<H, PadTotal<P> & number>, E>, Stride> extends infer N extends number
    ? [Sub<Mul<N, Stride>, Add<H, PadBefore<P>>>] extends [never]
      ? Add<N, 1>
      : N
    : number
type PadBefore<P> = P extends readonly [infer A, unknown] ? A & number : P extends number ? P : 0
/** The sizes of positions H after windows K: each by itself, so that their number is known where sizes are parameters. */
export type ConvSizes<H extends Shape, K extends Shape, O> = WindowSizes<H, K, O, ZeroOf<H>>
/** `ConvSizes`, where Zero is `ZeroOf` a parameter; rounded up with Ceil. */
export type WindowSizes<H extends Shape, K extends Shape, O, Zero, Ceil = false> = {
  -readonly [I in keyof H]: WindowSize<
    H[I],
    I extends keyof K ? K[I] : number,
    PerAxis<Option<O, 'stride', 1>, I>,
    PerAxis<Option<O, 'padding', 0>, I>,
    PerAxis<Option<O, 'dilation', 1>, I>,
    Ceil,
    Zero
  > &
    Dim
}
/** `ConvSizes` of a pooling. */
export type PoolSizes<H extends Shape, O extends PoolOptions> = WindowSizes<
  H,
  Filled<H, O['window']>,
  {
    readonly stride: Option<O, 'stride', O['window']>
    readonly padding: Option<O, 'padding', 0>
    readonly dilation: Option<O, 'dilation', 1>
  },
  ZeroOf<H>,
  FlagIn<O, 'ceilMode', false>
>
/** Channels I of one group in all. */
type Grouped<I, O, Zero> = 'groups' extends keyof O ? (O extends { readonly groups: infer G } ? Times<I, G, Zero> : number) : I
/** The shape of a convolution of x [n, c, ...spatial] with k [o, c / groups, ...window]. */
export type Conv<X extends Shape, K extends Shape, O = NoOptions> = [number] extends [X['length']]
  ? Shape
  : [number] extends [K['length']]
    ? Shape
    : X extends readonly [infer n extends Dim, infer c, ...infer Hs extends Shape]
      ? K extends readonly [infer o extends Dim, infer i, ...infer Ks extends Shape]
        ? X['length'] extends K['length']
          ? Meets<c, Grouped<i, O, ZeroOf<X>>> extends true
            ? [WindowDims<Hs, Ks, Option<O, 'stride', 1>, Option<O, 'padding', 0>, Option<O, 'dilation', 1>>] extends [
                infer R extends Dim[],
              ]
              ? [R] extends [never]
                ? ShapeError<`conv: the kernel does not fit: x is ${Show<X>}, k is ${Show<K>}`>
                : [n, o, ...R]
              : never
            : ShapeError<`conv: channels differ: x is ${Show<X>}, k is ${Show<K>} (${ShowDim<c>} is not ${ShowDim<Grouped<i, O, ZeroOf<X>>>})`>
          : ShapeError<`conv: needs as many axes in x as in k: x is ${Show<X>}, k is ${Show<K>}`>
        : ShapeError<`conv: k must be [out, in, ...window], got ${Show<K>}`>
      : ShapeError<`conv: x must be [batch, channels, ...spatial], got ${Show<X>}`>

/**
 * The shape of a convolution where `Conv` finds nothing wrong: each size by itself, so that sizes that are parameters leave their number known. Unknown where channels differ, which
 * has been reported.
 */
export type Convolved<X extends Shape, K extends Shape, O = NoOptions> = [number] extends [X['length'] | K['length']]
  ? Shape
  : X extends readonly [infer n extends Dim, infer c, ...infer Hs extends Shape]
    ? K extends readonly [infer o extends Dim, infer i, ...infer Ks extends Shape]
      ? Known<Differ<c, Grouped<i, O, ZeroOf<X>>>> extends Box<ZeroOf<X>>
        ? Shape
        : [n, o, ...ConvSizes<Hs, Ks, O>]
      : Shape
    : Shape
/** The shape of a pooling where `Pool` finds nothing wrong. */
export type Pooled<X extends Shape, O extends PoolOptions> = [number] extends [X['length']]
  ? Shape
  : X extends readonly [infer n extends Dim, infer c extends Dim, ...infer Hs extends Shape]
    ? [n, c, ...PoolSizes<Hs, O>]
    : Shape

/** One spatial axis of a transposed convolution: (h - 1) stride - pad + extent + outputPadding. */
type SpreadDim<H, K, Stride, P, Dilation, More, Zero> =
  Known<More extends 0 ? Keeps<K, Stride, P, Dilation> : [0]> extends Box<Zero>
    ? H
    : Known<Spreads<H, K, Stride, P, Dilation, More>> extends Box<Zero>
      ? NotNever<Sub<Add<Add<Mul<Sub<H & number, 1>, Stride & number>, Extent<K, Dilation> & number>, More & number>, PadTotal<P> & number>>
      : number
type NotNever<N> = [N] extends [never] ? number : N
type Spreads<H, K, Stride, P, Dilation, More> =
  Decides<H, K, Stride, P, Dilation> extends infer Q ? (Q extends [] ? Literals<More> : [0]) : never
type SpreadDims<Hs extends Shape, Ks extends Shape, O, R extends Dim[] = []> = Hs extends readonly [infer h, ...infer HT extends Shape]
  ? Ks extends readonly [infer k, ...infer KT extends Shape]
    ? SpreadDims<HT, KT, O, [...R, Spread<h, k, O, `${R['length']}`, ZeroOf<R>>]>
    : never
  : R
type Spread<H, K, O, I, Zero> = SpreadDim<
  H,
  K,
  PerAxis<Option<O, 'stride', 1>, I>,
  PerAxis<Option<O, 'padding', 0>, I>,
  PerAxis<Option<O, 'dilation', 1>, I>,
  PerAxis<Option<O, 'outputPadding', 0>, I>,
  Zero
> &
  Dim
/** The shape of a transposed convolution of x [n, c, ...spatial] with k [c, o / groups, ...window]. */
export type ConvTranspose<X extends Shape, K extends Shape, O = NoOptions> = [number] extends [X['length']]
  ? Shape
  : [number] extends [K['length']]
    ? Shape
    : X extends readonly [infer n extends Dim, infer c, ...infer Hs extends Shape]
      ? K extends readonly [infer i, infer o, ...infer Ks extends Shape]
        ? X['length'] extends K['length']
          ? Meets<c, i> extends true
            ? [n, Grouped<o, O, ZeroOf<X>> & Dim, ...SpreadDims<Hs, Ks, O>]
            : ShapeError<`convTranspose: channels differ: x is ${Show<X>}, k is ${Show<K>} (${ShowDim<c>} is not ${ShowDim<i>})`>
          : ShapeError<`convTranspose: needs as many axes in x as in k: x is ${Show<X>}, k is ${Show<K>}`>
        : ShapeError<`convTranspose: k must be [in, out, ...window], got ${Show<K>}`>
      : ShapeError<`convTranspose: x must be [batch, channels, ...spatial], got ${Show<X>}`>

type Filled<Hs extends Shape, W> = W extends readonly number[] ? W : { -readonly [I in keyof Hs]: W & number }
/** The shape of a pooling of x [n, c, ...spatial]. */
export type Pool<X extends Shape, O extends PoolOptions, Op extends string = 'pool'> = [number] extends [X['length']]
  ? Shape
  : X extends readonly [infer n extends Dim, infer c extends Dim, ...infer Hs extends Shape]
    ? [
        WindowDims<Hs, Filled<Hs, O['window']>, Option<O, 'stride', O['window']>, Option<O, 'padding', 0>, Option<O, 'dilation', 1>>,
      ] extends [infer R extends Dim[]]
      ? [R] extends [never]
        ? ShapeError<`${Op}: the window ${ShowWindow<O['window']>} does not fit x, which is ${Show<X>}`>
        : [n, c, ...(O extends { readonly ceilMode: infer C } ? (true extends C ? { -readonly [I in keyof R]: number } : R) : R)]
      : never
    : ShapeError<`${Op}: x must be [batch, channels, ...spatial], got ${Show<X>}`>
type ShowWindow<W> = W extends readonly number[] ? Show<W> : ShowDim<W>
