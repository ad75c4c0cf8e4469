/**
 * The proof of the checker: every mistake of a list (but for those in alive.ts), put into a rule or a mode, is found by the checker or by random programs alone. `npm test` tries
 * a dozen of different kinds, `npm run test:all` a sample of each kind; `RULE_MUTANTS=all vitest run test/rules/mutants.test.ts` tries all of them, `RULE_MUTANTS=linalg,special` those of these files, kinds or names.
 */
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { deep, some, whole } from '../depth.js'
import { edited } from '../mutants/edit.js'
import { alive } from './mutants/alive.js'
import { proofs } from './mutants/equivalent.js'
import { equivalents, all as every, mutants } from './mutants/list.js'
import type { Mutant } from './mutants/mutant.js'
import { quick } from './mutants/quick.js'
import { run, table } from './mutants/run.js'

/** `all`, or words: the mistakes whose kind, file or name has one of them. */
const asked = process.env.RULE_MUTANTS
const all = asked !== undefined
const isAsked = (m: Mutant): boolean => asked === 'all' || (asked ?? '').split(',').some((w) => `${m.kind} ${m.file} ${m.name}`.includes(w))
const programsMs = all ? 20_000 : deep ? 4_000 : 0
const limitMs = all ? 600_000 : 60_000

/** Some of each kind, drawn by a fixed seed: about `count` of all. */
const sampled = (count: number): readonly number[] => {
  const next = random(20_270_113)
  const kinds = new Map<string, number[]>()
  for (const [i, m] of mutants.entries()) if (!alive.includes(m.name)) kinds.set(m.kind, [...(kinds.get(m.kind) ?? []), i])
  return [...kinds.values()].flatMap((list) => {
    const left = [...list]
    return Array.from({ length: Math.max(1, Math.round((count * list.length) / mutants.length)) }, () =>
      left.splice(Math.floor(next() * left.length), 1),
    ).flat()
  })
}

describe('mistakes in rules and modes', () => {
  it('are many, of many kinds, and each stands where it says', () => {
    expect(new Set(every.map((m) => m.name)).size).toBe(every.length)
    expect(equivalents.map((m) => m.name).sort()).toEqual(Object.keys(proofs).sort())
    expect(mutants.length).toBeGreaterThanOrEqual(400)
    for (const m of every) expect(edited(m)).not.toBe('')
  })
  it('are nearly all found: those that are not are listed', () => {
    const names = new Set(mutants.map((m) => m.name))
    expect(alive.filter((name) => !names.has(name))).toEqual([])
    expect(alive.length).toBeLessThanOrEqual(2)
  })
  it('has one of each kind that is found at once', () => {
    const kinds = quick.map((name) => mutants.find((m) => m.name === name)?.kind)
    expect(kinds).toEqual([...new Set(mutants.map((m) => m.kind))])
  })
  if (deep)
    it('are none in the rules and modes as they are', { timeout: 600_000 }, async () => {
      // Without `all` some functions, and neither its primitives nor random programs: other tests have these of the library as it is.
      const found = await run(['whole'], {
        workers: 1,
        limitMs: 600_000,
        programsMs: all ? programsMs : 0,
        ...(!all && !whole && { functions: 30 }),
      })
      expect(found.get('whole')).toMatchObject({ by: 'nobody' })
    })
  it('are found', { timeout: 7_200_000 }, async () => {
    let done = 0
    const drawn = (): readonly number[] =>
      deep ? sampled(whole ? 40 : 24) : some(quick, 12).map((name) => mutants.findIndex((m) => m.name === name))
    const tasks = all ? [...mutants.keys()].filter((i) => isAsked(mutants[i]!)) : drawn()
    const progress = all
      ? (name: string, v: { readonly by: string; readonly what: string; readonly ms: number }): void => {
          done++
          process.stderr.write(`${done}/${tasks.length} ${Math.round(v.ms)} ms | ${v.by} | ${name} | ${v.what.slice(0, 120)}\n`)
        }
      : undefined
    const verdicts = await run(tasks, { workers: all ? 2 : 1, programsMs, limitMs, ...(progress && { progress }) })
    if (all) process.stderr.write(`${table(verdicts)}\n`)
    const unfound = [...verdicts].flatMap(([at, v]) => (v.by === 'nobody' ? [mutants[at as number]!.name] : []))
    expect(unfound.filter((name) => !alive.includes(name))).toEqual([])
  })
})
