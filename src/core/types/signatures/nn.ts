// Signatures of the operations of neural networks.
import type { DType, Promote } from '../dtype.js'
import type { Expr, Operand } from '../expr.js'
import type { Guard, NoOptions, Ok, Shape } from '../shape.js'
import type { Conv, ConvOptions, Pool, PoolOptions } from '../shape-contract.js'

/** conv(x, k, { stride, padding, dilation, groups }): x [n, c, ...spatial], k [o, c / groups, ...window]. */
export type ConvFn = <X extends Shape, DX extends DType, K extends Shape, DK extends DType, const O extends ConvOptions = NoOptions>(
  x: Operand<X, DX>,
  k: Guard<Conv<X, K, O>, Operand<K, DK>>,
  options?: O,
) => Expr<Ok<Conv<X, K, O>>, Promote<DX, DK>>
/** Options of `avgPool` alone: the divisor counts the padding too. */
export interface AvgPoolOptions {
  readonly countIncludePad?: boolean | undefined
}
/** maxPool(x, { window, stride, padding }), avgPool: x [n, c, ...spatial]. */
export type PoolFn<Op extends string, Extra = NoOptions> = <X extends Shape, D extends DType, const O extends PoolOptions & Extra>(
  x: Operand<X, D>,
  options: Guard<Pool<X, O, Op>, O>,
) => Expr<Ok<Pool<X, O, Op>>, D>
/** Options of `layerNorm`. */
export interface LayerNormOptions {
  readonly axis?: number | readonly number[] | undefined
  readonly eps?: number | undefined
  readonly scale?: Operand | undefined
  readonly bias?: Operand | undefined
}
/** layerNorm(x, { axis, eps, scale, bias }): mean 0 and variance 1 along an axis (default the last). */
export type LayerNormFn = <S extends Shape, D extends DType>(x: Operand<S, D>, options?: LayerNormOptions) => Expr<S, D>
/** Options of `batchNorm`: with mean and variance given, those are used (inference). */
export interface BatchNormOptions {
  readonly axis?: number | undefined
  readonly eps?: number | undefined
  readonly scale?: Operand | undefined
  readonly bias?: Operand | undefined
  readonly mean?: Operand | undefined
  readonly variance?: Operand | undefined
}
/** batchNorm(x, { axis, eps, scale, bias, mean, variance }): normalised over all axes but the channels' (default 1). */
export type BatchNormFn = <S extends Shape, D extends DType>(x: Operand<S, D>, options?: BatchNormOptions) => Expr<S, D>
