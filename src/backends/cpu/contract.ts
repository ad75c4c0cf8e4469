/** The CPU facet of matrix products: the planner makes those of floats products of strided matrices (wasm/gemm.ts), of integers loops that fold. */
import { planned } from '../../core/extend/kernel-table.js'
import type { contract } from '../../core/ops/families.js'
import type { CpuTable } from './kernel.js'
import { products } from './products.js'

/** One row per primitive of the family `contract`. */
export const contractKernels: CpuTable<typeof contract> = {
  matmul: planned('gemm', undefined, products),
  matmulAdd: planned('gemm', undefined, products),
}
