/** Neural networks: convolution and pooling (their primitives are in conv.ts and pool.ts), and functions made of other operations. */

import { flagOf, integerOf, type Names, optionsOf, shown } from '../errors/check-arguments.js'
import { raise, within } from '../errors/explain.js'
import { apply, applyMulti, asExpr, type Node } from '../graph/expr.js'
import { liftAll, liftFloat } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import type { AnyExpr, Expr } from '../types/expr.js'
import type { Shape } from '../types/shape.js'
import type { ConvOptions, PoolOptions } from '../types/shape-contract.js'
import type { AvgPoolOptions, ConvFn, DropoutFn, EmbeddingFn, LinearFn, PoolFn } from '../types/signatures/nn.js'
import type { AxisOptions, FloatAlongAxisFn } from '../types/signatures/reduce.js'
import { asLine, asPlane, convPrimitive, four, onPlane, paddingOf, perAxis } from './conv.js'
import { add, div, mul, stopGradient, sub, where } from './elementwise.js'
import { exp, log } from './functions.js'
import { gather } from './indexing.js'
import { axisOf, axisOption } from './layout-move.js'
import { padNode } from './layout-slice.js'
import { avgPoolPrimitive, maxPoolPrimitive, type PoolParams } from './pool.js'
import { matmul } from './products.js'
import { max, sum } from './reductions.js'
import { convVolume, poolVolume } from './volumes.js'

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

/**
 * A dense layer: x W + b, or x W.
 *
 * Shapes  x: [..., m], w: [m, n], b: [n] -> [..., n].   Dtype  promoted; bool becomes i32, i32 wraps.   Rule  of matmul and add.
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
      fix: 'write dropout(x, mask, rate) with 0 <= rate < 1; the mask is drawn by you, true with probability 1 - rate. dropout(x, rate, key) of codual/random draws it.',
    })
  return where(mask, mul(asExpr(liftFloat(x, 'dropout')), 1 / (1 - rate)), 0)
})

const convOptions: Names<ConvOptions> = { stride: true, padding: true, dilation: true, groups: true }

/**
 * Cross-correlation of x with the kernels k over all axes behind the second: one, two or three.
 *
 * Shapes  x: [n, c, h, w], k: [o, c / groups, kh, kw] -> [n, o, oh, ow] with oh = floor((h + pad - dilation (kh - 1) - 1) / stride) + 1; [n, c, w] and [n, c, d, h, w] alike.
 * Dtype   promoted; i32 and bool become f64.   Rule  bilinear; xBar and kBar are convolutions of yBar.   Source  Dumoulin and Visin 2016.
 * Errors  ShapeMismatch when channels differ or the kernel is larger than x, BadInput for options of another form.
 * @example conv(tensor([[[[1, 2, 3]]]]), tensor([[[[1, 1]]]]))   // [[[[3, 5]]]]
 */
export const conv: ConvFn = typed((x: unknown, k: unknown, options?: ConvOptions): AnyExpr => {
  const [xs, ks] = liftAll([x, k], 'conv', 'float') as [Node, Node]
  const { stride: strides = 1, dilation: dilations = 1, padding: padded, groups = 1 } = optionsOf(options, convOptions, 'conv')
  const axes = xs.shape.length === 3 && ks.shape.length === 3 ? 1 : xs.shape.length === 5 ? 3 : 2
  const [planes, kernels] = axes === 1 ? [asPlane(xs), asPlane(ks)] : [xs, ks]
  if (axes < 3) for (const n of [planes, kernels]) four(n.aval, 'conv')
  const size = xs.shape.slice(-axes)
  const stride = perAxis(strides, axes, 'stride', 'conv')
  const dilation = perAxis(dilations, axes, 'dilation', 'conv')
  const padding = paddingOf(padded, size, ks.shape.slice(-axes), stride, dilation, 'conv')
  if (integerOf(groups, 'groups', 'conv') < 1)
    raise({ _tag: 'BadInput', where: 'conv', reason: `groups ${groups} is not a positive integer.` })
  if (axes === 3) return asExpr(convVolume(planes, kernels, { stride, padding, dilation, groups }, 'conv'))
  const line = axes === 1
  const y = apply(convPrimitive, [planes, kernels], {
    stride: onPlane(line, [1], stride),
    padding: onPlane(line, [0, 0], padding),
    dilation: onPlane(line, [1], dilation),
    groups,
  })
  return asExpr(line ? asLine(y) : y)
})

const poolOptions: Names<PoolOptions> = { window: true, stride: true, padding: true, ceilMode: true }
const avgPoolOptions: Names<PoolOptions & AvgPoolOptions> = { ...poolOptions, countIncludePad: true }

type Pooling = (x: Node, p: PoolParams) => Node
/** Padding with as much more behind each axis as makes room for a last window that begins within x or the padding before it. */
const roomBehind = (size: readonly number[], window: readonly number[], stride: readonly number[], padding: readonly number[]) =>
  size.flatMap((n, i) => {
    const [before, behind] = padding.slice(2 * i, 2 * i + 2) as [number, number]
    const count = Math.ceil((n + before + behind - window[i]!) / stride[i]!)
    const last = count * stride[i]! < n + before ? count : count - 1
    return [before, Math.max(behind, last * stride[i]! + window[i]! - n - before)]
  })
/** A pool of planes, of lines (planes of height 1), or of volumes. */
const pooled = (given: Node, o: PoolOptions, op: string, pool: Pooling, countsPadding = false): AnyExpr => {
  const line = given.shape.length === 3
  const axes = line ? 1 : given.shape.length === 5 ? 3 : 2
  const window = perAxis(o.window, axes, 'window', op)
  const stride = o.stride === undefined ? window : perAxis(o.stride, axes, 'stride', op)
  const own = paddingOf(o.padding, given.shape.slice(2), window, stride, new Array<number>(axes).fill(1), op)
  const wide = flagOf(o.ceilMode, 'ceilMode', op) ? roomBehind(given.shape.slice(2), window, stride, own) : own
  // The room behind never counts, the padding may.
  const apart = countsPadding && wide !== own
  const x = apart ? padded(given, own) : given
  const padding = apart ? wide.map((p, i) => p - own[i]!) : wide
  const counting = countsPadding && !apart ? { countIncludePad: true } : {}
  if (axes === 3) return asExpr(poolVolume(x, { window, stride, padding, ...counting }, op, pool))
  const params = {
    window: onPlane(line, [1], window),
    stride: onPlane(line, [1], stride),
    padding: onPlane(line, [0, 0], padding),
    ...counting,
  }
  return asExpr(line ? asLine(pool(asPlane(x), params)) : pool(x, params))
}
/** x with zeros before and behind each axis of positions. */
const padded = (x: Node, padding: readonly number[]): Node => {
  const sides = x.shape.map(
    (d, i) => (i < 2 ? [0, d] : [padding[2 * i - 4]!, d + padding[2 * i - 4]! + padding[2 * i - 3]!]) as [number, number],
  )
  return padNode(
    x,
    sides.map(([before]) => before),
    sides.map(([, n]) => n),
    sides.map(() => 1),
  )
}

/**
 * Maximum over windows of all axes behind the second, one, two or three; stride is the window unless given. NaN wins; among equals the first.
 * With `ceilMode` a last window that reaches beyond x and its padding counts too, with what it has of x.
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
 * Mean over windows of all axes behind the second, one, two or three; padding does not count unless `countIncludePad`. `ceilMode` as of maxPool.
 *
 * Shapes  x: [n, c, h, w] -> [n, c, oh, ow].   Rule  xBar = yBar spread over each window.
 * Errors  ShapeMismatch when the window does not fit, BadInput without a window of positive integers.
 * @example avgPool(tensor([[[[1, 2], [3, 4]]]]), { window: 2 })   // [[[[2.5]]]]
 */
export const avgPool: PoolFn<'avgPool', AvgPoolOptions> = typed((x: unknown, options: PoolOptions & AvgPoolOptions): AnyExpr => {
  const n = liftFloat(x, 'avgPool')
  const given = optionsOf(options, avgPoolOptions, 'avgPool')
  const whole = flagOf(given.countIncludePad, 'countIncludePad', 'avgPool')
  return pooled(n, given, 'avgPool', (y, p) => apply(avgPoolPrimitive, [y], p), whole)
})
