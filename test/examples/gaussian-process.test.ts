/** The Gaussian process: densities, forecasts and the best hyperparameters are NumPy's and SciPy's; those that drew a series are found again. */
import { describe, expect, it } from 'vitest'
import { co2 } from '../../examples/data/co2.js'
import * as gp from '../../examples/gaussian-process.js'
import { checkGrad, report } from '../../src/check/index.js'
import { add, evaluate, exp, eye, mul, treeMap, zeros } from '../../src/index.js'
import { key, multivariateNormal } from '../../src/random/index.js'
import golden from '../golden/gaussian-process.json' with { type: 'json' }
import { pictured } from './told.js'

const time = (i: number) => 1974 + (4.5 + i) / 12
/** The last months before 2016, around their mean. */
const months = (count: number) => {
  const seen = co2.slice(500 - count, 500)
  const level = seen.reduce((s, v) => s + v, 0) / count
  return { x: seen.map((_, i) => time(500 - count + i)), y: seen.map((v) => v - level) }
}

describe('gaussian-process', () => {
  it('the density of 500 months, and the forecast from them, are those of SciPy', () => {
    const given = { params: golden.fixed, ...months(500) }
    expect(-gp.loss(given).item()).toBeCloseTo(golden.logDensity, 6)
    const { mean, deviation } = gp.predict({ ...given, times: golden.times })
    golden.times.forEach((_, i) => {
      expect(mean.data[i]).toBeCloseTo(golden.mean[i]!, 7)
      expect(deviation.data[i]).toBeCloseTo(golden.deviation[i]!, 7)
    })
  })
  it('a forecast from 30 years that knows how sure it is', async () => {
    const { result, text } = await pictured((log, out) => gp.main(log, { count: 360, steps: 20, out }))
    expect(result.losses.length).toBe(20)
    expect(result.error).toBeLessThan(2)
    expect(text).toMatch(/^84 months ahead: an error of \d\.\d\d ppm; \d+ % within two deviations$/m)
  })
  it('of ten years L-BFGS finds the hyperparameters that SciPy finds', () => {
    const { params, losses } = gp.learn(months(120), 80)
    expect(losses.at(-1)).toBeCloseTo(golden.best.loss, 4)
    for (const name of ['rise', 'season', 'noise', 'seasonShape'] as const)
      expect(Math.abs(params[name].item() - golden.best.params[name])).toBeLessThan(0.02)
  })
  it('the hyperparameters that a series was drawn with lie within three standard deviations', () => {
    const { x } = months(150)
    const truth = { rise: 40, riseYears: 6, season: 4, seasonYears: 10, seasonShape: 0.8, passing: 1, passingYears: 0.7, noise: 0.3 }
    const params = treeMap(Math.log, truth)
    const covariance = add(gp.kernel({ params, a: x, b: x }), mul(exp(2 * Math.log(truth.noise)), eye(150)))
    const y = evaluate(multivariateNormal(key(7), zeros([150]), { covariance }))
    const series = { x, y: Array.from(y.data) }
    const found = gp.learn(series, 60).params
    const unsure = gp.deviations(found, series)
    for (const name of Object.keys(truth) as (keyof typeof truth)[]) {
      expect(unsure[name].item()).toBeGreaterThan(0)
      expect(Math.abs(found[name].item() - params[name])).toBeLessThan(3 * unsure[name].item())
    }
  })
  it('the derivatives of the density are those of finite differences, to the second order', () => {
    expect(report(checkGrad(gp.loss, { directions: 2 })({ params: golden.fixed, x: [0, 0.2, 0.9], y: [1, 3, 2] }))).toMatch(/^ok/)
  })
})
