/** A normal distribution in the unconstrained space as an approximation of a target: what `laplaceApproximation` and `advi` return. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { type AnyExpr, compile, f64, fn, type Tensor, tensor, vmap } from '../../index.js'
import type { Key } from '../../random/index.js'
import type { Target } from './density.js'
import { type ImportanceWeights, importanceWeights } from './importance.js'
import { chainKey, streamOf } from './stream.js'
import { treeOf, treesOf } from './trees.js'

/** Draws of an approximation, with the weights that make them draws of the target. */
export interface WeightedDraws<D> extends ImportanceWeights {
  /** A tree whose leaves are [1, draws, ...]: one chain. */
  readonly draws: D
  /** log p - log q of each draw, p without its normalisation. */
  readonly logRatios: Tensor<[number], 'f64'>
}
/** A normal approximation. */
export interface Approximation<D, P> {
  /** The tree at the mean. */
  readonly mean: P
  /** In the unconstrained space, of all numbers in the order of the tree's leaves: [n, n]. */
  readonly covariance: Tensor<[number, number], 'f64'>
  /** An estimate of the logarithm of the normalising constant: of the evidence, if the density is the joint one of a model. A lower bound, on average, if it is from `advi`. */
  readonly logEvidence: number
  /** Draws of the approximation, with importance weights. */
  readonly sample: (key: Key, draws: number) => WeightedDraws<D>
}

const HALF_LOG_2PI = 0.9189385332046728
/** The approximation N(mean, L L^T), L lower triangular with a positive diagonal. */
export const gaussianOf = <D, P>(
  target: Target,
  mean: Float64Array,
  factor: Float64Array,
  logEvidence: number,
  op: string,
): Approximation<D, P> => {
  const n = target.size
  const covariance = new Float64Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let s = 0
      for (let k = 0; k <= j; k++) s += factor[i * n + k]! * factor[j * n + k]!
      covariance[i * n + j] = covariance[j * n + i] = s
    }
  }
  let logDet = 0
  for (let i = 0; i < n; i++) logDet += Math.log(factor[i * n + i]!)
  return {
    mean: treeOf(target, mean) as P,
    covariance: tensor(covariance, [n, n] as never) as unknown as Tensor<[number, number], 'f64'>,
    logEvidence,
    sample: (key, draws) => {
      if (!Number.isInteger(draws) || draws < 1) badInput(`${op}: sample`, `draws is ${shown(draws)}.`, 'give a whole number from 1.')
      const noise = new Float64Array(draws * n)
      streamOf(chainKey(key, 0)).normals(noise)
      const x = new Float64Array(draws * n)
      const logQ = new Float64Array(draws)
      for (let d = 0; d < draws; d++) {
        let squares = 0
        for (let i = 0; i < n; i++) {
          let s = mean[i]!
          for (let k = 0; k <= i; k++) s += factor[i * n + k]! * noise[d * n + k]!
          x[d * n + i] = s
          squares += noise[d * n + i]! ** 2
        }
        logQ[d] = -squares / 2 - n * HALF_LOG_2PI - logDet
      }
      const density = compile(
        fn(
          { x: f64(draws, n) },
          ({ x }) => (vmap(target.logDensity as never) as unknown as (x: AnyExpr) => unknown)(x as AnyExpr) as never,
        ),
      ) as unknown as ((args: unknown) => Tensor) & { readonly dispose: () => void }
      try {
        const logP = density({ x: tensor(x, [draws, n] as never) }).data
        const logRatios = Float64Array.from(logQ, (q, d) => {
          const ratio = Number(logP[d]) - q
          // Where p is not a number, nothing is known of it, and the draw does not count.
          return Number.isNaN(ratio) ? Number.NEGATIVE_INFINITY : ratio
        })
        return {
          draws: treesOf(target, x) as D,
          logRatios: tensor(logRatios) as unknown as Tensor<[number], 'f64'>,
          ...importanceWeights(tensor(logRatios) as never),
        }
      } finally {
        density.dispose()
      }
    },
  }
}
