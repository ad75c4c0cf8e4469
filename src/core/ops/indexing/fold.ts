/** Updates folded into slices at computed places by maximum, minimum or product: scatterReduce. Indices as in indexing-gather.ts. */
import { natural, oneOf, record } from '../../graph/codec.js'
import { apply, type Node } from '../../graph/expr.js'
import { copyAll } from '../../graph/ndarray.js'
import { type Primitive, primitive } from '../../graph/primitive.js'
import {
  eachGathered,
  family,
  type GatherParams,
  gatherCases,
  gatherPrimitive,
  showGather,
  slicesOf,
  updateSamples,
  updateShape,
} from './gather.js'

/** How updates and what is there become one. */
export type FoldMode = 'max' | 'min' | 'mul'
export interface FoldParams extends GatherParams {
  readonly mode: FoldMode
}
const folds: Readonly<Record<FoldMode, (a: number, b: number) => number>> = { max: Math.max, min: Math.min, mul: (a, b) => a * b }
const modes: readonly FoldMode[] = ['max', 'min', 'mul']

export const scatterReducePrimitive: Primitive<'scatterReduce', FoldParams, readonly ['float', 'int', 'float']> = primitive({
  name: 'scatterReduce',
  structure: { kind: 'adds', reader: gatherPrimitive, at: 1, by: 'fold' },
  unbounded: false,
  family,
  args: ['float', 'int', 'float'],
  accumulates: 0,
  codec: record({ axis: natural, batchDims: natural, mode: oneOf('max', 'min', 'mul') }),
  dtypes: ['number', 'i32', 'number'],
  shapeRule: updateShape('scatterReduce'),
  meaning: ([acc, indices, u], p, [out]) => {
    const fold = p.mode === 'mul' && acc!.dtype === 'i32' ? Math.imul : folds[p.mode]
    copyAll(out!.data, acc!.data)
    eachGathered(acc!.shape, indices!, p, (to, from) => {
      out!.data[to] = fold(out!.data[to]!, u!.data[from]!)
    })
  },
  samples: [
    ...modes.flatMap((mode) => updateSamples.map((s) => ({ ...s, params: { ...s.params, mode } }))),
    ...modes.map((mode) => ({
      args: [{ shape: [3], dtype: 'i32' as const, domain: [-4, 5] as const }, gatherCases[0]!.indices, { shape: slicesOf(gatherCases[0]!), dtype: 'i32' as const, domain: [-4, 5] as const }], // biome-ignore format: one row
      params: { axis: 0, batchDims: 0, mode },
    })),
    {
      args: [
        { shape: [2], values: [3, 5] },
        { shape: [4], dtype: 'i32', values: [0, 0, 0, -1] },
        { shape: [4], values: [2, 0, -1, 0] },
      ],
      params: { axis: 0, batchDims: 0, mode: 'mul' },
      note: 'a zero among them, and a place from behind',
    },
    {
      args: [
        { shape: [1], values: [3] },
        { shape: [3], dtype: 'i32', values: [0, 0, 0] },
        { shape: [3], values: [0, 2, 0] },
      ],
      params: { axis: 0, batchDims: 0, mode: 'mul' },
      note: 'two zeros',
    },
  ],
  showParams: (p) => `${p.mode} ${showGather(p)}`,
  source: 'NumPy maximum.at, minimum.at, multiply.at',
})
export const scatterReduceNode = (acc: Node, indices: Node, u: Node, p: FoldParams): Node =>
  apply(scatterReducePrimitive, [acc, indices, u], p)
