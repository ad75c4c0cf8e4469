/** Layers that go back from what windows gave, or change how many positions there are: transposed convolution, adaptive pools, unfold and fold. */

import { from } from '../../core/calculus/pack.js'
import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { greatestOf } from '../../core/errors/extremes.js'
import { integer, type Kind, kind, needed, type OptionsOf, type ReadOf, raw } from '../../core/errors/options.js'
import { add, mul, where } from '../../core/ops/arithmetic.js'
import { part, spread, table } from '../../core/ops/arrays.js'
import { four, onPlane, paddingOf, perAxis, windowed } from '../../core/ops/conv.js'
import { concat } from '../../core/ops/joins.js'
import { pad, reshape, slice } from '../../core/ops/layout/layout.js'
import * as volumes from '../../core/ops/nn.js'
import { floats, operation } from '../../core/ops/operation.js'
import { max, sum } from '../../core/ops/reductions.js'
import type { AsFloat, DType, Promote, WeakF64 } from '../../core/types/dtype.js'
import type { AnyExpr, Expr, Plain } from '../../core/types/expr.js'
import type { Guard, NoOptions, Ok, Shape } from '../../core/types/shape.js'
import type { ConvTranspose, Padding } from '../../core/types/shape-windows.js'
import type { AdaptivePoolFn, FoldFn, UnfoldFn } from '../../core/types/signatures/windows.js'
import { nnPack } from '../../packs/nn.js'
import { overPositions, sizesOf, taken } from './positions.js'

const convInputOver = /*#__PURE__*/ from(nnPack, volumes.convInputOver)

const transposedOptions = {
  stride: raw<number | readonly number[], 1>(1),
  padding: raw<Padding>(),
  /** Positions more, behind each axis: which of the sizes that `conv` would shrink to x is meant. */
  outputPadding: raw<number | readonly number[], 0>(0),
  dilation: raw<number | readonly number[], 1>(1),
  groups: integer(1),
}
/** Options of `convTranspose`. */
interface ConvTransposeOptions extends OptionsOf<typeof transposedOptions> {}
/** convTranspose(x, k, { stride, padding, outputPadding, dilation, groups }): x [n, c, ...positions], k [c, o / groups, ...window]. */
type ConvTransposeFn = <
  X extends Shape = Shape,
  DX extends DType = WeakF64,
  K extends Shape = Shape,
  DK extends DType = WeakF64,
  const O extends ConvTransposeOptions = NoOptions,
>(
  x: Expr<X, DX> | Plain,
  k: Guard<ConvTranspose<X, K, O>, Expr<K, DK> | Plain>,
  options?: O,
) => Expr<Ok<ConvTranspose<X, K, O>>, AsFloat<Promote<DX, DK>>>
/**
 * The adjoint of `conv` in its input: each entry of x times the kernel, added where windows overlap. Over one, two or three axes.
 *
 * Shapes  x: [n, c, h, w], k: [c, o / groups, kh, kw] -> [n, o, oh, ow] with oh = (h - 1) stride - pad + dilation (kh - 1) + 1 + outputPadding.
 * Dtype   promoted; i32 and bool become f64.   Rule  bilinear, as conv.   Source  PyTorch conv_transpose2d; Dumoulin and Visin 2016.
 * Errors  ShapeMismatch when channels differ or the result is empty, BadInput for invalid options.
 * @example convTranspose(tensor([[[1, 2]]]), tensor([[[1, 1]]]), { stride: 2 })   // [[[1, 1, 2, 2]]]
 */
export const convTranspose: ConvTransposeFn = operation('convTranspose', { x: floats, k: floats }, transposedOptions, ({ x, k }, o, op) => {
  const { groups, outputPadding: more } = o
  const axes = x.shape.length === 3 && k.shape.length === 3 ? 1 : x.shape.length === 5 ? 3 : 2
  const line = axes === 1
  const [planes, kernels] = [x, k].map((v) => (line ? reshape(v, [...v.shape.slice(0, 2), 1, v.shape[2]!]) : v)) as [AnyExpr, AnyExpr]
  if (axes < 3) for (const v of [planes, kernels]) four(v, op)
  const [size, window] = [x.shape.slice(-axes), k.shape.slice(-axes)]
  const stride = perAxis(o.stride, axes, 'stride', op)
  const dilation = perAxis(o.dilation, axes, 'dilation', op)
  if (o.padding === 'same') badInput(op, "padding is 'same'.", "give numbers, or 'valid'.")
  const padding = paddingOf(o.padding, size, window, stride, dilation, op)
  const extra: readonly unknown[] = Array.isArray(more) ? more : new Array<unknown>(axes).fill(more)
  if (
    extra.length !== axes ||
    !extra.every((e, i) => Number.isInteger(e) && (e as number) >= 0 && (e as number) < Math.max(stride[i]!, dilation[i]!))
  )
    badInput(op, `outputPadding is ${shown(more)}.`, 'give a whole number below stride or dilation, or one for each axis.')
  const out = size.map(
    (n, i) => (n - 1) * stride[i]! - padding[2 * i]! - padding[2 * i + 1]! + dilation[i]! * (window[i]! - 1) + 1 + (extra[i] as number),
  )
  const channels = x.shape[1]!
  if (
    groups < 1 ||
    k.shape.length !== x.shape.length ||
    channels !== k.shape[0] ||
    channels % groups !== 0 ||
    out.some((n) => n < 1) ||
    size.some((n) => n < 1)
  )
    badShape(
      op,
      [x.shape, k.shape],
      `x ${showShape(x.shape)} and k ${showShape(k.shape)} with ${groups} group${groups === 1 ? '' : 's'} give no positions.`,
      'x is [n, c, ...positions], k is [c, o / groups, ...window], and the groups divide c.',
    )
  const at = (height: readonly number[], list: readonly number[]): readonly number[] => onPlane(line, height, list)
  // Output padding of a stride or more is room for further windows, which nothing is in.
  const room = extra.map((e, i) => Math.floor((e as number) / stride[i]!))
  const wider = pad(planes, [0, 0, ...at([0], room).map((n): [number, number] => [0, n])])
  const p = { stride: at([1], stride), padding: at([0, 0], padding), dilation: at([1], dilation), groups }
  const y = convInputOver(wider, kernels, p, at([1], out), op)
  return line ? reshape(y, [...y.shape.slice(0, 2), y.shape[3]!]) : y
})

const adaptivePool = (name: string, fill: number, reduce: (x: AnyExpr, axis: number, shares: AnyExpr) => AnyExpr): AdaptivePoolFn =>
  operation(name, { x: floats, size: raw() }, {}, ({ x, size }, _, op) =>
    overPositions(x, size, op, (y, axis, n, m, behind) => {
      /** The window of each of m results: from floor(i n / m) to before ceil((i + 1) n / m). */
      const windows = Array.from({ length: m }, (_, i) => [Math.floor((i * n) / m), Math.ceil(((i + 1) * n) / m)] as const)
      const longest = greatestOf(windows.map(([a, b]) => b - a))
      const each = (f: (k: number, a: number, b: number) => number): readonly number[] =>
        windows.flatMap(([a, b]) => Array.from({ length: longest }, (_, k) => f(k, a, b)))
      const wide = taken(
        y,
        axis,
        each((k, a, b) => Math.min(a + k, b - 1)),
        [m, longest],
      )
      const inside = table(
        each((k, a, b) => (k < b - a ? 1 : 0)),
        [m, longest, ...behind],
        'bool',
      )
      const lengths = windows.map(([a, b]) => 1 / (b - a))
      const shares = table(lengths, [m, ...behind], x.dtype)
      return reduce(where(inside, wide, fill), axis + 1, shares)
    }),
  )

/**
 * Mean over `size` windows along each axis, whose lengths differ by at most one: from floor(i n / m) to before ceil((i + 1) n / m), along each axis after the
 * second.
 *
 * Shapes  x: [n, c, ...positions], size: a number for all axes, or one for each -> [n, c, ...size].   Source  PyTorch adaptive_avg_pool2d.
 * Rule    xBar = yBar spread over each window.   Errors  ShapeMismatch for x of another rank or without positions, BadInput for a size below 1.
 * @example adaptiveAvgPool(tensor([[[1, 2, 3]]]), 2)   // [[[1.5, 2.5]]]
 */
export const adaptiveAvgPool: AdaptivePoolFn = adaptivePool('adaptiveAvgPool', 0, (x, axis, shares) => mul(sum(x, { axis }), shares))
/**
 * Maximum over `size` windows along each axis, those of `adaptiveAvgPool`.
 *
 * Shapes  as adaptiveAvgPool.   Source  PyTorch adaptive_max_pool2d.   Rule  xBar = yBar at the maximum of each window, shared among equal
 *         elements.
 * Errors  as adaptiveAvgPool.
 * @example adaptiveMaxPool(tensor([[[1, 2, 3]]]), 2)   // [[[2, 3]]]
 */
export const adaptiveMaxPool: AdaptivePoolFn = adaptivePool('adaptiveMaxPool', Number.NEGATIVE_INFINITY, (x, axis) => max(x, { axis }))

type OnBoth = number | readonly number[]
const onBoth = (standard?: number): Kind<readonly number[], OnBoth> =>
  kind((given = standard, what, where) => perAxis(given, 2, what, where))
const window = needed<readonly number[], OnBoth>(onBoth().read)
const unfoldOptions = { window, stride: onBoth(1), padding: raw<Padding>(), dilation: onBoth(1) }
const foldOptions = {
  ...unfoldOptions,
  /** The size of the plane. */
  size: needed<readonly number[], OnBoth>((given, _what, where) => sizesOf(given, 2, where)),
}
/** Options of `unfold`. */
interface UnfoldOptions extends OptionsOf<typeof unfoldOptions> {}
/** Options of `fold`: those of the `unfold` that it is the adjoint of, and the size of the plane. */
interface FoldOptions extends OptionsOf<typeof foldOptions> {}
/** Where the windows of a plane of this size lie. */
const windowsOf = (o: ReadOf<typeof unfoldOptions>, size: readonly number[], op: string) => {
  const { window, stride, dilation } = o
  const padding = paddingOf(o.padding, size, window, stride, dilation, op)
  const count = size.map((n, i) => windowed(n, window[i]!, stride[i]!, padding[2 * i]!, padding[2 * i + 1]!, dilation[i]!))
  if (count.some((n) => n < 1))
    badShape(op, [size, window], `the window ${showShape(window)} does not fit ${showShape(size)}.`, 'pad more, or use a smaller window.')
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
 * Errors  ShapeMismatch for x of another rank or a window that does not fit, BadInput for invalid options.
 * @example unfold(tensor([[[[1, 2, 3]]]]), { window: [1, 2] })   // [[[1, 2], [2, 3]]]
 */
export const unfold: UnfoldFn<UnfoldOptions> = operation('unfold', { x: floats }, unfoldOptions, ({ x }, o, op) => {
  const [b, c, h, w] = four(x, op)
  const { stride, padding, count, taps } = windowsOf(o, [h, w], op)
  const [top, bottom, left, right] = padding as [number, number, number, number]
  const padded = pad(x, [0, 0, [top, bottom], [left, right]])
  const ends = count.map((n, i) => (n - 1) * stride[i]! + 1)
  const parts = taps.map(([u, v]) =>
    reshape(slice(padded, [0, 0, u, v], [b, c, u + ends[0]!, v + ends[1]!], [1, 1, ...stride]), [b, c, 1, count[0] * count[1]]),
  )
  return reshape(concat(parts, { axis: 2 }), [b, c * taps.length, count[0] * count[1]])
})
/**
 * Columns added where their windows lie: col2im, the adjoint of `unfold`.
 *
 * Shapes  x: [n, c kh kw, number of windows], size: [h, w] -> [n, c, h, w].   Rule  linear; its adjoint is `unfold`.   Source  PyTorch fold.
 * Errors  ShapeMismatch for columns that do not fit the windows, BadInput for invalid options.
 * @example fold(tensor([[[1, 2], [2, 3]]]), { size: [1, 3], window: [1, 2] })   // [[[[1, 4, 3]]]]
 */
export const fold: FoldFn<FoldOptions> = operation('fold', { x: floats }, foldOptions, ({ x }, { size, ...o }, op) => {
  const { stride, padding, count, wide, taps } = windowsOf(o, size, op)
  const [b, rows, columns] = x.shape as readonly [number, number, number]
  const c = rows / taps.length
  if (x.shape.length !== 3 || !Number.isInteger(c) || columns !== count[0] * count[1])
    badShape(
      op,
      [x.shape, size],
      `columns ${showShape(x.shape)} do not fit ${count[0] * count[1]} windows of ${taps.length} positions.`,
      `give [n, c ${taps.length}, ${count[0] * count[1]}].`,
    )
  const parts = reshape(x, [b, c, taps.length, ...count])
  const placed = taps.map(([u, v], t) =>
    spread(reshape(part(parts, 2, t, 1), [b, c, ...count]), [0, 0, u, v], [b, c, ...wide], [1, 1, ...stride]),
  )
  const [top, left] = [padding[0]!, padding[2]!]
  const total = placed.reduce((s, y) => add(s, y))
  return slice(total, [0, 0, top, left], [b, c, top + size[0]!, left + size[1]!])
})
