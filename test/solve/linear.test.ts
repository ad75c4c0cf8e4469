/** Linear systems: every method, against products and against NumPy; their derivatives; what has no solution. */

import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { linearSolve } from '../../src/solve/index.js'
import { count } from '../depth.js'
import { type E, message, near, onCpu, ops, run, value } from './run.js'

const { add, cos, div, grad, hessian, matmul, mul, sin, sub, sum, tensor, transpose, vmap } = ops as Record<
  string,
  (...xs: readonly unknown[]) => E
>
const methods = ['cg', 'gmres', 'bicgstab'] as const
type Numbers = { x: number[]; steps: number; residual: number; converged: boolean }

/** A matrix of n rows, far from symmetric, and one that is symmetric positive definite. */
const general = (n: number): number[][] =>
  Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Math.sin(1 + 3 * i + 7 * j + i * j) + (i === j ? 4 : 0)))
const definite = (n: number): number[][] => {
  const m = general(n)
  return m.map((row) => m.map((other) => row.reduce((s, v, k) => s + v * other[k]!, 0)))
}
const times = (a: number[][], x: readonly number[]): number[] => a.map((row) => row.reduce((s, v, k) => s + v * x[k]!, 0))
const some = (n: number): number[] => Array.from({ length: n }, (_, i) => Math.cos(2 * i) + 0.3)

describe('linearSolve', () => {
  it.each(methods)('%s finds what the matrix was applied to, and says so', (method) => {
    for (const n of [1, 2, 7, 20]) {
      const A = method === 'cg' ? definite(n) : general(n)
      const x = some(n)
      const got = value(linearSolve(A, times(A, x), { method, maxSteps: 3 * n })) as Numbers
      near(got.x, x, 1e-8)
      expect(got.converged).toBe(true)
      expect(got.steps).toBeLessThanOrEqual(3 * n)
      const left = Math.hypot(...times(A, got.x).map((v, i) => v - times(A, x)[i]!))
      near(got.residual, left, 1e-12)
    }
  })
  it('gmres needs no more steps than there are unknowns, whatever the matrix: a rotation, a permutation', () => {
    for (const A of [
      [
        [0, 1],
        [-1, 0],
      ],
      [
        [0, 0, 1],
        [1, 0, 0],
        [0, 1, 0],
      ],
      general(12),
    ]) {
      // biome-ignore format: matrices
      const x = some(A.length)
      const got = value(linearSolve(A, times(A, x), { maxSteps: A.length })) as Numbers
      near(got.x, x, 1e-9)
      expect(got.converged).toBe(true)
    }
  })
  it('begins again where gmres may keep few directions', () => {
    const A = general(10)
    const got = value(linearSolve(A, times(A, some(10)), { restart: 4, maxSteps: 60 })) as Numbers
    near(got.x, some(10), 1e-8)
    expect(got.converged).toBe(true)
    expect(got.steps).toBeGreaterThan(10)
  })
  it('has the numbers of NumPy on both backends', () => {
    const A = [[4, 1, 0.5], [0.3, 3, -1], [0.1, 0.7, 2]] // biome-ignore format: a matrix
    // numpy.linalg.solve of the same numbers, NumPy 2.4.6
    const want = [-0.15735943197083097, 1.0612166570715795, 1.1364421416234887]
    for (const at of [run, onCpu]) near((at(() => linearSolve(A, [1, 2, 3])) as Numbers).x, want, 1e-14)
  })
  it('keeps f32, and solves as far as f32 goes', () => {
    const solution = linearSolve(tensor!(definite(5), [5, 5], 'f32') as never, [1, 2, 3, 4, 5], { method: 'cg' })
    expect([solution.x.dtype, solution.residual.dtype]).toEqual(['f32', 'f32'])
    const got = value(solution) as Numbers
    expect(got.converged).toBe(true)
    near(times(definite(5), got.x), [1, 2, 3, 4, 5], 1e-4)
  })
  it('takes trees and functions of parameters, of which some are integers', () => {
    const f = ({ u, v }: { u: E; v: E }, { d, k }: { d: E; k: E }) => ({ u: add!(mul!(d, u), sum!(v)), v: sub!(mul!(k, v), mul!(0.5, u)) })
    const params = { d: tensor!(3), k: tensor!(2, [], 'i32') }
    const got = value(linearSolve(f as never, { u: 1, v: [1, 2] } as never, params as never).x) as { u: number; v: number[] }
    // 3 u + v1 + v2 = 1; 2 v1 - u / 2 = 1; 2 v2 - u / 2 = 2
    near([got.u, ...got.v], [-1 / 7, 13 / 28, 27 / 28], 1e-9)
  })
  it('needs fewer steps with a preconditioner, which has no say in the result or a derivative', () => {
    const n = 12
    const scale = Array.from({ length: n }, (_, i) => 10 ** (i / 3))
    const A = (x: E, p: { d: E; e: E }) => add!(mul!(p.d, x), mul!(p.e, sum!(x)))
    const params = { d: tensor!(scale), e: tensor!(0.3) }
    const about = { preconditioner: (r: never, { d }: never) => div!(r, d) } as never
    const b = some(n)
    for (const method of methods) {
      const [without, with_] = [{}, about].map(
        (o) => value(linearSolve(A as never, b, params as never, { method, maxSteps: 40, ...(o as object) })) as Numbers,
      )
      expect(with_!.converged).toBe(true)
      expect(with_!.steps).toBeLessThan(without!.steps)
      const f = (o: object) => (d: E) =>
        sum!(sin!(linearSolve(A as never, b, { d, e: params.e } as never, { method: 'gmres', maxSteps: 40, ...o }).x))
      near(run(grad!(f(about)), scale), run(grad!(f({})), scale), 1e-7)
    }
  })
})

describe('derivatives of linearSolve', () => {
  it.each(methods)('%s: both modes, second order, vmap, every subset of the arguments', (method) => {
    const A = (m: E) => (method === 'cg' ? add!(matmul!(m, transpose!(m)), cd.eye(3)) : add!(m, mul!(4, cd.eye(3))))
    const f = (m: E, b: E) => linearSolve(A(m), b as never, { method, maxSteps: 6 }).x
    const m = [[0.5, -0.3, 0.2], [0.9, 0.4, -0.7], [-0.2, 0.6, 0.8]] // biome-ignore format: a matrix
    expect(report(checkGrad(f, { order: count(1, 2) as 1 | 2 })(m, [1, -2, 0.5]))).toMatch(/^ok/)
  })
  it('reach the parameters of a function, and not what it captures', () => {
    const f = (p: E) => {
      const A = (x: E, { a, c }: { a: E; c: E }) => add!(mul!(a, x), mul!(c, sum!(x)))
      return linearSolve(A as never, [1, 2], { a: add!(3, p), c: sin!(p) } as never).x
    }
    expect(report(checkGrad(f)(0.4))).toMatch(/^ok/)
    const captured = (p: E) => sum!(linearSolve(((x: E) => mul!(p, x)) as never, [1, 2], {}).x)
    expect(message(() => run(grad!(captured), 2))).toMatch(/NotImplemented.*linearSolve/)
  })
  it('are those of the inverse in closed form, the second too', () => {
    // f(a) = b' diag(a)^-1 b: second derivatives 2 b^2 / a^3 on the diagonal.
    const f = (a: E) => sum!(mul!([1, 2], linearSolve(((x: E, d: E) => mul!(d, x)) as never, [1, 2], a as never).x))
    near(run(hessian!(f), [2, 4]), [[2 / 8, 0], [0, 8 / 64]], 1e-9) // biome-ignore format: a matrix
  })
  it('are NaN where their own solve does not converge', () => {
    const f = (b: E) => sum!(mul!([1, -1, 2], linearSolve(general(3), b as never, { maxSteps: 1 }).x))
    for (const mode of ['forward', 'reverse']) expect(run(grad!(f, { mode }), [1, 2, 3])).toEqual([Number.NaN, Number.NaN, Number.NaN])
  })
  it('vmap solves many systems, each with its own steps', () => {
    const f = (scale: E) => linearSolve(mul!(scale, tensor!(general(4))), [1, 2, 3, 4])
    const got = run(vmap!(f as never), [1, 2, 1e6]) as unknown as { x: number[][]; converged: boolean[] }
    expect(got.converged).toEqual([true, true, true])
    const one = value(f(1 as never)) as Numbers
    got.x.forEach((x, i) => {
      near(
        x,
        one.x.map((v) => v / [1, 2, 1e6][i]!),
        1e-9,
      )
    })
  })
})

describe('what has no solution', () => {
  const singular = [[1, 2], [2, 4]] // biome-ignore format: a matrix
  it('is said: a singular matrix, one that is not definite, too few steps, NaN', () => {
    for (const method of methods) {
      const got = value(linearSolve(singular, [1, 0], { method })) as Numbers
      expect(got.converged).toBe(false)
      expect(got.residual).toBeGreaterThan(0.1)
      for (const v of got.x) expect(v).toSatisfy(Number.isFinite)
    }
    expect((value(linearSolve([[1, 0], [0, -1]], [1, 1], { method: 'cg' })) as Numbers).converged).toBe(false) // biome-ignore format: a matrix
    expect((value(linearSolve(general(5), some(5), { maxSteps: 2 })) as Numbers).steps).toBe(2)
    const nan = value(linearSolve([[Number.NaN]], [1])) as Numbers
    expect([nan.converged, nan.residual]).toEqual([false, Number.NaN])
  })
  it('is 0 for b = 0, in no step, and nothing for nothing', () => {
    expect(value(linearSolve(singular, [0, 0]))).toEqual({ x: [0, 0], steps: 0, residual: 0, converged: true })
    const none = linearSolve(((x: E) => x) as never, tensor!([], [0]) as never, {})
    expect(value(none)).toEqual({ x: [], steps: 0, residual: 0, converged: true })
  })
  it('raises what fits no shape', () => {
    expect(message(() => linearSolve([[1, 2]], [1]))).toMatch(/^linearSolve: A is \[1, 2\], b is \[1\]/)
    expect(message(() => linearSolve(((x: E) => sum!(x)) as never, [1, 2], {}))).toMatch(/A x is f64 \[\] where b is f64 \[2\]/)
    expect(message(() => linearSolve(((x: E) => ({ x })) as never, [1, 2], {}))).toMatch(/^BadInput: linearSolve: A x/)
    expect(message(() => linearSolve(((x: E) => cos!(cd.cast(x, 'f32'))) as never, [1, 2], {}))).toMatch(
      /^linearSolve: .* is f32 .*where b is f64/,
    )
    expect(message(() => linearSolve(((x: E) => x) as never, tensor!([1], [1], 'i32') as never, {}))).toMatch(
      /^linearSolve: b is i32 .*no float/,
    )
    for (const options of [
      { method: 'lu' },
      { tolerance: 0 },
      { maxSteps: 0 },
      { maxSteps: 1.5 },
      { restart: -1 },
      { preconditioner: 1 },
      { tol: 1 },
      3,
    ])
      expect(message(() => linearSolve([[1]], [1], options as never))).toMatch(/^BadInput: linearSolve/)
  })
})
