/** The reference: a walker over meanings. Slow, simple, and the oracle of every backend. */

import type { SyncBackend } from '../../core/functions/backend.js'
import { itemBytes, showAval } from '../../core/graph/aval.js'
import { evaluateNodes } from '../../core/graph/evaluate.js'
import type { Node } from '../../core/graph/expr.js'
import { printedName } from '../../core/graph/namespace.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import { orderOf } from '../../core/graph/order.js'
import { flopsOf } from '../../core/graph/primitive.js'

export { evaluateNodes }

const flopsOfNode = (n: Node): number =>
  flopsOf(
    n.prim!,
    n.args.map((x) => x.aval),
    [n.aval],
    n.payload,
  )
/**
 * The reference as a backend: plain loops in f64, no plan, one "kernel" per node. Slow and simple; the other backends are tested against
 * it.
 *
 * @example compile((x) => sum(mul(x, x)), reference())([1, 2])   // 5
 */
export const reference = (): SyncBackend => ({
  kind: 'sync',
  name: 'reference',
  prepare: (program) => ({
    run: (inputs, into, accumulate = false) => {
      const values = new Map<Node, NDArray>(program.inputs.map((n, i) => [n, { shape: n.shape, dtype: n.dtype, data: inputs[i]! }]))
      // A result may be an input itself, and a target too: all are read before one is written.
      const results = evaluateNodes(program.outputs, values).map((r) => r.data.slice())
      return results.map((data, i) => {
        const target = into?.[i]
        if (target === undefined) return data
        if (accumulate) for (let j = 0; j < target.length; j++) target[j]! += data[j]!
        else target.set(data as never)
        return target
      })
    },
    explain: () => {
      const { nodes } = orderOf(program.outputs)
      const applies = nodes.filter((n) => n.prim !== null)
      const counts: Record<string, number> = {}
      for (const n of applies) {
        const name = printedName(n.prim!)
        counts[name] = (counts[name] ?? 0) + 1
      }
      const bytes = nodes.reduce((b, n) => b + n.aval.size * itemBytes[n.dtype], 0)
      return {
        backend: 'reference',
        steps: applies.map((n) => ({
          kernel: printedName(n.prim!),
          kind: 'opaque' as const,
          ops: [printedName(n.prim!)],
          sizes: n.shape,
          reads: n.args.map((a) => showAval(a.aval)),
          writes: [showAval(n.aval)],
          flops: flopsOfNode(n),
          bytes: [n, ...n.args].reduce((b, x) => b + x.aval.size * itemBytes[x.dtype], 0),
          times: 1,
        })),
        loops: [],
        counts,
        kernels: applies.length,
        flops: applies.reduce((f, n) => f + flopsOfNode(n), 0),
        bytes,
        peakBytes: bytes,
        buffers: nodes.length,
        peakBuffers: nodes.length,
        copiedAccumulators: 0,
        planMs: 0,
        cached: false,
      }
    },
    dispose: () => undefined,
  }),
})
