/** Metrics of classes: right and wrong rows, by scores or by class. */

import { badInput } from '../core/errors/explain.js'
import { integer, number, type OptionsOf, or, type ReadOf, readOptions, choice as whichOf } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  and,
  any,
  arange,
  argmax,
  type Exprs,
  eq,
  full,
  ge,
  gt,
  isnan,
  logsumexp,
  lt,
  matmul,
  ne,
  reshape,
  sub,
  sum,
  type Tensor,
  tensor,
  transpose,
  where,
} from '../index.js'
import { wholeOf } from './given.js'
import {
  arrayIn,
  flatRows,
  item,
  kept,
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

/** Which class each row is, and where that is not known: a score is NaN. */
interface Classes {
  readonly predicted: AnyExpr
  readonly actual: AnyExpr
  readonly unknown: AnyExpr
  readonly keep: AnyExpr | undefined
}
/** The rows whose class is not the one that is left out. */
const others = (actual: AnyExpr, ignoreIndex: number | undefined): AnyExpr | undefined =>
  ignoreIndex === undefined ? undefined : (ne(actual, ignoreIndex) as AnyExpr)
interface Scores {
  readonly scores: AnyExpr
  readonly actual: AnyExpr
  readonly keep: AnyExpr | undefined
}
/** Scores [..., k] against targets [...], which may be one-hot. */
const scoresOf = (predictions: AnyExpr, targets: AnyExpr, ignoreIndex: number | undefined, op: string): Scores => {
  const { shape } = predictions
  const rows = shape.slice(0, -1)
  const oneHot = shape.length > 1 && same(targets.shape, shape) && shape.at(-1) !== 1
  const actual = oneHot ? argmax(targets, { axis: -1 }) : same(targets.shape, [...rows, 1]) ? reshape(targets, rows) : targets
  if (shape.length === 0 || !same(actual.shape, rows)) misfit(op, predictions, targets, `give classes ${shown(rows)}.`)
  if (oneHot && ignoreIndex !== undefined) badInput(op, 'ignoreIndex is for classes.', 'give a mask with one-hot targets.')
  const classes = to(actual, 'i32')
  return { scores: predictions, actual: classes, keep: others(classes, ignoreIndex) }
}
const isFloat = (x: AnyExpr): boolean => x.dtype === 'f32' || x.dtype === 'f64'
const classesOf = (given: AnyExpr, wanted: AnyExpr, { threshold, ignoreIndex }: Read, op: string): Classes => {
  const predictions = flatRows(given, wanted)
  const targets = flatRows(wanted, predictions)
  if (same(predictions.shape, targets.shape) && (predictions.shape.length < 2 || predictions.shape.at(-1) === 1 || !isFloat(predictions))) {
    const actual = to(targets, 'i32')
    const [predicted, unknown] = isFloat(predictions)
      ? [gt(predictions, threshold), isnan(predictions)]
      : [predictions, full(predictions.shape, 0, 'bool')]
    return { predicted: to(predicted as AnyExpr, 'i32'), actual, unknown: unknown as AnyExpr, keep: others(actual, ignoreIndex) }
  }
  const { scores, actual, keep } = scoresOf(predictions, targets, ignoreIndex, op)
  return { predicted: argmax(scores, { axis: -1 }), actual, unknown: any(isnan(scores), { axis: -1 }), keep }
}

const thresholdOption = {
  /** The threshold above which a single score means class 1: 0.5 unless given; use 0 for logits. */
  threshold: number(0.5),
}
const ignoreOption = {
  /** The class of targets that do not count, as of `crossEntropy`; none unless given. */
  ignoreIndex: integer(),
}
type Read = ReadOf<typeof accuracyOptions>
export const accuracyOptions = { ...thresholdOption, ...ignoreOption }
/** Options of `accuracy`. */
export interface AccuracyOptions extends OptionsOf<typeof accuracyOptions> {}
/**
 * The share of rows whose class is predicted correctly. Predictions are scores [..., k], of which the largest wins (the first among equals), one score for each row, or
 * whole numbers.
 *
 * Shapes  predictions: [..., k] or [...], targets: [...], classes or one-hot.   Edge cases  NaN without rows, and if a score is NaN.   Source  scikit-learn
 *         accuracy_score.
 * @example
 * measured(accuracy(), [[0.1, 0.9], [0.8, 0.2]], [1, 1])   // 0.5
 * measured(accuracy(), [0.7, 0.2, 0.6], [1, 0, 0], [true, true, false])   // 1
 * measured(accuracy({ ignoreIndex: -1 }), [[0.1, 0.9], [0.8, 0.2]], [1, -1])   // 1
 */
export const accuracy = (options?: AccuracyOptions): MeanMeasure => {
  const o = readOptions(accuracyOptions, options, 'accuracy')
  return meanOf('accuracy', 'higher', (y, t, dtype) => {
    const { predicted, actual, unknown, keep } = classesOf(y, t, o, 'accuracy')
    return { each: where(unknown, Number.NaN, to(eq(predicted, actual), dtype)), keep }
  })
}
export const topKOptions = { ...ignoreOption }
/** Options of `topKAccuracy`. */
export interface TopKOptions extends OptionsOf<typeof topKOptions> {}
/**
 * The share of rows whose class is among the k largest scores. Among equal scores the first come first, as in `accuracy`, which is k = 1.
 *
 * Shapes  predictions: [..., classes], targets: [...].   Edge cases  as accuracy.   Source  scikit-learn top_k_accuracy_score, except for
 *         ties.
 * @example measured(topKAccuracy(2), [[0.1, 0.3, 0.6], [0.5, 0.4, 0.1]], [1, 2])   // 0.5
 */
export const topKAccuracy = (k: number, options?: TopKOptions): MeanMeasure => {
  const most = wholeOf(k, 'k', 'topKAccuracy', 1)
  const { ignoreIndex } = readOptions(topKOptions, options, 'topKAccuracy')
  return meanOf('topKAccuracy', 'higher', (y, t, dtype) => {
    const { scores, actual, keep } = scoresOf(y, t, ignoreIndex, 'topKAccuracy')
    const classes = arange(scores.shape.at(-1)!, 'i32') as AnyExpr
    const index = reshape(actual, [...actual.shape, 1])
    const own = sum(where(eq(index, classes), scores, 0), { axis: -1, keepdims: true })
    const before = add(to(gt(scores, own), 'i32'), to(and(eq(scores, own), lt(classes, index)), 'i32'))
    const known = and(ge(actual, 0), lt(actual, scores.shape.at(-1)!))
    const hit = and(lt(sum(before, { axis: -1 }), most), known)
    return { each: where(any(isnan(scores), { axis: -1 }), Number.NaN, to(hit as AnyExpr, dtype)), keep }
  })
}
export const perplexityOptions = { ...ignoreOption }
/** Options of `perplexity`. */
export interface PerplexityOptions extends OptionsOf<typeof perplexityOptions> {}
/**
 * exp of the mean of -log p(target), p = softmax(prediction): of logits, or of log probabilities, which are logits too.
 *
 * Shapes  predictions: [..., k], targets: [...], classes.   Edge cases  NaN without rows, and for a class out of range.   Source  Jelinek et al.
 *         1977.
 * @example measured(perplexity({ ignoreIndex: -1 }), [[0, 0, 0, 0], [1, 1, 1, 1], [5, 0, 0, 0]], [0, 3, -1])   // 4
 */
export const perplexity = (options?: PerplexityOptions): MeanMeasure => {
  const { ignoreIndex } = readOptions(perplexityOptions, options, 'perplexity')
  return meanOf(
    'perplexity',
    'lower',
    (y, t, dtype) => {
      const { scores, actual, keep } = scoresOf(y, t, ignoreIndex, 'perplexity')
      const k = scores.shape.at(-1)!
      const logits = to(scores, dtype)
      const own = sum(where(eq(reshape(actual, [...actual.shape, 1]), arange(k, 'i32')), logits, 0), { axis: -1 })
      return { each: where(and(ge(actual, 0), lt(actual, k)), sub(logsumexp(logits, { axis: -1 }), own), Number.NaN), keep }
    },
    Math.exp,
  )
}

/** The state of `confusion`: how many rows of each class are predicted as each class, and how many have a class out of range. */
export interface ConfusionState {
  readonly matrix: Tensor<[number, number], 'f64'>
  readonly outside: Tensor<[], 'f64'>
}
const matrixOf = <V>(
  op: string,
  k: number,
  o: Read,
  value: (matrix: number[][]) => V,
  better?: 'higher',
): Measure<ConfusionState, V, Exprs<ConfusionState>> => ({
  zero: { matrix: tensor(0, [k, k]) as ConfusionState['matrix'], outside: tensor(0) },
  ...(better !== undefined && { better }),
  traced: true,
  add: (acc, predictions, targets, mask) => {
    const dtype = (acc.matrix as AnyExpr).dtype
    const { predicted, actual, unknown, keep } = classesOf(arrayIn(predictions), arrayIn(targets), o, op)
    const n = sizeOf(actual.shape)
    const given = kept(weightsIn(mask, actual.shape, dtype, op), keep, dtype)
    const counted = weighed(where(unknown, Number.NaN, full(actual.shape, 1, dtype)), given)
    const column = (x: AnyExpr): AnyExpr => reshape(x, [n, 1])
    const isOf = (x: AnyExpr): AnyExpr => eq(column(x), arange(k, 'i32'))
    const rows = where(isOf(actual), column(counted), 0)
    const inside = (x: AnyExpr): AnyExpr => and(ge(x, 0), lt(x, k)) as AnyExpr
    const outside = where(and(inside(actual), inside(predicted)), 0, weighed(full(actual.shape, 1, dtype), given))
    return {
      matrix: add(acc.matrix, matmul(transpose(rows), to(isOf(predicted), dtype))),
      outside: add(acc.outside, sum(outside)),
    } as Exprs<ConfusionState>
  },
  value: (acc) => {
    const outside = item(acc.outside)
    if (outside !== 0) badInput(op, `classes of ${outside} rows are not from 0 to ${k - 1}.`, 'give the number of classes: { classes }.')
    return value(acc.matrix.toArray() as number[][])
  },
})
const classes = or<number, undefined>(undefined, (x, _what, where) => wholeOf(x, 'the number of classes', where, 2))
export const confusionOptions = {
  /** How many classes there are: 2 unless given. */
  classes,
  ...thresholdOption,
  ...ignoreOption,
}
/** Options of `confusion`. */
export interface ConfusionOptions extends OptionsOf<typeof confusionOptions> {}
/**
 * The confusion matrix: entry [i][j] counts the rows of class i that are predicted as class j.
 *
 * Shapes  as accuracy.   Edge cases  NaN scores make the row of their class NaN.   Errors  BadInput from `value` if a class is out of range.   Source  scikit-learn
 *         confusion_matrix.
 * @example measured(confusion({ classes: 3 }), tensor([0, 2, 1, 1], [4], 'i32'), [0, 2, 2, 1])   // [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
 */
export const confusion = (options?: ConfusionOptions): Measure<ConfusionState, number[][], Exprs<ConfusionState>> => {
  const { classes: k = 2, ...o } = readOptions(confusionOptions, options, 'confusion')
  return matrixOf('confusion', k, o, (m) => m)
}

export const averageOptions = {
  /** How many classes there are: 2 unless given. */
  classes,
  /** 'binary': of class 1 ; 'macro': the mean over the classes that occur ; 'micro': of all rows together. 'binary' for two classes unless given, else 'macro'. */
  average: whichOf(['binary', 'macro', 'micro']),
  ...thresholdOption,
  ...ignoreOption,
}
/** Options of `precision`, `recall` and `f1`. */
export interface AverageOptions extends OptionsOf<typeof averageOptions> {}
/** A metric of right and wrong rows of a class. */
export type ClassMeasure = Measure<ConfusionState, number, Exprs<ConfusionState>>
/** Of each class the right rows, those that are wrongly taken for it, and those that are taken for another. */
const averaged =
  (op: string, ratio: (right: number, taken: number, missed: number) => readonly [number, number]) =>
  (options?: AverageOptions): ClassMeasure => {
    const { classes: k = 2, average = k === 2 ? 'binary' : 'macro', ...o } = readOptions(averageOptions, options, op)
    if (average === 'binary' && k !== 2) badInput(op, `'binary' is of 2 classes, not of ${k}.`, "give average: 'macro' or 'micro'.")
    const share = (right: number, taken: number, missed: number): number => {
      const [above, below] = ratio(right, taken, missed)
      return below === 0 ? 0 : above / below
    }
    return matrixOf(
      op,
      k,
      o,
      (m) => {
        const all = total(m.map(total))
        if (!(all > 0)) return Number.NaN
        const of = m.map((row, i) => ({ right: row[i]!, taken: total(m.map((r) => r[i]!)) - row[i]!, missed: total(row) - row[i]! }))
        if (average === 'binary') return share(of[1]!.right, of[1]!.taken, of[1]!.missed)
        if (average === 'micro') return share(total(of.map((c) => c.right)), total(of.map((c) => c.taken)), total(of.map((c) => c.missed)))
        const occur = of.filter((c) => c.right + c.taken + c.missed > 0)
        return total(occur.map((c) => share(c.right, c.taken, c.missed))) / occur.length
      },
      'higher',
    )
  }
/**
 * The share of the rows predicted as a class that belong to it: TP / (TP + FP). 0 if none is predicted as it.
 *
 * Shapes  as accuracy.   Edge cases  NaN without rows, and if a score is NaN.   Errors  as confusion.   Source  scikit-learn
 *         precision_score.
 * @example measured(precision(), [0.9, 0.8, 0.1], [1, 0, 1])   // 0.5
 */
export const precision: (options?: AverageOptions) => ClassMeasure = /*#__PURE__*/ averaged('precision', (right, taken) => [
  right,
  right + taken,
])
/**
 * The share of the rows of a class that are predicted as it: TP / (TP + FN). 0 if there are none.
 *
 * Shapes, edge cases, errors  as precision.   Source  scikit-learn recall_score.
 * @example measured(recall(), [0.9, 0.8, 0.1, 0.6], [1, 0, 1, 1])   // 0.6666666666666666
 */
export const recall: (options?: AverageOptions) => ClassMeasure = /*#__PURE__*/ averaged('recall', (right, _, missed) => [
  right,
  right + missed,
])
/**
 * The harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN). 0 if a class neither occurs nor is predicted.
 *
 * Shapes, edge cases, errors  as precision.   Source  scikit-learn f1_score.
 * @example measured(f1({ classes: 3, average: 'macro' }), tensor([0, 2, 1, 1], [4], 'i32'), [0, 2, 2, 1])   // 0.7777777777777777
 */
export const f1: (options?: AverageOptions) => ClassMeasure = /*#__PURE__*/ averaged('f1', (right, taken, missed) => [
  2 * right,
  2 * right + taken + missed,
])
