/** A reaction that spreads: against NumPy's Newton iteration on the dense Jacobian, and the sensitivities by its linear recursion. */
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { tensor } from '../../src/index.js'
import * as reaction from './reaction.js'

const u0 = Array.from({ length: 41 }, (_, i) => Math.exp(-((0.25 * i - 5) ** 2)))
const rates = { d: 0.5, r: 1 }

const near = (got: readonly number[], want: readonly number[], digits: number): void => {
  for (const [i, x] of want.entries()) expect(got[i]).toBeCloseTo(x, digits)
}

describe('reaction', () => {
  // numpy.linalg.solve in Newton's iteration; (I - dt J) s' = s + dt f_p for the sensitivities, NumPy 2.
  it('the population grows as NumPy has it', () => {
    const out = reaction.masses({ rates, u0 }).toArray() as number[]
    expect(out).toHaveLength(20)
    expect(out[0]).toBeCloseTo(1.8352668838150923, 11)
    expect(out[9]).toBeCloseTo(2.721125970419138, 11)
    expect(out[19]).toBeCloseTo(4.21439511357547, 11)
  })

  it('and so does what its end depends on', () => {
    const { d, r } = reaction.sensitivity({ rates, u0 })
    expect(d.item()).toBeCloseTo(1.7799558589935311, 9)
    expect(r.item()).toBeCloseTo(2.6733450241108536, 9)
  })

  it('the sparse Jacobian has three diagonals, and its Newton iteration the same root', () => {
    const { u, entries } = reaction.newtonStep(tensor(u0, [41]), rates, 8)
    expect(entries).toBe(41 + 2 * 40)
    const middle = [0.7605313856555859, 0.8860718955399849, 0.9323173848982499, 0.8860718955399849, 0.7605313856555859]
    near((u.toArray() as number[]).slice(18), middle, 13)
  })

  it('the derivatives of a residual are those of finite differences, to the second order', () => {
    const f = (u: never, before: never, d: never, r: never) => reaction.residual(u, { before, d, r })
    expect(report(checkGrad(f)([0.1, 0.5, 0.9], [0.2, 0.4, 0.8], 0.5, 1.2))).toMatch(/^ok/)
  })
})
