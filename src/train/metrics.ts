/** Metrics that accumulate over batches: plain values `{ zero, add, value }`, as a monoid has them. */

import { badInput, badShape } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { number, type OptionsOf, or, readOptions, choice as whichOf } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  and,
  any,
  arange,
  argmax,
  cast,
  type DType,
  div,
  type Exprs,
  eq,
  evaluate,
  full,
  ge,
  gt,
  isnan,
  isTensor,
  logsumexp,
  lt,
  matmul,
  max,
  mul,
  type Operand,
  reshape,
  square,
  sub,
  sum,
  type Tensor,
  tensor,
  transpose,
  where,
} from '../index.js'
import { wholeOf } from './given.js'

/** What a metric is given: an array, nested numbers, or an expression. */
export type Rows = Operand | readonly unknown[]
/**
 * A metric that accumulates over batches. A is what it has come to so far, `Next` what `add` gives: expressions of an A where it is made of
 * operations, so that it may stand in a compiled step.
 */
export interface Measure<A, V = number, Next = A> {
  /** What it has come to before the first batch. */
  readonly zero: A
  /** With one batch more. A mask, one element a row (or for each target), leaves rows out where it is 0 or false; other numbers are weights. */
  add(acc: A | Next, predictions: Rows, targets: Rows, mask?: Rows): Next
  /** The metric of all that was added. */
  value(acc: A): V
  /** Which of two values is better. */
  readonly better?: 'higher' | 'lower'
  /** Is `add` made of operations? Then it may be compiled. */
  readonly traced: boolean
}
/** A weighted sum and the sum of the weights. */
export interface Sums {
  readonly sum: Tensor<[], 'f64'>
  readonly count: Tensor<[], 'f64'>
}
/** A metric that is a mean over rows. */
export type MeanMeasure = Measure<Sums, number, Exprs<Sums>>

const isArray = (x: unknown): x is AnyExpr =>
  isTensor(x) || (typeof x === 'object' && x !== null && (x as { _tag?: unknown })._tag === 'Expr')
const arrayIn = (x: unknown): AnyExpr => (isArray(x) ? x : tensor(x as number[])) as AnyExpr
const same = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((d, i) => d === b[i])
const shown = (shape: readonly number[]): string => `[${shape.join(', ')}]`
const to = (x: AnyExpr, dtype: DType): AnyExpr => (x.dtype === dtype ? x : cast(x, dtype))
const misfit = (op: string, y: AnyExpr, t: AnyExpr, fix: string): never =>
  badShape(op, [y.shape, t.shape], `targets ${shown(t.shape)} do not belong to predictions ${shown(y.shape)}.`, fix)

/** Weights for an array of that shape: of each row, or of each of its elements. */
const weightsIn = (mask: unknown, shape: readonly number[], dtype: DType, op: string): AnyExpr | undefined => {
  if (mask === undefined) return undefined
  const w = arrayIn(mask)
  if (!w.shape.every((d, i) => d === shape[i]))
    badShape(
      op,
      [shape, w.shape],
      `the mask ${shown(w.shape)} does not belong to targets ${shown(shape)}.`,
      'give one element for each row.',
    )
  return mul(to(reshape(w, [...w.shape, ...shape.slice(w.shape.length).map(() => 1)]), dtype), full(shape, 1, dtype))
}
const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
/** w x, and 0 where w is 0, whatever x is there. */
const weighed = (x: AnyExpr, w: AnyExpr | undefined): AnyExpr => (w === undefined ? x : where(eq(w, 0), 0, mul(w, x)))

const zeroSums = (): Sums => ({ sum: tensor(0), count: tensor(0) })
const item = (x: Tensor): number => Number(x.item())
/** A metric that is the mean of one number for each row. */
const meanOf = (
  op: string,
  better: 'higher' | 'lower',
  each: (predictions: AnyExpr, targets: AnyExpr, dtype: DType) => AnyExpr,
  last: (mean: number) => number = (x) => x,
): MeanMeasure => ({
  zero: zeroSums(),
  better,
  traced: true,
  add: (acc, predictions, targets, mask) => {
    const dtype = (acc.sum as AnyExpr).dtype
    const x = to(each(arrayIn(predictions), arrayIn(targets), dtype), dtype)
    const w = weightsIn(mask, x.shape, dtype, op)
    const count = w === undefined ? sizeOf(x.shape) : sum(w)
    return { sum: add(acc.sum, sum(weighed(x, w))), count: add(acc.count, count) } as Exprs<Sums>
  },
  value: (acc) => last(item(acc.sum) / item(acc.count)),
})

/** Which class each row is, and where that is not known: a score is NaN. */
interface Classes {
  readonly predicted: AnyExpr
  readonly actual: AnyExpr
  readonly unknown: AnyExpr
}
const flatRows = (x: AnyExpr, like: AnyExpr): AnyExpr =>
  x.shape.length === like.shape.length + 1 && x.shape.at(-1) === 1 ? reshape(x, x.shape.slice(0, -1)) : x
/** Scores [..., k] against targets [...], which may be one-hot. */
const scoresOf = (predictions: AnyExpr, targets: AnyExpr, op: string): { readonly scores: AnyExpr; readonly actual: AnyExpr } => {
  const { shape } = predictions
  const rows = shape.slice(0, -1)
  const oneHot = shape.length > 1 && same(targets.shape, shape) && shape.at(-1) !== 1
  const actual = oneHot ? argmax(targets, { axis: -1 }) : same(targets.shape, [...rows, 1]) ? reshape(targets, rows) : targets
  if (shape.length === 0 || !same(actual.shape, rows)) misfit(op, predictions, targets, `give classes ${shown(rows)}.`)
  return { scores: predictions, actual: to(actual, 'i32') }
}
const isFloat = (x: AnyExpr): boolean => x.dtype === 'f32' || x.dtype === 'f64'
const classesOf = (given: AnyExpr, wanted: AnyExpr, threshold: number, op: string): Classes => {
  const predictions = flatRows(given, wanted)
  const targets = flatRows(wanted, predictions)
  if (same(predictions.shape, targets.shape) && (predictions.shape.length < 2 || predictions.shape.at(-1) === 1 || !isFloat(predictions)))
    return isFloat(predictions)
      ? { predicted: to(gt(predictions, threshold), 'i32'), actual: to(targets, 'i32'), unknown: isnan(predictions) }
      : { predicted: to(predictions, 'i32'), actual: to(targets, 'i32'), unknown: full(predictions.shape, 0, 'bool') as AnyExpr }
  const { scores, actual } = scoresOf(predictions, targets, op)
  return { predicted: argmax(scores, { axis: -1 }), actual, unknown: any(isnan(scores), { axis: -1 }) }
}

const thresholdOption = {
  /** From where a single score is class 1: above it; 0.5 unless given, 0 for logits. */
  threshold: number(0.5),
}
export const accuracyOptions = { ...thresholdOption }
/** Options of `accuracy`. */
export interface AccuracyOptions extends OptionsOf<typeof accuracyOptions> {}
/**
 * The share of rows whose class is right. Predictions are scores [..., k], of which the largest wins (the first of equals), one score for each row, or whole numbers.
 *
 * Shapes  predictions: [..., k] or [...], targets: [...], classes or one-hot.   Edge cases  of no row NaN; NaN where a score is.   Source  scikit-learn accuracy_score.
 * @example
 * measured(accuracy(), [[0.1, 0.9], [0.8, 0.2]], [1, 1])   // 0.5
 * measured(accuracy(), [0.7, 0.2, 0.6], [1, 0, 0], [true, true, false])   // 1
 */
export const accuracy = (options?: AccuracyOptions): MeanMeasure => {
  const { threshold } = readOptions(accuracyOptions, options, 'accuracy')
  return meanOf('accuracy', 'higher', (y, t, dtype) => {
    const { predicted, actual, unknown } = classesOf(y, t, threshold, 'accuracy')
    return where(unknown, Number.NaN, to(eq(predicted, actual), dtype))
  })
}
/**
 * The share of rows whose class is among the k of the largest scores. Of equal scores the first come first, as in `accuracy`, which is k = 1.
 *
 * Shapes  predictions: [..., classes], targets: [...].   Edge cases  as accuracy.   Source  scikit-learn top_k_accuracy_score, but for ties.
 * @example measured(topKAccuracy(2), [[0.1, 0.3, 0.6], [0.5, 0.4, 0.1]], [1, 2])   // 0.5
 */
export const topKAccuracy = (k: number): MeanMeasure => {
  const most = wholeOf(k, 'k', 'topKAccuracy', 1)
  return meanOf('topKAccuracy', 'higher', (y, t, dtype) => {
    const { scores, actual } = scoresOf(y, t, 'topKAccuracy')
    const classes = arange(scores.shape.at(-1)!, 'i32') as AnyExpr
    const index = reshape(actual, [...actual.shape, 1])
    const own = sum(where(eq(index, classes), scores, 0), { axis: -1, keepdims: true })
    const before = add(to(gt(scores, own), 'i32'), to(and(eq(scores, own), lt(classes, index)), 'i32'))
    const known = and(ge(actual, 0), lt(actual, scores.shape.at(-1)!))
    const hit = and(lt(sum(before, { axis: -1 }), most), known)
    return where(any(isnan(scores), { axis: -1 }), Number.NaN, to(hit as AnyExpr, dtype))
  })
}
/**
 * The mean of (prediction - target)^2 over all numbers.
 *
 * Shapes  both alike.   Edge cases  of no number NaN.   Source  scikit-learn mean_squared_error.
 * @example measured(meanSquaredError(), [1, 3], [1, 1])   // 2
 */
export const meanSquaredError = (): MeanMeasure =>
  meanOf('meanSquaredError', 'lower', (given, t, dtype) => {
    const y = flatRows(given, t)
    const target = flatRows(t, y)
    if (!same(y.shape, target.shape)) misfit('meanSquaredError', given, t, 'give targets of the shape of the predictions.')
    return square(sub(to(y, dtype), to(target, dtype)))
  })
/**
 * exp of the mean of -log p(target), p = softmax(prediction): of logits, or of log probabilities, which are logits too.
 *
 * Shapes  predictions: [..., k], targets: [...], classes.   Edge cases  of no row NaN; NaN for a class out of range.   Source  Jelinek et al. 1977.
 * @example measured(perplexity(), [[0, 0, 0, 0], [1, 1, 1, 1]], [0, 3])   // 4
 */
export const perplexity = (): MeanMeasure =>
  meanOf(
    'perplexity',
    'lower',
    (y, t, dtype) => {
      const { scores, actual } = scoresOf(y, t, 'perplexity')
      const k = scores.shape.at(-1)!
      const logits = to(scores, dtype)
      const own = sum(where(eq(reshape(actual, [...actual.shape, 1]), arange(k, 'i32')), logits, 0), { axis: -1 })
      return where(and(ge(actual, 0), lt(actual, k)), sub(logsumexp(logits, { axis: -1 }), own), Number.NaN)
    },
    Math.exp,
  )

/** The state of `confusion`: how many rows of each class are taken for each, and how many of a class out of range. */
export interface ConfusionState {
  readonly matrix: Tensor<[number, number], 'f64'>
  readonly outside: Tensor<[], 'f64'>
}
const matrixOf = <V>(
  op: string,
  k: number,
  threshold: number,
  value: (matrix: readonly (readonly number[])[]) => V,
  better?: 'higher',
): Measure<ConfusionState, V, Exprs<ConfusionState>> => ({
  zero: { matrix: tensor(0, [k, k]) as ConfusionState['matrix'], outside: tensor(0) },
  ...(better !== undefined && { better }),
  traced: true,
  add: (acc, predictions, targets, mask) => {
    const dtype = (acc.matrix as AnyExpr).dtype
    const { predicted, actual, unknown } = classesOf(arrayIn(predictions), arrayIn(targets), threshold, op)
    const n = sizeOf(actual.shape)
    const given = weightsIn(mask, actual.shape, dtype, op)
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
    return value(acc.matrix.toArray() as unknown as readonly (readonly number[])[])
  },
})
const classes = or<number, undefined>(undefined, (x, _what, where) => wholeOf(x, 'the number of classes', where, 2))
export const confusionOptions = {
  /** How many classes there are: 2 unless given. */
  classes,
  ...thresholdOption,
}
/** Options of `confusion`. */
export interface ConfusionOptions extends OptionsOf<typeof confusionOptions> {}
/**
 * How many rows of class i are taken for class j: the entry [i][j].
 *
 * Shapes  as accuracy.   Edge cases  NaN scores make the row of their class NaN.   Errors  BadInput of `value` where a class is out of range.   Source  scikit-learn confusion_matrix.
 * @example measured(confusion({ classes: 3 }), tensor([0, 2, 1, 1], [4], 'i32'), [0, 2, 2, 1])   // [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
 */
export const confusion = (options?: ConfusionOptions): Measure<ConfusionState, readonly (readonly number[])[], Exprs<ConfusionState>> => {
  const { classes: k = 2, threshold } = readOptions(confusionOptions, options, 'confusion')
  return matrixOf('confusion', k, threshold, (m) => m)
}

export const averageOptions = {
  /** How many classes there are: 2 unless given. */
  classes,
  /** 'binary': of class 1 ; 'macro': the mean over the classes that occur ; 'micro': of all rows together. 'binary' of two classes unless given, else 'macro'. */
  average: whichOf(['binary', 'macro', 'micro']),
  ...thresholdOption,
}
/** Options of `precision`, `recall` and `f1`. */
export interface AverageOptions extends OptionsOf<typeof averageOptions> {}
/** A metric of right and wrong rows of a class. */
export type ClassMeasure = Measure<ConfusionState, number, Exprs<ConfusionState>>
const total = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0)
/** Of each class the right rows, those that are wrongly taken for it, and those that are taken for another. */
const averaged =
  (op: string, ratio: (right: number, taken: number, missed: number) => readonly [number, number]) =>
  (options?: AverageOptions): ClassMeasure => {
    const { classes: k = 2, average = k === 2 ? 'binary' : 'macro', threshold } = readOptions(averageOptions, options, op)
    if (average === 'binary' && k !== 2) badInput(op, `'binary' is of 2 classes, not of ${k}.`, "give average: 'macro' or 'micro'.")
    const share = (right: number, taken: number, missed: number): number => {
      const [above, below] = ratio(right, taken, missed)
      return below === 0 ? 0 : above / below
    }
    return matrixOf(
      op,
      k,
      threshold,
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
 * The share of the rows taken for a class that are of it: TP / (TP + FP). 0 where none is taken for it.
 *
 * Shapes  as accuracy.   Edge cases  of no row NaN; NaN where a score is.   Errors  as confusion.   Source  scikit-learn precision_score.
 * @example measured(precision(), [0.9, 0.8, 0.1], [1, 0, 1])   // 0.5
 */
export const precision: (options?: AverageOptions) => ClassMeasure = /*#__PURE__*/ averaged('precision', (right, taken) => [
  right,
  right + taken,
])
/**
 * The share of the rows of a class that are taken for it: TP / (TP + FN). 0 where there is none.
 *
 * Shapes, edge cases, errors  as precision.   Source  scikit-learn recall_score.
 * @example measured(recall(), [0.9, 0.8, 0.1, 0.6], [1, 0, 1, 1])   // 0.6666666666666666
 */
export const recall: (options?: AverageOptions) => ClassMeasure = /*#__PURE__*/ averaged('recall', (right, _, missed) => [
  right,
  right + missed,
])
/**
 * The harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN). 0 where there is nothing of a class.
 *
 * Shapes, edge cases, errors  as precision.   Source  scikit-learn f1_score.
 * @example measured(f1({ classes: 3, average: 'macro' }), tensor([0, 2, 1, 1], [4], 'i32'), [0, 2, 2, 1])   // 0.7777777777777777
 */
export const f1: (options?: AverageOptions) => ClassMeasure = /*#__PURE__*/ averaged('f1', (right, taken, missed) => [
  2 * right,
  2 * right + taken + missed,
])

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
 * Batches are merged by their means (Chan, Golub and LeVeque 1983), so that nothing cancels.
 * Shapes  both [..., outputs], or [...] of one.   Edge cases  of fewer than two rows NaN; of a constant target 1 where all is right, else 0.   Source  scikit-learn r2_score.
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
 * The area under the ROC curve: how likely a row of class 1 has a higher score than one of class 0, ties half. Exact: it keeps all scores and sorts them at the end.
 *
 * Shapes  predictions: one score for each row (probabilities or logits), targets: 0 or 1.   Edge cases  of one class alone, or none, NaN; NaN where a score is.
 * Errors  BadInput for expressions (it is no part of a compiled step), and targets that are neither 0 nor 1.   Source  Hanley and McNeil 1982; scikit-learn roc_auc_score.
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
        `targets ${shown(t.shape)} do not belong to predictions ${shown(y.shape)}.`,
        'give one score for each row.',
      )
    const w = mask === undefined ? new Float64Array(rows).fill(1) : numbersIn(mask).data
    if (w.length !== rows)
      badShape('auc', [t.shape, [w.length]], `the mask has ${w.length} elements for ${rows} rows.`, 'give one for each row.')
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

/**
 * A metric of one batch: `value(add(zero, predictions, targets, mask))`.
 *
 * @example measured(accuracy(), [[2, 1], [0, 3]], [0, 0])   // 0.5
 */
export const measured = <A, V, Next>(measure: Measure<A, V, Next>, predictions: Rows, targets: Rows, mask?: Rows): V =>
  reading('measured', () => {
    const metric = measureIn(measure, 'measured')
    const acc = metric.add(metric.zero, predictions, targets, mask)
    return metric.value(metric.traced ? evaluate(acc as never) : acc) as V
  })
/** A metric, checked. */
export const measureIn = (given: unknown, where: string): Measure<unknown, unknown, unknown> => {
  const m = given as Partial<Measure<unknown, unknown, unknown>> | null | undefined
  return typeof m === 'object' &&
    m !== null &&
    typeof m.add === 'function' &&
    typeof m.value === 'function' &&
    typeof m.traced === 'boolean'
    ? (given as Measure<unknown, unknown, unknown>)
    : badInput(where, 'what was given is no metric.', 'give what accuracy(), f1() ... give, or { zero, add, value, traced }.')
}
