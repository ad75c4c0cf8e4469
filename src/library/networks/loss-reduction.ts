/** Losses of single predictions as one: their mean, their sum, or as they are. */
import { shown } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { mean, sum } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'

type Reduction = 'mean' | 'sum' | 'none'
const reductions: Readonly<Record<Reduction, (losses: AnyExpr) => AnyExpr>> = {
  mean: (losses) => mean(losses),
  sum: (losses) => sum(losses),
  none: (losses) => losses,
}
/** How the losses of single predictions become one. */
export const lossReduction = (op: string, name: Reduction = 'mean'): ((losses: AnyExpr) => AnyExpr) =>
  typeof name === 'string' && Object.hasOwn(reductions, name)
    ? reductions[name]
    : raise({
        _tag: 'BadInput',
        where: op,
        reason: `${shown(name)} is not a reduction.`,
        fix: `give 'mean', 'sum' or 'none'${(name as unknown) === 'batchmean' ? "; 'batchmean' is 'sum' divided by the number of examples" : ''}.`,
      })
