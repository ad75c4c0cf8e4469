/** Proximal operators: the minimum over u of f(u) + |u - x|^2 / (2 scale), in closed form; that of a set is its projection. */
import { integersOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { must, type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  type Arg,
  add,
  cast,
  concat,
  customRule,
  div,
  eq,
  expandDims,
  eye,
  jvp,
  matmul,
  maximum,
  minimum,
  moveaxis,
  mul,
  neg,
  segmentSum,
  slice,
  sqrt,
  square,
  sub,
  svd,
  take,
  tensor,
  transpose,
  where,
  zeros,
} from '../index.js'
import type { Unknowns } from '../solve/vectors.js'
import { amount, floatsIn, matricesIn, optional, perMatrix, perVector, vectorsIn } from './amounts.js'
import { shortening, shrinkage } from './projections.js'
import { positivePart } from './spectral.js'

/** x moved towards 0 by at most t: max(x - t, 0) - max(-x - t, 0), which is x itself where t is 0. */
const shrunk = (x: AnyExpr, t: AnyExpr): AnyExpr => sub(maximum(sub(x, t), 0), maximum(sub(neg(x), t), 0)) as AnyExpr

export const scaleOptions = {
  /** The factor of the function, which is the length of a step in `proximalGradient`: 1 unless given. */
  scale: amount(1),
}
/** Options of a proximal operator without other parameters. */
export type ScaleOptions = OptionsOf<typeof scaleOptions>
const scaleOf = (options: unknown, op: string): AnyExpr => readOptions(scaleOptions, options, op).scale

/**
 * The proximal operator of scale |x|_1, soft thresholding: sign(x) max(|x| - scale, 0).
 *
 * Shapes  scale broadcasts: a number, or one for each element.   Dtype  promoted.
 * Rule    dy = dx - sign(x) dscale where |x| > scale, and 0 where |x| < scale; at a threshold, half of it.   Source  Parikh and Boyd 2014, 6.5.2; jaxopt prox_lasso.
 * Errors  BadInput for a negative scale.
 * @example proxL1([3, -0.5, -2], { scale: 1 })   // [2, 0, -1]
 */
export const proxL1 = <const X extends Arg>(x: X, options?: ScaleOptions): Unknowns<X> => {
  const op = 'proxL1'
  return shrunk(floatsIn(x, 'x', op), scaleOf(options, op)) as unknown as Unknowns<X>
}

/**
 * The proximal operator of scale |x|_2, of whole vectors: x max(1 - scale / |x|, 0).
 *
 * Shapes  along the last axis; scale: a number or the leading axes.   Rule  of its parts; 0 where |x| < scale, and half of it where |x| = scale.
 * Source  Parikh and Boyd 2014, 6.5.1.   Errors  ShapeMismatch for a scalar; BadInput for a negative scale.
 * @example proxL2([3, 4], { scale: 1 })   // [2.4, 3.2]
 */
export const proxL2 = <const X extends Arg>(x: X, options?: ScaleOptions): Unknowns<X> => {
  const op = 'proxL2'
  const v = vectorsIn(x, op)
  return mul(v, sub(1, shrinkage(v, perVector(scaleOf(options, op))))) as unknown as Unknowns<X>
}

/**
 * The proximal operator of scale |x|^2 / 2: x / (1 + scale).
 *
 * Shapes  scale broadcasts.   Rule  dy = (dx - y dscale) / (1 + scale).   Source  Parikh and Boyd 2014, 6.1.1; jaxopt prox_ridge.
 * @example proxSquaredL2([2, -4], { scale: 1 })   // [1, -2]
 */
export const proxSquaredL2 = <const X extends Arg>(x: X, options?: ScaleOptions): Unknowns<X> => {
  const op = 'proxSquaredL2'
  return div(floatsIn(x, 'x', op), add(1, scaleOf(options, op))) as unknown as Unknowns<X>
}

export const elasticNetOptions = {
  ...scaleOptions,
  /** The factor of |x|_1: 1 unless given. */
  l1: amount(1),
  /** The factor of |x|^2 / 2: 1 unless given. */
  l2: amount(1),
}
/** Options of `proxElasticNet`. */
export type ElasticNetOptions = OptionsOf<typeof elasticNetOptions>
/**
 * The proximal operator of scale (l1 |x|_1 + l2 |x|^2 / 2): that of l1, divided by 1 + scale l2.
 *
 * Shapes  scale, l1 and l2 broadcast.   Rule  that of its parts, as `proxL1`.   Source  Zou and Hastie 2005; jaxopt prox_elastic_net, with a factor for each term.
 * @example proxElasticNet([3, -0.5], { l1: 1, l2: 1 })   // [1, 0]
 */
export const proxElasticNet = <const X extends Arg>(x: X, options?: ElasticNetOptions): Unknowns<X> => {
  const op = 'proxElasticNet'
  const { scale, l1, l2 } = readOptions(elasticNetOptions, options, op)
  return div(shrunk(floatsIn(x, 'x', op), mul(scale, l1) as AnyExpr), add(1, mul(scale, l2))) as unknown as Unknowns<X>
}

export const huberOptions = {
  ...scaleOptions,
  /** The |x| beyond which Huber's function is linear: 1 unless given. */
  delta: amount(1),
}
/** Options of `proxHuber`. */
export type HuberOptions = OptionsOf<typeof huberOptions>
/**
 * The proximal operator of scale times Huber's function, x^2 / 2 up to |x| = delta and delta (|x| - delta / 2) beyond: x / (1 + scale) where that is at most delta in size, else x - scale delta sign(x).
 *
 * Shapes  scale and delta broadcast.   Rule  of its parts; the mean of both where they meet.   Source  Parikh and Boyd 2014, 6.5.1; Huber 1964.
 * @example proxHuber([1, 4])   // [0.5, 3]
 */
export const proxHuber = <const X extends Arg>(x: X, options?: HuberOptions): Unknowns<X> => {
  const op = 'proxHuber'
  const { scale, delta } = readOptions(huberOptions, options, op)
  const y = floatsIn(x, 'x', op)
  // Moreau: the rest of x is scale times a point of [-delta, delta].
  const slope = minimum(maximum(div(y, add(1, scale)), neg(delta)), delta)
  return sub(y, mul(scale, slope)) as unknown as Unknowns<X>
}

type OfMatrix = (a: AnyExpr, t: AnyExpr) => AnyExpr
/** The same by eigenvalues, for derivatives: [[0, a], [a^T, 0]] has the singular values of a, with both signs, and half of the result in its positive part beyond t. */
const byEigenvalues: OfMatrix = (a, t) => {
  const [m, n] = [a.shape.at(-2)!, a.shape.at(-1)!]
  const block = (k: number): AnyExpr => cast(zeros([...a.shape.slice(0, -2), k, k]), a.dtype) as AnyExpr
  const rows = concat([concat([block(m), a], { axis: -1 }), concat([transpose(a), block(n)], { axis: -1 })], { axis: -2 })
  const y = positivePart(sub(rows, mul(t, eye(m + n))) as AnyExpr)
  const lead = y.shape.slice(0, -2)
  return mul(2, slice(y, [...lead.map(() => 0), 0, m], [...lead, m, m + n])) as AnyExpr
}
const ofSingularValues: OfMatrix = /*#__PURE__*/ customRule(
  (a: AnyExpr, t: AnyExpr) => {
    const { u, s, vh } = svd(a) as unknown as { u: AnyExpr; s: AnyExpr; vh: AnyExpr }
    return matmul(mul(u, maximum(sub(expandDims(s, -2), t), 0)), vh) as AnyExpr
  },
  {
    name: 'proxNuclear',
    frule: ((at: readonly [AnyExpr, AnyExpr], along: readonly [AnyExpr, AnyExpr]) => [
      ofSingularValues(...at),
      (jvp(byEigenvalues as never) as unknown as (x: unknown, dx: unknown) => readonly [AnyExpr, AnyExpr])(at, along)[1],
    ]) as never,
  },
) as never
/**
 * The proximal operator of scale times the nuclear norm, the sum of singular values: u diag(max(s - scale, 0)) v^T with x = u diag(s) v^T.
 *
 * Shapes  matrices in the last two axes; scale: a number or the leading axes.   Dtype  promoted.
 * Rule    that of `projectPSD` for [[0, x], [x^T, 0]] - scale I, to any order, equal singular values included; at s = scale, half of it.
 * Source  Cai, Candes and Shen 2010.   Errors  ShapeMismatch for fewer than two axes; BadInput for a negative scale.
 * @example proxNuclear([[3, 0], [0, 0.5]], { scale: 1 })   // [[2, 0], [0, 0]]
 */
export const proxNuclear = <const X extends Arg>(x: X, options?: ScaleOptions): Unknowns<X> => {
  const op = 'proxNuclear'
  const [a, t] = [matricesIn(x, op), perMatrix(scaleOf(options, op))]
  if (a.shape.at(-1) === 0 || a.shape.at(-2) === 0) return a as unknown as Unknowns<X>
  // A custom rule takes expressions, so that a number as scale would be f64.
  const { dtype } = add(a, t) as AnyExpr
  return ofSingularValues(cast(a, dtype) as AnyExpr, cast(t, dtype) as AnyExpr) as unknown as Unknowns<X>
}

export const groupLassoOptions = {
  ...scaleOptions,
  /** The group of each element, 0, 1, ...: a whole number for each element of the last axis. */
  groups: must<readonly number[]>(),
  /** A factor for each group, often the square root of its size: 1 unless given. */
  weights: optional,
}
/** Options of `proxGroupLasso`. */
export type GroupLassoOptions = OptionsOf<typeof groupLassoOptions>
/**
 * The proximal operator of scale times the sum over groups of weight |x_group|_2: each group by `proxL2`.
 *
 * Shapes  along the last axis; scale: a number or the leading axes; weights: one for each group.   Rule  of its parts, as `proxL2`; 0 for a group of zeros.
 * Source  Yuan and Lin 2006; jaxopt prox_group_lasso, which takes a group for each leaf.
 * Errors  BadInput unless groups has a whole number from 0 for each element, and for a negative scale.
 * @example proxGroupLasso([3, 4, 0.5], { groups: [0, 0, 1] })   // [2.4, 3.2, 0]
 */
export const proxGroupLasso = <const X extends Arg>(x: X, options: GroupLassoOptions): Unknowns<X> => {
  const op = 'proxGroupLasso'
  const { scale, groups, weights } = readOptions(groupLassoOptions, options ?? {}, op)
  const v = vectorsIn(x, op)
  const ids = integersOf(groups, 'groups', op)
  const n = v.shape.at(-1)!
  if (ids.length !== n || ids.some((id) => id < 0))
    badInput(
      op,
      `groups has ${ids.length} numbers${ids.length === n ? ', of which one is negative' : ` for ${n} elements`}.`,
      'give a group from 0 for each.',
    )
  if (n === 0) return v as unknown as Unknowns<X>
  const at = tensor(ids, [n], 'i32')
  const squares = moveaxis(segmentSum(moveaxis(square(v), -1, 0), at, ids.reduce((a, b) => Math.max(a, b), -1) + 1), 0, -1) as AnyExpr
  const none = eq(squares, 0)
  const lengths = where(none, 0, sqrt(where(none, 1, squares))) as AnyExpr
  const least = mul(perVector(scale), weights ?? 1) as AnyExpr
  return mul(v, sub(1, take(shortening(lengths, least), at, { axis: -1 }))) as unknown as Unknowns<X>
}
