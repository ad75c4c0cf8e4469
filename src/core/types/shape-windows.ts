// Shape rules of convolution and pooling.
import type { OptionsOf } from '../errors/options.js'
import type { convOptions, poolOptions } from '../ops/nn.js'
import type { Add, Div, IsNat, Mul, Sub } from './nat.js'
import type { Box, Differ, Dim, Known, Meets, NoOptions, Shape, ShapeError, Show, ShowDim, ZeroOf } from './shape.js'
import type { CeilDiv } from './shape-index.js'
import type { AddDim } from './shape-layout.js'
import type { FlagIn, Literals, Times } from './sizes.js'

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
type Keeps<K, Stride, P, Dilation> = Stride extends 1 ? (P extends 'same' ? [] : PaddedAsLong<K, Dilation, PadTotal<P>>) : [0]
type PaddedAsLong<K, Dilation, Total> = K extends number
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
