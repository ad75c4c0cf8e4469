/** The CPU facet of indexing: bound by memory, so plain loops over the memory itself. */
import { byMeaning } from '../../core/extend/kernel-table.js'
import type { indexing } from '../../core/ops/families.js'
import type { CpuTable } from './kernel.js'

const ADDRESSES = 'addresses come from data: bound by memory, and SIMD has no gather'
const WINDOW = 'rows are copied whole; where they lie is known only when it runs'

/** One row per primitive of the family `indexing`. */
export const indexingKernels: CpuTable<typeof indexing> = {
  iota: byMeaning('one write per element'),
  gather: byMeaning(ADDRESSES),
  scatterAdd: byMeaning(ADDRESSES),
  setAt: byMeaning(ADDRESSES),
  scatterReduce: byMeaning(ADDRESSES),
  takeAlongAxis: byMeaning(ADDRESSES),
  scatterAddAlong: byMeaning(ADDRESSES),
  searchsorted: byMeaning('a binary search for each value'),
  dynamicSlice: byMeaning(WINDOW),
  dynamicSliceAdd: byMeaning(WINDOW),
  dynamicUpdateSlice: byMeaning(WINDOW),
}
