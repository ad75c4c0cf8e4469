/** A program's image in the memory: one record per step, the step table, literals, tables of kernels, the arena, scratch. Addresses are relative to its base. */

import type { Start } from '../plan/f16-storage.js'
import { IntList } from '../plan/ints.js'
import type { Ir } from '../plan/ir.js'
import type { Kernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Plan } from '../plan/plan.js'
import { type Loop, type Part, partsOf, timesOf } from '../plan/repeat.js'
import type { Step } from '../plan/step.js'
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
    private readonly entriesOf: (step: number) => readonly Entry[],
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
      const calls = open.reduce((n, p) => n + this.callsOf(p), 0) / around
      segments.push({ kind: 'wasm', ...this.place(open), calls })
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
    const entries = parts.flatMap((p): readonly Entry[] => {
      if ('step' in p) return this.entriesOf(p.step)
      this.loops.push({ ...this.place(p.parts), loop: p.loop })
      return [{ loop: this.loops.length - 1 }]
    })
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

/** The words of an image while they are written, in any order inside of a record. */
class Words {
  readonly list = new IntList()
  readonly relocations = new IntList()
  /** Addresses as (word, storage), known only when the records' length is. */
  private readonly addresses = new IntList()
  private readonly scratchWords = new IntList()
  private record = 0

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
  put(word: number, x: number): void {
    while (this.list.length <= this.record + word) this.list.push(0)
    this.list.set(this.record + word, x)
  }
  /** A byte offset from the image's base. */
  relative(word: number, x: number): void {
    this.put(word, x)
    this.relocations.push(this.record + word)
  }
  address(word: number, { storage, offset }: Start): number {
    this.put(word, offset)
    this.addresses.push(this.record + word)
    this.addresses.push(storage)
    return this.record + word
  }
  scratch(word: number, offset = 0): void {
    this.put(word, offset)
    this.scratchWords.push(this.record + word)
  }
  /** Puts in what is known at the end: where each storage and the scratch lie. Notes the words of some storages. */
  settle(at: (storage: number) => number, scratchAt: number, wordsOf: ReadonlyMap<number, number[]>): void {
    const { list, addresses, scratchWords } = this
    for (let i = 0; i < addresses.length; i += 2) {
      const word = addresses.get(i)
      const storage = addresses.get(i + 1)
      list.set(word, list.get(word) + at(storage))
      this.relocations.push(word)
      wordsOf.get(storage)?.push(word)
    }
    for (let i = 0; i < scratchWords.length; i++) {
      const word = scratchWords.get(i)
      list.set(word, list.get(word) + scratchAt)
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
const writeLoops = (words: Words, table: Table, moving: Moving[], loops: readonly Loop[]) => {
  const { at } = repeatRecord
  const records = table.loops.map(({ count, loop }) => {
    const record = words.begin()
    for (let k = 0; k < repeatRecord.words; k++) words.put(k, 0)
    words.put(at.count, count)
    words.put(at.iterations, loop.count)
    const { flag } = loop
    if (flag !== undefined) {
      words.put(at.ends, Number(flag.ends))
      const word = words.address(at.flag, flag)
      if (flag.advance !== undefined) moving.push({ step: loop.first, depth: loop.depth, word, advance: flag.advance })
    }
    return record
  })
  const moves = movesOf(moving, loops)
  const lists = table.loops.map(({ loop }) => {
    const list = words.begin()
    moves.get(loop)!.forEach(({ word, by }, k) => {
      words.relative(moveEntry.words * k + moveEntry.at.word, 4 * word)
      words.put(moveEntry.words * k + moveEntry.at.by, by)
    })
    return list
  })
  return { records, lists, moves }
}

/** The record of a step that threads share, behind that of the step. */
const writeFork = (words: Words, kernel: number, of: number, cut: Cut): number => {
  const list = words.begin()
  cut.moves.forEach(([word, by], k) => {
    words.put(moveEntry.words * k + moveEntry.at.word, 4 * word)
    words.put(moveEntry.words * k + moveEntry.at.by, by)
  })
  const record = words.begin()
  const { at } = forkRecord
  words.put(at.kernel, kernel)
  words.relative(at.record, 4 * of)
  words.put(at.words, cut.words)
  words.put(at.parts, cut.parts)
  words.put(at.units, cut.units)
  words.put(at.axis, 4 * cut.axis)
  words.relative(at.moves, 4 * list)
  words.put(at.moving, cut.moves.length)
  words.put(at.scratch, 4 * cut.scratch)
  words.put(at.scratchBytes, cut.scratchBytes)
  words.put(at.long, cut.long)
  words.put(at.microseconds, cut.microseconds)
  return record
}

/** `engine`: where there is one, with the kernels of loops over steps and of steps that threads share. */
export const layOut = (plan: Plan, installed: readonly Installed[], ir: Ir, engine: Engine | undefined): Image => {
  const crew = engine?.crew
  /** What runs for steps that threads share. */
  const forks = new Map<number, readonly Entry[]>()
  const words = new Words()
  const recordOf = new Int32Array(plan.steps.length)
  const recordEnd = new Int32Array(plan.steps.length)
  const moving: Moving[] = []
  const tables = new Map<Uint8Array, number>()
  let slots = ir.consts.length
  let scratch = 0
  plan.steps.forEach((s, step) => {
    recordOf[step] = words.begin()
    const to: RecordWriter = {
      number: (word, x) => words.put(word, x),
      address: (k, o) => {
        const word = words.address(k, o)
        if (o.advance !== undefined) moving.push({ step, depth: o.advance.length, word, advance: o.advance })
      },
      scratch: (word, offset) => words.scratch(word, offset),
      table: (word, bytes) => {
        if (!tables.has(bytes)) {
          tables.set(bytes, slots)
          slots += Math.ceil(bytes.length / 8)
        }
        words.address(word, { storage: -1 - tables.get(bytes)!, offset: 0 })
      },
    }
    const kernel = installed[s.kernel]!
    const shared = kernel.run === undefined ? crew?.cut(plan.kernels[s.kernel]!, s, kernel) : undefined
    write(plan.kernels[s.kernel]!, s, to, kernel, shared?.sharedBytes)
    recordEnd[step] = words.length
    scratch = Math.max(scratch, kernel.scratch(s.sizes))
    if (shared === undefined) return
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
  })
  const table = new Table(
    (i) => installed[plan.steps[i]!.kernel]!.run !== undefined,
    (i) => forks.get(i) ?? [{ kernel: installed[plan.steps[i]!.kernel]!.index, record: recordOf[i]! }],
    timesOf(plan.steps, plan.loops),
  )
  const segments = table.segments(partsOf(plan.steps.length, plan.loops))
  const { records, lists, moves } = writeLoops(words, table, moving, plan.loops)
  const stepTable = words.begin()
  table.entries.forEach((e, i) => {
    words.put(stepEntry.words * i + stepEntry.at.kernel, 'loop' in e ? engine!.repeat : e.kernel)
    words.relative(stepEntry.words * i + stepEntry.at.record, 4 * ('loop' in e ? records[e.loop]! : e.record))
  })
  const end = words.length
  table.loops.forEach(({ start, loop }, i) => {
    words.at(records[i]!)
    words.relative(repeatRecord.at.steps, 4 * (stepTable + stepEntry.words * start))
    words.relative(repeatRecord.at.moves, 4 * lists[i]!)
    words.put(repeatRecord.at.moving, moves.get(loop)!.length)
  })
  const constants = aligned(4 * end)
  const arena = aligned(constants + 8 * slots)
  const scratchAt = arena + plan.arenaBytes
  const wordsOf = new Map([...plan.inputs, ...plan.captured, ...plan.outputs.map((o) => o.storage)].map((s) => [s, [] as number[]]))
  words.settle((storage) => (storage < 0 ? constants + 8 * (-1 - storage) : arena + plan.storages[storage]!.offset), scratchAt, wordsOf)
  return {
    words: words.list.toArray(),
    relocations: words.relocations.toArray(),
    recordOf,
    recordEnd,
    segments,
    wordsOf,
    moves,
    shared: forks.size,
    stepTable,
    constants,
    tables,
    arena,
    bytes: aligned(scratchAt + scratch),
  }
}
