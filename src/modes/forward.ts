/** Forward mode: Duals pushed through an expression. */
import { isFloat } from '../core/aval.js'
import type { Dual } from '../core/dual.js'
import { APPLY, asExpr, asNode, linearize, Node, OUTPUT, resultAvals, withArgs } from '../core/expr.js'
import { dependents } from '../core/program.js'
import { type RuleConfig, ruleFor } from '../core/registry.js'
import { blaming, type Cursor, raiseNotImplemented, remember } from '../core/sites.js'
import { type Forced, NoTangent, ZeroTangent } from '../core/tangent.js'
import { projectTangent } from './common.js'

type NodeDual = Dual<Node, Forced>

export interface Pushed {
  readonly values: readonly Node[]
  readonly tangents: readonly Forced[]
}

/** Values and tangents of `outputs` for tangents of some inputs, by the registry's frules. */
export const push = (config: RuleConfig, outputs: readonly Node[], seeds: ReadonlyMap<Node, Node>): Pushed =>
  blaming(outputs, (at) => pushAt(at, config, outputs, seeds))

const pushAt = (cursor: Cursor, config: RuleConfig, outputs: readonly Node[], seeds: ReadonlyMap<Node, Node>): Pushed => {
  const linear = linearize(outputs)
  const { nodes, index } = linear
  const active = dependents(linear, [...seeds.keys()])
  const duals: NodeDual[] = new Array<NodeDual>(nodes.length)
  const results = new Map<number, readonly NodeDual[]>()
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!
    cursor.node = node
    const seed = seeds.get(node)
    if (seed !== undefined) {
      duals[i] = { primal: node, tangent: asExpr(seed) }
      continue
    }
    if (node.kind === OUTPUT) {
      const from = index.get(node.args[0]!)
      const own = results.get(from)
      const apply = duals[from]!.primal
      duals[i] = own?.[node.data as number] ?? {
        primal: apply === node.args[0] ? node : new Node(OUTPUT, node.aval, null, [apply], node.data),
        tangent: isFloat(node.aval.dtype) ? ZeroTangent : NoTangent,
      }
      continue
    }
    if (node.kind !== APPLY) {
      duals[i] = { primal: node, tangent: isFloat(node.aval.dtype) ? ZeroTangent : NoTangent }
      continue
    }
    const args = node.args.map((a) => duals[index.get(a)]!)
    const self = args.some((a, k) => a.primal !== node.args[k])
      ? withArgs(
          node,
          args.map((a) => a.primal),
        )
      : node
    if (active[i] === 0 || args.every((a) => a.tangent._tag === 'ZeroTangent' || a.tangent._tag === 'NoTangent')) {
      duals[i] = { primal: self, tangent: isFloat(node.aval.dtype) ? ZeroTangent : NoTangent }
      continue
    }
    for (const a of args) if (a.tangent._tag === 'NotImplemented') raiseNotImplemented(a.tangent)
    const avals = resultAvals(self)
    if (avals.every((a) => !isFloat(a.dtype))) {
      duals[i] = { primal: self, tangent: NoTangent }
      continue
    }
    const frule = ruleFor(config.registry, node.prim!, 'frule', 'jvp (forward)')
    const ys = node.prim!.multi ? avals.map((a, r) => new Node(OUTPUT, a, null, [self], r)) : [self]
    const made = frule(
      args.map((a) => asExpr(a.primal)),
      args.map((a) => a.tangent),
      node.data as never,
      { y: asExpr(ys[0]!), ys: ys.map(asExpr), active: args.map((a) => a.tangent._tag === 'Expr'), config },
    )
    const own = made.ys.map((y, r) => ({ primal: asNode(y), tangent: projectTangent(made.dys[r]!, avals[r]!, node.prim!.name) }))
    for (const o of own) if (o.tangent._tag === 'NotImplemented') remember(o.tangent, node)
    if (node.prim!.multi) {
      results.set(i, own)
      duals[i] = { primal: self, tangent: ZeroTangent }
    } else duals[i] = own[0]!
  }
  const at = outputs.map((o) => duals[index.get(o)]!)
  return { values: at.map((d) => d.primal), tangents: at.map((d) => d.tangent) }
}
