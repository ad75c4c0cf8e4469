/** Differential equations: closed forms, SciPy's numbers, orders of convergence, both derivatives, and what does not arrive. */

import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { odeint } from '../../src/solve/index.js'
import { count } from '../depth.js'
import { type E, message, near, onCpu, ops, run, value } from './run.js'

const { add, at, cos, div, exp, grad, hessian, log, mul, neg, sin, sqrt, square, sub, sum, tensor, vmap } = ops as Record<
  string,
  (...xs: readonly unknown[]) => E
>
type Path<Y> = { ys: Y; steps: number; t: number; done: boolean }
type Options = Parameters<typeof odeint>[4]
/** odeint without types: states of every shape. */
const solve = (
  f: (t: E, y: never, p: never) => unknown,
  y0: unknown,
  ts: unknown,
  params: unknown = {},
  options: Options = {},
): { ys: E; t: E; done: E } => odeint(f as never, y0 as never, ts as never, params as never, options) as never

const decay = (_t: E, y: E): E => neg!(y)
const oscillator = (_t: E, { x, v }: { x: E; v: E }): { x: E; v: E } => ({ x: v, v: neg!(x) })
const lotkaVolterra = (_t: E, y: E, a: E): E => {
  const [x, z] = [at!(y, 0), at!(y, 1)]
  return cd.stack([sub!(mul!(a, x), mul!(x, z)), sub!(mul!(x, z), mul!(3, z))])
}

describe('odeint', () => {
  it('follows closed forms, on both backends, to about the tolerance', () => {
    for (const run_ of [run, onCpu]) {
      const got = run_(() => solve(decay, 1, [0, 1, 2], {}, { maxSteps: 20 })) as Path<number[]>
      near(got.ys, [1, Math.exp(-1), Math.exp(-2)], 1e-6)
      expect([got.done, got.t]).toEqual([true, 2])
    }
    const ts = [0, 0.5, 1, 2, 3]
    const got = value(solve(oscillator as never, { x: 1, v: 0 }, ts, {}, { rtol: 1e-10, atol: 1e-12, maxSteps: 300 })) as Path<{
      x: number[]
      v: number[]
    }>
    near(got.ys.x, ts.map(Math.cos), 1e-8)
    near(
      got.ys.v,
      ts.map((t) => -Math.sin(t)),
      1e-8,
    )
  })
  it('goes back in time, stands still, and needs times', () => {
    const back = value(solve((t: E, y: E) => mul!(t, y), 1, [1, 0, -2])) as Path<number[]>
    near(back.ys, [1, Math.exp(-0.5), Math.exp(1.5)], 1e-5)
    expect(back.t).toBe(-2)
    expect(value(solve(decay, [1, 2], [3]))).toEqual({ ys: [[1, 2]], steps: 0, t: 3, done: true })
    const twice = value(solve(decay, 1, [0, 0, 1, 1])) as Path<number[]>
    near(twice.ys, [1, 1, Math.exp(-1), Math.exp(-1)], 1e-6)
    expect(message(() => solve(decay, 1, []))).toMatch(/^BadInput: odeint: the times are of shape \[0\]/)
    expect(value(solve(decay, tensor!([], [0]), [0, 1]))).toMatchObject({ ys: [[], []], done: true })
  })
  it("has SciPy's numbers: Lotka and Volterra's equations, van der Pol's", () => {
    // solve_ivp(f, ..., method='DOP853', rtol=1e-13, atol=1e-13), SciPy 1.17.1
    const lv = value(solve(lotkaVolterra as never, [10, 5], [0, 1, 2.5, 5], 1.5, { rtol: 1e-9, atol: 1e-11, maxSteps: 400 })) as Path<
      number[][]
    >
    near(lv.ys[1], [0.21853893223229867, 1.3765927010134467], 2e-7)
    near(lv.ys[2], [1.258146980932916, 0.03393584919260918], 2e-7)
    near(lv.ys[3], [0.26418677211866065, 3.134133161070143], 2e-7)
    // What the flow keeps: y - 1.5 log y + x - 3 log x
    const kept = ([x, y]: number[]): number => y! - 1.5 * Math.log(y!) + x! - 3 * Math.log(x!)
    for (const state of lv.ys) near(kept(state), kept([10, 5]), 1e-7)
    const stiff = (_t: E, y: E): E => {
      const [x, v] = [at!(y, 0), at!(y, 1)]
      return cd.stack([v, sub!(mul!(5, mul!(sub!(1, square!(x)), v)), x)])
    }
    const vdp = value(solve(stiff as never, [2, 0], [0, 1, 2, 4], {}, { rtol: 1e-8, atol: 1e-10, maxSteps: 300 })) as Path<number[][]>
    near(vdp.ys, [[2, 0], [1.869438853393128, -0.14823587537713706], [1.7092338721249818, -0.17438654047603094], [1.235281552193825, -0.36408688925424276]], 1e-7) // biome-ignore format: a row for each time
  })
  it('takes about as many steps as SciPy: the control of their length works', () => {
    const stiff = (_t: E, y: E): E => cd.stack([at!(y, 1), sub!(mul!(5, mul!(sub!(1, square!(at!(y, 0))), at!(y, 1))), at!(y, 0))])
    // solve_ivp(method='RK45', rtol=1e-6, atol=1e-9) takes 54 steps.
    const got = value(solve(stiff as never, [2, 0], [0, 4], {}, { rtol: 1e-6, atol: 1e-9 })) as Path<number[][]>
    expect(got.done).toBe(true)
    expect(got.steps).toBeGreaterThan(30)
    expect(got.steps).toBeLessThan(80)
  })
  it.each([
    ['rk4', 4],
    ['dopri5', 5],
  ] as const)('%s has order %d', (method, order) => {
    // y' = y cos t, y = exp(sin t)
    const error = (substeps: number): number => {
      const got = value(solve((t: E, y: E) => mul!(y, cos!(t)), 1, [0, 2], {}, { method, substeps })) as Path<number[]>
      expect(got.steps).toBe(substeps)
      return Math.abs(got.ys[1]! - Math.exp(Math.sin(2)))
    }
    const rates = [8, 16].map((n) => Math.log2(error(n) / error(2 * n)))
    for (const rate of rates) expect(Math.abs(rate - order)).toBeLessThan(0.35)
  })
  it('between the ends of a step is of order 4: its error over one step is of order 5', () => {
    // One step from 0 to h, read in the middle; the equation is as before.
    const error = (h: number): number => {
      const inside = [0.3, 0.55, 0.8].map((s) => s * h)
      const got = value(
        solve((t: E, y: E) => mul!(y, cos!(t)), 1, [0, ...inside, h], {}, { rtol: 1, atol: 1, firstStep: 10, maxSteps: 1 }),
      ) as Path<number[]>
      expect([got.steps, got.done]).toEqual([1, true])
      return Math.max(...inside.map((t, i) => Math.abs(got.ys[i + 1]! - Math.exp(Math.sin(t)))))
    }
    expect(Math.abs(Math.log2(error(0.2) / error(0.1)) - 5)).toBeLessThan(0.3)
  })
  it('the error follows the tolerance', () => {
    const errors = [1e-4, 1e-6, 1e-8].map((rtol) => {
      const got = value(solve((t: E, y: E) => mul!(y, cos!(t)), 1, [0, 5], {}, { rtol, atol: rtol * 1e-2, maxSteps: 200 })) as Path<
        number[]
      >
      return Math.abs(got.ys[1]! / Math.exp(Math.sin(5)) - 1)
    })
    for (const k of [0, 1]) expect(errors[k + 1]! / errors[k]!).toBeLessThan(0.1)
    expect(errors[2]!).toBeLessThan(1e-6)
  })
  it('keeps f32, and f64 times beside it', () => {
    const path = solve(decay, tensor!([1, 2], [2], 'f32'), tensor!([0, 1]), {})
    expect([path.ys.dtype, path.t.dtype, path.ys.shape]).toEqual(['f32', 'f32', [2, 2]])
    const got = value(path) as Path<number[][]>
    near(got.ys[1], [Math.exp(-1), 2 * Math.exp(-1)], 1e-4)
    expect(got.done).toBe(true)
  })
})

const kinds = ['steps', 'adjoint'] as const
describe('derivatives of odeint', () => {
  /** y' = k t y: y0 exp(k (t^2 - t0^2) / 2) at all times, with its derivatives by y0, ts and k. */
  const f =
    (options: Options) =>
    (y0: E, ts: E, k: E): E =>
      solve(((t: E, y: E, p: E) => mul!(mul!(p, t), y)) as never, y0, ts, k, options).ys
  const exact = (y0: E, ts: E, k: E): E => mul!(y0, exp!(mul!(k, mul!(0.5, sub!(square!(ts), square!(at!(ts, 0)))))))
  const args = [1.5, [0.2, 0.7, 1], 0.8] as const
  it.each(kinds)("'%s' are those of the solution, in y0, the times and the parameters, in both modes", (adjoint) => {
    for (const options of [
      { rtol: 1e-9, atol: 1e-11, maxSteps: 60 },
      { method: 'rk4', substeps: 30 },
    ] as const)
      for (const mode of ['forward', 'reverse']) {
        const [got, want] = [f({ ...options, adjoint }), exact].map((g) => {
          const scalar = (y0: E, ts: E, k: E) => sum!(mul!([1, 2, 3], g(y0, ts, k)))
          return run(grad!(scalar as never, { wrt: [0, 1, 2], mode }), ...args) as unknown as Record<string, never>
        })
        for (const [i, tolerance] of [[0, 1e-7], [1, 1e-6], [2, 1e-7]] as const) near(got![i], want![i], tolerance) // biome-ignore format: a table
      }
  })
  it.each(kinds)("'%s': second derivatives", (adjoint) => {
    const second = (g: (y0: E, ts: E, k: E) => E) =>
      run(
        hessian!((k: E) => sum!(mul!([1, 2, 3], g(1.5 as never, tensor!(args[1]), k))) as never),
        0.8,
      )
    near(second(f({ adjoint, rtol: 1e-8, atol: 1e-10, maxSteps: 60 })), second(exact), 1e-5)
  })
  it("'steps' are those of the steps that were taken, by differences", () => {
    const g = (y0: E, k: E) => solve(lotkaVolterra as never, y0, [0, 0.2, 0.3], k, { maxSteps: count(2, 6), rtol: 1e-3, firstStep: 0.1 }).ys
    expect(report(checkGrad(g, { order: 1, checks: { backend: false } })([2, 1], 1.5))).toMatch(/^ok/)
    const even = (y0: E, k: E) => solve(lotkaVolterra as never, y0, [0, 0.2, 0.5], k, { substeps: 2, method: 'rk4' }).ys
    expect(report(checkGrad(even, { order: count(1, 2) as 1 | 2 })([2, 1], 1.5))).toMatch(/^ok/)
  })
  it.each(kinds)("'%s' have SciPy's sensitivities", (adjoint) => {
    const g = (a: E) =>
      at!(at!(solve(lotkaVolterra as never, [10, 5], [0, 2], a, { adjoint, rtol: 1e-6, atol: 1e-8, maxSteps: 60 }).ys, 1), 0)
    // solve_ivp of the system with d/da beside it, DOP853, rtol=atol=1e-13: x(2), dx(2)/da
    near(run(g, 1.5), 0.6119797936073306, 1e-4)
    for (const mode of ['forward', 'reverse']) near(run(grad!(g as never, { mode }), 1.5), 0.8252426912781279, 1e-4)
  })
  it('the adjoint is the same on the CPU backend, over trees with integers', () => {
    const g = (p: E) => {
      const field = (_t: E, { x, v }: { x: E; v: E }, q: { k: E; n: E }) => ({ x: v, v: neg!(mul!(mul!(q.k, q.n), x)) })
      const { ys } = solve(field as never, { x: p, v: [0, 1] }, [0, 1], { k: sum!(p), n: tensor!(1, [], 'i32') }, { adjoint: 'adjoint', method: 'rk4', substeps: 8 }) // biome-ignore format: one call
      return sum!((ys as unknown as { x: E }).x)
    }
    const [a, b] = [run(grad!(g), [1, 0.5]), onCpu(grad!(g), [1, 0.5])]
    near(a, b, 1e-12)
    // x = p cos(w t) + v0 sin(w t) / w with w^2 = p1 + p2, of which the sum at 0 and 1.
    const closed = (p: E) => {
      const w = sqrt!(sum!(p))
      return sum!(add!(p, add!(mul!(p, cos!(w)), mul!([0, 1], div!(sin!(w), w)))))
    }
    near(a, run(grad!(closed as never), [1, 0.5]), 1e-4)
  })
  it('vmap: each with its own steps; and its derivative', () => {
    for (const adjoint of kinds) {
      const g = (k: E) => sum!(solve(((_t: E, y: E, p: E) => mul!(p, y)) as never, 1, [0, 1], k, { maxSteps: 60, rtol: 1e-8, adjoint }).ys)
      near(
        run(vmap!(g as never), [-1, 0.1, 2]),
        [-1, 0.1, 2].map((k) => 1 + Math.exp(k)),
        1e-6,
      )
      near(run(vmap!(grad!(g as never) as never), [-1, 0.1, 2]), [-1, 0.1, 2].map(Math.exp), 1e-6)
    }
  })
})

describe('what does not arrive', () => {
  it('too few steps: the last state, the time reached, done is false', () => {
    const got = value(solve(oscillator as never, { x: 1, v: 0 }, [0, 0.001, 9], {}, { maxSteps: 4 })) as Path<{ x: number[] }>
    expect([got.done, got.steps]).toEqual([false, 4])
    expect(got.t).toBeGreaterThan(0.001)
    expect(got.t).toBeLessThan(9)
    near(got.ys.x, [1, Math.cos(0.001), Math.cos(got.t)], 1e-6)
  })
  it('NaN in f, at once or on the way, and a pole', () => {
    const atOnce = value(solve(((_t: E, y: E) => log!(y)) as never, -1, [0, 1])) as Path<number[]>
    expect(atOnce).toEqual({ ys: [-1, -1], steps: 0, t: 0, done: false })
    // y' = sqrt(1 - t) is no number beyond 1.
    const onTheWay = value(solve((t: E) => sqrt!(sub!(1, t)), 0, [0, 0.5, 2], {}, { maxSteps: 60 })) as Path<number[]>
    expect(onTheWay.done).toBe(false)
    expect(onTheWay.t).toBeLessThanOrEqual(1)
    near(onTheWay.ys[1], (2 / 3) * (1 - 0.5 ** 1.5), 1e-5)
    near(onTheWay.ys[2], 2 / 3, 1e-3)
    // y' = y^2 from 1 is 1 / (1 - t).
    const pole = value(solve(((_t: E, y: E) => square!(y)) as never, 1, [0, 0.5, 1.5], {}, { maxSteps: 80 })) as Path<number[]>
    expect(pole.done).toBe(false)
    near(pole.ys[1], 2, 1e-5)
    expect(pole.t).toBeLessThan(1.0001)
    const even = value(solve(((_t: E, y: E) => log!(y)) as never, -1, [0, 1], {}, { substeps: 2 })) as Path<number[]>
    expect(even.done).toBe(false)
  })
  it('a step into NaN that is not taken has no say in a derivative', () => {
    const g = (y0: E) => at!(solve((t: E, y: E) => mul!(y, sqrt!(sub!(1, t))), y0, [0, 0.5], {}, { firstStep: 3, maxSteps: 15 }).ys, 1)
    const got = value(solve((t: E, y: E) => mul!(y, sqrt!(sub!(1, t))), 1, [0, 0.5, 0.999], {}, { firstStep: 3, maxSteps: 30 })) as Path<
      number[]
    >
    expect(got.done).toBe(true)
    for (const mode of ['forward', 'reverse']) near(run(grad!(g as never, { mode }), 1), Math.exp((2 / 3) * (1 - 0.5 ** 1.5)), 1e-5)
  })
  it("NaN where the adjoint's own equation does not arrive", () => {
    // y = 1 is easy to follow, what a change of y0 does to it is not; and of too few steps for y there is none.
    const rest = (_t: E, y: E): E => mul!(-50, sub!(y, 1))
    const path = (y0: E) => solve(rest, y0, [0, 3], {}, { maxSteps: 12, rtol: 1e-6, adjoint: 'adjoint' })
    expect((value(path(tensor!([1, 1]))) as Path<number[][]>).done).toBe(true)
    for (const mode of ['forward', 'reverse'])
      expect(run(grad!(((y0: E) => sum!(path(y0).ys)) as never, { mode }), [1, 1])).toEqual([Number.NaN, Number.NaN])
    const few = (y0: E) => sum!(solve(decay, y0, [0, 3], {}, { maxSteps: 2, adjoint: 'adjoint' }).ys)
    for (const mode of ['forward', 'reverse']) expect(run(grad!(few as never, { mode }), [1, 2])).toEqual([Number.NaN, Number.NaN])
  })
  it('known times that turn are refused, with the place', () => {
    const at = (ts: unknown): string => message(() => solve(decay, 1, ts))
    expect(at([0, 2, 1])).toMatch(/^BadInput: odeint: the times turn at place 2: 1 comes after 0 and 2\.[\s\S]*go up, or down/)
    expect(at(tensor!([0, 0, -1, -2, -1.5, 3]))).toMatch(/turn at place 4: -1\.5 comes after -1 and -2\./)
    expect(at([0, 1, Number.NaN, 3])).toMatch(/turn at place 2: NaN comes after 0 and 1\./)
    for (const method of ['dopri5', 'rk4'] as const)
      expect(message(() => solve(decay, 1, [3, 2, 4], {}, { method }))).toMatch(/turn at place 2/)
  })
  it('computed times that turn: the rows from there on are NaN, those before are right', () => {
    const given = (ts: number[], options: Options = {}): Path<number[]> => onCpu((at: E) => solve(decay, 1, at, {}, options), ts)
    const cases: readonly (readonly [number[], number])[] = [
      [[0, 2, 1], 2],
      [[0, 2, 1, 5], 2],
      [[0, 0, -1, -1, -2, -1.5, -3], 5],
      [[0, 1, Number.NaN, 2], 2],
      [[0, 0, 1, 1, 3], 5],
      [[1, 1], 2],
    ]
    for (const options of [{}, { adjoint: 'adjoint' }, { method: 'rk4', substeps: 40 }] as const)
      for (const [ts, good] of cases) {
        const { ys, done, t } = given(ts, options)
        near(ys.slice(0, good), ts.slice(0, good).map((t) => Math.exp(ts[0]! - t)), 1e-5) // biome-ignore format: one row
        expect(ys.slice(good).every(Number.isNaN)).toBe(true)
        expect([done, t]).toEqual([good === ts.length, ts[good - 1]])
      }
    // What is there has its derivative, of times too.
    const first = (ts: E): E => at!(solve(decay, 1, ts).ys, 1)
    for (const mode of ['forward', 'reverse']) near(run(grad!(first as never, { mode }), [0, 2, 1]), [Math.exp(-2), -Math.exp(-2), 0], 1e-5)
  })
  it('raises what fits no shape', () => {
    expect(message(() => solve(((_t: E, y: E) => sum!(y)) as never, [1, 2], [0, 1]))).toMatch(
      /^odeint: f\(t, y\) is f64 \[\] where y0 is f64 \[2\]/,
    )
    expect(message(() => solve(decay, 1, 3))).toMatch(/^BadInput: odeint/)
    expect(message(() => solve(decay, 1, [[0, 1]]))).toMatch(/^BadInput: odeint/)
    expect(message(() => solve(decay, tensor!([1], [1], 'i32'), [0, 1]))).toMatch(/^odeint: y0 is i32/)
    expect(message(() => solve(3 as never, 1, [0, 1]))).toMatch(/^BadInput: odeint/)
    for (const options of [
      { method: 'euler' },
      { rtol: 0 },
      { atol: -1 },
      { maxSteps: 0 },
      { substeps: 0 },
      { firstStep: 0 },
      { adjoint: true },
      { dt: 1 },
    ])
      expect(message(() => solve(decay, 1, [0, 1], {}, options as never))).toMatch(/^BadInput: odeint/)
  })
})
