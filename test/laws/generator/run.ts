/** Many random programs over worker processes, each program under a time limit; what fails is made small. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { ENGINE } from '../../engine.js'
import type { Failure } from './checks.js'
import { addCoverage, type Coverage, emptyCoverage } from './coverage.js'
import { opsOf } from './draw.js'
import { generate, type Wanted } from './generate.js'
import { printProgram } from './print.js'
import type { RandomProgram } from './program.js'
import { shrink, sizeOf } from './shrink.js'
import type { Found, Message, Task } from './worker.js'

export interface RunOptions {
  readonly runs: number
  readonly seed: number
  readonly kind?: Wanted
  readonly workers?: number
  /** A program that takes longer hangs. */
  readonly limitMs?: number
  /** For each failure that is made smaller. */
  readonly shrinkMs?: number
  readonly progress?: (done: number, failed: number) => void
  /** Once it says so no more programs are begun. */
  readonly stop?: () => boolean
}
export interface Result {
  /** Programs that were checked: fewer than were wanted where it was stopped. */
  readonly runs: number
  /** The seed to go on with. */
  readonly next: number
  readonly coverage: Coverage
  /** Of each kind of failure the smallest programs of different operations, and all seeds. */
  readonly failures: readonly { readonly smallest: readonly Found[]; readonly seeds: readonly number[] }[]
  readonly ms: number
}

const CHUNK = 50
/** Programs shown of one kind of failure. */
const SHOWN = 4
/** The worker and all that it imports as one file: it starts sooner, and runs faster, than where each module is transformed as it is loaded. */
const bundled = async (): Promise<string> => {
  const outfile = join(mkdtempSync(join(tmpdir(), 'programs-')), 'worker.mjs')
  const entry = fileURLToPath(new URL('./worker.ts', import.meta.url))
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' })
  return outfile
}
const start = (file: string): ChildProcess =>
  fork(file, ['--programs-worker'], { execArgv: [...ENGINE], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
const HANG: Failure = { kind: 'hangs', what: 'does not come to an end' }

/** Gives a worker one task; resolves when it is done, or with what it was at when it was silent for too long or died. */
const give = (
  worker: ChildProcess,
  task: Task,
  limitMs: number,
  hear: (m: Message) => void,
): Promise<{ readonly stuckAt?: number; readonly dead: boolean }> =>
  new Promise((resolve) => {
    let at = 'from' in task ? task.from : 0
    let timer: NodeJS.Timeout
    const finish = (r: { readonly stuckAt?: number; readonly dead: boolean }): void => {
      clearTimeout(timer)
      worker.off('message', onMessage)
      worker.off('exit', onExit)
      resolve(r)
    }
    const wait = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        worker.kill('SIGKILL')
        finish({ stuckAt: at, dead: true })
      }, limitMs)
    }
    const onMessage = (m: Message): void => {
      wait()
      if ('at' in m) at = m.at
      else hear(m)
      if ('done' in m || 'outcome' in m) finish({ dead: false })
    }
    const onExit = (): void => finish({ stuckAt: at, dead: true })
    worker.on('message', onMessage)
    worker.on('exit', onExit)
    wait()
    worker.send(task)
  })

/** A program that hangs, made smaller: each attempt in a worker of its own clock. */
const smallerHang = async (file: string, program: RandomProgram, ms: number): Promise<RandomProgram> => {
  let worker = start(file)
  let warm = false
  const fails = async (p: RandomProgram): Promise<boolean> => {
    const { dead } = await give(worker, { program: p }, warm ? 4000 : 15_000, () => undefined)
    warm = !dead
    if (dead) worker = start(file)
    return dead
  }
  const best = await shrink(program, fails, ms)
  worker.kill('SIGKILL')
  return best
}

export const runPrograms = async (o: RunOptions): Promise<Result> => {
  const { runs, seed, kind = 'all', workers = 1, limitMs = 60_000, shrinkMs = 15_000 } = o
  const t = performance.now()
  const file = await bundled()
  const coverage = emptyCoverage()
  const found: Found[] = []
  const failed = new Set<number>()
  let next = seed
  let done = 0
  const hear = (m: Message): void => {
    if ('found' in m) {
      found.push(m.found)
      failed.add(m.found.seed)
    }
    if ('done' in m) addCoverage(coverage, m.done)
  }
  const one = async (): Promise<void> => {
    let worker = start(file)
    while (next < seed + runs && o.stop?.() !== true) {
      let from = next
      const to = Math.min(next + CHUNK, seed + runs)
      next = to
      while (from < to) {
        const { stuckAt, dead } = await give(worker, { kind, from, to, shrinkMs }, limitMs, hear)
        if (!dead) break
        worker = start(file)
        const at = stuckAt ?? from
        // Stuck while a failure that is known was made smaller: that one stays as it is.
        if (!failed.has(at)) {
          failed.add(at)
          const { program } = generate(at, kind)
          found.push({ seed: at, failure: HANG, program, passes: [] })
        }
        from = at + 1
      }
      done += to - Math.max(to - CHUNK, seed)
      o.progress?.(Math.min(done, runs), failed.size)
    }
    worker.kill()
  }
  await Promise.all(Array.from({ length: workers }, one))
  const kinds = new Map<string, Found[]>()
  for (const f of found) kinds.set(f.failure.kind, [...(kinds.get(f.failure.kind) ?? []), f])
  const failures = []
  for (const [k, all] of kinds) {
    // One program for each set of operations: faults of one kind may be several.
    const byOps = new Map<string, Found>()
    const told = new Set<number>()
    for (const f of all.toSorted((a, b) => sizeOf(a.program) - sizeOf(b.program))) {
      if (told.has(f.seed)) continue
      told.add(f.seed)
      const ops = new Set<string>()
      opsOf(f.program.steps, (op) => ops.add(op))
      const key = [...ops].sort().join()
      if (!byOps.has(key)) byOps.set(key, f)
    }
    const smallest = [...byOps.values()].slice(0, SHOWN)
    if (k === HANG.kind && shrinkMs > 0) {
      const program = await smallerHang(file, smallest[0]!.program, 4 * shrinkMs)
      smallest.splice(0, SHOWN, { ...smallest[0]!, program })
    }
    failures.push({ smallest, seeds: [...new Set(all.map((f) => f.seed))].sort((a, b) => a - b) })
  }
  failures.sort((a, b) => b.seeds.length - a.seeds.length)
  rmSync(dirname(file), { recursive: true })
  return { runs: next - seed, next, coverage, failures, ms: performance.now() - t }
}

/** The program as text; one that cannot be traced as its steps. */
const printed = ({ program, failure }: Found): string => {
  try {
    return printProgram(program, failure.kind)
  } catch {
    return JSON.stringify(program)
  }
}
/** Failures as text: how many, which seeds, the smallest programs, the passes. */
export const failuresText = (r: Result, kind: Wanted = 'all'): string =>
  r.failures
    .map(({ smallest, seeds }) =>
      [
        `${seeds.length} x ${smallest[0]!.failure.kind}`,
        `  seeds ${seeds.slice(0, 12).join(', ')}${seeds.length > 12 ? ' ...' : ''}`,
        ...smallest.map((found) =>
          [
            `  seed ${found.seed}: ${found.failure.what.split('\n')[0]}`,
            `  again: npm run check:programs -- --seed ${found.seed} --runs 1${kind === 'all' ? '' : ` --kind ${kind}`}`,
            ...(found.passes.length > 0 ? [`  holds without the pass: ${found.passes.join(', ')}`] : []),
            printed(found)
              .split('\n')
              .map((l) => `    ${l}`)
              .join('\n'),
          ].join('\n'),
        ),
      ].join('\n'),
    )
    .join('\n\n')
