/** Metrics of numbers, and of the order of scores. */

import { badInput, badShape } from '../core/errors/explain.js'
import { type OptionsOf, or, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  div,
  type Exprs,
  eq,
  full,
  isTensor,
  max,
  mul,
  reshape,
  square,
  sub,
  sum,
  type Tensor,
  tensor,
  where,
} from '../index.js'
import { wholeOf } from './given.js'
import {
  arrayIn,
  flatRows,
  type MeanMeasure,
  type Measure,
  meanOf,
  misfit,
  same,
  shown,
  sizeOf,
  to,
  total,
  weighed,
  weightsIn,
} from './measure.js'

/**
 * The mean of (prediction - target)^2 over all numbers.
 *
 * Shapes  both the same.   Edge cases  NaN without numbers.   Source  scikit-learn mean_squared_error.
 * @example measured(meanSquaredError(), [1, 3], [1, 1])   // 2
 */
export const meanSquaredError = (): MeanMeasure =>
  meanOf('meanSquaredError', 'lower', (given, t, dtype) => {
    const y = flatRows(given, t)
    const target = flatRows(t, y)
    if (!same(y.shape, target.shape)) misfit('meanSquaredError', given, t, 'give targets of the shape of the predictions.')
    return { each: square(sub(to(y, dtype), to(target, dtype))) }
  })
/** The state of `r2`, by output: weights, the mean of the targets, the sum of their squared distances from it, that of the residuals. */
export interface R2State {
  readonly count: Tensor<[number], 'f64'>
  readonly mean: Tensor<[number], 'f64'>
  readonly spread: Tensor<[number], 'f64'>
  readonly residual: Tensor<[number], 'f64'>
}
export const r2Options = {
  /** How many numbers a row has: 1 unless given. Their R2 are averaged. */
  outputs: or<number, number>(1, (x, _what, where) => wholeOf(x, 'the number of outputs', where, 1)),
}
/** Options of `r2`. */
export interface R2Options extends OptionsOf<typeof r2Options> {}
/**
 * The coefficient of determination: 1 - sum (t - y)^2 / sum (t - mean t)^2, the mean over outputs.
 *
 * Batches are merged by their means (Chan, Golub and LeVeque 1983), without cancellation.
 * Shapes  both [..., outputs], or [...] of one.   Edge cases  NaN for fewer than two rows; for a constant target 1 if all predictions are right, else 0.
 * Source  scikit-learn r2_score.
 * @example measured(r2(), [1, 2, 4], [1, 2, 3])   // 0.5
 */
export const r2 = (options?: R2Options): Measure<R2State, number, Exprs<R2State>> => {
  const { outputs } = readOptions(r2Options, options, 'r2')
  const zero = (): Tensor<[number], 'f64'> => tensor(0, [outputs]) as Tensor<[number], 'f64'>
  return {
    zero: { count: zero(), mean: zero(), spread: zero(), residual: zero() },
    better: 'higher',
    traced: true,
    add: (acc, predictions, targets, mask) => {
      const before = acc as unknown as { readonly [K in keyof R2State]: AnyExpr }
      const { dtype } = before.mean
      const [given, wanted] = [arrayIn(predictions), arrayIn(targets)]
      const y = flatRows(given, wanted)
      const t = flatRows(wanted, y)
      if (!same(y.shape, t.shape) || (outputs > 1 && t.shape.at(-1) !== outputs))
        misfit('r2', given, wanted, `give both of ${outputs} numbers a row: { outputs } says how many.`)
      const rows = (x: AnyExpr): AnyExpr => reshape(to(x, dtype), [sizeOf(x.shape) / outputs, outputs])
      const w = rows(weightsIn(mask, t.shape, dtype, 'r2') ?? full(t.shape, 1, dtype))
      const over = (x: AnyExpr): AnyExpr => sum(x, { axis: 0 })
      if (w.shape[0] === 0) return acc as Exprs<R2State>
      const [target, out] = [where(eq(w, 0), Number.NEGATIVE_INFINITY, rows(t)), rows(y)]
      const count = over(w)
      const none = eq(count, 0)
      // The distances are from one of the targets, so that those of a constant are 0 exactly.
      const near = where(none, 0, max(target, { axis: 0 }))
      const away = weighed(sub(target, near), w)
      const mean = add(near, div(over(away), where(none, 1, count)))
      const spread = over(weighed(square(sub(target, mean)), w))
      const all = add(before.count, count)
      const apart = sub(mean, before.mean)
      const share = div(count, where(eq(all, 0), 1, all))
      return {
        count: all,
        mean: where(none, before.mean, add(before.mean, mul(apart, share))),
        spread: where(none, before.spread, add(add(before.spread, spread), mul(square(apart), mul(before.count, share)))),
        residual: add(before.residual, over(weighed(square(sub(target, out)), w))),
      } as unknown as Exprs<R2State>
    },
    value: ({ count, spread, residual }) => {
      const each = Array.from(spread.data, (s, i) => {
        const r = residual.data[i]!
        if (!(count.data[i]! >= 2)) return Number.NaN
        return s === 0 ? (r === 0 ? 1 : Number.isNaN(r) ? Number.NaN : 0) : 1 - r / s
      })
      return total(each) / each.length
    },
  }
}

/** The state of `auc`: of each batch the scores, which rows are of class 1, and weights. */
export type AucState = readonly { readonly scores: Float64Array; readonly positive: readonly boolean[]; readonly weights: Float64Array }[]
const numbersIn = (x: unknown): { readonly data: Float64Array; readonly shape: readonly number[] } => {
  const given: unknown = arrayIn(x)
  if (!isTensor(given))
    return badInput(
      'auc',
      'it takes values, not expressions: it keeps them all and sorts them at the end.',
      'add what a compiled function gave.',
    )
  return { data: Float64Array.from(given.data), shape: given.shape }
}
/**
 * The area under the ROC curve: the probability that a row of class 1 has a higher score than one of class 0, with ties counted half. It is exact: it keeps all scores and
 * sorts them at the end.
 *
 * Shapes  predictions: one score for each row (probabilities or logits), targets: 0 or 1.   Edge cases  NaN unless there are rows of both classes, and if a score is NaN.
 * Errors  BadInput for expressions (it cannot be part of a compiled step), and targets that are neither 0 nor 1.   Source  Hanley and McNeil 1982; scikit-learn
 *         roc_auc_score.
 * @example measured(auc(), [0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])   // 0.75
 */
export const auc = (): Measure<AucState> => ({
  zero: [],
  better: 'higher',
  traced: false,
  add: (acc, predictions, targets, mask) => {
    const [y, t] = [numbersIn(predictions), numbersIn(targets)]
    const rows = sizeOf(t.shape)
    const flat = (shape: readonly number[]): readonly number[] => (shape.at(-1) === 1 ? shape.slice(0, -1) : shape)
    if (!same(flat(y.shape), flat(t.shape)))
      badShape(
        'auc',
        [y.shape, t.shape],
        `targets ${shown(t.shape)} do not fit predictions ${shown(y.shape)}.`,
        'give one score for each row.',
      )
    const m = mask === undefined ? undefined : numbersIn(mask)
    if (m !== undefined && !same(flat(m.shape), flat(t.shape).slice(0, flat(m.shape).length)))
      badShape('auc', [t.shape, m.shape], `the mask has ${m.data.length} elements for ${rows} rows.`, 'give one for each row.')
    const w = Float64Array.from({ length: rows }, (_, i) => m?.data[Math.floor((i * m.data.length) / rows)] ?? 1)
    const wrong = t.data.findIndex((x, i) => w[i] !== 0 && x !== 0 && x !== 1)
    if (wrong >= 0) badInput('auc', `target ${wrong} is ${t.data[wrong]}.`, 'give 0 and 1.')
    return [...acc, { scores: y.data, positive: Array.from(t.data, (x) => x === 1), weights: w }]
  },
  value: (acc) => {
    const rows = acc.flatMap(({ scores, positive, weights }) =>
      Array.from(scores, (score, i) => ({ score, positive: positive[i]!, weight: weights[i]! })).filter((r) => r.weight !== 0),
    )
    if (rows.some((r) => Number.isNaN(r.score))) return Number.NaN
    rows.sort((a, b) => (a.score < b.score ? -1 : a.score > b.score ? 1 : 0))
    let [won, positives, negatives] = [0, 0, 0]
    for (let i = 0; i < rows.length; ) {
      let [p, n] = [0, 0]
      const { score } = rows[i]!
      for (; i < rows.length && rows[i]!.score === score; i++) {
        if (rows[i]!.positive) p += rows[i]!.weight
        else n += rows[i]!.weight
      }
      won += p * (negatives + n / 2)
      positives += p
      negatives += n
    }
    return positives > 0 && negatives > 0 ? won / (positives * negatives) : Number.NaN
  },
})
