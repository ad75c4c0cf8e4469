// LeNet learns handwritten digits: 8,000 images to train on, 2,000 it never sees. `npm run example:digits -- --seed 1`
//
// --seed N      which random weights and which order of the images (default 1)
// --quick       fewer images and one epoch: a look at the parts, not at the accuracy
// --out FOLDER  where the pictures go (default out)
// --backend B   where LeNet trains: cpu (default) or webgpu
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isRight } from 'fp-ts/lib/Either.js'
import { report } from '../src/check/index.js'
import { compile, cpu, explain, onDevice, tensor, type WebGpuBackend, webgpu } from '../src/index.js'
import { progressBar } from '../src/train/node.js'
import { type Digits, loadDigits, thinned } from './digits/data.js'
import { checkModes, distanceToF64 } from './digits/gradient-check.js'
import { adamOver, lenet, lenetStep, logistic, logisticStep, type Optimiser } from './digits/models.js'
import { lossCurves, predictionSheet } from './digits/plot.js'
import { accuracyOf, type Batch, imagesOf, initial, learn, predictions, type Schedule, type Trainee } from './digits/train.js'
import { expectThat, type Log, start } from './entry.js'

export interface DigitsOptions {
  readonly seed?: number
  readonly quick?: boolean
  readonly out?: string
  readonly backend?: 'cpu' | WebGpuBackend
}

/** A scalar that the compiled step writes into. */
const scalar = () => tensor(new Float32Array(1), [])

/** LeNet's parameters and its optimiser's state, and the step that replaces them in place: one compiled program, no allocation. */
const lenetTrainee = (seed: number, optimiser: Optimiser) => {
  const params = initial(lenet.params, seed)
  const held = { params, state: optimiser.init(params), loss: scalar(), correct: scalar() }
  const { state, loss, correct } = held
  const step = compile(lenetStep(optimiser), cpu()).into(held)
  const predict = compile(lenet.predict, cpu())
  const trainee: Trainee = {
    name: lenet.name,
    step: ({ x, y }) => {
      step({ params, state, x, y })
      return { loss: loss.item(), correct: correct.item() }
    },
    predict: (x) => predict({ params, x }),
  }
  return { params, trainee }
}

/** The same on a GPU: parameters and state stay there; images go in, loss and accuracy come out. */
const lenetOnDevice = async (seed: number, optimiser: Optimiser, backend: WebGpuBackend) => {
  const params = initial(lenet.params, seed)
  const held = await onDevice({ params, state: optimiser.init(params) }, backend)
  const [loss, correct] = [scalar(), scalar()]
  const step = compile(lenetStep(optimiser), backend).into({ ...held, loss, correct })
  const predict = compile(lenet.predict, backend)
  const trainee: Trainee = {
    name: `${lenet.name} on ${backend.name}`,
    step: async ({ x, y }) => {
      await step({ ...held, x, y })
      return { loss: loss.item(), correct: correct.item() }
    },
    predict: (x) => predict({ params: held.params, x }),
  }
  return { params, trainee }
}

const logisticTrainee = (seed: number, optimiser: Optimiser): Trainee => {
  const params = initial(logistic.params, seed)
  const held = { params, state: optimiser.init(params), loss: scalar(), correct: scalar() }
  const { state, loss, correct } = held
  const step = compile(logisticStep(optimiser), cpu()).into(held)
  const predict = compile(logistic.predict, cpu())
  return {
    name: logistic.name,
    step: ({ x, y }) => {
      step({ params, state, x, y })
      return { loss: loss.item(), correct: correct.item() }
    },
    predict: (x) => predict({ params, x }),
  }
}

/** Trains behind a progress bar; gives the loss of every step. */
const trainWithBar = async (model: Trainee, data: Digits, schedule: Schedule): Promise<readonly number[]> => {
  const trained = await learn(model, data, schedule, progressBar({ name: model.name.padEnd(20) }))()
  if (isRight(trained)) return trained.right.metrics.map(({ loss }) => loss)
  throw new Error(explain(trained.left))
}

const percent = (x: number): string => `${(100 * x).toFixed(1)} %`

export const main = async (log: Log, { seed = 1, quick = false, out = 'out', backend = 'cpu' }: DigitsOptions = {}) => {
  const whole = loadDigits()
  const data = quick ? { train: thinned(whole.train, 4000), test: thinned(whole.test, 500) } : whole
  const schedule: Schedule = { epochs: quick ? 1 : 30, batch: 64, rate: 0.002, seed, shift: 0 }
  log(`${data.train.count} images to train on, ${data.test.count} never seen; seed ${seed}`)

  const optimiser = adamOver(schedule.epochs * imagesOf(data.train, schedule).steps, schedule.rate)
  const { params, trainee } = backend === 'cpu' ? lenetTrainee(seed, optimiser) : await lenetOnDevice(seed, optimiser, backend)
  if (backend !== 'cpu') log(`LeNet trains on ${await backend.adapter()}`)

  // Before any training: is the gradient the derivative of the loss? A few images are enough, the checker takes its time.
  const some = (size: number): Batch => imagesOf(data.train, { batch: size, seed, shift: 0 }).at(0, 0)
  const checked = checkModes(params, some(2))
  const distance = distanceToF64(params, some(64))
  log(`gradient against 5-point differences along random directions: ${report(checked).trim()}`)
  log(`compiled gradient in f32 beside f64: relative distance ${distance.toExponential(1)}`)
  expectThat(isRight(checked), 'the gradient of the loss')
  expectThat(distance < 1e-4, 'the gradient of f64; f32 may take the other side of a relu here and there')

  const from = performance.now()
  const regression = logisticTrainee(seed, optimiser)
  const regressionLosses = await trainWithBar(regression, data.train, schedule)
  const regressionAccuracy = accuracyOf(await predictions(regression, data.test), data.test)
  const losses = await trainWithBar(trainee, data.train, { ...schedule, shift: quick ? 0 : 2 })
  const seconds = (performance.now() - from) / 1000
  const predicted = await predictions(trainee, data.test)
  const accuracy = accuracyOf(predicted, data.test)

  mkdirSync(out, { recursive: true })
  const sheet = Array.from({ length: 25 }, (_, k) => Math.floor(((k + 0.5) * data.test.count) / 25))
  const pictures = {
    'digits-loss.svg': await lossCurves({ [regression.name]: regressionLosses, [trainee.name]: losses }),
    'digits-predictions.svg': await predictionSheet(data.test, predicted, sheet),
  }
  const files = Object.entries(pictures).map(([name, text]) => {
    const file = join(out, name)
    writeFileSync(file, text)
    return file
  })

  log(`${losses.length} steps of each model in ${seconds.toFixed(1)} s; pictures: ${files.join(', ')}`)
  log(`logistic regression: ${percent(regressionAccuracy)}`)
  log(`test accuracy: ${percent(accuracy)}`)
  return { checked, distance, losses, accuracy, regressionAccuracy, files }
}

const options = (): DigitsOptions => {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, quick: { type: 'boolean' }, out: { type: 'string' }, backend: { type: 'string' } },
  })
  const seed = Number(values.seed ?? 1)
  if (!Number.isInteger(seed)) throw new Error(`--seed takes a whole number, not ${values.seed}`)
  const { backend = 'cpu' } = values
  if (backend !== 'cpu' && backend !== 'webgpu') throw new Error(`--backend takes cpu or webgpu, not ${backend}`)
  return { seed, quick: values.quick ?? false, out: values.out ?? 'out', backend: backend === 'cpu' ? 'cpu' : webgpu() }
}

start(import.meta.url, (log) => main(log, options()))
