// Signatures of indexing.
import type { DType, Receiving, WeakF64 } from '../dtype.js'
import type { Expr, IndicesAreI32, NumberArray, Plain, PlainBool, PlainIndex, ShapeOf } from '../expr.js'
import type {
  Axis,
  Broadcast,
  BroadcastDim,
  BroadcastTo,
  Dim,
  Guard,
  MadeDim,
  NoOptions,
  Ok,
  Shape,
  ShapeError,
  Show,
  Size,
  Writable,
  ZeroOf,
} from '../shape.js'
import type { At, IndexFor, IndexList, IndicesFor, NotIndices, Places } from '../shape-at.js'
import type { Gather, HasAxis, OneHot } from '../shape-index.js'
import type { AxisOptions } from './reduce.js'

/** Indices: an i32 operand, or an expression of which the compiler knows nothing, such as the parameter of a plain function: its dtype is checked at run time. */
export type Index<I extends Shape = Shape> = Expr<I, 'i32'> | IndicesAreI32
/** [] of indices, and of what the compiler knows no dtype of; else why not. */
export type AreIndices<I, Op extends string> = I extends { readonly dtype: infer D }
  ? 'i32' extends D
    ? []
    : ShapeError<`${Op}: ${NotIndices<D>}`>
  : []
/** Indices I, a parameter: an error that says so where they are no i32. */
export type Indices<I, Op extends string> = Guard<AreIndices<I, Op>, I>
type AxisOf<O, Default> = O extends { readonly axis: infer A extends number } ? A : Default

/** The axes of the indices, then those of a slice. */
type Slices<I extends Shape, R extends Shape> = [number] extends [I['length']] ? Shape : [...I, ...R]
/** gather(x, indices, { axis }): slices of x, the first axis by default; x[indices]. */
export interface GatherFn {
  <N extends Dim, R extends Shape, I extends Shape, D extends DType>(x: Expr<[N, ...R], D>, indices: Expr<I, 'i32'>): Expr<Slices<I, R>, D>
  <I extends Expr | PlainIndex, S extends Shape = Shape, D extends DType = WeakF64, const O extends AxisOptions = NoOptions>(
    x: Expr<S, D> | Plain,
    indices: Indices<I, 'gather'>,
    options?: Guard<Gather<S, ShapeOf<I>, AxisOf<O, 0>>, O>,
  ): Expr<Ok<Gather<S, ShapeOf<I>, AxisOf<O, 0>>>, NoInfer<D>>
}
/** takeAlongAxis(x, indices, { axis }): one element per index; indices has the rank of x. */
export type TakeAlongAxisFn = <
  I extends Expr | PlainIndex,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions = NoOptions,
>(
  x: Expr<S, D> | Plain,
  indices: Indices<I, 'takeAlongAxis'>,
  options?: Guard<HasAxis<S, AxisOf<O, -1>, 'takeAlongAxis'>, O>,
) => Expr<TakenAlong<S, ShapeOf<I>, Axis<S, AxisOf<O, -1>>>, NoInfer<D>>
/** The indices' shape, where x is wider beside the axis x's: they broadcast there. */
type TakenAlong<S extends Shape, I extends Shape, A> = [number] extends [I['length']]
  ? Shape
  : number extends A | S['length']
    ? { -readonly [K in keyof I]: [I[K]] extends [1] ? number : I[K] }
    : { -readonly [K in keyof I]: K extends `${A & number}` ? I[K] : K extends keyof S ? BroadcastDim<I[K], S[K], ZeroOf<S>> & Dim : I[K] }
/** scatterAdd(x, indices, updates, { axis }): x with the updates added at the indices. */
export type ScatterAddFn = <
  I extends Expr | PlainIndex,
  U extends Shape,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions = NoOptions,
  E extends DType = D,
>(
  x: Expr<S, D> | Plain,
  indices: Indices<I, 'scatterAdd'>,
  updates: Guard<Broadcast<Ok<Gather<S, ShapeOf<I>, AxisOf<O, 0>>>, U, 'scatterAdd'>, Expr<U, E> | Plain>,
  options?: O,
) => Expr<S, Receiving<D, E>>
/** setAt(x, indices, values, { axis }): x with the values in place of the slices at the indices. */
export type SetAtFn = <
  I extends Expr | PlainIndex,
  U extends Shape,
  S extends Shape = Shape,
  D extends DType = WeakF64,
  const O extends AxisOptions = NoOptions,
  E extends DType = D,
>(
  x: Expr<S, D> | Plain,
  indices: Indices<I, 'setAt'>,
  values: Guard<Broadcast<Ok<Gather<S, ShapeOf<I>, AxisOf<O, 0>>>, U, 'setAt'>, Expr<U, E> | Plain>,
  options?: O,
) => Expr<S, Receiving<D, E>>
/** Where a window begins: a vector, or a list of numbers and scalars. */
type Starts = Expr | readonly (Index<[]> | number)[]
/** dynamicSlice(x, starts, sizes): a window whose place is computed; sizes are fixed. */
export type DynamicSliceFn = <I extends Starts, const Z extends readonly number[], S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  starts: Indices<I, 'dynamicSlice'>,
  sizes: Z,
) => Expr<Writable<Z>, D>
/** oneHot(indices, n, dtype?): 1 at the index, 0 elsewhere. */
export interface OneHotFn {
  <I extends Shape, const N extends Dim, Zero = 0, R extends MadeDim<N, Zero> = N>(
    indices: Expr<I, 'i32'>,
    n: Size<N>,
  ): Expr<OneHot<I, R>, WeakF64>
  <I extends Shape, const N extends Dim, D extends DType, Zero = 0, R extends MadeDim<N, Zero> = N>(
    indices: Expr<I, 'i32'>,
    n: Size<N>,
    dtype: D,
  ): Expr<OneHot<I, R>, D>
  <I extends Expr | PlainIndex, const N extends Dim, D extends DType = WeakF64, Zero = 0, R extends MadeDim<N, Zero> = N>(
    indices: Indices<I, 'oneHot'>,
    n: Size<N>,
    dtype?: D,
  ): Expr<OneHot<ShapeOf<I>, R>, D>
}
/** dynamicUpdateSlice(x, update, starts): the update in place of a window whose place is computed. */
export type DynamicUpdateSliceFn = <I extends Starts, S extends Shape = Shape, D extends DType = WeakF64, E extends DType = D>(
  x: Expr<S, D> | Plain,
  update: Expr<Shape, E> | NumberArray,
  starts: Indices<I, 'dynamicUpdateSlice'>,
) => Expr<S, Receiving<D, E>>
/** [], if S has one axis. */
type Vector<S extends Shape> = [number] extends [S['length']]
  ? []
  : S extends readonly [unknown]
    ? []
    : ShapeError<`searchsorted: needs a vector to search in, got shape ${Show<S>}`>
/** searchsorted(sorted, values, { side }): where each value would be inserted, before its equals ('left', the default) or after. */
export type SearchSortedFn<Options> = <V extends Expr | readonly number[], S extends Shape = Shape>(
  sorted: Guard<Vector<ShapeOf<V>>, V>,
  values: Expr<S> | Plain,
  options?: Options,
) => Expr<S, 'i32'>
/** What stands in a list of indices: a place, a slice as text or '...', a new axis (null), or places that are computed or in arrays. */
export type AtIndex = string | null | Expr | PlainIndex
/** at(x, ...indices): x[indices] in NumPy's notation. */
export type AtFn = <const I extends readonly AtIndex[], S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  ...indices: IndicesFor<Places<S, I>, I, 'at'>
) => Expr<At<S, I>, NoInfer<D>>
/** Values for the part of shape P: [] if U broadcasts to it. */
type Into<P, U extends Shape, Op extends string> =
  BroadcastTo<U, Ok<P>> extends ShapeError<string>
    ? ShapeError<`${Op}: shape ${Show<U>} does not broadcast to the part, which is ${Show<Ok<P>>}`>
    : []
type UpdateFn<Op extends string> = <
  const I extends AtIndex | readonly AtIndex[],
  S extends Shape = Shape,
  D extends DType = WeakF64,
  U extends Shape = Shape,
  E extends DType = D,
>(
  x: Expr<S, D> | Plain,
  indices: IndexFor<Places<S, IndexList<I>>, I, Op>,
  v: Guard<Into<At<S, IndexList<I>>, U, Op>, Expr<U, E> | Plain | PlainBool>,
) => Expr<S, Receiving<D, E>>
/** set(x, indices, v): x with v in the place of x[indices]. */
export type SetFn = UpdateFn<'set'>
/** addAt(x, indices, v): x with v added to x[indices]. */
export type AddAtFn = UpdateFn<'addAt'>
/** maxAt, minAt, mulAt(x, indices, v): x with v and x[indices] made one. */
export type MaxAtFn = UpdateFn<'maxAt'>
export type MinAtFn = UpdateFn<'minAt'>
export type MulAtFn = UpdateFn<'mulAt'>
