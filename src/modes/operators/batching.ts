/** vmap. */

import { metaOf } from '../../core/functions/function.js'
import { asExpr, input } from '../../core/graph/expr.js'
import { liftList } from '../../core/graph/program.js'
import { substitute } from '../../core/graph/rewrite.js'
import { unflatten } from '../../core/graph/tree.js'
import { batchedDeclaration, inFront, mappedArguments, placed, unbatched, type VmapOptions, vmapAxes } from '../axes.js'
import { batched, widened } from '../vmap.js'
import { type Callable, type Context, operator, resultOf } from './shared.js'

export const vmap =
  (c: Context) =>
  (f: unknown, given?: VmapOptions): Callable => {
    const m = metaOf(f, 'vmap')
    const { inAxes, outAxes } = vmapAxes(given)
    return operator(c, {
      name: `vmap(${m.name})`,
      arity: m.arity,
      ...(m.most && { most: m.most }),
      ...(m.declared && { declared: batchedDeclaration(m.declared, inAxes) }),
      body: (args) => {
        const { nodes, def } = liftList(args, 'arguments')
        const { axes, size } = mappedArguments(def, nodes, inAxes)
        const inputs = nodes.map((n, i) => input(axes[i] === null ? n.aval : unbatched(n.aval, axes[i]!)))
        const out = resultOf(m, unflatten(def, inputs.map(asExpr)) as unknown[])
        const shared = new Map(inputs.flatMap((x, i) => (axes[i] === null ? [[x, nodes[i]!] as const] : [])))
        const mapped = new Map(inputs.flatMap((x, i) => (axes[i] === null ? [] : [[x, inFront(nodes[i]!, axes[i]!)] as const])))
        const results = batched(c.registry, out.nodes, mapped, size)
        const ys = substitute(
          placed(out.def, results, outAxes, (r) => widened(r, size)),
          shared,
        )
        return unflatten(out.def, ys.map(asExpr))
      },
    })
  }
