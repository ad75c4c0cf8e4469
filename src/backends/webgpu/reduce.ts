/** The WebGPU facet of the reduce family: folds are part of the planner's loops. */
import { planned, whole } from '../../core/extend/kernel-table.js'
import type { reduce } from '../../core/ops/families.js'
import { argmaxShader, argminShader } from './arg.js'
import type { WebGpuTable } from './kernel.js'

/** One row per primitive of the family `reduce`. */
export const reduceKernels: WebGpuTable<typeof reduce> = {
  sum: planned('fold'),
  max: planned('fold'),
  min: planned('fold'),
  argmax: whole(argmaxShader),
  argmin: whole(argminShader),
}
