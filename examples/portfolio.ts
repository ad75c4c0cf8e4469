// A portfolio under constraints, and what its constraints cost. `npm run example:portfolio`
//
// Of eight assets the covariance of the returns is estimated from ten years of simulated months. `minimize` finds the weights of the least variance for each expected return, without
// short sales, none above a third. The multiplier of the return is the slope of the frontier: what another percent of return costs in variance.
import { at, div, dot, type Expr, evaluate, matmul, mean, mul, sub, sum, type Tensor, tensor, transpose } from '../src/index.js'
import { minimize } from '../src/minimize/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface PortfolioOptions {
  readonly months?: number
  readonly seed?: number
  /** Points of the frontier. */
  readonly count?: number
  readonly out?: string
}
const ASSETS = 8
/** No asset has more of the whole than this. */
export const MOST = 1 / 3

/** Returns of months: a market that all follow more or less, and what each does by itself. */
const simulate = (months: number, seed: number): number[][] => {
  const normal = normals(seed)
  return Array.from({ length: months }, () => {
    const market = 0.006 + 0.04 * normal()
    return Array.from({ length: ASSETS }, (_, k) => 0.001 * k + (0.3 + 0.15 * k) * market + (0.01 + 0.006 * k) * normal())
  })
}

type Weights = Expr<[number], 'f64'>
/** What is expected in a year, and the covariance of a year's returns. */
export const momentsOf = (
  returns: readonly (readonly number[])[],
): { readonly mu: Tensor<[number], 'f64'>; readonly cov: Tensor<[number, number], 'f64'> } => {
  const x = tensor(returns as number[][], [returns.length, ASSETS])
  const mu = evaluate(mean(x, { axis: 0 }))
  const centred = sub(x, mu)
  return {
    mu: evaluate(mul(12, mu)) as Tensor<[number], 'f64'>,
    cov: evaluate(mul(12, div(matmul(transpose(centred), centred), returns.length - 1))) as Tensor<[number, number], 'f64'>,
  }
}
/** Half of the variance of the return of a portfolio. */
const risk = (cov: Tensor<[number, number], 'f64'>) => (w: Weights) => mul(0.5, dot(w, matmul(cov, w)))

/** The portfolio of the least variance whose expected return is `target`. */
export const portfolio = (mu: Tensor<[number], 'f64'>, cov: Tensor<[number, number], 'f64'>, target: number) =>
  minimize(risk(cov), tensor(new Array<number>(ASSETS).fill(1 / ASSETS)), {
    bounds: { lower: 0, upper: MOST },
    constraints: { equal: (w) => [sub(sum(w), 1), sub(dot(mu, w), target)] },
    tolerance: 1e-9,
  })

export const main = async (log: Log, { months = 120, seed = 3, count = 15, out = 'out' }: PortfolioOptions = {}) => {
  const { mu, cov } = momentsOf(simulate(months, seed))
  const sorted = [...mu.data].sort((a, b) => a - b)
  // Three assets at most a third each: the returns that can be had.
  const [low, high] = [(sorted[0]! + sorted[1]! + sorted[2]!) / 3, (sorted.at(-1)! + sorted.at(-2)! + sorted.at(-3)!) / 3]
  const targets = Array.from({ length: count }, (_, k) => low + ((high - low) * (k + 0.5)) / count)
  const frontier = targets.map((target) => {
    const found = portfolio(mu, cov, target)
    expectThat(found.converged && found.violation < 1e-6, `a portfolio for a return of ${target}`)
    // Of the Lagrangian risk + lambda (mu w - target) the slope of the risk by the target is -lambda.
    const [, slope] = found.multipliers!.equal as readonly [number, number]
    return { target, risk: Math.sqrt(2 * found.value), slope: -slope, value: found.value, weights: [...found.x.data] }
  })
  const best = frontier.reduce((a, b) => (b.risk < a.risk ? b : a))
  log(`least risk: ${(100 * best.risk).toFixed(2)} % a year at an expected return of ${(100 * best.target).toFixed(2)} %`)
  for (const { target, risk: sd, weights } of [frontier[0]!, best, frontier.at(-1)!])
    log(
      `return ${(100 * target).toFixed(1)} %, risk ${(100 * sd).toFixed(1)} %: ${weights.map((w) => (100 * w).toFixed(0).padStart(3)).join(' ')}`,
    )

  const file = await plot(out, 'portfolio', {
    title: 'The least risk for each expected return',
    x: 'risk, % a year',
    y: 'expected return, % a year',
    lines: { frontier: frontier.map(({ target, risk: sd }) => [100 * sd, 100 * target]) },
    points: { assets: [...mu.data].map((m, k) => [100 * Math.sqrt(evaluate(at(cov, k, k)).item()), 100 * m]) },
  })
  log(`picture: ${file}`)
  return { mu, cov, frontier, file }
}

start(import.meta.url, main)
