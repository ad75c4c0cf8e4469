/** Windows and spectra. A complex array has its real and its imaginary part along a last axis of 2. */
import {
  type AnyExpr,
  cast,
  expandDims,
  fft,
  gather,
  ifft,
  irfft,
  mul,
  reshape,
  slice,
  stack,
  type Tensor,
  tensor,
  zerosLike,
} from '../../index.js'
import { axisIn, type Call, counted, like, type Operator, type Table } from '../call.js'
import { type ElementType, typeOf } from '../types.js'
import { constant, type Value } from '../value.js'

const numbersAs = (type: ElementType, numbers: readonly number[], shape: readonly number[]): Value =>
  constant(type, tensor(numbers as number[], shape as number[], type.dtype) as Tensor)
const outType = (c: Call): ElementType => c.typeAt('output_datatype', typeOf('float'))
/** A window: a - b cos(2 pi k / n) + d cos(4 pi k / n). */
const window = (a: number, b: number, d = 0): Operator => ({
  since: [17],
  known: [0],
  read: (c) => {
    const size = counted(c, c.numbers(0)[0]!)
    const n = c.int('periodic', 1) !== 0 ? size : size - 1
    const at = (k: number): number => a - b * Math.cos((2 * Math.PI * k) / n) + d * Math.cos((4 * Math.PI * k) / n)
    return numbersAs(
      outType(c),
      Array.from({ length: size }, (_, k) => at(k)),
      [size],
    )
  },
})

type Pair = { readonly re: AnyExpr; readonly im: AnyExpr }
/** The parts of an array whose last axis has one or two. */
const pairOf = (x: AnyExpr): Pair => {
  const last = x.shape.length - 1
  const re = gather(x, 0, { axis: last })
  return { re, im: x.shape[last] === 2 ? gather(x, 1, { axis: last }) : zerosLike(re) }
}
const joined = ({ re, im }: Pair): AnyExpr => stack([re, im], { axis: -1 })
/** The first half of an axis and the middle: what a real array determines. */
const half = (x: AnyExpr, axis: number): AnyExpr => {
  const to = [...x.shape]
  to[axis] = Math.floor(x.shape[axis]! / 2) + 1
  return slice(
    x,
    x.shape.map(() => 0),
    to,
  )
}
const transform: Operator = {
  since: [17, 20],
  known: [1, 2],
  read: (c) => {
    const x = c.in(0)
    const rank = x.x.shape.length
    const axis = axisIn(c, c.version >= 20 ? (c.maybe(2) === undefined ? -2 : c.numbers(2)[0]!) : c.int('axis', 1), rank)
    const n = c.maybe(1) === undefined ? x.x.shape[axis]! : c.numbers(1)[0]!
    const inverse = c.int('inverse', 0) !== 0
    // The inverse of the half that a real array determines is that real array.
    if (inverse && c.int('onesided', 0) !== 0) {
      const length = c.maybe(1) === undefined ? 2 * (x.x.shape[axis]! - 1) : n
      return like(x, expandDims(irfft(pairOf(x.x) as never, { n: length, axis } as never) as AnyExpr, -1))
    }
    const y = (inverse ? ifft : fft)(pairOf(x.x) as never, { n, axis } as never) as Pair
    const onesided = c.int('onesided', 0) !== 0
    return like(x, joined(onesided ? { re: half(y.re, axis), im: half(y.im, axis) } : y))
  },
}
const shortTime: Operator = {
  since: [17],
  known: [1, 3],
  read: (c) => {
    const x = c.in(0)
    const step = c.numbers(1)[0]!
    const shape = c.maybe(2)
    const size = shape === undefined ? c.numbers(3)[0]! : shape.x.shape[0]!
    const length = x.x.shape[1]!
    const frames = 1 + Math.floor((length - size) / step)
    if (!(step > 0) || frames < 1) c.refuse(`frames of ${size}, ${step} apart, do not fit into ${length} samples.`)
    const places = tensor(Int32Array.from({ length: counted(c, frames * size) }, (_, k) => Math.floor(k / size) * step + (k % size)))
    const cut = (part: AnyExpr): AnyExpr => {
      const rows = gather(part, reshape(places, [frames, size]), { axis: 1 })
      return shape === undefined ? rows : mul(rows, cast(shape.x, rows.dtype))
    }
    const { re, im } = pairOf(x.x)
    const y = fft({ re: cut(re), im: cut(im) } as never) as Pair
    return like(x, joined(c.int('onesided', 1) !== 0 ? { re: half(y.re, 2), im: half(y.im, 2) } : y))
  },
}
/** Weights from the bins of a spectrum to bins that are even on the mel scale. */
const mel: Operator = {
  since: [17],
  known: [0, 1, 2, 3, 4],
  read: (c) => {
    const [bins, size, rate, low, high] = [0, 1, 2, 3, 4].map((i) => c.numbers(i)[0]!) as [number, number, number, number, number]
    const melOf = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700)
    const [from, to] = [melOf(low), melOf(high)]
    const width = (to - from) / (bins + 2)
    const edges = Array.from({ length: counted(c, bins + 2) }, (_, i) =>
      Math.floor(((size + 1) * (700 * (10 ** ((i * width + from) / 2595) - 1))) / rate),
    )
    const rows = Math.floor(size / 2) + 1
    counted(c, rows * bins)
    const out = new Array<number>(rows * bins).fill(0)
    for (let i = 0; i < bins; i++) {
      const [lower, centre, upper] = [edges[i]!, edges[i + 1]!, edges[i + 2]!]
      if (centre === lower) out[centre * bins + i] = 1
      else for (let j = lower; j <= centre; j++) out[j * bins + i] = (j - lower) / (centre - lower)
      if (upper > centre) for (let j = centre; j < upper; j++) out[j * bins + i] = (upper - j) / (upper - centre)
    }
    return numbersAs(outType(c), out.slice(0, rows * bins), [rows, bins])
  },
}

export const signals: Table = {
  BlackmanWindow: window(0.42, 0.5, 0.08),
  DFT: transform,
  HammingWindow: window(25 / 46, 21 / 46),
  HannWindow: window(0.5, 0.5),
  MelWeightMatrix: mel,
  STFT: shortTime,
}
