/** Forward mode: Duals pushed through an expression. */

import { Dual } from '../core/calculus/dual.js'
import { type RuleConfig, ruleFor } from '../core/calculus/rule.js'
import { isFloat } from '../core/graph/aval.js'
import { asExpr, type Node, reapplied } from '../core/graph/expr.js'
import { fold } from '../core/graph/rewrite.js'
import { blaming, type Cursor, raiseNotImplemented, remember } from '../core/graph/source-lines.js'
import { type Forced, NoTangent, ZeroTangent } from '../core/graph/tangent.js'
import { projectTangent } from './common.js'
import { listFrom, valuesFrom } from './returned.js'

type NodeDual = Dual<Node, Forced>

export interface Pushed {
  readonly values: readonly Node[]
  readonly tangents: readonly Forced[]
}

/** Values and tangents of `outputs` for tangents of some inputs, by the registry's frules. */
export const push = (config: RuleConfig, outputs: readonly Node[], seeds: ReadonlyMap<Node, Node>): Pushed =>
  blaming(outputs, (at) => pushAt(at, config, outputs, seeds))

const still = (n: Node): NodeDual => Dual(n, isFloat(n.dtype) ? ZeroTangent : NoTangent)
const moves = ({ tangent }: NodeDual): boolean => tangent._tag !== 'ZeroTangent' && tangent._tag !== 'NoTangent'

const pushAt = (cursor: Cursor, config: RuleConfig, outputs: readonly Node[], seeds: ReadonlyMap<Node, Node>): Pushed => {
  const duals = fold<NodeDual>(outputs, {
    at: (n) => {
      const seed = seeds.get(n)
      return seed && Dual(n, asExpr(seed))
    },
    leaf: still,
    apply: (node, args) => {
      cursor.node = node
      const ys = reapplied(
        node,
        args.map((a) => a.primal),
      )
      if (!args.some(moves) || ys.every((y) => !isFloat(y.dtype))) return ys.map(still)
      for (const a of args) if (a.tangent._tag === 'NotImplemented') raiseNotImplemented(a.tangent)
      const frule = ruleFor(config.registry, node.prim!, 'frule', 'jvp (forward)')
      const made = frule(
        args.map((a) => asExpr(a.primal)),
        args.map((a) => a.tangent),
        node.payload as never,
        { y: asExpr(ys[0]!), ys: ys.map(asExpr), active: args.map((a) => a.tangent._tag === 'Expr'), config },
      )
      const dys = listFrom(node.prim!, 'frule', made.dys, ys.length, 'tangent', 'result')
      return valuesFrom(node.prim!, 'frule', made.ys, ys).map((y, r) => {
        const tangent = projectTangent(dys[r]!, ys[r]!.aval, { node, k: r })
        if (tangent._tag === 'NotImplemented') remember(tangent, node)
        return Dual(y, tangent)
      })
    },
  })
  return { values: duals.map((d) => d.primal), tangents: duals.map((d) => d.tangent) }
}
