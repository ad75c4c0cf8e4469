/** Which arrays of a program may be where the caller keeps them, so that nothing is copied: elements that stay in the backend's own memory. */
import type { Plan } from '../plan/plan.js'
import type { Segment } from './image.js'

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
export const pointableOf = (plan: Plan, segments: readonly Segment[], outputBytes: readonly number[]): Pointable => {
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
      plan.storages[storage]!.bytes === outputBytes[i] &&
      !sources.includes(storage) &&
      plan.outputs.every((o, j) => j === i || o.storage !== storage)
        ? storage
        : -1,
    ),
  }
}

/** May a result be written at an address where an argument lies? As the plan would have it: after the last read, or in place where the plan wrote it in place. */
export const mayReplace = (plan: Plan, output: number, input: number, same: boolean): boolean => {
  const [o, i] = [plan.storages[output]!, plan.storages[input]!]
  return i.last < o.first || (same && i.last === o.first && i.offset === o.offset)
}
