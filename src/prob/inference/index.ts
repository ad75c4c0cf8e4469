/** Inference: draws from log densities and models, and what to think of them. */
export type { ChainStep } from './chains.js'
export { type EssOptions, ess, type PerElement, rhat, type Summary, type SummaryRow, summary } from './diagnostics.js'
export type { Approximation, WeightedDraws } from './gaussian.js'
export { type ImportanceWeights, importanceWeights } from './importance.js'
export { type LaplaceOptions, laplaceApproximation } from './laplace-approximation.js'
export {
  condition,
  logJoint,
  type Model,
  model,
  predictive,
  prior,
  type SitesOf,
  type Trace,
  type Value,
  type Values as SiteValues,
} from './model.js'
export { type HmcOptions, hmc, type NutsOptions, nuts, type Start } from './samplers.js'
export type { ChainStats, Samples } from './samples.js'
export { type TracePlotOptions, tracePlot } from './trace-plot.js'
export type { Draws, LogDensity } from './types.js'
export {
  type AdviOptions,
  advi,
  type Guide,
  type Svi,
  type SviOptions,
  svi,
  type Variational,
  type VariationalStep,
} from './variational.js'
export type { Warning } from './warnings.js'
