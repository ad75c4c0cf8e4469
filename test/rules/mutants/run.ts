/** Many mistakes over worker processes, each under a time limit, and the table of what found them. */
import { fileURLToPath } from 'node:url'
import { answersOf } from '../../mutants/workers.js'
import { mutants } from './list.js'
import type { Task, Verdict } from './worker.js'

export interface RunOptions {
  readonly workers: number
  /** How long random programs look for one mistake. */
  readonly programsMs: number
  /** One that takes longer does not end. */
  readonly limitMs: number
  /** Of how many functions the library as it is is tried; of all by default. */
  readonly functions?: number
  readonly progress?: (name: string, v: Verdict) => void
}
const file = fileURLToPath(new URL('./worker.ts', import.meta.url))

/** What became of the mistakes at these positions of the list ('whole': of the library as it is). */
export const run = async (tasks: readonly Task['at'][], o: RunOptions): Promise<ReadonlyMap<Task['at'], Verdict>> => {
  const verdicts = new Map<Task['at'], Verdict>()
  const onAnswer = (task: Task, said: Verdict | undefined): void => {
    const v = said ?? { by: 'time', what: 'does not end', ms: o.limitMs }
    verdicts.set(task.at, v)
    o.progress?.(task.at === 'whole' ? 'the library as it is' : mutants[task.at]!.name, v)
  }
  await answersOf<Task, Verdict>(
    tasks.map((at) => ({ at, programsMs: o.programsMs, functions: o.functions })),
    { file, workers: o.workers, limitMs: o.limitMs, onAnswer },
  )
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
