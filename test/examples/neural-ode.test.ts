/** The network learns the spiral; its data are the solution of the equation; the gradient of its loss is that of differences. */
import { describe, expect, it } from 'vitest'
import * as neuralOde from '../../examples/neural-ode.js'
import { normals } from '../../examples/normal.js'
import { derivative } from '../../src/check/index.js'
import { add, compile, evaluate, grad, mul, sum, tensor, treeLeaves, treeMap, treeZip } from '../../src/index.js'
import { pictured } from './told.js'

/** dy/dt = y^3 A by many small steps of Runge and Kutta's method, written out. */
const byHand = (steps: number): readonly [number, number] => {
  const f = ([x, y]: readonly number[]) => [-0.1 * x! ** 3 - 2 * y! ** 3, 2 * x! ** 3 - 0.1 * y! ** 3]
  const ahead = (y: readonly number[], h: number, d: readonly number[]) => y.map((v, i) => v + h * d[i]!)
  const h = (0.05 * 199) / steps
  let y: readonly number[] = [1.5, 0]
  for (let k = 0; k < steps; k++) {
    const a = f(y)
    const b = f(ahead(y, h / 2, a))
    const c = f(ahead(y, h / 2, b))
    const d = f(ahead(y, h, c))
    y = y.map((v, i) => v + (h / 6) * (a[i]! + 2 * b[i]! + 2 * c[i]! + d[i]!))
  }
  return [y[0]!, y[1]!]
}

describe('neural-ode', () => {
  it('the loss falls, and the whole path is followed', async () => {
    const { result, text } = await pictured((log, out) => neuralOde.main(log, { steps: 500, out }))
    expect(result.losses.length).toBe(500)
    const late = result.losses.slice(-20).reduce((s, v) => s + v / 20, 0)
    expect(late).toBeLessThan(result.losses[0]! / 300)
    expect(result.distance).toBeLessThan(0.5)
    expect(text).toMatch(/^step 499: loss /m)
    const [x, y] = byHand(2000)
    expect(result.path.at(-1)![0]).toBeCloseTo(x, 6)
    expect(result.path.at(-1)![1]).toBeCloseTo(y, 6)
  })

  it('the gradient, an equation solved back in time, is that of differences of the loss', () => {
    const normal = normals(5)
    const loss = neuralOde.lossOver(1e-9)
    const value = compile(loss)
    const begin = Array.from({ length: 20 }, () => [normal(), normal()] as const)
    const data = { begin, seen: Array.from({ length: 10 }, () => begin.map(([x, y]) => [0.9 * x, 0.9 * y] as const)) }
    const params = neuralOde.initial(5)
    const direction = treeMap((p) => tensor(Array.from(p.data, normal), p.shape), params)
    const lossAt = (h: number) => value({ params: treeZip((p, d) => evaluate(add(p, mul(h, d))), params, direction), ...data }).item()
    const differences = derivative(lossAt, 0.01).value
    const gradient = grad(loss, { wrt: 'params' })({ params, ...data })
    const slope = treeLeaves(treeZip((g, d) => sum(mul(g, d)), gradient, direction)).reduce((s, v) => s + evaluate(v).item(), 0)
    expect(Math.abs(slope / differences - 1)).toBeLessThan(1e-6)
  })
})
