/** The flight to Mars: it arrives, by nearly Hohmann's launch; leapfrog is of order 2 and keeps the energy. */
import { describe, expect, it } from 'vitest'
import * as nbody from '../../examples/nbody.js'
import { checkGrad, report } from '../../src/check/index.js'
import { f64, fn } from '../../src/index.js'
import { pictured } from './told.js'

describe('nbody', () => {
  it('the probe arrives, launched as Hohmann says but for the pull of the planets', async () => {
    const { result } = await pictured((log, out) => nbody.main(log, { steps: 200, out }))
    expect(result.misses[0]).toBeGreaterThan(0.5)
    expect(result.distance).toBeLessThan(1e-12)
    // by the ellipse's energy, v^2 = G (2 / 1 - 1 / a), a = (1 + r) / 2; what Earth takes back at 0.02 radii: G m / 0.02 = 0.006, so 0.006 / 6.9 more of speed
    expect(result.hohmann ** 2).toBeCloseTo(4 * Math.PI ** 2 * (2 - 2 / (1 + 1.524)), 12)
    expect(result.speed - result.hohmann).toBeGreaterThan(0)
    expect(result.speed - result.hohmann).toBeLessThan(0.02)
    expect(result.drift).toBeLessThan(1e-6)
  })
  it('twice the steps, a quarter of the error', () => {
    const end = (steps: number) =>
      nbody
        .flight(steps)({ launch: [0, 7] })
        .miss.toArray()
    const [a, b, c] = [end(400), end(800), end(1600)] as const
    for (const k of [0, 1] as const) expect((a[k] - b[k]) / (b[k] - c[k])).toBeCloseTo(4, 1)
  })
  it('the derivatives of a short flight are those of finite differences, to the second order', () => {
    const miss = fn({ launch: f64(2) }, ({ launch }) => nbody.flight(4)({ launch }).miss)
    expect(report(checkGrad(miss)({ launch: [0.1, 6.9] }))).toMatch(/^ok/)
  })
})
