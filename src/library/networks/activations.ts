/** Compositions: functions without a primitive of their own; their derivatives follow from what they are made of. */
import { flagOf } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { kind, number, type Options, type OptionsOf, type ReadOf, raw } from '../../core/errors/options.js'
import { add, div, mul, sub, where } from '../../core/ops/arithmetic.js'
import { part } from '../../core/ops/arrays.js'
import { gt } from '../../core/ops/compare.js'
import { axisOptions, floats, operation } from '../../core/ops/operation.js'
import { abs, neg, sign, square } from '../../core/ops/unary.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { FloatUnary, FloatUnaryWith, Unary } from '../../core/types/signatures/elementwise.js'
import type { GluFn } from '../../core/types/signatures/nn.js'
import { expm1, log1p, sigmoid, sinh, softplus, tanh } from '../../families/exponentials.js'
import { erfc } from '../../families/gamma.js'
import { clamp } from '../arrays/elementwise.js'

const activationWith = <F, O extends Options>(name: string, options: O, f: (x: AnyExpr, o: ReadOf<O>) => AnyExpr): F =>
  operation(name, { x: floats }, options, ({ x }, o) => f(x, o))
const activation = (name: string, f: (x: AnyExpr) => AnyExpr): FloatUnary => activationWith(name, {}, f)
const kept = (name: string, low: number, high: number): Unary =>
  operation(name, { x: raw() }, {}, ({ x }) => clamp(x as AnyExpr, low, high))

const leakyOptions = { slope: number(0.01) }
interface LeakyReluOptions extends OptionsOf<typeof leakyOptions> {}
/**
 * x where x > 0, slope x elsewhere; the slope is 0.01 unless given.
 *
 * Rule  dy = dx or slope dx; slope dx at 0.   Source  NNlib leakyrelu.
 * @example leakyRelu([-2, 3], { slope: 0.5 })   // [-1, 3]
 */
export const leakyRelu: FloatUnaryWith<LeakyReluOptions> = activationWith('leakyRelu', leakyOptions, (x, { slope }) =>
  where(gt(x, 0), x, mul(x, slope)),
)
const eluOptions = { alpha: number(1) }
interface EluOptions extends OptionsOf<typeof eluOptions> {}
/**
 * x where x > 0, alpha (exp(x) - 1) elsewhere; alpha is 1 unless given.
 *
 * Rule  dy = dx or alpha exp(x) dx; alpha dx at 0.   Source  NNlib elu.
 * @example elu([-1, 2])   // [-0.6321, 2]
 */
export const elu: FloatUnaryWith<EluOptions> = activationWith('elu', eluOptions, (x, o) => where(gt(x, 0), x, mul(expm1(x), o.alpha)))
/**
 * 1.0507 x where x > 0, 1.7581 (exp(x) - 1) elsewhere: elu with the constants that keep mean 0 and variance 1.
 *
 * Rule  as elu.   Source  Klambauer et al. 2017.
 * @example selu([0])   // [0]
 */
export const selu: FloatUnary = activation('selu', (x) => mul(elu(x, { alpha: 1.6732632423543772 }), 1.0507009873554805))
const geluOptions = {
  approximate: kind<boolean, boolean | 'tanh' | 'none'>(
    (given, what, where) => given === 'tanh' || (given !== 'none' && flagOf(given, what, where)),
  ),
}
interface GeluOptions extends OptionsOf<typeof geluOptions> {}
/**
 * x Phi(x), Phi the normal distribution function; with `approximate` (true or 'tanh') its tanh form.
 *
 * Rule  dy = (Phi(x) + x phi(x)) dx.   Source  Hendrycks and Gimpel 2016. Through erfc: accurate for large negative x.
 * @example gelu([-1, 0, 1])   // [-0.1587, 0, 0.8413]
 */
export const gelu: FloatUnaryWith<GeluOptions> = activationWith('gelu', geluOptions, (x, { approximate }) => {
  if (!approximate) return mul(mul(x, 0.5), erfc(mul(x, -Math.SQRT1_2)))
  const inner = mul(mul(x, Math.sqrt(2 / Math.PI)), add(mul(square(x), 0.044715), 1))
  return mul(mul(x, 0.5), add(tanh(inner), 1))
})
/**
 * x sigmoid(x), also called swish.
 *
 * Rule  dy = (s + x s (1 - s)) dx with s = sigmoid(x).   Source  NNlib swish.
 * @example silu([-1, 0, 1])   // [-0.2689, 0, 0.7311]
 */
export const silu: FloatUnary = activation('silu', (x) => mul(x, sigmoid(x)))
/**
 * x tanh(softplus(x)).
 *
 * Rule  by composition.   Source  Misra 2019.
 * @example mish([0])   // [0]
 */
export const mish: FloatUnary = activation('mish', (x) => mul(x, tanh(softplus(x))))
/**
 * x / (1 + |x|).
 *
 * Rule  dy = dx / (1 + |x|)^2, 1 at 0.   Source  NNlib softsign.
 * @example softsign([-1, 1, 3])   // [-0.5, 0.5, 0.75]
 */
export const softsign: FloatUnary = activation('softsign', (x) => div(x, add(abs(x), 1)))
/**
 * log(sigmoid(x)) = -softplus(-x), without overflow.
 *
 * Rule  dy = sigmoid(-x) dx.   Source  NNlib logsigmoid.
 * @example logSigmoid([-1000])   // [-1000]
 */
export const logSigmoid: FloatUnary = activation('logSigmoid', (x) => neg(softplus(neg(x))))
/**
 * x clamped to [0, 6].
 *
 * Rule  the cotangent passes inside; at a bound, half of it.   Source  NNlib relu6.
 * @example relu6([-1, 3, 9])   // [0, 3, 6]
 */
export const relu6: Unary = kept('relu6', 0, 6)
/**
 * max(x, 0) + min(alpha (exp(x / alpha) - 1), 0): elu with a slope of 1 at 0 for every alpha, 1 unless given.
 *
 * Rule  dy = dx or exp(x / alpha) dx.   Source  Barron 2017.
 * @example celu([-1, 2], { alpha: 2 })   // [-0.7869, 2]
 */
export const celu: FloatUnaryWith<EluOptions> = activationWith('celu', eluOptions, (x, o) =>
  where(gt(x, 0), x, mul(expm1(div(x, o.alpha)), o.alpha)),
)
/**
 * (x + 3) / 6 clamped to [0, 1].
 *
 * Rule  dy = dx / 6 inside; at a bound, half of it.   Source  PyTorch hardsigmoid, NNlib hardsigma.
 * @example hardSigmoid([-4, 0, 1.5])   // [0, 0.5, 0.75]
 */
export const hardSigmoid: FloatUnary = activation('hardSigmoid', (x) => clamp(div(add(x, 3), 6), 0, 1))
/**
 * x hardSigmoid(x).
 *
 * Rule  by composition.   Source  Howard et al. 2019.
 * @example hardSwish([-4, 0, 3])   // [0, 0, 3]
 */
export const hardSwish: FloatUnary = activation('hardSwish', (x) => mul(x, hardSigmoid(x)))
/**
 * x clamped to [-1, 1].
 *
 * Rule  the cotangent passes inside; at a bound, half of it.   Source  NNlib hardtanh.
 * @example hardTanh([-3, 0.5, 2])   // [-1, 0.5, 1]
 */
export const hardTanh: Unary = kept('hardTanh', -1, 1)
const shrinkOptions = { lambda: number(0.5, { from: 0 }) }
interface ShrinkOptions extends OptionsOf<typeof shrinkOptions> {}
/**
 * x moved towards 0 by lambda (0.5 unless given), and 0 within it: the proximal operator of lambda |x|.
 *
 * Rule  dy = dx outside, 0 inside.   Source  NNlib softshrink.   Errors  BadInput for a negative lambda.
 * @example softShrink([-2, 0.25, 1])   // [-1.5, 0, 0.5]
 */
export const softShrink: FloatUnaryWith<ShrinkOptions> = activationWith('softShrink', shrinkOptions, (x, { lambda }) =>
  where(gt(abs(x), lambda), sub(x, mul(sign(x), lambda)), mul(x, 0)),
)
/**
 * x where |x| > lambda (0.5 unless given), else 0.
 *
 * Rule  dy = dx outside, 0 inside.   Source  PyTorch hardshrink.   Errors  BadInput for a negative lambda.
 * @example hardShrink([-2, 0.25, 1])   // [-2, 0, 1]
 */
export const hardShrink: FloatUnaryWith<ShrinkOptions> = activationWith('hardShrink', shrinkOptions, (x, { lambda }) =>
  where(gt(abs(x), lambda), x, mul(x, 0)),
)
/**
 * x - tanh(x).
 *
 * Rule  dy = tanh(x)^2 dx.   Source  NNlib tanhshrink.
 * @example tanhShrink([0, 1])   // [0, 0.2384]
 */
export const tanhShrink: FloatUnary = activation('tanhShrink', (x) => sub(x, tanh(x)))
/**
 * x tanh(x).
 *
 * Rule  by composition.   Source  Roy et al. 2019.
 * @example lisht([-1, 0])   // [0.7616, 0]
 */
export const lisht: FloatUnary = activation('lisht', (x) => mul(x, tanh(x)))
/**
 * log(cosh(x)), without overflow.
 *
 * Rule  dy = tanh(x) dx.   Source  NNlib logcosh: x + softplus(-2 x) - log 2.
 * @example logCosh([-1000, 0])   // [999.31, 0]
 */
export const logCosh: FloatUnary = activation('logCosh', (x) => {
  // Even and near x^2 / 2 at 0, where the sum would cancel: log1p of 2 sinh^2(x / 2) there.
  const half = sinh(div(clamp(x, -1, 1), 2))
  return where(gt(abs(x), 1), sub(add(abs(x), softplus(mul(abs(x), -2))), Math.LN2), log1p(mul(2, square(half))))
})
/**
 * a sigmoid(b) of the two halves of x along an axis (the last by default): a gated linear unit.
 *
 * Shapes  x: [..., 2 n] -> [..., n].   Rule  by composition.   Source  Dauphin et al. 2017.
 * Errors  BadInput for an axis out of range or of odd length.
 * @example glu([2, 0])   // [1]
 */
export const glu: GluFn = operation('glu', { x: floats }, axisOptions, ({ x }, o, op) => {
  const n = x.shape[o.axis]! / 2
  if (!Number.isInteger(n)) badInput(op, `axis ${o.axis} has ${2 * n} entries.`, 'give an axis of even length: two halves.')
  return mul(part(x, o.axis, 0, n), sigmoid(part(x, o.axis, n, n)))
})
