/** Many draws by one program are the draws of transitions on the host, to rounding, and `nuts` goes over to it in long runs of small densities. */
import { describe, expect, it } from 'vitest'
import { readOptions } from '../../../src/core/errors/options.js'
import {
  type AnyExpr,
  add,
  at,
  cast,
  cumsum,
  exp,
  gt,
  log,
  mul,
  scan,
  solve,
  square,
  sub,
  sum,
  type Tensor,
  tensor,
  where,
} from '../../../src/index.js'
import { type ChainStep, runChains, worthAProgram } from '../../../src/prob/inference/chains.js'
import { gradientsFor, type Target, targetOf } from '../../../src/prob/inference/density.js'
import { type Chain, chainOf, settle, type Transition } from '../../../src/prob/inference/hamiltonian.js'
import { nuts } from '../../../src/prob/inference/index.js'
import { manyDraws } from '../../../src/prob/inference/many-draws.js'
import { denseMass, diagonalMass } from '../../../src/prob/inference/mass.js'
import { nutsTransitions } from '../../../src/prob/inference/nuts-transition.js'
import { nutsOptions } from '../../../src/prob/inference/samplers.js'
import { streamOf } from '../../../src/prob/inference/stream.js'
import { treesOf } from '../../../src/prob/inference/trees.js'
import { key } from '../../../src/random/index.js'
import { count } from '../../depth.js'
import { correlated, effects, funnel, schools } from './posteriors.js'

const standard = (x: AnyExpr): AnyExpr => mul(-0.5, sum(square(x) as AnyExpr)) as AnyExpr
interface Subject {
  readonly density: (x: never) => AnyExpr
  readonly start: unknown
  readonly step: number
  readonly maxDepth: number
  readonly dense?: boolean
}
const subjects: Readonly<Record<string, Subject>> = {
  'eight schools': { density: schools as never, start: { mu: 0, logTau: 0, z: effects.map(() => 0) }, step: 0.4, maxDepth: 10 },
  'trajectories that are cut': {
    density: correlated(20, 0.9, 100).logDensity as never,
    start: new Array(20).fill(0),
    step: 0.05,
    maxDepth: 5,
  },
  'one doubling': { density: standard as never, start: [0.5, 1], step: 0.7, maxDepth: 1 },
  'a funnel, with divergences': { density: funnel as never, start: new Array(10).fill(0), step: 0.8, maxDepth: 10 },
  'a dense mass': { density: correlated(7, 0.9).logDensity as never, start: new Array(7).fill(0), step: 0.3, maxDepth: 10, dense: true },
  'steps so large that all diverge': { density: ((x: AnyExpr) => mul(1e4, standard(x))) as never, start: [1, 1], step: 3, maxDepth: 10 },
  'one number': { density: ((x: AnyExpr) => mul(-0.5, square(x))) as never, start: 0.3, step: 0.5, maxDepth: 12 },
  'a cliff, beyond which weights have no bound of their own': {
    density: ((x: AnyExpr) => add(standard(x), where(gt(at(x, 0), 0.4), 2000, 0))) as never,
    start: [0, 0],
    step: 0.3,
    maxDepth: 6,
  },
  f32: { density: ((x: AnyExpr) => standard(cast(x, 'f32') as AnyExpr)) as never, start: [0.1, 0.2, 0.3], step: 0.4, maxDepth: 8 },
  'a scan, a solution and a sum of sums': {
    density: ((x: AnyExpr) => {
      const walk = scan(
        ((s: AnyExpr, v: AnyExpr) => [mul(0.9, add(s, v)), s]) as never,
        tensor(0) as never,
        x as never,
      )[0] as unknown as AnyExpr
      const y = solve(tensor([2, 1, 0, 1, 3, 1, 0, 1, 4], [3, 3] as never) as never, at(x, ':3') as never) as unknown as AnyExpr
      return sub(sub(standard(x), square(walk)), add(sum(square(y) as AnyExpr), log(add(1, exp(sum(cumsum(x) as AnyExpr))))))
    }) as never,
    start: [0.1, -0.2, 0.3, 0.5],
    step: 0.3,
    maxDepth: 6,
  },
}

/** What a draw was. */
interface Seen extends Transition {
  readonly logDensity: number
  readonly q: readonly number[]
}
const both = ({ density, start, step, maxDepth, dense = false }: Subject, draws: number) => {
  const target = targetOf(density as never, start, 'nuts')
  const n = target.size
  const gradient = gradientsFor(target, 1)
  const begin = (): Chain => {
    const inverse = Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 0.5 + (i % 3) : 0.2))
    const mass = dense ? denseMass(inverse, n)! : diagonalMass(Float64Array.from({ length: n }, (_, i) => inverse[i * (n + 1)]!))
    const chain = chainOf(n, gradient.chains[0]!, streamOf(key(5)), mass)
    chain.stepSize = step
    chain.live.q.set(target.start)
    gradient.run()
    settle(chain)
    return chain
  }
  const into: Transition = { acceptance: 0, divergent: false, depth: 0, steps: 0, energy: 0 }
  const seen = (chain: Chain, q: Float64Array): Seen => ({ ...into, logDensity: chain.value, q: Array.from(q) })
  const host: Seen[] = []
  const chain = begin()
  const transition = nutsTransitions(chain, maxDepth)
  for (let k = 0; k < draws; k++) {
    const moves = transition(into)
    while (moves.go()) gradient.run()
    host.push(seen(chain, chain.q))
  }
  const program: Seen[] = []
  const other = begin()
  const many = manyDraws(target, maxDepth, dense)
  let calls = 0
  while (program.length < draws) {
    calls++
    const n = other.n
    let k = 0
    many.run(other, draws - program.length, into, () => program.push(seen(other, many.vectors.subarray(k * n, ++k * n))) > 0)
    expect(other.q).toEqual(many.vectors.slice((k - 1) * n, k * n))
  }
  many.dispose()
  gradient.dispose()
  return { host, program, calls, ends: [chain, other] as const }
}
const near = (a: number, b: number): boolean => Object.is(a, b) || Math.abs(a - b) <= 1e-6 * (1 + Math.abs(a))

describe('many draws by one program', () => {
  it.each(Object.entries(subjects))('%s', (_, subject) => {
    const draws = count(150, 400)
    const { host, program, calls, ends } = both(subject, draws)
    expect(program).toHaveLength(draws)
    expect(calls).toBeGreaterThan(1)
    for (const [k, a] of host.entries()) {
      const b = program[k]!
      expect([b.steps, b.depth, b.divergent], `draw ${k}`).toEqual([a.steps, a.depth, a.divergent])
      for (const name of ['acceptance', 'energy', 'logDensity'] as const) expect(near(a[name], b[name]), `${name} of draw ${k}`).toBe(true)
      for (const [i, v] of a.q.entries()) expect(near(v, b.q[i]!), `x[${i}] of draw ${k}: ${v}, ${b.q[i]}`).toBe(true)
    }
    // Both took as many numbers.
    expect(ends[0].stream.uniform()).toBe(ends[1].stream.uniform())
    const [z, y] = [new Float64Array(3), new Float64Array(3)]
    ends[0].stream.normals(z)
    ends[1].stream.normals(y)
    expect(z).toEqual(y)
  })
  it('are reached in all their states: turns, cuts, divergences, depths from 0 to 5 and more, calls that ran out of numbers', () => {
    const all = Object.entries(subjects).flatMap(([name, s]) => both(s, 100).program.map((d) => ({ ...d, name, maxDepth: s.maxDepth })))
    const depths = new Set(all.map((d) => d.depth))
    for (const d of [0, 1, 2, 3, 4, 5]) expect(depths).toContain(d)
    expect(all.filter((d) => d.divergent).length).toBeGreaterThan(20)
    expect(all.filter((d) => d.depth === d.maxDepth).length).toBeGreaterThan(20)
    const inside = all.filter((d) => !d.divergent && d.steps !== 2 ** d.depth - 1)
    expect(inside.length, 'subtrees that turned').toBeGreaterThan(20)
    // 511 points each: five draws take the numbers of a call.
    const long = both({ density: standard as never, start: [0, 0], step: 1e-5, maxDepth: 9 }, 12)
    expect(long.program.every((d) => d.steps === 511)).toBe(true)
    expect(long.calls).toBeGreaterThan(2)
  })
})

describe('long runs', () => {
  const target: Target = targetOf(((x: AnyExpr) => standard(x)) as never, [0, 0, 0], 'nuts')
  const run = (options: object, made?: { count: number }) => {
    const { maxDepth, ...read } = readOptions(nutsOptions, options, 'nuts')
    const make = () => {
      made!.count++
      return manyDraws(target, maxDepth, read.mass === 'dense')
    }
    return runChains<Tensor>(
      key(3),
      target,
      (c) => nutsTransitions(c, maxDepth),
      read,
      maxDepth,
      'nuts',
      made === undefined ? undefined : make,
    )
  }
  const column = (t: Tensor): readonly number[] => Array.from(t.data, Number)

  it.each([true, false])(
    'go over to the program, together %s: the draws of a run on the host, to rounding, and the statistics of both',
    (together) => {
      const made = { count: 0 }
      const options = { draws: 30_000, warmup: 200, chains: 3, together }
      const [long, host] = [run(options, made), run({ ...options, draws: 1200 })]
      expect(made.count).toBe(1)
      expect(long.draws.shape).toEqual([3, 30_000, 3])
      const [x, y] = [long.draws.data, host.draws.data]
      for (let c = 0; c < 3; c++)
        for (let i = 0; i < 1200 * 3; i++) expect(near(x[c * 90_000 + i]!, y[c * 3600 + i]!), `chain ${c}, number ${i}`).toBe(true)
      for (const name of ['depth', 'steps', 'energy', 'acceptance', 'logDensity', 'divergent'] as const) {
        const [a, b] = [column(long.stats[name] as Tensor), column(host.stats[name] as Tensor)]
        for (let c = 0; c < 3; c++)
          for (let k = 0; k < 1200; k++) expect(near(a[c * 30_000 + k]!, b[c * 1200 + k]!), `${name} of draw ${k} of chain ${c}`).toBe(true)
      }
      // The warm-up's gradients are in both counts.
      const drawn = (r: typeof long): number => column(r.stats.steps as Tensor).reduce((a, b) => a + b, 0)
      expect(long.stats.gradients - drawn(long)).toBe(host.stats.gradients - drawn(host))
      const squares = column(long.draws).reduce((s, v) => s + v * v, 0) / x.length
      expect(Math.abs(squares - 1)).toBeLessThan(0.02)
      expect(long.warnings).toEqual([])
    },
  )
  it('a run that ends before that many gradients stays on the host', () => {
    const made = { count: 0 }
    run({ draws: 2000, warmup: 100 }, made)
    expect(made.count).toBe(0)
  })
  it('a density of many operations stays on the host: chains that share a gradient read its data once', () => {
    const operations = (density: (x: AnyExpr) => AnyExpr, n: number): number => {
      const gradients = gradientsFor(targetOf(density as never, new Array(n).fill(0), 'nuts'), 4)
      gradients.dispose()
      return gradients.operations
    }
    const [few, many] = [operations(correlated(50, 0.9).logDensity, 50), operations(correlated(400, 0.9).logDensity, 400)]
    expect(few).toBeGreaterThan(2 * 50 * 50)
    expect(many).toBeGreaterThan(2 * 400 * 400)
    expect([worthAProgram(1e6, few), worthAProgram(1e6, many), worthAProgram(1e5, few)]).toEqual([true, false, false])
  })
  it('chains take turns, and onStep ends all of them', () => {
    const seen: ChainStep[] = []
    const { draws, stats } = nuts(key(1), standard as never, {
      start: [0, 0],
      draws: 60_000,
      warmup: 50,
      chains: 2,
      onStep: (info) => {
        seen.push(info)
        return !(info.chain === 1 && info.step === 1000)
      },
    })
    const steps = [0, 1].map((c) => seen.filter((s) => s.chain === c).map((s) => s.step))
    expect(steps[1]).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1))
    expect(steps[0]).toEqual(steps[0]!.map((_, i) => i + 1))
    expect(Math.abs(steps[0]!.length - 1000)).toBeLessThanOrEqual(64)
    expect((draws as unknown as Tensor).shape).toEqual([2, 950, 2])
    const whole = nuts(key(1), standard as never, { start: [0, 0], draws: 950, warmup: 50, chains: 2 })
    const [x, y] = [draws, whole.draws].map((d) => column(d as unknown as Tensor)) as [number[], number[]]
    for (const [i, v] of y.entries()) expect(near(v, x[i]!), `number ${i}: ${v}, ${x[i]}`).toBe(true)
    for (const name of ['depth', 'steps', 'energy', 'divergent'] as const)
      for (const [k, v] of column(whole.stats[name] as Tensor).entries())
        expect(near(v, Number(stats[name].data[k])), `${name} of draw ${k}`).toBe(true)
    const last = seen[seen.length - 1]!
    expect(last.logDensity).toBe(stats.logDensity.data[2 * 950 - 1])
    expect(last.stepSize).toBe(stats.stepSize.data[1])
  })
  it('an error of onStep comes through', () => {
    const onStep = ({ step }: ChainStep): void => {
      if (step === 500) throw new Error('enough')
    }
    expect(() => nuts(key(1), standard as never, { start: [0, 0], draws: 100_000, warmup: 10, onStep })).toThrow('enough')
  })
})

describe('vectors as trees', () => {
  it.each([1, 511, 512, 513, 1500])('%d of them, some hundreds a call', (rows) => {
    const target = targetOf((() => tensor(0)) as never, { a: 0, b: [[0, 0]], c: tensor([0], [1], 'f32') }, 'nuts')
    const vectors = Float64Array.from({ length: 4 * rows }, (_, i) => i / 2)
    const { a, b, c } = treesOf(target, vectors) as Record<'a' | 'b' | 'c', Tensor>
    const column = (k: number): number[] => Array.from({ length: rows }, (_, i) => vectors[4 * i + k]!)
    expect([a.shape, b.shape, c.shape, c.dtype]).toEqual([[1, rows], [1, rows, 1, 2], [1, rows, 1], 'f32'])
    expect(Array.from(a.data, Number)).toEqual(column(0))
    expect(Array.from(b.data, Number)).toEqual(Array.from({ length: 2 * rows }, (_, i) => vectors[4 * (i >> 1) + 1 + (i & 1)]!))
    expect(Array.from(c.data, Number)).toEqual(column(3))
  })
})

describe('a stream that is looked at', () => {
  it('gives the numbers that come, and takes them when it is told', () => {
    const [a, b] = [streamOf(key(9)), streamOf(key(9))]
    const [z, y] = [new Float64Array(3000), new Float64Array(3000)]
    const u = new Float64Array(1500)
    a.uniform()
    a.ahead(z, u)
    a.ahead(z, u)
    b.normals(y)
    expect(z).toEqual(y)
    b.uniform()
    expect(Array.from(u)).toEqual(Array.from({ length: 1500 }, () => b.uniform()))
    a.skip(2999, 1499)
    expect(a.uniform()).toBe(u[1499])
    const one = new Float64Array(1)
    a.normals(one)
    expect(one[0]).toBe(z[2999])
  })
})
