/**
 * Calculus of cholesky and of triangular systems, for stacks of matrices. Rules are made of the operations themselves, so that every order exists. Triangular systems read one triangle of
 * an argument, and have its gradient there, and zeros elsewhere.
 */
import type { Rule } from '../core/calculus/rule.js'
import { asExpr, asNode, constant, type Node } from '../core/graph/expr.js'
import { NO_PARAMS } from '../core/graph/primitive.js'
import { thunk, ZeroTangent } from '../core/graph/tangent.js'
import { add, neg } from '../core/ops/elementwise.js'
import { concatNode } from '../core/ops/layout/join.js'
import { broadcastTo } from '../core/ops/layout/layout.js'
import { sliceAxis } from '../core/ops/layout/slice.js'
import * as op from '../core/ops/linalg/factorisations.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims } from './batching.js'
import { reapply, rule } from './define.js'
import { batchOfSystems, forced, mean, phi, product, solveIn, t, tril, triu } from './matrices.js'
import { addTangents } from './product.js'

const lower = { lower: true, transpose: false, unitDiagonal: false }
/** L^-1 X, L^-T X, X L^-T and X L^-1. */
const overL = (l: AnyExpr, x: AnyExpr): AnyExpr => solveIn(l, x, lower)
const overLt = (l: AnyExpr, x: AnyExpr): AnyExpr => solveIn(l, x, { ...lower, transpose: true })

/** Rows from which a product of which only a triangle is read is made of blocks. */
const BLOCKS = 128
/** L^T M for lower triangular L, in the lower triangle, where M's own is all that is read; above it anything. By halves: a third of the multiplications. */
const lowerOfProduct = (l: AnyExpr, m: AnyExpr): AnyExpr => {
  const shape = dims(l)
  const n = shape[shape.length - 1]!
  if (n < BLOCKS) return product(t(l), m)
  const head = Math.floor(n / 2)
  const rows = shape.length - 2
  const part = (x: AnyExpr, i: 0 | 1, j: 0 | 1): AnyExpr => {
    const along = (y: Node, axis: number, k: 0 | 1): Node => (k === 0 ? sliceAxis(y, axis, 0, head) : sliceAxis(y, axis, head, n - head))
    return asExpr(along(along(asNode(x), rows, i), rows + 1, j))
  }
  const below = part(m, 1, 0)
  const first = add(lowerOfProduct(part(l, 0, 0), part(m, 0, 0)), product(t(part(l, 1, 0)), below))
  const zeros = broadcastTo(asExpr(constant(0, l.dtype)), [...shape.slice(0, -2), head, n - head])
  const joined = (xs: readonly AnyExpr[], axis: number): AnyExpr => asExpr(concatNode(xs.map(asNode), axis))
  return joined(
    [joined([first, zeros], rows + 1), joined([product(t(part(l, 1, 1)), below), lowerOfProduct(part(l, 1, 1), part(m, 1, 1))], rows + 1)],
    rows,
  )
}
const choleskyRule: Rule = rule(op.choleskyPrimitive, {
  // dL = L phi(L^-1 dA L^-T), phi the lower triangle with half of the diagonal.
  frule: (_xs, [da], _params, { y: l }) => {
    const dx = forced(da)
    if (dx === undefined) return [l, ZeroTangent]
    return [l, product(l, phi(t(overL(l, t(overL(l, mean(dx)))))))]
  },
  // With X = L^-T phi(L^T LBar) L^-1: ABar = (X + X^T) / 2.
  rrule: (_xs, _params, { y: l }) => {
    const choleskyPullback = (lBar: AnyExpr) => [thunk(() => mean(overLt(l, t(overLt(l, phi(lowerOfProduct(l, lBar)))))))] as const
    return [l, choleskyPullback]
  },
  batch: ([a]) => reapply(op.choleskyPrimitive, [a], NO_PARAMS),
})

/** What of a matrix the system reads. */
const read = (x: AnyExpr, p: op.TriangularParams): AnyExpr => (p.lower ? tril(x, p.unitDiagonal ? -1 : 0) : triu(x, p.unitDiagonal ? 1 : 0))
const triangularRule: Rule = rule(op.triangularSolvePrimitive, {
  frule: ([a], [da, db], params, { y: x }) => {
    const dx = forced(da)
    const moved = dx && neg(product(params.transpose ? t(read(dx, params)) : read(dx, params), x))
    const right = moved === undefined ? db! : addTangents(moved, db!)
    return [x, right._tag === 'Expr' ? solveIn(a, right, params) : right]
  },
  rrule: ([a], params, { y: x }) => {
    const triangularPullback = (xBar: AnyExpr) => {
      const bBar = thunk(() => solveIn(a, xBar, { ...params, transpose: !params.transpose }))
      const b = (): AnyExpr => bBar.force() as AnyExpr
      return [thunk(() => read(neg(params.transpose ? product(x, t(b())) : product(b(), t(x))), params)), bBar] as const
    }
    return [x, triangularPullback]
  },
  batch: batchOfSystems(op.triangularSolvePrimitive),
})

export const triangularRules = { cholesky: choleskyRule, triangularSolve: triangularRule } as const
