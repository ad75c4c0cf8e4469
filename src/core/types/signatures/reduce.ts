// Signatures of reductions, scans and sorting.
import type { AsFloat, AsNumber, DType } from '../dtype.js'
import type { Expr, Operand, Plain, ShapeOf } from '../expr.js'
import type { Dim, Guard, NoOptions, Ok, Reduce, ReduceOptions, Shape } from '../shape.js'
import type { HasAxis, WithAxis } from '../shape-index.js'

/** A reduction that keeps the dtype, over all axes without options: max, min. One signature: see `Unary`. */
export type ReduceFn<Op extends string> = <S extends Shape = Dim[], D extends DType = 'f64', const O extends ReduceOptions = NoOptions>(
  x: Operand<S, D> | Plain,
  options?: Guard<Reduce<S, O, Op>, O>,
) => Expr<Ok<Reduce<S, O, Op>>, D>
/** sum and prod: booleans count in i32. */
export type SumFn<Op extends string> = <S extends Shape = Dim[], D extends DType = 'f64', const O extends ReduceOptions = NoOptions>(
  x: Operand<S, D> | Plain,
  options?: Guard<Reduce<S, O, Op>, O>,
) => Expr<Ok<Reduce<S, O, Op>>, AsNumber<D>>
/** A reduction of floats, i32 and bool in f64: mean, logsumexp, norm; Extra are options of its own. */
export type FloatReduceFn<Op extends string, Extra = NoOptions> = <
  S extends Shape = Dim[],
  D extends DType = 'f64',
  const O extends ReduceOptions & Extra = NoOptions & Extra,
>(
  x: Operand<S, D> | Plain,
  options?: Guard<Reduce<S, O, Op>, O>,
) => Expr<Ok<Reduce<S, O, Op>>, AsFloat<D>>
/** Options of an operation along one axis. */
export interface AxisOptions {
  readonly axis?: number | undefined
}
type OneAxis<O> = O extends { readonly axis: infer A } ? { readonly axis: A } : NoOptions
type ArgOptions = AxisOptions & { readonly keepdims?: boolean | undefined }
type Keep<O> = O extends { readonly keepdims: infer K } ? { readonly keepdims: K } : NoOptions
/** argmax and argmin: indices along one axis, or into the flattened array. */
export type ArgReduceFn<Op extends string> = <S extends Shape = Dim[], const O extends ArgOptions = NoOptions>(
  x: Operand<S> | Plain,
  options?: Guard<Reduce<S, OneAxis<O> & Keep<O>, Op>, O>,
) => Expr<Ok<Reduce<S, OneAxis<O> & Keep<O>, Op>>, 'i32'>
type AxisIn<O, Default> = O extends { readonly axis: infer A } ? A : Default
/** Shape kept, worked along one axis (default the last): cumsum, cumprod, sort. */
export type AlongAxisFn<Op extends string> = <S extends Shape = Dim[], D extends DType = 'f64', const O extends AxisOptions = NoOptions>(
  x: Operand<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisIn<O, -1>, Op>, O>,
) => Expr<S, AsNumber<D>>
/** `AlongAxisFn` of floats: softmax, logSoftmax. */
export type FloatAlongAxisFn<Op extends string> = <
  S extends Shape = Dim[],
  D extends DType = 'f64',
  const O extends AxisOptions = NoOptions,
>(
  x: Operand<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisIn<O, -1>, Op>, O>,
) => Expr<S, AsFloat<D>>
/** argsort: the indices that sort along one axis (default the last). */
export type ArgSortFn = <S extends Shape = Dim[]>(x: Operand<S> | Plain, options?: AxisOptions) => Expr<S, 'i32'>
/** topk(x, k): the k largest along one axis (default the last), in order, and where they are. */
export interface TopKFn {
  <S extends Shape, D extends DType, const K extends number, const O extends AxisOptions = NoOptions>(
    x: Operand<S, D>,
    k: Guard<WithAxis<S, AxisIn<O, -1>, K, 'topk'>, K>,
    options?: O,
  ): {
    readonly values: Expr<Ok<WithAxis<S, AxisIn<O, -1>, K, 'topk'>>, D>
    readonly indices: Expr<Ok<WithAxis<S, AxisIn<O, -1>, K, 'topk'>>, 'i32'>
  }
  <X extends Plain>(
    x: X,
    k: number,
    options?: AxisOptions,
  ): { readonly values: Expr<ShapeOf<X>, 'f64'>; readonly indices: Expr<ShapeOf<X>, 'i32'> }
}
