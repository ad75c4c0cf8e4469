// Signatures of layers that change how many positions there are.
import type { AsFloat, DType, Promote, WeakF64 } from '../dtype.js'
import type { Expr, NumberArray, Plain, PlainIndex } from '../expr.js'
import type { Box, Dim, Guard, Known, Shape, SizesIn, ZeroOf } from '../shape.js'
import type { Pool, Pooled, PoolOptions, WindowSizes } from '../shape-windows.js'
import type { Both, Open, Over, SizeIn, Times } from '../sizes.js'
import type { NoneOf } from './fft.js'
import type { Indices } from './index-ops.js'
import type { MaxPoolOptions } from './nn.js'

/** How many images there are. */
type Images<S extends Shape> = S extends readonly [infer N extends Dim, ...unknown[]] ? N : number
/** Batch and channels of x, then the positions that are asked for. */
type Resized<S extends Shape, Z> = S extends readonly [
  infer N extends number | string,
  infer C extends number | string,
  ...infer P extends Shape,
]
  ? [N, C, ...{ -readonly [I in keyof P]: Z extends readonly unknown[] ? (I extends keyof Z ? Z[I] & number : number) : Z & number }]
  : Shape

/** adaptiveAvgPool(x, size), adaptiveMaxPool: x [n, c, ...positions]. */
export type AdaptivePoolFn = <const Z extends number | readonly number[], S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  size: Z,
) => Expr<Resized<S, Z>, AsFloat<D>>
/** maxPoolWithIndices(x, { window, stride, padding, dilation }): the largest of each window, and where it is in the flattened positions. */
export type MaxPoolWithIndicesFn = <const O extends PoolOptions & MaxPoolOptions, X extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<X, D> | Plain,
  options: Guard<Pool<X, O, 'maxPoolWithIndices'>, O>,
) => { readonly values: Expr<Pooled<X, O>, AsFloat<D>>; readonly indices: Expr<Pooled<X, O>, 'i32'> }
/** maxUnpool(x, indices, { size }): zeros with x at the indices of the flattened positions. */
export type MaxUnpoolFn<Options> = <
  I extends Expr | PlainIndex,
  const O extends Options,
  S extends Shape = Shape,
  D extends DType = WeakF64,
>(
  x: Expr<S, D> | Plain,
  indices: Indices<I, 'maxUnpool'>,
  options: O,
) => Expr<Resized<S, O extends { readonly size: infer Z } ? Z : number>, AsFloat<D>>
/** resize(x, size, { method, alignCorners, antialias, coordinates, ... }): x [n, c, ...positions] with other positions. */
export interface ResizeFn<Options> {
  <const Z extends Shape, S extends Shape = Shape, D extends DType = WeakF64>(
    x: Expr<S, D> | Plain,
    size: SizesIn<Z>,
    options?: Options,
  ): Expr<Resized<S, Z>, AsFloat<D>>
  <const Z extends number | readonly number[], S extends Shape = Shape, D extends DType = WeakF64>(
    x: Expr<S, D> | Plain,
    size: Z,
    options?: Options,
  ): Expr<Resized<S, Z>, AsFloat<D>>
}
/** unfold(x, { window, stride, padding, dilation }): the windows of planes as columns. */
export type UnfoldFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  x: Expr<S, D> | Plain,
  options: O,
) => Expr<Columns<S, O, WindowIn<O>>, AsFloat<D>>
type WindowIn<O> = O extends { readonly window: infer W } ? Both<W> : [number, number]
/** The windows W of planes as columns. */
type Columns<S extends Shape, O, W extends Shape> = S extends readonly [
  infer N extends Dim,
  infer C,
  infer H extends Dim,
  infer V extends Dim,
]
  ? [
      N,
      Times<C, Times<W[0], W[1], ZeroOf<S>>, ZeroOf<S>> & Dim,
      WindowSizes<[H, V], W, O, ZeroOf<S>> extends readonly [infer P, infer Q] ? Times<P, Q, ZeroOf<S>> & Dim : number,
    ]
  : [Images<S>, number, number]
/** fold(x, { size, window, stride, padding, dilation }): columns added where their windows lie. */
export type FoldFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  x: Expr<S, D> | Plain,
  options: O,
) => Expr<[Images<S>, ...Planes<S, WindowIn<O>>, ...(O extends { readonly size: infer Z } ? Both<Z> : [number, number])], AsFloat<D>>
type Planes<S extends Shape, W extends Shape> = S extends readonly [unknown, infer C, unknown]
  ? [Over<C, Times<W[0], W[1], ZeroOf<S>>, ZeroOf<S>> & Dim]
  : [number]
/** Channels moved into space. */
type IntoSpace<S extends Shape, F> = S extends readonly [infer N extends Dim, infer C, infer H, infer W]
  ? [N, Over<C, Times<F, F, ZeroOf<S>>, ZeroOf<S>> & Dim, Times<H, F, ZeroOf<S>> & Dim, Times<W, F, ZeroOf<S>> & Dim]
  : [Images<S>, number, number, number]
/** Space moved into channels. */
type FromSpace<S extends Shape, F> = S extends readonly [infer N extends Dim, infer C, infer H, infer W]
  ? [N, Times<C, Times<F, F, ZeroOf<S>>, ZeroOf<S>> & Dim, Over<H, F, ZeroOf<S>> & Dim, Over<W, F, ZeroOf<S>> & Dim]
  : [Images<S>, number, number, number]
/** pixelShuffle(x, factor): channels moved into space. */
export type PixelShuffleFn = <S extends Shape = Shape, D extends DType = WeakF64, const F extends number = number>(
  x: Expr<S, D> | Plain,
  factor: F,
) => Expr<IntoSpace<S, F>, NoInfer<D>>
/** pixelUnshuffle(x, factor): and back. */
export type PixelUnshuffleFn = <S extends Shape = Shape, D extends DType = WeakF64, const F extends number = number>(
  x: Expr<S, D> | Plain,
  factor: F,
) => Expr<FromSpace<S, F>, NoInfer<D>>

/** depthToSpace(x, factor, { order }): channels moved into space. */
export type DepthToSpaceFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const F extends number = number>(
  x: Expr<S, D> | Plain,
  factor: F,
  options?: Options,
) => Expr<IntoSpace<S, F>, NoInfer<D>>
/** spaceToDepth(x, factor, { order }): and back. */
export type SpaceToDepthFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const F extends number = number>(
  x: Expr<S, D> | Plain,
  factor: F,
  options?: Options,
) => Expr<FromSpace<S, F>, NoInfer<D>>
/** Batch and channels of x, and the places of the grid. */
type Sampled<S extends Shape, G extends Shape> = S extends readonly [
  infer N extends number | string,
  infer C extends number | string,
  ...unknown[],
]
  ? G extends readonly [unknown, ...infer P extends Shape, unknown]
    ? [N, C, ...P]
    : Shape
  : Shape
/** gridSample(x, grid, { method, padding, alignCorners }): x [n, c, ...positions] at the places of a grid [n, ...places, axes]. */
export type GridSampleFn<Options> = <
  G extends Shape = Shape,
  E extends DType = WeakF64,
  S extends Shape = Shape,
  D extends DType = WeakF64,
>(
  x: Expr<S, D> | Plain,
  grid: Expr<G, E> | Plain,
  options?: Options,
) => Expr<Sampled<S, G>, AsFloat<Promote<D, E>>>
/** affineGrid(theta, size, { alignCorners }): theta [n, axes, axes + 1] -> [n, ...size, axes]. */
export interface AffineGridFn<Options> {
  <const Z extends Shape, S extends Shape = Shape, D extends DType = WeakF64>(
    theta: Expr<S, D> | Plain,
    size: SizesIn<Z>,
    options?: Options,
  ): Expr<Places<S, Z>, AsFloat<D>>
  <S extends Shape = Shape, D extends DType = WeakF64>(
    theta: Expr<S, D> | Plain,
    size: number | readonly number[],
    options?: Options,
  ): Expr<Shape, AsFloat<D>>
}
/** The batch of maps, places of the sizes Z, and their coordinates. */
type Places<S extends Shape, Z extends Shape> = S extends readonly [
  infer N extends number | string,
  infer A extends number | string,
  unknown,
]
  ? [N, ...Z, A]
  : Shape
/** Boxes, channels and bins. */
type Aligned<S extends Shape, B extends Shape, Z> = S extends readonly [unknown, infer C extends number | string, unknown, unknown]
  ? B extends readonly [infer K extends number | string, unknown]
    ? [
        K,
        C,
        ...(Z extends readonly [infer H extends number, infer W extends number] ? [H, W] : Z extends number ? [Z, Z] : [number, number]),
      ]
    : Shape
  : Shape
/** roiAlign(x, boxes, images, { size, samplingRatio, spatialScale, aligned, mode }): x [n, c, h, w] over boxes [k, 4] of images [k]. */
export type RoiAlignFn<Options extends { readonly size: unknown }> = <
  I extends Expr | PlainIndex,
  const O extends Options,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  B extends Shape = Shape,
  E extends DType = WeakF64,
>(
  x: Expr<S, D> | Plain,
  boxes: Expr<B, E> | NumberArray,
  images: Indices<I, 'roiAlign'>,
  options: O,
) => Expr<Aligned<S, B, O['size']>, AsFloat<Promote<D, E>>>
/** nonMaxSuppression(boxes, scores, { iou, score, size, fill, format }): the indices of boxes [n, 4] that are kept. */
export type NonMaxSuppressionFn<Options> = <S extends Shape = Shape, const O extends Options = NoneOf<Options>, T extends Shape = Shape>(
  boxes: Expr<S> | NumberArray,
  scores: Expr<T> | NumberArray,
  options?: O,
) => Expr<[SizeIn<O, 'size', Boxes<S, T>, ZeroOf<O>> & Dim], 'i32'>
/** How many boxes there are, of which boxes or scores may tell. */
type Boxes<S extends Shape, T extends Shape> = S extends readonly [infer N extends Dim, unknown]
  ? Known<Open<N>> extends Box<ZeroOf<S>>
    ? Images<T>
    : N
  : Images<T>
