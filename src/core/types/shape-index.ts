// Shape rules of the operations that cut, repeat and index: slice, pad, tile, repeat, gather, oneHot.
import type { Add, Div, IsNat, Sub } from './nat.js'
import type { Axis, Box, Dim, IsLiteral, Known, NoAxis, SetAxis, Shape, ShapeError, Show, ShowDim, ZeroOf } from './shape.js'
import type { MulDim } from './shape-layout.js'
import type { IfIs, Literals, Plus, Signed, Sole, Written } from './sizes.js'

// ---- slice, pad, tile, repeat

/** The size of D from A to B by the step C, each a literal or 'open'; a number where D is not known. Of a D that is a parameter it is decided where that is. */
export type PartSize<D, A, B, C> = IsLiteral<D> extends true ? Size<D & number, A, B, C> : number
type Size<D extends number, A, B, C> = `${C & number}` extends `-${infer N extends number}`
  ? CeilDiv<Less<Below<D, A, D>, Below<D, B, 0>>, N>
  : CeilDiv<Less<Position<D, B, D>, Position<D, A, 0>>, C>
/** Where a position lies: from the end where it is negative, clipped; Open where it is left out. */
type Position<D extends number, P, Open extends number> = P extends number
  ? `${P}` extends `-${infer N extends number}`
    ? Less<D, N>
    : Least<P, D>
  : Open
/** One more than that for a negative step, where a position is clipped to -1. */
type Below<D extends number, P, Open extends number> = P extends number
  ? `${P}` extends `-${infer N extends number}`
    ? [Sub<D, N>] extends [never]
      ? 0
      : Add<Sub<D, N>, 1>
    : Least<Add<P, 1>, D>
  : Open
/** A - B, at least 0. */
type Less<A extends number, B extends number> = [Sub<A, B>] extends [never] ? 0 : Sub<A, B>
type Least<A extends number, B extends number> = [Sub<B, A>] extends [never] ? B : A

/** ceil(N / Step) for a literal N, `number` for an unknown step. */
export type CeilDiv<N extends number, Step> = Step extends 1
  ? N
  : IsNat<Step> extends true
    ? N extends 0
      ? 0
      : Add<Div<Sub<N, 1>, Step & number>, 1>
    : number
type StepAt<T, K> = T extends readonly number[] ? (K extends keyof T ? T[K] : 1) : 1
/** 'open' where there is no bound, that if it is written out, else a number. */
type BoundOf<V, Zero> = IfIs<V, null, Zero, 'open', Written<V, Zero>>
/** A position of null is the beginning or the end of the axis, in the order that the step reads it. */
type PartDim<D, From, To, Step, Zero> = [From, To, Step] extends ['open' | 0, 'open', 1] | ['open', 'open', -1]
  ? D
  : number extends From | To | Step
    ? number
    : IsNat<Step> extends true
      ? Known<Literals<D, 0>> extends Box<Zero>
        ? InsideOf<D & number, From, To, Step>
        : [IsNat<From>, IsNat<To>] extends [true, true]
          ? Inside<To & number, From & number, To & number, Step>
          : IsNat<D> extends true
            ? OrNumber<InsideOf<D & number, From, To, Step>>
            : number
      : PartSize<D, From, To, Step>
/** The place of a bound in D. */
type Reached<D extends number, V, Open> = V extends 'open' ? Open : `${V & number}` extends `-${infer N extends number}` ? Sub<D, N> : V
type InsideOf<D extends number, From, To, Step> = Inside<D, Reached<D, From, 0>, Reached<D, To, D>, Step>
/** The size of a part; never, if it is not inside D. */
type Inside<D extends number, From, To, Step> = [From] extends [never]
  ? never
  : [Sub<D, To & number>] extends [never]
    ? never
    : [Sub<To & number, From & number>] extends [never]
      ? never
      : CeilDiv<Sub<To & number, From & number>, Step>
type SliceDims<S extends Shape, From extends Bounds, To extends Bounds, Step, R extends Dim[] = []> = From extends readonly [
  infer f,
  ...infer FT extends Bounds,
]
  ? To extends readonly [infer t, ...infer TT extends Bounds]
    ? S extends readonly [infer d extends Dim, ...infer ST extends Shape]
      ? SliceRest<
          PartDim<d, BoundOf<f, ZeroOf<R>>, BoundOf<t, ZeroOf<R>>, Written<StepAt<Step, `${R['length']}`>, ZeroOf<R>>, ZeroOf<R>>,
          ST,
          FT,
          TT,
          Step,
          R
        >
      : never
    : never
  : To extends readonly []
    ? [...R, ...S]
    : never
type SliceRest<N, S extends Shape, From extends Bounds, To extends Bounds, Step, R extends Dim[]> =
  Known<Some<N>> extends Box<ZeroOf<R>> ? never : SliceDims<S, From, To, Step, [...R, N & Dim]>
/** never, if N is; of what `Known` says that it is known. */
type Some<N> = N extends unknown ? [0] : [0]
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
/** D after [before, after] entries are put around it, or taken away. */
type Padded<D, A, B, Zero> = [Signed<Written<A, Zero>>, Signed<Written<B, Zero>>] extends [
  readonly [infer P, infer Q],
  readonly [infer T, infer U],
]
  ? Changed<D, Plus<P, T, Zero>, Plus<Q, U, Zero>>
  : number
/** D + P - Q; of a D that is a parameter it is decided where that is. */
type Changed<D, P, Q> = P extends Q ? D : IsNat<D> extends true ? OrNumber<Sub<Add<D & number, P & number>, Q & number>> : number
type OrNumber<N> = [N] extends [never] ? number : N
type PaddedBy<D, W, Zero> = W extends readonly [infer A, infer B] ? Padded<D, A, B, Zero> : Padded<D, W, W, Zero>
/** The shape after padding. @example Pad<[2, 3], [0, [1, 2]]>   // [2, 6] */
export type Pad<S extends Shape, W> = [number] extends [S['length']]
  ? Shape
  : W extends number
    ? { -readonly [K in keyof S]: Padded<S[K], W, W, ZeroOf<S>> & Dim }
    : W extends readonly unknown[]
      ? [number] extends [W['length']]
        ? { -readonly [K in keyof S]: number }
        : [Exclude<keyof W & `${number}`, keyof S>] extends [never]
          ? { -readonly [K in keyof S]: K extends keyof W ? PaddedBy<S[K], W[K], ZeroOf<S>> & Dim : S[K] }
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
export type WithAxis<S extends Shape, I, K extends Dim, Op extends string> = [number] extends [S['length']]
  ? Shape
  : 'bad' extends Axis<S, I>
    ? ShapeError<`${Op}: axis ${ShowDim<I>} is out of range for shape ${Show<S>}`>
    : number extends Sole<Axis<S, I>>
      ? { -readonly [P in keyof S]: Dim }
      : SetAxis<S, Axis<S, I>, [K]>
