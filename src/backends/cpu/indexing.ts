/** The CPU facet of indexing: bound by memory, so plain loops over the memory itself. */
import { byMeaning, whole } from '../../core/extend/kernel-table.js'
import { itemBytes } from '../../core/graph/aval.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { indexing } from '../../core/ops/families.js'
import type { SearchParams } from '../../core/ops/indexing/along.js'
import type { WindowParams } from '../../core/ops/indexing/dynamic.js'
import type { GatherParams } from '../../core/ops/indexing/gather.js'
import type { AxisParams } from '../../core/ops/layout/join.js'
import { aroundAxis } from '../../core/ops/reduce.js'
import type { DType } from '../../core/types/dtype.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { type CpuTable, noElements, type WholeKernel } from './kernel.js'
import { addingAlong, addingRows } from './wasm/scatter.js'
import { emitSearch } from './wasm/search.js'
import { type Along, alongSizes, areLines, emitRows, emitTakeAlong, type Rows, rowSizes } from './wasm/take-along.js'
import { type WindowUse, windowKernel } from './wasm/windows.js'

const ADDRESSES = 'addresses come from data: bound by memory, and SIMD has no gather'

const arrays = (k: OpaqueKernel) => k.args as readonly [OpaqueKernel['args'][0], OpaqueKernel['args'][0]]
const rowsOf = (k: OpaqueKernel): Rows => {
  const [{ shape, dtype }, indices] = arrays(k)
  const { axis, batchDims } = k.params as GatherParams
  return {
    batches: sizeOf(shape.slice(0, batchDims)),
    outer: sizeOf(shape.slice(batchDims, axis)),
    size: shape[axis]!,
    count: sizeOf(indices.shape.slice(batchDims)),
    bytes: itemBytes[dtype] * sizeOf(shape.slice(axis + 1)),
  }
}
const alongOf = (k: OpaqueKernel): Along => {
  const [{ shape, dtype }, indices] = arrays(k)
  const { axis } = k.params as AxisParams
  return { ...aroundAxis(shape, axis), count: indices.shape[axis]!, bytes: itemBytes[dtype] }
}
const numberOf = (k: OpaqueKernel) => k.args[0]!.dtype as Exclude<DType, 'bool'>

/** Rows by indices, where there are results and indices: without these nothing is taken, and what is set is what was there. */
const rows = (use: 'take' | 'set') =>
  whole((k: OpaqueKernel) => {
    const of = rowsOf(k)
    if (of.batches * of.outer * of.size * of.count * of.bytes === 0) return noElements
    const kernel: WholeKernel = {
      emit: (module, name) => emitRows(module, of.bytes, use, name),
      scratchBytes: 0,
      shared: { code: `${use} rows ${of.bytes}`, sizes: rowSizes(of) },
    }
    return kernel
  })
const window = (use: WindowUse) =>
  whole((k: OpaqueKernel) => {
    const [{ shape, dtype }] = arrays(k)
    return windowKernel(use, dtype, shape, k.params as WindowParams)
  })

/** One row per primitive of the family `indexing`. */
export const indexingKernels: CpuTable<typeof indexing> = {
  gather: rows('take'),
  scatterAdd: whole((k: OpaqueKernel) => addingRows(numberOf(k), rowsOf(k))),
  setAt: rows('set'),
  scatterReduce: byMeaning(ADDRESSES),
  takeAlongAxis: whole((k: OpaqueKernel) => {
    const along = alongOf(k)
    if (sizeOf(k.results[0]!.shape) === 0) return noElements
    const of = { bytes: along.bytes, lines: areLines(along) }
    return {
      emit: (module, name) => emitTakeAlong(module, of, name),
      scratchBytes: 0,
      shared: { code: `takeAlong ${JSON.stringify(of)}`, sizes: alongSizes(along) },
    }
  }),
  scatterAddAlong: whole((k: OpaqueKernel) => addingAlong(numberOf(k), alongOf(k))),
  searchsorted: whole((k: OpaqueKernel) => {
    const [sorted, values] = arrays(k)
    const { side, batchDims } = k.params as SearchParams
    if (sorted.dtype === 'bool' || sorted.dtype !== values.dtype) return undefined
    const [batches, count] = [sorted.shape.slice(0, batchDims), values.shape.slice(batchDims)].map(sizeOf) as [number, number]
    if (batches * count === 0) return noElements
    const search = { size: sorted.shape[batchDims]!, type: sorted.dtype, side }
    return {
      emit: (module, name) => emitSearch(module, search, name),
      scratchBytes: 0,
      shared: { code: `searchsorted ${JSON.stringify(search)}`, sizes: [batches, count] },
    }
  }),
  dynamicSlice: window('read'),
  dynamicSliceAdd: window('add'),
  dynamicUpdateSlice: window('write'),
}
