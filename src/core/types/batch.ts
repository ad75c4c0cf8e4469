// Trees over a batch axis: what vmap takes and gives.
import type { AnyExpr, Expr, Typed } from './expr.js'
import type { AxisOfNew, Dim, InsertAxis, Shape, ShapeError, Show } from './shape.js'
import type { ArgumentOf, Exprs, Fitting, Joined, Least, LooseArgs, NoTangent, OfAny, Static } from './tree.js'

/** An axis (null: none) for all leaves, or a list or record of these: a beginning of a tree. */
export type Axes = number | null | readonly Axes[] | { readonly [key: string]: Axes }
/** Axes by argument; a record is that of an only argument. */
export type Listed<I> = I extends number | null | undefined | readonly unknown[] ? I : readonly [I]
/** What the axes I say of the part K. */
export type AxesAt<I, K> = I extends number | null | undefined ? I : K extends keyof I ? I[K] : 0

/** S with an axis of size N at the axis I of the result; of unknown sizes where I is not known. */
type WithAxis<S extends Shape, N extends Dim, I> = I extends 0 | undefined
  ? Joined<[N], S>
  : [number] extends [S['length']]
    ? Shape
    : number extends I
      ? OfRank<[N, ...S]>
      : I extends number
        ? Inserted<InsertAxis<S, AxisOfNew<S, I>, N>>
        : Shape
/** Of the rank of S, of any sizes. */
type OfRank<S extends Shape> = { [K in keyof S]: Dim }
/** An axis that is not there has been reported at the options. */
type Inserted<S extends Shape> = [S] extends [never] ? Shape : S
/** `WithAxis` of an argument: of an unknown rank, all that can be said of it. */
type WithAxisOf<S extends Shape, N extends Dim, I> = [number] extends [S['length']]
  ? I extends 0 | undefined
    ? [N, ...Dim[]]
    : I extends -1
      ? [...Dim[], N]
      : Shape
  : WithAxis<S, N, I>

/** T with an axis of length N in every leaf, where I says. */
export type Batched<T, N extends Dim = number, I = 0> = [I] extends [null]
  ? T
  : [Least] extends [T]
    ? OfAny<T, AnyExpr | NoTangent>
    : T extends Typed<infer S, infer D>
      ? Expr<WithAxis<S, N, I>, D>
      : T extends NoTangent
        ? NoTangent
        : T extends Static
          ? NoInfer<T>
          : { -readonly [K in keyof T]: Batched<T[K], N, AxesAt<I, K>> }
/** The expressions that stand for T batched over N, whose leaves may have any rank where T's is not known. */
export type BatchedExprs<T, N extends Dim, I = 0> = [I] extends [null]
  ? Exprs<T>
  : [Least] extends [T]
    ? OfAny<T, AnyExpr | NoTangent>
    : T extends Typed<infer S, infer D>
      ? Expr<WithAxisOf<S, N, I>, D>
      : T extends NoTangent
        ? NoTangent | undefined
        : T extends Static
          ? NoInfer<T>
          : { -readonly [K in keyof T]: BatchedExprs<T[K], N, AxesAt<I, K>> }
/** What may be passed for T batched over N where it is inlined, at other sizes than the declared names, or beside values. */
export type BatchedArgs<T, N extends Dim, I = 0> = [I] extends [null]
  ? LooseArgs<T>
  : [Least] extends [T]
    ? LooseArgs<T>
    : T extends Typed<infer S, infer D>
      ? Expr<WithAxisOf<Fitting<S>, N, I>, D> | ArgumentOf<WithAxis<S, number, I>, D>
      : T extends NoTangent
        ? NoTangent | undefined
        : T extends Static
          ? NoInfer<T>
          : { readonly [K in keyof T]: BatchedArgs<T[K], N, AxesAt<I, K>> }

// ---- what is wrong with axes

/** I, or the reason why it is no beginning of the tree T with axes that its leaves have. */
export type CheckAxes<T, I, Op extends string> = [Least] extends [T]
  ? I
  : [Axes] extends [I] // what was given is none, and TypeScript says so
    ? I
    : [AxesError<T, I, Op, ''>] extends [never]
      ? I
      : AxesError<T, I, Op, ''>
type AxesError<T, I, Op extends string, P extends string> = [I] extends [0 | -1 | null | undefined]
  ? never
  : [I] extends [number]
    ? number extends I
      ? never
      : AxisError<T, I, Op, P>
    : T extends NoTangent | Static
      ? never
      : T extends Typed
        ? ShapeError<`${Op}${Place<P>} is a tree where there is one array: give an axis, or null`>
        : [T, I] extends [readonly unknown[], readonly unknown[]] | [Named, Named]
          ? [Exclude<Keys<T>, keyof I>] extends [never]
            ? [Exclude<Keys<I>, keyof T>] extends [never]
              ? { [K in Keys<T>]: AxesError<T[K & keyof T], I[K & keyof I], Op, Below<P, K>> }[Keys<T>]
              : ShapeError<`${Op}${Place<P>} has '${Exclude<Keys<I>, keyof T>}', which is not there`>
            : ShapeError<`${Op}${Place<P>} has no '${Exclude<Keys<T>, keyof I>}': give its axis, or null where it is the same for every example`>
          : ShapeError<`${Op}${Place<P>} is a ${I extends readonly unknown[] ? 'list' : 'record'}: give ${T extends readonly unknown[] ? 'a list' : 'a record'}, as is there`>
/** The axis I at every leaf of T. */
type AxisError<T, I extends number, Op extends string, P extends string> =
  T extends Typed<infer S, infer _D>
    ? [number] extends [S['length']]
      ? never
      : AxisOfNew<S, I> extends 'bad'
        ? ShapeError<`${Op}${Place<P>} is ${I}: ${Show<S>} has, with the mapped axis, the axes 0 to ${S['length']}`>
        : never
    : T extends NoTangent | Static
      ? never
      : { [K in Keys<T>]: AxisError<T[K & keyof T], I, Op, Below<P, K>> }[Keys<T>]
/** A record; a list has numbers for keys too. */
type Named = { readonly [key: string]: unknown }
type Place<P extends string> = P extends '' ? '' : ` at '${P}'`
type Below<P extends string, K extends string> = P extends '' ? K : `${P}.${K}`
/** The names of the parts of T; none of an array of unknown length. */
type Keys<T> = T extends readonly unknown[] ? ([number] extends [T['length']] ? never : keyof T & `${number}`) : keyof T & string
