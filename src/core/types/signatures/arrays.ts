// Signatures of the functions of arrays that NumPy, SciPy, JAX and PyTorch have beside the operations: compositions of these.
import type { AsFloat, AsNumber, DType, Float, Promote, Settled, WeakF64 } from '../dtype.js'
import type { Arg, DTypeOf, Expr, NumberArray, Plain, PlainBool, PlainIndex, ShapeOf, ShapesOf } from '../expr.js'
import type { Broadcast, Dim, Guard, MadeDim, NoOptions, Ok, Reduce, Shape, Size, ZeroOf } from '../shape.js'
import type {
  Area,
  Areas,
  AtLeast,
  Block,
  BlockList,
  BroadcastAll,
  Covariance,
  Differences,
  Grid,
  Joined,
  Leaves,
  Lower,
  Masked,
  Moved,
  NearlyEqual,
  OneShape,
  Rotated,
  SameRank,
  SizeOf,
  Upper,
} from '../shape-arrange.js'
import type { HasAxis, WithAxis } from '../shape-index.js'
import type { AddDim } from '../shape-layout.js'
import type { Longer } from '../sizes.js'
import type { PromoteArgs } from './elementwise.js'
import type { Convolved, ConvolveMode, NoneOf } from './fft.js'
import type { Indices } from './index-ops.js'
import type { ExprsOfShapes, PromoteAll } from './layout.js'
import type { AxisOptions } from './reduce.js'

type AxisIn<O, Default> = O extends { readonly axis: infer A } ? (A extends undefined ? Default : A) : Default

// ---- numbers

export type IsCloseFn<Options> = <A extends Arg, B extends Arg>(
  a: A,
  b: Guard<Broadcast<ShapeOf<A>, ShapeOf<B>, 'isclose'>, B>,
  options?: Options,
) => Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, 'isclose'>>, 'bool'>
export type AllCloseFn<Options> = <A extends Arg, B extends Arg>(
  a: A,
  b: Guard<Broadcast<ShapeOf<A>, ShapeOf<B>, 'allclose'>, B>,
  options?: Options,
) => Expr<[], 'bool'>
export type NanToNumFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  options?: Options,
) => Expr<S, NoInfer<D>>

// ---- new arrays

/** logspace, geomspace. */
export interface SpacedFn<Options> {
  <const N extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N>(
    from: number,
    to: number,
    n: Size<N>,
    options?: Options,
  ): Expr<[R], WeakF64>
  <const N extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N>(
    from: number,
    to: number,
    n: Size<N>,
    options: Options & { readonly dtype: D },
  ): Expr<[R], D>
}
/** meshgrid([x, y, ...], { indexing }): the coordinates of a grid, an array for each axis. */
export type MeshgridFn<Options> = <const X extends readonly Arg[], const O extends Options = NoOptions & Options>(
  xs: X,
  options?: O,
) => { -readonly [K in keyof X]: Expr<Grid<ShapesOf<X>, O>, PromoteAll<X>> }
/** Rows and columns of N elements. */
interface Places<N extends number> {
  readonly rows: Expr<[N], 'i32'>
  readonly columns: Expr<[N], 'i32'>
}
/** trilIndices(n, k, m): of the lower triangle. */
export type LowerIndicesFn = <const N extends number, const K extends number = 0, const M extends number = N, Zero = 0>(
  n: N,
  k?: K,
  m?: M,
) => Places<Lower<NoInfer<N>, NoInfer<K>, NoInfer<M>, Zero>>
/** triuIndices(n, k, m): of the upper triangle. */
export type UpperIndicesFn = <const N extends number, const K extends number = 0, const M extends number = N, Zero = 0>(
  n: N,
  k?: K,
  m?: M,
) => Places<Upper<NoInfer<N>, NoInfer<K>, NoInfer<M>, Zero>>

// ---- arranging

/** moveaxis(x, source, destination). */
export type MoveAxisFn = <
  const A extends number | readonly number[],
  const B extends number | readonly number[],
  S extends Shape = Shape,
  D extends DType = WeakF64,
>(
  x: Expr<S, D> | Plain,
  source: A,
  destination: B,
) => Expr<Moved<S, A, B>, NoInfer<D>>
/** swapaxes(x, a, b). */
export type SwapAxesFn = <const A extends number, const B extends number, S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  a: A,
  b: B,
) => Expr<Moved<S, readonly [A, B], readonly [B, A]>, NoInfer<D>>
/** The same shape and dtype. */
export type SameShapeFn = <S extends Shape = Shape, D extends DType = WeakF64>(x: Expr<S, D> | Plain) => Expr<S, NoInfer<D>>
export type FlattenFn = <S extends Shape = Shape, D extends DType = WeakF64>(x: Expr<S, D> | Plain) => Expr<[SizeOf<S> & Dim], NoInfer<D>>
export type AtLeastFn<N extends 1 | 2 | 3> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
) => Expr<AtLeast<S, N>, NoInfer<D>>
/** vstack, hstack, dstack, columnStack: arrays joined along one of their first axes, N of which they have at least. */
export type JoinFn<N extends 1 | 2 | 3 | 'columns'> = <const X extends readonly Arg[]>(xs: X) => Expr<Joined<ShapesOf<X>, N>, PromoteAll<X>>
/** arraySplit(x, n, { axis }). */
export type ArraySplitFn = <
  const P extends number,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions = NoOptions,
>(
  x: Expr<S, D> | Plain,
  parts: P,
  options?: Guard<WithAxis<S, AxisIn<O, 0>, number, 'arraySplit'>, O>,
) => ExprsOfShapes<NearlyEqual<S, P, AxisIn<O, 0>, 'arraySplit'>, D>
export type BlockFn = <const X extends BlockList>(blocks: X) => Expr<Block<X>, PromoteAll<readonly Leaves<X>[]>>
export type Rot90Fn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: Expr<S, D> | Plain,
  options?: O,
) => Expr<Rotated<S, O>, NoInfer<D>>
/** The dtype of an array of D and of another operand X, which may be plain numbers, or none. */
type With<D extends DType, X> = [X] extends [Plain | undefined]
  ? D
  : [X] extends [{ readonly dtype: infer E extends DType }] // not of an Expr: of a size that is a parameter it is asked later
    ? Promote<D, E>
    : DType
/** What is given as the option K. */
type Given<O, K extends string> = O extends { readonly [k in K]: infer X } ? X : undefined
/** diff(x, { axis, n, prepend, append }): along one axis (the last by default); what is put before or behind it promotes. */
export type DiffFn<Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions & Options = NoOptions & Options,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisIn<O, -1>, 'diff'>, O>,
) => Expr<Ok<Differences<S, O, 'diff'>>, NoInfer<With<With<D, Given<O, 'prepend'>>, Given<O, 'append'>>>>
/** cumulativeTrapezoid(x, { axis, x, dx }): in floats. */
export type CumulativeTrapezoidFn<Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions & Options = NoOptions & Options,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisIn<O, -1>, 'cumulativeTrapezoid'>, O>,
) => Expr<Ok<Areas<S, Given<O, 'x'>, AxisIn<O, -1>, 'cumulativeTrapezoid'>>, AsFloat<With<D, Given<O, 'x'>>>>
/** unwrap(x, { axis, discont, period }): in floats. */
export type UnwrapFn<Options> = <
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions & Options = NoOptions & Options,
>(
  x: Expr<S, D> | Plain,
  options?: Guard<HasAxis<S, AxisIn<O, -1>, 'unwrap'>, O>,
) => Expr<S, AsFloat<D>>

// ---- differences, sums, interpolation

/** gradient(x): of a vector, or along one axis, an array; else one for each axis. */
export type GradientFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: Expr<S, D> | Plain,
  options?: O,
) => O extends { readonly axis: number }
  ? Expr<S, AsFloat<With<AsFloat<D>, Given<O, 'spacing'>>>>
  : S extends readonly [unknown]
    ? O extends { readonly axis: readonly number[] }
      ? Expr<S, AsFloat<With<AsFloat<D>, Given<O, 'spacing'>>>>[]
      : Expr<S, AsFloat<With<AsFloat<D>, Given<O, 'spacing'>>>>
    : Expr<S, AsFloat<With<AsFloat<D>, Given<O, 'spacing'>>>>[]
export type TrapezoidFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  y: Expr<S, D> | Plain,
  options?: O,
) => Expr<Ok<Area<S, Given<O, 'x'>, AxisIn<O, -1>, 'trapezoid'>>, AsFloat<With<D, Given<O, 'x'>>>>
type Points = Expr | readonly number[]
export type InterpFn<Options> = <P extends Points, F extends Points, S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  xp: P,
  fp: F,
  options?: Options,
) => Expr<S, AsFloat<PromoteAll<readonly [Expr<S, D>, P, F]>>>
export type PolyvalFn = <P extends Expr | NumberArray, X extends Arg>(
  p: P,
  x: X,
) => Expr<Polynomials<ShapeOf<P>, ShapeOf<X>>, AsNumber<PromoteArgs<P, X>>>
/** Polynomials lie behind the axis of their coefficients, and broadcast against x. */
type Polynomials<P extends Shape, X extends Shape> = P extends readonly [unknown, ...infer R extends Shape] ? Ok<Broadcast<R, X>> : Shape
type Vector<S extends Shape> = S extends readonly [infer N] ? N : number
/** convolve(a, v, { mode }), correlate: of vectors. */
export type ConvolveFn<Options, Standard extends ConvolveMode> = <
  A extends Expr | readonly number[],
  B extends Expr | readonly number[],
  const O extends Options = NoneOf<Options>,
>(
  a: A,
  v: B,
  options?: O,
) => Expr<
  [
    Convolved<Vector<ShapeOf<A>>, Vector<ShapeOf<B>>, O, Longer<Vector<ShapeOf<A>>, Vector<ShapeOf<B>>, ZeroOf<A>>, ZeroOf<A>, Standard> &
      Dim,
  ],
  AsFloat<PromoteArgs<A, B>>
>

// ---- order and moments

/** How a quantile lies between two elements. */
export type QuantileMethod = 'linear' | 'lower' | 'higher' | 'nearest' | 'midpoint'
/** quantile, percentile: of one q a reduction; a list of them is a first axis. */
export interface QuantileFn<Op extends string, Options> {
  <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
    x: Expr<S, D> | Plain,
    q: number,
    options?: Guard<Reduce<S, O, Op>, O>,
  ): Expr<Ok<Reduce<S, O, Op>>, Settled<AsFloat<D>>>
  <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
    x: Expr<S, D> | Plain,
    q: Expr | readonly number[],
    options?: Guard<Reduce<S, O, Op>, O>,
  ): Expr<Shape, Settled<AsFloat<D>>>
}
export type LexsortFn = <const X extends readonly (Expr | NumberArray)[]>(
  keys: X,
  options?: AxisOptions,
) => Expr<OneShape<ShapesOf<X>>, 'i32'>
/** average(x, { weights, axis, keepdims }). */
export type AverageFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: Expr<S, D> | Plain,
  options?: Guard<Reduce<S, O, 'average'>, O>,
) => Expr<Ok<Reduce<S, O, 'average'>>, AsFloat<With<D, Given<O, 'weights'>>>>
/** cov, corrcoef: [variables, variables]; of a vector a number. */
export type CovFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options & NoOptions>(
  x: Expr<S, D> | Plain,
  options?: O,
) => Expr<Covariance<S, O>, AsFloat<With<AsFloat<D>, Given<O, 'weights'>>>>

// ---- counting, and what has a size that data decide

type SizeIn<O> = O extends { readonly size: infer N extends number } ? N : number
export type NonzeroFn<Options> = <S extends Shape = Shape, const O extends Options = Options>(
  x: Expr<S> | Plain | PlainBool,
  options: O,
) => { -readonly [K in keyof S]: Expr<[SizeIn<O>], 'i32'> }
export type ArgwhereFn<Options> = <S extends Shape = Shape, const O extends Options = Options>(
  x: Expr<S> | Plain | PlainBool,
  options: O,
) => Expr<[SizeIn<O>, [number] extends [S['length']] ? number : S['length'] & number], 'i32'>
export type BooleanMaskFn<Options> = <
  const M extends Expr | PlainBool | NumberArray,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends Options = Options,
>(
  x: Expr<S, D> | Plain,
  mask: M,
  options: O,
) => Expr<Masked<S, ShapeOf<M>, AxisIn<O, 0>, SizeIn<O>>, D>
export type CompressFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  condition: Expr<Shape> | readonly (boolean | number)[],
  x: Expr<S, D> | Plain,
  options: O,
) => Expr<Ok<WithAxis<S, AxisIn<O, 0>, SizeIn<O>, 'compress'>>, D>
export type UniqueFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = Options>(
  x: Expr<S, D> | Plain,
  options: O,
) => {
  readonly values: Expr<O extends { readonly axis: number } ? SameRank<S> : [SizeIn<O>], NoInfer<D>>
  readonly indices: Expr<[SizeIn<O>], 'i32'>
  readonly inverse: Expr<O extends { readonly axis: number } ? [number] : S, 'i32'>
  readonly counts: Expr<[SizeIn<O>], 'i32'>
}
/** How many bins: 10 unless said, or as many as lie between the edges. */
type Bins<O> = O extends { readonly bins: infer B } ? (B extends number ? B : number) : 10
/** The dtype of counts: i32, that of the weights, a float for densities. */
type Counted<O> = O extends { readonly density: infer B } ? (B extends true ? Float : B extends false ? Weighed<O> : DType) : Weighed<O>
/** The dtype of edges: x's, and that of edges that are given. */
type Edged<D extends DType, O> = O extends { readonly bins: infer B } ? (B extends number ? AsFloat<D> : Float) : AsFloat<D>
type Weighed<O> = O extends { readonly weights: infer W } ? (undefined extends W ? DType : AsNumber<DTypeOf<W>>) : 'i32'
export type HistogramFn<Options> = <D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: Expr<Shape, D> | Plain,
  options?: O,
) => { readonly counts: Expr<[Bins<O>], Counted<O>>; readonly edges: Expr<[AddDim<Bins<O>, 1>], Edged<D, O>> }
export type BincountFn<Options> = <const O extends Options, I extends Expr | PlainIndex>(
  x: Indices<I, 'bincount'>,
  options: O,
) => Expr<[SizeIn<O>], Weighed<O>>
export type DigitizeFn<Options> = <S extends Shape = Shape>(
  x: Expr<S> | Plain,
  bins: Expr | readonly number[],
  options?: Options,
) => Expr<S, 'i32'>
type Segments<S extends Shape, N extends Dim> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [unknown, ...infer R extends Shape]
    ? [N, ...R]
    : Shape
type Ids = Expr | readonly number[] | Int32Array
/** segmentSum(x, ids, n): the rows of x folded by the segment that each belongs to; booleans count in i32. */
export type SegmentFn<Op extends string> = <
  I extends Ids,
  const N extends Dim,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  Zero = 0,
  R extends MadeDim<N, Zero> = N,
>(
  x: Expr<S, D> | Plain,
  ids: Indices<I, Op>,
  segments: Size<N>,
) => Expr<Segments<S, R>, AsNumber<D>>
/** segmentMax, segmentMin: the dtype stays. */
export type SegmentChoiceFn<Op extends string> = <
  I extends Ids,
  const N extends Dim,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  Zero = 0,
  R extends MadeDim<N, Zero> = N,
>(
  x: Expr<S, D> | Plain,
  ids: Indices<I, Op>,
  segments: Size<N>,
) => Expr<Segments<S, R>, NoInfer<D>>
/** segmentMean: in floats. */
export type SegmentMeanFn<Op extends string> = <
  I extends Ids,
  const N extends Dim,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  Zero = 0,
  R extends MadeDim<N, Zero> = N,
>(
  x: Expr<S, D> | Plain,
  ids: Indices<I, Op>,
  segments: Size<N>,
) => Expr<Segments<S, R>, AsFloat<D>>
/** segmentSoftmax: a share for each row. */
export type SegmentSoftmaxFn<Op extends string> = <I extends Ids, S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  ids: Indices<I, Op>,
  segments: number,
) => Expr<S, AsFloat<D>>

// ---- choices

export type PutAlongAxisFn = <I extends Expr | PlainIndex, S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  indices: Indices<I, 'putAlongAxis'>,
  values: Expr | Plain,
  options?: AxisOptions,
) => Expr<S, D>
export type SelectFirstFn = <
  const C extends readonly (Expr | Plain | PlainBool)[],
  const X extends readonly (Expr | Plain)[],
  const W extends Expr | Plain = 0,
>(
  conditions: C,
  choices: X,
  otherwise?: W,
) => Expr<BroadcastAll<ShapesOf<readonly [...C, ...X, W]>>, PromoteAll<readonly (X[number] | W)[]>>
export type PiecewiseFn = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  conditions: readonly (Expr | PlainBool)[],
  functions: readonly (Plain | Expr | ((x: Expr<S, D>) => Expr<Shape, DType>))[],
) => Expr<S, D>
