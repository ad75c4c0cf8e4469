/** Random programs over a registry of one's own: twelve primitives without a difference, and every mistake found and named. */

import { describe, expect, it } from 'vitest'
import { forAllPrograms, reportPrograms } from '../../src/check/index.js'
import { count, deep, some } from '../depth.js'
import { type Mistake, mistakes, ownPlugin } from './own-primitives.js'

/** `npm run check:programs:own` makes as many as wanted. */
const many = Number(process.env.OWN_PROGRAMS ?? count(12, 120, 250))

describe('random programs over own primitives', () => {
  it('hold, and reach every one of them, in derivatives too', { timeout: 600_000 }, () => {
    const plugin = ownPlugin()
    const told: number[] = []
    const c = forAllPrograms(plugin, { runs: many, seed: 1, progress: (done) => told.push(done) })
    expect(c._tag === 'Left' ? reportPrograms(c) : '').toBe('')
    if (c._tag === 'Left' || !deep) return
    for (const name of plugin.ops.keys()) {
      expect(c.right.reached[name]!.values).toBeGreaterThan(many / 100)
      // Ranks have no derivative: they read what nobody differentiates, and the rest of the program is differentiated.
      expect(c.right.reached[name]!.derivatives).toBeGreaterThan(name === 'ranks' ? -1 : many / 100)
    }
    // Of what was drawn: ranks, and derivatives by shape parameters, which have none of their own; functions are no data.
    const { derivatives, vmap, JSON: unsaved, ...rest } = c.right.without
    expect(derivatives!.filter((name) => !/^(betainc|gammainc|zeta)Grad/.test(name))).toEqual(['ranks'])
    expect([vmap, unsaved!.filter((name) => name !== 'tap'), rest]).toEqual([['ranks'], ['customRule'], {}])
    expect(told).toEqual(Array.from({ length: many }, (_, i) => i + 1))
    expect(reportPrograms(c)).toMatch(
      new RegExp(`^ok {3}${many} programs, \\d+ steps, \\d+ comparisons \\(seed 1\\)\n\\d+ of \\d+ primitives reached`),
    )
  })

  it.each(some(Object.entries(mistakes) as [Mistake, string][], 1, 9))('find and name: %s', { timeout: 240_000 }, (mistake, guilty) => {
    const plugin = ownPlugin(mistake)
    const c = forAllPrograms(plugin, { runs: 500, seed: 1 })
    expect(c).toMatchObject({ _tag: 'Left', left: { guilty } })
    if (c._tag === 'Right') return
    const text = reportPrograms(c)
    expect(text.split('\n').length).toBeLessThanOrEqual(10)
    expect(text.split('\n')[0]).toBe(`${guilty} fails`)
    // The replay draws the same program and ends at the same counterexample, also as the line that is printed.
    expect(text.endsWith(`replay: ${c.left.line}`)).toBe(true)
    expect(new Function('forAllPrograms', 'registry', `return ${c.left.line}`)(forAllPrograms, plugin)).toEqual(c)
  })
})
