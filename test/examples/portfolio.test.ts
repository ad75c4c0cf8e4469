/** The portfolio: its constraints hold, no feasible neighbour has less risk, and the multiplier is the slope of the frontier. */
import { describe, expect, it } from 'vitest'
import * as portfolio from '../../examples/portfolio.js'
import { pictured } from './told.js'

describe('portfolio', () => {
  it('constraints hold, and risk grows along the frontier', async () => {
    const { result } = await pictured((log, out) => portfolio.main(log, { count: 8, out }))
    const { mu, cov, frontier } = result
    for (const { target, weights, slope } of frontier) {
      expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 7)
      expect(weights.reduce((s, w, k) => s + w * mu.data[k]!, 0)).toBeCloseTo(target, 7)
      for (const w of weights) {
        expect(w).toBeGreaterThan(-1e-9)
        expect(w).toBeLessThan(portfolio.MOST + 1e-9)
      }
      // The multiplier is the slope of the least risk by the target.
      const h = 2e-4
      const [more, less] = [portfolio.portfolio(mu, cov, target + h), portfolio.portfolio(mu, cov, target - h)]
      expect(Math.abs((more.value - less.value) / (2 * h) - slope)).toBeLessThan(2e-3 * Math.abs(slope) + 1e-5)
    }
    const risks = frontier.map((f) => f.risk)
    const least = risks.indexOf(Math.min(...risks))
    for (let k = least + 1; k < risks.length; k++) expect(risks[k]!).toBeGreaterThan(risks[k - 1]!)
  })
})
