import { expect, it } from 'vitest'
import { treeMap, valueAndGrad } from '../../src/index.js'
import models from './data/models.json' with { type: 'json' }
import { expectGradient, wave } from './data/wave.js'
import { initial, learn, letters, loss, scores, text, tokensOf, transformer, write } from './transformer.js'

const tokens = tokensOf(text)

it('has the loss and the gradient of PyTorch', () => {
  const params = treeMap(wave('f32'), transformer)
  const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, tokens: tokens.subarray(0, -1), next: tokens.subarray(1) })
  expect(value.item()).toBeCloseTo(models.transformer.value, 5)
  expectGradient(grad, models.transformer, 1e-6)
})

it('sees no letter before its time', () => {
  const params = initial(1)
  const others = tokens.map((token, i) => (i < 20 ? token : (token + 1) % letters.length))
  const a = scores({ params, tokens }).toArray()
  const b = scores({ params, tokens: others }).toArray()
  expect(b.slice(0, 20)).toEqual(a.slice(0, 20))
  a.slice(20).forEach((row, i) => {
    expect(b[20 + i]).not.toEqual(row)
  })
})

it('learns the sentence by heart', () => {
  const { params, losses } = learn(150, 1)
  expect(losses[0]).toBeGreaterThan(2.5)
  expect(losses.at(-1)).toBeLessThan(0.01)
  expect(write(initial(1), 't')).not.toBe(text)
  expect(write(params, 't')).toBe(text)
})
