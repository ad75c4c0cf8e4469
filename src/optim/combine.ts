/** Transformations made of others, and those that go before or behind an optimiser. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { flag, needed, type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  cast,
  div,
  eq,
  type Float,
  full,
  lt,
  maximum,
  minimum,
  mul,
  NoTangent,
  type Scalar,
  sqrt,
  square,
  sum,
  treeMap,
  treeZip,
  where,
  zerosLike,
} from '../index.js'
import { floatsOf, gradientOf, over } from './leaves.js'
import { atLeast, fraction, type Rate, rateOf, wholeFrom } from './rate.js'
import { type Count, countOf, kindOf, type LikeParams, like, type Masked } from './state.js'
import { countIn, leafwiseAs, partOf, rawOf, type Transformation, typed } from './transformation.js'

/** The state of a transformation without state. */
export type NoState = Readonly<Record<never, never>>

/**
 * Transformations one after the other: each is given what the one before it made of the gradient. The state is the list of theirs.
 *
 * @example evaluate(chain(clip(1), sgd({ learningRate: 0.1 })).update(tensor([5]), [{}, { count: tensor(0, [], 'i32') }]).updates)   // [-0.1]
 */
export const chain = <const T extends readonly unknown[]>(
  ...transformations: { readonly [K in keyof T]: Transformation<T[K]> }
): Transformation<T> => {
  const parts = (transformations as readonly unknown[]).map((t) => rawOf(t, 'chain'))
  if (parts.length === 0) badInput('chain', 'it was given nothing.', 'give at least one transformation.')
  return typed<T>({
    init: (params) => parts.map((part) => part.init(params)),
    update: (gradient, state, params) => {
      let updates = gradient
      const states = parts.map((part, i) => {
        const done = part.update(updates, partOf(state, i, 'chain'), params)
        updates = done.updates
        return done.state
      })
      return { updates, state: states }
    },
  })
}

/** A transformation without state, leaf by leaf. */
const stateless = (op: string, f: (leaves: readonly AnyExpr[]) => readonly AnyExpr[]): Transformation<NoState> =>
  typed<NoState>({
    init: (params) => {
      kindOf(params, op)
      return {}
    },
    update: (gradient) => {
      const { leaves, put } = gradientOf(gradient, op)
      return { updates: put(f(leaves)), state: {} }
    },
  })

/**
 * The gradient times a factor: a number, a scalar expression, or a schedule.
 *
 * @example evaluate(scale(-0.1).update(tensor([1, 2]), { count: tensor(0, [], 'i32') }).updates)   // [-0.1, -0.2]
 */
export const scale = (factor: Rate): Transformation<{ readonly count: Count }> => {
  const rate = rateOf(factor, 'the factor', 'scale')
  return leafwiseAs('scale', {}, (at) => ({ update: mul(at.rate(rate, 'the factor'), at.g), slots: {} }))
}
/**
 * Zeros: after an optimiser, and masked, it holds parameters fixed.
 *
 * @example evaluate(setToZero().update(tensor([1, 2]), {}).updates)   // [0, 0]
 */
export const setToZero = (): Transformation<NoState> => stateless('setToZero', (leaves) => leaves.map((g) => zerosLike(g)))
/**
 * The gradient with each number clamped to [-limit, limit].
 *
 * @example evaluate(clip(1).update(tensor([0.5, -7]), {}).updates)   // [0.5, -1]
 */
export const clip = (limit: number): Transformation<NoState> => {
  atLeast(limit, 'the limit', 'clip')
  return stateless('clip', (leaves) => leaves.map((g) => minimum(maximum(g, -limit), limit)))
}
const normOf = (leaves: readonly AnyExpr[]): AnyExpr =>
  leaves.length === 0 ? full([], 0) : sqrt(leaves.map((g) => sum(square(g)) as AnyExpr).reduce((a, b) => add(a, b)))
/**
 * The Euclidean norm of all numbers of a tree together: sqrt(sum x^2). Integer leaves and NoTangent do not count.
 *
 * @example evaluate(globalNorm({ w: tensor([3]), b: tensor(4) }))   // 5
 */
export const globalNorm = (tree: unknown): Scalar<Float> => normOf(gradientOf(floatsOf(tree), 'globalNorm').leaves) as Scalar<Float>
/**
 * The gradient, scaled so that its norm over all leaves is at most `limit`: g min(1, limit / |g|).
 *
 * Source  Pascanu, Mikolov and Bengio 2013.
 * @example evaluate(clipByGlobalNorm(1).update({ w: tensor([3]), b: tensor(4) }, {}).updates)   // { w: [0.6], b: 0.8 }
 */
export const clipByGlobalNorm = (limit: number): Transformation<NoState> => {
  atLeast(limit, 'the limit', 'clipByGlobalNorm')
  return stateless('clipByGlobalNorm', (leaves) => {
    const norm = normOf(leaves)
    const factor = where(lt(norm, limit), 1, div(full([], limit, norm.dtype), norm))
    return leaves.map((g) => mul(g, factor.dtype === g.dtype ? factor : cast(factor, g.dtype)))
  })
}
/**
 * The gradient with a share of the parameters added: g + rate p. Before an optimiser it is L2 regularisation, after its scaling decoupled
 * weight decay.
 *
 * @example evaluate(weightDecay(0.1).update(tensor([1]), { count: tensor(0, [], 'i32') }, tensor([2])).updates)   // [1.2]
 */
export const weightDecay = (rate: Rate): Transformation<{ readonly count: Count }> => {
  const factor = rateOf(rate, 'the rate', 'weightDecay')
  return leafwiseAs('weightDecay', {}, (at) => ({ update: add(at.g, mul(at.rate(factor, 'the rate'), at.p())), slots: {} }))
}

export const emaOptions = {
  /** The share of the average that stays at each step. */
  decay: needed(fraction),
  /** Is the bias of an average that begins at 0 corrected? True unless given. */
  debias: flag(true),
}
/** Options of `ema`. */
export interface EmaOptions extends OptionsOf<typeof emaOptions> {}
/** The state of `ema`. */
export interface EmaState {
  readonly count: Count
  readonly average: LikeParams
}
/**
 * An exponential moving average of what it is given: a' = decay a + (1 - decay) x. In a chain it averages gradients; given parameters, it
 * averages these.
 *
 * As optax's ema.
 * @example evaluate(ema({ decay: 0.9 }).update({ w: tensor([3]) }, ema({ decay: 0.9 }).init({ w: tensor([0]) })).updates)   // { w: [3] }
 */
export const ema = (options: EmaOptions): Transformation<EmaState> => {
  const { decay, debias } = readOptions(emaOptions, options, 'ema')
  const floats = leafwiseAs<EmaState, 'average'>('ema', { average: 0 }, (at) => {
    const average = add(mul(decay, at.slots.average), mul(1 - decay, at.g))
    return { update: debias ? div(average, at.unbiased(decay)) : average, slots: { average } }
  })
  const { init, update } = rawOf(floats, 'ema')
  return typed<EmaState>({
    init,
    update: (tree, state) => {
      const done = update(floatsOf(tree), state)
      return { updates: over(tree, done.updates), state: done.state }
    },
  })
}
/** Which leaves take part: a tree of true and false like the parameters, or a function of a leaf's path (`layers.0.w`). */
export type Mask = ((path: string) => boolean) | { readonly [key: string]: unknown } | readonly unknown[] | boolean
/** The tree, NoTangent at the leaves that do not take part. */
const selected = (tree: unknown, mask: Mask, op: string): unknown => {
  const flag = (x: unknown, path: string): boolean =>
    typeof x === 'boolean' ? x : badInput(`${op}: ${path || 'mask'}`, `the mask is ${shown(x)} there, not true or false.`)
  const paths: string[] = []
  treeMap((_, path) => paths.push(path), tree)
  if (typeof mask !== 'function') {
    let at = 0
    return treeZip((x: unknown, m: unknown) => (flag(m, paths[at++] ?? '') ? x : NoTangent), tree, mask as unknown)
  }
  let any = false
  const part = treeMap((x: unknown, path) => {
    const takes = flag(mask(path), path)
    any ||= takes
    return takes ? x : NoTangent
  }, tree)
  if (!any && paths.length > 0)
    badInput(
      op,
      `the mask takes none of the leaves: ${paths.slice(0, 6).join(', ')}${paths.length > 6 ? ` and ${paths.length - 6} more` : ''}.`,
      'a path is written as these are; where no leaf is meant, give a tree of false.',
    )
  return part
}
/** A transformation of the leaves that a mask takes; `others` makes the updates of the rest of their gradient. */
const ofSome = <S>(
  transformation: Transformation<S>,
  mask: Mask,
  op: string,
  others: (gradient: unknown) => unknown,
): Transformation<Masked<S>> => {
  const { init, update } = rawOf(transformation, op)
  if (typeof mask !== 'function' && typeof mask !== 'boolean' && (typeof mask !== 'object' || mask === null))
    badInput(op, `${shown(mask)} is no mask.`, 'give a tree of true and false, or a function of paths.')
  return typed<Masked<S>>({
    init: (params) => init(selected(params, mask, op)),
    update: (gradient, state, params) => {
      const done = update(selected(gradient, mask, op), state, params)
      return { updates: over(others(gradient), done.updates), state: done.state }
    },
  })
}
/**
 * A transformation of some leaves alone; the gradients of the others pass unchanged, for what follows in a chain. An optimiser of some leaves is `only(optimiser, mask)`: behind
 * `masked(optimiser, mask)` the gradients of the others would be added to the parameters.
 *
 * Errors  BadInput if the mask differs in structure from the parameters, holds anything but true and false, or is a function that takes no leaf.
 * @example evaluate(masked(scale(0), (path) => path === 'b').update({ w: tensor(1), b: tensor(2) }, { count: tensor(0, [], 'i32') }).updates)   // { w: 1, b: 0 }
 */
export const masked = <S>(transformation: Transformation<S>, mask: Mask): Transformation<Masked<S>> =>
  ofSome(transformation, mask, 'masked', (gradient) => gradient)
/**
 * An optimiser of some leaves alone; the others stay as they are. Their updates are 0, and their gradients are not computed.
 *
 * Errors  BadInput if the mask differs in structure from the parameters, holds anything but true and false, or is a function that takes no leaf.   Source  As optax's selective_transform.
 * @example evaluate(only(sgd({ learningRate: 0.1 }), (path) => path.startsWith('head')).update({ body: tensor(1), head: tensor(2) }, { count: tensor(0, [], 'i32') }).updates)   // { body: 0, head: -0.2 }
 */
export const only = <S>(transformation: Transformation<S>, mask: Mask): Transformation<Masked<S>> =>
  ofSome(transformation, mask, 'only', (gradient) => treeMap((g: AnyExpr) => zerosLike(g), gradient))

/** The state of `multiSteps`. */
export interface MultiStepsState<S> {
  /** Gradients in the mean, so far. */
  readonly count: Count
  readonly mean: LikeParams
  readonly inner: S
}
/**
 * A transformation that steps once for every `every` gradients, with their mean; between those steps the updates are 0.
 *
 * It is one program, in which a selection decides. As optax's MultiSteps.
 * @example evaluate(multiSteps(sgd({ learningRate: 1 }), 2).update(tensor([4]), multiSteps(sgd({ learningRate: 1 }), 2).init(tensor([0]))).updates)   // [0]
 */
export const multiSteps = <S>(transformation: Transformation<S>, every: number): Transformation<MultiStepsState<S>> => {
  const { init, update } = rawOf(transformation, 'multiSteps')
  const n = wholeFrom(every, 1, 'the number of gradients', 'multiSteps')
  return typed<MultiStepsState<S>>({
    init: (params) => {
      const kind = kindOf(params, 'multiSteps')
      return { count: countOf(kind), mean: like(params, kind), inner: init(params) }
    },
    update: (gradient, state, params) => {
      const count = countIn(state, 'multiSteps')
      const last = eq(count, n - 1)
      const all = gradientOf(gradient, 'multiSteps')
      const before = all.beside(partOf(state, 'mean', 'multiSteps'), 'the mean')
      const means = all.leaves.map((g, i) => add(before[i]!, div(g, n)))
      const inner = partOf(state, 'inner', 'multiSteps')
      const done = update(all.put(means), inner, params)
      const either = (a: AnyExpr, b: AnyExpr): AnyExpr => where(last, a, b)
      return {
        updates: treeMap((u: AnyExpr) => either(u, zerosLike(u)), done.updates),
        state: {
          count: where(last, 0, add(count, 1)),
          mean: all.put(means.map((m) => either(zerosLike(m), m))),
          inner: treeZip(either as (...xs: unknown[]) => unknown, done.state, inner),
        },
      }
    },
  })
}
