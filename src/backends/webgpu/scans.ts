/** The WebGPU facet of scans and sorting. */
import { planned, whole } from '../../core/extend/kernel-table.js'
import type { scans } from '../../core/ops/families.js'
import type { WebGpuTable } from './kernel.js'
import { cummaxShader, cumminShader, cumprodShader, cumsumShader, recurrenceShader } from './scan.js'
import { sortShader } from './sort.js'

/** One row per primitive of the family `scans`. */
export const scanKernels: WebGpuTable<typeof scans> = {
  prod: planned('fold'),
  cumsum: whole(cumsumShader),
  cumprod: whole(cumprodShader),
  cummax: whole(cummaxShader),
  cummin: whole(cumminShader),
  linearRecurrence: whole(recurrenceShader),
  sort: whole(sortShader),
}
