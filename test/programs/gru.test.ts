import { expect, it } from 'vitest'
import { checkGrad } from '../../src/check/index.js'
import { treeMap, valueAndGrad } from '../../src/index.js'
import models from './data/models.json' with { type: 'json' }
import { expectGradient, wave } from './data/wave.js'
import { accuracy, classifier, gru, initial, learn, loss, task } from './gru.js'

const params = treeMap(wave('f32'), classifier)

it('has the loss and the gradient of torch.nn.GRU', () => {
  const sequences = Array.from({ length: 6 }, (_, i) => Array.from({ length: 8 }, (_, t) => (3 * i + 5 * t + i * t) % 4))
  const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, sequences, classes: sequences.map(([first]) => first!) })
  expect(value.item()).toBeCloseTo(models.gru.value, 6)
  expectGradient(grad, models.gru, 1e-6)
})

it('the cell agrees with finite differences', () => {
  const given = { params: params.cell, x: [[0.1, -0.4, 0.7, 0.2]], h: [[0.3, -0.2, 0.5, -0.9, 0.1, 0.8, -0.6, 0.4]] }
  expect(checkGrad(gru)(given)._tag).toBe('Right')
})

it('learns to keep the first symbol', async () => {
  const unseen = task(500, 9)
  expect(accuracy({ params: initial(2), ...unseen }).item()).toBeLessThan(0.5)
  const run = await learn(task(512, 1), 20, 2)()
  expect(run._tag).toBe('Right')
  if (run._tag === 'Right') expect(accuracy({ params: run.right.state.params, ...unseen }).item()).toBeGreaterThan(0.99)
})
