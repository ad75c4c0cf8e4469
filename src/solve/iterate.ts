/** The one loop that all solvers run in. */
import { type AnyExpr, cond, fori } from '../index.js'

/**
 * The state after steps taken while `more` of it holds, at most `maxSteps` of them.
 *
 * A step that is not taken has no say in a value or a derivative, not even by a NaN.
 */
export const iterate = <S>(more: (state: S) => AnyExpr, step: (state: S) => S, init: S, maxSteps: number): S => {
  const next = (_k: unknown, state: unknown): unknown =>
    cond(
      more(state as S),
      (s: unknown) => step(s as S),
      (s: unknown) => s,
      state,
    )
  return fori(maxSteps, next as never, init) as S
}
