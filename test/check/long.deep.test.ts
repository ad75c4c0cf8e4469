/** A function that computes much has the checks that cost a few evaluations, and the report says which it has not. */
import { expect, it } from 'vitest'
import { checkGrad } from '../../src/check/index.js'
import { add, f64, fn, mean, mul, scan, sin, tensor } from '../../src/index.js'

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
