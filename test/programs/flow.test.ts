import { expect, it } from 'vitest'
import { checkGrad } from '../../src/check/index.js'
import { jacfwd, tensor, treeMap, valueAndGrad } from '../../src/index.js'
import models from './data/models.json' with { type: 'json' }
import { expectGradient, wave } from './data/wave.js'
import { backward, flow, forward, learn, logDensities, logDensity, loss, moons } from './flow.js'

const params = treeMap(wave('f64'), flow)

it('has the density and the gradient of PyTorch, which takes the determinant of the whole Jacobian', () => {
  const xs = Float64Array.from({ length: 20 }, (_, k) => Math.sin(0.9 * k))
  const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, xs })
  expect(value.item()).toBeCloseTo(models.flow.value, 12)
  expectGradient(grad, models.flow, 1e-12)
  expect(checkGrad(logDensity, { order: 1 })({ params, x: [0.3, -0.7] })._tag).toBe('Right')
})

it('has an inverse, and the determinant of its Jacobian', () => {
  const x = [0.3, -0.7]
  const { z, logDet } = forward({ params, x })
  expect(backward({ params, z }).toArray()[0]).toBeCloseTo(0.3, 13)
  expect(backward({ params, z }).toArray()[1]).toBeCloseTo(-0.7, 13)
  const [a = 0, b = 0, c = 0, d = 0] = jacfwd(forward, { wrt: 'x' })({ params, x }).z.data
  expect(Math.log(Math.abs(a * d - b * c))).toBeCloseTo(logDet.item(), 12)
})

it('learns two moons: a density whose integral is 1, near the true one', () => {
  const { params } = learn(moons(512, 3), 1000, 1)
  const side = 321 // from -4 to 4, 40 to the unit
  const points = tensor(
    Float64Array.from({ length: side * side * 2 }, (_, i) => (i % 2 === 0 ? Math.floor(i / 2 / side) : Math.floor(i / 2) % side) / 40 - 4),
    [side * side, 2],
  )
  const integral = logDensities({ params, xs: points }).data.reduce((sum, l) => sum + Math.exp(l), 0) / 1600
  expect(integral).toBeCloseTo(1, 7)

  // the moons' own density: the mean over 800 places on the half-circles of the normal distribution around each
  const arcs = Array.from({ length: 400 }, (_, i) => (Math.PI * (i + 0.5)) / 400).flatMap((angle) => {
    const [x, y] = [Math.cos(angle) - 0.5, Math.sin(angle) - 0.25]
    return [[x, y] as const, [-x, -y] as const]
  })
  const truth = ([x, y]: readonly number[]) =>
    Math.log(arcs.reduce((sum, [a, b]) => sum + Math.exp(-50 * ((x! - a) ** 2 + (y! - b) ** 2)), 0) / 800 / (0.02 * Math.PI))
  const unseen = moons(1000, 4)
  const excess = loss({ params, xs: unseen }).item() + unseen.reduce((sum, p) => sum + truth(p), 0) / 1000
  expect(excess).toBeGreaterThan(0)
  expect(excess).toBeLessThan(0.3)
})
