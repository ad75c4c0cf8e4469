/** Stochastic volatility: what the data were simulated with is found, within what the posterior allows, and the band holds the volatility about as often as it says. */
import { describe, expect, it } from 'vitest'
import * as example from '../../examples/volatility.js'
import { evaluate, grad } from '../../src/index.js'
import { condition, logJoint } from '../../src/prob/index.js'
import { pictured } from './told.js'

describe('volatility', () => {
  it('the numbers that the data were simulated with, and the volatility of the days', { timeout: 300_000 }, async () => {
    const { result, text } = await pictured((log, out) => example.main(log, { days: 200, draws: 300, chains: 3, seed: 2, out }))
    for (const row of result.rows) {
      expect(Math.abs(row.mean - example.truth[row.name as 'mu']) / row.sd, row.name).toBeLessThan(3.5)
      expect(row.rhat, row.name).toBeLessThan(1.05)
    }
    expect(result.inside).toBeGreaterThan(0.75)
    expect(text).toMatch(/^the volatility that was simulated is in the band on \d+ % of the days$/m)
  })
  it('the joint density is that of its definition, and its gradient that of differences', () => {
    const returns = [0.3, -0.5, 0.2]
    const m = condition(example.modelOf(returns), {})
    const z = [0.4, -1, 0.6]
    const [mu, share, sigma] = [-0.8, 0.95, 0.3]
    const phi = 2 * share - 1
    const density = (sd: number): number => {
      const h: number[] = []
      for (const [t, zt] of z.entries()) h.push(t === 0 ? (zt * sd) / Math.sqrt(1 - phi ** 2) : phi * h[t - 1]! + sd * zt)
      const gauss = (x: number, m0: number, s: number): number => -0.5 * Math.log(2 * Math.PI) - Math.log(s) - 0.5 * ((x - m0) / s) ** 2
      // beta(20, 1.5) at share: its normaliser by the gamma function of halves, B = Gamma(20) Gamma(1.5) / Gamma(21.5)
      const logGamma = (n: number): number => (n < 2 ? Math.log(Math.sqrt(Math.PI) / 2) : Math.log(n - 1) + logGamma(n - 1))
      const factorial = Array.from({ length: 19 }, (_, i) => Math.log(i + 1)).reduce((a, b) => a + b, 0)
      const beta = 19 * Math.log(share) + 0.5 * Math.log(1 - share) - (factorial + logGamma(1.5) - logGamma(21.5))
      const halfNormal = Math.log(2) + gauss(sd, 0, 0.5)
      return (
        gauss(mu, -1, 2) +
        beta +
        halfNormal +
        z.reduce((s, x) => s + gauss(x, 0, 1), 0) +
        returns.reduce((s, r, t) => s + gauss(r, 0, Math.exp((mu + h[t]!) / 2)), 0)
      )
    }
    const joint = (sd: unknown): unknown => logJoint(m, { mu, share, sigma: sd, z } as never)
    expect(evaluate(joint(sigma) as never as ReturnType<typeof logJoint>).item()).toBeCloseTo(density(sigma), 9)
    const slope = (grad(joint as never) as unknown as (x: number) => { readonly data: ArrayLike<number> })(sigma)
    expect(slope.data[0]).toBeCloseTo((density(sigma + 1e-5) - density(sigma - 1e-5)) / 2e-5, 5)
  })
})
