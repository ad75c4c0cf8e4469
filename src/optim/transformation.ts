/** Gradient transformations: pure functions of a gradient, a state and parameters; and what those that go leaf by leaf are made of. */
import { shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import { type AnyExpr, add, cast, type Expr, type Exprs, expm1, type Float, full, mul, neg } from '../index.js'
import { alike, fitting, gradientOf, leavesOf } from './leaves.js'
import { rateAt } from './rate.js'
import { countOf, kindOf, like, type ParamsFor, type StateOf, type Updated, type UpdatesFor } from './state.js'

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
  const { init, update } = (typeof given === 'object' && given !== null ? given : {}) as Partial<Raw>
  if (typeof init === 'function' && typeof update === 'function') return given as Raw
  return raise({
    _tag: 'BadInput',
    where: op,
    reason: `${shown(given)} is no transformation: it has not both init and update.`,
    fix: 'give what adam, chain, clip ... give.',
  })
}

/** One part of a state, by its name. */
export const partOf = (state: unknown, name: string | number, op: string): unknown => {
  const part = typeof state === 'object' && state !== null ? (state as Readonly<Record<string, unknown>>)[name] : undefined
  return (
    part ?? raise({ _tag: 'BadInput', where: op, reason: `its state has no ${name}.`, fix: 'give what init gave, or the last update.' })
  )
}
/** A count of steps in a state. */
export const countIn = (state: unknown, op: string, name = 'count'): Expr<[], 'i32'> => {
  const count = partOf(state, name, op) as AnyExpr
  if (count.dtype === 'i32' && count.shape.length === 0) return count as Expr<[], 'i32'>
  return raise({
    _tag: 'BadInput',
    where: op,
    reason: `${name} in its state is not an i32 scalar.`,
    fix: 'give what init gave, or the last update.',
  })
}

/**
 * params + updates, leaf by leaf; integer leaves stay.
 *
 * Errors  BadInput where the trees have two structures, ShapeMismatch or DTypeMismatch where leaves differ.
 * @example evaluate(applyUpdates({ w: tensor([1, 2]) }, { w: tensor([0.5, 0]) }))   // { w: [1.5, 2] }
 */
export const applyUpdates = <P>(params: P, updates: NoInfer<UpdatesFor<P>>): Exprs<P> => {
  const { leaves, paths, put, beside } = leavesOf(params, 'applyUpdates')
  const others = beside(updates, 'the updates')
  return put(
    leaves.map((p, i) => {
      const u = others[i]
      if (u === undefined) return p
      alike(p, u, 'applyUpdates', paths[i]!, 'the update')
      return add(p, u)
    }),
  ) as Exprs<P>
}

/** What a rule has at one leaf. */
export interface At {
  readonly g: AnyExpr
  /** The leaf of each slot, by name. */
  readonly slots: Readonly<Record<string, AnyExpr>>
  /** The parameter; raises where the caller gave none. */
  readonly p: () => AnyExpr
  /** A rate at this step, in the leaf's dtype. */
  readonly rate: (rate: unknown, what?: string) => AnyExpr
  /** 1 - b^t at step t = 1, 2, ...: what is missing in an average with decay b that began at 0. */
  readonly unbiased: (b: number) => AnyExpr
}
/** What a rule gives at one leaf: the update, and the slots' next values. */
export interface LeafUpdate {
  readonly update: AnyExpr
  readonly slots?: Readonly<Record<string, AnyExpr>>
}
/** -rate x: the updates go down. */
export const down = (rate: AnyExpr, x: AnyExpr): AnyExpr => mul(neg(rate), x)

/** 1 - b^t without the cancellation that f32 would suffer: -expm1(t log b). */
const missing = (b: number, count: AnyExpr, dtype: Float): AnyExpr =>
  b === 0 ? full([], 1, dtype) : neg(expm1(mul(Math.log(b), cast(add(count, 1), dtype))))

/**
 * A transformation that goes leaf by leaf: its slots with the value that they begin with, and its rule. Its state counts the steps.
 * Rules ask for rates first: what is of the leaf's size is then one loop.
 */
export const leafwise = <S>(op: string, slots: Readonly<Record<string, number>>, rule: (at: At) => LeafUpdate): Transformation<S> =>
  typed<S>({
    init: (params) => {
      const kind = kindOf(params, op)
      const trees = Object.entries(slots).map(([name, value]) => [name, like(params, kind, value)] as const)
      return { count: countOf(kind), ...Object.fromEntries(trees) }
    },
    update: (gradient, state, params) => {
      const count = countIn(state, op)
      const all = gradientOf(gradient, op)
      const names = Object.keys(slots)
      const held = names.map((name) => fitting(all, partOf(state, name, op), name, op))
      const ps = params === undefined ? undefined : fitting(all, params, 'params', op)
      const done = all.leaves.map((g, i) => {
        const dtype = g.dtype as Float
        return rule({
          g,
          slots: Object.fromEntries(names.map((name, k) => [name, held[k]![i]!])),
          p: () =>
            ps?.[i] ??
            raise({ _tag: 'BadInput', where: op, reason: 'it needs the parameters.', fix: 'give them: update(gradient, state, params).' }),
          rate: (rate, what = 'learningRate') => rateAt(rate, count, dtype, what, op),
          unbiased: (b) => missing(b, count, dtype),
        })
      })
      const next = names.map((name) => [name, all.put(done.map((d) => d.slots![name]!))] as const)
      return { updates: all.put(done.map((d) => d.update)), state: { count: add(count, 1), ...Object.fromEntries(next) } }
    },
  })
