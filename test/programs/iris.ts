// Fisher's irises, three species by four measurements: softmax regression to its optimum by L-BFGS, and a network of one hidden layer by
// Adam on minibatches. Bishop, Pattern Recognition and Machine Learning (2006), 4.3.4 and 5.2; Kingma and Ba 2015.
import {
  add,
  argmax,
  cast,
  compile,
  crossEntropy,
  div,
  eq,
  evaluate,
  f64,
  fn,
  i32,
  linear,
  mean,
  mul,
  square,
  std,
  sub,
  sum,
  type Tensors,
  tanh,
  tensor,
  treeMap,
  valueAndGrad,
  zeros,
} from '../../src/index.js'
import { adam, applyUpdates, lbfgs } from '../../src/optim/index.js'
import { batches, splitData, train } from '../../src/train/index.js'
import { measurements, species } from './data/iris.js'
import { random } from './data/random.js'

const measured = tensor(measurements, [150, 4])
const mu = mean(measured, { axis: 0 })
/** All flowers: each measurement with mean 0 and variance 1, and the species. */
export const flowers = { x: evaluate(div(sub(measured, mu), std(measured, { axis: 0 }))), y: tensor(species, [150]) }

const x = f64('flowers', 4)
const y = i32('flowers')
const data = { x, y }

// ---- softmax regression: p(k | x) = softmax(x W + b)_k

export const regression = { w: f64(4, 3), b: f64(3) }
const regressionScores = fn({ params: regression, x }, ({ params: { w, b }, x }) => linear(x, w, b))

/** The mean of -log p(y | x), and a penalty that makes the minimum one point: 0.01 / 2 of the sum of squares of W. */
export const regressionLoss = fn({ params: regression, x, y }, ({ params, x, y }) =>
  add(crossEntropy(regressionScores({ params, x }), y), mul(0.005, sum(square(params.w)))),
)
export const regressionAccuracy = fn({ params: regression, x, y }, ({ params, x, y }) =>
  mean(cast(eq(argmax(regressionScores({ params, x }), { axis: -1 }), y), 'f64')),
)

const method = lbfgs()
const descend = compile(
  fn({ params: regression, state: method.init(regression), x, y }, ({ params, state, x, y }) =>
    method.step((params) => regressionLoss({ params, x, y }), params, state),
  ),
)
/** The parameters after so many steps of L-BFGS from 0, and the loss there. */
export const fitRegression = (steps: number) => {
  let params = evaluate({ w: zeros([4, 3]), b: zeros([3]) })
  let state = method.init(params)
  for (let i = 0; i < steps; i++) ({ params, state } = descend({ params, state, ...flowers }))
  return { params, loss: regressionLoss({ params, ...flowers }).item() }
}

// ---- a network: p(k | x) = softmax(tanh(x W1 + b1) W2 + b2)_k

export const network = { hidden: { w: f64(4, 8), b: f64(8) }, out: { w: f64(8, 3), b: f64(3) } }
const networkScores = fn({ params: network, x }, ({ params: { hidden, out }, x }) =>
  linear(tanh(linear(x, hidden.w, hidden.b)), out.w, out.b),
)
export const networkLoss = fn({ params: network, x, y }, ({ params, x, y }) => crossEntropy(networkScores({ params, x }), y))
export const networkAccuracy = fn({ params: network, x, y }, ({ params, x, y }) =>
  mean(cast(eq(argmax(networkScores({ params, x }), { axis: -1 }), y), 'f64')),
)

const optimiser = adam({ learningRate: 0.02 })
const step = compile(
  fn({ params: network, state: optimiser.init(network), x, y }, ({ params, state, x, y }) => {
    const { value, grad } = valueAndGrad(networkLoss, { wrt: 'params' })({ params, x, y })
    const { updates, state: next } = optimiser.update(grad, state, params)
    return { params: applyUpdates(params, updates), state: next, loss: value }
  }),
)

/** Small normal weights, biases 0. */
export const initialNetwork = (seed: number) => {
  const { normals } = random(seed)
  return treeMap(
    (leaf, path) =>
      tensor(
        normals(leaf.shape).map((x) => (path.endsWith('w') ? 0.5 * x : 0)),
        leaf.shape,
      ),
    network,
  )
}

/** Trains on minibatches of 20: in the order of the seed, or without one in that of the data. */
export const trainNetwork = (initial: Tensors<typeof network>, flowers: Tensors<typeof data>, epochs: number, seed?: number) =>
  train(
    ({ params, state }, batch) => {
      const next = step({ params, state, ...batch })
      return { state: { params: next.params, state: next.state }, loss: next.loss }
    },
    batches(flowers, { size: 20, seed }),
    { state: { params: initial, state: optimiser.init(initial) }, epochs },
  )

/** 120 flowers to learn from, 30 that are never trained on. */
export const [seen, unseen] = splitData(flowers, [120, 30], { seed: 1 })
