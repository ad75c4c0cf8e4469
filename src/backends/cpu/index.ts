/** The CPU backend: plans run as WebAssembly SIMD kernels made at run time, or as plain JavaScript where there is no SIMD. */
import { showAval } from '../../core/aval.js'
import type { Executable, Explanation, SyncBackend } from '../../core/backend.js'
import { raise } from '../../core/explain.js'
import { type TypedArray, viewOf } from '../../core/ndarray.js'
import type { Program } from '../../core/program.js'
import { KernelNames } from '../plan/body.js'
import { type CacheInfo, PlanCache } from '../plan/cache.js'
import { buildIr, type Ir } from '../plan/ir.js'
import { read, written } from '../plan/memory.js'
import { makePlan, type Plan, type Step } from '../plan/plan.js'
import { verifyPlan } from '../plan/verify.js'
import { Arena } from './arena.js'
import { type Installed, Kernels } from './kernels.js'
import { Views } from './plain.js'
import { simd } from './wasm/features.js'

export interface CpuOptions {
  /** Largest memory in bytes (default and limit 4 GiB less one page). */
  readonly memoryBytes?: number
  /** false: plain JavaScript kernels. Default: SIMD where the engine has it. */
  readonly simd?: boolean
  /** Check the laws of every plan (default: off). */
  readonly verify?: boolean
  /** Bytes that cached plans may take (default 256 MiB). */
  readonly cacheBytes?: number
}

/** The CPU backend, with figures of its plan cache and its allocator. */
export interface CpuBackend extends SyncBackend {
  readonly cache: () => CacheInfo
  readonly clearCache: () => void
  /** Bytes of memory taken from the engine so far; never shrinks. */
  readonly memoryBytes: () => number
  /** Kernels installed so far. */
  readonly kernels: () => number
}

const MAX_BYTES = 65535 * 65536
const aligned = (n: number, to = 64): number => Math.ceil(n / to) * to

/** Steps between two JavaScript kernels run as one call into WebAssembly. */
type Segment = { readonly kind: 'wasm'; readonly start: number; readonly count: number } | { readonly kind: 'js'; readonly step: number }

/** Where the parts of a program's image lie, relative to its base. */
interface Layout {
  readonly words: Int32Array
  /** Word positions to which the base is added. */
  readonly relocations: Int32Array
  readonly recordOf: Int32Array
  readonly stepTable: number
  readonly constants: number
  readonly arena: number
  readonly scratch: number
  readonly bytes: number
}

const layOut = (plan: Plan, installed: readonly Installed[], ir: Ir): Layout => {
  const words: number[] = []
  const relocations: number[] = []
  const recordOf = new Int32Array(plan.steps.length)
  let scratch = 0
  const address: { readonly word: number; readonly storage: number; readonly offset: number }[] = []
  const scratchWords: number[] = []
  const place = (storage: number, offset: number): void => {
    address.push({ word: words.length, storage, offset })
    words.push(0)
  }
  plan.steps.forEach((s, i) => {
    while (words.length % 4 !== 0) words.push(0)
    recordOf[i] = words.length
    const kernel = plan.kernels[s.kernel]!
    if (kernel.kind === 'loop') {
      for (const d of s.sizes) words.push(d)
      for (const o of s.operands) {
        place(o.storage, o.offset)
        for (const x of o.strides) words.push(x)
      }
    } else if (kernel.kind === 'gemm') {
      const [batch, m, n, k] = s.sizes as readonly [number, number, number, number]
      const [c, a, b] = s.operands as readonly [Step['operands'][0], Step['operands'][0], Step['operands'][0]]
      for (const o of [c, a, b]) place(o.storage, o.offset)
      words.push(m, n, k, c.strides[1]!, a.strides[1]!, a.strides[2]!, b.strides[1]!, b.strides[2]!)
      scratchWords.push(words.length)
      words.push(0)
      words.push(batch, c.strides[0]!, a.strides[0]!, b.strides[0]!)
    } else {
      const { order } = installed[s.kernel]!
      const args = s.operands.slice(s.writes)
      for (const o of [...s.operands.slice(0, s.writes), ...(order === undefined ? args : order.map((k) => args[k]!))])
        place(o.storage, o.offset)
      scratchWords.push(words.length)
      words.push(0)
    }
    scratch = Math.max(scratch, installed[s.kernel]!.scratch(s.sizes))
  })
  while (words.length % 4 !== 0) words.push(0)
  const stepTable = words.length
  plan.steps.forEach((s, i) => {
    words.push(installed[s.kernel]!.index, 4 * recordOf[i]!)
    relocations.push(words.length - 1)
  })
  const constants = aligned(4 * words.length)
  const arena = aligned(constants + 8 * ir.consts.length)
  const scratchAt = arena + plan.arenaBytes
  for (const { word, storage, offset } of address) {
    words[word] = storage < 0 ? constants + 8 * (-1 - storage) : arena + plan.storages[storage]!.offset + offset
    relocations.push(word)
  }
  for (const word of scratchWords) {
    words[word] = scratchAt
    relocations.push(word)
  }
  return {
    words: Int32Array.from(words),
    relocations: Int32Array.from(relocations),
    recordOf,
    stepTable,
    constants,
    arena,
    scratch: scratchAt,
    bytes: aligned(scratchAt + scratch),
  }
}

class CpuExecutable implements Executable {
  private readonly layout: Layout
  private readonly segments: readonly Segment[]
  private readonly image: Int32Array
  private readonly constants: Uint8Array
  private base = -1
  private buffer: ArrayBuffer | undefined
  private inputViews: (TypedArray | undefined)[] = []
  private capturedViews: TypedArray[] = []
  private outputViews: TypedArray[] = []
  private views: Views | undefined

  constructor(
    private readonly backend: string,
    private readonly program: Program,
    private readonly ir: Ir,
    private readonly plan: Plan,
    private readonly installed: readonly Installed[],
    private readonly arena: Arena,
    private readonly planMs: number,
    private readonly cached: boolean,
  ) {
    this.layout = layOut(plan, installed, ir)
    this.image = this.layout.words.slice()
    const segments: Segment[] = []
    plan.steps.forEach((s, i) => {
      const last = segments[segments.length - 1]
      if (installed[s.kernel]!.run !== undefined) segments.push({ kind: 'js', step: i })
      else if (last?.kind === 'wasm') segments[segments.length - 1] = { ...last, count: last.count + 1 }
      else segments.push({ kind: 'wasm', start: i, count: 1 })
    })
    this.segments = segments
    const buffer = new ArrayBuffer(8 * ir.consts.length)
    ir.consts.forEach((c, i) => {
      const dtype = ir.values[c.value]!.dtype
      viewOf(dtype, buffer, 8 * i, 1)[0] = c.number
    })
    this.constants = new Uint8Array(buffer)
  }

  /** Puts the image (records, step table, literals) at a base, unless it lies there already. */
  private settle(base: number): void {
    const { arena, layout } = this
    arena.reserve(base + layout.bytes)
    if (this.base !== base) {
      for (const r of layout.relocations) this.image[r] = layout.words[r]! + base
      this.base = base
      this.buffer = undefined
      arena.owner = undefined
    }
    if (this.buffer !== arena.buffer) {
      const { buffer } = arena
      this.buffer = buffer
      this.views = new Views(buffer)
      const at = (storage: number): number => base + layout.arena + this.plan.storages[storage]!.offset
      this.inputViews = this.program.inputs.map((x, i) => {
        const s = this.plan.inputs[i]!
        return s < 0 ? undefined : viewOf(x.dtype, buffer, at(s), x.aval.size)
      })
      this.capturedViews = this.ir.captured.map((c, i) => viewOf(c.tensor.dtype, buffer, at(this.plan.captured[i]!), c.tensor.data.length))
      this.outputViews = this.program.outputs.map((o, i) => {
        const { storage, offset } = this.plan.outputs[i]!
        return viewOf(o.dtype, buffer, at(storage) + offset, o.aval.size)
      })
    }
    if (arena.owner !== this) {
      new Int32Array(arena.buffer, base, this.image.length).set(this.image)
      new Uint8Array(arena.buffer, base + layout.constants, this.constants.length).set(this.constants)
      arena.owner = this
    }
  }

  run(inputs: readonly TypedArray[], into?: readonly TypedArray[], accumulate = false): readonly TypedArray[] {
    const { arena } = this
    const base = arena.top
    this.settle(base)
    for (let i = 0; i < this.inputViews.length; i++) {
      const v = this.inputViews[i]
      if (v === undefined) continue
      if (v.length === 1) v[0] = inputs[i]![0]!
      else v.set(inputs[i]! as never)
    }
    for (let i = 0; i < this.capturedViews.length; i++) this.capturedViews[i]!.set(this.ir.captured[i]!.tensor.data as never)
    arena.top = base + this.layout.bytes
    try {
      for (const s of this.segments) {
        if (s.kind === 'wasm') arena.run(base + 4 * this.layout.stepTable + 8 * s.start, s.count)
        else this.runJs(s.step)
      }
    } finally {
      arena.top = base
    }
    if (this.buffer !== arena.buffer) this.settle(base)
    const outs = this.outputViews
    if (into === undefined) return outs.map((v) => v.slice())
    for (let i = 0; i < outs.length; i++) {
      const v = outs[i]!
      const t = into[i]!
      if (!accumulate) t.set(v as never)
      else for (let j = 0; j < v.length; j++) t[j]! += v[j]!
    }
    return into
  }

  private runJs(step: number): void {
    const { installed, plan, layout, arena } = this
    const s = plan.steps[step]!
    const run = installed[s.kernel]!.run!
    if (this.views?.buffer !== arena.buffer) this.views = new Views(arena.buffer)
    const from = layout.recordOf[step]!
    run(this.image.subarray(from, from + 4096), this.views!)
  }

  explain(): Explanation {
    const { plan, program } = this
    const name = (k: number): string => {
      const kernel = plan.kernels[k]!
      return kernel.kind === 'opaque'
        ? kernel.prim.name
        : kernel.kind === 'gemm'
          ? `gemm ${kernel.dtype}${kernel.accumulate ? ' +=' : ''}`
          : `loop ${kernel.body.ops.map((o) => o.prim.name).join(' ') || 'copy'}${kernel.outputs.some((o) => o.fold) ? ' fold' : ''}`
    }
    const counts: Record<string, number> = {}
    let bytes = 0
    let flops = 0
    for (const s of plan.steps) {
      const k = plan.kernels[s.kernel]!
      const key = k.kind === 'opaque' ? k.prim.name : k.kind
      counts[key] = (counts[key] ?? 0) + 1
      flops += s.flops
      for (const o of s.operands) bytes += o.storage < 0 ? 8 : plan.storages[o.storage]!.bytes
    }
    const label = (storage: number): string => {
      if (storage < 0) return `literal ${this.ir.consts[-1 - storage]!.number}`
      const i = plan.inputs.indexOf(storage)
      return i >= 0 ? `input ${i} (${showAval(program.inputs[i]!.aval)})` : `b${storage} (${plan.storages[storage]!.bytes} B)`
    }
    return {
      backend: this.backend,
      steps: plan.steps.map((s) => ({
        kernel: name(s.kernel),
        reads: read(s, plan.kernels[s.kernel]!).map((o) => label(o.storage)),
        writes: written(s, plan.kernels[s.kernel]!).map((o) => label(o.storage)),
      })),
      counts,
      kernels: plan.kernels.length,
      flops,
      bytes,
      peakBytes: plan.peakBytes,
      buffers: plan.storages.length,
      peakBuffers: plan.peakBuffers,
      copiedAccumulators: plan.copiedAccumulators,
      planMs: this.planMs,
      cached: this.cached,
    }
  }

  dispose(): void {
    if (this.arena.owner === this) this.arena.owner = undefined
    this.buffer = undefined
    this.inputViews = []
    this.capturedViews = []
    this.outputViews = []
  }
}

const now = (): number => performance.now()

/** A new CPU backend (see cpu for the shared one). */
export const makeCpu = (options: CpuOptions = {}): CpuBackend => {
  const maxBytes = Math.min(options.memoryBytes ?? MAX_BYTES, MAX_BYTES)
  const vector = options.simd ?? simd()
  if (vector && !simd())
    raise({ _tag: 'Unsupported', backend: 'cpu', what: 'this engine has no WebAssembly SIMD', fix: 'cpu({ simd: false })' })
  const name = 'cpu'
  const arena = new Arena(maxBytes)
  const kernels = new Kernels(arena, vector)
  const cache = new PlanCache(options.cacheBytes ?? 2 ** 28)
  const ids = new Map<unknown, number>()
  const names = new KernelNames()
  const limits = { nodes: 512, buffers: 32, dtypes: ['f64', 'f32', 'i32', 'bool'], memoryBytes: maxBytes }
  return {
    kind: 'sync',
    name,
    prepare: (program) => {
      const t = now()
      const ir = buildIr(program, ids)
      const { plan, cached } = cache.get(ir.key, () => {
        const made = makePlan(ir, limits, names)
        if (options.verify === true) verifyPlan(made)
        return made
      })
      if (plan.arenaBytes > maxBytes) raise({ _tag: 'OutOfMemory', backend: name, neededBytes: plan.arenaBytes, limitBytes: maxBytes })
      const installed = kernels.install(plan)
      return new CpuExecutable(name, program, ir, plan, installed, arena, now() - t, cached)
    },
    cache: () => cache.info(),
    clearCache: () => cache.clear(),
    memoryBytes: () => arena.buffer.byteLength,
    kernels: () => kernels.size,
  }
}

const shared = new Map<string, CpuBackend>()
/**
 * The CPU backend; equal options give the same one, so that two compiled functions share plans and memory.
 *
 * @example compile(f, cpu())
 */
export const cpu = (options: CpuOptions = {}): CpuBackend => {
  const key = JSON.stringify(options, Object.keys(options).sort())
  let b = shared.get(key)
  if (b === undefined) {
    b = makeCpu(options)
    shared.set(key, b)
  }
  return b
}
