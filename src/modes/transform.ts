/** Forward and reverse mode over a registry, tied together: a rule may call either (RuleConfig). */
import { asNode, type Node } from '../core/expr.js'
import type { Registry, RuleConfig } from '../core/registry.js'
import type { Tangent } from '../core/tangent.js'
import { type Pushed, push } from './forward.js'
import { pull, type Reversed } from './reverse.js'

const configs = new WeakMap<Registry, RuleConfig>()

/** How rules of this registry call back into the modes. */
export const configOf = (registry: Registry): RuleConfig => {
  let config = configs.get(registry)
  if (config === undefined) {
    config = {
      registry,
      pushforward: (outputs, seeds) =>
        pushforward(registry, outputs.map(asNode), new Map([...seeds].map(([k, v]) => [asNode(k), asNode(v)]))).tangents,
      pullback: (outputs, seeds, wrt) => pullback(registry, outputs.map(asNode), seeds, wrt.map(asNode)).cotangents,
    }
    configs.set(registry, config)
  }
  return config
}

/** Values and tangents of `outputs` for tangents of some nodes, by the registry's frules. */
export const pushforward = (registry: Registry, outputs: readonly Node[], seeds: ReadonlyMap<Node, Node>): Pushed =>
  push(configOf(registry), outputs, seeds)

/** Values of `outputs` and cotangents of `wrt` for the seeds, by the registry's rrules. */
export const pullback = (registry: Registry, outputs: readonly Node[], seeds: readonly Tangent[], wrt: readonly Node[]): Reversed =>
  pull(configOf(registry), outputs, seeds, wrt)
