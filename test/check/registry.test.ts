/** The checker over every shipped primitive and sample: generated from the declarations, no code per operation. */

import { describe, expect, it } from 'vitest'
import { cpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import { audit, makeCheck, preparedBy, report } from '../../src/check/index.js'
import { withoutDuplicates } from '../../src/core/calculus/rule.js'
import { checkedDeclaration } from '../../src/core/extend/declare.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { families } from '../../src/core/ops/families.js'
import { coreRegistry } from '../../src/packs/all.js'
import { deep, sample } from '../depth.js'
import { partly } from '../rules/mutants/partly.js'

const { checkRule } = makeCheck(coreRegistry)
const backends = [cpu()]

describe('the registry', () => {
  it('declares nothing twice', () => expect(withoutDuplicates(coreRegistry)._tag).toBe('Right'))
  it('has a whole row for every primitive of every family', () => {
    for (const table of Object.values(families))
      for (const [name, p] of Object.entries(table) as [string, AnyPrimitive][]) {
        expect(p.name).toBe(name)
        expect(coreRegistry.rules.get(name)?.primitive, name).toBe(p)
      }
    const a = audit(coreRegistry, { cpu: preparedBy(cpu()), reference: preparedBy(reference()) })
    expect(a._tag === 'Right' ? '' : report(a)).toBe('')
  })
  it('declares every primitive as one of somebody else would have to be declared', () => {
    for (const { primitive: p } of coreRegistry.rules.values()) expect(() => checkedDeclaration(p), p.name).not.toThrow()
  })
  it('would be told what is missing', () => {
    const a = audit(coreRegistry, { none: (p) => p.name !== 'tanh' })
    expect(a).toMatchObject({ _tag: 'Left', left: [{ check: 'registry', path: 'tanh: kernel of none' }] })
  })
})

/** The sample of `npm test`: the smallest with two elements in an argument. */
const smallest = (p: AnyPrimitive): number => {
  const sizes = p.samples.map(({ args }) => args.map((a) => a.shape.reduce((n, d) => n * d, 1)))
  const least = Math.min(...sizes.filter((s) => Math.max(...s) > 1).map((s) => s.reduce((a, b) => a + b, 0)))
  return Math.max(
    0,
    sizes.findIndex((s) => Math.max(...s) > 1 && s.reduce((a, b) => a + b, 0) === least),
  )
}
/** Derivatives that are left out, as the docstrings of these functions say. */
const left = [...Object.keys(partly), 'qr']
/** Rules whose second order is tried in depth too. */
const twice = new Set(sample([...coreRegistry.rules.keys()], 12))

for (const [family, table] of Object.entries(families))
  describe(family, () => {
    for (const p of Object.values(table) as AnyPrimitive[])
      it(p.name, () => {
        // All of its samples in depth, of many rules with two orders; one small sample and the first order at `npm test`.
        const c = checkRule(p, {
          ...(!deep && { sample: smallest(p) }),
          backends,
          order: deep && twice.has(p.name) ? 2 : 1,
        })
        expect(c._tag === 'Right' ? '' : report(c)).toBe('')
        // Nothing is left out: no derivative to do, no check that did not run.
        if (c._tag === 'Right') expect(c.right.notImplemented.filter((t) => !left.some((rule) => t.startsWith(`${rule}, `)))).toEqual([])
      })
  })
