/** Operators that move elements, and those about shapes. */
import {
  type AnyExpr,
  broadcastTo,
  cast,
  fold as colsToImage,
  concat,
  convTranspose,
  depthToSpace,
  expandDims,
  eye,
  full,
  pad,
  reshape,
  reverseSequence,
  slice,
  spaceToDepth,
  split,
  squeeze,
  tensor,
  tile,
  transpose,
  tril,
  triu,
} from '../../index.js'
import { axesIn, axisIn, type Call, integers, like, type Operator, type Sizes, sizeOf, type Table } from '../call.js'
import { typeOf } from '../types.js'
import { asIndex, constant, type Value, value } from '../value.js'

/** Numbers of an attribute in older operator sets, of an input from a version on; undefined where neither is there. */
export const given = (c: Call, name: string, from: number, input: number): readonly number[] | undefined =>
  c.version >= from ? (c.maybe(input) === undefined ? undefined : c.numbers(input)) : c.has(name) ? c.ints(name) : undefined

const reshaped: Operator = {
  since: [1, 5, 13, 14, 19, 21],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const wanted = c.version < 5 ? c.ints('shape') : c.numbers(1)
    const keeps = c.int('allowzero', 0) === 0
    const shape = wanted.map((d, i) =>
      d === 0 && keeps ? (x.x.shape[i] ?? c.refuse(`the shape [${wanted.join(', ')}] copies axis ${i}, which the input has not.`)) : d,
    )
    return like(x, reshape(x.x, shape))
  },
}
const shapeOf: Operator = {
  since: [1, 13, 15, 19, 21],
  read: (c) => {
    const { shape } = c.in(0).x
    const within = (k: number): number => Math.max(0, Math.min(shape.length, k < 0 ? k + shape.length : k))
    return integers(shape.slice(within(c.int('start', 0)), within(c.int('end', shape.length))))
  },
}
const flattened: Operator = {
  since: [1, 9, 11, 13, 21],
  read: (c) => {
    const x = c.in(0)
    const { shape } = x.x
    const axis = c.int('axis', 1)
    const at = axis < 0 ? axis + shape.length : axis
    if (at < 0 || at > shape.length) c.refuse(`axis is ${axis} of ${shape.length} axes.`)
    return like(x, reshape(x.x, [sizeOf(shape.slice(0, at)), sizeOf(shape.slice(at))]))
  },
}
const squeezed: Operator = {
  since: [1, 11, 13, 21],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const axes = given(c, 'axes', 13, 1)
    const { shape } = x.x
    const all = axes === undefined ? shape.flatMap((d, i) => (d === 1 ? [i] : [])) : axesIn(c, axes, shape.length)
    return like(x, all.length === 0 ? x.x : squeeze(x.x, all as number[]))
  },
}
const unsqueezed: Operator = {
  since: [1, 11, 13, 21],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const axes = given(c, 'axes', 13, 1) ?? c.refuse('axes are missing.')
    return like(x, axes.length === 0 ? x.x : expandDims(x.x, axesIn(c, axes, x.x.shape.length + axes.length) as number[]))
  },
}
const transposed: Operator = {
  since: [1, 13, 21],
  read: (c) => {
    const x = c.in(0)
    const axes = c.has('perm') ? c.ints('perm') : x.x.shape.map((_, i) => x.x.shape.length - 1 - i)
    return like(x, x.x.shape.length < 2 ? x.x : transpose(x.x, axes as number[]))
  },
}
/** Arrays of one type joined: where one holds integers that no i32 does, all are f64. */
const joined: Operator = {
  since: [1, 4, 11, 13],
  read: (c) => {
    const all = c.all()
    const rank = all[0]!.x.shape.length
    const axis = axisIn(c, c.version < 4 ? c.int('axis', 1) : c.int('axis'), rank)
    const wide = all.some((v) => v.x.dtype === 'f64')
    const parts = all.map((v) => (wide && v.x.dtype === 'i32' ? cast(v.x, 'f64') : v.x))
    return like(c.in(0), concat(parts, { axis }))
  },
}
const parted: Operator = {
  since: [1, 2, 11, 13, 18],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const axis = axisIn(c, c.int('axis', 0), x.x.shape.length)
    const n = x.x.shape[axis]!
    const sizes = given(c, 'split', 13, 1) ?? evenly(n, c.version >= 18 && c.has('num_outputs') ? c.int('num_outputs') : c.results)
    return (split(x.x, sizes as number[], { axis }) as readonly AnyExpr[]).map((part) => like(x, part))
  },
}
/** n in parts of one size, of which the last may be smaller. */
const evenly = (n: number, parts: number): readonly number[] => {
  const size = Math.ceil(n / parts)
  return Array.from({ length: parts }, (_, i) => Math.max(0, Math.min(size, n - i * size)))
}
/** What every array fits into: bounds of slices that are meant as infinite. */
const bound = (k: number): number => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, k))
const sliced: Operator = {
  since: [1, 10, 11, 13],
  known: [1, 2, 3, 4],
  read: (c) => {
    const x = c.in(0)
    const [starts, ends] = c.version < 10 ? [c.ints('starts'), c.ints('ends')] : [c.numbers(1), c.numbers(2)]
    const axes = axesIn(c, given(c, 'axes', 10, 3) ?? starts.map((_, i) => i), x.x.shape.length)
    const steps = (c.version < 10 ? undefined : given(c, 'steps', 10, 4)) ?? starts.map(() => 1)
    if (ends.length !== starts.length || axes.length !== starts.length || steps.length !== starts.length)
      c.refuse('starts, ends, axes and steps differ in length.')
    const { shape } = x.x
    const [from, to, by]: [number[], number[], number[]] = [shape.map(() => 0), [...shape], shape.map(() => 1)]
    for (const [i, axis] of axes.entries()) {
      from[axis] = bound(starts[i]!)
      to[axis] = bound(ends[i]!)
      by[axis] = steps[i]!
    }
    return like(x, shape.length === 0 ? x.x : slice(x.x, from, to, by))
  },
}
const expanded: Operator = {
  since: [8, 13],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const wanted = c.numbers(1)
    const rank = Math.max(wanted.length, x.x.shape.length)
    const at = (shape: Sizes | readonly number[], i: number): number => shape[i - rank + shape.length] ?? 1
    // Broadcasting both ways: a 1 in the shape keeps what the input has.
    const shape = Array.from({ length: rank }, (_, i) => (at(wanted, i) === 1 ? at(x.x.shape, i) : at(wanted, i)))
    return like(x, broadcastTo(x.x, shape))
  },
}
const tiled: Operator = {
  since: [1, 6, 13],
  known: [1, 2],
  read: (c) => {
    const x = c.in(0)
    if (c.version >= 6) return like(x, x.x.shape.length === 0 ? x.x : tile(x.x, c.numbers(1) as number[]))
    const [n, axis] = [c.numbers(1)[0]!, c.numbers(2)[0]!]
    return like(
      x,
      tile(
        x.x,
        x.x.shape.map((_, i) => (i === axis ? n : 1)),
      ),
    )
  },
}
const MODES: Readonly<Record<string, 'edge' | 'reflect' | 'wrap'>> = { edge: 'edge', reflect: 'reflect', wrap: 'wrap' }
const padded: Operator = {
  since: [1, 2, 11, 13, 18, 19, 21],
  known: [1, 2, 3],
  read: (c) => {
    const x = c.in(0)
    const rank = x.x.shape.length
    const pads = c.version < 2 ? c.ints('paddings') : c.version < 11 ? c.ints('pads') : c.numbers(1)
    const axes = axesIn(c, (c.version >= 18 && c.maybe(3) !== undefined ? c.numbers(3) : undefined) ?? x.x.shape.map((_, i) => i), rank)
    if (pads.length !== 2 * axes.length) c.refuse(`${pads.length} pads for ${axes.length} axes.`)
    const widths = x.x.shape.map((): [number, number] => [0, 0])
    for (const [i, axis] of axes.entries()) widths[axis] = [pads[i]!, pads[i + axes.length]!]
    const mode = c.text('mode', 'constant')
    if (mode !== 'constant')
      return like(x, pad(x.x, widths, { mode: MODES[mode] ?? c.refuse(`there is no mode ${JSON.stringify(mode)}.`) }))
    const given = c.version < 11 ? undefined : c.maybe(2)
    // A fill that data decide is an array, and no shape follows from it.
    const fill = given === undefined ? c.float('value', 0) : (c.known(given)?.[0] ?? reshape(given.x, []))
    return like(x, (pad as (x: AnyExpr, widths: [number, number][], fill: number | AnyExpr) => AnyExpr)(x.x, widths, fill))
  },
}
const triangle: Operator = {
  since: [14],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const k = c.maybe(1) === undefined ? 0 : c.numbers(1)[0]!
    return like(x, c.int('upper', 1) === 0 ? tril(x.x, k) : triu(x.x, k))
  },
}
const filled: Operator = {
  since: [9, 20, 21],
  known: [0],
  read: (c) => {
    const shape = c.numbers(0)
    if (!c.has('value')) return value(typeOf('float'), full(shape as number[], 0, 'f32'))
    const { type, tensor: t } = c.stored('value')
    const x = full(shape as number[], Number(t.data[0] ?? 0), t.dtype)
    return value(type, x)
  },
}
const literal: Operator = {
  since: [1, 9, 11, 12, 13, 19, 21],
  read: (c) => {
    if (c.has('value')) {
      const { type, tensor: t } = c.stored('value')
      return constant(type, t)
    }
    const floats = (numbers: readonly number[], shape: Sizes): Value =>
      constant(typeOf('float'), tensor(numbers as number[], shape, 'f32') as never)
    if (c.has('value_float')) return floats([c.float('value_float')], [])
    if (c.has('value_floats')) return floats(c.floats('value_floats'), [c.floats('value_floats').length])
    if (c.has('value_int')) return integers([c.int('value_int')], [])
    if (c.has('value_ints')) return integers(c.ints('value_ints'))
    return c.refuse('its value is none of the kinds that codual computes (sparse tensors and strings are not).')
  },
}
const cropped: Operator = {
  since: [18],
  known: [1],
  read: (c) => {
    const x = c.in(0)
    const sizes = c.numbers(1)
    const { shape } = x.x
    const axes = axesIn(
      c,
      c.ints(
        'axes',
        shape.map((_, i) => i),
      ),
      shape.length,
    )
    const [from, to, widths] = [shape.map(() => 0), [...shape], shape.map((): [number, number] => [0, 0])]
    for (const [i, axis] of axes.entries()) {
      const [n, m] = [shape[axis]!, sizes[i]!]
      const before = Math.floor(Math.abs(m - n) / 2)
      if (m < n) [from[axis], to[axis]] = [before, before + m]
      else widths[axis] = [before, m - n - before]
    }
    return like(x, pad(slice(x.x, from, to), widths))
  },
}
/** Columns as an image of one or three axes: a transposed convolution of each channel, whose kernels have one position each. */
const spreadColumns = (x: AnyExpr, size: readonly number[], { window, ...o }: Windows): AnyExpr => {
  const [n, rows] = x.shape as readonly [number, number]
  const taps = window.reduce((a, b) => a * b, 1)
  const channels = rows / taps
  const reach = size.map((s, i) => s + o.padding[i]![0] + o.padding[i]![1] - o.dilation[i]! * (window[i]! - 1) - 1)
  const counts = reach.map((r, i) => Math.floor(r / o.stride[i]!) + 1)
  const one = reshape(cast(eye(taps), x.dtype), [1, taps, 1, ...window])
  const kernel = reshape(broadcastTo(one, [channels, taps, 1, ...window]), [rows, 1, ...window])
  return convTranspose(
    reshape(x, [n, rows, ...counts]) as never,
    kernel as never,
    { ...o, groups: channels, outputPadding: reach.map((r, i) => r % o.stride[i]!) } as never,
  ) as AnyExpr
}
/** What the windows of an image are, an entry for each axis. */
interface Windows {
  readonly window: readonly number[]
  readonly stride: readonly number[]
  readonly dilation: readonly number[]
  readonly padding: readonly (readonly [number, number])[]
}
const image: Operator = {
  since: [18],
  known: [1, 2],
  read: (c) => {
    const x = c.in(0)
    const [size, window] = [c.numbers(1), c.numbers(2)]
    const axes = size.length
    const ones = new Array<number>(axes).fill(1)
    const pads = c.ints('pads', new Array<number>(2 * axes).fill(0))
    const options: Windows = {
      window,
      stride: c.ints('strides', ones),
      dilation: c.ints('dilations', ones),
      padding: size.map((_, i) => [pads[i]!, pads[axes + i]!] as const),
    }
    return like(x, axes === 2 ? colsToImage(x.x, { ...options, size } as never) : spreadColumns(x.x, size, options))
  },
}

export const shapes: Table = {
  CenterCropPad: cropped,
  Col2Im: image,
  Concat: joined,
  Constant: literal,
  ConstantOfShape: filled,
  DepthToSpace: {
    since: [1, 11, 13],
    read: (c) => like(c.in(0), depthToSpace(c.in(0).x, c.int('blocksize'), { order: c.text('mode', 'DCR') === 'CRD' ? 'CRD' : 'DCR' })),
  },
  Expand: expanded,
  Flatten: flattened,
  Pad: padded,
  Reshape: reshaped,
  ReverseSequence: {
    since: [10],
    read: (c) =>
      like(c.in(0), reverseSequence(c.in(0).x, asIndex(c.in(1).x), { axis: c.int('time_axis', 0), batchAxis: c.int('batch_axis', 1) })),
  },
  Shape: shapeOf,
  Size: { since: [1, 13, 19, 21], read: (c) => integers([sizeOf(c.in(0).x.shape)], []) },
  Slice: sliced,
  SpaceToDepth: {
    since: [1, 13],
    read: (c) => like(c.in(0), spaceToDepth(c.in(0).x, c.int('blocksize'), { order: c.text('mode', 'DCR') === 'CRD' ? 'CRD' : 'DCR' })),
  },
  Split: parted,
  Squeeze: squeezed,
  Tile: tiled,
  Transpose: transposed,
  Trilu: triangle,
  Unsqueeze: unsqueezed,
}
