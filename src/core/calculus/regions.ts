/** Maximal elementwise regions of a program: what mixed mode differentiates forward and what loops fuse. */
import { APPLY, CONST, type Linear, type Node, OUTPUT } from '../graph/expr.js'
import { Groups } from '../graph/groups.js'
import { isScalarFunction } from '../graph/primitive.js'
import { sameShape } from '../graph/shape.js'

export interface RegionLimits {
  readonly nodes: number
  readonly args: number
  readonly results: number
}
/** At most this many scalar nodes, non-literal arguments and results in one region. */
export const regionLimits: RegionLimits = { nodes: 256, args: 8, results: 8 }

export interface Region {
  /** Positions of its nodes, in build order. */
  readonly nodes: number[]
  /** Positions of the nodes it reads from outside; literals included. */
  readonly args: number[]
}

const isScalarOp = (n: Node): boolean => n.kind === APPLY && isScalarFunction(n.prim!)

/** A region while it grows. */
interface Growing {
  readonly nodes: number[]
  /** What it reads from outside: positions, each once, literals not counted. */
  readonly outside: number[]
  /** Its nodes are those of several regions, one after the other. */
  merged: boolean
}
const addTo = (list: number[], k: number): void => {
  if (!list.includes(k)) list.push(k)
}

/**
 * Regions of same-shaped elementwise nodes, connected through arguments. Any path that leaves a region and meets a node that is not
 * elementwise arrives at a later epoch; one that meets another region of its epoch, at a higher level (Groups).
 */
class Regions {
  private readonly epoch: Int32Array
  private readonly groups: Groups
  private readonly regions: (Growing | undefined)[] = []

  constructor(
    private readonly linear: Linear,
    private readonly limits: RegionLimits,
  ) {
    this.epoch = new Int32Array(linear.nodes.length)
    this.groups = new Groups(linear.nodes.length)
  }
  private epochAt(i: number): number {
    const { nodes, index } = this.linear
    const scalar = isScalarOp(nodes[i]!)
    let e = 0
    const { args } = nodes[i]!
    for (let k = 0; k < args.length; k++) {
      const a = args[k]!
      const made = a.kind === APPLY || a.kind === OUTPUT
      const at = this.epoch[index.get(a)]! + (made && !(scalar && isScalarOp(a)) ? 1 : 0)
      if (at > e) e = at
    }
    return e
  }

  /** Takes the next node in build order. */
  take(i: number): void {
    const { epoch, regions, groups } = this
    const { nodes, index } = this.linear
    const node = nodes[i]!
    const e = this.epochAt(i)
    epoch[i] = e
    if (!isScalarOp(node)) return
    // Regions among its arguments that it may join, what it reads from elsewhere, and the least level at which it can be.
    const own: number[] = []
    const outside: number[] = []
    let level = 0
    const { args } = node
    const places = new Array<number>(args.length)
    for (let j = 0; j < args.length; j++) {
      const a = args[j]!
      const k = index.get(a)
      places[j] = k
      const r = groups.at(k)
      if (r >= 0 && epoch[k] === e && sameShape(a.aval.shape, node.aval.shape)) {
        if (!own.includes(r)) own.push(r)
        continue
      }
      if (r >= 0 && epoch[k] === e) level = groups.above([r], level)
      if (a.kind !== CONST) outside.push(k)
    }
    const candidates = groups.joinable(own, level)
    let region = candidates.length > 0 ? this.merged(candidates, outside) : -1
    if (region < 0) {
      region = groups.open(groups.above(own, level))
      regions.push({ nodes: [], outside: [], merged: false })
    }
    const joined = regions[region]!
    for (let j = 0; j < args.length; j++) if (args[j]!.kind !== CONST && groups.at(places[j]!) !== region) addTo(joined.outside, places[j]!)
    joined.nodes.push(i)
    groups.put(i, region)
  }
  /** Has a region room for one more node, which reads `outside`? */
  private hasRoom({ nodes, outside: read }: Growing, outside: readonly number[]): boolean {
    const { limits } = this
    let reads = read.length
    for (let i = 0; i < outside.length; i++) if (!read.includes(outside[i]!) && outside.indexOf(outside[i]!) === i) reads++
    return nodes.length + 1 <= limits.nodes && reads <= limits.args
  }
  /** The one region that these, of one level, become with room for a node that reads `outside`; -1 where they do not fit together. */
  private merged(candidates: readonly number[], outside: readonly number[]): number {
    const { regions, limits } = this
    if (candidates.length === 1) return this.hasRoom(regions[candidates[0]!]!, outside) ? candidates[0]! : -1
    const all = candidates.map((r) => regions[r]!)
    const reads = new Set([...all.flatMap((r) => r.outside), ...outside])
    const nodes = all.reduce((n, r) => n + r.nodes.length, 1)
    if (nodes > limits.nodes || reads.size > limits.args) return -1
    const largest = all.reduce((x, y) => (y.nodes.length > x.nodes.length ? y : x))
    const into = candidates[all.indexOf(largest)]!
    for (const r of candidates) {
      if (r === into) continue
      for (const k of regions[r]!.nodes) largest.nodes.push(k)
      for (const k of regions[r]!.outside) addTo(largest.outside, k)
      largest.merged = true
      regions[r] = undefined
      this.groups.merge(r, into)
    }
    return into
  }

  finished(): Region[] {
    const { nodes, index } = this.linear
    const out: Region[] = []
    const readBy = new Int32Array(nodes.length).fill(-1)
    for (let id = 0; id < this.regions.length; id++) {
      const r = this.regions[id]
      if (r === undefined) continue
      // Nodes come in build order: those of one region have it.
      if (r.merged) r.nodes.sort((a, b) => a - b)
      const args: number[] = []
      for (let i = 0; i < r.nodes.length; i++) {
        const own = nodes[r.nodes[i]!]!.args
        for (let k = 0; k < own.length; k++) {
          const p = index.get(own[k]!)
          if (this.groups.at(p) === id || readBy[p] === id) continue
          readBy[p] = id
          args.push(p)
        }
      }
      out.push({ nodes: r.nodes, args })
    }
    return out
  }
}

/** The maximal elementwise regions of a program. */
export const findRegions = (linear: Linear, limits: RegionLimits = regionLimits): Region[] => {
  const regions = new Regions(linear, limits)
  for (let i = 0; i < linear.nodes.length; i++) regions.take(i)
  return regions.finished()
}
