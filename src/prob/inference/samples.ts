/** What chains return: their draws, and what they say of themselves. */
import { leastOf } from '../../core/errors/extremes.js'
import { type Tensor, tensor } from '../../index.js'
import type { Chain, Transition } from './hamiltonian.js'
import { blank, firstRows, ROWS, type Trees } from './trees.js'
import { countFrom, type Warning, warningsOf } from './warnings.js'

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

const columns = { divergent: 'bool', depth: 'i32', steps: 'i32', energy: 'f64', acceptance: 'f64', logDensity: 'f64' } as const
type Column = keyof typeof columns
/** What transitions say of themselves, for all chains: [chains, draws]. */
export type Columns = Readonly<Record<Column, Tensor>>
export const columnsOf = (chains: number, draws: number): Columns =>
  Object.fromEntries(Object.entries(columns).map(([name, dtype]) => [name, blank([chains, draws], dtype)])) as Record<Column, Tensor>

type Row = Int32Array | Uint8Array | Float64Array
/** What is kept of a chain's draws, written where it is returned. */
export class Kept {
  /** Draws of which the numbers are kept. */
  count = 0
  /** Draws that are trees, and those behind them that are vectors still. */
  private written = 0
  private held = 0
  private readonly block: Float64Array
  private readonly rows: Readonly<Record<Column, Row>>
  /** The draws of a chain go to the place `from`, and those behind it. */
  constructor(
    private readonly n: number,
    private readonly trees: Trees,
    all: Columns,
    private readonly from: number,
    draws: number,
  ) {
    this.block = new Float64Array(Math.min(draws, ROWS) * n)
    this.rows = Object.fromEntries(
      Object.entries(all).map(([name, { data }]) => [name, (data as Row).subarray(from, from + draws)]),
    ) as unknown as Record<Column, Row>
  }
  /** What a transition says of itself. */
  numbers({ value }: Chain, { divergent, depth, steps, energy, acceptance }: Transition): void {
    const { rows, count } = this
    rows.divergent[count] = divergent ? 1 : 0
    rows.depth[count] = depth
    rows.steps[count] = steps
    rows.energy[count] = energy
    rows.acceptance[count] = acceptance
    rows.logDensity[count] = value
    this.count++
  }
  /** Some draws, at most ROWS, one after the other. */
  vectors(of: Float64Array, count: number): void {
    const { n, block } = this
    if ((this.held + count) * n > block.length) this.write()
    const at = this.held * n
    // A loop is faster than a call of `set` for a single one.
    if (count === 1) for (let i = 0; i < n; i++) block[at + i] = of[i]!
    else block.set(of.subarray(0, count * n), at)
    this.held += count
  }
  /** Makes trees of what are vectors still. */
  write(): void {
    if (this.held > 0) this.trees.put(this.block.subarray(0, this.held * this.n), this.from + this.written)
    this.written += this.held
    this.held = 0
  }
  /** The steps of all draws so far. */
  steps(): number {
    let sum = 0
    for (let k = 0; k < this.count; k++) sum += this.rows.steps[k]!
    return sum
  }
}

/** All of it as trees and tensors. */
export const samplesOf = <D>(
  chains: readonly Chain[],
  kept: readonly Kept[],
  trees: Trees,
  all: Columns,
  gradients: number,
  maxDepth: number,
  dense: boolean,
): Samples<D> => {
  const { n } = chains[0]!
  // All of them, unless the run was ended.
  const draws = leastOf(kept.map((k) => k.count))
  for (const k of kept) k.write()
  const inverse = new Float64Array(chains.length * n * (dense ? n : 1))
  for (const [c, { mass }] of chains.entries()) {
    // A dense one that was never learned is diagonal.
    if (dense && mass.scales !== null) for (let i = 0; i < n; i++) inverse[(c * n + i) * n + i] = mass.inverse[i]!
    else inverse.set(mass.inverse, c * mass.inverse.length)
  }
  const said = Object.fromEntries(Object.entries(all).map(([name, x]) => [name, firstRows(x, draws)])) as Record<Column, Tensor>
  const rows = (name: Column): readonly Row[] => chains.map((_, c) => (said[name].data as Row).subarray(c * draws, (c + 1) * draws))
  const divergent = rows('divergent')
  const stats = {
    ...said,
    stepSize: tensor(chains.map((chain) => chain.stepSize)),
    inverseMass: tensor(inverse, [chains.length, ...(dense ? [n, n] : [n])] as never),
    divergences: countFrom(divergent, 1),
    gradients,
  } as unknown as ChainStats
  return {
    draws: trees.first(draws) as D,
    stats,
    warnings: warningsOf({ divergent, depth: rows('depth'), energy: rows('energy') }, maxDepth),
  }
}
