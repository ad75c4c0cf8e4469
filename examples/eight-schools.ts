// Eight schools: how much of what differs between them is chance? A hierarchical model, sampled by NUTS. `npm run example:eight-schools`
//
// In eight schools, coaching for a test raised scores by 28, 8, -3, 7, -1, 1, 18 and 12 points, with standard errors from 9 to 18 (Rubin 1981). The effects of schools are drawn around a common mean, and how
// far they spread is estimated with them: the larger the error of a school, the more its estimate moves to the mean.

import { add, mul } from '../src/index.js'
import { halfCauchy, model, normal, nuts, predictive, summary } from '../src/prob/index.js'
import { key } from '../src/random/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface SchoolsOptions {
  /** Draws of each of four chains. */
  readonly draws?: number
  readonly seed?: number
  readonly out?: string
}

/** The gain of each school, and its standard error. */
export const gains = [28, 8, -3, 7, -1, 1, 18, 12]
export const errors = [15, 10, 16, 11, 9, 11, 10, 18]

/** Non-centred: the effect of a school is mu + tau z with z ~ N(0, 1), whose scale does not depend on tau. */
export const schools = model((s) => {
  const mu = s.sample('mu', normal(0, 5))
  const tau = s.sample('tau', halfCauchy(5))
  const z = s.sample('z', normal(0, 1), [8])
  const effect = add(mu, mul(tau, z))
  const gain = s.observe('gain', normal(effect, errors), gains)
  return { mu, tau, effect, gain }
})

const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length

export const main = async (log: Log, { draws = 2000, seed = 0, out = 'out' }: SchoolsOptions = {}) => {
  const { draws: drawn, warnings, stats } = nuts(key(seed), schools, { draws, targetAcceptance: 0.95 })
  const { mu, tau, effect } = drawn
  const table = summary({ mu, tau, effect })
  log(`${table}`)
  log(`${stats.divergences} divergences, ${stats.gradients} gradients`)
  for (const { message } of warnings) log(message)
  const rows = new Map(table.rows.map((row) => [row.name, row]))
  expectThat(
    table.rows.every((row) => row.rhat < 1.02),
    'chains that agree',
  )
  expectThat(Math.abs(rows.get('mu')!.mean - 4.4) < 0.5, 'the mean that Stan finds')

  // Would the model produce data like these? The share of replications whose best school gains at least 28.
  const { gain } = predictive(key(seed + 1), schools, drawn)
  const replications = Array.from({ length: gain.data.length / 8 }, (_, i) =>
    Math.max(...Array.from(gain.data.slice(8 * i, 8 * i + 8), Number)),
  )
  const share = mean(replications.map((best) => (best >= 28 ? 1 : 0)))
  log(`the best school gains at least 28 in ${(100 * share).toFixed(0)} % of replications`)
  expectThat(share > 0.05, 'the model produces such data')

  const effects = gains.map((_, i) => rows.get(`effect[${i}]`)!)
  const file = await plot(out, 'eight-schools', {
    title: 'Eight schools: gains, and what is left of them beside the others',
    x: 'gain in the data',
    y: 'effect',
    lines: { 'no pooling': [[-4, -4], [29, 29]], 'posterior mean of mu': [[-4, rows.get('mu')!.mean], [29, rows.get('mu')!.mean]] }, // biome-ignore format: two lines
    points: {
      'posterior mean': gains.map((g, i) => [g, effects[i]!.mean]),
      '5 %': gains.map((g, i) => [g, effects[i]!.q5]),
      '95 %': gains.map((g, i) => [g, effects[i]!.q95]),
    },
  })
  log(`picture: ${file}`)
  return { mu: rows.get('mu')!, tau: rows.get('tau')!, effects, share, divergences: stats.divergences, file }
}

start(import.meta.url, main)
