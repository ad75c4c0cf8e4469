/** The CPU backend: plans run as WebAssembly SIMD kernels made at run time, or as plain JavaScript where there is no SIMD. */

import { raise } from '../../core/errors/explain.js'
import { flag, type Kind, maybe, type OptionsOf, or, readOptions, refused } from '../../core/errors/options.js'
import { lowerProgram } from '../../core/extend/decompose.js'
import type { KernelTable } from '../../core/extend/kernel-table.js'
import type { SyncBackend } from '../../core/functions/backend.js'
import { Lru } from '../../core/functions/lru.js'
import { itemBytes } from '../../core/graph/aval.js'
import { Identities } from '../../core/graph/identity.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { Program } from '../../core/graph/program.js'
import { KernelNames, type Tile } from '../plan/body.js'
import { CACHE_BYTES, type CacheInfo, PlanCache, planBytes } from '../plan/cache.js'
import { explainPlan } from '../plan/explain.js'
import { buildIr, type Ir } from '../plan/ir.js'
import type { ProductFormOf } from '../plan/kernel.js'
import type { Pass } from '../plan/passes.js'
import { makePlan, type Plan } from '../plan/plan.js'
import { verify } from '../plan/verify.js'
import { bytes, kernelsOption, sharedByOptions } from '../shared.js'
import { Arena, type CpuStats } from './arena.js'
import { Engine } from './engine.js'
import { type Awake, CpuExecutable } from './executable.js'
import { cpuFacets, productsOf } from './facets.js'
import { type Image, layOut } from './image.js'
import { keptIn } from './kept.js'
import type { Blas, BlasInside, Products, Threads, ThreadsInside } from './kernel.js'
import { type Installed, Kernels } from './kernels.js'
import { LaidOut } from './laid-out.js'
import { noSimd, relaxedSimd } from './wasm/features.js'

export type { CpuStats } from './arena.js'

const relaxedOption = or<'auto' | boolean, 'auto'>('auto', (given, what, where) =>
  given === 'auto' || typeof given === 'boolean' ? given : refused(given, what, where, "give 'auto', true or false."),
)
/** What `cpu` takes beside kernels. */
export const plainOptions = {
  /** Largest memory in bytes (default and limit 4 GiB less one page). */
  memoryBytes: bytes,
  /** false: plain JavaScript kernels. Default: SIMD where the engine has it. */
  simd: maybe,
  /**
   * Multiply and add in one step in products and convolutions: faster, and rounded once, so that last bits differ from those of engines without the instruction (Node 22 and browsers of today have it,
   * Node 20 does not). 'auto' (the default): where it is there. false: never, for the same bits on all engines. true: an error where it is not there.
   */
  relaxed: relaxedOption,
  /** Show of every plan, before it runs, that it computes what its program says (default: off). Slow: every element is looked at. */
  verify: flag(),
  /** Fill a program's memory with NaN before each run, so that a test sees what is read before it is written (default: off). */
  poison: flag(),
  /**
   * Bytes that cached plans and their code may take (default 16 MiB). What compiled functions hold may take twice as much: beyond that, the one that was not called for the
   * longest time is planned again at its next call.
   */
  cacheBytes: bytes,
}
export const cpuOptions: typeof plainOptions & {
  readonly kernels: Kind<KernelTable | undefined, KernelTable>
  readonly blas: Kind<Blas | undefined, Blas>
  readonly threads: Kind<Threads | undefined, Threads>
} = {
  ...plainOptions,
  kernels: kernelsOption(),
  blas: or<Blas, undefined>(undefined, (given, what, where) =>
    typeof given === 'object' && given !== null && 'over' in given
      ? (given as unknown as Blas)
      : refused(given, what, where, "give blas() of 'codual/blas'."),
  ),
  threads: or<Threads, undefined>(undefined, (given, what, where) =>
    typeof given === 'object' && given !== null && 'crew' in given
      ? (given as unknown as Threads)
      : refused(given, what, where, "give threads() of 'codual/threads'."),
  ),
}
/** Options of `cpu`. */
export interface CpuOptions extends OptionsOf<typeof plainOptions> {
  /** A system library for products and factorisations: `blas()` of `codual/blas`. */
  readonly blas?: Blas | undefined
  /** Threads that share the work of large programs: `threads()` of `codual/threads`. */
  readonly threads?: Threads | undefined
  /** Kernels of primitives of your own: `definePlugin(...).kernels.cpu`. */
  readonly kernels?: KernelTable | undefined
}

/** The CPU backend, with figures of its plan cache and its allocator. */
export interface CpuBackend extends SyncBackend {
  readonly cache: () => CacheInfo
  /** Forgets all plans, their code, and by what it knew them. Compiled functions keep theirs. */
  readonly clearCache: () => void
  /** Bytes of memory taken from the engine so far; never shrinks. */
  readonly memoryBytes: () => number
  /** Kernels that exist now: of cached plans and of compiled functions. */
  readonly kernels: () => number
  /** What was allocated, called and copied so far; a snapshot. */
  readonly stats: () => CpuStats
  /** Ends its threads, where it has some. Others begin with the next program that has work for them. */
  readonly endThreads: () => void
}

/** A tile of f32 or f64 takes 16 lines of memory; loops that a cache holds need none. */
const TILE: Tile = { side: 16, from: 2 ** 14, aligned: 512, narrow: 16, long: 64, turned: 16 }
const MAX_BYTES = 65535 * 65536
const NAME = 'cpu'

const now = (): number => performance.now()

/** A plan, what runs it, and what all programs that have it are in memory, but for their literals. */
interface Ready {
  readonly plan: Plan
  readonly installed: readonly Installed[]
  readonly image: Image
}
/** What a program that may still run is laid out as. */
interface Pin {
  laidOut: LaidOut
}
/** What is laid out for compiled functions may take as many bytes as cached plans; so many of the last ones stay however large they are. */
const LEAST_AWAKE = 64
/** Bytes of an entry of a Map with a short text for its key, about. */
const ENTRY_BYTES = 192

/** WebAssembly where the engine has SIMD and nobody refused it; without it, why all kernels are JavaScript where nobody asked for that. */
const engineOf = (
  { simd, relaxed = 'auto', threads }: Pick<CpuOptions, 'simd' | 'relaxed' | 'threads'>,
  maxBytes: number,
): { readonly engine: Engine | undefined; readonly fallback?: string } => {
  if (relaxed === true && (simd === false || !relaxedSimd()))
    raise({
      _tag: 'Unsupported',
      backend: 'cpu',
      what: 'there is no relaxed SIMD here',
      fix: "cpu({ relaxed: 'auto' })",
    })
  if (simd === false) return { engine: undefined }
  const lacking = noSimd()
  if (lacking === undefined)
    return { engine: new Engine(relaxed !== false && relaxedSimd(), maxBytes, (threads as ThreadsInside | undefined)?.crew?.()) }
  if (simd === true) raise({ _tag: 'Unsupported', backend: 'cpu', what: lacking, fix: 'cpu({ simd: false })' })
  return { engine: undefined, fallback: `kernels in plain JavaScript: ${lacking}.` }
}
let told = false
/** Says once, when a program is planned, why all programs of this process are slower than they could be. */
const tell = (fallback: string | undefined): void => {
  if (fallback === undefined || told) return
  told = true
  console.warn(
    `codual: ${fallback} They are slower, and the same otherwise. A page allows WebAssembly by 'wasm-unsafe-eval' among the script-src of its policy; cpu({ simd: false }) asks for JavaScript, without this word.`,
  )
}

/** What `explain()` says of threads. */
const threadsText = ({ count, reason }: Threads, engine: Engine | undefined, shared: number): string => {
  if (engine === undefined) return 'none: there is no WebAssembly'
  return reason === undefined ? `${count}, which share ${shared} ${shared === 1 ? 'step' : 'steps'}` : `none: ${reason}`
}

/** A new CPU backend (see cpu for the shared one), whose plans are made without some optimisations: tests find the one that is wrong so. */
export const makeCpu = (options: CpuInside = {}): CpuBackend => {
  let opened: CpuBackend | undefined
  const open = (): CpuBackend => {
    opened ??= openCpu(options)
    return opened
  }
  // What is asked for and may not be there is looked for now; else a process that runs nothing asks the engine for nothing.
  if (options.simd === true || options.relaxed === true) open()
  return {
    kind: 'sync',
    name: NAME,
    prepare: (program) => open().prepare(program),
    keep: (array) => open().keep!(array),
    cache: () => open().cache(),
    clearCache: () => opened?.clearCache(),
    memoryBytes: () => open().memoryBytes(),
    kernels: () => opened?.kernels() ?? 0,
    stats: () => open().stats(),
    endThreads: () => opened?.endThreads(),
  }
}
const formsOf =
  ({ formOf }: Products, eager: CpuInside['eager']): ProductFormOf =>
  (dtype, sizes, a, b, c) =>
    formOf(dtype, sizes, a, b, c, eager?.(sizes))
interface CpuInside extends CpuOptions {
  readonly without?: readonly Pass[]
  readonly tile?: Tile
  readonly chunk?: number
  /** Of which sizes products have the forms of few rows and columns although these do not pay. */
  readonly eager?: (sizes: readonly number[]) => boolean
}
// long: the state of one backend, and the functions that share it
const openCpu = (options: CpuInside): CpuBackend => {
  const maxBytes = Math.min(options.memoryBytes ?? MAX_BYTES, MAX_BYTES)
  const { engine, fallback } = engineOf(options, maxBytes)
  const arena = new Arena(maxBytes, engine)
  const facets = cpuFacets(options.kernels)
  const blas = options.blas as BlasInside | undefined
  const kernels = new Kernels(arena, facets, engine && blas?.over?.(engine.memory), options.chunk)
  const cacheBytes = options.cacheBytes ?? CACHE_BYTES / 2
  const cache = new PlanCache<Ready>(
    cacheBytes,
    (r) => planBytes(r.plan) + 4 * r.image.words.length,
    (r) => kernels.release(r.installed, 'cached'),
    () => kernels.cachedBytes,
  )
  // What keys are made of: equal keys mean equal plans as long as these live, so all is forgotten together.
  let ids = new Identities()
  let names = new KernelNames(ids)
  let preparing = 0
  let due = false
  /** Not while a program is being prepared: rules and lowerings of a user's may ask for it, and keys that were made would mean other things. */
  const clear = (): void => {
    due = preparing > 0
    if (due) return
    cache.clear()
    kernels.clear()
    ids = new Identities()
    names = new KernelNames(ids)
  }
  // What compiled functions run as, the least recently used first out: a function that was dropped is laid out again when it is called.
  const awake = new Lru<LaidOut, LaidOut>(cacheBytes, (x) => x.dispose(), LEAST_AWAKE)
  const crowded = cacheBytes / 2
  // Compiled functions that nobody disposed: the engine says when they are gone, between two turns of the event loop.
  const forgotten = new FinalizationRegistry<Pin>((pin) => awake.delete(pin.laidOut))
  const without = new Set(options.without)
  const limits = {
    without,
    nodes: 512,
    buffers: 32,
    tile: options.tile ?? TILE,
    productForm: (of: AnyPrimitive) => formsOf(productsOf(facets, of), options.eager),
  }
  const planned = (ir: Ir): { readonly made: Ready; readonly cached: boolean } =>
    cache.get(ir.key, () => {
      const plan = makePlan(ir, limits, names)
      if (plan.arenaBytes > maxBytes) raise({ _tag: 'OutOfMemory', backend: NAME, neededBytes: plan.arenaBytes, limitBytes: maxBytes })
      const installed = kernels.install(plan, 'cached')
      return { plan, installed, image: layOut(plan, installed, ir, engine) }
    })
  /** Plans a program and lays it out. */
  const laidOut = (program: Program) => {
    const t = now()
    const ir = buildIr(program, ids, without)
    const { made, cached } = planned(ir)
    const { plan, installed, image } = made
    const verified = verify({ program, ir, plan, itemBytes }, ids, options.verify === true)
    const release = (): void => kernels.release(installed, 'live')
    const laid = new LaidOut({ program, ir, plan, installed, image, poison: options.poison === true, release }, arena)
    kernels.hold(installed, 'live')
    if (image.shared > 0) engine!.crew!.begin()
    awake.add(laid, laid, laid.bytes + kernels.shareOf(installed))
    const state: Awake = { laidOut: laid, captured: ir.captured.map((c) => c.tensor) }
    return { awake: state, figures: { planMs: now() - t, cached }, verified, shared: image.shared }
  }
  const prepared = (given: Program): CpuExecutable => {
    tell(fallback)
    const program = lowerProgram(given, facets.lowerings)
    const first = laidOut(program)
    const { figures, verified, shared } = first
    const pin: Pin = { laidOut: first.awake.laidOut }
    const executable = new CpuExecutable(first.awake, {
      wake: () => {
        const again = whilePreparing(() => laidOut(program)).awake
        pin.laidOut = again.laidOut
        return again
      },
      use: (x) => {
        // Far from the bound nobody is dropped, and the order is not needed.
        if (awake.bytes > crowded) awake.get(x)
      },
      drop: (x) => {
        forgotten.unregister(pin)
        awake.delete(x)
      },
      explain: (plan) => {
        const ir = buildIr(program, ids, without)
        return {
          ...explainPlan({ backend: NAME, program, ir, plan, ...figures }),
          ...(fallback !== undefined && { fallback }),
          ...(blas !== undefined && {
            blas: engine === undefined ? 'none: there is no WebAssembly' : (blas.library ?? `none: ${blas.reason}`),
          }),
          ...(options.threads !== undefined && { threads: threadsText(options.threads, engine, shared) }),
          ...(options.verify === true && verified !== undefined && { verified }),
        }
      },
    })
    forgotten.register(executable, pin, pin)
    return executable
  }
  const whilePreparing = <A>(make: () => A): A => {
    if (ENTRY_BYTES * ids.size + kernels.namedBytes > Math.max(cacheBytes / 8, 2 ** 20)) clear()
    preparing++
    try {
      return make()
    } finally {
      if (--preparing === 0 && due) clear()
    }
  }
  return {
    kind: 'sync',
    name: NAME,
    prepare: (given) => whilePreparing(() => prepared(given)),
    keep: (array) => keptIn(arena, array),
    cache: () => cache.info(),
    clearCache: clear,
    memoryBytes: () => arena.buffer.byteLength,
    kernels: () => kernels.size,
    stats: () => ({ ...arena.stats }),
    endThreads: () => engine?.crew?.dispose(),
  }
}

const shared = /*#__PURE__*/ sharedByOptions<CpuOptions, CpuBackend>(makeCpu)
/**
 * The CPU backend. Equal options give the same backend, so that compiled functions share plans and memory. Kernels are compared by
 * identity: a plan made with one table never runs with another.
 *
 * Errors  MissingKernel if a program has a primitive of your own without a kernel; DuplicatePrimitive for a second kernel of a shipped
 *         primitive.
 * @example compile((x) => sum(mul(x, x)), cpu({ simd: false }))([1, 2])   // 5
 */
export const cpu = (given?: CpuOptions): CpuBackend => shared(readOptions(cpuOptions, given, 'cpu'))
