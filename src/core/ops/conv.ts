/** Convolution and its two adjoints: three bilinear primitives that are each other's derivatives, and forms that add into an accumulator. */
import { settled, shown } from '../errors/check-arguments.js'
import { badInput, badShape, showShape } from '../errors/explain.js'
import { type Aval, aval, sameAval } from '../graph/aval.js'
import { type Codec, natural, naturals, record } from '../graph/codec.js'
import type { Node } from '../graph/expr.js'
import type { NDArray } from '../graph/ndarray.js'
import { type Primitive, primitive, type SampleArg } from '../graph/primitive.js'
import { MAX_SIZE } from '../graph/shape.js'
import type { AnyExpr } from '../types/expr.js'
import type { Padding } from '../types/shape-windows.js'
import { reshapeNode } from './layout/move.js'

export interface ConvParams {
  readonly stride: readonly number[]
  /** top, bottom, left, right */
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
  readonly groups: number
  /** Height and width of the argument that is not there: x for convInput, k for convKernel. */
  readonly size?: readonly number[]
}
const codec: Codec<ConvParams> = record<ConvParams>(
  { stride: naturals, padding: naturals, dilation: naturals, groups: natural, size: naturals },
  'size',
)

type Four = readonly [number, number, number, number]
export const four = (a: Pick<AnyExpr, 'shape'>, op: string): Four =>
  a.shape.length === 4
    ? (a.shape as unknown as Four)
    : badShape(
        op,
        [a.shape],
        `needs rank 4, got ${showShape(a.shape)}.`,
        `x is [n, c, h, w]${op.startsWith('conv') ? ', k is [o, c / groups, kh, kw]' : ''}${a.shape.length === 3 ? `; one example is [1, ${a.shape.join(', ')}]` : ''}.`,
      )

/** Two strides and two dilations from 1 up, four paddings: whatever they are multiplied by is bounded by the largest array. */
export const checkGeometry = (op: string, of: Readonly<Record<string, readonly number[]>>, padding: readonly number[]): void => {
  const good = (list: readonly number[], n: number, least: number): boolean =>
    list.length === n && list.every((x) => Number.isInteger(x) && x >= least && x <= MAX_SIZE)
  for (const [what, list] of Object.entries(of))
    if (!good(list, 2, 1)) badInput(op, `${what} is ${showShape(list)}.`, 'give two positive integers.')
  if (!good(padding, 4, 0)) badInput(op, `padding is ${showShape(padding)}.`, 'give four numbers: top, bottom, left, right.')
}
/** Length of the result along one axis. */
export const windowed = (n: number, k: number, stride: number, before: number, after: number, dilation: number): number =>
  Math.floor((n + before + after - (dilation * (k - 1) + 1)) / stride) + 1

const outSize = (h: number, w: number, kh: number, kw: number, p: ConvParams): readonly [number, number] => [
  windowed(h, kh, p.stride[0]!, p.padding[0]!, p.padding[1]!, p.dilation[0]!),
  windowed(w, kw, p.stride[1]!, p.padding[2]!, p.padding[3]!, p.dilation[1]!),
]

const convShape = (x: Aval, k: Aval, p: ConvParams, op = 'conv'): Aval => {
  const [n, c, h, w] = four(x, op)
  const [o, ci, kh, kw] = four(k, op)
  checkGeometry(op, { stride: p.stride, dilation: p.dilation }, p.padding)
  if (c !== ci * p.groups || o % p.groups !== 0)
    badShape(
      op,
      [x.shape, k.shape],
      `x ${showShape(x.shape)} has ${c} channel${c === 1 ? '' : 's'}, k ${showShape(k.shape)} with ${p.groups} group${p.groups === 1 ? '' : 's'} wants ${ci * p.groups}.`,
      'x is [n, c, h, w], k is [o, c / groups, kh, kw].',
    )
  const [oh, ow] = outSize(h, w, kh, kw, p)
  if (oh < 0 || ow < 0 || (kh > 0 && oh < 1 && h > 0) || (kw > 0 && ow < 1 && w > 0))
    badShape(
      op,
      [x.shape, k.shape],
      `the kernel ${showShape(k.shape)} is larger than x ${showShape(x.shape)} with its padding.`,
      'pad more, or use a smaller kernel.',
    )
  return aval([n, o, oh, ow], x.dtype)
}

/** Calls f(y index, x index, k index) for every product of the convolution. */
const eachProduct = (xs: Four, ks: Four, ys: Four, p: ConvParams, f: (y: number, x: number, k: number) => void): void => {
  const [n, c, h, w] = xs
  const [o, ci, kh, kw] = ks
  const [, , oh, ow] = ys
  const [sh, sw] = p.stride as readonly [number, number]
  const [dh, dw] = p.dilation as readonly [number, number]
  const perGroup = o / p.groups
  for (let b = 0; b < n; b++)
    for (let q = 0; q < o; q++) {
      const first = Math.floor(q / perGroup) * ci
      for (let i = 0; i < oh; i++)
        for (let j = 0; j < ow; j++) {
          const y = ((b * o + q) * oh + i) * ow + j
          for (let l = 0; l < ci; l++)
            for (let u = 0; u < kh; u++) {
              const r = i * sh - p.padding[0]! + u * dh
              if (r < 0 || r >= h) continue
              for (let v = 0; v < kw; v++) {
                const s = j * sw - p.padding[2]! + v * dw
                if (s >= 0 && s < w) f(y, ((b * c + first + l) * h + r) * w + s, ((q * ci + l) * kh + u) * kw + v)
              }
            }
        }
    }
}
const shape4 = (a: NDArray): Four => a.shape as unknown as Four
/** acc (zeros when absent) plus the products, in f64. */
const total = (acc: NDArray | undefined, out: NDArray, add: (sum: Float64Array) => void): void => {
  const sum = new Float64Array(out.data.length)
  add(sum)
  if (acc !== undefined) for (let i = 0; i < sum.length; i++) sum[i] = acc.data[i]! + sum[i]!
  out.data.set(sum as never)
}
const forward = (x: NDArray, k: NDArray, p: ConvParams, out: NDArray): void =>
  total(undefined, out, (s) =>
    eachProduct(shape4(x), shape4(k), shape4(out), p, (y, a, b) => {
      s[y]! += x.data[a]! * k.data[b]!
    }),
  )
const toInput = (acc: NDArray | undefined, yBar: NDArray, k: NDArray, p: ConvParams, out: NDArray): void =>
  total(acc, out, (s) =>
    eachProduct(shape4(out), shape4(k), shape4(yBar), p, (y, a, b) => {
      s[a]! += yBar.data[y]! * k.data[b]!
    }),
  )
const toKernel = (acc: NDArray | undefined, x: NDArray, yBar: NDArray, p: ConvParams, out: NDArray): void =>
  total(acc, out, (s) =>
    eachProduct(shape4(x), shape4(out), shape4(yBar), p, (y, a, b) => {
      s[b]! += x.data[a]! * yBar.data[y]!
    }),
  )

const plain: ConvParams = { stride: [1, 1], padding: [0, 0, 0, 0], dilation: [1, 1], groups: 1 }
/** Cases that cover every parameter: x, k, and the parameters. */
const cases: readonly (readonly [x: Four, k: Four, p: ConvParams])[] = [
  [[2, 2, 4, 5], [3, 2, 2, 3], plain],
  [[1, 1, 5, 4], [2, 1, 3, 2], { ...plain, stride: [2, 1], padding: [1, 0, 1, 1] }],
  [[1, 4, 4, 4], [2, 2, 2, 2], { ...plain, groups: 2 }],
  [[1, 1, 5, 5], [1, 1, 2, 2], { ...plain, dilation: [2, 3] }],
  [[0, 1, 3, 3], [1, 1, 2, 2], plain],
]
const a = (shape: readonly number[]): SampleArg => ({ shape })
const yOf = ([x, k, p]: (typeof cases)[number]): SampleArg => a(convShape(aval(x, 'f64'), aval(k, 'f64'), p).shape)
const show = (p: ConvParams): string =>
  [
    p.stride.some((s) => s !== 1) ? `stride ${p.stride}` : '',
    p.padding.some((s) => s !== 0) ? `padding ${p.padding}` : '',
    p.dilation.some((s) => s !== 1) ? `dilation ${p.dilation}` : '',
    p.groups !== 1 ? `groups ${p.groups}` : '',
  ]
    .filter((s) => s !== '')
    .join(', ')

/** A product and a sum for each element of the result and each of the window over the channels of its group. */
const productsOf = (y: Aval, k: Aval): number => (k.shape[0] === 0 ? 0 : (2 * y.size * k.size) / k.shape[0]!)
export const convPrimitive: Primitive<'conv', ConvParams, readonly ['float', 'float']> = primitive({
  name: 'conv',
  structure: { kind: 'contraction' },
  unbounded: false,
  family: 'nn',
  args: ['float', 'float'],
  codec,
  dtypes: ['float', 'float'],
  shapeRule: ([x, k], p) => convShape(x!, k!, p),
  meaning: ([x, k], p, [out]) => forward(x!, k!, p, out!),
  cost: 100,
  flops: ([, k], [y]) => productsOf(y!, k!),
  samples: cases.map(([x, k, p]) => ({ args: [a(x), a(k)], params: p })),
  showParams: show,
  source: 'Dumoulin and Visin 2016',
})

/** Height and width of an argument that is not there; raises where they are missing. */
export const sizeGiven = (op: string, size: readonly number[] | undefined): readonly [number, number] =>
  size?.length === 2
    ? (size as readonly [number, number])
    : badInput(op, `size is ${size === undefined ? 'missing' : showShape(size)}.`, 'give height and width.')

const inputShape = (yBar: Aval, k: Aval, p: ConvParams): Aval => {
  const [n] = four(yBar, 'convInput')
  const [, ci] = four(k, 'convInput')
  const x = aval([n, ci * p.groups, ...sizeGiven('convInput', p.size)], yBar.dtype)
  const y = convShape(x, k, p, 'convInput')
  if (!sameAval(y, yBar))
    badShape('convInput', [yBar.shape, y.shape], `yBar is ${showShape(yBar.shape)}, the convolution gives ${showShape(y.shape)}.`)
  return x
}
export const convInputPrimitive: Primitive<'convInput', ConvParams, readonly ['float', 'float']> = primitive({
  name: 'convInput',
  structure: { kind: 'contraction' },
  unbounded: false,
  gaps: ({ stride }) => stride.some((s) => s > 1),
  family: 'nn',
  args: ['float', 'float'],
  codec,
  dtypes: ['float', 'float'],
  shapeRule: ([yBar, k], p) => inputShape(yBar!, k!, p),
  meaning: ([yBar, k], p, [out]) => toInput(undefined, yBar!, k!, p, out!),
  cost: 100,
  flops: ([yBar, k]) => productsOf(yBar!, k!),
  samples: cases.map((c) => ({ args: [yOf(c), a(c[1])], params: { ...c[2], size: c[0].slice(2) } })),
  showParams: show,
  source: 'adjoint of conv in x',
})

const kernelShape = (x: Aval, yBar: Aval, p: ConvParams): Aval => {
  const [, c] = four(x, 'convKernel')
  const [, o] = four(yBar, 'convKernel')
  const k = aval([o, c / p.groups, ...sizeGiven('convKernel', p.size)], x.dtype)
  const y = convShape(x, k, p, 'convKernel')
  if (!sameAval(y, yBar))
    badShape('convKernel', [yBar.shape, y.shape], `yBar is ${showShape(yBar.shape)}, the convolution gives ${showShape(y.shape)}.`)
  return k
}
export const convKernelPrimitive: Primitive<'convKernel', ConvParams, readonly ['float', 'float']> = primitive({
  name: 'convKernel',
  structure: { kind: 'contraction' },
  unbounded: false,
  family: 'nn',
  args: ['float', 'float'],
  codec,
  dtypes: ['float', 'float'],
  shapeRule: ([x, yBar], p) => kernelShape(x!, yBar!, p),
  meaning: ([x, yBar], p, [out]) => toKernel(undefined, x!, yBar!, p, out!),
  cost: 100,
  flops: ([, yBar], [k]) => productsOf(yBar!, k!),
  samples: cases.map((c) => ({ args: [a(c[0]), yOf(c)], params: { ...c[2], size: c[1].slice(2) } })),
  showParams: show,
  source: 'adjoint of conv in k',
})

const sameAcc = (op: string, acc: Aval, y: Aval): Aval =>
  sameAval(acc, y) ? acc : badShape(op, [acc.shape, y.shape], `the accumulator is ${showShape(acc.shape)}, the term ${showShape(y.shape)}.`)

export const convInputAddPrimitive: Primitive<'convInputAdd', ConvParams, readonly ['float', 'float', 'float']> = primitive({
  name: 'convInputAdd',
  structure: { kind: 'contraction' },
  unbounded: false,
  family: 'nn',
  args: ['float', 'float', 'float'],
  codec,
  dtypes: ['float', 'float', 'float'],
  accumulates: 0,
  shapeRule: ([acc, yBar, k], p) => sameAcc('convInputAdd', acc!, inputShape(yBar!, k!, p)),
  meaning: ([acc, yBar, k], p, [out]) => toInput(acc!, yBar!, k!, p, out!),
  cost: 100,
  flops: ([, yBar, k]) => productsOf(yBar!, k!),
  samples: cases.slice(0, 3).map((c) => ({ args: [a(c[0]), yOf(c), a(c[1])], params: { ...c[2], size: c[0].slice(2) } })),
  showParams: show,
  source: 'convInput into an accumulator',
})
export const convKernelAddPrimitive: Primitive<'convKernelAdd', ConvParams, readonly ['float', 'float', 'float']> = primitive({
  name: 'convKernelAdd',
  structure: { kind: 'contraction' },
  unbounded: false,
  family: 'nn',
  args: ['float', 'float', 'float'],
  codec,
  dtypes: ['float', 'float', 'float'],
  accumulates: 0,
  shapeRule: ([acc, x, yBar], p) => sameAcc('convKernelAdd', acc!, kernelShape(x!, yBar!, p)),
  meaning: ([acc, x, yBar], p, [out]) => toKernel(acc!, x!, yBar!, p, out!),
  cost: 100,
  flops: ([, , yBar], [k]) => productsOf(yBar!, k!),
  samples: cases.slice(0, 3).map((c) => ({ args: [a(c[1]), a(c[0]), yOf(c)], params: { ...c[2], size: c[1].slice(2) } })),
  showParams: show,
  source: 'convKernel into an accumulator',
})

/** One positive integer for each of `count` axes: a number for all, or a list of one or of all. */
export const perAxis = (given: unknown, count: number, what: string, op: string): readonly number[] => {
  const read = settled(given, what, op)
  const list: readonly unknown[] = Array.isArray(read) ? read : [read]
  if ((list.length !== 1 && list.length !== count) || !list.every((d) => Number.isSafeInteger(d) && (d as number) >= 1))
    badInput(
      op,
      `${what} ${shown(given)} is not ${count === 1 ? 'a positive integer' : `one or ${count === 3 ? 'three' : 'two'} positive integers`}.`,
      `write ${what}: ${count === 1 ? '2' : `2, or [${new Array(count).fill(2).join(', ')}]`}.`,
    )
  return list.length === count ? (list as readonly number[]) : new Array<number>(count).fill(list[0] as number)
}
/** Before and after each axis: top, bottom, left, right, or left and right of a line. `same` keeps ceil(n / stride). */
export const paddingOf = (
  padding: Padding | undefined,
  size: readonly number[],
  window: readonly number[],
  stride: readonly number[],
  dilation: readonly number[],
  op: string,
): readonly number[] => {
  if (padding === undefined || padding === 'valid') return stride.flatMap(() => [0, 0])
  if (padding === 'same')
    return size.flatMap((n, i) => {
      const all = Math.max(0, (Math.ceil(n / stride[i]!) - 1) * stride[i]! + dilation[i]! * (window[i]! - 1) + 1 - n)
      return [Math.floor(all / 2), all - Math.floor(all / 2)]
    })
  const list: readonly unknown[] = typeof padding === 'number' ? stride.map(() => padding) : Array.isArray(padding) ? padding : []
  const out = Array.from(list, sidesOf).flat()
  if (list.length !== stride.length || out.length !== 2 * list.length || !out.every((p) => Number.isSafeInteger(p) && (p as number) >= 0))
    badInput(
      op,
      `padding ${shown(padding)} is not understood.`,
      `give a number, ${stride.length === 1 ? '[w], [[left, right]]' : stride.length === 3 ? '[d, h, w], [[front, back], [top, bottom], [left, right]]' : '[h, w], [[top, bottom], [left, right]]'}, 'same' or 'valid'.`,
    )
  return out as readonly number[]
}
/** Both sides of an axis, or nothing where they are not given as one number or two. */
const sidesOf = (p: unknown): readonly unknown[] => (typeof p === 'number' ? [p, p] : Array.isArray(p) && p.length === 2 ? p : [])

/** An array with one axis of positions as a plane of height 1, and back. */
export const asPlane = (x: Node): Node => reshapeNode(x, [...x.shape.slice(0, 2), 1, x.shape[2]!])
export const asLine = (x: Node): Node => reshapeNode(x, [...x.shape.slice(0, 2), x.shape[3]!])
/** What is given for each axis of a line, with that of a height of 1 in front; that of a plane as it is. */
export const onPlane = (line: boolean, height: readonly number[], list: readonly number[]): readonly number[] =>
  line ? [...height, ...list] : list
