/** The Kalman filter: against the joint density of all observations; the variances that simulated the data are found. */
import { describe, expect, it } from 'vitest'
import * as kalman from '../../examples/kalman.js'
import { checkGrad, report } from '../../src/check/index.js'
import { grad } from '../../src/index.js'
import { pictured } from './told.js'

/**
 * The logarithm of the density of all observations at once, without a filter: the place at time t is p + t v + sum_k (t - k + 1/2) w_k,
 * p and v of variance 100, so that the covariances are written down; then by Cholesky's factor.
 */
const jointLogDensity = (ys: readonly number[], push: number, error: number): number => {
  const cov = (a: number, b: number) => {
    let s = 100 * (1 + a * b) + (a === b ? error : 0)
    for (let k = 1; k <= Math.min(a, b); k++) s += push * (a - k + 0.5) * (b - k + 0.5)
    return s
  }
  const factor: number[][] = []
  const white: number[] = []
  let total = 0
  for (const [i, y] of ys.entries()) {
    const row: number[] = []
    for (let j = 0; j < i; j++) row.push((cov(i + 1, j + 1) - row.reduce((s, v, k) => s + v * factor[j]![k]!, 0)) / factor[j]![j]!)
    row.push(Math.sqrt(cov(i + 1, i + 1) - row.reduce((s, v) => s + v * v, 0)))
    factor.push(row)
    white.push((y - white.reduce((s, v, k) => s + v * row[k]!, 0)) / row[i]!)
    total -= 0.5 * Math.log(2 * Math.PI) + Math.log(row[i]!) + 0.5 * white[i]! ** 2
  }
  return total
}

describe('kalman', () => {
  it('both variances are found, where the gradient of the likelihood is zero', async () => {
    const { result, text } = await pictured((log, out) => kalman.main(log, { count: 200, seed: 2, out }))
    for (const distance of result.distances) expect(Math.abs(distance)).toBeLessThan(3)
    const ys = kalman.simulate(200, 2).map(({ y }) => y)
    for (const slope of grad(kalman.loss, { wrt: 'params' })({ params: result.found, ys }).toArray())
      expect(Math.abs(slope)).toBeLessThan(1e-4)
    expect(text).toMatch(/^variance of error: [\d.]+, between [\d.]+ and [\d.]+; simulated with 4$/m)
  })
  it('the log-likelihood is the joint density of the observations', () => {
    const ys = kalman.simulate(40, 3).map(({ y }) => y)
    const params = [Math.log(0.02), Math.log(3)] as const
    expect(kalman.filter({ params, ys }).logLikelihood.item()).toBeCloseTo(jointLogDensity(ys, 0.02, 3), 9)
  })
  it('the derivatives of a short series are those of finite differences, to the second order', () => {
    expect(report(checkGrad(kalman.loss)({ params: [-1, 0.2], ys: [1, 3, 2] }))).toMatch(/^ok/)
  })
})
