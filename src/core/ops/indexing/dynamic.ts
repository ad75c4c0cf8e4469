/** Windows whose place is computed: dynamicSlice, its adjoint, dynamicUpdateSlice. A window is moved inside where it would stick out. */
import { settled } from '../../errors/check-arguments.js'
import { badDtype, badShape, showShape } from '../../errors/explain.js'
import { type Aval, aval, sameAval } from '../../graph/aval.js'
import { type Codec, natural, naturals, record } from '../../graph/codec.js'
import { apply, type Node } from '../../graph/expr.js'
import { copyAll, copyRun, type NDArray } from '../../graph/ndarray.js'
import { type Primitive, primitive } from '../../graph/primitive.js'
import { forEachIndex, sameShape, sizeOf, stridesOf } from '../../graph/shape.js'
import { concatNode } from '../layout/join.js'
import { reshapeNode } from '../layout/move.js'
import { family, liftIndices } from './gather.js'

/** Sizes of the window along the axes after the batch axes; one start per such axis. */
export interface WindowParams {
  readonly sizes: readonly number[]
  readonly batchDims: number
}
const windowCodec: Codec<WindowParams> = record({ sizes: naturals, batchDims: natural })

/** First position of a window along an axis: negative starts count from the end, then it is moved inside. */
export const startOf = (start: number, length: number, size: number): number =>
  Math.min(Math.max(start < 0 ? start + length : start, 0), length - size)

export const windowShape = (op: string, x: Aval, starts: Aval, { sizes, batchDims }: WindowParams): readonly number[] => {
  const lead = x.shape.slice(0, batchDims)
  const rest = x.shape.slice(batchDims)
  if (starts.dtype !== 'i32') badDtype(op, [starts.dtype], `starts are i32, got ${starts.dtype}`, `cast them to i32.`)
  if (!sameShape(starts.shape, [...lead, rest.length]))
    badShape(
      op,
      [x.shape, starts.shape],
      `the starts are ${showShape(starts.shape)}, not ${showShape([...lead, rest.length])}.`,
      `give one start per axis.`,
    )
  if (sizes.length !== rest.length || sizes.some((n, i) => !(Number.isInteger(n) && n >= 0 && n <= rest[i]!)))
    badShape(
      op,
      [x.shape, sizes],
      `a window of ${showShape(sizes)} does not fit into ${showShape(rest)}.`,
      `give one size per axis, at most the axis' length.`,
    )
  return [...lead, ...sizes]
}
/** Calls f(first element in x, first in the windows, how many) for every run of neighbours, in order. */
const eachRun = (
  x: readonly number[],
  starts: NDArray,
  { sizes, batchDims }: WindowParams,
  f: (at: number, inWindow: number, length: number) => void,
): void => {
  const rest = x.slice(batchDims)
  const strides = stridesOf(rest)
  const whole = sizeOf(rest)
  const part = sizeOf(sizes)
  const batches = sizeOf(x.slice(0, batchDims))
  // Axes that the window has whole, and the one before them, are neighbours in both.
  let outer = Math.max(0, sizes.length - 1)
  while (outer > 0 && sizes[outer] === rest[outer]) outer--
  const lead = sizes.slice(0, outer)
  const length = sizeOf(sizes.slice(outer))
  for (let b = 0; b < batches; b++) {
    const offset = rest.reduce((o, d, i) => o + startOf(starts.data[b * rest.length + i]!, d, sizes[i]!) * strides[i]!, b * whole)
    forEachIndex(lead, [strides.slice(0, outer)], (o, row) => f(offset + o[0]!, b * part + row * length, length))
  }
}
const at = (shape: readonly number[], values: readonly number[]) => ({ shape, dtype: 'i32' as const, values })
const cases: readonly {
  readonly x: readonly number[]
  readonly starts: ReturnType<typeof at>
  readonly params: WindowParams
  readonly window: readonly number[]
}[] = [
  { x: [5], starts: at([1], [1]), params: { sizes: [3], batchDims: 0 }, window: [3] },
  { x: [5], starts: at([1], [9]), params: { sizes: [2], batchDims: 0 }, window: [2] },
  { x: [3, 4], starts: at([2], [-1, 1]), params: { sizes: [1, 2], batchDims: 0 }, window: [1, 2] },
  { x: [2, 4], starts: at([2, 1], [0, 2]), params: { sizes: [2], batchDims: 1 }, window: [2, 2] },
  { x: [3], starts: at([1], [2]), params: { sizes: [0], batchDims: 0 }, window: [0] },
  { x: [], starts: at([0], []), params: { sizes: [], batchDims: 0 }, window: [] },
]
const showWindow = ({ sizes }: WindowParams): string => showShape(sizes)

export const dynamicSlicePrimitive: Primitive<'dynamicSlice', WindowParams, readonly ['float', 'int']> = primitive({
  name: 'dynamicSlice',
  structure: { kind: 'places', at: 1 },
  unbounded: false,
  family,
  args: ['float', 'int'],
  codec: windowCodec,
  dtypes: ['any', 'i32'],
  shapeRule: ([x, starts], p) => aval(windowShape('dynamicSlice', x!, starts!, p), x!.dtype),
  meaning: ([x, starts], p, [out]) => {
    const [from, to] = [x!.data, out!.data]
    eachRun(x!.shape, starts!, p, (at, inWindow, length) => {
      copyRun(to, inWindow, from, at, length)
    })
  },
  samples: cases.map((c) => ({ args: [{ shape: c.x }, c.starts], params: c.params })),
  showParams: showWindow,
  source: 'XLA DynamicSlice',
})

const windowUpdate =
  (op: string) =>
  ([x, starts, u]: readonly Aval[], p: WindowParams): Aval => {
    const window = aval(windowShape(op, x!, starts!, p), x!.dtype)
    if (!sameAval(window, u!))
      badShape(
        op,
        [window.shape, u!.shape],
        `the window is ${x!.dtype} ${showShape(window.shape)}, the update ${u!.dtype} ${showShape(u!.shape)}.`,
      )
    return x!
  }
const updateSamples = cases.map((c) => ({ args: [{ shape: c.x }, c.starts, { shape: c.window }], params: c.params }))

export const dynamicSliceAddPrimitive: Primitive<'dynamicSliceAdd', WindowParams, readonly ['float', 'int', 'float']> = primitive({
  name: 'dynamicSliceAdd',
  structure: { kind: 'adds', reader: dynamicSlicePrimitive, at: 1 },
  unbounded: false,
  family,
  args: ['float', 'int', 'float'],
  accumulates: 0,
  codec: windowCodec,
  dtypes: ['number', 'i32', 'number'],
  shapeRule: windowUpdate('dynamicSliceAdd'),
  meaning: ([acc, starts, u], p, [out]) => {
    copyAll(out!.data, acc!.data)
    const [from, to] = [u!.data, out!.data]
    eachRun(acc!.shape, starts!, p, (at, inWindow, length) => {
      for (let i = 0; i < length; i++) to[at + i]! += from[inWindow + i]!
    })
  },
  samples: updateSamples,
  showParams: showWindow,
  source: 'adjoint of dynamicSlice',
})

export const dynamicUpdateSlicePrimitive: Primitive<'dynamicUpdateSlice', WindowParams, readonly ['float', 'int', 'float']> = primitive({
  name: 'dynamicUpdateSlice',
  structure: { kind: 'places', at: 1 },
  unbounded: false,
  family,
  args: ['float', 'int', 'float'],
  accumulates: 0,
  codec: windowCodec,
  dtypes: ['any', 'i32', 'any'],
  shapeRule: windowUpdate('dynamicUpdateSlice'),
  meaning: ([x, starts, u], p, [out]) => {
    copyAll(out!.data, x!.data)
    const [from, to] = [u!.data, out!.data]
    eachRun(x!.shape, starts!, p, (at, inWindow, length) => {
      copyRun(to, at, from, inWindow, length)
    })
  },
  samples: updateSamples,
  showParams: showWindow,
  source: 'XLA DynamicUpdateSlice',
})
export const dynamicSliceNode = (x: Node, starts: Node, p: WindowParams): Node => apply(dynamicSlicePrimitive, [x, starts], p)
export const dynamicSliceAddNode = (acc: Node, starts: Node, u: Node, p: WindowParams): Node =>
  apply(dynamicSliceAddPrimitive, [acc, starts, u], p)
export const dynamicUpdateSliceNode = (x: Node, starts: Node, u: Node, p: WindowParams): Node =>
  apply(dynamicUpdateSlicePrimitive, [x, starts, u], p)

/** The starts as one i32 vector: given so, or as a list of scalars. */
export const liftStarts = (given: unknown, op: string): Node => {
  const starts = settled(given, 'starts', op)
  if (!Array.isArray(starts)) return liftIndices(starts, op)
  if (starts.length === 0 || starts.every((s) => typeof s === 'number')) return liftIndices(starts, op)
  return concatNode(
    Array.from(starts as readonly unknown[], (s) => {
      const n = liftIndices(s, op)
      return n.shape.length === 0 ? reshapeNode(n, [1]) : badShape(op, [n.shape], `a start is a scalar, got ${showShape(n.shape)}.`)
    }),
    0,
  )
}
