/** What compositions are, and how sizes go from part to part: types alone. */
import type { AnyExpr, Dim, DType, Expr, Exprs, Shape, Spec, Tensors } from '../index.js'
import type { Key } from '../random/index.js'
import type { ConvLayer, Convolved, Pool, Pooled } from './conv.js'
import type { Flat } from './dense.js'
import type { DeclaredOf, Described, Given, MadeBy, Part, Run, RunWith, StateOf, TakenBy } from './layer.js'

/** Parts by place or by name. */
export type Parts = readonly Part[] | Readonly<Record<string, Part>>
type DeclaredIn<L> = { readonly [K in keyof L]: DeclaredOf<L[K]> }
type StateIn<L> = { readonly [K in keyof L]: StateOf<L[K]> }
type HasState<L> = [Extract<L[keyof L & (number | string)], { readonly state: object }>] extends [never] ? false : true

/** A composition of the parts L, from X to Y: with running state where one of them has. */
export type Composed<L, X, Y> = HasState<L> extends true ? ComposedWithState<L, X, Y> : ComposedPlain<L, X, Y>
/** `Composed` of layers without state. */
export interface ComposedPlain<L, X, Y> extends Parameters<L> {
  apply(params: Given<DeclaredIn<L>>, x: X, run?: Run): Y
}
/** `Composed` of layers of which some have state. */
export interface ComposedWithState<L, X, Y> extends Parameters<L>, States<L> {
  apply(params: Given<DeclaredIn<L>>, x: X, run: RunWith<Given<StateIn<L>>>): [y: Y, state: Exprs<StateIn<L>>]
}
interface Parameters<L> extends Described {
  readonly declared: DeclaredIn<L>
  readonly init: (key: Key) => Tensors<DeclaredIn<L>>
}
interface States<L> {
  readonly state: StateIn<L>
  readonly initState: () => Tensors<StateIn<L>>
}
/** Layers one after the other: the axes that none of them changes are those of the input. */
export type Sequence<L extends readonly unknown[]> = HasState<L> extends true ? SequenceWithState<L> : SequencePlain<L>
/** `sequential` of layers without state. */
export interface SequencePlain<L extends readonly unknown[]> extends Parameters<L> {
  readonly kind: 'sequential'
  apply<X extends First<L>>(
    params: Given<DeclaredIn<L>>,
    x: X & CheckedInput<L, X>,
    run?: Run,
  ): Expr<Through<L, ShapeIn<X>>, DTypeThrough<L, X>>
}
/** `sequential` of layers of which some have state. */
export interface SequenceWithState<L extends readonly unknown[]> extends Parameters<L>, States<L> {
  readonly kind: 'sequential'
  apply<X extends First<L>>(
    params: Given<DeclaredIn<L>>,
    x: X & CheckedInput<L, X>,
    run: RunWith<Given<StateIn<L>>>,
  ): [y: Expr<Through<L, ShapeIn<X>>, DTypeThrough<L, X>>, state: Exprs<StateIn<L>>]
}
type Around<L, H> = { readonly body: L; readonly shortcut: H }
/** A shortcut around the layer L. */
export type Shortcut<L, H> = HasState<Around<L, H>> extends true ? ShortcutWithState<L, H> : ShortcutPlain<L, H>
/** `residual` of layers without state. */
export interface ShortcutPlain<L, H> extends Parameters<Around<L, H>> {
  readonly kind: 'residual'
  apply<X extends TakenBy<L>>(params: Given<DeclaredIn<Around<L, H>>>, x: X, run?: Run): Sent<L, X>
}
/** `residual` of layers of which some have state. */
export interface ShortcutWithState<L, H> extends Parameters<Around<L, H>>, States<Around<L, H>> {
  readonly kind: 'residual'
  apply<X extends TakenBy<L>>(
    params: Given<DeclaredIn<Around<L, H>>>,
    x: X,
    run: RunWith<Given<StateIn<Around<L, H>>>>,
  ): [y: Sent<L, X>, state: Exprs<StateIn<Around<L, H>>>]
}

// ---- sizes from one part to the next

/** The shape of what is made or taken; `Shape` where nothing is known. */
type ShapeIn<X> = [X] extends [{ readonly _tag: string; readonly dtype: DType }] ? (X extends Expr<infer S, infer _D> ? S : Shape) : Shape
/** A message where the last axes of shapes clash, as far as they are known; else never. Where a size is a number any axis goes, one with a name too. */
type Clash<A extends Shape, B extends Shape> = A extends readonly [...infer AH extends Shape, infer a extends Dim]
  ? B extends readonly [...infer BH extends Shape, infer b extends Dim]
    ? [a] extends [number extends b ? Dim : b]
      ? Clash<AH, BH>
      : [b] extends [a]
        ? Clash<AH, BH>
        : `sequential: the layer before makes ${a}, this one takes ${b}`
    : never
  : never
/** The dtype of what is taken or made; f32 where any will do. */
type DTypeIn<X> = X extends { readonly dtype: infer D extends DType } ? ('f32' extends D ? 'f32' : D) : 'f32'
type Applied = { apply(params: never, x: never, run: never): unknown }
/** Has a part the shape of what it is given? */
type Keeps<L, D extends DType> = L extends (x: never) => unknown
  ? L extends <S extends Shape>(x: Expr<S, D>) => Expr<S, D>
    ? true
    : false
  : L extends Applied
    ? L['apply'] extends <S extends Shape>(params: never, x: Expr<S, D>, run: never) => Expr<S, D> | readonly [Expr<S, D>, unknown]
      ? true
      : false
    : false
/*
 * The shape that a layer makes of S, where it takes T and makes M of whatever T allows. TypeScript does not say what a generic function makes of one argument; it says whether a function is as
 * general as another. So that is asked: are the first axis, the first two, all of them, or all but the last those of the input?
 */
/** Of a layer that takes so many axes, or so many at least: [n, ...]. */
type Led<A, S extends Shape, T extends Shape, M extends Shape, D extends DType, E extends DType> = [T, M, S] extends [
  readonly [unknown, infer C extends Dim, ...infer R extends Shape],
  readonly [unknown, unknown, ...infer Q extends Shape],
  readonly [infer N extends Dim, infer K extends Dim, ...infer P extends Shape],
]
  ? A extends <N extends Dim, R extends Shape>(params: never, x: Expr<[N, C, ...R], D>, run: never) => Expr<[N, C, ...R], E>
    ? S
    : A extends <N extends Dim, C extends Dim>(params: never, x: Expr<[N, C, ...R], D>, run: never) => Expr<[N, C, ...Q], E>
      ? [N, K, ...Sized<Q, P>]
      : LedByOne<A, S, T, M, D, E>
  : LedByOne<A, S, T, M, D, E>
type LedByOne<A, S extends Shape, T extends Shape, M extends Shape, D extends DType, E extends DType> = [T, M, S] extends [
  readonly [unknown, ...infer R extends Shape],
  readonly [unknown, ...infer Q extends Shape],
  readonly [infer N extends Dim, ...infer P extends Shape],
]
  ? A extends <N extends Dim>(params: never, x: Expr<[N, ...R], D>, run: never) => Expr<[N, ...Q], E>
    ? [N, ...Sized<Q, P>]
    : M
  : M
/** So many axes as there are. */
type Sized<Q extends Shape, P extends Shape> = number extends Q['length'] ? { [K in keyof P]: Q[number] } : Q
/** Of a layer that takes any axes before the last, or any at all. */
type Ended<A, S extends Shape, T extends Shape, M extends Shape, D extends DType, E extends DType> = T extends readonly [
  ...unknown[],
  infer I extends Dim,
]
  ? M extends readonly [...unknown[], infer O extends Dim]
    ? A extends <N extends Shape>(params: never, x: Expr<[...N, I], D>, run: never) => Expr<[...N, O], E>
      ? [...Before<S>, O]
      : M
    : M
  : M extends readonly [unknown, ...infer Q extends Shape]
    ? A extends <N extends Dim, R extends Shape>(params: never, x: Expr<[N, ...R], D>, run: never) => Expr<[N, ...Q], E>
      ? [...(S extends readonly [infer N extends Dim, ...unknown[]] ? [N] : [Dim]), ...Q]
      : M
    : M extends readonly [...unknown[], infer O extends Dim]
      ? A extends <N extends Shape>(params: never, x: Expr<N, D>, run: never) => Expr<[...N, O], E>
        ? [...S, O]
        : M
      : M
/** All axes but the last. */
type Before<S extends Shape> = S extends readonly [...infer H extends Shape, unknown] ? H : Dim[]
type AfterOne<L, S extends Shape, T extends Shape, M extends Shape, D extends DType, E extends DType> = T extends readonly [
  unknown,
  ...unknown[],
]
  ? L extends (x: never) => unknown
    ? M // a function, whose method `apply` is that of all functions
    : L extends Applied
      ? Led<L['apply'], S, T, M, D, E>
      : M
  : Keeps<L, D> extends true
    ? S
    : L extends Applied
      ? Ended<L['apply'], S, T, M, D, E>
      : M
/** The shape that goes on from part L, given S. */
type After<L, S extends Shape> = L extends { readonly kind: 'sequential' }
  ? L extends SequencePlain<infer P> | SequenceWithState<infer P>
    ? Through<P, S>
    : ShapeIn<MadeBy<L>>
  : L extends { readonly kind: 'residual' }
    ? L extends ShortcutPlain<infer B, infer _H> | ShortcutWithState<infer B, infer _H>
      ? After<B, S>
      : ShapeIn<MadeBy<L>>
    : L extends { readonly kind: 'parallel' }
      ? L extends BesidePlain<infer P, infer J> | BesideWithState<infer P, infer J>
        ? ShapeIn<Joint<P, Expr<S>, J>>
        : ShapeIn<MadeBy<L>>
      : L extends { readonly kind: `repeat ${number}` }
        ? S
        : L extends { readonly kind: 'flatten' }
          ? Flat<S>
          : L extends { readonly kind: `conv${string}` | `${string}Pool` }
            ? Slid<L, S>
            : AfterOne<L, S, ShapeIn<TakenBy<L>>, ShapeIn<MadeBy<L>>, DTypeIn<TakenBy<L>>, DTypeIn<MadeBy<L>>>
/** The shape of what windows L make of S. */
type Slid<L, S extends Shape> = S extends readonly [infer N extends Dim, infer C extends Dim, ...infer H extends Shape]
  ? L extends ConvLayer<infer _I, infer O, infer _N, infer _P, infer _D, infer K, infer Q>
    ? [N, O, ...Convolved<H, K, Q>]
    : L extends Pool<infer Q>
      ? [N, C, ...Pooled<H, Q>]
      : ShapeIn<MadeBy<L>>
  : ShapeIn<MadeBy<L>>
/** What part L makes of X: where that is an expression, with the axes that it has from X. */
type Sent<L, X> = MadeBy<L> extends Expr<Shape, infer D> ? Expr<After<L, ShapeIn<X>>, D> : MadeBy<L>
/** Parts as they are, or a message at the first whose input is not what the part before it makes. */
type Checked<L extends readonly unknown[], S extends Shape = Shape, R extends readonly unknown[] = []> = L extends readonly [
  infer H,
  ...infer T,
]
  ? [Clash<S, ShapeIn<TakenBy<H>>>] extends [never]
    ? Checked<T, After<H, S>, [...R, unknown]>
    : [...R, ShapeError<Clash<S, ShapeIn<TakenBy<H>>>>, ...T]
  : [...R, ...unknown[]]
/** Nothing, or the reason why X does not go through the parts L: what lies behind a part that takes anything shows where a shape is given. */
type CheckedInput<L extends readonly unknown[], X> = InputFor<L, ShapeIn<X>>['input']
/** Looked up: of a size that is a parameter, where it is not known which, TypeScript takes either. */
type InputFor<L extends readonly unknown[], S extends Shape> = [Jam<L, S>] extends [never]
  ? { readonly input: unknown }
  : { readonly input: ShapeError<Jam<L, S>> }
type Jam<L extends readonly unknown[], S extends Shape> = L extends readonly [infer H, ...infer T]
  ? [Clash<S, ShapeIn<TakenBy<H>>>] extends [never]
    ? Jam<T, After<H, S>>
    : Clash<S, ShapeIn<TakenBy<H>>>
  : never
/*
 * A record: TypeScript does not know the order of its keys, so what is asked holds in any order. Only one part may take what no other makes, the first; only one may make what no other takes, the last.
 */
/** The names of parts that do not keep every shape. */
type Own<L> = { readonly [K in keyof L]: Keeps<L[K], DTypeIn<TakenBy<L[K]>>> extends true ? never : K }[keyof L] & string & keyof L
/** K, if the part J may follow it; never for J itself. */
type Feeding<L, K extends keyof L, J extends keyof L> = K extends J
  ? never
  : [Clash<ShapeIn<MadeBy<L[K]>>, ShapeIn<TakenBy<L[J]>>>] extends [never]
    ? K
    : never
/** K, if it may follow the part J; never for J itself. */
type FedBy<L, K extends keyof L, J extends keyof L> = K extends J
  ? never
  : [Clash<ShapeIn<MadeBy<L[J]>>, ShapeIn<TakenBy<L[K]>>>] extends [never]
    ? K
    : never
type Firsts<L, A extends keyof L, K extends keyof L = A> = K extends unknown ? ([Feeding<L, A, K>] extends [never] ? K : never) : never
type Lasts<L, A extends keyof L, K extends keyof L = A> = K extends unknown ? ([FedBy<L, A, K>] extends [never] ? K : never) : never
/** Is K a union of names? */
type AreSeveral<K, U = K> = [K] extends [never] ? false : K extends unknown ? ([U] extends [K] ? false : true) : never
/** Nothing, or the reason why the parts of the record L follow each other in no order. */
type CheckedRecord<L> =
  true extends AreSeveral<Firsts<L, Own<L>>>
    ? ShapeError<`sequential: no other layer makes what '${Firsts<L, Own<L>> & string}' takes`>
    : true extends AreSeveral<Lasts<L, Own<L>>>
      ? ShapeError<`sequential: no other layer takes what '${Lasts<L, Own<L>> & string}' makes`>
      : unknown
/** The names or places of parts. */
type Of<L> = L extends readonly unknown[] ? keyof L & number : keyof L
/** The shape F, if it is one and not several. */
type TheOne<F, G = F> = [F] extends [never] ? Shape : F extends Shape ? ([G] extends [F] ? F : Shape) : Shape
/** What the parts L make of X side by side. */
type Joint<L, X, J> = J extends (...ys: never) => infer Y
  ? Y
  : Expr<J extends 'concat' ? Concatenated<L, ShapeIn<X>> : Added<L, ShapeIn<X>>, DTypeAmong<L>>
/** The shape of what the parts L make of S, added. */
type Added<L, S extends Shape> = TheOne<{ readonly [K in keyof L]: After<L[K], S> }[Of<L>]>
/** That of what they make, joined along the last axis. */
type Concatenated<L, S extends Shape> =
  TheOne<{ readonly [K in keyof L]: Before<After<L[K], S>> }[Of<L>]> extends infer B extends Shape ? [...B, number] : Shape
/** A message where axes of shapes, as far as they are known, cannot be added; else never. */
type NotAdded<A extends Shape, B extends Shape> = [A, B] extends [
  readonly [...infer AH extends Shape, infer a extends Dim],
  readonly [...infer BH extends Shape, infer b extends Dim],
]
  ? [a, b] extends [1, Dim] | [Dim, 1] | [b, Dim] | [Dim, a]
    ? NotAdded<AH, BH>
    : `residual: the layer takes ${b} and makes ${a}, which cannot be added: give a shortcut that makes ${a}`
  : never
/** Nothing, or the reason why what the layer L makes is not added to what it is given. */
type CheckedShortcut<L> = [NotAdded<ShapeIn<MadeBy<L>>, ShapeIn<TakenBy<L>>>] extends [never]
  ? unknown
  : ShapeError<NotAdded<ShapeIn<MadeBy<L>>, ShapeIn<TakenBy<L>>>>
/** A message where axes of shapes, as far as they are known, differ; else never. */
type Differ<A extends Shape, B extends Shape> = [A, B] extends [
  readonly [...infer AH extends Shape, infer a extends Dim],
  readonly [...infer BH extends Shape, infer b extends Dim],
]
  ? [a, b] extends [b, Dim] | [Dim, a]
    ? Differ<AH, BH>
    : `${a} where ${b}`
  : never
/** Nothing, or the reason why what the part H makes is not added to what the others of L make: of a list to what the first makes. */
type CheckedBeside<H, L, J> = J extends 'concat' | ((...ys: never) => unknown)
  ? unknown
  : [
        {
          readonly [K in keyof L]: Differ<ShapeIn<MadeBy<H>>, ShapeIn<MadeBy<L[K]>>>
        }[L extends readonly unknown[] ? 0 & keyof L : keyof L],
      ] extends [infer M extends string]
    ? [M] extends [never]
      ? unknown
      : ShapeError<`parallel: this layer makes ${M} is made beside it: what is added has one shape; 'concat' joins them`>
    : unknown
/** Nothing, or the reason why the layer L does not go behind itself. */
export type CheckedRepeat<L> = [Differ<ShapeIn<MadeBy<L>>, ShapeIn<TakenBy<L>>>] extends [infer M extends string]
  ? [M] extends [never]
    ? unknown
    : ShapeError<`repeat: the layer makes ${M} is taken: only one that keeps the shape is repeated`>
  : unknown
interface ShapeError<Message extends string> {
  readonly 'shape error': Message
}
type Through<L extends readonly unknown[], S extends Shape = Shape> = L extends readonly [infer H, ...infer T] ? Through<T, After<H, S>> : S
/** Is it one dtype, and not several? */
type IsOne<D> = [D] extends ['f32'] ? true : [D] extends ['f64'] ? true : [D] extends ['i32'] ? true : false
/** The dtype of what the last part makes that says one, else that of the input. */
type DTypeThrough<L, X> = L extends readonly [...infer H, infer T]
  ? MadeBy<T> extends Expr<Shape, infer D>
    ? IsOne<D> extends true
      ? D
      : DTypeThrough<H, X>
    : DTypeThrough<H, X>
  : X extends { readonly dtype: infer D extends DType }
    ? D
    : DType
/** The dtype of all parts of a list or record that say one, where it is the same. */
type DTypeAmong<L> = { readonly [K in keyof L]: Said<MadeBy<L[K]>> }[L extends readonly unknown[]
  ? keyof L & number
  : keyof L] extends infer D
  ? [D] extends [never]
    ? DType
    : [D] extends ['f32']
      ? 'f32'
      : [D] extends ['f64']
        ? 'f64'
        : DType
  : DType
type Said<Y> = Y extends Expr<Shape, infer D> ? (IsOne<D> extends true ? D : never) : never
type First<L> = L extends readonly [infer H, ...unknown[]] ? TakenBy<H> : Expr

/** Declared arrays with N of each. */
export type Stacked<P, N extends number> = P extends {
  readonly _tag: 'Spec'
  readonly shape: infer S extends Shape
  readonly dtype: infer D extends DType
}
  ? Spec<[N, ...S], D>
  : P extends null
    ? null
    : { readonly [K in keyof P]: Stacked<P[K], N> }
/** N layers alike, one after the other. */
export interface Repeated<L, N extends number> extends Described {
  readonly kind: `repeat ${number}`
  readonly declared: Stacked<DeclaredOf<L>, N>
  readonly init: (key: Key) => Tensors<Stacked<DeclaredOf<L>, N>>
  apply<X extends TakenBy<L>>(params: Given<Stacked<DeclaredOf<L>, N>>, x: X, run?: Run): Sent<L, X>
}
/** sequential(...layers), sequential({ name: layer, ... }). */
export interface SequentialFn {
  <const L extends readonly [Part, ...Part[]]>(
    ...layers: { readonly [K in keyof L]: L[K] & (K extends keyof Checked<L> ? Checked<L>[K] : unknown) }
  ): Sequence<L>
  <const L extends Readonly<Record<string, Part>>>(
    layers: L & Readonly<Record<string, Part>> & CheckedRecord<L>,
  ): Composed<L, Expr, Expr<Shape, DTypeAmong<L>>>
}
/** residual(layer), residual(layer, shortcut). */
export interface ResidualFn {
  <const L extends Part>(body: L & CheckedShortcut<L>): Shortcut<L, (x: AnyExpr) => AnyExpr>
  <const L extends Part, const H extends Part>(body: L, shortcut: H): Shortcut<L, H>
}
/** How results that stand side by side become one. */
export type Joining = 'add' | 'concat' | ((...ys: readonly AnyExpr[]) => AnyExpr)
/** parallel(layers), parallel(layers, 'add'), parallel(layers, 'concat'), parallel(layers, f). */
export interface ParallelFn {
  <const L extends Parts>(layers: L & { readonly [K in keyof L]: CheckedBeside<L[K], L, 'add'> }): Beside<L, 'add'>
  <const L extends Parts, const J extends 'add' | 'concat' | undefined, Y extends AnyExpr = never>(
    layers: L & { readonly [K in keyof L]: CheckedBeside<L[K], L, By<J, Y>> },
    join: J | ((...ys: readonly AnyExpr[]) => Y),
  ): Beside<L, By<J, Y>>
}
/** How results are joined: by a word, or a function to Y. */
type By<J, Y> = [Y] extends [never] ? (J extends undefined ? 'add' : J) : (...ys: readonly AnyExpr[]) => Y
/** Layers side by side: the axes that none of them changes are those of the input. */
export type Beside<L, J> = HasState<L> extends true ? BesideWithState<L, J> : BesidePlain<L, J>
/** `parallel` of layers without state. */
export interface BesidePlain<L, J> extends Parameters<L> {
  readonly kind: 'parallel'
  apply<X extends First<L>>(params: Given<DeclaredIn<L>>, x: X, run?: Run): Joint<L, X, J>
}
/** `parallel` of layers of which some have state. */
export interface BesideWithState<L, J> extends Parameters<L>, States<L> {
  readonly kind: 'parallel'
  apply<X extends First<L>>(
    params: Given<DeclaredIn<L>>,
    x: X,
    run: RunWith<Given<StateIn<L>>>,
  ): [y: Joint<L, X, J>, state: Exprs<StateIn<L>>]
}
