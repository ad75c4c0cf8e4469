/** What reductions that are compositions have in common. */
import { number, type OptionsOf } from '../../core/errors/options.js'
import { where } from '../../core/ops/arithmetic.js'
import { literal } from '../../core/ops/arrays.js'
import { eq } from '../../core/ops/compare.js'
import { broadcastTo } from '../../core/ops/layout/layout.js'
import type { AnyExpr } from '../../core/types/expr.js'

/** The options of reductions. */
export { reduceOptions as over } from '../../core/ops/masked.js'

export const ddofOptions = {
  /** The divisor is n - ddof. */
  ddof: number(0),
}
/** Options of `variance` and `std`. */
export interface Ddof extends OptionsOf<typeof ddofOptions> {}
/** What they are read as. */
export interface Over {
  readonly axis: readonly number[]
  readonly keepdims: boolean
}
/** The shape of x without those axes, or with length 1 there. */
export const foldedShape = (x: AnyExpr, { axis, keepdims }: Over): readonly number[] =>
  x.shape.flatMap((d, i) => (axis.includes(i) ? (keepdims ? [1] : []) : [d]))
/** One value as the result, where an axis that is folded is empty. */
export const ofNothing = (x: AnyExpr, value: number, options: Over): AnyExpr | undefined =>
  options.axis.some((a) => x.shape[a] === 0) ? broadcastTo(literal(value, x.dtype), foldedShape(x, options)) : undefined
/** f at s, and 0 (with derivative 0) where s is 0: for roots, whose derivative there is infinite. */
export const zeroAtZero = (s: AnyExpr, f: (s: AnyExpr) => AnyExpr): AnyExpr => {
  const isZero = eq(s, 0)
  return where(isZero, 0, f(where(isZero, 1, s)))
}
