/** jvp and linearize: tangents pushed through a function. */

import { applied, type Meta, metaOf, readArgs, toNode } from '../../core/functions/function.js'
import { isFloat } from '../../core/graph/aval.js'
import { asExpr, type Node } from '../../core/graph/expr.js'
import { NoTangent } from '../../core/graph/tangent.js'
import { unflatten } from '../../core/graph/tree.js'
import {
  chosen,
  type GradOptions,
  primalsDef,
  readPair,
  spread,
  tangentMeta,
  tangentSeeds,
  varied,
  type WrtOptions,
  wrtOptions,
} from '../arguments.js'
import { instantiate } from '../common.js'
import { pushforward } from '../transform.js'
import { type Callable, type Context, operator, resultOf, treeOf } from './shared.js'

/** (primals, tangents) to [values, their tangents]: of all float leaves, or of those that wrt names. */
const pushed = ({ registry }: Context, m: Meta, op: 'jvp' | 'linearize', wrt?: GradOptions['wrt']): Meta => ({
  name: `jvp(${m.name})`,
  arity: 2,
  differentiates: true,
  read: readPair(m, 'jvp', wrt, 'tangents'),
  body: ([primals, tangents]) => {
    const p = varied(m, primals, wrt, op)
    const out = resultOf(m, spread(m, primals))
    const r = pushforward(registry, out.nodes, tangentSeeds(p, tangents, `${op}(${m.name})`))
    const dys = r.tangents.map((t, i): Node | NoTangent => {
      const { aval } = out.nodes[i]!
      return isFloat(aval.dtype) ? instantiate(t, aval) : NoTangent
    })
    return [treeOf(out.def, r.values), treeOf(out.def, dys)]
  },
})

export const jvp =
  (c: Context) =>
  (f: unknown): Callable =>
    operator(c, pushed(c, metaOf(f, 'jvp'), 'jvp'))

/** f's tangents at a point, as a linear function of the tangents alone. */
export const linearize = (c: Context) => (f: unknown, given?: WrtOptions) => {
  const m = metaOf(f, 'linearize')
  const options = wrtOptions(given, 'linearize')
  const j = pushed(c, m, 'linearize', options.wrt)
  return (primals: unknown): readonly [value: unknown, derivative: Callable] => {
    const list = spread(m, primals)
    const { leaves, def } = readArgs(m, list)
    const at = unflatten(
      primalsDef(m, def),
      leaves.map((l) => asExpr(toNode(l))),
    )
    const s = chosen(m, def, options.wrt, 'linearize')
    const tangent = tangentMeta(
      `linearize(${m.name})`,
      s.def,
      s.at.map((i) => leaves[i]!),
    )
    return [operator(c, m)(...list), operator(c, { ...tangent, body: ([t]) => (applied(j, [at, t]) as readonly unknown[])[1] })]
  }
}
