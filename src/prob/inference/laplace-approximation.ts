/** Laplace's approximation: a normal distribution at the mode. */
import { badInput } from '../../core/errors/explain.js'
import { type OptionsOf, readOptions } from '../../core/errors/options.js'
import { type AnyExpr, compile, f64, fn, hessian, neg, type Tensor, tensor } from '../../index.js'
import { choleskyOf } from '../../minimize/cholesky.js'
import { minimize } from '../../minimize/index.js'
import type { Found } from '../../minimize/types.js'
import { positive, wholeOrNone } from '../../solve/options.js'
import { type Approximation, gaussianOf } from './gaussian.js'
import type { Model, SitesOf, Values } from './model.js'
import type { Start } from './samplers.js'
import { targetIn } from './target.js'
import type { Draws, LogDensity } from './types.js'

export const laplaceOptions = {
  /** The relative gradient at which the mode is found: 1e-8 unless given. */
  tolerance: positive,
  /** The most steps of the search for the mode. */
  maxSteps: wholeOrNone,
}
/** Options of `laplaceApproximation`. */
export type LaplaceOptions = OptionsOf<typeof laplaceOptions>
interface LaplaceFn {
  <R>(model: Model<R>, options?: Partial<Start<Values>> & LaplaceOptions): Approximation<SitesOf<R, [number, number]>, SitesOf<R, []>>
  <X>(logDensity: LogDensity<X>, options: Start<X> & LaplaceOptions): Approximation<Draws<X>, Found<X>>
}
/** The inverse of L, lower triangular. */
const inverseOf = (l: Float64Array, n: number): Float64Array => {
  const out = new Float64Array(n * n)
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let s = i === j ? 1 : 0
      for (let k = j; k < i; k++) s -= l[i * n + k]! * out[k * n + j]!
      out[i * n + j] = s / l[i * n + i]!
    }
  }
  return out
}
/**
 * A normal approximation of a model or a log density: its mean is the mode, and its covariance the inverse of the negative Hessian there, both in the unconstrained space.
 *
 * The mode is found by `minimize`. The result is { mean, covariance, logEvidence, sample }: `mean` is the tree at the mode, and `sample(key, draws)` has draws with importance weights.
 * Errors  BadInput if no mode is found, or if the density is flat or curved upwards there.
 * Source  Tierney and Kadane 1986.
 * @example laplaceApproximation((x) => mul(-2, square(sub(x, 1))), { start: 0 }).covariance   // [[0.25]]
 */
export const laplaceApproximation: LaplaceFn = ((density: unknown, options: unknown): unknown => {
  const op = 'laplaceApproximation'
  const { start, ...rest } = (options ?? {}) as { readonly start?: unknown }
  const target = targetIn(density, start, op)
  const { tolerance, maxSteps } = readOptions(laplaceOptions, rest, op)
  const n = target.size
  const found = minimize(((x: AnyExpr) => neg(target.logDensity(x))) as never, tensor(target.start.slice()) as never, {
    ...(tolerance === undefined ? {} : { tolerance }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
  })
  if (!found.converged)
    badInput(
      op,
      `no mode was found: the search ended after ${found.steps} steps (${found.reason}).`,
      'start nearer to the mode, or check that the density has one.',
    )
  const mode = Float64Array.from((found.x as Tensor).data, Number)
  const curvature = compile(fn({ x: f64(n) }, ({ x }) => hessian(target.logDensity as never)(x as never) as never)) as unknown as ((
    args: unknown,
  ) => Tensor) & { readonly dispose: () => void }
  const h = Float64Array.from(curvature({ x: tensor(mode.slice()) }).data, (v) => -Number(v))
  curvature.dispose()
  // -H = L L^T, so the covariance is L^-T L^-1. Turned around in both axes, L^-T is lower triangular: the factor of the covariance.
  const reversed = h.slice().reverse()
  const l = choleskyOf(reversed, n)
  if (l === undefined)
    return badInput(
      op,
      'the density is not curved downwards at its mode: the Hessian is not negative definite.',
      'fix the parameters that the density does not depend on, or use `nuts`.',
    )
  const factor = new Float64Array(n * n)
  const inverse = inverseOf(l, n)
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) factor[i * n + j] = inverse[(n - 1 - j) * n + (n - 1 - i)]!
  let logDet = 0
  for (let i = 0; i < n; i++) logDet += Math.log(factor[i * n + i]!)
  return gaussianOf(target, mode, factor, -found.value + n * 0.9189385332046728 + logDet, op)
}) as LaplaceFn
