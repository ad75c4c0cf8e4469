/** Metrics that accumulate over batches: plain values `{ zero, add, value }`, as a monoid has them; and what they are made of. */

import { badInput, badShape } from '../core/errors/explain.js'
import { holds, reading } from '../core/errors/language.js'
import {
  type AnyExpr,
  add,
  cast,
  type DType,
  type Expr,
  type Exprs,
  eq,
  evaluate,
  full,
  isExpr,
  isTensor,
  mul,
  reshape,
  sum,
  type Tensor,
  tensor,
  where,
} from '../index.js'

/** What a metric is given: an array, nested numbers, or an expression. */
export type Rows = Expr | readonly unknown[]
/**
 * A metric that accumulates over batches, one of your own too. A is its running state, `Next` the result of `add`: expressions of an A if it consists
 * of operations, so that it may be part of a compiled step.
 */
export interface Measure<A, V = number, Next = A> {
  /** Its state before the first batch. */
  readonly zero: A
  /**
   * With one batch more: what the model gave, the targets and, where there is one, the mask. A mask, one element a row (or for each target), leaves
   * rows out where it is 0 or false; other numbers are weights.
   */
  add(acc: A | Next, predictions: Rows, targets: Rows, mask?: Rows): Next
  /** The metric of all that was added. */
  value(acc: A): V
  /** Which of two values is better, the lower one unless given: `fit` asks where it monitors the metric. */
  readonly better?: 'higher' | 'lower'
  /** Is `add` made of operations, so that it may be compiled? True unless given; false if it reads numbers, such as a tensor's `data`. */
  readonly traced?: boolean
}
/** A weighted sum and the sum of the weights. */
export interface Sums {
  readonly sum: Tensor<[], 'f64'>
  readonly count: Tensor<[], 'f64'>
}
/** A metric that is a mean over rows. */
export type MeanMeasure = Measure<Sums, number, Exprs<Sums>>

const isArray = (x: unknown): x is AnyExpr => isTensor(x) || isExpr(x)
export const arrayIn = (x: unknown): AnyExpr => (isArray(x) ? x : tensor(x as number[])) as AnyExpr
export const same = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((d, i) => d === b[i])
export const shown = (shape: readonly number[]): string => `[${shape.join(', ')}]`
export const to = (x: AnyExpr, dtype: DType): AnyExpr => (x.dtype === dtype ? x : cast(x, dtype))
export const misfit = (op: string, y: AnyExpr, t: AnyExpr, fix: string): never =>
  badShape(op, [y.shape, t.shape], `targets ${shown(t.shape)} do not fit predictions ${shown(y.shape)}.`, fix)

/** Weights for an array of that shape: of each row, or of each of its elements. */
export const weightsIn = (mask: unknown, shape: readonly number[], dtype: DType, op: string): AnyExpr | undefined => {
  if (mask === undefined) return undefined
  const given = arrayIn(mask)
  const more = given.shape.slice(shape.length)
  const w = more.length > 0 && more.every((d) => d === 1) ? (reshape(given, given.shape.slice(0, shape.length)) as AnyExpr) : given
  if (!w.shape.every((d, i) => d === shape[i]))
    badShape(op, [shape, w.shape], `the mask ${shown(w.shape)} does not fit targets ${shown(shape)}.`, 'give one element for each row.')
  return mul(to(reshape(w, [...w.shape, ...shape.slice(w.shape.length).map(() => 1)]), dtype), full(shape, 1, dtype))
}
export const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
/** w x, and 0 where w is 0, whatever x is there. */
export const weighed = (x: AnyExpr, w: AnyExpr | undefined): AnyExpr => (w === undefined ? x : where(eq(w, 0), 0, mul(w, x)))

/** Without a last axis of 1 that the other has not. */
export const flatRows = (x: AnyExpr, like: AnyExpr): AnyExpr =>
  x.shape.length === like.shape.length + 1 && x.shape.at(-1) === 1 ? reshape(x, x.shape.slice(0, -1)) : x
const zeroSums = (): Sums => ({ sum: tensor(0), count: tensor(0) })
/** The sum of a list. */
export const total = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0)
export const item = (x: Tensor): number => Number(x.item())
/** Weights w (1 unless given) of the rows that are kept, and 0 of the others. */
export const kept = (w: AnyExpr | undefined, keep: AnyExpr | undefined, dtype: DType): AnyExpr | undefined =>
  keep === undefined ? w : (where(keep, w ?? full([], 1, dtype), 0) as AnyExpr)
/** One number for each row, and which rows count (all unless given). */
export interface Each {
  readonly each: AnyExpr
  readonly keep?: AnyExpr | undefined
}
/** A metric that is the mean of one number for each row. */
export const meanOf = (
  op: string,
  better: 'higher' | 'lower',
  rows: (predictions: AnyExpr, targets: AnyExpr, dtype: DType) => Each,
  last: (mean: number) => number = (x) => x,
): MeanMeasure => ({
  zero: zeroSums(),
  better,
  traced: true,
  add: (acc, predictions, targets, mask) => {
    const dtype = (acc.sum as AnyExpr).dtype
    const { each, keep } = rows(arrayIn(predictions), arrayIn(targets), dtype)
    const x = to(each, dtype)
    const w = kept(weightsIn(mask, x.shape, dtype, op), keep, dtype)
    const count = w === undefined ? sizeOf(x.shape) : sum(w)
    return { sum: add(acc.sum, sum(weighed(x, w))), count: add(acc.count, count) } as Exprs<Sums>
  },
  value: (acc) => last(item(acc.sum) / item(acc.count)),
})

/**
 * A metric of one batch: `value(add(zero, predictions, targets, mask))`, a number, or of `confusion` nested arrays of them.
 *
 * @example measured(accuracy(), [[2, 1], [0, 3]], [0, 0])   // 0.5
 */
export const measured = <A, V, Next>(measure: Measure<A, V, Next>, predictions: Rows, targets: Rows, mask?: Rows): V =>
  reading('measured', () => {
    const metric = measureIn(measure, 'measured')
    const acc = metric.add(metric.zero, predictions, targets, mask)
    return metric.value(isTraced(metric) ? evaluate(acc as never) : acc) as V
  })
/** Is its `add` made of operations? */
export const isTraced = (m: { readonly traced?: boolean }): boolean => m.traced !== false
/** A metric, checked. */
export const measureIn = (given: unknown, where: string): Measure<unknown, unknown, unknown> => {
  const m = given as Measure<unknown, unknown, unknown>
  const isOne = (): boolean =>
    typeof m.add === 'function' &&
    typeof m.value === 'function' &&
    (m.traced === undefined || typeof m.traced === 'boolean') &&
    (m.better === undefined || m.better === 'higher' || m.better === 'lower')
  return holds(isOne)
    ? m
    : badInput(where, 'the argument is not a metric.', 'give what accuracy(), f1() ... give, or { zero, add, value }.')
}
