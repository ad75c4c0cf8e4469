/** The proof of the proof: every fault of a list, put into the planner, is found by the verifier or by numbers. `MUTANTS=5000 npm run check:mutants` tries more programs on those that live longest. */
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { deep, half, whole } from '../depth.js'
import { edited } from '../mutants/edit.js'
import { answersOf } from '../mutants/workers.js'
import { kinds, mutants } from './mutants/list.js'
import type { Answer, Task } from './mutants/worker.js'

/** Half of each kind, all of them at `npm run test:whole`; one of each kind at `npm test`: the first. */
const tried = Object.values(kinds).flatMap((list) => (deep ? half(list, 0) : list.slice(0, 1)))
const runs = Number(process.env.MUTANTS ?? 2000)
/** One process: another file runs beside this one, and each process compiles the library anew. */
const workers = whole ? 2 : 1

describe('faults in the planner', () => {
  let answers: ReadonlyMap<Task['at'], Answer | undefined>
  beforeAll(async () => {
    const tasks: readonly Task[] = [{ at: 'whole', runs: deep ? 30 : 4 }, ...tried.map((m) => ({ at: mutants.indexOf(m), runs }))]
    const file = fileURLToPath(new URL('./mutants/worker.ts', import.meta.url))
    const found = await answersOf<Task, Answer>(tasks, { file, workers, limitMs: deep ? 600_000 : 60_000 })
    answers = new Map(tasks.map(({ at }, i) => [at, found[i]]))
  }, 3_600_000)

  it('are many, and each stands where it says', () => {
    expect(new Set(mutants.map((m) => m.name)).size).toBe(mutants.length)
    for (const m of mutants) expect(edited(m)).not.toBe('')
  })
  it('are none in the planner as it is', () => expect(answers.get('whole')?.what).toBe('survived'))
  // One that does not end was killed too.
  it.each(tried.map((m) => [m.name, m] as const))('%s', (_name, m) =>
    expect(answers.get(mutants.indexOf(m)) ?? { killed: true }).toMatchObject({ killed: true }),
  )
})
