/**
 * The Kalman filter: the log-likelihood of a linear-Gaussian state space model, unrolled over the observations, and the variances of
 * its noise fitted to data. Durbin and Koopman 2012, 4.3 and 7.2.
 */
import {
  add,
  at,
  compile,
  div,
  dot,
  exp,
  f64,
  fn,
  log,
  matmul,
  mul,
  neg,
  outer,
  reshape,
  square,
  stack,
  sub,
  sum,
  tensor,
  transpose,
  unstack,
} from '../../src/index.js'
import { lbfgs } from '../../src/optim/index.js'

/** s' = F s + N(0, Q), y = h s + N(0, r): the state s has m numbers, an observation y is one. */
const model = { F: f64('m', 'm'), Q: f64('m', 'm'), h: f64('m'), r: f64() }
/** What is known of the state: its mean and its covariance. */
const belief = { mean: f64('m'), cov: f64('m', 'm') }

/** One observation: the belief about the next state, and the logarithm of the observation's density. */
export const filterStep = fn({ model, belief, y: f64() }, ({ model: { F, Q, h, r }, belief: { mean, cov }, y }) => {
  const surprise = sub(y, dot(h, mean))
  const ch = matmul(cov, h)
  const variance = add(dot(h, ch), r)
  const updated = { mean: add(mean, mul(div(ch, variance), surprise)), cov: sub(cov, div(outer(ch, ch), variance)) }
  return {
    belief: { mean: matmul(F, updated.mean), cov: add(matmul(matmul(F, updated.cov), transpose(F)), Q) },
    logDensity: mul(-0.5, add(log(mul(2 * Math.PI, variance)), div(square(surprise), variance))),
  }
})

/** log p(y_1, ..., y_n), from a belief about the first state. */
export const logLikelihood = fn({ model, belief, ys: f64('n') }, ({ model, belief, ys }) => {
  const terms = []
  let now = belief
  for (const y of unstack(ys)) {
    const { belief: next, logDensity } = filterStep({ model, belief: now, y })
    terms.push(logDensity)
    now = next
  }
  return sum(stack(terms))
})

/** A body that moves, its place and speed pushed at random: y is its place. Bar-Shalom, Li and Kirubarajan 2001, 6.2.2. */
export const constantVelocity = fn({ observation: f64(), push: f64() }, ({ observation, push }) => ({
  F: tensor([[1, 1], [0, 1]]), // biome-ignore format: a matrix
  Q: mul(exp(push), [[1 / 3, 1 / 2], [1 / 2, 1]]), // biome-ignore format: a matrix
  h: tensor([1, 0]),
  r: exp(observation),
}))

/** The logarithms of two variances: of what is observed, and of the step of a level that wanders. */
const variances = { observation: f64(), level: f64() }

/** -log p of a level that wanders, y = s + e, s' = s + w, given its first observation, which is all that is known before. Section 2.9. */
export const localLevelLoss = fn({ params: variances, ys: f64('n') }, ({ params, ys }) => {
  const [r, q] = [exp(params.observation), exp(params.level)]
  const model = { F: tensor([[1]]), Q: reshape(q, [1, 1]), h: tensor([1]), r }
  const belief = { mean: at(ys, ':1'), cov: reshape(add(r, q), [1, 1]) }
  return neg(logLikelihood({ model, belief, ys: at(ys, '1:') }))
})

/** The variances of greatest likelihood. */
export const fitLocalLevel = (ys: number[], iterations: number) => {
  const method = lbfgs()
  const step = compile(
    fn({ params: variances, state: method.init(variances), ys: f64('n') }, ({ params, state, ys }) =>
      method.step((params) => localLevelLoss({ params, ys }), params, state),
    ),
  )
  let params = { observation: tensor(9), level: tensor(9) }
  let state = method.init(params)
  for (let i = 0; i < iterations; i++) ({ params, state } = step({ params, state, ys }))
  return { observation: Math.exp(params.observation.item()), level: Math.exp(params.level.item()) }
}
