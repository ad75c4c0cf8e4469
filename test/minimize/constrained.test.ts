/** Problems of Hock and Schittkowski: the published minima, and how often SciPy's SLSQP evaluates. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type AnyExpr, add, at, evaluate, grad, log, mul, pow, sin, square, sub, sum, type Tensor, tensor } from '../../src/index.js'
import { choleskyOf } from '../../src/minimize/cholesky.js'
import { minimize } from '../../src/minimize/index.js'
import { solveQuadratic } from '../../src/minimize/quadratic.js'
import { dot } from '../../src/minimize/result.js'
import { boundsOf, type HsProblem, hs, hsFunctions } from './hs.js'

type Method = 'sqp' | 'lbfgs'
const solve = (problem: HsProblem, method?: Method, tolerance?: number) => {
  const { f, equal, atMost } = hsFunctions[problem.number]!
  const constraints = equal === undefined && atMost === undefined ? undefined : { equal, atMost }
  return minimize(f as never, [...problem.start], { method, tolerance, bounds: boundsOf(problem), constraints: constraints as never })
}
const numbers = (x: unknown): number[] => Array.from((evaluate(x as AnyExpr) as unknown as { data: Float64Array }).data)
const number = (x: AnyExpr): number => (evaluate(x) as unknown as { data: Float64Array }).data[0]!
/** From its start, problem 2 may lead to a local minimum of the book's; SLSQP and L-BFGS-B find that. */
const minimumOf = ({ number: which, minimum, slsqp }: HsProblem, method: Method): number =>
  which === 2 && method === 'lbfgs' ? slsqp.value : minimum

describe.each<readonly [Method, number]>([
  ['sqp', 0.95],
  ['lbfgs', 6],
])('Hock and Schittkowski, %s', (method, most) => {
  let solved: { problem: HsProblem; found: ReturnType<typeof solve> }[] = []
  beforeAll(() => {
    solved = hs.map((problem) => ({ problem, found: solve(problem, method) }))
    console.log(
      solved
        .map(
          ({ problem: p, found }) =>
            `${p.number}: ${found.value} (${p.minimum}), missed by ${found.violation}, ${found.reason}, ${found.evaluations.gradients} gradients (SLSQP ${p.slsqp.gradients})`,
        )
        .join('\n'),
    )
  })
  it('has the same functions as SciPy was given', () => {
    for (const { number: which, start, f0, equal0, atMost0 } of hs) {
      const { f, equal, atMost } = hsFunctions[which]!
      const x = tensor([...start]) as unknown as AnyExpr
      expect([f(x), ...(equal?.(x) ?? []), ...(atMost?.(x) ?? [])].map(number), String(which)).toEqual(
        [f0, ...equal0, ...atMost0].map((v) => expect.closeTo(v, 12)),
      )
    }
  })
  it('finds the published minima to 1e-8', () => {
    const wrong = solved.filter(({ problem, found }) => {
      const minimum = minimumOf(problem, method)
      return !(Math.abs(found.value - minimum) <= 1e-8 * Math.max(1, Math.abs(minimum)))
    })
    expect(wrong.map(({ problem }) => problem.number)).toEqual([])
  })
  it('meets the constraints to 1e-8, and converges', () => {
    for (const { problem, found } of solved) {
      expect(found.converged, String(problem.number)).toBe(true)
      expect(found.violation, String(problem.number)).toBeLessThanOrEqual(1.1e-8)
      const x = (found.x as unknown as { data: Float64Array }).data
      x.forEach((v, i) => {
        expect(v).toBeGreaterThanOrEqual(problem.lower?.[i] ?? Number.NEGATIVE_INFINITY)
        expect(v).toBeLessThanOrEqual(problem.upper?.[i] ?? Number.POSITIVE_INFINITY)
      })
    }
  })
  it('gives the multipliers of the conditions of Karush, Kuhn and Tucker', () => {
    for (const { problem, found } of solved) {
      const { f, equal, atMost } = hsFunctions[problem.number]!
      if (problem.lower !== null || (equal === undefined && atMost === undefined)) continue
      const { multipliers } = found
      const lagrangian = (x: AnyExpr): AnyExpr =>
        [
          ...(equal?.(x) ?? []).map((h, i) => mul(multipliers!.equal[i]!, h)),
          ...(atMost?.(x) ?? []).map((g, i) => mul(multipliers!.atMost[i]!, g)),
        ].reduce((a, b) => add(a, b) as AnyExpr, f(x)) as AnyExpr
      const g = evaluate(grad(lagrangian as never)(found.x as never)) as unknown as { data: Float64Array }
      for (const v of g.data) expect(Math.abs(v), String(problem.number)).toBeLessThan(1e-6 * Math.max(1, Math.abs(problem.minimum)))
      const x = found.x as unknown as AnyExpr
      ;(atMost?.(x) ?? []).forEach((inequality, i) => {
        expect(multipliers!.atMost[i]!).toBeGreaterThanOrEqual(0)
        expect(Math.abs(multipliers!.atMost[i]! * number(inequality)), String(problem.number)).toBeLessThan(1e-6)
      })
    }
  })
  it('meets a tighter tolerance where it is asked for one', () => {
    for (const which of [7, 28, 39, 42, 43, 71]) {
      const found = solve(hs.find((p) => p.number === which)!, method, 1e-10)
      expect(found.violation, String(which)).toBeLessThanOrEqual(1.1e-10)
      expect(found.converged, String(which)).toBe(true)
    }
  })
  it(`takes at most ${most} times as many gradients as SLSQP where SLSQP succeeds`, () => {
    const both = solved.filter(({ problem }) => problem.slsqp.success)
    const ours = both.reduce((total, { found }) => total + found.evaluations.gradients, 0)
    expect(ours).toBeLessThan(most * both.reduce((total, { problem }) => total + problem.slsqp.gradients, 0))
  })
})

describe('constraints', () => {
  const both = ['sqp', 'lbfgs'] as const
  it('are met by sqp unless another method is named', () => {
    const problem = hs.find((p) => p.number === 43)!
    expect(solve(problem).evaluations).toEqual(solve(problem, 'sqp').evaluations)
    expect(solve(problem).evaluations).not.toEqual(solve(problem, 'lbfgs').evaluations)
  })
  it.each(both)('that exclude each other: infeasible, %s', (method) => {
    for (const constraints of [
      { equal: (x: AnyExpr) => [x, sub(x, 1)] },
      { atMost: (x: AnyExpr) => [sub(x, 1), sub(2, x)] },
      { atMost: (x: AnyExpr) => add(mul(x, x), 1) },
    ]) {
      const found = minimize((x: AnyExpr) => mul(x, x) as never, 1 as never, { method, constraints: constraints as never })
      expect([found.reason, found.converged]).toEqual(['infeasible', false])
      expect(found.violation).toBeGreaterThan(0.4)
    }
  })
  it.each([
    ['1 + x^2 = 0', { equal: (x: AnyExpr) => add(1, square(at(x, 0))) }, (x: number[]) => x[0]!],
    ['the same times 1e8', { equal: (x: AnyExpr) => mul(1e8, add(1, square(at(x, 0)))) }, (x: number[]) => x[0]!],
    ['sin x = 2', { equal: (x: AnyExpr) => sub(sin(at(x, 0)), 2) }, (x: number[]) => Math.cos(x[0]!)],
    ['1 + |x|^2 <= 0', { atMost: (x: AnyExpr) => add(1, sum(square(x) as AnyExpr)) }, (x: number[]) => Math.hypot(...x)],
    ['1e-3 + x^4 = 0', { equal: (x: AnyExpr) => add(1e-3, square(square(at(x, 0)))) }, (x: number[]) => 0.01 * x[0]!],
  ] as const)('that nothing meets end where they are missed least: %s', (_, constraints, distance) => {
    for (const f of [(x: AnyExpr) => sum(square(sub(x, 3)) as AnyExpr), (x: AnyExpr) => sum(square(x) as AnyExpr)])
      for (const x0 of [
        [1, 2],
        [-3, 0.5],
      ]) {
        const { reason, converged, x, steps } = minimize(f as never, x0 as never, { constraints: constraints as never })
        expect([reason, converged]).toEqual(['infeasible', false])
        expect(Math.abs(distance(Array.from((x as unknown as Tensor).data, Number)))).toBeLessThan(1e-4)
        expect(steps).toBeLessThan(100)
      }
  })
  it.each([1e-9, 1e-14])('in parts of %d have a solution as others', (scale) => {
    const constraints = { equal: (x: AnyExpr) => mul(scale, sub(sum(square(x) as AnyExpr), 1)) }
    const { reason, x } = minimize((x: AnyExpr) => sum(square(sub(x, 3)) as AnyExpr) as never, [1, 2] as never, {
      constraints: constraints as never,
    })
    expect(reason).toBe('gradient')
    for (const v of (x as unknown as Tensor).data) expect(Math.abs(Number(v) - Math.SQRT1_2)).toBeLessThan(1e-6)
  })
  it.each(both)('that bounds exclude: infeasible, %s', (method) => {
    const found = minimize((x: AnyExpr) => sum(mul(x, x)) as never, [0.5, 0.5] as never, {
      method,
      bounds: { lower: 0, upper: 1 } as never,
      constraints: { equal: ((x: AnyExpr) => sub(sum(x), 3)) as never },
    })
    expect([found.reason, found.converged]).toEqual(['infeasible', false])
    expect(found.violation).toBeCloseTo(1, 6)
  })
  it('that follow from each other', () => {
    // x + y = 2 three times, one of them doubled; and an inequality that is met with equality.
    const found = minimize((x: AnyExpr) => sum(square(sub(x, [3, 0]))) as never, [0, 0] as never, {
      constraints: {
        equal: ((x: AnyExpr) => [sub(sum(x), 2), sub(sum(x), 2), mul(2, sub(sum(x), 2))]) as never,
        atMost: ((x: AnyExpr) => [sub(sum(x), 2), sub(at(x, 0), 10)]) as never,
      },
    })
    expect(found.reason).toBe('gradient')
    expect(numbers(found.x)).toEqual([expect.closeTo(2.5, 8), expect.closeTo(-0.5, 8)])
  })
  it('whose functions are not finite at a full step', () => {
    // log is NaN below 0, where the first model leads.
    const found = minimize((x: AnyExpr) => sub(mul(4, sum(x)), sum(log(x) as AnyExpr)) as never, [5, 3] as never, {
      constraints: { atMost: ((x: AnyExpr) => sub(sum(mul(x, log(x) as AnyExpr) as AnyExpr), 20)) as never },
    })
    expect(found.reason).toBe('gradient')
    expect(numbers(found.x)).toEqual([expect.closeTo(0.25, 7), expect.closeTo(0.25, 7)])
  })
  it('that are not differentiable at x0: an error', () => {
    const run = () =>
      minimize((x: AnyExpr) => mul(x, x) as never, 0 as never, { constraints: { atMost: ((x: AnyExpr) => sub(pow(x, 0.5), 1)) as never } })
    expect(run).toThrow(/the Jacobian of the constraints at x0 has (Infinity|NaN)/)
  })
  it('of trees, with f32 leaves', () => {
    const found = minimize(
      ({ a, b }: { a: AnyExpr; b: AnyExpr }) => add(square(sub(a, 3)), sum(square(b) as AnyExpr)) as never,
      {
        a: tensor(0, [], 'f32'),
        b: [1, 1],
      } as never,
      { constraints: { equal: (({ a, b }: { a: AnyExpr; b: AnyExpr }) => sub(add(a, sum(b)), 1)) as never } },
    )
    const { a, b } = found.x as unknown as Record<'a' | 'b', AnyExpr>
    expect(numbers(a)[0]).toBeCloseTo(7 / 3, 4)
    expect(numbers(b)).toEqual([expect.closeTo(-2 / 3, 4), expect.closeTo(-2 / 3, 4)])
  })
  it('end where onStep or maxSteps says', () => {
    const problem = hs.find((p) => p.number === 43)!
    const { f, atMost } = hsFunctions[43]!
    const run = (options: object) =>
      minimize(f as never, [...problem.start] as never, { constraints: { atMost: atMost as never }, ...options })
    expect([run({ maxSteps: 2 }).steps, run({ maxSteps: 2 }).reason]).toEqual([2, 'maxSteps'])
    expect(run({ onStep: ({ step }: { step: number }) => step < 3 }).reason).toBe('stopped')
    expect(run({}).history.length).toBe(run({}).steps + 1)
  })
  it('sqp within bounds alone, and without any', () => {
    const bowl = (x: AnyExpr) => sum(square(sub(x, [1, 2]) as AnyExpr)) as never
    expect(numbers(minimize(bowl, [0, 0] as never, { method: 'sqp', bounds: { upper: 1.5 } as never }).x)).toEqual([
      expect.closeTo(1, 8),
      1.5,
    ])
    const free = minimize(bowl, [0, 0] as never, { method: 'sqp' })
    expect([free.multipliers, free.violation, free.reason]).toEqual([null, 0, 'gradient'])
  })
})

describe('quadratic programs', () => {
  /** Numbers from -1 to 1 that a seed decides. */
  const drawn = (seed: number) => {
    let s = seed
    return () => {
      s = (Math.imul(s, 1664525) + 1013904223) | 0
      return s / 2 ** 31
    }
  }
  it('of random matrices meet the conditions of Karush, Kuhn and Tucker', () => {
    const counts = { active: 0, dependent: 0, bounded: 0 }
    for (let seed = 1; seed <= 300; seed++) {
      const next = drawn(seed)
      const n = 1 + (seed % 7)
      const equations = seed % 3 === 0 ? Math.floor(n / 2) : 0
      const rows = equations + (seed % 9)
      const root = Float64Array.from({ length: n * n }, next)
      const q = Float64Array.from({ length: n * n }, (_, k) => {
        const [i, j] = [Math.floor(k / n), k % n]
        let s = i === j ? 0.1 : 0
        for (let t = 0; t < n; t++) s += root[i * n + t]! * root[j * n + t]!
        return s
      })
      // A point that meets all says that there is a minimum.
      const inside = Float64Array.from({ length: n }, next)
      const dependent = seed % 5 === 0 && equations > 1
      const normals: Float64Array[] = []
      for (let i = 0; i < rows; i++)
        normals.push(i === 1 && dependent ? normals[0]!.map((v) => 2 * v) : Float64Array.from({ length: n }, next))
      const offsets = Float64Array.from(normals, (a, i) => dot(a, inside) - (i < equations ? 0 : 0.3 * Math.abs(next())))
      const bounded = seed % 2 === 0
      const lower = inside.map(() => (bounded ? -1 : Number.NEGATIVE_INFINITY))
      const upper = inside.map(() => (bounded ? 1 : Number.POSITIVE_INFINITY))
      const gradient = Float64Array.from({ length: n }, () => 3 * next())
      const found = solveQuadratic({ factor: choleskyOf(q, n)!, gradient, normals, offsets, equations, lower, upper })!
      const { d, multipliers } = found
      normals.forEach((a, i) => {
        const slack = dot(a, d) - offsets[i]!
        if (i < equations) expect(Math.abs(slack)).toBeLessThan(1e-10)
        else {
          expect(slack).toBeGreaterThan(-1e-10)
          expect(multipliers[i]!).toBeGreaterThanOrEqual(0)
          expect(Math.abs(slack * multipliers[i]!)).toBeLessThan(1e-8)
          if (multipliers[i]! > 0) counts.active++
        }
      })
      for (let k = 0; k < n; k++) {
        let rest = gradient[k]!
        for (let j = 0; j < n; j++) rest += q[k * n + j]! * d[j]!
        normals.forEach((a, i) => {
          rest -= multipliers[i]! * a[k]!
        })
        // What is left is the multiplier of a bound that holds with equality.
        expect(d[k]!).toBeGreaterThan(lower[k]! - 1e-10)
        expect(d[k]!).toBeLessThan(upper[k]! + 1e-10)
        const at = d[k]! < lower[k]! + 1e-9 ? -1 : d[k]! > upper[k]! - 1e-9 ? 1 : 0
        if (at !== 0 && Math.abs(rest) > 1e-7) counts.bounded++
        if (at === 0) expect(Math.abs(rest)).toBeLessThan(1e-7)
        else expect(at * rest).toBeLessThan(1e-7)
      }
      if (dependent) counts.dependent++
    }
    expect(counts.active).toBeGreaterThan(200)
    expect(counts.bounded).toBeGreaterThan(50)
    expect(counts.dependent).toBeGreaterThan(5)
  })
  it('that nothing meets are undefined', () => {
    const free = { lower: Float64Array.of(-9, -9), upper: Float64Array.of(9, 9) }
    const one = { factor: Float64Array.of(1, 0, 0, 1), gradient: Float64Array.of(1, 2), ...free }
    const [a, b] = [Float64Array.of(1, 1), Float64Array.of(-1, -1)]
    expect(solveQuadratic({ ...one, normals: [a, b], offsets: Float64Array.of(1, 0), equations: 0 })).toBe(undefined)
    expect(solveQuadratic({ ...one, normals: [a, a], offsets: Float64Array.of(1, 2), equations: 2 })).toBe(undefined)
    expect(solveQuadratic({ ...one, normals: [a], offsets: Float64Array.of(20), equations: 0 })).toBe(undefined)
  })
})
