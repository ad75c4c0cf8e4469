/**
 * Each single fact of each primitive is taken away, in a library of its own: a law of test/laws/facts.ts finds it, or it stands in `alive` with a reason, or it says what is taken for so
 * without it. The table of what found what is printed.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { half } from '../depth.js'
import { alive, asking, facts, isTakenSo, type Verdict } from './without.js'

describe('a fact that is left out', () => {
  const tried = half(facts, 0)
  const verdicts = new Map<string, Verdict>()
  const nameOf = ({ name, fact }: (typeof facts)[number]): string => `${fact} of ${name}`
  beforeAll(async () => {
    const ask = await asking()
    for (const f of tried) verdicts.set(nameOf(f), ask(f.name, f.fact))
  }, 600_000)

  it('is found by a law', () => {
    const unfound = tried.filter((f) => verdicts.get(nameOf(f)) === undefined && !isTakenSo(f)).map(nameOf)
    const all = new Set(facts.map(nameOf))
    expect(Object.keys(alive).filter((name) => !all.has(name))).toEqual([])
    const names = new Set(tried.map(nameOf))
    expect(unfound.sort()).toEqual(
      Object.keys(alive)
        .filter((name) => names.has(name))
        .sort(),
    )
    expect(tried.filter(isTakenSo).every((f) => verdicts.get(nameOf(f)) === undefined)).toBe(true)
  })
  it('of as many as there are', () => {
    expect(facts.length).toBeGreaterThanOrEqual(180)
    const table = new Map<string, string[]>()
    for (const f of tried) {
      const by = verdicts.get(nameOf(f))?.law ?? (isTakenSo(f) ? 'taken for so without it' : 'nothing')
      const row = `${f.fact.padEnd(16)} ${by}`
      table.set(row, [...(table.get(row) ?? []), f.name])
    }
    process.stderr.write(
      `${[...table]
        .sort()
        .map(([row, names]) => `${row} (${names.length}): ${names.join(' ')}`)
        .join('\n')}\n`,
    )
  })
})
