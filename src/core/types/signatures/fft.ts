// Signatures of the Fourier transforms: a pair of arrays, real and imaginary part, in and out.
import type { AsFloat, DType, Settled, WeakF64 } from '../dtype.js'
import type { Arg, Expr, MayFit, Plain, ShapeOf } from '../expr.js'
import type { Add, Div, Mul, Sub } from '../nat.js'
import type { Axis, Beside, Box, Broadcast, Dim, Guard, Known, MadeDim, Ok, Shape, Size, ZeroOf } from '../shape.js'
import type { HasAxis } from '../shape-index.js'
import type { FlagIn, Half, IfIs, IsSole, Literals, Open, SizeIn, Unsized, Whole } from '../sizes.js'
import type { PromoteArgs } from './elementwise.js'

/** A complex array: its real and its imaginary part. */
// An alias: an interface is no tree to TypeScript, which `evaluate` and others take.
export type ComplexPair<S extends Shape = Shape, D extends DType = DType> = {
  readonly re: Expr<S, D>
  readonly im: Expr<S, D>
}
/** What is taken as a complex array: two arrays of one shape, or a real one. */
export type ComplexArg<S extends Shape, D extends DType> =
  | Expr<S, D>
  | Plain
  | { readonly re: Expr<S, D> | Plain; readonly im: Expr<S, D> | MayFit<NoInfer<S>, NoInfer<D>, 'Expr' | 'Tensor'> | Plain }
/** As NumPy: which of the two directions divides by n, or both by its root. */
export type Norm = 'backward' | 'ortho' | 'forward'
/** Options of which none is given. */
export type NoneOf<Options> = Options & { readonly [K in keyof Options]?: undefined }
/** The option K; undefined where it is not given, Standard where that is what it says. */
type Given<O, K, Standard = undefined> = K extends keyof O
  ? O[K] extends undefined
    ? Standard
    : undefined extends O[K]
      ? Exclude<O[K], undefined> | Standard
      : O[K]
  : Standard
/** Where they work; the last axis unless given. */
type AxisOf<O> = Given<O, 'axis', -1>
/** S with other sizes along the axes A, counted from 0. */
type Other<S extends Shape, A> = [number] extends [S['length']]
  ? Shape
  : [A] extends [never]
    ? Unsized<S>
    : { -readonly [K in keyof S]: K extends `${A & number}` ? number : S[K] }
/** S with N along the one axis A, counted from 0; where that is not known with a number. */
type Put<S extends Shape, A, N> = [number] extends [S['length']]
  ? Shape
  : IsSole<A> extends true
    ? { -readonly [K in keyof S]: K extends `${A & number}` ? N & Dim : S[K] }
    : Other<S, A>
/** The size of S along the axis A. */
type SizeAt<S extends Shape, A> = `${A & number}` extends keyof S ? S[`${A & number}`] : number
/** S with another size along the axis that the options say: as many as n, or as there were, in one of these ways. */
type Along<S extends Shape, O, Way extends 'all' | 'half' | 'whole'> = AlongAt<S, O, Way, Axis<S, AxisOf<O>>>
type AlongAt<S extends Shape, O, Way, A> = Put<
  S,
  A,
  Way extends 'half'
    ? Half<SizeIn<O, 'n', SizeAt<S, A>, ZeroOf<S>>, ZeroOf<S>>
    : SizeIn<O, 'n', Way extends 'all' ? SizeAt<S, A> : Whole<SizeAt<S, A>, ZeroOf<S>>, ZeroOf<S>>
>
/** The axes of a transform over several of them, those with sizes of their own at the end; any where that is not known. */
type AxesOf<O, Standard> = Given<O, 'axes', Standard>
/** S after a transform over several axes, of the sizes s where these are given. */
type KeptOf<S extends Shape, O, Standard> = [Given<O, 's'>] extends [undefined] ? S : Sized<S, Given<O, 's'>, AxesOf<O, Standard>>
/** S with the sizes Z along the axes X, its last ones unless given. */
type Sized<S extends Shape, Z, X> = [number] extends [S['length']]
  ? Shape
  : X extends readonly (infer A)[]
    ? [number] extends [X['length']]
      ? Other<S, Axis<S, A>>
      : Z extends readonly unknown[]
        ? [number] extends [Z['length']]
          ? Other<S, Axis<S, A>>
          : PutEach<S, X, Z>
        : Other<S, Axis<S, A>>
    : Z extends readonly unknown[]
      ? [number] extends [Z['length']]
        ? Unsized<S>
        : PutLast<S, Z>
      : Unsized<S>
type PutEach<S extends Shape, X extends readonly unknown[], Z extends readonly unknown[]> = X extends readonly [infer A, ...infer XT]
  ? Z extends readonly [infer N, ...infer ZT]
    ? PutEach<Put<S, Axis<S, A>, N>, XT, ZT>
    : S
  : S
type PutLast<S extends Shape, Z extends readonly unknown[], R extends Shape = []> = Z extends readonly [...infer ZH, infer N]
  ? S extends readonly [...infer H extends Shape, unknown]
    ? PutLast<H, ZH, [N & Dim, ...R]>
    : R
  : [...S, ...R]
/** The last of the axes, along which a real array has half of its transform. */
type LastOf<X> = X extends readonly [...unknown[], infer A] ? A : X extends readonly unknown[] ? number : -1
type Halved<S extends Shape, A> = Put<S, A, Half<SizeAt<S, A>, ZeroOf<S>>>
/** S after that of a real array. */
type HalvedOf<S extends Shape, O, Standard> =
  KeptOf<S, O, Standard> extends infer R extends Shape ? Halved<R, Axis<R, LastOf<AxesOf<O, Standard>>>> : Shape
/** S after the way back, where the last of the axes was a half. */
type DoubledOf<S extends Shape, O, Standard> = [Given<O, 's'>] extends [undefined]
  ? Doubled<S, Axis<S, LastOf<AxesOf<O, Standard>>>>
  : KeptOf<S, O, Standard>
type Doubled<S extends Shape, A> = Put<S, A, Whole<SizeAt<S, A>, ZeroOf<S>>>

/** fft and ifft: the shape stays unless a length is given. */
export type FftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: ComplexArg<S, D>,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => ComplexPair<Along<S, O, 'all'>, Settled<AsFloat<D>>>
/** rfft: of a real array, with another length along the axis. */
export type RfftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => ComplexPair<Along<S, O, 'half'>, Settled<AsFloat<D>>>
/** irfft: a real array, with another length along the axis. */
export type IrfftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: ComplexArg<S, D>,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => Expr<Along<S, O, 'whole'>, Settled<AsFloat<D>>>
/** fft2, fftn and their inverses: over the axes Standard, or all of them. */
export type FftnFn<Options, Standard = undefined> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: ComplexArg<S, D>,
  options?: O,
) => ComplexPair<KeptOf<S, O, Standard>, Settled<AsFloat<D>>>
/** rfft2 and rfftn: another length along the last of the axes. */
export type RfftnFn<Options, Standard = undefined> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: Expr<S, D> | Plain,
  options?: O,
) => ComplexPair<HalvedOf<S, O, Standard>, Settled<AsFloat<D>>>
/** irfft2 and irfftn. */
export type IrfftnFn<Options, Standard = undefined> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: ComplexArg<S, D>,
  options?: O,
) => Expr<DoubledOf<S, O, Standard>, Settled<AsFloat<D>>>
/** fftshift and ifftshift. */
export type FftShiftFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  options?: Options,
) => Expr<S, NoInfer<D>>

/** fftfreq and rfftfreq: (n, spacing?). */
export type FreqFn = <R extends Dim = number>(n: number, spacing?: number) => Expr<[R], 'f64'>
/** Options of windows: one period in place of both ends; the dtype. */
export interface WindowOptions<D extends 'f64' | 'f32' = 'f64' | 'f32'> {
  readonly periodic?: boolean | undefined
  readonly dtype?: D | undefined
}
/** hann, hamming and blackman. */
export type WindowFn = <const N extends Dim, D extends 'f64' | 'f32' = 'f64', Zero = 0, R extends MadeDim<N, Zero> = N>(
  n: Size<N>,
  options?: WindowOptions<D>,
) => Expr<[R], D>
/** kaiser(n, beta). */
export type KaiserFn = <const N extends Dim, D extends 'f64' | 'f32' = 'f64', Zero = 0, R extends MadeDim<N, Zero> = N>(
  n: Size<N>,
  beta: number,
  options?: WindowOptions<D>,
) => Expr<[R], D>
/** Which part of a convolution: all of it, as long as the first, where both overlap whole. */
export type ConvolveMode = 'full' | 'same' | 'valid'
/** How many places a convolution of n and m has, each at least 1: as many as S in the mode 'same'. */
export type Convolved<N, M, O, S, Zero, Standard = 'full'> = [Given<O, 'mode', Standard>] extends ['same']
  ? S
  : [Given<O, 'mode', Standard>] extends ['full']
    ? Full<N, M, Zero>
    : [Given<O, 'mode', Standard>] extends ['valid']
      ? Valid<N, M, Zero>
      : number
/** One of two is 1: the other; else Long. */
type Beside1<N, M, Zero, Long> = IfIs<M, 1, Zero, N, IfIs<N, 1, Zero, M, Long>>
type Full<N, M, Zero> = Beside1<N, M, Zero, Known<Literals<N, M>> extends Box<Zero> ? Sub<Add<N, M>, 1> : number>
type Valid<N, M, Zero> = Beside1<
  N,
  M,
  Zero,
  Known<Literals<N, M>> extends Box<Zero>
    ? Add<Apart<N, M>, 1>
    : Known<Open<N>> extends Box<Zero>
      ? number
      : Beside<N, M> extends Beside<M, N>
        ? 1
        : number
>
/** |N - M|. */
type Apart<N, M> = [Sub<N, M>] extends [never] ? Sub<M, N> : Sub<N, M>
type FftConvolved<A extends Shape, B extends Shape, O> = [number] extends [A['length'] | B['length']]
  ? Shape
  : A extends readonly [...infer AL extends Shape, infer N]
    ? B extends readonly [...infer BL extends Shape, infer M]
      ? [...Ok<Broadcast<AL, BL>>, Convolved<N, M, O, N, ZeroOf<A>> & Dim]
      : Shape
    : Shape
/** fftConvolve(a, b, { mode }): along the last axis; the others broadcast. */
export type FftConvolveFn<Options> = <A extends Arg, B extends Arg, const O extends Options = NoneOf<Options>>(
  a: A,
  b: B,
  options?: O,
) => Expr<FftConvolved<ShapeOf<A>, ShapeOf<B>, O>, Settled<AsFloat<PromoteArgs<A, B>>>>
/** stft(x, { size, hop?, window?, center? }). */
export type StftFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  x: ComplexArg<S, D>,
  options: O,
) => ComplexPair<Frames<S, O>, Settled<AsFloat<D>>>
/** Frequencies and frames in the place of the samples. */
type Frames<S extends Shape, O> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [...infer L extends Shape, infer N]
    ? [
        ...L,
        Frequencies<SizeIn<O, 'size', number, ZeroOf<S>>, FlagIn<O, 'onesided', true>, ZeroOf<S>> & Dim,
        FrameCount<N, SizeIn<O, 'size', number, ZeroOf<S>>, HopIn<O, ZeroOf<S>>, FlagIn<O, 'center', true>, ZeroOf<S>>,
      ]
    : Shape
type Frequencies<Z, OneSided, Zero> = [OneSided] extends [true] ? Half<Z, Zero> : [OneSided] extends [false] ? Z : number
/** From one frame to the next: a quarter of the size unless given, at least 1. */
type HopIn<O, Zero> = SizeIn<O, 'hop', QuarterOf<SizeIn<O, 'size', number, Zero>, Zero>, Zero>
type QuarterOf<Z, Zero> = Known<Literals<Z>> extends Box<Zero> ? (Div<Z & number, 4> extends 0 ? 1 : Div<Z & number, 4>) : number
/** floor((N - Z) / H) + 1, with Center of N samples and 2 floor(Z / 2) more. */
type FrameCount<N, Z, H, Center, Zero> =
  Known<Literals<N, Z>> extends Box<Zero>
    ? Known<Literals<H>> extends Box<Zero>
      ? [Center] extends [true]
        ? StepsIn<Sub<Add<N & number, Mul<Div<Z & number, 2>, 2>>, Z & number>, H>
        : [Center] extends [false]
          ? StepsIn<Sub<N & number, Z & number>, H>
          : number
      : number
    : number
type StepsIn<N extends number, H> = [N] extends [never]
  ? number
  : [Div<N, H & number>] extends [never]
    ? number
    : Add<Div<N, H & number>, 1>
/** istft(y, { size, hop?, window?, center?, length? }). */
export type IstftFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  y: ComplexArg<S, D>,
  options: O,
) => O extends { readonly onesided: false } ? ComplexPair<Framed<S, O>, Settled<AsFloat<D>>> : Expr<Framed<S, O>, Settled<AsFloat<D>>>
/** The signal of frames. */
type Framed<S extends Shape, O> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [...infer L extends Shape, unknown, infer T]
    ? [
        ...L,
        SizeIn<
          O,
          'length',
          Samples<T, SizeIn<O, 'size', number, ZeroOf<S>>, HopIn<O, ZeroOf<S>>, FlagIn<O, 'center', true>, ZeroOf<S>>,
          ZeroOf<S>
        > &
          Dim,
      ]
    : Shape
/** (T - 1) H + Z, with Center less 2 floor(Z / 2). */
type Samples<T, Z, H, Center, Zero> =
  Known<Literals<T, Z>> extends Box<Zero>
    ? Known<Literals<H>> extends Box<Zero>
      ? [Center] extends [true]
        ? NoFewer<Sub<Covered<T, Z, H>, Mul<Div<Z & number, 2>, 2>>>
        : [Center] extends [false]
          ? Covered<T, Z, H>
          : number
      : number
    : number
type Covered<T, Z, H> = T extends 0 ? number : Add<Mul<Sub<T & number, 1>, H & number>, Z & number>
type NoFewer<N> = [N] extends [never] ? number : N
