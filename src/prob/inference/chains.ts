/** Runs chains: where they begin, the warm-up, the draws, and what all of that says of itself. */
import { shown } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { choice, flag, func, integer, number, type OptionsOf, type ReadOf } from '../../core/errors/options.js'
import type { Key } from '../../random/index.js'
import { dualAveraging, momentsOf, scheduleOf } from './adapt.js'
import { badParts, gradientsFor, type Target } from './density.js'
import { type Asking, type Chain, chainOf, type Moves, movesOf, reasonableStep, settle, type Transition } from './hamiltonian.js'
import type { ManyDraws } from './many-draws.js'
import { diagonalMass } from './mass.js'
import { columnsOf, Kept, type Samples, samplesOf } from './samples.js'
import { chainKey, streamOf } from './stream.js'
import { treesFor } from './trees.js'

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
  /** Whether all chains advance by one gradient that is mapped over them: true unless given. In the program of a long run of `nuts` they take turns in any case. */
  together: flag(true),
  /** Called after each transition; it ends the run by returning false. */
  onStep: func<(info: ChainStep) => unknown, undefined>(undefined),
}
export type ChainOptions = OptionsOf<typeof chainOptions>
type Read = ReadOf<typeof chainOptions>

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

/** What a chain needs gradients for, one thing after the other. */
type Life = Generator<Moves, void, undefined>
/** A chain with what it does and what is kept of it. */
interface One {
  readonly chain: Chain
  readonly number: number
  readonly transition: (into: Transition) => Moves
  readonly into: Transition
  readonly kept: Kept
}
/** What all chains of a run know. */
interface Run {
  readonly read: Read
  readonly target: Target
  readonly op: string
  readonly told: Told
}
const tell = ({ read: { onStep }, told }: Run, { chain, number, into }: One, step: number, warmup: boolean): void => {
  if (onStep === undefined) return
  const { value: logDensity, stepSize } = chain
  if (onStep({ chain: number, step, warmup, logDensity, stepSize, divergent: into.divergent }) === false) told.stopped = true
}
/** Keeps what a draw says of itself and tells of it; false where the run ends. */
const took = (run: Run, one: One): boolean => {
  one.kept.numbers(one.chain, one.into)
  tell(run, one, run.read.warmup + one.kept.count, false)
  return !run.told.stopped
}
function* warmUp(run: Run, one: One): Life {
  const { read, target, op, told } = run
  const { chain, into } = one
  yield movesOf(begin(chain, target, read.jitter, one.number, op))
  if (read.stepSize === undefined) yield movesOf(reasonableStep(chain))
  else chain.stepSize = read.stepSize
  const step = dualAveraging(read.targetAcceptance, chain.stepSize)
  const moments = momentsOf(chain.n, read.mass === 'dense')
  const schedule = scheduleOf(read.warmup)
  for (let k = 0; k < read.warmup && !told.stopped; k++) {
    yield one.transition(into)
    tell(run, one, k + 1, true)
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
}
/** Draws until so many are kept. */
function* drawTo(run: Run, one: One, count: number): Life {
  while (one.kept.count < count && !run.told.stopped) {
    yield one.transition(one.into)
    one.kept.vectors(one.chain.q, 1)
    took(run, one)
  }
}
function* both(first: Life, second: Life): Life {
  yield* first
  yield* second
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

/** Runs lives side by side, by one gradient for all of them, and returns how many gradients they used. */
const sideBySide = (lives: readonly Life[], gradient: () => void): number => {
  let gradients = 0
  for (let going = lives.map((life): Running => ({ life, moves: NOTHING })); ; ) {
    let count = 0
    for (let i = 0; i < going.length; i++) if (advance(going[i]!)) going[count++] = going[i]!
    if (count === 0) return gradients
    if (count < going.length) going = going.slice(0, count)
    gradient()
    gradients += count
  }
}

/** Draws of each chain from which the length of trajectories is known well enough. */
const TRIAL = 64
const MANY_GRADIENTS = 200_000
const FEW_OPERATIONS = 200_000
/**
 * Is a program of many draws worth its making, for so many gradients of so many operations each? It takes a tenth of a second to make. Where a gradient is large, chains that share a mapped one read its
 * data once.
 */
export const worthAProgram = (gradients: number, operations: number): boolean => gradients >= MANY_GRADIENTS && operations <= FEW_OPERATIONS

/** The draws that are left, by a program of many, each chain for some draws in its turn; returns the gradients of them. */
const drawMany = (run: Run, all: readonly One[], many: ManyDraws): number => {
  const { draws } = run.read
  let gradients = 0
  for (let going = all; going.length > 0 && !run.told.stopped; going = going.filter((one) => one.kept.count < draws))
    for (const one of going) {
      if (run.told.stopped) break
      const count = many.run(one.chain, draws - one.kept.count, one.into, () => {
        gradients += one.into.steps
        return took(run, one)
      })
      one.kept.vectors(many.vectors, count)
    }
  return gradients
}

/** Runs the chains of a target and returns their draws as trees. `makeMany` makes a program of many draws, if there can be one. */
export const runChains = <D>(
  key: Key,
  target: Target,
  transitions: Transitions,
  read: Read,
  maxDepth: number,
  op: string,
  makeMany?: () => ManyDraws,
): Samples<D> => {
  const n = target.size
  const { chains: count, draws } = read
  const run: Run = { read, target, op, told: { stopped: false } }
  const compiled = gradientsFor(target, read.together ? count : 1)
  const trees = treesFor(target, count, draws)
  const columns = columnsOf(count, draws)
  const all = Array.from({ length: count }, (_, c): One => {
    const chain = chainOf(n, compiled.chains[read.together ? c : 0]!, streamOf(chainKey(key, c)), diagonalMass(new Float64Array(n).fill(1)))
    const into: Transition = { acceptance: 0, divergent: false, depth: 0, steps: 0, energy: 0 }
    return {
      chain,
      number: c,
      transition: transitions(chain),
      into,
      kept: new Kept(n, trees, columns, c * draws, draws),
    }
  })
  let gradients = 0
  const onHost = (life: (one: One) => Life): void => {
    for (const group of read.together ? [all] : all.map((one) => [one])) gradients += sideBySide(group.map(life), compiled.run)
  }
  try {
    // No trajectory has more gradients than this.
    const most = count * draws * 2 ** maxDepth
    const trial = makeMany !== undefined && worthAProgram(most, compiled.operations) ? Math.min(TRIAL, draws) : draws
    onHost((one) => both(warmUp(run, one), drawTo(run, one, trial)))
    if (trial < draws && !run.told.stopped) {
      const steps = all.reduce((s, { kept }) => s + kept.steps(), 0)
      if (!worthAProgram((steps / trial) * (draws - trial), compiled.operations)) onHost((one) => drawTo(run, one, draws))
      else {
        const many = makeMany!()
        try {
          gradients += drawMany(run, all, many)
        } finally {
          many.dispose()
        }
      }
    }
    return samplesOf<D>(
      all.map((one) => one.chain),
      all.map((one) => one.kept),
      trees,
      columns,
      gradients,
      maxDepth,
      read.mass === 'dense',
    )
  } finally {
    compiled.dispose()
    trees.dispose()
  }
}
