/** The CPU facet of indexing: bound by memory, so plain loops over the memory itself. */
import { byMeaning, whole } from '../../core/extend/kernel-table.js'
import { itemBytes } from '../../core/graph/aval.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { indexing } from '../../core/ops/families.js'
import type { GatherParams } from '../../core/ops/indexing-gather.js'
import type { AxisParams } from '../../core/ops/layout-join.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { CpuTable } from './kernel.js'
import { emitGather, emitTakeAlong } from './wasm/take-along.js'

const ADDRESSES = 'addresses come from data: bound by memory, and SIMD has no gather'
const WINDOW = 'rows are copied whole; where they lie is known only when it runs'

/** One row per primitive of the family `indexing`. */
export const indexingKernels: CpuTable<typeof indexing> = {
  iota: byMeaning('one write per element'),
  gather: whole((k: OpaqueKernel) => {
    const [{ shape, dtype }, indices] = k.args as readonly [OpaqueKernel['args'][0], OpaqueKernel['args'][0]]
    const { axis, batchDims } = k.params as GatherParams
    const rows = {
      batches: sizeOf(shape.slice(0, batchDims)),
      outer: sizeOf(shape.slice(batchDims, axis)),
      size: shape[axis]!,
      count: sizeOf(indices.shape.slice(batchDims)),
      bytes: itemBytes[dtype] * sizeOf(shape.slice(axis + 1)),
    }
    return { emit: (module, name) => emitGather(module, rows, name), scratchBytes: 0 }
  }),
  scatterAdd: byMeaning(ADDRESSES),
  setAt: byMeaning(ADDRESSES),
  scatterReduce: byMeaning(ADDRESSES),
  takeAlongAxis: whole((k: OpaqueKernel) => {
    const [{ shape, dtype }, indices] = k.args as readonly [OpaqueKernel['args'][0], OpaqueKernel['args'][0]]
    const { axis } = k.params as AxisParams
    const along = { ...aroundAxis(shape, axis), count: indices.shape[axis]!, bytes: itemBytes[dtype] }
    return { emit: (module, name) => emitTakeAlong(module, along, name), scratchBytes: 0 }
  }),
  scatterAddAlong: byMeaning(ADDRESSES),
  searchsorted: byMeaning('a binary search for each value'),
  dynamicSlice: byMeaning(WINDOW),
  dynamicSliceAdd: byMeaning(WINDOW),
  dynamicUpdateSlice: byMeaning(WINDOW),
}
