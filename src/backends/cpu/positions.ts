/** The CPU facet of positions. */
import { byMeaning } from '../../core/extend/kernel-table.js'
import type { positions } from '../../core/ops/families.js'
import type { CpuTable } from './kernel.js'

/** One row per primitive of the family `positions`. */
export const positionKernels: CpuTable<typeof positions> = { iota: byMeaning('one write per element') }
