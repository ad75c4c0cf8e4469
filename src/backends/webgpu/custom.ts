/** The WebGPU facet of functions with rules of their own: only what they compute is planned. */
import { planned } from '../../core/facets.js'
import type { customFamily } from '../../core/ops/custom.js'
import type { WebGpuTable } from './kernel.js'

/** One row per primitive of core/ops/custom.ts. */
export const customKernels: WebGpuTable<typeof customFamily> = {
  customRule: planned('written out'),
}
