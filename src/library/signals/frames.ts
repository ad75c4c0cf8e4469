/** Transforms of frames, and frames put together again. */
import { badInput } from '../../core/errors/explain.js'
import { flag, integer, type OptionsOf, type ReadOf, raw, whole } from '../../core/errors/options.js'
import { div, mul } from '../../core/ops/arithmetic.js'
import { arrayOf, table } from '../../core/ops/arrays.js'
import { concat } from '../../core/ops/joins.js'
import { broadcastTo, flip, reshape, transpose } from '../../core/ops/layout/layout.js'
import { operation } from '../../core/ops/operation.js'
import { sum } from '../../core/ops/reductions.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyExpr, Expr, Plain } from '../../core/types/expr.js'
import type { IstftFn, StftFn } from '../../core/types/signatures/fft.js'
import { take } from '../../families/indexing.js'
import { fft, ifft, irfft, rfft } from './fft.js'
import { complex, hasLast, lastPart, resized } from './fft-arguments.js'
import { eachPart } from './fft-core.js'
import { hann } from './spectra.js'

const framing = {
  /** Samples of a frame. */
  size: whole({ from: 1 }),
  /** Samples from one frame to the next: a quarter of the size unless given. */
  hop: integer(undefined, { from: 1 }),
  /** A factor for each sample of a frame: a periodic Hann window unless given. */
  window: raw<Expr | Plain>(),
  /** Is frame t centred at sample t hop, with the signal reflected at its ends? True unless given. */
  center: flag(true),
  /** The half of the frequencies that a real signal needs; false: all of them, of a signal that may be complex. */
  onesided: flag(true),
}
/** Options of stft. */
interface StftOptions extends OptionsOf<typeof framing> {}
/** The hop between frames, a quarter of their size unless given, and the window, a periodic Hann unless given. */
const framesOf = ({ size, hop, window }: ReadOf<typeof framing>, dtype: DType, op: string) => {
  const own = dtype === 'f32' ? 'f32' : 'f64'
  const w: AnyExpr = window === undefined ? hann(size, { periodic: true, dtype: own }) : arrayOf(window, op, 'float')
  if (`${w.shape}` !== `${[size]}`) badInput(op, `the window has the shape [${w.shape}].`, `give one of [${size}].`)
  return { step: hop ?? Math.max(1, Math.floor(size / 4)), w }
}
/**
 * Transforms of frames of `size` samples, `hop` (size / 4) apart, along the last axis of a real array: X[k, t] = rfft(window x[t hop : t hop + size])_k; with `onesided: false` its fft, of an array that may be complex.
 *
 * Shapes  [..., n] -> [..., floor(size / 2) + 1, frames], or [..., size, frames].   The window is a periodic Hann unless given; with `center` (the default) frame t is around sample
 * t hop, x reflected at its ends.   Rule  linear.   Source  PyTorch stft.
 * Errors  BadInput for sizes that are not positive integers, a window of another length, or fewer samples than a frame needs.
 * @example stft([1, 2, 3, 4], { size: 2, hop: 2, window: [1, 1], center: false }).re   // [[3, 7], [-1, -1]]
 */
export const stft: StftFn<StftOptions> = operation('stft', { signal: complex }, framing, ({ signal }, o, op) => {
  const { size, center, onesided } = o
  const { step, w } = framesOf(o, signal.re.dtype, op)
  if (onesided && signal.im !== undefined) badInput(op, 'the signal is complex.', 'give { onesided: false }: all frequencies belong to it.')
  const n = hasLast(signal.re, op, 'the signal')
  const x = center ? eachPart(signal, (v) => reflected(v, n, Math.floor(size / 2), op)) : signal
  const length = x.re.shape.at(-1)!
  if (length < size) badInput(op, `${length} samples are less than a frame of ${size}.`, 'give more, or a smaller size.')
  const frames = Math.floor((length - size) / step) + 1
  const cut = eachPart(x, (v) => framed(v, w, frames, step))
  const y = onesided ? rfft(cut.re) : fft(cut.im === undefined ? cut.re : { re: cut.re, im: cut.im })
  return eachPart(y, (v) => transpose(v))
})
/** More parts of a frame than these are taken at once, by where their samples lie. */
const PARTS = 16
/** Frames of x, times the window: where they overlap by whole steps, parts as long as a step beside each other. */
const framed = (x: AnyExpr, w: AnyExpr, frames: number, step: number): AnyExpr => {
  const [size] = w.shape as readonly [number]
  const parts = size / step
  if (Number.isInteger(parts) && parts <= PARTS) {
    const lead = x.shape.slice(0, -1)
    const each = Array.from({ length: parts }, (_, i) =>
      mul(reshape(lastPart(x, i * step, frames * step), [...lead, frames, step]), lastPart(w, i * step, step)),
    )
    return each.length === 1 ? each[0]! : concat(each, { axis: -1 })
  }
  const at = Int32Array.from({ length: frames * size }, (_, i) => Math.floor(i / size) * step + (i % size))
  return mul(take(x, table(at, [frames, size], 'i32'), { axis: -1 }), w)
}
/** x with `by` samples more at each end, mirrored at the first and the last. */
const reflected = (x: AnyExpr, n: number, by: number, op: string): AnyExpr => {
  if (by === 0) return x
  if (by >= n) badInput(op, `${n} samples cannot be reflected by ${by}.`, 'give more samples, a smaller size, or center: false.')
  const mirror = (from: number): AnyExpr => flip(lastPart(x, from, by), { axis: -1 })
  return concat([mirror(1), x, mirror(n - 1 - by)], { axis: -1 })
}

/** Sums frames [..., t, size] that start `hop` apart: [..., (t - 1) hop + size]. Blocks of `hop` are put in rows that are each one block later. */
const overlapped = (x: AnyExpr, hop: number): AnyExpr => {
  const [frames, size] = x.shape.slice(-2) as [number, number]
  const lead = x.shape.slice(0, -2)
  const blocks = Math.ceil(size / hop)
  const at = lead.length
  const cut = reshape(resized(x, at + 1, blocks * hop), [...lead, frames, blocks, hop])
  const rows = transpose(cut, [...lead.keys(), at + 1, at, at + 2])
  const long = reshape(resized(rows, at + 1, frames + blocks), [...lead, blocks * (frames + blocks), hop])
  const skewed = reshape(resized(long, at, blocks * (frames + blocks - 1)), [...lead, blocks, frames + blocks - 1, hop])
  const y = reshape(sum(skewed, { axis: at }), [...lead, (frames + blocks - 1) * hop])
  return resized(y, at, (frames - 1) * hop + size)
}

const inverse = { ...framing, length: integer(undefined, { from: 1 }) }
/** Options of istft. */
interface IstftOptions extends OptionsOf<typeof inverse> {}
/**
 * The inverse of stft: overlapping frames window irfft(Y_t) are summed and divided by the sum of the squared windows, which is the signal that
 * fits all frames best.
 *
 * Shapes  [..., floor(size / 2) + 1, frames] -> [..., n], n = (frames - 1) hop + size, less 2 floor(size / 2) with `center`; `length` cuts it or pads it with zeros. With
 *         `onesided: false` the signal is a complex pair.   Options as for `stft`.   Rule  linear in y.   Source  PyTorch istft. Samples that no window reaches are NaN.
 * Errors  BadInput for a wrong number of frequencies, no frames, sizes that are not positive integers, or a window of another length.
 * @example istft(stft([1, 2, 3, 4], { size: 2, hop: 1 }), { size: 2, hop: 1 })   // [1, 2, 3, 4]
 */
export const istft: IstftFn<IstftOptions> = operation('istft', { y: complex }, inverse, ({ y }, o, op) => {
  const { size, center, length, onesided } = o
  const wanted = onesided ? Math.floor(size / 2) + 1 : size
  const [count, frames] = y.re.shape.slice(-2)
  if (frames === undefined || frames === 0 || count !== wanted)
    badInput(op, `its shape is [${y.re.shape}].`, `give [..., ${wanted} frequencies, frames], at least one frame.`)
  const { step, w } = framesOf(o, y.re.dtype, op)
  const turned = y.im === undefined ? transpose(y.re) : { re: transpose(y.re), im: transpose(y.im) }
  const back = onesided ? { re: irfft(turned, { n: size }) } : ifft(turned)
  const weights = broadcastTo(mul(w, w), [frames!, size])
  const margin = center ? Math.floor(size / 2) : 0
  const whole = (frames! - 1) * step + size
  const n = Math.min(length ?? Number.POSITIVE_INFINITY, whole - (length === undefined ? 2 : 1) * margin)
  if (n <= 0) badInput(op, `${frames} frames leave no sample.`, 'give more frames, or center: false.')
  const kept = (v: AnyExpr): AnyExpr => lastPart(overlapped(v, step), margin, n)
  const total = kept(weights)
  const signal = eachPart(back, (v) => {
    const part = div(kept(mul(v, w)), total)
    return resized(part, part.shape.length - 1, length ?? n)
  })
  return onesided ? signal.re : signal
})
