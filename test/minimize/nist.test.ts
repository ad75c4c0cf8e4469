/** NIST's nonlinear regression problems, from both starting points each: certified values to the digits that NIST gives, and the evaluations that MINPACK takes through SciPy. */
import { beforeAll, describe, expect, it } from 'vitest'
import { tensor } from '../../src/index.js'
import { curveFit } from '../../src/minimize/index.js'
import { digits, models, nist, targetOf } from './nist.js'

const solveAll = () =>
  nist.flatMap((problem) =>
    problem.starts.map((start, k) => {
      const { params, errors, chiSquare, converged, evaluations, degreesOfFreedom } = curveFit(
        models[problem.name]! as never,
        tensor(problem.x as number[]),
        tensor([...targetOf(problem)]),
        tensor([...start]) as never,
      ) as unknown as {
        params: { data: Float64Array }
        errors: { data: Float64Array }
        chiSquare: number
        converged: boolean
        evaluations: { residuals: number; jacobians: number }
        degreesOfFreedom: number
      }
      return { problem, k, params, errors, chiSquare, converged, evaluations, degreesOfFreedom, scipy: problem.scipy[k]! }
    }),
  )
type Runs = ReturnType<typeof solveAll>
const names = (some: Runs): string[] => some.map(({ problem, k }) => `${problem.name} from start ${k + 1}`)
/** Its residuals are the rounding of data with 14 digits: their sum of squares, 1e-25, and what follows from it have few certain digits. */
const exact = 'Lanczos1'

describe('NIST, nonlinear regression', () => {
  let runs: Runs = []
  beforeAll(() => {
    runs = solveAll()
  })
  it('has 27 problems with 2 starts', () => expect(runs.length).toBe(54))
  it('converges everywhere', () => expect(names(runs.filter(({ converged }) => !converged))).toEqual([]))
  it('finds the certified values to 6.5 digits', () => {
    const table = runs.map(({ problem, k, params, evaluations, scipy }) => {
      const found = digits(params.data, problem.certified).toFixed(1)
      return `${problem.name} ${k + 1}: ${found} digits (SciPy ${scipy.digits}), ${evaluations.residuals} residuals (${scipy.residuals}), ${evaluations.jacobians} Jacobians (${scipy.jacobians})`
    })
    console.log(table.join('\n'))
    expect(names(runs.filter(({ problem, params }) => digits(params.data, problem.certified) < 6.5))).toEqual([])
  })
  it('gives standard deviations to 6 digits', () =>
    expect(names(runs.filter(({ problem, errors }) => problem.name !== exact && digits(errors.data, problem.deviations) < 6))).toEqual([]))
  it('gives sums of squares to 9 digits', () => {
    expect(names(runs.filter(({ problem, chiSquare }) => problem.name !== exact && digits([chiSquare], [problem.squares]) < 9))).toEqual([])
    for (const { problem, chiSquare } of runs) if (problem.name === exact) expect(chiSquare).toBeLessThan(2e-25)
  })
  it('says how many degrees of freedom there are', () => {
    for (const { problem, degreesOfFreedom } of runs) expect(degreesOfFreedom).toBe(problem.y.length - problem.certified.length)
  })
  it('evaluates no more than MINPACK does', () => {
    const total = (f: (run: Runs[number]) => number): number => runs.reduce((sum, run) => sum + f(run), 0)
    expect(total(({ evaluations }) => evaluations.residuals)).toBeLessThanOrEqual(total(({ scipy }) => scipy.residuals))
    expect(total(({ evaluations }) => evaluations.jacobians)).toBeLessThanOrEqual(total(({ scipy }) => scipy.jacobians))
  })
})
