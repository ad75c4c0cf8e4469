/** Arguments that stay where the caller has them: the steps that read them do so there, and the program's memory holds no copy. */
import type { Kernel } from './kernel.js'
import type { Placed } from './memory.js'

/** A plan's steps and buffers with arguments left where they are. */
export type Leave = (placed: Placed, kernels: readonly Kernel[]) => Placed

/** Arguments that one step reads so, at most: each is a binding of its shader. */
const MOST = 4

/**
 * The same with the `wanted` arguments left where they are: those of f32 that no step writes, that are no result, and that only kernels read
 * which take them so.
 */
export const readWhereGiven =
  (wanted: ReadonlySet<number>, takes: (kernel: Kernel) => boolean): Leave =>
  (placed, kernels) => {
    const { steps, buffers, inputs, outputs, captured } = placed
    const given = new Set(inputs.filter((s, i) => s >= 0 && wanted.has(i) && buffers[s]!.dtype === 'f32' && buffers[s]!.f16 !== true))
    for (const s of captured) given.delete(s)
    for (const { storage } of outputs) given.delete(storage)
    for (const s of steps) {
      for (const { storage } of s.writes) given.delete(storage)
      if (!takes(kernels[s.kernel]!)) for (const { storage } of s.reads) given.delete(storage)
      const read = [...new Set(s.reads.map((o) => o.storage))].filter((x) => given.has(x))
      read.sort((a, b) => buffers[b]!.bytes - buffers[a]!.bytes)
      for (const x of read.slice(MOST)) given.delete(x)
    }
    if (given.size === 0) return placed
    return {
      ...placed,
      steps: steps.map((s) => {
        const read = [...new Set(s.reads.map((o) => o.storage))].filter((x) => given.has(x))
        if (read.length === 0) return s
        return { ...s, reads: s.reads.map((o) => (given.has(o.storage) ? { ...o, given: read.indexOf(o.storage) } : o)) }
      }),
      buffers: buffers.map((r, i) => (given.has(i) ? { ...r, given: true } : r)),
    }
  }
