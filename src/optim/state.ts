/**
 * The state of a transformation: a plain tree of arrays, described by a template whose leaves say what stands there. `StateOf` is its type
 * for given parameters; the functions make its values: declared inputs of declarations, tensors of tensors, expressions of expressions.
 */

import { badInput } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import {
  type DType,
  type Expr,
  type Exprs,
  type Float,
  f32,
  f64,
  full,
  i32,
  NoTangent,
  type Shape,
  type Spec,
  type Static,
  type Tensor,
  tensor,
  treeMap,
} from '../index.js'

/** Holds what stands at a place of a template; no value has this property. */
declare const place: unique symbol
/** In a template: a tree like the parameters, NoTangent where they hold integers. */
export interface LikeParams {
  readonly [place]: 'params'
}
/** In a template: a tree like the selected parameters, NoTangent at the others. */
export interface LikeSome {
  readonly [place]: 'some'
}
/** In a template: a tree like the parameters, whose arrays have shapes of their own. */
export interface LikeShapes {
  readonly [place]: 'shapes'
}
/** In a template: a tree like the selected parameters, whose arrays have shapes of their own, NoTangent at the others. */
export interface LikeSomeShapes {
  readonly [place]: 'some shapes'
}
/** In a template: a number of steps, an i32 scalar. */
export interface Count {
  readonly [place]: 'count'
}
/** In a template: an array of the parameters' dtype. */
export interface FloatArray<S extends Shape> {
  readonly [place]: 'array'
  readonly shape: S
}

type Discrete = 'i32' | 'bool'
/** An expression, a tensor or a declared input. */
type Leaf<S extends Shape = Shape, D extends DType = DType> = Expr<S, D> | Spec<S, D>
/** A tree without a leaf: where it may stand for P, P is `any` or a recursive type, and nothing is known of its leaves. */
type Least = readonly Least[] | { readonly [key: string]: Least }
/** The tree P, NoTangent where it has no tangent space. */
export type Slots<P> = [Least] extends [P] ? P : SlotsIn<P>
type SlotsIn<P> = P extends { readonly _tag: 'Spec' | 'Expr' | 'Tensor' }
  ? P extends { readonly dtype: Discrete }
    ? NoTangent
    : P
  : P extends NoTangent
    ? NoTangent
    : P extends Static
      ? NoInfer<P>
      : { -readonly [K in keyof P]: Slots<P[K]> }
type SomeSlots<P> = [Least] extends [P]
  ? P
  : P extends Leaf | NoTangent
    ? Slots<P> | NoTangent
    : P extends Static
      ? NoInfer<P>
      : { -readonly [K in keyof P]: SomeSlots<P[K]> }
/** A leaf of any shape. */
type Shaped<P> =
  P extends Spec<Shape, infer D>
    ? Spec<Shape, D>
    : P extends Tensor<Shape, infer D>
      ? Tensor<Shape, D>
      : P extends Expr<Shape, infer D>
        ? Expr<Shape, D>
        : P
type Shapes<P, Else = never> = [Least] extends [P] ? P : ShapesIn<P, Else>
type ShapesIn<P, Else> = P extends Leaf
  ? P extends { readonly dtype: Discrete }
    ? NoTangent
    : Shaped<P> | Else
  : P extends NoTangent
    ? NoTangent
    : P extends Static
      ? NoInfer<P>
      : { -readonly [K in keyof P]: Shapes<P[K], Else> }
/** What the leaves of P are, by their tags: of a leaf whose size is a parameter TypeScript knows that at once. */
type TagsOf<P, Depth extends 0[] = []> = P extends { readonly _tag: infer G }
  ? G
  : P extends Static
    ? never
    : Depth['length'] extends 10
      ? never
      : { [K in keyof P]: TagsOf<P[K], [...Depth, 0]> }[keyof P]
/** An array of the kind that P's leaves are. */
type ArrayFor<G, S extends Shape, D extends DType> = 'Spec' extends G ? Spec<S, D> : 'Expr' extends G ? Expr<S, D> : Tensor<S, D>
/** The same, asked of the tree itself first: of a parameter that is a declaration TypeScript knows that it is one. */
type ArrayOf<P, S extends Shape, D extends DType> = P extends Tagged<'Spec'> ? Spec<S, D> : ArrayFor<TagsOf<P>, S, D>
type Tagged<G extends string> =
  | { readonly _tag: G | 'NoTangent' }
  | readonly (Tagged<G> | null)[]
  | { readonly [key: string]: Tagged<G> | null | undefined }
/** The dtypes of the float leaves of P, asked without their shapes: of a leaf whose size is a parameter TypeScript knows them at once. */
type FloatsIn<P, Depth extends 0[] = []> = P extends { readonly dtype: infer D }
  ? D & Float
  : P extends { readonly _tag: string } | Static
    ? never
    : Depth['length'] extends 10
      ? never
      : { [K in keyof P]: FloatsIn<P[K], [...Depth, 0]> }[keyof P]
type FloatFor<P> = [FloatsIn<P>] extends [never] ? 'f64' : FloatsIn<P>

/** The state that the template S describes, for parameters P. */
export type StateOf<S, P> = S extends LikeParams
  ? Slots<P>
  : S extends LikeSome
    ? SomeSlots<P>
    : S extends LikeShapes
      ? Shapes<P>
      : S extends LikeSomeShapes
        ? Shapes<P, NoTangent>
        : S extends Count
          ? ArrayOf<P, [], 'i32'>
          : S extends FloatArray<infer A>
            ? ArrayOf<P, A, FloatFor<P>>
            : { -readonly [K in keyof S]: StateOf<S[K], P> }
/** The template S where only some of the parameters take part. */
export type Masked<S> = S extends LikeParams | LikeSome
  ? LikeSome
  : S extends LikeShapes | LikeSomeShapes
    ? LikeSomeShapes
    : S extends Count | FloatArray<Shape>
      ? S
      : { readonly [K in keyof S]: Masked<S[K]> }

/** What stands for the parameters G belongs to: the same arrays, anything where G has NoTangent. */
export type ParamsFor<G> = [Least] extends [G] ? unknown : ParamsIn<G>
type ParamsIn<G> =
  G extends Leaf<infer S, infer D>
    ? Expr<S, D>
    : G extends NoTangent
      ? unknown
      : G extends Static
        ? NoInfer<G>
        : { readonly [K in keyof G]: ParamsFor<G[K]> }
/** What may be added to the parameters P: the same arrays, anything where P holds integers. */
export type UpdatesFor<P> = [Least] extends [P] ? unknown : UpdatesIn<P>
type UpdatesIn<P> =
  P extends Leaf<infer S, infer D>
    ? [D] extends [Discrete]
      ? unknown
      : Expr<S, D>
    : P extends NoTangent
      ? unknown
      : P extends Static
        ? NoInfer<P>
        : { readonly [K in keyof P]: UpdatesFor<P[K]> }
/** What an update gives: what is to be added to the parameters, and the next state. An alias: a body may return what fits an index signature. */
export type Updated<G, S> = { readonly updates: Exprs<G>; readonly state: Exprs<StateOf<S, G>> }

/** What the leaves of parameters are. */
export type Kind = 'Spec' | 'Expr' | 'Tensor'
const tagOf = (x: unknown): unknown => (typeof x === 'object' && x !== null ? (x as { readonly _tag?: unknown })._tag : undefined)

/** The parameters' kind: declared, or traced where one of them is an expression. */
export const kindOf = (params: unknown, op: string): Kind => {
  const tags = new Set<unknown>()
  treeMap((x: unknown, path) => {
    const tag = tagOf(x)
    tags.add(tag)
    if (tag !== 'Spec' && tag !== 'Expr' && tag !== 'Tensor')
      badInput(
        `${op}: ${path || 'params'}`,
        'is neither a tensor, nor an expression, nor a declared input.',
        'make it a tensor: tensor(data).',
      )
  }, params)
  if (!tags.has('Spec')) return tags.has('Expr') ? 'Expr' : 'Tensor'
  return tags.size === 1 ? 'Spec' : badInput(op, 'some parameters are declared inputs, some are not.', 'give the declaration alone.')
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
/** An array of one value, of that kind. */
export const filled = (kind: Kind, shape: readonly (number | string)[], value: number, dtype: DType): unknown => {
  if (kind === 'Spec') return dtype === 'f32' ? f32(...shape) : dtype === 'f64' ? f64(...shape) : i32(...shape)
  const sizes = shape as readonly number[]
  return kind === 'Expr' ? full(sizes, value, dtype) : tensor(new Array<number>(sizeOf(sizes)).fill(value), sizes, dtype)
}

/** A float? */
export const isFloat = (x: unknown): boolean => {
  const { dtype } = x as { readonly dtype?: DType }
  return dtype === 'f64' || dtype === 'f32'
}
/** A tree of one value like the parameters; NoTangent where they hold integers. */
export const like = (params: unknown, kind: Kind, value = 0): unknown =>
  treeMap((x: unknown) => {
    const { shape, dtype } = x as { readonly shape: readonly (number | string)[]; readonly dtype: DType }
    return isFloat(x) ? filled(kind, shape, value, dtype) : NoTangent
  }, params)
/** The parameters themselves, in memory of their own; NoTangent where they hold integers. */
export const copyOf = (params: unknown): unknown =>
  treeMap((x: unknown) => {
    if (!isFloat(x)) return NoTangent
    const t = x as Tensor
    return tagOf(x) === 'Tensor' ? tensor(reading('init', () => t.data.slice()) as Float64Array, [...t.shape], t.dtype) : x
  }, params)
/** A count of steps that begins at 0. */
export const countOf = (kind: Kind): unknown => filled(kind, [], 0, 'i32')
