/** Inference: draws from log densities and models, and what to think of them. */
export type { ChainStats, ChainStep, Samples } from './chains.js'
export { type EssOptions, ess, type PerElement, rhat, type Summary, type SummaryRow, summary } from './diagnostics.js'
export { type HmcOptions, hmc, type NutsOptions, nuts, type Start } from './samplers.js'
export type { Draws, LogDensity } from './types.js'
export type { Warning } from './warnings.js'
