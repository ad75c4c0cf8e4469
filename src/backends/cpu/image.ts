/** A program's image in the memory: one record per step, the step table, literals, the arena, scratch. Addresses are relative to its base. */
import { IntList } from '../plan/ints.js'
import type { Ir } from '../plan/ir.js'
import type { Kernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Plan } from '../plan/plan.js'
import { type Loop, type Part, partsOf, timesOf } from '../plan/repeat.js'
import type { Step } from '../plan/step.js'
import type { Installed } from './kernels.js'
import { moveEntry, type RecordWriter, repeatRecord, stepEntry, writeGemm, writeLoop, writeOpaque } from './records.js'

/** Steps between two JavaScript kernels run as one call into WebAssembly, loops of such among them; a loop with one in it runs here, its words moved one after the other. */
export type Segment =
  | { readonly kind: 'wasm'; readonly start: number; readonly count: number; readonly calls: number }
  | { readonly kind: 'js'; readonly step: number }
  | { readonly kind: 'repeat'; readonly count: number; readonly moves: readonly Move[]; readonly segments: readonly Segment[] }
/** A word of the image, and the bytes by which it moves with each iteration. */
export interface Move {
  readonly word: number
  readonly by: number
}

/** The step table as it is written: a kernel with a step's record, or a loop over a part of the table. */
type Entry = { readonly step: number } | { readonly loop: number }
interface TableLoop {
  readonly start: number
  readonly count: number
  readonly loop: Loop
}

/** Puts steps into the table, those of a loop together. */
class Table {
  readonly entries: Entry[] = []
  readonly loops: TableLoop[] = []
  constructor(
    private readonly inJs: (step: number) => boolean,
    private readonly times: Float64Array,
    private readonly movesOf: (loop: Loop) => readonly Move[],
  ) {}
  private hasJs(p: Part): boolean {
    return 'step' in p ? this.inJs(p.step) : p.parts.some((q) => this.hasJs(q))
  }
  /** `around`: how often the loops around these that run here do. */
  segments(parts: readonly Part[], around = 1): readonly Segment[] {
    const segments: Segment[] = []
    let open: Part[] = []
    const close = (): void => {
      if (open.length === 0) return
      const calls = open.reduce((n, p) => n + this.callsOf(p), 0) / around
      segments.push({ kind: 'wasm', start: this.place(open), count: open.length, calls })
      open = []
    }
    for (const p of parts) {
      if (!this.hasJs(p)) {
        open.push(p)
        continue
      }
      close()
      if ('step' in p) segments.push({ kind: 'js', step: p.step })
      else {
        const { count } = p.loop
        segments.push({ kind: 'repeat', count, moves: this.movesOf(p.loop), segments: this.segments(p.parts, around * count) })
      }
    }
    close()
    return segments
  }
  private callsOf(p: Part): number {
    return 'step' in p ? this.times[p.step]! : p.parts.reduce((n, q) => n + this.callsOf(q), 0)
  }
  /** The entries of parts, one after the other; those of loops among them before. */
  private place(parts: readonly Part[]): number {
    const entries = parts.map((p): Entry => {
      if ('step' in p) return p
      const start = this.place(p.parts)
      this.loops.push({ start, count: p.parts.length, loop: p.loop })
      return { loop: this.loops.length - 1 }
    })
    const start = this.entries.length
    this.entries.push(...entries)
    return start
  }
}

/** Where the parts of a program's image lie, relative to its base. */
export interface Image {
  readonly words: Int32Array<ArrayBuffer>
  /** Word positions to which the base is added. */
  readonly relocations: Int32Array
  readonly recordOf: Int32Array
  /** Where each step's record ends. */
  readonly recordEnd: Int32Array
  readonly segments: readonly Segment[]
  readonly stepTable: number
  readonly constants: number
  readonly arena: number
  readonly bytes: number
}

const write = (kernel: Kernel, s: Step, to: RecordWriter): void =>
  kernel.kind === 'loop' ? writeLoop(s, to) : kernel.kind === 'gemm' ? writeGemm(s, to) : writeOpaque(s, to)

/** `repeat`: the kernel of loops over steps. */
export const layOut = (plan: Plan, installed: readonly Installed[], ir: Ir, repeat: () => number): Image => {
  const words = new IntList()
  const relocations = new IntList()
  const recordOf = new Int32Array(plan.steps.length)
  const recordEnd = new Int32Array(plan.steps.length)
  /** Words that move with the iterations of the loops around, by step. */
  const advances: { word: number; advance: readonly number[] }[][] = plan.steps.map(() => [])
  let step = 0
  // Addresses as (word, storage, offset), known only when the records' length is.
  const addresses = new IntList()
  const scratchWords = new IntList()
  let scratch = 0
  // Where the record begins that is written now, and a word of it: they come in any order.
  let record = 0
  const put = (word: number, x: number): void => {
    while (words.length <= record + word) words.push(0)
    words.set(record + word, x)
  }
  const writer: RecordWriter = {
    number: put,
    address: (word, o) => {
      put(word, o.offset)
      addresses.push(record + word)
      addresses.push(o.storage)
      if (o.advance !== undefined) advances[step]!.push({ word: record + word, advance: o.advance })
    },
    scratch: (word) => {
      put(word, 0)
      scratchWords.push(record + word)
    },
  }
  const align = (): void => {
    while (words.length % 4 !== 0) words.push(0)
  }
  plan.steps.forEach((s, i) => {
    align()
    step = i
    record = recordOf[i] = words.length
    write(plan.kernels[s.kernel]!, s, writer)
    recordEnd[i] = words.length
    scratch = Math.max(scratch, installed[s.kernel]!.scratch(s.sizes))
  })
  align()
  const movesOf = ({ first, end, depth }: Loop): readonly Move[] =>
    advances
      .slice(first, end)
      .flatMap((list) => list.flatMap(({ word, advance }) => (advance[depth] ? [{ word, by: advance[depth] }] : [])))
  const table = new Table((i) => installed[plan.steps[i]!.kernel]!.run !== undefined, timesOf(plan.steps, plan.loops), movesOf)
  const segments = table.segments(partsOf(plan.steps.length, plan.loops))
  const moves = table.loops.map((l) => movesOf(l.loop))
  const loopRecords = table.loops.map((_, i) => {
    align()
    const at = words.length
    for (let k = 0; k < repeatRecord.words + moveEntry.words * moves[i]!.length; k++) words.push(0)
    return at
  })
  align()
  const stepTable = words.length
  const relative = (at: number, x: number): void => {
    words.set(at, x)
    relocations.push(at)
  }
  for (const e of table.entries) {
    relocations.push(words.length + stepEntry.at.record)
    record = words.length
    put(stepEntry.at.kernel, 'step' in e ? installed[plan.steps[e.step]!.kernel]!.index : repeat())
    put(stepEntry.at.record, 4 * ('step' in e ? recordOf[e.step]! : loopRecords[e.loop]!))
  }
  table.loops.forEach(({ start, count, loop }, i) => {
    const [at, of] = [loopRecords[i]!, repeatRecord.at]
    relative(at + of.steps, 4 * (stepTable + stepEntry.words * start))
    words.set(at + of.count, count)
    words.set(at + of.iterations, loop.count)
    const first = at + repeatRecord.words
    relative(at + of.moves, 4 * first)
    words.set(at + of.moving, moves[i]!.length)
    moves[i]!.forEach(({ word, by }, k) => {
      const entry = first + moveEntry.words * k
      relative(entry + moveEntry.at.word, 4 * word)
      words.set(entry + moveEntry.at.by, by)
    })
  })
  const constants = aligned(4 * words.length)
  const arena = aligned(constants + 8 * ir.consts.length)
  const scratchAt = arena + plan.arenaBytes
  for (let i = 0; i < addresses.length; i += 2) {
    const [word, storage] = [addresses.get(i), addresses.get(i + 1)]
    words.set(word, words.get(word) + (storage < 0 ? constants + 8 * (-1 - storage) : arena + plan.storages[storage]!.offset))
    relocations.push(word)
  }
  for (let i = 0; i < scratchWords.length; i++) {
    words.set(scratchWords.get(i), scratchAt)
    relocations.push(scratchWords.get(i))
  }
  return {
    words: words.toArray(),
    relocations: relocations.toArray(),
    recordOf,
    recordEnd,
    segments,
    stepTable,
    constants,
    arena,
    bytes: aligned(scratchAt + scratch),
  }
}
