// Activations and the like: public types for core/ops. `npm run docs:sync` copies the docstrings from the definitions.
import * as activations from '../ops/activations.js'
import { type Public, typed } from './typed.js'

/**
 * x kept between low and high: minimum(maximum(x, low), high).
 *
 * Shapes  all broadcast.   Dtype  promoted; i32 stays.   Rule  the cotangent passes inside; at a bound, half of it.   Source  NumPy clip.
 * @example clamp([-1, 0.5, 2], 0, 1)   // [0, 0.5, 1]
 */
export const clamp: Public['clamp'] = typed(activations.clamp)

/**
 * a b + c, rounded twice (not fused).
 *
 * Shapes  all broadcast.   Dtype  promoted; i32 stays.   Rule  dy = b da + a db + dc.   Source  IEEE 754.
 * @example fma([2, 3], 4, 1)   // [9, 13]
 */
export const fma: Public['fma'] = typed(activations.fma)

/**
 * x where x > 0, slope x elsewhere; the slope is 0.01 unless given.
 *
 * Rule  dy = dx or slope dx; slope dx at 0.   Source  NNlib leakyrelu.
 * @example leakyRelu([-2, 3], { slope: 0.5 })   // [-1, 3]
 */
export const leakyRelu: Public['leakyRelu'] = typed(activations.leakyRelu)

/**
 * x where x > 0, alpha (exp(x) - 1) elsewhere; alpha is 1 unless given.
 *
 * Rule  dy = dx or alpha exp(x) dx; alpha dx at 0.   Source  NNlib elu.
 * @example elu([-1, 2])   // [-0.6321, 2]
 */
export const elu: Public['elu'] = typed(activations.elu)

/**
 * x Phi(x), Phi the normal distribution function; with `approximate` its tanh form.
 *
 * Rule  dy = (Phi(x) + x phi(x)) dx.   Source  Hendrycks and Gimpel 2016. Through erfc: accurate for large negative x.
 * @example gelu([-1, 0, 1])   // [-0.1587, 0, 0.8413]
 */
export const gelu: Public['gelu'] = typed(activations.gelu)

/**
 * x sigmoid(x), also called swish.
 *
 * Rule  dy = (s + x s (1 - s)) dx with s = sigmoid(x).   Source  NNlib swish.
 * @example silu([-1, 0, 1])   // [-0.2689, 0, 0.7311]
 */
export const silu: Public['silu'] = typed(activations.silu)

/**
 * 1.0507 x where x > 0, 1.7581 (exp(x) - 1) elsewhere: elu with the constants that keep mean 0 and variance 1.
 *
 * Rule  as elu.   Source  Klambauer et al. 2017.
 * @example selu([0])   // [0]
 */
export const selu: Public['selu'] = typed(activations.selu)

/**
 * x tanh(softplus(x)).
 *
 * Rule  by composition.   Source  Misra 2019.
 * @example mish([0])   // [0]
 */
export const mish: Public['mish'] = typed(activations.mish)

/**
 * x / (1 + |x|).
 *
 * Rule  dy = dx / (1 + |x|)^2, 1 at 0.   Source  NNlib softsign.
 * @example softsign([-1, 1, 3])   // [-0.5, 0.5, 0.75]
 */
export const softsign: Public['softsign'] = typed(activations.softsign)

/**
 * log(sigmoid(x)) = -softplus(-x), without overflow.
 *
 * Rule  dy = sigmoid(-x) dx.   Source  NNlib logsigmoid.
 * @example logSigmoid([-1000])   // [-1000]
 */
export const logSigmoid: Public['logSigmoid'] = typed(activations.logSigmoid)

/**
 * x kept between 0 and 6.
 *
 * Rule  the cotangent passes inside; at a bound, half of it.   Source  NNlib relu6.
 * @example relu6([-1, 3, 9])   // [0, 3, 6]
 */
export const relu6: Public['relu6'] = typed(activations.relu6)

/**
 * Radians as degrees: 180 x / pi.
 *
 * Rule  dy = 180 dx / pi.   Source  NumPy degrees.
 * @example degrees([0])   // [0]
 */
export const degrees: Public['degrees'] = typed(activations.degrees)

/**
 * Degrees as radians: pi x / 180.
 *
 * Rule  dy = pi dx / 180.   Source  NumPy radians.
 * @example radians([0])   // [0]
 */
export const radians: Public['radians'] = typed(activations.radians)
