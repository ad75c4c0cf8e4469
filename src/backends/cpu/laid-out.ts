/** A plan laid out in memory: its image, the views through which it is fed and read, and the call. It knows its arrays by dtype and size alone. */

import { itemBytes } from '../../core/graph/aval.js'
import { copyOf, type TypedArray, viewOf } from '../../core/graph/ndarray.js'
import type { Program } from '../../core/graph/program.js'
import type { Tensor } from '../../core/graph/tensor.js'
import type { DType } from '../../core/types/dtype.js'
import { HEAP, planBytes } from '../plan/cache.js'
import type { Ir } from '../plan/ir.js'
import type { Plan } from '../plan/plan.js'
import type { Loop } from '../plan/repeat.js'
import type { Arena } from './arena.js'
import type { Image, Move, Segment } from './image.js'
import type { Installed } from './kernels.js'
import { Views } from './plain.js'
import { type Arrays, addressesOf, type Elements, elementsOf, type Pointable, pointableOf, pointedAt } from './pointing.js'
import { stepEntry } from './records.js'

/** Up to this length a loop is quicker than the call of `set`. */
const SHORT = 32
const copy = (to: TypedArray, from: TypedArray): void => {
  const n = to.length
  if (n > SHORT) to.set(from as never)
  else if (to instanceof Float64Array && from instanceof Float64Array) copyShort(to, from)
  else for (let i = 0; i < n; i++) to[i] = from[i]!
}
/** A loop that meets arrays of one kind reads elements without asking which. */
const copyShort = (to: Float64Array, from: Float64Array): void => {
  for (let i = 0; i < to.length; i++) to[i] = from[i]!
}

/** Literals in slots of eight bytes, and the tables behind. */
const literalsOf = (ir: Ir, { constants, arena, tables }: Image): Uint8Array => {
  const buffer = new ArrayBuffer(arena - constants)
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
  const bytes = new Uint8Array(buffer)
  tables.forEach((slot, table) => void bytes.set(table, 8 * slot))
  return bytes
}

/** What is laid out. */
export interface Making {
  readonly program: Program
  readonly ir: Ir
  readonly plan: Plan
  readonly installed: readonly Installed[]
  readonly image: Image
  /** Fills the program's memory with NaN before each run. */
  readonly poison: boolean
  /** Gives back what was made for it. */
  readonly release: () => void
}
/** What a plan is run with: neither nodes nor tensors, so that it keeps none alive. */
interface Parts extends Omit<Making, 'program' | 'ir'>, Arrays {
  readonly constants: Uint8Array
  /** The image's words at the base where they were put last: its own at 0, unless kernels in JavaScript move some. */
  words: Int32Array<ArrayBuffer>
  /** Records of steps in JavaScript, by step. */
  readonly records: readonly (Int32Array | undefined)[]
}
const partsOf = ({ program, ir, plan, installed, image, poison, release }: Making): Parts => {
  const moved = installed.some((k) => k.run !== undefined)
  const words = moved ? image.words.slice() : image.words
  return {
    plan,
    installed,
    image,
    poison,
    release,
    inputs: program.inputs.map((x) => elementsOf(x.aval)),
    captured: ir.captured.map(({ tensor }) => elementsOf({ dtype: tensor.dtype, size: tensor.data.length })),
    outputs: program.outputs.map((o) => elementsOf(o.aval)),
    constants: literalsOf(ir, image),
    words,
    records: moved
      ? plan.steps.map((s, i) =>
          installed[s.kernel]!.run === undefined ? undefined : words.subarray(image.recordOf[i]!, image.recordEnd[i]!),
        )
      : [],
  }
}

/** Bytes that are poisoned behind a program's own: what a kernel reads past its end. */
const GUARD = 4096

export class LaidOut {
  private of: Parts | undefined
  private base = -1
  private buffer: ArrayBuffer | undefined
  private inputViews: (TypedArray | undefined)[] = []
  private capturedViews: TypedArray[] = []
  private outputViews: TypedArray[] = []
  private views: Views | undefined
  /** What may be pointed at where it stays; found when something stays. */
  private pointable: Pointable | undefined
  /** Addresses of what is pointed at, by its place among inputs, captured tensors and outputs; 0 for what is copied. Absent where nothing is. */
  private pointed: Float64Array | undefined
  /** What the run that goes on points at. */
  private current: Float64Array | undefined
  /** Where the image lies in the memory. */
  private wordsAt: Int32Array | undefined
  private constantsAt: Uint8Array | undefined
  /** Iterations of loops that run here, the outermost first. */
  private rounds: { readonly moves: readonly Move[]; at: number }[] = []
  /** Runs on the stack: a kernel in JavaScript may run, and dispose, this very executable. */
  private running = 0
  disposed = false
  readonly bytes: number

  constructor(
    of: Making,
    private readonly arena: Arena,
  ) {
    const parts = partsOf(of)
    this.of = parts
    const { image, constants } = parts
    const words = 2 * image.words.length + image.relocations.length + image.recordOf.length
    const arrays = of.program.inputs.length + of.program.outputs.length + of.ir.captured.length
    // A value stands for its node too.
    const objects = 2048 + 400 * of.ir.values.length + 256 * arrays
    this.bytes = HEAP * objects + 4 * words + constants.length + planBytes(of.plan)
  }

  /** Not after it was disposed. */
  get plan(): Plan {
    return this.of!.plan
  }

  /** Puts the image (records, step table, literals) at a base, unless it lies there already. */
  private settle(of: Parts, base: number): void {
    const { arena } = this
    const { image, plan } = of
    arena.reserve(base + image.bytes)
    if (this.base === base && this.buffer === arena.buffer && arena.owner === this) return
    if (this.base !== base) {
      if (of.words === image.words && base !== 0) of.words = image.words.slice()
      if (of.words !== image.words) for (const r of image.relocations) of.words[r] = image.words[r]! + base
      this.base = base
      this.pointed = undefined
      this.buffer = undefined
      arena.owner = undefined
    }
    if (this.buffer !== arena.buffer) {
      const { buffer } = arena
      this.buffer = buffer
      this.views = new Views(buffer)
      this.wordsAt = new Int32Array(buffer, base, of.words.length)
      this.constantsAt = new Uint8Array(buffer, base + image.constants, of.constants.length)
      const at = (storage: number): number => base + image.arena + plan.storages[storage]!.offset
      this.inputViews = of.inputs.map((x, i) => {
        const s = plan.inputs[i]!
        return s < 0 ? undefined : viewOf(x.dtype, buffer, at(s), x.size)
      })
      this.capturedViews = of.captured.map((c, i) => viewOf(c.dtype, buffer, at(plan.captured[i]!), c.size))
      this.outputViews = of.outputs.map((o, i) => {
        const { storage, offset } = plan.outputs[i]!
        return viewOf(o.dtype, buffer, at(storage) + offset, o.size)
      })
    }
    if (arena.owner !== this) {
      this.wordsAt!.set(of.words)
      this.constantsAt!.set(of.constants)
      arena.owner = this
    }
  }

  /** Runs it; not after it was disposed. */
  run(
    inputs: readonly TypedArray[],
    captured: readonly Tensor[],
    into: readonly TypedArray[] | undefined,
    accumulate: boolean,
  ): readonly TypedArray[] {
    const of = this.of!
    const { arena } = this
    const base = arena.top
    // Addresses are taken before the memory grows, after which views of it have none.
    const kept = arena.kept === 0 ? undefined : addressesOf(arena.buffer, of, inputs, captured, into)
    this.settle(of, base)
    const outer = this.current
    if (kept !== undefined) this.pointable ??= pointableOf(of.plan, of.image.segments, of.outputs)
    const wanted = kept && pointedAt(of.plan, this.pointable!, of, kept, accumulate)
    this.current = wanted
    this.point(of, wanted)
    if (of.poison) this.fill(of, base)
    this.read(of, inputs, captured, kept)
    this.running++
    arena.top = base + of.image.bytes
    let done = false
    const { rounds } = this
    if (rounds.length > 0) this.rounds = []
    try {
      this.steps(of, base, of.image.segments)
      done = true
    } finally {
      // Words that a loop had moved when something was thrown, here or by a function that WebAssembly calls, are written again.
      if (!done) this.base = -1
      this.rounds = done || this.rounds !== rounds ? rounds : []
      this.current = outer
      arena.top = base
      this.running--
      if (!done && this.disposed) this.dispose()
    }
    if (this.base !== base || this.buffer !== arena.buffer) {
      this.settle(of, base)
      this.point(of, wanted)
    }
    const results = into === undefined ? this.results(of) : this.write(of, into, accumulate, kept)
    if (this.disposed) this.dispose()
    return results
  }

  /** Puts addresses of elements that stay into the records, and takes others out. */
  private point(of: Parts, wanted: Float64Array | undefined): void {
    const { pointed } = this
    if (wanted === undefined && pointed === undefined) return
    const { image, plan, words } = of
    const storages = [...plan.inputs, ...plan.captured, ...plan.outputs.map((o) => o.storage)]
    let any = false
    storages.forEach((s, i) => {
      const to = wanted?.[i] ?? 0
      any ||= to !== 0
      if (to === (pointed?.[i] ?? 0)) return
      // Relative to the image in its own memory, absolute elsewhere.
      const by = to === 0 ? this.base : to - image.arena - plan.storages[s]!.offset
      for (const word of image.wordsOf.get(s)!) {
        words[word] = image.words[word]! + by
        this.wordsAt![word] = words[word]!
      }
    })
    this.pointed = any ? wanted : undefined
  }
  /** The array at an address, where the view that was given has lost its memory. */
  private again(given: TypedArray, { dtype, size }: Elements, address: number): TypedArray {
    return address === 0 || given.length === size ? given : viewOf(dtype, this.arena.buffer, address, size)
  }

  /** Copies what the program reads into its memory. */
  private read(of: Parts, inputs: readonly TypedArray[], captured: readonly Tensor[], kept: Float64Array | undefined): void {
    const { stats } = this.arena
    stats.calls++
    const { inputViews, capturedViews, pointed } = this
    for (let i = 0; i < inputViews.length; i++) {
      const v = inputViews[i]
      if (v === undefined || (pointed !== undefined && pointed[i] !== 0)) continue
      stats.bytesIn += of.inputs[i]!.bytes
      copy(v, kept === undefined ? inputs[i]! : this.again(inputs[i]!, of.inputs[i]!, kept[i]!))
    }
    for (let i = 0; i < capturedViews.length; i++) {
      if (pointed !== undefined && pointed[inputViews.length + i] !== 0) continue
      const v = capturedViews[i]!
      stats.bytesIn += of.captured[i]!.bytes
      copy(v, captured[i]!.data)
    }
  }
  private steps(of: Parts, base: number, segments: readonly Segment[]): void {
    const { arena } = this
    const { image } = of
    for (let i = 0; i < segments.length; i++) {
      const s = segments[i]!
      if (s.kind === 'wasm') arena.run(base + 4 * (image.stepTable + stepEntry.words * s.start), s.count, s.calls)
      else if (s.kind === 'repeat') this.repeat(of, base, s)
      else {
        this.runJs(of, s.step)
        // A kernel may have run compiled functions, even this very one, further up in the memory.
        if (this.base !== base || this.buffer !== arena.buffer) {
          this.settle(of, base)
          this.point(of, this.current)
          this.move(of)
        }
      }
    }
  }
  /** A loop with a kernel in JavaScript in it. */
  private repeat(of: Parts, base: number, { loop, segments }: Segment & { readonly kind: 'repeat' }): void {
    const { count, flag } = loop
    const round = { moves: of.image.moves.get(loop)!, at: 0 }
    this.rounds.push(round)
    for (; round.at < count; round.at++) {
      if (flag !== undefined && !this.isTaken(of, flag)) {
        if (flag.ends) break
        continue
      }
      this.move(of)
      this.steps(of, base, segments)
    }
    round.at = 0
    this.move(of)
    this.rounds.pop()
  }
  private isTaken({ image, plan }: Parts, { storage, offset, advance }: NonNullable<Loop['flag']>): boolean {
    const walked = this.rounds.reduce((n, { at }, d) => n + at * (advance?.[d] ?? 0), offset)
    return new Uint8Array(this.arena.buffer)[this.base + image.arena + plan.storages[storage]!.offset + walked] !== 0
  }
  /** Puts the words that move where they are in these iterations. */
  private move({ image, words }: Parts): void {
    const { base, rounds } = this
    const at = this.wordsAt!
    for (const { moves } of rounds) for (const { word } of moves) words[word] = image.words[word]! + base
    for (const { moves, at: k } of rounds) for (const { word, by } of moves) words[word]! += k * by
    for (const { moves } of rounds) for (const { word } of moves) at[word] = words[word]!
  }

  /** A result where it lies: in the program's memory, or in an argument that stays. */
  private result({ plan, outputs }: Parts, i: number): TypedArray {
    const { pointed } = this
    const source = pointed === undefined ? -1 : this.pointable!.within[i]!
    if (source < 0 || pointed![source] === 0) return this.outputViews[i]!
    return viewOf(outputs[i]!.dtype, this.arena.buffer, pointed![source]! + plan.outputs[i]!.offset, outputs[i]!.size)
  }
  /** The results as arrays that nothing else holds. */
  private results(of: Parts): readonly TypedArray[] {
    const { stats } = this.arena
    const made: TypedArray[] = []
    for (let i = 0; i < of.outputs.length; i++) {
      const v = this.result(of, i)
      const y = copyOf(of.outputs[i]!.dtype, v)
      stats.arrays++
      stats.arrayBytes += v.byteLength
      stats.bytesOut += v.byteLength
      made.push(y)
    }
    return made
  }
  private write(of: Parts, into: readonly TypedArray[], accumulate: boolean, kept: Float64Array | undefined): readonly TypedArray[] {
    const { stats } = this.arena
    const before = of.inputs.length + of.captured.length
    for (let i = 0; i < of.outputs.length; i++) {
      if (this.pointed !== undefined && this.pointed[before + i] !== 0) continue
      const v = this.result(of, i)
      const t = kept === undefined ? into[i]! : this.again(into[i]!, of.outputs[i]!, kept[before + i]!)
      stats.bytesOut += of.outputs[i]!.bytes
      if (!accumulate) copy(t, v)
      else for (let j = 0; j < v.length; j++) t[j]! += v[j]!
    }
    return into
  }

  private runJs(of: Parts, step: number): void {
    const { arena } = this
    const run = of.installed[of.plan.steps[step]!.kernel]!.run!
    if (this.views?.buffer !== arena.buffer) this.views = new Views(arena.buffer)
    arena.stats.kernelCalls++
    run(of.records[step]!, this.views!)
  }

  /** Every byte of arena and scratch is 0xff: NaN as a float, -1 as an integer, neither true nor false. */
  private fill({ image }: Parts, base: number): void {
    const { buffer } = this.arena
    const [from, to] = [base + image.arena, Math.min(base + image.bytes + GUARD, buffer.byteLength)]
    new Uint8Array(buffer, from, to - from).fill(0xff)
  }

  /** Gives back all that is held; after the run that is on the stack, where there is one. */
  dispose(): void {
    this.disposed = true
    const { of } = this
    if (of === undefined || this.running > 0) return
    if (this.arena.owner === this) this.arena.owner = undefined
    this.of = undefined
    this.buffer = undefined
    this.views = undefined
    this.wordsAt = undefined
    this.constantsAt = undefined
    this.inputViews = []
    this.capturedViews = []
    this.outputViews = []
    of.release()
  }
}
