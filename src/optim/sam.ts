/** Sharpness-aware minimisation: a gradient function made of another. */
import { functionOf } from '../core/errors/check-arguments.js'
import { flag, type OptionsOf, readOptions } from '../core/errors/options.js'
import { type AnyExpr, abs, add, div, eq, mul, sqrt, square, sum, where } from '../index.js'
import { fitting, gradientOf, leavesOf } from './leaves.js'
import { amount } from './rate.js'

export const samOptions = {
  /** The distance within which the worst point is sought: 0.05 unless given. */
  rho: amount(0.05),
  /** Is the distance relative to the sizes of the parameters? False unless given; if true, take a rho of 0.5 or more. */
  adaptive: flag(),
}
/** Options of `sam`. */
export interface SamOptions extends OptionsOf<typeof samOptions> {}
/**
 * The gradient where the loss is largest nearby: g(p + rho g(p) / |g(p)|), for any optimiser: it leads to flat minima. It takes two
 * gradients per step.
 *
 * With `adaptive` the step is rho |p|^2 g / ||p| g|, which does not change when parameters are rescaled. Where the gradient is 0 it is g(p).
 * Source  Foret et al. 2021; adaptive: Kwon et al. 2021, ASAM.
 * Errors  BadInput if the gradient differs in structure from the parameters.
 * @example evaluate(sam((p: AnyExpr) => mul(2, p), { rho: 0.5 })(mul(1, [3, 4])))   // [6.6, 8.8]
 */
export const sam = <P, G>(gradient: (params: P) => G, options?: SamOptions): ((params: P) => G) => {
  const { rho, adaptive } = readOptions(samOptions, options, 'sam')
  functionOf(gradient, 'the gradient', 'sam')
  return (params) => {
    const all = gradientOf(gradient(params), 'sam')
    const p = fitting(all, params, 'params', 'sam')
    const scaled = adaptive ? all.leaves.map((g, i) => mul(abs(p[i]!), g)) : all.leaves
    if (scaled.length === 0) return all.put([]) as G
    const norm = sqrt(scaled.map((g) => sum(square(g)) as AnyExpr).reduce((a, b) => add(a, b)))
    const factor = where(eq(norm, 0), 0, div(rho, where(eq(norm, 0), 1, norm)))
    const steps = all.put(scaled.map((g, i) => mul(mul(factor, adaptive ? abs(p[i]!) : 1), g)))
    const there = leavesOf(params, 'sam')
    const by = there.beside(steps, 'the gradient')
    return gradient(there.put(there.leaves.map((x, i) => (by[i] === undefined ? x : add(x, by[i])))) as P)
  }
}
