/** Which arrays of a program may be where the caller keeps them, so that nothing is copied: elements that stay in the backend's own memory. */
import { itemBytes } from '../../core/graph/aval.js'
import type { TypedArray } from '../../core/graph/ndarray.js'
import type { Tensor } from '../../core/graph/tensor.js'
import type { DType } from '../../core/types/dtype.js'
import type { Plan } from '../plan/plan.js'
import type { Segment } from './image.js'

/** An array that a program reads or writes. */
export interface Elements {
  readonly dtype: DType
  readonly size: number
  readonly bytes: number
}
export const elementsOf = ({ dtype, size }: Omit<Elements, 'bytes'>): Elements => ({ dtype, size, bytes: size * itemBytes[dtype] })
/** The arrays of a program; wherever they are counted, inputs are the first and outputs the last. */
export interface Arrays {
  readonly inputs: readonly Elements[]
  readonly captured: readonly Elements[]
  readonly outputs: readonly Elements[]
}

/** Arrays that a program reads (inputs, then captured tensors) and writes. */
export interface Pointable {
  /** The storage of each that is read, -1 for one that is copied in, because steps write there. */
  readonly reads: readonly number[]
  /** Which array that is read each result lies in, -1 for one that lies in none. */
  readonly within: readonly number[]
  /** The storage of each that is written, -1 for one that is copied out. */
  readonly writes: readonly number[]
}

/** What of a plan may lie elsewhere. A kernel in JavaScript may throw, and then targets are as they were; loops with one move their words by themselves. */
export const pointableOf = (plan: Plan, segments: readonly Segment[], outputs: readonly Elements[]): Pointable => {
  const sources = [...plan.inputs, ...plan.captured]
  const written = new Set(plan.steps.flatMap((s) => s.writes.map((o) => o.storage)))
  const still = segments.every((s) => s.kind !== 'repeat')
  const only = segments.every((s) => s.kind === 'wasm')
  return {
    reads: sources.map((s) => (still && s >= 0 && !written.has(s) ? s : -1)),
    within: plan.outputs.map((o) => sources.indexOf(o.storage)),
    writes: plan.outputs.map(({ storage, offset }, i) =>
      only &&
      offset === 0 &&
      plan.storages[storage]!.bytes === outputs[i]!.bytes &&
      !sources.includes(storage) &&
      plan.outputs.every((o, j) => j === i || o.storage !== storage)
        ? storage
        : -1,
    ),
  }
}

/** May a result be written at an address where an argument lies? As the plan would have it: after the last read, or in place where the plan wrote it in place. */
const mayReplace = (plan: Plan, output: number, input: number, same: boolean): boolean => {
  const [o, i] = [plan.storages[output]!, plan.storages[input]!]
  return i.last < o.first || (same && i.last === o.first && i.offset === o.offset)
}

/** The addresses of arrays that stay in this memory, by their place; 0 of others. */
export const addressesOf = (
  buffer: ArrayBuffer,
  { inputs, captured, outputs }: Arrays,
  given: readonly TypedArray[],
  tensors: readonly Tensor[],
  into: readonly TypedArray[] | undefined,
): Float64Array => {
  const all = new Float64Array(inputs.length + captured.length + outputs.length)
  const note = (i: number, x: TypedArray): void => {
    if (x.buffer === buffer) all[i] = x.byteOffset
  }
  for (let i = 0; i < inputs.length; i++) note(i, given[i]!)
  for (let i = 0; i < tensors.length; i++) note(inputs.length + i, tensors[i]!.data)
  if (into !== undefined) for (let i = 0; i < into.length; i++) note(inputs.length + captured.length + i, into[i]!)
  return all
}

/** Those of them that are pointed at: what no step writes, and targets that are free by the time that they are written. */
export const pointedAt = (plan: Plan, pointable: Pointable, arrays: Arrays, kept: Float64Array, accumulate: boolean): Float64Array => {
  const { reads, writes, within } = pointable
  const { outputs } = arrays
  const sources = [...arrays.inputs, ...arrays.captured]
  /** Results that lie in an argument are copied out after the steps, one by one: no target may lie over it. */
  const stays = (source: number): boolean =>
    !within.includes(source) ||
    outputs.every((o, j) => {
      const [from, to] = [kept[source]!, kept[sources.length + j]!]
      return from + sources[source]!.bytes <= to || to + o.bytes <= from
    })
  const free = (output: number, at: number, bytes: number): boolean =>
    sources.every((x, i) => {
      const from = kept[i]!
      if (from === 0 || reads[i]! < 0 || from >= at + bytes || at >= from + x.bytes) return true
      return mayReplace(plan, output, reads[i]!, from === at)
    })
  return kept.map((at, i) => {
    if (at === 0) return 0
    if (i < sources.length) return reads[i]! >= 0 && stays(i) ? at : 0
    const storage = writes[i - sources.length]!
    return storage >= 0 && !accumulate && free(storage, at, outputs[i - sources.length]!.bytes) ? at : 0
  })
}
