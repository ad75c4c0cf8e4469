/** What holds of every distribution: its density integrates to 1, its draws have its distribution, shapes, edges of the support, f32. */
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  compile,
  cos,
  evaluate,
  fn,
  grad,
  i32,
  mean,
  scan,
  sum,
  type Tensor,
  tensor,
  treeLeaves,
  unstack,
  vmap,
} from '../../src/index.js'
import type { Distribution } from '../../src/prob/index.js'
import * as prob from '../../src/prob/index.js'
import { key, splitKey } from '../../src/random/index.js'
import { count, deep, some } from '../depth.js'
import { expectation, grid, numbers } from './quadrature.js'
import { golden, label, makers, type Row } from './table.js'

/** Some distributions; in depth all rows. */
const rows = some(
  golden.rows.filter((r, i, all) => deep || all.findIndex((s) => s.name === r.name) === i),
  6,
)
const made = (r: Row, dtype?: 'f32'): Distribution =>
  (makers[r.name] as unknown as (...p: readonly unknown[]) => Distribution)(...r.params, ...(dtype === undefined ? [] : [{ dtype }]))

/** Counts above 2^24 are none of f32's numbers. */
const inF32 = (r: Row): boolean => r.params.every((p) => Math.abs(p) <= 2 ** 24)
/** 2 e^(-2 x^2) = 1e-6. */
const KS = 2.7
/** The largest distance between the shares of a sample and the distribution function, times the root of its size. */
const distance = (sample: readonly number[], cdf: (x: readonly number[]) => readonly number[]): number => {
  const sorted = [...sample].sort((a, b) => a - b)
  const n = sorted.length
  return Math.sqrt(n) * Math.max(...cdf(sorted).map((p, i) => Math.max(p - i / n, (i + 1) / n - p)))
}
/** The distribution function by the trapezoidal rule, where there is none. */
const cdfOf = (d: Distribution): ((x: readonly number[]) => readonly number[]) => {
  if (d.cdf !== undefined) return (x) => numbers(d.cdf!(x as number[]))
  const { x, logWeights } = grid(d)
  const at = Array.from(x.data as unknown as number[])
  let total = 0
  const below = numbers(d.logProb(x)).map((lp, i) => {
    const w = Math.exp(lp + logWeights[i]!)
    total += w
    return total - w / 2
  })
  return (xs) =>
    xs.map((v) => {
      const i = at.findIndex((a) => a >= v)
      if (i <= 0) return i === 0 ? 0 : 1
      const t = (v - at[i - 1]!) / (at[i]! - at[i - 1]!)
      return below[i - 1]! + t * (below[i]! - below[i - 1]!)
    })
}
/** Chi-squared of counts, as a normal number (Wilson and Hilferty 1931). */
const surprise = (sample: readonly number[], d: Distribution): number => {
  const { x } = grid(d)
  const ps = numbers(d.logProb(x)).map(Math.exp)
  const first = Number((x.data as unknown as number[])[0])
  const counts = new Array<number>(ps.length).fill(0)
  for (const v of sample) {
    expect(counts[v - first], `${v} is outside`).toBeDefined()
    counts[v - first]!++
  }
  let [chi, cells, p, k] = [0, 0, 0, 0]
  let rest = 1
  const close = (): void => {
    chi += (k - sample.length * p) ** 2 / (sample.length * p)
    cells++
    p = 0
    k = 0
  }
  for (const [i, q] of ps.entries()) {
    p += q
    k += counts[i]!
    rest -= q
    if (sample.length * p >= 8 && sample.length * rest >= 8) close()
  }
  if (p > 0) close()
  const df = cells - 1
  return df < 1 ? 0 : (Math.cbrt(chi / df) - (1 - 2 / (9 * df))) / Math.sqrt(2 / (9 * df))
}

describe.each(rows.map((r) => [label(r), r] as const))('%s', (_, r) => {
  const d = made(r)
  const discrete = d.dtype === 'i32'
  it('integrates to 1', () => {
    // A kink between two points of the rule leaves the square of their distance.
    expect(Math.abs(expectation(d) - 1)).toBeLessThan(r.name === 'triangular' ? 1e-5 : 1e-8)
  })
  it.each(deep ? (inF32(r) ? [undefined, 'f32' as const] : [undefined]) : ['f32' as const])('draws what it says (%s)', (dtype) => {
    const of = made(r, dtype)
    const n = count(1500, 6000, 20_000)
    const x = evaluate(of.sample(key(7), [n])) as Tensor
    expect(x.dtype).toBe(discrete ? 'i32' : (dtype ?? 'f64'))
    const sample = Array.from(x.data as unknown as number[])
    expect(numbers(d.support.contains(x)).every(Boolean)).toBe(true)
    if (discrete) expect(surprise(sample, d)).toBeLessThan(4.9)
    else expect(distance(sample, cdfOf(d))).toBeLessThan(KS)
  })
  it('has shapes of draws, batches and events', () => {
    expect([d.batchShape, d.eventShape, d.sample(key(0)).shape, d.logProb(r.x[0]!).shape]).toEqual([[], [], [], []])
    expect((evaluate(d.sample(key(0), [0, 2])) as Tensor).shape).toEqual([0, 2])
    expect(d.logProb(tensor([], [0])).shape).toEqual([0])
    // The first parameter has an axis, and so has what is made of all.
    const batch = makers[r.name]!(...r.params.map((p, i) => (i === 0 ? (tensor([p, p, p], [3, 1]) as Tensor) : p)))
    expect(batch.batchShape).toEqual([3, 1])
    expect((evaluate(batch.sample(key(1), [2])) as Tensor).shape).toEqual([2, 3, 1])
    expect(numbers(batch.logProb(r.x as number[]))).toEqual([0, 1, 2].flatMap(() => numbers(d.logProb(r.x as number[]))))
    for (const what of ['mean', 'variance', 'entropy'] as const)
      if (batch[what] !== undefined) expect(batch[what]!().shape, what).toEqual([3, 1])
  })
  if (inF32(r))
    it('is as near in f32', () => {
      const of = made(r, 'f32')
      const lp = of.logProb(tensor(r.x as number[], 'f32') as Tensor)
      expect(lp.dtype).toBe('f32')
      numbers(lp).forEach((v, i) => {
        // What x is rounded to moves the density too: by its derivative.
        const slack = 1e-6 * Math.abs((r.dx[i] ?? 0) * r.x[i]!) + 1e-4 * Math.max(1, Math.abs(r.logProb[i]!))
        expect(Math.abs(v - r.logProb[i]!)).toBeLessThan(slack)
      })
      for (const what of ['mean', 'variance', 'entropy'] as const) if (of[what] !== undefined) expect(of[what]!().dtype, what).toBe('f32')
      if (of.cdf !== undefined) expect(of.cdf(tensor(r.x as number[], 'f32') as Tensor).dtype).toBe('f32')
      if (of.icdf !== undefined) expect(of.icdf(tensor([0.5], 'f32') as Tensor).dtype).toBe('f32')
    })
  it('is -Infinity outside the support, with derivatives of 0 there and of no NaN anywhere', () => {
    const { lower, upper } = d.support
    const outside = [
      ...(lower === undefined ? [] : [numbers(lower)[0]! - 1, -1e300]),
      ...(upper === undefined ? [] : [numbers(upper)[0]! + 1, 1e300]),
    ]
    if (discrete) outside.push(r.x[0]! + 0.5)
    for (const x of outside) expect(numbers(d.logProb(x)), `at ${x}`).toEqual([Number.NEGATIVE_INFINITY])
    const all = tensor([...outside, ...r.x]) as Tensor
    const p = r.params.map((v) => tensor(new Array<number>(all.shape[0]!).fill(v)) as Tensor)
    const g = grad((at: { readonly x: AnyExpr; readonly p: readonly AnyExpr[] }) => sum(makers[r.name]!(...at.p).logProb(at.x)) as AnyExpr)
    const parts = treeLeaves(g({ x: all, p } as never) as never) as unknown as readonly Tensor[]
    expect(parts.length).toBeGreaterThan(0)
    for (const part of parts) {
      const values = Array.from(part.data as unknown as number[])
      expect(values.filter(Number.isNaN)).toEqual([])
      values.slice(0, outside.length).forEach((v) => {
        expect(Math.abs(v)).toBe(0)
      })
    }
    // What is unknown stays unknown.
    expect(numbers(d.logProb(Number.NaN))).toEqual([Number.NaN])
  })
  if (d.cdf !== undefined)
    it('has a distribution function from 0 to 1, and quantiles that it gives back', () => {
      const { lower, upper } = d.support
      const [low, high] = [lower === undefined ? -1e300 : numbers(lower)[0]! - 1, upper === undefined ? 1e300 : numbers(upper)[0]! + 1]
      const [least, most] = numbers(d.cdf!([low, high]))
      expect(least).toBeLessThan(1e-200)
      expect(most).toBe(1)
      if (d.icdf === undefined) return
      const q = [0.001, 0.2, 0.5, 0.9, 0.999]
      const x = numbers(d.icdf(q))
      if (discrete) expect(numbers(d.icdf(numbers(d.cdf!(x))))).toEqual(x)
      else
        numbers(d.cdf!(x)).forEach((p, i) => {
          expect(Math.abs(p - q[i]!)).toBeLessThan(1e-12)
        })
      expect(numbers(d.icdf([-0.1, 1.1, Number.NaN]))).toEqual([Number.NaN, Number.NaN, Number.NaN])
      if (discrete) return
      const ends = numbers(d.icdf([0, 1]))
      expect([ends[0]! <= x[0]!, ends[1]! >= x[4]!]).toEqual([true, true])
    })
})

describe('far out', () => {
  it.each(golden.tails.map((r) => [label(r), r] as const))('%s', (_, r) => {
    numbers(makers[r.name]!(...r.params).logProb(r.x as number[])).forEach((v, i) => {
      expect(Math.abs(v / r.logProb[i]! - 1)).toBeLessThan(1e-10)
    })
  })
})

describe('draws have derivatives', () => {
  // The derivative of a mean of draws by a parameter, against that of the mean.
  const n = count(20_000, 60_000, 200_000)
  const cases: Readonly<Record<string, readonly [(p: AnyExpr) => Distribution, number, number]>> = {
    normal: [(p) => prob.normal(1, p), 2, 0],
    gamma: [(p) => prob.gamma(p, 2), 3, 0.5],
    beta: [(p) => prob.beta(p, 2), 2, 2 / 16],
    weibull: [(p) => prob.weibull(p, 2), 1.5, Math.sqrt(Math.PI) / 2],
    truncatedNormal: [(p) => prob.truncatedNormal(p, 1, -1, 1), 0, 0.29112509],
    inverseGamma: [(p) => prob.inverseGamma(5, p), 2, 0.25],
  }
  it.each(Object.entries(cases))('%s', (_, [d, at, wanted]) => {
    const slope = grad((p: AnyExpr) => mean(d(p).sample(key(11), [n])))(at)
    expect(Math.abs(numbers(slope)[0]! - wanted)).toBeLessThan(6 / Math.sqrt(n))
  })
  it('vonMises by its concentration: of the mean cosine, A(k), 1 - A / k - A^2', () => {
    const slope = grad((k: AnyExpr) => mean(cos(prob.vonMises(0.3, k).sample(key(11), [n]))))(2)
    const a = 0.6977746579640079
    expect(Math.abs(numbers(slope)[0]! - (1 - a / 2 - a * a))).toBeLessThan(4 / Math.sqrt(n))
  })
})

describe('inside programs', () => {
  it('is mapped by vmap: over parameters, points and keys', () => {
    const a = tensor([0.5, 2, 7]) as Tensor
    const f = (shape: AnyExpr): AnyExpr => prob.gamma(shape, 2).logProb(1.5) as AnyExpr
    expect(numbers((vmap as unknown as (f: unknown) => (x: unknown) => AnyExpr)(f)(a))).toEqual(numbers(prob.gamma(a, 2).logProb(1.5)))
    const keys = splitKey(key(1), 3)
    const draw = (k: AnyExpr): AnyExpr => prob.normal(1, 2).sample(k as never, [2]) as AnyExpr
    expect(numbers((vmap as unknown as (f: unknown) => (x: unknown) => AnyExpr)(draw)(keys))).toEqual(
      unstack(keys).flatMap((k) => numbers(draw(k as AnyExpr))),
    )
  })
  it('is made in the steps of a loop: a walk, and its density', () => {
    const steps = scan(
      ((x: AnyExpr, k: AnyExpr) => {
        const next = prob.normal(x, 0.5).sample(k as never)
        return [next, prob.normal(x, 0.5).logProb(next)]
      }) as never,
      0 as never,
      splitKey(key(1), 4) as never,
    ) as unknown as readonly [AnyExpr, AnyExpr]
    expect(numbers(steps[1]).every(Number.isFinite)).toBe(true)
    const ends = unstack(splitKey(key(1), 4)).reduce((x, k) => x + 0.5 * numbers(prob.normal().sample(k as never))[0]!, 0)
    expect(Math.abs(numbers(steps[0])[0]! - ends)).toBeLessThan(1e-12)
  })
  it('is a value of what is traced: compiled, of a key that is an argument', () => {
    const f = compile(fn({ k: i32(2) }, ({ k }) => prob.gamma(2, 3).sample(k, [2])) as never) as unknown as (x: unknown) => Tensor
    expect(numbers(f({ k: key(3) }))).toEqual(numbers(prob.gamma(2, 3).sample(key(3), [2])))
  })
})
