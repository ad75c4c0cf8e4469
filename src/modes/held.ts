/** Cotangents of what is no function of single numbers, held against hard zeros (docs/decisions/strong-zero.md). */

import { GUARDED, SOFT } from '../core/calculus/hard-zeros.js'
import type { Hardness, RuleConfig } from '../core/calculus/rule.js'
import { greatestOf } from '../core/errors/extremes.js'
import { asExpr, asNode, type Node } from '../core/graph/expr.js'
import { range } from '../core/graph/shape.js'
import { type Tangent, thunk, unthunk } from '../core/graph/tangent.js'
import { and, eq, not } from '../core/ops/compare.js'
import { finiteUnless } from '../core/ops/held.js'
import { reshapeNode } from '../core/ops/layout/move.js'
import { all } from '../core/ops/reductions.js'
import type { AnyExpr } from '../core/types/expr.js'

/** Over the axes behind the stack's: one for each of the stack. */
const overEach = (x: AnyExpr, stack: number): AnyExpr => {
  const rank = asNode(x).shape.length
  return rank === stack ? x : (all(x, { axis: range(rank - stack).map((i) => i + stack) }) as AnyExpr)
}

/**
 * Cotangents of arguments: those of one of a stack all of whose cotangents are hard zeros are 0 where they came out infinite or NaN, because its derivatives are. A finite one
 * stays as it is, because it is part of the next derivative. Costs nothing where no cotangent may hold hard zeros, or the declaration denies infinities.
 */
export const held = (config: RuleConfig, node: Node, yBars: readonly Tangent[], xBars: readonly Tangent[]): readonly Tangent[] => {
  const prim = node.prim!
  if (prim.class !== 'opaque' || prim.unbounded === false) return xBars
  const given = yBars.filter((y): y is AnyExpr => y._tag === 'Expr')
  const grades = given.map((y) => config.hardness(y))
  if (grades.length === 0 || grades.includes(SOFT)) return xBars
  const grade = greatestOf(grades) as Hardness
  const stack = prim.stacked === undefined ? 0 : Math.max(0, node.args[0]!.shape.length - prim.stacked)
  const lead = node.args[0]!.shape.slice(0, stack)
  const has = (shape: readonly number[]): boolean => lead.every((d, i) => shape[i] === d)
  const kept = has(asNode(given[0]!).shape) ? stack : 0
  let idle: AnyExpr | undefined
  const hold = (t: AnyExpr): AnyExpr => {
    idle ??= given.map((y) => overEach(eq(y, 0), kept)).reduce((a, b) => and(a, b))
    const { shape } = asNode(t)
    const flags = kept > 0 && !has(shape) ? (all(idle) as AnyExpr) : idle
    const own = asNode(flags).shape
    const wide = asExpr(reshapeNode(asNode(flags), [...own, ...range(shape.length - own.length).map(() => 1)]))
    return config.hardened(finiteUnless(not(wide), t), grade)
  }
  // What adds itself in place is held behind a guard alone: then it is added like any other.
  return xBars.map((t) =>
    t._tag === 'Expr' || t._tag === 'Thunk' || (t._tag === 'InplaceableThunk' && grade === GUARDED)
      ? thunk(() => {
          const f = unthunk(t)
          return f._tag === 'Expr' ? hold(f) : f
        })
      : t,
  )
}
