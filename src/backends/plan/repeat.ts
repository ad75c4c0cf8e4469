/** Loops in plans: a step's own values, planned once, and which steps of a plan run how often, with operands that move from iteration to iteration. */
import { linearize, type Node } from '../../core/graph/expr.js'
import { flatProgram, type Program } from '../../core/graph/program.js'
import type { ScanParams } from '../../core/ops/control.js'
import type { Operand, Step } from './step.js'
import type { Ir } from './value.js'

/**
 * What a value of kind `repeat` runs. Its arguments are the carry, arrays of slices, what is the same at every step, and the literals of the body; its
 * results the last carry, then what is stacked.
 */
export interface Repeat {
  readonly body: Ir
  readonly count: number
  readonly carries: number
  readonly slices: number
  /** Slices are read, and rows written, from the last to the first. */
  readonly reverse: boolean
}

/** The rows of a step that are carry i as it was found (`found`) or as it was left. */
export const walkedRows = (
  { inputs, outputs }: Ir,
  carries: number,
  i: number,
): readonly { readonly row: number; readonly found: boolean }[] => {
  if (inputs[i] === outputs[i]) return []
  return outputs.flatMap((id, row) => (row >= carries && (id === inputs[i] || id === outputs[i]) ? [{ row, found: id === inputs[i] }] : []))
}

/** A scan reduced to what is read of it: its step, which of its arguments that reads, and the place of each result among those of the step (-1: nobody reads it). */
export interface Reduced {
  readonly program: Program
  readonly args: readonly number[]
  readonly carries: number
  readonly slices: number
  readonly places: readonly number[]
}
/** `used`: the results that are read. A carry is needed where one of these, or a needed carry, depends on it. */
export const reduced = ({ program, carries, slices }: ScanParams, used: ReadonlySet<number>): Reduced => {
  const { inputs, outputs } = program
  const rows = outputs.flatMap((_, i) => (i >= carries && used.has(i) ? [i] : []))
  let needed = outputs.slice(0, carries).map((_, i) => used.has(i))
  for (;;) {
    const { index } = linearize([...outputs.filter((_, i) => needed[i] === true), ...rows.map((i) => outputs[i]!)])
    const next = needed.map((n, i) => n || index.has(inputs[i]!))
    if (next.every((n, i) => n === needed[i])) {
      const args = inputs.flatMap((x, i) => ((i < carries ? needed[i]! : index.has(x)) ? [i] : []))
      const results = [...needed.flatMap((n, i) => (n ? [i] : [])), ...rows]
      return {
        program: flatProgram(
          'step',
          args.map((i) => inputs[i]!),
          results.map((i) => outputs[i]!),
        ),
        args,
        carries: results.length - rows.length,
        slices: args.filter((i) => i >= carries && i < carries + slices).length,
        places: outputs.map((_, i) => results.indexOf(i)),
      }
    }
    needed = next
  }
}

/** The results of each application of several that something reads. */
export const usedResults = (nodes: readonly Node[]): ReadonlyMap<Node, ReadonlySet<number>> => {
  const used = new Map<Node, Set<number>>()
  for (const n of nodes) {
    const of = n.args[0]
    if (n.prim !== null || of === undefined) continue
    const known = used.get(of)
    if (known === undefined) used.set(of, new Set([n.payload as number]))
    else known.add(n.payload as number)
  }
  return used
}

/** Steps `first` to before `end` of a plan run `count` times. `depth`: in how many others it lies. */
export interface Loop {
  readonly first: number
  readonly end: number
  readonly count: number
  readonly depth: number
}
/** Where loops stand, those that lie in another after it. */
export const outerFirst = (loops: readonly Loop[]): readonly Loop[] => [...loops].sort((a, b) => a.first - b.first || a.depth - b.depth)

/** How often each step runs. */
export const timesOf = (steps: readonly Step[], loops: readonly Loop[]): Float64Array => {
  const times = new Float64Array(steps.length).fill(1)
  for (const { first, end, count } of loops) for (let i = first; i < end; i++) times[i]! *= count
  return times
}

/** An operand in iteration `at[d]` of the loop of depth d. */
const movedOperand = (o: Operand, at: readonly number[]): Operand => {
  if (o.advance === undefined) return o
  const { advance, ...rest } = o
  return { ...rest, offset: advance.reduce((n, by, d) => n + by * (at[d] ?? 0), o.offset) }
}
/** A step as it is in these iterations of the loops around it. */
export const movedStep = (s: Step, at: readonly number[]): Step =>
  at.length === 0 ? s : { ...s, reads: s.reads.map((o) => movedOperand(o, at)), writes: s.writes.map((o) => movedOperand(o, at)) }

/** Something that runs one step after the other, or a loop over such. */
export type Part = { readonly step: number } | { readonly loop: Loop; readonly parts: readonly Part[] }
/** Steps and loops as they nest. */
export const partsOf = (count: number, loops: readonly Loop[]): readonly Part[] => {
  const sorted = outerFirst(loops)
  let next = 0
  const until = (from: number, end: number): Part[] => {
    const parts: Part[] = []
    for (let i = from; i < end; ) {
      const loop = sorted[next]
      if (loop === undefined || loop.first > i) {
        parts.push({ step: i++ })
        continue
      }
      next++
      parts.push({ loop, parts: until(loop.first, loop.end) })
      i = loop.end
    }
    return parts
  }
  return until(0, count)
}
/** Calls f with each step of each iteration, in the order in which they run. */
export const eachRun = (count: number, loops: readonly Loop[], f: (step: number, at: readonly number[]) => void): void => {
  const run = (parts: readonly Part[], at: readonly number[]): void => {
    for (const p of parts)
      if ('step' in p) f(p.step, at)
      else for (let k = 0; k < p.loop.count; k++) run(p.parts, [...at, k])
  }
  run(partsOf(count, loops), [])
}
