/** The one table of WebGPU's kernels: every family, by primitive. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { Facets, inline, inlined, type KernelTable, kernelTable } from '../../core/extend/kernel-table.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { families } from '../../core/ops/families.js'
import { plannedFamilies } from '../plan/facets.js'
import { bitwiseKernels } from './bitwise.js'
import { compareKernels } from './compare.js'
import { contractKernels } from './contract.js'
import { elementwiseKernels } from './elementwise.js'
import { fourierKernels } from './fourier.js'
import { indexingKernels } from './indexing.js'
import type { WebGpuKernelTable, WebGpuTable, WgslScalar, WholeShader } from './kernel.js'
import { linalgKernels } from './linalg.js'
import { nnKernels } from './nn.js'
import { positionKernels } from './positions.js'
import { reduceKernels } from './reduce.js'
import { scanKernels } from './scans.js'
import { specialKernels } from './special.js'

/** Facets by family: each file has the rows of one. */
const webgpuFamilies: { readonly [F in keyof typeof families]: WebGpuTable<(typeof families)[F]> } = {
  ...plannedFamilies,
  elementwise: inlined(elementwiseKernels),
  special: specialKernels,
  compare: inlined(compareKernels),
  bitwise: inlined(bitwiseKernels),
  reduce: reduceKernels,
  positions: positionKernels,
  scans: scanKernels,
  indexing: indexingKernels,
  contract: contractKernels,
  linalg: linalgKernels,
  fourier: fourierKernels,
  nn: nnKernels,
}

const shipped: WebGpuKernelTable = /*#__PURE__*/ kernelTable<keyof typeof families, WgslScalar, WholeShader>(families, webgpuFamilies)

/** How a WebGPU backend finds its kernels. */
export type WebGpuFacets = Facets<WgslScalar, WholeShader>
/** A user's inline code, named in the shader by its primitive, so that what a driver says of that line says whose it is. */
const named =
  (primitive: AnyPrimitive, code: WgslScalar): WgslScalar =>
  (at) => {
    const text: unknown = code(at)
    const bad = (reason: string, fix: string): never => badInput(`the webgpu kernel of ${primitive.name}`, reason, fix)
    if (typeof text !== 'string' || text.trim() === '')
      return bad(`its inline code gave ${shown(text)}.`, `give an expression of WGSL as a text: inline(({ x }) => '2.0 * ' + x[0]).`)
    if (/\b(undefined|NaN|\[object \w+\])/.test(text))
      return bad(
        `it is \`${text}\`, made of something that is not there.`,
        `it has ${at.x.length} argument${at.x.length === 1 ? '' : 's'}, x[0]${at.x.length > 1 ? ` to x[${at.x.length - 1}]` : ''}, and the parameters of the primitive.`,
      )
    return `/* ${primitive.name.replace(/[^\w$.-]/g, '_')} */ ${text}`
  }

/** The shipped kernels, and those given to one backend; raises DuplicatePrimitive where one of ours is given another kernel. */
export const webgpuFacets = (given?: KernelTable<unknown, unknown>): WebGpuFacets =>
  new Facets(
    'webgpu',
    shipped,
    new Map(
      [...((given ?? new Map()) as WebGpuKernelTable)].map(([p, facet]) => [
        p,
        facet.kind === 'inline' ? inline(named(p, facet.code)) : facet,
      ]),
    ),
  )
