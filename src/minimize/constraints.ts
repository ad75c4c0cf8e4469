/** Constraints as functions of a vector: their values beside f, compiled once, and what they begin with. */
import { functionOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type AnyExpr, zeros } from '../index.js'
import type { Ended } from './result.js'
import { flatResult } from './trees.js'

/** Constraints as a user gives them: h(x) = 0 and g(x) <= 0, elementwise; arrays or trees of arrays. */
export interface Constraints {
  readonly equal?: unknown
  readonly atMost?: unknown
}
/** Where a constrained search ended. */
export interface EndedWithin extends Ended {
  /** The multipliers of the equations, then those of the inequalities. */
  readonly multipliers: { readonly equal: Float64Array; readonly atMost: Float64Array }
  /** By how much a constraint is missed, at most. */
  readonly violation: number
}
/** The elements of what a constraint returns, one after the other; none where there is no constraint. */
export const flat = (f: unknown, x: unknown, op: string, what: string): AnyExpr =>
  f === undefined ? (zeros([0]) as AnyExpr) : flatResult(functionOf(f as (x: unknown) => unknown, what, op)(x), op, what)

/** Refuses constraints without numbers, and those that are not finite at x0. */
export const checkConstraints = (h: ArrayLike<number>, g: ArrayLike<number>, op: string): void => {
  if (h.length + g.length === 0)
    badInput(op, 'the constraints are empty.', 'leave them out, or give functions that return at least one number.')
  for (const [what, data] of [
    ['equal', h],
    ['atMost', g],
  ] as const) {
    const wrong = Array.from(data, Number).find((v) => !Number.isFinite(v))
    if (wrong === undefined) continue
    const always = what === 'atMost' && wrong === Number.NEGATIVE_INFINITY
    badInput(
      op,
      `constraints.${what} at x0 has ${wrong}.`,
      `begin where the constraints are finite${always ? ', and leave out those that always hold' : ''}.`,
    )
  }
}
