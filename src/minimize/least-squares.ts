/** `leastSquares`: residuals of a tree, their squares or a robust loss of them. */
import { functionOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { choice, type OptionsOf, or, type ReadOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, compile, f64, fn, jacfwd, jacrev, type Tensor, tensor } from '../index.js'
import { positiveOf } from '../solve/options.js'
import type { ArrayTree } from '../solve/vectors.js'
import { lazily } from './lazily.js'
import { factor, type Linearised, levenbergMarquardtMethod, type SquaresEnded } from './levenberg-marquardt.js'
import { losses, type Rho } from './loss.js'
import { type Point, pointOf } from './objective.js'
import { driverOptions, limitsOf, type Reason, type StepInfo } from './result.js'
import { flatResult } from './trees.js'
import type { Found, Inside } from './types.js'

export const leastSquaresOptions = {
  /** 'squares' unless given; 'huber', 'softL1', 'cauchy' and 'arctan' grow slower, so that outliers pull less. */
  loss: choice(['squares', 'huber', 'softL1', 'cauchy', 'arctan'], 'squares'),
  /** The size of a residual that counts as large, for a robust loss: 1 unless given. */
  scale: or<number, 1>(1, positiveOf),
  ...driverOptions,
}
type Untyped = OptionsOf<typeof leastSquaresOptions>
/** Options of `leastSquares`. */
export interface LeastSquaresOptions<X> extends Omit<Untyped, 'onStep'> {
  /** Called after each step; it ends the search by returning false. */
  readonly onStep?: ((info: StepInfo<X>) => unknown) | undefined
}
/** What `leastSquares` returns. */
export interface LeastSquares<X> {
  readonly x: Found<X>
  /** Half of the sum of squares, or of the loss. */
  readonly value: number
  readonly converged: boolean
  readonly reason: Reason
  /** Steps that were tried. */
  readonly steps: number
  /** Steps that were taken. */
  readonly accepted: number
  /** The greatest cosine of the angles between the residuals and the columns of their Jacobian. With a robust loss, both are weighted. */
  readonly gradient: number
  readonly evaluations: { readonly residuals: number; readonly jacobians: number }
  readonly history: readonly number[]
  /** The residuals at x. */
  readonly residuals: Tensor<[number], 'f64'>
  /** Their Jacobian: a row for each residual, a column for each number of x. */
  readonly jacobian: Tensor<[number, number], 'f64'>
  /**
   * The covariance of x by the linear theory, s^2 (J^T J)^-1, where s^2 is the sum of squares over m - n. With a robust loss, each square and each row of J is weighted by the slope of the loss.
   * It is NaN if the Jacobian does not have full rank, or if there are not more residuals than numbers in x.
   */
  readonly covariance: Tensor<[number, number], 'f64'>
  /** The standard errors of x: the square roots of the covariance's diagonal. */
  readonly errors: Found<X>
}

/** s^2 (J^T J)^-1 by R: NaN where that has not full rank. */
export const covarianceOf = (jacobian: Float64Array, m: number, n: number, variance: number): Float64Array => {
  const { r, order, rank } = factor(Float64Array.from(jacobian), new Float64Array(m), m, n)
  const out = new Float64Array(n * n)
  if (rank < n) return out.fill(Number.NaN)
  // R^-1, column by column
  const inverse = new Float64Array(n * n)
  for (let j = 0; j < n; j++)
    for (let i = j; i >= 0; i--) {
      let v = i === j ? 1 : 0
      for (let k = i + 1; k <= j; k++) v -= r[i * n + k]! * inverse[k * n + j]!
      inverse[i * n + j] = v / r[i * n + i]!
    }
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let v = 0
      for (let k = Math.max(i, j); k < n; k++) v += inverse[i * n + k]! * inverse[j * n + k]!
      out[order[i]! * n + order[j]!] = v * variance
    }
  return out
}

/** What is compiled: residuals of a vector, and their Jacobian. */
export interface Residuals {
  /** The number of residuals. */
  readonly m: () => number
  readonly residuals: (x: Float64Array) => Float64Array
  readonly linearised: (x: Float64Array) => Linearised
  readonly evaluations: () => { readonly residuals: number; readonly jacobians: number }
  readonly dispose: () => void
}
/** Residuals compiled. */
const residualsOf = (f: (x: unknown) => unknown, point: Point, op: string): Residuals => {
  const n = point.start.length
  const traced = (x: AnyExpr): AnyExpr => flatResult(f(point.inside(x)), op, 'the function')
  const counts = { residuals: 0, jacobians: 0 }
  const alone = lazily(() => compile(fn({ x: f64(n) }, ({ x }) => traced(x as AnyExpr) as never)) as unknown as Run<Tensor>)
  const m = lazily(() => alone()({ x: point.start }).shape[0]!)
  const both = lazily(() => {
    const jacobian = (n <= m() ? jacfwd : jacrev) as unknown as (g: (x: AnyExpr) => AnyExpr) => (x: AnyExpr) => AnyExpr
    return compile(
      fn({ x: f64(n) }, ({ x }) => ({ r: traced(x as AnyExpr) as never, j: jacobian(traced)(x as AnyExpr) as never })),
    ) as unknown as Run<{ r: Tensor; j: Tensor }>
  })
  return {
    m,
    residuals: (x) => {
      counts.residuals++
      return alone()({ x }).data as Float64Array
    },
    linearised: (x) => {
      counts.jacobians++
      const { r, j } = both()({ x })
      const wrong = counts.jacobians === 1 ? j.data.find((v) => !Number.isFinite(v)) : undefined
      if (wrong !== undefined) badInput(op, `the Jacobian at x0 has ${wrong}.`, 'begin where the residuals are differentiable.')
      return { residuals: Float64Array.from(r.data, Number), jacobian: Float64Array.from(j.data, Number) }
    },
    evaluations: () => ({ ...counts }),
    dispose: () => {
      for (const made of [alone, both]) made.made()?.dispose()
    },
  }
}
interface Run<T> {
  (args: unknown): T
  dispose(): void
}

/** Residuals and Jacobian, each row scaled as rho at its residual says. */
const scaledBy =
  (
    rho: Rho,
    scale: number,
    m: number,
    n: number,
    factors: (z: number, ...at: ReturnType<Rho>) => readonly [residual: number, row: number],
  ) =>
  ({ residuals, jacobian }: Linearised): Linearised => {
    const r = Float64Array.from(residuals)
    const j = Float64Array.from(jacobian)
    for (let i = 0; i < m; i++) {
      const z = (r[i]! / scale) ** 2
      const [residual, row] = factors(z, ...rho(z))
      r[i] = r[i]! * residual
      for (let k = 0; k < n; k++) j[i * n + k] = j[i * n + k]! * row
    }
    return { residuals: r, jacobian: j }
  }
/** Scales so that half of the sum of squares has the gradient of the loss, and nearly its Hessian; a curvature that is negative, or nearly 0, counts as 1e-4 of the slope.   Source  Triggs et al. 2000. */
const asLoss = (z: number, _: number, first: number, second: number): readonly [number, number] => {
  const row = Math.sqrt(Math.max(1e-4 * first, first + 2 * second * z))
  return [row === 0 ? 0 : first / row, row]
}
/** Scales so that the sum of squares is that of iteratively reweighted least squares. */
const asWeights = (_z: number, _: number, first: number): readonly [number, number] => [Math.sqrt(first), Math.sqrt(first)]

/** Runs least squares on residuals of a tree. */
export const solveSquares = (
  f: (x: unknown) => unknown,
  x0: unknown,
  { loss, scale, ...rest }: ReadOf<typeof leastSquaresOptions>,
  op: string,
): {
  readonly ended: SquaresEnded
  readonly weighed: Linearised
  readonly point: Point
  readonly m: number
  readonly evaluations: Residuals['evaluations']
} => {
  functionOf(f, 'f', op)
  const point = pointOf(x0, op)
  const of = residualsOf(f, point, op)
  try {
    const n = point.start.length
    const m = of.m()
    if (m === 0) badInput(op, 'the function returned no residuals.', 'return at least one number.')
    const rho = losses[loss]
    const plain = loss === 'squares'
    const cost = (r: Float64Array): number => {
      let total = 0
      for (const v of r) total += plain ? v * v : scale * scale * rho((v / scale) ** 2)[0]
      return total / 2
    }
    const begin = cost(of.residuals(point.start))
    if (!Number.isFinite(begin)) badInput(op, `the residuals at x0 have the sum of squares ${2 * begin}.`, 'begin where they are finite.')
    const asIs = (at: Linearised): Linearised => at
    const weighed = plain ? asIs : scaledBy(rho, scale, m, n, asLoss)
    const reweighed = plain ? asIs : scaledBy(rho, scale, m, n, asWeights)
    const limits = limitsOf(rest, point, 1000)
    const ended = levenbergMarquardtMethod(
      { m, n, residuals: of.residuals, linearised: of.linearised, cost, weighed, reweighed },
      point.start,
      rest.tolerance === undefined && point.dtype === 'f64' ? { ...limits, tolerance: 1e-10 } : limits,
    )
    return { ended, weighed: reweighed(ended), point, m, evaluations: of.evaluations }
  } finally {
    of.dispose()
  }
}

/** What is told of a solution, with this covariance. */
export const toldOf = <X>({ ended, point, m, evaluations }: ReturnType<typeof solveSquares>, covariance: Float64Array): LeastSquares<X> => {
  const n = point.start.length
  return {
    x: point.tree(ended.x) as Found<X>,
    value: ended.value,
    converged: ended.reason === 'gradient' || ended.reason === 'rounding',
    reason: ended.reason,
    steps: ended.steps,
    accepted: ended.accepted,
    gradient: ended.gradient,
    evaluations: evaluations(),
    history: ended.history,
    residuals: tensor(ended.residuals, [m]) as Tensor<[number], 'f64'>,
    jacobian: tensor(ended.jacobian, [m, n]) as Tensor<[number, number], 'f64'>,
    covariance: tensor(covariance, [n, n]) as Tensor<[number, number], 'f64'>,
    errors: point.tree(Float64Array.from({ length: n }, (_, i) => Math.sqrt(covariance[i * n + i]!))) as Found<X>,
  }
}
const sumOfSquares = (r: Float64Array): number => r.reduce((total, v) => total + v * v, 0)

/**
 * A local minimum, near x0, of the sum of squares of f(x). x is a tree of floats, and f returns residuals, an array or a tree of arrays.
 *
 * The method is Levenberg-Marquardt in a trust region. The Jacobian comes from forward mode, or from reverse mode if there are fewer residuals than numbers in x. It is dense, so use the
 * method for at most some hundreds of numbers. A robust `loss` gives outliers less weight.
 * Result  { x, value, converged, reason, residuals, jacobian, covariance, errors, ... }; `value` is half the sum of squares. The search has converged if the residuals are orthogonal to the
 *         columns of their Jacobian, up to the tolerance (1e-10, 1e-4 if x0 holds f32), or if a further step would gain less than the rounding error.
 * Errors  BadInput for numbers that are not finite in x0 or in f(x0), or no residuals.   Source  Moré 1978.
 * @example leastSquares((x) => sub(mul(x, [1, 2]), [2, 4]), 0).x   // 2
 */
export const leastSquares = <X>(f: (x: Inside<X>) => ArrayTree, x0: X, options?: LeastSquaresOptions<NoInfer<X>>): LeastSquares<X> => {
  const op = 'leastSquares'
  const solved = solveSquares(f as (x: unknown) => unknown, x0, readOptions(leastSquaresOptions, options, op), op)
  const [m, n] = [solved.m, solved.point.start.length]
  const variance = m > n ? sumOfSquares(solved.weighed.residuals) / (m - n) : Number.NaN
  return toldOf<X>(solved, covarianceOf(solved.weighed.jacobian, m, n, variance))
}
