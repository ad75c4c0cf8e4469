/** How the CPU's kernels are found: those of the base here, those of other families in the packs of their operations. */
import { Facets, inlined, kernelTable, type Planned } from '../../core/extend/kernel-table.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { arithmetic, compare, layout, positions, reduce } from '../../core/ops/families.js'
import { heldFamily } from '../../core/ops/held.js'
import { mapFamily } from '../../core/ops/map.js'
import { heldFacets, layoutFacets, mapFacets } from '../plan/facets.js'
import { arithmeticKernels } from './arithmetic.js'
import { compareKernels } from './compare.js'
import type { CpuKernelTable, CpuTable, Products, ScalarKernel, WholeKernelOf } from './kernel.js'
import { positionKernels } from './positions.js'
import { reduceKernels } from './reduce.js'

/** The families that every program may need. */
const families = { arithmetic, compare, layout, reduce, positions, map: mapFamily, held: heldFamily } as const
/** Their kernels. */
export const baseKernels: { readonly [F in keyof typeof families]: CpuTable<(typeof families)[F]> } = {
  arithmetic: /*#__PURE__*/ inlined(arithmeticKernels),
  compare: /*#__PURE__*/ inlined(compareKernels),
  layout: layoutFacets,
  reduce: reduceKernels,
  positions: positionKernels,
  map: mapFacets,
  held: heldFacets,
}

const base: CpuKernelTable = /*#__PURE__*/ kernelTable<keyof typeof families, ScalarKernel, WholeKernelOf>(families, baseKernels)

/** How a CPU backend finds its kernels. */
export type CpuFacets = Facets<ScalarKernel, WholeKernelOf>
/** The library's kernels, and those given to one backend; raises DuplicatePrimitive where one of ours is given another kernel. */
export const cpuFacets = (given?: CpuKernelTable): CpuFacets => new Facets('cpu', base, given, true)
/** Those without anything given. */
export const shippedFacets: CpuFacets = /*#__PURE__*/ cpuFacets()
/** What computes the products of a primitive. */
export const productsOf = (facets: CpuFacets, of: AnyPrimitive): Products => (facets.of(of) as Planned).by as Products
