/** Compositions: functions without a primitive of their own; their derivatives follow from what they are made of. */

import { flagOf, type Names, numberOf, ofOne, optionsOf } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { asExpr } from '../../core/graph/expr.js'
import { liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { add, div, mul, sub, where } from '../../core/ops/arithmetic.js'
import { gt } from '../../core/ops/compare.js'
import { abs, erfc, expm1, log1p, neg, sigmoid, sign, softplus, square, tanh } from '../../core/ops/functions.js'
import { axisOf, axisOption } from '../../core/ops/layout-move.js'
import { sliceAxis } from '../../core/ops/layout-slice.js'
import { sinh } from '../../core/ops/trigonometric.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { FloatUnary, FloatUnaryWith, Unary } from '../../core/types/signatures/elementwise.js'
import type { GluFn } from '../../core/types/signatures/nn.js'
import type { AxisOptions } from '../../core/types/signatures/reduce.js'
import { clamp } from '../arrays/elementwise.js'

const float = (x: unknown, op: string): AnyExpr => asExpr(liftFloat(x, op))

type LeakyReluOptions = { readonly slope?: number | undefined }
const leakyReluOptions: Names<LeakyReluOptions> = { slope: true }
/**
 * x where x > 0, slope x elsewhere; the slope is 0.01 unless given.
 *
 * Rule  dy = dx or slope dx; slope dx at 0.   Source  NNlib leakyrelu.
 * @example leakyRelu([-2, 3], { slope: 0.5 })   // [-1, 3]
 */
export const leakyRelu: FloatUnaryWith<LeakyReluOptions> = typed((x: unknown, options?: LeakyReluOptions): AnyExpr => {
  const y = float(x, 'leakyRelu')
  const { slope = 0.01 } = optionsOf(options, leakyReluOptions, 'leakyRelu')
  return where(gt(y, 0), y, mul(y, numberOf(slope, 'slope', 'leakyRelu')))
})
type EluOptions = { readonly alpha?: number | undefined }
const eluOptions: Names<EluOptions> = { alpha: true }
/**
 * x where x > 0, alpha (exp(x) - 1) elsewhere; alpha is 1 unless given.
 *
 * Rule  dy = dx or alpha exp(x) dx; alpha dx at 0.   Source  NNlib elu.
 * @example elu([-1, 2])   // [-0.6321, 2]
 */
export const elu: FloatUnaryWith<EluOptions> = typed((x: unknown, options?: EluOptions): AnyExpr => {
  const y = float(x, 'elu')
  const { alpha = 1 } = optionsOf(options, eluOptions, 'elu')
  return where(gt(y, 0), y, mul(expm1(y), numberOf(alpha, 'alpha', 'elu')))
})
/**
 * 1.0507 x where x > 0, 1.7581 (exp(x) - 1) elsewhere: elu with the constants that keep mean 0 and variance 1.
 *
 * Rule  as elu.   Source  Klambauer et al. 2017.
 * @example selu([0])   // [0]
 */
export const selu: FloatUnary = typed(ofOne('selu', (x: AnyExpr) => mul(elu(x, { alpha: 1.6732632423543772 }), 1.0507009873554805)))
type GeluOptions = { readonly approximate?: boolean | 'tanh' | 'none' | undefined }
const geluOptions: Names<GeluOptions> = { approximate: true }
/**
 * x Phi(x), Phi the normal distribution function; with `approximate` (true or 'tanh') its tanh form.
 *
 * Rule  dy = (Phi(x) + x phi(x)) dx.   Source  Hendrycks and Gimpel 2016. Through erfc: accurate for large negative x.
 * @example gelu([-1, 0, 1])   // [-0.1587, 0, 0.8413]
 */
export const gelu: FloatUnaryWith<GeluOptions> = typed((x: unknown, options?: GeluOptions): AnyExpr => {
  const y = float(x, 'gelu')
  const { approximate } = optionsOf(options, geluOptions, 'gelu')
  const byTanh = approximate === 'tanh' || (approximate !== 'none' && flagOf(approximate, 'approximate', 'gelu'))
  if (!byTanh) return mul(mul(y, 0.5), erfc(mul(y, -Math.SQRT1_2)))
  const inner = mul(mul(y, Math.sqrt(2 / Math.PI)), add(mul(square(y), 0.044715), 1))
  return mul(mul(y, 0.5), add(tanh(inner), 1))
})
/**
 * x sigmoid(x), also called swish.
 *
 * Rule  dy = (s + x s (1 - s)) dx with s = sigmoid(x).   Source  NNlib swish.
 * @example silu([-1, 0, 1])   // [-0.2689, 0, 0.7311]
 */
export const silu: FloatUnary = typed(
  ofOne('silu', (x: unknown): AnyExpr => {
    const y = float(x, 'silu')
    return mul(y, sigmoid(y))
  }),
)
/**
 * x tanh(softplus(x)).
 *
 * Rule  by composition.   Source  Misra 2019.
 * @example mish([0])   // [0]
 */
export const mish: FloatUnary = typed(
  ofOne('mish', (x: unknown): AnyExpr => {
    const y = float(x, 'mish')
    return mul(y, tanh(softplus(y)))
  }),
)
/**
 * x / (1 + |x|).
 *
 * Rule  dy = dx / (1 + |x|)^2, 1 at 0.   Source  NNlib softsign.
 * @example softsign([-1, 1, 3])   // [-0.5, 0.5, 0.75]
 */
export const softsign: FloatUnary = typed(
  ofOne('softsign', (x: unknown): AnyExpr => {
    const y = float(x, 'softsign')
    return div(y, add(abs(y), 1))
  }),
)
/**
 * log(sigmoid(x)) = -softplus(-x), without overflow.
 *
 * Rule  dy = sigmoid(-x) dx.   Source  NNlib logsigmoid.
 * @example logSigmoid([-1000])   // [-1000]
 */
export const logSigmoid: FloatUnary = typed(ofOne('logSigmoid', (x: unknown): AnyExpr => neg(softplus(neg(float(x, 'logSigmoid'))))))
/**
 * x kept between 0 and 6.
 *
 * Rule  the cotangent passes inside; at a bound, half of it.   Source  NNlib relu6.
 * @example relu6([-1, 3, 9])   // [0, 3, 6]
 */
export const relu6: Unary = typed(ofOne('relu6', (x: AnyExpr) => clamp(x, 0, 6)))
/**
 * max(x, 0) + min(alpha (exp(x / alpha) - 1), 0): elu with a slope of 1 at 0 for every alpha, 1 unless given.
 *
 * Rule  dy = dx or exp(x / alpha) dx.   Source  Barron 2017.
 * @example celu([-1, 2], { alpha: 2 })   // [-0.7869, 2]
 */
export const celu: FloatUnaryWith<EluOptions> = typed((x: unknown, options?: EluOptions): AnyExpr => {
  const y = float(x, 'celu')
  const alpha = numberOf(optionsOf(options, eluOptions, 'celu').alpha ?? 1, 'alpha', 'celu')
  return where(gt(y, 0), y, mul(expm1(div(y, alpha)), alpha))
})
/**
 * (x + 3) / 6 kept between 0 and 1.
 *
 * Rule  dy = dx / 6 inside; at a bound, half of it.   Source  PyTorch hardsigmoid, NNlib hardsigma.
 * @example hardSigmoid([-4, 0, 1.5])   // [0, 0.5, 0.75]
 */
export const hardSigmoid: FloatUnary = typed(
  ofOne('hardSigmoid', (x: unknown): AnyExpr => clamp(div(add(float(x, 'hardSigmoid'), 3), 6), 0, 1)),
)
/**
 * x hardSigmoid(x).
 *
 * Rule  by composition.   Source  Howard et al. 2019.
 * @example hardSwish([-4, 0, 3])   // [0, 0, 3]
 */
export const hardSwish: FloatUnary = typed(
  ofOne('hardSwish', (x: unknown): AnyExpr => {
    const y = float(x, 'hardSwish')
    return mul(y, hardSigmoid(y))
  }),
)
/**
 * x kept between -1 and 1.
 *
 * Rule  the cotangent passes inside; at a bound, half of it.   Source  NNlib hardtanh.
 * @example hardTanh([-3, 0.5, 2])   // [-1, 0.5, 1]
 */
export const hardTanh: Unary = typed(ofOne('hardTanh', (x: AnyExpr) => clamp(x, -1, 1)))
type ShrinkOptions = { readonly lambda?: number | undefined }
const shrinkOptions: Names<ShrinkOptions> = { lambda: true }
const lambdaOf = (options: ShrinkOptions | undefined, op: string): number => {
  const lambda = numberOf(optionsOf(options, shrinkOptions, op).lambda ?? 0.5, 'lambda', op)
  return lambda >= 0 ? lambda : raise({ _tag: 'BadInput', where: op, reason: `lambda is ${lambda}.`, fix: 'give a number from 0.' })
}
/**
 * x moved towards 0 by lambda (0.5 unless given), and 0 within it: the proximal operator of lambda |x|.
 *
 * Rule  dy = dx outside, 0 inside.   Source  NNlib softshrink.   Errors  BadInput for a negative lambda.
 * @example softShrink([-2, 0.25, 1])   // [-1.5, 0, 0.5]
 */
export const softShrink: FloatUnaryWith<ShrinkOptions> = typed((x: unknown, options?: ShrinkOptions): AnyExpr => {
  const y = float(x, 'softShrink')
  const lambda = lambdaOf(options, 'softShrink')
  return where(gt(abs(y), lambda), sub(y, mul(sign(y), lambda)), mul(y, 0))
})
/**
 * x where |x| > lambda (0.5 unless given), else 0.
 *
 * Rule  dy = dx outside, 0 inside.   Source  PyTorch hardshrink.   Errors  BadInput for a negative lambda.
 * @example hardShrink([-2, 0.25, 1])   // [-2, 0, 1]
 */
export const hardShrink: FloatUnaryWith<ShrinkOptions> = typed((x: unknown, options?: ShrinkOptions): AnyExpr => {
  const y = float(x, 'hardShrink')
  return where(gt(abs(y), lambdaOf(options, 'hardShrink')), y, mul(y, 0))
})
/**
 * x - tanh(x).
 *
 * Rule  dy = tanh(x)^2 dx.   Source  NNlib tanhshrink.
 * @example tanhShrink([0, 1])   // [0, 0.2384]
 */
export const tanhShrink: FloatUnary = typed(
  ofOne('tanhShrink', (x: unknown): AnyExpr => {
    const y = float(x, 'tanhShrink')
    return sub(y, tanh(y))
  }),
)
/**
 * x tanh(x).
 *
 * Rule  by composition.   Source  Roy et al. 2019.
 * @example lisht([-1, 0])   // [0.7616, 0]
 */
export const lisht: FloatUnary = typed(
  ofOne('lisht', (x: unknown): AnyExpr => {
    const y = float(x, 'lisht')
    return mul(y, tanh(y))
  }),
)
/**
 * log(cosh(x)), without overflow.
 *
 * Rule  dy = tanh(x) dx.   Source  NNlib logcosh: x + softplus(-2 x) - log 2.
 * @example logCosh([-1000, 0])   // [999.31, 0]
 */
export const logCosh: FloatUnary = typed(
  ofOne('logCosh', (x: unknown): AnyExpr => {
    const y = float(x, 'logCosh')
    // Even and near x^2 / 2 at 0, where the sum would cancel: log1p of 2 sinh^2(x / 2) there.
    const half = sinh(div(clamp(y, -1, 1), 2))
    return where(gt(abs(y), 1), sub(add(abs(y), softplus(mul(abs(y), -2))), Math.LN2), log1p(mul(2, square(half))))
  }),
)
/**
 * a sigmoid(b) of the two halves of x along an axis (the last by default): a gated linear unit.
 *
 * Shapes  x: [..., 2 n] -> [..., n].   Rule  by composition.   Source  Dauphin et al. 2017.
 * Errors  BadInput for an axis out of range or of odd length.
 * @example glu([2, 0])   // [1]
 */
export const glu: GluFn = typed((x: unknown, options?: AxisOptions): AnyExpr => {
  const y = liftFloat(x, 'glu')
  const axis = axisOf(optionsOf(options, axisOption, 'glu').axis ?? -1, y.shape.length, 'glu')
  const n = y.shape[axis]! / 2
  if (!Number.isInteger(n))
    raise({ _tag: 'BadInput', where: 'glu', reason: `axis ${axis} has ${2 * n} entries.`, fix: 'give an axis of even length: two halves.' })
  return mul(asExpr(sliceAxis(y, axis, 0, n)), sigmoid(asExpr(sliceAxis(y, axis, n, n))))
})
