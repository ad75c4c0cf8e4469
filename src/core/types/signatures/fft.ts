// Signatures of the Fourier transforms: a pair of arrays, real and imaginary part, in and out.
import type { AsFloat, DType, Settled, WeakF64 } from '../dtype.js'
import type { Arg, Expr, MayFit, Operand, Plain } from '../expr.js'
import type { Dim, Guard, MadeDim, Shape, Size } from '../shape.js'
import type { HasAxis } from '../shape-index.js'
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
type NoOptions = Readonly<Record<never, never>>
/** A shape of which only the rank is known. */
export type Unsized<S extends Shape> = { [K in keyof S]: number }
/** Where they work; the last axis unless given. */
type AxisOf<O> = O extends { readonly axis: infer A } ? A : -1
type Kept<S extends Shape, O> = O extends { readonly n: number } | { readonly s: readonly number[] } ? Unsized<S> : S

/** fft and ifft: the shape stays unless a length is given. */
export type FftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoOptions & Options,
>(
  x: ComplexArg<S, D>,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => ComplexPair<Kept<S, O>, Settled<AsFloat<D>>>
/** rfft: of a real array, with another length. */
export type RfftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoOptions & Options,
>(
  x: Operand<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => ComplexPair<Unsized<S>, Settled<AsFloat<D>>>
/** irfft: a real array. */
export type IrfftFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoOptions & Options,
>(
  x: ComplexArg<S, D>,
  options?: Guard<HasAxis<S, AxisOf<O>, Op>, O>,
) => Expr<Unsized<S>, Settled<AsFloat<D>>>
/** fft2, fftn and their inverses. */
export type FftnFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: ComplexArg<S, D>,
  options?: O,
) => ComplexPair<Kept<S, O>, Settled<AsFloat<D>>>
/** rfftn. */
export type RfftnFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Operand<S, D> | Plain,
  options?: Options,
) => ComplexPair<Unsized<S>, Settled<AsFloat<D>>>
/** irfftn. */
export type IrfftnFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: ComplexArg<S, D>,
  options?: Options,
) => Expr<Unsized<S>, Settled<AsFloat<D>>>
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
export type WindowFn = <const N extends Dim, D extends 'f64' | 'f32' = 'f64', R extends MadeDim<N> = N>(
  n: Size<N>,
  options?: WindowOptions<D>,
) => Expr<[R], D>
/** kaiser(n, beta). */
export type KaiserFn = <const N extends Dim, D extends 'f64' | 'f32' = 'f64', R extends MadeDim<N> = N>(
  n: Size<N>,
  beta: number,
  options?: WindowOptions<D>,
) => Expr<[R], D>
/** Which part of a convolution: all of it, as long as the first, where both overlap whole. */
export type ConvolveMode = 'full' | 'same' | 'valid'
/** fftConvolve(a, b, { mode }): of the rank of the longer. */
export type FftConvolveFn<Options> = <A extends Arg, B extends Arg>(
  a: A,
  b: B,
  options?: Options,
) => Expr<Shape, Settled<AsFloat<PromoteArgs<A, B>>>>
/** stft(x, { size, hop?, window?, center? }). */
export type StftFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: ComplexArg<S, D>,
  options: Options,
) => ComplexPair<[...Unsized<S>, number], Settled<AsFloat<D>>>
/** istft(y, { size, hop?, window?, center?, length? }). */
export type IstftFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  y: ComplexArg<S, D>,
  options: O,
) => O extends { readonly onesided: false } ? ComplexPair<Framed<S>, Settled<AsFloat<D>>> : Expr<Framed<S>, Settled<AsFloat<D>>>
/** The signal of frames. */
type Framed<S extends Shape> = S extends readonly [...infer L extends Shape, number, number] ? [...Unsized<L>, number] : Shape
