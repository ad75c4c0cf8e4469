/** Calculus of contractions. Cotangents of a product can be added into an accumulator: `matmulAdd`. */

import type { Rule } from '../core/calculus/rule.js'
import type { Aval } from '../core/graph/aval.js'
import { asExpr, asNode } from '../core/graph/expr.js'
import { type AnyPrimitive, NO_PARAMS } from '../core/graph/primitive.js'
import { range, sameShape } from '../core/graph/shape.js'
import { inplaceableThunk, type Tangent, thunk } from '../core/graph/tangent.js'
import * as op from '../core/ops/contract.js'
import { add } from '../core/ops/elementwise.js'
import type { contract } from '../core/ops/families.js'
import { reshape } from '../core/ops/layout/layout.js'
import { swapLast } from '../core/ops/layout/move.js'
import { anyOf, sumToNode } from '../core/ops/reduce.js'
import type { AnyExpr } from '../core/types/expr.js'
import { alignBatch, batchAll, dims } from './batching.js'
import { bilinearRule, reapply, rule } from './define.js'
import { besideZeros } from './product.js'
import { withTaylor } from './taylor.js'

const lead = (x: AnyExpr): readonly number[] => dims(x).slice(0, -2)
const t = (x: AnyExpr): AnyExpr => asExpr(swapLast(asNode(x)))
const product = (a: AnyExpr, b: AnyExpr): AnyExpr => reapply(op.matmulPrimitive, [a, b], NO_PARAMS)
const productAdd = (acc: AnyExpr, a: AnyExpr, b: AnyExpr): AnyExpr => reapply(op.matmulAddPrimitive, [acc, a, b], NO_PARAMS)

/** The product of the factors as a cotangent of x: added in place where no leading axis was broadcast. Nothing is built before it is asked for. */
const productThunk = (
  factors: () => readonly [AnyExpr, AnyExpr],
  sources: readonly AnyExpr[],
  x: AnyExpr,
): Exclude<Tangent, { _tag: 'NoTangent' }> =>
  sources.every((s) => sameShape(lead(s), lead(x)))
    ? inplaceableThunk(
        () => product(...factors()),
        (acc) => productAdd(acc, ...factors()),
      )
    : thunk(() => asExpr(sumToNode(asNode(product(...factors())), dims(x))))
/** yBar b^T, and a^T yBar. */
const ofLeft = (yBar: AnyExpr, a: AnyExpr, b: AnyExpr) => productThunk(() => [yBar, t(b)], [yBar, b], a)
const ofRight = (yBar: AnyExpr, a: AnyExpr, b: AnyExpr) => productThunk(() => [t(a), yBar], [a, yBar], b)

/** Rows of the left and rows of the product meet, and columns of the right and columns of the product. */
const reached = (flags: AnyExpr, from: 0 | 1 | 2, to: 0 | 1 | 2, avals: readonly Aval[]): AnyExpr => {
  const shape = dims(flags)
  const rank = shape.length
  const left = from === 0 || to === 0
  const lines = anyOf(flags, [left ? rank - 1 : rank - 2], true)
  const target = avals[to]!.shape
  const shared = range(rank - 2).filter((i) => (target[i - rank + target.length] ?? 1) !== shape[i])
  const own = shared.length === 0 || from !== 2 ? lines : anyOf(lines, shared, true)
  return reshape(own, dims(own).slice(Math.max(0, rank - target.length)))
}

/** One rule per primitive of the family `contract`. */
export const contractRules: { readonly [K in keyof typeof contract]: Rule } = withTaylor(
  {
    matmul: bilinearRule(op.matmulPrimitive, {
      transposeA: ofLeft,
      transposeB: ofRight,
      reach: reached,
      batch: (xs, batched) => {
        const [a, b] = alignBatch(xs, batched)
        return product(a!, b!)
      },
    }),
    matmulAdd: rule(op.matmulAddPrimitive, {
      frule: ([, a, b], [dacc, da, db], _p, { y }) => {
        let dy: Tangent = dacc
        const more = (l: AnyExpr, r: AnyExpr): void => {
          dy = dy._tag === 'Expr' ? productAdd(dy, l, r) : product(l, r)
        }
        if (da._tag === 'Expr') more(da, b)
        if (db._tag === 'Expr') more(a, db)
        return [y, dy]
      },
      rrule: ([, a, b], _p, { y, config }) => {
        const matmulAddPullback = (yBar: AnyExpr, active: readonly boolean[]) => {
          const avals = [a, b, y].map((x) => asNode(x).aval)
          const [l, r] = besideZeros(config, yBar, [a, b], active.slice(1), (flags, from, to) => reached(flags, from, to, avals))
          return [yBar, ofLeft(yBar, l!, r!), ofRight(yBar, l!, r!)] as const
        }
        return [y, matmulAddPullback]
      },
      batch: (xs, batched, _p, size) => {
        const [acc] = batchAll([xs[0]], [batched[0]!], size)
        const [a, b] = alignBatch([xs[1], xs[2]], [batched[1]!, batched[2]!])
        if (batched[1] || batched[2]) return productAdd(acc!, a!, b!)
        return add(acc!, product(xs[1], xs[2]))
      },
    }),
  },
  { matmulAdd: { accumulates: op.matmulPrimitive as AnyPrimitive } },
)
