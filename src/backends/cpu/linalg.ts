/** The CPU facet of linear algebra: what is mostly products has them of WebAssembly (driven.ts). */
import { byMeaning, planned, whole } from '../../core/extend/kernel-table.js'
import { choleskyRun, type Factorise, luRun, triangularRun } from '../../core/ops/factorisations.js'
import type { linalg } from '../../core/ops/families.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { CpuTable, WholeKernelOf } from './kernel.js'

/** A factorisation of its first argument. */
const driven = (run: Factorise<never>) =>
  whole<WholeKernelOf>((k: OpaqueKernel) => {
    const [rows, columns] = k.args[0]!.shape.slice(-2) as [number, number]
    const right = k.args[1]?.shape.at(-1) ?? columns
    return { drive: run, largest: [rows, Math.max(columns, right)] }
  })
const ROTATIONS = 'rotations and reflections depend on each other; plain loops over neighbours'

/** One row per primitive of the family `linalg`. */
export const linalgKernels: CpuTable<typeof linalg> = {
  cholesky: driven(choleskyRun),
  triangularSolve: driven(triangularRun),
  lu: driven(luRun),
  qr: byMeaning(ROTATIONS),
  eigh: byMeaning(ROTATIONS),
  svd: byMeaning(ROTATIONS),
  solve: planned('written out'),
  det: planned('written out'),
  slogdet: planned('written out'),
  lstsq: planned('written out'),
}
