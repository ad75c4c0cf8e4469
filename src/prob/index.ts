/** Distributions as values, maps between their supports, divergences and inference. Written with the public interface of codual alone. */
export {
  affineBijector,
  type Bijector,
  batchBijector,
  bijectorTo,
  chainBijectors,
  choleskyBijector,
  correlationBijector,
  expBijector,
  identityBijector,
  intervalBijector,
  inverseBijector,
  orderedBijector,
  positiveDefiniteBijector,
  powerBijector,
  sigmoidBijector,
  simplexBijector,
  softplusBijector,
  tanhBijector,
} from './bijectors.js'
export type {
  Continuous,
  Discrete,
  Distribution,
  Divergence,
  FloatOptions,
  Having,
  Values,
} from './distribution.js'
export { beta, kumaraswamy, vonMises } from './distributions/bounded.js'
export { type BoundOptions, delta, independent, masked, mixture, transformed, truncated, zeroInflated } from './distributions/combined.js'
export {
  bernoulli,
  binomial,
  categorical,
  discreteUniform,
  geometric,
  type LogitOptions,
  negativeBinomial,
  poisson,
} from './distributions/discrete.js'
export { betaBinomial, hypergeometric } from './distributions/finite.js'
export {
  asymmetricLaplace,
  cauchy,
  gumbel,
  laplace,
  logistic,
  normal,
  skewNormal,
  studentT,
  triangular,
  truncatedNormal,
  uniform,
} from './distributions/line.js'
export {
  chi2,
  exponential,
  fisherF,
  gamma,
  halfCauchy,
  halfNormal,
  inverseGamma,
  inverseGaussian,
  levy,
  logNormal,
  logUniform,
  maxwell,
  pareto,
  rayleigh,
  weibull,
} from './distributions/positive.js'
export {
  dirichlet,
  dirichletMultinomial,
  lkjCholesky,
  lowRankNormal,
  type MvNormalOptions,
  multinomial,
  mvNormal,
  mvStudentT,
  type ScaleOptions,
  wishart,
} from './distributions/vectors.js'
export * from './inference/index.js'
export { kl } from './kl.js'
export { type Support, type SupportKind, supports } from './support.js'
