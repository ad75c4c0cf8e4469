/** `nuts` and `hmc`: posteriors that are known otherwise, what keys decide, and what is said of trajectories and of mistakes. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, add, cast, div, exp, log, mul, neg, sqrt, square, sub, sum, type Tensor, tensor } from '../../../src/index.js'
import { dualAveraging, momentsOf, scheduleOf } from '../../../src/prob/inference/adapt.js'
import { after, before, chainOf, type Live, mark, markOf, type Transition } from '../../../src/prob/inference/hamiltonian.js'
import { hmc, nuts, rhat, summary } from '../../../src/prob/inference/index.js'
import { denseMass, diagonalMass } from '../../../src/prob/inference/mass.js'
import { nutsTransitions } from '../../../src/prob/inference/nuts-transition.js'
import { streamOf } from '../../../src/prob/inference/stream.js'
import { key } from '../../../src/random/index.js'
import { count } from '../../depth.js'
import { refused } from '../refused.js'
import { agrees, correlated, effects, funnel, schools, schoolsExactly } from './posteriors.js'

const standard = (x: AnyExpr): AnyExpr => mul(-0.5, sum(square(x) as AnyExpr)) as AnyExpr
type Draws = Readonly<Record<'a' | 'b', Tensor>>
const numbers = (x: unknown): number[] => Array.from((x as Tensor).data, Number)

describe('known posteriors', () => {
  it('eight schools, means and standard deviations by a quadrature', () => {
    const { draws, stats } = nuts(key(1), schools as never, {
      start: { mu: 0, logTau: 0, z: effects.map(() => 0) },
      draws: count(1000, 4000),
      targetAcceptance: 0.95,
    }) as never as { readonly draws: Record<string, Tensor>; readonly stats: { readonly divergences: number } }
    const { mu, logTau, z } = draws
    const tau = tensor(Float64Array.from(numbers(logTau), Math.exp), logTau!.shape as never) as unknown as Tensor
    const theta = tensor(
      Float64Array.from(numbers(z), (v, i) => mu!.data[Math.floor(i / 8)]! + tau.data[Math.floor(i / 8)]! * v),
      z!.shape as never,
    ) as unknown as Tensor
    const exactly = schoolsExactly
    // What Stan and posteriordb print for this model.
    expect(Math.abs(exactly.mu[0] - 4.4)).toBeLessThan(0.1)
    expect(Math.abs(exactly.tau[0] - 3.6)).toBeLessThan(0.1)
    agrees(
      { mu, tau, theta },
      { mu: exactly.mu[0], tau: exactly.tau[0], ...Object.fromEntries(exactly.theta.map((m, i) => [`theta[${i}]`, m])) },
    )
    const rows = summary({ mu, tau }).rows
    expect(Math.abs(rows[0]!.sd / exactly.mu[1] - 1)).toBeLessThan(0.1)
    expect(Math.abs(rows[1]!.sd / exactly.tau[1] - 1)).toBeLessThan(0.15)
    expect(stats.divergences).toBeLessThan(10)
  })
  it('a correlated normal of 50 dimensions: means, variances and a covariance', () => {
    const { logDensity, covariance } = correlated(50, 0.9)
    const { draws, warnings } = nuts(key(2), logDensity as never, { start: new Array(50).fill(0), warmup: 500, draws: count(400, 2000) })
    expect(warnings).toEqual([])
    const x = draws as unknown as Tensor
    const data = numbers(x)
    const product = (i: number, j: number) =>
      tensor(
        Float64Array.from({ length: data.length / 50 }, (_, k) => data[50 * k + i]! * data[50 * k + j]!),
        x.shape.slice(0, 2) as never,
      )
    const means = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x[${i}]`, 0]))
    agrees({ x }, means, count(1.02, 1.01))
    const squares = { a: product(0, 0), b: product(25, 25), c: product(25, 26), d: product(10, 13) }
    agrees(squares, { a: 1, b: 1, c: covariance(25, 26), d: covariance(10, 13) }, count(1.02, 1.01))
  })
  it('a funnel, non-centred', () => {
    const { draws } = nuts(key(3), (({ v, z }: Record<string, AnyExpr>) => add(standard(v!), standard(z!))) as never, {
      start: { v: 0, z: new Array(9).fill(0) },
    }) as never as { readonly draws: Record<string, Tensor> }
    const v = tensor(
      Float64Array.from(numbers(draws.v), (u) => 3 * u),
      draws.v!.shape as never,
    ) as unknown as Tensor
    const v2 = tensor(
      Float64Array.from(numbers(v), (u) => u * u),
      v.shape as never,
    )
    // log|x| = v / 2 + log|z| is what the funnel does to x, and E log|z| = -(log 2 + Euler's constant) / 2.
    const logX = tensor(
      Float64Array.from(
        numbers(draws.z).filter((_, i) => i % 9 === 0),
        (z, k) => v.data[k]! / 2 + Math.log(Math.abs(z)),
      ),
      v.shape as never,
    )
    agrees({ v, v2, logX }, { v: 0, v2: 9, logX: -(Math.LN2 + 0.5772156649015329) / 2 })
  })
  it('hmc: a normal with scales from 1 to 100', () => {
    const { logDensity, covariance } = correlated(5, 0.5, 100)
    const { draws } = hmc(key(4), logDensity as never, { start: [0, 0, 0, 0, 0], draws: count(1000, 4000) })
    const data = numbers(draws)
    const square = (i: number) =>
      tensor(
        Float64Array.from({ length: data.length / 5 }, (_, k) => data[5 * k + i]! ** 2),
        (draws as unknown as Tensor).shape.slice(0, 2) as never,
      )
    agrees({ x: draws, first: square(0), last: square(4) }, { 'x[0]': 0, 'x[4]': 0, first: 1, last: covariance(4, 4) })
  })
  it('a dense mass learns correlations: longer steps, and the covariance', () => {
    const { logDensity, covariance } = correlated(10, 0.95)
    const options = { start: new Array(10).fill(0), warmup: 1000, draws: 400 }
    const diagonal = nuts(key(5), logDensity as never, options)
    const dense = nuts(key(5), logDensity as never, { ...options, mass: 'dense' })
    expect(dense.stats.gradients).toBeLessThan(0.5 * diagonal.stats.gradients)
    const inverse = numbers(dense.stats.inverseMass)
    expect(dense.stats.inverseMass.shape).toEqual([4, 10, 10])
    expect(Math.abs(inverse[0]! / covariance(0, 0) - 1)).toBeLessThan(0.4)
    expect(Math.abs(inverse[1]! / covariance(0, 1) - 1)).toBeLessThan(0.4)
    agrees({ x: dense.draws }, Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`x[${i}]`, 0])), 1.02)
  })
})

describe('simulation-based calibration (Talts and others 2018)', () => {
  it('ranks of the parameters among draws of their posterior are even', () => {
    // m ~ N(0, 1), s = exp(l), l ~ N(0, 0.5), y ~ N(m, s): five numbers.
    const [trials, ranks] = [count(50, 600), 10]
    const histogram = { m: new Array(ranks).fill(0), l: new Array(ranks).fill(0) }
    const gauss = (() => {
      let seed = 12345
      const uniform = () => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
        return (seed + 0.5) / 2 ** 32
      }
      return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
    })()
    for (let t = 0; t < trials; t++) {
      const [m, l] = [gauss(), 0.5 * gauss()]
      const y = tensor(Float64Array.from({ length: 5 }, () => m + Math.exp(l) * gauss()))
      const density = ({ m, l }: Record<string, AnyExpr>) =>
        sub(sub(mul(-0.5, square(m!)), mul(2, square(l!))), add(mul(5, l!), mul(0.5, sum(square(div(sub(y, m!), exp(l!))) as AnyExpr))))
      const { draws } = nuts(key(1000 + t), density as never, { start: { m: 0, l: 0 }, chains: 1, warmup: 300, draws: 90 }) as never as {
        readonly draws: Record<string, Tensor>
      }
      for (const [name, truth] of [
        ['m', m],
        ['l', l],
      ] as const) {
        // Every tenth draw, which are all but independent: 9 of them make 10 ranks.
        const rank = numbers(draws[name]).filter((v, i) => i % 10 === 9 && v < truth).length
        histogram[name][rank]++
      }
    }
    for (const counts of Object.values(histogram)) {
      const each = trials / ranks
      const chiSquare = counts.reduce((s, c) => s + (c - each) ** 2 / each, 0)
      // 9 degrees of freedom: the level of one in a thousand.
      expect(chiSquare, counts.join(' ')).toBeLessThan(27.9)
    }
  })
})

describe('keys', () => {
  const density = (({ a, b }: Record<string, AnyExpr>) => sub(standard(a!), sum(exp(b!) as AnyExpr))) as never
  const options = { start: { a: 0, b: [-1, 0] }, draws: 30, warmup: 60 }
  // The density above has no bound towards b = -Infinity, so b gets one here.
  const proper = (x: never) =>
    add((density as (x: never) => AnyExpr)(x), mul(-0.1, sum(square((x as Record<string, AnyExpr>).b!) as AnyExpr))) as never
  const all = (r: { readonly draws: unknown }) => [...numbers((r.draws as never as Draws).a), ...numbers((r.draws as never as Draws).b)]
  it('the same key, the same draws; another key, others', () => {
    const first = all(nuts(key(1), proper as never, options))
    expect(all(nuts(key(1), proper as never, options))).toEqual(first)
    expect(all(nuts(key(2), proper as never, options))).not.toEqual(first)
    expect(first).toHaveLength(4 * 30 * 3)
    expect(first.every((v) => Number.isFinite(v))).toBe(true)
  })
  it.each([
    ['nuts', nuts],
    ['hmc', hmc as unknown as typeof nuts],
  ] as const)('%s: chains mapped together are the chains in turn, and a single chain is the first', (_, sampler) => {
    const together = all(sampler(key(7), proper as never, options))
    const inTurn = all(sampler(key(7), proper as never, { ...options, together: false }))
    const one = all(sampler(key(7), proper as never, { ...options, chains: 1 }))
    for (const [i, v] of together.entries()) expect(Math.abs(v - inTurn[i]!)).toBeLessThan(1e-6)
    for (const [i, v] of together.slice(0, 30).entries()) expect(Math.abs(v - one[i]!)).toBeLessThan(1e-6)
  })
})

describe('what is said', () => {
  it('divergences of a centred funnel, with what to do', () => {
    const { stats, warnings } = nuts(key(0), funnel as never, { start: new Array(10).fill(0) })
    expect(stats.divergences).toBeGreaterThan(0)
    expect(numbers(stats.divergent).filter((d) => d === 1)).toHaveLength(stats.divergences)
    const told = warnings.find((w) => w.kind === 'divergences')!
    expect(told.count).toBe(stats.divergences)
    expect(told.message).toMatch(/non-centred/)
  })
  it('trajectories that are cut', () => {
    const { logDensity } = correlated(10, 0, 1000)
    const { warnings, stats } = nuts(key(1), logDensity as never, {
      start: new Array(10).fill(0),
      draws: 50,
      warmup: 0,
      stepSize: 1,
      maxDepth: 3,
    })
    expect(warnings.find((w) => w.kind === 'maxDepth')?.count).toBeGreaterThan(100)
    expect(Math.max(...numbers(stats.steps))).toBe(7)
  })
  it('statistics of each draw', () => {
    const { stats, draws } = nuts(key(1), standard as never, {
      start: tensor([0, 0], [2], 'f32') as never,
      draws: 40,
      warmup: 40,
      chains: 2,
    })
    expect((draws as unknown as Tensor).dtype).toBe('f32')
    for (const x of [stats.divergent, stats.depth, stats.steps, stats.energy, stats.acceptance, stats.logDensity])
      expect(x.shape).toEqual([2, 40])
    const x = numbers(draws)
    for (const [i, l] of numbers(stats.logDensity).entries())
      expect(Math.abs(l + (x[2 * i]! ** 2 + x[2 * i + 1]! ** 2) / 2)).toBeLessThan(1e-5)
    // The energy is never below the potential energy.
    for (const [i, e] of numbers(stats.energy).entries()) expect(e).toBeGreaterThan(-stats.logDensity.data[i]! - 1e-9)
    expect([...stats.stepSize.shape, ...stats.inverseMass.shape]).toEqual([2, 2, 2])
  })
  it('a dense mass that was never learned is the identity', () => {
    const { stats } = nuts(key(1), standard as never, { start: [0, 0], draws: 2, warmup: 0, chains: 2, mass: 'dense' })
    expect([stats.inverseMass.shape, numbers(stats.inverseMass)]).toEqual([
      [2, 2, 2],
      [1, 0, 0, 1, 1, 0, 0, 1],
    ])
  })
  it('every transition, to onStep, which ends the run', () => {
    const seen: { readonly chain: number; readonly step: number; readonly warmup: boolean }[] = []
    const { draws } = nuts(key(1), standard as never, {
      start: [0],
      draws: 10,
      warmup: 5,
      chains: 2,
      onStep: (info) => {
        seen.push(info)
        return !(info.chain === 0 && info.step === 9)
      },
    })
    expect(seen.filter((s) => s.chain === 0).map((s) => [s.step, s.warmup])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((k) => [k, k <= 5]))
    expect((draws as unknown as Tensor).shape[1]).toBeLessThanOrEqual(4)
  })
  it('R-hat of chains that went elsewhere', () => {
    // Two narrow wells far apart: each chain stays where it began.
    const wells = (x: AnyExpr) => log(add(exp(mul(-50, square(sub(x, 3)))), exp(mul(-50, square(add(x, 3))))))
    const { draws } = nuts(key(3), wells as never, { start: 0, jitter: 3, draws: 200, warmup: 200 })
    expect((rhat(draws as never) as unknown as Tensor).item()).toBeGreaterThan(1.5)
  })
})

describe('mistakes', () => {
  const start = { start: [1, 1] }
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['no start', () => nuts(key(0), standard as never, {} as never), /start is not given/],
    ['a start of integers', () => nuts(key(0), standard as never, { start: tensor([1], [1], 'i32') as never }), /start is i32/],
    ['an empty start', () => nuts(key(0), standard as never, { start: {} as never }), /holds no numbers/],
    ['a start with NaN', () => nuts(key(0), standard as never, { start: [Number.NaN] }), /start has NaN/],
    ['no function', () => nuts(key(0), 3 as never, start), /log density/],
    ['no key', () => nuts(3 as never, standard as never, start), /key/],
    ['an array for a density', () => nuts(key(0), ((x: AnyExpr) => neg(x)) as never, start), /scalar/],
    ['integers for a density', () => nuts(key(0), ((x: AnyExpr) => cast(sum(x), 'i32')) as never, start), /i32/],
    [
      'a density that is nowhere finite',
      () => nuts(key(0), ((x: AnyExpr) => log(sub(-1, sum(square(x) as AnyExpr)))) as never, start),
      /the log density is NaN where chain 0 begins \(100 places were tried\)/,
    ],
    [
      'minus infinity at the start, without jitter',
      () => nuts(key(0), ((x: AnyExpr) => log(mul(0, sum(x)))) as never, { ...start, jitter: 0 }),
      /is -Infinity where chain 0 begins\.[\s\S]*fix: start where it is finite\./,
    ],
    [
      'a gradient that is not finite',
      () => nuts(key(0), ((x: AnyExpr) => sqrt(sum(square(mul(0, x)) as AnyExpr))) as never, start),
      /the gradient of the log density has/,
    ],
    ['an unknown option', () => nuts(key(0), standard as never, { ...start, steps: 3 } as never), /steps/],
    ['no draws', () => nuts(key(0), standard as never, { ...start, draws: 0 }), /draws is 0/],
    ['a mass of another kind', () => hmc(key(0), standard as never, { ...start, mass: 'full' as never }), /'diagonal' or 'dense'/],
  ]
  it.each(cases)('%s', (_, run, message) => {
    expect(refused(run)).toMatch(message)
  })
})

describe('the warm-up', () => {
  it("has Stan's windows", () => {
    const { from, to, ends } = scheduleOf(1000)
    expect([from, to, ...ends]).toEqual([75, 950, 99, 149, 249, 449, 949])
    expect([...scheduleOf(100).ends]).toEqual([89])
    expect([...scheduleOf(10).ends]).toEqual([])
  })
  it('finds a step size for an acceptance', () => {
    // An acceptance of exp(-step): 0.8 at log 1.25.
    const step = dualAveraging(0.8, 1)
    for (let k = 0; k < 30_000; k++) step.update(Math.exp(-step.current()))
    expect(Math.abs(step.averaged() / Math.log(1.25) - 1)).toBeLessThan(0.01)
  })
  it('learns covariances, less so from few draws', () => {
    const draws = Array.from({ length: 200 }, (_, k) => Float64Array.of(Math.sin(k), Math.sin(k) + Math.cos(3 * k)))
    const [dense, diagonal] = [momentsOf(2, true), momentsOf(2, false)]
    for (const x of draws) {
      dense.add(x)
      diagonal.add(x)
    }
    const mean = [0, 1].map((i) => draws.reduce((s, x) => s + x[i]!, 0) / 200)
    const covariance = (i: number, j: number) => draws.reduce((s, x) => s + (x[i]! - mean[i]!) * (x[j]! - mean[j]!), 0) / 199
    const wanted = (i: number, j: number) => (covariance(i, j) * 200) / 205 + (i === j ? (1e-3 * 5) / 205 : 0)
    const [full, short] = [dense.mass()!.inverse, diagonal.mass()!.inverse]
    for (const [i, j] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ] as const)
      expect(Math.abs(full[2 * i + j]! - wanted(i, j))).toBeLessThan(1e-12)
    for (const i of [0, 1]) expect(Math.abs(short[i]! - wanted(i, i))).toBeLessThan(1e-12)
  })
})

describe('streams', () => {
  it('normal numbers are normal, uniform ones uniform, and keys have their own', () => {
    const [a, b] = [streamOf(key(1)), streamOf(key(2))]
    const z = new Float64Array(20_000)
    a.normals(z)
    const moment = (f: (v: number) => number) => z.reduce((s, v) => s + f(v), 0) / z.length
    // Four standard errors of the moments of 20,000 numbers; those of z^4 have the variance 96.
    for (const [f, wanted, variance] of [
      [(v: number) => v, 0, 1],
      [(v: number) => v * v, 1, 2],
      [(v: number) => v ** 3, 0, 15],
      [(v: number) => v ** 4, 3, 96],
    ] as const)
      expect(Math.abs(moment(f) - wanted)).toBeLessThan(4 * Math.sqrt(variance / z.length))
    // What Box and Muller make of one pair lies half a block apart.
    for (const lag of [1, 512, 1024]) {
      const products = Array.from({ length: z.length - lag }, (_, i) => z[i]! * z[i + lag]!)
      expect(Math.abs(products.reduce((s, v) => s + v, 0) / products.length)).toBeLessThan(4 / Math.sqrt(products.length))
    }
    const u = Array.from({ length: 20_000 }, () => a.uniform())
    expect(u.every((v) => v >= 0 && v < 1)).toBe(true)
    expect(Math.abs(u.reduce((s, v) => s + v, 0) / u.length - 0.5)).toBeLessThan(4 / Math.sqrt(12 * u.length))
    const other = new Float64Array(5)
    b.normals(other)
    expect(Array.from(other)).not.toEqual(Array.from(z.slice(0, 5)))
  })
})

describe('a trajectory', () => {
  /** Drives one transition after another with gradients of a density that is told here. */
  const driver = (maxDepth: number, gradient: (live: Live) => void) => {
    const live: Live = { q: new Float64Array(1), g: new Float64Array(1), value: new Float64Array(1) }
    const chain = chainOf(1, live, streamOf(key(11)), diagonalMass(Float64Array.of(4)))
    chain.stepSize = 0.25
    const transition = nutsTransitions(chain, maxDepth)
    const into: Transition = { acceptance: 0, divergent: false, depth: 0, steps: 0, energy: 0 }
    return {
      chain,
      into,
      run: () => {
        const moves = transition(into)
        while (moves.go()) gradient(live)
      },
    }
  }
  it('of a flat density: the draw lies in the half that was added last, evenly', () => {
    // The momentum stays what it was, so a draw is k steps away. Of 8 points the start is any, and the draw any of the other half: k = 1 ... 7 with the weights 1 2 3 4 3 2 1, on both sides.
    const { chain, into, run } = driver(3, ({ g, value }) => {
      g[0] = 0
      value[0] = 0
    })
    const counts = new Map<number, number>()
    const trials = 8000
    for (let t = 0; t < trials; t++) {
      const from = chain.q[0]!
      run()
      const k = (chain.q[0]! - from) / (chain.stepSize * 2 * chain.p[0]!)
      expect(Math.abs(k - Math.round(k))).toBeLessThan(1e-6)
      counts.set(Math.round(k), (counts.get(Math.round(k)) ?? 0) + 1)
      expect([into.depth, into.steps, into.acceptance, into.divergent]).toEqual([3, 7, 1, false])
    }
    let chiSquare = 0
    for (const side of [1, -1])
      for (const [i, w] of [1, 2, 3, 4, 3, 2, 1].entries()) {
        const wanted = (trials * w) / 32
        chiSquare += ((counts.get(side * (i + 1)) ?? 0) - wanted) ** 2 / wanted
      }
    expect([...counts.values()].reduce((a, b) => a + b, 0)).toBe(trials)
    // 13 degrees of freedom: the level of one in a thousand.
    expect(chiSquare, [...counts].join(' ')).toBeLessThan(34.5)
  })
  it('to where the density is lower by e: it is taken with the chance 1 / e', () => {
    const { chain, run } = driver(1, ({ g, value }) => {
      g[0] = 0
      value[0] = -1
    })
    const trials = 4000
    let moves = 0
    for (let t = 0; t < trials; t++) {
      chain.q[0] = chain.value = 0
      run()
      if (chain.q[0] !== 0) moves++
    }
    const chance = Math.exp(-1)
    expect(Math.abs(moves / trials - chance)).toBeLessThan(4 * Math.sqrt((chance * (1 - chance)) / trials))
  })
  it.each([
    ['diagonal', (inverse: number[]) => diagonalMass(Float64Array.of(inverse[0]!, inverse[3]!)), [2, 0, 0, 0.5]],
    ['dense', (inverse: number[]) => denseMass(Float64Array.from(inverse), 2)!, [2, 0.6, 0.6, 0.5]],
  ] as const)('is one of leapfrog steps, mass %s', (_, massOf, given) => {
    const inverse = [...given]
    const live: Live = { q: Float64Array.of(1, -2), g: new Float64Array(2), value: new Float64Array(1) }
    const chain = chainOf(2, live, streamOf(key(1)), massOf(inverse))
    const gradient = ([x, y]: readonly number[]) => [-x!, -3 * y!] as const
    const [step, p, q] = [0.3, [0.4, 0.7], [1, -2]]
    // The momentum of a chain is L^T p, for the inverse L L^T of the mass matrix.
    const l00 = Math.sqrt(inverse[0]!)
    const l10 = inverse[1]! / l00
    const l11 = Math.sqrt(inverse[3]! - l10 * l10)
    const own = ([a, b]: readonly number[]) => [l00 * a! + l10 * b!, l11 * b!]
    chain.p.set(own(p))
    live.g.set(gradient(q))
    before(chain, step)
    const half = p.map((v, i) => v + (step / 2) * gradient(q)[i]!)
    const there = q.map((v, i) => v + step * (inverse[2 * i]! * half[0]! + inverse[2 * i + 1]! * half[1]!))
    live.g.set(gradient(there))
    const total = Float64Array.of(10, 20)
    const kinetic = after(chain, step, total)
    const end = half.map((v, i) => v + (step / 2) * gradient(there)[i]!)
    const speed = [0, 1].map((i) => inverse[2 * i]! * end[0]! + inverse[2 * i + 1]! * end[1]!)
    const near = (found: ArrayLike<number>, wanted: readonly number[]) => {
      for (const [i, w] of wanted.entries()) expect(Math.abs(found[i]! - w)).toBeLessThan(1e-14 * Math.max(1, Math.abs(w)))
    }
    const momentum = own(end)
    near(live.q, there)
    near(chain.p, momentum)
    near([kinetic], [(end[0]! * speed[0]! + end[1]! * speed[1]!) / 2])
    near(total, [10 + momentum[0]!, 20 + momentum[1]!])
    const here = markOf(2)
    mark(here, chain.p, total)
    near(here.p, momentum)
    near(here.along, [10 + momentum[0]! / 2, 20 + momentum[1]! / 2])
  })
  it('into an abyss: a divergence, and the draw stays', () => {
    const { chain, into, run } = driver(5, ({ q, g, value }) => {
      g[0] = 0
      value[0] = q[0] === 0 ? 0 : -2000
    })
    run()
    expect([into.divergent, into.depth, into.steps, chain.q[0]]).toEqual([true, 0, 1, 0])
  })
})
