/** Maximal elementwise regions of a program: what mixed mode differentiates forward and what loops fuse. */
import { APPLY, CONST, type Linear, type Node, OUTPUT } from './expr.js'
import { isFloat } from './aval.js'
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

/**
 * Regions of same-shaped elementwise nodes, connected through arguments. Any path that leaves a region and meets a node
 * that is not elementwise arrives at a later epoch, and a node joins the latest region among its arguments, so no region depends on itself.
 */
export const findRegions = (linear: Linear, limits: RegionLimits = regionLimits): Region[] => {
  const { nodes, index } = linear
  const n = nodes.length
  const epoch = new Int32Array(n)
  const regionOf = new Int32Array(n).fill(-1)
  const regions: { nodes: number[]; args: number[]; count: number; known: Set<number> }[] = []
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
    let best = -1
    for (const a of node.args) {
      const k = index.get(a)
      const r = regionOf[k]!
      if (r > best && epoch[k] === e && sameShape(a.aval.shape, node.aval.shape)) best = r
    }
    let region = best >= 0 ? regions[best]! : undefined
    if (region !== undefined) {
      let added = 0
      for (const a of node.args) {
        const k = index.get(a)
        if (regionOf[k] !== best && a.kind !== CONST && !region.known.has(k)) added++
      }
      if (region.nodes.length + 1 > limits.nodes || region.count + added > limits.args) region = undefined
    }
    if (region === undefined) {
      best = regions.length
      region = { nodes: [], args: [], count: 0, known: new Set() }
      regions.push(region)
    }
    for (const a of node.args) {
      const k = index.get(a)
      if (regionOf[k] === best || region.known.has(k)) continue
      region.known.add(k)
      region.args.push(k)
      if (a.kind !== CONST) region.count++
    }
    region.nodes.push(i)
    regionOf[i] = best
  }
  return regions.map((r) => ({ nodes: r.nodes, args: r.args }))
}
export const isFloatNode = (n: Node): boolean => isFloat(n.aval.dtype)
