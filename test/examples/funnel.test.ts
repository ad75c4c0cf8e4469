/** The funnel: non-centred draws have the moments and the tail of v, centred ones miss it and say so. */
import { describe, expect, it } from 'vitest'
import * as example from '../../examples/funnel.js'
import { pictured } from './told.js'

describe('funnel', () => {
  it('the neck, which the centred form misses', async () => {
    const { result, text } = await pictured((log, out) => example.main(log, { out }))
    const { v, shares } = result
    expect(Math.abs(v.mean) / v.mcse).toBeLessThan(4)
    expect(Math.abs(v.sd / 3 - 1)).toBeLessThan(0.05)
    expect(v.rhat).toBeLessThan(1.01)
    // P(v < -5) = Phi(-5 / 3), and four standard errors of 2000 effective draws.
    const tail = 0.04779035
    expect(Math.abs(shares.nonCentred - tail)).toBeLessThan(4 * Math.sqrt((tail * (1 - tail)) / 2000))
    expect(shares.centred).toBeLessThan(tail / 2)
    expect(text).toMatch(/centred: \d+ of 4000 draws ended in a divergence/)
  })
})
