/** The WebGPU backend: the same plans as WGSL compute shaders, in browsers and in Node. */

import { raise } from '../../core/errors/explain.js'
import { readOptions } from '../../core/errors/options.js'
import { lowerProgram } from '../../core/extend/decompose.js'
import type { AsyncBackend, Explanation } from '../../core/functions/backend.js'
import { capturedTensor } from '../../core/graph/expr.js'
import { Identities } from '../../core/graph/identity.js'
import type { Program } from '../../core/graph/program.js'
import { KernelNames } from '../plan/body.js'
import { CACHE_BYTES, type CacheInfo, PlanCache, planBytes } from '../plan/cache.js'
import { explainPlan } from '../plan/explain.js'
import { type Stored, storeAsF16, storedKey } from '../plan/f16-storage.js'
import { readWhereGiven } from '../plan/given.js'
import { buildIr } from '../plan/ir.js'
import type { Kernel } from '../plan/kernel.js'
import type { Without } from '../plan/passes.js'
import { makePlan, type Plan } from '../plan/plan.js'
import type { Ir } from '../plan/value.js'
import { type Verified, verify } from '../plan/verify.js'
import { sharedByOptions } from '../shared.js'
import { WebGpuArray } from './array.js'
import { type Opened, openDevice, type WebGpuOptions, webgpuOptions } from './device.js'
import { inWords, WebGpuExecutable } from './executable.js'
import { explainOnDevice } from './explain.js'
import { type WebGpuFacets, webgpuFacets } from './facets.js'
import type { Machine } from './kernel.js'
import { type Lowered, lowerPlan, takesF16 } from './lower.js'
import { Device, type DeviceStats, noStats } from './memory.js'

export type { WebGpuOptions } from './device.js'
export type { DeviceStats } from './memory.js'

/** The WebGPU backend, with figures of its plan cache and of its device. */
export interface WebGpuBackend extends AsyncBackend {
  readonly cache: () => CacheInfo
  /** Forgets all plans, their pipelines, and by what it knew them. Compiled functions keep theirs. */
  readonly clearCache: () => void
  /** What was asked of the device so far. */
  readonly stats: () => Readonly<DeviceStats>
  /** The adapter's name; opens the device. */
  readonly adapter: () => Promise<string>
  /** Frees the device's memory (and the device, where the backend opened it). The next call opens it again. */
  readonly dispose: () => void
}

/** Primitives, parameters and texts that are numbered before all is numbered anew. */
const IDS = 1 << 16

const f64Message = 'WGSL has no f64'

/** Every value of the program has a dtype that the device has. */
const checkDTypes = (ir: Ir): void => {
  for (const v of ir.values)
    if (v.dtype === 'f64')
      raise({
        _tag: 'Unsupported',
        backend: 'webgpu',
        what: `${f64Message}${v.prim === null ? '' : ` (${v.prim.name} f64 [${v.shape.join(', ')}])`}`,
        fix: 'declare inputs as f32 (f32(...), Float32Array or cast), or run on cpu().',
      })
}

/** Software adapters have few cores, and barriers are expensive there. */
const machineOf = (o: Opened, facets: WebGpuFacets): Machine => ({
  lanes: o.software ? 1 : 256,
  subgroups: o.subgroups,
  fill: o.software ? 64 : 1 << 16,
  scalar: (p) => facets.scalar(p) ?? facets.none(p, 'a function of numbers in JavaScript does not run on the device.'),
})
/** Every element takes one word of 32 bits; bool is 0 or 1. */
const itemBytes = { f64: 8, f32: 4, i32: 4, bool: 4 }
/** A step on the CPU runs in an iteration that is left out too. */
const without: Without = new Set(['unmask'])
const limits = { without, nodes: 256, buffers: 48, itemBytes }

/** A plan, and what was shown of it. */
interface Found {
  readonly made: Plan
  readonly cached: boolean
  readonly verified: Verified | undefined
}

/** The device of one backend: opened by the first program, and another one after a loss, where it was ours. */
class OpenDevice {
  private opening: Promise<Device> | undefined
  constructor(private readonly make: () => Promise<Device>) {}

  async get(): Promise<Device> {
    const current = this.opening
    const known = await current
    // Of the calls that waited for the lost one, the first opens another for all.
    if (known?.lost !== undefined && known.opened.own && this.opening === current) {
      known.destroy()
      this.opening = undefined
    }
    this.opening ??= this.make().catch((e: unknown) => {
      this.opening = undefined
      throw e
    })
    return this.opening
  }
  /** Does this where a device is open; one that never opened has nothing to free. */
  ifOpen(use: (device: Device) => unknown): void {
    this.opening?.then(use).catch(() => undefined)
  }
  dispose(): void {
    this.ifOpen((d) => d.exclusive(async () => d.destroy()))
    this.opening = undefined
  }
}

/** The plans of one backend and their shaders. */
class Plans {
  private readonly cache: PlanCache<Plan>
  private readonly lowered = new WeakMap<Plan, { readonly device: Device; readonly low: Lowered }>()
  // What keys are made of: equal keys mean equal plans within one generation. Programs that live on still plan with keys of their own.
  private ids = new Identities()
  private names = new KernelNames(this.ids)
  private generation = 0

  constructor(
    private readonly options: WebGpuOptions,
    cacheBytes: number,
    private readonly facets: WebGpuFacets,
  ) {
    this.cache = new PlanCache<Plan>(cacheBytes, planBytes)
  }
  get isFull(): boolean {
    return this.ids.size > IDS
  }
  info(): CacheInfo {
    return this.cache.info()
  }
  clear(): void {
    this.cache.clear()
    this.ids = new Identities()
    this.names = new KernelNames(this.ids)
    this.generation++
  }

  /** A program's plans for what is stored as f16. */
  of(program: Program): { readonly ir: Ir; readonly planned: (stored: Stored) => Found } {
    const { options, facets } = this
    const own = this.generation
    const ir = buildIr(program, this.ids, without)
    checkDTypes(ir)
    const takes = (kernel: Kernel): boolean => takesF16(kernel, facets)
    const between = options.storage === 'f16'
    const planned = (stored: Stored): Found => {
      const f16 = { ...stored, takes, between }
      const found = this.cache.get(
        ir.key,
        () => makePlan(ir, { ...limits, f16: storeAsF16(f16), given: readWhereGiven(stored.given, takes) }, this.names),
        `${own}|${storedKey(stored)}`,
      )
      return { ...found, verified: verify({ program, ir, plan: found.made, itemBytes }, this.ids, options.verify === true) }
    }
    return { ir, planned }
  }
  /** A plan's shaders for a device; one that is opened after a loss may be of another kind. */
  lower(plan: Plan, device: Device): Lowered {
    const known = this.lowered.get(plan)
    if (known?.device === device) return known.low
    const low = lowerPlan(plan, machineOf(device.opened, this.facets), this.facets)
    this.lowered.set(plan, { device, low })
    return low
  }
}

/** A new WebGPU backend (see webgpu for the shared one). The device is opened by the first program. */
export const makeWebGpu = (given?: WebGpuOptions): WebGpuBackend => {
  const options = readOptions(webgpuOptions, given, 'webgpu')
  const cacheBytes = options.cacheBytes ?? CACHE_BYTES
  const stats = noStats()
  const facets = webgpuFacets(options.kernels)
  const plans = new Plans(options, cacheBytes, facets)
  const memoryBytes = options.memoryBytes ?? Number.POSITIVE_INFINITY
  const device = new OpenDevice(async () => new Device(await openDevice(options), stats, memoryBytes, cacheBytes))
  const clear = (): void => {
    plans.clear()
    device.ifOpen((d) => d.clearPipelines())
  }
  const prepare = async (given: Program): Promise<WebGpuExecutable> => {
    const t = performance.now()
    if (given.captured.length > 0)
      raise({
        _tag: 'InternalLaw',
        law: 'captured tensors are inputs on an asynchronous backend',
        detail: `${given.name} captures ${given.captured.length}`,
      })
    if (plans.isFull) clear()
    const lowered = lowerProgram(given, facets.lowerings)
    const program = { ...lowered, inputs: [...lowered.inputs, ...lowered.captured], captured: [] }
    const { ir, planned } = plans.of(program)
    const opened = await device.get()
    opened.alive()
    const { made: plan, cached, verified } = planned(inWords)
    const low = plans.lower(plan, opened)
    const planMs = performance.now() - t
    const explain = (): Explanation => ({
      ...explainOnDevice(explainPlan({ backend: 'webgpu', program, ir, plan, planMs, cached }), program, plan, low),
      ...(options.verify === true && verified !== undefined && { verified }),
    })
    return WebGpuExecutable.make({
      open: () => device.get(),
      program,
      constants: lowered.captured.map((n) => capturedTensor(n)!.data),
      planned: (stored) => {
        const { made } = planned(stored)
        return { program, ir, plan: made, lower: (on) => plans.lower(made, on) }
      },
      poison: options.poison === true,
      // the plan, its shaders and records, which take about as much again, and the program's nodes
      bytes: 2 * planBytes(plan) + 800 * ir.values.length,
      explain,
    })
  }
  return {
    kind: 'async',
    name: 'webgpu',
    prepare,
    place: async (array, how) => WebGpuArray.place(await device.get(), array, how),
    cache: () => plans.info(),
    clearCache: clear,
    stats: () => ({ ...stats }),
    adapter: async () => (await device.get()).opened.adapter,
    dispose: () => device.dispose(),
  }
}

const shared = /*#__PURE__*/ sharedByOptions<WebGpuOptions, WebGpuBackend>(makeWebGpu)
/**
 * The WebGPU backend. Equal options give the same backend, so that compiled functions share a device, plans and memory. The first call
 * opens the device: `navigator.gpu` in browsers, the optional package webgpu in Node.
 *
 * Errors  of calls: Device if there is no adapter or the device is lost, Unsupported for f64, OutOfMemory, MissingKernel.
 * @example webgpu() === webgpu()   // true
 */
export const webgpu = (given?: WebGpuOptions): WebGpuBackend => {
  const options = readOptions(webgpuOptions, given, 'webgpu')
  return options.device === undefined ? shared(options) : makeWebGpu(options)
}
