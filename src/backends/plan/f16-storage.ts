/** Storage as f16: which buffers between steps hold their f32 elements in two bytes, and the steps that then read and write those. */
import type { Kernel } from './kernel.js'
import type { Placed } from './memory.js'
import { movedLoop } from './repeat.js'
import type { Operand, Step } from './step.js'

/** Does the step add to what this storage holds? Such sums keep 32 bits. */
const accumulates = (s: Step, kernel: Kernel, storage: number): boolean => {
  const at = s.writes.findIndex((o) => o.storage === storage)
  if (at < 0) return false
  if (s.reads.some((o) => o.storage === storage)) return true
  if (kernel.kind === 'loop') return kernel.outputs.some((o, i) => s.writes[i]!.storage === storage && o.fold?.accumulate === true)
  return kernel.kind === 'gemm' ? kernel.accumulate : kernel.inPlace !== undefined && at === 0
}

const asF16 = (o: Operand): Operand => ({
  ...o,
  offset: o.offset / 2,
  strides: o.strides.map((x) => x / 2),
  ...(o.advance !== undefined && { advance: o.advance.map((x) => x / 2) }),
  f16: true,
})

/** Which arguments and results of a program are stored as f16, by their places. */
export interface Stored {
  readonly inputs: ReadonlySet<number>
  readonly outputs: ReadonlySet<number>
  /** Arguments that may be read where the caller has them. */
  readonly given: ReadonlySet<number>
}
/** Equal text, equal storage; nothing where all have 32 bits, in the program's own memory. */
export const storedKey = ({ inputs, outputs, given }: Stored): string =>
  inputs.size + outputs.size + given.size === 0 ? '' : `${[...inputs]};${[...outputs]};${[...given]}`

/** Which f32 values are stored as f16. */
export interface F16Storage extends Omit<Stored, 'given'> {
  /** Kernels that read and write them so. */
  readonly takes: (kernel: Kernel) => boolean
  /** What lies between two steps. */
  readonly between: boolean
}

/** A plan's steps and buffers with fewer bytes. */
export type Narrow = (
  placed: Placed,
  kernels: readonly Kernel[],
  sizes: readonly number[],
  copy: (from: Start, to: Start, size: number) => Step,
) => Placed

/** Where elements begin: a storage, and bytes into it. */
export interface Start {
  readonly storage: number
  readonly offset: number
}

/**
 * The same with storages of f16: those that `wanted` asks for, but none that a step adds to, that a kernel touches which does not take them,
 * or that holds an argument or result of 32 bits too. An argument or result that is asked for and may not be gets a storage of its own, and
 * a step that copies it (`copy`). `sizes` are those of the results.
 */
export const storeAsF16 =
  (wanted: F16Storage): Narrow =>
  ({ steps, loops, buffers, inputs, captured, outputs }, kernels, sizes, copy) => {
    const f16 = buffers.map((r) => wanted.between && r.dtype === 'f32')
    outputs.forEach(({ storage }, i) => {
      if (wanted.outputs.has(i)) f16[storage] = true
    })
    inputs.forEach((s, i) => {
      if (s >= 0) f16[s] = wanted.inputs.has(i)
    })
    for (const s of captured) f16[s] = false
    // A part of a storage may begin at an odd element, where nothing can be copied to or from.
    outputs.forEach(({ storage, offset }, i) => {
      if (!wanted.outputs.has(i) || offset !== 0) f16[storage] = false
    })
    const taken = kernels.map(wanted.takes)
    for (const s of steps) {
      const kernel = kernels[s.kernel]!
      for (const { storage } of [...s.reads, ...s.writes])
        if (f16[storage] === true && (!taken[s.kernel] || accumulates(s, kernel, storage))) f16[storage] = false
    }
    const all = [...buffers]
    const own = (size: number): number => {
      f16.push(true)
      return all.push({ bytes: 4 * size, dtype: 'f32' }) - 1
    }
    const before: Step[] = []
    const after: Step[] = []
    const given = inputs.map((s, i) => {
      if (s < 0 || !wanted.inputs.has(i) || f16[s]) return s
      const size = buffers[s]!.bytes / 4
      const from = own(size)
      before.push(copy({ storage: from, offset: 0 }, { storage: s, offset: 0 }, size))
      return from
    })
    const returned = outputs.map((o, i) => {
      if (!wanted.outputs.has(i) || f16[o.storage]) return o
      const to = { storage: own(sizes[i]!), offset: 0 }
      after.push(copy(o, to, sizes[i]!))
      return to
    })
    const narrowed = (o: Operand): Operand => (f16[o.storage] === true ? asF16(o) : o)
    if (!f16.includes(true)) return { steps, loops, buffers, inputs, captured, outputs }
    return {
      steps: [...before, ...steps, ...after].map((s) => ({ ...s, reads: s.reads.map(narrowed), writes: s.writes.map(narrowed) })),
      loops: loops.map((l) => movedLoop(l, before.length)),
      buffers: all.map((r, i) => (f16[i] ? { ...r, bytes: r.bytes / 2, f16: true } : r)),
      inputs: given,
      captured,
      outputs: returned,
    }
  }
