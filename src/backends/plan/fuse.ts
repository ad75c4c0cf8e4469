/** Fusion: which values are computed in one loop, and which accumulators are added into in place. */

import { greatestOf } from '../../core/errors/extremes.js'
import { Groups } from '../../core/graph/groups.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import { sameShape } from '../../core/graph/shape.js'
import { add as addOp } from '../../core/ops/elementwise.js'
import type { Tile } from './body.js'
import type { Narrow } from './f16-storage.js'
import type { Leave } from './given.js'
import type { Lists } from './ints.js'
import { foldBy, type ProductFormOf } from './kernel.js'
import { ALL_PASSES, type Without } from './passes.js'
import { countUses, epochsOf, isLoopValue, iteration, joinsLoops, markLive } from './schedule.js'
import type { Ir, ItemBytes, Value } from './value.js'

export interface Limits {
  /** Scalar operations in one loop. */
  readonly nodes: number
  /** Buffers that one loop reads and writes (literals not counted). */
  readonly buffers: number
  /** Bytes of an element in the backend's memory (default: a typed array's). */
  readonly itemBytes?: ItemBytes
  /** Stores as f16 what may be (storeAsF16; default: nothing). */
  readonly f16?: Narrow
  /** Leaves arguments where the caller has them (readWhereGiven; default: none). */
  readonly given?: Leave
  /** How loops that walk arrays in different orders are cut (default: not). */
  readonly tile?: Tile
  /** The forms of a primitive's products (default: one for all). */
  readonly productForm?: (of: AnyPrimitive) => ProductFormOf | undefined
  /** What the plan is made without (default: nothing). */
  readonly without?: Without
}

/** Values that one loop computes, in order; or one value that has a kernel of its own. */
export interface Unit {
  readonly kind: 'loop' | 'gemm' | 'concat' | 'pad' | 'sliceAdd' | 'opaque' | 'repeat'
  readonly values: number[]
  /** Iteration shape of a loop. */
  readonly shape: readonly number[]
}

/** Values with accumulations rewritten, uses counted, and units. */
export interface Fused {
  readonly values: readonly Value[]
  readonly live: Uint8Array
  /** Values that read a value directly (views resolved to their base), with repetition. */
  readonly uses: Lists
  readonly units: readonly Unit[]
  readonly unitOf: Int32Array
}

const add = addOp.primitive as unknown as AnyPrimitive

/** add(acc, product) and add(acc, fold) become an accumulation into acc, where acc and the other have no other reader. Says whether there was one. */
const accumulate = (ir: Ir, values: Value[], uses: Lists, live: Uint8Array): boolean => {
  const outputs = new Set(ir.outputs.map((o) => values[o]!.base))
  const single = (id: number): boolean => uses.count(id) === 1 && !outputs.has(id) && values[id]!.view === undefined
  let any = false
  for (const v of values) {
    if (live[v.id] === 0 || v.prim !== add || v.args.length !== 2) continue
    for (let p = 1; p >= 0; p--) {
      const term = values[v.args[p]!]!
      const acc = values[v.args[1 - p]!]!
      const adds =
        (term.kind === 'gemm' && term.args.length === 2) || (term.kind === 'fold' && term.args.length === 1 && foldBy(term.prim!) === 'sum')
      if (
        !adds ||
        v.args[0] === v.args[1] ||
        !single(term.id) ||
        !single(acc.id) ||
        !sameShape(term.shape, v.shape) ||
        !sameShape(acc.shape, v.shape)
      )
        continue
      if (acc.constant || (acc.kind === 'input' && ir.carried?.has(acc.id) !== true) || acc.kind === 'const' || acc.id > v.id) continue
      values[v.id] = { ...term, id: v.id, base: v.id, args: [...term.args, acc.id] }
      live[term.id] = 0
      any = true
      break
    }
  }
  return any
}

/** A unit while it grows. */
interface Growing {
  readonly kind: Unit['kind']
  values: number[]
  readonly shape: readonly number[]
  readonly epoch: number
  readonly closed: boolean
  /** Values read from outside. */
  readonly inputs: Set<number>
  results: number
  /** Its values are those of several units, one after the other. */
  merged: boolean
}

/**
 * Grows units value by value, in the order of epochs. Whatever a unit reads is made in an earlier epoch, or in its own epoch by a unit of a
 * lower level; only units of one level are merged. So (epoch, level) grows along every path, and there is no cycle.
 */
class Units {
  readonly units: Growing[] = []
  private readonly groups: Groups
  /** Latest loop that reads a value from outside. */
  private readonly lastReader: Int32Array

  constructor(
    private readonly values: readonly Value[],
    private readonly epoch: Int32Array,
    private readonly uses: Lists,
    private readonly limits: Limits,
  ) {
    this.groups = new Groups(values.length)
    this.lastReader = new Int32Array(values.length).fill(-1)
  }
  private open(id: number, kind: Unit['kind'], shape: readonly number[], level: number, closed: boolean): number {
    this.units.push({ kind, values: [], shape, epoch: this.epoch[id]!, closed, inputs: new Set<number>(), results: 0, merged: false })
    return this.groups.open(level)
  }
  private fits(u: Growing, more: number, reads: Iterable<number>, results = 0): boolean {
    let inputs = u.inputs.size
    for (const x of reads) if (!u.inputs.has(x)) inputs++
    return u.values.length + more <= this.limits.nodes && inputs + u.results + results < this.limits.buffers
  }

  /** A value with a kernel of its own. */
  whole(v: Value): void {
    const unit = this.open(v.id, isLoopValue(v) ? 'loop' : (v.kind as Unit['kind']), v.shape, 0, true)
    this.units[unit]!.values.push(v.id)
    this.groups.put(v.id, unit)
  }
  /** A value that joins a loop, or begins one. */
  loop(v: Value): void {
    const { values, units, groups, lastReader } = this
    const shape = iteration(values, v)
    const epoch = this.epoch[v.id]!
    const own: number[] = []
    const external: number[] = []
    // The least level at which v can be made.
    let level = 0
    let shared = -1
    for (let k = 0; k < v.args.length; k++) {
      const a = v.args[k]!
      const base = values[a]!.base
      if (values[base]!.constant) continue
      const u = groups.at(base)
      if (values[a]!.view === undefined && this.isKin(u, epoch, shape) && !(v.kind === 'fold' && k > 0)) {
        if (!own.includes(u)) own.push(u)
        continue
      }
      if (u >= 0 && units[u]!.epoch === epoch) level = groups.above([u], level)
      external.push(base)
      const r = lastReader[base]! < 0 ? -1 : groups.find(lastReader[base]!)
      if (r > shared && this.isKin(r, epoch, shape)) shared = r
    }
    const candidates = groups.joinable(own, level)
    let unit = candidates.length > 0 ? this.merged(candidates, external) : -1
    if (own.length === 0 && shared >= 0 && groups.levelOf(shared) >= level && this.fits(units[shared]!, 1, external)) unit = shared
    if (unit < 0) unit = this.open(v.id, 'loop', shape, groups.above(own, level), false)
    this.put(v, unit, external)
  }
  /** Is it a loop that values of this epoch and shape may join? */
  private isKin(unit: number, epoch: number, shape: readonly number[]): boolean {
    const x = this.units[unit]
    return x !== undefined && x.kind === 'loop' && !x.closed && x.epoch === epoch && sameShape(x.shape, shape)
  }
  /** The one unit that these, of one level, become with room for a value that reads `external`; -1 where they do not fit together. */
  private merged(candidates: readonly number[], external: readonly number[]): number {
    const { units } = this
    if (candidates.length === 1) return this.fits(units[candidates[0]!]!, 1, external) ? candidates[0]! : -1
    const all = candidates.map((u) => units[u]!)
    const into = greatestOf(candidates)
    const u = units[into]!
    const others = all.filter((x) => x !== u)
    const nodes = others.reduce((n, x) => n + x.values.length, 1)
    const results = others.reduce((n, x) => n + x.results, 0)
    const reads = new Set([...others.flatMap((x) => [...x.inputs]), ...external])
    if (!this.fits(u, nodes, reads, results)) return -1
    for (const c of candidates) {
      if (c === into) continue
      const other = units[c]!
      for (const x of other.values) u.values.push(x)
      for (const x of other.inputs) u.inputs.add(x)
      u.results += other.results
      u.merged = true
      other.values = []
      this.groups.merge(c, into)
    }
    return into
  }
  private put(v: Value, unit: number, external: readonly number[]): void {
    const { values, epoch, units, uses, groups, lastReader } = this
    const u = units[unit]!
    u.values.push(v.id)
    groups.put(v.id, unit)
    for (const x of external) {
      u.inputs.add(x)
      if (lastReader[x]! < 0 || groups.find(lastReader[x]!) < unit) lastReader[x] = unit
    }
    // Arguments made by another loop of this epoch are read from outside.
    for (const a of v.args) {
      const p = groups.at(values[a]!.base)
      if (p >= 0 && p !== unit) u.inputs.add(values[a]!.base)
    }
    if (v.kind !== 'scalar' || uses.some(v.id, (x) => epoch[x] !== epoch[v.id]) || uses.count(v.id) === 0) u.results++
  }

  /** What is left after merging, numbered without gaps. */
  finished(): { readonly units: readonly Unit[]; readonly unitOf: Int32Array } {
    const { values, units, epoch, groups } = this
    const final = new Int32Array(units.length)
    const kept: Unit[] = []
    for (let i = 0; i < units.length; i++) {
      const u = units[i]!
      if (groups.find(i) !== i) continue
      // Values came in this order: those of one unit have it.
      if (u.merged) u.values.sort((a, b) => epoch[a]! - epoch[b]! || a - b)
      final[i] = kept.push({ kind: u.kind, values: u.values, shape: u.shape }) - 1
    }
    const unitOf = new Int32Array(values.length)
    for (let id = 0; id < values.length; id++) {
      const group = groups.at(id)
      unitOf[id] = group < 0 ? -1 : final[group]!
    }
    return { units: kept, unitOf }
  }
}

/** Partitions live values into units. */
export const fuse = (ir: Ir, limits: Limits): Fused => {
  const without = limits.without ?? ALL_PASSES
  const values = [...ir.values]
  let live = markLive(ir, values)
  let uses = countUses(values, live)
  if (!without.has('accumulate') && accumulate(ir, values, uses, live)) {
    live = markLive(ir, values)
    uses = countUses(values, live)
  }
  const epoch = epochsOf(ir, values, uses, live, !without.has('sink'))
  // Constant values are made inside the loops that read them; only other readers need them stored.
  const needsStorage = (v: Value): boolean => !v.constant || uses.some(v.id, (u) => !joinsLoops(values[u]!))
  const byEpoch: Value[][] = []
  for (let id = 0; id < values.length; id++) {
    const v = values[id]!
    if (live[id] === 0 || v.view !== undefined || v.kind === 'input' || v.kind === 'const' || v.kind === 'result' || !needsStorage(v))
      continue
    const e = epoch[id]!
    while (byEpoch.length <= e) byEpoch.push([])
    byEpoch[e]!.push(v)
  }
  const grown = new Units(values, epoch, uses, without.has('fusion') ? { ...limits, nodes: 1 } : limits)
  for (const list of byEpoch)
    for (const v of list) {
      if (joinsLoops(v)) grown.loop(v)
      else grown.whole(v)
    }
  return { values, live, uses, ...grown.finished() }
}
