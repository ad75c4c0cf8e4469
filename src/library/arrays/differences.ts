/** Differences, integrals and interpolation along one axis, polynomials, convolution of vectors: compositions. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { choice, integer, kind, number, type OptionsOf, raw } from '../../core/errors/options.js'
import { broadcastShapes, MAX_SIZE, range, sameShape } from '../../core/graph/shape.js'
import { add, div, maximum, minimum, mod, mul, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { arrayOf, arraysOf, part, sizeOf } from '../../core/ops/arrays.js'
import { and, eq, gt, lt, ne } from '../../core/ops/compare.js'
import { concat } from '../../core/ops/joins.js'
import { broadcastTo, flip, reshape } from '../../core/ops/layout/layout.js'
import { axisOf, distinctAxes } from '../../core/ops/layout/move.js'
import { axis, floats, laterAxis, numbers, operation } from '../../core/ops/operation.js'
import { sum } from '../../core/ops/reductions.js'
import { abs } from '../../core/ops/unary.js'
import type { AnyExpr, Arg, Expr, NumberArray } from '../../core/types/expr.js'
import type {
  ConvolveFn,
  CumulativeTrapezoidFn,
  DiffFn,
  GradientFn,
  InterpFn,
  PolyvalFn,
  TrapezoidFn,
  UnwrapFn,
} from '../../core/types/signatures/arrays.js'
import { cumsum, gather, searchsorted } from '../../families/indexing.js'
import { conv } from '../../families/nn.js'

/** A vector along one axis of an array of this rank. */
const along = (v: AnyExpr, axis: number, rank: number): AnyExpr => reshape(v, range(rank).map((i) => (i === axis ? sizeOf(v) : 1))) // biome-ignore format: one row
/** x_{k+1} - x_k, of booleans whether they differ. */
const differences = (x: AnyExpr, axis: number): AnyExpr => {
  const d = x.shape[axis]!
  const [later, sooner] = [part(x, axis, Math.min(1, d), Math.max(0, d - 1)), part(x, axis, 0, Math.max(0, d - 1))]
  return x.dtype === 'bool' ? ne(later, sooner) : sub(later, sooner)
}

const diffOptions = { axis: laterAxis(-1), n: integer(1), prepend: raw<Arg>(), append: raw<Arg>() }
interface DiffOptions extends OptionsOf<typeof diffOptions> {}
/**
 * Differences of neighbours x_{k+1} - x_k along an axis (the last by default), n times over (once by default). `prepend` and `append` (arrays or
 * numbers) are first joined to x.
 *
 * Shapes  x's, n shorter along the axis.   Dtype  x's; for booleans bool: do they differ?   Rule  linear.   Source  NumPy diff.
 * Errors  BadInput unless n is a non-negative integer, and for an axis out of range; ShapeMismatch for ends that do not fit.
 * @example diff([1, 4, 9, 16])   // [3, 5, 7]
 */
export const diff: DiffFn<DiffOptions> = operation('diff', { x: raw() }, diffOptions, (given, { axis: at, n, prepend, append }, op) => {
  const all = arraysOf([...(prepend === undefined ? [] : [prepend]), given.x, ...(append === undefined ? [] : [append])], op)
  const x = all[prepend === undefined ? 0 : 1]!
  const axis = axisOf(at, x.shape.length, op)
  if (n < 0) badInput(op, `n = ${n} is negative.`, 'cumsum goes the other way.')
  // 0 times over nothing is done: what is beside x is not put there either, as in NumPy.
  const edge = x.shape.map((d, i) => (i === axis ? 1 : d))
  const whole = n === 0 ? x : concat(all.map((v) => (v.shape.length > 0 ? v : broadcastTo(v, edge))), { axis }) // biome-ignore format: one row
  return range(Math.min(n, whole.shape[axis]!)).reduce((y) => differences(y, axis), whole)
})

/** The derivative along an axis, from neighbours h apart (a number) or at the coordinates h (a vector). */
const derivativeAlong = (y: AnyExpr, axis: number, h: AnyExpr, edgeOrder: 1 | 2, op: string): AnyExpr => {
  const rank = y.shape.length
  const n = y.shape[axis]!
  if (n < edgeOrder + 1)
    badInput(
      op,
      `${n} elements along axis ${axis}: edges of order ${edgeOrder} need ${edgeOrder + 1}.`,
      edgeOrder === 2 ? 'take edgeOrder 1, or a longer axis.' : 'take a longer axis.',
    )
  const isEven = h.shape.length === 0
  if (!isEven && (h.shape.length !== 1 || h.shape[0] !== n))
    badShape(
      op,
      [y.shape, h.shape],
      `the spacing along axis ${axis} is ${showShape(h.shape)}, not a number or a vector of ${n} coordinates.`,
    )
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

const edges = kind<1 | 2>((order = 1, _what, op) =>
  order === 1 || order === 2 ? order : badInput(op, `there are no edges of order ${shown(order)}.`, 'edgeOrder is 1 or 2.'),
)

type Spacing = number | Expr | NumberArray
const gradientOptions = {
  axis: raw<number | readonly number[] | null>(),
  spacing: raw<Spacing | readonly Spacing[], 1>(1),
  edgeOrder: edges,
}
interface GradientOptions extends OptionsOf<typeof gradientOptions> {}
/**
 * The derivative of samples by differences of neighbours, central ones inside and one-sided ones of `edgeOrder` (1 or 2) at both ends. (`grad` is the
 * derivative of a function.) `spacing` is the distance of neighbours, 1 unless given, or their coordinates; a list of these for several axes.
 *
 * Shapes  x's; one array for a vector or for a single axis, else a list with one for each axis.   Dtype  f32 stays f32; i32 and bool become f64.
 * Rule    linear in x; the coordinates have derivatives too.   Source  NumPy gradient.
 * Errors  BadInput for an axis that is too short or out of range, and an unknown edge order; ShapeMismatch for coordinates that do not fit.
 * @example gradient(tensor([1, 4, 9, 16]))   // [3, 4, 6, 7]
 */
export const gradient: GradientFn<GradientOptions> = operation(
  'gradient',
  { x: floats },
  gradientOptions,
  ({ x }, { axis, spacing, edgeOrder }, op) => {
    const rank = x.shape.length
    const axes = axis === undefined || axis === null ? range(rank) : distinctAxes(axis, rank, op)
    const perAxis = axes.length > 1 && Array.isArray(spacing)
    if (perAxis && spacing.length !== axes.length)
      badInput(op, `${spacing.length} spacings for ${axes.length} axes.`, 'give one for each axis, or a number.')
    const results = axes.map((a, i) => {
      const [y, h] = arraysOf([x, perAxis ? spacing[i] : spacing], op) as [AnyExpr, AnyExpr]
      return derivativeAlong(y, a, h, edgeOrder, op)
    })
    return typeof axis === 'number' || (rank === 1 && !Array.isArray(axis)) ? results[0]! : results
  },
)

const spacingOptions = {
  /** The axis of the samples, the last unless given. */
  axis: laterAxis(-1),
  /** Their places. */
  x: raw<Expr | NumberArray>(),
  /** How far apart they are: a number, or an array of distances, one less than samples along the axis. 1 unless given. */
  dx: raw<Arg>(),
}
/** Where the samples of an integral are: at x, or dx apart. */
interface SpacingOptions extends OptionsOf<typeof spacingOptions> {}
/** What is made of the areas between neighbours: the mean of both times their distance. */
const integral = <F>(name: string, made: (areas: AnyExpr, options: { readonly axis: number }) => AnyExpr): F =>
  operation(name, { y: raw() }, spacingOptions, (given, { axis: at, x: places, dx }, op) => {
    if (places !== undefined && dx !== undefined) badInput(op, 'both x and dx say where the samples are.', 'give one of them.')
    const [y, x] = places === undefined ? [arrayOf(given.y, op, 'float')] : arraysOf([given.y, places], op, 'float')
    const rank = y!.shape.length
    const axis = axisOf(at, rank, op)
    const n = y!.shape[axis]!
    const size = Math.max(0, n - 1)
    const pairs = add(part(y!, axis, Math.min(1, n), size), part(y!, axis, 0, size))
    if (x === undefined) {
      if (dx === undefined || typeof dx === 'number') return made(mul(pairs, (dx ?? 1) / 2), { axis })
      const [values, given] = arraysOf([pairs, dx], op, 'float') as [AnyExpr, AnyExpr]
      if (!sameShape(broadcastShapes(given.shape, values.shape) ?? [], values.shape))
        badShape(
          op,
          [y!.shape, given.shape],
          `dx is ${showShape(given.shape)}, for ${n} samples along axis ${axis} of ${showShape(y!.shape)}.`,
          `give what broadcasts to ${showShape(values.shape)}: ${size} distances along the axis.`,
        )
      return made(mul(div(values, 2), given), { axis })
    }
    const isVector = x.shape.length === 1
    const own = isVector ? 0 : x.shape.length - rank + axis
    if (x.shape[own] !== n)
      badShape(
        op,
        [y!.shape, x.shape],
        `x is ${showShape(x.shape)}, for ${n} samples along axis ${axis} of ${showShape(y!.shape)}.`,
        'give a vector of coordinates, or as many as there are samples.',
      )
    const between = differences(x, own)
    const steps = isVector ? along(between, axis, rank) : between
    return made(mul(div(pairs, 2), steps), { axis })
  })

/**
 * The integral of samples by the trapezoidal rule along an axis (the last by default): the sum of (y_k + y_{k+1}) / 2 times the distance of their coordinates,
 * which are `x`, or `dx` apart (1 unless given; an array has the distances, and broadcasts against the intervals).
 *
 * Shapes  y's without the axis.   Dtype  f32 stays f32; i32 and bool become f64.   Rule  linear in y; x and dx have derivatives too.   Source  NumPy trapezoid.
 * Errors  BadInput for an axis out of range, and for x beside dx; ShapeMismatch for an x that does not fit.
 * @example trapezoid([1, 2, 3], { x: [0, 1, 3] })   // 6.5
 */
export const trapezoid: TrapezoidFn<SpacingOptions> = integral('trapezoid', sum)

/**
 * The running integral of samples by the trapezoidal rule along an axis (the last by default), without the 0 that it begins with.
 *
 * Shapes  y's, one shorter along the axis.   Dtype  as `trapezoid`.   Rule  linear in y; x has a derivative too.   Source  SciPy cumulative_trapezoid.
 * Errors  as `trapezoid`.
 * @example cumulativeTrapezoid([1, 2, 3])   // [1.5, 4]
 */
export const cumulativeTrapezoid: CumulativeTrapezoidFn<SpacingOptions> = integral('cumulativeTrapezoid', cumsum)

const interpOptions = { left: number(), right: number() }
interface InterpOptions extends OptionsOf<typeof interpOptions> {}
/**
 * Linear interpolation between the points (xp_k, fp_k), at x. Before the first point it is `left`, fp's first element unless given; after the
 * last it is `right`, fp's last.
 *
 * Shapes  x: any, xp and fp: [n], xp ascending -> x's.   Dtype  promoted; i32 and bool become f64.   Source  NumPy interp.
 * Rule    in x the slope (at a point that of the line after it; 0 outside), in fp the weights of the two neighbours; xp has a derivative too.
 * Errors  ShapeMismatch unless xp and fp are vectors of one length; BadInput if they are empty.
 * @example interp([0.5, 9], [0, 1, 2], [0, 10, 40])   // [5, 40]
 */
export const interp: InterpFn<InterpOptions> = operation(
  'interp',
  { x: floats, xp: floats, fp: floats },
  interpOptions,
  ({ x, xp, fp }, { left, right }, op) => {
    const n = xp.shape[0]!
    if (xp.shape.length !== 1 || fp.shape.length !== 1 || n !== fp.shape[0])
      badShape(
        op,
        [xp.shape, fp.shape],
        `the points are ${showShape(xp.shape)} and ${showShape(fp.shape)}, not two vectors of one length.`,
        'vmap over the rows of several lines.',
      )
    if (n === 0) badInput(op, 'there are no points to interpolate.', 'give at least one.')
    const [first, last] = [gather(fp, 0), gather(fp, -1)]
    const outside = (inside: AnyExpr): AnyExpr =>
      where(lt(x, gather(xp, 0)), left ?? first, where(gt(x, gather(xp, -1)), right ?? last, inside))
    if (n === 1) return outside(add(mul(stopGradient(x), 0), first))
    const i = minimum(maximum(searchsorted(stopGradient(xp) as never, stopGradient(x), { side: 'right' }), 1), n - 1) as AnyExpr
    const before = (of: AnyExpr): AnyExpr => gather(of, sub(i, 1) as AnyExpr)
    const [x0, x1, f0, f1] = [before(xp), gather(xp, i), before(fp), gather(fp, i)]
    const width = sub(x1, x0)
    const isPoint = eq(width, 0)
    // At the last point itself nothing is rounded.
    const line = add(f0, mul(sub(x, x0), div(sub(f1, f0), where(isPoint, 1, width))))
    return outside(where(eq(stopGradient(x), stopGradient(x1)), add(f1, mul(sub(x, x1), div(sub(f1, f0), where(isPoint, 1, width)))), line))
  },
)

const unwrapOptions = {
  /** The axis along which neighbours are compared, the last unless given. */
  axis: axis(-1),
  /** Smaller jumps stay as they are: half of the period unless given, and at least that. */
  discont: number(),
  /** What is added or taken away: 2 pi unless given. */
  period: number(2 * Math.PI),
}
/** Options of `unwrap`. */
interface UnwrapOptions extends OptionsOf<typeof unwrapOptions> {}
/**
 * Phases without jumps: where neighbours differ by more than half of the period, a multiple of it is added to all that follow.
 *
 * Shapes  x's.   Dtype  x's; i32 and bool become f64.   Rule  xBar = yBar: multiples of the period have no derivative.   Source  NumPy unwrap.
 * Errors  BadInput for an axis out of range, and a period that is not positive.
 * @example unwrap([0, 3, 6, 2], { period: 7 })   // [0, 3, 6, 9]
 */
export const unwrap: UnwrapFn<UnwrapOptions> = operation('unwrap', { x: floats }, unwrapOptions, ({ x }, { axis, discont, period }, op) => {
  if (!(period > 0 && period < Number.POSITIVE_INFINITY)) badInput(op, `the period is ${period}.`, 'give a positive number.')
  const n = x.shape[axis]!
  if (n < 2) return x
  const fixed = stopGradient(x) as AnyExpr
  const d = differences(fixed, axis)
  const half = period / 2
  const rest = sub(mod(add(d, half), period), half)
  const nearest = where(and(eq(rest, -half), gt(d, 0)), half, rest)
  const jump = where(lt(abs(d), Math.max(discont ?? half, half)), 0, sub(nearest, d))
  const first = mul(part(fixed, axis, 0, 1), 0)
  return add(x, concat([first, cumsum(jump, { axis })], { axis }))
})
/**
 * The polynomial p_0 x^(n-1) + ... + p_(n-2) x + p_(n-1), by Horner's rule. Further axes of p hold a stack of polynomials, which broadcasts against x.
 *
 * Shapes  p: [n, ...stack], x -> stack and x broadcast; 0 where n is 0.   Dtype  promoted; bool becomes i32.   Rule  dy = p'(x) dx + dp(x).   Source  NumPy polyval, JAX's for stacks.
 * Errors  ShapeMismatch if p is a scalar, or its stack does not broadcast; BadInput for more than 4096 coefficients.
 * @example
 * polyval([1, 0, -2], [2, 3])   // [2, 7]
 * polyval([[1, 2], [0, 1]], 3)   // [3, 7]
 */
export const polyval: PolyvalFn = operation('polyval', { p: numbers, x: numbers }, {}, ({ p, x }, _, op) => {
  if (p.shape.length === 0) badShape(op, [p.shape], 'needs coefficients along an axis, got a scalar.', 'give a vector of coefficients.')
  const n = p.shape[0]!
  const shape = broadcastShapes(p.shape.slice(1), x.shape)
  if (shape === undefined)
    return badShape(
      op,
      [p.shape, x.shape],
      `the polynomials ${showShape(p.shape.slice(1))} and x ${showShape(x.shape)} do not broadcast.`,
      'give p as [n, ...stack].',
    )
  if (n > 4096) badInput(op, `a polynomial of ${n} coefficients.`, 'use scan over them.')
  if (n === 0) return broadcastTo(mul(x, 0), shape)
  return range(n - 1).reduce<AnyExpr>((s, k) => add(mul(s, x), gather(p, k + 1)), broadcastTo(gather(p, 0), shape))
})

const modes = (standard: 'full' | 'valid') => ({ mode: choice(['full', 'same', 'valid'], standard, 'mode') })
interface ConvolveOptions extends OptionsOf<ReturnType<typeof modes>> {}
/** The products of two vectors at all distances: of a with v turned round. The shorter one is the kernel. */
const convolution = <M extends 'full' | 'valid'>(name: 'convolve' | 'correlate', standard: M): ConvolveFn<ConvolveOptions, M> =>
  operation(name, { a: floats, v: floats }, modes(standard), ({ a, v }, { mode }, op) => {
    const [n, m] = [a, v].map(({ shape }) => (shape.length === 1 ? shape[0]! : -1)) as [number, number]
    if (n < 1 || m < 1)
      badShape(
        op,
        [a.shape, v.shape],
        `needs two vectors with elements, got ${showShape(a.shape)} and ${showShape(v.shape)}.`,
        'conv works on batches and planes.',
      )
    if (n + m > MAX_SIZE) badInput(op, 'the result is too long.')
    const swapped = n < m
    const [long, short] = swapped ? [v, a] : [a, v]
    const [k, size] = swapped ? [n, m] : [m, n]
    const line = (x: AnyExpr): AnyExpr => reshape(x, [1, 1, sizeOf(x)])
    const kernel = name === 'convolve' ? flip(short) : short
    const full = conv(line(long), line(kernel), { padding: [k - 1] } as never)
    const flat = reshape(full, [n + m - 1])
    // Correlation does not commute: with the arguments exchanged it comes out backwards.
    const backwards = name === 'correlate' && swapped
    const turned = backwards ? flip(flat) : flat
    if (mode === 'full') return turned
    return mode === 'same' ? part(turned, 0, Math.floor((backwards ? k : k - 1) / 2), size) : part(turned, 0, k - 1, size - k + 1)
  })

/**
 * Convolution of two vectors: y_k = sum_i a_i v_{k-i}. Mode 'full' (the default) has all n + m - 1 places, 'same' as many from the middle as the longer
 * vector has, 'valid' those where both overlap fully.
 *
 * Shapes  [n], [m] -> [n + m - 1], [max(n, m)], [|n - m| + 1].   Dtype  promoted; i32 and bool become f64.   Rule  bilinear.   Source  NumPy convolve.
 * Errors  ShapeMismatch unless both are vectors with elements; BadInput for an unknown mode.
 * @example convolve([1, 2, 3], [1, 10])   // [1, 12, 23, 30]
 */
export const convolve: ConvolveFn<ConvolveOptions, 'full'> = convolution('convolve', 'full')

/**
 * Correlation of two vectors: y_k = sum_i a_{i+k} v_i. Mode 'valid' (the default) has the places where both overlap fully, 'same' and 'full' as in `convolve`.
 *
 * Shapes  as `convolve`.   Dtype  promoted; i32 and bool become f64.   Rule  bilinear.   Source  NumPy correlate.
 * Errors  as `convolve`.
 * @example correlate([1, 2, 3], [1, 10])   // [21, 32]
 */
export const correlate: ConvolveFn<ConvolveOptions, 'valid'> = convolution('correlate', 'valid')
