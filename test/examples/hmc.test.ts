/** Hamiltonian Monte Carlo: the posterior means are those of a quadrature, within the error that the chains themselves tell. */
import { describe, expect, it } from 'vitest'
import * as hmc from '../../examples/hmc.js'
import { pictured } from './told.js'

/** Posterior means of a, b and the chance at 31 degrees by sums over a grid, which is exact to about 1e-9: nothing of the library. */
const byQuadrature = () => {
  const log1pexp = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))
  const sums = [0, 0, 0, 0]
  for (let i = -250; i <= 250; i++) {
    for (let j = -300; j <= 150; j++) {
      const [a, b] = [0.04 * i, 0.06 * j]
      let l = -(a * a + b * b) / (2 * hmc.priorDeviation ** 2)
      for (const [degrees, damaged] of hmc.launches) l -= log1pexp((damaged ? -1 : 1) * (a + b * hmc.scaled(degrees)))
      const weight = Math.exp(l)
      const chance = 1 / (1 + Math.exp(-(a + b * hmc.scaled(31))))
      for (const [k, v] of [1, a, b, chance].entries()) sums[k]! += weight * v
    }
  }
  return [sums[1]! / sums[0]!, sums[2]! / sums[0]!, sums[3]! / sums[0]!] as const
}

describe('hmc', () => {
  it('23 launches, 7 with damage', () => {
    expect([hmc.launches.length, hmc.launches.filter(([, damaged]) => damaged).length]).toEqual([23, 7])
  })
  it('posterior means within four standard errors of a quadrature', async () => {
    const { result, text } = await pictured((log, out) => hmc.main(log, { draws: 1000, out }))
    const known = byQuadrature()
    for (const [k, { mean, error }] of [result.a, result.b, result.damage].entries()) {
      expect(Math.abs(mean - known[k]!)).toBeLessThan(4 * error)
      expect(error).toBeLessThan(0.04)
    }
    expect(text).toMatch(/^8 chains of 1000 draws, \d+ % accepted$/m)
  })
})
