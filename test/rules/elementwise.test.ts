// Declarations of elementwise primitives, and their stated partials at kinks; the checker has their derivatives (test/check/registry.test.ts).
import { describe, expect, it } from 'vitest'
import { asNode, input } from '../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import { compare, elementwise } from '../../src/core/ops/families.js'
import { pushforward } from '../../src/modes/transform.js'
import { arrayOf, backward, evaluate, primitiveGraph, registry } from './elementwise-calculus.js'

const differentiable = Object.values(elementwise) as readonly AnyPrimitive[]
const predicates = Object.values(compare) as readonly AnyPrimitive[]
const all = [...differentiable, ...predicates]
/** Its derivative is not the limit of differences, by definition. */
const _detached = elementwise.stopGradient as AnyPrimitive

describe('every primitive is declared in full', () => {
  it('has samples, a source, and a rule with all facets', () => {
    for (const prim of all) {
      expect(prim.samples.length, prim.name).toBeGreaterThan(2)
      expect(prim.source, prim.name).not.toBe('')
      const rule = registry.rules.get(prim.name)
      expect(rule?.primitive, prim.name).toBe(prim)
      expect(
        [rule?.frule, rule?.rrule, rule?.batch].map((f) => typeof f),
        prim.name,
      ).toEqual(['function', 'function', 'function'])
    }
    expect(registry.duplicates).toEqual([])
  })
  it('samples cover rank 0, an empty array and broadcasting', () => {
    for (const prim of all) {
      const shapes = prim.samples.map((s) => s.args.map((a) => a.shape))
      expect(
        shapes.some((s) => s.every((d) => d.length === 0)),
        prim.name,
      ).toBe(true)
      if (prim.name !== 'cast')
        expect(
          shapes.some((s) => s.some((d) => sizeOf(d) === 0)),
          prim.name,
        ).toBe(true)
      if (prim.args.length > 1)
        expect(
          shapes.some((s) => s.some((d) => d.length !== s[0]!.length)),
          prim.name,
        ).toBe(true)
    }
  })
})

describe('kinks: the stated partials, in both modes', () => {
  for (const prim of differentiable)
    for (const kink of prim.kinks)
      it(`${prim.name} at ${kink.at}: ${kink.why}`, () => {
        const args = kink.at.map((x) => arrayOf([], 'f64', () => x))
        const g = primitiveGraph(prim, {}, args)
        const one = arrayOf([], 'f64', () => 1)
        expect(backward(g, args, one).map((a) => a.data[0]! + 0)).toEqual(kink.partials)
        kink.partials.forEach((p, k) => {
          const dxs = args.map((_, i) => arrayOf([], 'f64', () => (i === k ? 1 : 0)))
          const seeds = new Map([[g.inputs[k]!, input(g.inputs[k]!.aval)]])
          const [t] = pushforward(registry, [g.output], seeds).tangents
          const value = t!._tag === 'Expr' ? evaluate([asNode(t!)], [...g.inputs, ...seeds.values()], [...args, dxs[k]!])[0]!.data[0]! : 0
          expect(value + 0).toBe(p)
        })
      })
})
