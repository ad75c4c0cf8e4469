/** The flow: better than any normal distribution and not better than the truth; a map with an inverse and the determinant that it says. */
import { describe, expect, it } from 'vitest'
import * as flow from '../../examples/flow.js'
import { checkGrad, report } from '../../src/check/index.js'
import { evaluate, jacfwd, slogdet, treeMap } from '../../src/index.js'
import { key, normal } from '../../src/random/index.js'
import { pictured } from './told.js'

/** -log of the moons' own density at points, in the mean: that of the normal noise around 800 places on both half-circles. */
const truth = (points: readonly (readonly number[])[]) => {
  const places = Array.from({ length: 400 }, (_, i) => (Math.PI * (i + 0.5)) / 400).flatMap((angle) => {
    const [x, y] = [Math.cos(angle) - 0.5, Math.sin(angle) - 0.25]
    return [[x, y] as const, [-x, -y] as const]
  })
  const density = ([x, y]: readonly number[]) =>
    places.reduce((s, [a, b]) => s + Math.exp(-50 * ((x! - a) ** 2 + (y! - b) ** 2)), 0) / places.length / (0.02 * Math.PI)
  return points.reduce((s, p) => s - Math.log(density(p)) / points.length, 0)
}
/** Weights that do something: without training most of them are 0 or small. */
const params = treeMap((t, path) => evaluate(normal(key(path.length + path.charCodeAt(0)), t.shape)), flow.initial(key(3)))

describe('flow', () => {
  it('learns the moons, and draws from them', async () => {
    const { result, text } = await pictured((log, out) => flow.main(log, { hundreds: 10, out }))
    expect(result.losses.length).toBe(1000)
    expect(result.found).toBeLessThan(result.gauss - 0.5)
    expect(result.apart).toBeLessThan(1e-10)
    const unseen = evaluate(flow.moons(key(100), 1000)).toArray()
    const excess = flow.loss({ params: result.params, x: unseen }).item() - truth(unseen)
    expect(excess).toBeGreaterThan(0)
    expect(excess).toBeLessThan(0.4)
    expect(text).toMatch(/^step 1000: -log density \d\.\d{3}$/m)
  })
  it('the best normal distribution: of the corners of a square, whose covariance is 1', () => {
    const corners = [[1, 1], [1, -1], [-1, 1], [-1, -1]] // biome-ignore format: points
    expect(flow.bestNormal(corners)).toBeCloseTo(Math.log(2 * Math.PI) + 1, 12)
  })
  it('backward undoes forward; the determinant is that of the Jacobian', () => {
    const x = evaluate(flow.moons(key(5), 50))
    const { z, logDet } = flow.forward({ params, x })
    const back = flow.backward({ params, z })
    for (const [i, v] of x.data.entries()) expect(Math.abs(back.data[i]! - v)).toBeLessThan(1e-10)
    for (const i of [0, 1, 2]) {
      const one = [Array.from(x.data.subarray(2 * i, 2 * i + 2))]
      const jacobian = jacfwd(flow.forward, { wrt: 'x' })({ params, x: one }).z
      const { logdet } = evaluate(slogdet(Array.from({ length: 2 }, (_, r) => Array.from(jacobian.data.subarray(2 * r, 2 * r + 2)))))
      expect(logdet.item()).toBeCloseTo(logDet.data[i]!, 10)
    }
  })
  it('the gradient of the loss is that of finite differences', () => {
    expect(report(checkGrad(flow.loss, { order: 1, directions: 2 })({ params, x: [[0.3, -0.2], [1, 0.1]] }))).toMatch(/^ok/) // biome-ignore format: points
  })
})
