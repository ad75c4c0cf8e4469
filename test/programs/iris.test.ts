import { expect, it } from 'vitest'
import { checkGrad } from '../../src/check/index.js'
import { treeMap } from '../../src/index.js'
import models from './data/models.json' with { type: 'json' }
import { wave } from './data/wave.js'
import * as iris from './iris.js'

const { x, y } = iris.flowers

it('softmax regression ends where the method of Newton in JAX does', () => {
  const { params, loss } = iris.fitRegression(60)
  expect(loss).toBeCloseTo(models.iris.loss, 14)
  models.iris.weights.flat().forEach((w, i) => {
    expect(params.w.data[i]).toBeCloseTo(w, 6)
  })
  expect(iris.regressionAccuracy({ params, x, y }).item()).toBeCloseTo(models.iris.right / 150, 14)
})

it('the network has the losses of PyTorch, minibatch by minibatch', async () => {
  const run = await iris.trainNetwork(treeMap(wave('f64'), iris.network), iris.flowers, 3)()
  const losses = run._tag === 'Right' ? run.right.metrics.map((m) => m.loss) : []
  expect(losses.length).toBe(models.iris.losses.length)
  losses.forEach((loss, i) => {
    expect(loss).toBeCloseTo(models.iris.losses[i]!, 11)
  })
})

it('learns to tell species that it has not seen', async () => {
  const run = await iris.trainNetwork(iris.initialNetwork(1), iris.seen, 40, 7)()
  const params = run._tag === 'Right' ? run.right.state.params : iris.initialNetwork(1)
  expect(iris.networkAccuracy({ params: iris.initialNetwork(1), ...iris.unseen }).item()).toBeLessThan(0.6)
  expect(iris.networkAccuracy({ params, ...iris.unseen }).item()).toBeGreaterThanOrEqual(29 / 30)
})

it('gradients agree with finite differences', () => {
  const few = { x: x.data.slice(0, 12), y: y.data.slice(0, 3) }
  expect(checkGrad(iris.networkLoss)({ params: treeMap(wave('f64'), iris.network), ...few })._tag).toBe('Right')
})
