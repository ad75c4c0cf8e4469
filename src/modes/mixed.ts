/** Mixed mode: elementwise regions in which forward mode is cheaper become one `map` each; reverse mode goes around them. */

import { findRegions, type Region, regionLimits } from '../core/calculus/regions.js'
import { aval, isFloat } from '../core/graph/aval.js'
import { expanded, isScalarProgram } from '../core/graph/expand.js'
import { APPLY, CONST, input, type Linear, type Node, OUTPUT, reapplied } from '../core/graph/expr.js'
import { Identities } from '../core/graph/identity.js'
import { inOrder, linearOf, orderOf } from '../core/graph/order.js'
import { dependents, type Program } from '../core/graph/program.js'
import { rewrite } from '../core/graph/rewrite.js'
import { isObserved } from '../core/graph/source-lines.js'
import { mapped, scalarProgram } from '../core/ops/map.js'

/** `outputs` with user maps written out, so that map(f, x) and f(x) are the same expression. */
const flattened = (outputs: readonly Node[]): readonly Node[] => {
  const isMap = ({ prim }: Node): boolean => prim !== null && isScalarProgram(prim)
  return orderOf(outputs).nodes.some(isMap) ? rewrite(outputs, { apply: (n, args) => (isMap(n) ? expanded(n, args) : undefined) }) : outputs
}

/** Scalar programs that are equal share one object, so that each is differentiated once. */
class Interned {
  private readonly byHash = new Map<number, { readonly code: readonly number[]; readonly program: Program }[]>()
  readonly ids = new Identities()
  /** Words of all codes. */
  size = 0
  get(code: readonly number[], make: () => Program): Program {
    let h = 0x811c9dc5
    for (let i = 0; i < code.length; i++) h = Math.imul(h ^ code[i]!, 0x01000193)
    const list = this.byHash.get(h)
    if (list !== undefined)
      for (const entry of list) if (entry.code.length === code.length && entry.code.every((c, i) => c === code[i])) return entry.program
    const program = make()
    if (list === undefined) this.byHash.set(h, [{ code, program }])
    else list.push({ code, program })
    this.size += code.length
    return program
  }
}
/** Programs of scalars know no size: a trace at another size finds them, and their partials, made. So many words are kept of their codes; then all are made anew. */
const CODES = 2 ** 14
let shared: Interned | undefined
/** What a trace shares with those before it; nothing where somebody asks where its nodes come from. */
const internedNow = (): Interned => {
  if (isObserved()) return new Interned()
  if (shared === undefined || shared.size > CODES) shared = new Interned()
  return shared
}

/** Work of forward mode (one tangent per active argument) against scalar reverse mode, in operations of the region. */
const forwardIsCheaper = (region: Region, linear: Linear, active: Uint8Array, results: number, at: Int32Array): boolean => {
  const { nodes, index } = linear
  const args = region.args.filter((k) => active[k] === 1 && isFloat(nodes[k]!.dtype))
  if (args.length === 0) return false
  // Places in the region; `at` may hold those of other regions too.
  region.nodes.forEach((k, i) => {
    at[k] = i
  })
  const bit = new Map(args.map((k, i) => [k, i]))
  const reach = region.nodes.map(() => 0)
  let forward = 0
  let reverse = 0
  region.nodes.forEach((k, i) => {
    let mask = 0
    for (const a of nodes[k]!.args) {
      const p = index.get(a)
      const own = at[p]!
      const from = region.nodes[own] === p ? reach[own]! : bit.has(p) ? 1 << bit.get(p)! : 0
      if (from !== 0) reverse += 2
      mask |= from
    }
    reach[i] = mask
    for (let m = mask; m !== 0; m &= m - 1) forward += 2
  })
  // With one or two tangents, forward also saves what reverse would store and read back for every operation.
  return forward + 2 * args.length * results <= (args.length <= 2 ? 2 * reverse : reverse)
}

/** A region that becomes one map, and its nodes that something outside reads. */
interface Chosen {
  readonly region: Region
  readonly results: readonly number[]
}

/** Regions of active floats, with few results, that forward mode differentiates more cheaply. */
const chosenRegions = (linear: Linear, outputs: readonly Node[], wrt: readonly Node[]): readonly Chosen[] => {
  const { nodes } = linear
  const regions = findRegions(linear)
  if (!regions.some((r) => r.nodes.length > 1)) return []
  const active = dependents(linear, wrt)
  const users = usersOutside(linear, regions, outputs)
  const place = new Int32Array(nodes.length)
  return regions.flatMap((region, r) => {
    const results = users[r]!
    const fits = region.nodes.length > 1 && results.length > 0 && results.length <= regionLimits.results
    const floats =
      fits &&
      region.nodes.every((k) => active[k] === 1 && isFloat(nodes[k]!.dtype)) &&
      region.args.every((k) => nodes[k]!.kind === CONST || isFloat(nodes[k]!.dtype))
    return floats && forwardIsCheaper(region, linear, active, results.length, place) ? [{ region, results }] : []
  })
}

/** The nodes of a linear order, made again with the chosen regions as one map each. */
class Rebuilt {
  private readonly made: (Node | undefined)[]
  private readonly several = new Map<number, readonly Node[]>()
  private readonly regionAt: Int32Array
  private readonly done: Uint8Array
  private readonly maps: Node[] = []
  private readonly interned = internedNow()

  constructor(
    private readonly linear: Linear,
    private readonly chosen: readonly Chosen[],
  ) {
    const size = linear.nodes.length
    this.made = new Array<Node | undefined>(size)
    this.regionAt = new Int32Array(size).fill(-1)
    this.done = new Uint8Array(chosen.length)
    chosen.forEach(({ region }, r) => {
      for (const k of region.nodes) this.regionAt[k] = r
    })
  }
  private of(n: Node): Node {
    return this.made[this.linear.index.get(n)]!
  }
  private needs(i: number): readonly number[] {
    const r = this.regionAt[i]!
    return r >= 0 ? this.chosen[r]!.region.args : this.linear.nodes[i]!.args.map((a) => this.linear.index.get(a))
  }
  /** Is all made that a node, of no region, is made of? */
  private ready(i: number): boolean {
    const { args } = this.linear.nodes[i]!
    for (let k = 0; k < args.length; k++) if (this.made[this.linear.index.get(args[k]!)] === undefined) return false
    return true
  }
  private finished(i: number): boolean {
    const r = this.regionAt[i]!
    return r >= 0 ? this.done[r] === 1 : this.made[i] !== undefined
  }
  private again(n: Node, i: number): Node {
    if (n.kind === OUTPUT) return this.several.get(this.linear.index.get(n.args[0]!))![n.payload as number]!
    if (n.kind !== APPLY) return n
    const ys = reapplied(
      n,
      n.args.map((a) => this.of(a)),
    )
    if (n.prim!.multi) this.several.set(i, ys)
    return ys[0] ?? n
  }
  private build(i: number): void {
    const r = this.regionAt[i]!
    if (r < 0) {
      this.made[i] = this.again(this.linear.nodes[i]!, i)
      return
    }
    const { region, results } = this.chosen[r]!
    const ys = mapped(
      regionProgram(region, results, this.linear, this.interned),
      region.args.map((k) => this.made[k]!),
    )
    results.forEach((k, j) => {
      this.made[k] = ys[j]!
    })
    this.maps.push(ys[0]!.args[0]!)
    this.done[r] = 1
  }
  /** In build order; a region is made when the first of its results is needed, its arguments before it. */
  private all(): void {
    const stack: number[] = []
    for (let i = 0; i < this.made.length; i++) {
      if (this.finished(i)) continue
      if (this.regionAt[i]! < 0 && this.ready(i)) {
        this.build(i)
        continue
      }
      stack.push(i)
      while (stack.length > 0) {
        const top = stack[stack.length - 1]!
        const open = this.finished(top) ? [] : this.needs(top).filter((k) => !this.finished(k))
        for (const k of open) stack.push(k)
        if (open.length > 0) continue
        if (!this.finished(top)) this.build(top)
        stack.pop()
      }
    }
  }
  /** The order of what was made: nodes that are as they were, then new ones. */
  private order(): Linear {
    const old: Node[] = []
    const made = [...this.maps]
    this.linear.nodes.forEach((n, i) => {
      const m = n.kind === APPLY && n.prim!.multi ? (this.several.get(i)?.[0]?.args[0] ?? n) : this.made[i]
      if (m !== undefined) (m === n ? old : made).push(m)
    })
    return linearOf([...old, ...made.sort((a, b) => a.id - b.id)])
  }
  /** These roots over what was made. */
  roots(outputs: readonly Node[]): readonly Node[] {
    this.all()
    return inOrder(
      outputs.map((o) => this.of(o)),
      this.order(),
    )
  }
}

/** `outputs` in which every region that forward mode differentiates more cheaply is one map. */
export const regionized = (outputs: readonly Node[], wrt: readonly Node[]): readonly Node[] => {
  const flat = flattened(outputs)
  const linear = orderOf(flat)
  const chosen = chosenRegions(linear, flat, wrt)
  return chosen.length === 0 ? flat : new Rebuilt(linear, chosen).roots(flat)
}

/** For each region, its nodes that something outside reads (or that are outputs). */
const usersOutside = (linear: Linear, regions: readonly Region[], outputs: readonly Node[]): number[][] => {
  const { nodes, index } = linear
  const regionOf = new Int32Array(nodes.length).fill(-1)
  regions.forEach((r, i) => {
    for (const k of r.nodes) regionOf[k] = i
  })
  const outside = new Uint8Array(nodes.length)
  nodes.forEach((n, i) => {
    for (const a of n.args) {
      const k = index.get(a)
      if (regionOf[k]! >= 0 && regionOf[k] !== regionOf[i]) outside[k] = 1
    }
  })
  for (const o of outputs) outside[index.get(o)] = 1
  return regions.map((r) => r.nodes.filter((k) => outside[k] === 1))
}

/** The region at shape []: literals are arguments too, so that equal structures with other numbers are one program. */
const regionProgram = (region: Region, results: readonly number[], { nodes, index }: Linear, interned: Interned): Program => {
  const position = new Map<number, number>()
  region.args.forEach((k, i) => {
    position.set(k, i)
  })
  const code: number[] = [region.args.length, region.nodes.length]
  for (const k of region.args) code.push(interned.ids.id(nodes[k]!.dtype))
  region.nodes.forEach((k, i) => {
    const n = nodes[k]!
    code.push(interned.ids.id(n.prim), interned.ids.paramsId(n.prim, n.payload))
    for (const a of n.args) code.push(position.get(index.get(a))!)
    position.set(k, region.args.length + i)
  })
  for (const k of results) code.push(position.get(k)!)
  return interned.get(code, () => {
    const inputs = region.args.map((k) => input(aval([], nodes[k]!.dtype)))
    const made: Node[] = [...inputs]
    for (const k of region.nodes) {
      const n = nodes[k]!
      made.push(
        reapplied(
          n,
          n.args.map((a) => made[position.get(index.get(a))!]!),
        )[0]!,
      )
    }
    const ys = results.map((k) => made[position.get(k)!]!)
    return scalarProgram(inputs, inOrder(ys, linearOf(made)))
  })
}
