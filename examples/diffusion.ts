// A diffusion model draws the digits that it is asked for, 8 by 8 pixels each. `npm run example:diffusion`
//
// A U-Net learns which noise was added to an image; from pure noise it then takes that away, step by step (Ho et al. 2020; the schedule is that of Nichol and Dhariwal 2021).
// How noisy an image is, and which digit it shows, go into each block of the net. A small classifier, trained on the same images, says what the drawn ones look like.
import { add, clamp, compile, concat, cos, cpu, type Dim, div, type Expr, type Exprs, evaluate, exp, expandDims, explain, f32, fn, i32, linspace, mul, oneHot, relu, resize, sin, slice, sqrt, square, sub, type Tensor, type Tensors, tensor } from '../src/index.js' // biome-ignore format: one list
import { dense, flattened, sequential, unet } from '../src/nn/index.js'
import { adam, cosineDecaySchedule } from '../src/optim/index.js'
import { foldIn, key, normal, uniform } from '../src/random/index.js'
import { accuracy, batches, fit, measured } from '../src/train/index.js'
import { type Digits, loadDigits, thinned } from './digits/data.js'
import { expectThat, type Log, start } from './entry.js'
import { heat } from './plot.js'

export interface DiffusionOptions {
  readonly epochs?: number
  readonly images?: number
  readonly seed?: number
  readonly out?: string
}

/** Images of 8 by 8 pixels from -1 (paper) to 1 (ink), and what they show. */
export const small = ({ images, labels, count }: Digits) => {
  const middle = slice(tensor(images, [count, 1, 28, 28]), [0, 0, 4, 4], [count, 1, 24, 24])
  return { image: evaluate(sub(mul(2, resize(middle, [8, 8], { antialias: true })), 1)), digit: tensor(labels, [count]) }
}

/** How much of the image and of the noise is in the mixture at a time from 0 to 1: their squares add up to 1. */
const shares = (time: Expr<[Dim], 'f32'>) => {
  const angle = expandDims(mul(time, 0.495 * Math.PI), [1, 2, 3])
  return [cos(angle), sin(angle)] as const
}
const net = unet(1, { features: [16, 32, 64], condition: 26 })
const input = { noisy: f32('n', 1, 8, 8), time: f32('n'), digit: i32('n') }
export const model = {
  init: net.init,
  /** The noise in the images. The time goes in as sines of eight frequencies. */
  apply: (p: Exprs<typeof net.declared>, { noisy, time, digit }: Exprs<typeof input>) => {
    const angles = mul(expandDims(time, 1), exp(linspace(0, 4, 8, 'f32')))
    return net.apply(p, noisy, { condition: concat([sin(angles), cos(angles), oneHot(digit, 10, 'f32')], { axis: 1 }) })
  },
}
/** Images with noise, each at a time of its own, and that noise. */
export const disturbed = compile(
  fn({ key: i32(2), i: i32(), image: f32('n', 1, 8, 8) }, ({ key, i, image }) => {
    const [k, l] = [foldIn(foldIn(key, i), 0), foldIn(foldIn(key, i), 1)]
    const time = uniform(k, [image.shape[0]], { dtype: 'f32' })
    const noise = normal(l, [image.shape[0], 1, 8, 8], { dtype: 'f32' })
    const [ofImage, ofNoise] = shares(time)
    return { noisy: add(mul(ofImage, image), mul(ofNoise, noise)), time, noise }
  }),
  cpu(),
)
/** From a time to an earlier one: the image that the net sees in the noise, with less of the noise and some that is new. */
const cleaner = compile(
  fn({ p: net.declared, ...input, earlier: f32('n'), key: i32(2), i: i32() }, ({ p, noisy, time, digit, earlier, key, i }) => {
    const [[a, b], [c, d]] = [shares(time), shares(earlier)]
    const image = clamp(div(sub(noisy, mul(b, model.apply(p, { noisy, time, digit }))), a), -1, 1)
    const noise = div(sub(noisy, mul(a, image)), b)
    const fresh = mul(div(d, b), sqrt(sub(1, square(div(a, c)))))
    const drawn = normal(foldIn(key, i), [noisy.shape[0], 1, 8, 8], { dtype: 'f32' })
    return add(mul(c, image), add(mul(sqrt(sub(square(d), square(fresh))), noise), mul(fresh, drawn)))
  }),
  cpu(),
)
/** Draws the digits, in so many steps. */
export const draw = (p: Tensors<typeof net.declared>, digits: readonly number[], seed: number, steps = 25) => {
  const n = digits.length
  const digit = tensor(digits, [n], 'i32')
  let noisy: Tensor<[number, 1, 8, 8], 'f32'> = evaluate(normal(key(seed), [n, 1, 8, 8], { dtype: 'f32' }))
  for (let i = steps; i > 0; i--) {
    const [time, earlier] = [tensor(i / steps, [n], 'f32'), tensor((i - 1) / steps, [n], 'f32')]
    noisy = cleaner({ p, noisy, time, digit, earlier, key: key(seed + 1), i })
  }
  return noisy
}

const classifier = sequential(flattened(), dense(64, 128), relu, dense(128, 10))

export const main = async (log: Log, { epochs = 6, images = 8000, seed = 1, out = 'out' }: DiffusionOptions = {}) => {
  const { train, test } = loadDigits()
  const [learned, unseen] = [small(thinned(train, images)), small(test)]
  const order = batches(learned, { size: 32, seed, dropLast: true })
  const source = {
    steps: order.steps,
    at: (epoch: number, i: number) => {
      const { image, digit } = order.at(epoch, i)
      const { noisy, time, noise } = disturbed({ key: key(seed), i: epoch * order.steps + i, image })
      return { x: { noisy, time, digit }, y: noise }
    },
  }
  const optimizer = adam({ learningRate: cosineDecaySchedule({ initValue: 0.004, decaySteps: epochs * order.steps }) })
  const run = await fit(model, source, { loss: 'mseLoss', optimizer, epochs, key: seed })()
  if (run._tag === 'Left') throw new Error(explain(run.left))
  const { params, history } = run.right
  log(`the square error of the noise, by epochs: ${history.loss.map((l) => l.toFixed(3)).join(', ')}; of no guess: 1`)
  const known = await fit(
    classifier,
    { x: learned.image, y: learned.digit },
    { loss: 'crossEntropy', optimizer: adam({ learningRate: 0.003 }), epochs: 10, key: seed },
  )()
  if (known._tag === 'Left') throw new Error(explain(known.left))
  const told = (x: Expr<[number, 1, 8, 8], 'f32'>) => evaluate(classifier.apply(known.right.params, x))
  const asked = Array.from({ length: 100 }, (_, i) => i % 10)
  const drawn = draw(params, asked, seed)
  const ofReal = measured(accuracy(), told(unseen.image), unseen.digit)
  const right = measured(accuracy(), told(drawn), asked)
  log(
    `a classifier that knows ${(100 * ofReal).toFixed(1)} % of unseen digits takes ${(100 * right).toFixed(0)} of 100 drawn ones for those asked for`,
  )
  const pixel = (row: number, column: number) =>
    drawn.data[64 * (10 * Math.floor(row / 8) + Math.floor(column / 8)) + 8 * (row % 8) + (column % 8)]!
  const rows = Array.from({ length: 80 }, (_, row) => Array.from({ length: 80 }, (_, column) => pixel(row, column)))
  const file = await heat(out, 'diffusion', { title: 'Digits drawn from noise', x: '', y: '', rows, axes: false })
  log(`picture: ${file}`)
  expectThat(epochs < 6 || right > 0.8, '80 of 100 drawn digits')
  return { losses: history.loss, right, ofReal, drawn, params, file }
}
start(import.meta.url, main)
