/** Relatives of Adam: other means of the gradients and of their squares. Formulas and defaults are PyTorch's. */
import { type OptionsOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, abs, add, div, gt, maximum, mul, sqrt, square, sub, where } from '../index.js'
import { type AdamOptions, adamOptions, averaged, common, decayed } from './optimisers.js'
import { amount, share } from './rate.js'
import type { Count, LikeParams } from './state.js'
import { down, leafwiseAs, type Transformation } from './transformation.js'

/** The state of `amsgrad`: that of `adam`, and the largest mean of squares so far. */
export interface AmsgradState {
  readonly count: Count
  readonly m: LikeParams
  readonly v: LikeParams
  readonly vMax: LikeParams
}
/**
 * AMSGrad: Adam with the largest v so far in place of v, so that steps never grow again. As PyTorch's Adam with amsgrad.
 *
 * Source  Reddi, Kale and Kumar 2018.
 * @example evaluate(amsgrad({ learningRate: 0.1, eps: 0 }).update(tensor([5, -2]), amsgrad({ learningRate: 0.1 }).init(tensor([0, 0]))).updates)   // [-0.1, 0.1]
 */
export const amsgrad = (options: AdamOptions): Transformation<AmsgradState> => {
  const o = readOptions(adamOptions, options, 'amsgrad')
  return leafwiseAs('amsgrad', { m: 0, v: 0, vMax: 0 }, (at) => {
    const rate = at.rate(o.learningRate)
    const [scale, root] = [at.unbiased(o.b1), div(1, sqrt(at.unbiased(o.b2)))]
    const g = decayed(at, o.weightDecay)
    const m = averaged(o.b1, at.slots.m, g)
    const v = averaged(o.b2, at.slots.v, square(g))
    const vMax = maximum(at.slots.vMax, v)
    return { update: down(div(rate, scale), div(m, add(mul(sqrt(vMax), root), o.eps))), slots: { m, v, vMax } }
  })
}

/** The state of `adamax`: the mean of the gradients, and their decaying largest absolute value. */
export interface AdamaxState {
  readonly count: Count
  readonly m: LikeParams
  readonly u: LikeParams
}
/**
 * Adamax: Adam with the largest absolute value in place of the mean of squares: u' = max(b2 u, |g| + eps), p' = p - learningRate m^ / u'.
 *
 * As PyTorch's Adamax.   Source  Kingma and Ba 2015, 7.1.
 * @example evaluate(adamax({ learningRate: 0.1, eps: 0 }).update(tensor([5, -2]), adamax({ learningRate: 0.1 }).init(tensor([0, 0]))).updates)   // [-0.1, 0.1]
 */
export const adamax = (options: AdamOptions): Transformation<AdamaxState> => {
  const o = readOptions(adamOptions, options, 'adamax')
  return leafwiseAs('adamax', { m: 0, u: 0 }, (at) => {
    const rate = at.rate(o.learningRate)
    const scale = at.unbiased(o.b1)
    const g = decayed(at, o.weightDecay)
    const m = averaged(o.b1, at.slots.m, g)
    const u = maximum(mul(o.b2, at.slots.u), add(abs(g), o.eps))
    return { update: down(div(rate, scale), div(m, u)), slots: { m, u } }
  })
}

/** The state of `radam`: that of `adam`. */
export interface RadamState {
  readonly count: Count
  readonly m: LikeParams
  readonly v: LikeParams
}
/** How far the mean of squares can be relied on after t steps (rho_t), and the factor for it, 0 for the first few steps. */
const rectification = (t: AnyExpr, b2: number, unbiased: AnyExpr) => {
  const whole = 2 / (1 - b2) - 1
  const rho = sub(whole, div(mul(mul(2, t), sub(1, unbiased)), unbiased))
  const relied = gt(rho, 5)
  const safe = where(relied, rho, 6)
  const share = div(mul(mul(sub(safe, 4), sub(safe, 2)), whole), mul((whole - 4) * (whole - 2), safe))
  return { relied, factor: sqrt(share) }
}
/**
 * RAdam: Adam that ignores the mean of squares during the first steps, and then phases it in: p' = p - learningRate r m^ / (sqrt(v^) + eps), or p - learningRate m^ during the
 * first steps.
 *
 * As PyTorch's RAdam: weightDecay is added to the gradient.   Source  Liu et al. 2020.
 * @example evaluate(radam({ learningRate: 0.1 }).update(tensor([5, -2]), radam({ learningRate: 0.1 }).init(tensor([0, 0]))).updates)   // [-0.5, 0.2]
 */
export const radam = (options: AdamOptions): Transformation<RadamState> => {
  const o = readOptions(adamOptions, options, 'radam')
  return leafwiseAs('radam', { m: 0, v: 0 }, (at) => {
    const rate = at.rate(o.learningRate)
    const [scale, squares] = [at.unbiased(o.b1), at.unbiased(o.b2)]
    const { relied, factor } = rectification(
      at.rate((count: AnyExpr) => add(count, 1)),
      o.b2,
      squares,
    )
    const root = sqrt(squares)
    const g = decayed(at, o.weightDecay)
    const m = averaged(o.b1, at.slots.m, g)
    const v = averaged(o.b2, at.slots.v, square(g))
    const size = where(relied, div(mul(factor, root), add(sqrt(v), o.eps)), 1)
    return { update: down(div(rate, scale), mul(m, size)), slots: { m, v } }
  })
}

export const adadeltaOptions = {
  ...common,
  /** The decay of both means of squares: 0.9 unless given. */
  rho: share(0.9),
  /** Added under the roots: 1e-6 unless given. */
  eps: amount(1e-6),
  /** L2 regularisation: 0 unless given. */
  weightDecay: amount(0),
}
/** Options of `adadelta`. */
export interface AdadeltaOptions extends OptionsOf<typeof adadeltaOptions> {}
/** The state of `adadelta`: the means of the squares of gradients and of steps. */
export interface AdadeltaState {
  readonly count: Count
  readonly v: LikeParams
  readonly steps: LikeParams
}
/**
 * AdaDelta: v' = rho v + (1 - rho) g^2, d = sqrt(s + eps) / sqrt(v' + eps) g, s' = rho s + (1 - rho) d^2, p' = p - learningRate d.
 *
 * As PyTorch's Adadelta, whose learning rate is 1.   Source  Zeiler 2012.
 * @example evaluate(adadelta({ learningRate: 1, rho: 0, eps: 1 }).update(tensor([0]), adadelta({ learningRate: 1 }).init(tensor([0]))).updates)   // [0]
 */
export const adadelta = (options: AdadeltaOptions): Transformation<AdadeltaState> => {
  const { learningRate, rho, eps, weightDecay } = readOptions(adadeltaOptions, options, 'adadelta')
  return leafwiseAs('adadelta', { v: 0, steps: 0 }, (at) => {
    const now = at.rate(learningRate)
    const g = decayed(at, weightDecay)
    const v = averaged(rho, at.slots.v, square(g))
    const step = mul(div(sqrt(add(at.slots.steps, eps)), sqrt(add(v, eps))), g)
    return { update: down(now, step), slots: { v, steps: averaged(rho, at.slots.steps, square(step)) } }
  })
}
