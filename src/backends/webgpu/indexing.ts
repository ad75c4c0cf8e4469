/** The WebGPU facet of indexing: shaders that read at computed places (gather.ts) and that write there (scatter.ts). */
import { whole } from '../../core/extend/kernel-table.js'
import type { indexing } from '../../core/ops/families.js'
import {
  dynamicSliceAddShader,
  dynamicSliceShader,
  dynamicUpdateSliceShader,
  gatherShader,
  searchShader,
  takeAlongShader,
} from './gather.js'
import type { WebGpuTable } from './kernel.js'
import { scatterAddAlongShader, scatterAddShader, scatterReduceShader, setAtShader } from './scatter.js'

/** One row per primitive of the family `indexing`. */
export const indexingKernels: WebGpuTable<typeof indexing> = {
  gather: whole(gatherShader),
  scatterAdd: whole(scatterAddShader),
  setAt: whole(setAtShader),
  scatterReduce: whole(scatterReduceShader),
  takeAlongAxis: whole(takeAlongShader),
  scatterAddAlong: whole(scatterAddAlongShader),
  searchsorted: whole(searchShader),
  dynamicSlice: whole(dynamicSliceShader),
  dynamicSliceAdd: whole(dynamicSliceAddShader),
  dynamicUpdateSlice: whole(dynamicUpdateSliceShader),
}
