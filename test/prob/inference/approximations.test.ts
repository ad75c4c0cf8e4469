/** Laplace's approximation, variational inference and importance weights: exact where the posterior is normal, and ArviZ's weights. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type AnyExpr, at, evaluate, exp, log, neg, square, sub, sum, type Tensor, tensor } from '../../../src/index.js'
import { advi, beta, binomial, importanceWeights, laplaceApproximation, model, normal, svi, type Trace } from '../../../src/prob/index.js'
import { drawnIndices, sitesAt, totalOf } from '../../../src/prob/inference/model.js'
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

describe('plates', () => {
  const data = Float64Array.from({ length: 12 }, (_, i) => Math.sin(3 * i) + 1)
  const y = tensor(data) as unknown as AnyExpr
  const of = (subsample: number | undefined) =>
    model((s) => {
      const mu = s.sample('mu', normal(0, 2))
      s.plate('rows', 12, (i) => void s.observe('y', normal(mu as never, 1), at(y, i as never) as AnyExpr), { subsample })
    })
  const mu = new Map([['mu', tensor(0.7) as unknown as AnyExpr]])
  const total = (m: ReturnType<typeof of>, indices?: (name: string, size: number, subsample: number) => AnyExpr): number =>
    (evaluate(totalOf(sitesAt(m, mu, 'test', indices)) as never) as unknown as Tensor).item()
  it('of all things are no more than their body', () => {
    const plain = model((s) => void s.observe('y', normal(s.sample('mu', normal(0, 2)) as never, 1), y))
    expect(total(of(undefined))).toBeCloseTo(total(plain), 12)
    expect(total(of(12))).toBeCloseTo(total(plain), 12)
  })
  it('the mean over all parts is the log density', () => {
    const all: number[] = []
    for (let a = 0; a < 12; a++) for (let b = 0; b < a; b++) all.push(total(of(2), () => tensor([a, b], [2], 'i32') as unknown as AnyExpr))
    expect(all.reduce((s, v) => s + v, 0) / all.length).toBeCloseTo(total(of(undefined)), 10)
  })
  it('parts are drawn without putting back, and each thing as often', () => {
    const counts = new Array<number>(12).fill(0)
    for (let k = 0; k < 600; k++) {
      const i = numbers(evaluate(drawnIndices(key(k))('rows', 12, 4) as never))
      expect(new Set(i).size).toBe(4)
      for (const v of i) counts[v]!++
    }
    // 600 trials of the share 1 / 3: within five standard deviations
    for (const c of counts) expect(Math.abs(c - 200)).toBeLessThan(5 * Math.sqrt(600 * (1 / 3) * (2 / 3)))
  })
  it('svi by parts finds the posterior, with the same things in the guide', () => {
    const guide = (s: Trace, p: { readonly m: AnyExpr; readonly d: AnyExpr }) => s.sample('mu', normal(p.m as never, exp(p.d) as never))
    const { params } = svi(key(3), of(6), guide as never, { params: { m: 0, d: 0 }, steps: 1500, learningRate: 0.02 })
    const precision = 12 + 0.25
    const found = params as unknown as Record<'m' | 'd', Tensor>
    expect(Math.abs(found.m.item() - data.reduce((a, b) => a + b, 0) / precision)).toBeLessThan(0.08)
    expect(Math.abs(found.d.item() + 0.5 * Math.log(precision))).toBeLessThan(0.15)
    const seen: number[][] = []
    const local = model((s) => {
      s.plate('rows', 12, (i) => void s.observe('y', normal(s.sample('z', normal(0, 1), [3]) as never, 1), at(y, i as never) as AnyExpr), {
        subsample: 3,
      })
    })
    const localGuide = (s: Trace, p: { readonly m: AnyExpr }) =>
      s.plate(
        'rows',
        12,
        (i) => {
          seen.push([...(i as unknown as { shape: number[] }).shape])
          return s.sample('z', normal(at(p.m, i as never) as never, 0.1))
        },
        { subsample: 3 },
      )
    const each = svi(key(4), local, localGuide as never, { params: { m: new Array(12).fill(0) }, steps: 3000, learningRate: 0.05 })
    expect(seen[0]).toEqual([3])
    // Each z has its own y: the posterior mean is y / 2. Other things in the guide than in the model would mix them.
    const m = numbers((each.params as unknown as { readonly m: Tensor }).m)
    m.forEach((v, i) => {
      expect(Math.abs(v - data[i]! / 2), String(i)).toBeLessThan(0.12)
    })
  })
  it('says what is wrong with one', () => {
    const start = { start: { mu: 0 } } as never
    expect(refused(() => laplaceApproximation(of(6), start))).toMatch(/plate 'rows' takes a part of its things[\s\S]*svi/)
    expect(refused(() => laplaceApproximation(of(13), start))).toMatch(/has 12 things, and subsample is 13/)
    const twice = model((s) => {
      s.sample('mu', normal(0, 1))
      s.plate('a', 2, () => 0)
      s.plate('a', 2, () => 0)
    })
    expect(refused(() => laplaceApproximation(twice, start))).toMatch(/two plates have the name 'a'/)
  })
})
