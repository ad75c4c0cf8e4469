/** vmap: a program over single examples to one over a leading batch axis, by the registry's batch rules. */

import { type Aval, aval } from '../core/aval.js'
import { APPLY, asExpr, asNode, constant, linearize, Node, OUTPUT, withArgs } from '../core/expr.js'
import { broadcastNode } from '../core/ops/layout-move.js'
import { type Batching, type Registry, ruleFor } from '../core/registry.js'
import { blaming, type Cursor } from '../core/sites.js'

/** `outputs` with `inputs` replaced by batched arguments (leading axis `size`); every result has the axis. */
export const batch = (registry: Registry, outputs: readonly Node[], replaced: ReadonlyMap<Node, Node>, size: number): Node[] =>
  // Of no example there is nothing to compute, whatever the primitives are; rules need not think of it.
  size === 0
    ? outputs.map((o) => broadcastNode(constant(0, o.dtype), [0, ...o.shape]))
    : blaming(outputs, (at) => batchAt(at, registry, outputs, replaced, size))

const batchAt = (cursor: Cursor, registry: Registry, outputs: readonly Node[], replaced: ReadonlyMap<Node, Node>, size: number): Node[] => {
  const { nodes, index } = linearize(outputs)
  const made: Node[] = new Array<Node>(nodes.length)
  const batched = new Uint8Array(nodes.length)
  const results = new Map<number, readonly Node[]>()
  const through: Batching = (inner, given, count) =>
    batch(registry, inner.map(asNode), new Map([...given].map(([from, to]) => [asNode(from), asNode(to)])), count).map(asExpr)
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!
    cursor.node = node
    const to = replaced.get(node)
    if (to !== undefined) {
      made[i] = to
      batched[i] = 1
      continue
    }
    if (node.kind === OUTPUT) {
      const from = index.get(node.args[0]!)
      batched[i] = batched[from]!
      made[i] =
        results.get(from)?.[node.data as number] ??
        (made[from] === node.args[0] ? node : new Node(OUTPUT, node.aval, null, [made[from]!], node.data))
      continue
    }
    if (node.kind !== APPLY) {
      made[i] = node
      continue
    }
    const at = node.args.map((a) => index.get(a))
    const args = at.map((k) => made[k]!)
    const mask = at.map((k) => batched[k] === 1)
    if (!mask.includes(true)) {
      made[i] = args.every((a, k) => a === node.args[k]) ? node : withArgs(node, args)
      continue
    }
    const rule = ruleFor(registry, node.prim!, 'batch', 'vmap')
    const ys = rule(args.map(asExpr), mask, node.data as never, size, through).map(asNode)
    batched[i] = 1
    if (node.prim!.multi) {
      results.set(i, ys)
      made[i] = node
    } else made[i] = ys[0]!
  }
  return outputs.map((o) => {
    const k = index.get(o)
    return batched[k] === 1 ? made[k]! : broadcastNode(made[k]!, [size, ...o.shape])
  })
}

/** The aval of one example: without the leading axis. */
export const unbatched = (a: Aval): Aval => aval(a.shape.slice(1), a.dtype)
