/** Fine-tuning: weights that others trained are the better start; the gradient goes through the whole network that was read. */
import { describe, expect, it } from 'vitest'
import { features, textDirection } from '../../examples/data/lines.js'
import { loadDigits, thinned } from '../../examples/digits/data.js'
import * as fineTune from '../../examples/fine-tune.js'
import { crossEntropy, type Expr, tensor } from '../../src/index.js'
import { dense } from '../../src/nn/index.js'
import { key } from '../../src/random/index.js'
import { alongGradient, pictured } from './told.js'

describe('fine-tune', () => {
  it('300 digits: all of the network learns more than a new layer alone, and more than from weights in a random order', async () => {
    const { result, text } = await pictured((log, out) => fineTune.main(log, { unseen: 200, epochs: 3, out }))
    expect(result.trained).toBeGreaterThan(0.7)
    expect(result.trained).toBeGreaterThan(result.alone + 0.15)
    expect(result.trained).toBeGreaterThan(result.anew + 0.4)
    expect(text).toMatch(/^new layer alone +[\d. ]+ %$/m)
  })
  it('is read up to what its last layer reads: without that layer and the softmax', () => {
    const [whole, body] = [textDirection(), textDirection({ outputs: [features] })]
    expect(Object.keys(whole.params).filter((name) => !(name in body.params))).toEqual(['fc_0.b_0', 'fc_0.w_0'])
    expect([whole.about.operators.Softmax, body.about.operators.Softmax]).toEqual([1, undefined])
  })
  it.each(['conv2d_20.w_0', 'conv2d_52.w_0'])(
    'along the gradient of the loss by %s, the loss grows as fast as the gradient says',
    (name) => {
      const { images, labels } = thinned(loadDigits().train, 20)
      const [x, y] = [tensor(images, [labels.length, 1, 28, 28]), tensor(labels)]
      const head = dense(200, 10).init(key(1))
      const w = textDirection().params[name]!
      const loss = (v: Expr) => crossEntropy(fineTune.scores({ body: { [name]: v }, head }, x), y)
      for (const h of [1e-2, 1e-3]) expect(alongGradient(loss, w, h)).toBeCloseTo(1, 1)
    },
  )
})
