/** Eight schools: posterior means within four Monte Carlo errors of a quadrature, and a picture. */
import { describe, expect, it } from 'vitest'
import * as example from '../../examples/eight-schools.js'
import { effects, errors, schoolsExactly } from '../prob/inference/posteriors.js'
import { pictured } from './told.js'

describe('eight-schools', () => {
  it('has the data of Rubin', () => {
    expect([example.gains, example.errors]).toEqual([effects, errors])
  })
  it('means of mu, tau and every effect', async () => {
    const { result, text } = await pictured((log, out) => example.main(log, { out }))
    const wanted = [schoolsExactly.mu[0], schoolsExactly.tau[0], ...schoolsExactly.theta]
    for (const [i, row] of [result.mu, result.tau, ...result.effects].entries()) {
      expect(Math.abs(row.mean - wanted[i]!) / row.mcse, row.name).toBeLessThan(4)
      expect(row.rhat, row.name).toBeLessThan(1.01)
    }
    expect(text).toMatch(/^ +mean +sd .* r-hat$/m)
  })
})
