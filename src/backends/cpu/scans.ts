/** The CPU facet of scans and sorting: each element waits for the one before, so plain loops are no slower than vectors of one lane. */
import { byMeaning } from '../../core/extend/kernel-table.js'
import type { scans } from '../../core/ops/families.js'
import type { CpuTable } from './kernel.js'

const CHAIN = 'a chain of dependent operations along the axis'

/** One row per primitive of the family `scans`. */
export const scanKernels: CpuTable<typeof scans> = {
  cumsum: byMeaning(CHAIN),
  cumprod: byMeaning(CHAIN),
  cummax: byMeaning(CHAIN),
  cummin: byMeaning(CHAIN),
  linearRecurrence: byMeaning(CHAIN),
  sort: byMeaning('the engine sorts'),
}
