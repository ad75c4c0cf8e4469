// Signatures of reductions, scans and sorting.
import type { OptionsOf } from '../../errors/options.js'
import type { runningOptions, sortOptions, topkOptions } from '../../ops/along-axis.js'
import type { argOptions, foldOptions, whereOptions } from '../../ops/masked.js'
import type { axisOptions } from '../../ops/operation.js'
import type { AsFloat, AsNumber, DType, Float, Settled, WeakF64 } from '../dtype.js'
import type { Arg, Expr, Plain, PlainBool, ShapeOf } from '../expr.js'
import type { Broadcast, Guard, NoOptions, Ok, Reduce, ReduceOptions, Shape } from '../shape.js'
import type { HasAxis, WithAxis } from '../shape-index.js'
import type { PromoteArgs } from './elementwise.js'

/** Options of reductions with a mask. */
export interface WhereOption extends OptionsOf<typeof whereOptions> {}
/** Options of folds: `WhereOption`, and the number that they begin with. */
export interface FoldOptions extends OptionsOf<typeof foldOptions> {}
/** A reduction that keeps the dtype, over all axes without options: max, min. One signature: see `Unary`. */
export type ReduceFn<Op extends string, Extra = NoOptions> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends ReduceOptions & Extra = NoOptions & Extra,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<Reduce<S, O, Op>, O>,
) => Expr<Ok<Reduce<S, O, Op>>, NoInfer<D>>
/** sum and prod: booleans count in i32. */
export type SumFn<Op extends string, Extra = NoOptions> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends ReduceOptions & Extra = NoOptions & Extra,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<Reduce<S, O, Op>, O>,
) => Expr<Ok<Reduce<S, O, Op>>, AsNumber<D>>
/** A reduction of floats, i32 and bool in f64: mean, logsumexp, norm; Extra are options of its own. */
export type FloatReduceFn<Op extends string, Extra = NoOptions> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends ReduceOptions & Extra = NoOptions & Extra,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<Reduce<S, O, Op>, O>,
) => Expr<Ok<Reduce<S, O, Op>>, AsFloat<D>>
/** A reduction in floats whose result has a dtype of its own. */
export type SettledReduceFn<Op extends string, Extra = NoOptions> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends ReduceOptions & Extra = NoOptions & Extra,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<Reduce<S, O, Op>, O>,
) => Expr<Ok<Reduce<S, O, Op>>, Settled<AsFloat<D>>>
/** A question about elements (not 0 is true): any, all in bool; count in i32. */
export type CountFn<Op extends string, D extends DType, Extra = NoOptions> = <
  S extends Shape = Shape,
  const O extends ReduceOptions & Extra = NoOptions & Extra,
>(
  x: Expr<S> | Plain | PlainBool,
  options?: Guard<Reduce<S, O, Op>, O>,
) => Expr<Ok<Reduce<S, O, Op>>, D>
/** Options of an operation along one axis. */
export interface AxisOptions extends OptionsOf<typeof axisOptions> {}
type OneAxis<O> = O extends { readonly axis: infer A } ? { readonly axis: A } : NoOptions
/** Options of argmax and argmin. */
export interface ArgOptions extends OptionsOf<typeof argOptions> {}
type Keep<O> = O extends { readonly keepdims: infer K } ? { readonly keepdims: K } : NoOptions
/** argmax and argmin: indices along one axis, or into the flattened array. */
export type ArgReduceFn<Op extends string> = <S extends Shape = Shape, const O extends ArgOptions = NoOptions>(
  x: Expr<S> | Plain,
  options?: Guard<Reduce<S, OneAxis<O> & Keep<O>, Op>, O>,
) => Expr<Ok<Reduce<S, OneAxis<O> & Keep<O>, Op>>, 'i32'>
type AxisIn<O, Default> = O extends { readonly axis: infer A } ? A : Default
/** Options of cumsum and cumprod. */
export interface RunningOptions extends OptionsOf<typeof runningOptions> {}
/** Options of sort and argsort. */
export interface SortOptions extends OptionsOf<typeof sortOptions> {}
/** Shape kept, worked along one axis (default the last), with options of its own; booleans count in i32: cumsum, cumprod. */
export type AlongAxisFn<Op extends string, Extra = NoOptions> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions & Extra = NoOptions & Extra,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisIn<O, -1>, Op>, O>,
) => Expr<S, AsNumber<D>>
/** `AlongAxisFn` that keeps the dtype: sort, cummax, cummin. */
export type ChoosingAlongAxisFn<Op extends string, Extra = NoOptions> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions & Extra = NoOptions & Extra,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisIn<O, -1>, Op>, O>,
) => Expr<S, NoInfer<D>>
/** `AlongAxisFn` of floats: logcumsumexp. */
export type FloatAlongAxisFn<Op extends string, Extra = NoOptions> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions & Extra = NoOptions & Extra,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisIn<O, -1>, Op>, O>,
) => Expr<S, AsFloat<D>>
type AxesIn<O> = O extends { readonly axis: infer A } ? (A extends readonly (infer B)[] ? B : A) : -1
/** Shape kept, worked over one axis or several (default the last), of floats: softmax, logSoftmax. */
export type FloatOverAxesFn<Op extends string, Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = NoOptions & Options,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxesIn<O>, Op>, O>,
) => Expr<S, AsFloat<D>>
/** argsort: the indices that sort along one axis (default the last). */
export type ArgSortFn = <S extends Shape = Shape>(x: Expr<S> | Plain, options?: AxisOptions & SortOptions) => Expr<S, 'i32'>
/** Options of topk. */
export interface TopKOptions extends AxisOptions, OptionsOf<typeof topkOptions> {}
/** topk(x, k): the k largest along one axis (default the last), in order, and where they are. */
export interface TopKFn {
  <const K extends number, S extends Shape = Shape, D extends DType = WeakF64, const O extends TopKOptions = NoOptions>(
    x: Expr<S, D> | Plain,
    k: Guard<WithAxis<S, AxisIn<O, -1>, K, 'topk'>, K>,
    options?: O,
  ): {
    readonly values: Expr<Ok<WithAxis<S, AxisIn<O, -1>, K, 'topk'>>, D>
    readonly indices: Expr<Ok<WithAxis<S, AxisIn<O, -1>, K, 'topk'>>, 'i32'>
  }
  <X extends Plain>(
    x: X,
    k: number,
    options?: TopKOptions,
  ): { readonly values: Expr<ShapeOf<X>, WeakF64>; readonly indices: Expr<ShapeOf<X>, 'i32'> }
}
/** linearRecurrence(a, b, { axis, reverse }): s_k = a_k s_(k-1) + b_k along one axis (default the last). */
export interface LinearRecurrenceFn {
  <S extends Shape = Shape, D extends Float = WeakF64>(
    a: Expr<S, D> | Plain,
    b: Expr<NoInfer<S>, NoInfer<D>>,
    options?: AxisOptions & Pick<RunningOptions, 'reverse'>,
  ): Expr<S, D>
  <A extends Arg, B extends Arg>(
    a: A,
    b: Guard<Broadcast<ShapeOf<A>, ShapeOf<B>, 'linearRecurrence'>, B>,
    options?: AxisOptions & Pick<RunningOptions, 'reverse'>,
  ): Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, 'linearRecurrence'>>, AsFloat<PromoteArgs<A, B>>>
}
