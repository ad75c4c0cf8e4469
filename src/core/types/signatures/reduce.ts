// Signatures of reductions, scans and sorting.
import type { Discrete, DType } from '../dtype.js'
import type { Expr, Operand, Plain, ShapeOf } from '../expr.js'
import type { Guard, Ok, Reduce, ReduceOptions, Shape } from '../shape.js'
import type { HasAxis, WithAxis } from '../shape-layout.js'

/** A reduction that keeps the dtype: max, min. Without options, over all axes. The last overload is the one `pipe` infers from. */
export interface ReduceFn<Op extends string> {
  <X extends Plain, const O extends ReduceOptions = {}>(x: X, options?: Guard<Reduce<ShapeOf<X>, O, Op>, O>): Expr<Ok<Reduce<ShapeOf<X>, O, Op>>, 'f64'>
  <S extends Shape, D extends DType, const O extends ReduceOptions>(x: Operand<S, D>, options: Guard<Reduce<S, O, Op>, O>): Expr<Ok<Reduce<S, O, Op>>, D>
  <S extends Shape, D extends DType>(x: Operand<S, D>): Expr<[], D>
}
/** sum and prod: booleans count in i32. */
export interface SumFn<Op extends string> {
  <X extends Plain, const O extends ReduceOptions = {}>(x: X, options?: Guard<Reduce<ShapeOf<X>, O, Op>, O>): Expr<Ok<Reduce<ShapeOf<X>, O, Op>>, 'f64'>
  <S extends Shape>(x: Operand<S, 'bool'>): Expr<[], 'i32'>
  <S extends Shape, const O extends ReduceOptions>(x: Operand<S, 'bool'>, options: Guard<Reduce<S, O, Op>, O>): Expr<Ok<Reduce<S, O, Op>>, 'i32'>
  <S extends Shape, D extends DType, const O extends ReduceOptions>(x: Operand<S, D>, options: Guard<Reduce<S, O, Op>, O>): Expr<Ok<Reduce<S, O, Op>>, D>
  <S extends Shape, D extends DType>(x: Operand<S, D>): Expr<[], D>
}
/** A reduction of floats, i32 and bool in f64: mean, logsumexp, norm; Extra are options of its own. */
export interface FloatReduceFn<Op extends string, Extra = {}> {
  <X extends Plain, const O extends ReduceOptions & Extra = {} & Extra>(x: X, options?: Guard<Reduce<ShapeOf<X>, O, Op>, O>): Expr<Ok<Reduce<ShapeOf<X>, O, Op>>, 'f64'>
  <S extends Shape>(x: Operand<S, Discrete>): Expr<[], 'f64'>
  <S extends Shape, const O extends ReduceOptions & Extra>(x: Operand<S, Discrete>, options: Guard<Reduce<S, O, Op>, O>): Expr<Ok<Reduce<S, O, Op>>, 'f64'>
  <S extends Shape, D extends DType, const O extends ReduceOptions & Extra>(x: Operand<S, D>, options: Guard<Reduce<S, O, Op>, O>): Expr<Ok<Reduce<S, O, Op>>, D>
  <S extends Shape, D extends DType>(x: Operand<S, D>): Expr<[], D>
}
/** Options of an operation along one axis. */
export interface AxisOptions {
  readonly axis?: number | undefined
}
type OneAxis<O> = O extends { readonly axis: infer A } ? { readonly axis: A } : {}
type ArgOptions = AxisOptions & { readonly keepdims?: boolean | undefined }
type Keep<O> = O extends { readonly keepdims: infer K } ? { readonly keepdims: K } : {}
/** argmax and argmin: indices along one axis, or into the flattened array. */
export interface ArgReduceFn<Op extends string> {
  <X extends Plain, const O extends ArgOptions = {}>(x: X, options?: Guard<Reduce<ShapeOf<X>, OneAxis<O> & Keep<O>, Op>, O>): Expr<Ok<Reduce<ShapeOf<X>, OneAxis<O> & Keep<O>, Op>>, 'i32'>
  <S extends Shape, const O extends ArgOptions>(x: Operand<S>, options: Guard<Reduce<S, OneAxis<O> & Keep<O>, Op>, O>): Expr<Ok<Reduce<S, OneAxis<O> & Keep<O>, Op>>, 'i32'>
  <S extends Shape>(x: Operand<S>): Expr<[], 'i32'>
}
type AxisIn<O, Default> = O extends { readonly axis: infer A } ? A : Default
/** Shape kept, worked along one axis (default the last): cumsum, cumprod, sort, softmax, logSoftmax. */
export interface AlongAxisFn<Op extends string, Extra = {}> {
  <X extends Plain>(x: X, options?: AxisOptions & Extra): Expr<ShapeOf<X>, 'f64'>
  <S extends Shape, D extends DType, const O extends AxisOptions & Extra>(x: Operand<S, D>, options: Guard<HasAxis<S, AxisIn<O, -1>, Op>, O>): Expr<S, D>
  <S extends Shape, D extends DType>(x: Operand<S, D>): Expr<S, D>
}
/** argsort: the indices that sort along one axis (default the last). */
export interface ArgSortFn {
  <S extends Shape>(x: Operand<S>, options?: AxisOptions): Expr<S, 'i32'>
  <X extends Plain>(x: X, options?: AxisOptions): Expr<ShapeOf<X>, 'i32'>
}
/** topk(x, k): the k largest along one axis (default the last), in order, and where they are. */
export interface TopKFn {
  <S extends Shape, D extends DType, const K extends number, const O extends AxisOptions = {}>(
    x: Operand<S, D>,
    k: Guard<WithAxis<S, AxisIn<O, -1>, K, 'topk'>, K>,
    options?: O,
  ): { readonly values: Expr<Ok<WithAxis<S, AxisIn<O, -1>, K, 'topk'>>, D>; readonly indices: Expr<Ok<WithAxis<S, AxisIn<O, -1>, K, 'topk'>>, 'i32'> }
  <X extends Plain>(x: X, k: number, options?: AxisOptions): { readonly values: Expr<ShapeOf<X>, 'f64'>; readonly indices: Expr<ShapeOf<X>, 'i32'> }
}
