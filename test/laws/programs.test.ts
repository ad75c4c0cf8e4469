/** Laws over random programs; a failure shrinks to the smallest number of operations that shows it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkProgram } from './programs.js'

describe('random programs', () => {
  it('agree between cpu, plain JavaScript and reference, and between mixed, reverse and forward mode', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 30 }), (seed, size) => {
        const r = checkProgram(seed, size)
        expect(r.failure === undefined ? '' : `${r.failure}\n${r.program}`).toBe('')
      }),
      { numRuns: 60, seed: 20261121 },
    )
  })
})
