/** Rows of convolutions and pools. ONNX Runtime convolves f32 alone: of f64 each place of the kernel is a product of matrices. */
import { apply, asExpr, asNode, constant } from '../../../core/graph/expr.js'
import { type ConvParams, convInputPrimitive, convKernelPrimitive } from '../../../core/ops/conv.js'
import type { nn } from '../../../core/ops/families.js'
import { padNode, sliceNode, unsliceNode } from '../../../core/ops/layout/slice.js'
import type { PoolParams } from '../../../core/ops/pool.js'
import { type AnyExpr, add, broadcastTo, concat, div, full, matmul, ones, reshape, sum, transpose, zeros } from '../../../index.js'
import type { RowsOf } from '../row.js'
import type { Ref, Writer } from '../writer.js'

type X = AnyExpr
const size = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)

// ---- convolutions by operators -----------------------------------------------------------------------------------------

const pads = ([top, bottom, left, right]: readonly number[]): readonly number[] => [top!, left!, bottom!, right!]
const cut = (w: Writer, x: Ref, shape: readonly number[]): Ref => {
  const axes = shape.flatMap((d, i) => (d === x.shape[i] ? [] : [i]))
  if (axes.length === 0) return x
  return w.node('Slice', [x, w.ints(axes.map(() => 0)), w.ints(axes.map((i) => shape[i]!)), w.ints(axes)], {}, { shape })
}
const conv = (w: Writer, x: Ref, k: Ref, { stride, padding, dilation, groups }: ConvParams, shape: readonly number[]): Ref =>
  w.node(
    'Conv',
    [x, k],
    { strides: stride, pads: pads(padding), dilations: dilation, group: groups, kernel_shape: k.shape.slice(2) },
    { shape },
  )
const convInput = (w: Writer, y: Ref, k: Ref, p: ConvParams, shape: readonly number[]): Ref => {
  // What the strides of the convolution have passed over at the end.
  const over = [0, 1].map(
    (i) =>
      shape[2 + i]! +
      p.padding[2 * i]! +
      p.padding[2 * i + 1]! -
      ((y.shape[2 + i]! - 1) * p.stride[i]! + p.dilation[i]! * (k.shape[2 + i]! - 1) + 1),
  )
  return w.node(
    'ConvTranspose',
    [y, k],
    {
      strides: p.stride,
      pads: pads(p.padding),
      dilations: p.dilation,
      group: p.groups,
      kernel_shape: k.shape.slice(2),
      output_padding: over,
    },
    { shape },
  )
}
/** The examples are summed over, as channels are in a convolution: x and y with both in each other's place, strides as dilations. */
const convKernel = (w: Writer, x: Ref, y: Ref, p: ConvParams, shape: readonly number[]): Ref => {
  const [n, c, h, width] = x.shape as readonly [number, number, number, number]
  const o = y.shape[1]!
  const per = c / p.groups
  const channels = w.reshape(w.transpose(w.reshape(x, [n, p.groups, per, h, width]), [2, 1, 0, 3, 4]), [per, p.groups * n, h, width])
  const kernels = w.transpose(y, [1, 0, 2, 3])
  const [tall, wide] = [0, 1].map(
    (i) =>
      Math.floor(
        (x.shape[2 + i]! + p.padding[2 * i]! + p.padding[2 * i + 1]! - ((y.shape[2 + i]! - 1) * p.stride[i]! + 1)) / p.dilation[i]!,
      ) + 1,
  ) as [number, number]
  const made = conv(w, channels, kernels, { ...p, stride: p.dilation, dilation: p.stride }, [per, o, tall, wide])
  return w.transpose(cut(w, made, [per, o, shape[2]!, shape[3]!]), [1, 0, 2, 3])
}

// ---- convolutions by products ------------------------------------------------------------------------------------------

type Plane = { readonly stride: readonly number[]; readonly padding: readonly number[]; readonly dilation: readonly number[] }
/** What of a padded plane the place (u, v) of a kernel meets. */
const meets = (rows: number, cols: number, p: Plane, u: number, v: number) => ({
  starts: [0, 0, u * p.dilation[0]!, v * p.dilation[1]!],
  sizes: [rows, cols],
  strides: [1, 1, p.stride[0]!, p.stride[1]!],
})
const padded = (x: X, padding: readonly number[], fill = 0): X => {
  const [n, c, h, w] = x.shape as unknown as readonly [number, number, number, number]
  const [top, bottom, left, right] = padding as readonly [number, number, number, number]
  return asExpr(padNode(asNode(x), [0, 0, top, left], [n, c, h + top + bottom, w + left + right], [1, 1, 1, 1], constant(fill, x.dtype)))
}
const taken = (x: X, y: readonly number[], p: Plane, u: number, v: number): X => {
  const part = meets(y[2]!, y[3]!, p, u, v)
  return asExpr(sliceNode(asNode(x), { ...part, sizes: [x.shape[0]!, x.shape[1]!, ...part.sizes] }))
}
/** Its transpose, of a plane of this shape with its padding. */
const given = (y: X, x: readonly number[], p: Plane, u: number, v: number): X => {
  const part = meets(y.shape[2]!, y.shape[3]!, p, u, v)
  return asExpr(unsliceNode(asNode(y), x, { ...part, sizes: [...y.shape] }))
}
const unpadded = (x: X, shape: readonly number[], padding: readonly number[]): X =>
  asExpr(sliceNode(asNode(x), { starts: [0, 0, padding[0]!, padding[2]!], sizes: shape, strides: [1, 1, 1, 1] }))
const eachPlace = <A>(window: readonly number[], f: (u: number, v: number) => A): readonly A[] =>
  Array.from({ length: window[0]! * window[1]! }, (_, i) => f(Math.floor(i / window[1]!), i % window[1]!))
const total = (xs: readonly X[]): X => xs.reduce((a, b) => add(a, b))
/** The place (u, v) of a kernel: [groups, out, in]. */
const placeOf = (k: X, groups: number, u: number, v: number): X => {
  const [o, ci] = k.shape as unknown as readonly [number, number]
  const at = asExpr(sliceNode(asNode(k), { starts: [0, 0, u, v], sizes: [o, ci, 1, 1], strides: [1, 1, 1, 1] }))
  return reshape(at, [groups, o / groups, ci])
}
/** [n, c, h, w] as [n, groups, c / groups, h w]. */
const grouped = (x: X, groups: number): X => {
  const [n, c, h, w] = x.shape as unknown as readonly [number, number, number, number]
  return reshape(x, [n, groups, c / groups, h * w])
}
const nothing = (shape: readonly number[], like: X): X => zeros(shape as number[], like.dtype)

const convAs = (x: X, k: X, p: ConvParams): X => {
  const [n, , h, w] = x.shape as unknown as readonly [number, number, number, number]
  const [o, , kh, kw] = k.shape as unknown as readonly [number, number, number, number]
  const out = [0, 1].map(
    (i) =>
      Math.floor(([h, w][i]! + p.padding[2 * i]! + p.padding[2 * i + 1]! - (p.dilation[i]! * ([kh, kw][i]! - 1) + 1)) / p.stride[i]!) + 1,
  )
  const shape = [n, o, ...out]
  if (size(shape) === 0 || k.shape.includes(0)) return nothing(shape, x)
  const wide = padded(x, p.padding)
  const terms = eachPlace([kh, kw], (u, v) => matmul(placeOf(k, p.groups, u, v), grouped(taken(wide, shape, p, u, v), p.groups)))
  return reshape(total(terms), shape)
}
const convInputAs = (y: X, k: X, p: ConvParams): X => {
  const [n, , oh, ow] = y.shape as unknown as readonly [number, number, number, number]
  const [, ci, kh, kw] = k.shape as unknown as readonly [number, number, number, number]
  const shape = [n, ci * p.groups, ...p.size!]
  if (size(shape) === 0 || y.shape.includes(0) || k.shape.includes(0)) return nothing(shape, y)
  const wide = [n, ci * p.groups, p.size![0]! + p.padding[0]! + p.padding[1]!, p.size![1]! + p.padding[2]! + p.padding[3]!]
  const terms = eachPlace([kh, kw], (u, v) => {
    const each = matmul(transpose(placeOf(k, p.groups, u, v), [0, 2, 1]), grouped(y, p.groups))
    return given(reshape(each, [n, ci * p.groups, oh, ow]), wide, p, u, v)
  })
  return unpadded(total(terms), shape, p.padding)
}
const convKernelAs = (x: X, y: X, p: ConvParams): X => {
  const [, c] = x.shape as unknown as readonly [number, number]
  const o = y.shape[1]!
  const [kh, kw] = p.size as readonly [number, number]
  const shape = [o, c / p.groups, kh, kw]
  if (x.shape.includes(0) || y.shape.includes(0)) return nothing(shape, x)
  const wide = padded(x, p.padding)
  const yBar = grouped(y, p.groups)
  const places = eachPlace([kh, kw], (u, v) => {
    const each = matmul(yBar, transpose(grouped(taken(wide, y.shape, p, u, v), p.groups), [0, 1, 3, 2]))
    return reshape(sum(each, { axis: 0 }), [o, c / p.groups, 1])
  })
  return reshape(concat(places, { axis: 2 }), shape)
}

// ---- pools -------------------------------------------------------------------------------------------------------------

const undilated = (p: PoolParams): Plane => ({ ...p, dilation: [1, 1] })
const pooled = (x: readonly number[], p: PoolParams): readonly number[] => [
  ...x.slice(0, 2),
  ...[0, 1].map((i) => Math.floor((x[2 + i]! + p.padding[2 * i]! + p.padding[2 * i + 1]! - p.window[i]!) / p.stride[i]!) + 1),
]
/** How many elements each window averages. */
const counts = (plane: readonly number[], p: PoolParams, dtype: X['dtype']): X => {
  const shape = [1, 1, ...plane]
  const y = pooled(shape, p)
  if (p.countIncludePad === true) return full(y as number[], p.window[0]! * p.window[1]!, dtype)
  const wide = padded(ones(shape as number[], dtype), p.padding)
  return total(eachPlace(p.window, (u, v) => taken(wide, y, undilated(p), u, v)))
}
const avgPoolAs = (x: X, p: PoolParams): X => {
  const y = pooled(x.shape, p)
  if (size(y) === 0) return nothing(y, x)
  const wide = padded(x, p.padding)
  const sums = total(eachPlace(p.window, (u, v) => taken(wide, y, undilated(p), u, v)))
  return div(sums, counts(x.shape.slice(2), p, x.dtype))
}
const avgPoolInputAs = (y: X, p: PoolParams): X => {
  const shape = [...y.shape.slice(0, 2), ...p.size!]
  if (size(shape) === 0) return nothing(shape, y)
  const each = div(y, broadcastTo(counts(p.size!, p, y.dtype), y.shape as number[]))
  const wide = [...y.shape.slice(0, 2), p.size![0]! + p.padding[0]! + p.padding[1]!, p.size![1]! + p.padding[2]! + p.padding[3]!]
  return unpadded(total(eachPlace(p.window, (u, v) => given(each, wide, undilated(p), u, v))), shape, p.padding)
}
const poolAttributes = (p: PoolParams) => ({ kernel_shape: p.window, strides: p.stride, pads: pads(p.padding) })
/** Planes as rows of numbers: [n, c, plane]. */
const flat = (w: Writer, x: Ref): Ref => w.reshape(x, [x.shape[0]!, x.shape[1]!, x.shape[2]! * x.shape[3]!])

const picked = (w: Writer, x: Ref, at: Ref): Ref => {
  const places = flat(w, at)
  return w.reshape(w.node('GatherElements', [flat(w, x), places], { axis: 2 }, { shape: places.shape }), at.shape)
}

export const nnRows: RowsOf<typeof nn> = {
  conv: {
    only: ['f32'],
    write: (w, [x, k], p, [y]) => conv(w, x!, k!, p, y!.shape),
    as: ([x, k], p) => convAs(x!, k!, p),
  },
  convInput: {
    only: ['f32'],
    write: (w, [y, k], p, [x]) => convInput(w, y!, k!, p, x!.shape),
    as: ([y, k], p) => convInputAs(y!, k!, p),
  },
  convKernel: {
    only: ['f32'],
    write: (w, [x, y], p, [k]) =>
      size(x!.shape) * size(y!.shape) === 0 ? w.expand(w.scalar(x!.type, 0), k!.shape) : convKernel(w, x!, y!, p, k!.shape),
    as: ([x, y], p) => convKernelAs(x!, y!, p),
  },
  convInputAdd: { as: ([acc, y, k], p) => add(acc!, asExpr(apply(convInputPrimitive, [asNode(y), asNode(k)], p))) },
  convKernelAdd: { as: ([acc, x, y], p) => add(acc!, asExpr(apply(convKernelPrimitive, [asNode(x), asNode(y)], p))) },
  avgPool: {
    only: ['f32'],
    write: (w, [x], p, [y]) =>
      w.node('AveragePool', [x], { ...poolAttributes(p), count_include_pad: Number(p.countIncludePad === true) }, { shape: y!.shape }),
    as: ([x], p) => avgPoolAs(x!, p),
  },
  avgPoolInput: { as: ([y], p) => avgPoolInputAs(y!, p) },
  maxPool: {
    write: (w, [x], p, [y]) => {
      const [values, at] = w.all('MaxPool', [x], poolAttributes(p), [
        { type: x!.type, shape: y!.shape },
        { type: 'int64', shape: y!.shape },
      ])
      // ONNX counts through all planes; here each plane begins anew.
      const [n, c, h, width] = x!.shape as readonly [number, number, number, number]
      const planes = w.each('Mul', w.range(n * c, 'int32'), w.scalar('int32', h * width))
      return [values!, w.each('Sub', w.cast(at!, 'int32'), w.reshape(planes, [n, c, 1, 1]))]
    },
  },
  poolGather: {
    write: (w, [x, at]) => picked(w, x!, at!),
  },
  unpool: {
    write: (w, [y, at], _p, [x]) => {
      const [n, c, h, width] = x!.shape as readonly [number, number, number, number]
      const none = w.expand(w.scalar(y!.type, 0), [n, c, h * width])
      return w.reshape(w.node('ScatterElements', [none, flat(w, at!), flat(w, y!)], { axis: 2, reduction: 'add' }), x!.shape)
    },
  },
}
