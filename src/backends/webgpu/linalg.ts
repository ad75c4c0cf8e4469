/** The WebGPU facet of linear algebra: shaders for small matrices, the CPU for larger ones. */
import { planned, whole } from '../../core/extend/kernel-table.js'
import type { linalg } from '../../core/ops/families.js'
import { eighShader, svdShader } from './eigen.js'
import { choleskyShader, luShader, qrShader, triangularShader } from './factorise.js'
import type { WebGpuTable } from './kernel.js'

/** One row per primitive of the family `linalg`. */
export const linalgKernels: WebGpuTable<typeof linalg> = {
  cholesky: whole(choleskyShader),
  triangularSolve: whole(triangularShader),
  lu: whole(luShader),
  qr: whole(qrShader),
  eigh: whole(eighShader),
  svd: whole(svdShader),
  solve: planned('written out'),
  det: planned('written out'),
  slogdet: planned('written out'),
  lstsq: planned('written out'),
}
