/** The hierarchical regression: ADVI near NUTS where its weights may be trusted, the mode told to be no summary where they may not, and what sharing gains. */
import { describe, expect, it } from 'vitest'
import * as example from '../../examples/hierarchical.js'
import { pictured } from './told.js'

describe('hierarchical', () => {
  it('three ways to the posterior', { timeout: 300_000 }, async () => {
    const { result, text } = await pictured((log, out) => example.main(log, { out }))
    const { found, ks } = result
    expect(ks[1]).toBeLessThan(0.7)
    for (const { name, nuts, advi } of found) {
      expect(Math.abs(nuts[0] - example.truth[name]) / nuts[1], name).toBeLessThan(3.5)
      // Weighted draws of an approximation that may be trusted.
      expect(Math.abs(advi[0] - nuts[0]) / nuts[1], name).toBeLessThan(0.35)
      expect(Math.abs(advi[1] / nuts[1] - 1), name).toBeLessThan(0.35)
    }
    // The mode of a hierarchical model lies where the density is narrow, and k says so.
    expect(ks[0]).toBeGreaterThan(0.7)
    expect(result.together).toBeLessThan(result.apart)
    expect(text).toMatch(/^k of the weights: [\d.]+ at the mode, 0\.\d+ by ADVI/m)
  })
})
