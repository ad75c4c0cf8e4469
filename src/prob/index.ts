/** Distributions as values, maps between their supports, divergences and inference. Written with the public interface of codual alone. */
export type {
  All,
  Continuous,
  Discrete,
  Distribution,
  Divergence,
  FloatOptions,
  Having,
  OnLine,
  Optional,
  Values,
} from './distribution.js'
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
export * from './inference/index.js'
export { type Support, type SupportKind, supports } from './support.js'
