// What comes next in a series with two rhythms: convolution, recurrence and attention. `npm run example:lstnet`
//
// After LSTNet (Lai et al. 2018): a convolution reads short patterns, a GRU (a `scan` over time) remembers them, attention looks back for what
// is like now, and a line through the last values, beside all that, keeps the scale. The noise of the series is known, and so is the least
// error that a forecast can have.
import {
  add,
  at,
  compile,
  concat,
  conv,
  cpu,
  type Expr,
  type Exprs,
  einsum,
  f64,
  fn,
  linear,
  matmul,
  mean,
  mul,
  relu,
  scan,
  sigmoid,
  softmax,
  square,
  sub,
  type Tensors,
  tanh,
  tensor,
  treeMap,
  valueAndGrad,
  zeros,
} from '../src/index.js'
import { adam, applyUpdates, cosineDecaySchedule } from '../src/optim/index.js'
import { batches } from '../src/train/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface LstnetOptions {
  readonly epochs?: number
  readonly seed?: number
  readonly out?: string
}

const window = 36
const gate = { x: f64(8, 8), h: f64(8, 8), b: f64(8) }
const network = {
  kernels: f64(8, 1, 5),
  gru: { reset: gate, update: gate, candidate: gate },
  out: { w: f64(16, 1), b: f64(1) },
  line: f64(8, 1),
}
type States = Expr<['n', 8], 'f64'>

const through = ({ x, h, b }: Exprs<typeof gate>, input: States, state: States): States => add(linear(input, x, b), matmul(state, h))

/** The state after one more input: Cho et al. 2014. */
const gru = ({ reset, update, candidate }: Exprs<typeof network.gru>, h: States, x: States): States => {
  const keep = sigmoid(through(update, x, h))
  const proposed = tanh(through(candidate, x, mul(sigmoid(through(reset, x, h)), h)))
  return add(mul(keep, h), mul(sub(1, keep), proposed))
}

const inputs = { p: network, x: f64('n', window) }
/** The value after each window. */
export const forecast = fn(inputs, ({ p, x }) => {
  const before: States = zeros([x.shape[0], 8], 'f64')
  const patterns = relu(conv(at(x, ':', null), p.kernels))
  const [last, states] = scan(
    (h: States, now: States) => {
      const next = gru(p.gru, h, now)
      return [next, next]
    },
    before,
    einsum('nct->tnc', patterns),
  )
  const attention = softmax(einsum('tnc,nc->nt', states, last))
  const context = einsum('nt,tnc->nc', attention, states)
  const learned = linear(concat([last, context], { axis: 1 }), p.out.w, p.out.b)
  return at(add(learned, matmul(at(x, ':', '-8:'), p.line)), ':', 0)
})

const labelled = { ...inputs, y: f64('n') }
export const loss = fn(labelled, ({ p, x, y }) => mean(square(sub(forecast({ p, x }), y))))

const noise = 0.1
/** A rhythm of 12 whose height has a rhythm of 84, and noise. */
const series = (length: number, normal: () => number) =>
  Array.from({ length }, (_, i) => Math.sin((2 * Math.PI * i) / 12) * (1 + 0.5 * Math.sin((2 * Math.PI * i) / 84)) + noise * normal())
/** Every window of a series, and the value after it. */
const windows = (values: readonly number[]) => {
  const y = values.slice(window)
  return { x: y.map((_, i) => values.slice(i, i + window)), y }
}

export const initial = (seed: number): Tensors<typeof network> => {
  const normal = normals(seed)
  return treeMap(({ shape, dtype }) => {
    const size = shape.reduce((n, d) => n * d, 1)
    return tensor(
      Array.from({ length: size }, () => 0.3 * normal()),
      shape,
      dtype,
    )
  }, network)
}

export const main = async (log: Log, { epochs = 20, seed = 1, out = 'out' }: LstnetOptions = {}) => {
  const normal = normals(seed + 1)
  const data = batches(windows(series(1000, normal)), { size: 32, seed, dropLast: true })
  const unseen = windows(series(500, normal))
  const rate = cosineDecaySchedule({ initValue: 0.01, decaySteps: epochs * data.steps })
  const optimiser = adam({ learningRate: rate })
  const step = compile(
    fn({ ...labelled, state: optimiser.init(network) }, ({ p, x, y, state }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'p' })({ p, x, y })
      const { updates, state: next } = optimiser.update(grad, state, p)
      return { p: applyUpdates(p, updates), state: next, value }
    }),
    cpu(),
  )
  let now = { p: initial(seed), state: optimiser.init(initial(seed)) }
  const losses: number[] = []
  for (let k = 0; k < epochs * data.steps; k++) {
    const { value, ...next } = step({ ...now, ...data.at(Math.floor(k / data.steps), k % data.steps) })
    losses.push(value.item())
    now = next
  }
  const said = compile(forecast, cpu())({ p: now.p, x: unseen.x }).toArray()
  const errorOf = (guess: (i: number) => number) => Math.sqrt(unseen.y.reduce((s, y, i) => s + (y - guess(i)) ** 2 / unseen.y.length, 0))
  const errors = {
    network: errorOf((i) => said[i]!),
    'the value before': errorOf((i) => unseen.x[i]![window - 1]!),
    'the value 12 before': errorOf((i) => unseen.x[i]![window - 12]!),
  }
  for (const [name, error] of Object.entries(errors)) log(`error of ${name}, in the mean square: ${error.toFixed(3)}`)
  log(`the least there is, that of the noise: ${noise}`)
  expectThat(errors.network < errors['the value 12 before'], 'more than the rhythm')

  const file = await plot(out, 'lstnet', {
    title: 'Forecasts of the next value',
    x: 'time',
    y: 'value',
    lines: { forecast: said.slice(0, 168).map((v, i) => [i, v]) },
    points: { series: unseen.y.slice(0, 168).map((v, i) => [i, v]) },
  })
  log(`picture: ${file}`)
  return { losses, errors, file }
}

start(import.meta.url, main)
