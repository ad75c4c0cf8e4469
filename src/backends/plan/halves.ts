/** Storage as f16: which buffers between steps hold their f32 elements in two bytes, and the steps that then read and write those. */

import type { Kernel } from './kernel.js'
import { type Room, read, written } from './memory.js'
import type { Operand, Step } from './step.js'

/** Does the step add to what this storage holds? Such sums keep 32 bits. */
const accumulates = (s: Step, kernel: Kernel, storage: number): boolean => {
  const outs = written(s, kernel)
  const at = outs.findIndex((o) => o.storage === storage)
  if (at < 0) return false
  if (read(s, kernel).some((o) => o.storage === storage)) return true
  if (kernel.kind === 'loop') return kernel.outputs.some((o, i) => outs[i]!.storage === storage && o.fold?.accumulate === true)
  return kernel.kind === 'gemm' ? kernel.accumulate : kernel.inPlace !== undefined && at === 0
}

const halved = (o: Operand): Operand => ({ ...o, offset: o.offset / 2, strides: o.strides.map((x) => x / 2), half: true })

/**
 * The f32 buffers that live between steps, as f16: not those in `kept` (arguments and results), not those that a step adds to, and not
 * those of a kernel that does not take them (`takes`).
 */
export const halve = (
  steps: readonly Step[],
  kernels: readonly Kernel[],
  rooms: readonly Room[],
  kept: readonly number[],
  takes: (kernel: Kernel) => boolean,
): { readonly steps: readonly Step[]; readonly rooms: readonly Room[] } => {
  const half = rooms.map((r) => r.dtype === 'f32')
  for (const k of kept) if (k >= 0) half[k] = false
  const taken = kernels.map(takes)
  for (const s of steps) {
    const kernel = kernels[s.kernel]!
    for (const { storage } of s.operands)
      if (half[storage] === true && (!taken[s.kernel] || accumulates(s, kernel, storage))) half[storage] = false
  }
  if (!half.includes(true)) return { steps, rooms }
  return {
    steps: steps.map((s) =>
      s.operands.some((o) => half[o.storage] === true)
        ? { ...s, operands: s.operands.map((o) => (half[o.storage] === true ? halved(o) : o)) }
        : s,
    ),
    rooms: rooms.map((r, i) => (half[i] ? { ...r, bytes: r.bytes / 2, half: true } : r)),
  }
}
