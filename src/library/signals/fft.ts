/** Discrete Fourier transforms of any length, on pairs of a real and an imaginary part. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { choice, type Kind, kind, list, type OptionsOf, type ReadOf } from '../../core/errors/options.js'
import { roll } from '../../core/ops/layout/layout.js'
import { axesIn, axisOf, distinctAxes } from '../../core/ops/layout/move.js'
import { array, laterAxis, operation } from '../../core/ops/operation.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { FftFn, FftnFn, FftShiftFn, IrfftFn, IrfftnFn, Norm, RfftFn, RfftnFn } from '../../core/types/signatures/fft.js'
import { complex, real, resized } from './fft-arguments.js'
import { along, eachPart, halfAlong, type Pair, type Parts, realAlong, type Sign } from './fft-core.js'

const lengthOf = (n: unknown, op: string, what: string): number =>
  typeof n === 'number' && Number.isInteger(n) && n > 0 && n < 2 ** 26
    ? n
    : badInput(op, `${what} is ${shown(n)}.`, 'a transform has a positive whole number of points.')
const length: Kind<number | undefined> = kind((given, what, op) => (given === undefined ? undefined : lengthOf(given, op, what)))
const norm = choice(['backward', 'ortho', 'forward'], 'backward')
const one = { n: length, axis: laterAxis(-1), norm }
/** Options of fft, ifft, rfft and irfft. */
interface FftOptions extends OptionsOf<typeof one> {}
const several = { s: list<number>(), axes: list<number>(), norm }
/** Options of fft2 and fftn and their kin. */
interface FftnOptions extends OptionsOf<typeof several> {}

/** What the sums are multiplied by. */
const scaleOf = (n: number, sign: Sign, norm: Norm): number =>
  norm === 'ortho' ? 1 / Math.sqrt(n) : (norm === 'backward') === (sign === 1) ? 1 / n : 1
const transform = (x: Parts, axis: number, n: number, sign: Sign, norm: Norm): Pair =>
  along(
    eachPart(x, (v) => resized(v, axis, n)),
    axis,
    sign,
    scaleOf(n, sign, norm),
  )
/** A row's axis and length; `points` is the length where none is given. */
const rowOf = (x: AnyExpr, { n, axis }: ReadOf<typeof one>, op: string, points = (size: number) => size): readonly [number, number] => {
  const at = axisOf(axis, x.shape.length, op)
  return [at, n ?? lengthOf(points(x.shape[at]!), op, 'the number of points along the axis')]
}

const complexFft = <Op extends string>(name: Op, sign: Sign): FftFn<Op, FftOptions> =>
  operation(name, { x: complex }, one, ({ x }, o, op) => transform(x, ...rowOf(x.re, o, op), sign, o.norm))
/**
 * The discrete Fourier transform X_k = sum of x_j exp(-2 pi i j k / n) along an axis (the last by default), of a pair or a real array.
 *
 * Shapes  x's; with `n` cut or padded with zeros.   Dtype  i32 in f64.   Norm  as NumPy: 'backward' (this one unscaled), 'ortho', 'forward'.
 * Rule    linear: of the tangent; the conjugate transform of the cotangent.   Source  NumPy fft.   Error  a few eps log2(n) in the 2-norm.
 * Errors  BadInput for an axis out of range, no points, or an unknown norm; ShapeMismatch if the parts differ.
 * @example fft([1, 0, 0, 0])   // { re: [1, 1, 1, 1], im: [0, 0, 0, 0] }
 */
export const fft: FftFn<'fft', FftOptions> = complexFft('fft', -1)
/**
 * The inverse of fft: x_j = (1 / n) sum of X_k exp(2 pi i j k / n).
 *
 * Shapes, norm and errors  as fft.   Rule  linear.   Source  NumPy ifft.
 * @example ifft({ re: [1, 1, 1, 1], im: [0, 0, 0, 0] })   // { re: [1, 0, 0, 0], im: [0, 0, 0, 0] }
 */
export const ifft: FftFn<'ifft', FftOptions> = complexFft('ifft', 1)

/** The half of the spectrum of a real array. */
const halved = (x: AnyExpr, axis: number, n: number, norm: Norm): Pair => halfAlong(resized(x, axis, n), axis, scaleOf(n, -1, norm))
/**
 * The first n / 2 + 1 elements of fft of a real array; the others are their conjugates.
 *
 * Shapes  [..., n] -> [..., floor(n / 2) + 1].   Norm and errors  as fft; BadInput for a pair.   Rule  linear.   Source  NumPy rfft.
 * @example rfft([1, 2, 3, 4])   // { re: [10, -2, -2], im: [0, 2, 0] }
 */
export const rfft: RfftFn<'rfft', FftOptions> = operation('rfft', { x: real }, one, ({ x }, o, op) => halved(x, ...rowOf(x, o, op), o.norm))

/** The real array of the half of its spectrum. */
const doubled = (x: Parts, axis: number, n: number, norm: Norm): AnyExpr =>
  realAlong(
    eachPart(x, (v) => resized(v, axis, Math.floor(n / 2) + 1)),
    axis,
    n,
    scaleOf(n, 1, norm),
  )
/**
 * The inverse of rfft: a real array of n elements, 2 (m - 1) for m given unless `n` says otherwise.
 *
 * Shapes  [..., m] -> [..., n]; the imaginary parts of the first element, and of the last of an even n, are not read.
 * Norm and errors  as fft.   Rule  linear.   Source  NumPy irfft.
 * @example irfft({ re: [10, -2, -2], im: [0, 2, 0] })   // [1, 2, 3, 4]
 */
export const irfft: IrfftFn<'irfft', FftOptions> = operation('irfft', { x: complex }, one, ({ x }, o, op) =>
  doubled(x, ...rowOf(x.re, o, op, (size) => 2 * (size - 1)), o.norm),
)

/** Axes and lengths: `s` belongs to the axes, or to the last ones where none are given. */
const rowsOf = (x: AnyExpr, { s, axes }: ReadOf<typeof several>, op: string, standard: readonly number[] | undefined, real = false) => {
  const rank = x.shape.length
  const all = [...x.shape.keys()]
  const at = distinctAxes(axes ?? standard ?? (s === undefined ? all : all.slice(rank - Math.min(s.length, rank))), rank, op)
  if (at.length === 0 || (s !== undefined && s.length !== at.length))
    badInput(
      op,
      at.length === 0 ? 'there is no axis.' : `s has ${s!.length} lengths for ${at.length} axes.`,
      'give a length for each axis, or leave s out.',
    )
  const sizes = at.map((a, i) =>
    s !== undefined
      ? lengthOf(s[i], op, `s[${i}]`)
      : lengthOf(real && i === at.length - 1 ? 2 * (x.shape[a]! - 1) : x.shape[a]!, op, `the number of points along axis ${a}`),
  )
  return { at, sizes, axis: at[at.length - 1]!, n: sizes[sizes.length - 1]! }
}
/** One axis after the other, the last first. */
const overAxes = (x: Parts, at: readonly number[], sizes: readonly number[], sign: Sign, norm: Norm): Parts =>
  at.reduceRight<Parts>((y, axis, i) => transform(y, axis, sizes[i]!, sign, norm), x)
type LastTwo = readonly [-2, -1]
const LAST_TWO: LastTwo = [-2, -1]
const complexFftn = <X = undefined>(name: string, sign: Sign, standard?: X & readonly number[]): FftnFn<FftnOptions, X> =>
  operation(name, { x: complex }, several, ({ x }, o, op) => {
    const { at, sizes } = rowsOf(x.re, o, op, standard)
    return overAxes(x, at, sizes, sign, o.norm)
  })
/**
 * fft along several axes, all by default; `s` are the lengths along `axes`.
 *
 * Shapes, norm and errors  as fft.   Rule  linear.   Source  NumPy fftn.
 * @example fftn([[1, 0], [0, 0]])   // { re: [[1, 1], [1, 1]], im: [[0, 0], [0, 0]] }
 */
export const fftn: FftnFn<FftnOptions> = complexFftn('fftn', -1)
/**
 * The inverse of fftn.
 *
 * Rule  linear.   Source  NumPy ifftn.
 * @example ifftn({ re: [[1, 1], [1, 1]], im: [[0, 0], [0, 0]] }).re   // [[1, 0], [0, 0]]
 */
export const ifftn: FftnFn<FftnOptions> = complexFftn('ifftn', 1)
/**
 * fft along the last two axes, or the two of `axes`.
 *
 * Rule  linear.   Source  NumPy fft2.
 * @example fft2([[1, 0], [0, 0]]).re   // [[1, 1], [1, 1]]
 */
export const fft2: FftnFn<FftnOptions, LastTwo> = complexFftn('fft2', -1, LAST_TWO)
/**
 * The inverse of fft2.
 *
 * Rule  linear.   Source  NumPy ifft2.
 * @example ifft2([[1, 1], [1, 1]]).re   // [[1, 0], [0, 0]]
 */
export const ifft2: FftnFn<FftnOptions, LastTwo> = complexFftn('ifft2', 1, LAST_TWO)
const realFftn = <X = undefined>(name: string, standard?: X & readonly number[]): RfftnFn<FftnOptions, X> =>
  operation(name, { x: real }, several, ({ x }, o, op) => {
    const { at, sizes, axis, n } = rowsOf(x, o, op, standard)
    return overAxes(halved(x, axis, n, o.norm), at.slice(0, -1), sizes, -1, o.norm)
  })
/**
 * fftn of a real array, with half of the last axis: the other elements are conjugates.
 *
 * Shapes  [..., n] -> [..., floor(n / 2) + 1].   Rule  linear.   Source  NumPy rfftn.
 * @example rfftn([[1, 2], [3, 4]]).re   // [[10, -2], [-4, 0]]
 */
export const rfftn: RfftnFn<FftnOptions> = realFftn('rfftn')
/**
 * rfftn along the last two axes, or the two of `axes`.
 *
 * Rule  linear.   Source  NumPy rfft2.
 * @example rfft2([[1, 2], [3, 4]]).re   // [[10, -2], [-4, 0]]
 */
export const rfft2: RfftnFn<FftnOptions, LastTwo> = realFftn('rfft2', LAST_TWO)
const realIfftn = <X = undefined>(name: string, standard?: X & readonly number[]): IrfftnFn<FftnOptions, X> =>
  operation(name, { x: complex }, several, ({ x }, o, op) => {
    const { at, sizes, axis, n } = rowsOf(x.re, o, op, standard, true)
    return doubled(overAxes(x, at.slice(0, -1), sizes, 1, o.norm), axis, n, o.norm)
  })
/**
 * The inverse of rfftn: a real array of 2 (m - 1) along the last axis unless `s` says otherwise.
 *
 * Rule  linear.   Source  NumPy irfftn.
 * @example irfftn({ re: [[10, -2], [-4, 0]], im: [[0, 0], [0, 0]] })   // [[1, 2], [3, 4]]
 */
export const irfftn: IrfftnFn<FftnOptions> = realIfftn('irfftn')
/**
 * irfftn along the last two axes, or the two of `axes`.
 *
 * Rule  linear.   Source  NumPy irfft2.
 * @example irfft2({ re: [[10, -2], [-4, 0]], im: [[0, 0], [0, 0]] })   // [[1, 2], [3, 4]]
 */
export const irfft2: IrfftnFn<FftnOptions, LastTwo> = realIfftn('irfft2', LAST_TWO)

const shiftedAxes: Kind<readonly number[], number | readonly number[]> = kind((given, _what, op, shape) =>
  given === undefined ? [...shape.keys()] : axesIn(given as number | readonly number[], shape.length, op),
)
const shiftOptions = { axes: shiftedAxes }
interface ShiftOptions extends OptionsOf<typeof shiftOptions> {}
const shifted = (name: string, by: (size: number) => number): FftShiftFn<ShiftOptions> =>
  operation(name, { x: array }, shiftOptions, ({ x }, { axes }) =>
    axes.reduce((y, axis) => (y.shape[axis] === 0 ? y : roll(y, by(y.shape[axis]!), { axis })), x),
  )
/**
 * x with frequency 0 in the middle: rolled by half along all axes, or `axes`.
 *
 * Shapes  x's.   Rule  linear.   Source  NumPy fftshift.
 * @example fftshift([0, 1, 2, -2, -1])   // [-2, -1, 0, 1, 2]
 */
export const fftshift: FftShiftFn<ShiftOptions> = shifted('fftshift', (n) => Math.floor(n / 2))
/**
 * The inverse of fftshift.
 *
 * Shapes  x's.   Rule  linear.   Source  NumPy ifftshift.
 * @example ifftshift([-2, -1, 0, 1, 2])   // [0, 1, 2, -2, -1]
 */
export const ifftshift: FftShiftFn<ShiftOptions> = shifted('ifftshift', (n) => -Math.floor(n / 2))
