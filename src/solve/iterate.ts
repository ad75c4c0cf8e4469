/** The one loop that all solvers run in. */
import { type AnyExpr, whileLoop } from '../index.js'

/**
 * The state after steps taken while `more` of it holds, at most `maxSteps` of them.
 *
 * A step that is not taken has no say in a value or a derivative, not even by a NaN.
 */
export const iterate = <S>(more: (state: S) => AnyExpr, step: (state: S) => S, init: S, maxSteps: number): S =>
  whileLoop(more as never, step as never, init as never, { maxSteps })[0] as S
