/** Discrete Fourier transforms of any length, on pairs of a real and an imaginary part. */

import { listOf, type Names, optionsOf, shown } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { asExpr } from '../../core/graph/expr.js'
import { lift, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { makeTensor } from '../../core/graph/tensor.js'
import { mul } from '../../core/ops/arithmetic.js'
import { pad, roll, slice } from '../../core/ops/layout.js'
import { axesIn, axisOf, distinctAxes } from '../../core/ops/layout-move.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  FftFn,
  FftnFn,
  FftnOptions,
  FftOptions,
  FftShiftFn,
  IrfftFn,
  IrfftnFn,
  Norm,
  RfftFn,
  RfftnFn,
} from '../../core/types/signatures/fft.js'
import { complexOf, pairIn, shapeOf } from './fft-arguments.js'
import { along, type Pair, type Parts, type Sign } from './fft-core.js'

const one: Names<FftOptions> = { n: true, axis: true, norm: true }
const several: Names<FftnOptions> = { s: true, axes: true, norm: true }

const realOf = (given: unknown, op: string): AnyExpr => {
  const pair = pairIn(given, op)
  if (pair?.re !== undefined && pair.im !== undefined)
    raise({ _tag: 'BadInput', where: op, reason: 'it is a complex pair.', fix: `give a real array, or call ${op.slice(1)}.` })
  return asExpr(liftFloat(given as never, op))
}
const normOf = (norm: unknown, op: string): Norm =>
  norm === undefined || norm === 'backward' || norm === 'ortho' || norm === 'forward'
    ? (norm ?? 'backward')
    : raise({ _tag: 'BadInput', where: op, reason: `norm is ${shown(norm)}.`, fix: "give 'backward', 'ortho' or 'forward'." })
/** What a transform of length n is multiplied with. */
const scaleOf = (norm: Norm, sign: Sign, n: number): number =>
  norm === 'ortho' ? 1 / Math.sqrt(n) : (norm === 'backward') === (sign === 1) ? 1 / n : 1
const lengthOf = (n: unknown, op: string, what = 'n'): number =>
  typeof n === 'number' && Number.isInteger(n) && n > 0 && n < 2 ** 26
    ? n
    : raise({ _tag: 'BadInput', where: op, reason: `${what} is ${shown(n)}.`, fix: 'a transform has a positive whole number of points.' })

/** The first n elements along the axis, with zeros behind where there are fewer. */
const resized = (x: AnyExpr, axis: number, n: number): AnyExpr => {
  const shape = shapeOf(x)
  const size = shape[axis]!
  if (size === n) return x
  if (size > n)
    return slice(
      x,
      shape.map(() => 0),
      shape.map((d, i) => (i === axis ? n : d)),
    ) as AnyExpr
  return pad(x as never, shape.map((_, i) => (i === axis ? [0, n - size] : [0, 0])) as never) as AnyExpr
}
const eachPart = (x: Parts, f: (v: AnyExpr) => AnyExpr): Parts => ({ re: f(x.re), ...(x.im !== undefined && { im: f(x.im) }) })
const transform = (x: Parts, axis: number, n: number, sign: Sign, norm: Norm): Pair =>
  along(
    eachPart(x, (v) => resized(v, axis, n)),
    axis,
    sign,
    scaleOf(norm, sign, n),
  )
/** A row's options as axis, length and norm; `points` is the length where none is given. */
const read = (options: FftOptions | undefined, x: AnyExpr, op: string, points: (size: number) => number = (size) => size) => {
  const { n, axis = -1, norm } = optionsOf(options, one, op)
  const at = axisOf(axis, shapeOf(x).length, op)
  const size = shapeOf(x)[at]!
  return {
    at,
    points: n === undefined ? lengthOf(points(size), op, 'the number of points along the axis') : lengthOf(n, op),
    norm: normOf(norm, op),
  }
}

const complexFft =
  (op: string, sign: Sign) =>
  (given: unknown, options?: FftOptions): Pair => {
    const x = complexOf(given, op)
    const { at, points, norm } = read(options, x.re, op)
    return transform(x, at, points, sign, norm)
  }
/**
 * The discrete Fourier transform X_k = sum of x_j exp(-2 pi i j k / n) along an axis (the last by default), of a pair or a real array.
 *
 * Shapes  x's; with `n` cut or padded with zeros.   Dtype  i32 in f64.   Norm  as NumPy: 'backward' (this one unscaled), 'ortho', 'forward'.
 * Rule    linear: of the tangent; the conjugate transform of the cotangent.   Source  NumPy fft.   Error  a few eps log2(n) in the 2-norm.
 * Errors  BadInput for an axis out of range, no points or another norm; ShapeMismatch where the parts differ.
 * @example fft([1, 0, 0, 0])   // { re: [1, 1, 1, 1], im: [0, 0, 0, 0] }
 */
export const fft: FftFn<'fft'> = typed(complexFft('fft', -1))
/**
 * The inverse of fft: x_j = (1 / n) sum of X_k exp(2 pi i j k / n).
 *
 * Shapes, norm and errors  as fft.   Rule  linear.   Source  NumPy ifft.
 * @example ifft({ re: [1, 1, 1, 1], im: [0, 0, 0, 0] })   // { re: [1, 0, 0, 0], im: [0, 0, 0, 0] }
 */
export const ifft: FftFn<'ifft'> = typed(complexFft('ifft', 1))

const half = (y: Pair, axis: number, n: number): Pair => ({
  re: resized(y.re, axis, Math.floor(n / 2) + 1),
  im: resized(y.im, axis, Math.floor(n / 2) + 1),
})
/**
 * The first n / 2 + 1 elements of fft of a real array; the others are their conjugates.
 *
 * Shapes  [..., n] -> [..., floor(n / 2) + 1].   Norm and errors  as fft; BadInput for a pair.   Rule  linear.   Source  NumPy rfft.
 * @example rfft([1, 2, 3, 4])   // { re: [10, -2, -2], im: [0, 2, 0] }
 */
export const rfft: RfftFn<'rfft'> = typed((given: unknown, options?: FftOptions): Pair => {
  const x = realOf(given, 'rfft')
  const { at, points, norm } = read(options, x, 'rfft')
  return half(transform({ re: x }, at, points, -1, norm), at, points)
})

/** Weights of the half of a spectrum: 2 where an element stands for its conjugate too. */
const hermitian = (x: Parts, axis: number, n: number): Parts => {
  const count = Math.floor(n / 2) + 1
  const weights = Float64Array.from({ length: count }, (_, k) => (k === 0 || 2 * k === n ? 1 : 2))
  const shape = shapeOf(x.re).map((_, i) => (i === axis ? count : 1))
  const w = makeTensor(x.re.dtype === 'f32' ? Float32Array.from(weights) : weights, shape) as unknown as AnyExpr
  return eachPart(x, (v) => mul(resized(v, axis, count), w) as AnyExpr)
}
/**
 * The inverse of rfft: a real array of n elements, 2 (m - 1) for m given unless `n` says otherwise.
 *
 * Shapes  [..., m] -> [..., n]; the imaginary parts of the first element, and of the last of an even n, are not read.
 * Norm and errors  as fft.   Rule  linear.   Source  NumPy irfft.
 * @example irfft({ re: [10, -2, -2], im: [0, 2, 0] })   // [1, 2, 3, 4]
 */
export const irfft: IrfftFn<'irfft'> = typed((given: unknown, options?: FftOptions): AnyExpr => {
  const x = complexOf(given, 'irfft')
  const { at, points, norm } = read(options, x.re, 'irfft', (size) => 2 * (size - 1))
  return transform(hermitian(x, at, points), at, points, 1, norm).re
})

/** Axes and lengths: `s` belongs to the axes, or to the last ones where none are given. */
const readSeveral = (
  options: FftnOptions | undefined,
  x: AnyExpr,
  op: string,
  axesByDefault: readonly number[] | undefined,
  real = false,
) => {
  const { s, axes, norm } = optionsOf(options, several, op)
  const rank = shapeOf(x).length
  if (s !== undefined) listOf(s, 's', op)
  if (axes !== undefined) listOf(axes, 'axes', op)
  const all = [...shapeOf(x).keys()]
  const named = axes ?? axesByDefault ?? (s === undefined ? all : all.slice(all.length - Math.min(s.length, rank)))
  const at = distinctAxes(named, rank, op)
  if (at.length === 0 || (s !== undefined && s.length !== at.length))
    raise({
      _tag: 'BadInput',
      where: op,
      reason: at.length === 0 ? 'there is no axis.' : `s has ${s!.length} lengths for ${at.length} axes.`,
      fix: 'give a length for each axis, or leave s out.',
    })
  const sizes = at.map((a, i) =>
    s !== undefined
      ? lengthOf(s[i], op, `s[${i}]`)
      : lengthOf(real && i === at.length - 1 ? 2 * (shapeOf(x)[a]! - 1) : shapeOf(x)[a]!, op, `the number of points along axis ${a}`),
  )
  return { at, sizes, norm: normOf(norm, op) }
}
/** One axis after the other, the last first. */
const overAxes = (x: Parts, at: readonly number[], sizes: readonly number[], sign: Sign, norm: Norm): Pair =>
  at.reduceRight<Parts>((y, axis, i) => transform(y, axis, sizes[i]!, sign, norm), x) as Pair
const complexFftn =
  (op: string, sign: Sign, axes?: readonly number[]) =>
  (given: unknown, options?: FftnOptions): Pair => {
    const x = complexOf(given, op)
    const { at, sizes, norm } = readSeveral(options, x.re, op, axes)
    return overAxes(x, at, sizes, sign, norm)
  }
/**
 * fft along several axes, all by default; `s` are the lengths along `axes`.
 *
 * Shapes, norm and errors  as fft.   Rule  linear.   Source  NumPy fftn.
 * @example fftn([[1, 0], [0, 0]])   // { re: [[1, 1], [1, 1]], im: [[0, 0], [0, 0]] }
 */
export const fftn: FftnFn = typed(complexFftn('fftn', -1))
/**
 * The inverse of fftn.
 *
 * Rule  linear.   Source  NumPy ifftn.
 * @example ifftn({ re: [[1, 1], [1, 1]], im: [[0, 0], [0, 0]] }).re   // [[1, 0], [0, 0]]
 */
export const ifftn: FftnFn = typed(complexFftn('ifftn', 1))
/**
 * fft along the last two axes, or the two of `axes`.
 *
 * Rule  linear.   Source  NumPy fft2.
 * @example fft2([[1, 0], [0, 0]]).re   // [[1, 1], [1, 1]]
 */
export const fft2: FftnFn = typed(complexFftn('fft2', -1, [-2, -1]))
/**
 * The inverse of fft2.
 *
 * Rule  linear.   Source  NumPy ifft2.
 * @example ifft2([[1, 1], [1, 1]]).re   // [[1, 0], [0, 0]]
 */
export const ifft2: FftnFn = typed(complexFftn('ifft2', 1, [-2, -1]))
const realFftn =
  (op: string, axes?: readonly number[]) =>
  (given: unknown, options?: FftnOptions): Pair => {
    const x = realOf(given, op)
    const { at, sizes, norm } = readSeveral(options, x, op, axes)
    const [axis, n] = [at[at.length - 1]!, sizes[sizes.length - 1]!]
    const last = half(transform({ re: x }, axis, n, -1, norm), axis, n)
    return overAxes(last, at.slice(0, -1), sizes.slice(0, -1), -1, norm)
  }
/**
 * fftn of a real array, of which half stands along the last axis.
 *
 * Shapes  [..., n] -> [..., floor(n / 2) + 1].   Rule  linear.   Source  NumPy rfftn.
 * @example rfftn([[1, 2], [3, 4]]).re   // [[10, -2], [-4, 0]]
 */
export const rfftn: RfftnFn = typed(realFftn('rfftn'))
/**
 * rfftn along the last two axes, or the two of `axes`.
 *
 * Rule  linear.   Source  NumPy rfft2.
 * @example rfft2([[1, 2], [3, 4]]).re   // [[10, -2], [-4, 0]]
 */
export const rfft2: RfftnFn = typed(realFftn('rfft2', [-2, -1]))
const realIfftn =
  (op: string, axes?: readonly number[]) =>
  (given: unknown, options?: FftnOptions): AnyExpr => {
    const x = complexOf(given, op)
    const { at, sizes, norm } = readSeveral(options, x.re, op, axes, true)
    const [axis, n] = [at[at.length - 1]!, sizes[sizes.length - 1]!]
    const rest = at.length === 1 ? x : overAxes(x, at.slice(0, -1), sizes.slice(0, -1), 1, norm)
    return transform(hermitian(rest, axis, n), axis, n, 1, norm).re
  }
/**
 * The inverse of rfftn: a real array of 2 (m - 1) along the last axis unless `s` says otherwise.
 *
 * Rule  linear.   Source  NumPy irfftn.
 * @example irfftn({ re: [[10, -2], [-4, 0]], im: [[0, 0], [0, 0]] })   // [[1, 2], [3, 4]]
 */
export const irfftn: IrfftnFn = typed(realIfftn('irfftn'))
/**
 * irfftn along the last two axes, or the two of `axes`.
 *
 * Rule  linear.   Source  NumPy irfft2.
 * @example irfft2({ re: [[10, -2], [-4, 0]], im: [[0, 0], [0, 0]] })   // [[1, 2], [3, 4]]
 */
export const irfft2: IrfftnFn = typed(realIfftn('irfft2', [-2, -1]))

const shifts: Names<{ readonly axes?: number | readonly number[] | undefined }> = { axes: true }
const shifted =
  (op: string, by: (size: number) => number) =>
  (given: unknown, options?: { readonly axes?: number | readonly number[] | undefined }): AnyExpr => {
    const x = asExpr(lift(given as never, op))
    const { axes } = optionsOf(options, shifts, op)
    const at = axes === undefined ? [...shapeOf(x).keys()] : axesIn(axes, shapeOf(x).length, op)
    return at.reduce((y, axis) => (shapeOf(y)[axis] === 0 ? y : (roll(y as never, by(shapeOf(y)[axis]!), { axis } as never) as AnyExpr)), x)
  }
/**
 * The frequency 0 in the middle: rolled by half along all axes, or `axes`.
 *
 * Shapes  x's.   Rule  linear.   Source  NumPy fftshift.
 * @example fftshift([0, 1, 2, -2, -1])   // [-2, -1, 0, 1, 2]
 */
export const fftshift: FftShiftFn = typed(shifted('fftshift', (n) => Math.floor(n / 2)))
/**
 * The inverse of fftshift.
 *
 * Shapes  x's.   Rule  linear.   Source  NumPy ifftshift.
 * @example ifftshift([-2, -1, 0, 1, 2])   // [0, 1, 2, -2, -1]
 */
export const ifftshift: FftShiftFn = typed(shifted('ifftshift', (n) => -Math.floor(n / 2)))
