/** Loops in plans: a step's own values, planned once, and which steps of a plan run how often, with operands that move from iteration to iteration. */
import { type Node, OUTPUT } from '../../core/graph/expr.js'
import { among, orderOf } from '../../core/graph/order.js'
import { flatProgram, type Program } from '../../core/graph/program.js'
import { masked, type ScanParams } from '../../core/ops/control/control.js'
import type { Around } from './emit-repeat.js'
import type { Operand, Step } from './step.js'
import type { Ir, Value } from './value.js'

/**
 * What a value of kind `repeat` runs. Its arguments are the carry, arrays of slices, what is the same at every step, and the literals of the body; its
 * results the last carry, then what is stacked.
 */
export interface Repeat {
  /** Emits its steps, in this unit; says at which step it begins. */
  readonly emit: (at: Around, unit: number, v: Value, results: ReadonlyMap<number, Value>) => number
  readonly body: Ir
  readonly count: number
  readonly carries: number
  readonly slices: number
  /** Slices are read, and rows written, from the last to the first. */
  readonly reverse: boolean
  /** The argument of a step, among carry and slices, without which it changes nothing: a carry that is false ends the loop, a slice leaves its step out. */
  readonly until: number | undefined
  /** Whether a step itself changes nothing without it. */
  readonly masked: boolean
}

/** The rows of a step that are carry i as it was found (`found`) or as it was left: where something reads such a row, the carry goes along it (emit-repeat.ts). */
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
/**
 * `used`: the results that are read. A carry is needed where one of these, or a needed carry, depends on it. `unmasked`: steps that are not to be taken are left out, so that what they
 * would leave as it is need not be chosen.
 */
export const reduced = (params: ScanParams, used: ReadonlySet<number>, unmasked: boolean): Reduced => {
  const { carries, slices, until } = params
  const { inputs, outputs } = unmasked ? params.program : masked(params)
  const rows = outputs.flatMap((_, i) => (i >= carries && used.has(i) ? [i] : []))
  let needed = outputs.slice(0, carries).map((_, i) => used.has(i) || i === until)
  const linear = orderOf(outputs)
  for (;;) {
    const results = [...needed.flatMap((n, i) => (n ? [i] : [])), ...rows]
    const read = among(
      linear,
      results.map((i) => outputs[i]!),
    )
    const { index } = orderOf(read)
    const next = needed.map((n, i) => n || index.has(inputs[i]!))
    if (next.every((n, i) => n === needed[i])) {
      const args = inputs.flatMap((x, i) => ((i < carries ? needed[i]! : i === until || index.has(x)) ? [i] : []))
      return {
        program: flatProgram(
          'step',
          args.map((i) => inputs[i]!),
          read,
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

/** What is needed of a program's nodes: a loop without the carries and rows that nothing needs. */
export interface Needed {
  readonly has: (n: Node) => boolean
  readonly loops: ReadonlyMap<Node, Reduced>
}
/** From the results back: `nodes` come after their arguments. A loop needs the arguments of what is needed of it alone. */
export const neededOf = (nodes: readonly Node[], roots: readonly Node[], isLoop: (n: Node) => boolean, unmasked: boolean): Needed => {
  if (!nodes.some(isLoop)) return { has: () => true, loops: new Map() }
  const needed = new Set<Node>(roots)
  const results = new Map<Node, Set<number>>()
  const loops = new Map<Node, Reduced>()
  for (let i = nodes.length - 1; i >= 0; i--) {
    const n = nodes[i]!
    if (!needed.has(n)) continue
    if (isLoop(n)) {
      const loop = reduced(n.payload as ScanParams, results.get(n)!, unmasked)
      loops.set(n, loop)
      for (const k of loop.args) needed.add(n.args[k]!)
      continue
    }
    for (const a of n.args) needed.add(a)
    if (n.kind !== OUTPUT) continue
    const of = n.args[0]!
    const known = results.get(of)
    if (known === undefined) results.set(of, new Set([n.payload as number]))
    else known.add(n.payload as number)
  }
  return { has: (n) => needed.has(n), loops }
}

/** Where a carry lives. */
export interface Carry {
  readonly storage: number
  /** One place holds every state, each written over the last; else each state is a row of its own. */
  readonly round: boolean
  /** The last step of an iteration that reads the state that it found; -1 where none does. */
  readonly lastRead: number
}

/** Steps `first` to before `end` of a plan run `count` times. `depth`: in how many others it lies. */
export interface Loop {
  readonly first: number
  readonly end: number
  readonly count: number
  readonly depth: number
  readonly carries: readonly Carry[]
  /** A bool without which an iteration changes nothing; `ends`: and none after it; `masked`: so say its steps, which may run then. */
  readonly flag?: Operand & { readonly ends: boolean; readonly masked: boolean }
}
/** A loop whose steps stand so many places later. */
export const movedLoop = (l: Loop, by: number): Loop => ({
  ...l,
  first: l.first + by,
  end: l.end + by,
  carries: l.carries.map((c) => (c.lastRead < 0 ? c : { ...c, lastRead: c.lastRead + by })),
})
/** Where loops stand, those that lie in another after it. */
export const outerFirst = (loops: readonly Loop[]): readonly Loop[] => [...loops].sort((a, b) => a.first - b.first || a.depth - b.depth)

/** How often each step runs. */
export const timesOf = (steps: readonly Step[], loops: readonly Loop[]): Float64Array => {
  const times = new Float64Array(steps.length).fill(1)
  for (const { first, end, count } of loops) for (let i = first; i < end; i++) times[i]! *= count
  return times
}

/** An operand in iteration `at[d]` of the loop of depth d. */
export const movedOperand = (o: Operand, at: readonly number[]): Operand => {
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
