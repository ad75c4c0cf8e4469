// Signatures of constructors and of the operations that move elements.
import type { OptionsOf } from '../../errors/options.js'
import type { padOptions } from '../../ops/layout/pad-modes.js'
import type { DType, Float, Weak, WeakF64 } from '../dtype.js'
import type { Arg, DTypeOf, Expr, NestedArray, NumberArray, OfAnyRank, Plain, PlainBool, ShapesOf, Sizes, Spec, Tensor } from '../expr.js'
import type {
  Box,
  BroadcastTo,
  Decided,
  Dim,
  Guard,
  Made,
  MadeDim,
  NoOptions,
  Ok,
  Shape,
  ShapeError,
  Size,
  SizeFor,
  SizesIn,
  Unnamed,
  WithNumber,
  Writable,
} from '../shape.js'
import type { Diag } from '../shape-arrange.js'
import type { Bounds, HasAxis, Pad, PadWidths, Repeat, Slice, Tile, WithAxis } from '../shape-index.js'
import type { Concat, ExpandDims, Parts, Reshape, Split, Squeeze, Squeezed, Stack, Transpose, Unstack } from '../shape-layout.js'
import type { AxisOptions } from './reduce.js'

/** f64, f32, i32, bool: the declaration of an input, f32('batch', 3). */
export type SpecFn<D extends DType> = <const S extends Dim[]>(...shape: S) => Spec<S, D>

type TypedData = Float64Array | Float32Array | Int32Array | Uint8Array
type DataDType<T> = [T] extends [NestedArray<never>]
  ? 'f64'
  : T extends Float32Array
    ? 'f32'
    : T extends Int32Array
      ? 'i32'
      : T extends Uint8Array | PlainBool
        ? 'bool'
        : 'f64'
type DataShape<T> = T extends TypedData ? [number] : LiteralShape<T>
/** The shape of nested arrays, with the sizes of those that are written out. */
type LiteralShape<T, R extends number[] = []> = T extends number | boolean
  ? R
  : [number] extends [R['length']]
    ? Shape
    : T extends readonly [infer H, ...(readonly unknown[])]
      ? LiteralShape<H, [...R, T['length']]>
      : T extends readonly []
        ? [...R, 0]
        : T extends readonly (infer E)[]
          ? [NestedArray<never>] extends [T]
            ? Shape
            : LiteralShape<E, [...R, number]>
          : Shape
/**
 * A shape to make or to reach: sizes only. A name has no size in a body (`x.shape[0]` has); `assertShape` gives an axis a name.
 * Readonly, so that the shape of another array will do.
 */
type NewShape = readonly number[]
/** tensor(data, shape?, dtype?): a concrete array. */
export interface TensorFn {
  <const T extends number | NumberArray | PlainBool | TypedData>(data: T): Tensor<DataShape<T>, DataDType<T>>
  <const T extends number | NumberArray | PlainBool | TypedData, D extends DType>(data: T, dtype: D): Tensor<DataShape<T>, D>
  <const T extends number | NumberArray | PlainBool | TypedData, D extends DType>(
    data: T,
    shape: undefined,
    dtype: D,
  ): Tensor<DataShape<T>, D>
  /** A copy; also of what structuredClone made of a tensor, which TypeScript takes for one. */
  <S extends Shape, D extends DType>(data: Tensor<S, D>): Tensor<S, D>
  <T extends number | NumberArray | PlainBool | TypedData, const S extends NewShape>(data: T, shape: S): Tensor<Unnamed<S>, DataDType<T>>
  <const S extends NewShape, D extends DType>(data: number | NumberArray | PlainBool | TypedData, shape: S, dtype: D): Tensor<Unnamed<S>, D>
}
/** zeros, ones: full arrays of one value. */
export interface FilledFn {
  <const S extends Shape, R extends Made<S> = Made<S>>(shape: SizesIn<S>, ...no: WithNumber<S>): Expr<R, WeakF64>
  <const S extends Shape, D extends DType, R extends Made<S> = Made<S>>(shape: SizesIn<S>, dtype: D, ...no: WithNumber<S>): Expr<R, D>
  <const S extends Shape>(shape: SizesIn<S>): Expr<Writable<S>, WeakF64>
  <const S extends Shape, D extends DType>(shape: SizesIn<S>, dtype: D): Expr<Writable<S>, D>
  <const S extends NewShape, D extends DType = WeakF64>(shape: S, dtype?: D): Expr<Writable<S>, D>
}
/** full(shape, value, dtype?). */
export interface FullFn {
  <const S extends Shape, R extends Made<S> = Made<S>>(shape: SizesIn<S>, value: number, ...no: WithNumber<S>): Expr<R, WeakF64>
  <const S extends Shape, D extends DType, R extends Made<S> = Made<S>>(
    shape: SizesIn<S>,
    value: number,
    dtype: D,
    ...no: WithNumber<S>
  ): Expr<R, D>
  <const S extends Shape>(shape: SizesIn<S>, value: number): Expr<Writable<S>, WeakF64>
  <const S extends Shape, D extends DType>(shape: SizesIn<S>, value: number, dtype: D): Expr<Writable<S>, D>
  <const S extends NewShape, D extends DType = WeakF64>(shape: S, value: number, dtype?: D): Expr<Writable<S>, D>
}
/** zerosLike, onesLike. */
export type LikeFn = <S extends Shape = Shape, D extends DType = WeakF64>(x: Expr<S, D> | Plain) => Expr<S, NoInfer<D>>
/** arange(n, dtype?): 0, 1, ... n - 1; arange(start, stop, step?, dtype?). */
export interface ArangeFn {
  <const N extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N>(n: Size<N>): Expr<[R], WeakF64>
  <R extends Dim = number>(start: number, stop: number, step?: number): Expr<[R], WeakF64>
  <D extends DType, R extends Dim = number>(start: number, stop: number, step: number, dtype: D): Expr<[R], D>
  <const N extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N>(n: Size<N>, dtype: D): Expr<[R], D>
}
/** linspace(from, to, n, dtype?, { endpoint }?). */
export interface LinspaceFn<Options> {
  <const N extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N>(
    from: number,
    to: number,
    n: Size<N>,
    options: Options,
  ): Expr<[R], WeakF64>
  <const N extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N>(
    from: number,
    to: number,
    n: Size<N>,
    options: Options & { readonly dtype: D },
  ): Expr<[R], D>
  <const N extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N>(from: number, to: number, n: Size<N>): Expr<[R], WeakF64>
  <const N extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N>(
    from: number,
    to: number,
    n: Size<N>,
    dtype: D,
  ): Expr<[R], D>
  // ends that are expressions: without a dtype that of theirs
  <const N extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N>(from: End, to: End, n: Size<N>, options?: Options): Expr<[R], Float>
  <const N extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N>(
    from: End,
    to: End,
    n: Size<N>,
    dtype: D | (Options & { readonly dtype: D }),
  ): Expr<[R], D>
}
type End = number | Expr<[]> | OfAnyRank<'Expr' | 'Tensor'>
/** eye(n, dtype?): the identity matrix; eye(n, m, k?, dtype?): ones on the k-th diagonal of n by m. */
export interface EyeFn {
  <const N extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N>(n: Size<N>): Expr<[R, R], WeakF64>
  <const N extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N>(n: Size<N>, dtype: D): Expr<[R, R], D>
  <const N extends Dim, const M extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N, C extends MadeDim<M, Zero> = M>(
    n: Size<N>,
    m: Size<M>,
    k?: number,
  ): Expr<[R, C], WeakF64>
  <const N extends Dim, const M extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N, C extends MadeDim<M, Zero> = M>(
    n: Size<N>,
    m: Size<M>,
    dtype: D,
  ): Expr<[R, C], D>
  <const N extends Dim, const M extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N, C extends MadeDim<M, Zero> = M>(
    n: Size<N>,
    m: Size<M>,
    k: number,
    dtype: D,
  ): Expr<[R, C], D>
}
/** Of a size that is just a number nothing is known, and where a literal is asked for it is that literal. */
type Told<N, M> = number extends N ? Given<never> : N extends string ? (number extends M ? Given<unknown> : Given<never>) : Given<unknown>
/** assertShape(x, shape): from an unknown shape to a known one, checked when it is traced. */
export interface AssertShapeFn {
  <const T extends NewShape, D extends DType>(x: Tensor<Shape, D>, shape: T): Tensor<Writable<T>, D>
  /** A first axis that has a name, or whose size is a parameter, keeps it where its size is given. */
  <N extends Dim, D extends DType, const M extends SizeFor<N, N>, const T extends NewShape>(
    x: Expr<readonly [N, ...Dim[]], D>,
    shape: readonly [M, ...T] & Told<N, M>['given'],
  ): Expr<[N, ...T], D>
  /** The shape of another array, in code that is generic in its axes too. */
  <S extends Shape, D extends DType>(x: Expr<Shape, D>, shape: Sizes<S>, ...no: Shape extends S ? [never] : []): Expr<Writable<S>, D>
  <const T extends Shape, D extends DType>(x: Expr<Shape, D>, shape: T): Expr<Writable<T>, D>
  <const T extends NewShape, D extends DType>(x: Expr<Shape, D>, shape: T): Expr<Writable<T>, D>
}

/** reshape(x, shape): the same elements in row-major order; one axis may be -1. */
export interface ReshapeFn {
  // the first axis stays: in code that is generic in it too
  <N extends Dim, R extends Shape, D extends DType, const T extends NewShape>(
    x: Expr<readonly [N, ...R], D>,
    shape: Guard<true extends HasRest<T> ? ShapeError<'-1'> : Reshape<R, T>, readonly [SizeFor<N, N> | Kept<R>, ...T]>,
  ): Expr<[N, ...T], D>
  <N extends Dim, R extends Shape, D extends DType, const T extends NewShape>(
    x: Expr<readonly [N, ...R], D>,
    shape: Guard<true extends HasRest<T> ? Reshape<R, T> : ShapeError<'no -1'>, readonly [SizeFor<N, N>, ...T]>,
  ): Expr<[N, ...Filled<T, Reshape<R, T>>], D>
  // sizes that are parameters: how many elements there are is known when it runs
  <const T extends NewShape, S extends Shape = Shape, D extends DType = WeakF64>(
    x: Expr<S, D> | Plain,
    shape: T & ReshapeLater<S, T>['given'],
  ): Expr<Rest<T>, NoInfer<D>>
  <const T extends NewShape, S extends Shape = Shape, D extends DType = WeakF64>(
    x: Expr<S, D> | Plain,
    shape: Decided<Reshape<S, Unnamed<T>>, T>,
  ): Expr<Ok<Reshape<S, Unnamed<T>>>, NoInfer<D>>
}
/**
 * Takes T where its sizes or those of S are parameters, whose number of elements is known later: what is looked up in a deferred type is any of its entries. Where S and T begin with the
 * same parameter, what follows has to fit.
 */
type ReshapeLater<S extends Shape, T extends NewShape> = [number] extends [T['length']]
  ? Given<unknown>
  : [Reshape<S, Unnamed<T>>] extends [ShapeError<string>]
    ? Given<never>
    : [Reshape<S, Unnamed<T>>] extends [Shape]
      ? Given<never>
      : [S, T] extends [
            readonly [infer N extends Dim, ...infer R extends Shape],
            readonly [infer M extends number, ...infer U extends NewShape],
          ]
        ? Box<M> extends Box<SizeFor<N, N>>
          ? Reshape<R, U> extends ShapeError<string>
            ? Given<never>
            : Given<unknown>
          : Given<unknown>
        : Given<unknown>
/** -1, which is the size that was first where R is known. */
type Kept<R extends Shape> = number extends R[number] ? never : -1
type HasRest<T extends NewShape> = { [K in keyof T]: T[K] extends -1 ? true : false }[number]
/** T, where -1 is what it is in Q. */
type Filled<T extends NewShape, Q> = { -readonly [K in keyof T]: FilledDim<T[K], K extends keyof Q ? Q[K] : number> & number }
type FilledDim<D, Q> = D extends -1 ? (Q extends number ? Q : number) : D
interface Given<T> {
  readonly given: T
}
/** T with a number in the place of -1. */
type Rest<T extends NewShape> = [number] extends [T['length']] ? Shape : { -readonly [K in keyof T]: RestDim<T[K], T[K]> }
type RestDim<D, E> = D extends -1 ? number : E
/** broadcastTo(x, shape). */
export interface BroadcastToFn {
  <const T extends Shape, S extends Shape = Shape, D extends DType = WeakF64, R extends Made<T> = Made<T>>(
    x: Expr<S, D> | Plain,
    shape: Guard<BroadcastTo<S, T>, SizesIn<T>>,
    ...no: WithNumber<T>
  ): Expr<R, NoInfer<D>>
  <const T extends Shape, S extends Shape = Shape, D extends DType = WeakF64>(
    x: Expr<S, D> | Plain,
    shape: Guard<BroadcastTo<S, T>, SizesIn<T>>,
  ): Expr<Writable<T>, NoInfer<D>>
}
/** transpose(x) swaps the last two axes; transpose(x, axes) permutes. */
export type TransposeFn = <S extends Shape = Shape, D extends DType = WeakF64, const P extends readonly number[] | undefined = undefined>(
  x: Guard<Transpose<S, P>, Expr<S, D> | Plain>,
  axes?: P,
) => Expr<Ok<Transpose<S, P>>, NoInfer<D>>
/** expandDims(x, axis): a new axis of length 1. */
export type ExpandDimsFn = <const I extends number | readonly number[], S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  axis: Guard<ExpandDims<S, I>, I>,
) => Expr<Ok<ExpandDims<S, I>>, NoInfer<D>>
/** Options of `squeeze`. */
export interface SqueezeOptions<S extends Shape, I> {
  /** One or more; all of length 1 where it is absent or null. */
  readonly axis?: Guard<Squeeze<S, I>, I> | null
}
/** squeeze(x, axis?), squeeze(x, { axis }): without axes of length 1. */
export interface SqueezeFn {
  <S extends Shape = Shape, D extends DType = WeakF64, const I extends number | readonly number[] | undefined = undefined>(
    x: Expr<S, D> | Plain,
    axis?: Guard<Squeeze<S, I>, I>,
  ): Expr<Squeezed<S, I>, NoInfer<D>>
  <S extends Shape, D extends DType, const I extends number | readonly number[] | undefined = undefined>(
    x: Expr<S, D> | Plain,
    options: SqueezeOptions<S, I>,
  ): Expr<Squeezed<S, I>, NoInfer<D>>
}
type AxisOf<O> = O extends { readonly axis: infer A extends number } ? A : 0
type Join2<X extends readonly Arg[]> = PromoteAll<X>
/** The dtype of several operands together. */
export type PromoteAll<X extends readonly unknown[]> = X extends readonly (infer E)[] ? Highest<DTypeOf<Exclude<E, Plain>>> : WeakF64
type Highest<D> = [D] extends [never]
  ? WeakF64
  : [DType] extends [D]
    ? DType
    : [Extract<D, Weak>] extends [never]
      ? 'f64' extends D
        ? 'f64'
        : 'f32' extends D
          ? 'f32'
          : 'i32' extends D
            ? 'i32'
            : 'bool'
      : BesideWeak<Exclude<D, Weak>>
/** The dtype of operands of D and others whose dtype nobody has declared. */
type BesideWeak<D> = [D] extends [never] ? WeakF64 : 'f64' extends D ? 'f64' : 'f32' extends D ? 'f32' : 'f64'
/** concat(xs, { axis }): joined along an axis, the first by default. */
export type ConcatFn = <const X extends readonly Arg[] | [], const O extends AxisOptions = NoOptions>(
  xs: Guard<Concat<ShapesOf<X>, AxisOf<O>>, X>,
  options?: O,
) => Expr<Ok<Concat<ShapesOf<X>, AxisOf<O>>>, Join2<X>>
/** stack(xs, { axis }): arrays of one shape along a new axis, the first by default. */
export type StackFn = <const X extends readonly Arg[] | [], const O extends AxisOptions = NoOptions>(
  xs: Guard<Stack<ShapesOf<X>, AxisOf<O>>, X>,
  options?: O,
) => Expr<Ok<Stack<ShapesOf<X>, AxisOf<O>>>, Join2<X>>
/** Expressions of some shapes. */
export type ExprsOfShapes<T, D extends DType> = T extends readonly (readonly unknown[])[]
  ? { -readonly [K in keyof T]: Expr<Ok<T[K]>, D> }
  : Expr<Shape, D>[]
/** split(x, n | sizes, { axis }): n equal parts, or parts of the sizes; along the first axis by default. */
export type SplitFn = <
  const P extends number | readonly number[],
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions = NoOptions,
>(
  x: Expr<S, D> | Plain,
  parts: Guard<Split<S, P, AxisOf<O>>, P>,
  options?: O,
) => ExprsOfShapes<Parts<S, P, AxisOf<O>>, D>
/** unstack(x, { axis }): the slices along an axis, the first by default, without that axis. */
export type UnstackFn = <S extends Shape = Shape, D extends DType = WeakF64, const O extends AxisOptions = NoOptions>(
  x: Expr<S, D> | Plain,
  options?: Guard<Unstack<S, AxisOf<O>>, O>,
) => ExprsOfShapes<Unstack<S, AxisOf<O>>, D>
/** slice(x, starts, ends?, strides?): per leading axis; negative bounds count from the end, null is the end of the axis. */
export type SliceFn = <
  const F extends Bounds,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const T extends Bounds | undefined = undefined,
  const Z extends readonly number[] | undefined = undefined,
>(
  x: Expr<S, D> | Plain,
  starts: F,
  ends?: Guard<Slice<S, F, T, Z>, T>,
  strides?: Z,
) => Expr<Ok<Slice<S, F, T, Z>>, D>
/** What `pad` puts around x: a value, or x itself. */
export type PadMode = 'constant' | 'edge' | 'reflect' | 'symmetric' | 'wrap'
/** Options of `pad`. */
export interface PadOptions extends OptionsOf<typeof padOptions> {}
/** pad(x, widths, value?): zeros, or value, around x; pad(x, widths, { mode }). */
export type PadFn = <const W extends PadWidths, S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  widths: Guard<Pad<S, W>, W>,
  value?: number | PadOptions,
) => Expr<Ok<Pad<S, W>>, D>
/** tile(x, reps): the whole array repeated. */
export type TileFn = <const R extends number | readonly number[], S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  reps: R,
) => Expr<Ok<Tile<S, R>>, D>
/** repeat(x, n, { axis }): each element n times along an axis, the first by default. */
export interface RepeatFn<Options> {
  <const N extends number, S extends Shape = Shape, D extends DType = WeakF64, const O extends AxisOptions = NoOptions>(
    x: Expr<S, D> | Plain,
    n: Guard<Repeat<S, N, AxisOf<O>>, N>,
    options?: O,
  ): Expr<Ok<Repeat<S, N, AxisOf<O>>>, D>
  /** As many times as the counts say, of each its own; `totalLength` says how long that is where counts are computed. */
  <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
    x: Expr<S, D> | Plain,
    counts: readonly number[] | Expr<Shape, 'i32'>,
    options?: O,
  ): Expr<Ok<WithAxis<S, AxisOf<O>, number, 'repeat'>>, D>
}
type AxesError<S extends Shape, O, Op extends string> = O extends { readonly axis: infer A }
  ? A extends readonly (infer B)[]
    ? HasAxis<S, B, Op>
    : HasAxis<S, A, Op>
  : []
/** flip(x, { axis }): reversed along one, several or all axes. */
export type FlipFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: Expr<S, D> | Plain,
  options?: Guard<AxesError<S, O, 'flip'>, O>,
) => Expr<S, NoInfer<D>>
/** roll(x, shift, { axis }): rotated along an axis, or flattened. */
export type RollFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: Expr<S, D> | Plain,
  shift: number | readonly number[],
  options?: Guard<AxesError<S, O, 'roll'>, O>,
) => Expr<S, D>
/** diag(x, k?): a matrix from its k-th diagonal, or the k-th diagonal of a matrix. */
export interface DiagFn {
  (x: readonly number[], k?: number): Expr<[number, number], WeakF64>
  // of a size that is a parameter TypeScript does not say that it is itself
  <N extends Dim, D extends DType>(x: Expr<readonly [N, NoInfer<N>], D>, k?: 0): Expr<[N], D>
  <B extends Dim, N extends Dim, D extends DType>(x: Expr<readonly [B, N, NoInfer<N>], D>, k?: 0): Expr<[B, N], D>
  <S extends Shape = Shape, D extends DType = WeakF64, const K extends number = 0>(
    x: Guard<Diag<S>, Expr<S, D> | Plain>,
    k?: K,
  ): Expr<Ok<Diag<S, K>>, D>
}
/** tril, triu: a matrix with zeros above or below its k-th diagonal. */
export type TriangleFn = <S extends Shape = Shape, D extends DType = WeakF64>(x: Expr<S, D> | Plain, k?: number) => Expr<S, NoInfer<D>>
