/** Layers made of layers: one after the other, side by side, around a shortcut, many alike. */
import { badInput } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { type OptionsOf, raw, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  assertShape,
  concat,
  type Decl,
  type Dim,
  type DType,
  type Expr,
  type Exprs,
  evaluate,
  type Operand,
  type Scalar,
  type Shape,
  type Spec,
  scan,
  stack,
  type Tensor,
  type Tensors,
  treeZip,
} from '../index.js'
import { foldIn, type Key, splitKey } from '../random/index.js'
import { sizeIn } from './given.js'
import { guarded, inputIn } from './guard.js'
import {
  type AnyLayer,
  type DeclaredOf,
  type Described,
  type Given,
  gathered,
  isStateful,
  layerOf,
  type MadeBy,
  type Part,
  type PartsRead,
  partsOf,
  type Run,
  type RunWith,
  runPart,
  type StateOf,
  stackedDeclaration,
  type TakenBy,
} from './layer.js'

/** Parts by place or by name. */
export type Parts = readonly Part[] | Readonly<Record<string, Part>>
type DeclaredIn<L> = { readonly [K in keyof L]: DeclaredOf<L[K]> }
type StateIn<L> = { readonly [K in keyof L]: StateOf<L[K]> }
type HasState<L> = [Extract<L[keyof L & (number | string)], { readonly state: object }>] extends [never] ? false : true

/** A composition of the parts L, from X to Y: with running state where one of them has. */
export type Composed<L, X, Y> = HasState<L> extends true ? ComposedWithState<L, X, Y> : ComposedPlain<L, X, Y>
export interface ComposedPlain<L, X, Y> extends Parameters<L> {
  apply(params: Given<DeclaredIn<L>>, x: X, run?: Run): Y
}
export interface ComposedWithState<L, X, Y> extends Parameters<L>, States<L> {
  apply(params: Given<DeclaredIn<L>>, x: X, run: RunWith<Given<StateIn<L>>>): readonly [y: Y, state: Exprs<StateIn<L>>]
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
export interface SequencePlain<L extends readonly unknown[]> extends Parameters<L> {
  readonly kind: 'sequential'
  apply<X extends First<L>>(params: Given<DeclaredIn<L>>, x: X, run?: Run): Expr<Through<L, ShapeIn<X>>, DTypeThrough<L, X>>
}
export interface SequenceWithState<L extends readonly unknown[]> extends Parameters<L>, States<L> {
  readonly kind: 'sequential'
  apply<X extends First<L>>(
    params: Given<DeclaredIn<L>>,
    x: X,
    run: RunWith<Given<StateIn<L>>>,
  ): readonly [y: Expr<Through<L, ShapeIn<X>>, DTypeThrough<L, X>>, state: Exprs<StateIn<L>>]
}
type Around<L, H> = { readonly body: L; readonly shortcut: H }
/** A shortcut around the layer L. */
export type Shortcut<L, H> = HasState<Around<L, H>> extends true ? ShortcutWithState<L, H> : ShortcutPlain<L, H>
export interface ShortcutPlain<L, H> extends Parameters<Around<L, H>> {
  readonly kind: 'residual'
  apply<X extends TakenBy<L>>(params: Given<DeclaredIn<Around<L, H>>>, x: X, run?: Run): Sent<L, X>
}
export interface ShortcutWithState<L, H> extends Parameters<Around<L, H>>, States<Around<L, H>> {
  readonly kind: 'residual'
  apply<X extends TakenBy<L>>(
    params: Given<DeclaredIn<Around<L, H>>>,
    x: X,
    run: RunWith<Given<StateIn<Around<L, H>>>>,
  ): readonly [y: Sent<L, X>, state: Exprs<StateIn<Around<L, H>>>]
}

// ---- sizes from one part to the next

/** The shape of what is made or taken; `Shape` where nothing is known. */
type ShapeIn<X> = [X] extends [{ readonly _tag: string; readonly dtype: DType }]
  ? X extends Expr<infer S, infer _D> | Tensor<infer S, infer _D>
    ? S
    : Shape
  : Shape
/** A message where the last axes of shapes clash, as far as they are known; else never. */
type Clash<A extends Shape, B extends Shape> = A extends readonly [...infer AH extends Shape, infer a extends Dim]
  ? B extends readonly [...infer BH extends Shape, infer b extends Dim]
    ? [a] extends [b]
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
type Keeps<L, D extends DType> = L extends Applied
  ? L['apply'] extends <S extends Shape>(params: never, x: Expr<S, D>, run: never) => Expr<S, D> | readonly [Expr<S, D>, unknown]
    ? true
    : false
  : L extends <S extends Shape>(x: Expr<S, D>) => Expr<S, D>
    ? true
    : false
/*
 * The shape that a layer makes of S, where it takes T and makes M of whatever T allows. TypeScript does not say what a generic function makes of one argument; it says whether a function is as
 * general as another. So that is asked: are the first axis, the first two, all of them, or all but the last those of the input?
 */
/** Of a layer that takes so many axes, or so many at least: [n, ...]. */
type Led<A, S extends Shape, T extends Shape, M extends Shape, D extends DType, E extends DType> = [T, M, S] extends [
  readonly [Dim, infer C extends Dim, ...infer R extends Shape],
  readonly [Dim, Dim, ...infer Q extends Shape],
  readonly [infer N extends Dim, infer K extends Dim, ...infer P extends Shape],
]
  ? A extends <N extends Dim, R extends Shape>(params: never, x: Expr<[N, C, ...R], D>, run: never) => Expr<[N, C, ...R], E>
    ? S
    : A extends <N extends Dim, C extends Dim>(params: never, x: Expr<[N, C, ...R], D>, run: never) => Expr<[N, C, ...Q], E>
      ? [N, K, ...Sized<Q, P>]
      : LedByOne<A, S, T, M, D, E>
  : LedByOne<A, S, T, M, D, E>
type LedByOne<A, S extends Shape, T extends Shape, M extends Shape, D extends DType, E extends DType> = [T, M, S] extends [
  readonly [Dim, ...infer R extends Shape],
  readonly [Dim, ...infer Q extends Shape],
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
  ...Shape,
  infer I extends Dim,
]
  ? M extends readonly [...Shape, infer O extends Dim]
    ? A extends <N extends Shape>(params: never, x: Expr<[...N, I], D>, run: never) => Expr<[...N, O], E>
      ? [...Before<S>, O]
      : M
    : M
  : M extends readonly [Dim, ...infer Q extends Shape]
    ? A extends <N extends Dim, R extends Shape>(params: never, x: Expr<[N, ...R], D>, run: never) => Expr<[N, ...Q], E>
      ? [...(S extends readonly [infer N extends Dim, ...Shape] ? [N] : [Dim]), ...Q]
      : M
    : M extends readonly [...Shape, infer O extends Dim]
      ? A extends <N extends Shape>(params: never, x: Expr<N, D>, run: never) => Expr<[...N, O], E>
        ? [...S, O]
        : M
      : M
/** All axes but the last. */
type Before<S extends Shape> = S extends readonly [...infer H extends Shape, Dim] ? H : Dim[]
type AfterOne<L, S extends Shape, T extends Shape, M extends Shape, D extends DType, E extends DType> = T extends readonly [Dim, ...Shape]
  ? L extends Applied
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
    : L extends { readonly kind: `repeat ${number}` }
      ? S
      : AfterOne<L, S, ShapeIn<TakenBy<L>>, ShapeIn<MadeBy<L>>, DTypeIn<TakenBy<L>>, DTypeIn<MadeBy<L>>>
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
  : R
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
type First<L> = L extends readonly [infer H, ...unknown[]] ? TakenBy<H> : Operand

interface Made {
  readonly kind: string
  readonly parts: PartsRead
  readonly apply: (params: never, x: unknown, run: Partial<RunWith<unknown>>) => readonly [y: unknown, state: unknown]
}
/** The layer of some parts: parameters and state in their form, a key for each. */
const composed = ({ kind, parts, apply }: Made): AnyLayer => {
  const stateful = parts.named.some(([, l]) => isStateful(l))
  const layer: AnyLayer = {
    kind,
    parts: Object.fromEntries(parts.named),
    declared: gathered(parts, (l) => l.declared),
    init: (key) => gathered(parts, (l, i) => l.init(foldIn(key, i))),
    ...(stateful && {
      state: gathered(parts, (l) => l.state ?? null),
      initState: () => gathered(parts, (l) => l.initState?.() ?? null),
    }),
    apply: (params: never, x: never, run: never) => {
      const made = apply(params, x, run)
      return stateful ? made : made[0]
    },
  }
  return guarded(layer, false)
}
/** What a part has of a tree by the names of parts. */
const part = (tree: unknown, name: string): unknown =>
  reading('a composition', () => (tree as Readonly<Record<string, unknown>> | null | undefined)?.[name]) ?? null

/** Every part on the same input. */
const sideBySide = (parts: PartsRead, params: unknown, x: unknown, run: Partial<RunWith<unknown>>) => {
  const ys: AnyExpr[] = []
  const states = gathered(parts, (layer, index, name) => {
    const [y, state] = runPart(layer, { name, index }, part(params, name), x, run, part(run.state, name))
    ys.push(y as AnyExpr)
    return state
  })
  return { ys, states }
}

/**
 * Layers one after the other: a list, `sequential(dense(2, 8), tanh, dense(8, 1))`, or a record of them, in whose order they run. Functions of arrays are layers too.
 *
 * Parameters  a list or record of theirs, null for functions.   State  the same, where a layer has some.   Key  each layer folds its place into it.
 * Types       a size that the layer before does not make does not compile.   Errors  BadInput where there is no layer.
 * @example
 * const model = sequential(dense(2, 8), tanh, dense(8, 1))
 * fn({ p: model.declared, x: f32('n', 2) }, ({ p, x }) => model.apply(p, x))({ p: model.init(key(1)), x: [[0, 0]] }) // [[0]]
 */
export const sequential: SequentialFn = ((...given: readonly unknown[]): unknown => {
  const [first] = given
  const isRecord = given.length === 1 && typeof first === 'object' && first !== null && reading('sequential', () => !('apply' in first))
  const parts = partsOf((isRecord ? first : given) as Parts, 'sequential')
  return composed({
    kind: 'sequential',
    parts,
    apply: (params, x, run) => {
      let y: unknown = x
      const states = gathered(parts, (layer, index, name) => {
        const [made, state] = runPart(layer, { name, index }, part(params, name), y, run, part(run.state, name))
        y = made
        return state
      })
      return [y, states]
    },
  })
}) as never
/** sequential(...layers), sequential({ name: layer, ... }). */
export interface SequentialFn {
  <const L extends readonly [Part, ...Part[]]>(
    ...layers: { readonly [K in keyof L]: L[K] & (K extends keyof Checked<L> ? Checked<L>[K] : unknown) }
  ): Sequence<L>
  <const L extends Readonly<Record<string, Part>>>(layers: L & CheckedRecord<L>): Composed<L, Operand, Expr<Shape, DTypeAmong<L>>>
}

/** How results that stand side by side become one. */
export type Joining = 'add' | 'concat' | ((...ys: readonly AnyExpr[]) => AnyExpr)
/**
 * Layers side by side on one input; their results are added, joined along the last axis (`concat`), or given to a function.
 *
 * Parameters  a list or record of theirs, as of `sequential`.   Errors  BadInput where there is no layer.
 * @example
 * const both = parallel([dense(2, 3), dense(2, 4)], 'concat')
 * fn({ p: both.declared, x: f32('n', 2) }, ({ p, x }) => both.apply(p, x))({ p: both.init(key(1)), x: [[0, 0]] }).shape // [1, 7]
 */
export const parallel: ParallelFn = ((layers: Parts, join: Joining = 'add'): unknown => {
  const parts = partsOf(layers, 'parallel')
  if (join !== 'add' && join !== 'concat' && typeof join !== 'function')
    badInput('parallel', `the second argument is neither 'add' nor 'concat' nor a function.`)
  return composed({
    kind: 'parallel',
    parts,
    apply: (params, x, run) => {
      const { ys, states } = sideBySide(parts, params, x, run)
      const y = join === 'add' ? ys.reduce((a, b) => add(a, b) as AnyExpr) : join === 'concat' ? concat(ys, { axis: -1 }) : join(...ys)
      return [y, states]
    },
  })
}) as never
/** parallel(layers, 'add'), parallel(layers, 'concat'), parallel(layers, f). */
export interface ParallelFn {
  <const L extends Parts>(layers: L, join?: 'add' | 'concat' | undefined): Composed<L, Operand, Expr<Shape, DTypeAmong<L>>>
  <const L extends Parts>(layers: L, join: Joining): Composed<L, Operand, AnyExpr>
}

/**
 * A shortcut around a layer: x + layer(x), or shortcut(x) + layer(x) where the shapes differ.
 *
 * Parameters  { body, shortcut }.   Source  He et al. 2016.
 * @example
 * const block = residual(dense(2, 2))
 * fn({ p: block.declared, x: f32('n', 2) }, ({ p, x }) => block.apply(p, x))({ p: block.init(key(1)), x: [[0, 0]] }) // [[0, 0]]
 */
export const residual = <const L extends Part, const H extends Part = (x: AnyExpr) => AnyExpr>(body: L, shortcut?: H): Shortcut<L, H> => {
  const parts = partsOf({ body, shortcut: shortcut ?? identity }, 'residual')
  return composed({
    kind: 'residual',
    parts,
    apply: (params, x, run) => {
      const { ys, states } = sideBySide(parts, params, x, run)
      return [add(ys[1]!, ys[0]!), states]
    },
  }) as never
}
const identity: AnyLayer = { kind: 'identity', declared: null, init: () => null, apply: (_, x) => x }

export const repeatOptions = {
  /** What the way back keeps of each: as of `scan`. */
  checkpoint: raw<'everything' | 'contractions' | 'nothing' | 'sqrt' | number>(),
}
/** Options of `repeat`. */
export type RepeatOptions = OptionsOf<typeof repeatOptions>
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
/**
 * n layers alike, one after the other, as one loop: a plan for 48 of them is no longer than one for 2, and with a checkpoint the way back keeps little.
 *
 * Parameters  those of the layer, each array with an axis of length n in front.   Options  checkpoint, as of `scan`.
 * Errors  BadInput for a layer with running state, or one that changes the shape.
 * @example
 * const deep = repeat(residual(dense(2, 2)), 48)
 * fn({ p: deep.declared, x: f32('n', 2) }, ({ p, x }) => deep.apply(p, x))({ p: deep.init(key(1)), x: [[0, 0]] }) // [[0, 0]]
 */
export const repeat = <const L extends Part, const N extends number>(layer: L, n: N, options?: RepeatOptions): Repeated<L, N> => {
  const { checkpoint } = readOptions(repeatOptions, options, 'repeat')
  const count = sizeIn(n, 'n', 'repeat')
  const one = layerOf(layer, 'repeat')
  if (isStateful(one))
    badInput(
      'repeat',
      'the layer has running state.',
      'write them one after the other with sequential, or use layers without running state (layerNorm, groupNorm).',
    )
  const made: AnyLayer = {
    kind: `repeat ${count}`,
    parts: { each: one },
    repeated: count,
    declared: one.declared === null ? null : stackedDeclaration(one.declared, count),
    init: (key) => {
      const each = Array.from({ length: count }, (_, i) => one.init(foldIn(key, i)))
      if (one.declared === null) return null
      const [first, ...others] = each
      return evaluate(treeZip((...leaves: readonly AnyExpr[]) => stack(leaves), first as never, ...(others as never[])) as never)
    },
    apply: (params: never, x: never, run?: Run) => {
      const keys = run?.key === undefined ? null : splitKey(run.key, count)
      const begin: AnyExpr = inputIn(x, 'the input', 'repeat')
      const [y] = scan(
        (h: AnyExpr, [p, key]: readonly [unknown, Key | null]) => {
          const { onLayer: _, ...told } = run ?? {}
          const [next] = runPart(one, { name: 'each', index: 0 }, p, h, { ...told, ...(key !== null && { key }) })
          return [assertShape(next as AnyExpr, begin.shape as number[]), null] as never
        },
        begin,
        [params, keys] as never,
        { length: count, ...(checkpoint !== undefined && { checkpoint }) },
      ) as unknown as readonly [AnyExpr, unknown]
      return y
    },
  }
  return guarded(made, false) as never
}
export type { Decl, Scalar }
