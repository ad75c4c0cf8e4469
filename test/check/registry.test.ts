/** The checker over every shipped primitive and sample: generated from the declarations, no code per operation. */
import { describe, expect, it } from 'vitest'
import { makeCheck, report } from '../../src/check/index.js'
import { families } from '../../src/core/ops/families.js'
import type { AnyPrimitive } from '../../src/core/primitive.js'
import { withoutDuplicates } from '../../src/core/registry.js'
import { coreRegistry } from '../../src/rules/index.js'

const { checkKinks, checkRule } = makeCheck(coreRegistry)

describe('the registry', () => {
  it('declares nothing twice', () => expect(withoutDuplicates(coreRegistry)._tag).toBe('Right'))
  it('has a whole row for every primitive of every family', () => {
    for (const table of Object.values(families))
      for (const [name, p] of Object.entries(table) as [string, AnyPrimitive][]) {
        expect(p.name).toBe(name)
        const row = coreRegistry.rules.get(name)
        expect(row?.primitive, name).toBe(p)
        expect(
          [row?.frule, row?.rrule, row?.batch].map((f) => typeof f),
          name,
        ).toEqual(['function', 'function', 'function'])
      }
  })
})

for (const [family, table] of Object.entries(families))
  describe(family, () => {
    for (const p of Object.values(table) as AnyPrimitive[])
      it(p.name, () => {
        const kinks = checkKinks(p)
        expect(kinks._tag === 'Right' ? '' : report(kinks)).toBe('')
        p.samples.forEach((sample, i) => {
          const c = checkRule(p, sample, { seed: i + 1 })
          expect(c._tag === 'Right' ? '' : `sample ${i}\n${report(c)}`).toBe('')
        })
      })
  })
