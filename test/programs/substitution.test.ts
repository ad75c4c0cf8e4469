/** Substitutions of nucleotides: against SciPy's exponential, JAX's likelihood and gradient, SciPy's optimum, and Jukes and Cantor's closed form. */
import { describe, expect, it } from 'vitest'
import { evaluate, matmul, sum, transpose, valueAndGrad } from '../../src/index.js'
import * as substitution from './substitution.js'

const params = { exchange: [0.2, -0.3, 0.5, 0.1, 0.9, -0.4], composition: [0.1, 0.4, -0.2, 0] }
const times = [0.1, 0.5, 1.2]
/** Mostly unchanged letters, and others by a pattern. */
const counts = times.map((_, k) => [0, 1, 2, 3].map((i) => [0, 1, 2, 3].map((j) => ((7 * i + 3 * j + 5 * k) % 11) + (i === j ? 40 : 1))))

const near = (got: readonly number[], want: readonly number[], digits: number): void => {
  for (const [i, x] of want.entries()) expect(got[i]).toBeCloseTo(x, digits)
}

describe('substitution', () => {
  // scipy.linalg.expm.
  it('the probabilities of change are those of SciPy', () => {
    const { frequencies } = substitution.model(params)
    const joint = substitution.pairs({ params, t: 0.3 }).toArray()
    const [a, c] = joint.map((row, i) => row.map((p) => p / frequencies.toArray()[i]!)) as [number[], number[]]
    const want = [0.7752377292680719, 0.10210200273897996, 0.036158856516266935, 0.08650141147668126]
    near(a, want, 14)
    expect(c[0]).toBeCloseTo(0.07563902399713097, 14)
  })

  it('the frequencies stay, and a pair is as likely in either order', () => {
    const { rates, frequencies } = substitution.model(params)
    expect(
      evaluate(matmul(frequencies, rates))
        .toArray()
        .every((x) => Math.abs(x) < 1e-15),
    ).toBe(true)
    const joint = substitution.pairs({ params, t: 0.8 })
    near(joint.toArray().flat(), evaluate(transpose(joint)).toArray().flat(), 14)
    near(evaluate(sum(joint, { axis: 0 })).toArray(), frequencies.toArray(), 14)
  })

  // Jukes and Cantor 1969: all rates equal, 1/4 of (1/4 + 3/4 exp(-4 t / 3)) that a letter stays.
  it('equal rates have the closed form of Jukes and Cantor', () => {
    const equal = { exchange: [1, 1, 1, 1, 1, 1], composition: [0, 0, 0, 0] }
    expect(substitution.pairs({ params: equal, t: 0.7 }).toArray()[2][2]).toBeCloseTo((1 + 3 * Math.exp((-4 * 0.7) / 3)) / 16, 15)
  })

  // jax.scipy.linalg.expm and jax.value_and_grad in f64, JAX 0.10.2.
  it('the likelihood and its gradient are those of JAX', () => {
    const { value, grad } = valueAndGrad(substitution.loss, { wrt: 'params' })({ params, times, counts })
    expect(value.item()).toBeCloseTo(2.439130730015081, 13)
    const exchange = [0.0046280903418124235, -0.0059393342753755116, -0.00657060463003206, 0.005387935999689526, 0.011217766955466143]
    near(grad.exchange.toArray(), exchange, 13)
    const composition = [-0.007884912872523665, 0.1332315054570616, -0.0726822515761573, -0.05266434100838046]
    near(grad.composition.toArray(), composition, 13)
  })

  // scipy.optimize.minimize, BFGS, gtol 1e-11, of the same likelihood in JAX.
  it('L-BFGS finds the rates that SciPy finds', () => {
    const best = substitution.fit(times, counts, 150)
    const { rates, frequencies } = evaluate(substitution.model(best))
    expect(substitution.loss({ params: best, times, counts }).item()).toBeCloseTo(2.3965855107911986, 12)
    const want = [-1.2186003271923784, 0.2502638309189431, 0.21651616696324502, 0.7518203293101904]
    near(rates.toArray()[0], want, 5)
    expect(frequencies.toArray()[3]).toBeCloseTo(0.2578975127096339, 6)
  })
})
