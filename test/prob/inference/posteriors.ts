/** Densities whose moments are known, and what the tests of samplers ask of draws. */
import { expect } from 'vitest'
import { type AnyExpr, add, at, div, dot, exp, log, matmul, mul, square, sub, sum, tensor } from '../../../src/index.js'
import { summary } from '../../../src/prob/inference/index.js'

/** Rubin's eight schools (1981): effects of coaching and their standard errors. */
export const effects = [28, 8, -3, 7, -1, 1, 18, 12]
export const errors = [15, 10, 16, 11, 9, 11, 10, 18]

/** The log density of eight schools: mu ~ N(0, 5), tau ~ half Cauchy(5), theta = mu + tau z, z ~ N(0, 1), y ~ N(theta, errors); over log tau. */
export const schools = ({ mu, logTau, z }: { readonly mu: AnyExpr; readonly logTau: AnyExpr; readonly z: AnyExpr }): AnyExpr => {
  const tau = exp(logTau)
  const theta = add(mu, mul(tau, z))
  const prior = sub(sub(logTau, log(add(1, square(div(tau, 5))))), div(square(mu), 50))
  const each = add(square(z), square(div(sub(theta, effects), errors)))
  return sub(prior, div(sum(each as AnyExpr), 2)) as AnyExpr
}
/** Moments of eight schools, by sums over tau: given tau, everything is normal. */
export const schoolsExactly = (() => {
  const total = { weight: 0, mu: 0, mu2: 0, tau: 0, tau2: 0, theta: effects.map(() => 0) }
  // tau = exp(s), evenly in s: the tail of tau falls as its prior, 1 / tau^2, times that of y.
  for (let s = -16; s < 9; s += 0.002) {
    const tau = Math.exp(s)
    const variances = errors.map((e) => e * e + tau * tau)
    const precision = 1 / 25 + variances.reduce((t, v) => t + 1 / v, 0)
    const mean = effects.reduce((t, y, j) => t + y / variances[j]!, 0) / precision
    const quadratic = effects.reduce((t, y, j) => t + (y * y) / variances[j]!, 0) - mean * mean * precision
    const l = -0.5 * (quadratic + variances.reduce((t, v) => t + Math.log(v), 0) + Math.log(precision)) - Math.log1p((tau / 5) ** 2) + s
    const w = Math.exp(l)
    total.weight += w
    total.mu += w * mean
    total.mu2 += w * (mean * mean + 1 / precision)
    total.tau += w * tau
    total.tau2 += w * tau * tau
    for (const [j, y] of effects.entries()) total.theta[j]! += w * ((y * tau * tau + mean * errors[j]! ** 2) / variances[j]!)
  }
  const of = (x: number) => x / total.weight
  return {
    mu: [of(total.mu), Math.sqrt(of(total.mu2) - of(total.mu) ** 2)],
    tau: [of(total.tau), Math.sqrt(of(total.tau2) - of(total.tau) ** 2)],
    theta: total.theta.map(of),
  } as const
})()

/** A normal density of n numbers whose neighbours correlate by rho, with the standard deviations scale^i from 1 on: its log density, and its covariance. */
export const correlated = (n: number, rho: number, scale = 1) => {
  const precision = new Float64Array(n * n)
  const sd = (i: number): number => scale ** (i / (n - 1))
  const c = 1 / (1 - rho * rho)
  for (let i = 0; i < n; i++) {
    precision[i * n + i] = ((i === 0 || i === n - 1 ? 1 : 1 + rho * rho) * c) / sd(i) ** 2
    if (i > 0) precision[i * n + i - 1] = precision[(i - 1) * n + i] = (-rho * c) / (sd(i) * sd(i - 1))
  }
  const P = tensor(precision, [n, n] as never) as unknown as AnyExpr
  return {
    logDensity: (x: AnyExpr): AnyExpr => mul(-0.5, dot(x as never, matmul(P, x) as never) as never) as AnyExpr,
    covariance: (i: number, j: number): number => sd(i) * sd(j) * rho ** Math.abs(i - j),
  }
}

/** Neal's funnel (2003): v ~ N(0, 3), nine x ~ N(0, exp(v / 2)). */
export const funnel = (q: AnyExpr): AnyExpr => {
  const [v, x] = [at(q, 0), at(q, '1:')] as readonly [AnyExpr, AnyExpr]
  return sub(sub(div(square(v), -18), mul(0.5, mul(exp(mul(-1, v)), sum(square(x) as AnyExpr)))), mul(4.5, v)) as AnyExpr
}

/** Each mean lies within four Monte Carlo errors of what it is, of as many as there are; chains agree. */
export const agrees = (draws: unknown, means: Readonly<Record<string, number>>, most = 1.01): void => {
  const rows = new Map(summary(draws).rows.map((r) => [r.name, r]))
  for (const [name, wanted] of Object.entries(means)) {
    const row = rows.get(name)!
    expect(Math.abs(row.mean - wanted) / row.mcse, `${name} is ${row.mean}, not ${wanted}`).toBeLessThan(4)
    expect(row.rhat, name).toBeLessThan(most)
  }
}
