// A neural network learns the motion that it is shown. `npm run example:neural-ode`
//
// After the demonstration of Chen et al. 2018 (github.com/rtqichen/torchdiffeq): a body goes along a spiral, and a network is to say its
// speed at every place. It is held against short pieces of the path: `odeint` follows the network's own speeds from where a piece begins,
// and the gradient of the distance is one more differential equation, solved back in time (`adjoint: 'adjoint'`).

import { random } from '../src/check/index.js'
import {
  compile,
  cpu,
  type Expr,
  type Exprs,
  evaluate,
  f64,
  fn,
  linear,
  matmul,
  mean,
  mul,
  square,
  sub,
  type Tensors,
  tanh,
  tensor,
  valueAndGrad,
} from '../src/index.js'
import { adam, applyUpdates, cosineDecaySchedule } from '../src/optim/index.js'
import { odeint } from '../src/solve/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface NeuralOdeOptions {
  /** Steps of the training. */
  readonly steps?: number
  readonly seed?: number
  readonly out?: string
}

type Place = readonly [number, number]
type Places = Expr<[number, 2], 'f64'>
const cubes = (y: Places): Places => mul(y, mul(y, y))

/** What is to be learned, and is used for the data alone: dy/dt = y^3 A, the cubes taken number by number. */
const turn = tensor([[-0.1, 2], [-2, -0.1]]) // biome-ignore format: a matrix
const truth = (_t: unknown, y: Places) => matmul(cubes(y), turn)

/** The network that is to say the speed: two dense layers on the cubes. */
const network = { w1: f64(2, 32), b1: f64(32), w2: f64(32, 2), b2: f64(2) }
const speed = (_t: unknown, y: Places, { w1, b1, w2, b2 }: Exprs<typeof network>) => linear(tanh(linear(cubes(y), w1, b1)), w2, b2)

/** Small random weights. */
export const initial = (seed: number): Tensors<typeof network> => {
  const normal = normals(seed)
  const weights = (n: number) => Array.from({ length: n }, () => 0.1 * normal())
  return {
    w1: tensor(weights(64), [2, 32]),
    b1: tensor(new Float64Array(32), [32]),
    w2: tensor(weights(64), [32, 2]),
    b2: tensor(new Float64Array(2), [2]),
  }
}

// The path is seen at 200 times; a piece has 10 of them, and a step of the training reads 20 pieces.
const times = Array.from({ length: 200 }, (_, i) => 0.05 * i)
const [pieces, length] = [20, 10]
const beginning = tensor([[1.5, 0]])

const inputs = { params: network, begin: f64(pieces, 2), seen: f64(length, pieces, 2) }

/** The mean squared distance of the network's motion from the pieces, each from where it begins. */
export const lossOver = (rtol: number) =>
  fn(inputs, ({ params, begin, seen }) => {
    const { ys } = odeint(speed, begin, times.slice(0, length), params, { adjoint: 'adjoint', rtol, maxSteps: 40 })
    return mean(square(sub(ys, seen)))
  })

/** Pieces of a path that begin anywhere: [time, piece, place]. */
const cut = (path: readonly Place[], uniform: () => number) => {
  const first = Array.from({ length: pieces }, () => Math.floor(uniform() * (path.length - length + 1)))
  return { begin: first.map((i) => path[i]!), seen: Array.from({ length }, (_, k) => first.map((i) => path[i + k]!)) }
}

export const main = async (log: Log, { steps = 2000, seed = 1, out = 'out' }: NeuralOdeOptions = {}) => {
  const solved = evaluate(odeint(truth, beginning, times, [], { rtol: 1e-9 }))
  const path = solved.ys.toArray().map(([place]) => place!)

  const optimiser = adam({ learningRate: cosineDecaySchedule({ initValue: 0.02, decaySteps: steps }) })
  const loss = lossOver(1e-5)
  const step = compile(
    fn({ ...inputs, state: optimiser.init(network) }, ({ params, begin, seen, state }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, begin, seen })
      const { updates, state: next } = optimiser.update(grad, state, params)
      return { params: applyUpdates(params, updates), state: next, value }
    }),
    cpu(),
  )
  const params = initial(seed)
  let now = { params, state: optimiser.init(params) }
  const losses: number[] = []
  const uniform = random(seed)
  for (let k = 0; k < steps; k++) {
    const { value, ...next } = step({ ...now, ...cut(path, uniform) })
    losses.push(value.item())
    now = next
    if (k % 500 === 0 || k === steps - 1) log(`step ${k}: loss ${losses[k]!.toExponential(2)}`)
  }

  // The network's own path from the beginning to the last time, twenty pieces long: it was never asked for that.
  const { ys, done } = evaluate(odeint(speed, beginning, times, now.params))
  const followed = ys.toArray().map(([place]) => place!)
  const distance = Math.max(...followed.map(([x, y], i) => Math.hypot(x - path[i]![0], y - path[i]![1])))
  log(`the whole path: at most ${distance.toFixed(3)} from the true one`)
  expectThat(done.item(), 'a path up to the last time')
  expectThat(distance < 0.5, 'the whole path, nearly')
  expectThat(losses.at(-1)! < losses[0]! / 100, 'a loss that falls to a hundredth')

  const file = await plot(out, 'neural-ode', {
    title: 'A motion learned from short pieces',
    x: 'x',
    y: 'y',
    lines: { learned: followed },
    points: { seen: path },
    extent: 1.6,
  })
  log(`picture: ${file}`)
  return { losses, distance, path, file }
}

start(import.meta.url, main)
