/** From a plan's kernels to what runs them: a function in the table, or a JavaScript function. Installed once per canonical text. */

import { raise } from '../../core/errors/explain.js'
import type { KernelFunction } from '../../core/extend/kernel-table.js'
import { aval } from '../../core/graph/aval.js'
import { emptyArray, type NDArray, viewOf } from '../../core/graph/ndarray.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { Kernel, LoopKernel, OpaqueKernel } from '../plan/kernel.js'
import type { Plan } from '../plan/plan.js'
import type { Arena } from './arena.js'
import type { Compiled, DrivenKernel } from './driven.js'
import { type CpuFacets, productsOf } from './facets.js'
import type { BlasOver, Cuttable, Products, WholeByLibrary, WholeKernel } from './kernel.js'
import { runLoop, type Views } from './plain.js'
import { addressAt, OpaqueRecord } from './records.js'
import { CHUNK, chunkedOutputs } from './wasm/chunks.js'
import type { Module } from './wasm/encoder.js'
import type { FloatName } from './wasm/float.js'
import { emitLoops } from './wasm/loop.js'
import { loopScratchBytes } from './wasm/totals.js'

/** Code that is freed as a whole: a module, which lives as long as one of its kernels, or a function in JavaScript. */
interface Code {
  readonly bytes: number
  readonly module: boolean
  /** Kernels that exist, and those that a cached plan needs. */
  kernels: number
  cached: number
}

/** A kernel made ready. `run` is absent for one that lies in the table at `index`. */
export interface Installed extends Cuttable {
  readonly run?: (record: Int32Array, views: Views) => void
  /** Where its table lies, behind the scratch, where its code reads that. */
  readonly table?: Uint8Array
}
/** Code in the table that kernels of several sizes share, by what names it. */
interface Shared {
  readonly index: number
  /** Of its phases, where it has some that run. */
  readonly phases: readonly number[]
  readonly code: Code
  users: number
}
/** One that is counted: how many cached plans and how many programs that may still run need it. */
interface Held extends Installed {
  readonly key: string
  readonly code: Code
  readonly shared?: string
  cached: number
  live: number
}
/** What needs a kernel. */
type Holder = 'cached' | 'live'

const noScratch = (): number => 0

type Run = NonNullable<Installed['run']>
type Arrays = readonly ReturnType<typeof arrayOver>[]

const arrayOver = ({ shape, dtype }: OpaqueKernel['args'][0], buffer: ArrayBuffer, address: number) => ({
  shape,
  dtype,
  data: viewOf(dtype, buffer, address, sizeOf(shape)),
})
/** Views of what an opaque kernel writes and reads. An accumulator is the first result already: the same memory. */
const arraysOf = (k: OpaqueKernel, record: Int32Array, buffer: ArrayBuffer): { readonly results: Arrays; readonly args: Arrays } => {
  const at = new OpaqueRecord(k.results.length, k.args.length - Number(k.inPlace !== undefined))
  const results = k.results.map((r, i) => arrayOver(r, buffer, addressAt(record, at.result(i))))
  let next = 0
  const args = k.args.map((a, i) => (i === k.inPlace ? results[0]! : arrayOver(a, buffer, addressAt(record, at.argument(next++)))))
  return { results, args }
}

/** A primitive's meaning over views of the memory. */
const byMeaning =
  (k: OpaqueKernel): Run =>
  (record, { buffer }) => {
    const { results, args } = arraysOf(k, record, buffer)
    k.prim.meaning(args, k.params, results)
  }

/** A function over views of the memory. */
const onViews =
  (k: OpaqueKernel, f: KernelFunction): Run =>
  (record, { buffer }) => {
    const { results, args } = arraysOf(k, record, buffer)
    f(args, k.params as never, results)
  }

/** A function over copies of its arguments: it may run compiled functions, and then the memory under a view would be gone. */
const byCall =
  (k: OpaqueKernel, f: KernelFunction, arena: Arena): Run =>
  (record, { buffer }) => {
    const { results, args } = arraysOf(k, record, buffer)
    const addresses = results.map((r) => r.data.byteOffset)
    const outs = k.results.map((r) => emptyArray(aval(r.shape, r.dtype)))
    f(
      args.map((a): NDArray => ({ ...a, data: a.data.slice() })),
      k.params as never,
      outs,
    )
    outs.forEach((o, i) => {
      arrayOver(o, arena.buffer, addresses[i]!).data.set(o.data as never)
    })
  }

/** Beside its code, a module takes four to five pages (V8: tables of jumps, an instance, what is reserved); code is compiled to about three times its bytes. */
const moduleBytes = (bytes: number): number => 20_480 + 3 * bytes
const FUNCTION_BYTES = 1024
/** V8 maps two regions for a module, and ends the process where the system has no more (65,530 on Linux, for all that a process does). */
const MODULES = 28_000
/** The text and the numbers by which a kernel is known, and the loops that plans share, about. */
const nameBytes = (k: Kernel): number => 512 + (k.kind === 'loop' ? 192 * k.body.ops.length : 0)

export class Kernels {
  private readonly byKey = new Map<string, Held>()
  private readonly products = new Map<FloatName, number>()
  private readonly panels = new Map<string, WebAssembly.Exports>()
  private readonly sharedBy = new Map<string, Shared>()
  private count = 0
  private cached = 0
  private named = 0
  constructor(
    private readonly arena: Arena,
    private readonly facets: CpuFacets,
    private readonly blas: BlasOver | undefined,
    /** Points of a chunk of a loop. */
    private readonly chunk = CHUNK,
  ) {}
  /** Kernels that exist. */
  get size(): number {
    return this.count
  }
  /** Bytes of the code that cached plans need, each module once. */
  get cachedBytes(): number {
    return this.cached
  }
  /** Bytes of the names of all kernels since `clear`. */
  get namedBytes(): number {
    return this.named
  }

  /** Every kernel of a plan, new ones compiled together in one module; held for what needs them until `release`. */
  install(plan: Plan, by: Holder): readonly Installed[] {
    const loops: { readonly key: string; readonly kernel: LoopKernel }[] = []
    const made: Held[] = []
    const { engine } = this.arena
    try {
      for (let i = 0; i < plan.kernels.length; i++) {
        const kernel = plan.kernels[i]!
        const key = plan.kernelKeys[i]!
        if (this.byKey.has(key)) continue
        if (kernel.kind === 'loop' && engine !== undefined) loops.push({ key, kernel })
        else made.push(this.make(key, kernel))
        this.named += nameBytes(kernel)
      }
      // Loops of one plan are compiled in one module; very many are split, to stay far from engines' size limits.
      for (let i = 0; i < loops.length; i += 64) {
        const group = loops.slice(i, i + 64)
        const parts = engine!.crew !== undefined
        const { module, names, chunked, calling, imports } = emitLoops(
          group.map((g) => g.kernel),
          this.facets,
          engine!.limits,
          { chunk: this.chunk, parts },
        )
        const whole = this.compile(module, [...names, ...chunked.flatMap((own) => own ?? [])], imports)
        let next = names.length
        for (const [j, { key, kernel }] of group.entries()) {
          const calls = calling.has(names[j]!) && { calls: true as const }
          const more = whole.indices.slice(next, next + (chunked[j]?.length ?? 0))
          next += more.length
          const own = more.length > 0 && {
            chunked: { keep: more[0]!, results: more[1]!, outputs: chunkedOutputs(kernel), points: this.chunk },
          }
          made.push(this.add(key, { index: whole.indices[j]!, scratch: loopScratchBytes(kernel), ...calls, ...own }, whole.code))
        }
      }
    } catch (e) {
      for (const k of made) this.free(k)
      throw e
    }
    const all = plan.kernelKeys.map((key) => this.byKey.get(key)!)
    this.hold(all, by)
    return all
  }

  hold(kernels: readonly Installed[], by: Holder): void {
    for (const k of kernels as readonly Held[]) {
      k[by]++
      if (by === 'cached' && k.cached === 1 && k.code.cached++ === 0) this.cached += k.code.bytes
    }
  }
  /** What needed these kernels is gone: those that nothing needs any more are freed. */
  release(kernels: readonly Installed[], by: Holder): void {
    for (const k of kernels as readonly Held[]) {
      k[by]--
      if (by === 'cached' && k.cached === 0 && --k.code.cached === 0) this.cached -= k.code.bytes
      if (k.cached === 0 && k.live === 0) this.free(k)
    }
  }
  private free(k: Held): void {
    if (this.byKey.get(k.key) === k) this.byKey.delete(k.key)
    this.count--
    const shared = k.shared === undefined ? undefined : this.sharedBy.get(k.shared)!
    if (shared !== undefined && --shared.users === 0) this.sharedBy.delete(k.shared!)
    if (k.run === undefined && (shared === undefined || shared.users === 0))
      for (const index of [k.index, ...(shared?.phases ?? []), ...(k.chunked === undefined ? [] : [k.chunked.keep, k.chunked.results])])
        this.arena.engine!.remove(index)
    if (--k.code.kernels === 0 && k.code.module) this.arena.stats.modules--
  }

  /** A program's part of the code that it needs, where others need it too. */
  shareOf(kernels: readonly Installed[]): number {
    return (kernels as readonly Held[]).reduce((n, k) => n + k.code.bytes / (k.code.kernels * Math.max(1, k.live)), 0)
  }

  /** Forgets by what names kernels are known. Those that are needed stay until they are released. */
  clear(): void {
    this.byKey.clear()
    this.named = 0
  }

  private add(key: string, kernel: Installed, code: Code, shared?: string): Held {
    const held: Held = { ...kernel, key, code, ...(shared !== undefined && { shared }), cached: 0, live: 0 }
    code.kernels++
    this.count++
    this.byKey.set(key, held)
    return held
  }
  private inJs(key: string, run: Run, scratch: Installed['scratch'] = noScratch): Held {
    return this.add(key, { index: 0, run, scratch }, { bytes: FUNCTION_BYTES, module: false, kernels: 0, cached: 0 })
  }
  private compile(
    module: Module,
    names: readonly string[],
    imports?: WebAssembly.ModuleImports,
  ): { readonly indices: readonly number[]; readonly code: Code } {
    const { stats } = this.arena
    if (stats.modules >= MODULES)
      raise({
        _tag: 'Unsupported',
        backend: 'cpu',
        what: `${MODULES} modules of WebAssembly are in use, and engines have no room for more`,
        fix: 'dispose compiled functions that you no longer call.',
      })
    const { indices, bytes } = this.arena.engine!.install(module, names, imports)
    stats.modules++
    stats.slots = this.arena.engine!.slots
    return { indices, code: { bytes: moduleBytes(bytes), module: true, kernels: 0, cached: 0 } }
  }
  /** A module with one kernel. */
  private single(
    key: string,
    emit: (m: Module, name: string) => unknown,
    scratch: Installed['scratch'],
    imports?: WebAssembly.ModuleImports,
  ): Held {
    const { indices, code } = this.emitted([emit], imports)
    return this.add(key, { index: indices[0]!, scratch, ...(imports !== undefined && { calls: true }) }, code)
  }
  private emitted(
    emitters: readonly ((m: Module, name: string) => unknown)[],
    imports?: WebAssembly.ModuleImports,
  ): { readonly indices: readonly number[]; readonly code: Code } {
    const m = this.arena.engine!.module()
    const names = emitters.map((_, i) => `kernel${i}`)
    emitters.forEach((emit, i) => void emit(m, names[i]!))
    return this.compile(m, names, imports)
  }
  /** The backend's products, or those of a system library. */
  private byLibrary(own: Products): Products {
    return this.blas?.products(own) ?? own
  }

  private make(key: string, k: Kernel): Held {
    if (k.kind === 'opaque') return this.makeOpaque(key, k)
    const vector = this.arena.engine !== undefined
    if (k.kind === 'gemm') {
      const products = this.byLibrary(productsOf(this.facets, k.prim))
      return vector
        ? this.single(
            key,
            (m, name) => products.emit(m, k.dtype, k.accumulate ? 'add' : 'set', name, k.form),
            (s) => products.scratchBytes(k.dtype, s[1]!, s[2]!, s[3]!, s[0]!),
            products.imports?.(k.dtype, k.accumulate ? 'add' : 'set'),
          )
        : this.inJs(key, (w, v) => products.run(k, w, v))
    }
    for (const o of k.body.ops) this.facets.scalar(o.prim)
    return this.inJs(key, (w, v) => runLoop(k, w, v))
  }

  /** One whose code is that of others. */
  private sharing(key: string, own: WholeKernel, { code: shared, ...said }: NonNullable<WholeKernel['shared']>): Held {
    const phases = own.phased && this.arena.engine!.crew?.phases(own.phased)
    let known = this.sharedBy.get(shared)
    if (known === undefined) {
      const { indices, code } = this.emitted([own.emit, ...(phases?.each ?? []).map(({ emit }) => emit)])
      known = { index: indices[0]!, phases: indices.slice(1), code, users: 0 }
      this.sharedBy.set(shared, known)
    }
    known.users++
    const { index, code } = known
    const each = phases?.each.map((phase, i) => ({ ...phase, index: known.phases[i]! }))
    const rest = {
      ...said,
      ...(own.units !== undefined && { units: own.units }),
      ...(phases !== undefined && { phases: { ...phases, each: each! } }),
    }
    return this.add(key, { index, scratch: () => own.scratchBytes, ...rest }, code, shared)
  }

  /** By a library; what it gives back by the meaning. */
  private asked(k: OpaqueKernel, library: WholeByLibrary, record: Int32Array, buffer: ArrayBuffer): void {
    const at = new OpaqueRecord(k.results.length, k.args.length - Number(k.inPlace !== undefined)).scratch
    const arrays = arraysOf(k, record, buffer)
    if (!library.run(arrays, addressAt(record, at))) k.prim.meaning(arrays.args, k.params, arrays.results)
  }
  /** In JavaScript, with products of WebAssembly. */
  private driven(key: string, k: OpaqueKernel, own: DrivenKernel): Held {
    const bytes = own.scratchBytes(k.results[0]!.dtype as FloatName)
    if (bytes === 0) return this.inJs(key, byMeaning(k))
    const engine = this.arena.engine!
    const by: Compiled = { product: (type) => this.productOf(type, own.products), panels: (type) => this.panelsOf(type, own.panels) }
    const at = new OpaqueRecord(k.results.length, k.args.length).scratch
    const library = this.blas?.whole(k)
    const run: Run = (record, { buffer }) => {
      const [arrays, scratch] = [arraysOf(k, record, buffer), addressAt(record, at)]
      if (library === undefined || !library.run(arrays, scratch)) own.run(k, arrays, scratch, engine, by)
    }
    const needed = Math.max(bytes, library?.scratchBytes ?? 0)
    return this.inJs(key, run, () => needed)
  }
  /** C -= A B of driven kernels, in the table from its first use on. */
  private productOf(type: FloatName, own: Products): number {
    const known = this.products.get(type)
    if (known !== undefined) return known
    const products = this.byLibrary(own)
    const { indices } = this.emitted([(m, name) => products.emit(m, type, 'subtract', name)], products.imports?.(type, 'subtract'))
    const index = indices[0]!
    this.products.set(type, index)
    return index
  }

  /** Panels of driven kernels, compiled at their first use. */
  private panelsOf(type: FloatName, { name, emit }: DrivenKernel['panels']): WebAssembly.Exports {
    const key = `${name} ${type}`
    const known = this.panels.get(key)
    if (known !== undefined) return known
    const { engine, stats } = this.arena
    const module = engine!.module()
    emit(module, type)
    const code = engine!.exportsOf(module)
    stats.modules++
    this.panels.set(key, code)
    return code
  }

  private makeOpaque(key: string, k: OpaqueKernel): Held {
    const facet = this.facets.of(k.prim)
    if (facet.kind === 'call') return this.inJs(key, facet.views ? onViews(k, facet.f) : byCall(k, facet.f, this.arena))
    if (facet.kind === 'whole' && this.arena.engine !== undefined) {
      const own = facet.make(k)
      if (own === undefined) return this.inJs(key, byMeaning(k))
      if ('run' in own) return this.driven(key, k, own)
      const library = this.blas?.whole(k)
      if (library !== undefined)
        return this.inJs(
          key,
          (record, { buffer }) => this.asked(k, library, record, buffer),
          () => library.scratchBytes,
        )
      return own.shared === undefined ? this.single(key, own.emit, () => own.scratchBytes) : this.sharing(key, own, own.shared)
    }
    if (facet.kind === 'whole' || facet.kind === 'byMeaning' || (facet.kind === 'planned' && facet.otherwise !== undefined))
      return this.inJs(key, byMeaning(k))
    return raise({
      _tag: 'InternalLaw',
      law: 'the planner does what a facet says',
      detail: `${k.prim.name} is ${facet.kind}, and was left whole`,
    })
  }
}
