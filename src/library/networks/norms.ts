/** Layers that give their inputs mean 0 and variance 1, or length 1, over some axes. */
import { integerOf, type Names, numberOf, optionsOf } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { broadcastShapes, otherAxes, sameShape } from '../../core/graph/shape.js'
import { add, mul, sub } from '../../core/ops/elementwise.js'
import { rsqrt, square } from '../../core/ops/functions.js'
import { axisOf, axisOption, reshapeNode } from '../../core/ops/layout-move.js'
import { axesOf } from '../../core/ops/reduce.js'
import { mean } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  BatchNormFn,
  BatchNormOptions,
  BatchStatisticsFn,
  GroupNormFn,
  GroupNormOptions,
  InstanceNormFn,
  LayerNormFn,
  LayerNormOptions,
  RmsNormFn,
  RmsNormOptions,
} from '../../core/types/signatures/nn.js'
import type { AxisOptions } from '../../core/types/signatures/reduce.js'

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

const rmsNormOptions: Names<RmsNormOptions> = { eps: true, scale: true, axis: true }
/**
 * x divided by the root of its mean square over axes (the last by default), then scale along them.
 *
 * Shapes  x's; scale has the lengths of the axes, or broadcasts.   Source  Zhang and Sennrich 2019; eps 1e-6.
 * Rule    of the mean, the square and rsqrt that it is made of.
 * Errors  BadInput for an axis out of range, ShapeMismatch for a scale that does not fit.
 * @example rmsNorm(tensor([[3, 4]]))   // [[0.8485, 1.131]]
 */
export const rmsNorm: RmsNormFn = typed((x: unknown, options?: RmsNormOptions): AnyExpr => {
  const n = liftFloat(x, 'rmsNorm')
  const { axis = -1, eps = 1e-6, scale } = optionsOf(options, rmsNormOptions, 'rmsNorm')
  const axes = axesOf(n.shape.length, axis, 'rmsNorm')
  const size = mean(square(asExpr(n)), { axis: axes, keepdims: true })
  const y = mul(asExpr(n), rsqrt(add(size, numberOf(eps, 'eps', 'rmsNorm'))))
  return scale === undefined ? y : mul(y, alongAxes(scale, n, axes, 'rmsNorm'))
})

const groupNormOptions: Names<GroupNormOptions> = { ...normOptions }
/** x normalised over each group of channels (axis 1) and all positions, for each example. */
const inGroups = (n: Node, groups: number, options: GroupNormOptions, op: string): AnyExpr => {
  const [b, c, ...space] = n.shape
  if (n.shape.length < 2)
    raise({ _tag: 'ShapeMismatch', op, shapes: [n.shape], reason: `x is ${showShape(n.shape)}.`, fix: 'give x as [n, c, ...].' })
  if (groups < 1 || c! % groups !== 0)
    raise({ _tag: 'BadInput', where: op, reason: `${c} channels are not ${groups} equal groups.`, fix: 'give a number that divides them.' })
  const parts = reshapeNode(n, [b!, groups, c! / groups, ...space])
  const over = parts.shape.map((_, i) => i).slice(2)
  const { centred, variance } = momentsOf(asExpr(parts), over)
  const eps = options.eps === undefined ? 1e-5 : numberOf(options.eps, 'eps', op)
  const y = asExpr(reshapeNode(asNode(mul(centred, rsqrt(add(variance, eps)))), n.shape))
  const z = options.scale === undefined ? y : mul(y, alongAxes(options.scale, n, [1], op))
  return options.bias === undefined ? z : add(z, alongAxes(options.bias, n, [1], op))
}
/**
 * x with mean 0 and variance 1 over each of so many groups of channels, with all positions, for each example; then scale and bias by channel.
 *
 * Shapes  x: [n, c, ...], scale, bias: [c] -> x's.   Source  Wu and He 2018; eps 1e-5.
 * Rule    of the mean, the square and rsqrt that it is made of.
 * Errors  BadInput unless the groups divide the channels, ShapeMismatch for a parameter that does not fit or x of rank 0 or 1.
 * @example groupNorm(tensor([[1, 3, 5, 9]]), 2)   // [[-1.000, 1.000, -1.000, 1.000]]
 */
export const groupNorm: GroupNormFn = typed(
  (x: unknown, groups: unknown, options?: GroupNormOptions): AnyExpr =>
    inGroups(
      liftFloat(x, 'groupNorm'),
      integerOf(groups, 'groups', 'groupNorm'),
      optionsOf(options, groupNormOptions, 'groupNorm'),
      'groupNorm',
    ),
)
/**
 * x with mean 0 and variance 1 over the positions of each channel of each example; then scale and bias by channel.
 *
 * Shapes  x: [n, c, ...], scale, bias: [c] -> x's.   Source  Ulyanov, Vedaldi and Lempitsky 2016; eps 1e-5.
 * Rule    as groupNorm, with as many groups as channels.
 * Errors  ShapeMismatch for a parameter that does not fit or x of rank 0 or 1.
 * @example instanceNorm(tensor([[[1, 3], [2, 6]]]))   // [[[-1.000, 1.000], [-1.000, 1.000]]]
 */
export const instanceNorm: InstanceNormFn = typed((x: unknown, options?: GroupNormOptions): AnyExpr => {
  const n = liftFloat(x, 'instanceNorm')
  return inGroups(n, Math.max(1, n.shape[1] ?? 1), optionsOf(options, groupNormOptions, 'instanceNorm'), 'instanceNorm')
})
