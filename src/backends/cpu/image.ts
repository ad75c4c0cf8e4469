/** A program's image in the memory: one record per step, the step table, literals, tables of kernels, the arena, scratch. Addresses are relative to its base. */

import type { Ir } from '../plan/ir.js'
import type { Kernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Plan } from '../plan/plan.js'
import { type Loop, type Part, partsOf, timesOf } from '../plan/repeat.js'
import type { Operand, Step } from '../plan/step.js'
import type { Engine } from './engine.js'
import type { Cut } from './kernel.js'
import type { Installed } from './kernels.js'
import { forkRecord, moveEntry, type RecordWriter, repeatRecord, stepEntry, writeGemm, writeLoop, writeOpaque } from './records.js'

/** Steps between two JavaScript kernels run as one call into WebAssembly, loops of such among them; a loop with one in it runs here, its words moved one after the other. */
export type Segment =
  | { readonly kind: 'wasm'; readonly start: number; readonly count: number; readonly calls: number }
  | { readonly kind: 'js'; readonly step: number }
  | { readonly kind: 'repeat'; readonly loop: Loop; readonly segments: readonly Segment[] }
/** A word of the image, and the bytes by which it moves with each iteration. */
export interface Move {
  readonly word: number
  readonly by: number
}

/** The step table as it is written: a kernel with a record, or a loop over a part of the table. */
type Entry = { readonly kernel: number; readonly record: number } | { readonly loop: number }
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
    /** Puts the entries of a step behind others. */
    private readonly put: (step: number, to: Entry[]) => void,
    private readonly times: Float64Array,
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
      let calls = 0
      for (const p of open) calls += this.callsOf(p)
      segments.push({ kind: 'wasm', ...this.place(open), calls: calls / around })
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
        segments.push({ kind: 'repeat', loop: p.loop, segments: this.segments(p.parts, around * count) })
      }
    }
    close()
    return segments
  }
  private callsOf(p: Part): number {
    return 'step' in p ? this.times[p.step]! : p.parts.reduce((n, q) => n + this.callsOf(q), 0)
  }
  /** The entries of parts, one after the other; those of loops among them before. */
  private place(parts: readonly Part[]): { readonly start: number; readonly count: number } {
    const entries: Entry[] = []
    for (const p of parts)
      if ('step' in p) this.put(p.step, entries)
      else entries.push({ loop: this.loops.push({ ...this.place(p.parts), loop: p.loop }) - 1 })
    const start = this.entries.length
    for (const e of entries) this.entries.push(e) // a spread has as many arguments as there are steps
    return { start, count: entries.length }
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
  /** The words that hold addresses in the storage of an input, a captured tensor or an output: how elements that stay elsewhere are pointed at. */
  readonly wordsOf: ReadonlyMap<number, readonly number[]>
  /** What moves with each loop. */
  readonly moves: ReadonlyMap<Loop, readonly Move[]>
  /** How many steps threads share. */
  readonly shared: number
  readonly stepTable: number
  readonly constants: number
  /** Tables that kernels read, which lie behind the literals: each with its first slot. */
  readonly tables: ReadonlyMap<Uint8Array, number>
  readonly arena: number
  readonly bytes: number
}

const write = (kernel: Kernel, s: Step, to: RecordWriter, installed: Installed, shared: number | undefined): void =>
  kernel.kind === 'loop' ? writeLoop(s, to, shared) : kernel.kind === 'gemm' ? writeGemm(s, to) : writeOpaque(s, to, installed, shared)

type Address = Pick<Operand, 'storage' | 'offset' | 'advance'>
/** The words of an image while they are written, in any order inside of a record. */
class Words implements RecordWriter {
  readonly list: number[] = []
  readonly relocations: number[] = []
  /** Addresses as (word, storage), known only when the records' length is. */
  private readonly addresses: number[] = []
  private readonly scratchWords: number[] = []
  private record = 0
  /** The step whose record is written, and what moves with the loops around it. */
  step = 0
  readonly moving: Moving[] = []
  /** Tables that kernels read, each with its first slot behind the literals. */
  readonly tables = new Map<Uint8Array, number>()

  /** `slots`: those of literals; with those of tables in the end. */
  constructor(public slots: number) {}

  get length(): number {
    return this.list.length
  }
  align(): void {
    while (this.list.length % 4 !== 0) this.list.push(0)
  }
  /** Where a record begins that is written now. */
  begin(): number {
    this.align()
    this.record = this.list.length
    return this.record
  }
  /** Goes on with a record that was begun. */
  at(record: number): void {
    this.record = record
  }
  number(word: number, x: number): void {
    const { list } = this
    const at = this.record + word
    while (list.length < at) list.push(0)
    list[at] = x
  }
  /** A byte offset from the image's base. */
  relative(word: number, x: number): void {
    this.number(word, x)
    this.relocations.push(this.record + word)
  }
  address(word: number, { storage, offset, advance }: Address): number {
    const at = this.record + word
    this.number(word, offset)
    this.addresses.push(at, storage)
    if (advance !== undefined) this.moving.push({ step: this.step, depth: advance.length, word: at, advance })
    return at
  }
  table(word: number, bytes: Uint8Array): void {
    let slot = this.tables.get(bytes)
    if (slot === undefined) {
      slot = this.slots
      this.slots += Math.ceil(bytes.length / 8)
      this.tables.set(bytes, slot)
    }
    this.address(word, { storage: -1 - slot, offset: 0 })
  }
  scratch(word: number, offset = 0): void {
    this.number(word, offset)
    this.scratchWords.push(this.record + word)
  }
  /** Puts in what is known at the end: where each storage and the scratch lie. Notes the words of some storages. */
  settle(at: (storage: number) => number, scratchAt: number, wordsOf: ReadonlyMap<number, number[]>): void {
    const { list, addresses, scratchWords } = this
    for (let i = 0; i < addresses.length; i += 2) {
      const word = addresses[i]!
      const storage = addresses[i + 1]!
      list[word]! += at(storage)
      this.relocations.push(word)
      wordsOf.get(storage)?.push(word)
    }
    for (let i = 0; i < scratchWords.length; i++) {
      const word = scratchWords[i]!
      list[word]! += scratchAt
      this.relocations.push(word)
    }
  }
}

/** A word that moves with the loops around a step or a loop. */
interface Moving {
  /** The loops around it are those that hold this step, up to this depth. */
  readonly step: number
  readonly depth: number
  readonly word: number
  readonly advance: readonly number[]
}
const movesOf = (moving: readonly Moving[], loops: readonly Loop[]): ReadonlyMap<Loop, readonly Move[]> => {
  const moves = new Map(loops.map((l) => [l, [] as Move[]]))
  for (const { step, depth, word, advance } of moving)
    for (const l of loops) {
      const by = l.first <= step && step < l.end && l.depth <= depth ? (advance[l.depth] ?? 0) : 0
      if (by !== 0) moves.get(l)!.push({ word, by })
    }
  return moves
}

/** The records of the loops in a step table, and their lists of moves. */
const writeLoops = (words: Words, table: Table, loops: readonly Loop[]) => {
  const { at } = repeatRecord
  const records = table.loops.map(({ count, loop }) => {
    const record = words.begin()
    for (let k = 0; k < repeatRecord.words; k++) words.number(k, 0)
    words.number(at.count, count)
    words.number(at.iterations, loop.count)
    const { flag } = loop
    if (flag !== undefined) {
      words.number(at.ends, Number(flag.ends))
      const word = words.address(at.flag, { storage: flag.storage, offset: flag.offset })
      if (flag.advance !== undefined) words.moving.push({ step: loop.first, depth: loop.depth, word, advance: flag.advance })
    }
    return record
  })
  const moves = movesOf(words.moving, loops)
  const lists = table.loops.map(({ loop }) => {
    const list = words.begin()
    moves.get(loop)!.forEach(({ word, by }, k) => {
      words.relative(moveEntry.words * k + moveEntry.at.word, 4 * word)
      words.number(moveEntry.words * k + moveEntry.at.by, by)
    })
    return list
  })
  return { records, lists, moves }
}

/** The record of a step that threads share, behind that of the step. */
const writeFork = (words: Words, kernel: number, of: number, cut: Cut): number => {
  const list = words.begin()
  cut.moves.forEach(([word, by], k) => {
    words.number(moveEntry.words * k + moveEntry.at.word, 4 * word)
    words.number(moveEntry.words * k + moveEntry.at.by, by)
  })
  const record = words.begin()
  const { at } = forkRecord
  words.number(at.kernel, kernel)
  words.relative(at.record, 4 * of)
  words.number(at.words, cut.words)
  words.number(at.parts, cut.parts)
  words.number(at.units, cut.units)
  words.number(at.axis, 4 * cut.axis)
  words.relative(at.moves, 4 * list)
  words.number(at.moving, cut.moves.length)
  words.number(at.scratch, 4 * cut.scratch)
  words.number(at.scratchBytes, cut.scratchBytes)
  words.number(at.long, cut.long)
  words.number(at.microseconds, cut.microseconds)
  return record
}

/** `engine`: where there is one, with the kernels of loops over steps and of steps that threads share. */
export const layOut = (plan: Plan, installed: readonly Installed[], ir: Ir, engine: Engine | undefined): Image => {
  const crew = engine?.crew
  /** What runs for steps that threads share. */
  const forks = new Map<number, readonly Entry[]>()
  const words = new Words(ir.consts.length)
  const recordOf = new Int32Array(plan.steps.length)
  const recordEnd = new Int32Array(plan.steps.length)
  let scratch = 0
  for (let step = 0; step < plan.steps.length; step++) {
    const s = plan.steps[step]!
    words.step = step
    recordOf[step] = words.begin()
    const kernel = installed[s.kernel]!
    const shared = kernel.run === undefined ? crew?.cut(plan.kernels[s.kernel]!, s, kernel) : undefined
    write(plan.kernels[s.kernel]!, s, words, kernel, shared?.sharedBytes)
    recordEnd[step] = words.length
    scratch = Math.max(scratch, kernel.scratch(s.sizes))
    if (shared === undefined) continue
    const { sharedBytes = 0, each } = shared
    forks.set(
      step,
      each.map(({ index, scratchBytes, cut }) => {
        scratch = Math.max(scratch, sharedBytes + (cut === undefined ? scratchBytes : cut.scratchBytes * crew!.count))
        return cut === undefined
          ? { kernel: index, record: recordOf[step]! }
          : { kernel: engine!.fork, record: writeFork(words, index, recordOf[step]!, cut) }
      }),
    )
  }
  const table = new Table(
    (i) => installed[plan.steps[i]!.kernel]!.run !== undefined,
    (i, to) => {
      const shared = forks.get(i)
      if (shared === undefined) to.push({ kernel: installed[plan.steps[i]!.kernel]!.index, record: recordOf[i]! })
      else for (const e of shared) to.push(e)
    },
    timesOf(plan.steps, plan.loops),
  )
  const segments = table.segments(partsOf(plan.steps.length, plan.loops))
  const { records, lists, moves } = writeLoops(words, table, plan.loops)
  const stepTable = words.begin()
  table.entries.forEach((e, i) => {
    words.number(stepEntry.words * i + stepEntry.at.kernel, 'loop' in e ? engine!.repeat : e.kernel)
    words.relative(stepEntry.words * i + stepEntry.at.record, 4 * ('loop' in e ? records[e.loop]! : e.record))
  })
  const end = words.length
  table.loops.forEach(({ start, loop }, i) => {
    words.at(records[i]!)
    words.relative(repeatRecord.at.steps, 4 * (stepTable + stepEntry.words * start))
    words.relative(repeatRecord.at.moves, 4 * lists[i]!)
    words.number(repeatRecord.at.moving, moves.get(loop)!.length)
  })
  const constants = aligned(4 * end)
  const arena = aligned(constants + 8 * words.slots)
  const scratchAt = arena + plan.arenaBytes
  const wordsOf = new Map([...plan.inputs, ...plan.captured, ...plan.outputs.map((o) => o.storage)].map((s) => [s, [] as number[]]))
  words.settle((storage) => (storage < 0 ? constants + 8 * (-1 - storage) : arena + plan.storages[storage]!.offset), scratchAt, wordsOf)
  return {
    words: new Int32Array(words.list),
    relocations: new Int32Array(words.relocations),
    recordOf,
    recordEnd,
    segments,
    wordsOf,
    moves,
    shared: forks.size,
    stepTable,
    constants,
    tables: words.tables,
    arena,
    bytes: aligned(scratchAt + scratch),
  }
}
