// Signatures of the Fourier transforms: a pair of arrays, real and imaginary part, in and out.
import type { AsFloat, DType, Settled, WeakF64 } from '../dtype.js'
import type { Arg, Expr, MayFit, Operand, Plain, ShapeOf } from '../expr.js'
import type { Add, Sub } from '../nat.js'
import type { Axis, Broadcast, Dim, Guard, IsLiteral, MadeDim, Ok, Shape, Size } from '../shape.js'
import type { HasAxis } from '../shape-index.js'
import type { SetLast } from '../shape-linalg.js'
import type { PromoteArgs } from './elementwise.js'

/** A complex array: its real and its imaginary part. */
// An alias: an interface is no tree to TypeScript, which `evaluate` and others take.
export type ComplexPair<S extends Shape = Shape, D extends DType = DType> = {
  readonly re: Expr<S, D>
  readonly im: Expr<S, D>
}
/** What is taken as a complex array: two arrays of one shape, or a real one. */
export type ComplexArg<S extends Shape, D extends DType> =
  | Operand<S, D>
  | Plain
  | { readonly re: Operand<S, D> | Plain; readonly im: Operand<S, D> | MayFit<NoInfer<S>, NoInfer<D>, 'Expr' | 'Tensor'> | Plain }
/** As NumPy: which of the two directions divides by n, or both by its root. */
export type Norm = 'backward' | 'ortho' | 'forward'
/** A shape of which only the rank is known. */
export type Unsized<S extends Shape> = { [K in keyof S]: number }
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
/** S with another size along the axis that the options say. */
type Along<S extends Shape, O> = Other<S, Axis<S, AxisOf<O>>>
type Kept<S extends Shape, O> = [Given<O, 'n'>] extends [undefined] ? S : Along<S, O>
/** The axes of a transform over several of them, those with sizes of their own at the end; any where that is not known. */
type AxesOf<O, Standard> = Given<O, 'axes', Standard>
/** S after a transform over several axes: any of them may have other sizes where these are given. */
type KeptOf<S extends Shape, O, Standard> = [Given<O, 's'>] extends [undefined]
  ? S
  : AxesOf<O, Standard> extends readonly (infer A)[]
    ? Other<S, Axis<S, A>>
    : Unsized<S>
/** The last of the axes, along which a real array has half of its transform. */
type LastOf<X> = X extends readonly [...unknown[], infer A] ? A : X extends readonly unknown[] ? number : -1
type HalvedOf<S extends Shape, O, Standard> = [Given<O, 's'>] extends [undefined]
  ? Other<S, Axis<S, LastOf<AxesOf<O, Standard>>>>
  : KeptOf<S, O, Standard>

/** fft and ifft: the shape stays unless a length is given. */
export type FftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: ComplexArg<S, D>,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => ComplexPair<Kept<S, O>, Settled<AsFloat<D>>>
/** rfft: of a real array, with another length along the axis. */
export type RfftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: Operand<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => ComplexPair<Along<S, O>, Settled<AsFloat<D>>>
/** irfft: a real array, with another length along the axis. */
export type IrfftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoneOf<Options>,
>(
  x: ComplexArg<S, D>,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => Expr<Along<S, O>, Settled<AsFloat<D>>>
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
  x: Operand<S, D> | Plain,
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
) => Expr<HalvedOf<S, O, Standard>, Settled<AsFloat<D>>>
/** fftshift and ifftshift. */
export type FftShiftFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Operand<S, D> | Plain,
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
/** How many places a convolution of n and m has: as many as S in the mode 'same'. A number, unless both are literals. */
export type Convolved<N, M, O, S, Standard = 'full'> = [Given<O, 'mode', Standard>] extends ['same']
  ? S
  : [IsLiteral<N>, IsLiteral<M>] extends [true, true]
    ? [Given<O, 'mode', Standard>] extends ['full']
      ? Sub<Add<N & number, M & number>, 1>
      : [Given<O, 'mode', Standard>] extends ['valid']
        ? Add<Apart<N & number, M & number>, 1>
        : number
    : number
/** |N - M|. */
type Apart<N extends number, M extends number> = [Sub<N, M>] extends [never] ? Sub<M, N> : Sub<N, M>
type FftConvolved<A extends Shape, B extends Shape, O> = [number] extends [A['length'] | B['length']]
  ? Shape
  : A extends readonly [...infer AL extends Shape, infer N]
    ? B extends readonly [...infer BL extends Shape, infer M]
      ? [...Ok<Broadcast<AL, BL>>, Convolved<N, M, O, N> & Dim]
      : Shape
    : Shape
/** fftConvolve(a, b, { mode }): along the last axis; the others broadcast. */
export type FftConvolveFn<Options> = <A extends Arg, B extends Arg, const O extends Options = NoneOf<Options>>(
  a: A,
  b: B,
  options?: O,
) => Expr<FftConvolved<ShapeOf<A>, ShapeOf<B>, O>, Settled<AsFloat<PromoteArgs<A, B>>>>
/** stft(x, { size, hop?, window?, center? }). */
export type StftFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: ComplexArg<S, D>,
  options: Options,
) => ComplexPair<[...SetLast<S, number>, number], Settled<AsFloat<D>>>
/** istft(y, { size, hop?, window?, center?, length? }). */
export type IstftFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  y: ComplexArg<S, D>,
  options: O,
) => O extends { readonly onesided: false } ? ComplexPair<Framed<S>, Settled<AsFloat<D>>> : Expr<Framed<S>, Settled<AsFloat<D>>>
/** The signal of frames. */
type Framed<S extends Shape> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [...infer L extends Shape, unknown, unknown]
    ? [...L, number]
    : Shape
