/** vmap. */

import { raise, showShape } from '../../core/errors/explain.js'
import { metaOf } from '../../core/functions/function.js'
import { asExpr, input } from '../../core/graph/expr.js'
import { liftList } from '../../core/graph/program.js'
import { substitute } from '../../core/graph/rewrite.js'
import { unflatten } from '../../core/graph/tree.js'
import { batchedDeclaration, mappedLeaves, SHARED, type VmapOptions, vmapOptions } from '../arguments.js'
import { batch, unbatched } from '../vmap.js'
import { type Callable, type Context, operator, resultOf } from './shared.js'

export const vmap =
  (c: Context) =>
  (f: unknown, given?: VmapOptions): Callable => {
    const m = metaOf(f, 'vmap')
    const options = vmapOptions(given)
    return operator(c, {
      name: `vmap(${m.name})`,
      arity: m.arity,
      ...(m.most && { most: m.most }),
      ...(m.declared && { declared: batchedDeclaration(m.declared, options.inAxes) }),
      body: (args) => {
        const { nodes, def } = liftList(args, 'arguments')
        const mapped = mappedLeaves(def, options.inAxes)
        const over = nodes.filter((_, i) => mapped[i])
        const sizes = new Set(over.map((n) => n.shape[0]))
        const size = [...sizes][0]
        if (over.length === 0 || sizes.size !== 1 || size === undefined)
          return raise({
            _tag: 'ShapeMismatch',
            op: 'vmap',
            shapes: over.map((n) => n.shape),
            reason: `the leading axes of the arguments differ or are missing: ${over.map((n) => showShape(n.shape)).join(', ')}.`,
            fix: SHARED,
          })
        const inputs = nodes.map((n, i) => input(mapped[i] ? unbatched(n.aval) : n.aval))
        const those = (which: boolean) => new Map(inputs.flatMap((x, i) => (mapped[i] === which ? [[x, nodes[i]!] as const] : [])))
        const out = resultOf(m, unflatten(def, inputs.map(asExpr)) as unknown[])
        const ys = substitute(batch(c.registry, out.nodes, those(true), size), those(false))
        return unflatten(out.def, ys.map(asExpr))
      },
    })
  }
