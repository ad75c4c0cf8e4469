// Signatures of layers that change how many positions there are.
import type { AsFloat, DType, Promote, WeakF64 } from '../dtype.js'
import type { Expr, NumberArray, Operand, PlainIndex } from '../expr.js'
import type { Guard, NoOptions, Ok, Shape } from '../shape.js'
import type { ConvTranspose, Padding, Pool, PoolOptions } from '../shape-contract.js'
import type { Index } from './index-ops.js'
import type { MaxPoolOptions } from './nn.js'

/** Batch and channels of x, then the positions that are asked for. */
type Resized<S extends Shape, Z> = S extends readonly [
  infer N extends number | string,
  infer C extends number | string,
  ...infer P extends Shape,
]
  ? [N, C, ...{ -readonly [I in keyof P]: Z extends readonly number[] ? (I extends keyof Z ? Z[I] & number : number) : Z & number }]
  : Shape

/** Options of `convTranspose`. */
export interface ConvTransposeOptions {
  readonly stride?: number | readonly number[] | undefined
  readonly padding?: Padding | undefined
  /** Positions more, behind each axis: which of the sizes that `conv` would shrink to x is meant. */
  readonly outputPadding?: number | readonly number[] | undefined
  readonly dilation?: number | readonly number[] | undefined
  readonly groups?: number | undefined
}
/** convTranspose(x, k, { stride, padding, outputPadding, dilation, groups }): x [n, c, ...positions], k [c, o / groups, ...window]. */
export type ConvTransposeFn = <
  X extends Shape,
  DX extends DType,
  K extends Shape,
  DK extends DType,
  const O extends ConvTransposeOptions = NoOptions,
>(
  x: Operand<X, DX>,
  k: Guard<ConvTranspose<X, K, O>, Operand<K, DK>>,
  options?: O,
) => Expr<Ok<ConvTranspose<X, K, O>>, AsFloat<Promote<DX, DK>>>
/** adaptiveAvgPool(x, size), adaptiveMaxPool: x [n, c, ...positions]. */
export type AdaptivePoolFn = <S extends Shape, D extends DType, const Z extends number | readonly number[]>(
  x: Operand<S, D>,
  size: Z,
) => Expr<Resized<S, Z>, AsFloat<D>>
/** maxPoolWithIndices(x, { window, stride, padding, dilation }): the largest of each window, and where it is in the flattened positions. */
export type MaxPoolWithIndicesFn = <X extends Shape, D extends DType, const O extends PoolOptions & MaxPoolOptions>(
  x: Operand<X, D>,
  options: Guard<Pool<X, O, 'maxPoolWithIndices'>, O>,
) => { readonly values: Expr<Ok<Pool<X, O>>, AsFloat<D>>; readonly indices: Expr<Ok<Pool<X, O>>, 'i32'> }
/** Options of `maxUnpool`: the size of the result, or the windows of the pool, whose smallest x it is. */
export interface MaxUnpoolOptions {
  readonly size?: number | readonly number[] | undefined
  readonly window?: number | readonly number[] | undefined
  readonly stride?: number | readonly number[] | undefined
  readonly padding?: Padding | undefined
}
/** maxUnpool(x, indices, { size }): zeros with x at the indices of the flattened positions. */
export type MaxUnpoolFn = <S extends Shape, D extends DType, const O extends MaxUnpoolOptions>(
  x: Operand<S, D>,
  indices: Index | PlainIndex,
  options: O,
) => Expr<Resized<S, O extends { readonly size: infer Z } ? Z : number>, AsFloat<D>>
/** Options of `resize`. */
export interface ResizeOptions {
  readonly method?: 'nearest' | 'nearest-exact' | 'linear' | 'cubic' | undefined
  /** The first and last positions of both grids lie on each other; else their outer edges do. */
  readonly alignCorners?: boolean | undefined
  /** Where x is made smaller, each result is a mean over as many more positions: no detail is left out. */
  readonly antialias?: boolean | undefined
  /** Where results lie among the positions, by ONNX's names; 'halfPixel' unless given, 'asymmetric' for 'nearest'. */
  readonly coordinates?:
    | 'halfPixel'
    | 'halfPixelSymmetric'
    | 'pytorchHalfPixel'
    | 'tfHalfPixelForNn'
    | 'asymmetric'
    | 'alignCorners'
    | 'tfCropAndResize'
    | undefined
  /** Which position is the nearest, of method 'nearest'; 'floor' unless given. */
  readonly rounding?: 'floor' | 'ceil' | 'roundPreferFloor' | 'roundPreferCeil' | undefined
  /** Keys' coefficient a of method 'cubic': -0.75 unless given, -0.5 with antialias. */
  readonly cubic?: number | undefined
  /** Weights of what is inside x alone, with sum 1; else the first and last positions stand for what is outside. With antialias it is so unless given. */
  readonly excludeOutside?: boolean | undefined
  /** Results for each position, where it is not the quotient of the sizes: a number, or one for each axis. */
  readonly scale?: number | readonly number[] | undefined
  /** The part of x that 'tfCropAndResize' reads, for each axis from 0, the first position, to 1, the last. */
  readonly region?: readonly (readonly [number, number])[] | undefined
  /** What 'tfCropAndResize' has outside x; 0 unless given. */
  readonly extrapolation?: number | undefined
}
/** resize(x, size, { method, alignCorners, antialias, coordinates, ... }): x [n, c, ...positions] with other positions. */
export type ResizeFn = <S extends Shape, D extends DType, const Z extends number | readonly number[]>(
  x: Operand<S, D>,
  size: Z,
  options?: ResizeOptions,
) => Expr<Resized<S, Z>, AsFloat<D>>
/** Options of `unfold`. */
export interface UnfoldOptions {
  readonly window: number | readonly number[]
  readonly stride?: number | readonly number[] | undefined
  readonly padding?: Padding | undefined
  readonly dilation?: number | readonly number[] | undefined
}
/** unfold(x, { window, stride, padding, dilation }): the windows of planes as columns. */
export type UnfoldFn = <D extends DType>(x: Operand<Shape, D>, options: UnfoldOptions) => Expr<[number, number, number], AsFloat<D>>
/** Options of `fold`: those of the `unfold` that it is the adjoint of, and the size of the plane. */
export interface FoldOptions extends UnfoldOptions {
  readonly size: number | readonly number[]
}
/** fold(x, { size, window, stride, padding, dilation }): columns added where their windows lie. */
export type FoldFn = <D extends DType>(x: Operand<Shape, D>, options: FoldOptions) => Expr<[number, number, number, number], AsFloat<D>>
/** pixelShuffle(x, factor), pixelUnshuffle: channels moved into space, and back. */
export type PixelShuffleFn = <D extends DType>(x: Operand<Shape, D>, factor: number) => Expr<[number, number, number, number], D>

/** depthToSpace(x, factor, { order }), spaceToDepth: channels moved into space, and back. */
export type DepthToSpaceFn = <D extends DType>(
  x: Operand<Shape, D>,
  factor: number,
  options?: { readonly order?: 'DCR' | 'CRD' | undefined },
) => Expr<[number, number, number, number], D>
/** Options of `gridSample`. */
export interface GridSampleOptions {
  readonly method?: 'linear' | 'nearest' | 'cubic' | undefined
  readonly padding?: 'zeros' | 'border' | 'reflection' | undefined
  /** -1 and 1 are the first and last positions; else their outer edges. */
  readonly alignCorners?: boolean | undefined
}
/** Batch and channels of x, and the places of the grid. */
type Sampled<S extends Shape, G extends Shape> = S extends readonly [
  infer N extends number | string,
  infer C extends number | string,
  ...Shape,
]
  ? G extends readonly [unknown, ...infer P extends Shape, unknown]
    ? [N, C, ...P]
    : Shape
  : Shape
/** gridSample(x, grid, { method, padding, alignCorners }): x [n, c, ...positions] at the places of a grid [n, ...places, axes]. */
export type GridSampleFn = <S extends Shape, D extends DType, G extends Shape, E extends DType>(
  x: Operand<S, D>,
  grid: Operand<G, E>,
  options?: GridSampleOptions,
) => Expr<Sampled<S, G>, AsFloat<Promote<D, E>>>
/** affineGrid(theta, size, { alignCorners }): theta [n, axes, axes + 1] -> [n, ...size, axes]. */
export type AffineGridFn = <S extends Shape, D extends DType, const Z extends number | readonly number[]>(
  theta: Operand<S, D>,
  size: Z,
  options?: { readonly alignCorners?: boolean | undefined },
) => Expr<
  S extends readonly [infer N extends number | string, infer A extends number | string, unknown]
    ? Z extends readonly number[]
      ? [N, ...Z, A]
      : Shape
    : Shape,
  AsFloat<D>
>
/** Options of `roiAlign`. */
export interface RoiAlignOptions {
  /** Bins along the height and the width. */
  readonly size: number | readonly number[]
  /** Samples along each side of a bin. */
  readonly samplingRatio: number
  /** Positions of x for each unit of the boxes, 1 unless given. */
  readonly spatialScale?: number | undefined
  /** The centre of the first position is at 0.5; else at 0. */
  readonly aligned?: boolean | undefined
  readonly mode?: 'avg' | 'max' | undefined
}
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
export type RoiAlignFn = <
  S extends Shape,
  D extends DType,
  const O extends RoiAlignOptions,
  B extends Shape = Shape,
  E extends DType = WeakF64,
>(
  x: Operand<S, D>,
  boxes: Operand<B, E> | NumberArray,
  images: Index | PlainIndex,
  options: O,
) => Expr<Aligned<S, B, O['size']>, AsFloat<Promote<D, E>>>
/** Options of `nonMaxSuppression`. */
export interface NonMaxSuppressionOptions {
  /** Boxes that overlap one of a higher score by more are left out; 0.5 unless given. */
  readonly iou?: number | undefined
  /** Boxes count whose score is above. */
  readonly score?: number | undefined
  /** How many indices there are, as many as boxes unless given. */
  readonly size?: number | undefined
  /** What the places hold that are left: -1 unless given. */
  readonly fill?: number | undefined
  readonly format?: 'xyxy' | 'xywh' | 'cxcywh' | undefined
}
/** nonMaxSuppression(boxes, scores, { iou, score, size, fill, format }): the indices of boxes [n, 4] that are kept. */
export type NonMaxSuppressionFn = <S extends Shape = Shape, const O extends NonMaxSuppressionOptions = NoOptions>(
  boxes: Operand<S> | NumberArray,
  scores: Operand<Shape> | NumberArray,
  options?: O,
) => Expr<
  [O extends { readonly size: infer Z extends number } ? Z : S extends readonly [infer N extends number | string, unknown] ? N : number],
  'i32'
>
