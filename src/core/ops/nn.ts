/** Neural networks: convolution and pooling (their primitives are in conv.ts and pool.ts). */

import { badShape, showShape } from '../errors/explain.js'
import { flag, integer, must, type ReadOf, raw } from '../errors/options.js'
import { apply, applyMulti, asExpr, asNode, constant, type Node } from '../graph/expr.js'
import type { AnyExpr } from '../types/expr.js'
import type { Padding } from '../types/shape-windows.js'
import type { AvgPoolOptions, ConvFn, MaxPoolOptions, PoolFn } from '../types/signatures/nn.js'
import { asLine, asPlane, type ConvParams, convInputPrimitive, convPrimitive, four, onPlane, paddingOf, perAxis, windowed } from './conv.js'
import { add } from './elementwise.js'
import { concat } from './joins.js'
import { reshapeNode, transposeNode } from './layout/move.js'
import { padNode, sliceNode } from './layout/slice.js'
import { floats, operation } from './operation.js'
import { avgPoolPrimitive, maxPoolPrimitive, type PoolParams } from './pool.js'

export const convOptions = {
  /** Positions from one window to the next, along all axes or each: 1 unless given. */
  stride: raw<number | readonly number[], 1>(1),
  /** Zeros around x: none unless given. */
  padding: raw<Padding>(),
  /** Positions from one element of the kernel to the next, along all axes or each: 1 unless given. */
  dilation: raw<number | readonly number[], 1>(1),
  /** The number of groups of channels, each with kernels of its own. */
  groups: integer(1, { from: 1 }),
}
/**
 * Convolution of neural networks, the cross-correlation of x with the kernels k over the axes after the second: one, two or three of them.
 *
 * Shapes  x: [n, c, h, w], k: [o, c / groups, kh, kw] -> [n, o, oh, ow] with oh = floor((h + pad - dilation (kh - 1) - 1) / stride) + 1; [n, c, w] and [n, c, d, h, w] alike.
 * Dtype   promoted; i32 and bool become f64.   Rule  bilinear; xBar and kBar are convolutions of yBar.   Source  Dumoulin and Visin 2016.
 * Errors  ShapeMismatch when channels differ or the kernel is larger than x, BadInput for invalid options.
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

export const poolOptions = {
  /** The size of a window, along all axes or each. */
  window: must<number | readonly number[]>(),
  /** Positions from one window to the next: the window unless given. */
  stride: raw<number | readonly number[]>(),
  /** Positions around x: none unless given. */
  padding: raw<Padding>(),
  /** A last window that reaches beyond the padding counts too, with what it has of x: the result is rounded up, not down. */
  ceilMode: flag(),
}
export const avgPoolOptions = {
  /** Does the divisor count the padding too? */
  countIncludePad: flag(),
}
export const maxPoolOptions = {
  /** The distance between the elements of a window, 1 unless given: a number, or one for each axis. */
  dilation: raw<number | readonly number[], 1>(1),
}
/** All that `maxPool` and `maxPoolWithIndices` read. */
export const maxPoolReads = { ...poolOptions, ...maxPoolOptions }

type Pooling = (x: Node, p: PoolParams) => Node
/** Padding with as much more behind each axis as makes room for a last window that begins within x or the padding before it. */
const roomBehind = (size: readonly number[], extent: readonly number[], stride: readonly number[], padding: readonly number[]) =>
  size.flatMap((n, i) => {
    const [before, behind] = padding.slice(2 * i, 2 * i + 2) as [number, number]
    const count = Math.ceil((n + before + behind - extent[i]!) / stride[i]!)
    const last = count * stride[i]! < n + before ? count : count - 1
    return [before, Math.max(behind, last * stride[i]! + extent[i]! - n - before)]
  })
/** Windows over the positions of x, as they were asked for: each axis' length, step and distance of places, and what is before and behind. */
export const windowsOver = (x: Pick<Node, 'shape'>, o: ReadOf<typeof maxPoolReads>, op: string) => {
  const axes = x.shape.length === 3 ? 1 : x.shape.length === 5 ? 3 : 2
  const size = x.shape.slice(2)
  const window = perAxis(o.window, axes, 'window', op)
  const stride = o.stride === undefined ? window : perAxis(o.stride, axes, 'stride', op)
  const dilation = perAxis(o.dilation, axes, 'dilation', op)
  const extent = window.map((k, i) => dilation[i]! * (k - 1) + 1)
  const own = paddingOf(o.padding, size, window, stride, dilation, op)
  const padding = o.ceilMode ? roomBehind(size, extent, stride, own) : own
  return { axes, window, stride, dilation, own, padding, extent }
}
/** How many windows there are along each axis; raises where they do not fit, or one has no place inside. */
export const countsOf = (x: Pick<Node, 'shape'>, w: ReturnType<typeof windowsOver>, op: string): readonly number[] => {
  const { window, stride, dilation, padding, extent } = w
  const size = x.shape.slice(2)
  const count = extent.map((e, i) => windowed(size[i]!, e, stride[i]!, padding[2 * i]!, padding[2 * i + 1]!, 1))
  const isEmpty = (i: number, j: number): boolean => {
    const first = j * stride[i]! - padding[2 * i]!
    const place = first < 0 ? Math.ceil(-first / dilation[i]!) : 0
    return place >= window[i]! || first + place * dilation[i]! >= size[i]!
  }
  const fits = (n: number, i: number): boolean =>
    n >= 1 &&
    padding[2 * i]! < extent[i]! &&
    padding[2 * i + 1]! < extent[i]! &&
    !Array.from({ length: n }, (_, j) => isEmpty(i, j)).includes(true)
  if (!count.every(fits))
    badShape(
      op,
      [x.shape, extent],
      `the window ${showShape(extent)} with padding ${showShape(padding)} does not fit x ${showShape(x.shape)}.`,
      'padding must be smaller than the window, the window at most x, and a place of each window inside.',
    )
  return count
}
/** A pool of planes, of lines (planes of height 1), or of volumes. */
const pooled = (given: Node, o: ReadOf<typeof maxPoolReads>, op: string, pool: Pooling, countsPadding = false): AnyExpr => {
  const windows = windowsOver(given, o, op)
  const { axes, window, stride, dilation, own, padding: wide } = windows
  if (dilation.some((d, i) => d > 1 && window[i]! > 1) && given.shape.length === axes + 2)
    return pooled(placesOf(given, windows, op), { ...o, window, stride: window, padding: 0, dilation: 1, ceilMode: false }, op, pool)
  const line = axes === 1
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
/** The places of dilated windows next to each other: windows that have no distance, and do not overlap. */
const placesOf = (x: Node, windows: ReturnType<typeof windowsOver>, op: string): Node => {
  const lowest = constant(Number.NEGATIVE_INFINITY, x.dtype)
  return countsOf(x, windows, op).reduce((y: Node, count, i) => {
    const [axis, k] = [i + 2, windows.window[i]!]
    const [before, behind] = windows.padding.slice(2 * i, 2 * i + 2) as [number, number]
    const at = (n: number, others: readonly number[]): readonly number[] => others.map((d, j) => (j === axis ? n : d))
    const [zeros, ones] = [y.shape.map(() => 0), y.shape.map(() => 1)]
    const wide = before + behind === 0 ? y : padNode(y, at(before, zeros), at(y.shape[axis]! + before + behind, y.shape), ones, lowest)
    const taps = Array.from({ length: k }, (_, u) => {
      const read = { starts: at(u * windows.dilation[i]!, zeros), sizes: at(count, y.shape), strides: at(windows.stride[i]!, ones) }
      return asExpr(reshapeNode(sliceNode(wide, read), [...y.shape.slice(0, axis), count, 1, ...y.shape.slice(axis + 1)]))
    })
    return reshapeNode(asNode(concat(taps, { axis: axis + 1 })), at(count * k, y.shape))
  }, x)
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
 * Maximum over windows of the axes after the second: one, two or three of them. The stride is the window unless given. NaN wins; among equal elements the first.
 * `dilation` is the distance between the elements of a window. With `ceilMode` a last window that reaches beyond x and its padding counts too, over its part of
 * x.
 *
 * Shapes  x: [n, c, h, w] -> [n, c, oh, ow].   Rule  xBar = yBar at the maximum of each window.
 * Errors  ShapeMismatch when the window does not fit, BadInput without a window of positive integers.
 * @example maxPool(tensor([[[[1, 2], [3, 4]]]]), { window: 2 })   // [[[[4]]]]
 */
export const maxPool: PoolFn<'maxPool', MaxPoolOptions> = operation('maxPool', { x: floats }, maxPoolReads, ({ x }, o, op) =>
  pooled(asNode(x), o, op, (n, p) => applyMulti(maxPoolPrimitive, [n], p)[0]!),
)

/**
 * Mean over windows of the axes after the second: one, two or three of them. Padding does not count unless `countIncludePad` is set. `ceilMode`
 * is as for `maxPool`.
 *
 * Shapes  x: [n, c, h, w] -> [n, c, oh, ow].   Rule  xBar = yBar spread over each window.
 * Errors  ShapeMismatch when the window does not fit, BadInput without a window of positive integers.
 * @example avgPool(tensor([[[[1, 2], [3, 4]]]]), { window: 2 })   // [[[[2.5]]]]
 */
export const avgPool: PoolFn<'avgPool', AvgPoolOptions> = operation(
  'avgPool',
  { x: floats },
  { ...poolOptions, ...avgPoolOptions },
  ({ x }, o, op) => pooled(asNode(x), { ...o, dilation: 1 }, op, (n, p) => apply(avgPoolPrimitive, [n], p), o.countIncludePad),
)

/** Parameters for depth, height and width. */
interface Volume {
  readonly stride: readonly number[]
  /** Before and behind each axis. */
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
  readonly groups: number
}
type Five = readonly [number, number, number, number, number]
const five = (x: Node, op: string): Five =>
  x.shape.length === 5 ? (x.shape as Five) : badShape(op, [x.shape], `needs rank 5, got ${showShape(x.shape)}.`, 'x is [n, c, d, h, w].')
/** The parameters of the planes. */
const plane = ({ stride, padding, dilation, groups }: Volume): ConvParams => ({
  stride: stride.slice(1),
  padding: padding.slice(2),
  dilation: dilation.slice(1),
  groups,
})
/** Each place along the depth as an example of its own, and back. */
const asExamples = (x: Node): Node => {
  const [n, c, d, h, w] = x.shape as unknown as Five
  return reshapeNode(transposeNode(x, [0, 2, 1, 3, 4]), [n * d, c, h, w])
}
const asVolumes = (y: Node, n: number, d: number): Node => transposeNode(reshapeNode(y, [n, d, ...y.shape.slice(1)]), [0, 2, 1, 3, 4])
/** One slice of the kernel along its depth. */
const layer = (k: Node, u: number): Node => {
  const [o, c, , kh, kw] = k.shape as unknown as Five
  return reshapeNode(sliceNode(k, { starts: [0, 0, u, 0, 0], sizes: [o, c, 1, kh, kw], strides: [1, 1, 1, 1, 1] }), [o, c, kh, kw])
}
const total = (terms: readonly Node[]): Node => terms.reduce((a, b) => asNode(add(asExpr(a), asExpr(b))))
const along = (x: Node, depth: number): readonly number[] => x.shape.map((d, i) => (i === 2 ? depth : d))

const checked = (op: string, k: Node, out: number, x: Node): void => {
  if (k.shape[2]! < 1 || out < 1)
    badShape(
      op,
      [x.shape, k.shape],
      `the kernel ${showShape(k.shape)} does not fit along the depth of x ${showShape(x.shape)} with its padding.`,
      'pad more, or use a smaller kernel.',
    )
}
/** y = conv(x, k) of volumes. */
const convVolume = (x: Node, k: Node, p: Volume, op: string): Node => {
  const [n, , d] = five(x, op)
  const [, , kd] = five(k, op)
  const [before, behind] = p.padding as readonly [number, number]
  const out = windowed(d, kd, p.stride[0]!, before, behind, p.dilation[0]!)
  checked(op, k, out, x)
  const wide = before + behind === 0 ? x : padNode(x, [0, 0, before, 0, 0], along(x, d + before + behind), [1, 1, 1, 1, 1])
  const terms = Array.from({ length: kd }, (_, u) => {
    const read = { starts: [0, 0, u * p.dilation[0]!, 0, 0], sizes: along(x, out), strides: [1, 1, p.stride[0]!, 1, 1] }
    return apply(convPrimitive, [asExamples(sliceNode(wide, read)), layer(k, u)], plane(p))
  })
  return asVolumes(total(terms), n, out)
}
/** The adjoint of `convVolume` in x: of the size that is given. */
export const convInputVolume = (y: Node, k: Node, p: Volume, size: readonly number[], op: string): Node => {
  const [n, , d] = five(y, op)
  const [, , kd] = five(k, op)
  const [before, behind] = p.padding as readonly [number, number]
  const wide = size[0]! + before + behind
  checked(op, k, d, y)
  const terms = Array.from({ length: kd }, (_, u) => {
    const x = asVolumes(apply(convInputPrimitive, [asExamples(y), layer(k, u)], { ...plane(p), size: size.slice(1) }), n, d)
    return padNode(x, [0, 0, u * p.dilation[0]!, 0, 0], along(x, wide), [1, 1, p.stride[0]!, 1, 1])
  })
  const sum = total(terms)
  return sliceNode(sum, { starts: [0, 0, before, 0, 0], sizes: along(sum, size[0]!), strides: [1, 1, 1, 1, 1] })
}
/** A pool over height and width, and one over the depth of what it gave. */
const poolVolume = (x: Node, p: PoolParams, op: string, pool: (x: Node, p: PoolParams) => Node): Node => {
  const [n, c, d, h, w] = five(x, op)
  const rest = p.countIncludePad === true ? { countIncludePad: true } : {}
  const planes = pool(reshapeNode(x, [n, c * d, h, w]), {
    window: p.window.slice(1),
    stride: p.stride.slice(1),
    padding: p.padding.slice(2),
    ...rest,
  })
  const [, , oh, ow] = planes.shape as readonly [number, number, number, number]
  const y = pool(reshapeNode(planes, [n, c, d, oh * ow]), {
    window: [p.window[0]!, 1],
    stride: [p.stride[0]!, 1],
    padding: [...p.padding.slice(0, 2), 0, 0],
    ...rest,
  })
  return reshapeNode(y, [n, c, y.shape[2]!, oh, ow])
}
/** The adjoint of a convolution of planes or volumes in its input, of the size that is given. */
export const convInputOver = (y: AnyExpr, k: AnyExpr, p: Volume, size: readonly number[], op: string): AnyExpr =>
  asExpr(
    size.length === 3
      ? convInputVolume(asNode(y), asNode(k), p, size, op)
      : apply(convInputPrimitive, [asNode(y), asNode(k)], { ...p, size }),
  )
