/** Projections onto convex sets: the nearest point of the set, as compositions of operations, so that they are differentiated and batched like any other. */
import { badShape } from '../core/errors/explain.js'
import { type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  type Arg,
  abs,
  add,
  arange,
  cast,
  concat,
  cumsum,
  div,
  eq,
  expandDims,
  gt,
  isnan,
  lstsq,
  lt,
  matmul,
  maximum,
  minimum,
  mul,
  neg,
  norm,
  or,
  reshape,
  sign,
  slice,
  sort,
  stopGradient,
  sub,
  sum,
  transpose,
  where,
} from '../index.js'
import type { Unknowns } from '../solve/vectors.js'
import { amount, floatsIn, given, matricesIn, optional, perVector, vectorsIn } from './amounts.js'
import { positivePart } from './spectral.js'

const along = { axis: -1, keepdims: true } as const
/** Sums of products along the last axis, which stays. */
const inner = (a: AnyExpr, b: AnyExpr): AnyExpr => sum(mul(a, b), along) as AnyExpr
/** x in [lower, upper]; where the bounds are equal it is a constant, and where they cross there is no such point. */
const between = (x: AnyExpr, lower: AnyExpr, upper: AnyExpr): AnyExpr => {
  const inside = minimum(maximum(x, lower), upper)
  const constant = where(isnan(x), x, div(add(lower, upper), 2))
  return where(lt(lower, upper), inside, where(eq(lower, upper), constant, Number.NaN)) as AnyExpr
}

export const radiusOptions = {
  /** The size of the set: a number, or an array with one for each vector; 1 unless given. */
  radius: amount(1),
}
/** Options of a set with a size. */
export type RadiusOptions = OptionsOf<typeof radiusOptions>
const radiusOf = (options: unknown, op: string): AnyExpr => readOptions(radiusOptions, options, op).radius

/**
 * The point u - theta, cut off at 0, whose sum is r. theta is found by sorting; its derivative is that of the mean over the elements above it, and an element that is equal to it
 * has half of a say, as at a tie of `maximum`.
 */
const ontoSimplex = (u: AnyExpr, r: AnyExpr): AnyExpr => {
  const n = u.shape.at(-1)!
  if (n === 0) return u
  const fixed = stopGradient(u) as AnyExpr
  const sorted = sort(fixed, { descending: true }) as AnyExpr
  const surplus = sub(cumsum(sorted), stopGradient(r)) as AnyExpr
  const count = cast(arange(1, n + 1), u.dtype as 'f64') as AnyExpr
  const above = maximum(1, sum(where(gt(mul(sorted, count), surplus), 1, 0), along))
  const theta = div(sum(where(eq(count, above), surplus, 0), along), above) as AnyExpr
  const tied = eq(fixed, theta) as AnyExpr
  // What is neither above, below nor equal is NaN, and so is all.
  const weight = where(gt(fixed, theta), 1, where(lt(fixed, theta), 0, where(tied, 0.5, Number.NaN))) as AnyExpr
  const mean = div(sub(sum(where(gt(weight, 0), mul(weight, u), 0), along), r), sum(weight, along)) as AnyExpr
  const over = sub(u, mean) as AnyExpr
  const onSimplex = maximum(where(tied, sub(over, stopGradient(over)), over), 0) as AnyExpr
  // A simplex that is a point: its elements share r, and u has no say.
  const shared = mul(r, div(where(tied, 1, 0), maximum(1, sum(where(tied, 1, 0), along))))
  return where(eq(r, 0), where(isnan(mean), mean, shared), onSimplex) as AnyExpr
}

/**
 * Projection onto the simplex: the nearest point without negative elements whose sum is `radius` (1 unless given).
 *
 * Shapes  along the last axis; radius: a number or the leading axes.   Dtype  f32 stays f32.
 * Rule    dy = dx - mean(dx) over the elements that are not 0, and 0 elsewhere; an element at the threshold counts by half. NaN for a vector with NaN.
 * Source  Held, Wolfe and Crowder 1974; by sorting. jaxopt projection_simplex.
 * Errors  ShapeMismatch for a scalar; BadInput for a negative radius.
 * @example
 * projectSimplex([0.5, 0.2, 1])             // [0.25, 0, 0.75]
 * projectSimplex([3, 1], { radius: 4 })     // [3, 1]
 */
export const projectSimplex = <const X extends Arg>(x: X, options?: RadiusOptions): Unknowns<X> => {
  const op = 'projectSimplex'
  return ontoSimplex(vectorsIn(x, op), perVector(radiusOf(options, op))) as unknown as Unknowns<X>
}

export const boxOptions = {
  /** The lower bound of each element: a number or an array that broadcasts; no bound unless given. */
  lower: optional,
  /** The upper bound of each element: a number or an array that broadcasts; no bound unless given. */
  upper: optional,
}
/** Options of `projectBox`. */
export type BoxOptions = OptionsOf<typeof boxOptions>
/**
 * Projection onto a box: each element of the result is the number in [lower, upper] that is nearest to x's.
 *
 * Shapes  all broadcast.   Dtype  promoted.   Rule  inside, the cotangent passes to x; at a bound, half of it passes to x and half to the bound. NaN where lower is above upper.
 * Source  jaxopt projection_box; as `clamp`, with bounds by name.
 * @example projectBox([-1, 0.5, 3], { lower: 0, upper: [1, 1, 2] })   // [0, 0.5, 2]
 */
export const projectBox = <const X extends Arg>(x: X, options?: BoxOptions): Unknowns<X> => {
  const op = 'projectBox'
  const { lower, upper } = readOptions(boxOptions, options, op)
  const y = floatsIn(x, 'x', op)
  const at =
    lower === undefined ? (upper === undefined ? y : minimum(y, upper)) : upper === undefined ? maximum(y, lower) : between(y, lower, upper)
  return at as unknown as Unknowns<X>
}

/**
 * Projection onto the points without negative elements: max(x, 0).
 *
 * Rule  the cotangent passes where x is positive; at 0, half of it passes.   Source  jaxopt projection_non_negative.
 * @example projectNonNegative([-1, 2])   // [0, 2]
 */
export const projectNonNegative = <const X extends Arg>(x: X): Unknowns<X> =>
  maximum(floatsIn(x, 'x', 'projectNonNegative'), 0) as unknown as Unknowns<X>

/**
 * Projection onto the ball of the norm |x|_1: the nearest point whose absolute values have a sum of at most `radius` (1 unless given).
 *
 * Shapes  along the last axis.   Rule  outside, that of `projectSimplex` on the absolute values; inside, dx; on the sphere, the mean of the two.
 * Source  Duchi et al. 2008. jaxopt projection_l1_ball.   Errors  as `projectSimplex`.
 * @example
 * projectL1Ball([3, -1])               // [1, 0]
 * projectL1Ball([0.5, -0.25])          // [0.5, -0.25]
 */
export const projectL1Ball = <const X extends Arg>(x: X, options?: RadiusOptions): Unknowns<X> => {
  const op = 'projectL1Ball'
  const [v, r] = [vectorsIn(x, op), perVector(radiusOf(options, op))]
  const size = abs(v) as AnyExpr
  const total = sum(size, along) as AnyExpr
  const outside = mul(sign(v), ontoSimplex(size, r))
  const onSphere = where(or(gt(total, r), eq(r, 0)), outside, div(add(v, outside), 2))
  return where(lt(total, r), v, onSphere) as unknown as Unknowns<X>
}

/** By what vectors of these lengths are multiplied, so that they are no longer than r: r / max(length, r), and 0 where both are 0. */
export const shortening = (lengths: AnyExpr, r: AnyExpr): AnyExpr => {
  const most = maximum(lengths, r) as AnyExpr
  return div(r, where(eq(most, 0), 1, most)) as AnyExpr
}
export const shrinkage = (x: AnyExpr, r: AnyExpr): AnyExpr => shortening(norm(x, along) as AnyExpr, r)
/**
 * Projection onto the ball of the norm |x|_2, of length at most `radius` (1 unless given): x radius / max(|x|, radius).
 *
 * Shapes  along the last axis.   Rule  inside, dx; outside, the part of dx that is orthogonal to x, times radius / |x|; on the sphere, the mean of the two.
 * Source  jaxopt projection_l2_ball.   Errors  ShapeMismatch for a scalar; BadInput for a negative radius.
 * @example projectL2Ball([3, 4])   // [0.6, 0.8]
 */
export const projectL2Ball = <const X extends Arg>(x: X, options?: RadiusOptions): Unknowns<X> => {
  const op = 'projectL2Ball'
  const v = vectorsIn(x, op)
  return mul(v, shrinkage(v, perVector(radiusOf(options, op)))) as unknown as Unknowns<X>
}

/**
 * Projection onto the ball of the norm max |x|: each element between -radius and radius (1 unless given).
 *
 * Shapes  along the last axis.   Rule  as `projectBox`.   Source  jaxopt projection_linf_ball.
 * @example projectLInfBall([3, -0.5, -2])   // [1, -0.5, -1]
 */
export const projectLInfBall = <const X extends Arg>(x: X, options?: RadiusOptions): Unknowns<X> => {
  const op = 'projectLInfBall'
  const [v, r] = [vectorsIn(x, op), perVector(radiusOf(options, op))]
  return between(v, neg(r) as AnyExpr, r) as unknown as Unknowns<X>
}

export const planeOptions = {
  /** The normal vector of the plane: an array that broadcasts with x. */
  normal: given,
  /** The inner product of the normal with the plane's points: a number, or an array with one for each vector. */
  offset: given,
}
/** Options of `projectHyperplane` and `projectHalfspace`. */
export type PlaneOptions = OptionsOf<typeof planeOptions>
const plane = (x: unknown, options: unknown, op: string): { readonly v: AnyExpr; readonly normal: AnyExpr; readonly over: AnyExpr } => {
  const { normal, offset } = readOptions(planeOptions, options ?? {}, op)
  const [v, a] = [vectorsIn(x, op), vectorsIn(normal, op)]
  return { v, normal: div(a, inner(a, a)) as AnyExpr, over: sub(inner(a, v), perVector(offset)) as AnyExpr }
}
/**
 * Projection onto the hyperplane normal x = offset: x - normal (normal x - offset) / |normal|^2.
 *
 * Shapes  along the last axis.   Rule  of its parts, in x, normal and offset; NaN for a normal of zeros.   Source  jaxopt projection_hyperplane.
 * @example projectHyperplane([1, 2], { normal: [1, 1], offset: 1 })   // [0, 1]
 */
export const projectHyperplane = <const X extends Arg>(x: X, options: PlaneOptions): Unknowns<X> => {
  const { v, normal, over } = plane(x, options, 'projectHyperplane')
  return sub(v, mul(normal, over)) as unknown as Unknowns<X>
}
/**
 * Projection onto the halfspace normal x <= offset.
 *
 * Shapes  along the last axis.   Rule  inside, dx; outside, that of `projectHyperplane`; on the plane, the mean of the two.   Source  jaxopt projection_halfspace.
 * @example projectHalfspace([[1, 2], [0, 0]], { normal: [1, 1], offset: 1 })   // [[0, 1], [0, 0]]
 */
export const projectHalfspace = <const X extends Arg>(x: X, options: PlaneOptions): Unknowns<X> => {
  const { v, normal, over } = plane(x, options, 'projectHalfspace')
  return sub(v, mul(normal, maximum(over, 0))) as unknown as Unknowns<X>
}

export const affineOptions = {
  /** The matrix of the equations: [m, n]. */
  A: given,
  /** Their right sides: [m]. */
  b: given,
}
/** Options of `projectAffine`. */
export type AffineOptions = OptionsOf<typeof affineOptions>
/**
 * Projection onto the solutions of A x = b: x - A^+ (A x - b), by `lstsq`. If the equations have no solution, onto the points with the least |A x - b|.
 *
 * Shapes  x: [..., n], A: [m, n], b: [m].   Rule  of its parts, in x, A and b, where the rank of A stays the same.   Source  jaxopt projection_affine_set.
 * Errors  ShapeMismatch if the shapes do not fit.
 * @example projectAffine([1, 1, 1], { A: [[1, 1, 0]], b: [1] })   // [0.5, 0.5, 1]
 */
export const projectAffine = <const X extends Arg>(x: X, options: AffineOptions): Unknowns<X> => {
  const op = 'projectAffine'
  const { A, b } = readOptions(affineOptions, options ?? {}, op)
  const v = vectorsIn(x, op)
  const n = v.shape.at(-1)!
  if (A.shape.length !== 2 || A.shape[1] !== n || b.shape.length !== 1 || b.shape[0] !== A.shape[0])
    badShape(
      op,
      [A.shape, b.shape, v.shape],
      `A is [${A.shape.join(', ')}], b is [${b.shape.join(', ')}] and x is [${v.shape.join(', ')}].`,
      'give A [m, n], b [m] and x [..., n].',
    )
  const columns = transpose(reshape(v, [-1, n])) as AnyExpr
  const away = lstsq(A, sub(matmul(A, columns), expandDims(b, -1))) as AnyExpr
  return sub(v, reshape(transpose(away), v.shape)) as unknown as Unknowns<X>
}

/**
 * Projection onto the symmetric matrices without negative eigenvalues: v diag(max(w, 0)) v^T with a = v diag(w) v^T.
 *
 * Shapes  matrices in the last two axes; a is read as (a + a^T) / 2.   Dtype  f32 stays f32.
 * Rule    dy = v (L o v^T da v) v^T, L_ij = (max(w_i, 0) + max(w_j, 0)) / (|w_i| + |w_j|), and a half where both are 0; to any order, equal eigenvalues included.
 * Source  Higham 1988; Bhatia, Matrix Analysis, V.3.   Errors  ShapeMismatch for matrices that are not square.
 * @example projectPSD([[1, 2], [2, 1]])   // [[1.5, 1.5], [1.5, 1.5]]
 */
export const projectPSD = <const X extends Arg>(x: X): Unknowns<X> => {
  const op = 'projectPSD'
  const a = matricesIn(x, op)
  if (a.shape.at(-1) !== a.shape.at(-2)) badShape(op, [a.shape], `x is [${a.shape.join(', ')}].`, 'give square matrices.')
  return positivePart(div(add(a, transpose(a)), 2) as AnyExpr) as unknown as Unknowns<X>
}

/**
 * Projection onto the second-order cone |v| <= t of vectors (t, v), where t is the first element.
 *
 * Shapes  along the last axis, at least one element.   Rule  inside, dx; in the polar cone, 0; on their boundaries, the mean of both sides; at 0, half of dx.
 * Source  Fukushima, Luo and Tseng 2001, 3.3.   Errors  ShapeMismatch for a scalar or an empty vector.
 * @example projectSecondOrderCone([1, 3, 0])   // [2, 2, 0]
 */
export const projectSecondOrderCone = <const X extends Arg>(x: X): Unknowns<X> => {
  const op = 'projectSecondOrderCone'
  const y = vectorsIn(x, op, 1)
  const zeros = y.shape.map(() => 0)
  const head = [...y.shape.slice(0, -1), 1]
  const [t, v] = [slice(y, zeros, head), slice(y, [...zeros.slice(1), 1], y.shape)] as [AnyExpr, AnyExpr]
  const length = norm(v, along) as AnyExpr
  // The parts of x along (1, v / |v|) and (1, -v / |v|), each cut off at 0.
  const [a, b] = [maximum(add(t, length), 0), maximum(sub(t, length), 0)]
  const still = eq(length, 0)
  const onBoundary = concat([div(add(a, b), 2), mul(v, where(still, 0.5, div(sub(a, b), mul(2, where(still, 1, length)))))], { axis: -1 })
  return where(lt(length, abs(t)), where(gt(t, 0), y, 0), onBoundary) as unknown as Unknowns<X>
}
