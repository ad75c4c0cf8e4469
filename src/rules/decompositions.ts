/**
 * Calculus of qr, eigh and svd. Vectors that belong to equal values may be any of their space, so a function of them has a derivative where it
 * does not depend on which: there the quotient by the difference of the values, which is 0 / 0, counts as 0.
 */
import type { Rule } from '../core/calculus/rule.js'
import { applyMulti, asExpr, asNode } from '../core/graph/expr.js'
import { NO_PARAMS } from '../core/graph/primitive.js'
import { type Forced, notImplemented, type Tangent, thunk, ZeroTangent } from '../core/graph/tangent.js'
import { le } from '../core/ops/compare.js'
import { abs, add, div, mul, sub, where } from '../core/ops/elementwise.js'
import { expandDims } from '../core/ops/layout/layout.js'
import * as op from '../core/ops/linalg/factorisations.js'
import { maxPrimitive, reduceNode } from '../core/ops/reduce.js'
import { stopped } from '../core/ops/stopped.js'
import type { AnyExpr } from '../core/types/expr.js'
import { dims } from './batching.js'
import { multiRule } from './define.js'
import { diag, forced, isEmpty, onDiagonal, phi, product, symmetric, t, timesColumns, tril } from './matrices.js'

/** Differences of values of at most so many units of the largest are rounding: such values count as equal. */
const UNITS = 8
const epsilon = { f64: 2 ** -52, f32: 2 ** -23 } as const
/** y / x, and 0 where x is within rounding of values like `scale` [...]: of x [..., n] or [..., n, n]. */
const quotient = (y: AnyExpr | number, x: AnyExpr, scale: AnyExpr): AnyExpr => {
  const n = dims(x)[dims(x).length - 1]!
  const near = le(abs(x), mul(stopped(scale), UNITS * n * epsilon[x.dtype as 'f32' | 'f64']))
  return where(near, 0, div(y, where(near, 1, x)))
}
const reciprocal = (x: AnyExpr, scale: AnyExpr): AnyExpr => quotient(1, x, scale)
const largest = (w: AnyExpr): AnyExpr => asExpr(reduceNode(maxPrimitive, asNode(abs(w)), [dims(w).length - 1], true))
/** x_j - x_i, and x_j + x_i. */
const differences = (x: AnyExpr): AnyExpr => sub(expandDims(x, -2), expandDims(x, -1))
const sums = (x: AnyExpr): AnyExpr => add(expandDims(x, -2), expandDims(x, -1))

const total = (terms: readonly (AnyExpr | undefined)[]): AnyExpr | undefined =>
  terms.reduce((a, b) => (a === undefined ? b : b === undefined ? a : add(a, b)))

/** X R^-1 for upper triangular R. */
const overR = (x: AnyExpr, r: AnyExpr): AnyExpr =>
  t(asExpr(op.triangularNode(asNode(r), asNode(t(x)), { lower: false, transpose: true, unitDiagonal: false })))
/** X R^-T. */
const overRt = (x: AnyExpr, r: AnyExpr): AnyExpr =>
  t(asExpr(op.triangularNode(asNode(r), asNode(t(x)), { lower: false, transpose: false, unitDiagonal: false })))

/** The columns of a complete Q behind those of R are any basis of the rest. */
const undecided = (a: AnyExpr, complete: boolean): boolean => {
  const [m, n] = dims(a).slice(-2) as [number, number]
  return complete && m > n
}
const unknown = (): Tangent => notImplemented('qr', 'the last columns of a complete q are any basis of what is left: use the reduced form')

const qrRule: Rule = multiRule(op.qrPrimitive, {
  // With X = dA R^-1 and L the strict lower triangle of Q^T X: dQ = X - Q (Q^T X - L + L^T), dR = (Q^T X - L + L^T) R.
  frule: ([a], [da], { complete }, { ys }) => {
    const dx = forced(da)
    if (dx === undefined || isEmpty(a)) return [ys, [ZeroTangent, ZeroTangent]]
    if (undecided(a, complete)) return [ys, [unknown(), unknown()]]
    const [q, r] = ys as [AnyExpr, AnyExpr]
    const x = overR(dx, r)
    const inner = product(t(q), x)
    const lower = tril(inner, -1)
    const upper = add(sub(inner, lower), t(lower))
    return [ys, [sub(x, product(q, upper)), product(upper, r)]]
  },
  // With M = R RBar^T - QBar^T Q and S the symmetric matrix of its lower triangle: ABar = (QBar + Q S) R^-T.
  rrule: ([a], { complete }, { ys }) => {
    const qrPullback = ([qYes, rYes]: readonly Forced[]) => {
      if (undecided(a, complete)) return [unknown()] as never
      const [q, r] = ys as [AnyExpr, AnyExpr]
      const [qBar, rBar] = [forced(qYes), forced(rYes)]
      if ((qBar === undefined && rBar === undefined) || isEmpty(a)) return [ZeroTangent] as const
      return [
        thunk(() => {
          const m = total([rBar && product(r, t(rBar)), qBar && mul(product(t(qBar), q), -1)])!
          return overRt(total([qBar, product(q, symmetric(m))])!, r)
        }),
      ] as const
    }
    return [ys, qrPullback]
  },
  batch: ([a], _batched, params) => op.qrNodes(asNode(a), params).map(asExpr),
})

const eighRule: Rule = multiRule(op.eighPrimitive, {
  // With P = V^T dA V: dw = diag(P), dV = V (F * P), F_ij = 1 / (w_j - w_i).
  frule: ([a], [da], _params, { ys }) => {
    const dx = forced(da)
    if (dx === undefined || isEmpty(a)) return [ys, [ZeroTangent, ZeroTangent]]
    const [w, v] = ys as [AnyExpr, AnyExpr]
    const p = product(t(v), symmetric(dx), v)
    return [ys, [diag(p), product(v, mul(p, reciprocal(differences(w), expandDims(largest(w), -1))))]]
  },
  rrule: ([a], _params, { ys, config }) => {
    const eighPullback = ([wYes, vYes]: readonly Forced[]) => {
      const [w, v] = ys as [AnyExpr, AnyExpr]
      const [wBar, vBar] = [forced(wYes), forced(vYes)]
      if ((wBar === undefined && vBar === undefined) || isEmpty(a)) return [ZeroTangent] as const
      return [
        thunk(() => {
          const turned = vBar && mul(product(t(v), vBar), reciprocal(differences(w), expandDims(largest(w), -1)))
          // Without a cotangent of the vectors a diagonal scales the columns, and is no matrix.
          const x =
            turned === undefined
              ? product(config.product(expandDims(wBar!, -2), v), t(v))
              : product(v, total([wBar && onDiagonal(wBar), turned])!, t(v))
          return phi(add(x, t(x)))
        }),
      ] as const
    }
    return [ys, eighPullback]
  },
  batch: ([a]) => applyMulti(op.eighPrimitive, [asNode(a)], NO_PARAMS).map(asExpr),
})

/**
 * D_ij = 1 / (s_j - s_i) and G_ij = s_j / (s_j + s_i): D G is s_j / (s_j^2 - s_i^2), and neither overflows where squares would.
 */
const gaps = (s: AnyExpr): { readonly d: AnyExpr; readonly g: AnyExpr } => {
  const scale = expandDims(largest(s), -1)
  return { d: reciprocal(differences(s), scale), g: quotient(expandDims(s, -2), sums(s), scale) }
}
/** x + x^T. */
const doubled = (x: AnyExpr): AnyExpr => add(x, t(x))
const isSquare = (x: AnyExpr): boolean => dims(x)[dims(x).length - 2] === dims(x)[dims(x).length - 1]
/** What of x is not in the space of the columns of u. */
const outside = (u: AnyExpr, x: AnyExpr): AnyExpr => sub(x, product(u, product(t(u), x)))

const svdRule: Rule = multiRule(op.svdPrimitive, {
  // With P = U^T dA V: ds = diag(P), dU = U (D * (P * G + (P * G)^T)) + (I - U U^T) dA V S^-1, dV = V (D * (P * G^T + (P * G^T)^T)).
  frule: ([a], [da], _params, { ys }) => {
    const dx = forced(da)
    if (dx === undefined || isEmpty(a)) return [ys, [ZeroTangent, ZeroTangent, ZeroTangent]]
    const [u, s, v] = ys as [AnyExpr, AnyExpr, AnyExpr]
    const av = product(dx, v)
    const p = product(t(u), av)
    const { d, g } = gaps(s)
    const du = product(u, mul(doubled(mul(p, g)), d))
    const rest = isSquare(a) ? undefined : timesColumns(outside(u, av), reciprocal(s, largest(s)))
    return [ys, [total([du, rest])!, diag(p), product(v, mul(doubled(mul(p, t(g))), d))]]
  },
  rrule: ([a], _params, { ys, config }) => {
    const svdPullback = ([uYes, sYes, vYes]: readonly Forced[]) => {
      const [u, s, v] = ys as [AnyExpr, AnyExpr, AnyExpr]
      const [uBar, sBar, vBar] = [forced(uYes), forced(sYes), forced(vYes)]
      if ((uBar ?? sBar ?? vBar) === undefined || isEmpty(a)) return [ZeroTangent] as const
      return [
        thunk(() => {
          if (uBar === undefined && vBar === undefined) return product(config.product(expandDims(sBar!, -2), u), t(v))
          const { d, g } = gaps(s)
          const turned = (x: AnyExpr, xBar: AnyExpr): AnyExpr => doubled(mul(product(t(x), xBar), d))
          const core = total([sBar && onDiagonal(sBar), uBar && mul(turned(u, uBar), g), vBar && mul(turned(v, vBar), t(g))])!
          const inner = product(u, core)
          const rest = uBar && !isSquare(a) ? timesColumns(outside(u, uBar), reciprocal(s, largest(s))) : undefined
          return product(total([inner, rest])!, t(v))
        }),
      ] as const
    }
    return [ys, svdPullback]
  },
  batch: ([a]) => applyMulti(op.svdPrimitive, [asNode(a)], NO_PARAMS).map(asExpr),
})

export const qrRules = { qr: qrRule } as const
export const eighRules = { eigh: eighRule } as const
export const svdRules = { svd: svdRule } as const
