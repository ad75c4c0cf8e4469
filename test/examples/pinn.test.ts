/** Burgers' equation: the residual is that of differences, the integral solves the equation, and the network comes near to it. */
import { describe, expect, it } from 'vitest'
import * as pinn from '../../examples/pinn.js'
import { pictured } from './told.js'

/** u_t + u u_x - nu u_xx by central differences of the fourth order. */
const residualOf = (u: (x: number, t: number) => number, x: number, t: number): number => {
  const h = 2e-3
  const first = (f: (h: number) => number) => (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)
  const across = (d: number) => u(x + d, t)
  const second = (16 * (across(h) + across(-h)) - (across(2 * h) + across(-2 * h)) - 30 * across(0)) / (12 * h * h)
  return first((d) => u(x, t + d)) + u(x, t) * first(across) - pinn.nu * second
}
const places = [
  [-0.7, 0.3],
  [0.1, 0.5],
  [0.45, 0.9],
] as const

describe('pinn', () => {
  it('the residual fell, and the network is near to the exact solution', async () => {
    const { result, text } = await pictured((log, out) => pinn.main(log, { steps: 250, places: 300, out }))
    expect(result.losses.length).toBe(250)
    expect(result.losses.at(-1)!).toBeLessThan(result.losses[0]! / 100)
    expect(result.distance).toBeLessThan(0.05)
    expect(text).toMatch(/^at most [\d.e-]+ from the exact solution$/m)
  })
  it('what it is compared with solves the equation, and begins as it should', () => {
    for (const [x, t] of places) expect(residualOf(pinn.exact, x, t)).toBeCloseTo(0, 5)
    for (const x of [-0.6, 0.2]) expect(pinn.exact(x, 1e-9)).toBeCloseTo(-Math.sin(Math.PI * x), 6)
  })
  it('the residual of the network is that of differences', () => {
    const p = pinn.initial(4)
    const u = (x: number, t: number) => pinn.wave({ p, x: [x], t: [t] }).data[0]!
    const residual = pinn.residual({ p, x: places.map(([x]) => x), t: places.map(([, t]) => t) })
    places.forEach(([x, t], i) => {
      expect(residual.data[i]).toBeCloseTo(residualOf(u, x, t), 6)
    })
  })
})
