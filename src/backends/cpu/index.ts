/** The CPU backend: plans run as WebAssembly SIMD kernels made at run time, or as plain JavaScript where there is no SIMD. */
import { itemBytes } from '../../core/aval.js'
import type { SyncBackend } from '../../core/backend.js'
import { raise } from '../../core/explain.js'
import type { KernelTable } from '../../core/facets.js'
import { flagOf, type Names, optionsOf } from '../../core/given.js'
import { Identities } from '../../core/identity.js'
import { lowerProgram } from '../../core/lowered.js'
import { KernelNames } from '../plan/body.js'
import { type CacheInfo, PlanCache } from '../plan/cache.js'
import { explainPlan } from '../plan/explain.js'
import { buildIr } from '../plan/ir.js'
import type { Pass } from '../plan/passes.js'
import { makePlan } from '../plan/plan.js'
import { verify } from '../plan/verify.js'
import { bytesOf, kernelsOf, sharedByOptions } from '../shared.js'
import { Arena, type CpuStats } from './arena.js'
import { CpuExecutable } from './executable.js'
import { cpuFacets } from './facets.js'
import { Kernels } from './kernels.js'
import { simd } from './wasm/features.js'

export type { CpuStats } from './arena.js'

/** Options of `cpu`. */
export interface CpuOptions {
  /** Largest memory in bytes (default and limit 4 GiB less one page). */
  readonly memoryBytes?: number
  /** false: plain JavaScript kernels. Default: SIMD where the engine has it. */
  readonly simd?: boolean
  /** Show of every plan, before it runs, that it computes what its program says (default: off). Slow: every element is looked at. */
  readonly verify?: boolean
  /** Bytes that cached plans may take (default 256 MiB). */
  readonly cacheBytes?: number
  /** Kernels of primitives of your own: `definePlugin(...).kernels.cpu`. */
  readonly kernels?: KernelTable
}

/** The CPU backend, with figures of its plan cache and its allocator. */
export interface CpuBackend extends SyncBackend {
  readonly cache: () => CacheInfo
  readonly clearCache: () => void
  /** Bytes of memory taken from the engine so far; never shrinks. */
  readonly memoryBytes: () => number
  /** Kernels installed so far. */
  readonly kernels: () => number
  /** What was allocated, called and copied so far; a snapshot. */
  readonly stats: () => CpuStats
}

const cpuOptions: Names<CpuOptions> = { memoryBytes: true, simd: true, verify: true, cacheBytes: true, kernels: true }
const MAX_BYTES = 65535 * 65536

const now = (): number => performance.now()

/** A new CPU backend (see cpu for the shared one), whose plans are made without some optimisations: tests find the one that is wrong so. */
export const makeCpu = (options: CpuOptions & { readonly without?: readonly Pass[] } = {}): CpuBackend => {
  const maxBytes = Math.min(options.memoryBytes ?? MAX_BYTES, MAX_BYTES)
  const vector = options.simd ?? simd()
  if (vector && !simd())
    raise({ _tag: 'Unsupported', backend: 'cpu', what: 'this engine has no WebAssembly SIMD', fix: 'cpu({ simd: false })' })
  const name = 'cpu'
  const arena = new Arena(maxBytes)
  const facets = cpuFacets(options.kernels)
  const kernels = new Kernels(arena, vector, facets)
  const cache = new PlanCache(options.cacheBytes ?? 2 ** 28)
  const ids = new Identities()
  const names = new KernelNames(ids)
  const without = new Set(options.without)
  const limits = { without, nodes: 512, buffers: 32, dtypes: ['f64', 'f32', 'i32', 'bool'], memoryBytes: maxBytes }
  return {
    kind: 'sync',
    name,
    prepare: (given) => {
      const t = now()
      const program = lowerProgram(given, facets.lowerings)
      const ir = buildIr(program, ids, without)
      const { plan, cached } = cache.get(ir.key, () => makePlan(ir, limits, names))
      verify({ program, ir, plan, itemBytes }, ids, options.verify === true)
      if (plan.arenaBytes > maxBytes) raise({ _tag: 'OutOfMemory', backend: name, neededBytes: plan.arenaBytes, limitBytes: maxBytes })
      const installed = kernels.install(plan)
      const planMs = now() - t
      return new CpuExecutable(program, ir, plan, installed, arena, () => explainPlan({ backend: name, program, ir, plan, planMs, cached }))
    },
    cache: () => cache.info(),
    clearCache: () => cache.clear(),
    memoryBytes: () => arena.buffer.byteLength,
    kernels: () => kernels.size,
    stats: () => ({ ...arena.stats }),
  }
}

const shared = /*#__PURE__*/ sharedByOptions<CpuOptions, CpuBackend>(makeCpu)
/**
 * The CPU backend; equal options give the same one, so that two compiled functions share plans and memory. Kernels are equal by identity:
 * what was planned with one table is never run with another.
 *
 * Errors  MissingKernel where a program has a primitive of your own without a kernel; DuplicatePrimitive for another kernel of one of ours.
 * @example compile((x) => sum(mul(x, x)), cpu({ simd: false }))([1, 2])   // 5
 */
export const cpu = (given?: CpuOptions): CpuBackend => {
  const options = optionsOf(given, cpuOptions, 'cpu')
  const { memoryBytes, simd: vector, verify, cacheBytes, kernels } = options
  bytesOf(memoryBytes, 'memoryBytes', 'cpu')
  bytesOf(cacheBytes, 'cacheBytes', 'cpu')
  flagOf(vector, 'simd', 'cpu')
  flagOf(verify, 'verify', 'cpu')
  kernelsOf(kernels, 'cpu')
  return shared(options)
}
