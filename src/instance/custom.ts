/** Functions with derivatives of their own, bound to the shipped rules and the default backend. */

import { from } from '../core/calculus/pack.js'
import { makeCustomRule } from '../core/extend/custom-rule.js'
import { typed } from '../core/graph/operation.js'
import type * as estimators from '../core/types/signatures/estimators.js'
import type * as transforms from '../core/types/signatures/transforms.js'
import {
  clipGradient as clipGradientOf,
  reverseGradient as reverseGradientOf,
  straightThrough as straightThroughOf,
  tapGradient as tapGradientOf,
} from '../modes/operators/estimators.js'
import { customPack } from '../packs/custom.js'
import { tapPack } from '../packs/tap.js'
import { context } from './context.js'

/**
 * f with a custom derivative (a custom gradient): frule(primals, tangents) gives [y, dy]; rrule(primals) gives [y, pullback], from yBar to primalsBar.
 *
 * Several arguments are given as their tuple; a cotangent may be a thunk or ZeroTangent, an integer's is NoTangent. A rule is traced where a
 * derivative is asked for, and may be differentiated further; an frule alone also serves reverse mode: it is linear in dx, and is transposed.
 * Captured values are read at every call, but their derivative is NotImplemented: pass them as arguments. `estimates: true` says that the
 * rules are deliberately not f's derivative; `name` is what messages call it. A primitive has its derivative from `rule` or `scalarRule`, and
 * `codualWith` binds them.
 * Errors  MissingRule in forward mode without frule; ShapeMismatch, DTypeMismatch, BadInput name the leaf for which a rule is wrong.
 * @example grad(customRule((x) => exp(x), { frule: (x, dx) => [exp(x), mul(2, mul(exp(x), dx))] }))(0)   // 2
 */
export const customRule: transforms.CustomRuleFn = /*#__PURE__*/ typed(from(customPack, makeCustomRule(context.runtime)))
/**
 * f's value with the derivative of `surrogate`, the identity unless given: a straight-through estimator, for rounding, thresholds and samples.
 *
 * Both take the same arguments, and their results have the same shapes. In every mode, of any order.   Source  Bengio et al. 2013.
 * Errors  ShapeMismatch or DTypeMismatch if the surrogate's tangent does not fit f's result.
 * @example
 * grad((x) => sum(mul(straightThrough((v) => round(v))(x), x)))([1.4])                          // [2.4]
 * grad((x) => sum(straightThrough((v) => sign(v), (v) => tanh(v))(x)))([0])                     // [1]
 */
export const straightThrough: transforms.StraightThroughFn = /*#__PURE__*/ typed(from(customPack, straightThroughOf(context)))
/**
 * x itself, whose cotangent is clamped to [-limit, limit] in the reverse pass. For a tree, every float leaf.
 *
 * Errors  NotImplemented in forward mode, which has no cotangents; BadInput for a limit below 0.
 * @example grad((x) => sum(square(clipGradient(x, 1))))([0.1, 3])   // [0.2, 1]
 */
export const clipGradient: estimators.ClipGradientFn = /*#__PURE__*/ typed(from(customPack, clipGradientOf(context)))
/**
 * x itself, whose derivative is -scale (1 unless given): gradient reversal, for adversarial training. For a tree, every float leaf.
 *
 * `scale` is a number or a scalar expression, without a derivative of its own.   Source  Ganin and Lempitsky 2015.
 * @example grad((x) => sum(reverseGradient(x, 0.5)))([1, 2])   // [-0.5, -0.5]
 */
export const reverseGradient: estimators.ReverseGradientFn = /*#__PURE__*/ typed(from(customPack, reverseGradientOf(context)))
/**
 * x itself, whose cotangent is passed to f as a tensor in the reverse pass, in a loop at every step. For a tree, every float leaf. Derivatives do not change.
 *
 * Forward mode has no cotangents; one that is zero, or that no result needs, is not computed. Under vmap f sees those of all examples at once.
 * Errors  BadInput unless f is a function.
 * @example grad((x) => sum(square(tapGradient(mul(x, 3), (v) => console.assert(v.shape[0] === 2)))))([1, 2])   // [18, 36]
 */
export const tapGradient: estimators.TapGradientFn = /*#__PURE__*/ typed(from(tapPack, from(customPack, tapGradientOf(context))))
