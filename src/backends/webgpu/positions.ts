/** The WebGPU facet of positions. */
import { whole } from '../../core/extend/kernel-table.js'
import type { positions } from '../../core/ops/families.js'
import { iotaShader } from './gather.js'
import type { WebGpuTable } from './kernel.js'

/** One row per primitive of the family `positions`. */
export const positionKernels: WebGpuTable<typeof positions> = { iota: whole(iotaShader) }
