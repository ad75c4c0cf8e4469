/** Roots and fixed points: known solutions, derivatives of what the equation defines, and what is not found. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { fixedPoint, root } from '../../src/solve/index.js'
import { type E, message, near, onCpu, ops, run, value } from './run.js'

const { add, cos, div, exp, grad, log, matmul, mul, sqrt, square, stopGradient, sub, sum, tanh, tensor, vmap } = ops as Record<
  string,
  (...xs: readonly unknown[]) => E
>
type Found<X> = { x: X; steps: number; residual: number; converged: boolean }

describe('root', () => {
  const squareRoot = (x: E, a: E): E => sub!(mul!(x, x), a)
  it('finds a square root in a few steps, on both backends', () => {
    for (const at of [run, onCpu]) {
      const got = at(() => root(squareRoot, tensor!(1) as never, tensor!(2) as never)) as Found<number>
      near(got.x, Math.SQRT2, 1e-11)
      expect([got.converged, got.steps < 7, got.residual <= 1e-10]).toEqual([true, true, true])
    }
  })
  it('converges quadratically near the root', () => {
    const errors = [1, 2, 3].map((maxSteps) => {
      const got = value(root(squareRoot, 1.5 as never, tensor!(2) as never, { maxSteps, tolerance: 1e-15 })) as Found<number>
      return Math.abs(got.x - Math.SQRT2)
    })
    // e' = e^2 / (2 x)
    for (const k of [0, 1]) expect(errors[k + 1]! / (errors[k]! ** 2 / (2 * Math.SQRT2))).toBeCloseTo(1, 1)
  })
  it('solves systems over trees, and shortens steps that lead away', () => {
    // On the circle of radius sqrt 5, where u = 2 v.
    const circle = ({ u, v }: { u: E; v: E }, r: E) => ({ u: sub!(add!(square!(u), square!(v)), r), v: sub!(u, mul!(2, v)) })
    const got = value(root(circle as never, { u: 1, v: 3 } as never, 5 as never)) as Found<{ u: number; v: number }>
    near([got.x.u, got.x.v], [2, 1], 1e-10)
    // Newton's method alone diverges for arctan beyond 1.39.
    const far = value(root(((x: E) => ops.atan!(x)) as never, 3 as never)) as Found<number>
    expect(far.converged).toBe(true)
    near(far.x, 0, 1e-9)
  })
  it('has the derivatives of what the equation defines', () => {
    const f = (a: E) => root(squareRoot as never, tensor!(1) as never, a as never, { maxSteps: 8 }).x as E
    // Beside the point eight steps may not reach the root, as at 0.
    expect(report(checkGrad(f, { checks: { beside: false } })(2))).toMatch(/^ok/)
    near(run(grad!(grad!(grad!(f) as never) as never), 2), 3 / 8 / 2 ** 2.5, 1e-8)
    const system = (p: E) =>
      root(
        ((x: E, q: { m: E; b: E }) => sub!(add!(x, mul!(0.3, tanh!(matmul!(q.m, x)))), q.b)) as never,
        [0, 0] as never,
        { m: mul!(p, [[1, 2], [3, -1]]), b: add!(p, [1, 2]) } as never, // biome-ignore format: a matrix
        { maxSteps: 8 },
      ).x as E
    expect(report(checkGrad(system, { checks: { backend: false } })(0.5))).toMatch(/^ok/)
  })
  it('does not depend on where it began', () => {
    const f = (x0: E) => root(squareRoot as never, x0 as never, tensor!(2) as never).x as E
    expect(run(grad!(f), 1.2)).toBe(0)
    expect(report(checkGrad((x0: E) => f(stopGradient!(x0)), { order: 1, checks: { backend: false } })(1.2))).toMatch(/^ok/)
  })
  it('vmap: many roots at once, also where some are not found', () => {
    const f = (a: E) => root(squareRoot as never, 1 as never, a as never)
    const got = run(vmap!(f as never), [4, -1, 9]) as unknown as { x: number[]; converged: boolean[] }
    expect(got.converged).toEqual([true, false, true])
    near([got.x[0], got.x[2]], [2, 3], 1e-10)
  })
  it('keeps f32', () => {
    const got = root(squareRoot as never, tensor!(1, [], 'f32') as never, 2 as never)
    expect((got.x as E).dtype).toBe('f32')
    const { x, converged } = value(got) as Found<number>
    expect(converged).toBe(true)
    near(x, Math.SQRT2, 1e-5)
  })
  it('says what it did not find: no root, a flat place, NaN', () => {
    const none = value(root(((x: E) => add!(square!(x), 1)) as never, 0.5 as never)) as Found<number>
    expect(none.converged).toBe(false)
    expect(none.residual).toBeGreaterThanOrEqual(1)
    const flat = value(root(((x: E) => sub!(square!(x), 1)) as never, 0 as never)) as Found<number>
    expect([flat.converged, flat.residual]).toEqual([false, 1])
    const nan = value(root(((x: E) => log!(x)) as never, -1 as never)) as Found<number>
    expect([nan.converged, nan.x, nan.residual]).toEqual([false, -1, Number.NaN])
    // A step into NaN is shortened.
    const edge = value(root(((x: E) => sub!(sqrt!(x), 0.1)) as never, 1 as never)) as Found<number>
    expect(edge.converged).toBe(true)
    near(edge.x, 0.01, 1e-9)
  })
  it('raises what fits no shape', () => {
    expect(message(() => root(((x: E) => sum!(x)) as never, [1, 2] as never))).toMatch(/^root: f\(x\) is f64 \[\] where x0 is f64 \[2\]/)
    expect(message(() => root(3 as never, 1))).toMatch(/^BadInput: root/)
    for (const options of [
      { maxSteps: 0 },
      { tolerance: -1 },
      { linear: { method: 'lu' } },
      { linear: { preconditioner: () => 1 } },
      { steps: 1 },
    ])
      expect(message(() => root((x) => x, 1, {}, options as never))).toMatch(/^BadInput: root/)
  })
})

describe('fixedPoint', () => {
  const methods = ['plain', 'anderson'] as const
  it.each(methods)('%s finds the fixed point of cos', (method) => {
    for (const at of [run, onCpu]) {
      const got = at(() => fixedPoint((x) => cos!(x), 1, {}, { method, maxSteps: method === 'plain' ? 80 : 10 })) as Found<number>
      near(got.x, 0.7390851332151607, 1e-9) // Dottie's number, OEIS A003957
      expect(got.converged).toBe(true)
    }
  })
  it('Anderson needs fewer steps, also over trees, and finds one that repels', () => {
    const f = ({ a, b }: { a: E; b: E }, k: E) => ({ a: mul!(k, cos!(sum!(b))), b: add!([0.1, 0.2], mul!(0.5, mul!(a, b))) })
    const [plain, mixed] = methods.map(
      (method) =>
        value(fixedPoint(f as never, { a: 0, b: [0, 0] } as never, 0.9 as never, { method })) as Found<{ a: number; b: number[] }>,
    )
    near([mixed!.x.a, ...mixed!.x.b], [plain!.x.a, ...plain!.x.b], 1e-8)
    expect(mixed!.steps).toBeLessThan(plain!.steps / 2)
    const repelling = value(fixedPoint(((x: E) => sub!(3, mul!(2, x))) as never, 0 as never, {}, { method: 'anderson' })) as Found<number>
    expect(repelling.converged).toBe(true)
    near(repelling.x, 1, 1e-9)
  })
  it('is a linear solve where f is linear: Anderson needs about as many steps as there are unknowns', () => {
    const m = [[0.5, 0.3, -0.2], [0.1, -0.6, 0.4], [0.3, 0.2, 0.1]] // biome-ignore format: a matrix
    const got = value(
      fixedPoint(((x: E) => add!(matmul!(m, x), [1, 2, 3])) as never, [0, 0, 0] as never, {}, { method: 'anderson' }),
    ) as Found<number[]>
    expect(got.steps).toBeLessThanOrEqual(6)
    near(
      m.map((row, i) => row.reduce((s, v, k) => s + v * got.x[k]!, [1, 2, 3][i]!)),
      got.x,
      1e-9,
    )
  })
  it.each(methods)('%s has the derivatives of what the equation defines', (method) => {
    const f = (p: E) =>
      fixedPoint(((x: E, q: E) => mul!(q, cos!(x))) as never, [0.5, 0.2] as never, p as never, { method, maxSteps: 40, memory: 2 }).x as E
    // Beside the point forty steps may not reach the fixed point, as at 1.
    expect(report(checkGrad(f, { checks: { backend: false, beside: false } })([0.7, 0.4]))).toMatch(/^ok/)
    // x = p cos x: dx/dp = cos x / (1 + p sin x)
    const { x } = value(fixedPoint((v, q) => mul!(q, cos!(v)), 1, 1)) as Found<number>
    const g = (p: E) => fixedPoint((v, q) => mul!(q, cos!(v)), 1, p, { method }).x
    near(onCpu(grad!(g as never), 1), Math.cos(x) / (1 + Math.sin(x)), 1e-9)
  })
  it('says what it did not find', () => {
    const got = value(fixedPoint(((x: E) => add!(x, 1)) as never, 0 as never, {}, { maxSteps: 5 })) as Found<number>
    expect(got).toEqual({ x: 5, steps: 5, residual: 1, converged: false })
    const nan = value(fixedPoint(((x: E) => div!(exp!(x), 0)) as never, 0 as never)) as Found<number>
    expect(nan.converged).toBe(false)
    for (const options of [{ method: 'newton' }, { memory: 0 }, { damping: 1 }])
      expect(message(() => fixedPoint((x) => x, 1, {}, options as never))).toMatch(/^BadInput: fixedPoint/)
  })
})
