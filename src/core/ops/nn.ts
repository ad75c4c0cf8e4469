/** Neural networks: functions made of other operations. Convolution and pooling are in conv.ts and pool.ts. */
import { raise } from '../explain.js'
import { asExpr } from '../expr.js'
import { liftFloat } from '../lift.js'
import { normalizeAxis, showShape } from '../shape.js'
import type { AnyExpr } from '../types/expr.js'
import { matmul } from './contract.js'
import { convInputAddPrimitive, convInputPrimitive, convKernelAddPrimitive, convKernelPrimitive, convPrimitive } from './conv.js'
import { add, div, mul, stopGradient, sub } from './elementwise.js'
import { exp, log, rsqrt, square } from './functions.js'
import { avgPoolInputPrimitive, avgPoolPrimitive, maxPoolPrimitive, poolGatherPrimitive, unpoolPrimitive } from './pool.js'
import { max, mean, sum } from './reduce.js'

export interface AxisOption {
  readonly axis?: number
}
const axisIn = (x: AnyExpr, options: AxisOption, op: string): number =>
  normalizeAxis(options.axis ?? -1, x.shape.length) ??
  raise({
    _tag: 'BadInput',
    where: op,
    reason: `axis ${options.axis ?? -1} is out of range for ${showShape(x.shape as readonly number[])}.`,
    fix: 'name an axis of x.',
  })
/** x less its largest entry along the axis: no exponential overflows; the shift has no derivative. */
const shifted = (x: AnyExpr, axis: number): AnyExpr => sub(x, stopGradient(max(x, { axis, keepdims: true })))

/**
 * exp x normalised along an axis (the last by default): positive, with sum 1.
 *
 * Rule    xBar = y (yBar - sum(y yBar)), from the output.   Source  Bridle 1990.
 * Errors  BadInput when the axis is out of range.
 * @example softmax([0, 0])   // [0.5, 0.5]
 */
export const softmax = (x: unknown, options: AxisOption = {}): AnyExpr => {
  const y = asExpr(liftFloat(x, 'softmax'))
  const axis = axisIn(y, options, 'softmax')
  const e = exp(shifted(y, axis))
  return div(e, sum(e, { axis, keepdims: true }))
}

/**
 * log of softmax, without cancellation.
 *
 * Rule    xBar = yBar - softmax(x) sum(yBar).
 * Errors  BadInput when the axis is out of range.
 * @example logSoftmax([0, 0])   // [-0.6931471805599453, -0.6931471805599453]
 */
export const logSoftmax = (x: unknown, options: AxisOption = {}): AnyExpr => {
  const y = asExpr(liftFloat(x, 'logSoftmax'))
  const axis = axisIn(y, options, 'logSoftmax')
  const z = shifted(y, axis)
  return sub(z, log(sum(exp(z), { axis, keepdims: true })))
}

/**
 * Mean over the batch of -sum(target log softmax(logits)); targets are probabilities (one-hot labels) of the logits' shape.
 *
 * Shapes  logits: [..., k], targets: [..., k] -> [].   Source  Goodfellow et al. 2016, 6.2.
 * @example crossEntropy([[0, 0]], [[1, 0]])   // 0.6931471805599453
 */
export const crossEntropy = (logits: unknown, targets: unknown): AnyExpr =>
  mul(-1, mean(sum(mul(targets, logSoftmax(logits)), { axis: -1 })))

/** x W + b: a dense layer. @example linear([[1, 2]], [[3], [4]], [5])   // [[16]] */
export const linear = (x: unknown, w: unknown, b: unknown): AnyExpr => add(matmul(x, w), b)

export interface NormOptions {
  readonly epsilon?: number
  readonly scale?: unknown
  readonly bias?: unknown
}
const normalised = (
  x: AnyExpr,
  axis: readonly number[],
  o: NormOptions,
): { readonly y: AnyExpr; readonly mean: AnyExpr; readonly variance: AnyExpr } => {
  const m = mean(x, { axis, keepdims: true })
  const centred = sub(x, m)
  const v = mean(square(centred), { axis, keepdims: true })
  return { y: mul(centred, rsqrt(add(v, o.epsilon ?? 1e-5))), mean: m, variance: v }
}
const scaled = (y: AnyExpr, o: NormOptions): AnyExpr => {
  const z = o.scale === undefined ? y : mul(y, o.scale)
  return o.bias === undefined ? z : add(z, o.bias)
}

/**
 * x with mean 0 and variance 1 along an axis (the last by default), then scale and bias.
 *
 * Source  Ba, Kiros and Hinton 2016; epsilon 1e-5.
 * @example layerNorm([[1, 1]])   // [[0, 0]]
 */
export const layerNorm = (x: unknown, options: NormOptions & AxisOption = {}): AnyExpr => {
  const y = asExpr(liftFloat(x, 'layerNorm'))
  return scaled(normalised(y, [axisIn(y, options, 'layerNorm')], options).y, options)
}

/** Primitives of this family, by name. */
export const nn = {
  conv: convPrimitive,
  convInput: convInputPrimitive,
  convKernel: convKernelPrimitive,
  convInputAdd: convInputAddPrimitive,
  convKernelAdd: convKernelAddPrimitive,
  maxPool: maxPoolPrimitive,
  unpool: unpoolPrimitive,
  poolGather: poolGatherPrimitive,
  avgPool: avgPoolPrimitive,
  avgPoolInput: avgPoolInputPrimitive,
} as const
