/** Thurber's curve: what NIST has certified, parameters and standard deviations, and the band by its own definition. */
import { describe, expect, it } from 'vitest'
import * as thurber from '../../examples/thurber.js'
import { pictured } from './told.js'

describe('thurber', () => {
  it('parameters and standard deviations are those that are certified', async () => {
    const { result, text } = await pictured((log, out) => thurber.main(log, { out }))
    for (const [k, [value, sd]] of thurber.certified.entries()) {
      expect(Math.abs(result.values[k]! / value - 1)).toBeLessThan(1e-6)
      expect(Math.abs(result.errors[k]! / sd - 1)).toBeLessThan(1e-5)
    }
    expect(text).toMatch(/^b1 {2}1288\.1396/m)
  })
  it('the curve is known best where there are measurements', async () => {
    const { result } = await pictured((log, out) => thurber.main(log, { out }))
    expect(Math.min(...result.band)).toBeGreaterThan(1)
    expect(result.band.at(-1)!).toBeGreaterThan(result.band[150]!)
  })
})
