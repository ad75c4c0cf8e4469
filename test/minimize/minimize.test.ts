/** What `minimize` and `leastSquares` take and say: trees, dtypes, saddles, options that stop them, and what they leave behind. */
import { describe, expect, it, vi } from 'vitest'
import { CpuExecutable } from '../../src/backends/cpu/executable.js'
import {
  type AnyExpr,
  abs,
  add,
  at,
  cast,
  div,
  exp,
  isAdException,
  log,
  mul,
  pow,
  type Scalar,
  sqrt,
  square,
  sub,
  sum,
  tensor,
} from '../../src/index.js'
import { curveFit, leastSquares, minimize } from '../../src/minimize/index.js'

const far = (x: AnyExpr): AnyExpr => sum(square(sub(x, [1, 2]))) as AnyExpr
const refused = (run: () => unknown): string => {
  try {
    run()
  } catch (e) {
    if (isAdException(e)) return (e as Error).message
    throw e
  }
  return 'nothing was refused'
}

describe('trees', () => {
  const target = (w: AnyExpr, b: AnyExpr) => add(sum(square(sub(w, [[1, 2]]))), square(sub(b, 3)))
  it.each(['lbfgs', 'newton', 'nelderMead'] as const)('%s returns a tree like x0', (method) => {
    const { x, converged } = minimize(({ w, b }) => target(w as AnyExpr, b as AnyExpr) as AnyExpr, { w: [[0, 0]], b: 0 }, { method })
    expect(converged).toBe(true)
    expect(x.w.shape).toEqual([1, 2])
    expect(x.b.shape).toEqual([])
    for (const [found, wanted] of [
      [x.w.data[0], 1],
      [x.w.data[1], 2],
      [x.b.data[0], 3],
    ])
      expect(Math.abs(found! - wanted!)).toBeLessThan(1e-5)
  })
  it('keeps f32 leaves f32, beside f64 ones', () => {
    const { x, converged } = minimize(({ a, b }) => add(sum(square(sub(a as AnyExpr, 3))), square(sub(b as AnyExpr, 4))) as AnyExpr, {
      a: tensor([0, 0], [2], 'f32'),
      b: 0,
    })
    expect([x.a.dtype, x.b.dtype, converged]).toEqual(['f32', 'f64', true])
    expect(Math.abs(x.a.data[1]! - 3)).toBeLessThan(1e-3)
  })
  it('fits f32', () => {
    const { x, converged } = leastSquares(
      (a) => sub(mul(a, tensor([1, 2], [2], 'f32')), tensor([2, 4], [2], 'f32')) as AnyExpr,
      tensor(0, [], 'f32'),
    )
    expect([x.dtype, x.data[0], converged]).toEqual(['f32', 2, true])
  })
  it('captures what f needs', () => {
    const data = tensor([1, 2, 6])
    expect(minimize((m) => sum(square(sub(data, m as AnyExpr))) as AnyExpr, 0).x.data[0]).toBeCloseTo(3, 8)
  })
})

describe("Newton's method", () => {
  it('leaves the neighbourhood of a saddle', () => {
    const saddle = (x: AnyExpr): AnyExpr => sub(add(square(at(x, 0)), pow(at(x, 1), 4)), mul(2, square(at(x, 1)))) as AnyExpr
    const { x, value, converged } = minimize(saddle as never, [1, 1e-6] as never, { method: 'newton' }) as unknown as {
      x: { data: Float64Array }
      value: number
      converged: boolean
    }
    expect(converged).toBe(true)
    expect(value).toBeCloseTo(-1, 10)
    expect(Math.abs(x.data[1]!)).toBeCloseTo(1, 6)
  })
  it('stays where the gradient is 0, and says so', () => {
    const { reason, steps } = minimize((x) => sub(square(at(x, 0)), square(at(x, 1))) as AnyExpr, [0, 0], { method: 'newton' })
    expect({ reason, steps }).toEqual({ reason: 'gradient', steps: 0 })
  })
  it('ends a search without a minimum', () => {
    const { converged, reason } = minimize((x) => sub(0, square(x)) as AnyExpr, 1, { method: 'newton', maxSteps: 50 })
    expect({ converged, reason }).toEqual({ converged: false, reason: 'maxSteps' })
  })
})

describe('functions that are not finite everywhere', () => {
  // far from x0 there are infinities and NaN: a step that leads there is shortened
  const barrier = (x: AnyExpr): AnyExpr => sum(sub(mul(3, x), log(x))) as AnyExpr
  it.each(['lbfgs', 'newton', 'nelderMead'] as const)('%s keeps to where they are', (method) => {
    const { x, converged } = minimize(barrier as never, [0.01, 5] as never, { method }) as unknown as {
      x: { data: Float64Array }
      converged: boolean
    }
    expect(converged).toBe(true)
    for (const v of x.data) expect(v).toBeCloseTo(1 / 3, 5)
  })
  it('least squares too', () => {
    const { x, converged } = leastSquares((x) => sub(log(x), [1, 2]) as AnyExpr, [0.5, 100])
    expect(converged).toBe(true)
    expect(x.data[0]).toBeCloseTo(Math.E, 8)
    expect(x.data[1]).toBeCloseTo(Math.E ** 2, 8)
  })
  it('a kink is no reason to fail', () => {
    const { value, reason } = minimize((x) => sum(abs(sub(x, [1, 2]))) as AnyExpr, [0, 0])
    expect(value).toBeLessThan(1e-6)
    expect(['gradient', 'lineSearch', 'rounding']).toContain(reason)
  })
})

describe('options', () => {
  it.each(['lbfgs', 'newton', 'nelderMead'] as const)('%s ends after maxSteps steps, or where onStep says so', (method) => {
    const hard = (x: AnyExpr): AnyExpr => add(mul(100, square(sub(at(x, 1), square(at(x, 0))))), square(sub(1, at(x, 0)))) as AnyExpr
    const cut = minimize(hard as never, [-1.2, 1] as never, { method, maxSteps: 3 })
    expect([cut.reason, cut.steps, cut.history.length, cut.converged]).toEqual(['maxSteps', 3, 4, false])
    const seen: number[] = []
    const stopped = minimize(hard as never, [-1.2, 1] as never, {
      method,
      onStep: ({ step, value }) => {
        seen.push(value)
        return step < 2
      },
    })
    expect([stopped.reason, stopped.steps, stopped.converged]).toEqual(['stopped', 2, false])
    expect(seen).toEqual(stopped.history.slice(1))
  })
  it('least squares and constrained searches too', () => {
    const slow = (x: AnyExpr): AnyExpr => sub(exp(x), [1, 2]) as AnyExpr
    expect(leastSquares(slow as never, [5, 5] as never, { maxSteps: 2 }).reason).toBe('maxSteps')
    expect(leastSquares(slow as never, [5, 5] as never, { onStep: () => false })).toMatchObject({
      reason: 'stopped',
      steps: 1,
      converged: false,
    })
    const constraints = { equal: (x: unknown) => sum(x as AnyExpr) as AnyExpr }
    expect(minimize(far as never, [0, 0] as never, { method: 'lbfgs', constraints, maxSteps: 1 }).reason).toBe('maxSteps')
    for (const method of ['sqp', 'lbfgs'] as const)
      expect(minimize(far as never, [0, 0] as never, { method, constraints, onStep: () => false }).reason).toBe('stopped')
  })
  it('gives x where it is asked for', () => {
    const first: unknown[] = []
    const { x } = minimize(far as never, [0, 0] as never, { onStep: ({ x }) => first.push(x()) })
    expect(first[first.length - 1]).toEqual(x)
  })
})

describe('what is left behind', () => {
  const size = 10
  const zeros = (): AnyExpr => tensor(new Float64Array(size)) as unknown as AnyExpr
  const constraints = { equal: (x: unknown) => sub(sum(x as AnyExpr), 1) as AnyExpr }
  const held = (x: unknown): AnyExpr => add(far(x as AnyExpr), sum(mul(zeros(), sum(x as AnyExpr)))) as AnyExpr
  const broken = () => {
    throw new Error('enough')
  }
  const runs: readonly (readonly [string, () => unknown])[] = [
    ['lbfgs', () => minimize(held as never, [0, 0] as never)],
    ['newton', () => minimize(held as never, [0, 0] as never, { method: 'newton' })],
    ['nelderMead', () => minimize(held as never, [0, 0] as never, { method: 'nelderMead', maxSteps: 3 })],
    ['bounds', () => minimize(held as never, [0, 0] as never, { bounds: { upper: 1.5 } })],
    ['constraints', () => minimize(held as never, [0, 0] as never, { constraints })],
    ['least squares', () => leastSquares((x) => add(sub(x, [1, 2]), sum(zeros())) as AnyExpr, [0, 0])],
    ['an onStep that throws', () => expect(() => minimize(held as never, [0, 0] as never, { onStep: broken })).toThrow('enough')],
    [
      'one within constraints',
      () => expect(() => minimize(held as never, [0, 0] as never, { constraints, onStep: broken })).toThrow('enough'),
    ],
    [
      'one in least squares',
      () => expect(() => leastSquares((x) => sub(exp(x), [1, 2]) as AnyExpr, [0, 0], { onStep: broken })).toThrow('enough'),
    ],
  ]
  it.each(runs)('%s: no plan', (_, run) => {
    run()
    const ran = vi.spyOn(CpuExecutable.prototype, 'run')
    const gone = vi.spyOn(CpuExecutable.prototype, 'dispose')
    try {
      run()
      const left = new Set(ran.mock.contexts)
      expect(left.size).toBeGreaterThan(0)
      for (const plan of gone.mock.contexts) left.delete(plan)
      expect(left.size).toBe(0)
    } finally {
      ran.mockRestore()
      gone.mockRestore()
    }
  })
})

describe('what is refused', () => {
  const junk: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['NaN in x0', () => minimize(far as never, [Number.NaN, 1] as never), /x0 has NaN/],
    ['Infinity in x0', () => leastSquares((x) => x as AnyExpr, Number.POSITIVE_INFINITY), /x0 has Infinity/],
    ['whole numbers in x0', () => minimize(far as never, tensor([1, 2], [2], 'i32') as never), /x0 is i32/],
    ['an empty tree', () => minimize(() => 0, {}), /x0 holds no numbers/],
    ['an empty array', () => minimize((x) => sum(x as AnyExpr) as AnyExpr, tensor([], [0])), /x0 holds no numbers/],
    ['f(x0) that is NaN', () => minimize((x) => log(x as Scalar) as AnyExpr, -1), /f\(x0\) is NaN/],
    ['f(x0) that is infinite', () => minimize((x) => div(1, x as Scalar) as AnyExpr, 0), /f\(x0\) is Infinity/],
    ['a gradient that is not finite', () => minimize((x) => sqrt(x as Scalar) as AnyExpr, 0), /the gradient of f at x0 has Infinity/],
    ['residuals that are not finite', () => leastSquares((x) => log(x) as AnyExpr, [-1, 2]), /the residuals at x0/],
    ['a Jacobian that is not finite', () => leastSquares((x) => sqrt(x) as AnyExpr, [0, 2]), /the Jacobian at x0 has (Infinity|NaN)/],
    [
      'f that returns a vector',
      () => minimize(((x: AnyExpr) => mul(2, x)) as never, [1, 2] as never),
      /NotScalar: minimize needs a scalar of a float dtype, f returned f64 \[2\]/,
    ],
    ['f that returns an integer', () => minimize(((x: AnyExpr) => cast(x, 'i32')) as never, 1), /NotScalar: minimize .* i32/],
    ['f that returns nothing', () => minimize((() => undefined) as never, 1), /undefined/],
    ['f that is no function', () => minimize(3 as never, 1), /function/],
    ['residuals that are integers', () => leastSquares((x) => cast(x, 'i32') as AnyExpr, 1), /returned i32/],
    ['no residuals', () => leastSquares(() => [] as never, 1), /the function returned \[\]/],
    [
      'bounds that exclude each other',
      () => minimize(far as never, [0, 0] as never, { bounds: { lower: 2, upper: 1 } }),
      /above the upper bound/,
    ],
    ['bounds of another shape', () => minimize(far as never, [0, 0] as never, { bounds: { lower: [1, 2, 3] } }), /3 numbers and x0 has 2/],
    ['bounds of other names', () => minimize(far as never, [0, 0] as never, { bounds: { least: 2 } as never }), /bounds has 'least'/],
    [
      'bounds of leaves that are not there',
      () => minimize((x) => square(x.a as Scalar) as AnyExpr, { a: 1 }, { bounds: { lower: { b: 0 } } }),
      /'b'/,
    ],
    ['a bound that is NaN', () => minimize(far as never, [0, 0] as never, { bounds: { upper: Number.NaN } }), /NaN/],
    ['bounds for newton', () => minimize(far as never, [0, 0] as never, { method: 'newton', bounds: { upper: 1 } }), /takes no bounds/],
    [
      'constraints of other names',
      () => minimize(far as never, [0, 0] as never, { constraints: { equals: () => 0 } as never }),
      /'equals'/,
    ],
    [
      'constraints that are no functions',
      () => minimize(far as never, [0, 0] as never, { constraints: { equal: 3 as never } }),
      /function/,
    ],
    [
      'constraints that are not finite',
      () => minimize(far as never, [0, 0] as never, { constraints: { atMost: (x) => log(x as AnyExpr) as AnyExpr } }),
      /constraints.atMost at x0 has -Infinity/,
    ],
    ['empty constraints', () => minimize(far as never, [0, 0] as never, { constraints: {} }), /empty/],
    [
      'constraints for nelderMead',
      () => minimize(far as never, [0, 0] as never, { method: 'nelderMead', constraints: { equal: () => 0 } }),
      /takes no constraints/,
    ],
    ['a method of another name', () => minimize(far as never, [0, 0] as never, { method: 'adam' as never }), /adam/],
    ['an option of another name', () => minimize(far as never, [0, 0] as never, { maxIter: 3 } as never), /maxIter/],
    ['a loss of another name', () => leastSquares((x) => x as AnyExpr, 1, { loss: 'tukey' as never }), /tukey/],
    ['a scale of 0', () => leastSquares((x) => x as AnyExpr, 1, { loss: 'huber', scale: 0 }), /scale/],
    ['a sigma of 0', () => curveFit((p, x) => mul(p, x) as AnyExpr, [1, 2], [1, 2], 1, { sigma: 0 }), /sigma has 0/],
    ['sigma with a NaN', () => curveFit((p, x) => mul(p, x) as AnyExpr, [1, 2], [1, 2], 1, { sigma: [1, Number.NaN] }), /sigma has NaN/],
  ]
  it.each(junk)('%s', (_, run, message) => expect(refused(run)).toMatch(message))
})
