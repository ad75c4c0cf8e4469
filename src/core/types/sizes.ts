// Arithmetic on sizes that is decided at once: a literal where all that it is of are literals, else a number. What changes nothing leaves a size as it is.
import type { Add, Div, DivMod, IsNat, Mul, Sub } from './nat.js'
import type { Beside, Box, Known, Shape } from './shape.js'

// Questions for `Known`: [] for yes. Zero is `ZeroOf` a parameter of the signature. Each asks what may be a parameter by itself first, `A extends ...`: no answer to that is one that
// TypeScript would wait for.

/** Is A the literal P? */
type Is<A, P> = A extends P ? [] : [0]
/** Are A and B literals? */
export type Literals<A, B = 0> = A extends number ? (B extends number ? ([IsNat<A>, IsNat<B>] extends [true, true] ? [] : [0]) : [0]) : [0]
/** Is A a size that nothing fixes? */
export type Open<A> = number extends A ? [] : string extends A ? [] : [0]
/** Are A and B one literal or one name? Whether two parameters are one cannot be asked of `Known`. */
type Alike<A, B> = number extends A | B ? [0] : Box<A | B> extends Box<A> ? (Box<A | B> extends Box<B> ? [] : [0]) : [0]
/** Then, if A is P for certain, else Else. */
export type IfIs<A, P, Zero, Then, Else> = Known<Is<A, P>> extends Box<Zero> ? Then : Else

// Written out, and not by `IfIs`: TypeScript instantiates what stands as an argument, a branch only where it is taken.

/** A + B; 0 leaves the other as it is. */
export type Plus<A, B, Zero> =
  Known<Is<B, 0>> extends Box<Zero>
    ? A
    : Known<Is<A, 0>> extends Box<Zero>
      ? B
      : Known<Literals<A, B>> extends Box<Zero>
        ? Add<A, B>
        : number
/** A - B, at least 0. */
export type Less<A, B, Zero> =
  Known<Is<B, 0>> extends Box<Zero> ? A : Known<Literals<A, B>> extends Box<Zero> ? AtLeast0<Sub<A, B>> : number
type AtLeast0<N> = [N] extends [never] ? 0 : N
/** A * B; 1 leaves the other as it is. */
export type Times<A, B, Zero> =
  Known<Is<B, 1>> extends Box<Zero>
    ? A
    : Known<Is<A, 1>> extends Box<Zero>
      ? B
      : Known<Literals<A, B>> extends Box<Zero>
        ? Mul<A, B>
        : number
/** `Times` that is decided later where one is a parameter. */
export type TimesOf<A, B, Zero> =
  Known<Is<B, 1>> extends Box<Zero>
    ? A
    : Known<Is<A, 1>> extends Box<Zero>
      ? B
      : IsNat<A> extends true
        ? IsNat<B> extends true
          ? Mul<A, B>
          : number
        : number
/** A / B, a number where that leaves a rest. */
export type Over<A, B, Zero> =
  Known<Is<B, 1>> extends Box<Zero> ? A : Known<Literals<A, B>> extends Box<Zero> ? Exactly<DivMod<A, B>> : number
type Exactly<Q> = Q extends [infer N extends number, 0] ? N : number
/** floor(A / B) for a literal B. */
export type FloorOver<A, B extends number, Zero> = Known<Literals<A, B>> extends Box<Zero> ? Div<A, B> : number
/** floor(N / 2) + 1: how many frequencies a real signal of N samples has. */
export type Half<N, Zero> = Known<Literals<N>> extends Box<Zero> ? Add<Div<N, 2>, 1> : number
/** 2 (M - 1): how many samples a real signal of M frequencies has. */
export type Whole<M, Zero> = Known<Literals<M>> extends Box<Zero> ? ([Sub<M, 1>] extends [never] ? number : Mul<Sub<M, 1>, 2>) : number
/** The larger and the smaller of two literals. */
type Max<A, B> = [Sub<A, B>] extends [never] ? B : A
type Min<A, B> = [Sub<A, B>] extends [never] ? A : B
/** The one parameter that A and B are, else a number; of two parameters TypeScript says it later. */
type OneOf<A, B> = Beside<A, B> extends Beside<B, A> ? A : number
/** The longer of two lengths, which are at least 1. */
export type Longer<A, B, Zero> =
  Known<Is<B, 1>> extends Box<Zero>
    ? A
    : Known<Is<A, 1>> extends Box<Zero>
      ? B
      : Known<Literals<A, B>> extends Box<Zero>
        ? Max<A, B>
        : OneOf<A, B>
/** The shorter of two. */
export type Shorter<A, B, Zero> = Known<Literals<A, B>> extends Box<Zero> ? Min<A, B> : OneOf<A, B>
/** The shorter of two, a number where both are parameters: it waits for nothing. */
export type Least<A, B, Zero> = Known<Alike<A, B>> extends Box<Zero> ? A : Known<Literals<A, B>> extends Box<Zero> ? Min<A, B> : number
/** What is known of two sizes that are equal. */
export type Equal<A, B, Zero> = Known<Open<A>> extends Box<Zero> ? B : A

/** A whole number that is written out: [what it adds, what it takes away]; else false. @example Signed<-3>   // [0, 3] */
export type Signed<K> =
  IsNat<K> extends true ? [K, 0] : `${K & number}` extends `-${infer N extends number}` ? (IsNat<N> extends true ? [0, N] : false) : false
/** K, if it is one whole number that is written out, else a number. */
export type Written<K, Zero> = Known<IsWritten<K>> extends Box<Zero> ? Sole<K> : number
type IsWritten<K> = K extends number ? (Signed<K> extends false ? [0] : []) : [0]
/** I, if it is one literal, else a number: which of several is meant is not known. */
export type Sole<I, All = I> = I extends unknown ? ([All] extends [I] ? I : number) : never

/** The size that the option K says; Else where it is not given, a number where that is known at run time. */
export type SizeIn<O, K extends string, Else, Zero> = K extends keyof O
  ? O extends { readonly [P in K]: infer N }
    ? Known<N extends undefined ? [] : [0]> extends Box<Zero>
      ? Else
      : Known<undefined extends N ? [] : [0]> extends Box<Zero>
        ? number
        : N
    : [O[K & keyof O]] extends [undefined]
      ? Else
      : number
  : Else
/** The value of the flag K; boolean where that is known at run time. */
export type FlagIn<O, K extends string, Standard extends boolean> = K extends keyof O
  ? O extends { readonly [P in K]: infer V }
    ? undefined extends V
      ? [V] extends [undefined]
        ? Standard
        : boolean
      : V & boolean
    : [O[K & keyof O]] extends [undefined]
      ? Standard
      : boolean
  : Standard
/** True for one literal, which is no union. */
export type IsSole<A, B = A> = [A] extends [never] ? false : A extends unknown ? ([B] extends [A] ? true : false) : never
/** A size for each of two axes: one for both, or a list. */
export type Both<Z> = Z extends readonly [infer A, infer B]
  ? [A & number, B & number]
  : Z extends readonly unknown[]
    ? [number, number]
    : [Z & number, Z & number]
/** A shape of which only the rank is known. */
export type Unsized<S extends Shape> = { -readonly [K in keyof S]: number }
