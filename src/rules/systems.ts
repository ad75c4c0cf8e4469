/** Calculus of lu, of systems of equations and determinants, for stacks of matrices. */
import type { Rule } from '../core/calculus/rule.js'
import { applyMulti, asExpr, asNode } from '../core/graph/expr.js'
import { NO_PARAMS } from '../core/graph/primitive.js'
import { type Forced, NoTangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { prod } from '../core/ops/along-axis.js'
import { eq, ge } from '../core/ops/compare.js'
import { abs, add, cast, maximum, mul, neg, sub, where } from '../core/ops/elementwise.js'
import type { linalg } from '../core/ops/families.js'
import { pad } from '../core/ops/layout/layout.js'
import { sliceAxis } from '../core/ops/layout/slice.js'
import * as op from '../core/ops/linalg/factorisations.js'
import * as system from '../core/ops/linalg/systems.js'
import { iotaNode } from '../core/ops/positions.js'
import { max, sum } from '../core/ops/reductions.js'
import { sortNodes } from '../core/ops/scans.js'
import { stopped } from '../core/ops/stopped.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims } from './batching.js'
import { multiRule, reapply, rule } from './define.js'
import { asMatrix, batchOfSystems, diag, forced, identityLike, isEmpty, onDiagonal, product, solveIn, t, tril, triu } from './matrices.js'
import { addTangents } from './product.js'
import type { triangularRules } from './triangular.js'

// ---- lu ----------------------------------------------------------------------------------------------------------------

/** The first min(m, n) columns (rows) of packed factors, and then zeros up to `size` of them. */
const factorOf = (packed: AnyExpr, axis: -1 | -2, size: number): AnyExpr => {
  const n = asNode(packed)
  const at = n.shape.length + axis
  const kept = asExpr(sliceAxis(n, at, 0, Math.min(n.shape[at]!, size)))
  return pad(
    kept,
    dims(kept).map((d, i): readonly [number, number] => [0, i === at ? size - d : 0]),
  )
}
/** L: [m, m] and U: [n, n] with A's rows in order = L A' where A' has U on top: what is missing of either is the identity. */
const factorsOf = (packed: AnyExpr): { readonly l: AnyExpr; readonly u: AnyExpr } => {
  const [m, n] = dims(packed).slice(-2) as [number, number]
  const l = tril(factorOf(packed, -1, m), -1)
  const u = triu(factorOf(packed, -2, n))
  const beyond = asExpr(iotaNode([n], 0, 'i32'))
  return { l: add(l, identityLike(l)), u: n <= m ? u : add(u, onDiagonal(cast(ge(beyond, m), u.dtype))) }
}
const unitLower = { lower: true, transpose: false, unitDiagonal: true }
const upper = { lower: false, transpose: false, unitDiagonal: false }
const rowsAt = (x: AnyExpr, places: AnyExpr): AnyExpr => asExpr(system.rowsAt(asNode(x), asNode(places)))

const luRule: Rule = multiRule(op.luPrimitive, {
  // With F = L^-1 P dA U^-1: dL = L tril(F, -1), dU = triu(F) U.
  frule: ([a], [da], _params, { ys }) => {
    const dx = forced(da)
    if (dx === undefined || isEmpty(a)) return [ys, [ZeroTangent, NoTangent, NoTangent]]
    const { l, u } = factorsOf(ys[0]!)
    const f = t(solveIn(u, t(solveIn(l, rowsAt(dx, ys[2]!), unitLower)), { ...upper, transpose: true }))
    return [ys, [add(product(l, tril(f, -1)), product(triu(f), u)), NoTangent, NoTangent]]
  },
  rrule: ([a], _params, { ys }) => {
    const luPullback = ([yBar]: readonly Forced[]) => {
      const given = forced(yBar)
      if (given === undefined || isEmpty(a)) return [ZeroTangent] as const
      return [
        thunk(() => {
          const { l, u } = factorsOf(ys[0]!)
          const f = add(tril(product(t(l), given), -1), triu(product(given, t(u))))
          const inner = t(solveIn(u, t(solveIn(l, f, { ...unitLower, transpose: true })), upper))
          const [, places] = sortNodes(asNode(ys[2]!), { axis: dims(ys[2]!).length - 1, descending: false })
          return rowsAt(inner, asExpr(places))
        }),
      ] as const
    }
    return [ys, luPullback]
  },
  batch: ([a]) => applyMulti(op.luPrimitive, [asNode(a)], NO_PARAMS).map(asExpr),
})

// ---- systems and determinants ------------------------------------------------------------------------------------------

const solveRule: Rule = rule(system.solvePrimitive, {
  frule: ([a], [da, db], { transpose }, { y: x }) => {
    const dx = forced(da)
    const right = dx === undefined ? db! : addTangents(neg(product(transpose ? t(dx) : dx, x)), db!)
    return [x, right._tag === 'Expr' ? asExpr(system.solveNode(asNode(a), asNode(right), transpose)) : right]
  },
  rrule: ([a], { transpose }, { y: x }) => {
    const solvePullback = (xBar: AnyExpr) => {
      const bBar = thunk(() => asExpr(system.solveNode(asNode(a), asNode(xBar), !transpose)))
      const b = (): AnyExpr => bBar.force() as AnyExpr
      return [thunk(() => neg(transpose ? product(x, t(b())) : product(b(), t(x)))), bBar] as const
    }
    return [x, solvePullback]
  },
  batch: batchOfSystems(system.solvePrimitive),
})

/** The sum over each matrix. */
const totalOf = (x: AnyExpr): AnyExpr => sum(x, { axis: [-2, -1] })
/**
 * The matrix of cofactors, det(A) A^-T, from the factors of A. Zeros on U's diagonal are moved by one unit of the largest element there: of a
 * singular matrix that is right to rounding, where A^-T is not.
 */
const cofactors = (a: AnyExpr): AnyExpr => {
  const [packed, pivots, order] = op.luNodes(asNode(a)).map(asExpr) as [AnyExpr, AnyExpr, AnyExpr]
  const d = diag(packed)
  const unit = stopped(
    mul(maximum(max(abs(d), { axis: -1, keepdims: true }), a.dtype === 'f32' ? 1e-30 : 1e-290), a.dtype === 'f32' ? 2 ** -23 : 2 ** -52),
  )
  const zero = eq(d, 0)
  const moved = where(zero, unit, d)
  const factors = add(packed, onDiagonal(where(zero, unit, 0)))
  const inverse = asExpr(system.solveByLu(asNode(factors), asNode(order), asNode(identityLike(a)), true))
  const det = mul(system.parityOf(asNode(pivots), asNode(a).aval), prod(moved, { axis: -1 }))
  return mul(inverse, asMatrix(det))
}
const detRule: Rule = rule(system.detPrimitive, {
  frule: ([a], [da], _params, { y, config }) => {
    const dx = forced(da)
    return [y, dx === undefined || isEmpty(a) ? ZeroTangent : totalOf(config.product(dx, cofactors(a)))]
  },
  rrule: ([a], _params, { y, config }) => {
    const detPullback = (yBar: AnyExpr) => [isEmpty(a) ? ZeroTangent : thunk(() => config.product(asMatrix(yBar), cofactors(a)))] as const
    return [y, detPullback]
  },
  batch: ([a]) => reapply(system.detPrimitive, [a], NO_PARAMS),
})

/** A^-T. */
const inverseTransposed = (a: AnyExpr): AnyExpr => asExpr(system.solveNode(asNode(a), asNode(identityLike(a)), true))
const slogdetRule: Rule = multiRule(system.slogdetPrimitive, {
  frule: ([a], [da], _params, { ys, config }) => {
    const dx = forced(da)
    return [ys, [ZeroTangent, dx === undefined || isEmpty(a) ? ZeroTangent : totalOf(config.product(dx, inverseTransposed(a)))]]
  },
  rrule: ([a], _params, { ys, config }) => {
    const slogdetPullback = ([, yBar]: readonly Forced[]) => {
      const given = forced(yBar)
      return [given === undefined || isEmpty(a) ? ZeroTangent : thunk(() => config.product(asMatrix(given), inverseTransposed(a)))] as const
    }
    return [ys, slogdetPullback]
  },
  batch: ([a]) => system.slogdetNodes(asNode(a)).map(asExpr),
})

// With P the pseudoinverse: dx = P (db - dA x) + P P^T dA^T (b - A x) + (I - P A) dA^T P^T x.
const lstsqRule: Rule = rule(system.lstsqPrimitive, {
  frule: ([a, b], [da, db], params, { y: x }) => {
    const by = (y: AnyExpr, back = false): AnyExpr =>
      asExpr(system.lstsqNode(asNode(a), asNode(y), { ...params, transpose: params.transpose !== back }))
    const own = (y: AnyExpr): AnyExpr => (params.transpose ? t(y) : y)
    const dx = forced(da)
    if (dx === undefined || isEmpty(a)) return [x, db!._tag === 'Expr' && !isEmpty(a) ? by(db!) : ZeroTangent]
    const moved = neg(product(own(dx), x))
    const first = by(db!._tag === 'Expr' ? add(moved, db!) : moved)
    const second = by(by(product(t(own(dx)), sub(b, product(own(a), x))), true))
    const third = product(t(own(dx)), by(x, true))
    return [x, add(add(first, second), sub(third, by(product(own(a), third))))]
  },
  rrule: ([a, b], params, { y: x }) => {
    const lstsqPullback = (xBar: AnyExpr) => {
      if (isEmpty(a)) return [ZeroTangent, ZeroTangent] as const
      const by = (y: AnyExpr, back = false): AnyExpr =>
        asExpr(system.lstsqNode(asNode(a), asNode(y), { ...params, transpose: params.transpose !== back }))
      const bBar = thunk(() => by(xBar, true))
      const aBar = thunk(() => {
        const own = params.transpose ? t(a) : a
        const w = bBar.force() as AnyExpr
        const rest = sub(xBar, by(product(own, xBar)))
        const y = add(sub(product(sub(b, product(own, x)), t(by(w))), product(w, t(x))), product(by(x, true), t(rest)))
        return params.transpose ? t(y) : y
      })
      return [aBar, bBar] as const
    }
    return [x, lstsqPullback]
  },
  batch: batchOfSystems(system.lstsqPrimitive),
})

/** The rules of the others of the family `linalg`. */
export const systemRules: { readonly [K in Exclude<keyof typeof linalg, keyof typeof triangularRules | 'qr' | 'eigh' | 'svd'>]: Rule } = {
  lu: luRule,
  solve: solveRule,
  det: detRule,
  slogdet: slogdetRule,
  lstsq: lstsqRule,
}
