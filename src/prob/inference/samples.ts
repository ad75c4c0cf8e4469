/** What chains return: their draws, and what they say of themselves. */
import { type Tensor, tensor } from '../../index.js'
import { type Target, treesOf } from './density.js'
import type { Chain, Transition } from './hamiltonian.js'
import { type Warning, warningsOf } from './warnings.js'

/** What chains say of themselves, draw by draw: [chains, draws]. */
export interface ChainStats {
  readonly divergent: Tensor<[number, number], 'bool'>
  /** Doublings of the trajectory; 0 of HMC. */
  readonly depth: Tensor<[number, number], 'i32'>
  /** Leapfrog steps, each with a gradient. */
  readonly steps: Tensor<[number, number], 'i32'>
  readonly energy: Tensor<[number, number], 'f64'>
  readonly acceptance: Tensor<[number, number], 'f64'>
  readonly logDensity: Tensor<[number, number], 'f64'>
  /** The step size of each chain: [chains]. */
  readonly stepSize: Tensor<[number], 'f64'>
  /** The learned variances of each chain in the unconstrained space, [chains, n], or covariances, [chains, n, n]. */
  readonly inverseMass: Tensor
  /** Draws that ended in a divergence. */
  readonly divergences: number
  /** Gradients of all chains, those of the warm-up included. */
  readonly gradients: number
}
/** What a sampler returns. */
export interface Samples<D> {
  /** A tree whose leaves are [chains, draws, ...]. */
  readonly draws: D
  readonly stats: ChainStats
  /** What there is to worry about, and what to do; empty if there is nothing. */
  readonly warnings: readonly Warning[]
}

/** What is kept of a chain's draws: a column for each number that a transition says of itself. */
export interface Kept {
  count: number
  readonly vectors: Float64Array
  readonly columns: Readonly<Record<Column, Float64Array>>
}
type Column = 'divergent' | 'depth' | 'steps' | 'energy' | 'acceptance' | 'logDensity'
/** `vectors` is where its draws go. */
export const keptOf = (draws: number, vectors: Float64Array): Kept => {
  const column = () => new Float64Array(draws)
  return {
    count: 0,
    vectors,
    columns: {
      divergent: column(),
      depth: column(),
      steps: column(),
      energy: column(),
      acceptance: column(),
      logDensity: column(),
    },
  }
}
export const keep = (kept: Kept, chain: Chain, { divergent, depth, steps, energy, acceptance }: Transition): void => {
  const { columns, count, vectors } = kept
  const { q, n } = chain
  const at = count * n
  for (let i = 0; i < n; i++) vectors[at + i] = q[i]!
  columns.divergent[count] = divergent ? 1 : 0
  columns.depth[count] = depth
  columns.steps[count] = steps
  columns.energy[count] = energy
  columns.acceptance[count] = acceptance
  columns.logDensity[count] = chain.value
  kept.count++
}

/** All of it as trees and tensors. */
export const samplesOf = <D>(
  target: Target,
  chains: readonly Chain[],
  kept: readonly Kept[],
  vectors: Float64Array,
  gradients: number,
  maxDepth: number,
  dense: boolean,
): Samples<D> => {
  const n = target.size
  // All of them, unless the run was ended.
  const draws = Math.min(...kept.map((k) => k.count))
  // The draws of each chain behind those of the one before.
  for (const [c, k] of kept.entries()) vectors.copyWithin(c * draws * n, k.vectors.byteOffset / 8, k.vectors.byteOffset / 8 + draws * n)
  const rows = (name: Column): readonly Float64Array[] => kept.map((k) => k.columns[name].subarray(0, draws))
  const part = (name: Column, dtype: 'f64' | 'i32' | 'bool'): Tensor => {
    const all = new (dtype === 'f64' ? Float64Array : Int32Array)(chains.length * draws)
    for (const [c, row] of rows(name).entries()) all.set(row, c * draws)
    return tensor(all, [chains.length, draws] as never, dtype as never) as unknown as Tensor
  }
  const inverse = new Float64Array(chains.length * n * (dense ? n : 1))
  for (const [c, { mass }] of chains.entries()) {
    // A dense one that was never learned is diagonal.
    if (dense && mass.scales !== null) for (let i = 0; i < n; i++) inverse[(c * n + i) * n + i] = mass.inverse[i]!
    else inverse.set(mass.inverse, c * mass.inverse.length)
  }
  const stats = {
    divergent: part('divergent', 'bool'),
    depth: part('depth', 'i32'),
    steps: part('steps', 'i32'),
    energy: part('energy', 'f64'),
    acceptance: part('acceptance', 'f64'),
    logDensity: part('logDensity', 'f64'),
    stepSize: tensor(chains.map((chain) => chain.stepSize)),
    inverseMass: tensor(inverse, [chains.length, ...(dense ? [n, n] : [n])] as never),
    divergences: rows('divergent').reduce((s, row) => s + row.reduce((a, b) => a + b, 0), 0),
    gradients,
  } as unknown as ChainStats
  return {
    draws: treesOf(target, vectors.subarray(0, chains.length * draws * n), [chains.length, draws]) as D,
    stats,
    warnings: warningsOf({ divergent: rows('divergent'), depth: rows('depth'), energy: rows('energy') }, maxDepth),
  }
}
