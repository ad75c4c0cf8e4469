// Dimensions, shapes, the type that carries a shape error, and broadcasting.
import type { OptionsOf } from '../errors/options.js'
import type { reduceOptions } from '../ops/masked.js'
import type { Going } from './expr.js'
import type { Sub } from './nat.js'

/** One axis: a literal (3), a name ('batch') or unknown until run time (number). */
export type Dim = number | string
/** The axes of an array, outermost first. `Shape` itself (or `Dim[]`) is a shape of unknown rank. */
export type Shape = readonly Dim[]

/** A type no value has: a parameter becomes this when shapes clash, so the compiler prints the message at that argument. */
export interface ShapeError<Message extends string> {
  readonly 'shape error': Message
}
/**
 * The parameter type T, or the error R when R is one. T goes through as long as R depends on a type parameter: a conditional type takes what both of its branches take, and what is looked up
 * in a deferred one any of its entries.
 */
export type Guard<R, T> = [R] extends [ShapeError<string>] ? Told<R, T>['error'] : T
type Told<R, T> = [R] extends [ShapeError<string>] ? { readonly error: NoInfer<R> } : { readonly error: T }
/** `Guard` of a second shape: while R is not decided, T has to go into the shape L, and of the sizes X TypeScript asks late. */
export type Strict<R, T, L extends { readonly shape: Shape }, X> = [R] extends [ShapeError<string>]
  ? NoInfer<R>
  : [R] extends [readonly unknown[]]
    ? Late<X, T>
    : T & ([T] extends [number | readonly unknown[]] ? { readonly given: unknown } : { readonly given: Going<L['shape']> })['given']
/** `Guard` that takes no T while R is not decided and may be an error: of sizes that are parameters what fits has signatures of its own. */
export type Decided<R, T> = [R] extends [ShapeError<string>] ? NoInfer<R> : T
/** unknown while X depends on a type parameter, else never: what a signature takes that is for this alone. */
export type Undecided<X> = ([X] extends [Shape] ? { readonly given: never } : { readonly given: unknown })['given']
/** T, which TypeScript asks of the sizes X last if one of them is a parameter: not while it looks for a signature whose parameters are supertypes. */
export type Late<X, T> = ([X] extends [Dim] ? { readonly late: T } : { readonly late: T })['late']
/** What B goes into where it stands beside A, whatever their sizes are: of a rank that is not known anything. */
export type Level<A extends Shape, B extends Shape> = [number] extends [A['length'] | B['length']]
  ? { readonly shape: Shape }
  : { readonly shape: LevelTail<A, B> }
type LevelTail<A extends Shape, B extends Shape, R extends Shape = []> = B extends readonly [...infer BH extends Shape, infer b extends Dim]
  ? A extends readonly [...infer AH extends Shape, infer a]
    ? LevelTail<AH, BH, readonly [LevelDim<a, b> & Dim, ...R]>
    : readonly [...B, ...R]
  : R
type LevelDim<A, B> = [A] extends [1]
  ? B
  : number extends A
    ? B
    : number extends B
      ? B
      : Box<B> extends Box<number>
        ? Computed<B, A | 1, B>['dim']
        : Box<A> extends Box<number>
          ? Computed<A, A | 1, B>['dim']
          : A | 1
/** The same of B in the product of A and B. */
export type Inner<A extends Shape, B extends Shape> = [number] extends [A['length'] | B['length']]
  ? { readonly shape: Shape }
  : { readonly shape: InnerShape<A, B> }
type InnerShape<A extends Shape, B extends Shape> = A extends readonly [...Shape, infer a]
  ? B extends readonly [infer b]
    ? readonly [InnerDim<a, b> & Dim]
    : B extends readonly [...infer H extends Shape, infer b, infer m extends Dim]
      ? readonly [...H, InnerDim<a, b> & Dim, m]
      : B
  : B
/** What a shape B goes into where it has to be A: of another rank nothing. */
export type Exactly<A extends Shape, B extends Shape> = B['length'] extends A['length']
  ? { readonly [K in keyof B]: InnerDim<K extends keyof A ? A[K] : never, B[K]> & Dim }
  : never
/** What the size B goes into where it has to be A. */
export type InnerDim<A, B> = number extends A
  ? B
  : number extends B
    ? B
    : Box<B> extends Box<number>
      ? Computed<B, A, B>['dim']
      : Box<A> extends Box<number>
        ? Computed<A, A, B>['dim']
        : A
/** Then, if D is a literal; else, if D is computed of sizes that are parameters: a number as these are, but none of them. */
type Computed<D, Then, Else> = IsLiteral<D> extends true ? { readonly dim: Then } : { readonly dim: Else }
/** The shape R, or an unknown one when R is an error (already reported at an argument). */
// `any`: [N, 3] of a type parameter N is an array for certain, but to TypeScript no Shape before N is known.
// biome-ignore lint/suspicious/noExplicitAny: see above; it is in the question alone
export type Ok<R> = R extends readonly any[] ? R : Shape

/** Holds a shape's names in the type of a value; no value has this property. */
export declare const shapeOf: unique symbol
/** Holds the shape as it is compared. */
export declare const fits: unique symbol

// ---- predicates

/** True for `number`, `string` and `Dim`: a dimension that no literal and no name fixes. */
export type IsUnknown<D> = number extends D ? true : string extends D ? true : false
/** True for a literal dimension. */
export type IsLiteral<D> = [D] extends [number] ? (number extends D ? false : true) : false
/** False for `Shape`, `Dim[]`, `[2, ...Dim[]]`: shapes whose number of axes is unknown. */
export type HasRank<S extends Shape> = [number] extends [S['length']] ? false : true

// ---- printing: instantiated on the error branch only

/** A dimension as in a message: 3, batch or ?. */
export type ShowDim<D> = IsUnknown<D> extends true ? '?' : D extends Dim ? `${D}` : '?'
type Join<S extends readonly unknown[], R extends string = ''> = S extends readonly [infer H, ...infer T]
  ? Join<T, R extends '' ? ShowDim<H> : `${R}, ${ShowDim<H>}`>
  : R
/** A shape as in a message: [batch, 3], or [...] where the rank is unknown. */
export type Show<S extends readonly unknown[]> = [number] extends [S['length']] ? '[...]' : `[${Join<S>}]`

// ---- unification and broadcasting

/** T in an object: whether one extends another TypeScript says at once where both are the same parameter, and later where they are not; of T itself it says it later in any case. */
export interface Box<out T> {
  readonly in: T
}
/** The more precise of two dimensions that may be equal; `never` when they clash. */
export type Same<A, B> =
  Box<A> extends Box<B> ? A : Box<B> extends Box<A> ? B : IsUnknown<A> extends true ? B : IsUnknown<B> extends true ? A : never
/** Two dimensions and a number, to be compared at once: that a parameter is itself, or stands beside 1 or a number, TypeScript says only if nothing else was asked before. */
export interface Beside<out A, out B, out N = number> {
  readonly a: A
  readonly b: B
  readonly n: N
}
type Unknown = unknown
/** Whether A and B may be equal: whether `Same` of them is not never. Of two parameters TypeScript says it later, unless they are one. */
export type Meets<A, B> =
  Beside<A, B> extends Beside<B, Unknown> | Beside<Unknown, A> | Beside<Unknown, Unknown, A> | Beside<Unknown, Unknown, B>
    ? true
    : string extends A | B
      ? true
      : false
/** Whether A and B are one axis of a broadcast. */
type Stretches<A, B> =
  Beside<A, B> extends
    | Beside<1, Unknown>
    | Beside<Unknown, 1>
    | Beside<B, Unknown>
    | Beside<Unknown, A>
    | Beside<Unknown, Unknown, A>
    | Beside<Unknown, Unknown, B>
    ? true
    : string extends A | B
      ? true
      : false
/**
 * One axis of a broadcast: 1 stretches, a number is what stands beside it; `never` when the two clash. Zero is `ZeroOf` an accumulator of the caller.
 *
 * First what is known to be 1 or a number: beside that a size that is a parameter goes on as it is.
 */
export type BroadcastDim<A, B, Zero> =
  Known<IsOne<A>> extends Box<Zero>
    ? B
    : Known<IsNumber<A>> extends Box<Zero>
      ? Known<IsNumber<B>> extends Box<Zero>
        ? Same<A, B>
        : Known<IsOne<B>> extends Box<Zero>
          ? A
          : B
      : Known<IsNumber<B>> extends Box<Zero>
        ? A
        : Beside<A, B> extends Beside<Unknown, 1> | Beside<B, A>
          ? A
          : [A] extends [1]
            ? B
            : Same<A, B>
type IsOne<D> = D extends 1 ? [] : [0]
type IsNumber<D> = number extends D ? [] : [0]
/**
 * Box<0>, if Q is [] for certain. Whether a parameter is 1 TypeScript says later, but at once that the tuple made of the answer, which may have any length, has not the length 0.
 * It would say so in the declaration of a type too, of the parameters there: so a type asks for `Box<Zero>`, where Zero is not decided before the type is used.
 */
export type Known<Q extends readonly unknown[]> = Box<[...Q]['length']>
/** 0, as soon as R is no parameter itself. */
export type ZeroOf<R> = R extends unknown ? 0 : never

/** [], if A and B are two numbers of which the compiler knows that they differ, to be asked of `Known`: of a parameter it says at once that it is not known. */
export type Differ<A, B> = A extends number ? (B extends number ? (Meets<A, B> extends true ? [0] : []) : [0]) : [0]

/** S, where an axis of length 1 may be of any length, and any other 1: what has one shape with it. A size that is a parameter stands beside itself and 1. */
export type Facing<S extends Shape> = [number] extends [S['length']]
  ? never
  : { readonly [K in keyof S]: [S[K]] extends [1] ? Dim : S[K] | 1 }
/** The shape of two that face each other. Of a size that is a parameter each branch is that size, or the other where it is 1. */
export type Faced<A extends Shape, B extends Shape> = { -readonly [K in keyof A]: FacedDim<A[K], K extends keyof B ? B[K] : A[K]> & Dim }
type FacedDim<A, B> = [A] extends [1] ? ([B] extends [1] ? A & B : B) : [B] extends [1] ? A : [B] extends [A] ? B : A
/** What a shape T that stretches to S goes into, whatever their sizes are: each of its axes is that of S, 1 or a number. */
export type Within<S extends Shape, T extends Shape, R extends Shape = []> = T extends readonly [...infer TH extends Shape, infer t]
  ? S extends readonly [...infer SH extends Shape, infer s]
    ? Within<SH, TH, readonly [WithinDim<s, t>['dim'], ...R]>
    : never
  : T extends readonly []
    ? R
    : never
// of a parameter S both entries: beside a 1 there is nothing else
type WithinDim<S, T> = [S] extends [1]
  ? { readonly dim: 1 }
  : { readonly dim: (number extends T ? T : Box<T> extends Box<number> ? Computed<T, [S] extends [T] ? S | 1 : 1, T>['dim'] : S | 1) & Dim }
type BroadcastTail<A extends Shape, B extends Shape, R extends Dim[] = []> = A extends readonly [...infer AH extends Shape, infer a]
  ? B extends readonly [...infer BH extends Shape, infer b]
    ? Stretches<a, b> extends true
      ? BroadcastTail<AH, BH, [BroadcastDim<a, b, ZeroOf<R>> & Dim, ...R]>
      : never
    : [...A, ...R]
  : A extends readonly []
    ? B extends readonly [] // also where TypeScript asks for what a call gives, as `NoInfer<[]>`
      ? R
      : [...B, ...R]
    : [...B, ...R]

/**
 * The shape of an elementwise operation after NumPy's rules: axes are matched from the last one, 1 stretches.
 *
 * An unknown rank gives an unknown rank; a clash gives a ShapeError that names Op and both shapes.
 * @example Broadcast<['batch', 3], [3]>   // ['batch', 3]
 */
export type Broadcast<A extends Shape, B extends Shape, Op extends string = 'broadcast'> = [number] extends [A['length']]
  ? Shape
  : BroadcastOnto<A, B, Op>
/** `Broadcast` of A, whose rank is known. */
export type BroadcastOnto<A extends Shape, B extends Shape, Op extends string> = [number] extends [B['length']]
  ? Shape
  : [BroadcastTail<A, B>] extends [never]
    ? ShapeError<`${Op}: shapes ${Show<A>} and ${Show<B>} do not broadcast`>
    : BroadcastTail<A, B>

/** `Broadcast` of three shapes. */
export type Broadcast3<A extends Shape, B extends Shape, C extends Shape, Op extends string> =
  // biome-ignore lint/suspicious/noExplicitAny: as in Ok
  Broadcast<A, B, Op> extends infer R ? (R extends readonly any[] ? Broadcast<R, C, Op> : R) : never

/** T, if S broadcasts to exactly T; else a ShapeError. @example BroadcastTo<[3], [2, 3]>   // [2, 3] */
export type BroadcastTo<S extends Shape, T extends Shape> = [number] extends [S['length']]
  ? T
  : [number] extends [T['length']]
    ? Shape
    : [StretchTail<S, T>] extends [never]
      ? ShapeError<`broadcastTo: shape ${Show<S>} does not broadcast to ${Show<T>}`>
      : T
type StretchTail<S extends Shape, T extends Shape> = S extends readonly [...infer SH extends Shape, infer s]
  ? T extends readonly [...infer TH extends Shape, infer t]
    ? [s] extends [1]
      ? StretchTail<SH, TH>
      : Meets<s, t> extends true
        ? StretchTail<SH, TH>
        : never
    : never
  : true

// ---- axes

type Minus<A extends number> = `${A}` extends `-${infer N extends number}` ? N : never
/**
 * The axis A counted from 0: -1 is the last. 'bad' when out of range, `number` when A is not a literal.
 * Distributes over a union of axes.
 */
export type Axis<S extends Shape, A> = A extends number
  ? number extends A
    ? number
    : [Minus<A>] extends [never]
      ? `${A}` extends keyof S
        ? A
        : 'bad'
      : [Sub<S['length'], Minus<A>>] extends [never]
        ? 'bad'
        : Sub<S['length'], Minus<A>>
  : never
/** `Axis` in an array with one more axis than S: where expandDims and stack insert. */
export type AxisOfNew<S extends Shape, A extends number> = Axis<[...S, 1], A>

/** S with the axis I replaced by the axes V. */
export type SetAxis<S extends Shape, I, V extends Shape, R extends Dim[] = []> = S extends readonly [
  infer H extends Dim,
  ...infer T extends Shape,
]
  ? R['length'] extends I
    ? [...R, ...V, ...T]
    : SetAxis<T, I, V, [...R, H]>
  : never
/** S with the axis D inserted before axis I. */
export type InsertAxis<S extends Shape, I, D extends Dim, R extends Dim[] = []> = R['length'] extends I
  ? [...R, D, ...S]
  : S extends readonly [infer H extends Dim, ...infer T extends Shape]
    ? InsertAxis<T, I, D, [...R, H]>
    : never
/** The message of an axis that S does not have. */
export type NoAxis<S extends Shape, A, Op extends string> = `${Op}: axis ${ShowDim<A>} is out of range for shape ${Show<S>}`

/** No options given. */
export type NoOptions = Readonly<Record<never, never>>
/** Options of a reduction. */
export interface ReduceOptions extends OptionsOf<typeof reduceOptions> {}
type AxesOf<O> = O extends { readonly axis: infer A }
  ? A extends readonly []
    ? 'none'
    : A extends readonly (infer B)[]
      ? B
      : A extends null
        ? undefined
        : A
  : undefined
type KeepOf<O> = O extends { readonly keepdims: infer K } ? K : false
type DropAxes<S extends Shape, A, Keep, Seen extends unknown[] = [], R extends Dim[] = []> = S extends readonly [
  infer H extends Dim,
  ...infer T extends Shape,
]
  ? DropAxes<T, A, Keep, [...Seen, 0], Seen['length'] extends A ? (Keep extends true ? [...R, 1] : R) : [...R, H]>
  : R
type Ones<S extends Shape> = { -readonly [K in keyof S]: 1 }

/**
 * The shape after reducing S along `axis` (all axes when it is absent), kept as 1 with `keepdims`.
 * @example Reduce<[2, 3, 4], { axis: [0, -1] }>   // [3]
 */
export type Reduce<S extends Shape, O = NoOptions, Op extends string = 'reduce'> =
  boolean extends KeepOf<O>
    ? Shape
    : AxesOf<O> extends 'none'
      ? S
      : [AxesOf<O>] extends [undefined]
        ? KeepOf<O> extends true
          ? Ones<S>
          : []
        : undefined extends AxesOf<O>
          ? Shape
          : number extends AxesOf<O>
            ? KeepOf<O> extends true
              ? { -readonly [K in keyof S]: Dim }
              : Shape
            : ReduceAt<S, AxesOf<O>, KeepOf<O>, Op>
/** `Reduce` along the literal axes A. A type of its own, so that code generic in S has a short name for its result. */
export type ReduceAt<S extends Shape, A, Keep, Op extends string = 'reduce'> = [number] extends [S['length']]
  ? Shape
  : 'bad' extends Axis<S, A>
    ? ShapeError<NoAxis<S, BadAxis<S, A>, Op>>
    : DropAxes<S, Axis<S, A>, Keep>
type BadAxis<S extends Shape, A> = A extends number ? (Axis<S, A> extends 'bad' ? A : never) : never

/** The length of the axis A of S (default the last). */
export type DimAt<S extends Shape, A> =
  Axis<S, A> extends infer I extends number ? (`${I}` extends keyof S ? S[`${I}`] & Dim : number) : number
/** S with every name made `number`: what a caller with another size for that name sees. */
export type Unnamed<S extends Shape> = { -readonly [K in keyof S]: SizeFor<S[K], S[K]> }
/**
 * The size that an axis D has: a name is a number. E is D again: of a parameter D that extends number TypeScript takes the branch of number, in which E is the parameter itself.
 */
export type SizeFor<D, E> = D extends string ? number : E & number
/** A size that is given for an axis N: that of an array which has it (`x.shape[0]`), a parameter, a literal, a number. */
export type Size<N> = SizeFor<N, N> | (N & OfNumbers)
/** Nothing is one. From a number TypeScript infers no N of `N & number`, but of this beside it. */
interface OfNumbers {
  readonly [ofNumbers]: never
}
declare const ofNumbers: unique symbol
/** Sizes that are given for the axes S. */
export type SizesIn<S extends Shape> = { readonly [K in keyof S]: Size<S[K]> }
/** A size that was given: one that the compiler does not know may be that of any name; a parameter is itself, which TypeScript says where Zero is decided. */
export type MadeDim<D, Zero> = Known<IsNumber<D>> extends Box<Zero> ? Dim : D
/**
 * The shape of a new array: a computed size may turn out to be what a name stands for, so an accumulator that begins with it takes either.
 * Where a type is asked for, `let h: Expr<['batch', 24], 'f32'> = zeros([x.shape[0], 24], 'f32')`, R is the shape in it.
 */
export type Made<S extends Shape> = { -readonly [K in keyof S]: MadeDim<S[K], ZeroOf<S>> & Dim }
/** Arguments of a signature that is for shapes with a size that is a number alone: none. Of literals and parameters it wants one that cannot be given. */
export type WithNumber<S extends Shape> = number extends S[number] ? [] : [never]
/** S as `[2, 3]`, where a caller's literal or another array's shape gave `readonly [2, 3]`. */
export type Writable<S extends Shape> = { -readonly [K in keyof S]: S[K] }
