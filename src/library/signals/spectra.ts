/** What is made of Fourier transforms or goes with them: frequencies, windows, convolution. */

import { dtypeOf, flagOf, integerOf, type Names, numberOf, optionsOf, shown } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { asExpr } from '../../core/graph/expr.js'
import { lift } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { makeTensor } from '../../core/graph/tensor.js'
import { add, mul, sub } from '../../core/ops/arithmetic.js'
import { liftFloats } from '../../core/ops/lifted.js'
import { besselI } from '../../core/ops/special-bessel.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { ConvolveMode, FftConvolveFn, FreqFn, KaiserFn, WindowFn, WindowOptions } from '../../core/types/signatures/fft.js'
import { irfft, rfft } from './fft.js'
import { hasLast, lastPart, positive } from './fft-arguments.js'
import type { Pair } from './fft-core.js'

const filled = (n: number, dtype: DType, f: (k: number) => number): AnyExpr => {
  const data = dtype === 'f32' ? new Float32Array(n) : new Float64Array(n)
  for (let k = 0; k < n; k++) data[k] = f(k)
  return asExpr(lift(makeTensor(data, [n]), 'a window'))
}

const frequencies =
  (op: string, length: (n: number) => number) =>
  (given: unknown, spacing: unknown = 1): AnyExpr => {
    const n = positive(given, op)
    const d = numberOf(spacing, 'the spacing', op)
    return filled(length(n), 'f64', (k) => (op === 'fftfreq' && 2 * k >= n ? k - n : k) / (n * d))
  }
/**
 * The frequencies of fft's elements, for samples that are `spacing` (1) apart: 0, 1, ..., -2, -1 over n spacing.
 *
 * Errors  BadInput when n is no positive whole number.   Source  NumPy fftfreq.
 * @example fftfreq(4, 0.5)   // [0, 0.5, -1, -0.5]
 */
export const fftfreq: FreqFn = typed(frequencies('fftfreq', (n) => n))
/**
 * The frequencies of rfft's elements: 0, 1, ..., n / 2 over n spacing.
 *
 * Errors  BadInput when n is no positive whole number.   Source  NumPy rfftfreq.
 * @example rfftfreq(4, 0.5)   // [0, 0.5, 1]
 */
export const rfftfreq: FreqFn = typed(frequencies('rfftfreq', (n) => Math.floor(n / 2) + 1))

const windowOptions: Names<WindowOptions> = { periodic: true, dtype: true }
/** f of the place in [0, 1]: n - 1 apart, or n for one period; a single one is 1, and none at all is an empty window. */
const windowed = (op: string, given: unknown, options: WindowOptions | undefined, f: (t: number) => number): AnyExpr => {
  const n = integerOf(given, 'n', op)
  if (n < 0) raise({ _tag: 'BadInput', where: op, reason: `n is ${n}.`, fix: 'give a whole number from 0 on.' })
  const { periodic, dtype = 'f64' } = optionsOf(options, windowOptions, op)
  const own = dtypeOf(dtype, op)
  if (own !== 'f64' && own !== 'f32')
    raise({ _tag: 'BadInput', where: op, reason: `dtype is ${shown(dtype)}.`, fix: "give 'f64' or 'f32'." })
  const steps = flagOf(periodic, 'periodic', op) ? n : n - 1
  return filled(n, own, (k) => (n === 1 ? 1 : f(k / steps)))
}
const cosines =
  (op: string, a: number, b: number, c: number) =>
  (n: unknown, options?: WindowOptions): AnyExpr =>
    windowed(op, n, options, (t) => {
      // The same from both ends, to the bit.
      const u = Math.min(t, 1 - t)
      return u === 0 ? a - (b - c) : a - b * Math.cos(2 * Math.PI * u) + c * Math.cos(4 * Math.PI * u)
    })
/**
 * Hann's window, 1/2 - cos(2 pi k / (n - 1)) / 2; with `periodic` over n in place of n - 1.
 *
 * Errors  BadInput when n is no whole number from 0 on.   Source  NumPy hanning.
 * @example hann(5)   // [0, 0.5, 1, 0.5, 0]
 */
export const hann: WindowFn = typed(cosines('hann', 0.5, 0.5, 0))
/**
 * Hamming's window, 0.54 - 0.46 cos(2 pi k / (n - 1)); with `periodic` over n.
 *
 * Errors  BadInput when n is no whole number from 0 on.   Source  NumPy hamming.
 * @example hamming(3)   // [0.08, 1, 0.08]
 */
export const hamming: WindowFn = typed(cosines('hamming', 0.54, 0.46, 0))
/**
 * Blackman's window, 0.42 - 0.5 cos(2 pi k / (n - 1)) + 0.08 cos(4 pi k / (n - 1)); with `periodic` over n.
 *
 * Errors  BadInput when n is no whole number from 0 on.   Source  NumPy blackman.
 * @example blackman(3)   // [0, 1, 0]
 */
export const blackman: WindowFn = typed(cosines('blackman', 0.42, 0.5, 0.08))
/**
 * Kaiser's window, I_0(beta sqrt(1 - t^2)) / I_0(beta) with t from -1 to 1; with `periodic` over n.
 *
 * Errors  BadInput when n is no whole number from 0 on or beta no number.   Source  NumPy kaiser.
 * @example kaiser(3, 2)   // [0.4387, 1, 0.4387]
 */
export const kaiser: KaiserFn = typed((n: unknown, given: unknown, options?: WindowOptions): AnyExpr => {
  const shape = numberOf(given, 'beta', 'kaiser')
  return windowed('kaiser', n, options, (t) => {
    const root = 2 * Math.sqrt(Math.max(0, t * (1 - t)))
    return besselI(0, shape * root) / besselI(0, shape)
  })
})

/** The least length from n on with factors 2, 3 and 5 alone. */
const fastLength = (n: number): number => {
  for (let m = n; ; m++) {
    let rest = m
    for (const p of [2, 3, 5]) while (rest % p === 0) rest /= p
    if (rest === 1) return m
  }
}
const convolveOptions: Names<{ readonly mode?: ConvolveMode | undefined }> = { mode: true }
/**
 * The convolution of real arrays along the last axis, by rfft: y_k = sum of a_j b_{k - j}; the other axes broadcast.
 *
 * Shapes  [..., n], [..., m] -> [..., n + m - 1] ('full'), [..., n] ('same'), [..., |n - m| + 1] ('valid').   Rule  bilinear.
 * Error   a few eps of the 2-norms of a and b, as SciPy fftconvolve.   Errors  BadInput for numbers, empty axes or another mode.
 * @example fftConvolve([1, 2], [1, 1, 1])   // [1, 3, 3, 2]
 */
export const fftConvolve: FftConvolveFn = typed(
  (first: unknown, second: unknown, options?: { readonly mode?: ConvolveMode | undefined }): AnyExpr => {
    const op = 'fftConvolve'
    const [a, b] = liftFloats([first, second], op, false).map(asExpr) as [AnyExpr, AnyExpr]
    const { mode = 'full' } = optionsOf(options, convolveOptions, op)
    const [n, m] = [hasLast(a, op, 'the first'), hasLast(b, op, 'the second')]
    const starts: Readonly<Record<ConvolveMode, readonly [number, number]>> = {
      full: [0, n + m - 1],
      same: [Math.floor((m - 1) / 2), n],
      valid: [Math.min(n, m) - 1, Math.abs(n - m) + 1],
    }
    const part = Object.hasOwn(starts, mode) ? starts[mode] : undefined
    if (part === undefined)
      return raise({ _tag: 'BadInput', where: op, reason: `mode is ${shown(mode)}.`, fix: "give 'full', 'same' or 'valid'." })
    const length = fastLength(n + m - 1)
    const [x, y] = [a, b].map((v) => rfft(v as never, { n: length } as never) as unknown as Pair) as [Pair, Pair]
    const product = {
      re: sub(mul(x.re, y.re), mul(x.im, y.im)) as AnyExpr,
      im: add(mul(x.re, y.im), mul(x.im, y.re)) as AnyExpr,
    }
    return lastPart(irfft(product as never, { n: length } as never) as AnyExpr, part[0], part[0] + part[1])
  },
)
