/** Layers that give their inputs mean 0 and variance 1, or length 1, over some axes. */
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { number, type OptionsOf, type ReadOf, raw, whole } from '../../core/errors/options.js'
import { broadcastShapes, otherAxes, sameShape } from '../../core/graph/shape.js'
import { add, mul, sub } from '../../core/ops/arithmetic.js'
import { arrayOf, part } from '../../core/ops/arrays.js'
import { pad, reshape } from '../../core/ops/layout/layout.js'
import { axes, axis, floats, operation } from '../../core/ops/operation.js'
import { mean } from '../../core/ops/reductions.js'
import { rsqrt, square } from '../../core/ops/unary.js'
import type { AnyExpr, Arg } from '../../core/types/expr.js'
import type {
  BatchNormFn,
  BatchStatisticsFn,
  GroupNormFn,
  InstanceNormFn,
  LayerNormFn,
  LocalResponseNormFn,
  RmsNormFn,
} from '../../core/types/signatures/nn.js'
import { pow } from '../../families/exponentials.js'

/** A parameter with one number for each place along the axes, so that it broadcasts against x; a number or one of x's rank broadcasts as it is. */
const alongAxes = (p: unknown, x: AnyExpr, along: readonly number[], op: string): AnyExpr => {
  const n = arrayOf(p, op, 'any', x.dtype)
  const own = along.map((i) => x.shape[i]!)
  const fits = sameShape(n.shape, own)
  const trailing = along[0] === x.shape.length - along.length
  const plain = trailing || n.shape.length === 0 || n.shape.length === x.shape.length
  if (!fits && !(plain && sameShape(broadcastShapes(n.shape, x.shape) ?? [], x.shape)))
    badShape(
      op,
      [n.shape, x.shape],
      `a parameter of shape ${showShape(n.shape)} does not fit x ${showShape(x.shape)}.`,
      `give one of shape ${showShape(own)}.`,
    )
  const shape = x.shape.map((d, i) => (along.includes(i) ? d : 1))
  return fits && !trailing ? reshape(n, shape) : n
}
/** Mean and mean squared distance from it over axes, which stay with length 1. */
const momentsOf = (x: AnyExpr, over: readonly number[]) => {
  const m = mean(x, { axis: over, keepdims: true })
  const centred = sub(x, m)
  return { mean: m, centred, variance: mean(square(centred), { axis: over, keepdims: true }) }
}
const affine = { eps: number(1e-5), scale: raw<Arg>(), bias: raw<Arg>() }
type Affine = ReadOf<typeof affine>
/** Options of `groupNorm` and `instanceNorm`. */
interface GroupNormOptions extends OptionsOf<typeof affine> {}
interface Moments {
  readonly centred: AnyExpr
  readonly variance: AnyExpr
}
/** centred / sqrt(variance + eps) in the shape of x, then scale and bias. */
const normalised = (
  { centred, variance }: Moments,
  { eps, scale, bias }: Affine,
  x: AnyExpr,
  along: readonly number[],
  op: string,
): AnyExpr => {
  const y = reshape(mul(centred, rsqrt(add(variance, eps))), x.shape)
  const z = scale === undefined ? y : mul(y, alongAxes(scale, x, along, op))
  return bias === undefined ? z : add(z, alongAxes(bias, x, along, op))
}

const layerOptions = { ...affine, axis: axes(-1) }
/** Options of `layerNorm`. */
interface LayerNormOptions extends OptionsOf<typeof layerOptions> {}
/**
 * x with mean 0 and variance 1 over axes (the last by default), then scale and bias along them.
 *
 * Shapes  x's; scale and bias have the lengths of the axes, or broadcast.   Source  Ba, Kiros and Hinton 2016; eps 1e-5.
 * Rule    of the mean, the square and rsqrt that it is made of.
 * Errors  BadInput for an axis out of range, ShapeMismatch for a scale or bias that does not fit.
 * @example layerNorm(tensor([[1, 3]]))   // [[-1.000, 1.000]]
 */
export const layerNorm: LayerNormFn<LayerNormOptions> = operation('layerNorm', { x: floats }, layerOptions, ({ x }, o, op) =>
  normalised(momentsOf(x, o.axis), o, x, o.axis, op),
)

const channelOptions = { ...affine, axis: axis(1), mean: raw<Arg>(), variance: raw<Arg>() }
/** Options of `batchNorm`: with mean and variance given, those are used (inference). */
interface BatchNormOptions extends OptionsOf<typeof channelOptions> {}
/**
 * x with mean 0 and variance 1 in each channel over all other axes, or by a given mean and variance; then scale and bias by channel.
 *
 * Shapes  x: [n, c, ...], scale, bias, mean, variance: [c] -> x's.   Source  Ioffe and Szegedy 2015; eps 1e-5.
 * Rule    of the mean, the square and rsqrt that it is made of: through the batch's statistics, unless they are given.
 * Errors  BadInput for an axis out of range or a mean without a variance, ShapeMismatch for a parameter that does not fit.
 * @example batchNorm(tensor([[1], [3]]))   // [[-1.000], [1.000]]
 */
export const batchNorm: BatchNormFn<BatchNormOptions> = operation('batchNorm', { x: floats }, channelOptions, ({ x }, o, op) => {
  if ((o.mean === undefined) !== (o.variance === undefined)) badInput(op, 'mean and variance come together.', 'give both, or neither.')
  const by = (p: unknown): AnyExpr => alongAxes(p, x, [o.axis], op)
  const moments =
    o.mean === undefined ? momentsOf(x, otherAxes(x.shape.length, [o.axis])) : { centred: sub(x, by(o.mean)), variance: by(o.variance) }
  return normalised(moments, o, x, [o.axis], op)
})

/**
 * Mean and variance (divided by the count) of each channel over all other axes: what batchNorm uses, for running averages.
 * Beside a batchNorm of the same x it costs nothing: both share the sums.
 *
 * Shapes  x: [n, c, ...] -> mean, variance: [c].   Errors  BadInput for an axis out of range.
 * @example batchStatistics([[1], [3]]).mean   // [2]
 */
export const batchStatistics: BatchStatisticsFn = operation('batchStatistics', { x: floats }, { axis: axis(1) }, ({ x }, o) => {
  const moments = momentsOf(x, otherAxes(x.shape.length, [o.axis]))
  const flat = (m: AnyExpr): AnyExpr => reshape(m, [x.shape[o.axis]!])
  return { mean: flat(moments.mean), variance: flat(moments.variance) }
})

const rmsOptions = { eps: number(1e-6), scale: raw<Arg>(), axis: axes(-1) }
/** Options of `rmsNorm`. */
interface RmsNormOptions extends OptionsOf<typeof rmsOptions> {}
/**
 * x divided by the root of its mean square over axes (the last by default), then scale along them.
 *
 * Shapes  x's; scale has the lengths of the axes, or broadcasts.   Source  Zhang and Sennrich 2019; eps 1e-6.
 * Rule    of the mean, the square and rsqrt that it is made of.
 * Errors  BadInput for an axis out of range, ShapeMismatch for a scale that does not fit.
 * @example rmsNorm(tensor([[3, 4]]))   // [[0.8485, 1.131]]
 */
export const rmsNorm: RmsNormFn<RmsNormOptions> = operation(
  'rmsNorm',
  { x: floats },
  rmsOptions,
  ({ x }, { eps, scale, axis: over }, op) => {
    const size = mean(square(x), { axis: over, keepdims: true })
    const y = mul(x, rsqrt(add(size, eps)))
    return scale === undefined ? y : mul(y, alongAxes(scale, x, over, op))
  },
)

/** x normalised over each group of channels (axis 1) and all positions, for each example. */
const inGroups = (x: AnyExpr, groups: number, o: Affine, op: string): AnyExpr => {
  const [b, c, ...space] = x.shape
  if (x.shape.length < 2) badShape(op, [x.shape], `x is ${showShape(x.shape)}.`, 'give x as [n, c, ...].')
  if (groups < 1 || c! % groups !== 0) badInput(op, `${c} channels are not ${groups} equal groups.`, 'give a number that divides them.')
  const parts = reshape(x, [b!, groups, c! / groups, ...space])
  return normalised(momentsOf(parts, otherAxes(parts.shape.length, [0, 1])), o, x, [1], op)
}
/**
 * x with mean 0 and variance 1 over each group of channels and all positions of an example; then scale and bias by channel.
 *
 * Shapes  x: [n, c, ...], scale, bias: [c] -> x's.   Source  Wu and He 2018; eps 1e-5.
 * Rule    of the mean, the square and rsqrt that it is made of.
 * Errors  BadInput unless the groups divide the channels, ShapeMismatch for a parameter that does not fit or x of rank 0 or 1.
 * @example groupNorm(tensor([[1, 3, 5, 9]]), 2)   // [[-1.000, 1.000, -1.000, 1.000]]
 */
export const groupNorm: GroupNormFn<GroupNormOptions> = operation(
  'groupNorm',
  { x: floats, groups: whole() },
  affine,
  ({ x, groups }, o, op) => inGroups(x, groups, o, op),
)
/**
 * x with mean 0 and variance 1 over the positions of each channel of each example; then scale and bias by channel.
 *
 * Shapes  x: [n, c, ...], scale, bias: [c] -> x's.   Source  Ulyanov, Vedaldi and Lempitsky 2016; eps 1e-5.
 * Rule    as groupNorm, with as many groups as channels.
 * Errors  ShapeMismatch for a parameter that does not fit or x of rank 0 or 1.
 * @example instanceNorm(tensor([[[1, 3], [2, 6]]]))   // [[[-1.000, 1.000], [-1.000, 1.000]]]
 */
export const instanceNorm: InstanceNormFn<GroupNormOptions> = operation('instanceNorm', { x: floats }, affine, ({ x }, o, op) =>
  inGroups(x, Math.max(1, x.shape[1] ?? 1), o, op),
)

const localOptions = {
  /** The weight of the mean square: 1e-4 unless given. */
  alpha: number(1e-4),
  /** The power: 0.75 unless given. */
  beta: number(0.75),
  /** What is added: 1 unless given. */
  k: number(1),
}
/** Options of `localResponseNorm`. */
interface LocalResponseNormOptions extends OptionsOf<typeof localOptions> {}
/**
 * x / (k + alpha m)^beta, m the mean square over `size` neighbouring channels: size / 2 before (rounded down) and the others after; beyond the first and last they are 0.
 *
 * Shapes  x: [n, c, ...] -> x's.   Source  Krizhevsky, Sutskever and Hinton 2012; PyTorch local_response_norm: alpha 1e-4, beta 0.75, k 1.
 * Rule    by composition.   Errors  BadInput unless the size is a positive integer, ShapeMismatch for x of rank 0 or 1.
 * @example localResponseNorm(tensor([[1, 2]]), 1, { alpha: 1, beta: 1 })   // [[0.5, 0.4]]
 */
export const localResponseNorm: LocalResponseNormFn<LocalResponseNormOptions> = operation(
  'localResponseNorm',
  { x: floats, size: whole({ from: 1 }) },
  localOptions,
  ({ x, size }, { alpha, beta, k }, op) => {
    if (x.shape.length < 2) badShape(op, [x.shape], `x is ${showShape(x.shape)}.`, 'give x as [n, c, ...].')
    const c = x.shape[1]!
    const [before, behind] = [Math.min(c, Math.floor(size / 2)), Math.min(c, Math.floor((size - 1) / 2))]
    const wide = pad(square(x), [0, [before, behind]])
    const parts = Array.from({ length: before + behind + 1 }, (_, i) => part(wide, 1, i, c))
    const total = parts.reduce((a, b) => add(a, b))
    return mul(x, pow(add(mul(total, alpha / size), k), -beta))
  },
)
