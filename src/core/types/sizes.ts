// Arithmetic on sizes that is decided at once: a literal where all that it is of are literals, else a number. What changes nothing leaves a size as it is.
import type { Add, Div, DivMod, IsNat, Mul, Sub } from './nat.js'
import type { Beside, Box, Known, Shape } from './shape.js'

// Questions for `Known`: [] for yes. Zero is `ZeroOf` a parameter of the signature. Each asks what may be a parameter by itself first, `A extends ...`: no answer to that is one that
// TypeScript would wait for.

/** Is A 1? */
export type One<A> = A extends 1 ? [] : [0]
/** Are A and B literals? */
export type Literals<A, B = 0> = A extends number ? (B extends number ? ([IsNat<A>, IsNat<B>] extends [true, true] ? [] : [0]) : [0]) : [0]
/** Is A a size that nothing fixes? */
export type Open<A> = number extends A ? [] : string extends A ? [] : [0]

/** A * B. */
export type Times<A, B, Zero> =
  Known<One<B>> extends Box<Zero>
    ? A
    : Known<One<A>> extends Box<Zero>
      ? B
      : Known<Literals<A, B>> extends Box<Zero>
        ? Mul<A & number, B & number>
        : number
/** A / B, a number where that leaves a rest. */
export type Over<A, B, Zero> =
  Known<One<B>> extends Box<Zero>
    ? A
    : Known<Literals<A, B>> extends Box<Zero>
      ? DivMod<A & number, B & number> extends [infer Q extends number, 0]
        ? Q
        : number
      : number
/** floor(N / 2) + 1: how many frequencies a real signal of N samples has. */
export type Half<N, Zero> = Known<Literals<N>> extends Box<Zero> ? Add<Div<N & number, 2>, 1> : number
/** 2 (M - 1). */
export type Whole<M, Zero> =
  Known<Literals<M>> extends Box<Zero> ? ([Sub<M & number, 1>] extends [never] ? number : Mul<Sub<M & number, 1>, 2>) : number
/** The longer of two lengths, which are at least 1. Of two parameters TypeScript says it later, unless they are one. */
export type Longer<A, B, Zero> =
  Known<One<B>> extends Box<Zero>
    ? A
    : Known<One<A>> extends Box<Zero>
      ? B
      : Known<Literals<A, B>> extends Box<Zero>
        ? [Sub<A & number, B & number>] extends [never]
          ? B
          : A
        : Beside<A, B> extends Beside<B, A>
          ? A
          : number
/** The shorter of two. */
export type Shorter<A, B, Zero> =
  Known<Literals<A, B>> extends Box<Zero>
    ? [Sub<A & number, B & number>] extends [never]
      ? A
      : B
    : Beside<A, B> extends Beside<B, A>
      ? A
      : number

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
