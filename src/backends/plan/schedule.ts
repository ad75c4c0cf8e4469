/** Epochs: how many kernels of another kind lie before a value, and when what is cheap is better made where it is read. */
import { sameShape } from '../../core/graph/shape.js'
import { Lists } from './ints.js'
import type { Repeat } from './repeat.js'
import type { Ir, Value } from './value.js'

/** Is it computed by a loop that others may share? */
export const joinsLoops = (v: Value): boolean => v.kind === 'scalar' || v.kind === 'copy' || v.kind === 'fold'
/** Is it computed by a loop: one that others may share, or one of its own? */
export const isLoopValue = (v: Value): boolean => joinsLoops(v) || v.kind === 'program'
/** Iteration shape of a value that a loop computes. */
export const iteration = (values: readonly Value[], v: Value): readonly number[] =>
  v.kind === 'fold' ? values[v.args[0]!]!.shape : v.shape
const NONE: readonly string[] = []
/** What it takes part in together with other processes, it or what it does over and over. */
export const orderedAs = ({ prim, kind, params }: Value): readonly string[] => {
  if (kind === 'repeat') return [...new Set((params as Repeat).body.values.flatMap(orderedAs))]
  return prim?.ordered === undefined ? NONE : [prim.ordered]
}
/** Is it made by a kernel (rather than given, or a literal)? */
const isMade = (v: Value): boolean => v.kind !== 'input' && v.kind !== 'const' && !v.constant

/**
 * May v's argument k be computed at the same point of the same loop? Not through a view, from another shape, or as what a fold is
 * added to: those are read from memory, so the argument is made one epoch before.
 */
const isDirect = (values: readonly Value[], v: Value, k: number): boolean => {
  const arg = values[v.args[k]!]!
  if (arg.kind !== 'scalar' && arg.kind !== 'copy') return false
  return v.kind === 'fold' ? k === 0 : joinsLoops(v) && sameShape(arg.shape, v.shape)
}

export const markLive = (ir: Ir, values: readonly Value[]): Uint8Array => {
  const live = new Uint8Array(values.length)
  for (const o of ir.outputs) live[o] = 1
  for (let i = values.length - 1; i >= 0; i--) {
    if (live[i] === 0) continue
    const v = values[i]!
    for (let k = 0; k < v.args.length; k++) live[v.args[k]!] = 1
    if (v.view !== undefined) live[v.view.base] = 1
  }
  return live
}

export const countUses = (values: readonly Value[], live: Uint8Array): Lists => {
  const counts = new Int32Array(values.length)
  const pairs: number[] = []
  for (let id = 0; id < values.length; id++) {
    const { view, args } = values[id]!
    if (live[id] === 0 || view !== undefined) continue
    for (let k = 0; k < args.length; k++) {
      const base = values[args[k]!]!.base
      counts[base]!++
      pairs.push(base, id)
    }
  }
  const uses = new Lists(counts)
  for (let i = 0; i < pairs.length; i += 2) uses.push(pairs[i]!, pairs[i + 1]!)
  return uses
}

/**
 * Epoch of each value. What a value reads directly has at most its epoch; whatever else it reads, and a kernel makes, has a smaller one.
 * Loop values of one epoch and shape may share a loop. What is ordered has a larger epoch than that before it, so that no loop lies both before the one and behind the other.
 */
export const epochsOf = (ir: Ir, values: readonly Value[], uses: Lists, live: Uint8Array, sinking: boolean): Int32Array => {
  const epoch = new Int32Array(values.length)
  const last = new Map<string, number>()
  for (let id = 0; id < values.length; id++) {
    if (live[id] === 0) continue
    const v = values[id]!
    let e = 0
    for (let k = 0; k < v.args.length; k++) {
      const base = values[v.args[k]!]!.base
      const at = epoch[base]! + (isMade(values[base]!) && !isDirect(values, v, k) ? 1 : 0)
      if (at > e) e = at
    }
    if (v.view !== undefined) e = epoch[v.view.base]!
    else {
      const groups = orderedAs(v)
      for (const group of groups) e = Math.max(e, (last.get(group) ?? -1) + 1)
      for (const group of groups) last.set(group, e)
    }
    epoch[v.id] = e
  }
  if (sinking) sink(ir, values, uses, live, epoch)
  return epoch
}

const END = 1 << 30

/** The last epoch in which each value is read, by whom, and the last of all others: epochs do but grow, so both are kept while they do. */
class LastReads {
  private readonly last: Int32Array
  private readonly others: Int32Array
  private readonly by: Int32Array
  constructor(n: number) {
    this.last = new Int32Array(n).fill(-1)
    this.others = new Int32Array(n).fill(-1)
    this.by = new Int32Array(n).fill(-1)
  }
  read(id: number, user: number, epoch: number): void {
    if (this.by[id] === user) this.last[id] = Math.max(this.last[id]!, epoch)
    else if (epoch > this.last[id]!) {
      this.others[id] = this.last[id]!
      this.last[id] = epoch
      this.by[id] = user
    } else if (epoch > this.others[id]!) this.others[id] = epoch
  }
  /** The last epoch in which someone but `except` reads a value. */
  but(id: number, except: number): number {
    return this.by[id] === except ? this.others[id]! : this.last[id]!
  }
}

/**
 * Moves scalar values to the epoch of their earliest user when what they read is stored until then anyway: a partial made
 * next to the forward loop, but read only by the backward loop, is then recomputed from its output instead of stored.
 */
const sink = (ir: Ir, values: readonly Value[], uses: Lists, live: Uint8Array, epoch: Int32Array): void => {
  const isOutput = new Uint8Array(values.length)
  for (const o of ir.outputs) isOutput[values[o]!.base] = 1
  const reads = new LastReads(values.length)
  const note = (v: Value): void => {
    if (v.view !== undefined) return
    for (let k = 0; k < v.args.length; k++) reads.read(values[v.args[k]!]!.base, v.id, epoch[v.id]!)
  }
  for (let id = 0; id < values.length; id++) if (live[id] === 1) note(values[id]!)
  const lastUse = (id: number, except: number): number => (isOutput[id] === 1 || values[id]!.kind === 'input' ? END : reads.but(id, except))
  /** Does v's argument k go along with it? Then v alone reads it, at the same point. */
  const follows = (v: Value, k: number, to: number): boolean => {
    const a = v.args[k]!
    return isDirect(values, v, k) && values[a]!.kind === 'scalar' && isMade(values[a]!) && uses.count(a) === 1 && epoch[a]! <= to
  }
  const can = (id: number, to: number, depth: number): boolean => {
    const v = values[id]!
    if (v.kind !== 'scalar' || v.constant || isOutput[id] === 1 || depth > 8) return false
    for (let k = 0; k < v.args.length; k++) {
      const base = values[v.args[k]!]!.base
      if (values[base]!.kind === 'const' || values[base]!.constant) continue
      if (lastUse(base, id) >= to) continue
      if (follows(v, k, to) && can(base, to, depth + 1)) continue
      return false
    }
    return true
  }
  const move = (id: number, to: number): void => {
    const v = values[id]!
    epoch[id] = to
    note(v)
    for (let k = 0; k < v.args.length; k++)
      if (follows(v, k, to) && epoch[v.args[k]!]! < to && lastUse(v.args[k]!, id) < to) move(v.args[k]!, to)
  }
  // users come after what they read, and are where they stay when it is asked; each says by when it needs its arguments
  const needed = new Int32Array(values.length).fill(END)
  for (let i = values.length - 1; i >= 0; i--) {
    const v = values[i]!
    if (live[i] === 0 || v.view !== undefined) continue
    const to = needed[i]!
    if (v.kind === 'scalar' && !v.constant && isOutput[i] === 0 && to !== END && to > epoch[i]! && can(i, to, 0)) move(i, to)
    for (let k = 0; k < v.args.length; k++) {
      const base = values[v.args[k]!]!.base
      const at = isDirect(values, v, k) ? epoch[i]! : epoch[i]! - 1
      if (at < needed[base]!) needed[base] = at
    }
  }
}
