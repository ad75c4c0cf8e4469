/** Images read at places that are data, between their positions: under a map, and over boxes. */
import { shown } from '../../core/errors/check-arguments.js'
import { badShape, showShape } from '../../core/errors/explain.js'
import { choice, flag, needed, number, type OptionsOf, raw, wholeNumber } from '../../core/errors/options.js'
import { add, div, maximum, mod, mul, sub, where } from '../../core/ops/arithmetic.js'
import { castTo, part, positions, sizeOf, table } from '../../core/ops/arrays.js'
import { and, eq, ge, le } from '../../core/ops/compare.js'
import { full } from '../../core/ops/construct.js'
import { reshape, transpose } from '../../core/ops/layout/layout.js'
import { floats, indices, operation } from '../../core/ops/operation.js'
import { max, mean } from '../../core/ops/reductions.js'
import { round } from '../../core/ops/rounding.js'
import { abs, floor } from '../../core/ops/unary.js'
import type { AnyExpr, Expr } from '../../core/types/expr.js'
import type { Shape } from '../../core/types/shape.js'
import type { AffineGridFn, GridSampleFn, RoiAlignFn } from '../../core/types/signatures/windows.js'
import { matmul } from '../../families/contract.js'
import { gather } from '../../families/indexing.js'
import { clamp } from '../arrays/elementwise.js'
import { positionsOf, sizesOf } from './positions.js'

/** A position along an axis, whole numbers in floats, with its weight; one outside counts nothing. */
interface Tap {
  readonly at: AnyExpr
  readonly weight?: AnyExpr
}
const inside = (at: AnyExpr, n: number): AnyExpr => and(ge(at, 0), le(at, n - 1))
const index = (at: AnyExpr, n: number): AnyExpr => castTo(clamp(at, 0, n - 1), 'i32')
const combined = <T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] =>
  lists.reduce<readonly (readonly T[])[]>((rows, list) => rows.flatMap((row) => list.map((t) => [...row, t])), [[]])
/** The sum of what x has at the taps of its axes, in the images that `batch` says: channels first. */
const read = (x: AnyExpr, batch: AnyExpr, axes: readonly (readonly Tap[])[]): AnyExpr => {
  const [n, c, ...size] = x.shape as readonly [number, number, ...number[]]
  const order = [1, 0, ...size.map((_, i) => i + 2)]
  const flat = reshape(transpose(x, order), [c, sizeOf(x) / Math.max(1, c)])
  const image = clamp(batch, 0, Math.max(0, n - 1)) as AnyExpr
  const terms = combined(axes).map((taps) => {
    const place = taps.reduce((p, { at }, i) => add(mul(p, size[i]!), index(at, size[i]!)), image)
    const there = taps.map(({ at }, i) => inside(at, size[i]!)).reduce((a, b) => and(a, b))
    const weights = taps.flatMap(({ weight }) => (weight === undefined ? [] : [weight]))
    const value = where(there, gather(flat, place as Expr<Shape, 'i32'>, { axis: 1 }), 0)
    return weights.length === 0
      ? value
      : mul(
          value,
          weights.reduce((a, b) => mul(a, b)),
        )
  })
  return terms.reduce((a, b) => add(a, b))
}

const linearTaps = (p: AnyExpr): readonly Tap[] => {
  const low = floor(p)
  const t = sub(p, low)
  return [
    { at: low, weight: sub(1, t) },
    { at: add(low, 1), weight: t },
  ]
}
/** Keys' polynomials with a = -0.75, near and far, at distances d. */
const near = (d: AnyExpr): AnyExpr => add(mul(mul(sub(mul(d, 1.25), 2.25), d), d), 1)
const far = (d: AnyExpr): AnyExpr => add(mul(sub(mul(add(mul(d, -0.75), 3.75), d), 6), d), 3)
const cubicTaps = (p: AnyExpr): readonly Tap[] => {
  const low = floor(p)
  const t = sub(p, low)
  return [
    { at: sub(low, 1), weight: far(add(t, 1)) },
    { at: low, weight: near(t) },
    { at: add(low, 1), weight: near(sub(1, t)) },
    { at: add(low, 2), weight: far(sub(2, t)) },
  ]
}

const sampling = {
  /** How a result is interpolated from its neighbours: 'linear' unless given. */
  method: choice(['linear', 'nearest', 'cubic'], 'linear', 'method'),
  /** The values outside x: zeros unless given. */
  padding: choice(['zeros', 'border', 'reflection'], 'zeros'),
  /** -1 and 1 are the first and last positions; else their outer edges. */
  alignCorners: flag(),
}
/** Options of `gridSample`. */
interface GridSampleOptions extends OptionsOf<typeof sampling> {}
/** Places mirrored at the ends of an axis of n positions, as often as it takes. */
const mirrored = (p: AnyExpr, n: number, alignCorners: boolean): AnyExpr => {
  const [low, span] = alignCorners ? [0, n - 1] : [-0.5, n]
  if (span === 0) return full(p.shape, 0, p.dtype)
  const away = abs(sub(p, low))
  const rest = mod(away, span)
  return add(where(eq(mod(floor(div(away, span)), 2), 0), rest, sub(span, rest)), low)
}

/**
 * x sampled at the points of a grid: coordinates from -1 to 1 over each axis, that of the last axis first, between positions by `method`. With `alignCorners` -1 and 1 are the
 * first and last positions, else the outer edges of these. Points outside are 0, or by `padding` the nearest position ('border') or x mirrored ('reflection').
 *
 * Shapes  x: [n, c, ...positions], grid: [n, ...places, axes] -> [n, c, ...places]; one, two or three axes.   Dtype  promoted.
 * Rule    by composition, in x and in the grid; 'nearest' has no derivative in the grid.   Source  PyTorch grid_sample; Jaderberg et al. 2015.
 * Errors  ShapeMismatch for x without positions or a grid that does not fit it, BadInput for an unknown method or padding.
 * @example gridSample(tensor([[[[1, 2], [3, 4]]]]), tensor([[[[0, 0], [-0.5, 0.5]]]]))   // [[[[2.5, 3]]]]
 */
export const gridSample: GridSampleFn<GridSampleOptions> = operation(
  'gridSample',
  { x: floats, grid: floats },
  sampling,
  ({ x, grid }, o, op) => {
    const size = positionsOf(x, op)
    const axes = size.length
    const [n, c] = x.shape as readonly [number, number]
    if (grid.shape.length !== x.shape.length || grid.shape[0] !== n || grid.shape.at(-1) !== axes)
      badShape(
        op,
        [x.shape, grid.shape],
        `the grid ${showShape(grid.shape)} does not fit x ${showShape(x.shape)}.`,
        `give [${n}, ...places, ${axes}]: as many places' axes as x has, and ${axes === 1 ? 'one coordinate' : `${axes} coordinates`}.`,
      )
    const places = grid.shape.slice(1, -1)
    const count = places.reduce((a, b) => a * b, 1)
    const rows = reshape(grid, [n, count, axes])
    const taps = size.map((d, i): readonly Tap[] => {
      const g = reshape(part(rows, 2, axes - 1 - i, 1), [n, count])
      const given = o.alignCorners ? mul(add(g, 1), (d - 1) / 2) : sub(mul(add(g, 1), d / 2), 0.5)
      // Far outside all places are one, so that infinity is outside too.
      const p = o.padding === 'reflection' ? given : clamp(given, -3, d + 2)
      const kept = (q: AnyExpr): AnyExpr =>
        o.padding === 'zeros' ? q : clamp(o.padding === 'border' ? q : mirrored(q, d, o.alignCorners), 0, d - 1)
      if (o.method === 'cubic') return cubicTaps(p).map(({ at, weight }) => ({ at: kept(at), weight: weight! }))
      return o.method === 'nearest' ? [{ at: round(kept(p)) }] : linearTaps(kept(p))
    })
    return reshape(transpose(read(x, positions([n, 1], 0), taps), [1, 0, 2]), [n, c, ...places])
  },
)

const affineOptions = {
  /** -1 and 1 are the first and last positions; else their outer edges. */
  alignCorners: flag(),
}
/** Options of `affineGrid`. */
interface AffineGridOptions extends OptionsOf<typeof affineOptions> {}
/**
 * The grid of `gridSample` under an affine map: theta times (x, y, 1) for each place of a plane, (x, y, z, 1) for a volume, in coordinates from -1 to 1.
 *
 * Shapes  theta: [n, 2, 3], size: [h, w] -> [n, h, w, 2]; theta: [n, 3, 4], size: [d, h, w] -> [n, d, h, w, 3].   Source  PyTorch affine_grid.
 * Rule    linear.   Errors  ShapeMismatch for theta of another shape, BadInput for a size that does not fit it.
 * @example affineGrid(tensor([[[1, 0, 0], [0, 1, 0]]]), [1, 2])   // [[[[-0.5, 0], [0.5, 0]]]]
 */
export const affineGrid: AffineGridFn<AffineGridOptions> = operation(
  'affineGrid',
  { theta: floats, size: raw() },
  affineOptions,
  ({ theta, size: given }, { alignCorners }, op) => {
    const [n, axes, width] = theta.shape as readonly [number, number, number]
    if (theta.shape.length !== 3 || axes < 1 || axes > 3 || width !== axes + 1)
      badShape(op, [theta.shape], `theta is ${showShape(theta.shape)}.`, 'give [n, 2, 3] for planes, [n, 3, 4] for volumes.')
    const size = sizesOf(given, axes, op)
    const count = size.reduce((a, b) => a * b, 1)
    const coordinate = (i: number, d: number): number => (alignCorners ? (d === 1 ? 0 : (2 * i) / (d - 1) - 1) : (2 * i + 1) / d - 1)
    const places = combined(size.map((d) => Array.from({ length: d }, (_, i) => coordinate(i, d))))
    const rows = table(
      places.flatMap((p) => [...p.toReversed(), 1]),
      [count, axes + 1],
      theta.dtype,
    )
    return reshape(matmul(rows, transpose(theta, [0, 2, 1])), [n, ...size, axes])
  },
)

const pooling = {
  /** Bins along the height and the width. */
  size: needed<readonly number[], number | readonly number[]>((given, _what, where) => sizesOf(given, 2, where)),
  /** Samples along each side of a bin. */
  samplingRatio: wholeNumber(
    { from: 1 },
    (n) =>
      n === undefined
        ? 'how many samples there are would follow from the boxes, and a shape is known before.'
        : `${shown(n)} is not a number of samples.`,
    'give { samplingRatio: 2 }: two by two samples in each bin.',
  ),
  /** Positions of x for each unit of the boxes, 1 unless given. */
  spatialScale: number(1),
  /** The centre of the first position is at 0.5; else at 0. */
  aligned: flag(),
  /** The mean of a bin's samples, or the greatest: 'avg' unless given. */
  mode: choice(['avg', 'max'], 'avg'),
}
/** Options of `roiAlign`. */
interface RoiAlignOptions extends OptionsOf<typeof pooling> {}
/**
 * The mean (or by `mode` the largest) of samples of x in each of `size` bins of boxes, `samplingRatio` by as many in a bin, with linear interpolation between positions.
 *
 * Boxes are [x1, y1, x2, y2]; `spatialScale` turns their coordinates into positions of x. With `aligned` they are shifted by half a position, so that a coordinate is the centre of
 * a position; without it a side is at least 1.
 *
 * Shapes  x: [n, c, h, w], boxes: [k, 4], images: [k] i32, which of the n each box is in -> [k, c, ...size].   Dtype  promoted.
 * Rule    by composition, in x and in the boxes.   Source  He et al. 2017; torchvision roi_align; ONNX RoiAlign, whose half_pixel is `aligned`.
 * Errors  ShapeMismatch for arrays that do not fit together, DTypeMismatch for images that are not i32, BadInput without a size or samples.
 * @example roiAlign(tensor([[[[1, 2], [3, 4]]]]), [[0, 0, 1, 1]], [0], { size: 1, samplingRatio: 1 })   // [[[[2.5]]]]
 */
export const roiAlign: RoiAlignFn<RoiAlignOptions> = operation(
  'roiAlign',
  { x: floats, boxes: floats, images: indices },
  pooling,
  ({ x, boxes, images }, o, op) => {
    const k = boxes.shape[0]!
    if (x.shape.length !== 4 || boxes.shape.length !== 2 || boxes.shape[1] !== 4 || images.shape.length !== 1 || images.shape[0] !== k)
      badShape(
        op,
        [x.shape, boxes.shape, images.shape],
        `x ${showShape(x.shape)}, boxes ${showShape(boxes.shape)} and images ${showShape(images.shape)} do not fit together.`,
        'give [n, c, h, w], [k, 4] and [k].',
      )
    const size = positionsOf(x, op)
    const ratio = o.samplingRatio
    const [c, offset] = [x.shape[1]!, o.aligned ? 0.5 : 0]
    const corner = (i: number): AnyExpr => sub(mul(part(boxes, 1, i, 1), o.spatialScale), offset)
    const taps = size.map((d, axis): readonly Tap[] => {
      const [from, to] = [corner(1 - axis), corner(3 - axis)]
      const side = o.aligned ? sub(to, from) : maximum(sub(to, from), 1)
      const count = o.size[axis]! * ratio
      const parts = table(Array.from({ length: count }, (_, i) => (i + 0.5) / count), [count], x.dtype) // biome-ignore format: one row
      const p = add(from, mul(side, parts))
      const there = and(ge(p, -1), le(p, d))
      const shape = axis === 0 ? [k, count, 1] : [k, 1, count]
      // What is outside by more than a position counts nothing: it is a place before the first.
      return linearTaps(clamp(p, 0, d - 1)).map(({ at, weight }) => ({
        at: reshape(where(there, at, -1), shape),
        weight: reshape(weight!, shape),
      }))
    })
    const [h, w] = o.size as readonly [number, number]
    const bins = reshape(read(x, reshape(images, [k, 1, 1]), taps), [c, k, h, ratio, w, ratio])
    return transpose(o.mode === 'avg' ? mean(bins, { axis: [3, 5] }) : max(bins, { axis: [3, 5] }), [1, 0, 2, 3])
  },
)
