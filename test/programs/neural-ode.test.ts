/** The neural ordinary differential equation: gradient and training against JAX and optax, the method's order against the exact solution. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { f64, fn, matmul, at as part, type Shape, type Tensor, tensor, valueAndGrad } from '../../src/index.js'
import * as node from './neural-ode.js'

const start = [
  [2, 0],
  [0, 1],
] as [[number, number], [number, number]]
const at = (t: number) => start.map((s) => node.spiral(s, t))
const observed = Array.from({ length: node.steps }, (_, i) => at(node.h * (i + 1)))

describe('neural-ode', () => {
  it('rk4 is of fourth order: at half the step the error is a sixteenth', () => {
    const turn = fn({ y: f64('batch', 2) }, ({ y }) => matmul(y, tensor([-0.1, 2, -2, -0.1], [2, 2])))
    const error = (h: number, steps: number) => {
      const last = fn({ y: f64('batch', 2) }, ({ y }) => {
        const ys = node.solve((z) => turn({ y: z }), y, h, steps)
        return part(ys, -1)
      })
      const wanted = at(h * steps).flat()
      return Math.max(...last({ y: start }).data.map((v, i) => Math.abs(v - wanted[i]!)))
    }
    expect(error(0.1, 40)).toBeLessThan(1e-3)
    expect(error(0.1, 40) / error(0.05, 80)).toBeCloseTo(16, -0.5)
  })

  // jax.value_and_grad in f64 of the same loss (lax.scan over 40 steps), JAX 0.10.2: of each leaf the sum, the norm and the last entry.
  it('value and gradient are those of JAX', () => {
    const { value, grad } = valueAndGrad(node.loss, { wrt: 'params' })({ params: node.initial, start, observed })
    expect(value.item()).toBeCloseTo(4.858604374590849, 12)
    const near = ({ data }: Tensor<Shape, 'f64'>, [sum, norm, last]: readonly [number, number, number]) => {
      expect(data.reduce((a, b) => a + b, 0)).toBeCloseTo(sum, 10)
      expect(Math.hypot(...data)).toBeCloseTo(norm, 10)
      expect(data.at(-1)).toBeCloseTo(last, 10)
    }
    near(grad.hidden.b, [-7.286303713012343, 4.965198291470226, 0.5291184324594514])
    near(grad.hidden.w, [-22.293323265800247, 11.133777967652374, 0.49491808855068886])
    near(grad.out.b, [7.4048560764098035, 5.9288690184875925, 1.7357632113711032])
    near(grad.out.w, [6.8694438564832225, 15.632945244654575, 0.8471000303134952])
  })

  it('the derivatives of a short trajectory are those of finite differences', () => {
    const short = fn({ w: f64(2, 2), y: f64(1, 2) }, ({ w, y }) => node.solve((z) => matmul(z, w), y, 0.2, 2))
    expect(report(checkGrad(short)({ w: [[-0.1, 2], [-2, -0.1]], y: [[1, 2]] }))).toMatch(/^ok/) // biome-ignore format: a call
  })

  // optax.adam(0.01) from the same parameters, optax's losses before steps 10, 100 and 300.
  it('Adam goes the way that it goes in optax', () => {
    const { losses } = node.fit(start, observed, 300)
    expect(losses[9]).toBeCloseTo(1.109596480983761, 10)
    expect(losses[99]).toBeCloseTo(0.6866160624332226, 8)
    expect(losses[299]).toBeCloseTo(0.02019551955564371, 6)
  })
})
