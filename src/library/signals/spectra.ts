/** What is made of Fourier transforms or goes with them: frequencies, windows, convolution. */
import { numberOf } from '../../core/errors/check-arguments.js'
import { choice, flag, kind, number, type OptionsFor, type OptionsOf, type ReadOf, whole } from '../../core/errors/options.js'
import { table } from '../../core/ops/arrays.js'
import { floats, operation } from '../../core/ops/operation.js'
import { besselI } from '../../core/ops/special/bessel-values.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { ConvolveMode, FftConvolveFn, FreqFn, KaiserFn, WindowFn, WindowOptions } from '../../core/types/signatures/fft.js'
import { irfft, rfft } from './fft.js'
import { hasLast, lastPart } from './fft-arguments.js'
import { times } from './fft-core.js'

const filled = (n: number, dtype: 'f64' | 'f32', f: (k: number) => number): AnyExpr => {
  const data = Float64Array.from({ length: n }, (_, k) => f(k))
  return table(data, [n], dtype)
}

const frequencies = (name: string, of: (k: number, n: number) => number, length = (n: number): number => n): FreqFn =>
  operation(name, { n: whole({ from: 1 }), spacing: number(1) }, {}, ({ n, spacing }) =>
    filled(length(n), 'f64', (k) => of(k, n) / (n * spacing)),
  )
/**
 * The frequencies of fft's elements, for samples that are `spacing` (1) apart: 0, 1, ..., -2, -1 over n spacing.
 *
 * Errors  BadInput unless n is a positive integer.   Source  NumPy fftfreq.
 * @example fftfreq(4, 0.5)   // [0, 0.5, -1, -0.5]
 */
export const fftfreq: FreqFn = frequencies('fftfreq', (k, n) => (2 * k >= n ? k - n : k))
const half = (n: number): number => Math.floor(n / 2) + 1
/**
 * The frequencies of rfft's elements: 0, 1, ..., n / 2 over n spacing.
 *
 * Errors  BadInput unless n is a positive integer.   Source  NumPy rfftfreq.
 * @example rfftfreq(4, 0.5)   // [0, 0.5, 1]
 */
export const rfftfreq: FreqFn = frequencies('rfftfreq', (k) => k, half)

const points = whole({ from: 0 })
const windowOptions = { periodic: flag(), dtype: choice(['f64', 'f32'], 'f64') } satisfies OptionsFor<WindowOptions>
/** f of the place in [0, 1]: n - 1 apart, or n for one period; a single one is 1, and none at all is an empty window. */
const windowed = (n: number, { periodic, dtype }: ReadOf<typeof windowOptions>, f: (t: number) => number): AnyExpr =>
  filled(n, dtype, (k) => (n === 1 ? 1 : f(k / (periodic ? n : n - 1))))
const cosines = (name: string, a: number, b: number, c: number): WindowFn =>
  operation(name, { n: points }, windowOptions, ({ n }, o) =>
    windowed(n, o, (t) => {
      // The same from both ends, to the bit.
      const u = Math.min(t, 1 - t)
      return u === 0 ? a - (b - c) : a - b * Math.cos(2 * Math.PI * u) + c * Math.cos(4 * Math.PI * u)
    }),
  )
/**
 * Hann's window, 1/2 - cos(2 pi k / (n - 1)) / 2; with `periodic` over n in place of n - 1.
 *
 * Errors  BadInput unless n is a non-negative integer.   Source  NumPy hanning.
 * @example hann(5)   // [0, 0.5, 1, 0.5, 0]
 */
export const hann: WindowFn = cosines('hann', 0.5, 0.5, 0)
/**
 * Hamming's window, 0.54 - 0.46 cos(2 pi k / (n - 1)); with `periodic` over n.
 *
 * Errors  BadInput unless n is a non-negative integer.   Source  NumPy hamming.
 * @example hamming(3)   // [0.08, 1, 0.08]
 */
export const hamming: WindowFn = cosines('hamming', 0.54, 0.46, 0)
/**
 * Blackman's window, 0.42 - 0.5 cos(2 pi k / (n - 1)) + 0.08 cos(4 pi k / (n - 1)); with `periodic` over n.
 *
 * Errors  BadInput unless n is a non-negative integer.   Source  NumPy blackman.
 * @example blackman(3)   // [0, 1, 0]
 */
export const blackman: WindowFn = cosines('blackman', 0.42, 0.5, 0.08)
/**
 * Kaiser's window, I_0(beta sqrt(1 - t^2)) / I_0(beta) with t from -1 to 1; with `periodic` over n.
 *
 * Errors  BadInput unless n is a non-negative integer and beta a number.   Source  NumPy kaiser.
 * @example kaiser(3, 2)   // [0.4387, 1, 0.4387]
 */
export const kaiser: KaiserFn = operation('kaiser', { n: points, beta: kind(numberOf) }, windowOptions, ({ n, beta }, o) =>
  windowed(n, o, (t) => besselI(0, beta * (2 * Math.sqrt(Math.max(0, t * (1 - t))))) / besselI(0, beta)),
)

/** The least length from n on with factors 2, 3 and 5 alone. */
const fastLength = (n: number): number => {
  for (let m = n; ; m++) {
    let rest = m
    for (const p of [2, 3, 5]) while (rest % p === 0) rest /= p
    if (rest === 1) return m
  }
}
const convolveOptions = { mode: choice(['full', 'same', 'valid'], 'full') }
interface ConvolveOptions extends OptionsOf<typeof convolveOptions> {}
/**
 * The convolution of real arrays along the last axis, by rfft: y_k = sum of a_j b_{k - j}; the other axes broadcast.
 *
 * Shapes  [..., n], [..., m] -> [..., n + m - 1] ('full'), [..., n] ('same'), [..., |n - m| + 1] ('valid').   Rule  bilinear.
 * Error   a few eps of the 2-norms of a and b, as SciPy fftconvolve.   Errors  BadInput for numbers, empty axes or an unknown mode.
 * @example fftConvolve([1, 2], [1, 1, 1])   // [1, 3, 3, 2]
 */
export const fftConvolve: FftConvolveFn<ConvolveOptions> = operation(
  'fftConvolve',
  { a: floats, b: floats },
  convolveOptions,
  ({ a, b }, { mode }, op) => {
    const [n, m] = [hasLast(a, op, 'the first'), hasLast(b, op, 'the second')]
    const parts: Readonly<Record<ConvolveMode, readonly [number, number]>> = {
      full: [0, n + m - 1],
      same: [Math.floor((m - 1) / 2), n],
      valid: [Math.min(n, m) - 1, Math.abs(n - m) + 1],
    }
    const length = fastLength(n + m - 1)
    const product = times(rfft(a, { n: length }), rfft(b, { n: length }))
    return lastPart(irfft(product, { n: length }), ...parts[mode])
  },
)
