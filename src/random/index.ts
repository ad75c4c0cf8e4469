/**
 * Random numbers with explicit keys: a function of a key and a shape, the same on every backend, in loops, under vmap and within gradients.
 * Written with the public interface of codual alone.
 */
export { bits } from './bits.js'
export {
  type CategoricalOptions,
  type ChoiceOptions,
  categorical,
  choice,
  type PermutationOptions,
  permutation,
  randint,
} from './discrete.js'
export { beta, dirichlet, gamma, studentT } from './gamma.js'
export type {
  DistributionOptions,
  Drawn,
  DrawnFor,
  DrawnForAll,
  DtypeFor,
  DtypeOption,
  Key,
  NoOptions,
  Parameter,
  ShapeIn,
  ShapeOf,
} from './given.js'
export { foldIn, key, splitKey } from './key.js'
export {
  dropout,
  glorotNormal,
  glorotUniform,
  heNormal,
  heUniform,
  type Initialiser,
  type InitOptions,
  lecunNormal,
  lecunUniform,
  type MultivariateNormalOptions,
  multivariateNormal,
  type OrthogonalOptions,
  orthogonal,
} from './layers.js'
export { exponential, gumbel, laplace, logistic, normal, type ShapedFn, truncatedNormal } from './normal.js'
export { type PoissonOptions, poisson } from './poisson.js'
export {
  type BallOptions,
  ball,
  cauchy,
  type GeometricOptions,
  geometric,
  lognormal,
  maxwell,
  pareto,
  type RademacherFn,
  rademacher,
  rayleigh,
  triangular,
  weibull,
} from './transformed.js'
export { type BernoulliOptions, bernoulli, type UniformOptions, uniform } from './uniform.js'
