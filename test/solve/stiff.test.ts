/** Stiff equations by odeint's rodas5P: its orders, SciPy's numbers on known problems, derivatives, and what it shares with the other method. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { odeint, rodas5P } from '../../src/solve/index.js'
import { deep } from '../depth.js'
import { type E, near, onCpu, ops, run, value } from './run.js'

const { add, at, cos, exp, mul, neg, sin, square, stack, sub, sum, tensor } = ops as Record<string, (...xs: readonly unknown[]) => E>
type Options = NonNullable<Parameters<typeof odeint>[4]>
const solve = (f: unknown, y0: unknown, ts: unknown, params: unknown = {}, options: Options = {}): { ys: E; t: E; done: E; steps: E } =>
  odeint(f as never, y0 as never, ts as never, params as never, { method: rodas5P, ...options }) as never

const robertson = (_t: E, y: E): E => {
  const [a, b, c] = [0, 1, 2].map((i) => at!(y, i)) as [E, E, E]
  const [slow, back, fast] = [mul!(0.04, a), mul!(1e4, mul!(b, c)), mul!(3e7, square!(b))]
  return stack!([sub!(back, slow), sub!(sub!(slow, back), fast), fast])
}
const vanDerPol = (_t: E, y: E, mu: E): E => stack!([at!(y, 1), sub!(mul!(mu, mul!(sub!(1, square!(at!(y, 0))), at!(y, 1))), at!(y, 0))])
/** y' = -k (y - cos t) - sin t, whose solution from 1 is cos t. */
const prothero = (t: E, y: E, k: E): E => sub!(neg!(mul!(k, sub!(y, cos!(t)))), sin!(t))

/** A derivative, without types. */
const transformed = (by: unknown, f: unknown): ((...xs: readonly unknown[]) => unknown) => (by as (f: unknown) => never)(f)

describe('odeint with rodas5P', () => {
  it('is of order 5, with time in the equation, and its interpolant of order 4', () => {
    const errorsAt = (ends: readonly number[], substeps: number): readonly number[] => {
      const { ys } = onCpu(() => solve((t: E, y: E) => mul!(y, cos!(t)), 1, ends, {}, { substeps })) as { ys: number[] }
      return ys.map((y, i) => Math.abs(y - Math.exp(Math.sin(ends[i]!))))
    }
    const [coarse, fine] = [8, 16].map((n) => errorsAt([0, 2], n)[1]!) as [number, number]
    expect(Math.log2(coarse / fine)).toBeGreaterThan(4.7)
    // Inside one step from t = 0.3, by y' = y^2 cos t, y = 1 / (c - sin t): what is left of an interpolant of order 4 falls with the fifth power.
    const exact = (t: number): number => 1 / (2 + Math.sin(0.3) - Math.sin(t))
    const inside = (h: number): number => {
      const ts = [0.3, 0.3 + 0.3 * h, 0.3 + 0.7 * h, 0.3 + h]
      const { ys } = run(() => solve((t: E, y: E) => mul!(square!(y), cos!(t)), 0.5, ts, {}, { firstStep: h, rtol: 1, atol: 1 })) as {
        ys: number[]
      }
      return Math.max(...[1, 2].map((i) => Math.abs(ys[i]! - exact(ts[i]!))))
    }
    expect(Math.log2(inside(0.1) / inside(0.05))).toBeGreaterThan(4.5)
  })
  it('takes steps as long as the solution allows, not as its fastest part', () => {
    const stiff = value(solve(prothero, 1, [0, 10], 1e6, { rtol: 1e-6, atol: 1e-8, maxSteps: 200 })) as {
      ys: number[]
      steps: number
      done: boolean
    }
    near(stiff.ys[1], Math.cos(10), 1e-6)
    expect(stiff.done).toBe(true)
    expect(stiff.steps).toBeLessThan(120)
  })
  it("has SciPy's numbers: Robertson's reaction, van der Pol's equation, in f64 and f32", () => {
    // solve_ivp(f, ..., method='Radau', rtol=1e-13), SciPy 1.17.1, and for the last the test set of Mazzia and Magherini
    const got = onCpu(() => solve(robertson, [1, 0, 0], [0, 0.4, 40, 4e4], {}, { rtol: 1e-7, atol: 1e-11, maxSteps: 400 })) as {
      ys: number[][]
      done: boolean
    }
    expect(got.done).toBe(true)
    near(got.ys[1], [0.98517211386081, 3.38639537929e-5, 0.014794022185], 1e-6)
    near(got.ys[2], [0.7158270688, 9.185534764e-6, 0.2841637457], 1e-6)
    near(
      got.ys.map((y) => y[0]! + y[1]! + y[2]!),
      [1, 1, 1, 1],
      1e-10,
    )
    const single = onCpu(() => solve(robertson, tensor!([1, 0, 0], [3], 'f32'), [0, 0.4], {}, { maxSteps: 100 })) as { ys: number[][] }
    near(single.ys[1], [0.98517211386081, 3.38639537929e-5, 0.014794022185], 1e-4)
    if (!deep) return
    const long = onCpu(() => solve(vanDerPol, [2, 0], [0, 2000], 1000, { rtol: 1e-7, atol: 1e-10, maxSteps: 2000 })) as { ys: number[][] }
    near(long.ys[1], [1.706167732170483, -0.8928097010247975e-3], 1e-6)
  })
  it('solves trees, and equations whose Jacobian has few colours', () => {
    const heat = (_t: E, { u }: { u: E }): { u: E } => {
      const n = u.shape[0]!
      const padded = cd.pad(u as never, [[1, 1]] as never) as E
      const [left, right] = [
        cd.slice(padded as never, [0] as never, [n] as never),
        cd.slice(padded as never, [2] as never, [n + 2] as never),
      ]
      return { u: mul!((n + 1) ** 2, sub!(add!(left, right), mul!(2, u))) }
    }
    const n = 30
    const u0 = Array.from({ length: n }, (_, i) => Math.sin((Math.PI * (i + 1)) / (n + 1)))
    const rate = 4 * (n + 1) ** 2 * Math.sin(Math.PI / (2 * (n + 1))) ** 2
    const got = onCpu(() => solve(heat, { u: u0 }, [0, 0.1], {}, { rtol: 1e-8, atol: 1e-10, maxSteps: 100 })) as { ys: { u: number[][] } }
    near(
      got.ys.u[1],
      u0.map((x) => x * Math.exp(-rate * 0.1)),
      1e-7,
    )
  })
  it('has derivatives of the steps in every mode, and of the equation', () => {
    for (const adjoint of ['steps', 'adjoint'] as const) {
      const end = (k: E): E => at!(solve(prothero, tensor!(0.5), [0, 0.3], k, { adjoint, rtol: 1e-8, atol: 1e-10, maxSteps: 60 }).ys, 1)
      // y = cos t - 0.5 exp(-k t)
      const [want, k] = [0.15 * Math.exp(-6), 20]
      near(value(transformed(cd.grad, end)(k)), want, 1e-4 * want)
      near((value(transformed(cd.jvp, end)(k, 1)) as number[])[1], want, 1e-4 * want)
    }
    const end = (k: E): E => at!(solve(prothero, tensor!(0.5), [0, 0.3], k, { rtol: 1e-9, atol: 1e-11, maxSteps: 80 }).ys, 1)
    near(value(transformed(cd.hessian, end)(3)), -0.045 * Math.exp(-0.9), 1e-5)
    const c = checkGrad(((y0: E, mu: E) => sum!(exp!(mul!(0.1, solve(vanDerPol, y0, [0, 0.4], mu, { substeps: 4 }).ys)))) as never)(
      tensor!([2, -0.5]) as never,
      tensor!(3) as never,
    )
    expect(c._tag === 'Right' ? '' : report(c as never)).toBe('')
  })
})
