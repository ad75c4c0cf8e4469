/** Convolutions and pools. */
import {
  type AnyExpr,
  abs,
  add,
  arange,
  avgPool,
  cast,
  conv,
  convTranspose,
  div,
  floorDivide,
  localResponseNorm,
  max,
  maxPool,
  maxPoolWithIndices,
  maxUnpool,
  mean,
  mod,
  mul,
  ones,
  pad,
  pow,
  reshape,
  sub,
  sum,
} from '../../index.js'
import { type Call, like, type Operator, type Sizes, type Table } from '../call.js'
import { isFloat, typeOf } from '../types.js'
import { asIndex, value } from '../value.js'

type Pair = [before: number, after: number]
/** How windows go over an input: everything but the windows themselves. */
export interface Windows {
  readonly stride: number[]
  readonly dilation: number[]
  readonly padding: Pair[]
}
/** Strides, dilations and padding of a node whose windows are of a size. */
export const windowsOf = (c: Call, size: Sizes, window: readonly number[]): Windows => {
  const axes = size.length
  const list = (name: string, standard: number): number[] => {
    const found = c.has(name) ? [...c.ints(name)] : new Array<number>(axes).fill(standard)
    return found.length === axes ? found : c.refuse(`${name} are ${found.length} for ${axes} axes.`)
  }
  const [stride, dilation] = [list('strides', 1), list('dilations', 1)]
  const how = c.text('auto_pad', 'NOTSET')
  if (how === 'VALID') return { stride, dilation, padding: size.map((): Pair => [0, 0]) }
  if (how === 'SAME_UPPER' || how === 'SAME_LOWER') {
    const padding = size.map((n, i): Pair => {
      const out = Math.ceil(n / stride[i]!)
      const total = Math.max(0, (out - 1) * stride[i]! + (window[i]! - 1) * dilation[i]! + 1 - n)
      const less = Math.floor(total / 2)
      return how === 'SAME_UPPER' ? [less, total - less] : [total - less, less]
    })
    return { stride, dilation, padding }
  }
  const pads = c.has('pads') ? c.ints('pads') : new Array<number>(2 * axes).fill(0)
  if (pads.length !== 2 * axes) c.refuse(`pads are ${pads.length} for ${axes} axes.`)
  return { stride, dilation, padding: size.map((_, i): Pair => [pads[i]!, pads[i + axes]!]) }
}
/** Windows cannot be padded by a negative number: what they would take away is cut off. */
const withoutNegative = (x: AnyExpr, padding: readonly Pair[]): readonly [AnyExpr, Pair[]] =>
  padding.every(([a, b]) => a >= 0 && b >= 0)
    ? [x, padding as Pair[]]
    : [
        pad(x, [[0, 0], [0, 0], ...padding.map(([a, b]): Pair => [Math.min(a, 0), Math.min(b, 0)])]),
        padding.map(([a, b]): Pair => [Math.max(a, 0), Math.max(b, 0)]),
      ]

/** A bias for each channel. */
const biased = (y: AnyExpr, bias: AnyExpr | undefined): AnyExpr =>
  bias === undefined ? y : add(y, reshape(bias, [-1, ...new Array<number>(y.shape.length - 2).fill(1)]))
/** A convolution by the attributes of a node. */
export const convolved = (c: Call, x: AnyExpr, k: AnyExpr): AnyExpr => {
  const w = windowsOf(c, x.shape.slice(2), k.shape.slice(2))
  const [cut, padding] = withoutNegative(x, w.padding)
  return conv(cut, k, { ...w, padding, groups: c.int('group', 1) } as never)
}
const convolution: Operator = {
  since: [1, 11],
  read: (c) => like(c.in(0), biased(convolved(c, c.in(0).x, c.in(1).x), c.maybe(2)?.x)),
}
const transposed: Operator = {
  since: [1, 11],
  read: (c) => {
    const [x, k] = [c.in(0), c.in(1)]
    const [size, window] = [x.x.shape.slice(2), k.x.shape.slice(2)]
    const { stride, dilation, padding } = windowsOf(c, size, window)
    const more = c.has('output_padding') ? c.ints('output_padding') : size.map(() => 0)
    const how = c.text('auto_pad', 'NOTSET')
    const full = size.map((n, i) => (n - 1) * stride[i]! + (window[i]! - 1) * dilation[i]! + 1 + more[i]!)
    const wanted = c.has('output_shape')
      ? c.ints('output_shape').slice(-size.length)
      : how.startsWith('SAME')
        ? size.map((n, i) => n * stride[i]!)
        : undefined
    const pads =
      wanted === undefined
        ? padding
        : full.map((n, i): Pair => {
            const total = n - wanted[i]!
            if (total < 0) return [0, total]
            const less = Math.floor(total / 2)
            return how === 'SAME_UPPER' ? [less, total - less] : [total - less, less]
          })
    // What is added behind takes from what is cut there; more than that is zeros.
    const behind = pads.map(([before, after], i): Pair => [before, after - more[i]!])
    const cut = behind.map(([a, b]): Pair => [Math.max(0, a), Math.max(0, b)])
    const y = convTranspose(x.x, k.x, { stride, dilation, padding: cut, groups: c.int('group', 1) } as never)
    const zeros = behind.map(([a, b]): Pair => [Math.max(0, -a), Math.max(0, -b)])
    const whole = zeros.every(([a, b]) => a === 0 && b === 0) ? y : pad(y, [[0, 0], [0, 0], ...zeros])
    return like(x, biased(whole, c.maybe(2)?.x))
  },
}

/** Integers go through pools as floats. */
const asFloats = (x: AnyExpr): AnyExpr => (x.dtype === 'i32' ? cast(x, 'f32') : x)
const largest: Operator = {
  since: [1, 8, 10, 11, 12],
  read: (c) => {
    const x = c.in(0)
    const size = x.x.shape.slice(2)
    const window = [...c.ints('kernel_shape')]
    const options = { window, ...windowsOf(c, size, window), ceilMode: c.int('ceil_mode', 0) !== 0 } as never
    const floats = asFloats(x.x)
    const back = (y: AnyExpr): AnyExpr => (isFloat(x.type) ? y : cast(y, 'i32'))
    if (!c.wants(1)) return like(x, back(maxPool(floats, options)))
    const { values, indices } = maxPoolWithIndices(floats, options) as { readonly values: AnyExpr; readonly indices: AnyExpr }
    return [like(x, back(values)), value(typeOf('int64'), placesOf(c, indices, x.x.shape))]
  },
}
/** Places within each plane as places in the whole input; column by column where `storage_order` says so. */
const placesOf = (c: Call, indices: AnyExpr, shape: Sizes): AnyExpr => {
  const size = shape.slice(2)
  const plane = size.reduce((n, d) => n * d, 1)
  const before = reshape(mul(arange(shape[0]! * shape[1]!, 'i32'), plane), [shape[0]!, shape[1]!, ...size.map(() => 1)])
  if (c.int('storage_order', 0) === 0) return add(indices, before)
  if (size.length !== 2) return c.refuse('storage_order 1 is of pools over two axes.')
  const [h, w] = size as [number, number]
  return add(before, add(mul(mod(indices, w), h), floorDivide(indices, w)))
}
const averaged: Operator = {
  since: [1, 7, 10, 11, 19],
  read: (c) => {
    const x = c.in(0)
    const size = x.x.shape.slice(2)
    const window = [...c.ints('kernel_shape')]
    const w = windowsOf(c, size, window)
    const counts = c.int('count_include_pad', 0) !== 0
    const ceilMode = c.int('ceil_mode', 0) !== 0
    if (w.dilation.every((d) => d === 1)) {
      const { stride, padding } = w
      return like(x, avgPool(x.x, { window, stride, padding, ceilMode, countIncludePad: counts } as never))
    }
    const roomy = ceilMode ? withRoom(w, size, window) : w
    // Padding counts, and what is behind it does not.
    const places = size.map((n, i) => (counts ? n + w.padding[i]![0] + w.padding[i]![1] : n))
    const padding = counts ? roomy.padding.map(([, b], i): Pair => [0, b - w.padding[i]![1]]) : roomy.padding
    return like(x, div(sums(x.x, window, roomy), sums(ones([1, 1, ...places], x.x.dtype), window, { ...roomy, padding })))
  },
}
/** As much more padding behind as makes room for a last window that begins within the input or the padding before it. */
const withRoom = (w: Windows, size: Sizes, window: readonly number[]): Windows => ({
  ...w,
  padding: w.padding.map(([a, b], i): Pair => {
    const [n, stride, extent] = [size[i]!, w.stride[i]!, (window[i]! - 1) * w.dilation[i]! + 1]
    const most = Math.ceil((n + a + b - extent) / stride) + 1
    const out = (most - 1) * stride >= n + a ? most - 1 : most
    return [a, Math.max(b, (out - 1) * stride + extent - n - a)]
  }),
})
/** Sums over windows: a convolution of each channel with ones. */
const sums = (x: AnyExpr, window: readonly number[], w: Windows): AnyExpr => {
  const [n, channels, ...size] = x.shape as [number, number, ...number[]]
  const y = conv(reshape(x, [n * channels, 1, ...size]), ones([1, 1, ...window], x.dtype), w as never)
  return reshape(y, [n, channels, ...y.shape.slice(2)])
}
const lpPool: Operator = {
  since: [1, 2, 11, 18],
  read: (c) => {
    const x = c.in(0)
    const window = [...c.ints('kernel_shape')]
    const p = c.float('p', 2)
    const size = x.x.shape.slice(2)
    const w = windowsOf(c, size, window)
    const total = sums(pow(abs(x.x), p), window, c.int('ceil_mode', 0) === 0 ? w : withRoom(w, size, window))
    return like(x, pow(total, 1 / p))
  },
}
/** A reduction over all positions. */
const whole = (f: (x: AnyExpr, axis: number[], c: Call) => AnyExpr, ...since: readonly number[]): Operator => ({
  since,
  read: (c) => {
    const x = c.in(0)
    return like(x, f(x.x, x.x.shape.map((_, i) => i).slice(2), c))
  },
})
const unpooled: Operator = {
  since: [9, 11],
  known: [2],
  read: (c) => {
    const [x, indices] = [c.in(0), c.in(1)]
    const window = c.ints('kernel_shape')
    const { stride, padding } = windowsOf(c, x.x.shape.slice(2), window)
    const tight = x.x.shape.slice(2).map((n, i) => (n - 1) * stride[i]! - padding[i]![0] - padding[i]![1] + window[i]!)
    const size = c.maybe(2) === undefined ? tight : c.numbers(2).slice(2)
    // Places are counted over the whole output of the pool's input; within a plane of the tight size.
    const [n, channels] = x.x.shape as readonly number[]
    const plane = tight.reduce((a, b) => a * b, 1)
    const before = reshape(mul(arange(n! * channels!, 'i32'), plane), [n!, channels!, ...tight.map(() => 1)])
    const within = sub(asIndex(indices.x), before)
    const y = maxUnpool(x.x, within, { size: tight } as never)
    const behind = size.map((d, i): Pair => [0, d - tight[i]!])
    return like(x, behind.every(([, d]) => d === 0) ? y : pad(y, [[0, 0], [0, 0], ...behind]))
  },
}

export const convolutions: Table = {
  AveragePool: averaged,
  Conv: convolution,
  ConvTranspose: transposed,
  GlobalAveragePool: whole((x, axis) => mean(x, { axis, keepdims: true }), 1),
  GlobalLpPool: whole((x, axis, c) => pow(sum(pow(abs(x), c.float('p', 2)), { axis, keepdims: true }), 1 / c.float('p', 2)), 1, 2),
  GlobalMaxPool: whole((x, axis) => max(x, { axis, keepdims: true }), 1),
  LRN: {
    since: [1, 13],
    read: (c) => {
      const options = { alpha: c.float('alpha', 0.0001), beta: c.float('beta', 0.75), k: c.float('bias', 1) }
      return like(c.in(0), localResponseNorm(c.in(0).x, c.int('size'), options))
    },
  },
  LpPool: lpPool,
  MaxPool: largest,
  MaxUnpool: unpooled,
}
