// A residual network of layers as values learns two spirals apart: sequential, residual, layerNorm, and fit with a validation set.
import { crossEntropy, f32, relu, tensor } from 'codual'
import { dense, layerNorm, residual, sequential, summary } from 'codual/nn'
import { adam } from 'codual/optim'
import { accuracy, fit } from 'codual/train'
import { plot } from 'playground'

const block = residual(sequential(layerNorm(16), dense(16, 16), relu, dense(16, 16)))
const model = sequential(dense(2, 16), block, block, dense(16, 2))
summary(model, f32(1, 2)).includes('residual') // true

const spirals = (n: number, shift: number) => {
  const y = Int32Array.from({ length: n }, (_, i) => i % 2)
  const x = Float32Array.from({ length: 2 * n }, (_, k) => {
    const i = Math.floor(k / 2)
    const angle = 0.5 + (5 * (i + shift)) / n
    return (angle / 5) * (k % 2 === 0 ? Math.cos : Math.sin)(angle + Math.PI * y[i]!)
  })
  return { x: tensor(x, [n, 2]), y: tensor(y) }
}
const run = await fit(model, spirals(200, 0), {
  loss: crossEntropy,
  optimizer: adam({ learningRate: 0.01 }),
  epochs: 40,
  batchSize: 50,
  metrics: { accuracy: accuracy() },
  validation: spirals(100, 0.25),
  key: 1,
})()
const history = run._tag === 'Right' ? run.right.history : undefined
plot(
  history!.loss.map((_, i) => i),
  { training: history!.loss, validation: history!.validation },
  { title: 'losses' },
)
history!.metrics.accuracy.at(-1)! > 0.95 // true
