// A Kalman filter learns how noisy its world is. `npm run example:kalman`
//
// A body moves, pushed at random, and its place is seen with errors. The filter is a `scan` over the observations that carries what is
// known of place and speed; each step also gives the density of its observation, and the sum of their logarithms is the likelihood of
// the two variances. L-BFGS maximises it; the Hessian there, a derivative of a derivative of the loop, says how sure the answer is.
import {
  add,
  at,
  compile,
  cpu,
  div,
  dot,
  type Expr,
  exp,
  f64,
  fn,
  hessian,
  log,
  matmul,
  mul,
  neg,
  outer,
  type Scalar,
  scan,
  square,
  sub,
  sum,
  tensor,
  transpose,
} from '../src/index.js'
import { lbfgs } from '../src/optim/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface KalmanOptions {
  /** Observations. */
  readonly count?: number
  readonly seed?: number
  readonly out?: string
}

/** The variances that the data are simulated with: of the pushes, and of the errors of observation. */
const truth = { push: 0.01, error: 4 }

/** In one unit of time the speed is added to the place, and a push to the speed; half of it acts on the place already. */
const F = tensor([[1, 1], [0, 1]]) // biome-ignore format: a matrix
const Q = tensor([[1 / 4, 1 / 2], [1 / 2, 1]]) // biome-ignore format: a matrix
const seen = tensor([1, 0])

/** Places and speeds, and the places as they are seen. */
export const simulate = (count: number, seed: number) => {
  const normal = normals(seed)
  let [place, speed] = [0, 0]
  return Array.from({ length: count }, () => {
    const push = Math.sqrt(truth.push) * normal()
    place += speed + push / 2
    speed += push
    return { place, speed, y: place + Math.sqrt(truth.error) * normal() }
  })
}

/** What is known of [place, speed]: a normal law. */
interface Belief {
  readonly mean: Expr<[2], 'f64'>
  readonly cov: Expr<[2, 2], 'f64'>
}

/** Time passes, then y is seen: the belief after it, and the logarithm of the density of y before it was seen. */
const observe = ({ mean, cov }: Belief, y: Scalar<'f64'>, push: Scalar<'f64'>, error: Scalar<'f64'>) => {
  const ahead = { mean: matmul(F, mean), cov: add(matmul(matmul(F, cov), transpose(F)), mul(push, Q)) }
  const surprise = sub(y, dot(seen, ahead.mean))
  const along = matmul(ahead.cov, seen)
  const variance = add(dot(seen, along), error)
  const next: Belief = {
    mean: add(ahead.mean, mul(div(along, variance), surprise)),
    cov: sub(ahead.cov, div(outer(along, along), variance)),
  }
  return [next, mul(-0.5, add(log(mul(2 * Math.PI, variance)), div(square(surprise), variance)))] as const
}

/** The logarithms of both variances, [push, error]: any number is allowed. */
const inputs = { params: f64(2), ys: f64('n') }

/** All beliefs, and the log-likelihood. */
export const filter = fn(inputs, ({ params, ys }) => {
  const [push, error] = [exp(at(params, 0)), exp(at(params, 1))]
  const before = { mean: tensor([0, 0]), cov: tensor([[100, 0], [0, 100]]) } // biome-ignore format: a matrix
  const [, { belief, density }] = scan(
    (belief: Belief, y: Scalar<'f64'>) => {
      const [next, density] = observe(belief, y, push, error)
      return [next, { belief: next, density }]
    },
    before,
    ys,
  )
  return { belief, logLikelihood: sum(density) }
})
/** What is minimised. */
export const loss = fn(inputs, (given) => neg(filter(given).logLikelihood))

export const main = async (log: Log, { count = 500, seed = 1, out = 'out' }: KalmanOptions = {}) => {
  const world = simulate(count, seed)
  const ys = world.map(({ y }) => y)
  const method = lbfgs()
  const climb = compile(
    fn({ ...inputs, state: method.init(inputs.params) }, ({ params, state, ys }) =>
      method.step((params) => loss({ params, ys }), params, state),
    ),
    cpu(),
  )
  let now = { params: tensor([0, 0]), state: method.init(tensor([0, 0])) }
  const losses: number[] = []
  for (let k = 0; k < 25; k++) {
    const { params, state, value } = climb({ ...now, ys })
    losses.push(value.item())
    now = { params, state }
  }
  const found = now.params.toArray()

  // The inverse of the Hessian of -log L is the covariance of the estimates, for many observations.
  const [[a, b], [, d]] = compile(hessian(loss, { wrt: 'params' }), cpu())({ params: found, ys }).toArray()
  const deviations = [Math.sqrt(d / (a * d - b * b)), Math.sqrt(a / (a * d - b * b))]
  const distances = [truth.push, truth.error].map((value, k) => (found[k]! - Math.log(value)) / deviations[k]!)
  log(`log-likelihood: from ${(-losses[0]!).toFixed(2)} to ${(-losses.at(-1)!).toFixed(2)}`)
  for (const [k, name] of (['push', 'error'] as const).entries()) {
    const [low, high] = [-1.96, 1.96].map((z) => Math.exp(found[k]! + z * deviations[k]!).toPrecision(3))
    log(`variance of ${name}: ${Math.exp(found[k]!).toPrecision(3)}, between ${low} and ${high}; simulated with ${truth[name]}`)
  }
  expectThat(Math.max(...distances.map(Math.abs)) < 3, 'the variances within three standard deviations')

  const speeds = compile(filter, cpu())({ params: found, ys }).belief.mean.toArray()
  const file = await plot(out, 'kalman', {
    title: 'The speed, which is not observed',
    x: 'time',
    y: 'speed',
    lines: { filtered: speeds.map(([, speed], t) => [t, speed]), true: world.map(({ speed }, t) => [t, speed]) },
  })
  log(`picture: ${file}`)
  return { losses, found, deviations, distances, speeds, file }
}

start(import.meta.url, main)
