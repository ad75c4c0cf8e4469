/** Calculus of scans and order: running sums are linear, running products and recurrences are linear recurrences of their tangents. */

import type { Rule, RuleConfig } from '../core/calculus/rule.js'
import { castNode } from '../core/graph/cast.js'
import { asExpr, asNode, constant } from '../core/graph/expr.js'
import { otherAxes, range, sizeOf } from '../core/graph/shape.js'
import { type Forced, inplaceableThunk, NoTangent, type Tangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { cumprod } from '../core/ops/along-axis.js'
import { eq } from '../core/ops/compare.js'
import { div, maximum, mul, where } from '../core/ops/elementwise.js'
import type { scans } from '../core/ops/families.js'
import { scatterAddAlongNode, takeAlongNode } from '../core/ops/indexing/along.js'
import { reshape, transpose } from '../core/ops/layout/layout.js'
import { padNode, sliceAxis } from '../core/ops/layout/slice.js'
import * as op from '../core/ops/scans.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batchAll, dims } from './batching.js'
import { linearRule, multiRule, reapply, rule } from './define.js'
import { zerosLike } from './forms.js'
import { addTangents, besideZeros } from './product.js'
import { expandReduced, fold, shiftAxes, total } from './reduce.js'

/** Each element's neighbour before it along the axis (after it when `back`), and 0 at the end that has none. */
export const shift = (x: AnyExpr, axis: number, back: boolean): AnyExpr => {
  const n = asNode(x)
  const size = n.shape[axis]!
  if (size === 0) return x
  const part = sliceAxis(n, axis, back ? 1 : 0, size - 1)
  return asExpr(
    padNode(
      part,
      n.shape.map((_, i) => (i === axis && !back && size > 1 ? 1 : 0)),
      n.shape,
      n.shape.map(() => 1),
      constant(0, n.dtype),
    ),
  )
}
/** y_k = a_k y_{k-1} + b_k along an axis. */
export const recurrence = (a: AnyExpr, b: AnyExpr, axis: number, reverse: boolean): AnyExpr =>
  asExpr(op.recurrenceNode(asNode(a), asNode(b), { axis, reverse }))
/** Transpose of b -> recurrence(a, b): each term hands a_{k+1} of its cotangent on to the one before. */
const recurrenceTransposed = (a: AnyExpr, yBar: AnyExpr, axis: number, reverse: boolean): AnyExpr =>
  recurrence(shift(a, axis, !reverse), yBar, axis, !reverse)

/** The elements of x are each other's factors. */
const BOTH = [true, true]

/** The factors of a recurrence on the way back: 0 where they are not finite and every cotangent that comes through them is a zero that a `where` put there. */
const factorsOf = (x: AnyExpr, yBar: AnyExpr, { axis, reverse }: op.RecurrenceParams, config: RuleConfig): AnyExpr =>
  besideZeros(config, yBar, [x], BOTH, (moves) => {
    const later = reapply(op.cummaxPrimitive, [asExpr(castNode(asNode(moves), yBar.dtype))], { axis, reverse: !reverse })
    return eq(later, 1)
  })[0]!
export const cumprodOf = (x: AnyExpr, params: op.ScanParams): AnyExpr => reapply(op.cumprodPrimitive, [x], params)

/**
 * Running extremes: y_k is shared equally by the elements so far that are it. Their number, and the sum of what they have, run on while y
 * stays the same: both are linear recurrences.
 */
const runningExtremeRule = (primitive: typeof op.cummaxPrimitive | typeof op.cumminPrimitive): Rule => {
  const shares = (x: AnyExpr, y: AnyExpr, { axis, reverse }: op.RunningParams) => {
    const one = (c: AnyExpr): AnyExpr => asExpr(castNode(asNode(c), y.dtype))
    const stays = one(eq(shift(y, axis, reverse), y))
    const is = eq(x, y)
    // At least 1: beside a NaN nothing is equal.
    return { stays, keep: (v: AnyExpr): AnyExpr => where(is, v, 0), count: maximum(recurrence(stays, one(is), axis, reverse), 1) }
  }
  return rule(primitive as typeof op.cummaxPrimitive, {
    frule: ([x], [dx], p, { y }) => {
      if (dx._tag !== 'Expr') return [y, ZeroTangent]
      const { stays, keep, count } = shares(x, y, p)
      return [y, div(recurrence(stays, keep(dx), p.axis, p.reverse), count)]
    },
    rrule: ([x], p, { y }) => {
      const runningExtremePullback = (yBar: AnyExpr) => {
        const { stays, keep, count } = shares(x, y, p)
        return [thunk(() => keep(recurrenceTransposed(stays, div(yBar, count), p.axis, p.reverse)))] as const
      }
      return [y, runningExtremePullback]
    },
    batch: ([x], _b, p) => reapply(primitive as typeof op.cummaxPrimitive, [x], { ...p, axis: p.axis + 1 }),
  })
}

/** For each element the product of the others along the axes, without a division: what is before it times what is after it. */
const productOfOthers = (x: AnyExpr, axes: readonly number[]): AnyExpr => {
  const along = (y: AnyExpr, axis: number): AnyExpr =>
    mul(cumprod(y, { axis, exclusive: true }), cumprod(y, { axis, exclusive: true, reverse: true }))
  if (axes.length === 1) return along(x, axes[0]!)
  const kept = otherAxes(dims(x).length, axes)
  const perm = [...kept, ...axes]
  const last = transpose(x, perm)
  const lines = reshape(last, [...kept.map((i) => dims(x)[i]!), sizeOf(axes.map((i) => dims(x)[i]!))])
  const others = reshape(along(lines, kept.length), dims(last))
  return transpose(
    others,
    range(perm.length).map((i) => perm.indexOf(i)),
  )
}

/** One rule per primitive of the family `scans`. */
export const scanRules: { readonly [K in keyof typeof scans]: Rule } = {
  cumsum: linearRule(op.cumsumPrimitive, {
    transpose: (yBar, _xs, p) => [thunk(() => reapply(op.cumsumPrimitive, [yBar], { ...p, reverse: !p.reverse }))],
    batch: ([x], _b, p) => reapply(op.cumsumPrimitive, [x], { ...p, axis: p.axis + 1 }),
  }),
  // Inclusive: y_k = x_k y_{k-1}, so dy = recurrence(x, dx e) with e the product of those before. Exclusive: y_k = x_{k-1} y_{k-1}.
  prod: rule(op.prodPrimitive, {
    frule: ([x], [dx], { axes }, { y, config }) => [
      y,
      dx._tag === 'Expr' ? total(config.product(dx, productOfOthers(x, axes)), axes) : ZeroTangent,
    ],
    rrule: ([x], { axes }, { y, config }) => {
      const prodPullback = (yBar: AnyExpr) => [thunk(() => config.product(expandReduced(yBar, x, axes), productOfOthers(x, axes)))] as const
      return [y, prodPullback]
    },
    batch: ([x], _b, { axes }) => fold(op.prodPrimitive, x, shiftAxes(axes)),
  }),
  cumprod: rule(op.cumprodPrimitive, {
    frule: ([x], [dx], p, { y, config: { product } }) => {
      if (dx._tag !== 'Expr') return [y, ZeroTangent]
      const { axis, reverse } = p
      if (!p.exclusive) return [y, recurrence(x, product(dx, cumprodOf(x, { ...p, exclusive: true })), axis, reverse)]
      return [y, recurrence(shift(x, axis, reverse), shift(product(dx, y), axis, reverse), axis, reverse)]
    },
    rrule: ([x], p, { y, config }) => {
      const { axis, reverse } = p
      const cumprodPullback = (yBar: AnyExpr) =>
        [
          thunk(() => {
            const factors = factorsOf(p.exclusive ? shift(x, axis, reverse) : x, yBar, p, config)
            const sums = recurrenceTransposed(factors, yBar, axis, reverse)
            return p.exclusive
              ? config.product(shift(sums, axis, !reverse), y)
              : config.product(sums, cumprodOf(x, { ...p, exclusive: true }))
          }),
        ] as const
      return [y, cumprodPullback]
    },
    batch: ([x], _b, p) => cumprodOf(x, { ...p, axis: p.axis + 1 }),
  }),
  cummax: runningExtremeRule(op.cummaxPrimitive),
  cummin: runningExtremeRule(op.cumminPrimitive),
  linearRecurrence: rule(op.linearRecurrencePrimitive, {
    frule: ([a], [da, db], { axis, reverse }, { y, config }) => {
      const source = addTangents(da._tag === 'Expr' ? config.product(da, shift(y, axis, reverse)) : ZeroTangent, db)
      return [y, source._tag === 'Expr' ? recurrence(a, source, axis, reverse) : ZeroTangent]
    },
    rrule: ([a], { axis, reverse }, { y, config }) => {
      const recurrencePullback = (yBar: AnyExpr) => {
        const bBar = thunk(() => recurrenceTransposed(factorsOf(a, yBar, { axis, reverse }, config), yBar, axis, reverse))
        return [thunk(() => config.product(bBar.force() as AnyExpr, shift(y, axis, reverse))), bBar] as const
      }
      return [y, recurrencePullback]
    },
    batch: (xs, batched, { axis, reverse }, size) =>
      reapply(op.linearRecurrencePrimitive, batchAll(xs, batched, size), { axis: axis + 1, reverse }),
  }),
  sort: multiRule(op.sortPrimitive, {
    frule: (_xs, [dx], { axis }, { ys }) => [
      ys,
      [dx!._tag === 'Expr' ? asExpr(takeAlongNode(asNode(dx), asNode(ys[1]), axis)) : ZeroTangent, NoTangent],
    ],
    rrule: ([x], { axis }, { ys }) => {
      const put = (acc: AnyExpr, yBar: AnyExpr): AnyExpr => asExpr(scatterAddAlongNode(asNode(acc), asNode(ys[1]), asNode(yBar), axis))
      const sortPullback = ([yBar]: readonly Forced[]): readonly [Exclude<Tangent, NoTangent>] => {
        if (yBar!._tag !== 'Expr') return [ZeroTangent]
        const given = yBar!
        return [
          inplaceableThunk(
            () => put(zerosLike(x), given),
            (acc) => put(acc, given),
          ),
        ]
      }
      return [ys, sortPullback]
    },
    batch: ([x], _b, p) => op.sortNodes(asNode(x), { ...p, axis: p.axis + 1 }).map(asExpr),
  }),
}
