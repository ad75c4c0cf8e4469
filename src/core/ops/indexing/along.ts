/** Indexing of single elements along an axis: takeAlongAxis, its adjoint, searchsorted. Indices as in indexing-gather.ts. */
import { badDtype, badInput, badShape, showShape } from '../../errors/explain.js'
import { type Aval, aval, sameAval } from '../../graph/aval.js'
import { natural, oneOf, record } from '../../graph/codec.js'
import { apply, type Node } from '../../graph/expr.js'
import type { NDArray } from '../../graph/ndarray.js'
import { type Primitive, primitive } from '../../graph/primitive.js'
import { sameShape, sizeOf } from '../../graph/shape.js'
import { type AxisParams, axisCodec } from '../layout/join.js'
import { aroundAxis } from '../reduce.js'
import { addRows, family, resolve } from './gather.js'

/** Shape of what is taken: the indices', which differ from x's along the axis only. */
const takenShape = (op: string, x: Aval, indices: Aval, axis: number): readonly number[] => {
  if (indices.dtype !== 'i32') badDtype(op, [indices.dtype], `indices are i32, got ${indices.dtype}`, `cast them to i32.`)
  if (!(Number.isInteger(axis) && axis >= 0 && axis < x.shape.length))
    badInput(op, `axis ${axis} is out of range for ${showShape(x.shape)}.`)
  if (indices.shape.length !== x.shape.length || indices.shape.some((d, i) => i !== axis && d !== x.shape[i]))
    badShape(
      op,
      [x.shape, indices.shape],
      `x is ${showShape(x.shape)}, the indices ${showShape(indices.shape)}: they may differ along axis ${axis} only.`,
      `broadcastTo one of them, or use gather for whole slices.`,
    )
  if (x.shape[axis] === 0 && indices.size > 0) badInput(op, `axis ${axis} of ${showShape(x.shape)} is empty: no index is in range.`)
  return indices.shape
}
/** Calls f(element of x, element of what is taken) for every index. */
const eachTaken = (x: NDArray, indices: NDArray, axis: number, f: (at: number, taken: number) => void): void => {
  const { before, size, after } = aroundAxis(x.shape, axis)
  const count = indices.shape[axis]!
  let taken = 0
  for (let b = 0; b < before; b++)
    for (let i = 0; i < count; i++)
      for (let c = 0; c < after; c++, taken++) f((b * size + resolve(indices.data[taken]!, size)) * after + c, taken)
}
const at = (shape: readonly number[], values: readonly number[]) => ({ shape, dtype: 'i32' as const, values })
const cases: readonly { readonly x: readonly number[]; readonly indices: ReturnType<typeof at>; readonly axis: number }[] = [
  { x: [4], indices: at([3], [2, 0, 2]), axis: 0 },
  { x: [2, 3], indices: at([2, 2], [0, 2, -1, 1]), axis: 1 },
  { x: [3, 2], indices: at([4, 2], [0, 1, 2, 2, 9, -9, 0, 0]), axis: 0 },
  { x: [2, 3, 2], indices: at([2, 1, 2], [0, 2, 1, 1]), axis: 1 },
  { x: [2, 3], indices: at([2, 0], []), axis: 1 },
  { x: [0, 3], indices: at([0, 2], []), axis: 1 },
]

export const takeAlongAxisPrimitive: Primitive<'takeAlongAxis', AxisParams, readonly ['float', 'int']> = primitive({
  name: 'takeAlongAxis',
  structure: { kind: 'places', at: 1, along: true },
  unbounded: false,
  family,
  args: ['float', 'int'],
  codec: axisCodec,
  dtypes: ['any', 'i32'],
  shapeRule: ([x, indices], { axis }) => aval(takenShape('takeAlongAxis', x!, indices!, axis), x!.dtype),
  meaning: ([x, indices], { axis }, [out]) => {
    eachTaken(x!, indices!, axis, (from, to) => {
      out!.data[to] = x!.data[from]!
    })
  },
  samples: cases.map((c) => ({ args: [{ shape: c.x }, c.indices], params: { axis: c.axis } })),
  showParams: ({ axis }) => `axis ${axis}`,
  source: 'NumPy take_along_axis',
})

export const scatterAddAlongPrimitive: Primitive<'scatterAddAlong', AxisParams, readonly ['float', 'int', 'float']> = primitive({
  name: 'scatterAddAlong',
  structure: { kind: 'adds', reader: takeAlongAxisPrimitive, at: 1 },
  unbounded: false,
  family,
  args: ['float', 'int', 'float'],
  accumulates: 0,
  codec: axisCodec,
  dtypes: ['number', 'i32', 'number'],
  shapeRule: ([acc, indices, u], { axis }) => {
    const taken = aval(takenShape('scatterAddAlong', acc!, indices!, axis), acc!.dtype)
    if (!sameAval(taken, u!))
      badShape(
        'scatterAddAlong',
        [taken.shape, u!.shape],
        `the indices are ${showShape(taken.shape)}, the updates ${u!.dtype} ${showShape(u!.shape)}.`,
      )
    return acc!
  },
  meaning: ([acc, indices, u], { axis }, [out]) => {
    addRows(acc!, u!, out!, 1, (add) => eachTaken(acc!, indices!, axis, add))
  },
  samples: cases.map((c) => ({ args: [{ shape: c.x }, c.indices, { shape: c.indices.shape }], params: { axis: c.axis } })),
  showParams: ({ axis }) => `axis ${axis}`,
  source: 'adjoint of take_along_axis',
})
export const takeAlongNode = (x: Node, indices: Node, axis: number): Node => apply(takeAlongAxisPrimitive, [x, indices], { axis })
export const scatterAddAlongNode = (acc: Node, indices: Node, u: Node, axis: number): Node =>
  apply(scatterAddAlongPrimitive, [acc, indices, u], { axis })

// ---- searchsorted ------------------------------------------------------------------------------------------------------

export interface SearchParams {
  readonly side: 'left' | 'right'
  /** Leading axes that both arguments share. */
  readonly batchDims: number
}

/** Order of numbers in which NaN comes last, as `sort` has it. */
const before = (a: number, b: number): boolean => a < b || (Number.isNaN(b) && !Number.isNaN(a))

export const searchsortedPrimitive: Primitive<'searchsorted', SearchParams, readonly ['float', 'float']> = primitive({
  name: 'searchsorted',
  unbounded: false,
  family,
  args: ['float', 'float'],
  codec: record({ side: oneOf('left', 'right'), batchDims: natural }),
  dtypes: ['any', 'any'],
  shapeRule: ([sorted, values], { batchDims }) => {
    if (sorted!.shape.length !== batchDims + 1 || !sameShape(sorted!.shape.slice(0, batchDims), values!.shape.slice(0, batchDims)))
      badShape(
        'searchsorted',
        [sorted!.shape, values!.shape],
        `the sorted numbers must be a vector, got ${showShape(sorted!.shape)}.`,
        `reshape them, or vmap over their rows.`,
      )
    return aval(values!.shape, 'i32')
  },
  meaning: ([sorted, values], { side, batchDims }, [out]) => {
    const n = sorted!.shape[batchDims]!
    const each = sizeOf(values!.shape.slice(batchDims))
    for (let i = 0; i < values!.data.length; i++) {
      const base = Math.floor(i / each) * n
      const v = values!.data[i]!
      let low = 0
      // The steps are known with the length, so that every backend can make the same ones without branches.
      for (let left = n; left > 0; ) {
        const half = left > 1 ? left >> 1 : 1
        const s = sorted!.data[base + low + half - 1]!
        if (side === 'left' ? before(s, v) : !before(v, s)) low += half
        left -= half
      }
      out!.data[i] = low
    }
  },
  samples: [
    {
      args: [
        { shape: [4], values: [-1, 0, 0, 1] },
        { shape: [5], values: [-2, 0, 0.5, 1, 3] },
      ],
      params: { side: 'left', batchDims: 0 },
    },
    { args: [{ shape: [4], values: [-1, 0, 0, 1] }, { shape: [2, 3] }], params: { side: 'right', batchDims: 0 } },
    { args: [{ shape: [2, 2], values: [-1, 1, 0, 0.5] }, { shape: [2, 3] }], params: { side: 'left', batchDims: 1 } },
    { args: [{ shape: [0] }, { shape: [] }], params: { side: 'left', batchDims: 0 } },
  ],
  showParams: ({ side }) => side,
  source: 'NumPy searchsorted',
})
