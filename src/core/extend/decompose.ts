/** Primitives as compositions of others: what stands in their place before planning, and the rules that follow. */

import type { BatchRule, FRule, Hardness, RRule, RuleConfig } from '../calculus/rule.js'
import { aval, isFloat, showAval } from '../graph/aval.js'
import { type Expansion, expandAll, listed, programsOf } from '../graph/expand.js'
import { applyAny, asExpr, asNode, input, type Node } from '../graph/expr.js'
import { orderOf } from '../graph/order.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import { makeProgram, type Program } from '../graph/program.js'
import { rewrite } from '../graph/rewrite.js'
import { type Forced, NoTangent, unthunk, ZeroTangent } from '../graph/tangent.js'
import type { AnyExpr } from '../types/expr.js'

/** Compositions by primitive. */
export type LoweringTable = ReadonlyMap<AnyPrimitive, Expansion>

/** Does a program, or one within it, apply any of these primitives? */
const applies = (p: Program, table: LoweringTable): boolean =>
  orderOf(p.outputs).nodes.some((n) => n.prim !== null && (table.has(n.prim) || holding(n, table)))
const holding = (n: Node, table: LoweringTable): boolean => programsOf(n.prim!, n.payload).some((p) => applies(p, table))

/** The composition of what a program in the parameters holds: the primitive's own expansion, or the primitive over programs without them. */
const looking = ({ prim, payload: data }: Node, table: LoweringTable): Expansion =>
  prim!.expand ??
  ((xs) =>
    applyAny(
      prim!,
      xs.map(asNode),
      prim!.withPrograms!(
        data,
        programsOf(prim!, data).map((p) => lowerProgram(p, table)),
      ),
    ).map(asExpr))

/** The program in which each primitive of the table is its composition; it may hold others of the table. */
export const lowerProgram = (program: Program, table: LoweringTable): Program => {
  if (table.size === 0) return program
  const by = (n: Node): Expansion | undefined => table.get(n.prim!) ?? (holding(n, table) ? looking(n, table) : undefined)
  const roots = expandAll(program.outputs, by, 'lower', 64)
  return roots === program.outputs ? program : makeProgram({ ...program, outputs: roots })
}

/** (Co)tangents with their expressions over other nodes. */
const put = (ts: readonly Forced[], to: ReadonlyMap<Node, Node>): readonly Forced[] => {
  const made = rewrite(
    ts.flatMap((t) => (t._tag === 'Expr' ? [asNode(t)] : [])),
    { at: (n) => to.get(n) },
  )
  let k = 0
  return ts.map((t) => (t._tag === 'Expr' ? asExpr(made[k++]!) : t))
}

/** A composition over inputs of its own, so that an argument used twice has both its derivatives. */
interface Composed {
  readonly us: readonly Node[]
  readonly ys: readonly AnyExpr[]
}
/** Inputs in place of (co)tangents, and what the mode makes of those. */
interface Derived {
  readonly seeds: readonly Forced[]
  readonly ys: readonly AnyExpr[]
  readonly made: readonly Forced[]
  /** What is known of the zeros of what was made, which what stands in its place has too. */
  readonly hardness: readonly Hardness[]
}
const zerosOf = (config: RuleConfig, ts: readonly Forced[]): readonly Hardness[] =>
  ts.map((t) => (t._tag === 'Expr' ? config.hardness(t) : 0))
/** What was made, over other nodes. */
const placed = ({ made, hardness }: Derived, to: ReadonlyMap<Node, Node>, config: RuleConfig): readonly Forced[] =>
  put(made, to).map((t, i) => (t._tag === 'Expr' ? config.hardened(t, hardness[i]!) : t))
const known = (config: RuleConfig, ts: readonly Forced[]): string => ts.map((t) => (t._tag === 'Expr' ? config.hardness(t) : t._tag)).join()
const placesOf = (from: readonly Forced[], to: readonly Forced[]): (readonly [Node, Node])[] =>
  from.flatMap((f, i) => (f._tag === 'Expr' ? [[asNode(f), asNode(to[i] as AnyExpr)] as const] : []))

/** The three facets of a rule, by the rules of what the primitive is composed of; each composition is derived once in a derivation. */
export const composedRules = (
  by: Expansion,
): {
  readonly composed: true
  readonly frule: FRule
  readonly rrule: RRule
  readonly batch: BatchRule
} => {
  const on = (us: readonly Node[], params: unknown): readonly AnyExpr[] => listed(by(us.map(asExpr), params))
  const composed = (xs: readonly AnyExpr[], params: unknown, { once }: RuleConfig): Composed => {
    const avals = xs.map((x) => asNode(x).aval)
    return once([by, params, avals.map(showAval).join()], () => {
      const us = avals.map((a) => input(a))
      return { us, ys: on(us, params) }
    })
  }
  return {
    composed: true,
    frule: (xs, dxs, params, { config }) => {
      const c = composed(xs, params, config)
      const live = dxs.map(unthunk)
      const derived = config.once([c, 'frule', known(config, live)], (): Derived => {
        const seeds = live.map((dx, i) => (dx._tag === 'Expr' ? config.standIn(dx, c.us[i]!.aval) : dx))
        const { ys, dys } = config.pushforward(
          c.ys,
          new Map(seeds.flatMap((s, i) => (s._tag === 'Expr' ? [[asExpr(c.us[i]!), s] as const] : []))),
        )
        return { seeds, ys, made: dys, hardness: zerosOf(config, dys) }
      })
      const to = new Map([...c.us.map((u, i) => [u, asNode(xs[i])] as const), ...placesOf(derived.seeds, live)])
      return { ys: put(derived.ys, to) as readonly AnyExpr[], dys: placed(derived, to, config) }
    },
    rrule: (xs, params, { config }) => {
      const c = composed(xs, params, config)
      const to = c.us.map((u, i) => [u, asNode(xs[i])] as const)
      const none = (u: Node): Forced => (isFloat(u.dtype) ? ZeroTangent : NoTangent)
      return {
        ys: put(c.ys, new Map(to)) as readonly AnyExpr[],
        pullback: (yBars, active) => {
          if (yBars.every((y) => y._tag === 'ZeroTangent' || y._tag === 'NoTangent')) return c.us.map(none)
          const derived = config.once([c, 'rrule', known(config, yBars), active.map(Number).join()], (): Derived => {
            const seeds = yBars.map((yBar, i) => (yBar._tag === 'Expr' ? config.standIn(yBar, asNode(c.ys[i]).aval) : yBar))
            const asked = c.us.filter((_, i) => active[i])
            const { ys, xBars } = config.pullback(c.ys, seeds, asked.map(asExpr))
            return { seeds, ys, made: xBars, hardness: zerosOf(config, xBars) }
          })
          const xBars = placed(derived, new Map([...to, ...placesOf(derived.seeds, yBars)]), config)
          let k = 0
          return c.us.map((u, i) => (active[i] ? xBars[k++]! : none(u)))
        },
      }
    },
    batch: (xs, batched, params, size, through) => {
      const us = xs.map((x, i) => {
        const a = asNode(x).aval
        return input(batched[i] ? aval(a.shape.slice(1), a.dtype) : a)
      })
      const pairs = us.map((u, i) => [u, asNode(xs[i])] as const)
      const ys = through(on(us, params), new Map(pairs.flatMap(([u, x], i) => (batched[i] ? [[asExpr(u), asExpr(x)] as const] : []))), size)
      const to = new Map<Node, Node>(pairs)
      for (const [, x] of pairs) to.set(x, x)
      return put(ys, to) as readonly AnyExpr[]
    },
  }
}
