// Learning to learn: parameters from which one gradient step on ten points fits any sine curve of a family. The loss after that step is
// differentiated, through the step. Finn, Abbeel and Levine, Model-agnostic meta-learning (2017), algorithm 2 and section 5.1.
import {
  compile,
  f64,
  fn,
  grad,
  linear,
  mean,
  mul,
  square,
  sub,
  tanh,
  tensor,
  treeMap,
  treeZip,
  valueAndGrad,
  vmap,
} from '../../src/index.js'
import { adam, applyUpdates } from '../../src/optim/index.js'
import { random } from './data/random.js'

export const network = {
  first: { w: f64(1, 20), b: f64(20) },
  second: { w: f64(20, 20), b: f64(20) },
  out: { w: f64(20, 1), b: f64(1) },
}
export const predict = fn({ params: network, x: f64('points', 1) }, ({ params: { first, second, out }, x }) =>
  linear(tanh(linear(tanh(linear(x, first.w, first.b)), second.w, second.b)), out.w, out.b),
)
export const loss = fn({ params: network, x: f64('points', 1), y: f64('points', 1) }, ({ params, x, y }) =>
  mean(square(sub(predict({ params, x }), y))),
)

/** The parameters after one step of gradient descent on some points of a curve. */
export const adapted = fn({ params: network, x: f64('points', 1), y: f64('points', 1) }, ({ params, x, y }) =>
  treeZip((p, g) => sub(p, mul(0.1, g)), params, grad(loss, { wrt: 'params' })({ params, x, y })),
)

/** A curve: ten points to learn from, and ten others to be judged by. */
const points = { x: f64(10, 1), y: f64(10, 1) }
const task = { support: points, query: points }
const taskLoss = fn({ params: network, task }, ({ params, task: { support, query } }) =>
  loss({ params: adapted({ params, ...support }), ...query }),
)

/** The mean over the curves of the loss after a step on each. */
const manyPoints = { x: f64('tasks', 10, 1), y: f64('tasks', 10, 1) }
const tasks = { support: manyPoints, query: manyPoints }
export const metaLoss = fn({ params: network, tasks }, ({ params, tasks }) =>
  mean(vmap(fn(task, (task) => taskLoss({ params, task })))(tasks)),
)

/** y = A sin(x - phase) with A in [0.1, 5], phase in [0, pi], x in [-5, 5]. */
export const sines = (count: number, seed: number) => {
  const { uniform } = random(seed)
  const between = (a: number, b: number) => a + (b - a) * uniform()
  const curves = Array.from({ length: count }, () => ({ amplitude: between(0.1, 5), phase: between(0, Math.PI) }))
  const draw = () => {
    const x = curves.map(() => Array.from({ length: 10 }, () => [between(-5, 5)]))
    const y = curves.map(({ amplitude, phase }, i) => x[i]!.map(([x]) => [amplitude * Math.sin(x! - phase)]))
    return { x, y }
  }
  return { support: draw(), query: draw() }
}

/** Weights of variance 1 / inputs, biases 0. */
export const initial = (seed: number) => {
  const { normals } = random(seed)
  return treeMap((leaf, path) => {
    const deviation = path.endsWith('w') ? 1 / Math.sqrt(leaf.shape[0] ?? 1) : 0
    return tensor(
      normals(leaf.shape).map((x) => deviation * x),
      leaf.shape,
    )
  }, network)
}

const optimiser = adam({ learningRate: 0.005 })
const step = compile(
  fn({ params: network, state: optimiser.init(network), tasks }, ({ params, state, tasks }) => {
    const { value, grad } = valueAndGrad(metaLoss, { wrt: 'params' })({ params, tasks })
    const { updates, state: next } = optimiser.update(grad, state, params)
    return { params: applyUpdates(params, updates), state: next, loss: value }
  }),
)

/** Sees other curves in each step. */
export const learn = (steps: number, seed: number) => {
  let params = initial(seed)
  let state = optimiser.init(params)
  const losses: number[] = []
  for (let i = 0; i < steps; i++) {
    const done = step({ params, state, tasks: sines(16, seed + i) })
    ;({ params, state } = done)
    losses.push(done.loss.item())
  }
  return { params, losses }
}
