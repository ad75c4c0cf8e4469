// Two models of a handwritten digit: a linear one (logistic regression) and LeNet-5 (LeCun et al. 1998, with relu and max-pooling).
// Everything is a pure function of its arguments: scores of parameters and images, a loss, and the step of an optimiser.
import {
  add,
  argmax,
  cast,
  conv,
  type Dim,
  type Expr,
  eq,
  f32,
  f64,
  fn,
  i32,
  logSoftmax,
  matmul,
  maxPool,
  mean,
  mul,
  neg,
  oneHot,
  relu,
  reshape,
  sum,
  valueAndGrad,
} from '../../src/index.js'
import { adam, applyUpdates, cosineDecaySchedule } from '../../src/optim/index.js'

/** Adam, its rate falling to 0 as a half cosine. */
export const adamOver = (steps: number, rate: number) => adam({ learningRate: cosineDecaySchedule({ initValue: rate, decaySteps: steps }) })
export type Optimiser = ReturnType<typeof adamOver>

const x = f32('batch', 1, 28, 28)
const y = i32('batch')

/** Cross entropy: minus the mean log-probability of the true digit. */
const crossEntropy = (scores: Expr<readonly [Dim, 10], 'f32'>, labels: Expr<readonly [Dim], 'i32'>) =>
  neg(mean(sum(mul(logSoftmax(scores), oneHot(labels, 10, 'f32')), { axis: -1 })))

// ---- logistic regression

const linear = { w: f32(784, 10), b: f32(10) }
const logisticScores = fn({ params: linear, x }, ({ params: p, x }) => add(matmul(reshape(x, [-1, 784]), p.w), p.b))

export const logistic = {
  name: 'logistic regression',
  params: linear,
  loss: fn({ params: linear, x, y }, ({ params, x, y }) => crossEntropy(logisticScores({ params, x }), y)),
  predict: fn({ params: linear, x }, (input) => argmax(logisticScores(input), { axis: -1 })),
}
export const logisticStep = (optimiser: Optimiser) =>
  fn({ params: linear, state: optimiser.init(linear), x, y }, ({ params, state, x, y }) => {
    const { value, grad } = valueAndGrad(logistic.loss, { wrt: 'params' })({ params, x, y })
    const correct = mean(cast(eq(logistic.predict({ params, x }), y), 'f32'))
    const { updates, state: next } = optimiser.update(grad, state, params)
    return { params: applyUpdates(params, updates), state: next, loss: value, correct }
  })

// ---- LeNet: two convolutions, each with relu and pooling, then three dense layers

/** The model in one dtype. */
const lenetIn = (leaf: typeof f32) => {
  const params = {
    c1: { k: leaf(6, 1, 5, 5), b: leaf(6, 1, 1) },
    c2: { k: leaf(16, 6, 5, 5), b: leaf(16, 1, 1) },
    d1: { w: leaf(256, 120), b: leaf(120) },
    d2: { w: leaf(120, 84), b: leaf(84) },
    d3: { w: leaf(84, 10), b: leaf(10) },
  }
  const x = leaf('batch', 1, 28, 28)
  const scores = fn({ params, x }, ({ params: p, x }) => {
    const y1 = maxPool(relu(add(conv(x, p.c1.k), p.c1.b)), { window: 2 }) // [batch, 6, 12, 12]
    const y2 = maxPool(relu(add(conv(y1, p.c2.k), p.c2.b)), { window: 2 }) // [batch, 16, 4, 4]
    const h0 = reshape(y2, [-1, 256])
    const h1 = relu(add(matmul(h0, p.d1.w), p.d1.b))
    const h2 = relu(add(matmul(h1, p.d2.w), p.d2.b))
    return add(matmul(h2, p.d3.w), p.d3.b)
  })
  return {
    name: 'LeNet',
    params,
    x,
    y,
    loss: fn({ params, x, y }, ({ params, x, y }) => crossEntropy(scores({ params, x }), y)),
    predict: fn({ params, x }, (input) => argmax(scores(input), { axis: -1 })),
  }
}
export const lenet = lenetIn(f32)
/** The same in f64, of which its type knows nothing: only the check of the gradient uses it. */
export const lenetInF64 = lenetIn(f64 as unknown as typeof f32)

export const lenetStep = (optimiser: Optimiser) =>
  fn({ params: lenet.params, state: optimiser.init(lenet.params), x, y }, ({ params, state, x, y }) => {
    const { value, grad } = valueAndGrad(lenet.loss, { wrt: 'params' })({ params, x, y })
    const correct = mean(cast(eq(lenet.predict({ params, x }), y), 'f32'))
    const { updates, state: next } = optimiser.update(grad, state, params)
    return { params: applyUpdates(params, updates), state: next, loss: value, correct }
  })
