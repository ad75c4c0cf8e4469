// Signatures of the elementwise operations. Simple overloads come first, so that code generic in a shape compiles;
// the guarded one comes last, so that a clash is reported with its message, at the argument that clashes.
import type { OptionsOf } from '../../errors/options.js'
import type { ArgKind, NoParams, Primitive } from '../../graph/primitive.js'
import type { roundOptions } from '../../ops/rounding.js'
import type { AsFloat, AsNumber, Discrete, DType, Float, Promote, Settled, WeakF64 } from '../dtype.js'
import type { Arg, Covering, DTypeOf, Expr, Going, NumberArray, Plain, PlainBool, Scalar, ShapeOf, Tensor } from '../expr.js'
import type { Broadcast, Broadcast3, Dim, Faced, Facing, Guard, Late, Level, Ok, Shape, Strict, Within } from '../shape.js'
import type { TupleHint } from '../tree.js'

/**
 * Shape and dtype stay (bool becomes i32): neg, sign, square.
 *
 * One signature, not overloads: TypeScript carries a single generic signature through fp-ts `pipe`. Plain numbers have an unknown shape.
 */
export type Unary = <S extends Shape = Shape, D extends DType = WeakF64>(x: Expr<S, D> | Plain) => Expr<S, AsNumber<D>>
/** Shape and dtype stay, bool too, as one primitive: abs. */
export interface KeepingOp<N extends string> extends OfPrimitive<N, One> {
  <S extends Shape = Shape, D extends DType = WeakF64>(x: Expr<S, D> | Plain): Expr<S, NoInfer<D>>
}
/** A function of floats, i32 and bool in f64: exp, sin, sigmoid ... */
export type FloatUnary = <S extends Shape = Shape, D extends DType = WeakF64>(x: Expr<S, D> | Plain) => Expr<S, AsFloat<D>>
/** `FloatUnary` with options: leakyRelu, elu, gelu. */
export type FloatUnaryWith<Options> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Expr<S, D> | Plain,
  options?: Options,
) => Expr<S, AsFloat<D>>

/** The primitive that an operation is, for rules and kernels: its name N, and the kinds A of its arguments. */
export interface OfPrimitive<N extends string, A extends readonly ArgKind[]> {
  readonly primitive: Primitive<N, NoParams, A>
}
type One = readonly ['float']
type Two = readonly ['float', 'float']
/** `Unary` that is one primitive. An interface, not an intersection: TypeScript carries only those through `pipe`. */
export interface UnaryOp<N extends string> extends Unary, OfPrimitive<N, One> {}
/** `FloatUnary` that is one primitive. */
export interface FloatUnaryOp<N extends string> extends FloatUnary, OfPrimitive<N, One> {}
/** Options of `round`. */
export interface RoundOptions extends OptionsOf<typeof roundOptions> {}
/** round: one primitive without options. */
export interface RoundOp extends FloatUnaryWith<RoundOptions>, OfPrimitive<'round', One> {}
/** `Binary` that is one primitive. */
export interface BinaryOp<N extends string> extends Binary<N>, OfPrimitive<N, Two> {}
/** `Choosing` that is one primitive: maximum, minimum. */
export interface ChoosingOp<N extends string> extends Choosing<N>, OfPrimitive<N, Two> {}
/** `FloatBinary` that is one primitive. */
export interface FloatBinaryOp<N extends string> extends FloatBinary<N>, OfPrimitive<N, Two> {}
/** What `unary` makes: of dtype R where the declaration has a `result`, keeping integers where it says so. */
export type UnaryOf<N extends string, I, R extends DType> = [R] extends [never]
  ? [I] extends [true]
    ? UnaryOp<N>
    : FloatUnaryOp<N>
  : UnaryToOp<N, R>
/** What `binary` makes. */
export type BinaryOf<N extends string, I, R extends DType> = [R] extends [never]
  ? [I] extends [true]
    ? BinaryOp<N>
    : FloatBinaryOp<N>
  : BinaryToOp<N, R>
/** `BinaryTo` that is one primitive: comparisons. */
export interface BinaryToOp<N extends string, R extends DType> extends BinaryTo<N, R>, OfPrimitive<N, Two> {}
/** `and` and `or`, whose primitives have longer names. */
export interface LogicalOp<Op extends string, N extends string> extends OfPrimitive<N, readonly ['int', 'int']> {
  <S extends Shape>(a: Expr<S>, b: Alike<S, DType> | number | boolean): Expr<S, 'bool'>
  <A extends Arg | PlainBool, B extends Arg | PlainBool>(
    a: A,
    b: Strict<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>, B, Level<ShapeOf<A>, ShapeOf<B>>, ShapeOf<A>[number] | ShapeOf<B>[number]>,
  ): Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>>, 'bool'>
}
/** An operation on the bits of two i32 operands that broadcast, or on two of bool; a plain number or array is i32. */
export interface BitwiseOp<N extends string> extends OfPrimitive<N, readonly ['int', 'int']> {
  <S extends Shape>(a: Expr<S, 'i32'>, b: Expr<NoInfer<S>, 'i32'> | number): Expr<S, 'i32'>
  <A extends Arg | PlainBool, B extends Arg | PlainBool>(
    a: A & Bits<A>,
    b: Strict<Broadcast<ShapeOf<A>, ShapeOf<B>, N>, B, Level<ShapeOf<A>, ShapeOf<B>>, ShapeOf<A>[number] | ShapeOf<B>[number]> & Bits<B>,
  ): Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, N>>, Promote<BitsIn<A>, BitsIn<B>>>
}
/** A shift of i32 by counts that broadcast; a bool counts as 0 or 1, a plain number or array is i32. */
export interface ShiftOp<N extends string> extends OfPrimitive<N, readonly ['int', 'int']> {
  <S extends Shape>(a: Expr<S, 'i32'>, b: Expr<NoInfer<S>, 'i32'> | number): Expr<S, 'i32'>
  <A extends Arg | PlainBool, B extends Arg | PlainBool>(
    a: A & Bits<A>,
    b: Strict<Broadcast<ShapeOf<A>, ShapeOf<B>, N>, B, Level<ShapeOf<A>, ShapeOf<B>>, ShapeOf<A>[number] | ShapeOf<B>[number]> & Bits<B>,
  ): Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, N>>, 'i32'>
}
/** The dtype whose bits are worked on. */
type BitsIn<A> = [A] extends [Plain] ? 'i32' : [A] extends [PlainBool] ? 'bool' : Extract<DTypeOf<A>, Discrete>
/** Floats have no bits here; plain numbers are i32. */
type Bits<A> = A extends Plain | PlainBool ? unknown : [DTypeOf<A>] extends [Float] ? never : unknown
/** bitwiseNot. */
export interface BitwiseNotOp extends OfPrimitive<'bitwiseNot', readonly ['int']> {
  <X extends Arg | PlainBool>(x: X & Bits<X>): Expr<ShapeOf<X>, BitsIn<X>>
}
/** `UnaryTo` that is one primitive: isnan, isfinite, not. */
export interface UnaryToOp<N extends string, R extends DType, A extends readonly [ArgKind] = One> extends UnaryTo<R>, OfPrimitive<N, A> {}

/** polygamma(n, x): the n-th derivative of digamma; n is a number. */
export type PolygammaFn = <S extends Shape = Shape, D extends DType = WeakF64>(n: number, x: Expr<S, D> | Plain) => Expr<S, AsFloat<D>>

/** An operand of the shape S and no more exact one, whose result would be as exact. */
type Alike<S extends Shape, D extends DType> = Expr<NoInfer<S>, NoInfer<D>> & Covering<NoInfer<S>>
/** An operand that stretches to the shape S, in code generic in sizes too. */
type Stretching<S extends Shape, T extends Shape, D extends DType> = Expr<T, D> & Going<Late<S[number] | T[number], Within<S, T>>>
/** An operand that faces one of shape S; asked last, so that of two signatures that fit the shorter result is taken. */
type FacingOf<S extends Shape, T extends Shape, D extends DType> = Expr<T, D> & Going<Late<S[number] | T[number], T>>
/** Two operands that broadcast; a plain number or array takes the dtype of its sibling; bool counts as i32. */
export interface Binary<Op extends string> {
  <S extends Shape, D extends Exclude<DType, 'bool'>>(a: Expr<S, D>, b: Alike<S, D> | number): Expr<S, D>
  <S extends Shape, D extends Exclude<DType, 'bool'>>(a: number, b: Expr<S, D>): Expr<S, D>
  <P extends Dim, S extends Shape, D extends Exclude<DType, 'bool'>>(a: Expr<[P, ...S], D>, b: Alike<S, D>): Expr<[P, ...S], D>
  (a: number, b: number): Scalar<WeakF64>
  <S extends Shape, O extends Dim, D extends Float>(a: Expr<readonly [...S, O], D>, b: Alike<[O], D>): Expr<[...S, O], D>
  // in code that is generic in its sizes: one of the two stretches to the other, or each to the other along axes of length 1
  <S extends Shape, T extends Shape, D extends Float>(a: Expr<S, D>, b: Stretching<S, T, NoInfer<D>>): Expr<S, D>
  <S extends Shape, T extends Shape, D extends Float>(a: Stretching<S, T, NoInfer<D>>, b: Expr<S, D>): Expr<S, D>
  <S extends Shape, T extends Facing<S>, D extends Float>(a: Expr<S, D>, b: FacingOf<S, T, NoInfer<D>>): Expr<Faced<S, T>, D>
  <A extends Arg, B extends Arg>(
    a: A,
    b: Strict<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>, B, Level<ShapeOf<A>, ShapeOf<B>>, ShapeOf<A>[number] | ShapeOf<B>[number]>,
  ): Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>>, AsNumber<PromoteArgs<A, B>>>
}
/** `Binary` that of two bools is bool: maximum, minimum, fmax, fmin. */
export interface Choosing<Op extends string> extends Binary<Op> {
  <S extends Shape>(a: Expr<S, 'bool'>, b: Expr<NoInfer<S>, 'bool'>): Expr<S, 'bool'>
  <A extends Expr<Shape, 'bool'>, B extends Expr<Shape, 'bool'>>(
    a: A,
    b: Strict<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>, B, Level<ShapeOf<A>, ShapeOf<B>>, ShapeOf<A>[number] | ShapeOf<B>[number]>,
  ): Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>>, 'bool'>
}
/** `Binary` of floats, two i32 or bool in f64: div, pow, atan2, hypot, logaddexp ... */
export interface FloatBinary<Op extends string> {
  <S extends Shape, D extends Float>(a: Expr<S, D>, b: Alike<S, D> | number): Expr<S, D>
  <S extends Shape, D extends Float>(a: number, b: Expr<S, D>): Expr<S, D>
  <P extends Dim, S extends Shape, D extends Float>(a: Expr<[P, ...S], D>, b: Alike<S, D>): Expr<[P, ...S], D>
  (a: number, b: number): Scalar<WeakF64>
  <S extends Shape, O extends Dim, D extends Float>(a: Expr<readonly [...S, O], D>, b: Alike<[O], D>): Expr<[...S, O], D>
  // in code that is generic in its sizes: one of the two stretches to the other, or each to the other along axes of length 1
  <S extends Shape, T extends Shape, D extends Float>(a: Expr<S, D>, b: Stretching<S, T, NoInfer<D>>): Expr<S, D>
  <S extends Shape, T extends Shape, D extends Float>(a: Stretching<S, T, NoInfer<D>>, b: Expr<S, D>): Expr<S, D>
  <S extends Shape, T extends Facing<S>, D extends Float>(a: Expr<S, D>, b: FacingOf<S, T, NoInfer<D>>): Expr<Faced<S, T>, D>
  <A extends Arg, B extends Arg>(
    a: A,
    b: Strict<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>, B, Level<ShapeOf<A>, ShapeOf<B>>, ShapeOf<A>[number] | ShapeOf<B>[number]>,
  ): Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>>, AsFloat<PromoteArgs<A, B>>>
}
/** The dtype of two arguments: plain numbers and arrays never promote. */
export type PromoteArgs<A, B> = [A] extends [Plain]
  ? DTypeOf<B>
  : [B] extends [Plain]
    ? DTypeOf<A>
    : Promote<DTypeOf<A>, DTypeOf<B>> extends infer D extends DType
      ? D
      : never
/** That of three. `infer` says at once that it is a dtype, where the compiler would else go through all of them, in each signature. */
export type PromoteArgs3<A, B, C> = (
  [A] extends [Plain]
    ? PromoteArgs<B, C>
    : [B] extends [Plain]
      ? PromoteArgs<A, C>
      : [C] extends [Plain]
        ? PromoteArgs<A, B>
        : Promote<PromoteArgs<A, B>, DTypeOf<C>>
) extends infer D extends DType
  ? D
  : never

/** Two operands that broadcast, to a dtype of its own: comparisons, to bool, never differentiated. */
export interface BinaryTo<Op extends string, R extends DType> {
  <S extends Shape>(a: Expr<S>, b: Alike<S, DType> | number): Expr<S, R>
  <S extends Shape>(a: number, b: Expr<S>): Expr<S, R>
  <P extends Dim, S extends Shape>(a: Expr<[P, ...S]>, b: Alike<S, DType>): Expr<[P, ...S], R>
  (a: number, b: number): Scalar<R>
  <S extends Shape, T extends Shape>(a: Expr<S>, b: Stretching<S, T, DType>): Expr<S, R>
  <S extends Shape, T extends Shape>(a: Stretching<S, T, DType>, b: Expr<S>): Expr<S, R>
  <S extends Shape, T extends Facing<S>>(a: Expr<S>, b: FacingOf<S, T, DType>): Expr<Faced<S, T>, R>
  <A extends Arg, B extends Arg>(
    a: A,
    b: Strict<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>, B, Level<ShapeOf<A>, ShapeOf<B>>, ShapeOf<A>[number] | ShapeOf<B>[number]>,
  ): Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>>, R>
}
/** A function of each element to a dtype of its own: tests, to bool. */
export type UnaryTo<R extends DType> = <S extends Shape = Shape>(x: Expr<S> | Plain | PlainBool) => Expr<S, R>

/** where(condition, a, b): a where the condition holds, else b; the cotangent is masked. */
export interface WhereFn extends OfPrimitive<'where', readonly ['int', 'float', 'float']> {
  <S extends Shape, D extends DType>(condition: Expr<S, 'bool'>, a: Expr<NoInfer<S>, D>, b: Alike<S, D> | number): Expr<S, D>
  <S extends Shape, D extends DType>(condition: Expr<S, 'bool'>, a: number, b: Expr<NoInfer<S>, D>): Expr<S, D>
  <S extends Shape>(condition: Expr<S, 'bool'>, a: number, b: number): Expr<S, WeakF64>
  <C extends Arg | PlainBool, A extends Arg, B extends Arg>(
    condition: C,
    a: Guard<Broadcast<ShapeOf<C>, ShapeOf<A>, 'where'>, A>,
    b: Guard<Broadcast3<ShapeOf<C>, ShapeOf<A>, ShapeOf<B>, 'where'>, B>,
  ): Expr<Ok<Broadcast3<ShapeOf<C>, ShapeOf<A>, ShapeOf<B>, 'where'>>, PromoteArgs<A, B>>
}
/** Three operands that broadcast, shape and dtype of the first in the simple case: fma. */
export interface Ternary<Op extends string> {
  <S extends Shape, D extends Exclude<DType, 'bool'>>(
    x: Expr<S, D>,
    y: Expr<NoInfer<S>, NoInfer<D>> | number,
    z: Expr<NoInfer<S>, NoInfer<D>> | number,
  ): Expr<S, D>
  (x: number, y: number, z: number): Scalar<WeakF64>
  <A extends Arg, B extends Arg, C extends Arg>(
    x: A,
    y: Guard<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>, B>,
    z: Guard<Broadcast3<ShapeOf<A>, ShapeOf<B>, ShapeOf<C>, Op>, C>,
  ): Expr<Ok<Broadcast3<ShapeOf<A>, ShapeOf<B>, ShapeOf<C>, Op>>, AsNumber<PromoteArgs3<A, B, C>>>
}
/** Three floats that broadcast, i32 and bool in f64, as one primitive: betainc. */
export interface FloatTernaryOp<Op extends string> extends OfPrimitive<Op, readonly ['float', 'float', 'float']> {
  <S extends Shape, D extends Float>(x: number, y: number, z: Expr<S, D>): Expr<S, D>
  (x: number, y: number, z: number): Scalar<WeakF64>
  <A extends Arg, B extends Arg, C extends Arg>(
    x: A,
    y: Guard<Broadcast<ShapeOf<A>, ShapeOf<B>, Op>, B>,
    z: Guard<Broadcast3<ShapeOf<A>, ShapeOf<B>, ShapeOf<C>, Op>, C>,
  ): Expr<Ok<Broadcast3<ShapeOf<A>, ShapeOf<B>, ShapeOf<C>, Op>>, AsFloat<PromoteArgs3<A, B, C>>>
}
/** clamp(x, low, high): a bound that is null or left out is none. */
export interface ClampFn {
  <S extends Shape, D extends Exclude<DType, 'bool'>>(
    x: Expr<S, D>,
    low: Expr<NoInfer<S>, NoInfer<D>> | number | null | undefined,
    high?: Expr<NoInfer<S>, NoInfer<D>> | number | null | undefined,
  ): Expr<S, D>
  <S extends Shape>(x: Expr<S, 'bool'>, low: null | undefined, high?: null | undefined): Expr<S, 'bool'>
  (x: number, low: number | null | undefined, high?: number | null | undefined): Scalar<WeakF64>
  <A extends Arg, B extends Arg | null | undefined, C extends Arg | null | undefined = undefined>(
    x: A,
    low: Guard<Broadcast<ShapeOf<A>, ShapeOf<Bound<B>>, 'clamp'>, B>,
    high?: Guard<Broadcast3<ShapeOf<A>, ShapeOf<Bound<B>>, ShapeOf<Bound<C>>, 'clamp'>, C>,
  ): Expr<Ok<Broadcast3<ShapeOf<A>, ShapeOf<Bound<B>>, ShapeOf<Bound<C>>, 'clamp'>>, Clamped<A, B, C>>
}
/** Bools between bools stay bools; beside a number they count as i32. */
type Clamped<A, B, C> = [A, B, C] extends [Expr<Shape, 'bool'>, BoolBound, BoolBound]
  ? 'bool'
  : AsNumber<PromoteArgs3<A, Bound<B>, Bound<C>>>
type BoolBound = Expr<Shape, 'bool'> | null | undefined
/** What a bound that is none takes part with: nothing but a number. */
type Bound<B> = [B] extends [null | undefined] ? number : Exclude<B, null | undefined>
/** cast(x, dtype). */
export type CastFn = <D extends DType, S extends Shape = Shape>(x: Expr<S> | Plain, dtype: D) => Expr<S, D>
/** stopGradient(tree): the same expressions, without a derivative. */
export interface IdentityFn extends OfPrimitive<'stopGradient', One> {
  <T>(tree: T): Lifted<T>
}
/** The expression of one leaf; trees of expressions stay. */
export type Lifted<T> = T extends Tensor<infer S, infer D> ? Expr<S, D> : T extends Plain ? Expr<ShapeOf<T>, WeakF64> : T

type MapOut<S extends Shape, R> =
  R extends Expr<readonly [], infer D>
    ? Expr<S, Settled<D>>
    : { -readonly [K in keyof R]: R[K] extends Expr<readonly [], infer D> ? Expr<S, Settled<D>> : never }
type MapResult = Scalar | readonly Scalar[] | TupleHint | { readonly [key: string]: Scalar }
/** map(f, ...xs): a scalar function over arrays that broadcast, differentiated forward, one or several results. */
export interface MapFn {
  <S extends Shape, D extends DType, R extends MapResult>(f: (x: Scalar<D>) => R, x: Expr<S, D>): MapOut<S, R>
  <A extends Shape, DA extends DType, B extends Shape, DB extends DType, R extends MapResult>(
    f: (x: Scalar<DA>, y: Scalar<DB>) => R,
    a: Expr<A, DA>,
    b: Guard<Broadcast<A, B, 'map'>, Expr<B, DB>>,
  ): MapOut<Ok<Broadcast<A, B, 'map'>>, R>
  <A extends Shape, DA extends DType, B extends Shape, DB extends DType, C extends Shape, DC extends DType, R extends MapResult>(
    f: (x: Scalar<DA>, y: Scalar<DB>, z: Scalar<DC>) => R,
    a: Expr<A, DA>,
    b: Guard<Broadcast<A, B, 'map'>, Expr<B, DB>>,
    c: Guard<Broadcast3<A, B, C, 'map'>, Expr<C, DC>>,
  ): MapOut<Ok<Broadcast3<A, B, C, 'map'>>, R>
  <R extends MapResult>(f: (...xs: Scalar[]) => R, ...xs: (Expr | NumberArray)[]): MapOut<Shape, R>
}
