// How cold was too cold? Hamiltonian Monte Carlo on the O-rings of the space shuttle. `npm run example:hmc`
//
// Of 23 launches before Challenger's, 7 had damaged O-rings (Dalal, Fowlkes and Hoadley 1989; Rogers Commission 1986). The chance of damage
// is sigmoid(a + b z) at the temperature z, a and b have a normal prior, and HMC draws them from the posterior (Neal 2011): a body with
// a random momentum slides down -log p for a while (leapfrog, by `fori`, with `grad` of the density); where it ends is the next draw. A chain
// is a `scan` over momenta, several chains are its `vmap`, and all are one compiled plan.

import { random } from '../src/check/index.js'
import {
  add,
  at,
  compile,
  cpu,
  div,
  dot,
  type Expr,
  f64,
  fn,
  fori,
  grad,
  log,
  logSigmoid,
  lt,
  mul,
  type Scalar,
  scan,
  square,
  sub,
  sum,
  tensor,
  vmap,
  where,
} from '../src/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface HmcOptions {
  readonly chains?: number
  /** Draws of each chain, after a tenth as many that are left out. */
  readonly draws?: number
  readonly seed?: number
  readonly out?: string
}

/** Degrees Fahrenheit at each launch, and whether an O-ring was damaged. */
export const launches = [
  [66, 0], [70, 1], [69, 0], [68, 0], [67, 0], [72, 0], [73, 0], [70, 0], [57, 1], [63, 1], [70, 1], [78, 0],
  [67, 0], [53, 1], [67, 0], [75, 0], [70, 0], [81, 0], [76, 0], [79, 0], [75, 1], [76, 0], [58, 1],
] as const // biome-ignore format: a table
/** Challenger's launch, 28 January 1986. */
const coldest = 31

/** Temperatures around 70 degrees, in tens: numbers of the size of 1 are easier to draw. */
export const scaled = (degrees: number): number => (degrees - 70) / 10
export const priorDeviation = 5
const temperatures = tensor(launches.map(([degrees]) => scaled(degrees)))
const signs = tensor(launches.map(([, damaged]) => (damaged ? 1 : -1)))

type Pair = Expr<[2], 'f64'>

/** The logarithm of the posterior density of [a, b], but for a constant. */
const logDensity = (q: Pair): Scalar<'f64'> => {
  const likelihood = sum(logSigmoid(mul(signs, add(at(q, 0), mul(at(q, 1), temperatures)))))
  return sub(likelihood, div(sum(square(q)), 2 * priorDeviation ** 2))
}

const [stepSize, steps] = [0.25, 12]

/** Where a body with momentum p is after some steps, and its momentum there. */
const slide = (begin: { readonly q: Pair; readonly p: Pair }) =>
  fori(
    steps,
    (_k, { q, p }) => {
      const half = add(p, mul(stepSize / 2, grad(logDensity)(q)))
      const next = add(q, mul(stepSize, half))
      return { q: next, p: add(half, mul(stepSize / 2, grad(logDensity)(next))) }
    },
    begin,
  )

/** A chain from a place: each step slides, and goes there with the chance exp(-gain of energy), else stays. */
const chain = fn({ begin: f64(2), momenta: f64('n', 2), uniforms: f64('n') }, ({ begin, momenta, uniforms }) => {
  const energy = (q: Pair, p: Pair) => sub(div(dot(p, p), 2), logDensity(q))
  const [, ys] = scan(
    (q: Pair, { p, u }: { readonly p: Pair; readonly u: Scalar<'f64'> }) => {
      const end = slide({ q, p })
      const accepted = lt(log(u), sub(energy(q, p), energy(end.q, end.p)))
      const next = where(accepted, end.q, q)
      return [next, { q: next, accepted: where(accepted, 1, 0) }]
    },
    begin,
    { p: momenta, u: uniforms },
  )
  return ys
})

/** Momenta and uniform numbers, in the shape of what `vmap(chain)` takes; the chains begin far apart. */
const chance = (chains: number, length: number, seed: number) => {
  const [normal, uniform] = [normals(seed), random(seed + 1)]
  const each = <T>(count: number, draw: () => T) => Array.from({ length: count }, draw)
  const pair = () => [normal(), normal()] as const
  return {
    begin: each(chains, pair),
    momenta: each(chains, () => each(length, pair)),
    uniforms: each(chains, () => each(length, () => 1 - uniform())),
  }
}

const mean = (xs: readonly number[]) => xs.reduce((s, x) => s + x / xs.length, 0)
/** The mean of what chains say, and its standard error: that of the chains' own means, which are independent. */
const estimate = (chains: readonly (readonly number[])[]) => {
  const means = chains.map(mean)
  const variance = means.reduce((s, m) => s + (m - mean(means)) ** 2, 0) / (means.length - 1)
  return { mean: mean(means), error: Math.sqrt(variance / means.length) }
}
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x))

export const main = async (log: Log, { chains = 8, draws = 2000, seed = 1, out = 'out' }: HmcOptions = {}) => {
  const left = draws / 10
  const { q, accepted } = compile(vmap(chain), cpu())(chance(chains, draws + left, seed))
  const drawn = q.toArray().map((places) => places.slice(left))
  const rate = mean(Array.from(accepted.data))
  const a = estimate(drawn.map((places) => places.map(([a]) => a)))
  const b = estimate(drawn.map((places) => places.map(([, b]) => b)))
  const damage = estimate(drawn.map((places) => places.map(([a, b]) => sigmoid(a + b * scaled(coldest)))))
  log(`${chains} chains of ${draws} draws, ${(100 * rate).toFixed(0)} % accepted`)
  for (const [name, { mean, error }] of Object.entries({ a, b, [`chance of damage at ${coldest} degrees`]: damage })) {
    log(`posterior mean of ${name}: ${mean.toFixed(4)}, standard error ${error.toFixed(4)}`)
  }
  expectThat(rate > 0.6, 'most proposals accepted')
  expectThat(damage.mean > 0.95, 'what the engineers feared')

  const degrees = Array.from({ length: 53 }, (_, i) => 30 + i)
  const all = drawn.flat()
  const curves = degrees.map((t) => all.map(([a, b]) => sigmoid(a + b * scaled(t))).sort((u, v) => u - v))
  const quantile = (share: number) => curves.map((sorted, i) => [degrees[i]!, sorted[Math.floor(share * sorted.length)]!])
  const file = await plot(out, 'hmc', {
    title: 'Damage of O-rings, and the launch of 28 January 1986 at 31 degrees',
    x: 'degrees Fahrenheit',
    y: 'chance of damage',
    lines: { mean: curves.map((chances, i) => [degrees[i]!, mean(chances)]), '5 %': quantile(0.05), '95 %': quantile(0.95) },
    points: { launches },
  })
  log(`picture: ${file}`)
  return { rate, a, b, damage, file }
}

start(import.meta.url, main)
