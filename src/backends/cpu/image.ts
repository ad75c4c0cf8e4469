/** A program's image in the memory: one record per step, the step table, literals, the arena, scratch. Addresses are relative to its base. */
import { IntList } from '../plan/ints.js'
import type { Ir } from '../plan/ir.js'
import type { Kernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Plan } from '../plan/plan.js'
import type { Step } from '../plan/step.js'
import type { Installed } from './kernels.js'
import { type RecordWriter, stepEntry, writeGemm, writeLoop, writeOpaque } from './records.js'

/** Steps between two JavaScript kernels run as one call into WebAssembly. */
export type Segment =
  | { readonly kind: 'wasm'; readonly start: number; readonly count: number }
  | { readonly kind: 'js'; readonly step: number }

export const segmentsOf = (plan: Plan, installed: readonly Installed[]): readonly Segment[] => {
  const segments: Segment[] = []
  let start = 0
  const close = (end: number): void => {
    if (end > start) segments.push({ kind: 'wasm', start, count: end - start })
  }
  for (let i = 0; i < plan.steps.length; i++)
    if (installed[plan.steps[i]!.kernel]!.run !== undefined) {
      close(i)
      segments.push({ kind: 'js', step: i })
      start = i + 1
    }
  close(plan.steps.length)
  return segments
}

/** Where the parts of a program's image lie, relative to its base. */
export interface Image {
  readonly words: Int32Array<ArrayBuffer>
  /** Word positions to which the base is added. */
  readonly relocations: Int32Array
  readonly recordOf: Int32Array
  readonly stepTable: number
  readonly constants: number
  readonly arena: number
  readonly bytes: number
}

const write = (kernel: Kernel, s: Step, to: RecordWriter): void =>
  kernel.kind === 'loop' ? writeLoop(s, to) : kernel.kind === 'gemm' ? writeGemm(s, to) : writeOpaque(s, to)

export const layOut = (plan: Plan, installed: readonly Installed[], ir: Ir): Image => {
  const words = new IntList()
  const relocations = new IntList()
  const recordOf = new Int32Array(plan.steps.length)
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
    record = recordOf[i] = words.length
    write(plan.kernels[s.kernel]!, s, writer)
    scratch = Math.max(scratch, installed[s.kernel]!.scratch(s.sizes))
  })
  align()
  const stepTable = words.length
  plan.steps.forEach((s, i) => {
    relocations.push(words.length + stepEntry.at.record)
    record = words.length
    put(stepEntry.at.kernel, installed[s.kernel]!.index)
    put(stepEntry.at.record, 4 * recordOf[i]!)
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
    stepTable,
    constants,
    arena,
    bytes: aligned(scratchAt + scratch),
  }
}
