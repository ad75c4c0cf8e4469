/** How a rule multiplies a (co)tangent with a partial derivative (docs/decisions/strong-zero.md). */

import { GUARDED, literalOf, SOFT } from '../core/calculus/hard-zeros.js'
import type { Hardness, RuleConfig } from '../core/calculus/rule.js'
import { functionOf, recordOf } from '../core/errors/check-arguments.js'
import { asExpr, asNode, CONST, constant } from '../core/graph/expr.js'
import { range } from '../core/graph/shape.js'
import { type Forced, type NoTangent, type NotImplemented, ZeroTangent } from '../core/graph/tangent.js'
import { and, eq, isfinite, ne, not } from '../core/ops/compare.js'
import { add, neg, strongMul, where } from '../core/ops/elementwise.js'
import { finiteUnless } from '../core/ops/held.js'
import { anyOf } from '../core/ops/reduce.js'
import type { AnyExpr } from '../core/types/expr.js'
import { entryIn, exprIn, forcedIn } from './given.js'

/** Is x the literal 1 (the seed of a scalar)? */
const isOne = (x: AnyExpr): boolean => asNode(x).kind === CONST && asNode(x).payload === 1

/** x times a partial; 1 and -1 cost nothing, 0 is ZeroTangent. */
export const scaled = (
  dx: AnyExpr,
  p: AnyExpr | number | ZeroTangent | NoTangent | NotImplemented,
  config: Pick<RuleConfig, 'product'>,
): Exclude<Forced, NoTangent> => {
  if (typeof p !== 'number' && p._tag === 'NotImplemented') return p
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
  if (typeof p === 'number')
    return p === 0 ? ZeroTangent : p === 1 ? dx : p === -1 ? neg(dx) : config.product(dx, asExpr(constant(p, dx.dtype)))
  return p._tag === 'Expr' ? config.product(dx, p) : ZeroTangent
}
/**
 * A (co)tangent times a partial derivative: 1 and -1 cost nothing, 0 is ZeroTangent, hard zeros stay (docs/decisions/strong-zero.md).
 *
 * For rules that are written out; `config` is that of their context. `scalarRule` multiplies with it.
 * @example
 * const cube = unary({ name: 'cube', scalar: (x) => x! ** 3, source: 'definition' })
 * const cubeRule = rule(cube.primitive, {
 *   rrule: ([x], _params, { y, config }) => [y, (yBar) => [thunk(() => scaleTangent(yBar, mul(3, square(x)), config))]],
 * })
 * makeCodual(coreRegistry.with(cubeRule), cpu()).grad((x) => sum(cube(x)))([1, 2])   // [3, 12]
 */
export const scaleTangent = (
  dx: AnyExpr,
  p: AnyExpr | number | ZeroTangent | NoTangent | NotImplemented,
  config: RuleConfig,
): Exclude<Forced, NoTangent> => {
  exprIn(dx, 'the (co)tangent', 'scaleTangent')
  entryIn(p, 'the partial', 'scaleTangent')
  const { product } = recordOf(config, 'the third argument', 'scaleTangent')
  return scaled(dx, p, { product: functionOf(product, 'product', 'scaleTangent') })
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
/** addTangents(a, b): of two that have no tangent space the sum has none; every other sum is what a pullback returns for a float argument. */
export interface AddTangentsFn {
  (a: Exclude<Forced, NoTangent>, b: Forced): Exclude<Forced, NoTangent>
  (a: Forced, b: Exclude<Forced, NoTangent>): Exclude<Forced, NoTangent>
  (a: Forced, b: Forced): Forced
}
const sumOf = (a: Forced, b: Forced): Forced => {
  forcedIn(a, 'the first', 'addTangents')
  forcedIn(b, 'the second', 'addTangents')
  if (a._tag === 'Expr' && b._tag === 'Expr') return add(a, b)
  if (a._tag === 'NotImplemented' || b._tag === 'NotImplemented') return a._tag === 'NotImplemented' ? a : b
  return a._tag === 'Expr' || b._tag === 'NoTangent' ? a : b
}
/**
 * The factors of sums of products with a cotangent that may hold zeros of a `where`: 0 where they are not finite and every product is with a zero. What is finite stays as it is, because it
 * is part of the next derivative. `active`: whose cotangents are wanted; each is made of the other factor.
 */
export const besideZeros = (
  config: RuleConfig,
  yBar: AnyExpr,
  factors: readonly AnyExpr[],
  active: readonly boolean[],
  reach: (flags: AnyExpr, from: 2, to: 0 | 1) => AnyExpr = (flags) => anyOf(flags, range(asNode(flags).shape.length)),
): readonly AnyExpr[] => {
  if (config.hardness(yBar) !== GUARDED || asNode(yBar).aval.size === 0) return factors
  const held = factors.map((x, k) => active.some((a, i) => a && i !== k) && !Number.isFinite(literalOf(asNode(x))))
  if (!held.includes(true)) return factors
  const moves = ne(yBar, 0)
  return factors.map((x, k) => (held[k] === true ? finiteUnless(reach(moves, 2, k as 0 | 1), x) : x))
}
/**
 * The sum of two (co)tangents, of which either may be a zero.
 *
 * For rules that are written out: dy = df(da, b) + df(a, db), where a zero builds nothing. A pullback can return it for a float argument.
 * @example addTangents(ZeroTangent, add(1, 2))   // 3
 */
export const addTangents: AddTangentsFn = sumOf as AddTangentsFn
