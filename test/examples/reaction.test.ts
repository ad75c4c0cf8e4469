/** The stiff reaction: amounts are kept, the rates are found, and the gradient through the solver is that of differences. */
import { describe, expect, it } from 'vitest'
import * as reaction from '../../examples/reaction.js'
import { add, compile, type Expr, evaluate, type Float, grad, mul, sum, type Tensor, tensor } from '../../src/index.js'
import { pictured } from './told.js'

describe('reaction', () => {
  it('the rates are found, within three and a half standard errors, in steps as long as the solution allows', async () => {
    const { result, text } = await pictured((log, out) => reaction.main(log, { count: 20, seed: 2, out }))
    for (const distance of result.distances) expect(Math.abs(distance)).toBeLessThan(3.5)
    for (const e of result.errors) expect(e).toBeLessThan(0.1)
    expect(result.steps).toBeLessThan(400)
    expect(text).toMatch(/^rate of a to b: 0\.0\d+ \+- [\d.]+ %; simulated with 0\.04$/m)
  })
  it('what there is stays, and the amounts are those of the test set for stiff problems at 40 s', () => {
    const at = reaction.truth.map((r) => tensor(Math.log(r))) as never
    const { a, b, c } = evaluate(reaction.amounts([0.4, 40], at))
    expect(a.data[2]).toBeCloseTo(0.7158270688, 5)
    expect(b.data[2]! * 4e-5).toBeCloseTo(9.185534764e-6, 10)
    for (let i = 0; i < 3; i++) expect(a.data[i]! + 4e-5 * b.data[i]! + c.data[i]!).toBeCloseTo(1, 9)
  })
  it('the derivative by the rates is that of finite differences', () => {
    type R = Expr<[], Float>
    const loss = (r1: R, r2: R, r3: R) => {
      const { a, b } = reaction.amounts([0.01, 0.3], [r1, r2, r3], 60)
      return add(sum(a), mul(0.01, sum(b)))
    }
    const at = reaction.truth.map(Math.log) as [number, number, number]
    const [value, slopes] = [compile(loss as never), compile(grad(loss as never, { wrt: [0, 1, 2] } as never))] as unknown as [
      (...r: readonly number[]) => Tensor,
      (...r: readonly number[]) => readonly Tensor[],
    ]
    const got = slopes(...at)
    for (let k = 0; k < 3; k++) {
      const h = 1e-4
      const [more, less] = [h, -h].map((d) => Number(value(...at.map((r, i) => (i === k ? r + d : r))).item())) as [number, number]
      // Steps have other lengths at other rates, within their tolerance.
      expect(Number(got[k]!.item())).toBeCloseTo((more - less) / (2 * h), 3)
    }
  })
})
