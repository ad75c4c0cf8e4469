/** Laplace's approximation, variational inference and importance weights: exact where the posterior is normal, and ArviZ's weights. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type AnyExpr, exp, log, neg, square, sub, sum, type Tensor, tensor } from '../../../src/index.js'
import { advi, beta, binomial, importanceWeights, laplaceApproximation, model, normal, svi, type Trace } from '../../../src/prob/index.js'
import { key } from '../../../src/random/index.js'
import { refused } from '../refused.js'
import { correlated } from './posteriors.js'

const numbers = (x: unknown): number[] => Array.from((x as Tensor).data, Number)
/** A conjugate model, its posterior mean and variance, and its evidence. */
const conjugate = model((s) => {
  const mu = s.sample('mu', normal(0, 2))
  s.observe('y', normal(mu as never, 1), [1, 2, 4])
})
const [posteriorMean, posteriorVariance] = [7 / 3.25, 1 / 3.25]
// y ~ N(0, I + 4 1 1^T): the determinant is 13, and the inverse I - (4 / 13) 1 1^T.
const evidence = -0.5 * (21 - (4 / 13) * 49 + Math.log(13)) - 1.5 * Math.log(2 * Math.PI)

describe('laplaceApproximation', () => {
  it('is exact for a normal posterior: mean, variance, evidence and equal weights', () => {
    const found = laplaceApproximation(conjugate)
    expect(found.mean.mu!.item()).toBeCloseTo(posteriorMean, 8)
    expect(numbers(found.covariance)[0]).toBeCloseTo(posteriorVariance, 10)
    expect(found.logEvidence).toBeCloseTo(evidence, 10)
    const { weights, ess, draws, logRatios } = found.sample(key(0), 200)
    expect(draws.mu!.shape).toEqual([1, 200])
    expect(Math.abs(ess - 200)).toBeLessThan(1e-6)
    expect(numbers(weights).reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12)
    for (const r of numbers(logRatios)) expect(r).toBeCloseTo(evidence, 9)
  })
  it('covariances of a tree', () => {
    const { logDensity, covariance } = correlated(6, 0.8, 4)
    const { covariance: found, mean } = laplaceApproximation((t: { readonly x: AnyExpr }) => logDensity(t.x), {
      start: { x: new Array(6).fill(3) },
    } as never)
    const c = numbers(found)
    for (let i = 0; i < 6; i++) for (let j = 0; j < 6; j++) expect(Math.abs(c[6 * i + j]! - covariance(i, j))).toBeLessThan(1e-8)
    for (const v of numbers((mean as unknown as { readonly x: Tensor }).x)) expect(Math.abs(v)).toBeLessThan(1e-6)
  })
  it('a beta posterior through its logit, corrected by weights', () => {
    const coin = model((s) => {
      s.observe('heads', binomial(10, s.sample('p', beta(2, 2)) as never), 7)
    })
    // The mode of p^9 (1 - p)^5, which has the Jacobian, is 9 / 14.
    const found = laplaceApproximation(coin)
    expect(found.mean.p!.item()).toBeCloseTo(9 / 14, 7)
    const { draws, weights, k } = found.sample(key(1), 4000)
    const [p, w] = [numbers(draws.p), numbers(weights)]
    expect(k).toBeLessThan(0.7)
    expect(Math.abs(p.reduce((s, v, i) => s + v * w[i]!, 0) - 9 / 14)).toBeLessThan(4 * (0.124 / Math.sqrt(4000)))
  })
  it('refuses a density that is flat, and one without a mode', () => {
    expect(refused(() => laplaceApproximation((x) => neg(square(sum(x as AnyExpr) as never)) as AnyExpr, { start: [1, 2] }))).toMatch(
      /not negative definite/,
    )
    expect(
      refused(() => laplaceApproximation((x) => neg(square(square(sub(x as AnyExpr, 5)))) as AnyExpr, { start: 0, maxSteps: 2 })),
    ).toMatch(/no mode was found/)
  })
})

describe('advi', () => {
  it('finds a normal posterior, and its evidence', () => {
    const { mean, covariance, logEvidence, elbo } = advi(key(1), conjugate)
    expect(Math.abs(mean.mu!.item() - posteriorMean)).toBeLessThan(0.03)
    expect(Math.abs(numbers(covariance)[0]! / posteriorVariance - 1)).toBeLessThan(0.06)
    expect(Math.abs(logEvidence - evidence)).toBeLessThan(0.03)
    expect(elbo).toHaveLength(2000)
  })
  it('fullRank has correlations, meanField the variances of one given the others', () => {
    const { logDensity, covariance } = correlated(3, 0.8)
    const options = { start: [1, 1, 1] }
    const full = numbers(advi(key(2), logDensity as never, { ...options, family: 'fullRank' }).covariance)
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) expect(Math.abs(full[3 * i + j]! - covariance(i, j))).toBeLessThan(0.1)
    const field = numbers(advi(key(2), logDensity as never, options).covariance)
    // The precision of the middle one is (1 + 0.64) / 0.36.
    expect(Math.abs(field[4]! / (0.36 / 1.64) - 1)).toBeLessThan(0.1)
    expect(field[1]).toBe(0)
  })
  it('the same key, the same fit; onStep ends it', () => {
    const fitted = (seed: number) => advi(key(seed), conjugate, { steps: 20 }).elbo
    expect(fitted(1)).toEqual(fitted(1))
    expect(fitted(1)).not.toEqual(fitted(2))
    expect(advi(key(1), conjugate, { steps: 20, onStep: ({ step }) => step < 5 }).elbo).toHaveLength(5)
  })
  it('refuses a density that is not finite where it begins', () => {
    expect(refused(() => advi(key(0), (x) => log(sub(-1, square(x as never))) as AnyExpr, { start: 0 }))).toMatch(
      /the bound is NaN in step 0/,
    )
  })
})

describe('svi', () => {
  it('a guide of the right family finds the posterior', () => {
    const coin = model((s) => {
      s.observe('heads', binomial(10, s.sample('p', beta(1, 1)) as never), 7)
    })
    const { params, sample } = svi(key(0), coin, (s: Trace, p) => s.sample('p', beta(exp(p.a) as never, exp(p.b) as never)), {
      params: { a: 0, b: 0 },
      steps: 800,
      samples: 4,
    })
    // beta(8, 4): its mean and the sum of its parameters.
    const [a, b] = [Math.exp((params.a as Tensor).item()), Math.exp((params.b as Tensor).item())]
    expect(Math.abs(a / (a + b) - 2 / 3)).toBeLessThan(0.02)
    expect(Math.abs((a + b) / 12 - 1)).toBeLessThan(0.15)
    const drawn = sample(key(1), 300).p!
    expect(drawn.shape).toEqual([1, 300])
    expect(Math.abs(numbers(drawn).reduce((s, v) => s + v, 0) / 300 - 2 / 3)).toBeLessThan(4 * (0.131 / Math.sqrt(300)) + 0.02)
  })
  it('refuses a guide of other names', () => {
    const guide = (name: string) => (s: Trace, p: { readonly m: AnyExpr }) => s.sample(name, normal(p.m as never, 1))
    expect(refused(() => svi(key(0), conjugate, guide('nu') as never, { params: { m: 0 } }))).toMatch(/site 'mu'|site 'nu'/)
    expect(refused(() => svi(key(0), conjugate, guide('mu') as never, {} as never))).toMatch(/params is not given/)
  })
})

describe('importance weights, as ArviZ smooths them', () => {
  interface Golden {
    readonly name: string
    readonly x: readonly number[]
    readonly weights: readonly number[]
    readonly k: number | null
  }
  const cases = JSON.parse(readFileSync(new URL('psis.json', import.meta.url), 'utf8')) as readonly Golden[]
  it.each(cases)('$name', ({ x, weights, k }) => {
    const found = importanceWeights(x)
    if (k === null) expect(found.k).toBe(Number.POSITIVE_INFINITY)
    else expect(Math.abs(found.k - k)).toBeLessThan(1e-10)
    for (const [i, w] of numbers(found.weights).entries()) expect(Math.abs(w - weights[i]!)).toBeLessThan(1e-12)
    expect(found.ess).toBeCloseTo(1 / weights.reduce((s, w) => s + w * w, 0), 6)
  })
  it('ratios of -Infinity count nothing; NaN and no ratios are refused', () => {
    expect(numbers(importanceWeights([0, Number.NEGATIVE_INFINITY]).weights)).toEqual([1, 0])
    expect(refused(() => importanceWeights([0, Number.NaN]))).toMatch(/largest of logRatios is NaN/)
    expect(refused(() => importanceWeights([]))).toMatch(/empty/)
    expect(refused(() => importanceWeights(tensor([[1]]) as never))).toMatch(/\[1, 1\]/)
  })
})
