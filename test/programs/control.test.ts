/** Optimal control: Riccati's equation against SciPy, and a pendulum that is swung up as cheaply as SciPy's optimiser of all controls at once does. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { at, f64, fn, grad } from '../../src/index.js'
import * as control from './control.js'

const system = { a: [[1, 0.1], [0, 1]], b: [[0.005], [0.1]], q: [[1, 0], [0, 0.1]], r: 0.1 } // biome-ignore format: matrices
const hanging: [number, number] = [Math.PI, 0]
const first = Array.from({ length: 60 }, (_, t) => [Math.sin(0.3 * t)])

const near = (got: readonly number[], want: readonly number[], digits: number): void => {
  for (const [i, x] of want.entries()) expect(got[i]).toBeCloseTo(x, digits)
}

describe('control', () => {
  // scipy.linalg.solve_discrete_are.
  it('the fixed point of the recursion is the solution of the Riccati equation', () => {
    const p = control.stationary(system)
    const want = [9.077561471417756, 3.1662280397975167, 3.1662280397975167, 2.765851564388968]
    near(p.toArray().flat(), want, 10)
    near(control.riccati({ system, p }).p.toArray().flat(), want, 10)
  })

  // Differences of order 4 of solve_discrete_are, whose own error is about 1e-9.
  it('so is its derivative by the cost of control', () => {
    const corner = fn({ a: f64(2, 2), b: f64(2, 1), q: f64(2, 2), r: f64() }, (given) => at(control.stationary(given), 0, 0))
    expect(grad(corner, { wrt: 'r' })(system).item()).toBeCloseTo(18.4104317978, 7)
  })

  it('the derivatives of the cost of a path are those of finite differences', () => {
    expect(report(checkGrad(control.cost)({ x0: [2, 0], us: [[0.3], [-0.2], [0.1]] }))).toMatch(/^ok/)
  })

  // scipy.optimize.minimize, BFGS, over the 60 controls at once from the same path: 2452 iterations.
  it('the pendulum is swung up at the least cost', () => {
    expect(control.cost({ x0: hanging, us: first }).item()).toBeCloseTo(107.28287156302305, 10)
    const { us, cost } = control.swingUp(hanging, first, 60)
    expect(cost).toBeCloseTo(2.40986551, 7)
    near(us.toArray().flat(), [13.990158744238839, 13.610597285416164, 13.084830004417324], 4)
    const slope = grad(control.cost, { wrt: 'us' })({ x0: hanging, us })
    expect(Math.max(...slope.toArray().map(([g]) => Math.abs(g)))).toBeLessThan(1e-6)
  })
})
