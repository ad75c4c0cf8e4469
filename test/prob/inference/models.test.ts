/** Models: what names are for, conditioning, predictions, supports, and what is refused. Known posteriors are conjugate. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, add, evaluate, grad, mul, type Tensor, tensor } from '../../../src/index.js'
import {
  beta,
  binomial,
  condition,
  exponential,
  gamma,
  halfCauchy,
  hmc,
  logJoint,
  model,
  normal,
  nuts,
  poisson,
  predictive,
  prior,
  summary,
  type Trace,
  uniform,
} from '../../../src/prob/index.js'
import { key } from '../../../src/random/index.js'
import { refused } from '../refused.js'
import { agrees, effects, errors, schools, schoolsExactly } from './posteriors.js'

const numbers = (x: unknown): number[] => Array.from((x as Tensor).data, Number)
const item = (x: unknown): number => (evaluate(x as AnyExpr) as Tensor).item()

const coin = model((s) => {
  const p = s.sample('p', beta(2, 2))
  s.observe('heads', binomial(10, p as never), 7)
})
const eightSchools = model((s) => {
  const mu = s.sample('mu', normal(0, 5))
  const tau = s.sample('tau', halfCauchy(5))
  const z = s.sample('z', normal(0, 1), [8])
  const theta = s.deterministic('theta', add(mu, mul(tau, z)) as AnyExpr)
  s.observe('y', normal(theta, tensor(errors)), effects)
})

describe('known posteriors', () => {
  it('a coin: beta(9, 5), and predictions', () => {
    const { draws } = nuts(key(1), coin)
    agrees(draws, { p: 9 / 14 })
    const { sd } = summary(draws).rows[0]!
    expect(Math.abs(sd / Math.sqrt((9 * 5) / (14 ** 2 * 15)) - 1)).toBeLessThan(0.1)
    const { heads } = predictive(key(2), coin, draws)
    expect([heads!.shape, heads!.dtype]).toEqual([[4, 1000], 'i32'])
    agrees({ heads }, { heads: (10 * 9) / 14 })
  })
  it('rates: gamma(3 + 14, 1 + 4), by hmc', () => {
    const m = model((s) => {
      s.observe('counts', poisson(s.sample('rate', gamma(3, 1)) as never), [2, 5, 3, 4])
    })
    agrees(hmc(key(2), m).draws, { rate: 17 / 5 })
  })
  it('eight schools, with what is computed beside the draws', () => {
    const { draws } = nuts(key(3), eightSchools, { targetAcceptance: 0.95, draws: 2000 })
    expect(Object.keys(draws).sort()).toEqual(['mu', 'tau', 'theta', 'z'])
    expect(draws.theta!.shape).toEqual([4, 2000, 8])
    const { mu, tau, theta } = schoolsExactly
    agrees(draws, { mu: mu[0], tau: tau[0], ...Object.fromEntries(theta.map((m, i) => [`theta[${i}]`, m])) })
  })
  it('a bound that is itself latent', () => {
    // b ~ U(1, 2), x | b ~ U(0, b): E b = 3/2, E x = 3/4.
    const m = model((s) => {
      const b = s.sample('b', uniform(1, 2))
      s.sample('x', uniform(0, b as never))
    })
    const { draws } = nuts(key(4), m)
    agrees(draws, { b: 1.5, x: 0.75 })
    const [b, x] = [numbers(draws.b), numbers(draws.x)]
    expect(x.every((v, i) => v > 0 && v < b[i]!)).toBe(true)
  })
})

describe('log densities', () => {
  it('logJoint is the log density written by hand, but for a constant', () => {
    const at = (mu: number, logTau: number, z: number[]) => ({ mu, tau: Math.exp(logTau), z })
    const zs = [
      [0.1, -0.4, 0.3, 1, -1, 0.2, 0, 0.5],
      [1, 0.4, -0.3, 0, 1, 0.7, 2, -0.5],
    ]
    const difference = (density: (k: number) => number) => density(0) - density(1)
    const byHand = difference((k) => item(schools({ mu: tensor(2 + k), logTau: tensor(0.5 - k), z: tensor(zs[k]!) } as never)) - (0.5 - k))
    const joint = difference((k) => item(logJoint(eightSchools, at(2 + k, 0.5 - k, zs[k]!))))
    expect(Math.abs(byHand - joint)).toBeLessThan(1e-10)
  })
  it('has a gradient, and takes factors', () => {
    const m = model((s) => {
      const x = s.sample('x', normal(0, 1))
      s.factor('penalty', mul(-3, x as never) as AnyExpr)
    })
    expect(item((grad((x: AnyExpr) => logJoint(m, { x }) as never) as unknown as (x: number) => AnyExpr)(0.5))).toBeCloseTo(-3.5, 12)
    agrees(nuts(key(5), m).draws, { x: -3 })
  })
})

describe('handlers', () => {
  it('condition makes latent sites observed', () => {
    const m = model((s) => {
      const mu = s.sample('mu', normal(0, 1))
      s.sample('y', normal(mu as never, 1), [3])
    })
    const given = condition(m, { y: [1, 2, 3] })
    agrees(nuts(key(6), given).draws, { mu: 1.5 })
    expect(item(logJoint(given, { mu: 0 }))).toBeCloseTo(-4 * 0.9189385332046727 - 7, 12)
    expect(Object.keys(nuts(key(6), m, { draws: 5, warmup: 5 }).draws)).toEqual(['mu', 'y'])
    expect(refused(() => nuts(key(6), condition(m, { z: 1 })))).toMatch(/no latent site has the name 'z': they are 'mu', 'y'/)
  })
  it('prior draws everything, from one key the same', () => {
    const drawn = prior(key(7), eightSchools, 500)
    expect(Object.fromEntries(Object.entries(drawn).map(([n, x]) => [n, x.shape]))).toEqual({
      mu: [500],
      tau: [500],
      z: [500, 8],
      theta: [500, 8],
      y: [500, 8],
    })
    expect(numbers(prior(key(7), eightSchools, 500).y)).toEqual(numbers(drawn.y))
    const mu = numbers(drawn.mu)
    expect(Math.abs(mu.reduce((a, b) => a + b, 0) / 500)).toBeLessThan((4 * 5) / Math.sqrt(500))
    expect(numbers(drawn.tau).every((v) => v > 0)).toBe(true)
  })
  it('predictions of another model with the same names', () => {
    const line = (x: number[], y?: number[]) =>
      model((s: Trace) => {
        const slope = s.sample('slope', normal(0, 10))
        const at = normal(mul(slope as never, tensor(x)) as never, 0.1)
        if (y === undefined) s.sample('y', at)
        else s.observe('y', at, y)
      })
    const { draws } = nuts(key(8), line([1, 2, 3], [2.1, 3.9, 6]))
    const { y } = predictive(key(9), line([10, 20]), draws)
    expect(y!.shape).toEqual([4, 1000, 2])
    const exact = (2.1 + 7.8 + 18) / (14 + 1e-4)
    agrees({ y }, { 'y[0]': 10 * exact, 'y[1]': 20 * exact })
  })
  it('start has values in the supports', () => {
    const seen: number[] = []
    nuts(key(1), coin, {
      start: { p: 0.25 },
      jitter: 0,
      draws: 1,
      warmup: 0,
      stepSize: 1e-12,
      chains: 1,
      onStep: (s) => seen.push(s.logDensity),
    })
    // The density of the coin there, and the Jacobian p (1 - p).
    expect(seen[0]! - item(logJoint(coin, { p: 0.25 }))).toBeCloseTo(Math.log(0.25 * 0.75), 6)
  })
  it('what a model returns is kept, with its types', () => {
    const m = model((s) => {
      const x = s.sample('x', normal([0, 0, 0], 1))
      const y = s.observe('y', normal(0, 1), [1, 2])
      return { x, y, twice: mul(2, x as never) as AnyExpr, two: 2 }
    })
    const { draws } = nuts(key(1), m, { draws: 6, warmup: 10 })
    expect(Object.keys(draws).sort()).toEqual(['twice', 'two', 'x', 'y'])
    expect([draws.x.shape, draws.twice.shape, draws.two.shape]).toEqual([
      [4, 6, 3],
      [4, 6, 3],
      [4, 6],
    ])
    expect(numbers(draws.twice)).toEqual(numbers(draws.x).map((v) => 2 * v))
    expect(numbers(draws.y).slice(0, 4)).toEqual([1, 2, 1, 2])
    expect(predictive(key(2), m, { x: draws.x }).y.shape).toEqual([4, 6, 2])
    expect(prior(key(2), m, 3).twice.shape).toEqual([3, 3])
    const other = model((s) => ({ x: mul(2, s.sample('x', normal(0, 1)) as never) as AnyExpr }))
    expect(refused(() => nuts(key(1), other))).toMatch(/returns another value as 'x'/)
  })
  it('f32 sites are f32', () => {
    const m = model((s) => {
      s.sample('x', normal(0, 1, { dtype: 'f32' }))
    })
    expect(nuts(key(1), m, { draws: 3, warmup: 3 }).draws.x!.dtype).toBe('f32')
  })
})

describe('mistakes', () => {
  const of = (run: (s: Trace) => unknown) => () => nuts(key(0), model(run), { draws: 2, warmup: 2 })
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['a name twice', of((s) => [s.sample('a', normal(0, 1)), s.sample('a', normal(0, 1))]), /two sites have the name 'a'/],
    ['no name', of((s) => s.sample('', normal(0, 1))), /a site has the name ''/],
    ['no distribution', of((s) => s.sample('a', 3 as never)), /site 'a' has 3 for a distribution/],
    ['a discrete latent site', of((s) => s.sample('k', poisson(3))), /the latent site 'k' is discrete \(poisson\)/],
    ['nothing latent', of((s) => s.observe('a', normal(0, 1), 3)), /no latent sites/],
    [
      'an observation of another shape',
      of((s) => s.observe('y', normal([0, 0], 1), [1, 2, 3])),
      /site 'y' observes \[3\], and a draw of its distribution is \[2\]/,
    ],
    [
      'an observation outside of the support',
      of((s) => s.observe('y', exponential(s.sample('rate', exponential(1)) as never), [1, -1])),
      /the log density is -Infinity where chain 0 begins: site 'y' has -Infinity/,
    ],
    ['no model', () => logJoint({} as never, {}), /give what `model` returns/],
    ['no function', () => model(3 as never), /the model/],
    ['a value for a name that is not there', () => logJoint(coin, { p: 0.5, q: 1 }), /'q': they are 'p'/],
    ['no value for a name', () => logJoint(coin, {}), /there is no value for site 'p'/],
    ['a start outside of the support', () => nuts(key(0), coin, { start: { p: 1.5 } }), /outside or on the edge/],
    ['a start for some', () => nuts(key(0), eightSchools, { start: { mu: 0 } }), /no value for 'tau'/],
    ['a start of another name', () => nuts(key(0), coin, { start: { q: 0.5 } }), /start has 'q'/],
    ['draws of another name', () => predictive(key(0), coin, { q: tensor([[0.5]]) }), /no site has the name 'q'/],
    ['draws without chains', () => predictive(key(0), coin, { p: tensor([0.5]) }), /give \[chains, draws, \.\.\.\]/],
    ['half a draw', () => prior(key(0), coin, 0.5), /draws is 0\.5/],
  ]
  it.each(cases)('%s', (_, run, message) => {
    expect(refused(run)).toMatch(message)
  })
})
