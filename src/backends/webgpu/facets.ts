/** The one table of WebGPU's kernels: every family, by primitive. */
import { Facets, inlined, type KernelTable, kernelTable } from '../../core/extend/kernel-table.js'
import { families } from '../../core/ops/families.js'
import { plannedFamilies } from '../plan/facets.js'
import { compareKernels } from './compare.js'
import { contractKernels } from './contract.js'
import { elementwiseKernels } from './elementwise.js'
import { indexingKernels } from './indexing.js'
import type { WebGpuKernelTable, WebGpuTable, WgslScalar, WholeShader } from './kernel.js'
import { nnKernels } from './nn.js'
import { reduceKernels } from './reduce.js'
import { scanKernels } from './scans.js'

/** Facets by family: each file has the rows of one. */
const webgpuFamilies: { readonly [F in keyof typeof families]: WebGpuTable<(typeof families)[F]> } = {
  ...plannedFamilies,
  elementwise: inlined(elementwiseKernels),
  compare: inlined(compareKernels),
  reduce: reduceKernels,
  scans: scanKernels,
  indexing: indexingKernels,
  contract: contractKernels,
  nn: nnKernels,
}

const shipped: WebGpuKernelTable = /*#__PURE__*/ kernelTable<keyof typeof families, WgslScalar, WholeShader>(families, webgpuFamilies)

/** How a WebGPU backend finds its kernels. */
export type WebGpuFacets = Facets<WgslScalar, WholeShader>
/** The shipped kernels, and those given to one backend; raises DuplicatePrimitive where one of ours is given another kernel. */
export const webgpuFacets = (given?: KernelTable<unknown, unknown>): WebGpuFacets =>
  new Facets('webgpu', shipped, given as WebGpuKernelTable | undefined)
