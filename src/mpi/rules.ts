/**
 * Calculus of collectives (docs/decisions/ranks.md): what is differentiated is the sum over ranks of what each rank returns, so the transpose of a collective moves cotangents back
 * along the ways on which it moved values.
 */
import type { Rule } from '../core/calculus/rule.js'
import { applyAny, asExpr, asNode } from '../core/graph/expr.js'
import { range } from '../core/graph/shape.js'
import { type Tangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { lt } from '../core/ops/compare.js'
import { onesLike } from '../core/ops/construct.js'
import { div, where } from '../core/ops/elementwise.js'
import { transpose } from '../core/ops/layout/layout.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batchAll, dims } from '../rules/batching.js'
import { linearRule, multiLinearRule, reapply, rule } from '../rules/define.js'
import * as p from './primitives.js'

const sumOf = (x: AnyExpr): AnyExpr => asExpr(p.sumNode(asNode(x)))
/** The rule of a collective that does the same to every element: a batch is one more axis. */
const elementwise = <P>(
  primitive: Parameters<typeof linearRule<string, P, readonly ['float']>>[0],
  back: (yBar: AnyExpr, params: P) => AnyExpr,
): Rule =>
  linearRule(primitive, {
    transpose: (yBar, _xs, params) => [thunk(() => back(yBar, params))],
    batch: ([x], _batched, params) => reapply(primitive, [x], params),
  })

/** The second axis in front of the first. */
const swapped = (x: AnyExpr): AnyExpr => transpose(x, [1, 0, ...range(dims(x).length).slice(2)]) as AnyExpr
/** The rule of a collective that cuts or joins the first axis, which is behind that of a batch. */
const along = <P>(
  primitive: Parameters<typeof linearRule<string, P, readonly ['float']>>[0],
  back: (yBar: AnyExpr, params: P) => AnyExpr,
): Rule =>
  linearRule(primitive, {
    transpose: (yBar, _xs, params) => [thunk(() => back(yBar, params))],
    batch: ([x], _batched, params) => swapped(reapply(primitive, [swapped(x)], params)),
  })

/** The rank from which each one received. */
const reversed = (to: readonly number[]): readonly number[] => to.map((_, r) => to.indexOf(r))

/** Elements that attain the maximum, on whatever rank, share its derivative equally; where it is NaN, all do. */
const maxRule: Rule = rule(p.allReduceMaxPrimitive, {
  frule: ([x], [dx], _params, { y }) => {
    if (dx._tag !== 'Expr') return [y, ZeroTangent]
    const { keep, count } = shares(x, y)
    return [y, div(sumOf(keep(dx)), count)]
  },
  rrule: ([x], _params, { y }) => {
    const maxPullback = (yBar: AnyExpr): readonly [Tangent] => {
      const { keep, count } = shares(x, y)
      return [thunk(() => keep(div(sumOf(yBar), count)))]
    }
    return [y, maxPullback as never]
  },
  batch: ([x], _batched, params) => reapply(p.allReduceMaxPrimitive, [x], params),
})
const shares = (x: AnyExpr, y: AnyExpr) => {
  const loses = lt(x, y)
  const keep = (t: AnyExpr): AnyExpr => where(loses, 0, t) as AnyExpr
  return { keep, count: sumOf(keep(onesLike(x) as AnyExpr)) }
}

type Many = Parameters<typeof multiLinearRule<string, p.Meanwhile, readonly ['float']>>[0]
const many = (primitive: Many, xs: readonly AnyExpr[], params: p.Meanwhile): readonly AnyExpr[] =>
  applyAny(primitive, xs.map(asNode), params).map(asExpr)
/** One of `spread` and `total`, whose transpose is the other. */
const counterpart = (primitive: Many, other: Many): Rule =>
  multiLinearRule(primitive, {
    transpose: (yBars, _xs, params, active) => {
      const back = many(
        other,
        yBars.filter((_, i) => active[i]),
        params,
      )
      let next = 0
      return yBars.map((_, i) => (active[i] ? back[next++]! : ZeroTangent)) as never
    },
    batch: (xs, batched, params, size) => many(primitive, batchAll(xs as readonly AnyExpr[], batched, size), params),
  })

/** One rule for each primitive of the family `mpi`. */
export const mpiRules: { readonly [K in keyof typeof p.mpiFamily]: Rule } = {
  allReduce: elementwise(p.allReducePrimitive, (yBar, params) => reapply(p.allReducePrimitive, [yBar], params)),
  allReduceMax: maxRule,
  broadcast: elementwise(p.broadcastPrimitive, (yBar, params) => reapply(p.reduceToPrimitive, [yBar], params)),
  reduceTo: elementwise(p.reduceToPrimitive, (yBar, params) => reapply(p.broadcastPrimitive, [yBar], params)),
  allGather: along(p.allGatherPrimitive, (yBar, { ranks }) => reapply(p.reduceScatterPrimitive, [yBar], { ranks })),
  reduceScatter: along(p.reduceScatterPrimitive, (yBar, params) => reapply(p.allGatherPrimitive, [yBar], params)),
  allToAll: along(p.allToAllPrimitive, (yBar, params) => reapply(p.allToAllPrimitive, [yBar], params)),
  sendRecv: elementwise(p.sendRecvPrimitive, (yBar, { to }) => reapply(p.sendRecvPrimitive, [yBar], { to: reversed(to) })),
  spread: counterpart(p.spreadPrimitive as never, p.totalPrimitive as never),
  total: counterpart(p.totalPrimitive as never, p.spreadPrimitive as never),
}
