/** What random functions are told, checked: keys, shapes, dtypes, parameters. */
import { integersOf, shown } from '../core/errors/check-arguments.js'
import { badInput, badShape } from '../core/errors/explain.js'
import { unreadable } from '../core/errors/language.js'
import { choice, type Kind, kind, type OptionsFor, type OptionsOf } from '../core/errors/options.js'
import type { OfAnyDType } from '../core/types/expr.js'
import type { Broadcast, Ok } from '../core/types/shape.js'
import {
  type AnyExpr,
  broadcastTo,
  cast,
  type DType,
  type Expr,
  type Float,
  isAdException,
  isExpr,
  isTensor,
  type Made,
  raise,
  reshape,
  type Shape,
  slice,
  type Tensor,
  tensor,
} from '../index.js'
import type { Words } from './threefry.js'

/** A key: two words of 32 bits, as `key`, `splitKey` and `foldIn` give it. An expression or a tensor, so that loops carry it and vmap maps it. */
export type Key = AnyExpr
/** What a function of keys takes: no expression of floats. */
export type GivenKey = Expr<Shape, 'i32'> | OfAnyDType<Shape, 'i32'>
/** The shape of a result, as it was written. */
export type Drawn<S extends Shape> = Made<S>
/** The shape of a result whose sizes are literals or parameters. */
export type Known<S extends Shape> = { -readonly [K in keyof S]: S[K] }
/** A parameter of a distribution: floats that broadcast. */
export type Parameter = AnyExpr | number | NumberLists
/** An array of numbers, nested to any depth. */
export type NumberLists = readonly (number | NumberLists)[]
/** The shape of a parameter. */
export type ShapeOf<A> = A extends Expr<infer S, infer _D> ? S : A extends number ? [] : Shape
/** Options of what has a shape of its own. */
export interface DtypeOption<D extends Float = Float> {
  /** 'f32' or 'f64': 'f64' unless given. */
  readonly dtype?: D | undefined
}
export const dtypeOption = { dtype: choice(['f32', 'f64'], 'f64') } satisfies OptionsFor<DtypeOption>
/** The dtype of the numbers, where it is given. */
export const float: Kind<Float | undefined, Float> = choice(['f32', 'f64'])
/** The shape, where it is given. */
export const drawnShape: Kind<readonly number[] | undefined, readonly number[]> = kind((given, _what, op) =>
  given === undefined ? undefined : shapeIn(given, op),
)
export const drawOptions = {
  /** The shape of the result, to which the parameters broadcast: theirs unless given. */
  shape: drawnShape,
  /** 'f32' or 'f64': that of the parameters unless given, 'f64' for plain numbers. */
  dtype: float,
}
/** Options of what has the shape of its parameters, or one that they broadcast to. */
export type DistributionOptions = OptionsOf<typeof drawOptions>
/** The shape that options ask for, else S. */
export type ShapeIn<O, S extends Shape> = O extends { readonly shape: infer Z extends readonly number[] }
  ? Drawn<Z>
  : 'shape' extends keyof O
    ? Shape
    : S
/** What is drawn for parameters A with options O. */
export type DrawnFor<A, O> = Expr<
  ShapeIn<O, ShapeOf<A>>,
  O extends { readonly dtype: infer D extends Float } ? D : 'dtype' extends keyof O ? Float : FloatOf<A>
>
/** What is drawn for parameters P that broadcast, with options O: f32 where those of them that have a dtype are f32. */
export type DrawnForAll<P extends readonly unknown[], O> = Expr<ShapeIn<O, SpreadShape<P>>, DtypeFor<P, O>>
/** The dtype that options ask for, else that of the parameters P. */
export type DtypeFor<P extends readonly unknown[], O> = O extends { readonly dtype: infer D extends Float }
  ? D
  : 'dtype' extends keyof O
    ? Float
    : FloatOfAll<P>
type SpreadShape<P extends readonly unknown[], S extends Shape = []> = P extends readonly [infer A, ...infer R]
  ? SpreadShape<R, Ok<Broadcast<S, ShapeOf<A>>>>
  : S
type DtypeIn<A> = A extends { readonly dtype: infer D } ? D : never
type IsOther<A> = [DtypeIn<A>] extends [never] ? false : 'f32' extends DtypeIn<A> ? false : true
type FloatOfAll<P extends readonly unknown[]> = [DtypeIn<P[number]>] extends [never]
  ? 'f64'
  : [DtypeIn<P[number]>] extends ['f32']
    ? 'f32'
    : true extends { readonly [K in keyof P]: IsOther<P[K]> }[number]
      ? 'f64'
      : Float
/** No options. */
export type NoOptions = Readonly<Record<never, never>>
/** The dtype of a parameter that is not told another. */
type FloatOf<A> = A extends { readonly dtype: infer D } ? (D extends Float ? D : 'f64') : 'f64'

/** Elements that one draw has at most: what an array has, each by a counter of 32 bits. */
const MOST = 2 ** 31 - 1
/** A shape: none is rank 0. */
export const shapeIn = (given: unknown, op: string): readonly number[] => {
  const shape = given === undefined ? [] : integersOf(given, 'the shape', op)
  const size = shape.reduce((n, d) => n * d, 1)
  return shape.every((d) => d >= 0) && size <= MOST
    ? shape
    : badInput(op, `[${shape.join(', ')}] is not a shape of at most ${MOST} elements.`)
}
export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)

export const isArray = (x: unknown): x is AnyExpr => isTensor(x) || isExpr(x)

/** An expression of what is given: a tensor is read at every call. */
export const exprOf = (x: AnyExpr): AnyExpr => (isTensor(x) ? (cast(x, x.dtype) as AnyExpr) : (x as AnyExpr))
/** Numbers that are given, read once: arrays of them as a tensor of this dtype; anything else but an expression or a number is refused. */
const numbersIn = (given: unknown, dtype: DType, op: string, what: string): number | Tensor | AnyExpr => {
  if (typeof given === 'number' || isArray(given)) return given
  try {
    if (Array.isArray(given) || ArrayBuffer.isView(given)) return tensor(given as number[], dtype) as Tensor
  } catch (e) {
    if (isAdException(e) && 'where' in e.error) raise({ ...e.error, where: `${op}: ${what}` })
    return unreadable(e, `${op}: ${what}`)
  }
  return badInput(op, `${what} is ${shown(given)}.`, 'give an expression, a tensor, a number or an array of numbers.')
}
/** A parameter as an expression of this dtype. Numbers are constants. */
export const parameterIn = (given: unknown, dtype: DType, op: string, what: string): AnyExpr => {
  const x = numbersIn(given, dtype, op, what)
  return isArray(x) && x.dtype === dtype ? exprOf(x) : (cast(x as AnyExpr, dtype) as AnyExpr)
}
/** The dtype of parameters where no other is told: f32 where those that have one are f32. */
export const floatAmong = (parameters: readonly unknown[]): Float => {
  const own = parameters.filter(isArray).map((p) => p.dtype)
  return own.length > 0 && own.every((d) => d === 'f32') ? 'f32' : 'f64'
}
/** Raises BadInput where a number among a parameter's is not allowed: told where the numbers are known before anything runs. */
export const checkNumbers = (given: unknown, allowed: (x: number) => boolean, what: string, must: string, op: string): void => {
  if (given === undefined || isExpr(given) || isTensor(given)) return
  const x = numbersIn(given, 'f64', op, what)
  const wrong = typeof x === 'number' ? (allowed(x) ? undefined : x) : (x as Tensor).data.find((v: number) => !allowed(v))
  if (wrong !== undefined) badInput(op, `${what} is ${wrong}, it must be ${must}.`)
}
/** The shape to which these broadcast together with the one that is told. */
export const shapeFor = (
  told: readonly number[] | undefined,
  parameters: readonly (readonly number[])[],
  op: string,
): readonly number[] => {
  const all = told === undefined ? parameters : [told, ...parameters]
  const rank = all.reduce((r, s) => Math.max(r, s.length), 0)
  const out = Array.from({ length: rank }, (_, i) =>
    all.reduce((n, s) => {
      const d = s[i - rank + s.length] ?? 1
      return n === 1 ? d : n
    }, 1),
  )
  const clash = all.some((s) => s.some((d, i) => d !== 1 && d !== out[i + rank - s.length]))
  const grown = told !== undefined && (rank > told.length || told.some((d, i) => d !== out[i]))
  if (clash || grown) {
    const shapes = parameters.map((s) => `[${s.join(', ')}]`).join(' and ')
    const to = told === undefined ? 'do not broadcast' : `do not broadcast to [${told.join(', ')}]`
    badShape(op, all, `parameters of shape ${shapes} ${to}.`, 'give a shape that they broadcast to.')
  }
  return out
}
export const spread = (x: AnyExpr, shape: readonly number[]): AnyExpr =>
  x.shape.length === shape.length && x.shape.every((d, i) => d === shape[i]) ? x : (broadcastTo(x, shape as number[]) as AnyExpr)

const makeOne = 'make one: key(seed), splitKey(key) or foldIn(key, i).'
/** The two words of a key. */
export const wordsOf = (given: unknown, op: string): Words => {
  if (!isArray(given)) return badInput(op, `the key is ${shown(given)}.`, makeOne)
  const [n, ...rest] = given.shape
  if (given.dtype !== 'i32' || n !== 2 || rest.length > 0) {
    const batch = given.dtype === 'i32' && given.shape.length > 1 && given.shape.at(-1) === 2
    return badInput(
      op,
      `the key is ${given.dtype} [${given.shape.join(', ')}], it must be i32 [2].`,
      batch ? 'those are several keys: take one of them (at(keys, 0)), or use vmap.' : makeOne,
    )
  }
  const word = (i: number): AnyExpr => reshape(slice(given as AnyExpr, [i], [i + 1]), []) as AnyExpr
  return [word(0), word(1)]
}
