/** The WebGPU facet of convolution and pooling: shaders of their own. */
import { whole } from '../../core/extend/kernel-table.js'
import type { nn } from '../../core/ops/families.js'
import { conv, convInput } from './conv.js'
import { convKernel } from './conv-kernel.js'
import { acceptsF16, type WebGpuTable, type WholeShader } from './kernel.js'
import { avgPool, avgPoolInput, maxPool, poolGather, unpool } from './pool.js'

/** A shader that sees memory as f32, or as f16 where it is stored so. */
const floats = (make: WholeShader) => whole<WholeShader>(acceptsF16(make))

/** One row per primitive of the family `nn`. */
export const nnKernels: WebGpuTable<typeof nn> = {
  conv: floats(conv),
  convInput: floats(convInput),
  convKernel: floats(convKernel),
  convInputAdd: floats(convInput),
  convKernelAdd: floats(convKernel),
  maxPool: floats(maxPool),
  unpool: floats(unpool),
  poolGather: floats(poolGather),
  avgPool: floats(avgPool),
  avgPoolInput: floats(avgPoolInput),
}
