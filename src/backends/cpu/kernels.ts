/** From a plan's kernels to what runs them: a function in the table, or a JavaScript function. Installed once per canonical text. */

import { viewOf } from '../../core/ndarray.js'
import { nn } from '../../core/ops/nn.js'
import { sizeOf } from '../../core/shape.js'
import type { Kernel, LoopKernel, OpaqueKernel } from '../plan/kernel.js'
import type { Plan } from '../plan/plan.js'
import type { Arena } from './arena.js'
import { nnKernels, type WholeKernelOf } from './nn.js'
import { runGemm, runLoop, type Views } from './plain.js'
import { Module } from './wasm/encoder.js'
import { emitGemm, gemmScratchBytes } from './wasm/gemm.js'
import { emitLoops } from './wasm/loop.js'

/** A kernel made ready. `run` is absent for one that lies in the table at `index`. */
export interface Installed {
  readonly index: number
  readonly run?: (record: Int32Array, views: Views) => void
  readonly scratch: (sizes: readonly number[]) => number
  /** Order of the arguments in the record, when it is not the primitive's. */
  readonly order?: readonly number[]
}
const noScratch = (): number => 0

/** A primitive's meaning over views of the memory: addresses of the results, then of the arguments. */
const byMeaning =
  (k: OpaqueKernel): NonNullable<Installed['run']> =>
  (record, views) => {
    let w = 0
    const array = (a: OpaqueKernel['args'][0]) => ({
      shape: a.shape,
      dtype: a.dtype,
      data: viewOf(a.dtype, views.buffer, record[w++]!, sizeOf(a.shape)),
    })
    const outs = k.results.map(array)
    // An accumulator is the first result already: the same memory.
    const args = k.args.map((a, i) => (i === k.inPlace ? outs[0]! : array(a)))
    k.prim.meaning(args, k.params, outs)
  }

/** Tables of primitives with a WebAssembly kernel of their own. */
const wholeKernels: Readonly<Record<string, WholeKernelOf>> = nnKernels
const wholePrimitives: Readonly<Record<string, unknown>> = nn

export class Kernels {
  private readonly byKey = new Map<string, Installed>()
  constructor(
    private readonly arena: Arena,
    private readonly vector: boolean,
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
      const made = emitLoops(group.map((g) => g.kernel))
      this.arena.install(made.module, made.names, made.imports).forEach((index, j) => {
        this.byKey.set(group[j]!.key, { index, scratch: noScratch })
      })
    }
    return plan.kernelKeys.map((key) => this.byKey.get(key)!)
  }

  private make(k: Kernel): Installed {
    if (k.kind === 'opaque') {
      const own = this.vector && wholePrimitives[k.prim.name] === k.prim ? wholeKernels[k.prim.name]!(k) : undefined
      if (own === undefined) return { index: 0, run: byMeaning(k), scratch: noScratch }
      const m = new Module()
      m.importMemory({ min: 1 })
      own.emit(m, 'whole')
      const [index] = this.arena.install(m, ['whole'])
      return { index: index!, scratch: () => own.scratchBytes, ...(own.order && { order: own.order }) }
    }
    if (k.kind === 'gemm') {
      if (!this.vector) return { index: 0, run: (w, v) => runGemm(k, w, v), scratch: noScratch }
      const m = new Module()
      m.importMemory({ min: 1 })
      emitGemm(m, { type: k.dtype, madd: false, accumulate: k.accumulate }, 'gemm')
      const [index] = this.arena.install(m, ['gemm'])
      return { index: index!, scratch: (s) => gemmScratchBytes(k.dtype, s[1]!, s[2]!, s[3]!) }
    }
    return { index: 0, run: (w, v) => runLoop(k, w, v), scratch: noScratch }
  }
}
