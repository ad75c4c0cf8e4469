/** The physics-informed network: residual, loss and gradient against JAX, second derivatives in other ways, and the exact wave. */
import { describe, expect, it } from 'vitest'
import { f64, fn, grad, hvp, jvp, mul, type Shape, sub, type Tensor, tanh, valueAndGrad } from '../../src/index.js'
import * as pinn from './pinn.js'

describe('pinn', () => {
  it('the wave that is called exact solves the equation', () => {
    const wave = fn({ x: f64(), t: f64() }, ({ x, t }) => sub(0.5, mul(0.5, tanh(mul(1 / (4 * pinn.nu), sub(x, mul(0.5, t)))))))
    const place = { x: 0.3, t: 0.7 }
    expect(wave(place).item()).toBeCloseTo(pinn.exact(0.3, 0.7), 14)
    const ux = grad(wave, { wrt: 'x' })
    const left = grad(wave, { wrt: 't' })(place).item() + wave(place).item() * ux(place).item()
    expect(left).toBeCloseTo(pinn.nu * grad(ux, { wrt: 'x' })(place).item(), 14)
  })

  // jax.value_and_grad in f64 of the same loss (nested jax.grad under jax.vmap), JAX 0.10.2: of each leaf the sum, the norm and the last entry.
  it('residual, loss and gradient are those of JAX', () => {
    expect(pinn.residual({ params: pinn.initial, x: 0.3, t: 0.7 }).item()).toBeCloseTo(-0.5170409310071182, 13)
    const { value, grad } = valueAndGrad(pinn.loss, { wrt: 'params' })({ params: pinn.initial, ...pinn.data })
    expect(value.item()).toBeCloseTo(7.062740744271291, 12)
    const near = ({ data }: Tensor<Shape, 'f64'>, [sum, norm, last]: readonly [number, number, number]) => {
      expect(data.reduce((a, b) => a + b, 0)).toBeCloseTo(sum, 10)
      expect(Math.hypot(...data)).toBeCloseTo(norm, 10)
      expect(data.at(-1)).toBeCloseTo(last, 10)
    }
    near(grad.first.b, [8.049072795640912, 31.72183870823391, 8.955128253007137])
    near(grad.first.w, [-2.882822222857926, 13.374005532955357, 1.6868697264330903])
    near(grad.second.b, [2.676530020638088, 7.304651866550881, 2.328176890980484])
    near(grad.second.w, [1.0207547654459173, 7.147620153976663, 0.7681391182511006])
    near(grad.out.b, [5.373572267755133, 5.373572267755133, 5.373572267755133])
    near(grad.out.w, [2.995002022837106, 8.247976985804835, 2.738207364859445])
  })

  it('the second derivative is the same forward over forward, and forward over reverse', () => {
    const place = { params: pinn.initial, x: 0.3, t: 0.7 }
    const twice = grad(grad(pinn.u, { wrt: 'x' }), { wrt: 'x' })(place).item()
    const slope = fn({ x: f64() }, ({ x }) => jvp(pinn.u, { wrt: 'x' })({ ...place, x }, 1)[1])
    expect(jvp(slope)({ x: 0.3 }, { x: 1 })[1].item()).toBeCloseTo(twice, 12)
    expect(hvp(pinn.u, { wrt: 'x' })(place, 1).item()).toBeCloseTo(twice, 12)
  })

  it('after 200 steps of L-BFGS the network is the wave, also between the places of its equation', () => {
    const { params, losses } = pinn.solve(pinn.data, 200)
    expect(losses[199]).toBeLessThan(1e-4)
    for (const x of [-0.9, -0.3, 0.1, 0.4, 0.8])
      for (const t of [0.1, 0.5, 0.9]) expect(Math.abs(pinn.u({ params, x, t }).item() - pinn.exact(x, t))).toBeLessThan(0.01)
  })
})
