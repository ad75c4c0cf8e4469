/** Logits of which the unlikely are left out, before classes are drawn of them: top-k and nucleus sampling. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { integer, kind, type OptionsOf, whole } from '../../core/errors/options.js'
import { stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { part, positions } from '../../core/ops/arrays.js'
import { ge, lt, or } from '../../core/ops/compare.js'
import { axis, floats, operation } from '../../core/ops/operation.js'
import { min } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { LogitsFilterFn } from '../../core/types/signatures/sequences.js'
import { cumsum, topk } from '../../families/indexing.js'
import { softmax } from './layers.js'

/** A probability, which must be given. */
const share = kind((given, what, where) =>
  typeof given === 'number' && given >= 0 && given <= 1
    ? given
    : badInput(where, `${what} is ${shown(given)}.`, 'give a probability, from 0 to 1.'),
)
/** All along an axis, the largest first. */
const descending = (x: AnyExpr, along: number): AnyExpr => topk(stopGradient(x), x.shape[along]!, { axis: along }).values
const from = (x: AnyExpr, lowest: AnyExpr): AnyExpr => where(ge(x, lowest), x, Number.NEGATIVE_INFINITY)

const topkOptions = {
  /** The axis of the classes, the last unless given. */
  axis: axis(-1),
}
/** Options of `topkFilter`. */
interface TopkFilterOptions extends OptionsOf<typeof topkOptions> {}
const toppOptions = {
  ...topkOptions,
  /** The number of classes that stay in any case: 1 unless given. */
  least: integer(1, { from: 1 }),
}
/** Options of `toppFilter`. */
interface ToppFilterOptions extends OptionsOf<typeof toppOptions> {}
/**
 * Logits with all but the k largest along an axis (the last by default) at -infinity: softmax has 0 there, and `categorical` draws none of them. Ties with the least of the k stay
 * too.
 *
 * Shapes  x's; a k beyond the axis keeps all.   Rule  xBar = yBar where x stays.   Source  Fan, Lewis and Dauphin 2018.
 * Errors  BadInput unless k is a positive integer, or for an axis out of range.
 * @example topkFilter([1, 3, 2, 0], 2)   // [-Infinity, 3, 2, -Infinity]
 */
export const topkFilter: LogitsFilterFn<TopkFilterOptions> = operation(
  'topkFilter',
  { x: floats, k: whole({ from: 1 }) },
  topkOptions,
  ({ x, k }, { axis: along }) => (k >= x.shape[along]! ? x : from(x, part(descending(x, along), along, k - 1, 1))),
)

/**
 * Logits of the nucleus: the fewest classes, the most likely first, whose probabilities sum to p; the others are at
 * -infinity. `least` of them stay in any case, 1 unless given; ties with the least likely of them stay too.
 *
 * Shapes  x's.   Rule  xBar = yBar where x stays.   Source  Holtzman et al. 2020.
 * Errors  BadInput for a p outside [0, 1], a `least` that is not a positive integer, or an axis out of range.
 * @example toppFilter([0, 0, 3], 0.5)   // [-Infinity, -Infinity, 3]
 */
export const toppFilter: LogitsFilterFn<ToppFilterOptions> = operation(
  'toppFilter',
  { x: floats, p: share },
  toppOptions,
  ({ x, p }, { axis: along, least }) => {
    if (p === 1 || x.shape[along] === 0) return x
    const sorted = descending(x, along)
    const probabilities = softmax(sorted, { axis: along })
    const before = sub(cumsum(probabilities, { axis: along }), probabilities)
    const stays = or(lt(before, p), lt(positions(x.shape, along), least))
    return from(x, min(where(stays, sorted, Number.POSITIVE_INFINITY), { axis: along, keepdims: true }))
  },
)
