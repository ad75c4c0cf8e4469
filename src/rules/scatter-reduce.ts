/** Calculus of updates folded into slices: of the largest and the smallest equals share; of products each factor has the product of the others. */

import type { Rule } from '../core/calculus/rule.js'
import { castNode } from '../core/graph/cast.js'
import { asExpr, asNode, constant, type Node } from '../core/graph/expr.js'
import { sizeOf } from '../core/graph/shape.js'
import { NoTangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { eq, lt, not } from '../core/ops/compare.js'
import { add, div, maximum, minimum, mul, where } from '../core/ops/elementwise.js'
import { scatterAddAlongNode, takeAlongNode } from '../core/ops/indexing/along.js'
import { type FoldParams, scatterReducePrimitive } from '../core/ops/indexing/fold.js'
import { type GatherParams, gatherNode, scatterAddNode } from '../core/ops/indexing/gather.js'
import { broadcastTo, reshape } from '../core/ops/layout/layout.js'
import { sortNodes } from '../core/ops/scans.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims } from './batching.js'
import { reapply, rule } from './define.js'
import { zerosLike } from './forms.js'
import { addTangents } from './product.js'
import { recurrence, shift } from './scans.js'

const gather = (x: AnyExpr, indices: AnyExpr, p: GatherParams): AnyExpr =>
  asExpr(gatherNode(asNode(x), asNode(indices), { axis: p.axis, batchDims: p.batchDims }))
const scatterAdd = (acc: AnyExpr, indices: AnyExpr, u: AnyExpr, p: GatherParams): AnyExpr =>
  asExpr(scatterAddNode(asNode(acc), asNode(indices), asNode(u), { axis: p.axis, batchDims: p.batchDims }))

const onesLike = (x: AnyExpr): AnyExpr => broadcastTo(asExpr(constant(1, x.dtype)), dims(x))

/** Which elements are the extreme of their place, and how many these are. */
const shares = (x: AnyExpr, indices: AnyExpr, u: AnyExpr, y: AnyExpr, p: FoldParams) => {
  const one = (c: AnyExpr): AnyExpr => asExpr(castNode(asNode(c), y.dtype))
  const [own, given] = [eq(x, y), eq(u, gather(y, indices, p))]
  return {
    keep: (v: AnyExpr): AnyExpr => where(own, v, 0),
    keepGiven: (v: AnyExpr): AnyExpr => where(given, v, 0),
    // At least 1: beside a NaN nothing is equal.
    count: maximum(scatterAdd(one(own), indices, one(given), p), 1),
  }
}

/** For each update the product of what else goes to its place, x's own element too: products of both sides of it among those of its place, in their order. */
const others = (x: AnyExpr, indices: AnyExpr, u: AnyExpr, p: FoldParams): AnyExpr => {
  const { axis, batchDims } = p
  const [lead, each] = [dims(indices).slice(0, batchDims), dims(indices).slice(batchDims)]
  const [n, count] = [dims(x)[axis]!, sizeOf(each)]
  const shape = [...dims(x).slice(0, axis), count, ...dims(x).slice(axis + 1)]
  const resolved = minimum(maximum(where(lt(indices, 0), add(indices, n), indices), 0), n - 1)
  const ones = (k: number): number[] => new Array<number>(k).fill(1)
  const places = broadcastTo(reshape(resolved, [...lead, ...ones(axis - batchDims), count, ...ones(shape.length - axis - 1)]), shape)
  const [sorted, order] = sortNodes(asNode(places), { axis, descending: false })
  const values = asExpr(takeAlongNode(asNode(reshape(u, shape)), order as Node, axis))
  const beside = (reverse: boolean): AnyExpr => {
    // Places are shifted as they are, from 1: the end that has no neighbour gets a 0, which is none.
    const place = add(asExpr(sorted as Node), 1)
    const same = eq(shift(place, axis, reverse), place)
    const first = asExpr(castNode(asNode(not(same)), u.dtype))
    return recurrence(where(same, shift(values, axis, reverse), 0), first, axis, reverse)
  }
  const product = mul(beside(false), beside(true))
  const unsorted = asExpr(scatterAddAlongNode(asNode(zerosLike(product)), order as Node, asNode(product), axis))
  return mul(reshape(unsorted, dims(u)), gather(x, indices, p))
}

/** The rule of scatterReduce, given how its arguments are brought under a shared batch axis. */
export const scatterReduceRule = (
  batched: (xs: readonly AnyExpr[], batched: readonly boolean[], p: GatherParams, size: number) => readonly [AnyExpr[], GatherParams],
): Rule =>
  rule(scatterReducePrimitive, {
    frule: ([x, indices, u], [dx, , du], p, { y, config: { product } }) => {
      if (dx._tag !== 'Expr' && du._tag !== 'Expr') return [y, ZeroTangent]
      if (p.mode === 'mul') {
        const own = dx._tag === 'Expr' ? product(dx, reapply(scatterReducePrimitive, [onesLike(x), indices, u], p)) : ZeroTangent
        const given = du._tag === 'Expr' ? scatterAdd(zerosLike(x), indices, product(du, others(x, indices, u, p)), p) : ZeroTangent
        return [y, addTangents(own, given)]
      }
      const { keep, keepGiven, count } = shares(x, indices, u, y, p)
      const start = dx._tag === 'Expr' ? keep(dx) : zerosLike(x)
      return [y, div(du._tag === 'Expr' ? scatterAdd(start, indices, keepGiven(du), p) : start, count)]
    },
    rrule: ([x, indices, u], p, { y, config: { product } }) => {
      const scatterReducePullback = (yBar: AnyExpr) => {
        if (p.mode === 'mul')
          return [
            thunk(() => product(yBar, reapply(scatterReducePrimitive, [onesLike(x), indices, u], p))),
            NoTangent,
            thunk(() => product(gather(yBar, indices, p), others(x, indices, u, p))),
          ] as const
        const { keep, keepGiven, count } = shares(x, indices, u, y, p)
        const share = div(yBar, count)
        return [thunk(() => keep(share)), NoTangent, thunk(() => keepGiven(gather(share, indices, p)))] as const
      }
      return [y, scatterReducePullback]
    },
    batch: (xs, isBatched, { mode, ...p }, size) => {
      const [all, q] = batched(xs, isBatched, p, size)
      return reapply(scatterReducePrimitive, all, { ...q, mode })
    },
  })
