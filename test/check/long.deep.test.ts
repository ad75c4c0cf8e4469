/** A function that computes much has the checks that cost a few evaluations, and the report says which it has not. */
import { expect, it } from 'vitest'
import { checkGrad } from '../../src/check/index.js'
import { type AnyExpr, abs, add, div, f64, fn, gt, mean, mul, scan, sin, square, sub, sum, tensor, whileLoop } from '../../src/index.js'

const start = tensor(Array.from({ length: 192 }, (_, i) => i / 192))
const loop = (length: number) =>
  fn({ k: f64() }, ({ k }) => mean(scan((x) => [add(x, mul(0.01, sin(mul(k, x)))), null], start, null, { length })[0]))
const skippedOf = (length: number): readonly string[] => {
  const checked = checkGrad(loop(length))({ k: 1.3 })
  if (checked._tag === 'Left') throw new Error(JSON.stringify(checked.left))
  return checked.right.skipped
}

it('of a loop each step counts', () => {
  expect(skippedOf(3)).toEqual([])
  const skipped = skippedOf(400)
  expect(skipped).toContain('second order')
  expect(skipped).not.toContain('jacobian')
})
it('of a loop that ends by itself the most steps that it may take count: its way back goes over them', () => {
  const root = (maxSteps: number) => (a: AnyExpr) =>
    sum(
      whileLoop(
        (x: AnyExpr) => gt(sum(abs(sub(square(x), a))), 1e-9),
        (x: AnyExpr) => mul(0.5, add(x, div(a, x))) as AnyExpr,
        a,
        { maxSteps },
      )[0] as AnyExpr,
    )
  const skipped = (maxSteps: number) => {
    const checked = checkGrad(root(maxSteps))([2, 3, 5, 7])
    if (checked._tag === 'Left') throw new Error(JSON.stringify(checked.left))
    return checked.right.skipped
  }
  expect(skipped(12)).toEqual([])
  expect(skipped(1000)).toContain('second order')
})
