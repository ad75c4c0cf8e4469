/** The one table of the CPU's kernels: every family, by primitive. */
import { Facets, inlined, kernelTable } from '../../core/extend/kernel-table.js'
import { families } from '../../core/ops/families.js'
import { plannedFamilies } from '../plan/facets.js'
import { bitwiseKernels } from './bitwise.js'
import { compareKernels } from './compare.js'
import { contractKernels } from './contract.js'
import { elementwiseKernels } from './elementwise.js'
import { indexingKernels } from './indexing.js'
import type { CpuKernelTable, CpuTable, ScalarKernel, WholeKernelOf } from './kernel.js'
import { linalgKernels } from './linalg.js'
import { nnKernels } from './nn.js'
import { reduceKernels } from './reduce.js'
import { scanKernels } from './scans.js'
import { specialKernels } from './special.js'

/** Facets by family: each file has the rows of one. */
export const cpuFamilies: { readonly [F in keyof typeof families]: CpuTable<(typeof families)[F]> } = {
  ...plannedFamilies,
  elementwise: inlined(elementwiseKernels),
  special: specialKernels,
  compare: inlined(compareKernels),
  bitwise: inlined(bitwiseKernels),
  reduce: reduceKernels,
  scans: scanKernels,
  indexing: indexingKernels,
  contract: contractKernels,
  linalg: linalgKernels,
  nn: nnKernels,
}

const shipped: CpuKernelTable = /*#__PURE__*/ kernelTable<keyof typeof families, ScalarKernel, WholeKernelOf>(families, cpuFamilies)

/** How a CPU backend finds its kernels. */
export type CpuFacets = Facets<ScalarKernel, WholeKernelOf>
/** The shipped kernels, and those given to one backend; raises DuplicatePrimitive where one of ours is given another kernel. */
export const cpuFacets = (given?: CpuKernelTable): CpuFacets => new Facets('cpu', shipped, given)
/** Those without anything given. */
export const shippedFacets: CpuFacets = /*#__PURE__*/ cpuFacets()
