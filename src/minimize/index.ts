/**
 * Drivers: the minimum of a function, least squares, and curves fitted to data. They run until they have converged, on the default backend, and say why they ended. Written with the public
 * interface of codual alone.
 */
export { type CurveFit, type CurveFitOptions, curveFit } from './curve-fit.js'
export { type LeastSquares, type LeastSquaresOptions, leastSquares } from './least-squares.js'
export type { Loss } from './loss.js'
export { type Bound, type Constrained, type MinimizeOptions, type Multipliers, minimize } from './minimize.js'
export type { Evaluations } from './objective.js'
export {
  type AffineOptions,
  type BoxOptions,
  type PlaneOptions,
  projectAffine,
  projectBox,
  projectHalfspace,
  projectHyperplane,
  projectL1Ball,
  projectL2Ball,
  projectLInfBall,
  projectNonNegative,
  projectPSD,
  projectSecondOrderCone,
  projectSimplex,
  type RadiusOptions,
} from './projections.js'
export {
  type ElasticNetOptions,
  type GroupLassoOptions,
  type HuberOptions,
  proxElasticNet,
  proxGroupLasso,
  proxHuber,
  proxL1,
  proxL2,
  proxNuclear,
  proxSquaredL2,
  type ScaleOptions,
} from './proximal.js'
export { type ProximalOptions, projectedGradient, proximalGradient } from './proximal-gradient.js'
export type { Minimum, Reason, StepInfo } from './result.js'
