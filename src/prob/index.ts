/** Distributions as values, maps between their supports, divergences and inference. Written with the public interface of codual alone. */
export type { Bijector } from './bijectors/bijector.js'
export { batchBijector, bijectorTo, chainBijectors, inverseBijector } from './bijectors/combined.js'
export { choleskyBijector, correlationBijector, positiveDefiniteBijector } from './bijectors/matrices.js'
export {
  affineBijector,
  expBijector,
  identityBijector,
  intervalBijector,
  powerBijector,
  sigmoidBijector,
  softplusBijector,
  tanhBijector,
} from './bijectors/numbers.js'
export { orderedBijector, simplexBijector } from './bijectors/vectors.js'
export type {
  Continuous,
  Discrete,
  Distribution,
  Divergence,
  FloatOptions,
  Having,
  Values,
} from './distribution.js'
export { beta, kumaraswamy, triangular, uniform, vonMises } from './distributions/bounded.js'
export { delta, independent, masked, transformed } from './distributions/combined.js'
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
export { chi2, exponential, fisherF, gamma, inverseGamma } from './distributions/gamma.js'
export { asymmetricLaplace, cauchy, gumbel, laplace, logistic, studentT } from './distributions/line.js'
export { lkjCholesky, wishart } from './distributions/matrices.js'
export { mixture, zeroInflated } from './distributions/mixture.js'
export { normal, skewNormal, truncatedNormal } from './distributions/normal.js'
export { halfCauchy, halfNormal, inverseGaussian, levy, logNormal, maxwell } from './distributions/positive.js'
export { logUniform, pareto, rayleigh, weibull } from './distributions/powers.js'
export { dirichlet, dirichletMultinomial, multinomial } from './distributions/shares.js'
export { type BoundOptions, truncated } from './distributions/truncated.js'
export { lowRankNormal, type MvNormalOptions, mvNormal, mvStudentT, type ScaleOptions } from './distributions/vectors.js'
export * from './inference/index.js'
export { kl } from './kl.js'
export { type Support, type SupportKind, supports } from './support.js'
