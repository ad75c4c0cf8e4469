/**
 * Many draws of fixed keys against the distributions they are of: Kolmogorov and Smirnov's distance, chi-squared, moments, derivatives of
 * moments. 200,000 of each; `npm run check:random` takes a million.
 */

import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as random from '../../src/random/index.js'
import { count } from '../depth.js'

type Numbers = ArrayLike<number>
const data = (x: unknown): Numbers => cd.evaluate(x as cd.AnyExpr).data as Numbers
const N = Number(process.env.DRAWS ?? count(50_000, 200_000))

/** The largest distance of the numbers' distribution from `below`, times the root of their number: 1.95 for one in a thousand. */
const distance = (xs: Numbers, below: (x: number) => number): number => {
  const sorted = Float64Array.from(xs).sort()
  let most = 0
  sorted.forEach((x, i) => {
    const p = below(x)
    most = Math.max(most, p - i / sorted.length, (i + 1) / sorted.length - p)
  })
  return most * Math.sqrt(sorted.length)
}
/** Chi-squared of counts, in deviations from its mean: Wilson and Hilferty's normal number. */
const deviation = (counts: Numbers, expected: readonly number[]): number => {
  const chi = expected.reduce((s, e, i) => s + (counts[i]! - e) ** 2 / e, 0)
  const k = expected.length - 1
  return ((chi / k) ** (1 / 3) - (1 - 2 / (9 * k))) / Math.sqrt(2 / (9 * k))
}
const counted = (xs: Numbers, n: number, first = 0): number[] => {
  const counts = new Array<number>(n).fill(0)
  for (let i = 0; i < xs.length; i++) counts[Math.min(n - 1, xs[i]! - first)]!++
  return counts
}
const erf = (x: number): number => cd.evaluate(cd.erf(x)).item()
const normalBelow = (x: number): number => 0.5 * (1 + erf(x / Math.SQRT2))
/** The regularised incomplete gamma function by its series. */
const gammaBelow = (a: number, x: number): number => {
  let [term, sum] = [1 / a, 1 / a]
  for (let n = 1; n < 600 && term > sum * 1e-12; n++) {
    term *= x / (a + n)
    sum += term
  }
  return x <= 0 ? 0 : sum * Math.exp(a * Math.log(x) - x - cd.evaluate(cd.lgamma(a)).item())
}
/** A distribution function on a grid, so that a number costs little. */
const gridded = (f: (x: number) => number, low: number, high: number): ((x: number) => number) => {
  const n = 2000
  const ys = Array.from({ length: n + 1 }, (_, i) => f(low + ((high - low) * i) / n))
  return (x) => {
    const t = Math.min(Math.max(((x - low) / (high - low)) * n, 0), n - 1e-9)
    const i = Math.floor(t)
    return ys[i]! + (t - i) * (ys[i + 1]! - ys[i]!)
  }
}

describe.each(['f64', 'f32'] as const)('%s: Kolmogorov and Smirnov', (dtype) => {
  const key = random.key(3)
  const options = { dtype }
  const shape = [N] as const
  const normal = gridded(normalBelow, -7, 7)
  it.each([
    ['uniform', () => random.uniform(key, shape, { dtype, min: -1, max: 3 }), (x: number) => (x + 1) / 4],
    ['normal', () => random.normal(key, shape, options), normal],
    [
      'truncatedNormal',
      () => random.truncatedNormal(key, -1, 0.5, { shape, dtype }),
      (x: number) => (normal(x) - normal(-1)) / (normal(0.5) - normal(-1)),
    ],
    ['exponential', () => random.exponential(key, shape, options), (x: number) => -Math.expm1(-x)],
    ['gumbel', () => random.gumbel(key, shape, options), (x: number) => Math.exp(-Math.exp(-x))],
    ['laplace', () => random.laplace(key, shape, options), (x: number) => (x < 0 ? Math.exp(x) / 2 : 1 - Math.exp(-x) / 2)],
    ['logistic', () => random.logistic(key, shape, options), (x: number) => 1 / (1 + Math.exp(-x))],
    ['cauchy', () => random.cauchy(key, shape, options), (x: number) => 0.5 + Math.atan(x) / Math.PI],
    [
      'maxwell',
      () => random.maxwell(key, shape, options),
      (x: number) => 2 * normal(x) - 1 - Math.sqrt(2 / Math.PI) * x * Math.exp((-x * x) / 2),
    ],
    ['lognormal', () => cd.log(random.lognormal(key, 1.5, { shape, dtype })), (x: number) => normal(x / 1.5)],
    ['rayleigh', () => random.rayleigh(key, 2, { shape, dtype }), (x: number) => -Math.expm1((-x * x) / 8)],
    ['pareto', () => random.pareto(key, 3, { shape, dtype }), (x: number) => 1 - x ** -3],
    ['weibull', () => random.weibull(key, 2, 1.5, { shape, dtype }), (x: number) => -Math.expm1(-((x / 2) ** 1.5))],
    [
      'triangular',
      () => random.triangular(key, -1, 0.5, 2, { shape, dtype }),
      (x: number) => (x < 0.5 ? (x + 1) ** 2 / 4.5 : 1 - (2 - x) ** 2 / 4.5),
    ],
    // In a ball of three dimensions the share of what lies within r is r^3, whatever the norm.
    ['ball', () => cd.sqrt(cd.sum(cd.square(random.ball(key, 3, shape, options)), { axis: -1 })), (x: number) => x ** 3],
    ['ball of order 1', () => cd.sum(cd.abs(random.ball(key, 3, shape, { dtype, p: 1 })), { axis: -1 }), (x: number) => x ** 3],
    ['gamma of 0.3', () => cd.log(random.gamma(key, 0.3, { shape, dtype })), gridded((x) => gammaBelow(0.3, Math.exp(x)), -50, 4)],
    ['gamma of 4.5', () => random.gamma(key, 4.5, { shape, dtype }), gridded((x) => gammaBelow(4.5, x), 0, 40)],
    ['beta of 1 and 3', () => random.beta(key, 1, 3, { shape, dtype }), (x: number) => 1 - (1 - x) ** 3],
    ['beta of 0.5 and 0.5', () => random.beta(key, 0.5, 0.5, { shape, dtype }), (x: number) => (2 / Math.PI) * Math.asin(Math.sqrt(x))],
    ['studentT of 1', () => random.studentT(key, 1, { shape, dtype }), (x: number) => 0.5 + Math.atan(x) / Math.PI],
    ['studentT of 2', () => random.studentT(key, 2, { shape, dtype }), (x: number) => 0.5 + x / (2 * Math.sqrt(2 + x * x))],
    ['dirichlet', () => cd.at(random.dirichlet(key, [1, 1, 1], { shape, dtype }), ':', 0), (x: number) => 1 - (1 - x) ** 2],
    // (1, 2) of a vector of mean (1, 2) is of mean 5 and variance (1, 2) L L^T (1, 2)^T.
    [
      'multivariateNormal',
      () => cd.matmul(random.multivariateNormal(key, [1, 2], { factor: [[1, 0], [3, 0.5]], shape, dtype }), cd.tensor([1, 2], [2], dtype)), // biome-ignore format: one row
      (x: number) => normal((x - 5) / Math.sqrt(50)),
    ],
    // A column of a random rotation of space is a point of the sphere: its height is uniform.
    ['orthogonal', () => cd.at(random.orthogonal(key, 3, { shape: [N / 10], dtype }), ':', 1, 2), (x: number) => (x + 1) / 2],
    [
      'glorotUniform',
      () => cd.mul(random.glorotUniform(key, [N / 500, 500], { dtype }), Math.sqrt((N / 500 + 500) / 6)),
      (x: number) => (x + 1) / 2,
    ],
    ['lecunUniform', () => cd.mul(random.lecunUniform(key, [500, N / 500], { dtype }), Math.sqrt(500 / 3)), (x: number) => (x + 1) / 2],
  ] as const)('%s', (_name, draw, below) => {
    expect(distance(data(draw()), below)).toBeLessThan(1.95)
  })
})

describe('chi-squared', () => {
  const key = random.key(11)
  const within = (counts: Numbers, expected: readonly number[]): void => {
    const z = deviation(counts, expected)
    expect(z).toBeGreaterThan(-3.3)
    expect(z).toBeLessThan(3.3)
  }
  const even = (n: number): number[] => new Array<number>(n).fill(N / n)
  it('each bit, and bytes', () => {
    const words = data(random.bits(key, [N]))
    for (let i = 0; i < 32; i++)
      within(
        counted(
          Array.from(words, (x) => (x >>> i) & 1),
          2,
        ),
        even(2),
      )
    for (const i of [0, 8, 16, 24])
      within(
        counted(
          Array.from(words, (x) => (x >>> i) & 255),
          256,
        ),
        even(256),
      )
  })
  it('bernoulli, randint, choice, categorical', () => {
    within(counted(data(random.bernoulli(key, 0.3, { shape: [N] })), 2), [0.7 * N, 0.3 * N])
    within(counted(data(random.randint(key, [N], -5, 8)), 13, -5), even(13))
    within(counted(data(random.choice(key, 7, { shape: [N] })), 7), even(7))
    const p = [0.1, 0.2, 0.3, 0.4]
    const expected = p.map((x) => x * N)
    within(counted(data(random.choice(key, 4, { shape: [N], p })), 4), expected)
    within(counted(data(random.categorical(key, p.map(Math.log), { shape: [N] })), 4), expected)
  })
  it.each([0.5, 9, 12, 60])('poisson of %d', (rate) => {
    const most = Math.ceil(rate + 5 * Math.sqrt(rate) + 3)
    const least = Math.max(0, Math.floor(rate - 4 * Math.sqrt(rate)))
    const mass = (k: number): number => Math.exp(k * Math.log(rate) - rate - cd.evaluate(cd.lgamma(k + 1)).item())
    const all = Array.from({ length: 200 }, (_, k) => N * mass(k))
    // The tails are one class each.
    const expected = all.slice(least, most + 1)
    expected[0] = all.slice(0, least + 1).reduce((a, b) => a + b, 0)
    expected[expected.length - 1] = all.slice(most).reduce((a, b) => a + b, 0)
    const xs = Array.from(data(random.poisson(key, rate, { shape: [N] })), (k) => Math.min(Math.max(k, least), most))
    within(counted(xs, expected.length, least), expected)
  })
  it('two of four without replacement, and what dropout keeps', () => {
    const twos = data(cd.vmap((k) => random.choice(k, 4, { shape: [2], replace: false }))(random.splitKey(key, 24_000)))
    const counts = new Array<number>(16).fill(0)
    for (let i = 0; i < twos.length; i += 2) counts[4 * twos[i]! + twos[i + 1]!]!++
    expect([0, 5, 10, 15].map((i) => counts[i])).toEqual([0, 0, 0, 0])
    within(
      counts.filter((_, i) => i % 5 !== 0),
      new Array<number>(12).fill(2000),
    )
    const left = data(random.dropout(cd.ones([N]), 0.2, key))
    within(
      counted(
        Array.from(left, (x) => (x === 0 ? 0 : 1)),
        2,
      ),
      [0.2 * N, 0.8 * N],
    )
  })
  it('orders of four', () => {
    const orders = data(cd.vmap((k) => random.permutation(k, 4))(random.splitKey(key, 24_000)))
    const counts = new Map<string, number>()
    for (let i = 0; i < orders.length; i += 4) {
      const name = [0, 1, 2, 3].map((j) => orders[i + j]).join()
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    expect(counts.size).toBe(24)
    within([...counts.values()], new Array<number>(24).fill(1000))
  })
})

describe('moments', () => {
  const key = random.key(5)
  it('of normal vectors: the mean, and the covariance L L^T', () => {
    const factor = [[1, 0], [3, 0.5]] // biome-ignore format: one row
    const x = random.multivariateNormal(key, [1, 2], { factor, shape: [N] })
    const centred = cd.sub(x, [1, 2])
    const covariance = cd.evaluate(cd.div(cd.matmul(cd.transpose(centred as never), centred as never), N)).toArray() as number[][]
    const want = [[1, 3], [3, 9.25]] // biome-ignore format: one row
    for (const i of [0, 1])
      for (const j of [0, 1]) expect(Math.abs(covariance[i]![j]! - want[i]![j]!)).toBeLessThan(0.1 * Math.sqrt(200_000 / N))
  })
  it('of first parameters', () => {
    const variance = (x: unknown): number => cd.evaluate(cd.variance(x as cd.AnyExpr)).item()
    expect(variance(random.heNormal(key, [200, 300])) * 100).toBeCloseTo(1, 1)
    expect(variance(random.glorotUniform(key, [200, 300])) * 250).toBeCloseTo(1, 1)
    expect(variance(random.lecunNormal(key, [40, 20, 5, 5], { inAxis: 1, outAxis: 0, gain: 2 })) * 125).toBeCloseTo(1, 1)
  })
  it('of what dropout leaves: the mean stays', () => {
    const y = data(random.dropout(cd.ones([N]), 0.2, key))
    expect(Array.from(y).filter((x) => x === 0).length / N).toBeCloseTo(0.2, 2)
    expect(Array.from(y).reduce((a, b) => a + b) / N).toBeCloseTo(1, 2)
  })

  type F = (x: cd.AnyExpr) => cd.AnyExpr
  const shape = [N / 4] as const
  const near = (got: cd.Tensor, want: number, error: number): void => expect(Math.abs(got.item() - want)).toBeLessThan(error)
  it.each([0.2, 1.5, 8])('derivatives of the moments of gamma numbers of %d', (a) => {
    const moment = (f: F) => cd.grad((x: cd.AnyExpr) => cd.mean(f(random.gamma(key, x, { shape }))))(a) as unknown as cd.Tensor
    // E x = a, E x^2 = a (a + 1), E log x = digamma(a)
    near(
      moment((x) => x),
      1,
      0.02,
    )
    near(moment(cd.square as F), 2 * a + 1, 0.05 * (2 * a + 1))
    near(moment(cd.log as F), cd.evaluate(cd.trigamma(a)).item(), 0.04 * cd.evaluate(cd.trigamma(a)).item())
  })
  it('derivatives of the mean of beta numbers, forward and reverse', () => {
    const [a, b] = [0.7, 2.5]
    const mean = (p: cd.AnyExpr, q: cd.AnyExpr) => cd.mean(random.beta(key, p, q, { shape }))
    const [byA, byB] = [b / (a + b) ** 2, -a / (a + b) ** 2]
    near(cd.grad((p: cd.AnyExpr) => mean(p, cd.full([], b) as cd.AnyExpr))(a) as never, byA, 0.008)
    near(cd.grad((q: cd.AnyExpr) => mean(cd.full([], a) as cd.AnyExpr, q))(b) as never, byB, 0.008)
    near(cd.jvp((p: cd.AnyExpr) => mean(p, cd.full([], b) as cd.AnyExpr))(a, 1)[1] as never, byA, 0.008)
  })
  it('derivatives of the second moment of Dirichlet numbers, and of the square of t numbers', () => {
    const first = (a: cd.AnyExpr) =>
      cd.mean(cd.at(random.dirichlet(key, cd.stack([a, cd.full([], 2), cd.full([], 3)]), { shape: [50_000] }), ':', 0) as cd.AnyExpr)
    near(cd.grad(first)(1) as never, 5 / 36, 0.006)
    // E x^2 = df / (df - 2)
    near(cd.grad((df: cd.AnyExpr) => cd.mean(cd.square(random.studentT(key, df, { shape }))))(12) as never, -2 / 100, 0.006)
  })
  it('the second derivative of a second moment, forward over reverse; reverse over reverse of a few numbers is the same', () => {
    const f = (n: number) => (a: cd.AnyExpr) => cd.mean(cd.square(random.gamma(key, a, { shape: [n] })))
    near(cd.hessian(f(20_000))(2.5) as never, 2, 0.1)
    const [once, twice] = [cd.hessian(f(5))(2.5) as unknown as cd.Tensor, cd.grad(cd.grad(f(5)) as never)(2.5) as unknown as cd.Tensor]
    expect(twice.item()).toBeCloseTo(once.item(), 10)
  })
})
