/** Differences, integrals and interpolation along one axis, polynomials, convolution of vectors: compositions. */

import { integerOf, type Names, numberOf, optionsOf, shown } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift, liftAll, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { MAX_SIZE, range } from '../../core/graph/shape.js'
import { cumsum } from '../../core/ops/along-axis.js'
import { eq, gt, lt, ne } from '../../core/ops/compare.js'
import { add, div, maximum, minimum, mul, stopGradient, sub, where } from '../../core/ops/elementwise.js'
import { gather, searchsorted } from '../../core/ops/indexing.js'
import { concat } from '../../core/ops/joins.js'
import { flip } from '../../core/ops/layout.js'
import { axisOf, broadcastNode, distinctAxes, reshapeNode } from '../../core/ops/layout-move.js'
import { sliceAxis } from '../../core/ops/layout-slice.js'
import { conv } from '../../core/ops/nn.js'
import { sum } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  AlongFn,
  ConvolveFn,
  DiffOptions,
  FloatAlongFn,
  GradientFn,
  GradientOptions,
  InterpFn,
  InterpOptions,
  PolyvalFn,
  SpacingOptions,
  TrapezoidFn,
} from '../../core/types/signatures/arrays.js'
import type { AxisOptions } from '../../core/types/signatures/reduce.js'

const part = (x: AnyExpr, axis: number, start: number, size: number): AnyExpr => asExpr(sliceAxis(asNode(x), axis, start, size))
const lengthAt = (x: AnyExpr, axis: number): number => asNode(x).shape[axis]!
const rankOf = (x: AnyExpr): number => asNode(x).shape.length
/** A vector along one axis of an array of this rank. */
const along = (v: AnyExpr, axis: number, rank: number): AnyExpr => {
  const n = asNode(v)
  return asExpr(
    reshapeNode(
      n,
      range(rank).map((i) => (i === axis ? n.aval.size : 1)),
    ),
  )
}

const diffOptions: Names<AxisOptions & DiffOptions> = { axis: true, n: true, prepend: true, append: true }
/** What is put before or behind x along the axis: an array, or a number that broadcasts over the other axes. */
const beside = (end: AnyExpr, x: AnyExpr, axis: number): AnyExpr =>
  rankOf(end) > 0
    ? end
    : asExpr(
        broadcastNode(
          asNode(end),
          asNode(x).shape.map((d, i) => (i === axis ? 1 : d)),
        ),
      )
/** x_{k+1} - x_k, of booleans whether they differ. */
const differences = (x: AnyExpr, axis: number): AnyExpr => {
  const d = lengthAt(x, axis)
  const [later, sooner] = [part(x, axis, Math.min(1, d), Math.max(0, d - 1)), part(x, axis, 0, Math.max(0, d - 1))]
  return x.dtype === 'bool' ? ne(later, sooner) : sub(later, sooner)
}

/**
 * Differences of neighbours x_{k+1} - x_k along an axis (the last by default), n times over (once by default). `prepend` and `append` are put before
 * and behind x first: arrays, or numbers.
 *
 * Shapes  x's, n shorter along the axis.   Dtype  x's; of booleans bool: do they differ?   Rule  linear.   Source  NumPy diff.
 * Errors  BadInput unless n is a non-negative integer, and for an axis out of range; ShapeMismatch for ends that do not fit.
 * @example diff([1, 4, 9, 16])   // [3, 5, 7]
 */
export const diff: AlongFn<'diff', DiffOptions> = typed((x: unknown, options?: AxisOptions & DiffOptions): AnyExpr => {
  const { axis: given = -1, n = 1, prepend, append } = optionsOf(options, diffOptions, 'diff')
  const all = [...(prepend === undefined ? [] : [prepend]), x, ...(append === undefined ? [] : [append])]
  const lifted = (all.length === 1 ? [lift(x, 'diff')] : liftAll(all, 'diff')).map(asExpr)
  const own = lifted[prepend === undefined ? 0 : 1]!
  const axis = axisOf(given, rankOf(own), 'diff')
  if (!(integerOf(n, 'n', 'diff') >= 0))
    raise({ _tag: 'BadInput', where: 'diff', reason: `n = ${n} is negative.`, fix: 'cumsum goes the other way.' })
  // 0 times over nothing is done: what is beside x is not put there either, as in NumPy.
  const whole = lifted.length === 1 || n === 0 ? own : concat(lifted.map((v) => (v === own ? v : beside(v, own, axis))), { axis }) // biome-ignore format: one row
  return range(Math.min(n, lengthAt(whole, axis))).reduce((y) => differences(y, axis), whole)
})

const gradientOptions: Names<GradientOptions> = { axis: true, spacing: true, edgeOrder: true }
/** The derivative along an axis, from neighbours h apart (a number) or at the coordinates h (a vector). */
const derivativeAlong = (y: AnyExpr, axis: number, h: AnyExpr, edgeOrder: 1 | 2): AnyExpr => {
  const [n, rank] = [lengthAt(y, axis), rankOf(y)]
  if (n < edgeOrder + 1)
    raise({
      _tag: 'BadInput',
      where: 'gradient',
      reason: `${n} elements along axis ${axis}: edges of order ${edgeOrder} need ${edgeOrder + 1}.`,
      fix: edgeOrder === 2 ? 'take edgeOrder 1, or a longer axis.' : 'take a longer axis.',
    })
  const isEven = rankOf(h) === 0
  if (!isEven && (rankOf(h) !== 1 || lengthAt(h, 0) !== n))
    raise({
      _tag: 'ShapeMismatch',
      op: 'gradient',
      shapes: [asNode(y).shape, asNode(h).shape],
      reason: `the spacing along axis ${axis} is ${showShape(asNode(h).shape)}, not a number or a vector of ${n} coordinates.`,
    })
  const at = (start: number, size: number): AnyExpr => part(y, axis, start, size)
  /** Distance of element k from the one behind it; that of several of them as a vector along the axis. */
  const steps = isEven ? undefined : differences(h, 0)
  const step = (start: number, size: number): AnyExpr => (steps === undefined ? h : along(part(steps, 0, start, size), axis, rank))
  const inner = (): AnyExpr => {
    const m = n - 2
    if (isEven) return div(sub(at(2, m), at(0, m)), mul(2, h))
    const [left, right] = [step(0, m), step(1, m)]
    const a = div(mul(-1, right), mul(left, add(left, right)))
    const b = div(sub(right, left), mul(left, right))
    const c = div(left, mul(right, add(left, right)))
    return add(add(mul(a, at(0, m)), mul(b, at(1, m))), mul(c, at(2, m)))
  }
  /** The end at `first`, whose neighbours lie in the direction `to`. */
  const edge = (first: number, to: 1 | -1): AnyExpr => {
    const between = (k: number): AnyExpr => step(to > 0 ? k : n - 2 - k, 1)
    const y0 = at(first, 1)
    const y1 = at(first + to, 1)
    if (edgeOrder === 1) return mul(to, div(sub(y1, y0), between(0)))
    const [p, q] = [between(0), between(1)]
    const a = div(mul(-1, add(mul(2, p), q)), mul(p, add(p, q)))
    const b = div(add(p, q), mul(p, q))
    const c = div(mul(-1, p), mul(q, add(p, q)))
    return mul(to, add(add(mul(a, y0), mul(b, y1)), mul(c, at(first + 2 * to, 1))))
  }
  return concat([edge(0, 1), ...(n > 2 ? [inner()] : []), edge(n - 1, -1)], { axis })
}

/**
 * The derivative of samples by differences of neighbours, central ones inside and one-sided ones of `edgeOrder` (1 or 2) at both ends. (`grad` is the
 * derivative of a function.) `spacing` is the distance of neighbours, 1 unless given, or their coordinates; a list of these for several axes.
 *
 * Shapes  x's; of a vector and of one axis given as a number an array, else a list with one for each axis.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    linear in x; the coordinates have derivatives too.   Source  NumPy gradient.
 * Errors  BadInput for an axis that is too short or out of range, and another edge order; ShapeMismatch for coordinates that do not fit.
 * @example gradient(tensor([1, 4, 9, 16]))   // [3, 4, 6, 7]
 */
export const gradient: GradientFn = typed((x: unknown, options?: GradientOptions): AnyExpr | AnyExpr[] => {
  const { axis, spacing = 1, edgeOrder = 1 } = optionsOf(options, gradientOptions, 'gradient')
  if (edgeOrder !== 1 && edgeOrder !== 2)
    raise({ _tag: 'BadInput', where: 'gradient', reason: `there are no edges of order ${shown(edgeOrder)}.`, fix: 'edgeOrder is 1 or 2.' })
  const y = asExpr(liftFloat(x, 'gradient'))
  const rank = rankOf(y)
  const axes = axis === undefined || axis === null ? range(rank) : distinctAxes(axis, rank, 'gradient')
  const perAxis = axes.length > 1 && Array.isArray(spacing)
  if (perAxis && spacing.length !== axes.length)
    raise({
      _tag: 'BadInput',
      where: 'gradient',
      reason: `${spacing.length} spacings for ${axes.length} axes.`,
      fix: 'give one for each axis, or a number.',
    })
  const results = axes.map((a, i) => {
    const [n, h] = liftAll([y, perAxis ? spacing[i] : spacing], 'gradient') as [Node, Node]
    return derivativeAlong(asExpr(n), a, asExpr(h), edgeOrder)
  })
  return typeof axis === 'number' || (rank === 1 && !Array.isArray(axis)) ? results[0]! : results
})

const spacingOptions: Names<AxisOptions & SpacingOptions> = { axis: true, x: true, dx: true }
/** The areas between neighbours: the mean of both times their distance. */
const areas = (
  given: unknown,
  options: (AxisOptions & SpacingOptions) | undefined,
  op: string,
): { readonly y: AnyExpr; readonly axis: number; readonly area: AnyExpr } => {
  const { axis: at = -1, x, dx } = optionsOf(options, spacingOptions, op)
  if (x !== undefined && dx !== undefined)
    raise({ _tag: 'BadInput', where: op, reason: 'both x and dx say where the samples are.', fix: 'give one of them.' })
  const [n, m] = x === undefined ? [liftFloat(given, op)] : (liftAll([given, x], op, 'float') as [Node, Node])
  const y = asExpr(n)
  const axis = axisOf(at, rankOf(y), op)
  const size = Math.max(0, lengthAt(y, axis) - 1)
  const pairs = add(part(y, axis, Math.min(1, lengthAt(y, axis)), size), part(y, axis, 0, size))
  if (m === undefined) return { y, axis, area: mul(pairs, numberOf(dx ?? 1, 'dx', op) / 2) }
  const isVector = m.shape.length === 1
  const d = m.shape[isVector ? 0 : m.shape.length - rankOf(y) + axis]
  if (d !== lengthAt(y, axis))
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [n.shape, m.shape],
      reason: `x is ${showShape(m.shape)}, for ${lengthAt(y, axis)} samples along axis ${axis} of ${showShape(n.shape)}.`,
      fix: 'give a vector of places, or as many as there are samples.',
    })
  const steps = isVector ? along(differences(asExpr(m), 0), axis, rankOf(y)) : differences(asExpr(m), m.shape.length - rankOf(y) + axis)
  return { y, axis, area: mul(div(pairs, 2), steps) }
}

/**
 * The integral of samples by the trapezoidal rule along an axis (the last by default): the sum of (y_k + y_{k+1}) / 2 times the distance of their
 * places, which are `x`, or `dx` apart (1 unless given).
 *
 * Shapes  y's without the axis.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  linear in y; x has a derivative too.   Source  NumPy trapezoid.
 * Errors  BadInput for an axis out of range, and for x beside dx; ShapeMismatch for an x that does not fit.
 * @example trapezoid([1, 2, 3], { x: [0, 1, 3] })   // 6.5
 */
export const trapezoid: TrapezoidFn = typed((y: unknown, options?: AxisOptions & SpacingOptions): AnyExpr => {
  const { area, axis } = areas(y, options, 'trapezoid')
  return sum(area, { axis })
})

/**
 * The running integral of samples by the trapezoidal rule along an axis (the last by default), without the 0 that it begins with.
 *
 * Shapes  y's, one shorter along the axis.   Dtype  as `trapezoid`.   Rule  linear in y; x has a derivative too.   Source  SciPy cumulative_trapezoid.
 * Errors  as `trapezoid`.
 * @example cumulativeTrapezoid([1, 2, 3])   // [1.5, 4]
 */
export const cumulativeTrapezoid: FloatAlongFn<'cumulativeTrapezoid', SpacingOptions> = typed(
  (y: unknown, options?: AxisOptions & SpacingOptions): AnyExpr => {
    const { area, axis } = areas(y, options, 'cumulativeTrapezoid')
    return cumsum(area, { axis })
  },
)

const interpOptions: Names<InterpOptions> = { left: true, right: true }

/**
 * The line through the points (xp_k, fp_k), at x. Before the first point it is `left`, fp's first unless given, behind the last `right`.
 *
 * Shapes  x: any, xp and fp: [n], xp ascending -> x's.   Dtype  promoted; i32 and bool become f64.   Source  NumPy interp.
 * Rule    in x the slope (at a point that of the line behind it; 0 outside), in fp the weights of the two neighbours; xp has a derivative too.
 * Errors  ShapeMismatch unless xp and fp are vectors of one length; BadInput where they are empty.
 * @example interp([0.5, 9], [0, 1, 2], [0, 10, 40])   // [5, 40]
 */
export const interp: InterpFn = typed((x: unknown, xp: unknown, fp: unknown, options?: InterpOptions): AnyExpr => {
  const { left, right } = optionsOf(options, interpOptions, 'interp')
  const [v, xs, fs] = liftAll([x, xp, fp], 'interp', 'float').map(asExpr) as [AnyExpr, AnyExpr, AnyExpr]
  const n = asNode(xs).shape[0]
  if (rankOf(xs) !== 1 || rankOf(fs) !== 1 || n !== lengthAt(fs, 0))
    raise({
      _tag: 'ShapeMismatch',
      op: 'interp',
      shapes: [asNode(xs).shape, asNode(fs).shape],
      reason: `the points are ${showShape(asNode(xs).shape)} and ${showShape(asNode(fs).shape)}, not two vectors of one length.`,
      fix: 'vmap over the rows of several lines.',
    })
  if (n === 0) raise({ _tag: 'BadInput', where: 'interp', reason: 'a line through no points.', fix: 'give one at least.' })
  const [first, last] = [gather(fs, 0), gather(fs, -1)]
  const end = (given: number | undefined, own: AnyExpr, what: string): AnyExpr | number =>
    given === undefined ? own : numberOf(given, what, 'interp')
  const outside = (inside: AnyExpr): AnyExpr =>
    where(lt(v, gather(xs, 0)), end(left, first, 'left'), where(gt(v, gather(xs, -1)), end(right, last, 'right'), inside))
  if (n === 1) return outside(add(mul(stopGradient(v), 0), first))
  const i = minimum(maximum(searchsorted(stopGradient(xs) as never, stopGradient(v), { side: 'right' }), 1), n! - 1)
  const [x0, x1, f0, f1] = [
    gather(xs, sub(i, 1) as never),
    gather(xs, i as never),
    gather(fs, sub(i, 1) as never),
    gather(fs, i as never),
  ] as AnyExpr[]
  const width = sub(x1!, x0!)
  const isPoint = eq(width, 0)
  // At the last point itself nothing is rounded.
  const line = add(f0!, mul(sub(v, x0!), div(sub(f1!, f0!), where(isPoint, 1, width))))
  return outside(
    where(eq(stopGradient(v), stopGradient(x1!)), add(f1!, mul(sub(v, x1!), div(sub(f1!, f0!), where(isPoint, 1, width)))), line),
  )
})

/**
 * The polynomial p_0 x^(n-1) + ... + p_(n-2) x + p_(n-1), by Horner's rule.
 *
 * Shapes  p: [n], x: any -> x's; 0 where n is 0.   Dtype  promoted; bool becomes i32.   Rule  dy = p'(x) dx + dp(x).   Source  NumPy polyval.
 * Errors  ShapeMismatch unless p is a vector; BadInput for more than 4096 coefficients.
 * @example polyval([1, 0, -2], [2, 3])   // [2, 7]
 */
export const polyval: PolyvalFn = typed((p: unknown, x: unknown): AnyExpr => {
  const [c, v] = liftAll([p, x], 'polyval', 'number') as [Node, Node]
  if (c.shape.length !== 1)
    raise({
      _tag: 'ShapeMismatch',
      op: 'polyval',
      shapes: [c.shape],
      reason: `needs a vector of coefficients, got ${showShape(c.shape)}.`,
      fix: 'vmap over several polynomials.',
    })
  const n = c.shape[0]!
  if (n > 4096) raise({ _tag: 'BadInput', where: 'polyval', reason: `a polynomial of ${n} coefficients.`, fix: 'use scan over them.' })
  const coefficient = (k: number): AnyExpr => asExpr(reshapeNode(sliceAxis(c, 0, k, 1), []))
  const y = asExpr(v)
  if (n === 0) return mul(y, 0)
  return range(n - 1).reduce((s, k) => add(mul(s, y), coefficient(k + 1)), asExpr(broadcastNode(asNode(coefficient(0)), v.shape)))
})

interface ModeOption {
  readonly mode?: 'full' | 'same' | 'valid' | undefined
}
const modeOption: Names<ModeOption> = { mode: true }
/** The products of two vectors at all distances: of a with v turned round. The shorter one is the kernel. */
const convolved = (op: 'convolve' | 'correlate', a: unknown, v: unknown, options: ModeOption | undefined): AnyExpr => {
  const { mode = op === 'convolve' ? 'full' : 'valid' } = optionsOf(options, modeOption, op)
  if (mode !== 'full' && mode !== 'same' && mode !== 'valid')
    raise({ _tag: 'BadInput', where: op, reason: `there is no mode ${shown(mode)}.`, fix: `modes are 'full', 'same' and 'valid'.` })
  const pair = liftAll([a, v], op, 'float') as [Node, Node]
  const [n, m] = pair.map((x) => (x.shape.length === 1 ? x.shape[0]! : -1)) as [number, number]
  if (n < 1 || m < 1)
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: pair.map((x) => x.shape),
      reason: `needs two vectors with elements, got ${showShape(pair[0].shape)} and ${showShape(pair[1].shape)}.`,
      fix: 'conv works on batches and planes.',
    })
  if (n + m > MAX_SIZE) raise({ _tag: 'BadInput', where: op, reason: 'the result is too long.' })
  const swapped = n < m
  const [long, short] = swapped ? [pair[1], pair[0]] : pair
  const k = Math.min(n, m)
  const size = Math.max(n, m)
  const line = (x: AnyExpr): AnyExpr => asExpr(reshapeNode(asNode(x), [1, 1, asNode(x).aval.size]))
  const kernel = op === 'convolve' ? flip(asExpr(short)) : asExpr(short)
  const full = conv(line(asExpr(long)), line(kernel), { padding: [k - 1] } as never)
  const flat = asExpr(reshapeNode(asNode(full), [n + m - 1]))
  // Correlation does not commute: with the arguments exchanged it comes out backwards.
  const turned = op === 'correlate' && swapped ? flip(flat) : flat
  if (mode === 'full') return turned
  const [start, length] =
    mode === 'same' ? [op === 'correlate' && swapped ? Math.floor(k / 2) : Math.floor((k - 1) / 2), size] : [k - 1, size - k + 1]
  return part(turned, 0, start, length)
}

/**
 * Convolution of two vectors: y_k = sum_i a_i v_{k-i}. Mode 'full' (the default) has all n + m - 1 places, 'same' the middle of them, as many as the longer
 * vector has, 'valid' those where both overlap whole.
 *
 * Shapes  [n], [m] -> [n + m - 1], [max(n, m)], [|n - m| + 1].   Dtype  promoted; i32 and bool become f64.   Rule  bilinear.   Source  NumPy convolve.
 * Errors  ShapeMismatch unless both are vectors with elements; BadInput for another mode.
 * @example convolve([1, 2, 3], [1, 10])   // [1, 12, 23, 30]
 */
export const convolve: ConvolveFn = typed((a: unknown, v: unknown, options?: ModeOption): AnyExpr => convolved('convolve', a, v, options))

/**
 * Correlation of two vectors: y_k = sum_i a_{i+k} v_i. Mode 'valid' (the default) has the places where both overlap whole, 'same' and 'full' as in `convolve`.
 *
 * Shapes  as `convolve`.   Dtype  promoted; i32 and bool become f64.   Rule  bilinear.   Source  NumPy correlate.
 * Errors  as `convolve`.
 * @example correlate([1, 2, 3], [1, 10])   // [21, 32]
 */
export const correlate: ConvolveFn = typed((a: unknown, v: unknown, options?: ModeOption): AnyExpr => convolved('correlate', a, v, options))
