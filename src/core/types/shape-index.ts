// Shape rules of the operations that cut, repeat and index: slice, pad, tile, repeat, diag, gather, oneHot.
import type { Add, Div, IsNat, Sub } from './nat.js'
import type { Axis, Dim, NoAxis, SetAxis, Shape, ShapeError, Show, ShowDim } from './shape.js'
import type { AddDim, MulDim } from './shape-layout.js'

// ---- slice, pad, tile, repeat, diag

type Bound<D, V> = V extends number
  ? IsNat<V> extends true
    ? V
    : `${V}` extends `-${infer N extends number}`
      ? IsNat<D> extends true
        ? Sub<D & number, N>
        : number
      : number
  : number
type SliceDim<D, From, To, Step> =
  IsNat<From> extends true
    ? IsNat<To> extends true
      ? IsNat<D> extends true
        ? [Sub<D & number, To & number>] extends [never]
          ? never
          : [Sub<To & number, From & number>] extends [never]
            ? never
            : CeilDiv<Sub<To & number, From & number>, Step>
        : [Sub<To & number, From & number>] extends [never]
          ? never
          : CeilDiv<Sub<To & number, From & number>, Step>
      : [From] extends [never]
        ? never
        : number
    : [From] extends [never]
      ? never
      : number
/** ceil(N / Step) for a literal N, `number` for an unknown step. */
export type CeilDiv<N extends number, Step> = Step extends 1
  ? N
  : IsNat<Step> extends true
    ? N extends 0
      ? 0
      : Add<Div<Sub<N, 1>, Step & number>, 1>
    : number
type StepAt<T, K> = T extends readonly number[] ? (K extends keyof T ? T[K] : 1) : 1
/** A position of null is the beginning or the end of the axis, in the order that the step reads it. */
type PartDim<D extends Dim, From, To, Step> = null extends From | To
  ? [From, To, Step] extends [0 | null, null, 1]
    ? D
    : IsNat<Step> extends true
      ? IsNat<D> extends true
        ? SliceDim<D, [From] extends [null] ? 0 : Bound<D, From>, [To] extends [null] ? D : Bound<D, To>, Step>
        : number
      : number
  : IsNat<Step> extends true
    ? SliceDim<D, Bound<D, From>, Bound<D, To>, Step>
    : number
type SliceDims<S extends Shape, From extends Bounds, To extends Bounds, Step, R extends Dim[] = []> = From extends readonly [
  infer f,
  ...infer FT extends Bounds,
]
  ? To extends readonly [infer t, ...infer TT extends Bounds]
    ? S extends readonly [infer d extends Dim, ...infer ST extends Shape]
      ? [PartDim<d, f, t, StepAt<Step, `${R['length']}`>>] extends [never]
        ? never
        : SliceDims<ST, FT, TT, Step, [...R, PartDim<d, f, t, StepAt<Step, `${R['length']}`>>]>
      : never
    : never
  : To extends readonly []
    ? [...R, ...S]
    : never
/** Positions along leading axes; null is the beginning or the end of one. */
export type Bounds = readonly (number | null)[]

/**
 * The shape of x[from:to:step] per leading axis; negative bounds count from the end, axes not named are kept. Without To each reads to the end.
 * @example Slice<['b', 10], [0, 2], [8, -1], [1, 2]>   // [8, 4]
 */
export type Slice<S extends Shape, From extends Bounds, To extends Bounds | undefined, Step = undefined> = [number] extends [S['length']]
  ? Shape
  : [number] extends [From['length']]
    ? AnySizes<S>
    : To extends Bounds
      ? [number] extends [To['length']]
        ? AnySizes<S>
        : SliceInside<S, From, To, Step>
      : SliceInside<S, From, { readonly [K in keyof From]: null }, Step>
/** As many axes as S has, of unknown sizes. Not a mapped type: an argument would be taken for its S. */
export type AnySizes<S extends Shape, R extends Dim[] = []> = S extends readonly [unknown, ...infer T extends Shape]
  ? AnySizes<T, [...R, number]>
  : R
type SliceInside<S extends Shape, From extends Bounds, To extends Bounds, Step> = [SliceDims<S, From, To, Step>] extends [never]
  ? ShapeError<`slice: ${ShowBounds<From>} to ${ShowBounds<To>} is not inside shape ${Show<S>}`>
  : SliceDims<S, From, To, Step>
type ShowBounds<B extends Bounds> = Show<{ readonly [K in keyof B]: B[K] extends null ? 'null' : B[K] }>

/** What `pad` adds, or takes away where it is negative: at both ends of every axis (a number), or per leading axis a number or [before, after]. */
export type PadWidths = number | readonly (number | readonly [number, number])[]
type WidthOf<W> = W extends readonly [infer A, infer B]
  ? [IsNat<A>, IsNat<B>] extends [true, true]
    ? AddDim<A, B>
    : number
  : IsNat<W> extends true
    ? AddDim<W, W>
    : number
/** The shape after padding. @example Pad<[2, 3], [0, [1, 2]]>   // [2, 6] */
export type Pad<S extends Shape, W> = [number] extends [S['length']]
  ? Shape
  : W extends number
    ? { -readonly [K in keyof S]: W extends 0 ? S[K] : AddDim<S[K], WidthOf<W>> }
    : W extends readonly unknown[]
      ? [number] extends [W['length']]
        ? { -readonly [K in keyof S]: number }
        : [Exclude<keyof W & `${number}`, keyof S>] extends [never]
          ? { -readonly [K in keyof S]: K extends keyof W ? (WidthOf<W[K]> extends 0 ? S[K] : AddDim<S[K], WidthOf<W[K]>>) : S[K] }
          : ShapeError<`pad: more widths than axes in shape ${Show<S>}`>
      : Shape

/** The shape after tiling by the factors R, matched from the last axis. */
export type Tile<S extends Shape, R> = [number] extends [S['length']]
  ? Shape
  : R extends number
    ? Tile<S, [R]>
    : R extends readonly number[]
      ? [number] extends [R['length']]
        ? Shape
        : TileTail<S, R>
      : Shape
type TileTail<S extends Shape, R extends Shape, O extends Dim[] = []> = S extends readonly [...infer SH extends Shape, infer s extends Dim]
  ? R extends readonly [...infer RH extends Shape, infer r]
    ? TileTail<SH, RH, [MulDim<s, r> & Dim, ...O]>
    : [...S, ...O]
  : [...R, ...O]
/** S with the axis I N times as long. */
export type Repeat<S extends Shape, N extends number, I extends number> = [number] extends [S['length']]
  ? Shape
  : Axis<S, I> extends infer J
    ? J extends 'bad'
      ? ShapeError<NoAxis<S, I, 'repeat'>>
      : `${J & number}` extends keyof S
        ? SetAxis<S, J, [MulDim<S[`${J & number}`], N> & Dim]>
        : { -readonly [K in keyof S]: Dim }
    : never
/** A vector becomes a square matrix; of a matrix (or a stack of them) the diagonal. */
export type Diag<S extends Shape> = [number] extends [S['length']]
  ? Shape
  : S extends readonly [infer a extends Dim]
    ? [a, a]
    : S extends readonly [...infer H extends Shape, infer a extends Dim, infer b extends Dim]
      ? [...H, [a, b] extends [b, a] ? a : number]
      : ShapeError<`diag: needs an axis, got shape ${Show<S>}`>

// ---- gather, oneHot

/** S with the axis I replaced by the shape of the indices. @example Gather<[50, 8], ['b', 4], 0>   // ['b', 4, 8] */
export type Gather<S extends Shape, Index extends Shape, I extends number = 0> = [number] extends [S['length']]
  ? Shape
  : [number] extends [Index['length']]
    ? Shape
    : Axis<S, I> extends infer J
      ? J extends 'bad'
        ? ShapeError<NoAxis<S, I, 'gather'>>
        : number extends J
          ? Shape
          : SetAxis<S, J, Index>
      : never
/** The shape of class indices after one-hot coding into N classes. */
export type OneHot<Index extends Shape, N extends Dim> = [number] extends [Index['length']] ? Shape : [...Index, N]

/** [], if an array of shape S has the axis I; else a ShapeError that names Op. */
export type HasAxis<S extends Shape, I, Op extends string> = [number] extends [S['length']]
  ? []
  : 'bad' extends Axis<S, I>
    ? ShapeError<`${Op}: axis ${ShowDim<I>} is out of range for shape ${Show<S>}`>
    : []
/** S with its axis I (default the last) of length K. */
export type WithAxis<S extends Shape, I, K extends number, Op extends string> = [number] extends [S['length']]
  ? Shape
  : 'bad' extends Axis<S, I>
    ? ShapeError<`${Op}: axis ${ShowDim<I>} is out of range for shape ${Show<S>}`>
    : number extends Axis<S, I>
      ? { -readonly [P in keyof S]: Dim }
      : SetAxis<S, Axis<S, I>, [K]>
