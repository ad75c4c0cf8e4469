/**
 * Operations as data: a name, the kinds of arguments and options, and what is made of them. What every operation does with what it is given, lifting, promotion, checks and their
 * messages, is done here once.
 */
import { nothingMore, settled } from '../errors/check-arguments.js'
import { type Kind, type Options, type ReadOf, readerOf } from '../errors/options.js'
import { asExpr } from '../graph/expr.js'
import { type Computes, lift, liftAll, liftFloat, liftNumber, liftPair } from '../graph/lift.js'
import type { AnyExpr } from '../types/expr.js'
import { liftIndices } from './indexing/gather.js'
import { axisOf, distinctAxes } from './layout/move.js'
import { refuseThird } from './lifted.js'
import { axesOf } from './reduce.js'

/** An argument that is an array. Those that compute in one thing are promoted together; one that stands `apart` is not. */
export interface ArrayKind<T extends AnyExpr | undefined = AnyExpr> extends Kind<T, unknown> {
  readonly computes: Computes
  readonly apart: boolean
  readonly optional: boolean
}
const alone = (x: unknown, op: string, computes: Computes): AnyExpr =>
  asExpr(computes === 'float' ? liftFloat(x, op) : computes === 'number' ? liftNumber(x, op) : lift(x, op))
const arrayKind = <T extends AnyExpr | undefined>(computes: Computes, apart: boolean, optional: boolean): ArrayKind<T> => ({
  computes,
  apart,
  optional,
  read: (given, _what, where) => (optional && given === undefined ? undefined : alone(given, where, computes)) as T,
})
/** An array of any dtype. */
export const array: ArrayKind = /*#__PURE__*/ arrayKind('any', false, false)
/** Of numbers: bool counts as i32. */
export const numbers: ArrayKind = /*#__PURE__*/ arrayKind('number', false, false)
/** Of floats: i32 and bool become f64. */
export const floats: ArrayKind = /*#__PURE__*/ arrayKind('float', false, false)
/** Of what has an order: bool is among numbers beside numbers alone. */
export const ordered: ArrayKind = /*#__PURE__*/ arrayKind('order', false, false)
/** The same, promoted by itself. */
export const apart = (k: ArrayKind): ArrayKind => arrayKind(k.computes, true, k.optional)
/** The same, or nothing. */
export const optional = (k: ArrayKind): ArrayKind<AnyExpr | undefined> => arrayKind(k.computes, k.apart, true)
/** Positions: whole numbers of i32. */
export const indices: Kind<AnyExpr, unknown> = { read: (given, _what, where) => asExpr(liftIndices(given, where)) }
/** An axis of the first array, from the front. */
export const axis = (standard: number): Kind<number> => ({
  read: (given, _what, where, shape) => axisOf(given === undefined ? standard : (given as number), shape.length, where),
})
/** Options of what works along one axis. */
export const axisOptions = {
  /** The axis along which it works. */
  axis: axis(-1),
}
/** An axis of the first array, or none: the flattened array. */
export const axisOrFlat: Kind<number | undefined, number | null> = {
  read: (given, _what, where, shape) => (given === undefined || given === null ? undefined : axisOf(given as number, shape.length, where)),
}
/** An axis of what is made of the arguments: whoever makes that checks it. */
export const laterAxis = (standard: number): Kind<number> => ({
  read: (given, what, where) => (given === undefined ? standard : settled(given as number, what, where)),
})
/** Axes of the first array, sorted and from the front: all, unless there is another standard. */
export const axes = (standard?: number | readonly number[]): Kind<readonly number[], number | readonly number[] | null> => ({
  read: (given, _what, where, shape) =>
    axesOf(shape.length, given === undefined ? standard : (given as number | readonly number[] | null), where),
})
/** Axes of the first array in the order in which they are given: all, unless there is another standard. */
export const axesInOrder = (standard?: readonly number[]): Kind<readonly number[], number | readonly number[] | null> => ({
  read: (given, _what, where, shape) =>
    given === undefined || given === null
      ? (standard ?? shape.map((_, i) => i))
      : distinctAxes(given as number | readonly number[], shape.length, where),
})

type Arguments = Readonly<Record<string, Kind<unknown, unknown> | ArrayKind<AnyExpr | undefined>>>
/** What an operation declares. */
export interface Signature {
  readonly name: string
  readonly args: Arguments
  readonly options: Options
}
const signatures = new WeakMap<object, Signature>()
/** What a function declares of its arguments and options; undefined for one that is no such operation. */
export const signatureOf = (f: unknown): Signature | undefined => (typeof f === 'function' ? signatures.get(f) : undefined)

/** f, which reads itself what it is given, with what it declares of that. */
export const declares = <F>(signature: Signature, f: (...given: never[]) => unknown): F => {
  signatures.set(f, signature)
  return f as F
}

/** Arrays that are promoted together, by the places of their arguments. */
interface Group {
  readonly computes: Computes
  readonly at: readonly number[]
  /** Some may be left out. */
  readonly optional: boolean
}
const isArray = (k: Kind<unknown, unknown>): k is ArrayKind<AnyExpr | undefined> => 'computes' in k
/** Those of the arguments that compute in one thing, where there are more than one. */
const groupsOf = (kinds: readonly Kind<unknown, unknown>[]): readonly Group[] => {
  const groups = new Map<Computes, number[]>()
  kinds.forEach((k, i) => {
    if (!isArray(k) || k.apart) return
    const same = groups.get(k.computes)
    if (same === undefined) groups.set(k.computes, [i])
    else same.push(i)
  })
  return [...groups].flatMap(([computes, at]) =>
    at.length > 1 ? [{ computes, at, optional: at.some((i) => (kinds[i] as ArrayKind).optional) }] : [],
  )
}
/** Writes the arrays of a group, promoted, by their names. */
const promote = ({ computes, at, optional }: Group, names: readonly string[], given: readonly unknown[], op: string, to: Read): void => {
  const there = optional ? at.filter((i) => given[i] !== undefined) : at
  if (there.length === 1) to[names[there[0]!]!] = alone(given[there[0]!], op, computes)
  else if (there.length === 2) {
    const [i, j] = there as readonly [number, number]
    const [x, y] = liftPair(given[i], given[j], op, computes)
    to[names[i]!] = asExpr(x)
    to[names[j]!] = asExpr(y)
  } else {
    const all = liftAll(
      there.map((i) => given[i]),
      op,
      computes,
    )
    for (let k = 0; k < there.length; k++) to[names[there[k]!]!] = asExpr(all[k]!)
  }
}
type Read = Record<string, unknown>
const scalar: readonly number[] = []

/**
 * The operation `name` of these arguments, in order, and options behind them; F is its public type. `make` is given what was read, and the name, for what it raises itself.
 * Where there are no options, what stands behind the arguments is refused.
 */
export const operation = <F, const A extends Arguments, const O extends Options>(
  name: string,
  args: A,
  options: O,
  make: (args: ReadOf<A>, options: ReadOf<O>, op: string) => unknown,
): F => {
  const names = Object.keys(args)
  const kinds: readonly Kind<unknown, unknown>[] = Object.values(args)
  const count = names.length
  const groups = groupsOf(kinds)
  const grouped = new Set(groups.flatMap((g) => g.at))
  const alones = names.flatMap((_, i) => (grouped.has(i) ? [] : [i]))
  const plain = Object.keys(options).length === 0
  const pair = count === 2 && kinds.every(isArray)
  const first = names[kinds.findIndex((k) => isArray(k) && !k.optional)] ?? ''
  const reader = readerOf(options)
  const behind = (given: readonly unknown[]): void => {
    if (count === 1) nothingMore(given[1], name)
    // An index and a list behind both are what reduce gives.
    else if (pair && given.length === 3 && given[2] !== undefined) refuseThird(name, given[2])
  }
  const f = (...given: readonly unknown[]): unknown => {
    if (plain && given.length > count) behind(given)
    const read: Read = {}
    for (let g = 0; g < groups.length; g++) promote(groups[g]!, names, given, name, read)
    for (let k = 0; k < alones.length; k++) {
      const i = alones[k]!
      const kind = kinds[i]!
      const shape = isArray(kind) ? scalar : shapeIn(read[first])
      read[names[i]!] = kind.read(given[i], names[i]!, name, shape)
    }
    return make(read as ReadOf<A>, plain ? (none as ReadOf<O>) : reader(given[count], name, shapeIn(read[first])), name)
  }
  Object.defineProperty(f, 'name', { value: name }) // of itself it has that of a variable here, or of a minifier
  signatures.set(f, { name, args, options })
  return f as F
}
const none = Object.freeze({})
/** The shape of the first array, where there is one. */
const shapeIn = (x: unknown): readonly number[] => (x as AnyExpr | undefined)?.shape ?? scalar
/** Whatever is given, as it is: it is read later, with what stands beside it. */
export const unread: Kind<unknown> = { read: (given) => given }
/** The same, of what is a G: `unread as Unread<G>`. */
export type Unread<G> = Kind<G | undefined, G>
