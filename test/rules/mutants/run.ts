/** Many mistakes over worker processes, each under a time limit, and the table of what found them. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { mutants } from './list.js'
import type { Answer, Task, Verdict } from './worker.js'

export interface RunOptions {
  readonly workers: number
  /** How long random programs look for one mistake. */
  readonly programsMs: number
  /** One that takes longer does not end. */
  readonly limitMs: number
  readonly progress?: (name: string, v: Verdict) => void
}
const file = fileURLToPath(new URL('./worker.ts', import.meta.url))
const started = (): Promise<ChildProcess> =>
  new Promise((done, failed) => {
    const worker = fork(file, ['--mutants-worker'], { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    worker.once('message', () => done(worker))
    worker.once('exit', (code) => failed(new Error(`a worker ended at once, with ${code}`)))
  })
/** What a worker says of one; undefined where it says nothing in time, or dies of it. */
const asked = (worker: ChildProcess, task: Task, limitMs: number): Promise<Verdict | undefined> =>
  new Promise((done) => {
    const finish = (v: Verdict | undefined): void => {
      clearTimeout(timer)
      worker.off('message', hear)
      worker.off('exit', gone)
      done(v)
    }
    const hear = (a: Answer): void => finish(a.verdict)
    const gone = (): void => finish(undefined)
    const timer = setTimeout(gone, limitMs)
    worker.on('message', hear)
    worker.on('exit', gone)
    worker.send(task)
  })

/** What became of the mistakes at these positions of the list ('whole': of the library as it is). */
export const run = async (tasks: readonly Task['at'][], o: RunOptions): Promise<ReadonlyMap<Task['at'], Verdict>> => {
  const verdicts = new Map<Task['at'], Verdict>()
  const queue = [...tasks]
  const one = async (): Promise<void> => {
    let worker: ChildProcess | undefined
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      worker ??= await started()
      const said = await asked(worker, { at, programsMs: o.programsMs }, o.limitMs)
      if (said === undefined) {
        worker.kill('SIGKILL')
        worker = undefined
      }
      const v = said ?? { by: 'time', what: 'does not end', ms: o.limitMs }
      verdicts.set(at, v)
      o.progress?.(at === 'whole' ? 'the library as it is' : mutants[at]!.name, v)
    }
    worker?.kill()
  }
  await Promise.all(Array.from({ length: o.workers }, one))
  return verdicts
}

/** For each kind of mistake how many there are, who found them, and the names of those that live. */
export const table = (verdicts: ReadonlyMap<Task['at'], Verdict>): string => {
  const rows = new Map<string, Verdict['by'][]>()
  for (const [at, v] of verdicts) if (at !== 'whole') rows.set(mutants[at]!.kind, [...(rows.get(mutants[at]!.kind) ?? []), v.by])
  const all = [...rows.values()].flat()
  const columns = ['rules', 'functions', 'operators', 'others', 'programs', 'time', 'nobody'] as const
  const line = (cells: readonly (string | number)[]): string =>
    cells.map((c, i) => (i === 0 ? String(c).padEnd(34) : String(c).padStart(11))).join('')
  const counted = (kind: string, list: readonly Verdict['by'][]): string =>
    line([kind, list.length, ...columns.map((c) => list.filter((v) => v === c).length)])
  const alive = [...verdicts].flatMap(([at, v]) =>
    at !== 'whole' && v.by === 'nobody' ? [`  ${mutants[at]!.kind} | ${mutants[at]!.name}`] : [],
  )
  return [
    line(['kind of mistake', 'mistakes', 'its rules', 'functions', 'operators', 'all rules', 'programs', 'no end', 'alive']),
    ...[...rows].map(([kind, list]) => counted(kind, list)),
    counted('all', all),
    ...(alive.length > 0 ? ['alive:', ...alive] : []),
  ].join('\n')
}
