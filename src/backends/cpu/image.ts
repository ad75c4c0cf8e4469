/** A program's image in the memory: one record per step, the step table, literals, the arena, scratch. Addresses are relative to its base. */
import { IntList } from '../plan/ints.js'
import type { Ir } from '../plan/ir.js'
import type { Kernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Plan } from '../plan/plan.js'
import type { Step } from '../plan/step.js'
import type { Installed } from './kernels.js'
import { gemmWords, loopWords, opaqueWords, stepEntry, type Word } from './records.js'

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

const wordsOf = (kernel: Kernel, s: Step): readonly Word[] =>
  kernel.kind === 'loop' ? loopWords(s) : kernel.kind === 'gemm' ? gemmWords(s) : opaqueWords(s)

export const layOut = (plan: Plan, installed: readonly Installed[], ir: Ir): Image => {
  const words = new IntList()
  const relocations = new IntList()
  const recordOf = new Int32Array(plan.steps.length)
  // Addresses as (word, storage, offset), known only when the records' length is.
  const addresses = new IntList()
  const scratchWords = new IntList()
  let scratch = 0
  const put = (w: Word): void => {
    if (w === 'scratch') scratchWords.push(words.length)
    else if (typeof w !== 'number') {
      addresses.push(words.length)
      addresses.push(w.storage)
    }
    words.push(w === 'scratch' ? 0 : typeof w === 'number' ? w : w.offset)
  }
  const align = (): void => {
    while (words.length % 4 !== 0) words.push(0)
  }
  plan.steps.forEach((s, i) => {
    align()
    recordOf[i] = words.length
    for (const w of wordsOf(plan.kernels[s.kernel]!, s)) put(w)
    scratch = Math.max(scratch, installed[s.kernel]!.scratch(s.sizes))
  })
  align()
  const stepTable = words.length
  plan.steps.forEach((s, i) => {
    relocations.push(words.length + stepEntry.at.record)
    for (const w of stepEntry.of({ kernel: installed[s.kernel]!.index, record: 4 * recordOf[i]! })) words.push(w)
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
