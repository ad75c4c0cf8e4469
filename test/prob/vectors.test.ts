/** Distributions of vectors and matrices, and those made of others, against SciPy, and against what they are made of. */
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  cholesky,
  evaluate,
  exp,
  expandDims,
  inv,
  mean,
  mul,
  square,
  sub,
  sum,
  type Tensor,
  tensor,
} from '../../src/index.js'
import * as prob from '../../src/prob/index.js'
import { key } from '../../src/random/index.js'
import { count } from '../depth.js'
import { golden } from './table.js'

const numbers = (x: unknown): number[] => Array.from((evaluate(x as AnyExpr) as Tensor).data as unknown as number[])
const near = (found: unknown, wanted: unknown, tolerance = 1e-10): void => {
  const [f, w] = [numbers(found), (Array.isArray(wanted) ? wanted.flat(3) : [wanted]) as number[]]
  expect(f.length).toBe(w.length)
  w.forEach((v, i) => {
    expect(Math.abs(f[i]! - v) / Math.max(1, Math.abs(v)), `element ${i}: ${f[i]} and ${v}`).toBeLessThan(tolerance)
  })
}
const v = golden.vectors as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>
const n = v.mvNormal!
const covariance = tensor(n.covariance as number[][]) as AnyExpr
const factor = cholesky(covariance) as AnyExpr

describe('mvNormal', () => {
  const given = { covariance: { covariance }, precision: { precision: inv(covariance) as AnyExpr }, factor: { factor } }
  it.each(Object.entries(given))('by its %s is that of SciPy', (_, o) => {
    const d = prob.mvNormal(n.mean as number[], o)
    near(d.logProb(n.x as number[][]), n.logProb)
    near(d.entropy(), n.entropy)
    near(d.variance(), [2, 1.5, 1])
    // Each draw is the mean and a matrix times the same normal numbers: the second moments tell the matrix.
    const x = d.sample(key(3), [40000])
    const away = sub(x, d.mean()) as AnyExpr
    near(mean(mul(expandDims(away, -1), expandDims(away, -2)), { axis: 0 }), n.covariance, 0.05)
  })
  it('has batches of means and of matrices', () => {
    const d = prob.mvNormal(tensor([n.mean, [0, 0, 0]] as number[][]), { covariance })
    expect(d.batchShape).toEqual([2])
    near(numbers(d.logProb([0, 0, 0])).slice(0, 1) as never, [(n.logProb as number[])[0]])
    const many = prob.mvNormal([0, 0, 0], {
      covariance: tensor([
        n.covariance,
        [
          [1, 0, 0],
          [0, 1, 0],
          [0, 0, 1],
        ],
      ] as never) as AnyExpr,
    })
    expect(many.batchShape).toEqual([2])
    near(
      numbers(
        many.logProb([
          [1, 2, 3],
          [1, 2, 3],
        ]),
      )[1] as never,
      -7 - 1.5 * Math.log(2 * Math.PI),
    )
    expect(many.sample(key(0), [4]).shape).toEqual([4, 2, 3])
  })
})
describe('against SciPy', () => {
  it('mvStudentT', () =>
    near(prob.mvStudentT(4.5, n.mean as number[], { scale: covariance }).logProb(n.x as number[][]), v.mvStudentT!.logProb))
  it('dirichlet', () => {
    const r = v.dirichlet!
    const d = prob.dirichlet(r.alpha as number[])
    near(d.logProb(r.x as number[][]), r.logProb)
    near(d.entropy(), r.entropy)
    near(d.mean(), r.mean)
    near(d.variance(), r.variance)
    expect(
      numbers(
        d.logProb([
          [0.5, 0.6, 0.1],
          [-0.1, 0.6, 0.5],
        ]),
      ),
    ).toEqual([-Infinity, -Infinity])
  })
  it('multinomial and dirichletMultinomial', () => {
    const [m, d] = [v.multinomial!, v.dirichletMultinomial!]
    near(prob.multinomial(10, m.p as number[]).logProb(m.x as number[][]), m.logProb)
    near(prob.multinomial(10, (m.p as number[]).map(Math.log), { logits: true }).logProb(m.x as number[][]), m.logProb)
    near(prob.dirichletMultinomial(10, d.alpha as number[]).logProb(d.x as number[][]), d.logProb)
    expect(
      numbers(
        prob.multinomial(10, m.p as number[]).logProb([
          [1, 2, 3],
          [11, -1, 0],
        ]),
      ),
    ).toEqual([-Infinity, -Infinity])
  })
  it('wishart', () => {
    const r = v.wishart!
    const d = prob.wishart(5.5, { scale: tensor(r.scale as number[][]) as AnyExpr })
    near(d.logProb(r.x as number[][]), r.logProb)
    near(d.mean(), r.mean)
    near(d.variance(), r.variance)
    expect(
      numbers(
        d.logProb([
          [1, 2, 0],
          [2, 1, 0],
          [0, 0, 1],
        ]),
      ),
    ).toEqual([-Infinity])
  })
  it('lowRankNormal is mvNormal with its covariance', () => {
    const [W, D] = [
      [
        [1, 0.2],
        [0.5, -1],
        [2, 0.3],
      ],
      [0.5, 1, 2],
    ]
    const low = prob.lowRankNormal(n.mean as number[], W, D)
    const whole = [0, 1, 2].map((i) => [0, 1, 2].map((j) => W[i]!.reduce((s, w, k) => s + w * W[j]![k]!, 0) + (i === j ? D[i]! : 0)))
    const full = prob.mvNormal(n.mean as number[], { covariance: whole })
    near(low.logProb(n.x as number[][]), numbers(full.logProb(n.x as number[][])))
    near(low.entropy(), numbers(full.entropy())[0])
    near(low.variance(), numbers(full.variance()))
    const away = sub(low.sample(key(1), [40000]), low.mean()) as AnyExpr
    near(mean(mul(expandDims(away, -1), expandDims(away, -2)), { axis: 0 }), whole, 0.06)
  })
  it('lkjCholesky integrates to 1, and its draws have the density', () => {
    // Of order 2 the correlation r has the density of 2 x - 1 for a beta number x.
    const d = prob.lkjCholesky(2, 1.7)
    const r = [-0.9, 0.1, 0.6]
    const L = r.map((c) => [
      [1, 0],
      [c, Math.sqrt(1 - c * c)],
    ])
    near(
      d.logProb(L),
      r.map((c) => numbers(prob.beta(1.7, 1.7).logProb((c + 1) / 2))[0]! - Math.LN2),
    )
    // Of order 4 the determinant's moments: E det^t by the ratio of the constants.
    const [c, t] = [1.3, 0.7]
    const four = prob.lkjCholesky(4, c)
    const x = four.sample(key(5), [count(4000, 20_000)])
    const rows = numbers(sum(square(x), { axis: -1 }))
    rows.forEach((row) => {
      expect(Math.abs(row - 1)).toBeLessThan(1e-12)
    })
    // Weights between two concentrations have mean 1: the constants of the density are right.
    const drawn = evaluate(x) as AnyExpr
    const weights = exp(sub(prob.lkjCholesky(4, c + t).logProb(drawn), four.logProb(drawn)))
    near(mean(weights), 1, count(0.07, 0.03))
  })
})

describe('draws have the moments, and lie in the support', () => {
  const of: Readonly<Record<string, prob.Distribution>> = {
    dirichlet: prob.dirichlet([0.8, 2.5, 1.2]),
    multinomial: prob.multinomial(10, [0.2, 0.5, 0.3]),
    'multinomial of logits, and a class that never comes': prob.multinomial(10, [1, Number.NEGATIVE_INFINITY, 0], { logits: true }),
    dirichletMultinomial: prob.dirichletMultinomial(10, [0.8, 2.5, 1.2]),
    mvStudentT: prob.mvStudentT(7, [1, 2, 3], { factor }),
    wishart: prob.wishart(5.5, { scale: covariance }),
    lowRankNormal: prob.lowRankNormal([1, 2], [[1], [2]], [0.5, 1]),
  }
  it.each(Object.entries(of))('%s', (_, d) => {
    const n = 4000
    const x = evaluate(d.sample(key(9), [n])) as Tensor
    expect(x.shape).toEqual([n, ...d.eventShape])
    expect(numbers(d.support.contains(x)).every(Boolean)).toBe(true)
    const [values, size] = [numbers(x), d.eventShape.reduce((a, b) => a * b, 1)]
    const [m, s] = [numbers(d.mean!()), numbers(d.variance!())]
    for (let k = 0; k < size; k++) {
      let [sum1, sum2] = [0, 0]
      for (let i = 0; i < n; i++) {
        sum1 += values[i * size + k]!
        sum2 += (values[i * size + k]! - m[k]!) ** 2
      }
      expect(Math.abs(sum1 / n - m[k]!)).toBeLessThanOrEqual(6 * Math.sqrt(s[k]! / n))
      expect(Math.abs(sum2 / n - s[k]!)).toBeLessThanOrEqual(0.25 * s[k]!)
    }
  })
  it('of batches, one for each', () => {
    const d = prob.multinomial(
      [3, 100],
      [
        [1, 1, 2],
        [5, 1, 0],
      ],
    )
    const x = numbers(d.sample(key(2), [4]))
    expect(d.batchShape).toEqual([2])
    for (let i = 0; i < 8; i++) expect(x[3 * i]! + x[3 * i + 1]! + x[3 * i + 2]!).toBe(i % 2 === 0 ? 3 : 100)
  })
})
