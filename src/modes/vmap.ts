/** vmap: a program over single examples to one over a leading batch axis, by the registry's batch rules. */

import { type Batching, type Registry, ruleFor } from '../core/calculus/rule.js'
import { type Aval, aval } from '../core/graph/aval.js'
import { asExpr, asNode, constant, type Node, reapplied, resultAvals } from '../core/graph/expr.js'
import { fold } from '../core/graph/rewrite.js'
import { blaming, type Cursor } from '../core/graph/source-lines.js'
import { broadcastNode } from '../core/ops/layout-move.js'
import { batchFrom } from './returned.js'

/** `outputs` with `inputs` replaced by batched arguments (leading axis `size`); every result has the axis. */
export const batch = (registry: Registry, outputs: readonly Node[], replaced: ReadonlyMap<Node, Node>, size: number): Node[] =>
  // Of no example there is nothing to compute, whatever the primitives are; rules need not think of it.
  size === 0
    ? outputs.map((o) => broadcastNode(constant(0, o.dtype), [0, ...o.shape]))
    : blaming(outputs, (at) => batchAt(at, registry, outputs, replaced, size))

/** A node, and whether it has the batch axis. */
interface Batched {
  readonly node: Node
  readonly wide: boolean
}

const batchAt = (cursor: Cursor, registry: Registry, outputs: readonly Node[], replaced: ReadonlyMap<Node, Node>, size: number): Node[] => {
  const through: Batching = (inner, given, count) =>
    batch(registry, inner.map(asNode), new Map([...given].map(([from, to]) => [asNode(from), asNode(to)])), count).map(asExpr)
  return fold<Batched>(outputs, {
    at: (n) => {
      const node = replaced.get(n)
      return node && { node, wide: true }
    },
    leaf: (node) => ({ node, wide: false }),
    apply: (n, args) => {
      cursor.node = n
      const xs = args.map((a) => a.node)
      if (!args.some((a) => a.wide)) return reapplied(n, xs).map((node) => ({ node, wide: false }))
      const rule = ruleFor(registry, n.prim!, 'batch', 'vmap')
      const mask = args.map((a) => a.wide)
      const ys = rule(xs.map(asExpr), mask, n.payload as never, size, through)
      return batchFrom(n.prim!, 'batch rule', ys, resultAvals(n), size).map((node) => ({ node, wide: true }))
    },
  }).map(({ node, wide }) => (wide ? node : broadcastNode(node, [size, ...node.shape])))
}

/** The aval of one example: without the leading axis. */
export const unbatched = (a: Aval): Aval => aval(a.shape.slice(1), a.dtype)
