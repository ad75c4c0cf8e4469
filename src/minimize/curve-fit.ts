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
  /** Is sigma known for certain? Else it says how y's are weighed against each other, and the residuals say how large it is. */
  absoluteSigma: flag(),
}
/** Options of `curveFit`: those of `leastSquares`, and what is known of the data's errors. */
export interface CurveFitOptions<P> extends LeastSquaresOptions<P>, Pick<OptionsOf<typeof curveFitOptions>, 'sigma' | 'absoluteSigma'> {}
/** What `curveFit` returns: `params` and `errors` in place of x, and what `leastSquares` returns. */
export interface CurveFit<P> extends Omit<LeastSquares<P>, 'x'> {
  readonly params: LeastSquares<P>['x']
  /** The sum of squares of (y - model) / sigma. */
  readonly chiSquare: number
  readonly degreesOfFreedom: number
}

/**
 * The parameters with which model(params, x) is nearest to y in the sense of least squares, from params0, and their standard errors.
 *
 * x is what the model takes, an array or a tree; y an array of the shape of what the model returns. The covariance is that of the linear theory at the solution; with `absoluteSigma` it
 * is (J^T J)^-1 of residuals in units of sigma, else that times chiSquare / degreesOfFreedom.
 * Errors  ShapeMismatch where the model's result and y do not broadcast; BadInput for a sigma that is not positive, and for whatever `leastSquares` refuses.
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
