/** The derivative of what an equation defines: by the implicit function theorem, whatever found it. */
import { type AnyExpr, customRule, le, NoTangent, stopGradient, ZeroTangent } from '../index.js'
import { type LinearHow, type Solution, solved, toleranceFor } from './linear.js'
import { type Flat, minus, pulledParams, pushed, pushedParams, transposed } from './vectors.js'

/** Where a search ended: the point, and the length of what is left of the equation there. */
export interface Found {
  readonly x: AnyExpr
  readonly steps: AnyExpr
  readonly residual: AnyExpr
  /** A number that the search chose and the equation is written with; the solution does not depend on it. */
  readonly scale?: AnyExpr
}
/** An equation g(x, params) = 0, and a search for x from a first guess. */
export interface Equation {
  readonly name: string
  readonly g: (x: AnyExpr, params: unknown, scale?: AnyExpr) => AnyExpr
  readonly search: (x0: AnyExpr, params: unknown, tolerance: number) => Found
}

/** The search's number, without its derivative, or none. */
const scaleOf = ({ scale }: Found): readonly [AnyExpr?] => (scale === undefined ? [] : [stopGradient(scale) as AnyExpr])

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
    const [x, q, ...scale] = at as readonly [AnyExpr, unknown, AnyExpr?]
    return pushed((u) => g(u, q, ...scale), x, v)
  }
  const found: Rule = (guess, p) => {
    const { x, steps, residual, scale } = search(guess, p, tolerance)
    return { x, steps, residual, ...(scale !== undefined && { scale }) }
  }
  const rule: Rule = customRule(found as never, {
    name,
    frule: (([guess, p]: readonly [AnyExpr, unknown], [, dp]: readonly [unknown, unknown]) => {
      const y = rule(guess, p)
      const scale = scaleOf(y)
      const dx = solved(jacobian, minus(pushedParams((q) => g(y.x, q, ...scale), p, dp)), [y.x, p, ...scale], how)
      return [y, { x: dx, steps: NoTangent, residual: ZeroTangent, ...(scale.length > 0 && { scale: ZeroTangent }) }]
    }) as never,
    rrule: (([guess, p]: readonly [AnyExpr, unknown]) => {
      const y = rule(guess, p)
      const scale = scaleOf(y)
      const pullback = ({ x: xBar }: Found): unknown => {
        const gBar = solved(transposed(jacobian), minus(xBar), [y.x, p, ...scale], how)
        return [ZeroTangent, pulledParams((q) => g(y.x, q, ...scale), p, gBar)]
      }
      return [y, pullback]
    }) as never,
  }) as never
  // The solution does not depend on where the search began.
  const { x, steps, residual } = rule(stopGradient(x0) as AnyExpr, params)
  const left = stopGradient(residual) as AnyExpr
  return { x, steps, residual: left, converged: le(left, tolerance) } as unknown as Solution<AnyExpr>
}
