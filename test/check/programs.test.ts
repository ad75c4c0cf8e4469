/** Random programs over a registry of one's own: twelve primitives without a difference, and every mistake found and named. */
import { describe, expect, it } from 'vitest'
import { forAllPrograms, forAllProgramsAsync, reportPrograms } from '../../src/check/index.js'
import type { AsyncBackend, SyncBackend } from '../../src/core/functions/backend.js'
import * as cd from '../../src/index.js'
import { type Mistake, mistakes, ownPlugin } from './own-primitives.js'

const many = Number(process.env.OWN_PROGRAMS ?? 300)

describe('random programs over own primitives', () => {
  it('hold, and reach every one of them, in derivatives too', { timeout: 3_600_000 }, () => {
    const plugin = ownPlugin()
    const c = forAllPrograms(plugin, { runs: many, seed: 1 })
    expect(c._tag === 'Left' ? reportPrograms(c) : '').toBe('')
    if (c._tag === 'Left') return
    for (const name of plugin.ops.keys()) {
      expect(c.right.reached[name]!.values).toBeGreaterThan(many / 100)
      if (name !== 'ranks') expect(c.right.reached[name]!.derivatives).toBeGreaterThan(many / 100)
    }
    expect(reportPrograms(c)).toMatch(/^ok {3}\d+ programs, /)
  })

  it.each(Object.entries(mistakes) as [Mistake, string][])('find and name: %s', { timeout: 240_000 }, (mistake, guilty) => {
    const plugin = ownPlugin(mistake)
    const c = forAllPrograms(plugin, { runs: 500, seed: 1 })
    expect(c).toMatchObject({ _tag: 'Left', left: { guilty } })
    if (c._tag === 'Right') return
    const text = reportPrograms(c)
    expect(text.split('\n').length).toBeLessThanOrEqual(10)
    expect(text.split('\n')[0]).toBe(`${guilty} fails`)
    // The replay draws the same program and ends at the same counterexample.
    const again = forAllPrograms(plugin, c.left.replay)
    expect(again).toEqual(c)
  })
})
