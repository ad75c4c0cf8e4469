/** The WebGPU facet of map: its scalar program is the body of a loop, fused with its neighbours or alone. */
import { planned } from '../../core/facets.js'
import type { mapFamily } from '../../core/ops/map.js'
import type { WebGpuTable } from './kernel.js'

/** One row per primitive of core/ops/map.ts. */
export const mapKernels: WebGpuTable<typeof mapFamily> = {
  map: planned('loop'),
}
