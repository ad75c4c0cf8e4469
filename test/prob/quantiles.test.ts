/** Quantiles have the derivatives of the equation cdf(x) = q, in q and in parameters; far quantiles; and those of whole numbers. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, div, exp, grad, jvp, mul, neg, sum, tensor } from '../../src/index.js'
import * as p from '../../src/prob/index.js'
import { numbers } from './quadrature.js'

const near = (found: unknown, wanted: readonly number[], tolerance: number): void => {
  numbers(found).forEach((v, i) => {
    expect(Math.abs(v - wanted[i]!) / Math.max(1, Math.abs(wanted[i]!)), `${v} and ${wanted[i]}`).toBeLessThan(tolerance)
  })
}
const searched = {
  gamma: p.gamma(2.5, 1.7),
  chi2: p.chi2(3),
  inverseGamma: p.inverseGamma(3, 2),
  beta: p.beta(2, 0.7),
  studentT: p.studentT(3, 1, 2),
  fisherF: p.fisherF(3, 7),
  maxwell: p.maxwell(2),
  inverseGaussian: p.inverseGaussian(1, 2),
}
describe("the derivative by q is 1 / p(x), and the second one -p'(x) / p(x)^3", () => {
  it.each(Object.entries(searched))('%s', (_, d) => {
    const q = tensor([0.01, 0.3, 0.8, 0.99])
    const x = d.icdf(q)
    const first = (u: AnyExpr): AnyExpr => grad((v: AnyExpr) => sum(d.icdf(v)))(u as never) as AnyExpr
    near(first(q as AnyExpr), numbers(exp(neg(d.logProb(x)))), 1e-9)
    const slope = grad((y: AnyExpr) => sum(d.logProb(y)))(x as never) as AnyExpr
    const wanted = numbers(neg(div(slope, exp(mul(2, d.logProb(x))))))
    const [, second] = jvp(first as never)(q as never, tensor([1, 1, 1, 1]) as never) as unknown as readonly [unknown, AnyExpr]
    near(second, wanted, 1e-7)
  })
})
describe('derivatives by parameters', () => {
  it('of scales are the quantile over the scale; of shapes those of neighbours', () => {
    const x = numbers(p.gamma(2.5, 2).icdf(0.3))[0]!
    near(grad((r: AnyExpr) => p.gamma(2.5, r).icdf(0.3))(2), [-x / 2], 1e-10)
    const h = 1e-5
    const by = (f: (a: number) => p.Distribution): number =>
      (numbers(f(2.5 + h).icdf!(0.3))[0]! - numbers(f(2.5 - h).icdf!(0.3))[0]!) / (2 * h)
    near(grad((a: AnyExpr) => p.gamma(a, 2).icdf(0.3))(2.5), [by((a) => p.gamma(a, 2))], 1e-8)
    near(grad((a: AnyExpr) => p.beta(a, 2).icdf(0.3))(2.5), [by((a) => p.beta(a, 2))], 1e-8)
    near(grad((a: AnyExpr) => p.studentT(a).icdf(0.3))(2.5), [by((a) => p.studentT(a))], 1e-8)
  })
})
describe('far out', () => {
  it('quantiles of tiny probabilities keep their digits', () => {
    // gamma(1) is exponential, beta(1, b) has a power in it, t with one degree of freedom is a Cauchy number.
    const q = [1e-300, 1e-100, 1e-20]
    near(div(p.gamma(1, 1).icdf(q), q), [1, 1, 1], 1e-12)
    near(div(p.beta(1, 3).icdf(q), q), [1 / 3, 1 / 3, 1 / 3], 1e-12)
    near(div(p.studentT(1).icdf(q), p.cauchy().icdf(q)), [1, 1, 1], 1e-12)
    // P(a, x) is near x^a / Gamma(a + 1) where x is small.
    near(p.gamma(0.01, 1).icdf(0.5), [(0.5 * 0.9943258511915061) ** 100], 1e-12)
    near(div(p.gamma(0.01, 1).icdf(0.5), (0.5 * 0.9943258511915061) ** 100), [1], 1e-9)
  })
  it('of whole numbers: the least whose probability is reached', () => {
    const n = p.binomial(1e6, 0.3)
    const [k] = numbers(n.icdf(0.5))
    expect(numbers(n.cdf(k!))[0]).toBeGreaterThanOrEqual(0.5)
    expect(numbers(n.cdf(k! - 1))[0]).toBeLessThan(0.5)
    expect(numbers(p.binomial(0, 0.3).icdf([0.2, 1]))).toEqual([0, 0])
    expect(numbers(p.binomial(5, [0, 1]).icdf(0.5))).toEqual([0, 5])
    expect(numbers(p.poisson(0).icdf([0.2, 1]))).toEqual([0, Number.POSITIVE_INFINITY])
  })
})
