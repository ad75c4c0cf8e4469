/** vmap: a program over single examples to one over a leading batch axis, by the registry's batch rules. */

import { type Batching, type Registry, ruleFor } from '../core/calculus/rule.js'
import { asExpr, asNode, constant, type Node, reapplied, resultAvals } from '../core/graph/expr.js'
import { fold } from '../core/graph/rewrite.js'
import { blaming, type Cursor } from '../core/graph/source-lines.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import { batchFrom } from './returned.js'

/** A node, and whether it has the batch axis. */
export interface Batched {
  readonly node: Node
  readonly wide: boolean
}

/** `outputs` with inputs replaced by batched arguments (leading axis `size`); a result that depends on none of these has no axis. */
export const batched = (registry: Registry, outputs: readonly Node[], replaced: ReadonlyMap<Node, Node>, size: number): Batched[] =>
  // Of no example there is nothing to compute, whatever the primitives are; rules need not think of it.
  size === 0
    ? reached(outputs, replaced).map((wide, i) => ({ node: wide ? noExample(outputs[i]!) : outputs[i]!, wide }))
    : blaming(outputs, (at) => batchAt(at, registry, outputs, replaced, size), false)

/** `batched`, where every result has the axis. */
export const batch = (registry: Registry, outputs: readonly Node[], replaced: ReadonlyMap<Node, Node>, size: number): Node[] =>
  batched(registry, outputs, replaced, size).map((b) => widened(b, size))

/** A result with the batch axis in front, the same at every index where it depends on no batched argument. */
export const widened = ({ node, wide }: Batched, size: number): Node =>
  wide ? node : size === 0 ? noExample(node) : broadcastNode(node, [size, ...node.shape])
const noExample = (one: Node): Node => broadcastNode(constant(0, one.dtype), [0, ...one.shape])

/** Which of the outputs depend on one of the nodes. */
const reached = (outputs: readonly Node[], from: ReadonlyMap<Node, Node>): boolean[] =>
  fold<boolean>(outputs, {
    at: (n) => (from.has(n) ? true : undefined),
    leaf: () => false,
    apply: (n, args) => {
      const any = args.includes(true)
      return resultAvals(n).map(() => any)
    },
  })

const batchAt = (
  cursor: Cursor,
  registry: Registry,
  outputs: readonly Node[],
  replaced: ReadonlyMap<Node, Node>,
  size: number,
): Batched[] => {
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
  })
}
