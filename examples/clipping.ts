// No single example may say much: gradients clipped one by one, with noise. `npm run example:clipping`
//
// The step of differentially private training (Abadi et al. 2016): the gradient of each example is made no longer than a limit, their
// mean gets normal noise, and only then the parameters move. What is written here is the gradient of one example; `vmap` makes the batch
// of it, without a loop. Here some examples are spoiled, far away and with the wrong label: a plain mean follows them, a clipped one does not.

import { random } from '../src/check/index.js'
import { add, compile, cpu, dot, f64, fn, grad, mean, mul, neg, softplus, sub, type Tensors, tensor, treeZip, vmap } from '../src/index.js'
import { clipByGlobalNorm, globalNorm } from '../src/optim/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface ClippingOptions {
  readonly steps?: number
  readonly seed?: number
  readonly out?: string
}

const model = { w: f64(2), b: f64() }
const example = { p: model, x: f64(2), y: f64() }

/** Logistic regression: -log of the probability of one label y, 1 or -1. */
export const loss = fn(example, ({ p, x, y }) => softplus(neg(mul(y, add(dot(p.w, x), p.b)))))

/** The longest that one gradient may be, and the noise of their sum as a multiple of it. */
export const limit = 0.5
const noiseRatio = 1
const clip = clipByGlobalNorm(limit)

/** The gradient of one example, as it is and clipped, and its length over all parameters together. */
const one = fn(example, (given) => {
  const gradient = grad(loss, { wrt: 'p' })(given)
  return { gradient, clipped: clip.update(gradient, {}).updates, norm: globalNorm(gradient) }
})

/** The same of every example of a batch, at the same parameters. */
export const each = vmap(one, { inAxes: { p: null, x: 0, y: 0 } })

const percent = (share: number) => `${(100 * share).toFixed(1)} %`

/** A step against the mean of what `choose` takes of each example, and noise. */
const stepWith = (choose: 'gradient' | 'clipped') =>
  compile(
    fn({ p: model, x: f64('n', 2), y: f64('n'), noise: model, rate: f64() }, ({ p, x, y, noise, rate }) => {
      const { [choose]: gradients } = each({ p, x, y })
      return treeZip((p, g, n) => sub(p, mul(rate, add(mean(g, { axis: 0 }), n))), p, gradients, noise)
    }),
    cpu(),
  )

const truth = { w: tensor([3, -2]), b: tensor(1) }
type Parameters = Tensors<typeof model>
const logit = ({ w, b }: Parameters, [u, v]: readonly [number, number]) => w.data[0]! * u + w.data[1]! * v + b.item()

/** Points around the origin and their labels, drawn by their probability; the first `spoiled` lie 20 times as far and have the wrong one. */
export const simulate = (count: number, seed: number, spoiled = 0) => {
  const [normal, uniform] = [normals(seed), random(seed + 1)]
  const rows = Array.from({ length: count }, (_, i) => {
    const x = [normal(), normal()] as const
    const label = logit(truth, x) > Math.log(1 / uniform() - 1) ? 1 : -1
    return i < spoiled ? { x: [20 * x[0], 20 * x[1]] as const, y: logit(truth, x) > 0 ? -1 : 1 } : { x, y: label }
  })
  return { x: rows.map(({ x }) => x), y: rows.map(({ y }) => y) }
}

export const main = async (log: Log, { steps = 200, seed = 1, out = 'out' }: ClippingOptions = {}) => {
  const data = simulate(400, seed, 20)
  const unseen = simulate(2000, seed + 10)
  const accuracyOf = (p: Parameters) => unseen.x.filter((x, i) => logit(p, x) * unseen.y[i]! > 0).length / unseen.y.length

  const learn = (choose: 'gradient' | 'clipped') => {
    const step = stepWith(choose)
    const normal = normals(seed + 20)
    const noise = () => (noiseRatio * limit * normal()) / data.y.length
    let p: Parameters = { w: tensor([0, 0]), b: tensor(0) }
    return Array.from({ length: steps }, () => {
      p = step({ p, ...data, noise: { w: [noise(), noise()], b: noise() }, rate: 0.5 })
      return accuracyOf(p)
    })
  }
  const [plain, clipped] = [learn('gradient'), learn('clipped')]
  const best = accuracyOf(truth)
  const lengths = each({ p: { w: [0, 0], b: 0 }, ...data }).norm.toArray()
  log(
    `lengths of single gradients at the beginning: ${Math.min(...lengths).toFixed(2)} to ${Math.max(...lengths).toFixed(2)}; clipped to ${limit}`,
  )
  for (const [name, accuracies] of Object.entries({ 'as they are': plain, clipped })) {
    log(`${steps} steps of gradients ${name}: ${percent(accuracies.at(-1)!)} of unseen labels`)
  }
  log(`the parameters that drew the labels: ${percent(best)}`)
  expectThat(clipped.at(-1)! > best - 0.03, 'nearly the best accuracy there is')
  expectThat(plain.at(-1)! < clipped.at(-1)! - 0.1, 'a plain mean that is led astray')

  const line = (accuracies: readonly number[]) => accuracies.map((accuracy, k) => [k + 1, accuracy])
  const file = await plot(out, 'clipping', {
    title: 'Accuracy on unseen examples, 5 % of the training examples spoiled',
    x: 'step',
    y: 'accuracy',
    lines: { clipped: line(clipped), 'as they are': line(plain), best: [[1, best], [steps, best]] }, // biome-ignore format: one row
  })
  log(`picture: ${file}`)
  return { plain, clipped, best, lengths, file }
}

start(import.meta.url, main)
