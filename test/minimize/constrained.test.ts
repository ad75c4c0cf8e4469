/** Problems of Hock and Schittkowski: the published minima, and how often SciPy's SLSQP evaluates. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type AnyExpr, add, evaluate, grad, mul, sub, tensor } from '../../src/index.js'
import { minimize } from '../../src/minimize/index.js'
import { boundsOf, type HsProblem, hs, hsFunctions } from './hs.js'

const solve = (problem: HsProblem, tolerance?: number) => {
  const { f, equal, atMost } = hsFunctions[problem.number]!
  const constraints = equal === undefined && atMost === undefined ? undefined : { equal, atMost }
  return minimize(f as never, [...problem.start], { tolerance, bounds: boundsOf(problem), constraints: constraints as never })
}
const number = (x: AnyExpr): number => (evaluate(x) as unknown as { data: Float64Array }).data[0]!
/** From its start, problem 2 leads to a local minimum of the book's; SLSQP finds it too. */
const minimumOf = ({ number: which, minimum, slsqp }: HsProblem): number => (which === 2 ? slsqp.value : minimum)

describe('Hock and Schittkowski', () => {
  let solved: { problem: HsProblem; found: ReturnType<typeof solve> }[] = []
  beforeAll(() => {
    solved = hs.map((problem) => ({ problem, found: solve(problem) }))
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
      const minimum = minimumOf(problem)
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
      const found = solve(hs.find((p) => p.number === which)!, 1e-10)
      expect(found.violation, String(which)).toBeLessThanOrEqual(1.1e-10)
      expect(found.converged, String(which)).toBe(true)
    }
  })
  it('evaluates at most 6 times as often as SLSQP where SLSQP succeeds', () => {
    const both = solved.filter(({ problem }) => problem.slsqp.success)
    const ours = both.reduce((total, { found }) => total + found.evaluations.gradients, 0)
    expect(ours).toBeLessThan(6 * both.reduce((total, { problem }) => total + problem.slsqp.gradients, 0))
  })
  it('says that constraints exclude each other', () => {
    const { reason, converged, violation } = minimize((x: AnyExpr) => mul(x, x) as never, 1 as never, {
      constraints: { equal: ((x: AnyExpr) => [x, sub(x, 1)]) as never },
    })
    expect({ reason, converged }).toEqual({ reason: 'infeasible', converged: false })
    expect(violation).toBeGreaterThan(0.4)
  })
})
