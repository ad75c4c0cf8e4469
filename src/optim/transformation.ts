/** Gradient transformations: pure functions of a gradient, a state and parameters; and what those that go leaf by leaf are made of. */
import { functionOf, numberOf, recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { holds, reading } from '../core/errors/language.js'
import type { Open } from '../core/types/open.js'
import { type AnyExpr, add, cast, type Expr, type Exprs, expm1, type Float, full, mul, neg } from '../index.js'
import { alike, fitting, gradientOf, type Leaves, leafOf, leavesOf } from './leaves.js'
import { rateAt } from './rate.js'
import {
  type Count,
  countOf,
  type Kind,
  kindOf,
  type LikeParams,
  like,
  type ParamsFor,
  type StateOf,
  type Updated,
  type UpdatesFor,
} from './state.js'

/**
 * A gradient transformation: pure functions of trees, so that a whole training step is one program. S describes its state (`StateOf`).
 *
 * The state is a plain tree of arrays. Integer leaves of the parameters are left alone: NoTangent in the gradient, the state and the updates.
 */
export interface Transformation<S> {
  /** The state to begin with: tensors for tensors, expressions for expressions, and for a declaration the declaration of the state. */
  init<P>(params: P): StateOf<S, P>
  /** What to add to the parameters (`applyUpdates`), and the next state. */
  update<G>(gradient: G, state: NoInfer<StateOf<S, G>>, params?: NoInfer<ParamsFor<G>>): Updated<G, S>
  // code that is generic in the parameters: what belongs together is seen when it is called
  update<G, T, P>(gradient: G, state: T & Open<G>, params?: P): { readonly updates: Exprs<G>; readonly state: Exprs<T> }
}
/** What an update gives before it has types. */
export interface RawUpdate {
  readonly updates: unknown
  readonly state: unknown
}
/** A transformation before it has types. */
export interface Raw {
  readonly init: (params: unknown) => unknown
  readonly update: (gradient: unknown, state: unknown, params?: unknown) => RawUpdate
}
/** The types of a transformation are those of its template; they are given here and nowhere else. */
export const typed = <S>(raw: Raw): Transformation<S> => raw as unknown as Transformation<S>
/** The other way: a transformation that was given, checked. */
export const rawOf = (given: unknown, op: string): Raw => {
  if (holds(() => typeof (given as Raw).init === 'function' && typeof (given as Raw).update === 'function')) return given as Raw
  return badInput(op, `${shown(given)} is not a transformation: it lacks init or update.`, 'give what adam, chain, clip ... give.')
}

/** One part of a state, by its name. */
export const partOf = (state: unknown, name: string | number, op: string, has = 'its state has'): unknown => {
  const part =
    typeof state === 'object' && state !== null ? reading(op, () => (state as Readonly<Record<string, unknown>>)[name]) : undefined
  return (
    part ??
    badInput(
      op,
      `${has} no ${name}.`,
      has.startsWith('its state') ? 'give what init gave, or the last update.' : 'return { update, slots }.',
    )
  )
}
/** A count of steps in a state. */
export const countIn = (state: unknown, op: string, name = 'count'): Expr<[], 'i32'> => {
  const count = partOf(state, name, op) as AnyExpr
  if (count.dtype === 'i32' && count.shape.length === 0) return count as Expr<[], 'i32'>
  return badInput(op, `${name} in its state is not an i32 scalar.`, 'give what init gave, or the last update.')
}

/** applyUpdates(params, updates). */
interface ApplyUpdates {
  <P>(params: P, updates: NoInfer<UpdatesFor<P>>): Exprs<P>
  <P, U>(params: P, updates: U & Open<P>): Exprs<P>
}
/**
 * params + updates, leaf by leaf; integer leaves stay.
 *
 * Errors  BadInput if the trees differ in structure, ShapeMismatch or DTypeMismatch if leaves differ.
 * @example evaluate(applyUpdates({ w: tensor([1, 2]) }, { w: tensor([0.5, 0]) }))   // { w: [1.5, 2] }
 */
export const applyUpdates = ((params: unknown, updates: unknown): unknown => {
  const { leaves, paths, put, beside } = leavesOf(params, 'applyUpdates')
  const others = beside(updates, 'the updates')
  return put(
    leaves.map((p, i) => {
      const u = others[i]
      if (u === undefined) return p
      alike(p, u, 'applyUpdates', paths[i]!, 'the update')
      return add(p, u)
    }),
  )
}) as ApplyUpdates // the signatures say what comes of parameters

/** What a rule has at one leaf. */
export interface LeafAt<K extends string = string> {
  /** The gradient. */
  readonly g: AnyExpr
  /** What each slot holds, by name. */
  readonly slots: { readonly [N in K]: AnyExpr }
  /** The parameter; an error if the caller gave none. */
  readonly p: () => AnyExpr
  /** A rate at this step, in the leaf's dtype. */
  readonly rate: (rate: unknown, what?: string) => AnyExpr
  /** 1 - b^t at step t = 1, 2, ...: what is missing in an average with decay b that began at 0. */
  readonly unbiased: (b: number) => AnyExpr
}
/** What a rule gives at one leaf: the update, and the slots' next values. */
export interface LeafUpdate<K extends string = string> {
  readonly update: AnyExpr
  readonly slots: { readonly [N in K]: AnyExpr }
}
/** -rate x: the updates go down. */
export const down = (rate: AnyExpr, x: AnyExpr): AnyExpr => mul(neg(rate), x)

/** 1 - b^t without the cancellation that f32 would suffer: -expm1(t log b). */
export const missing = (b: number, count: AnyExpr, dtype: Float): AnyExpr =>
  b === 0 ? full([], 1, dtype) : neg(expm1(mul(Math.log(b), cast(add(count, 1), dtype))))

/** A slot that is not like the parameters: how it begins, and what it holds beside each leaf of a gradient. */
export interface Slot {
  readonly begin: (params: unknown, kind: Kind, op: string) => unknown
  readonly read: (all: Leaves, tree: unknown, what: string, op: string) => readonly AnyExpr[]
}

/** `leafwise` for a state of another name; slots are numbers, or of another kind. Rules ask for rates first: what is of the leaf's size is then one loop. */
export const leafwiseAs = <S, K extends string = never>(
  op: string,
  slots: { readonly [N in K]: number | Slot },
  rule: (at: LeafAt<K>) => LeafUpdate<K>,
): Transformation<S> =>
  typed<S>({
    init: (params) => {
      const kind = kindOf(params, op)
      const trees = Object.entries<number | Slot>(slots).map(
        ([name, slot]) => [name, typeof slot === 'number' ? like(params, kind, slot) : slot.begin(params, kind, op)] as const,
      )
      return { count: countOf(kind), ...Object.fromEntries(trees) }
    },
    update: (gradient, state, params) => {
      const count = countIn(state, op)
      const all = gradientOf(gradient, op)
      const names = Object.keys(slots) as K[]
      const held = names.map((name) => {
        const slot: number | Slot = slots[name]
        const tree = partOf(state, name, op)
        return typeof slot === 'number' ? fitting(all, tree, name, op) : slot.read(all, tree, name, op)
      })
      const ps = params === undefined ? undefined : fitting(all, params, 'params', op)
      const done = all.leaves.map((g, i) => {
        const dtype = g.dtype as Float
        return rule({
          g,
          slots: Object.fromEntries(names.map((name, k) => [name, held[k]![i]!])) as LeafAt<K>['slots'],
          p: () => ps?.[i] ?? badInput(op, 'it needs the parameters.', 'give them: update(gradient, state, params).'),
          rate: (rate, what = 'learningRate') => rateAt(rate, count, dtype, what, op),
          unbiased: (b) => missing(b, count, dtype),
        })
      })
      const next = names.map((name) => [name, all.put(done.map((d) => d.slots[name]))] as const)
      return { updates: all.put(done.map((d) => d.update)), state: { count: add(count, 1), ...Object.fromEntries(next) } }
    },
  })

/** The state of `leafwise`: the count of steps, and a tree like the parameters for each slot. */
export type LeafwiseState<K extends string> = { readonly [N in K | 'count']: N extends K ? LikeParams : Count }
/**
 * A transformation of your own, leaf by leaf: its name (for errors), the slots of its state with the number each begins with, and a rule
 * that gives the update and the slots' next values.
 *
 * `rate` in a rule is a number, a scalar or a schedule at this step; `unbiased(b)` is 1 - b^t. All optimisers here are built on it.
 * Errors  BadInput if the rule gives no expressions, ShapeMismatch and DTypeMismatch if one is not like the gradient.
 * @example
 * const signs = leafwise('signs', { mean: 0 }, ({ g, slots: { mean }, rate }) => {
 *   const next = add(mul(0.5, mean), mul(0.5, g))
 *   return { update: mul(neg(rate(0.1)), sign(next)), slots: { mean: next } }
 * })
 * evaluate(signs.update(tensor([3, -4]), signs.init(tensor([0, 0]))).updates)   // [-0.1, 0.1]
 */
export const leafwise = <K extends string>(
  name: string,
  slots: { readonly [N in K]: number },
  rule: (at: LeafAt<K>) => LeafUpdate<NoInfer<K>>,
): Transformation<LeafwiseState<K>> => {
  if (typeof name !== 'string' || name === '') badInput('leafwise', `${shown(name)} is not a name.`)
  functionOf(rule, 'the rule', name)
  const begin = Object.entries<number>(recordOf(slots, 'the slots', name)).map(([slot, value]) => [slot, numberOf(value, slot, name)])
  const own = Object.fromEntries(begin) as typeof slots
  if (Object.hasOwn(own, 'count')) badInput(name, 'count is the number of steps, and no slot.')
  return leafwiseAs<LeafwiseState<K>, K>(name, own, (at) => {
    const made: unknown = rule(at)
    const update = likeLeaf(at.g, partOf(made, 'update', name, 'its rule gave'), name, 'the update')
    const given = begin.length === 0 ? {} : partOf(made, 'slots', name, 'its rule gave')
    const next = begin.map(([slot]) => [slot, likeLeaf(at.g, partOf(given, slot!, name, 'its rule gave'), name, `slot ${slot}`)])
    return { update, slots: Object.fromEntries(next) as LeafUpdate<K>['slots'] }
  })
}
/** What a rule gave, an expression like the gradient. */
const likeLeaf = (g: AnyExpr, x: unknown, op: string, what: string): AnyExpr => {
  const y = leafOf(x, op, what)
  alike(g, y, op, '', what)
  return y
}
