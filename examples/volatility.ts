// How volatile was a market, day by day? A stochastic volatility model, sampled by NUTS. `npm run example:volatility`
//
// The logarithm of the variance of a day's return wanders: h_t = mu + phi (h_{t-1} - mu) + sigma z_t, and the return is exp(h_t / 2) times a normal number (Kim, Shephard and Chib 1998). Every day has a
// latent number, so the posterior has as many dimensions as there are days, and three more; its gradient runs through the loop over the days. The data are simulated, so the volatility that produced them is known.
import { add, at, concat, div, exp, mul, reshape, scan, sqrt, square, sub, type Tensor, tensor } from '../src/index.js'
import { beta, halfNormal, model, normal, nuts, summary } from '../src/prob/index.js'
import { key } from '../src/random/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface VolatilityOptions {
  readonly days?: number
  /** Draws of each chain, and as many to warm up. */
  readonly draws?: number
  readonly chains?: number
  readonly seed?: number
  readonly out?: string
}

/** What the data are simulated with: the mean of the log variance, how much of a day's excess is left on the next, and how far a day moves. */
export const truth = { mu: -1, phi: 0.95, sigma: 0.25 } as const

/** Log variances and returns. */
export const simulate = (days: number, seed: number): { readonly h: readonly number[]; readonly returns: readonly number[] } => {
  const normal = normals(seed)
  const { mu, phi, sigma } = truth
  let h = mu + (sigma / Math.sqrt(1 - phi ** 2)) * normal()
  const hs: number[] = []
  const returns: number[] = []
  for (let t = 0; t < days; t++) {
    if (t > 0) h = mu + phi * (h - mu) + sigma * normal()
    hs.push(h)
    returns.push(Math.exp(h / 2) * normal())
  }
  return { h: hs, returns }
}

/** The model of these returns, with standard normal numbers as its latent ones: their scale does not depend on sigma. */
export const modelOf = (returns: readonly number[]) =>
  model((s) => {
    const mu = s.sample('mu', normal(-1, 2))
    const share = s.sample('share', beta(20, 1.5))
    const phi = sub(mul(2, share), 1)
    const sigma = s.sample('sigma', halfNormal(0.5))
    const z = s.sample('z', normal(0, 1), [returns.length])
    // The first day is drawn from what the others settle to: its excess over mu has the variance sigma^2 / (1 - phi^2).
    const first = mul(at(z, 0), div(sigma, sqrt(sub(1, square(phi)))))
    const [, later] = scan(
      (before: typeof first, zt) => {
        const excess = add(mul(phi, before), mul(sigma, zt))
        return [excess, excess] as const
      },
      first,
      at(z, '1:'),
    )
    const h = add(mu, concat([reshape(first, [1]), later]))
    s.observe('returns', normal(0, exp(mul(0.5, h))), tensor(returns as number[]))
    return { mu, phi, sigma, h }
  })

export const main = async (log: Log, { days = 250, draws = 500, chains = 4, seed = 1, out = 'out' }: VolatilityOptions = {}) => {
  const { h, returns } = simulate(days, seed)
  const found = nuts(key(seed), modelOf(returns), { draws, warmup: draws, chains, targetAcceptance: 0.9 })
  const table = summary({ mu: found.draws.mu, phi: found.draws.phi, sigma: found.draws.sigma })
  log(`${table}`)
  for (const { message } of found.warnings) log(message)
  expectThat(
    table.rows.every((row) => row.rhat < 1.05),
    'chains that agree',
  )
  for (const row of table.rows) {
    const real = truth[row.name as keyof typeof truth]
    log(`${row.name}: simulated with ${real}, ${Math.abs((row.mean - real) / row.sd).toFixed(1)} standard deviations from the mean`)
  }

  // The volatility of each day: the middle of the draws, and what holds nine of ten of them.
  const all = (found.draws.h as unknown as Tensor).data
  const count = all.length / days
  const quantiles = returns.map((_, t) => {
    const sorted = Float64Array.from({ length: count }, (_, i) => all[i * days + t]!).sort()
    return [0.05, 0.5, 0.95].map((q) => Math.exp(sorted[Math.floor(q * (count - 1))]! / 2)) as [number, number, number]
  })
  const inside = h.filter((x, t) => Math.exp(x / 2) >= quantiles[t]![0] && Math.exp(x / 2) <= quantiles[t]![2]).length / days
  log(`the volatility that was simulated is in the band on ${(100 * inside).toFixed(0)} % of the days`)
  const file = await plot(out, 'volatility', {
    title: 'Volatility day by day',
    x: 'day',
    y: 'standard deviation of the return',
    lines: { simulated: h.map((x, t) => [t, Math.exp(x / 2)]), 'posterior median': quantiles.map((q, t) => [t, q[1]]) },
    points: { 'size of the return': returns.map((r, t) => [t, Math.abs(r)]) },
    bands: { '90 %': quantiles.map((q, t) => [t, q[0], q[2]]) },
  })
  log(`picture: ${file}`)
  return { rows: table.rows, inside, divergences: found.stats.divergences, gradients: found.stats.gradients, file }
}

start(import.meta.url, main)
