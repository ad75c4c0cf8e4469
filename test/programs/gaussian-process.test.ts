/** The Gaussian process: likelihood, gradient, optimum and predictions against JAX and SciPy; the factor against its definition. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { evaluate, matmul, transpose, valueAndGrad } from '../../src/index.js'
import * as gp from './gaussian-process.js'

const x = Array.from({ length: 20 }, (_, i) => 0.5 * i + 0.2 * Math.sin(5 * i))
const y = x.map((v, i) => Math.sin(v) + 0.1 * Math.cos(37 * i))
const params = { lengthScale: 0, amplitude: 0, noise: -1 }

describe('gaussian-process', () => {
  it('L L^T is A, and L X is B', () => {
    const a = [[4, 2, -2], [2, 10, 2], [-2, 2, 6]] // biome-ignore format: a matrix
    const l = gp.cholesky({ a })
    expect(l.toArray()).toEqual([[2, 0, 0], [1, 3, 0], [-1, 1, 2]]) // biome-ignore format: a matrix
    expect(evaluate(matmul(l, transpose(l))).toArray()).toEqual(a)
    const b = [[2, 4], [4, 2], [1, 0]] // biome-ignore format: a matrix
    const solution = gp.solveLower({ l, b })
    expect(evaluate(matmul(l, solution)).toArray()).toEqual(b)
  })

  // numpy.linalg's slogdet and solve in place of the factor, through jax.value_and_grad in f64, JAX 0.10.2.
  it('the log marginal likelihood and its gradient are those of JAX', () => {
    const { value, grad } = valueAndGrad(gp.negativeLogLikelihood, { wrt: 'params' })({ params, x, y })
    expect(value.item()).toBeCloseTo(11.76871038552557, 11)
    expect(grad.lengthScale.item()).toBeCloseTo(-6.38179255, 8)
    expect(grad.amplitude.item()).toBeCloseTo(6.06870242, 8)
    expect(grad.noise.item()).toBeCloseTo(10.91252053, 8)
  })

  it('its derivatives are those of finite differences, to the second order', () => {
    expect(report(checkGrad(gp.negativeLogLikelihood)({ params, x: [0, 0.7, 1.5], y: [0.1, 0.9, -0.3] }))).toMatch(/^ok/)
  })

  // scipy.optimize.minimize, BFGS, gtol 1e-10, from the same hyperparameters.
  it('L-BFGS finds the optimum that SciPy finds', () => {
    const best = gp.fit(x, y, 40)
    expect(best.lengthScale.item()).toBeCloseTo(0.802576084672709, 5)
    expect(best.amplitude.item()).toBeCloseTo(0.28621663214831294, 5)
    expect(best.noise.item()).toBeCloseTo(-4.435731950675097, 5)
    expect(gp.negativeLogLikelihood({ params: best, x, y }).item()).toBeCloseTo(-25.816332470407467, 10)
  })

  // numpy: K_*^T solve(K, y) and diag(K_** - K_*^T solve(K, K_*)).
  it('predictions are those of numpy, and far away those of the prior', () => {
    const { mean, variance } = gp.predict({ params, x, y, places: [1.23, 12, 1000] })
    expect(mean.toArray()[0]).toBeCloseTo(0.8629875879499319, 12)
    expect(mean.toArray()[1]).toBeCloseTo(-0.034607791937500736, 12)
    expect(variance.toArray()[0]).toBeCloseTo(0.07438615132754789, 12)
    expect(variance.toArray()[1]).toBeCloseTo(0.9944906069117527, 12)
    expect([mean.toArray()[2], variance.toArray()[2]]).toEqual([0, 1])
  })
})
