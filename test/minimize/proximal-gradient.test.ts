/** Proximal and projected gradients: minima by their optimality conditions, their derivatives by closed forms and by the checker, and what is not found. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import * as projections from '../../src/minimize/projections.js'
import * as operators from '../../src/minimize/proximal.js'
import { type ProximalOptions, projectedGradient, proximalGradient } from '../../src/minimize/proximal-gradient.js'
import { type E, message, near, onCpu, ops, run, value } from '../solve/run.js'
import { dot, drawing, matrix, minus, vector } from './drawn.js'

type Call = (x: unknown, options?: unknown) => E
const { projectBox, projectNonNegative, projectSimplex, proxL1, proxNuclear } = { ...projections, ...operators } as unknown as Readonly<
  Record<string, Call>
>
type Found<X = number[]> = { readonly x: X; readonly steps: number; readonly residual: number; readonly converged: boolean }
const { add, div, exp, grad, hessian, jacfwd, jacrev, log, matmul, mul, sqrt, square, sub, sum, tensor, vmap, where } = ops as Record<
  string,
  (...xs: readonly unknown[]) => E
>

const draw = drawing(5)
const [m, n] = [12, 6] // biome-ignore format: one row
const A = matrix(draw, m, n)
const b = vector(draw, m, 2)
const columns = A[0]!.map((_, j) => A.map((row) => row[j]!))
/** A^T (A x - b), in plain numbers. */
const gradientAt = (x: readonly number[], to: readonly number[] = b): number[] => {
  const away = minus(A.map((row) => dot(row, x)), to) // biome-ignore format: one row
  return columns.map((c) => dot(c, away))
}
const squares = (x: E, to: unknown = b): E => mul!(0.5, sum!(square!(sub!(matmul!(A, x), to))))
const zeros = Array.from({ length: n }, () => 0)
const lasso = (lambda: E, options?: ProximalOptions) =>
  proximalGradient(
    ((x: E) => squares(x)) as never,
    ((x: E, t: E, l: E) => proxL1!(x, { scale: mul!(t, l) })) as never,
    zeros as never,
    lambda as never,
    options,
  )
const of = (lambda: number, options?: ProximalOptions): Found => onCpu((l: E) => lasso(l, options), lambda) as Found

describe('the lasso', () => {
  const most = Math.max(...gradientAt(zeros).map(Math.abs))
  it.each([{}, { acceleration: false }, { step: 0.05 }, { step: 0.05, acceleration: false }])(
    'satisfies its optimality conditions, with %j',
    (options) => {
      for (const lambda of [0.05, 0.5, 2]) {
        const { x, residual, converged } = of(lambda, { ...options, maxSteps: 4000 })
        expect([converged, residual <= 1e-10]).toEqual([true, true])
        gradientAt(x).forEach((g, i) => {
          if (x[i] === 0) expect(Math.abs(g)).toBeLessThan(lambda)
          else near(g, -lambda * Math.sign(x[i]!), 1e-9)
        })
      }
    },
  )
  it('is 0 from the largest product of a column with b, and least squares without a penalty', () => {
    expect(of(most * 1.001).x).toEqual(zeros)
    expect(of(most * 0.999).x.filter((v) => v !== 0)).toHaveLength(1)
    near(gradientAt(of(0).x), zeros, 1e-9)
  })
  it('has a path that is linear between the changes of its active set', () => {
    const [a, c, e] = [0.5, 0.51, 0.52].map((lambda) => of(lambda).x)
    near(c, a!.map((v, i) => (v + e![i]!) / 2), 1e-9) // biome-ignore format: one row
  })
  it('takes far fewer steps with acceleration, and the same solution', () => {
    const [plain, fast] = [of(0.05, { acceleration: false, maxSteps: 4000 }), of(0.05)]
    near(fast.x, plain.x, 1e-8)
    expect(plain.steps).toBeGreaterThan(2 * fast.steps)
  })
  it('for many penalties at once', () => {
    const lambdas = [0.05, 0.5, 2]
    const all = onCpu(vmap!(lasso as never), lambdas) as unknown as { x: number[][]; converged: boolean[] }
    expect(all.converged).toEqual([true, true, true])
    near(all.x, lambdas.map((l) => of(l).x), 1e-9) // biome-ignore format: one row
    const slopes = onCpu(vmap!(jacfwd!((l: E) => lasso(l).x)), lambdas)
    near(slopes, lambdas.map((l) => onCpu(jacfwd!((v: E) => lasso(v).x), l)), 1e-7) // biome-ignore format: one row
  })
})

describe('derivatives of the solution', () => {
  /** M^-1 v by elimination, M positive definite. */
  const solved = (M: readonly (readonly number[])[], v: readonly number[]): number[] =>
    run((a: unknown, c: unknown) => ops.solve!(a, c), M, v) as unknown as number[]
  const lambda = 0.5
  const { x } = of(lambda)
  const active = x.flatMap((v, i) => (v === 0 ? [] : [i]))
  const gram = active.map((i) => active.map((j) => dot(columns[i]!, columns[j]!)))
  const whole = (part: readonly number[]): number[] => zeros.map((_, i) => (active.includes(i) ? part[active.indexOf(i)]! : 0))
  it('is on part of the columns here', () => expect([active.length > 1, active.length < n]).toEqual([true, true]))
  it('in the penalty: -(A^T A)^-1 sign x on the active columns', () => {
    const want = whole(solved(gram, active.map((i) => -Math.sign(x[i]!)))) // biome-ignore format: one row
    for (const by of [jacfwd!, jacrev!])
      near(
        onCpu(
          by((l: E) => lasso(l).x),
          lambda,
        ),
        want,
        1e-8,
      )
    const h = 1e-4
    near(want, minus(of(lambda + h).x, of(lambda - h).x).map((v) => v / (2 * h)), 1e-6) // biome-ignore format: one row
  })
  it('in the data: (A^T A)^-1 A^T on the active columns', () => {
    const solution = (to: E): E =>
      proximalGradient(
        ((v: E, p: E) => squares(v, p)) as never,
        ((v: E, t: E) => proxL1!(v, { scale: mul!(t, lambda) })) as never,
        zeros as never,
        to as never,
      ).x as E
    const want = Array.from({ length: m }, (_, k) => whole(solved(gram, active.map((i) => columns[i]![k]!)))) // biome-ignore format: one row
    near(onCpu(jacrev!(solution), b), want[0]!.map((_, i) => want.map((column) => column[i]!)), 1e-8) // biome-ignore format: one row
  })
  it('to the second order, where the solution is not linear in its parameter', () => {
    // x minimises sum(e^x - p x) + |x| / 2 elementwise: e^x = p - 1/2 where p > 3/2
    const solution = (p: E): E =>
      proximalGradient(
        ((v: E, q: E) => sum!(sub!(exp!(v), mul!(q, v)))) as never,
        ((v: E, t: E) => proxL1!(v, { scale: mul!(0.5, t) })) as never,
        [0, 0] as never,
        p as never,
      ).x as E
    near(run(solution, [3, 1.2]), [Math.log(2.5), 0], 1e-9)
    near(run(jacrev!(solution), [3, 1.2]), [[0.4, 0], [0, 0]], 1e-8) // biome-ignore format: a matrix
    near(run(hessian!((p: E) => sum!(solution(p))), [3, 1.2]), [[-0.16, 0], [0, 0]], 1e-7) // biome-ignore format: a matrix
    near(run(grad!(grad!(grad!((p: E) => sum!(solution(mul!(p, [1, 0])))) as never) as never), 3), 2 / 2.5 ** 3, 1e-6)
    expect(report(checkGrad(solution as never, { checks: { backend: false, beside: false } })([3, 1.2]))).toMatch(/^ok/)
  })
  it('x0 and the step have none', () => {
    const from = (x0: E): E =>
      proximalGradient(((v: E) => squares(v)) as never, ((v: E, t: E) => proxL1!(v, { scale: t })) as never, x0 as never).x as E
    near(onCpu(jacrev!(from), zeros), zeros.map(() => zeros), 0) // biome-ignore format: one row
  })
  it('what is captured has no derivative, which is said and not 0', () => {
    const captured = (l: E): E =>
      proximalGradient(((v: E) => squares(v)) as never, ((v: E, t: E) => proxL1!(v, { scale: mul!(t, l) })) as never, zeros as never).x as E
    expect(message(() => onCpu(jacrev!(captured), 0.5))).toMatch(/NotImplemented|captured/)
  })
})

describe('a portfolio on the simplex', () => {
  const returns = [0.08, 0.12, 0.1, 0.02]
  const covariance = [[0.1, 0.02, 0.01, 0], [0.02, 0.2, 0.05, 0.01], [0.01, 0.05, 0.15, 0], [0, 0.01, 0, 0.05]] // biome-ignore format: a matrix
  type Market = { readonly mean: E; readonly aversion: E }
  const weights = (mean: unknown, aversion: unknown) =>
    projectedGradient(
      ((w: E, p: Market) => sub!(mul!(div!(p.aversion, 2), sum!(mul!(w, matmul!(covariance, w)))), sum!(mul!(p.mean, w)))) as never,
      ((w: E) => projectSimplex!(w)) as never,
      [0.25, 0.25, 0.25, 0.25] as never,
      { mean, aversion } as never,
    )
  it('equalises marginal utility over what is held', () => {
    const { x, converged } = onCpu(() => weights(returns, 1)) as Found
    expect(converged).toBe(true)
    const utility = returns.map((r, i) => r - dot(covariance[i]!, x))
    const held = x.flatMap((w, i) => (w > 0 ? [utility[i]!] : []))
    expect([held.length > 1, held.length < 4]).toEqual([true, true])
    near(held, held.map(() => held[0]!), 1e-9) // biome-ignore format: one row
    for (const [i, w] of x.entries()) if (w === 0) expect(utility[i]!).toBeLessThan(held[0]!)
  })
  it('has sensitivities to returns and to aversion to risk: those that are held, in sum 0', () => {
    const jacobian = onCpu(
      jacrev!((mean: E) => weights(mean, 1).x),
      returns,
    ) as unknown as number[][]
    const h = 1e-5
    const beside = [h, -h].flatMap((by) => returns.map((_, k) => returns.map((r, i) => (i === k ? r + by : r))))
    const moved = onCpu(
      vmap!((mean: E) => weights(mean, 1).x),
      beside,
    ) as unknown as number[][]
    for (let k = 0; k < 4; k++) {
      near(jacobian.map((row) => row[k]!), minus(moved[k]!, moved[k + 4]!).map((v) => v / (2 * h)), 1e-4) // biome-ignore format: one row
      near(
        jacobian.reduce((s, row) => s + row[k]!, 0),
        0,
        1e-8,
      )
    }
    const f = (p: E): E => weights(mul!(p, returns), div!(3, p)).x as E
    expect(report(checkGrad(f as never, { order: 1, checks: { backend: false, beside: false } })(1))).toMatch(/^ok/)
  })
})

describe('other problems', () => {
  it('completes a matrix of rank 1 from part of its entries, with the nuclear norm', () => {
    const [u, v] = [[1, 2, -1, 0.5], [2, -1, 1, 3]] // biome-ignore format: two rows
    const whole = u!.map((a) => v!.map((c) => a * c))
    const seen = [[1, 1, 1, 1], [1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 0]] // biome-ignore format: a matrix
    const f = (x: E): E => mul!(0.5, sum!(mul!(seen, square!(sub!(x, whole)))))
    const solve = (lambda: E) =>
      proximalGradient(
        f as never,
        ((x: E, t: E, l: E) => proxNuclear!(x, { scale: mul!(t, l) })) as never,
        whole.map((row) => row.map(() => 0)) as never,
        lambda as never,
      )
    const { x, converged } = onCpu(solve, 0.01) as Found<number[][]>
    expect(converged).toBe(true)
    near(x, whole, 0.02)
    const slope = onCpu(
      jacfwd!((l: E) => solve(l).x),
      0.5,
    ) as unknown as number[][]
    const [up, down] = [0.501, 0.499].map((l) => (onCpu(solve, l) as Found<number[][]>).x)
    near(slope, up!.map((row, i) => minus(row, down![i]!).map((d) => d / 0.002)), 1e-5) // biome-ignore format: one row
  })
  it('over trees, with a set for each leaf, and with steps that backtracking shortens', () => {
    // e^u + e^v - u - 2 v + (w - u)^2: u stays at most 0.3, w at least 0.5
    const f = ({ u, w }: { u: E; w: E }) => add!(sum!(sub!(exp!(u), mul!([1, 2], u))), square!(sub!(w, sum!(u))))
    const project = ({ u, w }: { u: E; w: E }) => ({ u: projectBox!(u, { upper: 0.3 }), w: projectNonNegative!(w) })
    const { x, converged } = onCpu(() => projectedGradient(f as never, project as never, { u: [-8, -8], w: 9 } as never)) as Found<{
      u: number[]
      w: number
    }>
    expect(converged).toBe(true)
    near([...x.u, x.w], [0, 0.3, 0.3], 1e-9)
  })
  it('without a set it is gradient descent', () => {
    const { x, residual } = onCpu(() => projectedGradient(((v: E) => squares(v)) as never, ((v: E) => v) as never, zeros as never)) as Found
    const g = gradientAt(x)
    near(g, zeros, 1e-10)
    near(residual, Math.hypot(...g), 1e-11)
  })
  it('f32 stays', () => {
    const x0 = tensor!([0, 0], [2], 'f32')
    const got = proximalGradient(
      ((x: E, p: E) => sum!(square!(sub!(x, p)))) as never,
      ((x: E, t: E) => proxL1!(x, { scale: t })) as never,
      x0 as never,
      [3, 0.2] as never,
    )
    expect((got.x as E).dtype).toBe('f32')
    near(value(got), { x: [2.5, 0], steps: 3, residual: 0, converged: true }, 1e-5)
    expect((value(got) as Found).converged).toBe(true)
  })
  it('a minimum that x0 is takes a step', () => {
    const got = value(projectedGradient(((x: E) => sum!(square!(x))) as never, ((x: E) => x) as never, [0, 0] as never)) as Found
    expect(got).toEqual({ x: [0, 0], steps: 1, residual: 0, converged: true })
  })
})

describe('what is not found', () => {
  const free = (f: (x: E) => E, x0: unknown, options?: ProximalOptions): Found<number> =>
    onCpu(() => projectedGradient(f as never, ((x: E) => x) as never, x0 as never, {} as never, options)) as Found<number>
  it('says so: steps that are too long, too few, no minimum, NaN', () => {
    const bowl = (x: E): E => square!(x)
    expect(free(bowl, 1, { step: 1.1, acceleration: false, maxSteps: 50 }).converged).toBe(false)
    expect(free((x) => add!(exp!(x), exp!(mul!(-2, x))), 9, { maxSteps: 2 })).toMatchObject({ steps: 2, converged: false })
    const down = free((x) => x, 0, { maxSteps: 20 })
    expect([down.converged, down.residual]).toEqual([false, 1])
    const nan = free((x) => log!(x), -1, { maxSteps: 200 })
    expect([nan.converged, nan.residual]).toEqual([false, Number.NaN])
  })
  it('a step into NaN is shortened', () => {
    const got = free((x) => sub!(x, mul!(2, sqrt!(x))), 0.01)
    expect(got.converged).toBe(true)
    near(got.x, 1, 1e-8)
    const edge = free((x) => where!(ops.gt!(x, 2), Number.NaN, square!(sub!(x, 1.9))), -5)
    near(edge.x, 1.9, 1e-9)
  })
  it('where the minimum is not unique, what all minima share has a derivative, and what they do not is NaN', () => {
    const flat = (p: E): E =>
      projectedGradient(((x: E, q: E) => square!(sub!(sum!(x), q))) as never, ((x: E) => x) as never, [0, 0] as never, p as never).x as E
    near(
      onCpu(
        grad!((p: E) => sum!(flat(p))),
        2,
      ),
      1,
      1e-9,
    )
    expect(
      onCpu(
        grad!((p: E) => sum!(mul!([1, 0], flat(p)))),
        2,
      ),
    ).toBeNaN()
  })
})

describe('what is refused', () => {
  it('by name, and where', () => {
    const [f, id] = [(x: E) => sum!(square!(x)), (x: E) => x] as const // biome-ignore format: one row
    const both = [proximalGradient, projectedGradient] as unknown as readonly ((...xs: readonly unknown[]) => unknown)[]
    for (const [k, call] of both.entries()) {
      const op = ['proximalGradient', 'projectedGradient'][k]!
      expect(message(() => call(3, id, [0]))).toMatch(new RegExp(`^BadInput: ${op}: f must be a function`))
      expect(message(() => call(f, 3, [0]))).toMatch(new RegExp(`^BadInput: ${op}: (prox|project) must be a function`))
      expect(message(() => call(f, id, 'x'))).toMatch(new RegExp(`^BadInput: ${op}`))
      expect(message(() => call(f, () => 1, [0, 0]))).toMatch(
        new RegExp(`^${op}: (prox|project)\\(x\\) is f64 \\[\\] where x0 is f64 \\[2\\]`),
      )
      expect(message(() => call(id, id, [0, 0]))).toMatch(/^NotScalar/)
      expect(message(() => call(f, id, [0], { maxSteps: 3 }))).toMatch(new RegExp(`^BadInput: ${op}: maxSteps: options stand`))
      for (const options of [{ maxSteps: 0 }, { step: -1 }, { step: 'x' }, { acceleration: 1 }, { tolerance: 0 }, { steps: 1 }])
        expect(message(() => call(f, id, [0], {}, options))).toMatch(new RegExp(`^BadInput: ${op}`))
    }
  })
})

describe('types', () => {
  it('are those of x: shapes and dtypes stay', () => {
    type Matrix = cd.Expr<[2, 3], 'f32'>
    const through = (x: Matrix): readonly Matrix[] => [projections.projectSimplex(x), operators.proxNuclear(x, { scale: 0.5 })]
    const x = cd.tensor([[1, 2, 3], [4, 5, 6]], [2, 3], 'f32') // biome-ignore format: a matrix
    expect(through(x).map((y) => [y.shape, y.dtype])).toEqual([[[2, 3], 'f32'], [[2, 3], 'f32']]) // biome-ignore format: two of them
    const { u } = proximalGradient(
      (v, p) => cd.sum(cd.square(cd.sub(v.u, p))),
      (v, t, p) => ({ u: operators.proxL1(v.u, { scale: cd.mul(t, p) }) }),
      { u: x },
      1,
    ).x
    const same: Matrix = u
    expect(same.shape).toEqual([2, 3])
  })
})
