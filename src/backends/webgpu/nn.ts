/** The WebGPU facet of convolution and pooling: shaders of their own. */
import { raise } from '../../core/explain.js'
import { whole } from '../../core/facets.js'
import type { nn } from '../../core/ops/nn.js'
import { conv, convInput } from './conv.js'
import { convKernel } from './conv-kernel.js'
import { ofHalves, type WebGpuTable, type WholeShader } from './kernel.js'
import { avgPool, avgPoolInput, maxPool, poolGather, unpool } from './pool.js'

/** These shaders see memory as f32, or as f16 where it is stored so: a program of integers (the public functions make none) is refused, not misread. */
const floats = (make: WholeShader) =>
  whole<WholeShader>(
    ofHalves((kernel, operands, machine) =>
      kernel.results[0]!.dtype === 'f32'
        ? make(kernel, operands, machine)
        : raise({
            _tag: 'Unsupported',
            backend: 'webgpu',
            what: `${kernel.prim.name} of ${kernel.results[0]!.dtype}`,
            fix: "cast the argument to 'f32'.",
          }),
    ),
  )

/** One row per primitive of core/ops/nn.ts. */
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
