/** Neural networks: convolution and pooling (their primitives are in conv.ts and pool.ts). */

import { flag, integer, type Kind, type ReadOf, raw } from '../errors/options.js'
import { apply, applyMulti, asExpr, asNode, type Node } from '../graph/expr.js'
import type { AnyExpr } from '../types/expr.js'
import type { Padding } from '../types/shape-contract.js'
import type { AvgPoolOptions, ConvFn, PoolFn } from '../types/signatures/nn.js'
import { asLine, asPlane, convPrimitive, four, onPlane, paddingOf, perAxis } from './conv.js'
import { padNode } from './layout-slice.js'
import { floats, operation } from './operation.js'
import { avgPoolPrimitive, maxPoolPrimitive, type PoolParams } from './pool.js'
import { convVolume, poolVolume } from './volumes.js'

const convOptions = {
  stride: raw<number | readonly number[], number>(1),
  padding: raw<Padding>(),
  dilation: raw<number | readonly number[], number>(1),
  groups: integer(1, { from: 1 }),
}
/**
 * Cross-correlation of x with the kernels k over all axes behind the second: one, two or three.
 *
 * Shapes  x: [n, c, h, w], k: [o, c / groups, kh, kw] -> [n, o, oh, ow] with oh = floor((h + pad - dilation (kh - 1) - 1) / stride) + 1; [n, c, w] and [n, c, d, h, w] alike.
 * Dtype   promoted; i32 and bool become f64.   Rule  bilinear; xBar and kBar are convolutions of yBar.   Source  Dumoulin and Visin 2016.
 * Errors  ShapeMismatch when channels differ or the kernel is larger than x, BadInput for options of another form.
 * @example conv(tensor([[[[1, 2, 3]]]]), tensor([[[[1, 1]]]]))   // [[[[3, 5]]]]
 */
export const conv: ConvFn = operation('conv', { x: floats, k: floats }, convOptions, ({ x, k }, { groups, ...o }) => {
  const [xs, ks] = [asNode(x), asNode(k)]
  const axes = xs.shape.length === 3 && ks.shape.length === 3 ? 1 : xs.shape.length === 5 ? 3 : 2
  const [planes, kernels] = axes === 1 ? [asPlane(xs), asPlane(ks)] : [xs, ks]
  if (axes < 3) for (const n of [planes, kernels]) four(n.aval, 'conv')
  const size = xs.shape.slice(-axes)
  const stride = perAxis(o.stride, axes, 'stride', 'conv')
  const dilation = perAxis(o.dilation, axes, 'dilation', 'conv')
  const padding = paddingOf(o.padding, size, ks.shape.slice(-axes), stride, dilation, 'conv')
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

const poolOptions = {
  window: raw<number | readonly number[]>() as Kind<number | readonly number[]>,
  stride: raw<number | readonly number[]>(),
  padding: raw<Padding>(),
  ceilMode: flag(),
}
const avgPoolOptions = { ...poolOptions, countIncludePad: flag() }

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
const pooled = (given: Node, o: ReadOf<typeof poolOptions>, op: string, pool: Pooling, countsPadding = false): AnyExpr => {
  const line = given.shape.length === 3
  const axes = line ? 1 : given.shape.length === 5 ? 3 : 2
  const window = perAxis(o.window, axes, 'window', op)
  const stride = o.stride === undefined ? window : perAxis(o.stride, axes, 'stride', op)
  const own = paddingOf(o.padding, given.shape.slice(2), window, stride, new Array<number>(axes).fill(1), op)
  const wide = o.ceilMode ? roomBehind(given.shape.slice(2), window, stride, own) : own
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
export const maxPool: PoolFn<'maxPool'> = operation('maxPool', { x: floats }, poolOptions, ({ x }, o, op) =>
  pooled(asNode(x), o, op, (n, p) => applyMulti(maxPoolPrimitive, [n], p)[0]!),
)

/**
 * Mean over windows of all axes behind the second, one, two or three; padding does not count unless `countIncludePad`. `ceilMode` as of maxPool.
 *
 * Shapes  x: [n, c, h, w] -> [n, c, oh, ow].   Rule  xBar = yBar spread over each window.
 * Errors  ShapeMismatch when the window does not fit, BadInput without a window of positive integers.
 * @example avgPool(tensor([[[[1, 2], [3, 4]]]]), { window: 2 })   // [[[[2.5]]]]
 */
export const avgPool: PoolFn<'avgPool', AvgPoolOptions> = operation('avgPool', { x: floats }, avgPoolOptions, ({ x }, o, op) =>
  pooled(asNode(x), o, op, (n, p) => apply(avgPoolPrimitive, [n], p), o.countIncludePad),
)
