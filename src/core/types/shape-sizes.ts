// Sizes that are computed of others, said at once: what is computed of a size that is a parameter is a number, and waits for nothing.
import type { Add, Div, IsNat, Mul, Sub } from './nat.js'
import type { Box, Known } from './shape.js'

// Zero is `ZeroOf` the shape, or an accumulator of the caller: see `Known`.

/** [], if A is P for certain, to be asked of `Known`. */
type Is<A, P> = A extends P ? [] : [0]
/** [], if both are literals. */
export type Literals<A, B> = IsNat<A> extends true ? (IsNat<B> extends true ? [] : [0]) : [0]
/** [], if A and B are one literal or one name. Whether two parameters are one cannot be asked for certain. */
type Alike<A, B> = number extends A | B ? [0] : Box<A | B> extends Box<A> ? (Box<A | B> extends Box<B> ? [] : [0]) : [0]

/** A + B; 0 leaves the other as it is. */
export type Plus<A, B, Zero> =
  Known<Literals<A, B>> extends Box<Zero>
    ? Add<A & number, B & number>
    : Known<Is<B, 0>> extends Box<Zero>
      ? A
      : Known<Is<A, 0>> extends Box<Zero>
        ? B
        : number
/** A - B, at least 0. */
export type Less<A, B, Zero> =
  Known<Is<B, 0>> extends Box<Zero> ? A : Known<Literals<A, B>> extends Box<Zero> ? AtLeast0<Sub<A & number, B & number>> : number
type AtLeast0<N> = [N] extends [never] ? 0 : N
/** A * B; 1 leaves the other as it is. */
export type Times<A, B, Zero> =
  Known<Literals<A, B>> extends Box<Zero>
    ? Mul<A & number, B & number>
    : Known<Is<B, 1>> extends Box<Zero>
      ? A
      : Known<Is<A, 1>> extends Box<Zero>
        ? B
        : number
/** `Times` that is decided later where one is a parameter. */
export type TimesOf<A, B, Zero> =
  Known<Is<B, 1>> extends Box<Zero>
    ? A
    : Known<Is<A, 1>> extends Box<Zero>
      ? B
      : IsNat<A> extends true
        ? IsNat<B> extends true
          ? Mul<A & number, B & number>
          : number
        : number
/** floor(A / B) for a literal B. */
export type Over<A, B extends number, Zero> = Known<Literals<A, B>> extends Box<Zero> ? Div<A & number, B> : number
/** The smaller one. */
export type Least<A, B, Zero> =
  Known<Alike<A, B>> extends Box<Zero>
    ? A
    : Known<Literals<A, B>> extends Box<Zero>
      ? [Sub<A & number, B & number>] extends [never]
        ? A
        : B
      : number
/** What is known of two sizes that are equal. */
export type Equal<A, B, Zero> = Known<number extends A ? [] : [0]> extends Box<Zero> ? B : A
/** Then, if A is P for certain, else Else. */
export type IfIs<A, P, Zero, Then, Else> = Known<Is<A, P>> extends Box<Zero> ? Then : Else

/** A whole number that is written out: [what it adds, what it takes away]; else false. @example Signed<-3>   // [0, 3] */
export type Signed<K> =
  IsNat<K> extends true ? [K, 0] : `${K & number}` extends `-${infer N extends number}` ? (IsNat<N> extends true ? [0, N] : false) : false
/** K, if it is one whole number that is written out, else a number. */
export type Written<K, Zero> = Known<Whole<K>> extends Box<Zero> ? Sole<K> : number
type Whole<K> = K extends number ? (Signed<K> extends false ? [0] : []) : [0]
/** I, if it is one literal, else a number: which of several is meant is not known. */
export type Sole<I, All = I> = I extends unknown ? ([All] extends [I] ? I : number) : never
