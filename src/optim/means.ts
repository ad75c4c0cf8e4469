/** Optimisers that keep an average of the parameters themselves: lookahead and schedule-free. */

import { badInput } from '../core/errors/explain.js'
import { type OptionsOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, add, cast, div, type Expr, eq, type Float, minimum, mul, sqrt, square, sub, treeReduce, where } from '../index.js'
import { fitting, gradientOf } from './leaves.js'
import { adamOptions, averaged } from './optimisers.js'
import { amount, rateAt, upToOne, whole } from './rate.js'
import { type Count, copyOf, countOf, type FloatArray, filled, isFloat, kindOf, type LikeParams, like } from './state.js'
import { countIn, missing, partOf, rawOf, type Transformation, typed } from './transformation.js'

/** The parameters' leaves beside those of the gradient. */
const paramsOf = (all: ReturnType<typeof gradientOf>, params: unknown, op: string): readonly AnyExpr[] =>
  params === undefined
    ? badInput(op, 'it needs the parameters.', 'give them: update(gradient, state, params).')
    : fitting(all, params, 'params', op)

export const lookaheadOptions = {
  /** After how many steps the slow weights move: 5 unless given. */
  every: whole(1, 5),
  /** The share of the way to the fast weights that they move: 0.5 unless given. */
  alpha: upToOne(0.5),
}
/** Options of `lookahead`. */
export interface LookaheadOptions extends OptionsOf<typeof lookaheadOptions> {}
/** The state of `lookahead`: steps since the slow weights moved, these, and that of the optimiser. */
export interface LookaheadState<S> {
  readonly count: Count
  readonly slow: LikeParams
  readonly inner: S
}
/**
 * Lookahead: every k steps of an optimiser the slow weights s move by alpha (p - s), and the fast ones p begin again from there. The state of the optimiser is kept.
 *
 * It is one program, in which a selection decides.   Source  Zhang et al. 2019, algorithm 1.
 * @example evaluate(lookahead(sgd({ learningRate: 1 }), { every: 1 }).update(tensor([4]), lookahead(sgd({ learningRate: 1 })).init(tensor([8])), tensor([8])).updates)   // [-2]
 */
export const lookahead = <S>(transformation: Transformation<S>, options?: LookaheadOptions): Transformation<LookaheadState<S>> => {
  const { init, update } = rawOf(transformation, 'lookahead')
  const { every, alpha } = readOptions(lookaheadOptions, options, 'lookahead')
  return typed<LookaheadState<S>>({
    init: (params) => ({ count: countOf(kindOf(params, 'lookahead')), slow: copyOf(params), inner: init(params) }),
    update: (gradient, state, params) => {
      const count = countIn(state, 'lookahead')
      const last = eq(count, every - 1)
      const all = gradientOf(gradient, 'lookahead')
      const p = paramsOf(all, params, 'lookahead')
      const slow = fitting(all, partOf(state, 'slow', 'lookahead'), 'slow', 'lookahead')
      const done = update(gradient, partOf(state, 'inner', 'lookahead'), params)
      const steps = fitting(all, done.updates, 'the updates', 'lookahead')
      const moved = slow.map((s, i) => where(last, add(s, mul(alpha, sub(add(p[i]!, steps[i]!), s))), s))
      return {
        updates: all.put(steps.map((u, i) => where(last, sub(moved[i]!, p[i]!), u))),
        state: { count: where(last, 0, add(count, 1)), slow: all.put(moved), inner: done.state },
      }
    },
  })
}

export const scheduleFreeOptions = {
  ...adamOptions,
  /** Where gradients are taken: b1 of the way from z to the average; 0.9 unless given. */
  b1: upToOne(0.9),
  /** Decoupled weight decay:  0 unless given. */
  weightDecay: amount(0),
  /** Over how many steps the rate grows to its own: 0 unless given. */
  warmupSteps: whole(0, 0),
}
/** Options of `scheduleFree`. */
export interface ScheduleFreeOptions extends OptionsOf<typeof scheduleFreeOptions> {}
/** The state of `scheduleFree`: `average` are the parameters to test and to keep, z those that steps are made of; v is the mean of squares, weight the sum of the rates' squares. */
export interface ScheduleFreeState {
  readonly count: Count
  readonly average: LikeParams
  readonly z: LikeParams
  readonly v: LikeParams
  readonly weight: FloatArray<[]>
}
const floatIn = (params: unknown): Float =>
  treeReduce(
    (found: Float | undefined, x: unknown) => {
      if (!isFloat(x)) return found
      const { dtype } = x as { readonly dtype: Float }
      return found === 'f64' ? found : dtype
    },
    params as never,
    undefined as Float | undefined,
  ) ?? 'f64'
/**
 * Schedule-free AdamW: without a schedule, yet as good as with one that knows when training ends. Gradients are taken at y = (1 - b1) z + b1 x, which are the parameters; z' = z -
 * rate (g / (sqrt(v') + eps) + weightDecay y), x' = (1 - c) x + c z', c the share of rate^2 in its sum so far; rate = learningRate sqrt(1 - b2^t) min(1, t / warmupSteps).
 *
 * Test and keep `state.average`, which is x; the parameters themselves are y.   Source  Defazio et al. 2024, algorithm 1.
 * @example evaluate(scheduleFree({ learningRate: 0.1, eps: 0 }).update(tensor([5, -2]), scheduleFree({ learningRate: 0.1 }).init(tensor([0, 0])), tensor([0, 0])).updates)   // [-0.1, 0.1]
 */
export const scheduleFree = (options: ScheduleFreeOptions): Transformation<ScheduleFreeState> => {
  const { learningRate, b1, b2, eps, weightDecay, warmupSteps } = readOptions(scheduleFreeOptions, options, 'scheduleFree')
  return typed<ScheduleFreeState>({
    init: (params) => {
      const kind = kindOf(params, 'scheduleFree')
      const weight = filled(kind, [], 0, floatIn(params))
      return { count: countOf(kind), average: copyOf(params), z: copyOf(params), v: like(params, kind), weight }
    },
    update: (gradient, state, params) => {
      const op = 'scheduleFree'
      const count = countIn(state, op)
      const all = gradientOf(gradient, op)
      const y = paramsOf(all, params, op)
      const [average, z, v] = ['average', 'z', 'v'].map((name) => fitting(all, partOf(state, name, op), name, op))
      const before = partOf(state, 'weight', op) as Expr<[], Float>
      const rateIn = (dtype: Float): AnyExpr => {
        const rate = mul(rateAt(learningRate, count, dtype, 'learningRate', op), sqrt(missing(b2, count, dtype)))
        return warmupSteps === 0 ? rate : mul(rate, minimum(1, div(cast(add(count, 1), dtype), warmupSteps)))
      }
      const weight = add(before, square(rateIn(before.dtype)))
      const done = all.leaves.map((g, i) => {
        const dtype = g.dtype as Float
        const rate = rateIn(dtype)
        const total = weight.dtype === dtype ? weight : cast(weight, dtype)
        const share = where(eq(total, 0), 0, div(square(rate), where(eq(total, 0), 1, total)))
        const nextV = averaged(b2, v![i]!, square(g))
        const direction = div(g, add(sqrt(nextV), eps))
        const nextZ = sub(z![i]!, mul(rate, weightDecay === 0 ? direction : add(direction, mul(weightDecay, y[i]!))))
        const nextAverage = add(average![i]!, mul(share, sub(nextZ, average![i]!)))
        return { average: nextAverage, z: nextZ, v: nextV, update: sub(averaged(b1, nextAverage, nextZ), y[i]!) }
      })
      const tree = (name: 'average' | 'z' | 'v' | 'update'): unknown => all.put(done.map((d) => d[name]))
      return { updates: tree('update'), state: { count: add(count, 1), average: tree('average'), z: tree('z'), v: tree('v'), weight } }
    },
  })
}
