/** Indexing by computed positions: gather, scatterAdd, setAt, oneHot. A negative index counts from the end; one out of range is clamped to the nearest (a kernel cannot raise). */
import { badDtype, badInput, badShape, showShape } from '../../errors/explain.js'
import { reading } from '../../errors/language.js'
import { type Aval, aval, sameAval } from '../../graph/aval.js'
import { type Codec, natural, record } from '../../graph/codec.js'
import { apply, type Node } from '../../graph/expr.js'
import { lift } from '../../graph/lift.js'
import { copyAll, copyRun, type NDArray } from '../../graph/ndarray.js'
import { type Primitive, primitive } from '../../graph/primitive.js'
import { sameShape, sizeOf } from '../../graph/shape.js'
import { shapeOfNested } from '../../graph/tensor.js'

/** Name of the family. */
export const family = 'indexing'

/** Position that an index means on an axis of length n. */
export const resolve = (index: number, n: number): number => Math.min(Math.max(index < 0 ? index + n : index, 0), n - 1)

// ---- gather, scatterAdd, setAt: slices along one axis ------------------------------------------------------------------

/** The axis that is indexed; the first `batchDims` axes of array and indices go together. */
export interface GatherParams {
  readonly axis: number
  readonly batchDims: number
}
export const gatherCodec: Codec<GatherParams> = record({ axis: natural, batchDims: natural })

/** Shape of the slices of x at the indices; raises where they do not fit. */
export const gatheredShape = (op: string, x: Aval, indices: Aval, { axis, batchDims }: GatherParams): readonly number[] => {
  if (indices.dtype !== 'i32') badDtype(op, [indices.dtype], `indices are i32, got ${indices.dtype}`, `cast them to i32.`)
  if (!(Number.isInteger(axis) && axis >= batchDims && axis < x.shape.length && batchDims >= 0 && Number.isInteger(batchDims)))
    badInput(op, `axis ${axis} is out of range for ${showShape(x.shape)}${batchDims > 0 ? ` with ${batchDims} batch axes` : ''}.`)
  if (!sameShape(x.shape.slice(0, batchDims), indices.shape.slice(0, batchDims)))
    badShape(op, [x.shape, indices.shape], `the first ${batchDims} axes of ${showShape(x.shape)} and ${showShape(indices.shape)} differ.`)
  if (x.shape[axis] === 0 && indices.size > 0) badInput(op, `axis ${axis} of ${showShape(x.shape)} is empty: no index is in range.`)
  return [...x.shape.slice(0, axis), ...indices.shape.slice(batchDims), ...x.shape.slice(axis + 1)]
}
/** Calls f(row of x, row of the slices) for every row behind the axis, in order. */
const eachRow = (
  x: readonly number[],
  indices: { readonly shape: readonly number[]; readonly data: ArrayLike<number> },
  p: GatherParams,
  f: (row: number, slice: number) => void,
): void => {
  const batches = sizeOf(x.slice(0, p.batchDims))
  const outer = sizeOf(x.slice(p.batchDims, p.axis))
  const n = x[p.axis]!
  const count = sizeOf(indices.shape.slice(p.batchDims))
  let slice = 0
  for (let b = 0; b < batches; b++)
    for (let a = 0; a < outer; a++)
      for (let i = 0; i < count; i++) f((b * outer + a) * n + resolve(indices.data[b * count + i]!, n), slice++)
}
/** Elements of a row behind the axis. */
const rowSize = (x: readonly number[], { axis }: GatherParams): number => sizeOf(x.slice(axis + 1))
/** Calls f(element of x, element of the slices) for every element of the slices, in order. */
export const eachGathered = (
  x: readonly number[],
  indices: { readonly shape: readonly number[]; readonly data: ArrayLike<number> },
  p: GatherParams,
  f: (at: number, slice: number) => void,
): void => {
  const inner = rowSize(x, p)
  eachRow(x, indices, p, (row, slice) => {
    for (let c = 0; c < inner; c++) f(row * inner + c, slice * inner + c)
  })
}
/**
 * out = acc, with rows of u added to rows of `width` elements; `each` says which to which. Rows of f32 are added up in f64 and rounded
 * once: many that go to one row would each round it.
 */
export const addRows = (
  acc: NDArray,
  u: NDArray,
  out: NDArray,
  width: number,
  each: (add: (row: number, from: number) => void) => void,
): void => {
  const [from, to] = [u.data, out.data]
  copyAll(to, acc.data)
  if (out.dtype !== 'f32' || width === 0) {
    each((row, slice) => {
      for (let c = 0; c < width; c++) to[row * width + c]! += from[slice * width + c]!
    })
    return
  }
  // Only rows that something is added to have totals: where those of a row are, or 0.
  const place = new Int32Array(to.length / width)
  const totals = new Float64Array(Math.min(to.length, from.length))
  let rows = 0
  each((row, slice) => {
    if (place[row] === 0) {
      const start = rows++ * width
      place[row] = rows
      for (let c = 0; c < width; c++) totals[start + c] = to[row * width + c]!
    }
    const start = (place[row]! - 1) * width
    for (let c = 0; c < width; c++) totals[start + c]! += from[slice * width + c]!
  })
  for (let row = 0; row < place.length; row++) {
    const start = (place[row]! - 1) * width
    if (start >= 0) for (let c = 0; c < width; c++) to[row * width + c] = totals[start + c]!
  }
}
export const showGather = ({ axis, batchDims }: GatherParams): string => `axis ${axis}${batchDims > 0 ? ` batch ${batchDims}` : ''}`
const at = (shape: readonly number[], values: readonly number[]) => ({ shape, dtype: 'i32' as const, values })
/** Arrays, indices and parameters that all three are tried with. */
export const gatherCases: readonly {
  readonly x: readonly number[]
  readonly indices: ReturnType<typeof at>
  readonly params: GatherParams
  readonly note?: string
}[] = [
  { x: [4], indices: at([3], [2, 0, 2]), params: { axis: 0, batchDims: 0 }, note: 'twice the same' },
  { x: [4], indices: at([], [3]), params: { axis: 0, batchDims: 0 }, note: 'scalar index' },
  { x: [3, 2], indices: at([2, 2], [1, 0, 2, 1]), params: { axis: 0, batchDims: 0 } },
  { x: [2, 3, 2], indices: at([2], [-1, 1]), params: { axis: 1, batchDims: 0 }, note: 'from the end' },
  { x: [2, 3], indices: at([3], [-9, 9, 0]), params: { axis: 1, batchDims: 0 }, note: 'clamped' },
  { x: [2, 4], indices: at([2, 3], [0, 3, 3, 1, 2, 1]), params: { axis: 1, batchDims: 1 }, note: 'batched' },
  { x: [2, 2, 3, 2], indices: at([2, 2], [0, 2, 1, 1]), params: { axis: 2, batchDims: 1 }, note: 'batched' },
  { x: [3, 2], indices: at([0], []), params: { axis: 0, batchDims: 0 }, note: 'no indices' },
  { x: [0], indices: at([0], []), params: { axis: 0, batchDims: 0 }, note: 'nothing at all' },
]
export const slicesOf = (c: (typeof gatherCases)[number]): readonly number[] =>
  gatheredShape('sample', aval(c.x, 'f64'), aval(c.indices.shape, 'i32'), c.params)

export const gatherPrimitive: Primitive<'gather', GatherParams, readonly ['float', 'int']> = primitive({
  name: 'gather',
  structure: { kind: 'places', at: 1, along: true },
  unbounded: false,
  family,
  args: ['float', 'int'],
  codec: gatherCodec,
  dtypes: ['any', 'i32'],
  shapeRule: ([x, indices], p) => aval(gatheredShape('gather', x!, indices!, p), x!.dtype),
  meaning: ([x, indices], p, [out]) => {
    const width = rowSize(x!.shape, p)
    eachRow(x!.shape, indices!, p, (row, slice) => copyRun(out!.data, slice * width, x!.data, row * width, width))
  },
  samples: gatherCases.map((c) => ({ args: [{ shape: c.x }, c.indices], params: c.params, ...(c.note && { note: c.note }) })),
  showParams: showGather,
  source: 'NumPy take, mode clip; TensorFlow batch_dims',
})

export const updateShape =
  (op: string) =>
  ([x, indices, u]: readonly Aval[], p: GatherParams): Aval => {
    const slices = aval(gatheredShape(op, x!, indices!, p), x!.dtype)
    if (!sameAval(slices, u!))
      badShape(
        op,
        [x!.shape, indices!.shape, u!.shape],
        `the slices of ${showShape(x!.shape)} at the indices are ${x!.dtype} ${showShape(slices.shape)}, the updates ${u!.dtype} ${showShape(u!.shape)}.`,
      )
    return x!
  }
export const updateSamples = gatherCases.map((c) => ({
  args: [{ shape: c.x }, c.indices, { shape: slicesOf(c) }],
  params: c.params,
  ...(c.note && { note: c.note }),
}))

export const scatterAddPrimitive: Primitive<'scatterAdd', GatherParams, readonly ['float', 'int', 'float']> = primitive({
  name: 'scatterAdd',
  structure: { kind: 'adds', reader: gatherPrimitive, at: 1 },
  unbounded: false,
  family,
  args: ['float', 'int', 'float'],
  accumulates: 0,
  codec: gatherCodec,
  dtypes: ['number', 'i32', 'number'],
  shapeRule: updateShape('scatterAdd'),
  meaning: ([acc, indices, u], p, [out]) => {
    addRows(acc!, u!, out!, rowSize(acc!.shape, p), (add) => eachRow(acc!.shape, indices!, p, add))
  },
  samples: updateSamples,
  showParams: showGather,
  source: 'adjoint of gather',
})

export const setAtPrimitive: Primitive<'setAt', GatherParams, readonly ['float', 'int', 'float']> = primitive({
  name: 'setAt',
  structure: { kind: 'places', at: 1 },
  unbounded: false,
  family,
  args: ['float', 'int', 'float'],
  accumulates: 0,
  codec: gatherCodec,
  dtypes: ['any', 'i32', 'any'],
  shapeRule: updateShape('setAt'),
  meaning: ([x, indices, u], p, [out]) => {
    copyAll(out!.data, x!.data)
    const width = rowSize(x!.shape, p)
    eachRow(x!.shape, indices!, p, (row, slice) => copyRun(out!.data, row * width, u!.data, slice * width, width))
  },
  samples: updateSamples,
  showParams: showGather,
  source: 'NumPy assignment through integer indices',
})

export const gatherNode = (x: Node, indices: Node, p: GatherParams): Node => apply(gatherPrimitive, [x, indices], p)
export const scatterAddNode = (acc: Node, indices: Node, u: Node, p: GatherParams): Node => apply(scatterAddPrimitive, [acc, indices, u], p)
export const setAtNode = (x: Node, indices: Node, u: Node, p: GatherParams): Node => apply(setAtPrimitive, [x, indices, u], p)

/** Positions to that depth: whole numbers that an i32 holds. What is ragged is found where they are read. */
const isIndex = (x: unknown, depth: number): boolean =>
  Array.isArray(x)
    ? depth === 0 || x.every((y) => isIndex(y, depth - 1))
    : Number.isInteger(x) && (x as number) >= -(2 ** 31) && (x as number) < 2 ** 31
/** Indices: an i32 expression or plain whole numbers. */
export const liftIndices = (x: unknown, op: string): Node => {
  const whole = (): boolean => !(Array.isArray(x) || typeof x === 'number') || isIndex(x, shapeOfNested(x, op).length)
  if (!reading(op, whole)) badDtype(op, ['i32'], `an index is not a whole number that an i32 holds`, `give whole numbers.`)
  const n = lift(x, op, 'i32')
  return n.dtype === 'i32' ? n : badDtype(op, [n.dtype], `indices are i32, got ${n.dtype}`, `cast them to i32.`)
}
