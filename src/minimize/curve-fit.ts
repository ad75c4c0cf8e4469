/** `curveFit`: the parameters of a model for data, with their standard errors. */
import { functionOf } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { flag, type OptionsOf, raw, readOptions } from '../core/errors/options.js'
import { type AnyExpr, div, sub, type Tensor, tensor, treeMap } from '../index.js'
import type { NumberLists } from '../solve/vectors.js'
import { covarianceOf, type LeastSquares, type LeastSquaresOptions, leastSquaresOptions, solveSquares, toldOf } from './least-squares.js'
import type { Inside } from './types.js'

export const curveFitOptions = {
  ...leastSquaresOptions,
  /** The standard deviation of each y, or one for all; 1 unless given. */
  sigma: raw<number | Tensor | NumberLists, undefined>(undefined),
  /** Whether sigma is known in absolute terms. If not, sigma only gives the relative weights of the y, and its size is estimated from the residuals. */
  absoluteSigma: flag(),
}
/** Options of `curveFit`: those of `leastSquares`, and the standard deviations of the data. */
export interface CurveFitOptions<P> extends LeastSquaresOptions<P>, Pick<OptionsOf<typeof curveFitOptions>, 'sigma' | 'absoluteSigma'> {}
/** What `curveFit` returns: what `leastSquares` returns, with `params` in place of x. */
export interface CurveFit<P> extends Omit<LeastSquares<P>, 'x'> {
  readonly params: LeastSquares<P>['x']
  /** The sum of squares of (y - model) / sigma. */
  readonly chiSquare: number
  readonly degreesOfFreedom: number
}

/**
 * The parameters near params0 for which model(params, x) fits y best by least squares, and their standard errors.
 *
 * x is an array or a tree, as the model takes it; y is an array of the shape of the model's result. The covariance is that of the linear theory at the solution. With `absoluteSigma` it
 * is (J^T J)^-1 of residuals in units of sigma; without, it is that times chiSquare / degreesOfFreedom.
 * Errors  ShapeMismatch if the model's result and y do not broadcast; BadInput for a sigma that is not positive, and for everything that `leastSquares` refuses.
 * @example curveFit((p, x) => mul(p, x), [1, 2, 3], [2, 4, 6], 1).params   // 2
 */
export const curveFit = <P, D>(
  model: (params: Inside<P>, x: Inside<D>) => AnyExpr | number,
  x: D,
  y: Tensor | NumberLists,
  params0: P,
  options?: CurveFitOptions<NoInfer<P>>,
): CurveFit<P> => {
  const op = 'curveFit'
  functionOf(model, 'the model', op)
  const { sigma, absoluteSigma, ...rest } = readOptions(curveFitOptions, options, op)
  const deviations =
    sigma === undefined ? undefined : typeof sigma === 'number' || Array.isArray(sigma) ? tensor(sigma as number) : (sigma as Tensor)
  if (deviations !== undefined) {
    const wrong = Array.from(deviations.data, Number).find((v) => !(v > 0 && v < Number.POSITIVE_INFINITY))
    if (wrong !== undefined) badInput(op, `sigma has ${wrong}.`, 'give positive numbers.')
  }
  const data = treeMap(
    (leaf: unknown) => (typeof leaf === 'number' || Array.isArray(leaf) ? tensor(leaf as number) : leaf),
    x as AnyExpr,
  ) as unknown
  const residuals = (params: unknown): unknown => {
    const away = sub((model as unknown as (p: unknown, x: unknown) => AnyExpr)(params, data), y as AnyExpr)
    return deviations === undefined ? away : div(away, deviations)
  }
  const solved = solveSquares(residuals, params0, rest, op)
  const [m, n] = [solved.m, solved.point.start.length]
  const weighedSquares = solved.weighed.residuals.reduce((total, v) => total + v * v, 0)
  const chiSquare = solved.ended.residuals.reduce((total, v) => total + v * v, 0)
  const variance = absoluteSigma ? 1 : m > n ? weighedSquares / (m - n) : Number.NaN
  const { x: params, ...told } = toldOf<P>(solved, covarianceOf(solved.weighed.jacobian, m, n, variance))
  return { params, ...told, chiSquare, degreesOfFreedom: m - n }
}
