/** The WebGPU facet of linear algebra. */
import { byMeaning, planned } from '../../core/extend/kernel-table.js'
import type { linalg } from '../../core/ops/families.js'
import type { WebGpuTable } from './kernel.js'

/** One row per primitive of the family `linalg`. */
export const linalgKernels: WebGpuTable<typeof linalg> = {
  cholesky: byMeaning('rows depend on each other'),
  triangularSolve: byMeaning('rows depend on each other'),
  lu: byMeaning('rows depend on each other'),
  qr: byMeaning('reflections depend on each other'),
  eigh: byMeaning('rotations depend on each other'),
  svd: byMeaning('rotations depend on each other'),
  solve: planned('written out'),
  det: planned('written out'),
  slogdet: planned('written out'),
  lstsq: planned('written out'),
}
