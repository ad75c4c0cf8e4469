/** Maximal elementwise regions of a program: what mixed mode differentiates forward and what loops fuse. */
import { APPLY, CONST, type Linear, type Node, OUTPUT } from './expr.js'
import { sameShape } from './shape.js'

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

const isScalarOp = (n: Node): boolean => n.kind === APPLY && n.prim!.class === 'elementwise' && !n.prim!.multi

/** A region while it grows. */
interface Growing {
  nodes: number[]
  /** What it reads from outside: positions, literals not counted. */
  outside: Set<number>
  /** Reads another region of its own epoch and shape: it may then not be merged, lest a path leave it and come back. */
  chained: boolean
}

/**
 * Regions of same-shaped elementwise nodes, connected through arguments. Any path that leaves a region and meets a node
 * that is not elementwise arrives at a later epoch, and a node joins the latest region among its arguments (merging those
 * that read no other region of their kind), so no region depends on itself.
 */
export const findRegions = (linear: Linear, limits: RegionLimits = regionLimits): Region[] => {
  const { nodes, index } = linear
  const n = nodes.length
  const epoch = new Int32Array(n)
  const regionOf = new Int32Array(n).fill(-1)
  const regions: (Growing | undefined)[] = []
  const parent: number[] = []
  const find = (r: number): number => {
    let x = r
    while (parent[x] !== x) {
      parent[x] = parent[parent[x]!]!
      x = parent[x]!
    }
    return x
  }
  const at = (k: number): number => (regionOf[k]! < 0 ? -1 : find(regionOf[k]!))
  const fits = (r: Growing, more: number, reads: Iterable<number>): boolean => {
    let args = r.outside.size
    for (const k of reads) if (!r.outside.has(k)) args++
    return r.nodes.length + more <= limits.nodes && args <= limits.args
  }
  // Of the node at hand: regions among its arguments, latest first, and what it reads from elsewhere.
  const own: number[] = []
  const outside: number[] = []
  for (let i = 0; i < n; i++) {
    const node = nodes[i]!
    const scalar = isScalarOp(node)
    let e = 0
    for (const a of node.args) {
      const k = index.get(a)
      const step = scalar && isScalarOp(a) ? 0 : a.kind === APPLY || a.kind === OUTPUT ? 1 : 0
      if (epoch[k]! + step > e) e = epoch[k]! + step
    }
    epoch[i] = e
    if (!scalar) continue
    own.length = 0
    outside.length = 0
    for (const a of node.args) {
      const k = index.get(a)
      const r = at(k)
      if (r >= 0 && epoch[k] === e && sameShape(a.aval.shape, node.aval.shape)) {
        if (!own.includes(r)) own.push(r)
      } else if (a.kind !== CONST) outside.push(k)
    }
    if (own.length > 1) own.sort((x, y) => y - x)
    let best = own[0] ?? -1
    if (best >= 0 && !fits(regions[best]!, 1, outside)) best = -1
    if (best < 0) {
      best = regions.length
      regions.push({ nodes: [], outside: new Set(), chained: false })
      parent.push(best)
    }
    const region = regions[best]!
    for (const r of own) {
      if (r === best) continue
      const other = regions[r]!
      if (!region.chained && !other.chained && fits(region, other.nodes.length + 1, [...other.outside, ...outside])) {
        region.nodes = other.nodes.length > region.nodes.length ? other.nodes.concat(region.nodes) : region.nodes.concat(other.nodes)
        for (const k of other.outside) region.outside.add(k)
        regions[r] = undefined
        parent[r] = best
      } else region.chained = true
    }
    for (const a of node.args) {
      const k = index.get(a)
      if (a.kind !== CONST && at(k) !== best) region.outside.add(k)
    }
    region.nodes.push(i)
    regionOf[i] = best
  }
  const out: Region[] = []
  const readBy = new Int32Array(n).fill(-1)
  regions.forEach((r, id) => {
    if (r === undefined) return
    r.nodes.sort((a, b) => a - b)
    const args: number[] = []
    for (const k of r.nodes)
      for (const a of nodes[k]!.args) {
        const p = index.get(a)
        if (at(p) === id || readBy[p] === id) continue
        readBy[p] = id
        args.push(p)
      }
    out.push({ nodes: r.nodes, args })
  })
  return out
}
