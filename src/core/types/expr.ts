// The public faces of an expression, a concrete array and a declared input. Data only: no methods that compute.
import type { DataOf, DType, Float, LeafOf, Weak, WeakF64 } from './dtype.js'
import type { Dim, fits, IsLiteral, Shape, SizeFor, shapeOf } from './shape.js'

/** The sizes a value of shape S has: literals stay, a name is a number. */
export type Sizes<S extends Shape> = { readonly [K in keyof S]: SizeFor<S[K], S[K]> }

/** Says which shapes a value may have after all, where not all of its sizes are known; no value has this property. */
declare const accepts: unique symbol
/** Says which dtypes an expression may have after all, where that is not known; no value has this property. */
declare const acceptsDType: unique symbol

/** S as it is compared: where a size is a number any axis may stand, one with a name too. */
export type Fits<S extends Shape> = { readonly [K in keyof S]: Fit<S[K]> }
type Fit<D> = Taking<D> extends Taking<number> ? Dim : D
/** Asked of this TypeScript knows of two dimensions that are computed of parameters how they compare: as they themselves do. */
interface Taking<in D> {
  readonly [fits]: (d: D) => void
}
/**
 * Where TypeScript infers S from. Two of them go into each other whatever S is: parameters of methods are compared in both directions, so that the second part of one goes into both of
 * another. What is held against S as it stands asks for what the first part alone gives.
 */
export type Carried<S> = Carrying<S> & Anything
interface Carrying<in out S> {
  shape(of: 'type' | 'value', taken: S): S
}
interface Anything {
  shape(of: 'value', taken: never): never
}

/** A value of any dtype whose shape goes into F, which may be decided later: nothing is asked but this. */
export interface Going<out F> {
  readonly [shapeOf]: { shape(of: 'type', taken: never): F }
}
/** A value of any dtype whose shape F goes into: one that is as exact as F, or less. */
export interface Covering<in F> {
  readonly [shapeOf]: { readonly shape: (of: 'type', taken: F) => unknown }
}

/**
 * What expressions, concrete arrays and declared inputs have in common. The properties that no value has are required ones: of optional
 * ones exactOptionalPropertyTypes has much to say in every message.
 */
export interface Typed<S extends Shape = Shape, out D extends DType = DType> {
  readonly _tag: string
  readonly dtype: D
  readonly [shapeOf]: Carried<S>
  readonly [fits]: NoInfer<Fits<S>>
}
/**
 * A value whose rank is that of S and that may turn out to have the shape S. Where its sizes are not all known, S is held against it at run time.
 *
 * Expressions and tensors have a method here, which TypeScript compares in both directions, so that shapes stay covariant; this has a function, whose
 * parameter it compares in one: S must be a shape that the value accepts.
 */
export interface MayFit<S extends Shape, out D extends DType, out Tag extends string> {
  readonly _tag: Tag
  readonly dtype: D
  readonly shape: { readonly length: S['length'] }
  readonly [accepts]: (shape: { -readonly [K in keyof S]: IsLiteral<S[K]> extends true ? S[K] : never }) => void
}

/**
 * A pure typed expression: data that says what to compute. A tensor is one too, a constant whose numbers are known: a function of yours that takes expressions takes tensors.
 *
 * In the body of `fn` a named axis of `x.shape` is typed `number`; literal axes stay literal.
 */
export interface Expr<S extends Shape = Shape, out D extends DType = DType> extends Typed<S, D> {
  readonly _tag: 'Expr' | 'Tensor'
  // before what only types have: the first that differs is what a message names
  readonly dtype: D
  readonly shape: Sizes<S>
  [accepts](shape: NoInfer<Fits<S>>): void
  [acceptsDType](dtype: D): void
}
/** An expression of unknown shape and dtype: the parameter of a plain function. */
export type AnyExpr = Expr<Shape, DType>
/** An expression or a tensor whose rank the compiler does not know, such as the parameter of a plain function. `Expr` would take those of known rank too. */
export interface OfAnyRank<out Tag extends string> {
  readonly _tag: Tag
  readonly dtype: DType
  readonly [accepts]: (shape: number[]) => void
}
/** An expression of the shape S whose dtype is one of several, as of what a plain function makes of its parameter, where D is asked for: it is checked when the program is built. */
export interface OfAnyDType<S extends Shape, D extends DType> {
  readonly _tag: Expr['_tag']
  readonly dtype: DType
  readonly [shapeOf]: Carried<S>
  readonly [fits]: NoInfer<Fits<S>>
  readonly [acceptsDType]: (dtype: D | Float) => void
}
/** An expression of unknown rank and dtype where indices are taken: their dtype is checked at run time. Of what is known the name is the message. */
export interface IndicesAreI32 {
  readonly _tag: Expr['_tag']
  readonly dtype: DType
  readonly [accepts]: (shape: number[]) => void
}
/** A constant of shape S to which no dtype was given, `zeros([3])`, where D is f32: there it is one. */
export interface Undeclared<S extends Shape, D extends DType> {
  readonly _tag: Expr['_tag']
  readonly dtype: D extends 'f32' ? Weak : never
  readonly [shapeOf]: Carried<S>
  readonly [fits]: NoInfer<Fits<S>>
}
/** An expression of rank 0. */
export type Scalar<D extends DType = DType> = Expr<[], D>

/** Nested arrays with the rank of S and the leaves L; of any rank where it is unknown. */
export type Nested<S extends Shape, L = number> = [number] extends [S['length']]
  ? L | NestedArray<L>
  : S extends readonly []
    ? L
    : S extends readonly [unknown, ...infer T extends Shape]
      ? readonly Nested<T, L>[]
      : never
/** An array of L, nested to any depth. */
export type NestedArray<L> = readonly (L | NestedArray<L>)[]
/** An array of numbers, nested to any depth. */
export type NumberArray = NestedArray<number>

/** Elements L as nested arrays of shape S; a literal size of up to 16 is a tuple, whose entries are there under noUncheckedIndexedAccess. */
export type ArrayOf<S extends Shape, L> = [number] extends [S['length']]
  ? L | NestedArray<L>
  : S extends readonly [infer H, ...infer T extends Shape]
    ? H extends keyof TupleOf<L>
      ? TupleOf<ArrayOf<T, L>>[H]
      : ArrayOf<T, L>[]
    : L
/** Tuples of E by their length. */
interface TupleOf<E> {
  0: []
  1: [E]
  2: [E, E]
  3: [E, E, E]
  4: [E, E, E, E]
  5: [E, E, E, E, E]
  6: [E, E, E, E, E, E]
  7: [E, E, E, E, E, E, E]
  8: [E, E, E, E, E, E, E, E]
  9: [E, E, E, E, E, E, E, E, E]
  10: [E, E, E, E, E, E, E, E, E, E]
  11: [E, E, E, E, E, E, E, E, E, E, E]
  12: [E, E, E, E, E, E, E, E, E, E, E, E]
  13: [E, E, E, E, E, E, E, E, E, E, E, E, E]
  14: [E, E, E, E, E, E, E, E, E, E, E, E, E, E]
  15: [E, E, E, E, E, E, E, E, E, E, E, E, E, E, E]
  16: [E, E, E, E, E, E, E, E, E, E, E, E, E, E, E, E]
}

/** What an expression lacks, where a tensor is wanted: the name is the message. No value has this property. */
declare const evaluateItFirst: unique symbol
/** A concrete array: row-major data that the caller owns. */
export interface Tensor<S extends Shape = Shape, out D extends DType = DType> extends Expr<S, D> {
  readonly _tag: 'Tensor'
  readonly [evaluateItFirst]: true
  readonly data: DataOf<D>
  /** The elements as nested arrays, tuples for literal sizes up to 16; one element for rank 0; booleans for bool. */
  toArray<T extends Tensor>(this: T): ElementsOf<T>
  /** The only element of an array of one element: a number, a boolean for bool. Where the compiler does not know the dtype it has the type number. */
  item<T extends Tensor>(this: T): ItemOf<T>
}
/** What `toArray` gives; of one of several tensors one of several. */
export type ElementsOf<T> = T extends Tensor<infer S, infer D> ? ArrayOf<S, LeafOf<D>> : never
/** What `item` gives. */
export type ItemOf<T> = T extends Tensor<Shape, infer D> ? ([DType] extends [D] ? number : LeafOf<D>) : never

/** A declared input: what `f32(2, 3)` or `f32('batch', 3)` gives. Its shape holds the names. */
export interface Spec<S extends Shape = Shape, out D extends DType = DType> extends Typed<S, D> {
  readonly _tag: 'Spec'
  readonly shape: S
}

/** An operand written as plain JavaScript: f64, or the dtype of its sibling. */
export type Plain = number | NumberArray
/** Whole numbers written as plain JavaScript: what stands for indices. */
export type PlainIndex = number | NumberArray | Int32Array
/** Truth values written as plain JavaScript. */
export type PlainBool = boolean | NestedArray<boolean>
/** Anything an operation takes. */
export type Arg = Expr | Plain

/** The shape of an argument; plain arrays have a rank and unknown sizes. */
export type ShapeOf<A> = A extends Typed<infer S, infer _D> ? S : PlainShape<A>
type PlainShape<A, R extends number[] = []> = A extends number | boolean
  ? R
  : [NestedArray<never>] extends [A]
    ? Shape
    : A extends readonly (infer E)[]
      ? [E] extends [never]
        ? [...R, 0]
        : PlainShape<E, [...R, number]>
      : A extends Int32Array
        ? [number]
        : Shape
/** The dtype of plain values: bool of truth values, D of numbers and of nothing. */
export type PlainDType<A, D extends DType> = [A] extends [readonly never[]] ? D : A extends NestedArray<boolean> | boolean ? 'bool' : D
/** The dtype of an argument; that of plain numbers and arrays nobody has declared. */
export type DTypeOf<A> = A extends Typed<infer _S, infer D> ? D : WeakF64
/** The shapes of a tuple (or array) of arguments. */
export type ShapesOf<T extends readonly unknown[]> = { -readonly [K in keyof T]: ShapeOf<T[K]> }
