/** The forecasting network: better than the rhythm alone, near the noise; its gradient is that of differences. */
import { describe, expect, it } from 'vitest'
import * as lstnet from '../../examples/lstnet.js'
import { checkGrad, report } from '../../src/check/index.js'
import { pictured } from './told.js'

describe('lstnet', () => {
  it('forecasts better than the value a period ago, and not better than the noise allows', async () => {
    const { result, text } = await pictured((log, out) => lstnet.main(log, { epochs: 20, out }))
    expect(result.losses.length).toBe(20 * 30)
    expect(result.errors.network).toBeLessThan(0.13)
    expect(result.errors.network).toBeGreaterThan(0.09)
    // two independent noises, and what the slow rhythm changes in 12 steps: at least 0.1 sqrt(2)
    expect(result.errors['the value 12 before']).toBeGreaterThan(0.14)
    expect(text).toMatch(/^error of network, in the mean square: 0.1\d\d$/m)
  })
  it('the gradient of the loss is that of finite differences', () => {
    const x = [0, 1].map((k) => Array.from({ length: 36 }, (_, i) => Math.sin(i + k) + 0.1 * Math.cos(37 * i)))
    const checked = checkGrad(lstnet.loss, { order: 1, directions: 2 })({ p: lstnet.initial(3), x, y: [0.5, -0.2] })
    expect(report(checked)).toMatch(/^ok/)
  })
})
