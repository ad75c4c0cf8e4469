// Forty years of carbon dioxide in the air, and what the next seven bring. `npm run example:gaussian-process`
//
// A Gaussian process says how alike the values at two times are: here those of a slow rise, of a season that changes slowly, of passing
// deviations, and of noise (after Rasmussen and Williams 2006, 5.4.3). L-BFGS chooses all sizes and lengths; it maximises the density of 500
// months at once, by the Cholesky factor of their covariance, and the Hessian there says how sure they are. Seven years are held back.
import {
  abs,
  add,
  cholesky,
  compile,
  cpu,
  diag,
  div,
  type Expr,
  evaluate,
  exp,
  expandDims,
  eye,
  f64,
  fn,
  hessian,
  inv,
  log,
  matmul,
  mul,
  ravel,
  type Scalar,
  sin,
  sqrt,
  square,
  sub,
  sum,
  type Tensors,
  tensor,
  transpose,
  treeMap,
  triangularSolve,
} from '../src/index.js'
import { lbfgs } from '../src/optim/index.js'
import { co2 } from './data/co2.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface GaussianProcessOptions {
  /** Months that are learned from, the last ones before January 2016. */
  readonly count?: number
  /** Steps of L-BFGS. */
  readonly steps?: number
  readonly out?: string
}

/** Sizes in parts per million and lengths in years, where the search begins. */
const beginning = { rise: 50, riseYears: 50, season: 3, seasonYears: 50, seasonShape: 1, passing: 0.5, passingYears: 0.5, noise: 0.3 }
/** What is learned: their logarithms, for which any number is allowed. */
export const hyper = treeMap(() => f64(), beginning)

type Distances = Expr<['n', 'm'], 'f64'>
const sized = (size: Scalar<'f64'>, k: Distances): Distances => mul(exp(mul(2, size)), k)
/** exp(-(d / l)^2 / 2): smooth functions that change in a length l. */
const smooth = (d: Distances, l: Scalar<'f64'>): Distances => exp(div(square(div(d, exp(l))), -2))
/** exp(-|d| / l): rough ones, which forget where they were in a length l. */
const rough = (d: Distances, l: Scalar<'f64'>): Distances => exp(mul(-1, div(abs(d), exp(l))))

/** The covariance of the process, without noise, between times a and times b. */
export const kernel = fn({ params: hyper, a: f64('n'), b: f64('m') }, ({ params: p, a, b }) => {
  const d: Distances = sub(expandDims(a, 1), b)
  const yearly = smooth(sin(mul(Math.PI, d)), p.seasonShape)
  const season = sized(p.season, mul(yearly, smooth(d, p.seasonYears)))
  return add(add(sized(p.rise, smooth(d, p.riseYears)), season), sized(p.passing, rough(d, p.passingYears)))
})

const inputs = { params: hyper, x: f64('n'), y: f64('n') }
/** L with L L^T the covariance of what is seen, and z = L^-1 y: numbers without correlation. */
const whiten = fn(inputs, ({ params, x, y }) => {
  const l = cholesky(add(kernel({ params, a: x, b: x }), mul(exp(mul(2, params.noise)), eye(x.shape[0]))))
  return { l, z: triangularSolve(l, y, { lower: true }) }
})
/** -log of the density of y: |z|^2 / 2 + log det L + n log(2 pi) / 2. */
export const loss = fn(inputs, (given) => {
  const { l, z } = whiten(given)
  return add(add(div(sum(square(z)), 2), sum(log(diag(l)))), (given.x.shape[0] / 2) * Math.log(2 * Math.PI))
})
/** The mean at other times, and the standard deviation of what is to be seen there. */
export const predict = fn({ ...inputs, times: f64('m') }, ({ params, x, y, times }) => {
  const { l, z } = whiten({ params, x, y })
  const v = triangularSolve(l, kernel({ params, a: x, b: times }), { lower: true })
  const { rise, season, passing, noise } = params
  const before = add(add(exp(mul(2, rise)), exp(mul(2, season))), add(exp(mul(2, passing)), exp(mul(2, noise))))
  return { mean: matmul(transpose(v), z), deviation: sqrt(sub(before, sum(square(v), { axis: 0 }))) }
})

type Hyper = Tensors<typeof hyper>
type Series = { readonly x: readonly number[]; readonly y: readonly number[] }

/** The hyperparameters under which the series is likeliest, and the loss before each step. */
export const learn = (series: Series, steps: number) => {
  const method = lbfgs({ maxTrials: 6 })
  const step = compile(
    fn({ ...inputs, state: method.init(hyper) }, ({ params, state, x, y }) =>
      method.step((params) => loss({ params, x, y }), params, state),
    ),
    cpu(),
  )
  let params: Hyper = treeMap((value) => tensor(Math.log(value)), beginning)
  let state = method.init(params)
  const losses: number[] = []
  for (let k = 0; k < steps; k++) {
    const next = step({ params, state, ...series })
    losses.push(next.value.item())
    ;({ params, state } = next)
  }
  return { params, losses }
}

/** The standard deviation of each: the roots of the diagonal of H^-1, H the Hessian of the loss. */
export const deviations = (params: Hyper, series: Series): Hyper => {
  const [vector, unravel] = ravel(params)
  const along = fn({ v: f64(8), x: f64('n'), y: f64('n') }, ({ v, x, y }) => loss({ params: unravel(v), x, y }))
  return unravel(evaluate(sqrt(diag(inv(compile(hessian(along, { wrt: 'v' }), cpu())({ v: vector, ...series }))))))
}

/** The middle of the i-th month, in years. */
const time = (i: number) => 1974 + (4 + i + 0.5) / 12

export const main = async (log: Log, { count = 500, steps = 30, out = 'out' }: GaussianProcessOptions = {}) => {
  const seen = co2.slice(500 - count, 500)
  const level = seen.reduce((s, v) => s + v / count, 0)
  const series = { x: seen.map((_, i) => time(500 - count + i)), y: seen.map((v) => v - level) }
  const { params, losses } = learn(series, steps)
  const unsure = deviations(params, series)
  log(`log density of ${count} months: from ${(-losses[0]!).toFixed(2)} to ${(-losses.at(-1)!).toFixed(2)}`)
  for (const name of Object.keys(beginning) as (keyof Hyper)[]) {
    const [value, low, high] = [0, -1.96, 1.96].map((z) => Math.exp(params[name].item() + z * unsure[name].item()).toPrecision(3))
    log(`${name.padEnd(12)} ${value}, between ${low} and ${high}`)
  }

  const months = Array.from({ length: 240 }, (_, i) => 416 + i) // 2009 to 2028
  const { mean, deviation } = compile(predict, cpu())({ params, ...series, times: months.map(time) })
  const held = months.flatMap((month, i) => (month >= 500 && month < co2.length ? [{ i, error: co2[month]! - level - mean.data[i]! }] : []))
  const error = Math.sqrt(held.reduce((s, { error }) => s + error ** 2 / held.length, 0))
  const inside = held.filter(({ i, error }) => Math.abs(error) < 2 * deviation.data[i]!).length / held.length
  log(`${held.length} months ahead: an error of ${error.toFixed(2)} ppm; ${(100 * inside).toFixed(0)} % within two deviations`)
  expectThat(inside > 0.85, 'a forecast that knows how sure it is')

  const shown = months.map((month, i) => ({ t: time(month), m: level + mean.data[i]!, two: 2 * deviation.data[i]!, value: co2[month] }))
  const points = (from: number, to: number) => shown.slice(from - 416, to - 416).map(({ t, value }) => [t, value!])
  const file = await plot(out, 'gaussian-process', {
    title: 'Carbon dioxide at Mauna Loa, forecast from the months up to 2015',
    x: 'year',
    y: 'parts per million',
    lines: { mean: shown.map(({ t, m }) => [t, m]) },
    bands: { 'two deviations': shown.map(({ t, m, two }) => [t, m - two, m + two]) },
    points: { 'learned from': points(416, 500), 'held back': points(500, co2.length) },
  })
  log(`picture: ${file}`)
  return { params, losses, unsure, error, inside, file }
}

start(import.meta.url, main)
