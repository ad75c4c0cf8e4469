// Shape rules of the operations that contract: matmul, dot, vecdot, einsum, and of square matrices.
import type { Broadcast, Dim, Meets, Ok, Reduce, Same, Shape, ShapeError, Show, ShowDim } from './shape.js'

// ---- matmul and its relatives

type InnerAxes<
  A extends Shape,
  B extends Shape,
  ka,
  kb,
> = `matmul: inner axes differ: a is ${Show<A>}, b is ${Show<B>} (${ShowDim<ka>} is not ${ShowDim<kb>})`
/** The shape of the matrix product: [..., n, k] x [..., k, m]; a vector stands for a row (a) or a column (b). */
export type MatMul<A extends Shape, B extends Shape> = [number] extends [A['length']]
  ? Shape
  : [number] extends [B['length']]
    ? Shape
    : A extends readonly [...infer AL extends Shape, infer ka extends Dim]
      ? B extends readonly [infer kb extends Dim]
        ? Meets<ka, kb> extends true
          ? [...AL]
          : ShapeError<InnerAxes<A, B, ka, kb>>
        : B extends readonly [...infer BL extends Shape, infer kb extends Dim, infer m extends Dim]
          ? Meets<ka, kb> extends true
            ? AL extends readonly [...infer AB extends Shape, infer n extends Dim]
              ? Broadcast<AB, BL> extends infer R
                ? R extends ShapeError<string>
                  ? ShapeError<`matmul: leading axes differ: a is ${Show<A>}, b is ${Show<B>}`>
                  : [...Ok<R>, n, m]
                : never
              : [...BL, m]
            : ShapeError<InnerAxes<A, B, ka, kb>>
          : ShapeError<`matmul: needs at least one axis: a is ${Show<A>}, b is ${Show<B>}`>
      : ShapeError<`matmul: needs at least one axis: a is ${Show<A>}, b is ${Show<B>}`>

/** NumPy's dot: the axes of A but the last, then those of B but the second last (or its only one); of a number, the other shape. */
export type Dot<A extends Shape, B extends Shape> = [number] extends [A['length']]
  ? Shape
  : [number] extends [B['length']]
    ? Shape
    : A extends readonly [...infer AL extends Shape, infer ka]
      ? B extends readonly [infer kb]
        ? Meets<ka, kb> extends true
          ? [...AL]
          : DotClash<A, B>
        : B extends readonly [...infer BL extends Shape, infer kb, infer m extends Dim]
          ? Meets<ka, kb> extends true
            ? [...AL, ...BL, m]
            : DotClash<A, B>
          : A
      : B
type DotClash<
  A extends Shape,
  B extends Shape,
> = ShapeError<`dot: the last axis of a and the second last of b differ: a is ${Show<A>}, b is ${Show<B>}`>

/** The inner product of vectors along the axis X of two arrays of them: the other axes broadcast. */
export type Vecdot<A extends Shape, B extends Shape, X = -1> = [X] extends [-1]
  ? VecdotLast<A, B>
  : Broadcast<A, B, 'vecdot'> extends infer R extends Shape
    ? Reduce<R, { readonly axis: X }, 'vecdot'>
    : Broadcast<A, B, 'vecdot'>
type VecdotLast<A extends Shape, B extends Shape> = [number] extends [A['length']]
  ? Shape
  : [number] extends [B['length']]
    ? Shape
    : A extends readonly [...infer AL extends Shape, infer ka]
      ? B extends readonly [...infer BL extends Shape, infer kb]
        ? Meets<ka, kb> extends true
          ? Broadcast<AL, BL, 'vecdot'>
          : ShapeError<`vecdot: last axes differ: a is ${Show<A>}, b is ${Show<B>}`>
        : ShapeError<`vecdot: needs at least one axis: a is ${Show<A>}, b is ${Show<B>}`>
      : ShapeError<`vecdot: needs at least one axis: a is ${Show<A>}, b is ${Show<B>}`>

/** [], if the last two axes of S are equal; else a ShapeError that names Op. Never S itself: that would be a place to infer S from. */
export type Square<S extends Shape, Op extends string> = [number] extends [S['length']]
  ? []
  : S extends readonly [...unknown[], infer a, infer b]
    ? [Same<a, b>] extends [never]
      ? ShapeError<`${Op}: needs square matrices, got shape ${Show<S>}`>
      : []
    : ShapeError<`${Op}: needs square matrices, got shape ${Show<S>}`>
/** S without its last N axes (1 or 2). */
export type DropLast<S extends Shape, N extends 1 | 2> = [number] extends [S['length']]
  ? Shape
  : N extends 1
    ? S extends readonly [...infer H extends Shape, unknown]
      ? [...H]
      : Shape
    : S extends readonly [...infer H extends Shape, unknown, unknown]
      ? [...H]
      : Shape

// ---- einsum

type Letters<T extends string, S extends Shape, Seen = Readonly<Record<never, never>>> = T extends `${infer H}${infer R}`
  ? S extends readonly [infer d, ...infer ST extends Shape]
    ? H extends keyof Seen
      ? Meets<Seen[H], d> extends true
        ? Letters<R, ST, Seen>
        : never
      : Letters<R, ST, Seen & { [K in H]: d }>
    : never
  : S extends readonly []
    ? Seen
    : never
/** The sizes of letters, and the axes under the ellipsis. */
interface Named<Seen, More extends Shape> {
  readonly seen: Seen
  readonly more: More
}
/** A term, of which the axes between P and Q have no letters. */
type Term<T extends string, S extends Shape, Seen, More extends Shape> = T extends `${infer P}...${infer Q}`
  ? S extends readonly [...Ends<P>, ...infer E extends Shape]
    ? E extends readonly [...infer M extends Shape, ...Ends<Q>]
      ? S extends readonly [...infer B extends Shape, ...E]
        ? E extends readonly [...M, ...infer A extends Shape]
          ? Under<Letters<Q, A, Letters<P, B, Seen>>, Broadcast<More, M>>
          : never
        : never
      : never
    : never
  : Under<Letters<T, S, Seen>, More>
type Under<Seen, More> = [Seen] extends [never] ? never : Named<Seen, Ok<More>>
/** As many as T has letters. */
type Ends<T extends string, R extends unknown[] = []> = T extends `${string}${infer U}` ? Ends<U, [...R, unknown]> : R
type AllTerms<T extends string, Ss extends readonly unknown[], N = Named<Readonly<Record<never, never>>, []>> =
  N extends Named<infer Seen, infer More>
    ? Ss extends readonly [infer S extends Shape, ...infer R]
      ? T extends `${infer H},${infer TT}`
        ? AllTerms<TT, R, Term<H, S, Seen, More>>
        : R extends readonly []
          ? Term<T, S, Seen, More>
          : never
      : never
    : never
type LettersOut<T extends string, Seen, R extends Dim[] = []> = T extends `${infer H}${infer TT}`
  ? H extends keyof Seen
    ? LettersOut<TT, Seen, [...R, Seen[H] & Dim]>
    : never
  : R
/** Asked of T, so that TypeScript does not go through the alphabet before it knows T. */
type Alphabet<T extends string> = T extends '' ? '' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The sizes of letters that are in T once, in alphabetical order. */
type OnceIn<T extends string, Seen, Abc extends string = Alphabet<T>, R extends Dim[] = []> = Abc extends `${infer C}${infer U}`
  ? T extends `${string}${C}${infer B}`
    ? B extends `${string}${C}${string}`
      ? OnceIn<T, Seen, U, R>
      : OnceIn<T, Seen, U, [...R, Seen[C & keyof Seen] & Dim]>
    : OnceIn<T, Seen, U, R>
  : R
type Packed<T extends string> = T extends `${infer A} ${infer B}` ? Packed<`${A}${B}`> : T
type ShowAll<Ss extends readonly unknown[], R extends string = ''> = Ss extends readonly [infer S extends Shape, ...infer T]
  ? ShowAll<T, R extends '' ? Show<S> : `${R}, ${Show<S>}`>
  : R
/** The result of einsum for a literal 'ij,jk->ik'. */
export type Einsum<Spec extends string, Ss extends readonly Shape[]> = [number] extends [Ss['length']]
  ? Shape
  : number extends Ss[number]['length']
    ? Shape
    : string extends Spec
      ? Shape
      : Packed<Spec> extends `${infer L}->${infer R}`
        ? EinsumOut<Spec, Ss, AllTerms<L, Ss>, R>
        : EinsumOut<Spec, Ss, AllTerms<Packed<Spec>, Ss>>
type DoesNotFit<Spec extends string, Ss extends readonly Shape[]> = ShapeError<`einsum: '${Spec}' does not fit the shapes ${ShowAll<Ss>}`>
/** What is left of terms N: R, or without one the axes of the ellipsis and the letters that are there once. */
type EinsumOut<Spec extends string, Ss extends readonly Shape[], N, R extends string | undefined = undefined> = [N] extends [never]
  ? DoesNotFit<Spec, Ss>
  : N extends Named<infer Seen, infer More>
    ? R extends string
      ? EinsumTo<Spec, R, Seen, More>
      : [...More, ...OnceIn<Packed<Spec>, Seen>]
    : Shape
type EinsumTo<Spec extends string, R extends string, Seen, More extends Shape> = R extends `${infer P}...${infer Q}`
  ? [LettersOut<P, Seen>, LettersOut<Q, Seen>] extends [infer A extends Dim[], infer B extends Dim[]]
    ? [A] extends [never]
      ? NoLetter<Spec>
      : [B] extends [never]
        ? NoLetter<Spec>
        : [...A, ...More, ...B]
    : NoLetter<Spec>
  : [LettersOut<R, Seen>] extends [never]
    ? NoLetter<Spec>
    : More extends []
      ? LettersOut<R, Seen>
      : ShapeError<`einsum: the output of '${Spec}' leaves out the axes of '...'`>
type NoLetter<Spec extends string> = ShapeError<`einsum: '${Spec}' has an output letter that no input has`>
