/** The CPU facet of linear algebra. */
import { byMeaning, planned } from '../../core/extend/kernel-table.js'
import type { linalg } from '../../core/ops/families.js'
import type { CpuTable } from './kernel.js'

/** One row per primitive of the family `linalg`. */
export const linalgKernels: CpuTable<typeof linalg> = {
  cholesky: byMeaning('halves of matrices; plain loops in the smallest'),
  triangularSolve: byMeaning('halves of matrices; plain loops in the smallest'),
  lu: byMeaning('halves of matrices; plain loops in the smallest'),
  qr: byMeaning('reflections depend on each other; plain loops over neighbours'),
  eigh: byMeaning('rotations depend on each other; plain loops over neighbours'),
  svd: byMeaning('rotations depend on each other; plain loops over neighbours'),
  solve: planned('written out'),
  det: planned('written out'),
  slogdet: planned('written out'),
  lstsq: planned('written out'),
}
