/** How the losses of single predictions become one: their mean, their sum, or as they are. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { type Kind, kind, type OptionsOf } from '../../core/errors/options.js'
import { mean, sum } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'

export type Reduction = 'mean' | 'sum' | 'none'
/** What each makes of them. */
export const reductions: Readonly<Record<Reduction, (losses: AnyExpr) => AnyExpr>> = {
  mean: (l) => mean(l),
  sum: (l) => sum(l),
  none: (l) => l,
}
/** How the losses of single predictions become one. */
const reduction: Kind<Reduction> = kind((given = 'mean', _what, where) =>
  typeof given === 'string' && Object.hasOwn(reductions, given)
    ? (given as Reduction)
    : badInput(
        where,
        `${shown(given)} is not a reduction.`,
        `give 'mean', 'sum' or 'none'${given === 'batchmean' ? "; 'batchmean' is 'sum' divided by the number of examples" : ''}.`,
      ),
)
export const lossOptions = {
  /** How losses become one; `none` keeps one for each position. */
  reduction,
}
/** Options of every loss. */
export interface LossOptions extends OptionsOf<typeof lossOptions> {}
