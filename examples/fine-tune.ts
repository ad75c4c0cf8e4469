// A network that others trained for something else learns handwritten digits from 300 pictures: its weights are a better start than chance. `npm run example:fine-tune`
//
// The network is PaddleOCR's, which says which way up a line of text is. fromONNX gives what its last layer reads, a new layer stands behind that, and `fit` trains them: the new
// layer alone, all of it, and all of it from weights in a random order, to see what the training of others is worth (Yosinski et al. 2014).
import { concat, type Expr, type Exprs, evaluate, explain, f32, flatten, fn, mul, reshape, resize, sub, tensor } from '../src/index.js'
import { dense } from '../src/nn/index.js'
import { adam, cosineDecaySchedule } from '../src/optim/index.js'
import { foldIn, type Key, key, permutation } from '../src/random/index.js'
import { accuracy, fit } from '../src/train/index.js'
import { features, textDirection } from './data/lines.js'
import { type Digits, loadDigits, thinned } from './digits/data.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface FineTuneOptions {
  readonly images?: number
  readonly unseen?: number
  readonly epochs?: number
  readonly seed?: number
  readonly out?: string
}

const body = textDirection({ outputs: [features] })
const head = dense(200, 10)
/** What is trained: means and variances of the layers that normalise stay as they are. */
const weights = Object.fromEntries(Object.entries(body.params).filter(([name]) => !/^batch_norm_\d+\.w_[12]$/.test(name)))

const digits = f32('n', 1, 28, 28)
/** Dark digits on a white ground, in three colours, as large as the network needs: [n, 3, 48, 48], from -1 to 1. */
export const prepared = fn({ x: digits }, ({ x }) => {
  const grey = sub(1, mul(2, resize(x, [48, 48], { method: 'linear' })))
  return concat([grey, grey, grey], { axis: 1 })
})
type Given = Expr<[number, 1, 28, 28], 'f32'>
type Weights = Readonly<Record<string, Expr>>
type Head = Exprs<typeof head.declared>
/** Scores of the ten digits; weights that are not given are those of the file. */
export const scores = (p: { readonly body?: Weights; readonly head: Head }, x: Given): Expr<[number, 10], 'f32'> =>
  head.apply(p.head, body.apply({ ...body.params, ...p.body }, prepared({ x })) as Expr<[number, 200], 'f32'>)

/** Each weight's numbers in a random order: as large as before, and nothing learned. */
const shuffled = (seed: number): typeof weights =>
  Object.fromEntries(
    Object.entries(weights).map(([name, w], i) => [
      name,
      name.startsWith('conv') ? evaluate(reshape(permutation(foldIn(key(seed), i), flatten(w)), w.shape)) : w,
    ]),
  )

const dataOf = ({ images, labels, count }: Digits) => ({ x: tensor(images, [count, 1, 28, 28]), y: tensor(labels, [count]) })

export const main = async (log: Log, { images = 300, unseen = 1000, epochs = 8, seed = 1, out = 'out' }: FineTuneOptions = {}) => {
  const all = loadDigits()
  const [x, validation] = [dataOf(thinned(all.train, images)), dataOf(thinned(all.test, unseen))]
  const options = {
    loss: 'crossEntropy',
    epochs,
    batchSize: 20,
    validation,
    metrics: { accuracy: accuracy() },
    monitor: 'accuracy',
    key: seed,
  } as const
  const descent = (initValue: number) =>
    adam({ learningRate: cosineDecaySchedule({ initValue, decaySteps: epochs * Math.ceil(x.y.shape[0] / 20) }) })
  const starts = { 'all, trained': weights, 'all, in random order': shuffled(seed) }
  const found: Record<string, readonly number[]> = {}
  const last = await fit({ init: head.init, apply: (p: Head, x: Given) => scores({ head: p }, x) }, x, {
    ...options,
    optimizer: descent(0.01),
  })()
  if (last._tag === 'Left') throw new Error(explain(last.left))
  found['new layer alone'] = last.right.history.metrics.accuracy
  for (const [name, body] of Object.entries(starts)) {
    const run = await fit({ init: (k: Key) => ({ body, head: head.init(k) }), apply: scores }, x, {
      ...options,
      optimizer: descent(0.001),
    })()
    if (run._tag === 'Left') throw new Error(explain(run.left))
    found[name] = run.right.history.metrics.accuracy
  }
  for (const [name, right] of Object.entries(found)) log(`${name.padEnd(24)} ${right.map((a) => (100 * a).toFixed(1)).join('  ')} %`)
  const [alone, trained, anew] = Object.values(found).map((right) => Math.max(...right)) as [number, number, number]
  expectThat(images < 300 || epochs < 8 || trained > Math.max(alone, anew) + 0.1, 'the trained weights to be the better start')
  const file = await plot(out, 'fine-tune', {
    title: `Digits, learned from ${x.y.shape[0]} pictures`,
    x: 'epoch',
    y: 'right of those never seen (%)',
    lines: Object.fromEntries(Object.entries(found).map(([name, right]) => [name, right.map((a, i) => [i + 1, 100 * a])])),
  })
  log(`picture: ${file}`)
  return { found, alone, trained, anew, file }
}
start(import.meta.url, main)
