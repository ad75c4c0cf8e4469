/** Optimisers as gradient transformations. Defaults are PyTorch's where the optimiser is PyTorch's, else optax's. */
import { type OptionsOf, type ReadOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, add, div, eq, mul, or, sign, sqrt, square, sum, where } from '../index.js'
import { amount, aRate, share } from './rate.js'
import type { Count, LikeParams } from './state.js'
import { down, type LeafAt, leafwiseAs, type Transformation } from './transformation.js'

/** What every optimiser takes. */
export const common = {
  /** A number, a scalar expression, or a schedule. */
  learningRate: aRate,
}
/** The gradient with the decay of the weights in it (L2): g + weightDecay p. */
export const decayed = ({ g, p }: LeafAt, weightDecay: number): AnyExpr => (weightDecay === 0 ? g : add(g, mul(weightDecay, p())))
/** b m + (1 - b) x. */
export const averaged = (b: number, m: AnyExpr, x: AnyExpr): AnyExpr => add(mul(b, m), mul(1 - b, x))

export const sgdOptions = {
  ...common,
  /** L2 regularisation: 0 unless given. */
  weightDecay: amount(0),
}
/** Options of `sgd`. */
export interface SgdOptions extends OptionsOf<typeof sgdOptions> {}
/**
 * Gradient descent: p' = p - learningRate (g + weightDecay p).   As PyTorch's SGD.
 *
 * @example evaluate(sgd({ learningRate: 0.1 }).update(tensor([1, 2]), sgd({ learningRate: 0.1 }).init(tensor([0, 0]))).updates)   // [-0.1, -0.2]
 */
export const sgd = (options: SgdOptions): Transformation<{ readonly count: Count }> => {
  const { learningRate, weightDecay } = readOptions(sgdOptions, options, 'sgd')
  return leafwiseAs('sgd', {}, (at) => ({ update: down(at.rate(learningRate), decayed(at, weightDecay)), slots: {} }))
}

export const momentumOptions = {
  ...common,
  /** The share of the velocity that stays: 0.9 unless given. */
  momentum: share(0.9),
  /** L2 regularisation: 0 unless given. */
  weightDecay: amount(0),
}
/** Options of `momentum` and `nesterov`. */
export interface MomentumOptions extends OptionsOf<typeof momentumOptions> {}
/** The state of `momentum` and `nesterov`. */
export interface MomentumState {
  readonly count: Count
  readonly velocity: LikeParams
}
const withVelocity = (op: string, options: MomentumOptions, ahead: boolean): Transformation<MomentumState> => {
  const { learningRate, momentum: mu, weightDecay } = readOptions(momentumOptions, options, op)
  return leafwiseAs(op, { velocity: 0 }, (at) => {
    const now = at.rate(learningRate)
    const g = decayed(at, weightDecay)
    const velocity = add(mul(mu, at.slots.velocity), g)
    return { update: down(now, ahead ? add(g, mul(mu, velocity)) : velocity), slots: { velocity } }
  })
}
/**
 * Gradient descent with momentum: v' = momentum v + g, p' = p - learningRate v'.   As PyTorch's SGD.
 *
 * Source  Polyak 1964.
 * @example evaluate(momentum({ learningRate: 1 }).update(tensor([1]), { count: tensor(1, [], 'i32'), velocity: tensor([2]) }).updates)   // [-2.8]
 */
export const momentum = (options: MomentumOptions): Transformation<MomentumState> => withVelocity('momentum', options, false)
/**
 * Nesterov's momentum: v' = momentum v + g, p' = p - learningRate (g + momentum v').   As PyTorch's SGD with nesterov.
 *
 * Source  Nesterov 1983; Sutskever et al. 2013.
 * @example evaluate(nesterov({ learningRate: 1 }).update(tensor([1]), { count: tensor(1, [], 'i32'), velocity: tensor([2]) }).updates)   // [-3.52]
 */
export const nesterov = (options: MomentumOptions): Transformation<MomentumState> => withVelocity('nesterov', options, true)

export const adamOptions = {
  ...common,
  /** The decay of the mean of gradients: 0.9 unless given. */
  b1: share(0.9),
  /** The decay of the mean of their squares: 0.999 unless given. */
  b2: share(0.999),
  /** Added to the root: 1e-8 unless given, 1e-6 for `lamb`. */
  eps: amount(1e-8),
  /** L2 regularisation, 0 unless given; decoupled for `adamw` (0.01 unless given) and `lamb`. */
  weightDecay: amount(0),
}
/** Options of `adam`, `adamw`, `lamb`, `amsgrad`, `adamax` and `radam`. */
export interface AdamOptions extends OptionsOf<typeof adamOptions> {}
/** The state of `adam`, `adamw` and `lamb`: the means of the gradients and of their squares. */
export interface AdamState {
  readonly count: Count
  readonly m: LikeParams
  readonly v: LikeParams
}
/** The next means, and mean / (root of the mean of squares + eps), both without their bias but for a factor of the whole: 1 / (1 - b1^t). */
export const moments = (at: LeafAt<'m' | 'v'>, g: AnyExpr, { b1, b2, eps }: ReadOf<typeof adamOptions>) => {
  const [scale, root] = [at.unbiased(b1), div(1, sqrt(at.unbiased(b2)))]
  const m = averaged(b1, at.slots.m, g)
  const v = averaged(b2, at.slots.v, square(g))
  return { slots: { m, v }, ratio: div(m, add(mul(sqrt(v), root), eps)), scale }
}

/**
 * Adam: m' = b1 m + (1 - b1) g, v' = b2 v + (1 - b2) g^2, p' = p - learningRate m^ / (sqrt(v^) + eps), m^ and v^ without their bias.
 *
 * As PyTorch's Adam: weightDecay is added to the gradient.   Source  Kingma and Ba 2015.
 * @example evaluate(adam({ learningRate: 0.1, eps: 0 }).update(tensor([5, -2]), adam({ learningRate: 0.1 }).init(tensor([0, 0]))).updates)   // [-0.1, 0.1]
 */
export const adam = (options: AdamOptions): Transformation<AdamState> => {
  const o = readOptions(adamOptions, options, 'adam')
  return leafwiseAs('adam', { m: 0, v: 0 }, (at) => {
    const rate = at.rate(o.learningRate)
    const { slots, ratio, scale } = moments(at, decayed(at, o.weightDecay), o)
    return { update: down(div(rate, scale), ratio), slots }
  })
}
/**
 * Adam with decoupled weight decay: p' = p - learningRate (m^ / (sqrt(v^) + eps) + weightDecay p).
 *
 * As PyTorch's AdamW: weightDecay is 0.01 unless given.   Source  Loshchilov and Hutter 2019.
 * @example evaluate(adamw({ learningRate: 0.1, eps: 0 }).update(tensor([5]), adamw({ learningRate: 0.1 }).init(tensor([1])), tensor([1])).updates)   // [-0.101]
 */
export const adamw = (options: AdamOptions): Transformation<AdamState> => {
  const o = readOptions({ ...adamOptions, weightDecay: amount(0.01) }, options, 'adamw')
  return leafwiseAs('adamw', { m: 0, v: 0 }, (at) => {
    const rate = at.rate(o.learningRate)
    const { slots, ratio, scale } = moments(at, at.g, o)
    const step = down(div(rate, scale), ratio)
    return { update: o.weightDecay === 0 ? step : add(step, down(mul(rate, o.weightDecay), at.p())), slots }
  })
}
/**
 * LAMB: Adam's step u with weight decay, scaled for each leaf by |p| / |u| (1 where either norm is 0).
 *
 * As optax's lamb: eps is 1e-6, weightDecay 0 unless given.   Source  You et al. 2020.
 * @example evaluate(lamb({ learningRate: 0.1 }).update(tensor([5]), lamb({ learningRate: 0.1 }).init(tensor([2])), tensor([2])).updates)   // [-0.2]
 */
export const lamb = (options: AdamOptions): Transformation<AdamState> => {
  const o = readOptions({ ...adamOptions, eps: amount(1e-6) }, options, 'lamb')
  return leafwiseAs('lamb', { m: 0, v: 0 }, (at) => {
    const rate = at.rate(o.learningRate)
    const { slots, ratio, scale } = moments(at, at.g, o)
    const p = at.p()
    const u = o.weightDecay === 0 ? div(ratio, scale) : add(div(ratio, scale), mul(o.weightDecay, p))
    const [pNorm, uNorm] = [sqrt(sum(square(p))), sqrt(sum(square(u)))]
    const trust = where(or(eq(pNorm, 0), eq(uNorm, 0)), 1, div(pNorm, uNorm))
    return { update: down(mul(rate, trust), u), slots }
  })
}

export const lionOptions = {
  ...common,
  /** The share of the mean in the step: 0.9 unless given. */
  b1: share(0.9),
  /** The decay of the mean: 0.99 unless given. */
  b2: share(0.99),
  /** Decoupled weight decay:  1e-3 unless given. */
  weightDecay: amount(1e-3),
}
/** Options of `lion`. */
export interface LionOptions extends OptionsOf<typeof lionOptions> {}
/** The state of `lion`. */
export interface LionState {
  readonly count: Count
  readonly m: LikeParams
}
/**
 * Lion: p' = p - learningRate (sign(b1 m + (1 - b1) g) + weightDecay p), m' = b2 m + (1 - b2) g.
 *
 * As optax's lion: weightDecay is 1e-3 unless given.   Source  Chen et al. 2023.
 * @example evaluate(lion({ learningRate: 0.1 }).update(tensor([5, -2]), lion({ learningRate: 0.1 }).init(tensor([0, 0])), tensor([0, 0])).updates)   // [-0.1, 0.1]
 */
export const lion = (options: LionOptions): Transformation<LionState> => {
  const { learningRate, b1, b2, weightDecay } = readOptions(lionOptions, options, 'lion')
  return leafwiseAs('lion', { m: 0 }, (at) => {
    const now = at.rate(learningRate)
    const { m } = at.slots
    const u = sign(averaged(b1, m, at.g))
    return { update: down(now, weightDecay === 0 ? u : add(u, mul(weightDecay, at.p()))), slots: { m: averaged(b2, m, at.g) } }
  })
}

export const rmspropOptions = {
  ...common,
  /** The decay of the mean of squares: 0.99 unless given. */
  decay: share(0.99),
  /** Added to the root: 1e-8 unless given. */
  eps: amount(1e-8),
  /** L2 regularisation: 0 unless given. */
  weightDecay: amount(0),
}
/** Options of `rmsprop`. */
export interface RmspropOptions extends OptionsOf<typeof rmspropOptions> {}
/** The state of `rmsprop`: the mean of the gradients' squares. */
export interface RmspropState {
  readonly count: Count
  readonly v: LikeParams
}
/**
 * RMSProp: v' = decay v + (1 - decay) g^2, p' = p - learningRate g / (sqrt(v') + eps).   As PyTorch's RMSprop.
 *
 * Source  Tieleman and Hinton 2012.
 * @example evaluate(rmsprop({ learningRate: 1, decay: 0.75, eps: 0 }).update(tensor([3]), rmsprop({ learningRate: 1 }).init(tensor([0]))).updates)   // [-2]
 */
export const rmsprop = (options: RmspropOptions): Transformation<RmspropState> => {
  const { learningRate, decay, eps, weightDecay } = readOptions(rmspropOptions, options, 'rmsprop')
  return leafwiseAs('rmsprop', { v: 0 }, (at) => {
    const now = at.rate(learningRate)
    const g = decayed(at, weightDecay)
    const v = averaged(decay, at.slots.v, square(g))
    return { update: down(now, div(g, add(sqrt(v), eps))), slots: { v } }
  })
}

export const adagradOptions = {
  ...common,
  /** The initial sum of squares: 0 unless given. */
  initialAccumulator: amount(0),
  /** Added to the root: 1e-10 unless given. */
  eps: amount(1e-10),
  /** L2 regularisation: 0 unless given. */
  weightDecay: amount(0),
}
/** Options of `adagrad`. */
export interface AdagradOptions extends OptionsOf<typeof adagradOptions> {}
/** The state of `adagrad`: the sum of the gradients' squares. */
export interface AdagradState {
  readonly count: Count
  readonly sum: LikeParams
}
/**
 * AdaGrad: s' = s + g^2, p' = p - learningRate g / (sqrt(s') + eps).   As PyTorch's Adagrad.
 *
 * Source  Duchi, Hazan and Singer 2011.
 * @example evaluate(adagrad({ learningRate: 0.5, eps: 0 }).update(tensor([3, -4]), adagrad({ learningRate: 0.5 }).init(tensor([0, 0]))).updates)   // [-0.5, 0.5]
 */
export const adagrad = (options: AdagradOptions): Transformation<AdagradState> => {
  const { learningRate, initialAccumulator, eps, weightDecay } = readOptions(adagradOptions, options, 'adagrad')
  return leafwiseAs('adagrad', { sum: initialAccumulator }, (at) => {
    const now = at.rate(learningRate)
    const g = decayed(at, weightDecay)
    const total = add(at.slots.sum, square(g))
    return { update: down(now, div(g, add(sqrt(total), eps))), slots: { sum: total } }
  })
}
