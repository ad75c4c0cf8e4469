/**
 * Layers as plain values: what they declare, how it begins, and the function that they are. No classes, and no state but that which goes in and comes out.
 *
 * A layer is `{ declared, init(key), apply(params, x, run) }`; one with running state (statistics of batches) has `state` and `initState()` too, and its `apply`, which finds `run.state`,
 * gives [y, state]. Whatever has this form is a layer, whoever wrote it.
 */
import { functionOf, listOf, recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { holds, reading } from '../core/errors/language.js'
import { type AnyExpr, type Decl, type DType, type Expr, type Exprs, type Shape, type Tensors, treeMap } from '../index.js'
import { foldIn, type Key } from '../random/index.js'

/** The arguments of a layer besides its parameters and its input. */
export interface Run {
  /** Is it trained? Then statistics are those of the batch, and dropout drops. False unless given. */
  readonly training?: boolean | undefined
  /** The key for random numbers: each layer folds a number of its own into it. */
  readonly key?: Key | undefined
  /** Called for each layer that runs, with its path in the model, its input and its result. */
  readonly onLayer?: ((path: string, layer: AnyLayer, x: unknown, y: unknown) => void) | undefined
}
/** The arguments of a layer with running state. */
export interface RunWith<S> extends Run {
  /** The running state before: the result of `initState`, or that of the last call. */
  readonly state: S
}
/** An array of a layer as a part of one of PyTorch's. */
export interface InTorch {
  /** Which array it is: its path in the parameters, or in the state. */
  readonly at: string
  readonly in?: 'params' | 'state'
  /** Which part of PyTorch's array it is; all of it unless given. */
  readonly slice?: { readonly axis: number; readonly from: number; readonly size: number }
  /** Axes by which that is transposed to be ours. */
  readonly axes?: readonly number[]
}
/** What a layer may tell of itself besides its parameters and functions. */
export interface Described {
  /** What `summary` calls it. */
  readonly kind?: string
  /** The layers that it consists of, by name. */
  readonly parts?: Readonly<Record<string, AnyLayer>>
  /** Its arrays by the names that PyTorch gives them. */
  readonly torch?: Readonly<Record<string, InTorch | readonly InTorch[]>>
  /** The number of layers like its one part, whose arrays are stacked. */
  readonly repeated?: number
}
/** Parameters as they are passed: expressions in a body, tensors outside of one. */
export type Given<P> = Exprs<P> | Tensors<P> | GivenTree<P>
/** The same, of which lists may be readonly, and some parts expressions and others tensors. */
type GivenTree<P, Depth extends 0[] = []> = P extends { readonly _tag: string } | null | undefined
  ? Exprs<P> | Tensors<P>
  : Depth['length'] extends 4 // of a layer of any kind TypeScript would not end
    ? Exprs<P> | Tensors<P>
    : { readonly [K in keyof P]: GivenTree<P[K], [...Depth, 0]> }
/** A layer without running state. */
export interface Layer<P extends Decl | null = Decl, X = Expr, Y = AnyExpr> extends Described {
  /** Its parameters. */
  readonly declared: P
  /** Its initial parameters. */
  readonly init: (key: Key) => Tensors<P>
  apply(params: Given<P>, x: X, run?: Run): Y
}
/** A layer with running state. */
export interface Stateful<P extends Decl | null = Decl, S = Decl, X = Expr, Y = AnyExpr> extends Described {
  readonly declared: P
  readonly init: (key: Key) => Tensors<P>
  /** Its running state: a declaration, null at parts without one. */
  readonly state: S
  /** The running state at the beginning. */
  readonly initState: () => Tensors<S>
  apply(params: Given<P>, x: X, run: RunWith<Exprs<S>>): readonly [y: Y, state: Exprs<S>]
}
/** A layer of unknown parameters, input and result. */
export interface AnyLayer extends Described {
  readonly declared: unknown
  readonly init: (key: Key) => unknown
  readonly state?: unknown
  readonly initState?: () => unknown
  apply(params: never, x: never, run: never): unknown
}
/** What goes into a composition: a layer, or a function of arrays. */
export type Part = AnyLayer | OfArrays
/** A function of arrays, whose parameter is an expression where it does not say what it is. */
export type OfArrays = { of(x: AnyExpr): unknown }['of']

/** The parameters of a part: null of a function. */
export type DeclaredOf<L> = L extends { readonly declared: infer P } ? P : null
/** The running state of a part; null of one that has none. */
export type StateOf<L> = L extends { readonly state: infer S } ? S : null
// a function first: it has a method `apply` too, that of all functions
/** What a part makes. */
export type MadeBy<L> = L extends (x: never) => infer Y
  ? Y
  : L extends { readonly state: unknown; apply(params: never, x: never, run: never): readonly [infer Y, unknown] }
    ? Y
    : L extends { apply(params: never, x: never, run: never): infer Y }
      ? Y
      : never
/** What a part takes. */
export type TakenBy<L> = L extends (x: infer X) => unknown
  ? X
  : L extends { apply(params: never, x: infer X, run: never): unknown }
    ? X
    : never

/** The name of a function of arrays: of an operation that of its primitive. */
const nameOf = (f: unknown): string => {
  const { primitive, name } = f as { readonly primitive?: { readonly name?: string }; readonly name: string }
  return primitive?.name ?? (name || 'function')
}
/** An activation as data: what every part is to those who run it. */
const fromFunction = (f: (x: never) => unknown): AnyLayer => ({
  kind: nameOf(f),
  declared: null,
  init: () => null,
  apply: (_, x) => f(x),
})
/** Any part as a layer. */
export const layerOf = (part: Part, op: string): AnyLayer =>
  typeof part === 'function'
    ? fromFunction(functionOf(part, 'a part', op))
    : holds(() => typeof part.init === 'function' && typeof part.apply === 'function' && part.declared !== undefined)
      ? part
      : badInput(
          op,
          `${shown(part)} is not a layer.`,
          'give a layer of codual/nn, { declared, init, apply } of your own, or a function of arrays.',
        )

/** Has it running state? */
export const isStateful = (layer: AnyLayer): boolean => layer.state !== undefined && layer.state !== null

/** Runs one of several layers: with a key of its own, and its own part of the state. What it gives is [y, state] in any case. */
export const runPart = (
  layer: AnyLayer,
  at: { readonly name: string; readonly index: number },
  params: unknown,
  x: unknown,
  run: Partial<RunWith<unknown>> = {},
  state: unknown = null,
): readonly [y: unknown, state: unknown] => {
  const { onLayer } = run
  const given = {
    ...run,
    ...(run.key !== undefined && { key: foldIn(run.key, at.index) }),
    ...(onLayer !== undefined && {
      onLayer: (path: string, l: AnyLayer, a: unknown, b: unknown) => onLayer(`${at.name}.${path}`, l, a, b),
    }),
    state,
  }
  const made = layer.apply(params as never, x as never, given as never)
  const [y, next] = isStateful(layer) ? (made as readonly [unknown, unknown]) : ([made, null] as const)
  onLayer?.(at.name, layer, x, y)
  return [y, next]
}

/** Parts in their order, each with its name: of a list its place. */
export interface PartsRead {
  readonly named: readonly (readonly [name: string, layer: AnyLayer])[]
  /** Were they given as a list? */
  readonly list: boolean
}
export const partsOf = (parts: readonly Part[] | Readonly<Record<string, Part>>, op: string): PartsRead => {
  const list = reading(op, () => Array.isArray(parts))
  const given = list
    ? listOf(parts, 'the list of layers', op)
    : recordOf(parts as Readonly<Record<string, Part>>, 'the record of layers', op)
  const entries = reading(op, () => Object.entries(given as Readonly<Record<string, Part>>))
  if (entries.length === 0)
    badInput(
      op,
      'there is no layer.',
      `write ${op}${op === 'sequential' ? '(' : '(['}dense(2, 8), tanh${op === 'sequential' ? ')' : '])'}.`,
    )
  return { list, named: entries.map(([name, part]) => [name, layerOf(part, op)] as const) }
}
/** A list or a record, as the parts were given, of what f makes of each. */
export const gathered = ({ named, list }: PartsRead, f: (layer: AnyLayer, index: number, name: string) => unknown): unknown => {
  const made = named.map(([name, layer], i) => [name, f(layer, i, name)] as const)
  return list ? made.map(([, x]) => x) : Object.fromEntries(made)
}

/** Axes of a value: those of x, an array or an expression. */
export const shapeOf = (x: unknown): readonly number[] => (x as { readonly shape: readonly number[] }).shape
/** A tree of declared inputs with n of each. */
export const stackedDeclaration = (declared: unknown, n: number): unknown =>
  treeMap((s: unknown) => {
    const { shape, dtype } = s as { readonly shape: readonly (number | string)[]; readonly dtype: DType }
    return { ...(s as object), shape: [n, ...shape], dtype }
  }, declared)

export type { Expr, Exprs, Key, Shape, Tensors }
