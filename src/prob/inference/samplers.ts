/** The samplers: Hamiltonian Monte Carlo with trajectories of a given length, and the No-U-Turn sampler, which chooses it. */
import { integer, number, type OptionsOf, readOptions } from '../../core/errors/options.js'
import type { Key } from '../../random/index.js'
import { chainOptions, runChains } from './chains.js'
import type { Target } from './density.js'
import { hmcTransitions } from './hmc-transition.js'
import { manyDraws } from './many-draws.js'
import type { Model, SitesOf, Values } from './model.js'
import { MOST_DEPTH_OF_PROGRAM } from './nuts-program.js'
import { MOST_DEPTH, nutsTransitions } from './nuts-transition.js'
import type { Samples } from './samples.js'
import { targetIn } from './target.js'
import type { Draws, LogDensity } from './types.js'

export const nutsOptions = {
  ...chainOptions,
  /** The most doublings of a trajectory: 10 unless given, which is 1023 gradients. */
  maxDepth: integer(10, { from: 1, to: MOST_DEPTH }),
}
/** Options of `nuts`, without `start`. */
export type NutsOptions = OptionsOf<typeof nutsOptions>
export const hmcOptions = {
  ...chainOptions,
  /** The mean length of a trajectory, in units of the learned scales: 1.5 unless given. Lengths are drawn evenly from 0 to twice that. */
  pathLength: number(1.5, { above: 0 }),
  /** A number of steps for every trajectory, in place of a length. */
  steps: integer(undefined, { from: 1 }),
}
/** Options of `hmc`, without `start`. */
export type HmcOptions = OptionsOf<typeof hmcOptions>

/** Where the chains of a log density begin. */
export interface Start<X> {
  /** A tree of tensors, numbers and arrays of numbers: what the log density is given, and where the chains begin. */
  readonly start: X
}

/** The target and the rest of the options. */
const split = (density: unknown, options: unknown, op: string): readonly [Target, unknown] => {
  const { start, ...rest } = (options ?? {}) as { readonly start?: unknown }
  return [targetIn(density, start, op), rest]
}

interface NutsFn {
  <R>(key: Key, model: Model<R>, options?: Partial<Start<Values>> & NutsOptions): Samples<SitesOf<R, [number, number]>>
  <X>(key: Key, logDensity: LogDensity<X>, options: Start<X> & NutsOptions): Samples<Draws<X>>
}
/**
 * Draws from a model or a log density by the No-U-Turn sampler: trajectories double until they turn, and a draw is chosen among their points by its weight.
 *
 * A log density is a function of a tree of floats that returns a scalar, up to a constant; `start` is a tree like that. For a model, `start` has values in the supports, or is left out. The density is compiled once,
 * with its gradient. During the warm-up, each chain learns
 * its step size (dual averaging) and its mass matrix (the variances, or with 'dense' the covariances, of windows of draws). The draws depend on the key, not on the clock. In a long run of a small density
 * (200,000 gradients to go, of 200,000 operations at most) the chains take turns in one program that makes 64 draws a call.
 * Result  { draws, stats, warnings }; the leaves of `draws` are [chains, draws, ...].
 * Errors  NotScalar unless the density is a scalar; BadInput if the log density or its gradient is not finite where a chain begins.
 * Source  Hoffman and Gelman 2014; Betancourt 2017, A.3 (multinomial weights, generalised turns); the warm-up is that of Stan.
 * @example
 * const { draws } = nuts(key(0), (x) => mul(-0.5, sum(square(x))), { start: [0, 0], draws: 200, warmup: 200 })
 * draws.shape   // [4, 200, 2]
 */
export const nuts: NutsFn = ((key: Key, density: unknown, options: unknown): Samples<unknown> => {
  const op = 'nuts'
  const [target, rest] = split(density, options, op)
  const { maxDepth, ...read } = readOptions(nutsOptions, rest, op)
  const many = maxDepth > MOST_DEPTH_OF_PROGRAM ? undefined : () => manyDraws(target, maxDepth, read.mass === 'dense')
  return runChains(key, target, (chain) => nutsTransitions(chain, maxDepth), read, maxDepth, op, many)
}) as NutsFn

interface HmcFn {
  <R>(key: Key, model: Model<R>, options?: Partial<Start<Values>> & HmcOptions): Samples<SitesOf<R, [number, number]>>
  <X>(key: Key, logDensity: LogDensity<X>, options: Start<X> & HmcOptions): Samples<Draws<X>>
}
/**
 * Draws from a model or a log density by Hamiltonian Monte Carlo: a trajectory of leapfrog steps, whose end is accepted or not by the error of its energy.
 *
 * As `nuts`, for trajectories of a given mean length. Use it if you know that length, and to compare.
 * Result  { draws, stats, warnings }; the leaves of `draws` are [chains, draws, ...].
 * Errors  As `nuts`.
 * Source  Neal 2011.
 * @example
 * const { draws } = hmc(key(0), (x) => mul(-0.5, square(x)), { start: 0, draws: 200, warmup: 200 })
 * draws.shape   // [4, 200]
 */
export const hmc: HmcFn = ((key: Key, density: unknown, options: unknown): Samples<unknown> => {
  const op = 'hmc'
  const [target, rest] = split(density, options, op)
  const { pathLength, steps, ...read } = readOptions(hmcOptions, rest, op)
  return runChains(key, target, (chain) => hmcTransitions(chain, pathLength, steps), read, 0, op)
}) as HmcFn
