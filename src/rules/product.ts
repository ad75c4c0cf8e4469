/** How a rule multiplies a (co)tangent with a partial derivative (docs/decisions/strong-zero.md). */

import { SOFT } from '../core/calculus/hard-zeros.js'
import type { Hardness, RuleConfig } from '../core/calculus/rule.js'
import { asExpr, asNode, CONST, constant } from '../core/graph/expr.js'
import { type Forced, type NoTangent, ZeroTangent } from '../core/graph/tangent.js'
import { and, eq, isfinite, not } from '../core/ops/compare.js'
import { add, neg, strongMul, where } from '../core/ops/elementwise.js'
import type { AnyExpr } from '../core/types/expr.js'

/** Is x the literal 1 (the seed of a scalar)? */
const isOne = (x: AnyExpr): boolean => asNode(x).kind === CONST && asNode(x).payload === 1

/** x times a partial; 1 and -1 cost nothing, 0 is ZeroTangent. */
export const scale = (dx: AnyExpr, p: AnyExpr | number | ZeroTangent | NoTangent, product: RuleConfig['product']): Forced => {
  if (isOne(dx))
    return typeof p !== 'number'
      ? p._tag === 'Expr'
        ? p
        : ZeroTangent
      : p === 0
        ? ZeroTangent
        : p === 1
          ? dx
          : asExpr(constant(p, dx.dtype))
  if (typeof p === 'number') return p === 0 ? ZeroTangent : p === 1 ? dx : p === -1 ? neg(dx) : product(dx, asExpr(constant(p, dx.dtype)))
  return p._tag === 'Expr' ? product(dx, p) : ZeroTangent
}
/**
 * A (co)tangent times a factor whose zeros are hard too: the factor of a strong product, a partial that holds a mask. Where the factor is 0,
 * a (co)tangent that is infinite or NaN is taken out first; one that is finite stays, because it is part of the next derivative.
 */
export const strongBoth = (config: RuleConfig, dx: AnyExpr, factor: AnyExpr, hardness: Hardness): AnyExpr =>
  config.hardened(
    config.hardness(dx) === SOFT ? strongMul(factor, dx) : strongMul(where(and(eq(factor, 0), not(isfinite(dx))), 0, dx), factor),
    hardness,
  )
/** The sum of two (co)tangents. */
export const plus = (a: Forced, b: Forced): Forced => (a._tag !== 'Expr' ? b : b._tag !== 'Expr' ? a : add(a, b))
