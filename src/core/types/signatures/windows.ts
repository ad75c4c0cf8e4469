// Signatures of layers that change how many positions there are.
import type { AsFloat, DType } from '../dtype.js'
import type { Expr, Operand } from '../expr.js'
import type { Shape } from '../shape.js'

/** Batch and channels of x, then the positions that are asked for. */
type Resized<S extends Shape, Z> = S extends readonly [
  infer N extends number | string,
  infer C extends number | string,
  ...infer P extends Shape,
]
  ? [N, C, ...{ -readonly [I in keyof P]: Z extends readonly number[] ? (I extends keyof Z ? Z[I] & number : number) : Z & number }]
  : Shape

/** adaptiveAvgPool(x, size), adaptiveMaxPool: x [n, c, ...positions]. */
export type AdaptivePoolFn = <S extends Shape, D extends DType, const Z extends number | readonly number[]>(
  x: Operand<S, D>,
  size: Z,
) => Expr<Resized<S, Z>, AsFloat<D>>
/** resize(x, size, { method, alignCorners, antialias }): x [n, c, ...positions] with other positions. */
export type ResizeFn<Options> = <S extends Shape, D extends DType, const Z extends number | readonly number[]>(
  x: Operand<S, D>,
  size: Z,
  options?: Options,
) => Expr<Resized<S, Z>, AsFloat<D>>
/** unfold(x, { window, stride, padding, dilation }): the windows of planes as columns. */
export type UnfoldFn<Options> = <D extends DType>(x: Operand<Shape, D>, options: Options) => Expr<[number, number, number], AsFloat<D>>
/** fold(x, { size, window, stride, padding, dilation }): columns added where their windows lie. */
export type FoldFn<Options> = <D extends DType>(
  x: Operand<Shape, D>,
  options: Options,
) => Expr<[number, number, number, number], AsFloat<D>>
/** pixelShuffle(x, factor), pixelUnshuffle: channels moved into space, and back. */
export type PixelShuffleFn = <D extends DType>(x: Operand<Shape, D>, factor: number) => Expr<[number, number, number, number], D>
