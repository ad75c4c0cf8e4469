/** From a plan's kernels to what runs them: a function in the table, or a JavaScript function. Installed once per canonical text. */
import { aval } from '../../core/aval.js'
import { raise } from '../../core/explain.js'
import type { KernelFunction } from '../../core/facets.js'
import { emptyArray, type NDArray, viewOf } from '../../core/ndarray.js'
import { sizeOf } from '../../core/shape.js'
import type { Kernel, LoopKernel, OpaqueKernel } from '../plan/kernel.js'
import type { Plan } from '../plan/plan.js'
import type { Arena } from './arena.js'
import type { CpuFacets } from './facets.js'
import { runGemm, runLoop, type Views } from './plain.js'
import { Module } from './wasm/encoder.js'
import { emitGemm, gemmScratchBytes } from './wasm/gemm.js'
import { emitLoops } from './wasm/loop.js'
import { loopScratchBytes } from './wasm/totals.js'

/** A kernel made ready. `run` is absent for one that lies in the table at `index`. */
export interface Installed {
  readonly index: number
  readonly run?: (record: Int32Array, views: Views) => void
  readonly scratch: (sizes: readonly number[]) => number
  /** Order of the arguments in the record, when it is not the primitive's. */
  readonly order?: readonly number[]
}
const noScratch = (): number => 0
const inJs = (run: Run): Installed => ({ index: 0, run, scratch: noScratch })

type Run = NonNullable<Installed['run']>
type Array = OpaqueKernel['args'][0]

/** A primitive's meaning over views of the memory: addresses of the results, then of the arguments. */
const byMeaning =
  (k: OpaqueKernel): Run =>
  (record, views) => {
    let w = 0
    const array = (a: Array) => ({
      shape: a.shape,
      dtype: a.dtype,
      data: viewOf(a.dtype, views.buffer, record[w++]!, sizeOf(a.shape)),
    })
    const outs = k.results.map(array)
    // An accumulator is the first result already: the same memory.
    const args = k.args.map((a, i) => (i === k.inPlace ? outs[0]! : array(a)))
    k.prim.meaning(args, k.params, outs)
  }

/** A function over copies of its arguments: it may run compiled functions, and then the memory under a view would be gone. */
const byCall =
  (k: OpaqueKernel, f: KernelFunction, arena: Arena): Run =>
  (record) => {
    let w = 0
    const view = (a: Array) => viewOf(a.dtype, arena.buffer, record[w++]!, sizeOf(a.shape))
    const addresses = k.results.map(() => record[w++]!)
    const args = k.args.map((a, i): NDArray => {
      const data = i === k.inPlace ? viewOf(a.dtype, arena.buffer, addresses[0]!, sizeOf(a.shape)) : view(a)
      return { shape: a.shape, dtype: a.dtype, data: data.slice() }
    })
    const outs = k.results.map((r) => emptyArray(aval(r.shape, r.dtype)))
    f(args, k.params as never, outs)
    outs.forEach((o, i) => {
      viewOf(o.dtype, arena.buffer, addresses[i]!, o.data.length).set(o.data as never)
    })
  }

export class Kernels {
  private readonly byKey = new Map<string, Installed>()
  constructor(
    private readonly arena: Arena,
    private readonly vector: boolean,
    private readonly facets: CpuFacets,
  ) {}
  get size(): number {
    return this.byKey.size
  }

  /** Every kernel of a plan, new ones compiled together in one module. */
  install(plan: Plan): readonly Installed[] {
    const loops: { readonly key: string; readonly kernel: LoopKernel }[] = []
    plan.kernels.forEach((kernel, i) => {
      const key = plan.kernelKeys[i]!
      if (this.byKey.has(key)) return
      if (kernel.kind === 'loop' && this.vector) loops.push({ key, kernel })
      else this.byKey.set(key, this.make(kernel))
    })
    // Loops of one plan are compiled in one module; very many are split, to stay far from engines' size limits.
    for (let i = 0; i < loops.length; i += 64) {
      const group = loops.slice(i, i + 64)
      const made = emitLoops(
        group.map((g) => g.kernel),
        this.facets,
      )
      this.arena.install(made.module, made.names, made.imports).forEach((index, j) => {
        this.byKey.set(group[j]!.key, { index, scratch: loopScratchBytes(group[j]!.kernel) })
      })
    }
    return plan.kernelKeys.map((key) => this.byKey.get(key)!)
  }

  private make(k: Kernel): Installed {
    if (k.kind === 'opaque') return this.makeOpaque(k)
    if (k.kind === 'gemm') {
      if (!this.vector) return inJs((w, v) => runGemm(k, w, v))
      const m = new Module()
      m.importMemory({ min: 1 })
      emitGemm(m, { type: k.dtype, madd: false, accumulate: k.accumulate }, 'gemm')
      const [index] = this.arena.install(m, ['gemm'])
      return { index: index!, scratch: (s) => gemmScratchBytes(k.dtype, s[1]!, s[2]!, s[3]!) }
    }
    for (const o of k.body.ops) this.facets.scalar(o.prim)
    return inJs((w, v) => runLoop(k, w, v))
  }

  private makeOpaque(k: OpaqueKernel): Installed {
    const facet = this.facets.of(k.prim)
    if (facet.kind === 'call') return inJs(byCall(k, facet.f, this.arena))
    if (facet.kind === 'whole' && this.vector) {
      const own = facet.make(k)
      const m = new Module()
      m.importMemory({ min: 1 })
      own.emit(m, 'whole')
      const [index] = this.arena.install(m, ['whole'])
      return { index: index!, scratch: () => own.scratchBytes, ...(own.order && { order: own.order }) }
    }
    if (facet.kind === 'whole' || facet.kind === 'byMeaning' || (facet.kind === 'planned' && facet.otherwise !== undefined))
      return inJs(byMeaning(k))
    return raise({
      _tag: 'InternalLaw',
      law: 'the planner does what a facet says',
      detail: `${k.prim.name} is ${facet.kind}, and was left whole`,
    })
  }
}
