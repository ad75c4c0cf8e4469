/** A program made ready: its image, the views through which it is fed and read, and the call. */
import { itemBytes } from '../../core/aval.js'
import type { Executable, Explanation } from '../../core/backend.js'
import { allocate, type TypedArray, viewOf } from '../../core/ndarray.js'
import type { Program } from '../../core/program.js'
import type { DType } from '../../core/types/dtype.js'
import type { Ir } from '../plan/ir.js'
import type { Plan } from '../plan/plan.js'
import type { Arena } from './arena.js'
import { type Image, layOut, type Segment, segmentsOf } from './image.js'
import type { Installed } from './kernels.js'
import { Views } from './plain.js'

/** Up to this length a loop is quicker than the call of `set`. */
const SHORT = 32
const copy = (to: TypedArray, from: TypedArray): void => {
  const n = to.length
  if (n > SHORT) to.set(from as never)
  else for (let i = 0; i < n; i++) to[i] = from[i]!
}

/** Literals in slots of eight bytes. */
const literalsOf = (ir: Ir): Uint8Array => {
  const buffer = new ArrayBuffer(8 * ir.consts.length)
  const views = new Map<DType, TypedArray>()
  const view = (dtype: DType): TypedArray => {
    let v = views.get(dtype)
    if (v === undefined) {
      v = viewOf(dtype, buffer, 0, buffer.byteLength / itemBytes[dtype])
      views.set(dtype, v)
    }
    return v
  }
  ir.consts.forEach((c, i) => {
    const { dtype } = ir.values[c.value]!
    view(dtype)[(8 / itemBytes[dtype]) * i] = c.number
  })
  return new Uint8Array(buffer)
}

export class CpuExecutable implements Executable {
  private readonly image: Image
  private readonly segments: readonly Segment[]
  private readonly constants: Uint8Array
  /** The image's words at the base where they were put last. */
  private readonly words: Int32Array<ArrayBuffer>
  private base = -1
  private buffer: ArrayBuffer | undefined
  private inputViews: (TypedArray | undefined)[] = []
  private capturedViews: TypedArray[] = []
  private outputViews: TypedArray[] = []
  private views: Views | undefined

  constructor(
    private readonly program: Program,
    private readonly ir: Ir,
    private readonly plan: Plan,
    private readonly installed: readonly Installed[],
    private readonly arena: Arena,
    readonly explain: () => Explanation,
  ) {
    this.image = layOut(plan, installed, ir)
    this.words = this.image.words.slice()
    this.segments = segmentsOf(plan, installed)
    this.constants = literalsOf(ir)
  }

  /** Puts the image (records, step table, literals) at a base, unless it lies there already. */
  private settle(base: number): void {
    const { arena, image } = this
    arena.reserve(base + image.bytes)
    if (this.base === base && this.buffer === arena.buffer && arena.owner === this) return
    if (this.base !== base) {
      for (const r of image.relocations) this.words[r] = image.words[r]! + base
      this.base = base
      this.buffer = undefined
      arena.owner = undefined
    }
    if (this.buffer !== arena.buffer) {
      const { buffer } = arena
      this.buffer = buffer
      this.views = new Views(buffer)
      const at = (storage: number): number => base + image.arena + this.plan.storages[storage]!.offset
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
      new Int32Array(arena.buffer, base, this.words.length).set(this.words)
      new Uint8Array(arena.buffer, base + image.constants, this.constants.length).set(this.constants)
      arena.owner = this
    }
  }

  run(inputs: readonly TypedArray[], into?: readonly TypedArray[], accumulate = false): readonly TypedArray[] {
    const { arena } = this
    const { stats } = arena
    const base = arena.top
    this.settle(base)
    stats.calls++
    const { inputViews, capturedViews, segments } = this
    for (let i = 0; i < inputViews.length; i++) {
      const v = inputViews[i]
      if (v === undefined) continue
      stats.bytesIn += v.byteLength
      copy(v, inputs[i]!)
    }
    for (let i = 0; i < capturedViews.length; i++) {
      const v = capturedViews[i]!
      stats.bytesIn += v.byteLength
      copy(v, this.ir.captured[i]!.tensor.data)
    }
    arena.top = base + this.image.bytes
    try {
      for (let i = 0; i < segments.length; i++) {
        const s = segments[i]!
        if (s.kind === 'wasm') arena.run(base + 4 * this.image.stepTable + 8 * s.start, s.count)
        else {
          this.runJs(s.step)
          // A kernel may have run compiled functions, even this very one, further up in the memory.
          if (this.base !== base || this.buffer !== arena.buffer) this.settle(base)
        }
      }
    } finally {
      arena.top = base
    }
    if (this.base !== base || this.buffer !== arena.buffer) this.settle(base)
    return into === undefined ? this.results() : this.write(into, accumulate)
  }

  /** The results as arrays that nothing else holds. */
  private results(): readonly TypedArray[] {
    const { stats } = this.arena
    const outs = this.outputViews
    const made: TypedArray[] = []
    for (let i = 0; i < outs.length; i++) {
      const v = outs[i]!
      const y = allocate(this.program.outputs[i]!.dtype, v.length)
      copy(y, v)
      stats.arrays++
      stats.arrayBytes += v.byteLength
      stats.bytesOut += v.byteLength
      made.push(y)
    }
    return made
  }
  private write(into: readonly TypedArray[], accumulate: boolean): readonly TypedArray[] {
    const { stats } = this.arena
    const outs = this.outputViews
    for (let i = 0; i < outs.length; i++) {
      const v = outs[i]!
      const t = into[i]!
      stats.bytesOut += v.byteLength
      if (!accumulate) copy(t, v)
      else for (let j = 0; j < v.length; j++) t[j]! += v[j]!
    }
    return into
  }

  private runJs(step: number): void {
    const { installed, plan, image, arena } = this
    const run = installed[plan.steps[step]!.kernel]!.run!
    if (this.views?.buffer !== arena.buffer) this.views = new Views(arena.buffer)
    const from = image.recordOf[step]!
    arena.stats.kernelCalls++
    run(this.words.subarray(from, from + 4096), this.views!)
  }

  dispose(): void {
    if (this.arena.owner === this) this.arena.owner = undefined
    this.buffer = undefined
    this.inputViews = []
    this.capturedViews = []
    this.outputViews = []
  }
}
