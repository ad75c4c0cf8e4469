/** The WebGPU facet of the layout family: the planner's views and copies, no kernel of its own. */
import { planned } from '../../core/facets.js'
import type { layout } from '../../core/ops/layout.js'
import type { WebGpuTable } from './kernel.js'

/** One row per primitive of core/ops/layout.ts. */
export const layoutKernels: WebGpuTable<typeof layout> = {
  broadcastTo: planned('view'),
  reshape: planned('view'),
  transpose: planned('view'),
  slice: planned('view'),
  sliceAdd: planned('in place'),
  pad: planned('copy'),
  concat: planned('copy'),
  split: planned('view'),
}
