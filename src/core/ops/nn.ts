/** Neural networks: convolution and pooling (their primitives are in conv.ts and pool.ts), and functions made of other operations. */

import { flagOf, integerOf, type Names, numberOf, optionsOf, shown } from '../errors/check-arguments.js'
import { raise, showShape, within } from '../errors/explain.js'
import { apply, applyMulti, asExpr, asNode, type Node } from '../graph/expr.js'
import { lift, liftAll, liftFloat } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { broadcastShapes, otherAxes, sameShape } from '../graph/shape.js'
import type { AnyExpr, Expr } from '../types/expr.js'
import type { Shape } from '../types/shape.js'
import type { ConvOptions, PoolOptions } from '../types/shape-contract.js'
import type {
  AvgPoolOptions,
  BatchNormFn,
  BatchNormOptions,
  BatchStatisticsFn,
  ConvFn,
  CrossEntropyFn,
  CrossEntropyOptions,
  DropoutFn,
  EmbeddingFn,
  LayerNormFn,
  LayerNormOptions,
  LinearFn,
  PoolFn,
} from '../types/signatures/nn.js'
import type { AxisOptions, FloatAlongAxisFn } from '../types/signatures/reduce.js'
import { eq } from './compare.js'
import { asLine, asPlane, convPrimitive, four, onPlane, paddingOf, perAxis } from './conv.js'
import { add, div, mul, stopGradient, sub, where } from './elementwise.js'
import { exp, log, rsqrt, square } from './functions.js'
import { gather } from './indexing.js'
import { iotaNode, liftIndices } from './indexing-gather.js'
import { axisOf, axisOption, reshapeNode } from './layout-move.js'
import { avgPoolPrimitive, maxPoolPrimitive, type PoolParams } from './pool.js'
import { matmul } from './products.js'
import { axesOf } from './reduce.js'
import { max, mean, sum } from './reductions.js'

/** x less its largest entry along the axis: no exponential overflows; the shift has no derivative. */
const shifted = (x: AnyExpr, axis: number): AnyExpr => sub(x, stopGradient(max(x, { axis, keepdims: true })))

/**
 * exp x normalised along an axis (the last by default): positive, with sum 1.
 *
 * Rule    xBar = y (yBar - sum(y yBar)), from the output.   Source  Bridle 1990.
 * Errors  BadInput when the axis is out of range.
 * @example softmax([0, 0])   // [0.5, 0.5]
 */
export const softmax: FloatAlongAxisFn<'softmax'> = typed((x: unknown, options?: AxisOptions): AnyExpr => {
  const y = asExpr(liftFloat(x, 'softmax'))
  const { axis: given = -1 } = optionsOf(options, axisOption, 'softmax')
  const axis = axisOf(given, y.shape.length, 'softmax')
  const e = exp(shifted(y, axis))
  return div(e, sum(e, { axis, keepdims: true }))
})

/**
 * log of softmax, without cancellation.
 *
 * Rule    xBar = yBar - softmax(x) sum(yBar).
 * Errors  BadInput when the axis is out of range.
 * @example logSoftmax([0, 0])   // [-0.6931, -0.6931]
 */
export const logSoftmax: FloatAlongAxisFn<'logSoftmax'> = typed((x: unknown, options?: AxisOptions): AnyExpr => {
  const y = asExpr(liftFloat(x, 'logSoftmax'))
  const { axis: given = -1 } = optionsOf(options, axisOption, 'logSoftmax')
  const axis = axisOf(given, y.shape.length, 'logSoftmax')
  const z = shifted(y, axis)
  return sub(z, log(sum(exp(z), { axis, keepdims: true })))
})

const crossEntropyOptions: Names<CrossEntropyOptions> = { ...axisOption, reduction: true }
const reductions = {
  mean: (losses: AnyExpr) => mean(losses),
  sum: (losses: AnyExpr) => sum(losses),
  none: (losses: AnyExpr) => losses,
} as const
const reductionOf = (name: 'mean' | 'sum' | 'none'): ((losses: AnyExpr) => AnyExpr) =>
  typeof name === 'string' && Object.hasOwn(reductions, name)
    ? reductions[name]
    : raise({
        _tag: 'BadInput',
        where: 'crossEntropy',
        reason: `${shown(name)} is not a reduction.`,
        fix: "give 'mean', 'sum' or 'none'.",
      })
/**
 * -sum(target log softmax(logits)) along an axis (the last by default), and its mean over everything else.
 * Targets are probabilities of the logits' rank, or i32 classes without the axis; a class out of range adds 0.
 *
 * Shapes  logits: [..., k], targets: [..., k] or [...] -> [], or [...] without a reduction.   Source  Goodfellow et al. 2016, 6.2.
 * Rule    of logSoftmax; classes have no tangent.
 * Errors  ShapeMismatch when targets do not belong to the logits, DTypeMismatch for classes that are not i32, BadInput for another reduction.
 * @example crossEntropy([[0, 0]], [1])   // 0.6931471805599453
 */
export const crossEntropy: CrossEntropyFn = typed((logits: unknown, targets: unknown, options?: CrossEntropyOptions): AnyExpr => {
  const n = liftFloat(logits, 'crossEntropy')
  const x = asExpr(n)
  const { axis: named = -1, reduction = 'mean' } = optionsOf(options, crossEntropyOptions, 'crossEntropy')
  const axis = axisOf(named, n.shape.length, 'crossEntropy')
  const reduced = reductionOf(reduction)
  const given = lift(targets, 'crossEntropy', n.dtype)
  const without = n.shape.filter((_, i) => i !== axis)
  const classes = given.shape.length === without.length
  if (!sameShape(given.shape, classes ? without : n.shape))
    raise({
      _tag: 'ShapeMismatch',
      op: 'crossEntropy',
      shapes: [n.shape, given.shape],
      reason: `targets ${showShape(given.shape)} do not belong to logits ${showShape(n.shape)}.`,
      fix: `give classes ${showShape(without)} or probabilities ${showShape(n.shape)}.`,
    })
  const logP = logSoftmax(x, { axis })
  const terms = classes ? where(isClass(liftIndices(targets, 'crossEntropy'), n.shape, axis), logP, 0) : mul(asExpr(given), logP)
  return mul(-1, reduced(sum(terms, { axis })))
})
/** Where the position along the axis is the class. */
const isClass = (classes: Node, shape: readonly number[], axis: number): AnyExpr =>
  eq(asExpr(expanded(classes, [axis])), asExpr(iotaNode([shape[axis]!, ...shape.slice(axis + 1).map(() => 1)], 0, 'i32')))
/** n with axes of length 1 at the (sorted) places. */
const expanded = (n: Node, axes: readonly number[]): Node => {
  const shape = [...n.shape]
  for (const axis of axes) shape.splice(axis, 0, 1)
  return reshapeNode(n, shape)
}

/**
 * A dense layer: x W + b, or x W.
 *
 * Shapes  x: [..., m], w: [m, n], b: [n] -> [..., n].   Dtype  promoted.   Rule  of matmul and add.
 * Errors  ShapeMismatch when x's last axis is not w's first.
 * @example linear([[1, 2]], [[3], [4]], [5])   // [[16]]
 */
export const linear: LinearFn = typed(
  (x: AnyExpr, w: AnyExpr, b?: AnyExpr): AnyExpr => within('linear', () => (b === undefined ? matmul(x, w) : add(matmul(x, w), b))),
)

/**
 * Rows of a table: one vector for each index.
 *
 * Shapes  table: [n, d], indices: [...] -> [..., d].   Dtype  the table's; indices i32.
 * Rule    the table's cotangent is yBar added at the indices.   Errors  DTypeMismatch for indices that are not i32.
 * @example embedding([[1, 2], [3, 4]], [1])   // [[3, 4]]
 */
export const embedding: EmbeddingFn = typed(
  (table: AnyExpr, indices: Expr<Shape, 'i32'>): AnyExpr => within('embedding', () => gather(table, indices)),
)

/**
 * x where the mask holds, divided by 1 - rate, and 0 elsewhere. The mask is drawn by the caller: true with probability 1 - rate.
 *
 * Shapes  x and the mask broadcast.   Rule  xBar = yBar masked and scaled alike.   Source  Srivastava et al. 2014.
 * Errors  BadInput unless 0 <= rate < 1.
 * @example dropout([1, 2], [true, false], 0.5)   // [2, 0]
 */
export const dropout: DropoutFn = typed((x: unknown, mask: AnyExpr, rate: number): AnyExpr => {
  if (!(typeof rate === 'number' && rate >= 0 && rate < 1))
    raise({
      _tag: 'BadInput',
      where: 'dropout',
      reason: `rate ${shown(rate)} is not a probability below 1.`,
      fix: 'write dropout(x, mask, rate) with 0 <= rate < 1; the mask is drawn by you, true with probability 1 - rate.',
    })
  return where(mask, mul(asExpr(liftFloat(x, 'dropout')), 1 / (1 - rate)), 0)
})

type NormOptions = Pick<LayerNormOptions, 'eps' | 'scale' | 'bias'>
const normOptions: Names<NormOptions> = { eps: true, scale: true, bias: true }
/** A parameter with one number for each place along the axes, so that it broadcasts against x; a number or one of x's rank broadcasts as it is. */
const alongAxes = (p: unknown, x: Node, axes: readonly number[], op: string): AnyExpr => {
  const n = lift(p, op, x.dtype)
  const own = axes.map((i) => x.shape[i]!)
  const fits = sameShape(n.shape, own)
  const shape = x.shape.map((d, i) => (axes.includes(i) ? d : 1))
  const trailing = axes[0] === x.shape.length - axes.length
  const plain = trailing || n.shape.length === 0 || n.shape.length === x.shape.length
  if (!fits && !(plain && sameShape(broadcastShapes(n.shape, x.shape) ?? [], x.shape)))
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [n.shape, x.shape],
      reason: `a parameter of shape ${showShape(n.shape)} does not belong to x ${showShape(x.shape)}.`,
      fix: `give one of shape ${showShape(own)}.`,
    })
  return asExpr(fits && !trailing ? reshapeNode(n, shape) : n)
}
/** Mean and mean squared distance from it over axes, which stay with length 1. */
const momentsOf = (x: AnyExpr, axis: readonly number[]) => {
  const m = mean(x, { axis, keepdims: true })
  const centred = sub(x, m)
  return { mean: m, centred, variance: mean(square(centred), { axis, keepdims: true }) }
}
/** centred / sqrt(variance + eps), then scale and bias. */
const normalised = (centred: AnyExpr, variance: AnyExpr, o: NormOptions, x: Node, axes: readonly number[], op: string): AnyExpr => {
  const y = mul(centred, rsqrt(add(variance, o.eps === undefined ? 1e-5 : numberOf(o.eps, 'eps', op))))
  const z = o.scale === undefined ? y : mul(y, alongAxes(o.scale, x, axes, op))
  return o.bias === undefined ? z : add(z, alongAxes(o.bias, x, axes, op))
}

const layerNormOptions: Names<LayerNormOptions> = { ...normOptions, axis: true }

/**
 * x with mean 0 and variance 1 over axes (the last by default), then scale and bias along them.
 *
 * Shapes  x's; scale and bias have the lengths of the axes, or broadcast.   Source  Ba, Kiros and Hinton 2016; eps 1e-5.
 * Rule    of the mean, the square and rsqrt that it is made of.
 * Errors  BadInput for an axis out of range, ShapeMismatch for a scale or bias that does not fit.
 * @example layerNorm(tensor([[1, 3]]))   // [[-1.000, 1.000]]
 */
export const layerNorm: LayerNormFn = typed((x: unknown, options?: LayerNormOptions): AnyExpr => {
  const n = liftFloat(x, 'layerNorm')
  const given = optionsOf(options, layerNormOptions, 'layerNorm')
  const axes = axesOf(n.shape.length, given.axis === undefined ? -1 : given.axis, 'layerNorm')
  const { centred, variance } = momentsOf(asExpr(n), axes)
  return normalised(centred, variance, given, n, axes, 'layerNorm')
})

const batchNormOptions: Names<BatchNormOptions> = { ...normOptions, axis: true, mean: true, variance: true }
/** The axis of channels, and all other axes. */
const channelsOf = (n: Node, { axis: given = 1 }: AxisOptions, op: string) => {
  const axis = axisOf(given, n.shape.length, op)
  return { axis, others: otherAxes(n.shape.length, [axis]) }
}

/**
 * x with mean 0 and variance 1 in each channel over all other axes, or by a given mean and variance; then scale and bias by channel.
 *
 * Shapes  x: [n, c, ...], scale, bias, mean, variance: [c] -> x's.   Source  Ioffe and Szegedy 2015; eps 1e-5.
 * Rule    of the mean, the square and rsqrt that it is made of: through the batch's statistics, unless they are given.
 * Errors  BadInput for an axis out of range or a mean without a variance, ShapeMismatch for a parameter that does not fit.
 * @example batchNorm(tensor([[1], [3]]))   // [[-1.000], [1.000]]
 */
export const batchNorm: BatchNormFn = typed((x: unknown, options?: BatchNormOptions): AnyExpr => {
  const n = liftFloat(x, 'batchNorm')
  const given = optionsOf(options, batchNormOptions, 'batchNorm')
  const { axis, others } = channelsOf(n, given, 'batchNorm')
  if ((given.mean === undefined) !== (given.variance === undefined))
    raise({ _tag: 'BadInput', where: 'batchNorm', reason: 'mean and variance come together.', fix: 'give both, or neither.' })
  if (given.mean === undefined) {
    const { centred, variance } = momentsOf(asExpr(n), others)
    return normalised(centred, variance, given, n, [axis], 'batchNorm')
  }
  const by = (p: unknown): AnyExpr => alongAxes(p, n, [axis], 'batchNorm')
  return normalised(sub(asExpr(n), by(given.mean)), by(given.variance), given, n, [axis], 'batchNorm')
})

/**
 * Mean and variance (divided by the count) of each channel over all other axes: what batchNorm uses, for running averages.
 * Beside a batchNorm of the same x it costs nothing: both share the sums.
 *
 * Shapes  x: [n, c, ...] -> mean, variance: [c].   Errors  BadInput for an axis out of range.
 * @example batchStatistics([[1], [3]]).mean   // [2]
 */
export const batchStatistics: BatchStatisticsFn = typed(
  (x: unknown, options?: AxisOptions): { readonly mean: AnyExpr; readonly variance: AnyExpr } => {
    const n = liftFloat(x, 'batchStatistics')
    const { axis, others } = channelsOf(n, optionsOf(options, axisOption, 'batchStatistics'), 'batchStatistics')
    const moments = momentsOf(asExpr(n), others)
    const flat = (m: AnyExpr): AnyExpr => asExpr(reshapeNode(asNode(m), [n.shape[axis]!]))
    return { mean: flat(moments.mean), variance: flat(moments.variance) }
  },
)

const convOptions: Names<ConvOptions> = { stride: true, padding: true, dilation: true, groups: true }

/**
 * Cross-correlation of x with the kernels k over the last two axes (the last one for rank 3).
 *
 * Shapes  x: [n, c, h, w], k: [o, c / groups, kh, kw] -> [n, o, oh, ow] with oh = floor((h + pad - dilation (kh - 1) - 1) / stride) + 1.
 * Dtype   promoted.   Rule  bilinear; xBar and kBar are convolutions of yBar.   Source  Dumoulin and Visin 2016.
 * Errors  ShapeMismatch when channels differ or the kernel is larger than x, BadInput for options of another form.
 * @example conv(tensor([[[[1, 2, 3]]]]), tensor([[[[1, 1]]]]))   // [[[[3, 5]]]]
 */
export const conv: ConvFn = typed((x: unknown, k: unknown, options?: ConvOptions): AnyExpr => {
  const [xs, ks] = liftAll([x, k], 'conv', 'f32') as [Node, Node]
  const { stride: strides = 1, dilation: dilations = 1, padding: padded, groups = 1 } = optionsOf(options, convOptions, 'conv')
  const line = xs.shape.length === 3 && ks.shape.length === 3
  const [planes, kernels] = line ? [asPlane(xs), asPlane(ks)] : [xs, ks]
  const first = line ? 3 : 2
  const size = four(planes.aval, 'conv').slice(first)
  const window = four(kernels.aval, 'conv').slice(first)
  const stride = perAxis(strides, size.length, 'stride', 'conv')
  const dilation = perAxis(dilations, size.length, 'dilation', 'conv')
  const padding = paddingOf(padded, size, window, stride, dilation, 'conv')
  if (integerOf(groups, 'groups', 'conv') < 1)
    raise({ _tag: 'BadInput', where: 'conv', reason: `groups ${groups} is not a positive integer.` })
  const y = apply(convPrimitive, [planes, kernels], {
    stride: onPlane(line, [1], stride),
    padding: onPlane(line, [0, 0], padding),
    dilation: onPlane(line, [1], dilation),
    groups,
  })
  return asExpr(line ? asLine(y) : y)
})

const poolOptions: Names<PoolOptions> = { window: true, stride: true, padding: true }
const avgPoolOptions: Names<PoolOptions & AvgPoolOptions> = { ...poolOptions, countIncludePad: true }

/** A pool of planes, or of lines: planes of height 1. */
const pooled = (x: Node, o: PoolOptions, op: string, pool: (x: Node, p: PoolParams) => Node): AnyExpr => {
  const line = x.shape.length === 3
  const size = x.shape.slice(2)
  const axes = line ? 1 : 2
  const window = perAxis(o.window, axes, 'window', op)
  const stride = o.stride === undefined ? window : perAxis(o.stride, axes, 'stride', op)
  const padding = paddingOf(o.padding, size, window, stride, new Array<number>(axes).fill(1), op)
  const params = { window: onPlane(line, [1], window), stride: onPlane(line, [1], stride), padding: onPlane(line, [0, 0], padding) }
  return asExpr(line ? asLine(pool(asPlane(x), params)) : pool(x, params))
}

/**
 * Maximum over windows of the last two axes (the last one for rank 3); stride is the window unless given. NaN wins; among equals the first.
 *
 * Shapes  x: [n, c, h, w] -> [n, c, oh, ow].   Rule  xBar = yBar at the maximum of each window.
 * Errors  ShapeMismatch when the window does not fit, BadInput without a window of positive integers.
 * @example maxPool(tensor([[[[1, 2], [3, 4]]]]), { window: 2 })   // [[[[4]]]]
 */
export const maxPool: PoolFn<'maxPool'> = typed(
  (x: unknown, options: PoolOptions): AnyExpr =>
    pooled(
      liftFloat(x, 'maxPool'),
      optionsOf(options, poolOptions, 'maxPool'),
      'maxPool',
      (n, p) => applyMulti(maxPoolPrimitive, [n], p)[0]!,
    ),
)

/**
 * Mean over windows of the last two axes (the last one for rank 3); padding does not count unless `countIncludePad`.
 *
 * Shapes  x: [n, c, h, w] -> [n, c, oh, ow].   Rule  xBar = yBar spread over each window.
 * Errors  ShapeMismatch when the window does not fit, BadInput without a window of positive integers.
 * @example avgPool(tensor([[[[1, 2], [3, 4]]]]), { window: 2 })   // [[[[2.5]]]]
 */
export const avgPool: PoolFn<'avgPool', AvgPoolOptions> = typed((x: unknown, options: PoolOptions & AvgPoolOptions): AnyExpr => {
  const n = liftFloat(x, 'avgPool')
  const given = optionsOf(options, avgPoolOptions, 'avgPool')
  const whole = flagOf(given.countIncludePad, 'countIncludePad', 'avgPool')
  return pooled(n, given, 'avgPool', (y, p) => apply(avgPoolPrimitive, [y], whole ? { ...p, countIncludePad: true } : p))
})
