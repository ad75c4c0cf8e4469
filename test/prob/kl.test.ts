/** Divergences by pairs against sums over the support. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, grad, sub, tensor } from '../../src/index.js'
import * as p from '../../src/prob/index.js'
import { some } from '../depth.js'
import { expectation, numbers } from './quadrature.js'

const pairs: readonly (readonly [p.Distribution, p.Distribution])[] = [
  [p.normal(0.3, 1.2), p.normal(-1, 2)],
  [p.laplace(0.3, 1.2), p.laplace(-1, 2)],
  [p.cauchy(0.3, 1.2), p.cauchy(-1, 2)],
  [p.gumbel(0.3, 1.2), p.normal(-1, 2)],
  [p.studentT(5, 0.3, 1.2), p.normal(-1, 2)],
  [p.gamma(2.5, 1.7), p.normal(1, 2)],
  [p.uniform(0, 1), p.uniform(-1, 2)],
  [p.beta(2, 3), p.uniform(-1, 2)],
  [p.gamma(2.5, 1.7), p.gamma(1.3, 0.8)],
  [p.exponential(2), p.gamma(1.3, 0.8)],
  [p.chi2(3), p.exponential(0.4)],
  [p.gamma(2.5, 1.7), p.exponential(0.4)],
  [p.halfNormal(1.3), p.exponential(0.4)],
  [p.inverseGamma(3, 1.7), p.inverseGamma(2, 2.5)],
  [p.logNormal(0.3, 0.5), p.logNormal(0, 1)],
  [p.halfNormal(1.3), p.halfNormal(2)],
  [p.weibull(1.3, 1.8), p.weibull(2, 1.1)],
  [p.rayleigh(1.3), p.weibull(2, 1.1)],
  [p.pareto(2, 3), p.pareto(1.5, 1.2)],
  [p.beta(2, 3), p.beta(1.4, 0.8)],
  [p.vonMises(0.3, 2), p.vonMises(-1, 0.7)],
  [p.bernoulli(0.3), p.bernoulli(0.6)],
  [p.bernoulli(0.3), p.bernoulli(0.4, { logits: true })],
  [p.geometric(0.3), p.geometric(0.5)],
  [p.poisson(3), p.poisson(4.5)],
  [p.categorical([0.2, 0.5, 0.3]), p.categorical([1, 0, 2], { logits: true })],
  [p.transformed(p.normal(0, 1), p.expBijector), p.transformed(p.normal(1, 2), p.expBijector)],
]
describe('kl', () => {
  it.each(some(pairs, 12).map(([a, b]) => [`${a.name}, ${b.name}`, a, b] as const))('%s', (_, a, b) => {
    const wanted = expectation(a, (x) => {
      const d = numbers(sub(a.logProb(x), b.logProb(x)))
      return tensor(d.map((v) => (Number.isFinite(v) ? v : 0)))
    })
    // At the kink of q, between two points, the rule has the square of their distance.
    expect(Math.abs(numbers(p.kl(a, b))[0]! - wanted)).toBeLessThan(a.name === 'laplace' ? 1e-5 : 1e-9)
    if (a.divergence?.family !== undefined) expect(Math.abs(numbers(p.kl(a, a))[0]!)).toBeLessThan(1e-12)
  })
  it('is infinite where p has draws that q has not', () => {
    expect(numbers(p.kl(p.uniform(-1, 1), p.uniform(0, 1)))).toEqual([Number.POSITIVE_INFINITY])
    expect(numbers(p.kl(p.pareto(1, 2), p.pareto(2, 2)))).toEqual([Number.POSITIVE_INFINITY])
    expect(numbers(p.kl(p.categorical([0.5, 0.5]), p.categorical([1, 0])))).toEqual([Number.POSITIVE_INFINITY])
    expect(numbers(p.kl(p.normal(0, 1), p.uniform(0, 1)))).toEqual([Number.POSITIVE_INFINITY])
  })
  it('of vectors: mvNormal by each matrix, dirichlet, independent', () => {
    const A = [
      [2, 0.3],
      [0.3, 1],
    ]
    const B = [
      [1, -0.2],
      [-0.2, 1.5],
    ]
    const by = numbers(p.kl(p.mvNormal([0, 1], { covariance: A }), p.mvNormal([1, 0], { covariance: B })))[0]!
    // The formula with determinants and traces written out for order 2.
    const det = (m: number[][]): number => m[0]![0]! * m[1]![1]! - m[0]![1]! * m[1]![0]!
    const inv = [
      [1.5, 0.2],
      [0.2, 1],
    ].map((r) => r.map((v) => v / det(B)))
    const trace = inv[0]![0]! * 2 + 2 * inv[0]![1]! * 0.3 + inv[1]![1]!
    const far = inv[0]![0]! - 2 * inv[0]![1]! + inv[1]![1]!
    expect(Math.abs(by - 0.5 * (trace + far - 2 + Math.log(det(B) / det(A))))).toBeLessThan(1e-12)
    const invA = [
      [1, -0.3],
      [-0.3, 2],
    ].map((r) => r.map((v) => v / det(A)))
    expect(Math.abs(numbers(p.kl(p.mvNormal([0, 1], { precision: invA }), p.mvNormal([1, 0], { precision: inv })))[0]! - by)).toBeLessThan(
      1e-12,
    )
    // Of two shares a Dirichlet distribution is a beta one.
    const d = numbers(p.kl(p.dirichlet([2, 3]), p.dirichlet([1.4, 0.8])))[0]!
    expect(Math.abs(d - numbers(p.kl(p.beta(2, 3), p.beta(1.4, 0.8)))[0]!)).toBeLessThan(1e-12)
    const i = p.kl(p.independent(p.normal([0, 1], 1)), p.independent(p.normal([1, 3], 2)))
    expect(Math.abs(numbers(i)[0]! - numbers(p.kl(p.normal([0, 1], 1), p.normal([1, 3], 2))).reduce((s, v) => s + v, 0))).toBeLessThan(
      1e-12,
    )
  })
  it('has derivatives, and the dtype of what is not a plain number', () => {
    expect(numbers(grad((m: AnyExpr) => p.kl(p.normal(m, 1), p.normal(0, 2)))(3))[0]).toBeCloseTo(0.75, 12)
    expect(p.kl(p.normal(tensor(1, [], 'f32'), 1), p.normal(0, 2)).dtype).toBe('f32')
  })
  it('says where there is no formula', () => {
    expect(() => p.kl(p.cauchy(0, 1), p.normal(0, 1))).toThrow(/no formula for cauchy from normal/)
    expect(() => p.kl(p.normal(0, 1), p.dirichlet([1, 2]))).toThrow(/events of p have shape/)
    expect(() => p.kl(3 as never, p.normal(0, 1))).toThrow(/p is 3/)
  })
})
