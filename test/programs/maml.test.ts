import { expect, it } from 'vitest'
import { checkGrad } from '../../src/check/index.js'
import { compile, treeMap, valueAndGrad } from '../../src/index.js'
import models from './data/models.json' with { type: 'json' }
import { expectGradient, wave } from './data/wave.js'
import { adapted, initial, learn, loss, metaLoss, network, sines } from './maml.js'

const params = treeMap(wave('f64'), network)
/** The tasks of models.py. */
const curves = [[0.5, 0.3], [2, 1.5], [4.5, 2.9]] as const // biome-ignore format: one row
const draw = (shift: number) => {
  const x = curves.map((_, i) => Array.from({ length: 10 }, (_, j) => [5 * Math.sin(shift + 1.3 * (10 * i + j))]))
  return { x, y: curves.map(([amplitude, phase], i) => x[i]!.map(([x]) => [amplitude * Math.sin(x! - phase)])) }
}
const tasks = { support: draw(0), query: draw(1) }

it('has the loss after a step, and its gradient through that step, of JAX', () => {
  const { value, grad } = valueAndGrad(metaLoss, { wrt: 'params' })({ params, tasks })
  expect(value.item()).toBeCloseTo(models.maml.value, 12)
  expectGradient(grad, models.maml, 1e-12)
})

it('agrees with finite differences', () => {
  expect(checkGrad(metaLoss, { order: 1 })({ params, tasks: sines(1, 7) })._tag).toBe('Right')
})

it('learns parameters from which one step on ten points fits a curve that it has not seen', () => {
  const { params } = learn(300, 1)
  const { support, query } = sines(100, 1000)
  const mean = (f: (i: number) => number) => support.x.reduce((sum, _, i) => sum + f(i), 0) / 100
  const at = (part: typeof support, i: number) => ({ x: part.x[i]!, y: part.y[i]! })
  const adapt = compile(adapted)
  const judge = compile(loss)
  const before = mean((i) => judge({ params, ...at(query, i) }).item())
  const after = mean((i) => judge({ params: adapt({ params, ...at(support, i) }), ...at(query, i) }).item())
  expect(before).toBeGreaterThan(3)
  expect(after).toBeLessThan(1)
  expect(after).toBeCloseTo(metaLoss({ params, tasks: { support, query } }).item(), 12)
  expect(metaLoss({ params: initial(1), tasks: { support, query } }).item()).toBeGreaterThan(5)
})
