/** Distributions that are made of others: against formulae of their parts, sums over the support, and their own draws. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, evaluate, grad, sub, sum, type Tensor, tensor } from '../../src/index.js'
import * as p from '../../src/prob/index.js'
import { key } from '../../src/random/index.js'
import { expectation, numbers } from './quadrature.js'

const near = (found: unknown, wanted: unknown, tolerance = 1e-12): void => {
  const [f, w] = [numbers(found), typeof wanted === 'number' ? [wanted] : Array.isArray(wanted) ? (wanted as number[]) : numbers(wanted)]
  expect(f.length).toBe(w.length)
  w.forEach((v, i) => {
    if (v !== f[i]) expect(Math.abs(f[i]! - v) / Math.max(1, Math.abs(v)), `${f[i]} and ${v}`).toBeLessThan(tolerance)
  })
}
const N = 20_000
/** A mean of draws, within six standard errors. */
const drawn = (d: p.Distribution, by = 6): void => {
  const x = evaluate(d.sample(key(5), [N])) as Tensor
  const [m, v] = [numbers(d.mean!())[0]!, numbers(d.variance!())[0]!]
  const xs = numbers(x)
  const average = (f: (v: number) => number): number => xs.reduce((s, v) => s + f(v), 0) / N
  expect(Math.abs(average((v) => v) - m)).toBeLessThan(by * Math.sqrt(v / N))
  expect(Math.abs(average((u) => (u - m) ** 2) / v - 1)).toBeLessThan(0.1)
  expect(numbers(d.support.contains(x)).every(Boolean)).toBe(true)
}

describe('independent', () => {
  const base = p.normal(
    [
      [0, 1, 2],
      [3, 4, 5],
    ],
    [1, 2, 3],
  )
  it('sums over the last axes of the batch', () => {
    const d = p.independent(base, 1)
    expect([d.batchShape, d.eventShape]).toEqual([[2], [3]])
    near(d.logProb([1, 1, 1]), sum(base.logProb([1, 1, 1]), { axis: -1 }))
    near(
      p.independent(base).logProb([
        [1, 1, 1],
        [1, 1, 1],
      ]),
      sum(base.logProb([1, 1, 1])),
    )
    near(d.entropy!(), sum(base.entropy(), { axis: -1 }))
    expect(d.sample(key(0), [4]).shape).toEqual([4, 2, 3])
    expect(p.independent(base, 0)).toBe(base)
    expect(() => p.independent(base, 3)).toThrow(/rank is 3/)
    expect(() => d.logProb(1)).toThrow(/an event has shape \[3\]/)
  })
})
describe('transformed', () => {
  const x = [0.01, 0.5, 1, 3]
  it('is the lognormal distribution of exp', () => {
    const [t, l] = [p.transformed(p.normal(0.3, 0.8), p.expBijector), p.logNormal(0.3, 0.8)]
    near(t.logProb([...x, -1]), l.logProb([...x, -1]))
    near(t.cdf!([...x, -1]), l.cdf([...x, -1]))
    near(t.icdf!([0.1, 0.9]), l.icdf([0.1, 0.9]))
    near(t.sample(key(3), [5]), l.sample(key(3), [5]))
    const slope = (d: (m: AnyExpr) => p.Distribution) => grad((m: AnyExpr) => sum(d(m).logProb([...x, -1])))(0.3)
    near(
      slope((m) => p.transformed(p.normal(m, 0.8), p.expBijector)),
      slope((m) => p.logNormal(m, 0.8)),
    )
  })
  it('of falling maps, of supports with ends, and of chains', () => {
    const t = p.transformed(p.exponential(2), p.affineBijector(1, -3))
    near(t.logProb([0, 1, 2]), [Math.log(2 / 3) - 2 / 3, Math.log(2 / 3), Number.NEGATIVE_INFINITY])
    near(t.cdf!([-2, 1, 3]), [Math.exp(-2), 1, 1])
    near(t.icdf!([0.5]), [1 - 3 * (Math.LN2 / 2)])
    expect([t.support.kind, ...numbers(t.support.upper)]).toEqual(['lessThan', 1])
    const w = p.transformed(p.exponential(1), p.chainBijectors(p.powerBijector(1 / 1.8), p.affineBijector(0, 1.3)))
    near(w.logProb(x), p.weibull(1.3, 1.8).logProb(x), 1e-11)
    near(w.logProb([-1]), [Number.NEGATIVE_INFINITY])
  })
  it('takes axes of the batch for elements', () => {
    const t = p.transformed(p.normal([0, 0, 0], 1), p.simplexBijector)
    expect([t.batchShape, t.eventShape]).toEqual([[], [4]])
    const y = evaluate(t.sample(key(1), [6])) as Tensor
    expect(numbers(t.support.contains(y)).every(Boolean)).toBe(true)
    const u = p.simplexBijector.inverse(y)
    near(t.logProb(y), sub(sum(p.normal(0, 1).logProb(u), { axis: -1 }), p.simplexBijector.logDet(u)))
    near(t.logProb([0.5, 0.5, 0.5, 0.5]), [Number.NEGATIVE_INFINITY])
    const each = p.transformed(p.independent(p.normal([0, 1], 1)), p.expBijector)
    near(each.logProb([1, 2]), sum(p.logNormal([0, 1], 1).logProb([1, 2])))
    near(each.logProb([1, -2]), [Number.NEGATIVE_INFINITY])
  })
  it('refuses whole numbers and what is no map', () => {
    expect(() => p.transformed(p.poisson(1), p.expBijector)).toThrow(/whole numbers/)
    expect(() => p.transformed(p.normal(), 3 as never)).toThrow(/the map is 3/)
    expect(() => p.transformed(p.normal(), p.simplexBijector)).toThrow(/rank 1/)
  })
})
describe('mixture', () => {
  const [a, b] = [p.normal(-1, 0.5), p.laplace(2, 1)]
  const m = p.mixture([1, 3], [a, b])
  it('weighs densities, distribution functions and moments', () => {
    const x = [-1, 0, 2.5]
    const both = (f: (d: p.Distribution) => unknown): number[] => {
      const [u, v] = [numbers(f(a)), numbers(f(b))]
      return u.map((w, i) => 0.25 * w + 0.75 * v[i]!)
    }
    near(m.logProb(x), both((d) => tensor(numbers(d.logProb(x)).map(Math.exp))).map(Math.log))
    near(
      m.cdf!(x),
      both((d) => d.cdf!(x)),
    )
    near(m.mean!(), 1.25)
    near(m.variance!(), 0.25 * (0.25 + 1) + 0.75 * (2 + 4) - 1.25 ** 2)
    drawn(m)
  })
  it('of one distribution whose last axis numbers the components, with batches', () => {
    const s = p.mixture(
      [0.25, 0.75],
      p.normal(
        [
          [-1, 2],
          [0, 1],
        ],
        [0.5, 1],
      ),
    )
    const l = p.mixture([Math.log(0.25), Math.log(0.75)], [p.normal([-1, 0], 0.5), p.normal([2, 1], 1)], { logits: true })
    expect([s.batchShape, l.batchShape]).toEqual([[2], [2]])
    near(
      s.logProb([
        [0, 1],
        [2, 3],
      ]),
      l.logProb([
        [0, 1],
        [2, 3],
      ]),
    )
    near(s.mean!(), l.mean!())
    near(s.variance!(), l.variance!())
    expect(s.sample(key(0), [5]).shape).toEqual([5, 2])
    expect(l.sample(key(0), [5]).shape).toEqual([5, 2])
    drawn(p.mixture([0.25, 0.75], p.normal([-1, 2], [0.5, 1])))
  })
  it('of vectors', () => {
    const v = p.mixture(
      [0.5, 0.5],
      p.independent(
        p.normal(
          [
            [-1, -1],
            [2, 3],
          ],
          1,
        ),
        1,
      ),
    )
    expect([v.batchShape, v.eventShape, v.sample(key(0), [7]).shape]).toEqual([[], [2], [7, 2]])
    near(v.logProb([0, 0]), Math.log(0.5 * Math.exp(-1) + 0.5 * Math.exp(-6.5)) - Math.log(2 * Math.PI))
    near(v.mean!(), [0.5, 1])
    near(v.variance!(), [1 + 2.25, 1 + 4])
  })
  it('of counts: integrates to 1', () => {
    const c = p.mixture([0.3, 0.7], [p.poisson(2), p.geometric(0.4)])
    expect(c.dtype).toBe('i32')
    near(sum(tensor(numbers(c.logProb([...Array(80).keys()])).map(Math.exp)) as AnyExpr), 1)
  })
  it('refuses what does not fit', () => {
    expect(() => p.mixture([1], [])).toThrow(/no components/)
    expect(() => p.mixture([1, 2, 3], [a, b])).toThrow(/there are 2 components/)
    expect(() => p.mixture([1, 1], [a, p.dirichlet([1, 2])])).toThrow(/other shapes/)
    expect(() => p.mixture([1], a)).toThrow(/no axis/)
  })
})
describe('points, masks, zeros, bounds', () => {
  it('delta', () => {
    near(
      p.delta([1, 2], 1).logProb([
        [1, 2],
        [1, 3],
      ]),
      [0, Number.NEGATIVE_INFINITY],
    )
    near(p.delta(2).sample(key(0), [3]), [2, 2, 2])
    expect(() => p.delta(2, 1)).toThrow(/rank is 1/)
  })
  it('masked: what is left out counts for nothing, whatever it is', () => {
    const d = (s: AnyExpr | number): p.Distribution => p.masked(p.gamma([2, 2, 2], s), [true, false, false])
    const x = [1, -1, Number.NaN]
    near(d(1.5).logProb(x), [numbers(p.gamma(2, 1.5).logProb(1))[0]!, 0, 0])
    near(grad((s: AnyExpr) => sum(d(s).logProb(x)))(1.5), 2 / 1.5 - 1)
    near(grad((y: AnyExpr) => sum(d(1.5).logProb(y)))(x), [1 - 1.5, 0, 0])
    expect(() => p.masked(p.normal(), 1 as never)).toThrow(/the mask is 1/)
  })
  it('zeroInflated', () => {
    const z = p.zeroInflated(p.poisson(2), 0.3)
    near(sum(tensor(numbers(z.logProb([...Array(60).keys()])).map(Math.exp)) as AnyExpr), 1)
    near(z.logProb(0), Math.log(0.3 + 0.7 * Math.exp(-2)))
    near(z.mean!(), 1.4)
    near(z.cdf!([-1, 0, 2]), [0, 0.3 + 0.7 * Math.exp(-2), 0.3 + 0.7 * 5 * Math.exp(-2)])
    drawn(z)
    expect(() => p.zeroInflated(p.normal(), 0.5)).toThrow(/whole numbers/)
    expect(() => p.zeroInflated(p.poisson(1), 2)).toThrow(/gate is 2/)
  })
  it('truncated', () => {
    const [t, n] = [p.truncated(p.normal(0.5, 2), { lower: -1, upper: 4 }), p.truncatedNormal(0.5, 2, -1, 4)]
    const x = [-2, -1, 0, 3.9, 5]
    near(t.logProb(x), n.logProb(x))
    near(t.cdf!(x), n.cdf(x))
    near(t.icdf!([0.1, 0.6]), n.icdf([0.1, 0.6]))
    expect(Math.abs(expectation(p.truncated(p.gamma(2, 1), { upper: 3 })) - 1)).toBeLessThan(1e-9)
    expect(numbers(t.support.contains(t.sample(key(2), [500]))).every(Boolean)).toBe(true)
    expect(() => p.truncated(p.normal(), {})).toThrow(/no bounds/)
    expect(() => p.truncated(p.delta(1), { lower: 0 })).toThrow(/no distribution function/)
  })
})

describe('logSurvival', () => {
  const shares = (d: p.Distribution, x: readonly number[]) => {
    const [below, above] = [numbers(d.cdf!(x as number[])), numbers(d.logSurvival!(x as number[]))]
    for (const [i, b] of below.entries()) expect(Math.abs(b + Math.exp(above[i]!) - 1), `${d.name} at ${x[i]}`).toBeLessThan(1e-13)
  }
  it('is what the distribution function leaves, also outside of supports', () => {
    const x = [-3, -1, 0, 0.3, 1, 2.5, 7]
    const all: readonly p.Distribution[] = [
      p.mixture([0.3, 0.7], [p.normal(0, 1), p.gamma(2, 1)]),
      p.mixture([0.3, 0.7], p.normal([-1, 2], [0.5, 1])),
      p.transformed(p.normal(0, 1), p.expBijector),
      p.transformed(p.exponential(2), p.affineBijector(1, -3)),
      p.truncated(p.normal(0, 1), { lower: -0.5, upper: 2 }),
      p.truncated(p.gamma(2, 1), { lower: 0.2 }),
      p.truncated(p.logistic(0, 1), { upper: 1 }),
      p.zeroInflated(p.poisson(2), 0.3),
      p.categorical([0.2, 0.5, 0.3]),
      p.triangular(-1, 0.5, 3),
    ]
    for (const d of all) shares(d, d.name === 'categorical' ? [0, 1, 2] : x)
  })
  it('has its digits where the distribution function is 1', () => {
    near(p.normal(0, 1).logSurvival(40), [-804.608442013754], 1e-9)
    near(p.mixture([0.5, 0.5], [p.exponential(1), p.exponential(2)]).logSurvival!(500), [-500 - Math.LN2], 1e-9)
    near(p.truncated(p.exponential(1), { lower: 1 }).logSurvival!(101), [-100], 1e-9)
    near(p.transformed(p.exponential(1), p.affineBijector(0, 2)).logSurvival!(1000), [-500], 1e-9)
    near(p.zeroInflated(p.geometric(0.5), 0.5).logSurvival!(200), [-201 * Math.LN2], 1e-9)
  })
})
