/** The CPU facet of matrix products: the planner makes them products of strided matrices, wasm/gemm.ts computes those. */
import { planned } from '../../core/facets.js'
import type { contract } from '../../core/ops/contract.js'
import type { CpuTable } from './kernel.js'

/** One row per primitive of core/ops/contract.ts. */
export const contractKernels: CpuTable<typeof contract> = {
  matmul: planned('gemm', 'integers have no product kernel'),
  matmulAdd: planned('gemm', 'integers have no product kernel'),
}
