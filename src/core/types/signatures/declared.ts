// The types of what `elementwise` makes of a declaration: arguments that broadcast, parameters, one result or several.
import type { ArgKind, NoParams, Primitive } from '../../graph/primitive.js'
import type { AsFloat, AsNumber, DType, Promote, WeakF64 } from '../dtype.js'
import type { Arg, DTypeOf, Expr, Plain, PlainBool, ShapeOf } from '../expr.js'
import type { Broadcast, Shape } from '../shape.js'

/** The dtype of one of several results: `float` is that of the floats among the arguments. */
export type ResultKind = 'float' | DType

/** What is given for each argument. */
export type ElementwiseArgs<A extends readonly ArgKind[]> = { readonly [K in keyof A]: A[K] extends 'int' ? Arg | PlainBool : Arg }

/** The shape that all arguments broadcast to; unknown where they clash, which is an error when it is called. */
type ShapeOfAll<X extends readonly unknown[], S extends Shape = readonly []> = X extends readonly [infer H, ...infer T]
  ? Broadcast<S, ShapeOf<H>> extends infer B extends Shape
    ? ShapeOfAll<T, B>
    : Shape
  : S
/** The dtype of the floats among the arguments; plain numbers never promote. */
type DTypeOfAll<X extends readonly unknown[], A extends readonly ArgKind[], D extends DType = never> = X extends readonly [
  infer H,
  ...infer T,
]
  ? A extends readonly [infer K, ...infer L extends readonly ArgKind[]]
    ? DTypeOfAll<T, L, K extends 'int' ? D : [H] extends [Plain] ? D : [D] extends [never] ? DTypeOf<H> : Promote<D, DTypeOf<H>>>
    : D
  : [D] extends [never]
    ? WeakF64
    : D
type FloatOfAll<X extends readonly unknown[], A extends readonly ArgKind[], I> = I extends true
  ? AsNumber<DTypeOfAll<X, A>>
  : AsFloat<DTypeOfAll<X, A>>

type ResultsOf<S extends Shape, F extends DType, Rs extends readonly ResultKind[]> = {
  -readonly [K in keyof Rs]: Expr<S, Rs[K] extends DType ? Rs[K] : F>
}
type ResultOf<S extends Shape, F extends DType, R extends DType, Rs> = Rs extends readonly ResultKind[]
  ? ResultsOf<S, F, Rs>
  : Expr<S, [R] extends [never] ? F : R>

/** What `elementwise` makes: a function of the arguments, and of the parameters where it has some, with its primitive. */
export interface ElementwiseOf<N extends string, A extends readonly ArgKind[], P, I, R extends DType, Rs> {
  <const X extends ElementwiseArgs<A>>(
    ...given: [...args: X, ...params: NoParams extends P ? [] : [params: P]]
  ): ResultOf<ShapeOfAll<X>, FloatOfAll<X, A, I>, R, Rs>
  readonly primitive: Primitive<N, P, A>
}
