/** Fusion: which values are computed in one loop, and which accumulators are added into in place. */
import { elementwise } from '../../core/ops/elementwise.js'
import type { AnyPrimitive } from '../../core/primitive.js'
import { sameShape } from '../../core/shape.js'
import type { Halves } from './halves.js'
import { Lists } from './ints.js'
import type { Ir, ItemBytes, Value } from './value.js'

export interface Limits {
  /** Scalar operations in one loop. */
  readonly nodes: number
  /** Buffers that one loop reads and writes (literals not counted). */
  readonly buffers: number
  readonly dtypes: readonly string[]
  readonly memoryBytes: number
  /** Bytes of an element in the backend's memory (default: a typed array's). */
  readonly itemBytes?: ItemBytes
  /** What is stored as f16 (default: nothing). */
  readonly halves?: Halves
}

/** Values that one loop computes, in order; or one value that has a kernel of its own. */
export interface Unit {
  readonly kind: 'loop' | 'gemm' | 'concat' | 'pad' | 'sliceAdd' | 'opaque'
  readonly values: number[]
  /** Iteration shape of a loop. */
  readonly shape: readonly number[]
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
  /** Reads another loop of its own epoch and shape: merging it with an earlier one could make a cycle. */
  chained: boolean
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

/** Values that v reads, with views resolved to the values that own the storage. */
export const reads = (values: readonly Value[], v: Value): number[] => v.args.map((a) => values[a]!.view?.base ?? a)

const add = elementwise.add as unknown as AnyPrimitive
const isLoopValue = (v: Value): boolean => v.kind === 'scalar' || v.kind === 'copy' || v.kind === 'fold' || v.kind === 'map'
/** Iteration shape of a value that a loop computes. */
const iteration = (values: readonly Value[], v: Value): readonly number[] => (v.kind === 'fold' ? values[v.args[0]!]!.shape : v.shape)

const markLive = (ir: Ir, values: readonly Value[]): Uint8Array => {
  const live = new Uint8Array(values.length)
  for (const o of ir.outputs) live[o] = 1
  for (let i = values.length - 1; i >= 0; i--) {
    if (live[i] === 0) continue
    const v = values[i]!
    for (const a of v.args) live[a] = 1
    if (v.view !== undefined) live[v.view.base] = 1
  }
  return live
}

const countUses = (values: readonly Value[], live: Uint8Array): Lists => {
  const counts = new Int32Array(values.length)
  const each = (f: (base: number, user: number) => void): void => {
    for (const v of values) {
      if (live[v.id] === 0 || v.view !== undefined) continue
      const { args } = v
      for (let k = 0; k < args.length; k++) f(values[args[k]!]!.view?.base ?? args[k]!, v.id)
    }
  }
  each((base) => counts[base]!++)
  const uses = new Lists(counts)
  each((base, user) => uses.push(base, user))
  return uses
}

/** add(acc, product) and add(acc, fold) become an accumulation into acc, where acc and the other have no other reader. */
const accumulate = (ir: Ir, values: Value[], uses: Lists, live: Uint8Array): void => {
  const outputs = new Set(ir.outputs.map((o) => values[o]!.view?.base ?? o))
  const single = (id: number): boolean => uses.count(id) === 1 && !outputs.has(id) && values[id]!.view === undefined
  for (const v of values) {
    if (live[v.id] === 0 || v.prim !== add || v.args.length !== 2) continue
    for (const [p, q] of [
      [1, 0],
      [0, 1],
    ] as const) {
      const term = values[v.args[p]!]!
      const acc = values[v.args[q]!]!
      const adds =
        (term.kind === 'gemm' && term.args.length === 2) || (term.kind === 'fold' && term.args.length === 1 && term.prim!.name === 'sum')
      if (
        !adds ||
        v.args[0] === v.args[1] ||
        !single(term.id) ||
        !single(acc.id) ||
        !sameShape(term.shape, v.shape) ||
        !sameShape(acc.shape, v.shape)
      )
        continue
      if (acc.constant || acc.kind === 'input' || acc.kind === 'const' || acc.id > v.id) continue
      values[v.id] = { ...term, id: v.id, args: [...term.args, acc.id] }
      live[term.id] = 0
      break
    }
  }
}

/** Epoch of each value: how many kernels of another kind lie before it. Loop values of one epoch and shape may share a loop. */
const epochs = (values: readonly Value[], live: Uint8Array): Int32Array => {
  const epoch = new Int32Array(values.length)
  for (const v of values) {
    if (live[v.id] === 0) continue
    let e = 0
    const loop = isLoopValue(v)
    v.args.forEach((a, k) => {
      const arg = values[a]!
      const direct =
        loop &&
        arg.view === undefined &&
        (arg.kind === 'scalar' || arg.kind === 'copy') &&
        !(v.kind === 'fold' && k > 0) &&
        v.kind !== 'map' &&
        sameOrSmaller(arg, v, values)
      const base = arg.view?.base ?? a
      const made = values[base]!.kind !== 'input' && values[base]!.kind !== 'const' && !values[base]!.constant
      const at = epoch[base]! + (made && !direct ? 1 : 0)
      if (at > e) e = at
    })
    if (v.view !== undefined) e = epoch[v.view.base]!
    epoch[v.id] = e
  }
  return epoch
}
const sameOrSmaller = (arg: Value, v: Value, values: readonly Value[]): boolean => sameShape(arg.shape, iteration(values, v))

/**
 * Moves scalar values to the epoch of their earliest user when what they read is stored until then anyway: a partial made
 * next to the forward loop, but read only by the backward loop, is then recomputed from its output instead of stored.
 */
const sink = (ir: Ir, values: readonly Value[], uses: Lists, live: Uint8Array, epoch: Int32Array): void => {
  const isOutput = new Uint8Array(values.length)
  for (const o of ir.outputs) isOutput[values[o]!.view?.base ?? o] = 1
  const END = 1 << 30
  const lastUse = (id: number, except: number): number => {
    if (isOutput[id] === 1 || values[id]!.kind === 'input') return END
    let e = -1
    for (let k = 0; k < uses.count(id); k++) {
      const u = uses.at(id, k)
      if (u !== except && live[u] === 1 && epoch[u]! > e) e = epoch[u]!
    }
    return e
  }
  const can = (id: number, to: number, depth: number): boolean => {
    const v = values[id]!
    if (v.kind !== 'scalar' || v.constant || isOutput[id] === 1 || depth > 8) return false
    for (const a of v.args) {
      const base = values[a]!.view?.base ?? a
      const b = values[base]!
      if (b.kind === 'const' || b.constant) continue
      if (lastUse(base, id) >= to) continue
      if (base === a && uses.count(base) === 1 && epoch[base]! <= to && can(base, to, depth + 1)) continue
      return false
    }
    return true
  }
  for (let i = values.length - 1; i >= 0; i--) {
    const v = values[i]!
    if (live[i] === 0 || v.kind !== 'scalar' || v.constant || isOutput[i] === 1) continue
    let to = END
    for (let k = 0; k < uses.count(i); k++) {
      const u = uses.at(i, k)
      // A reader in another kind of kernel, or through a view, needs the value one epoch before its own.
      const user = values[u]!
      const direct =
        isLoopValue(user) &&
        user.kind !== 'map' &&
        sameShape(iteration(values, user), v.shape) &&
        user.args.every((a, k) => (values[a]!.view?.base ?? a) !== i || (a === i && !(user.kind === 'fold' && k > 0)))
      const at = direct ? epoch[u]! : epoch[u]! - 1
      if (at < to) to = at
    }
    if (to === END || to <= epoch[i]! || !can(i, to, 0)) continue
    const move = (id: number): void => {
      epoch[id] = to
      for (const a of values[id]!.args) {
        const base = values[a]!.view?.base ?? a
        if (
          base === a &&
          values[base]!.kind === 'scalar' &&
          !values[base]!.constant &&
          uses.count(base) === 1 &&
          epoch[base]! < to &&
          lastUse(base, id) < to
        )
          move(base)
      }
    }
    move(i)
  }
}

/** Partitions live values into units. */
export const fuse = (ir: Ir, limits: Limits): Fused => {
  const values = [...ir.values]
  let live = markLive(ir, values)
  accumulate(ir, values, countUses(values, live), live)
  live = markLive(ir, values)
  const uses = countUses(values, live)
  const epoch = epochs(values, live)
  sink(ir, values, uses, live, epoch)
  // Constant values are made inside the loops that read them; only other readers need them stored.
  const needsStorage = (v: Value): boolean => !v.constant || uses.some(v.id, (u) => !isLoopValue(values[u]!) || values[u]!.kind === 'map')
  const order: number[] = []
  for (const v of values) {
    const stored = v.view !== undefined || v.kind === 'input' || v.kind === 'const' || v.kind === 'result'
    if (live[v.id] === 1 && !stored && needsStorage(v)) order.push(v.id)
  }
  order.sort((a, b) => epoch[a]! - epoch[b]! || a - b)
  const units: Growing[] = []
  const unitOf = new Int32Array(values.length).fill(-1)
  const parent: number[] = []
  const find = (u: number): number => {
    let x = u
    while (parent[x] !== x) {
      parent[x] = parent[parent[x]!]!
      x = parent[x]!
    }
    return x
  }
  const at = (id: number): number => (unitOf[id]! < 0 ? -1 : find(unitOf[id]!))
  const open = (u: Omit<Growing, 'inputs' | 'results' | 'chained'>): number => {
    parent.push(units.length)
    return units.push({ ...u, inputs: new Set(), results: 0, chained: false }) - 1
  }
  /** Latest loop that reads a value from outside. */
  const lastReader = new Int32Array(values.length).fill(-1)
  for (const id of order) {
    const v = values[id]!
    if (!isLoopValue(v) || v.kind === 'map') {
      unitOf[id] = open({
        kind: v.kind === 'map' ? 'loop' : (v.kind as Unit['kind']),
        values: [id],
        shape: v.shape,
        epoch: epoch[id]!,
        closed: true,
      })
      continue
    }
    const shape = iteration(values, v)
    const kin = (u: number): boolean =>
      u >= 0 && units[u]!.kind === 'loop' && !units[u]!.closed && units[u]!.epoch === epoch[id] && sameShape(units[u]!.shape, shape)
    const own = new Set<number>()
    const external: number[] = []
    let shared = -1
    v.args.forEach((a, k) => {
      const arg = values[a]!
      const base = arg.view?.base ?? a
      if (values[base]!.constant) return
      const u = at(base)
      if (arg.view === undefined && kin(u) && !(v.kind === 'fold' && k > 0)) own.add(u)
      else {
        external.push(base)
        const r = lastReader[base]! < 0 ? -1 : find(lastReader[base]!)
        if (kin(r) && r > shared) shared = r
      }
    })
    const fits = (u: Growing, more: number, reads: Iterable<number>): boolean => {
      let inputs = u.inputs.size
      for (const x of reads) if (!u.inputs.has(x)) inputs++
      return u.values.length + more <= limits.nodes && inputs + u.results < limits.buffers
    }
    const candidates = [...own].sort((x, y) => y - x)
    let unit = Math.max(candidates[0] ?? -1, shared)
    if (unit >= 0 && !fits(units[unit]!, 1, external)) unit = -1
    if (unit < 0) unit = open({ kind: 'loop', values: [], shape, epoch: epoch[id]!, closed: false })
    const u = units[unit]!
    for (const c of candidates) {
      if (c === unit) continue
      const other = units[c]!
      if (
        !u.chained &&
        !other.chained &&
        u.results + other.results < limits.buffers &&
        fits(u, other.values.length + 1, [...other.inputs, ...external])
      ) {
        u.values = u.values.concat(other.values)
        for (const x of other.inputs) u.inputs.add(x)
        u.results += other.results
        other.values = []
        parent[c] = unit
      } else u.chained = true
    }
    u.values.push(id)
    unitOf[id] = unit
    for (const x of external) {
      u.inputs.add(x)
      if (lastReader[x]! < 0 || find(lastReader[x]!) < unit) lastReader[x] = unit
    }
    // Arguments made by another loop of this epoch are read from outside.
    for (const a of v.args) {
      const p = at(values[a]!.view?.base ?? a)
      if (p >= 0 && p !== unit) u.inputs.add(a)
    }
    if (v.kind !== 'scalar' || uses.some(id, (x) => epoch[x] !== epoch[id]) || uses.count(id) === 0) u.results++
  }
  // Merged units leave gaps: number those that are left.
  const final = new Int32Array(units.length).fill(-1)
  const kept: Unit[] = []
  units.forEach((u, i) => {
    if (parent[i] !== i) return
    final[i] = kept.length
    kept.push({
      kind: u.kind,
      values: u.values.length > 1 ? u.values.sort((a, b) => epoch[a]! - epoch[b]! || a - b) : u.values,
      shape: u.shape,
    })
  })
  for (let i = 0; i < unitOf.length; i++) if (unitOf[i]! >= 0) unitOf[i] = final[find(unitOf[i]!)]!
  return { values, live, uses, units: kept, unitOf }
}
