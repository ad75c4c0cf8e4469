// Signatures of the operations of neural networks.
import type { OptionsOf } from '../../errors/options.js'
import type { avgPoolOptions, maxPoolOptions } from '../../ops/nn.js'
import type { AsFloat, AsNumber, DType, Float, Promote, WeakF64 } from '../dtype.js'
import type { Arg, DTypeOf, Expr, NumberArray, Plain, PlainBool, PlainIndex, ShapeOf, Typed } from '../expr.js'
import type { Broadcast, Decided, Dim, DimAt, Exactly, Guard, NoOptions, Ok, ReduceAt, Shape } from '../shape.js'
import type { Halved } from '../shape-arrange.js'
import type { Gather, HasAxis } from '../shape-index.js'
import type { Linear, Targets } from '../shape-products.js'
import type { Conv, ConvOptions, Convolved, Pool, Pooled, PoolOptions } from '../shape-windows.js'
import type { PromoteArgs3 } from './elementwise.js'
import type { Indices } from './index-ops.js'
import type { AxisOptions } from './reduce.js'

type AxisOf<O, Default> = O extends { readonly axis: infer A extends number } ? A : Default
/** linear(x, w, b): x w + b, a dense layer; b may be left out. */
export interface LinearFn {
  // code generic in its sizes: an example, a batch, a batch of sequences
  <K extends Dim, M extends Dim, D extends Float>(
    x: Expr<readonly [K], D>,
    w: Expr<readonly [NoInfer<K>, M], NoInfer<D>>,
    b?: Expr<readonly [NoInfer<M>], NoInfer<D>>,
  ): Expr<[M], D>
  <N extends Dim, K extends Dim, M extends Dim, D extends Float>(
    x: Expr<readonly [N, K], D>,
    w: Expr<readonly [NoInfer<K>, M], NoInfer<D>>,
    b?: Expr<readonly [NoInfer<M>], NoInfer<D>>,
  ): Expr<[N, M], D>
  <S extends Shape, K extends Dim, M extends Dim, D extends Float>(
    x: Expr<readonly [...S, K], D>,
    w: Expr<readonly [NoInfer<K>, M], NoInfer<D>>,
    b?: Expr<readonly [NoInfer<M>], NoInfer<D>>,
  ): Expr<[...S, M], D>
  <X extends Arg, W extends Arg, B extends Arg | undefined = undefined>(
    x: X,
    w: Guard<Linear<ShapeOf<X>, ShapeOf<W>, []>, W>,
    b?: Guard<Linear<ShapeOf<X>, ShapeOf<W>, ShapeOf<OrZero<B>>>, B>,
  ): Expr<Ok<Linear<ShapeOf<X>, ShapeOf<W>, ShapeOf<OrZero<B>>>>, AsNumber<PromoteArgs3<X, W, OrZero<B>>>>
}
/** What a bias that is left out adds. */
type OrZero<B> = [B] extends [undefined] ? number : Exclude<B, undefined>
type Losses<S extends Shape, O> = O extends { readonly reduction: infer R }
  ? [R] extends ['none']
    ? Ok<ReduceAt<S, AxisOf<O, -1>, false>>
    : 'none' extends R
      ? Shape
      : []
  : []
interface AtTheLast {
  readonly axis?: -1 | undefined
}
/** crossEntropy(logits, targets, { axis, reduction }), and nllLoss of log probabilities: targets are probabilities of the logits' shape, or i32 classes without the axis. */
export interface CrossEntropyFn<Options> {
  // code generic in its sizes, along the last axis
  <S extends Shape, C extends Dim, D extends Float, const O extends Options = NoOptions & Options>(
    logits: Expr<readonly [...S, C], D>,
    targets: Expr<NoInfer<S>, 'i32'> | NoInfer<Expr<readonly [...S, C], D>>,
    options?: O & AtTheLast,
  ): Expr<LossesOf<S, O>, D>
  // a number of unknown size beside a parameter
  <S extends Shape, C extends Dim, T extends Shape, D extends Float, const O extends Options = NoOptions & Options>(
    logits: Expr<readonly [...S, C], D>,
    targets: (Expr<T, 'i32'> & Typed<Exactly<S, T>>) | (Expr<T, NoInfer<D>> & Typed<Exactly<[...S, C], T>>),
    options?: O & AtTheLast,
  ): Expr<LossesOf<S, O>, D>
  <T extends Arg | Int32Array, S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
    logits: Expr<S, D> | Plain,
    targets: Decided<Targets<S, ShapeOf<T>, AxisOf<O, -1>>, T>,
    options?: O,
  ): Expr<Losses<S, O>, T extends Plain | Int32Array ? AsFloat<D> : Promote<AsFloat<D>, DTypeOf<T>>>
}
type LossesOf<S extends Shape, O> = O extends { readonly reduction: infer R }
  ? [R] extends ['none']
    ? S
    : 'none' extends R
      ? Shape
      : []
  : []
/** mseLoss(x, target, { reduction }) and its kin: the target broadcasts against x. */
export type LossFn<Op extends string, Options> = <
  T extends Arg,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = Options,
>(
  prediction: Expr<S, D> | Plain,
  target: Guard<Broadcast<S, ShapeOf<T>, Op>, T>,
  options?: O,
) => Expr<LossesOf<S, O>, T extends Plain ? AsFloat<D> : AsFloat<Promote<D, DTypeOf<T>>>>
/** cosineSimilarity(a, b, { axis, eps }): the cosine of the angle between vectors along an axis. */
export type CosineFn<Options> = <
  B extends Arg,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoOptions & Options,
>(
  a: Expr<S, D> | Plain,
  b: Guard<Broadcast<S, ShapeOf<B>, 'cosineSimilarity'>, B>,
  options?: O,
) => Expr<Ok<ReduceAt<Ok<Broadcast<S, ShapeOf<B>, 'cosineSimilarity'>>, AxisOf<O, -1>, false>>, AsFloat<Promote<D, DTypeOf<B>>>>
/** glu(x, { axis }): the half of x along an axis (the last by default), gated by the other. */
export type GluFn = <S extends Shape = Shape, D extends DType = WeakF64, const O extends AxisOptions = NoOptions>(
  x: Expr<S, D> | Plain,
  options?: O,
) => Expr<Ok<Halved<S, AxisOf<O, -1>, 'glu'>>, AsFloat<D>>
/** rmsNorm(x, { axis, eps, scale }): root mean square 1 along an axis (default the last). */
export type RmsNormFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  options?: Options,
) => Expr<S, AsFloat<D>>
/** groupNorm(x, groups, { eps, scale, bias }): normalised over groups of channels (axis 1) and all positions. */
export type GroupNormFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  groups: number,
  options?: Options,
) => Expr<S, AsFloat<D>>
/** instanceNorm(x, { eps, scale, bias }): normalised over the positions of each channel. */
export type InstanceNormFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  options?: Options,
) => Expr<S, AsFloat<D>>
/** localResponseNorm(x, size, { alpha, beta, k }): x by the mean square of neighbouring channels. */
export type LocalResponseNormFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  size: number,
  options?: Options,
) => Expr<S, AsFloat<D>>
/** embedding(table, indices): rows of a table, one vector for each index. */
export interface EmbeddingFn {
  <N extends Dim, R extends Shape, I extends Shape, D extends DType>(
    table: Expr<[N, ...R], D>,
    indices: Expr<I, 'i32'>,
  ): Expr<[...I, ...R], D>
  <I extends Expr | PlainIndex, S extends Shape = Shape, D extends DType = WeakF64>(
    table: Expr<S, D> | NumberArray,
    indices: Indices<I, 'embedding'>,
  ): Expr<Ok<Gather<S, ShapeOf<I>>>, NoInfer<D>>
}
/** dropout(x, mask, rate): x / (1 - rate) where the mask holds, 0 elsewhere. */
export type DropoutFn = <M extends Arg | PlainBool, S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  mask: Guard<Broadcast<S, ShapeOf<M>, 'dropout'>, M>,
  rate: number,
) => Expr<Ok<Broadcast<S, ShapeOf<M>, 'dropout'>>, AsFloat<D>>
/** batchStatistics(x, { axis }): mean and variance of each channel (axis 1 by default) over all other axes. */
export type BatchStatisticsFn = <S extends Shape = Shape, D extends DType = WeakF64, const O extends AxisOptions = NoOptions>(
  x: Expr<S, D> | NumberArray,
  options?: Guard<HasAxis<S, AxisOf<O, 1>, 'batchStatistics'>, O>,
) => { readonly mean: Expr<[DimAt<S, AxisOf<O, 1>>], AsFloat<D>>; readonly variance: Expr<[DimAt<S, AxisOf<O, 1>>], AsFloat<D>> }

/** conv(x, k, { stride, padding, dilation, groups }): x [n, c, ...spatial], k [o, c / groups, ...window]. */
export type ConvFn = <
  K extends Shape = Shape,
  DK extends DType = WeakF64,
  X extends Shape = Shape,
  DX extends DType = WeakF64,
  const O extends ConvOptions = NoOptions,
>(
  x: Expr<X, DX> | Plain,
  k: Guard<Conv<X, K, O>, Expr<K, DK> | Plain>,
  options?: O,
) => Expr<Convolved<X, K, O>, AsFloat<Promote<DX, DK>>>
/** Options of `avgPool` alone. */
export interface AvgPoolOptions extends OptionsOf<typeof avgPoolOptions> {}
/** Options of `maxPool` and `maxPoolWithIndices` alone. */
export interface MaxPoolOptions extends OptionsOf<typeof maxPoolOptions> {}
/** maxPool(x, { window, stride, padding, dilation }), avgPool: x [n, c, ...spatial]. */
export type PoolFn<Op extends string, Extra = NoOptions> = <
  const O extends PoolOptions & Extra,
  X extends Shape = Shape,
  D extends DType = WeakF64,
>(
  x: Expr<X, D> | Plain,
  options: Guard<Pool<X, O, Op>, O>,
) => Expr<Pooled<X, O>, D>
/** layerNorm(x, { axis, eps, scale, bias }): mean 0 and variance 1 along an axis (default the last). */
export type LayerNormFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  options?: Options,
) => Expr<S, AsFloat<D>>
/** batchNorm(x, { axis, eps, scale, bias, mean, variance }): normalised over all axes but the channels' (default 1). */
export type BatchNormFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  options?: Options,
) => Expr<S, AsFloat<D>>
