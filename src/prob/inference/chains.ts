/** Runs chains: where they begin, the warm-up, the draws, and what all of that says of itself. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { choice, flag, func, integer, number, type OptionsOf, type ReadOf } from '../../core/errors/options.js'
import { type Tensor, tensor } from '../../index.js'
import type { Key } from '../../random/index.js'
import { dualAveraging, momentsOf, scheduleOf } from './adapt.js'
import { badParts, gradientsFor, type Target, treesOf } from './density.js'
import { type Asking, type Chain, chainOf, type Moves, movesOf, reasonableStep, settle, type Transition } from './hamiltonian.js'
import { diagonalMass } from './mass.js'
import { chainKey, streamOf } from './stream.js'
import { type Warning, warningsOf } from './warnings.js'

/** What `onStep` is told after each transition of a chain. */
export interface ChainStep {
  readonly chain: number
  /** The number of transitions of this chain, those of its warm-up included. */
  readonly step: number
  readonly warmup: boolean
  readonly logDensity: number
  readonly stepSize: number
  readonly divergent: boolean
}
/** Options of both samplers. */
export const chainOptions = {
  /** Draws of each chain: 1000 unless given. */
  draws: integer(1000, { from: 1 }),
  /** Transitions before that, from which the step size and the mass matrix are learned: 1000 unless given. */
  warmup: integer(1000, { from: 0 }),
  /** 4 unless given. */
  chains: integer(4, { from: 1 }),
  /** 'diagonal' unless given. 'dense' learns correlations too, at n^2 operations for each step. */
  mass: choice(['diagonal', 'dense'], 'diagonal'),
  /** The mean probability of acceptance that the step size is chosen for: 0.8 unless given. */
  targetAcceptance: number(0.8, { above: 0, to: 0.999 }),
  /** The first step size, for the warm-up or for all of the draws if that is 0: found by trial unless given. */
  stepSize: number(undefined, { above: 0 }),
  /** Chains begin at `start` plus numbers drawn evenly from -jitter to jitter: 1 unless given, in the unconstrained space. */
  jitter: number(1, { from: 0 }),
  /** Whether all chains advance by one gradient that is mapped over them: true unless given. */
  together: flag(true),
  /** Called after each transition; it ends the run by returning false. */
  onStep: func<(info: ChainStep) => unknown, undefined>(undefined),
}
export type ChainOptions = OptionsOf<typeof chainOptions>
type Read = ReadOf<typeof chainOptions>

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
interface Kept {
  count: number
  readonly vectors: Float64Array
  readonly columns: Readonly<Record<Column, Float64Array>>
}
type Column = 'divergent' | 'depth' | 'steps' | 'energy' | 'acceptance' | 'logDensity'
/** `vectors` is where its draws go. */
const keptOf = (draws: number, vectors: Float64Array): Kept => {
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
const keep = (kept: Kept, chain: Chain, { divergent, depth, steps, energy, acceptance }: Transition): void => {
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

/** The makers of transitions. */
export type Transitions = (chain: Chain) => (into: Transition) => Moves

/** How often a chain may look for a place to begin. */
const ATTEMPTS = 100

function* begin(chain: Chain, target: Target, jitter: number, c: number, op: string): Asking {
  const { live, stream, n } = chain
  const { start } = target
  let range = jitter
  let seen: number | undefined
  for (let k = 0; k < ATTEMPTS; k++) {
    for (let i = 0; i < n; i++) live.q[i] = start[i]! + (range === 0 ? 0 : range * (2 * stream.uniform() - 1))
    yield
    if (Number.isFinite(live.value[0]!) && live.g.every((v) => Number.isFinite(v))) return settle(chain)
    seen ??= Number.isFinite(live.value[0]!) ? live.g.find((v) => !Number.isFinite(v)) : live.value[0]
    if (range === 0) break
    // Nearer to the start, where it is likelier to be finite.
    if (k % 10 === 9) range /= 2
  }
  const what = Number.isFinite(live.value[0]!) ? 'the gradient of the log density has' : 'the log density is'
  const which = badParts(target, live.q)
  return badInput(
    op,
    `${what} ${shown(seen)} where chain ${c} begins${which === '' ? '' : `: ${which}`}${range === 0 ? '' : ` (${ATTEMPTS} places were tried)`}.`,
    range === 0
      ? 'start where it is finite.'
      : 'start where it is finite, with a smaller jitter, or check the density for log(0) and 0 / 0.',
  )
}

/** The life of one chain: what it needs gradients for, one thing after the other. */
type Life = Generator<Moves, void, undefined>
function* life(chain: Chain, transitions: Transitions, read: Read, target: Target, c: number, kept: Kept, op: string, told: Told): Life {
  yield movesOf(begin(chain, target, read.jitter, c, op))
  if (read.stepSize === undefined) yield movesOf(reasonableStep(chain))
  else chain.stepSize = read.stepSize
  const { n } = chain
  const transition = transitions(chain)
  const step = dualAveraging(read.targetAcceptance, chain.stepSize)
  const moments = momentsOf(n, read.mass === 'dense')
  const schedule = scheduleOf(read.warmup)
  const into: Transition = { acceptance: 0, divergent: false, depth: 0, steps: 0, energy: 0 }
  const tell = (number: number, warmup: boolean): void => {
    if (read.onStep === undefined) return
    const { value: logDensity, stepSize } = chain
    if (read.onStep({ chain: c, step: number, warmup, logDensity, stepSize, divergent: into.divergent }) === false) told.stopped = true
  }
  for (let k = 0; k < read.warmup && !told.stopped; k++) {
    yield transition(into)
    tell(k + 1, true)
    step.update(into.acceptance)
    chain.stepSize = step.current()
    if (k >= schedule.from && k < schedule.to) moments.add(chain.q)
    if (schedule.ends.has(k)) {
      const mass = moments.mass()
      if (mass !== undefined) chain.mass = mass
      moments.clear()
      yield movesOf(reasonableStep(chain))
      step.restart(chain.stepSize)
    }
  }
  if (read.warmup > 0) chain.stepSize = step.averaged()
  for (let k = 0; k < read.draws && !told.stopped; k++) {
    yield transition(into)
    keep(kept, chain, into)
    tell(read.warmup + k + 1, false)
  }
}
/** Whether `onStep` ended the run. */
interface Told {
  stopped: boolean
}

/** A chain that runs. */
interface Running {
  readonly life: Life
  moves: Moves
}
const NOTHING: Moves = { go: () => false }
/** Runs a chain until it needs a gradient; false at its end. */
const advance = (one: Running): boolean => {
  while (!one.moves.go()) {
    const next = one.life.next()
    if (next.done === true) return false
    one.moves = next.value
  }
  return true
}

/** Runs the chains of a target and returns their draws as trees. */
export const runChains = <D>(key: Key, target: Target, transitions: Transitions, read: Read, maxDepth: number, op: string): Samples<D> => {
  const n = target.size
  const { chains: count, draws } = read
  const vectors = new Float64Array(count * draws * n)
  const kept = Array.from({ length: count }, (_, c) => keptOf(draws, vectors.subarray(c * draws * n, (c + 1) * draws * n)))
  const told: Told = { stopped: false }
  const all: Chain[] = []
  let gradients = 0
  const groups = read.together ? [Array.from({ length: count }, (_, c) => c)] : Array.from({ length: count }, (_, c) => [c])
  const compiled = gradientsFor(target, groups[0]!.length)
  try {
    for (const group of groups) {
      const started = group.map((c, i): Running => {
        const chain = chainOf(n, compiled.chains[i]!, streamOf(chainKey(key, c)), diagonalMass(new Float64Array(n).fill(1)))
        all.push(chain)
        return { life: life(chain, transitions, read, target, c, kept[c]!, op, told), moves: NOTHING }
      })
      for (let going = started; ; ) {
        let count = 0
        for (let i = 0; i < going.length; i++) if (advance(going[i]!)) going[count++] = going[i]!
        if (count === 0) break
        if (count < going.length) going = going.slice(0, count)
        compiled.run()
        gradients += count
      }
    }
  } finally {
    compiled.dispose()
  }
  return samplesOf<D>(target, all, kept, vectors, gradients, maxDepth, read.mass === 'dense')
}

const samplesOf = <D>(
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
