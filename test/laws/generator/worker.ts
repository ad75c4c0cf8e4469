/** A process that checks random programs for another one (run.ts): it says which one it is at, so that one which hangs can be named. */
import { checkProgram, type Failure, failsAgain } from './checks.js'
import { addCoverage, type Coverage, countRefused, countShapes, countSteps, emptyCoverage } from './coverage.js'
import { generate, type Wanted } from './generate.js'
import { cpuLanes, type Lanes, laneOf } from './lanes.js'
import { laws } from './laws.js'
import type { RandomProgram } from './program.js'
import { shrink } from './shrink.js'

/** What is asked: seeds from..to - 1, or one given program alone. */
export type Task =
  | { readonly kind: Wanted; readonly from: number; readonly to: number; readonly shrinkMs: number }
  | { readonly program: RandomProgram }
export interface Found {
  readonly seed: number
  readonly failure: Failure
  readonly program: RandomProgram
  /** Passes without which it holds. */
  readonly passes: readonly string[]
}
export type Message =
  | { readonly at: number }
  | { readonly found: Found }
  | { readonly done: Coverage }
  | { readonly outcome: Failure | null }

/** A new backend every so many programs: the kernels that it keeps would fill memory. */
const FRESH = 400

/** Checks the program of a seed; what is thrown outside of the checks is a fault of the generator, and is told as such. */
export const checkSeed = (seed: number, kind: Wanted, lanes: Lanes, coverage?: Coverage): Found | undefined => {
  const { program, refused } = generate(seed, kind)
  if (coverage !== undefined) {
    countSteps(coverage, program)
    countRefused(coverage, refused)
    if (kind === 'loops') countShapes(coverage, program)
  }
  const failure = checkProgram(program, laws, { lanes, ...(coverage !== undefined && { coverage }) })
  return failure === undefined ? undefined : { seed, failure, program, passes: [] }
}

/** The smallest program that fails in the same way, and the passes without which it holds. */
export const smaller = async (found: Found, lanes: Lanes, ms: number, beat: () => void = () => undefined): Promise<Found> => {
  const fails = (p: RandomProgram): boolean => {
    beat()
    return failsAgain(p, laws, { lanes }, found.failure)
  }
  const program = await shrink(found.program, fails, ms)
  const failure = checkProgram(program, laws, { lanes, law: found.failure.law ?? 'none' }) ?? found.failure
  return { ...found, failure, program, passes: guilty(program, failure, lanes) }
}
/** The passes of the plan without which the program holds on the backend with vectors. */
const guilty = (program: RandomProgram, failure: Failure, lanes: Lanes): readonly string[] =>
  [...lanes.without].flatMap(([pass, make]) => {
    const only = { ...lanes, lanes: [laneOf('simd', make())] }
    return failsAgain(program, laws, { lanes: only }, { ...failure, kind: failure.kind.replace('on plain', 'on simd') }) ? [] : [pass]
  })

const send = (m: Message): void => void process.send?.(m)
const main = (): void => {
  let lanes: Lanes | undefined
  let used = 0
  const shrunk = new Map<string, number>()
  const work = async (task: Task): Promise<void> => {
    lanes ??= cpuLanes()
    if ('program' in task) return send({ outcome: checkProgram(task.program, laws, { lanes }) ?? null })
    const coverage = emptyCoverage()
    for (let seed = task.from; seed < task.to; seed++) {
      send({ at: seed })
      if (used++ >= FRESH) {
        lanes = cpuLanes()
        used = 0
      }
      const own = emptyCoverage()
      const found = checkSeed(seed, task.kind, lanes, own)
      addCoverage(coverage, own)
      if (found === undefined) continue
      send({ found })
      const n = shrunk.get(found.failure.kind) ?? 0
      shrunk.set(found.failure.kind, n + 1)
      // A few of each kind are enough: the smallest is shown.
      if (n < 3 && task.shrinkMs > 0) send({ found: await smaller(found, lanes, task.shrinkMs, () => send({ at: seed })) })
    }
    send({ done: coverage })
  }
  process.on('message', (task: Task) => {
    work(task).catch((e: unknown) => {
      console.error(e)
      process.exit(3)
    })
  })
}
if (process.argv.includes('--programs-worker')) main()
