/** Memory: each storage lives from its first writer to its last reader; dying inputs are reused in place; a best-fit free list gives offsets. */
import type { DType } from '../../core/types/dtype.js'
import type { Kernel } from './kernel.js'
import { ALL_PASSES, type Without } from './passes.js'
import type { Loop } from './repeat.js'
import { aligns, type Operand, type Step } from './step.js'

/** A buffer before it has an address. */
export interface BufferSpec {
  readonly bytes: number
  readonly dtype: DType
  /** Elements are stored as f16. */
  readonly f16?: boolean
  /** An argument that is read where the caller has it: it takes no memory of the program's, and is never written. */
  readonly given?: boolean
}

/** One buffer of a plan. Alive from step `first` to step `last` (-1: before the first; the number of steps: after the last). */
export interface Storage {
  readonly bytes: number
  readonly first: number
  readonly last: number
  /** Byte offset in its arena: that of f16, that of what is given, which no memory stands for, or the other. */
  readonly offset: number
  /** Elements are stored as f16. */
  readonly f16: boolean
  /** It lies where the caller has it. */
  readonly given: boolean
}

export interface Memory {
  readonly storages: readonly Storage[]
  readonly arenaBytes: number
  readonly f16Bytes: number
  /** Bytes of what is given, side by side. */
  readonly givenBytes: number
  /** Largest sum of live bytes, and largest number of live buffers, at any step. */
  readonly peakBytes: number
  readonly peakBuffers: number
}

/** Storages begin at multiples of so many bytes. */
export const ALIGN = 64
/** n rounded up to a multiple. */
export const aligned = (n: number, to: number = ALIGN): number => Math.ceil(n / to) * to

/** Free blocks by offset; best fit, neighbours merged. */
export class FreeList {
  private readonly blocks: { offset: number; bytes: number }[] = []
  end = 0
  take(bytes: number): number {
    let best = -1
    for (let i = 0; i < this.blocks.length; i++) {
      const b = this.blocks[i]!
      if (b.bytes >= bytes && (best < 0 || b.bytes < this.blocks[best]!.bytes)) best = i
    }
    if (best >= 0) {
      const b = this.blocks[best]!
      const offset = b.offset
      if (b.bytes === bytes) this.blocks.splice(best, 1)
      else {
        b.offset += bytes
        b.bytes -= bytes
      }
      return offset
    }
    const tail = this.blocks[this.blocks.length - 1]
    if (tail !== undefined && tail.offset + tail.bytes === this.end) {
      this.blocks.pop()
      const offset = tail.offset
      this.end = offset + bytes
      return offset
    }
    const offset = this.end
    this.end += bytes
    return offset
  }
  give(offset: number, bytes: number): void {
    if (bytes === 0) return
    let lo = 0
    let hi = this.blocks.length
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if (this.blocks[mid]!.offset < offset) lo = mid + 1
      else hi = mid
    }
    this.blocks.splice(lo, 0, { offset, bytes })
    const here = this.blocks[lo]!
    const next = this.blocks[lo + 1]
    if (next !== undefined && here.offset + here.bytes === next.offset) {
      here.bytes += next.bytes
      this.blocks.splice(lo + 1, 1)
    }
    const before = this.blocks[lo - 1]
    if (before !== undefined && before.offset + before.bytes === here.offset) {
      before.bytes += here.bytes
      this.blocks.splice(lo, 1)
    }
  }
}

/** Steps before they have memory, and what they read and give. */
export interface Placed {
  readonly steps: readonly Step[]
  readonly loops: readonly Loop[]
  readonly buffers: readonly BufferSpec[]
  readonly inputs: readonly number[]
  readonly captured: readonly number[]
  readonly outputs: readonly { readonly storage: number; readonly offset: number }[]
}
/**
 * When storages live, from step to step. What is read or written outside of a loop too lives as long as the loop: what lies there is needed, or was made, in another
 * iteration.
 */
const livesOf = ({
  steps,
  loops,
  buffers,
  inputs,
  captured,
  outputs,
}: Placed): { readonly first: Int32Array; readonly last: Int32Array } => {
  const n = buffers.length
  const first = new Int32Array(n).fill(-2)
  const last = new Int32Array(n).fill(-2)
  for (const i of [...inputs, ...captured]) if (i >= 0) first[i] = last[i] = -1
  for (let k = 0; k < steps.length; k++) {
    const { reads, writes } = steps[k]!
    for (let i = 0; i < reads.length + writes.length; i++) {
      const o = i < reads.length ? reads[i]! : writes[i - reads.length]!
      if (o.storage < 0) continue
      if (first[o.storage] === -2) first[o.storage] = k
      last[o.storage] = k
    }
  }
  for (const o of outputs) if (o.storage >= 0) last[o.storage] = steps.length
  // Inner loops first: what lives as long as one may be forgotten by the next.
  for (let l = loops.length - 1; l >= 0; l--) {
    const { first: from, end } = loops[l]!
    const touch = ({ storage }: Operand): void => {
      if (storage < 0 || (first[storage]! >= from && last[storage]! < end)) return
      first[storage] = Math.min(first[storage]!, from)
      last[storage] = Math.max(last[storage]!, end - 1)
    }
    for (let k = from; k < end; k++) for (const operands of [steps[k]!.reads, steps[k]!.writes]) operands.forEach(touch)
    // Flags are read before each iteration. Loops stand in the order of their first steps.
    for (let k = l; k < loops.length && loops[k]!.first < end; k++) if (loops[k]!.flag !== undefined) touch(loops[k]!.flag!)
  }
  return { first, last }
}

const NONE: readonly number[] = []
export const assignMemory = (placed: Placed, kernels: readonly Kernel[], without: Without = ALL_PASSES): Memory => {
  const { steps, buffers } = placed
  const n = buffers.length
  const { first, last } = livesOf(placed)
  const offset = new Array<number>(n).fill(0)
  const [words, f16, given] = [new FreeList(), new FreeList(), new FreeList()]
  const free = (r: BufferSpec): FreeList => (r.given === true ? given : r.f16 === true ? f16 : words)
  const starts = new Array<number[] | undefined>(steps.length)
  const ends = new Array<number[] | undefined>(steps.length)
  let liveBytes = 0
  let liveBuffers = 0
  for (let i = 0; i < n; i++) {
    const r = buffers[i]!
    if (first[i] === -1) {
      offset[i] = free(r).take(aligned(r.bytes))
      liveBytes += r.bytes
      liveBuffers++
    } else if (first[i]! >= 0) note(starts, first[i]!, i)
    if (last[i]! >= 0 && last[i]! < steps.length) note(ends, last[i]!, i)
  }
  let peakBytes = liveBytes
  let peakBuffers = liveBuffers
  for (let k = 0; k < steps.length; k++) {
    const s = steps[k]!
    const [beginning, over] = [starts[k] ?? NONE, ends[k] ?? NONE]
    const ending = without.has('inPlace') ? NONE : over
    const reused: number[] = []
    for (const i of beginning) {
      const r = buffers[i]!
      const from = reusable(s, kernels[s.kernel]!, i, ending, buffers, reused)
      if (from >= 0) {
        reused.push(from)
        offset[i] = offset[from]!
        liveBytes += r.bytes - buffers[from]!.bytes
        continue
      }
      offset[i] = free(r).take(aligned(r.bytes))
      liveBytes += r.bytes
      liveBuffers++
      if (liveBytes > peakBytes) peakBytes = liveBytes
      if (liveBuffers > peakBuffers) peakBuffers = liveBuffers
    }
    for (const i of over) {
      if (reused.includes(i)) continue
      const r = buffers[i]!
      if (!without.has('recycle') && r.given !== true) free(r).give(offset[i]!, aligned(r.bytes))
      liveBytes -= r.bytes
      liveBuffers--
    }
  }
  const storages: Storage[] = []
  for (let i = 0; i < n; i++) {
    const r = buffers[i]!
    const [born, dies] = [first[i]!, last[i]!]
    storages.push({ bytes: r.bytes, first: born, last: dies, offset: offset[i]!, f16: r.f16 === true, given: r.given === true })
  }
  return { storages, arenaBytes: words.end, f16Bytes: f16.end, givenBytes: given.end, peakBytes, peakBuffers }
}
const note = (lists: (number[] | undefined)[], step: number, i: number): void => {
  const list = lists[step]
  if (list === undefined) lists[step] = [i]
  else list.push(i)
}

const sameSize = (a: BufferSpec, b: BufferSpec): boolean => a.bytes === b.bytes && a.f16 === b.f16

/** An input that dies in this loop and is read exactly as the new storage is written: the loop then works in place. */
const reusable = (
  s: Step,
  kernel: Kernel,
  storage: number,
  ending: readonly number[],
  buffers: readonly BufferSpec[],
  reused: readonly number[],
): number => {
  if (kernel.kind !== 'loop' || ending.length === 0) return -1
  const at = onlyOne(s.writes, storage)
  if (at < 0 || kernel.outputs[at]!.fold !== undefined) return -1
  const out = s.writes[at]!
  for (const from of ending) {
    const r = buffers[from]!
    if (r.given === true || !sameSize(r, buffers[storage]!) || reused.includes(from)) continue
    if (liesIn(s.writes, from) || !liesIn(s.reads, from)) continue
    if (s.reads.every((o) => o.storage !== from || aligns(o, out))) return from
  }
  return -1
}
/** The place of the only operand in a storage; -1 where there are none or several. */
const onlyOne = (operands: readonly Operand[], storage: number): number => {
  let at = -1
  for (let k = 0; k < operands.length; k++) {
    if (operands[k]!.storage !== storage) continue
    if (at >= 0) return -1
    at = k
  }
  return at
}
const liesIn = (operands: readonly Operand[], storage: number): boolean => {
  for (let k = 0; k < operands.length; k++) if (operands[k]!.storage === storage) return true
  return false
}
