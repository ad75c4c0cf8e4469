// A small residual network with batch normalisation learns handwritten digits: layers, `fit`, a summary, a confusion matrix. `npm run example:resnet`
//
// The blocks are those of He et al. 2016: two convolutions, each normalised, around a shortcut. Statistics of the batches are running state, which goes in and comes out.
import { compile, cpu, explain, f32, fn, relu, tensor } from '../src/index.js'
import { batchNorm, conv2d, dense, globalAvgPool, residual, sequential, summary } from '../src/nn/index.js'
import { adam, cosineDecaySchedule } from '../src/optim/index.js'
import { accuracy, confusion, fit, measured } from '../src/train/index.js'
import { type Digits, loadDigits, thinned } from './digits/data.js'
import { expectThat, type Log, start } from './entry.js'
import { heat } from './plot.js'

export interface ResnetOptions {
  readonly images?: number
  readonly epochs?: number
  readonly seed?: number
  readonly out?: string
}

/** Two convolutions, each normalised, around a shortcut; with a stride the shortcut is a convolution too. */
const block = <const I extends number, const O extends number>(from: I, to: O, stride: 1 | 2) => {
  const body = sequential(
    conv2d(from, to, 3, { stride, padding: 1, bias: false }),
    batchNorm(to),
    relu,
    conv2d(to, to, 3, { padding: 1, bias: false }),
    batchNorm(to),
  )
  return sequential(stride === 1 ? residual(body) : residual(body, conv2d(from, to, 1, { stride, bias: false })), relu)
}
export const model = sequential({
  first: sequential(conv2d(1, 8, 3, { stride: 2, padding: 1, bias: false }), batchNorm(8), relu),
  block1: block(8, 8, 1),
  block2: block(8, 16, 2),
  pool: globalAvgPool(),
  last: dense(16, 10),
})

const dataOf = ({ images, labels, count }: Digits) => ({ x: tensor(images, [count, 1, 28, 28]), y: tensor(labels, [count]) })

export const main = async (log: Log, { images = 8000, epochs = 6, seed = 1, out = 'out' }: ResnetOptions = {}) => {
  log(summary(model, f32(32, 1, 28, 28)))
  const digits = loadDigits()
  const [training, test] = [dataOf(thinned(digits.train, images)), dataOf(thinned(digits.test, Math.min(2000, images)))]
  const run = await fit(model, training, {
    loss: 'crossEntropy',
    optimizer: adam({ learningRate: cosineDecaySchedule({ initValue: 0.01, decaySteps: epochs * Math.ceil(images / 32) }) }),
    epochs,
    batchSize: 32,
    validation: test,
    metrics: { accuracy: accuracy() },
    monitor: 'accuracy',
    key: seed,
    onProgress: (event) => {
      if (event._tag === 'Epoch') log(`epoch ${event.epoch + 1} of ${epochs}`)
    },
  })()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const { params, state, history, best } = run.right
  const right = history.metrics.accuracy
  log(`accuracy: ${right.map((a) => (100 * a).toFixed(1)).join(', ')} %; the best after epoch ${best.epoch + 1}`)
  // With the best parameters and their statistics, in evaluation.
  const scores = compile(
    fn({ p: model.declared, state: model.state, x: f32('n', 1, 28, 28) }, ({ p, state, x }) => model.apply(p, x, { state })[0]),
    cpu(),
  )({ p: params, state, x: test.x })
  const rows = measured(confusion({ classes: 10 }), scores, test.y)
  expectThat(images < 8000 || epochs < 4 || Math.max(...right) > 0.93, 'more than 93 % of the digits of the test known')
  const file = await heat(out, 'resnet', {
    title: 'Which digits are taken for which',
    x: 'taken for',
    y: 'digit',
    rows: rows.map((r) => [...r].map((v) => Math.log1p(v))),
  })
  log(`picture: ${file}`)
  return { history, best, rows, params, state, file }
}
start(import.meta.url, main)
