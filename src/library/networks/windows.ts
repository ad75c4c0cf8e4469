/** Layers that go back from what windows gave, or change how many positions there are: transposed convolution, adaptive pools, resize, unfold and fold, pixel shuffles. */
import { flagOf, integerOf, type Names, optionsOf, shown } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { apply, asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift, liftAll, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { sameShape } from '../../core/graph/shape.js'
import { makeTensor } from '../../core/graph/tensor.js'
import { asLine, asPlane, convInputPrimitive, four, onPlane, paddingOf, perAxis, windowed } from '../../core/ops/conv.js'
import { add, mul, where } from '../../core/ops/elementwise.js'
import { gather } from '../../core/ops/indexing.js'
import { concatNode } from '../../core/ops/layout-join.js'
import { reshapeNode, transposeNode } from '../../core/ops/layout-move.js'
import { padNode, sliceNode } from '../../core/ops/layout-slice.js'
import { max, sum } from '../../core/ops/reductions.js'
import { convInputVolume } from '../../core/ops/volumes.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  AdaptivePoolFn,
  ConvTransposeFn,
  ConvTransposeOptions,
  FoldFn,
  FoldOptions,
  PixelShuffleFn,
  ResizeFn,
  ResizeOptions,
  UnfoldFn,
  UnfoldOptions,
} from '../../core/types/signatures/windows.js'

const convTransposeOptions: Names<ConvTransposeOptions> = { stride: true, padding: true, outputPadding: true, dilation: true, groups: true }
/**
 * The adjoint of `conv` in its input: each entry of x times the kernel, added where windows overlap. Over one, two or three axes.
 *
 * Shapes  x: [n, c, h, w], k: [c, o / groups, kh, kw] -> [n, o, oh, ow] with oh = (h - 1) stride - pad + dilation (kh - 1) + 1 + outputPadding.
 * Dtype   promoted; i32 and bool become f64.   Rule  bilinear, as conv.   Source  PyTorch conv_transpose2d; Dumoulin and Visin 2016.
 * Errors  ShapeMismatch when channels differ or nothing is left, BadInput for options of another form.
 * @example convTranspose(tensor([[[1, 2]]]), tensor([[[1, 1]]]), { stride: 2 })   // [[[1, 1, 2, 2]]]
 */
export const convTranspose: ConvTransposeFn = typed((x: unknown, k: unknown, options?: ConvTransposeOptions): AnyExpr => {
  const op = 'convTranspose'
  const [xs, ks] = liftAll([x, k], op, 'float') as [Node, Node]
  const given = optionsOf(options, convTransposeOptions, op)
  const groups = integerOf(given.groups ?? 1, 'groups', op)
  const axes = xs.shape.length === 3 && ks.shape.length === 3 ? 1 : xs.shape.length === 5 ? 3 : 2
  const [planes, kernels] = axes === 1 ? [asPlane(xs), asPlane(ks)] : [xs, ks]
  if (axes < 3) for (const n of [planes, kernels]) four(n.aval, op)
  const [size, window] = [xs.shape.slice(-axes), ks.shape.slice(-axes)]
  const stride = perAxis(given.stride ?? 1, axes, 'stride', op)
  const dilation = perAxis(given.dilation ?? 1, axes, 'dilation', op)
  const padding = paddingOf(given.padding === 'same' ? undefined : given.padding, size, window, stride, dilation, op)
  const more = given.outputPadding ?? 0
  const extra: readonly unknown[] = Array.isArray(more) ? more : new Array<unknown>(axes).fill(more)
  if (
    extra.length !== axes ||
    !extra.every((e, i) => Number.isInteger(e) && (e as number) >= 0 && (e as number) < Math.max(stride[i]!, dilation[i]!))
  )
    raise({
      _tag: 'BadInput',
      where: op,
      reason: `outputPadding is ${shown(more)}.`,
      fix: 'give a whole number below stride or dilation, or one for each axis.',
    })
  if (given.padding === 'same') raise({ _tag: 'BadInput', where: op, reason: "padding is 'same'.", fix: "give numbers, or 'valid'." })
  const out = size.map(
    (n, i) => (n - 1) * stride[i]! - padding[2 * i]! - padding[2 * i + 1]! + dilation[i]! * (window[i]! - 1) + 1 + (extra[i] as number),
  )
  const channels = xs.shape[1]!
  if (
    groups < 1 ||
    ks.shape.length !== xs.shape.length ||
    channels !== ks.shape[0] ||
    channels % groups !== 0 ||
    out.some((n) => n < 1) ||
    size.some((n) => n < 1)
  )
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [xs.shape, ks.shape],
      reason: `x ${showShape(xs.shape)} and k ${showShape(ks.shape)} with ${groups} group${groups === 1 ? '' : 's'} give no positions.`,
      fix: 'x is [n, c, ...positions], k is [c, o / groups, ...window], and the groups divide c.',
    })
  // Output padding of a stride or more is room for further windows, which nothing is in.
  const windows = size.map((n, i) => n + Math.floor((extra[i] as number) / stride[i]!))
  const wider = (n: Node, sizes: readonly number[]): Node => {
    const shape = [...n.shape.slice(0, 2), ...sizes]
    const whole = shape.map(() => 1)
    return sameShape(n.shape, shape) ? n : padNode(n, new Array<number>(shape.length).fill(0), shape, whole)
  }
  if (axes === 3) return asExpr(convInputVolume(wider(xs, windows), ks, { stride, padding, dilation, groups }, out, op))
  const line = axes === 1
  const y = apply(convInputPrimitive, [wider(planes, onPlane(line, [1], windows)), kernels], {
    stride: onPlane(line, [1], stride),
    padding: onPlane(line, [0, 0], padding),
    dilation: onPlane(line, [1], dilation),
    groups,
    size: onPlane(line, [1], out),
  })
  return asExpr(line ? asLine(y) : y)
})

/** Positions behind batch and channels. */
const positionsOf = (x: Node, op: string): readonly number[] =>
  x.shape.length >= 3 && x.shape.length <= 5
    ? x.shape.slice(2)
    : raise({
        _tag: 'ShapeMismatch',
        op,
        shapes: [x.shape],
        reason: `x is ${showShape(x.shape)}.`,
        fix: 'give x as [n, c, w], [n, c, h, w] or [n, c, d, h, w].',
      })
/** One length for each axis of positions: a number for all, or a list. */
const sizesOf = (given: unknown, axes: number, op: string): readonly number[] => {
  const list: readonly unknown[] = Array.isArray(given) ? given : new Array<unknown>(axes).fill(given)
  if (list.length !== axes || !list.every((n) => Number.isSafeInteger(n) && (n as number) >= 1 && (n as number) <= 2 ** 24)) {
    const call = op === 'fold' ? '' : `: ${op}(x, ${axes === 1 ? '4' : `[${new Array(axes).fill(4).join(', ')}]`})`
    const reason = `the size is ${Array.isArray(given) ? `[${given.map(shown).join(', ')}]` : shown(given)}.`
    raise({ _tag: 'BadInput', where: op, reason, fix: `give a positive integer, or ${axes} of them${call}; batch and channels stay.` })
  }
  return list as readonly number[]
}
const indices = (list: readonly number[], shape: readonly number[]): AnyExpr =>
  makeTensor(Int32Array.from(list), [...shape]) as unknown as AnyExpr
/** Constants of x's dtype. */
const numbers = (list: readonly number[], shape: readonly number[], dtype: DType): AnyExpr =>
  makeTensor(Float64Array.from(list), [...shape], dtype) as unknown as AnyExpr
/** Elements of x along an axis, which becomes the axes of `shape`. */
const taken = (x: AnyExpr, axis: number, list: readonly number[], shape: readonly number[]): AnyExpr =>
  gather(x, indices(list, shape) as never, { axis } as never) as AnyExpr

/** The window of each of m results along n positions: from floor(i n / m) to before ceil((i + 1) n / m). */
const adaptive = (n: number, m: number): readonly (readonly [number, number])[] =>
  Array.from({ length: m }, (_, i) => [Math.floor((i * n) / m), Math.ceil(((i + 1) * n) / m)] as const)
const adaptivePool =
  (op: string, fill: number, reduce: (x: AnyExpr, axis: number, shares: AnyExpr) => AnyExpr) =>
  (x: unknown, size: unknown): AnyExpr => {
    const n = liftFloat(x, op)
    const positions = positionsOf(n, op)
    if (positions.some((d) => d === 0))
      raise({ _tag: 'ShapeMismatch', op, shapes: [n.shape], reason: `x ${showShape(n.shape)} has no positions.` })
    return sizesOf(size, positions.length, op).reduce((y: AnyExpr, m, i) => {
      const axis = i + 2
      const windows = adaptive(positions[i]!, m)
      const longest = Math.max(...windows.map(([a, b]) => b - a))
      const list = windows.flatMap(([a, b]) => Array.from({ length: longest }, (_, k) => Math.min(a + k, b - 1)))
      const wide = taken(y, axis, list, [m, longest])
      const behind = new Array<number>(positions.length - i - 1).fill(1)
      const inside = makeTensor(
        Uint8Array.from(windows.flatMap(([a, b]) => Array.from({ length: longest }, (_, k) => (k < b - a ? 1 : 0)))),
        [m, longest, ...behind],
        'bool',
      ) as unknown as AnyExpr
      const shares = numbers(
        windows.map(([a, b]) => 1 / (b - a)),
        [m, ...behind],
        n.dtype,
      )
      return reduce(where(inside, wide, fill), axis + 1, shares)
    }, asExpr(n))
  }

/**
 * Mean over as many windows as asked for, of lengths that differ by one: from floor(i n / m) to before ceil((i + 1) n / m), along each axis behind the second.
 *
 * Shapes  x: [n, c, ...positions], size: a number for all axes, or one for each -> [n, c, ...size].   Source  PyTorch adaptive_avg_pool2d.
 * Rule    xBar = yBar spread over each window.   Errors  ShapeMismatch for x of another rank or without positions, BadInput for a size below 1.
 * @example adaptiveAvgPool(tensor([[[1, 2, 3]]]), 2)   // [[[1.5, 2.5]]]
 */
export const adaptiveAvgPool: AdaptivePoolFn = typed(adaptivePool('adaptiveAvgPool', 0, (x, axis, shares) => mul(sum(x, { axis }), shares)))
/**
 * Maximum over as many windows as asked for; windows as in `adaptiveAvgPool`.
 *
 * Shapes  as adaptiveAvgPool.   Source  PyTorch adaptive_max_pool2d.   Rule  xBar = yBar at the maximum of each window, shared among equals.
 * Errors  as adaptiveAvgPool.
 * @example adaptiveMaxPool(tensor([[[1, 2, 3]]]), 2)   // [[[2, 3]]]
 */
export const adaptiveMaxPool: AdaptivePoolFn = typed(
  adaptivePool('adaptiveMaxPool', Number.NEGATIVE_INFINITY, (x, axis) => max(x, { axis })),
)

const METHODS = ['nearest', 'nearest-exact', 'linear', 'cubic'] as const
const resizeOptions: Names<ResizeOptions> = { method: true, alignCorners: true, antialias: true }
/** Keys' cubic kernel at a distance from 0. */
const cubicAt = (distance: number, a: number): number => {
  const d = Math.abs(distance)
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0
}
type Taps = readonly (readonly [position: number, weight: number])[]
/** Which positions of n each of m results is made of, and with which weights. */
const tapsOf = (n: number, m: number, { method = 'linear', alignCorners, antialias }: ResizeOptions): readonly Taps[] =>
  Array.from({ length: m }, (_, i) => {
    const inside = (k: number): number => Math.max(0, Math.min(n - 1, k))
    if (method === 'nearest') return [[inside(Math.floor((i * n) / m)), 1] as const]
    if (method === 'nearest-exact') return [[inside(Math.floor(((i + 0.5) * n) / m)), 1] as const]
    if (antialias === true) return smoothTaps(n, m, i, method)
    const place = alignCorners === true ? (m === 1 ? 0 : (i * (n - 1)) / (m - 1)) : ((i + 0.5) * n) / m - 0.5
    const at = method === 'linear' ? Math.max(0, place) : place
    const first = Math.floor(at)
    const t = at - first
    return method === 'linear'
      ? [[inside(first), 1 - t] as const, [inside(first + 1), t] as const]
      : [-1, 0, 1, 2].map((k) => [inside(first + k), cubicAt(k - t, -0.75)] as const)
  })
/** As PyTorch and Pillow: the kernel as wide as a step between results, where that is more than 1, over what is inside, with sum 1. */
const smoothTaps = (n: number, m: number, i: number, method: 'linear' | 'cubic'): Taps => {
  const step = n / m
  const width = Math.max(1, step)
  const centre = (i + 0.5) * step
  const reach = (method === 'linear' ? 1 : 2) * width
  const [first, end] = [Math.max(0, Math.trunc(centre - reach + 0.5)), Math.min(n, Math.trunc(centre + reach + 0.5))]
  const weights = Array.from({ length: end - first }, (_, k) => {
    const x = (first + k - centre + 0.5) / width
    return method === 'linear' ? Math.max(0, 1 - Math.abs(x)) : cubicAt(x, -0.5)
  })
  const total = weights.reduce((s, w) => s + w, 0)
  return weights.map((w, k) => [first + k, w / total] as const)
}
/** Taps of one number for all results: those that are missing have weight 0. */
const evenTaps = (taps: readonly Taps[]): readonly Taps[] => {
  const longest = Math.max(...taps.map((t) => t.length))
  return taps.map((t) => Array.from({ length: longest }, (_, k) => t[k] ?? ([t[0]![0], 0] as const)))
}
/** Options of resize that go together. */
const resizing = (options: ResizeOptions | undefined, op: string): ResizeOptions => {
  const given = optionsOf(options, resizeOptions, op)
  const [corners, smooth] = [flagOf(given.alignCorners, 'alignCorners', op), flagOf(given.antialias, 'antialias', op)]
  if (given.method !== undefined && !METHODS.includes(given.method))
    raise({
      _tag: 'BadInput',
      where: op,
      reason: `the method is ${shown(given.method)}.`,
      fix: `give ${METHODS.map((m) => `'${m}'`).join(', ')}; they are the same for every number of axes ('bilinear' is 'linear', 'bicubic' is 'cubic').`,
    })
  const nearest = given.method?.startsWith('nearest') === true
  if (smooth && (corners || nearest))
    raise({ _tag: 'BadInput', where: op, reason: 'antialias is of linear and cubic methods, without alignCorners.' })
  return given
}
/**
 * x with another number of positions: the nearest, or between neighbours linearly ('linear', the default) or by cubic polynomials ('cubic'), one axis after the other.
 *
 * 'nearest' reads position floor(i n / m) for result i of m, 'nearest-exact' that under its middle. With `antialias` a smaller result is of weighted means of all that it stands for.
 *
 * Shapes  x: [n, c, ...positions], size: a number for all axes, or one for each -> [n, c, ...size].
 * Rule    linear.   Source  PyTorch interpolate; Keys 1981 (a = -0.75, -0.5 with antialias).
 * Errors  ShapeMismatch for x of another rank or without positions, BadInput for a size below 1, another method or options that do not go together.
 * @example
 * resize(tensor([[[0, 1]]]), 4)   // [[[0, 0.25, 0.75, 1]]]
 * resize(tensor([[[0, 0, 0, 8]]]), 2, { antialias: true })   // [[[0, 3.4286]]]
 */
export const resize: ResizeFn = typed((x: unknown, size: unknown, options?: ResizeOptions): AnyExpr => {
  const op = 'resize'
  const n = liftFloat(x, op)
  const given = resizing(options, op)
  const positions = positionsOf(n, op)
  if (positions.some((d) => d === 0))
    raise({ _tag: 'ShapeMismatch', op, shapes: [n.shape], reason: `x ${showShape(n.shape)} has no positions.` })
  return sizesOf(size, positions.length, op).reduce((y: AnyExpr, m, i) => {
    const taps = evenTaps(tapsOf(positions[i]!, m, given))
    const behind = new Array<number>(positions.length - i - 1).fill(1)
    const terms = taps[0]!.map((_, k): AnyExpr => {
      const list = taps.map((t) => t[k]![0])
      const part = taken(y, i + 2, list, [m])
      const weights = taps.map((t) => t[k]![1])
      return weights.every((w) => w === 1) ? part : mul(part, numbers(weights, [m, ...behind], n.dtype))
    })
    return terms.reduce((a, b) => add(a, b))
  }, asExpr(n))
})

const unfoldOptions: Names<UnfoldOptions> = { window: true, stride: true, padding: true, dilation: true }
const foldOptions: Names<FoldOptions> = { ...unfoldOptions, size: true }
/** Where the windows of a plane of this size lie. */
const windowsOf = (given: UnfoldOptions, size: readonly number[], op: string) => {
  const window = perAxis(given.window, 2, 'window', op)
  const stride = perAxis(given.stride ?? 1, 2, 'stride', op)
  const dilation = perAxis(given.dilation ?? 1, 2, 'dilation', op)
  const padding = paddingOf(given.padding, size, window, stride, dilation, op)
  const count = size.map((n, i) => windowed(n, window[i]!, stride[i]!, padding[2 * i]!, padding[2 * i + 1]!, dilation[i]!))
  if (count.some((n) => n < 1))
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [size, window],
      reason: `the window ${showShape(window)} does not fit ${showShape(size)}.`,
      fix: 'pad more, or use a smaller window.',
    })
  const wide = size.map((n, i) => n + padding[2 * i]! + padding[2 * i + 1]!)
  const taps = Array.from(
    { length: window[0]! * window[1]! },
    (_, t) => [Math.floor(t / window[1]!) * dilation[0]!, (t % window[1]!) * dilation[1]!] as const,
  )
  return { stride, padding, count: count as [number, number], wide: wide as [number, number], taps }
}
/**
 * The windows of a plane as columns: im2col.
 *
 * Shapes  x: [n, c, h, w] -> [n, c kh kw, number of windows].   Rule  linear; its adjoint is `fold`.   Source  PyTorch unfold.
 * Errors  ShapeMismatch for x of another rank or a window that does not fit, BadInput for options of another form.
 * @example unfold(tensor([[[[1, 2, 3]]]]), { window: [1, 2] })   // [[[1, 2], [2, 3]]]
 */
export const unfold: UnfoldFn = typed((x: unknown, options: UnfoldOptions): AnyExpr => {
  const n = liftFloat(x, 'unfold')
  const [b, c, h, w] = four(n.aval, 'unfold')
  const p = windowsOf(optionsOf(options, unfoldOptions, 'unfold'), [h, w], 'unfold')
  const padded = p.padding.every((k) => k === 0) ? n : padNode(n, [0, 0, p.padding[0]!, p.padding[2]!], [b, c, ...p.wide], [1, 1, 1, 1])
  const parts = p.taps.map(([u, v]) =>
    reshapeNode(sliceNode(padded, { starts: [0, 0, u, v], sizes: [b, c, ...p.count], strides: [1, 1, p.stride[0]!, p.stride[1]!] }), [
      b,
      c,
      1,
      p.count[0] * p.count[1],
    ]),
  )
  return asExpr(reshapeNode(concatNode(parts, 2), [b, c * p.taps.length, p.count[0] * p.count[1]]))
})
/**
 * Columns added where their windows lie: col2im, the adjoint of `unfold`.
 *
 * Shapes  x: [n, c kh kw, number of windows], size: [h, w] -> [n, c, h, w].   Rule  linear; its adjoint is `unfold`.   Source  PyTorch fold.
 * Errors  ShapeMismatch for columns that do not belong to the windows, BadInput for options of another form.
 * @example fold(tensor([[[1, 2], [2, 3]]]), { size: [1, 3], window: [1, 2] })   // [[[[1, 4, 3]]]]
 */
export const fold: FoldFn = typed((x: unknown, options: FoldOptions): AnyExpr => {
  const n = liftFloat(x, 'fold')
  const { size: given, ...rest } = optionsOf(options, foldOptions, 'fold')
  const size = sizesOf(given, 2, 'fold')
  const p = windowsOf(rest, size, 'fold')
  const [b, rows, columns] = n.shape as readonly [number, number, number]
  const c = rows / p.taps.length
  if (n.shape.length !== 3 || !Number.isInteger(c) || columns !== p.count[0] * p.count[1])
    raise({
      _tag: 'ShapeMismatch',
      op: 'fold',
      shapes: [n.shape, size],
      reason: `columns ${showShape(n.shape)} do not belong to ${p.count[0] * p.count[1]} windows of ${p.taps.length} positions.`,
      fix: `give [n, c ${p.taps.length}, ${p.count[0] * p.count[1]}].`,
    })
  const parts = reshapeNode(n, [b, c, p.taps.length, ...p.count])
  const placed = p.taps.map(([u, v], t) => {
    const part = sliceNode(parts, { starts: [0, 0, t, 0, 0], sizes: [b, c, 1, ...p.count], strides: [1, 1, 1, 1, 1] })
    return padNode(reshapeNode(part, [b, c, ...p.count]), [0, 0, u, v], [b, c, ...p.wide], [1, 1, p.stride[0]!, p.stride[1]!])
  })
  const total = placed.reduce((s, y) => asNode(add(asExpr(s), asExpr(y))))
  return asExpr(
    sliceNode(total, { starts: [0, 0, p.padding[0]!, p.padding[2]!], sizes: [b, c, size[0]!, size[1]!], strides: [1, 1, 1, 1] }),
  )
})

const factorOf = (given: unknown, op: string): number => {
  const r = integerOf(given, 'the factor', op)
  return r >= 1 ? r : raise({ _tag: 'BadInput', where: op, reason: `the factor is ${r}.`, fix: 'give a positive integer.' })
}
/**
 * Channels moved into space: each r r channels become one of r times the height and width.
 *
 * Shapes  x: [n, c r r, h, w] -> [n, c, h r, w r].   Dtype  x's.   Rule  linear.   Source  Shi et al. 2016.
 * Errors  ShapeMismatch for x of another rank, BadInput unless r r divides the channels.
 * @example pixelShuffle(tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2)   // [[[[1, 2], [3, 4]]]]
 */
export const pixelShuffle: PixelShuffleFn = typed((x: unknown, factor: unknown): AnyExpr => {
  const n = lift(x, 'pixelShuffle')
  const r = factorOf(factor, 'pixelShuffle')
  const [b, c, h, w] = four(n.aval, 'pixelShuffle')
  if (c % (r * r) !== 0)
    raise({
      _tag: 'BadInput',
      where: 'pixelShuffle',
      reason: `${c} channels are not a multiple of ${r * r}.`,
      fix: 'give a factor whose square divides them.',
    })
  const parts = reshapeNode(n, [b, c / (r * r), r, r, h, w])
  return asExpr(reshapeNode(transposeNode(parts, [0, 1, 4, 2, 5, 3]), [b, c / (r * r), h * r, w * r]))
})
/**
 * Space moved into channels: the inverse of `pixelShuffle`.
 *
 * Shapes  x: [n, c, h r, w r] -> [n, c r r, h, w].   Dtype  x's.   Rule  linear.   Source  PyTorch pixel_unshuffle.
 * Errors  ShapeMismatch for x of another rank, BadInput unless r divides height and width.
 * @example pixelUnshuffle(tensor([[[[1, 2], [3, 4]]]]), 2)   // [[[[1]], [[2]], [[3]], [[4]]]]
 */
export const pixelUnshuffle: PixelShuffleFn = typed((x: unknown, factor: unknown): AnyExpr => {
  const n = lift(x, 'pixelUnshuffle')
  const r = factorOf(factor, 'pixelUnshuffle')
  const [b, c, h, w] = four(n.aval, 'pixelUnshuffle')
  if (h % r !== 0 || w % r !== 0)
    raise({
      _tag: 'BadInput',
      where: 'pixelUnshuffle',
      reason: `${r} does not divide ${h} and ${w}.`,
      fix: 'give a factor that divides both.',
    })
  const parts = reshapeNode(n, [b, c, h / r, r, w / r, r])
  return asExpr(reshapeNode(transposeNode(parts, [0, 1, 3, 5, 2, 4]), [b, c * r * r, h / r, w / r]))
})
