/** A program that is too large for Taylor mode's check: it is right, and what was left out is said. */
import { expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { type AnyExpr, add, lu, mul, sin, stack, sum } from '../../src/index.js'

it('a chain of 1,200 operations', () => {
  const chain = (x: AnyExpr): AnyExpr => {
    let y = x
    for (let k = 0; k < 600; k++) y = add(mul(0.5, y), sin(y)) as AnyExpr
    // A factor whose series follow from its own derivative.
    return sum(lu(stack([stack([add(2, y), y]), stack([y, add(3, y)])]) as never).u) as AnyExpr
  }
  const found = checkGrad(chain as never, { order: 1, checks: { backend: false, beside: false } })(0.3 as never)
  expect(report(found)).toMatch(/^ok/)
  expect(found._tag === 'Right' && found.right.looked.leftOut.join()).toContain('Taylor mode: the derivative has more than 3000 nodes')
})
