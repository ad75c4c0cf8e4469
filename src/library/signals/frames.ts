/** Transforms of frames, and frames put together again. */

import { flagOf, type Names, optionsOf } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { asExpr } from '../../core/graph/expr.js'
import { liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { makeTensor } from '../../core/graph/tensor.js'
import { div, mul } from '../../core/ops/arithmetic.js'
import { take } from '../../core/ops/indexing.js'
import { concat } from '../../core/ops/joins.js'
import { broadcastTo, flip, pad, reshape, slice, transpose } from '../../core/ops/layout.js'
import { sum } from '../../core/ops/reductions.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { IstftFn, IstftOptions, StftFn, StftOptions } from '../../core/types/signatures/fft.js'
import { irfft, rfft } from './fft.js'
import { complexOf, hasLast, lastPart, positive, shapeOf } from './fft-arguments.js'
import type { Pair } from './fft-core.js'
import { hann } from './spectra.js'

/** The hop between frames, a quarter of their size unless given. */
const hopOf = (hop: unknown, frame: number, op: string): number =>
  hop === undefined ? Math.max(1, Math.floor(frame / 4)) : positive(hop, op, 'hop')
/** The window, a periodic Hann unless given. */
const windowOf = (window: StftOptions['window'], frame: number, dtype: DType, op: string): AnyExpr => {
  const own = dtype === 'f32' ? 'f32' : 'f64'
  const w = window === undefined ? (hann(frame, { periodic: true, dtype: own }) as AnyExpr) : asExpr(liftFloat(window as never, op))
  if (`${shapeOf(w)}` !== `${[frame]}`)
    raise({ _tag: 'BadInput', where: op, reason: `the window has the shape [${shapeOf(w)}].`, fix: `give one of [${frame}].` })
  return w
}
const stftOptions: Names<StftOptions> = { size: true, hop: true, window: true, center: true }
/**
 * Transforms of frames of `size` samples, `hop` (size / 4) apart, along the last axis of a real array: X[k, t] = rfft(window x[t hop : t hop + size])_k.
 *
 * Shapes  [..., n] -> [..., floor(size / 2) + 1, frames].   The window is a periodic Hann unless given; with `center` (the default) frame t is around sample
 * t hop, x reflected at its ends.   Rule  linear.   Source  PyTorch stft.
 * Errors  BadInput for sizes that are no positive whole numbers, a window of another length, or fewer samples than a frame needs.
 * @example stft([1, 2, 3, 4], { size: 2, hop: 2, window: [1, 1], center: false }).re   // [[3, 7], [-1, -1]]
 */
export const stft: StftFn = typed((given: unknown, options: StftOptions): Pair => {
  const op = 'stft'
  const { size, hop, window, center = true } = optionsOf(options, stftOptions, op)
  const frame = positive(size, op, 'size')
  const step = hopOf(hop, frame, op)
  const signal = asExpr(liftFloat(given as never, op))
  const w = windowOf(window, frame, signal.dtype, op)
  const n = hasLast(signal, op, 'the signal')
  const x = flagOf(center, 'center', op) ? reflected(signal, n, Math.floor(frame / 2)) : signal
  const length = shapeOf(x).at(-1)!
  if (length < frame)
    raise({
      _tag: 'BadInput',
      where: op,
      reason: `${length} samples are less than a frame of ${frame}.`,
      fix: 'give more, or a smaller size.',
    })
  const frames = Math.floor((length - frame) / step) + 1
  const at = makeTensor(
    Int32Array.from({ length: frames * frame }, (_, i) => Math.floor(i / frame) * step + (i % frame)),
    [frames, frame],
  )
  const cut = mul(take(x as never, at as never, { axis: -1 } as never) as AnyExpr, w) as AnyExpr
  const y = rfft(cut as never) as unknown as Pair
  return { re: transpose(y.re as never) as AnyExpr, im: transpose(y.im as never) as AnyExpr }
})
/** x with `by` samples more at each end, mirrored at the first and the last. */
const reflected = (x: AnyExpr, n: number, by: number): AnyExpr => {
  if (by === 0) return x
  if (by >= n)
    raise({
      _tag: 'BadInput',
      where: 'stft',
      reason: `${n} samples cannot be reflected by ${by}.`,
      fix: 'give more samples, a smaller size, or center: false.',
    })
  const mirror = (from: number): AnyExpr => flip(lastPart(x, from, from + by) as never, { axis: -1 } as never) as AnyExpr
  return concat([mirror(1), x, mirror(n - 1 - by)] as never, { axis: -1 } as never) as AnyExpr
}

/** The axis (counted from the end) with zeros behind, or cut, to n elements. */
const fitted = (x: AnyExpr, fromEnd: number, n: number): AnyExpr => {
  const shape = shapeOf(x)
  const axis = shape.length - fromEnd
  const more = n - shape[axis]!
  if (more === 0) return x
  if (more > 0) return pad(x as never, shape.map((_, i) => [0, i === axis ? more : 0]) as never) as AnyExpr
  return slice(
    x,
    shape.map(() => 0),
    shape.map((d, i) => (i === axis ? n : d)),
  ) as AnyExpr
}
/** Sums frames [..., t, size] that start `hop` apart: [..., (t - 1) hop + size]. Blocks of `hop` are put in rows that are each one block later. */
const overlapped = (x: AnyExpr, hop: number): AnyExpr => {
  const shape = shapeOf(x)
  const [frames, size] = shape.slice(-2) as [number, number]
  const lead = shape.slice(0, -2)
  const blocks = Math.ceil(size / hop)
  const at = lead.length
  const cut = reshape(fitted(x, 1, blocks * hop) as never, [...lead, frames, blocks, hop] as never)
  const rows = transpose(cut as never, [...lead.keys(), at + 1, at, at + 2] as never) as AnyExpr
  const long = reshape(fitted(rows, 2, frames + blocks) as never, [...lead, blocks * (frames + blocks), hop] as never) as AnyExpr
  const skewed = reshape(fitted(long, 2, blocks * (frames + blocks - 1)) as never, [...lead, blocks, frames + blocks - 1, hop] as never)
  const y = reshape(sum(skewed as never, { axis: at } as never) as never, [...lead, (frames + blocks - 1) * hop] as never) as AnyExpr
  return fitted(y, 1, (frames - 1) * hop + size)
}

const names: Names<IstftOptions> = { size: true, hop: true, window: true, center: true, length: true }
/**
 * The inverse of stft: overlapping frames window irfft(Y_t) are summed and divided by the sum of the squared windows, which is the signal that
 * fits all frames best.
 *
 * Shapes  [..., floor(size / 2) + 1, frames] -> [..., n], n = (frames - 1) hop + size, less 2 floor(size / 2) with `center`; `length` cuts it or
 * puts zeros behind.   Options as of stft.   Rule  linear in y.   Source  PyTorch istft. Samples that no window reaches are NaN.
 * Errors  BadInput for another number of frequencies, no frames, sizes that are no positive whole numbers, or a window of another length.
 * @example istft(stft([1, 2, 3, 4], { size: 2, hop: 1 }), { size: 2, hop: 1 })   // [1, 2, 3, 4]
 */
export const istft: IstftFn = typed((given: unknown, options: IstftOptions): AnyExpr => {
  const op = 'istft'
  const { size, hop, window, center = true, length } = optionsOf(options, names, op)
  const frame = positive(size, op, 'size')
  const step = hopOf(hop, frame, op)
  const y = complexOf(given, op)
  const [count, frames] = shapeOf(y.re).slice(-2)
  if (frames === undefined || frames === 0 || count !== Math.floor(frame / 2) + 1)
    raise({
      _tag: 'BadInput',
      where: op,
      reason: `its shape is [${shapeOf(y.re)}].`,
      fix: `give [..., ${Math.floor(frame / 2) + 1} frequencies, frames], at least one frame.`,
    })
  const w = windowOf(window, frame, y.re.dtype, op)
  const turned = y.im === undefined ? transpose(y.re as never) : { re: transpose(y.re as never), im: transpose(y.im as never) }
  const x = mul(irfft(turned as never, { n: frame } as never) as AnyExpr, w) as AnyExpr
  const weights = broadcastTo(mul(w, w) as never, [frames!, frame] as never) as AnyExpr
  const margin = flagOf(center, 'center', op) ? Math.floor(frame / 2) : 0
  const whole = (frames! - 1) * step + frame
  const wanted = length === undefined ? undefined : positive(length, op, 'length')
  const n = Math.min(wanted ?? Number.POSITIVE_INFINITY, whole - (wanted === undefined ? 2 : 1) * margin)
  if (n <= 0)
    raise({ _tag: 'BadInput', where: op, reason: `${frames} frames leave no sample.`, fix: 'give more frames, or center: false.' })
  const kept = (v: AnyExpr): AnyExpr => lastPart(v, margin, margin + n)
  const signal = div(kept(overlapped(x, step)), kept(overlapped(weights, step))) as AnyExpr
  return fitted(signal, 1, wanted ?? n)
})
