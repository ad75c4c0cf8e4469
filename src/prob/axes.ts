/** The last axes of arrays: those of an element. */
import { type AnyExpr, sum } from '../index.js'

/** The last `n` axes, as negative numbers. */
export const lastAxes = (n: number): number[] => Array.from({ length: n }, (_, i) => -1 - i)
/** The sum over the last `n` axes. */
export const sumOverLast = (x: AnyExpr, n: number): AnyExpr => (n <= 0 ? x : (sum(x, { axis: lastAxes(n) }) as AnyExpr))
