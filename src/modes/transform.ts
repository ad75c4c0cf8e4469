/** Forward and reverse mode over a registry, tied together: a rule may call either (RuleConfig). */

import { FILLED, GUARDED, HardZeros, literalOf, SOFT } from '../core/calculus/hard-zeros.js'
import { Once } from '../core/calculus/once.js'
import type { Hardness, Registry, RuleConfig } from '../core/calculus/rule.js'
import type { Series, TaylorOf } from '../core/calculus/taylor.js'
import { asExpr, asNode, asNodes, input, type Node } from '../core/graph/expr.js'
import type { Forced, Tangent } from '../core/graph/tangent.js'
import { strongMul } from '../core/ops/elementwise.js'
import type { AnyExpr } from '../core/types/expr.js'
import { type Pushed, push } from './forward.js'
import { pull, type Reversed } from './reverse.js'
import { pushSeries } from './taylor.js'

/** Of a (co)tangent that comes from outside: a zero of it says that nothing moves there, or that nobody looks. */
const given = (dx: AnyExpr): Hardness => ((literalOf(asNode(dx)) ?? 0) === 0 ? FILLED : SOFT)

/** The two modes as rules call them, with what is known of the hard zeros of the seeds. */
const modesOf = (
  registry: Registry,
  zeros: HardZeros | undefined,
  hardness: (dx: AnyExpr) => Hardness,
  once: () => Once,
): Pick<RuleConfig, 'pushforward' | 'pullback'> => ({
  pushforward: (outputs, seeds) => {
    const { values, tangents } = pushed(
      registry,
      zeros,
      asNodes(outputs),
      new Map([...seeds].map(([x, dx]) => [asNode(x), asNode(dx)])),
      hardness,
      once(),
    )
    return { ys: values.map(asExpr), dys: tangents }
  },
  pullback: (outputs, seeds, wrt) => {
    const { values, cotangents } = pulled(registry, zeros, asNodes(outputs), seeds, wrt.map(asNode), hardness, once())
    return { ys: values.map(asExpr), xBars: cotangents }
  },
})

/** The config of one walk, which knows its hard zeros. */
const walking = (registry: Registry, zeros: HardZeros, once: Once): RuleConfig => ({
  registry,
  ...modesOf(
    registry,
    zeros,
    (dx) => zeros.of(dx),
    () => once,
  ),
  once: (keys, make) => once.get(keys, make),
  product: (dx, partial) => zeros.product(dx, partial),
  hardness: (dx) => zeros.of(dx),
  hardened: (dx, h) => zeros.mark(dx, h),
  standIn: (dx, of) => zeros.mark(asExpr(input(of)), zeros.of(dx)),
})
const isExpr = (t: Tangent): t is AnyExpr => t._tag === 'Expr'
/** What an inner walk knows of its results is known outside. */
const told = (outer: HardZeros | undefined, inner: HardZeros, ts: readonly Forced[]): void => {
  if (outer !== undefined) for (const t of ts) if (isExpr(t)) outer.mark(t, inner.of(t))
}

const pushed = (
  registry: Registry,
  outer: HardZeros | undefined,
  outputs: readonly Node[],
  seeds: ReadonlyMap<Node, Node>,
  hardness: (dx: AnyExpr) => Hardness,
  once: Once,
): Pushed => {
  const zeros = new HardZeros()
  for (const dx of seeds.values()) zeros.mark(asExpr(dx), hardness(asExpr(dx)))
  const made = push(walking(registry, zeros, once), outputs, seeds)
  told(outer, zeros, made.tangents)
  return made
}
const pulled = (
  registry: Registry,
  outer: HardZeros | undefined,
  outputs: readonly Node[],
  seeds: readonly Tangent[],
  wrt: readonly Node[],
  hardness: (dx: AnyExpr) => Hardness,
  once: Once,
): Reversed => {
  const zeros = new HardZeros()
  for (const yBar of seeds) if (isExpr(yBar)) zeros.mark(yBar, hardness(yBar))
  const made = pull(walking(registry, zeros, once), outputs, seeds, wrt)
  told(outer, zeros, made.cotangents)
  return made
}

const configs = new WeakMap<Registry, RuleConfig>()

/** How rules of this registry call back into the modes, outside of any walk: every (co)tangent may hold zeros of a `where`. */
export const configOf = (registry: Registry): RuleConfig => {
  let config = configs.get(registry)
  if (config === undefined) {
    const hardness = (): Hardness => GUARDED
    config = {
      registry,
      ...modesOf(registry, undefined, hardness, () => new Once()),
      once: (_keys, make) => make(),
      product: strongMul,
      hardness,
      hardened: (dx) => dx,
      standIn: (_dx, of) => asExpr(input(of)),
    }
    configs.set(registry, config)
  }
  return config
}

/** Values and tangents of `outputs` for tangents of some nodes, by the registry's frules. */
export const pushforward = (registry: Registry, outputs: readonly Node[], seeds: ReadonlyMap<Node, Node>): Pushed =>
  pushed(registry, undefined, outputs, seeds, given, new Once())

/** Values of `outputs` and cotangents of `wrt` for the seeds, by the registry's rrules. */
export const pullback = (registry: Registry, outputs: readonly Node[], seeds: readonly Tangent[], wrt: readonly Node[]): Reversed =>
  pulled(registry, undefined, outputs, seeds, wrt, given, new Once())

/** Series of `outputs` to this order for those of some nodes, by the Taylor rules that follow from the registry's. */
export const seriesThrough = (
  registry: Registry,
  outputs: readonly Node[],
  seeds: ReadonlyMap<Node, Series>,
  order: number,
  taylorOf: TaylorOf,
): readonly Series[] => {
  const zeros = new HardZeros()
  for (const s of seeds.values())
    for (let k = 1; k <= order; k++) {
      const x = s.at(k)
      if (isExpr(x)) zeros.mark(x, given(x))
    }
  return pushSeries(walking(registry, zeros, new Once()), outputs, seeds, order, taylorOf)
}
