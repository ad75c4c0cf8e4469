/** The derivative of what an equation defines: by the implicit function theorem, whatever found it. */
import { type AnyExpr, customRule, le, NoTangent, stopGradient, ZeroTangent } from '../index.js'
import { type LinearHow, type Solution, solved, toleranceFor } from './linear.js'
import { type Flat, minus, pulledParams, pushed, pushedParams, transposed } from './vectors.js'

/** Where a search ended: the point, and the length of what is left of the equation there. */
export interface Found {
  readonly x: AnyExpr
  readonly steps: AnyExpr
  readonly residual: AnyExpr
}
/** An equation g(x, params) = 0, and a search for x from a first guess. */
export interface Equation {
  readonly name: string
  readonly g: Flat
  readonly search: (x0: AnyExpr, params: unknown, tolerance: number) => Found
}

/**
 * x with g(x, params) = 0.
 *
 * Rule  g_x dx = -g_p dp, one linear solve; in reverse its transpose. Both are linear solves with rules of their own, so that second derivatives are too.
 */
export const implicit = (
  { name, g, search }: Equation,
  x0: AnyExpr,
  params: unknown,
  given: number | undefined,
  how: LinearHow,
): Solution<AnyExpr> => {
  const tolerance = toleranceFor(given, x0)
  type Rule = (guess: AnyExpr, p: unknown) => Found
  const jacobian: Flat = (v, at) => {
    const [x, q] = at as readonly [AnyExpr, unknown]
    return pushed((u) => g(u, q), x, v)
  }
  const found: Rule = (guess, p) => {
    const { x, steps, residual } = search(guess, p, tolerance)
    return { x, steps, residual }
  }
  const rule: Rule = customRule(found as never, {
    name,
    frule: (([guess, p]: readonly [AnyExpr, unknown], [, dp]: readonly [unknown, unknown]) => {
      const y = rule(guess, p)
      const dx = solved(jacobian, minus(pushedParams((q) => g(y.x, q), p, dp)), [y.x, p], how)
      return [y, { x: dx, steps: NoTangent, residual: ZeroTangent }]
    }) as never,
    rrule: (([guess, p]: readonly [AnyExpr, unknown]) => {
      const y = rule(guess, p)
      const pullback = ({ x: xBar }: Found): unknown => {
        const gBar = solved(transposed(jacobian), minus(xBar), [y.x, p], how)
        return [ZeroTangent, pulledParams((q) => g(y.x, q), p, gBar)]
      }
      return [y, pullback]
    }) as never,
  }) as never
  // The solution does not depend on where the search began.
  const { x, steps, residual } = rule(stopGradient(x0) as AnyExpr, params)
  const left = stopGradient(residual) as AnyExpr
  return { x, steps, residual: left, converged: le(left, tolerance) } as unknown as Solution<AnyExpr>
}
