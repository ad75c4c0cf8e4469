/** Primitives as compositions of others: what stands in their place before planning, and the rules that follow. */

import type { BatchRule, FRule, RRule } from '../calculus/rule.js'
import { aval, isFloat } from '../graph/aval.js'
import { type Expansion, expandAll, listed, programsOf } from '../graph/expand.js'
import { applyAny, asExpr, asNode, input, linearize, type Node } from '../graph/expr.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import { makeProgram, type Program } from '../graph/program.js'
import { rewrite } from '../graph/rewrite.js'
import { type Forced, NoTangent, unthunk, ZeroTangent } from '../graph/tangent.js'
import type { AnyExpr } from '../types/expr.js'

/** Compositions by primitive. */
export type LoweringTable = ReadonlyMap<AnyPrimitive, Expansion>

/** Does a program, or one within it, apply any of these primitives? */
const applies = (p: Program, table: LoweringTable): boolean =>
  linearize(p.outputs).nodes.some((n) => n.prim !== null && (table.has(n.prim) || holding(n, table)))
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
  const { roots } = expandAll(program.outputs, by, 'lower', 64)
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

/** The three facets of a rule, by the rules of what the primitive is composed of. On inputs of its own, so that an argument used twice has both its derivatives. */
export const composedRules = (
  by: Expansion,
): {
  readonly composed: true
  readonly frule: FRule
  readonly rrule: RRule
  readonly batch: BatchRule
} => {
  const on = (us: readonly Node[], params: unknown): readonly AnyExpr[] => listed(by(us.map(asExpr), params))
  return {
    composed: true,
    frule: (xs, dxs, params, { config }) => {
      const us = xs.map((x) => input(asNode(x).aval))
      const ys = on(us, params)
      const live = dxs.map(unthunk)
      const dus = live.map((dx, i) => (dx._tag === 'Expr' ? asNode(config.standIn(dx, us[i]!.aval)) : undefined))
      const seeds = new Map(us.flatMap((u, i) => (dus[i] === undefined ? [] : [[asExpr(u), asExpr(dus[i])] as const])))
      const to = new Map(us.map((u, i) => [u, asNode(xs[i])]))
      dus.forEach((du, i) => {
        if (du !== undefined) to.set(du, asNode(live[i]))
      })
      const pushed = config.pushforward(ys, seeds)
      return { ys: put(pushed.ys, to) as readonly AnyExpr[], dys: put(pushed.dys, to) }
    },
    rrule: (xs, params, { config }) => {
      const us = xs.map((x) => input(asNode(x).aval))
      const ys = on(us, params)
      const to = new Map(us.map((u, i) => [u, asNode(xs[i])]))
      return {
        ys: put(ys, to) as readonly AnyExpr[],
        pullback: (yBars, active) => {
          if (yBars.every((y) => y._tag === 'ZeroTangent' || y._tag === 'NoTangent'))
            return us.map((u) => (isFloat(u.dtype) ? ZeroTangent : NoTangent))
          const vs = yBars.map((yBar, i) => (yBar._tag === 'Expr' ? config.standIn(yBar, asNode(ys[i]).aval) : yBar))
          const all = new Map(to)
          vs.forEach((v, i) => {
            if (v._tag === 'Expr') all.set(asNode(v), asNode(yBars[i]))
          })
          const asked = us.filter((_, i) => active[i])
          const xBars = put(config.pullback(ys, vs, asked.map(asExpr)).xBars, all)
          let k = 0
          return us.map((u, i) => (active[i] ? xBars[k++]! : isFloat(u.dtype) ? ZeroTangent : NoTangent))
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
