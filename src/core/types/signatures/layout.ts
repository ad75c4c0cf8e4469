// Signatures of constructors and of the operations that move elements.
import type { DType } from '../dtype.js'
import type { Arg, DTypeOf, Expr, Operand, Plain, ShapeOf, ShapesOf, Spec, Tensor, NumberArray } from '../expr.js'
import type { BroadcastTo, Dim, Guard, Ok, Shape, ShapeError } from '../shape.js'
import type { Concat, Diag, ExpandDims, HasAxis, Pad, PadWidths, Repeat, Reshape, Slice, Split, Squeeze, Stack, Tile, Transpose, Unstack } from '../shape-layout.js'
import type { AxisOptions } from './reduce.js'

/** f64, f32, i32, bool: the declaration of an input, f32('batch', 3). */
export type SpecFn<D extends DType> = <const S extends Dim[]>(...shape: S) => Spec<S, D>

type TypedData = Float64Array | Float32Array | Int32Array | Uint8Array
type DataDType<T> = T extends Float32Array ? 'f32' : T extends Int32Array ? 'i32' : T extends Uint8Array ? 'bool' : 'f64'
type DataShape<T> = T extends TypedData ? [number] : ShapeOf<T>
/** tensor(data, shape?, dtype?): a concrete array. */
export interface TensorFn {
  <T extends number | NumberArray | TypedData>(data: T): Tensor<DataShape<T>, DataDType<T>>
  <T extends number | NumberArray | TypedData, D extends DType>(data: T, shape: undefined, dtype: D): Tensor<DataShape<T>, D>
  <T extends number | NumberArray | TypedData, const S extends number[] | []>(data: T, shape: S): Tensor<S, DataDType<T>>
  <const S extends number[] | [], D extends DType>(data: number | NumberArray | TypedData, shape: S, dtype: D): Tensor<S, D>
}
/** zeros, ones: full arrays of one value, f64 where no dtype is given. */
export interface FilledFn {
  <const S extends Dim[] | []>(shape: S): Expr<S, 'f64'>
  <const S extends Dim[] | [], D extends DType>(shape: S, dtype: D): Expr<S, D>
}
/** full(shape, value, dtype?). */
export interface FullFn {
  <const S extends Dim[] | []>(shape: S, value: number): Expr<S, 'f64'>
  <const S extends Dim[] | [], D extends DType>(shape: S, value: number, dtype: D): Expr<S, D>
}
/** zerosLike, onesLike. */
export interface LikeFn {
  <S extends Shape, D extends DType>(x: Operand<S, D>): Expr<S, D>
  <X extends Plain>(x: X): Expr<ShapeOf<X>, 'f64'>
}
/** arange(n, dtype?): 0, 1, ... n - 1. */
export interface ArangeFn {
  <const N extends number>(n: N): Expr<[N], 'f64'>
  <const N extends number, D extends DType>(n: N, dtype: D): Expr<[N], D>
}
/** linspace(from, to, n, dtype?). */
export interface LinspaceFn {
  <const N extends number>(from: number, to: number, n: N): Expr<[N], 'f64'>
  <const N extends number, D extends DType>(from: number, to: number, n: N, dtype: D): Expr<[N], D>
}
/** eye(n, dtype?): the identity matrix. */
export interface EyeFn {
  <const N extends number>(n: N): Expr<[N, N], 'f64'>
  <const N extends number, D extends DType>(n: N, dtype: D): Expr<[N, N], D>
}
/** assertShape(x, shape): from an unknown shape to a known one, checked when it is traced. */
export interface AssertShapeFn {
  <const T extends Dim[] | [], D extends DType>(x: Expr<Shape, D>, shape: T): Expr<T, D>
  <const T extends number[] | [], D extends DType>(x: Tensor<Shape, D>, shape: T): Tensor<T, D>
}

/** reshape(x, shape): the same elements in row-major order; one axis may be -1. */
export interface ReshapeFn {
  <S extends Shape, D extends DType, const T extends Dim[] | []>(x: Operand<S, D>, shape: Guard<Reshape<S, T>, T>): Expr<Ok<Reshape<S, T>>, D>
  <X extends Plain, const T extends Dim[] | []>(x: X, shape: Guard<Reshape<ShapeOf<X>, T>, T>): Expr<Ok<Reshape<ShapeOf<X>, T>>, 'f64'>
}
/** broadcastTo(x, shape). */
export interface BroadcastToFn {
  <S extends Shape, D extends DType, const T extends Dim[] | []>(x: Operand<S, D>, shape: Guard<BroadcastTo<S, T>, T>): Expr<Ok<BroadcastTo<S, T>>, D>
  <X extends Plain, const T extends Dim[] | []>(x: X, shape: T): Expr<T, 'f64'>
}
/** transpose(x) swaps the last two axes; transpose(x, axes) permutes. */
export interface TransposeFn {
  <N extends Dim, M extends Dim, D extends DType>(x: Operand<[N, M], D>): Expr<[M, N], D>
  <B extends Shape, N extends Dim, M extends Dim, D extends DType>(x: Operand<[...B, N, M], D>): Expr<[...B, M, N], D>
  <X extends Plain>(x: X, axes?: readonly number[]): Expr<Ok<Transpose<ShapeOf<X>>>, 'f64'>
  <S extends Shape, D extends DType, const P extends number[]>(x: Operand<S, D>, axes: Guard<Transpose<S, P>, P>): Expr<Ok<Transpose<S, P>>, D>
  <S extends Shape, D extends DType>(x: Guard<Transpose<S>, Operand<S, D>>): Expr<Ok<Transpose<S>>, D>
}
/** expandDims(x, axis): a new axis of length 1. */
export interface ExpandDimsFn {
  <S extends Shape, D extends DType, const I extends number | readonly number[]>(x: Operand<S, D>, axis: Guard<ExpandDims<S, I>, I>): Expr<Ok<ExpandDims<S, I>>, D>
  <X extends Plain, const I extends number | readonly number[]>(x: X, axis: Guard<ExpandDims<ShapeOf<X>, I>, I>): Expr<Ok<ExpandDims<ShapeOf<X>, I>>, 'f64'>
}
/** squeeze(x, axis?): without axes of length 1. */
export interface SqueezeFn {
  <X extends Plain>(x: X, axis?: number | readonly number[]): Expr<Dim[], 'f64'>
  <S extends Shape, D extends DType, const I extends number | readonly number[]>(x: Operand<S, D>, axis: Guard<Squeeze<S, I>, I>): Expr<Ok<Squeeze<S, I>>, D>
  <S extends Shape, D extends DType>(x: Operand<S, D>): Expr<Ok<Squeeze<S>>, D>
}
type AxisOf<O> = O extends { readonly axis: infer A extends number } ? A : 0
type Join2<X extends readonly Arg[]> = PromoteAll<X>
/** The dtype of several operands together. */
export type PromoteAll<X extends readonly unknown[]> = X extends readonly (infer E)[] ? Highest<DTypeOf<Exclude<E, Plain>>> : 'f64'
type Highest<D> = [D] extends [never] ? 'f64' : [DType] extends [D] ? DType : 'f64' extends D ? 'f64' : 'f32' extends D ? 'f32' : 'i32' extends D ? 'i32' : 'bool'
/** concat(xs, { axis }): joined along an axis, the first by default. */
export interface ConcatFn {
  <const X extends readonly Arg[] | [], const O extends AxisOptions = {}>(xs: Guard<Concat<ShapesOf<X>, AxisOf<O>>, X>, options?: O): Expr<Ok<Concat<ShapesOf<X>, AxisOf<O>>>, Join2<X>>
}
/** stack(xs, { axis }): arrays of one shape along a new axis, the first by default. */
export interface StackFn {
  <const X extends readonly Arg[] | [], const O extends AxisOptions = {}>(xs: Guard<Stack<ShapesOf<X>, AxisOf<O>>, X>, options?: O): Expr<Ok<Stack<ShapesOf<X>, AxisOf<O>>>, Join2<X>>
}
type ExprsOfShapes<T, D extends DType> = T extends readonly Shape[] ? { readonly [K in keyof T]: Expr<Ok<T[K]>, D> } : readonly Expr<Shape, D>[]
/** split(x, n | sizes, { axis }): n equal parts, or parts of the sizes; along the first axis by default. */
export interface SplitFn {
  <S extends Shape, D extends DType, const P extends number | readonly number[], const O extends AxisOptions = {}>(
    x: Operand<S, D>,
    parts: Guard<Split<S, P, AxisOf<O>>, P>,
    options?: O,
  ): ExprsOfShapes<Split<S, P, AxisOf<O>>, D>
}
/** unstack(x, { axis }): the slices along an axis, the first by default, without that axis. */
export interface UnstackFn {
  <S extends Shape, D extends DType>(x: Operand<S, D>): ExprsOfShapes<Unstack<S>, D>
  <S extends Shape, D extends DType, const O extends AxisOptions>(x: Operand<S, D>, options: Guard<Unstack<S, AxisOf<O>>, O>): ExprsOfShapes<Unstack<S, AxisOf<O>>, D>
}
/** slice(x, starts, ends, strides?): per leading axis; negative bounds count from the end. */
export interface SliceFn {
  <S extends Shape, D extends DType, const F extends number[], const T extends number[], const Z extends number[] | undefined = undefined>(
    x: Operand<S, D>,
    starts: F,
    ends: Guard<Slice<S, F, T, Z>, T>,
    strides?: Z,
  ): Expr<Ok<Slice<S, F, T, Z>>, D>
}
/** pad(x, widths, value?): zeros, or value, around x. */
export interface PadFn {
  <S extends Shape, D extends DType, const W extends PadWidths>(x: Operand<S, D>, widths: Guard<Pad<S, W>, W>, value?: number): Expr<Ok<Pad<S, W>>, D>
}
/** tile(x, reps): the whole array repeated. */
export interface TileFn {
  <S extends Shape, D extends DType, const R extends number | number[]>(x: Operand<S, D>, reps: R): Expr<Ok<Tile<S, R>>, D>
}
/** repeat(x, n, { axis }): each element n times along an axis, the first by default. */
export interface RepeatFn {
  <S extends Shape, D extends DType, const N extends number, const O extends AxisOptions = {}>(
    x: Operand<S, D>,
    n: Guard<Repeat<S, N, AxisOf<O>>, N>,
    options?: O,
  ): Expr<Ok<Repeat<S, N, AxisOf<O>>>, D>
}
type AxesError<S extends Shape, O, Op extends string> = O extends { readonly axis: infer A } ? (A extends readonly (infer B)[] ? HasAxis<S, B, Op> : HasAxis<S, A, Op>) : S
/** flip(x, { axis }): reversed along one, several or all axes. */
export interface FlipFn {
  <S extends Shape, D extends DType>(x: Operand<S, D>): Expr<S, D>
  <S extends Shape, D extends DType, const O extends { readonly axis?: number | readonly number[] | undefined }>(x: Operand<S, D>, options: Guard<AxesError<S, O, 'flip'>, O>): Expr<S, D>
}
/** roll(x, shift, { axis }): rotated along an axis, or flattened. */
export interface RollFn {
  <S extends Shape, D extends DType, const O extends { readonly axis?: number | readonly number[] | undefined } = {}>(
    x: Operand<S, D>,
    shift: number | readonly number[],
    options?: Guard<AxesError<S, O, 'roll'>, O>,
  ): Expr<S, D>
}
/** diag(x): a matrix from its diagonal, or the diagonal of a matrix. */
export interface DiagFn {
  <S extends Shape, D extends DType>(x: Guard<Diag<S>, Operand<S, D>>): Expr<Ok<Diag<S>>, D>
}
/** tril, triu: a matrix with zeros above or below its k-th diagonal. */
export interface TriangleFn {
  <S extends Shape, D extends DType>(x: Operand<S, D>, k?: number): Expr<S, D>
}
/** One shape error, for signatures of users' own functions. */
export type { ShapeError }
