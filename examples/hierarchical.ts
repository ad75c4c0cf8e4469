// A regression whose groups share what they know, by three ways to the posterior. `npm run example:hierarchical`
//
// Of twenty groups with three to twenty measurements each the intercepts are drawn around a common one, and the slope is common to all. `laplaceApproximation` goes to the mode and takes the Hessian there,
// `advi` fits a normal distribution by gradients of the evidence, and `nuts` draws. The first two take a fraction of the time; their weights say how far they may be trusted. The data are simulated.
import { add, exp, mul, type Tensor, take, tensor } from '../src/index.js'
import { advi, halfNormal, laplaceApproximation, model, normal, nuts, summary } from '../src/prob/index.js'
import { key } from '../src/random/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface HierarchicalOptions {
  readonly groups?: number
  readonly seed?: number
  readonly out?: string
}

/** What the data are simulated with. */
export const truth = { intercept: 1, slope: -0.7, between: 0.4, within: 0.8 } as const

interface Data {
  readonly group: readonly number[]
  readonly x: readonly number[]
  readonly y: readonly number[]
  readonly intercepts: readonly number[]
}
export const simulate = (groups: number, seed: number): Data => {
  const normal = normals(seed)
  const intercepts = Array.from({ length: groups }, () => truth.intercept + truth.between * normal())
  const rows = intercepts.flatMap((a, g) =>
    Array.from({ length: 3 + ((7 * g) % 18) }, (_, i) => {
      const x = (i % 2) + 0.2 * normal()
      return { g, x, y: a + truth.slope * x + truth.within * normal() }
    }),
  )
  return { group: rows.map((r) => r.g), x: rows.map((r) => r.x), y: rows.map((r) => r.y), intercepts }
}

/** Intercepts are mu + tau z with standard normal z, so that their scale does not depend on tau. */
export const modelOf = ({ group, x, y }: Data, groups: number) => {
  const [of, at] = [tensor(group as number[], [group.length], 'i32'), tensor(x as number[])]
  return model((s) => {
    const intercept = s.sample('intercept', normal(0, 3))
    const slope = s.sample('slope', normal(0, 3))
    const logBetween = s.sample('logBetween', normal(-1, 1))
    const within = s.sample('within', halfNormal(2))
    const z = s.sample('z', normal(0, 1), [groups])
    const intercepts = add(intercept, mul(exp(logBetween), z))
    s.observe('y', normal(add(take(intercepts, of), mul(slope, at)), within), tensor(y as number[]))
    return { intercept, slope, between: exp(logBetween), within, intercepts }
  })
}

const NAMES = ['intercept', 'slope', 'between', 'within'] as const
type Name = (typeof NAMES)[number]
/** The mean and the standard deviation of weighted draws. */
const moments = (draws: Tensor, weights: ArrayLike<number>): readonly [mean: number, sd: number] => {
  let mean = 0
  for (let i = 0; i < weights.length; i++) mean += weights[i]! * draws.data[i]!
  let variance = 0
  for (let i = 0; i < weights.length; i++) variance += weights[i]! * (draws.data[i]! - mean) ** 2
  return [mean, Math.sqrt(variance)]
}

export const main = async (log: Log, { groups = 20, seed = 1, out = 'out' }: HierarchicalOptions = {}) => {
  const data = simulate(groups, seed)
  const m = modelOf(data, groups)
  const timed = <R>(f: () => R): readonly [R, number] => {
    const begin = performance.now()
    return [f(), performance.now() - begin]
  }
  const [atMode, modeMs] = timed(() => laplaceApproximation(m).sample(key(seed), 4000))
  const [nearest, adviMs] = timed(() => advi(key(seed), m, { family: 'fullRank', steps: 3000 }).sample(key(seed + 1), 4000))
  const [drawn, nutsMs] = timed(() => nuts(key(seed + 2), m, { draws: 1000, targetAcceptance: 0.9 }))
  const table = summary(Object.fromEntries(NAMES.map((name) => [name, drawn.draws[name]])))
  expectThat(
    table.rows.every((row) => row.rhat < 1.02),
    'chains that agree',
  )
  const found = NAMES.map((name) => {
    const row = table.rows.find((r) => r.name === name)!
    const of = (a: { readonly draws: Readonly<Record<Name, unknown>>; readonly weights: Tensor }) =>
      moments(a.draws[name] as Tensor, a.weights.data as ArrayLike<number>)
    return { name, nuts: [row.mean, row.sd] as const, laplace: of(atMode as never), advi: of(nearest as never) }
  })
  const shown = ([mean, sd]: readonly [number, number]): string => `${mean.toFixed(3)} +- ${sd.toFixed(3)}`.padEnd(20)
  log(`${''.padEnd(11)}${'NUTS'.padEnd(20)}${'Laplace'.padEnd(20)}${'ADVI'.padEnd(20)}simulated`)
  for (const row of found) log(`${row.name.padEnd(11)}${shown(row.nuts)}${shown(row.laplace)}${shown(row.advi)}${truth[row.name]}`)
  log(`k of the weights: ${atMode.k.toFixed(2)} at the mode, ${nearest.k.toFixed(2)} by ADVI; below 0.7 they may be trusted`)
  log(`${modeMs.toFixed(0)} ms at the mode, ${adviMs.toFixed(0)} ms by ADVI, ${nutsMs.toFixed(0)} ms by NUTS`)

  // What sharing does: groups of few measurements move to the mean of all.
  const rows = summary({ intercepts: drawn.draws.intercepts }).rows
  const alone = data.intercepts.map((_, g) => {
    const own = data.y.flatMap((y, i) => (data.group[i] === g ? [y - truth.slope * data.x[i]!] : []))
    return { count: own.length, mean: own.reduce((a, b) => a + b, 0) / own.length }
  })
  const error = (guess: (g: number) => number): number =>
    Math.sqrt(data.intercepts.reduce((s, a, g) => s + (guess(g) - a) ** 2, 0) / groups)
  const [together, apart] = [error((g) => rows[g]!.mean), error((g) => alone[g]!.mean)]
  log(`error of the intercepts: ${together.toFixed(3)} together, ${apart.toFixed(3)} each group by itself`)
  const file = await plot(out, 'hierarchical', {
    title: 'Intercepts of groups: each by itself, and together',
    x: 'measurements of the group',
    y: 'distance from what was simulated',
    points: {
      'by itself': alone.map(({ count, mean }, g) => [count, Math.abs(mean - data.intercepts[g]!)]),
      together: alone.map(({ count }, g) => [count + 0.25, Math.abs(rows[g]!.mean - data.intercepts[g]!)]),
    },
  })
  log(`picture: ${file}`)
  return { found, ks: [atMode.k, nearest.k] as const, together, apart, file }
}

start(import.meta.url, main)
